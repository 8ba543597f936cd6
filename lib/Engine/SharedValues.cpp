// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See SharedValues.h.
#include "meshloom/Engine/SharedValues.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/Core/Hash.h"
#include "meshloom/Runtime/Client.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

namespace meshloom::detail {
namespace {

/// Where one value has more origins than that, one stands for the later ones.
constexpr size_t MOST_ORIGINS = 8;
/// The number of bytes of a value that are shown.
constexpr size_t FIRST_BYTES = 32;

/// Four sums side by side, eight bytes each: as fast as memory is read.
uint64_t hashOfBytes(std::span<const char> bytes) {
  constexpr uint64_t factor = 0x9fb21c651e98df25;
  std::array<uint64_t, 4> sums = {1, 2, 3, 4};
  size_t i = 0;
  for (; i + 32 <= bytes.size(); i += 32)
    for (size_t lane = 0; lane < 4; ++lane) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i + 8 * lane, 8);
      sums[lane] = std::rotl((sums[lane] ^ word) * factor, 29);
    }
  StableHash hash;
  for (const uint64_t sum : sums)
    hash.add(sum);
  hash.add(std::string_view(bytes.data() + i, bytes.size() - i));
  return hash.value();
}

/// Origins of arrays, by their memory.
struct OriginTable {
  std::mutex mutex;
  std::map<std::weak_ptr<Buffer>, ValueOrigins, std::owner_less<>> of;
  std::atomic<bool> isEmpty = true;
  size_t purgedFrom = 256; ///< so many are worth a look at which are gone
  std::map<std::string, int64_t> times; ///< by call: how often it was asked to

  /// With the mutex.
  void set(const Array &array, ValueOrigins origins) {
    if (of.size() >= purgedFrom) {
      std::erase_if(of,
                    [](const auto &entry) { return entry.first.expired(); });
      purgedFrom = std::max<size_t>(256, 2 * of.size());
    }
    of.insert_or_assign(array.buffer(), std::move(origins));
    isEmpty = false;
  }
};
OriginTable &originTable() {
  static OriginTable &table = *new OriginTable;
  return table;
}

template <typename T>
void appendElements(const ValueOrigin &origin, std::string &text) {
  const auto count =
      std::min<int64_t>(elementCount(origin.shape),
                        int64_t(origin.firstBytes.size() / sizeof(T)));
  for (int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, origin.firstBytes.data() + size_t(i) * sizeof(T),
                sizeof(T));
    text += fmt::format("{}{}", i ? ", " : "", element);
  }
  text += count < elementCount(origin.shape) ? ", ..." : "";
}

/// "[0, 5]", with a hash where not all of it is shown.
std::string shownElements(const ValueOrigin &origin) {
  std::string text;
  switch (*origin.dtype) {
  case DType::F32:
    appendElements<float>(origin, text);
    break;
  case DType::F64:
    appendElements<double>(origin, text);
    break;
  case DType::I32:
    appendElements<int32_t>(origin, text);
    break;
  case DType::I64:
    appendElements<int64_t>(origin, text);
    break;
  default:
    text = "...";
  }
  if (!origin.shape.empty())
    text = fmt::format("[{}]", text);
  return text.find("...") == std::string::npos
             ? text
             : fmt::format("{} with hash {:016x}", text, origin.hash);
}

/// Returns whether it was not before.
bool noteComparison(ValueOrigin &origin) {
  for (const std::shared_ptr<ValueOrigin> &part : origin.parts)
    noteComparison(*part);
  return !origin.isCompared.exchange(true);
}

/// "'w', f32 [2] = [0, 5], of distribute (at model.cpp:8)".
std::string textOf(const ValueOrigin &origin, const std::string &argument) {
  if (!origin.dtype)
    return fmt::format("'{}', which is computed by {}", argument, origin.place);
  return fmt::format("'{}', {} = {}, {}", argument,
                     typeText(*origin.dtype, origin.shape),
                     shownElements(origin), origin.place);
}

std::shared_ptr<ValueOrigin>
originOf(const Array &array, std::span<const char> bytes, std::string place) {
  auto origin = std::make_shared<ValueOrigin>();
  origin->hash = hashOfBytes(bytes);
  origin->dtype = array.dtype();
  origin->shape = array.shape();
  origin->firstBytes.assign(
      bytes.begin(),
      bytes.begin() + std::ptrdiff_t(std::min(bytes.size(), FIRST_BYTES)));
  origin->place = std::move(place);
  return origin;
}

void addToOrder(const Processes &joined, const ValueOrigin &origin,
                const std::string &argument) {
  joined.communicator->calls().next(std::make_shared<const SharedCall>(
      SharedCall{origin.hash, textOf(origin, argument), /*isValue=*/true}));
}

} // namespace

