// Every process tells every other one 8 bytes for each step.
#include "meshloom/Runtime/Plan/AgreedResults.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

using namespace meshloom;
using namespace meshloom::plan;

bool plan::givesFromOutside(const KernelStep &step) {
  // The last result of a callback says that it is over.
  if (step.library == "callback")
    return step.outputs.size() > 1 && !failsTogether(step);
  return step.library == "custom_call" &&
         std::ranges::all_of(step.loops, &Loop::held);
}

bool plan::isWholeInEach(const BufferDecl &buffer,
                         const MeshProcesses &processes) {
  const Layout &layout = buffer.layout;
  return !layout.is_partial() &&
         std::ranges::none_of(layout.dim_axes(), [&](const auto &axes) {
           return std::ranges::any_of(
               axes, [&](unsigned axis) { return processes.crosses(axis); });
         });
}

/// The finalizer of MurmurHash3 (Austin Appleby, public domain): each bit of
/// the input changes half of the result's.
static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

/// `Bits`: as wide as an element; `part` of the element that has several.
template <typename Bits>
static uint64_t hashOfRow(const char *data, int64_t count, int64_t bytes,
                          uint64_t first, uint64_t step) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * bytes, sizeof bits);
    // An odd number of steps of the golden ratio for each place.
    sum += mixed(bits + (first + uint64_t(i) * step) * 0x9e3779b97f4a7c15ull);
  }
  return sum;
}

static uint64_t hashOfRow(unsigned width, const char *data, int64_t count,
                          int64_t bytes, uint64_t first, uint64_t step) {
  switch (width) {
  case 1:
    return hashOfRow<uint8_t>(data, count, bytes, first, step);
  case 2:
    return hashOfRow<uint16_t>(data, count, bytes, first, step);
  case 4:
    return hashOfRow<uint32_t>(data, count, bytes, first, step);
  case 8:
    return hashOfRow<uint64_t>(data, count, bytes, first, step);
  }
  // Complex numbers of two f64.
  return hashOfRow<uint64_t>(data, count, bytes, 2 * first, 2 * step) +
         hashOfRow<uint64_t>(data + 8, count, bytes, 2 * first + 1, 2 * step);
}

uint64_t plan::elementHash(const ArrayPart &part) {
  const unsigned width = byteWidth(part.type);
  size_t loop = 0;
  while (loop < part.extents.size() && part.steps[loop] == 0)
    ++loop;
  if (loop == part.extents.size())
    return hashOfRow(width, part.data, 1, width, uint64_t(part.first), 0);
  const int64_t bytes = part.strides[loop] * int64_t(width);
  const bool isLast = std::ranges::all_of(
      part.steps.subspan(loop + 1), [](int64_t step) { return step == 0; });
  if (isLast)
    return hashOfRow(width, part.data, part.extents[loop], bytes,
                     uint64_t(part.first), uint64_t(part.steps[loop]));
  uint64_t sum = 0;
  for (int64_t i = 0; i < part.extents[loop]; ++i)
    sum += elementHash(
        {part.type, part.data + i * bytes, part.first + i * part.steps[loop],
         part.extents.subspan(loop + 1), part.strides.subspan(loop + 1),
         part.steps.subspan(loop + 1)});
  return sum;
}

/// "rank 1 (host a), rank 3 (host b) and 5 more".
static std::string namesOf(const std::vector<int> &ranks,
                           const Communicator &communicator) {
  constexpr size_t named = 4;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(ranks.size(), named); ++i)
    names.push_back(fmt::format("rank {} (host {})", ranks[i],
                                communicator.hostOf(ranks[i])));
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (ranks.size() > named)
    text += fmt::format(" and {} more", ranks.size() - named);
  return text;
}

Status plan::agreeOnResults(Communicator &communicator, RunExchanges &exchanges,
                            std::span<const unsigned> steps,
                            std::span<const uint64_t> hashes,
                            const Program &program) {
  const size_t ranks = size_t(communicator.size());
  std::vector<uint64_t> all(ranks * hashes.size());
  std::vector<int> group(ranks);
  std::iota(group.begin(), group.end(), 0);
  const Event came = communicator.allGather(
      group, exchanges.take(1),
      {reinterpret_cast<const char *>(hashes.data()), hashes.size_bytes()},
      {reinterpret_cast<char *>(all.data()), all.size() * sizeof(uint64_t)},
      exchanges.timeout);
  if (Status ok = communicator.wait(came); !ok)
    return Error(fmt::format(
        "whether functions of the host gave the same in all processes: {}",
        ok.error().message()));
  for (size_t i = 0; i < steps.size(); ++i) {
    std::vector<int> others;
    for (size_t rank = 1; rank < ranks; ++rank)
      if (all[rank * steps.size() + i] != all[i])
        others.push_back(int(rank));
    if (others.empty())
      continue;
    const auto &step = std::get<KernelStep>(program.steps[steps[i]]);
    return Error(fmt::format(
        "{}'{}' gave other results in {} than in rank 0 (host {}): every "
        "process calls it, and has the result whole, so it must give the same "
        "in all. Read the same file everywhere, take random numbers of one "
        "seed, or call it in a shard_map about each device's own values",
        describe(program, steps[i]),
        std::get<std::string>(step.options.at("call_target_name")),
        namesOf(others, communicator), communicator.hostOf(0)));
  }
  return Success();
}