void noteHostValue(const Array &array, std::span<const char> bytes,
                   Placing placing, std::string_view op,
                   const std::source_location *where) {
  const Layout &layout = array.layout();
  if (!spansThisProcess(layout.mesh()) || !layout.is_fully_replicated())
    return;
  const std::source_location line =
      callSiteOr(where ? *where : std::source_location());
  std::string place = fmt::format("of {}", callNameOr(op));
  if (line.line() != 0)
    place += fmt::format(" (at {}:{})", line.file_name(), line.line());
  OriginTable &table = originTable();
  std::lock_guard lock(table.mutex);
  auto origin = originOf(array, bytes, std::move(place));
  if (placing == Placing::Asked)
    origin->time = table.times[origin->place]++;
  table.set(array, {std::move(origin)});
}

Array placedFromHost(const ArrayType &type, std::span<const char> bytes,
                     Placing placing, std::string_view op,
                     const std::source_location *where) {
  Array array =
      check(Array::fromHost(clientFor(type.layout.mesh()), type, bytes), op);
  noteHostValue(array, bytes, placing, op, where);
  return array;
}

ValueOrigins originsOf(std::span<const Array> arguments) {
  OriginTable &table = originTable();
  ValueOrigins origins;
  if (table.isEmpty)
    return origins;
  std::lock_guard lock(table.mutex);
  for (const Array &array : arguments) {
    const auto found = array ? table.of.find(array.buffer()) : table.of.end();
    if (found == table.of.end())
      continue;
    for (const std::shared_ptr<ValueOrigin> &origin : found->second)
      if (!origin->isCompared &&
          std::ranges::find(origins, origin) == origins.end())
        origins.push_back(origin);
  }
  return origins;
}

void passOrigins(const ValueOrigins &origins, std::span<const Array> results) {
  if (origins.empty())
    return;
  ValueOrigins passed = origins;
  if (passed.size() > MOST_ORIGINS) {
    StableHash hash;
    auto others = std::make_shared<ValueOrigin>();
    others->parts.assign(passed.begin() + MOST_ORIGINS - 1, passed.end());
    for (const std::shared_ptr<ValueOrigin> &part : others->parts)
      hash.add(part->hash);
    others->hash = hash.value();
    others->place = fmt::format("values and programs, the last one {}",
                                passed.back()->place);
    passed.resize(MOST_ORIGINS - 1);
    passed.push_back(std::move(others));
  }
  OriginTable &table = originTable();
  std::lock_guard lock(table.mutex);
  for (const Array &array : results)
    if (array)
      table.set(array, passed);
}

void compareOrigins(const Processes &joined, const Signature &signature,
                    std::span<const Array> arguments) {
  OriginTable &table = originTable();
  // Calls of other threads are in no order, in which anything could differ.
  if (table.isEmpty || !CallOrder::isOrdered())
    return;
  std::lock_guard lock(table.mutex);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto found =
        arguments[i] ? table.of.find(arguments[i].buffer()) : table.of.end();
    if (found == table.of.end())
      continue;
    for (const std::shared_ptr<ValueOrigin> &origin : found->second)
      if (noteComparison(*origin))
        addToOrder(joined, *origin, signature.arguments[i].name);
    table.of.erase(found);
  }
  table.isEmpty = table.of.empty();
}

Status compareReplicated(const Processes &joined, const Signature &signature,
                         std::span<const Array> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Array &array = arguments[i];
    if (!array || !array.layout().is_fully_replicated())
      continue;
    Result<HostBytes> bytes = array.toHost();
    if (!bytes)
      return bytes.error();
    addToOrder(joined, *originOf(array, *bytes, "as all are compared"),
               signature.arguments[i].name);
  }
  return Success();
}

std::string uncomparedHere() {
  constexpr size_t most = 16; // lines
  OriginTable &table = originTable();
  std::lock_guard lock(table.mutex);
  std::set<std::string> lines;
  for (const auto &[buffer, origins] : table.of)
    for (const std::shared_ptr<ValueOrigin> &origin : origins)
      if (origin->time && !origin->isCompared && lines.size() < most)
        lines.insert(fmt::format("{:016x} {} {}, {} = {}\n", origin->hash,
                                 *origin->time, origin->place,
                                 typeText(*origin->dtype, origin->shape),
                                 shownElements(*origin)));
  return fmt::format("{}", fmt::join(lines, ""));
}

Status comparedAtEnd(const std::vector<std::string> &texts,
                     const Processes &joined) {
  // By time and call: the first rank that has done so, and what it says.
  std::map<std::string, std::pair<size_t, std::string>> first;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    std::istringstream lines(texts[rank]);
    for (std::string line; std::getline(lines, line);) {
      const size_t time = line.find(' '), call = line.find(' ', time + 1),
                   type = line.find(", ", call);
      if (type == std::string::npos)
        continue;
      const auto [entry, isFirst] =
          first.try_emplace(line.substr(time, type - time), rank, line);
      const std::string &other = entry->second.second;
      if (!isFirst && other.substr(0, time) != line.substr(0, time))
        return Error(fmt::format(
            "the processes did not have the same value where all must: {} had "
            "that {}, {} had that {}",
            joined.rankText(int64_t(entry->second.first)),
            other.substr(call + 1), joined.rankText(int64_t(rank)),
            line.substr(call + 1)));
    }
  }
  return Success();
}

} // namespace meshloom::detail
