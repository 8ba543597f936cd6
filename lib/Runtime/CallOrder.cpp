// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting calls, and notes of them: lines with the number of calls, the number
// of names, each name; the number of calls out of the order and 1 where these
// are all, hash and count of each; then the hash and the name of each call in
// the order, oldest first.
#include "meshloom/Runtime/CallOrder.h"

#include "meshloom/Core/Hash.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

using namespace meshloom;

namespace {
/// Calls that are kept: more than a process can be ahead of others.
constexpr size_t KEPT = 1024;
constexpr unsigned HASH_BITS = 25, COUNT_BITS = 16;
static_assert(1 + COUNT_BITS + HASH_BITS == CallOrder::NUMBER_BITS);

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
uint64_t low(uint64_t number, unsigned bits) {
  return number & ((uint64_t(1) << bits) - 1);
}
uint64_t numberOf(bool isInOrder, uint64_t count, uint64_t hash) {
  return uint64_t(isInOrder ? 0 : 1) << (COUNT_BITS + HASH_BITS) |
         low(count, COUNT_BITS) << HASH_BITS | low(hash, HASH_BITS);
}

bool isMainThread() {
  thread_local const bool isMain = getpid() == gettid();
  return isMain;
}

/// Takes what others wrote apart, line by line.
class Lines {
public:
  explicit Lines(std::string_view text) : remaining(text) {}
  std::optional<std::string_view> next() {
    const size_t end = remaining.find('\n');
    if (end == std::string_view::npos)
      return std::nullopt;
    const std::string_view line = remaining.substr(0, end);
    remaining.remove_prefix(end + 1);
    return line;
  }
  std::optional<uint64_t> number() {
    const std::optional<std::string_view> line = next();
    return line ? parse(*line, 10) : std::nullopt;
  }
  /// A line of two, of which the first one has this base.
  std::optional<std::pair<uint64_t, uint64_t>> pair(int base) {
    const std::optional<std::string_view> line = next();
    const size_t space = line ? line->find(' ') : std::string_view::npos;
    if (space == std::string_view::npos)
      return std::nullopt;
    const auto first = parse(line->substr(0, space), base);
    const auto second = parse(line->substr(space + 1), 10);
    if (!first || !second)
      return std::nullopt;
    return std::pair(*first, *second);
  }
  bool atEnd() const { return remaining.empty(); }
  static std::optional<uint64_t> parse(std::string_view text, int base) {
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size())
      return std::nullopt;
    return value;
  }

private:
  std::string_view remaining;
};

struct Note {
  uint64_t count = 0;
  std::vector<std::string_view> names;
  std::map<uint64_t, uint64_t> others; ///< by hash: how often
  bool hasAllOthers = false;
  /// The hashes and names of the last calls.
  std::vector<std::pair<uint64_t, uint64_t>> calls; ///< hash, name

  static std::optional<Note> parse(std::string_view text) {
    Lines lines(text);
    Note note;
    const auto count = lines.number(), names = lines.number();
    if (!count || !names || *names > KEPT)
      return std::nullopt;
    note.count = *count;
    for (uint64_t i = 0; i < *names; ++i) {
      const auto name = lines.next();
      if (!name)
        return std::nullopt;
      note.names.push_back(*name);
    }
    const auto others = lines.pair(10);
    if (!others || others->first > KEPT)
      return std::nullopt;
    note.hasAllOthers = others->second != 0;
    for (uint64_t i = 0; i < others->first; ++i) {
      const auto other = lines.pair(16);
      if (!other)
        return std::nullopt;
      note.others.insert(*other);
    }
    while (const auto call = lines.pair(16)) {
      if (call->second >= note.names.size())
        return std::nullopt;
      note.calls.push_back(*call);
    }
    if (!lines.atEnd())
      return std::nullopt;
    if (note.calls.size() > note.count)
      return std::nullopt;
    return note;
  }
  uint64_t first() const { return count - calls.size(); }
  std::string nameOf(uint64_t index) const {
    return std::string(names[calls[index - first()].second]);
  }
};

/// A name in a note is one line.
std::string oneLine(const SharedCall &call) {
  constexpr size_t longest = 300;
  std::string name = (call.isValue ? "=" : "") + call.name;
  std::ranges::replace(name, '\n', ' ');
  return name.size() > longest ? name.substr(0, longest) + "..." : name;
}
bool isValue(std::string_view name) {
  return name.starts_with('=');
}
/// Returns the name as a part of a sentence.
std::string_view plain(std::string_view name) {
  return name.substr(isValue(name) ? 1 : 0);
}
std::string predicate(std::string_view name) {
  return fmt::format("{} {}", isValue(name) ? "has" : "calls", plain(name));
}
} // namespace

CallOrder::CallOrder() : entries(KEPT) {}

int &CallOrder::Inside::depth() {
  thread_local int depth = 0;
  return depth;
}

bool CallOrder::isOrdered() {
  return Inside::depth() == 0 && isMainThread();
}

uint64_t CallOrder::next(const std::shared_ptr<const SharedCall> &call) {
  std::lock_guard lock(mutex);
  if (!isOrdered()) {
    Others &same = others[call->hash];
    same.last = ++otherCount;
    same.call = call;
    return numberOf(false, same.count++, mixed(call->hash));
  }
  soFar = mixed(soFar + 0x9e3779b97f4a7c15 + call->hash);
  entries[count % KEPT] = {soFar, call};
  return numberOf(true, ++count, soFar);
}

uint64_t CallOrder::next(std::string_view name) {
  StableHash hash;
  hash.add(name);
  return next(std::make_shared<const SharedCall>(
      SharedCall{hash.value(), std::string(name)}));
}

void CallOrder::takeBack() {
  std::lock_guard lock(mutex);
  if (!isOrdered() || count == 0)
    return;
  --count;
  soFar = count ? entry(count - 1).hash : 0;
}

uint64_t CallOrder::calls() const {
  std::lock_guard lock(mutex);
  return count;
}

bool CallOrder::isEmpty() const {
  std::lock_guard lock(mutex);
  return count == 0 && others.empty();
}

std::string CallOrder::last() const {
  std::lock_guard lock(mutex);
  return count ? std::string(plain(oneLine(*entry(count - 1).call))) : "";
}

std::vector<std::pair<uint64_t, const CallOrder::Others *>>
CallOrder::othersByTime() const {
  std::vector<std::pair<uint64_t, const Others *>> sorted;
  sorted.reserve(others.size());
  for (const auto &[hash, same] : others)
    sorted.emplace_back(hash, &same);
  std::ranges::sort(sorted, std::ranges::greater(),
                    [](const auto &one) { return one.second->last; });
  return sorted;
}

std::string CallOrder::note(size_t mostBytes) const {
  std::lock_guard lock(mutex);
  std::map<const SharedCall *, size_t> places;
  std::vector<std::string> names, lines;
  size_t bytes = 96; // the lines that count
  // Calls out of the order take a quarter of the room.
  std::string out;
  uint64_t outCount = 0;
  for (const auto &[hash, same] : othersByTime()) {
    if (bytes + out.size() + 48 > mostBytes / 4 || outCount == KEPT)
      break;
    out += fmt::format("{:x} {}\n", hash, same->count);
    ++outCount;
  }
  bytes += out.size();
  for (uint64_t i = count; i > 0 && count - i < KEPT; --i) {
    const Entry &current = entry(i - 1);
    std::string name;
    if (!places.contains(current.call.get()))
      name = oneLine(*current.call);
    bytes += name.size() + 32;
    if (bytes > mostBytes)
      break;
    const auto [place, isNew] =
        places.emplace(current.call.get(), names.size());
    if (isNew)
      names.push_back(std::move(name));
    lines.push_back(fmt::format("{:x} {}\n", current.hash, place->second));
  }
  std::string text = fmt::format("{}\n{}\n", count, names.size());
  for (const std::string &name : names)
    text += name + "\n";
  text +=
      fmt::format("{} {}\n", outCount, int(outCount == others.size())) + out;
  for (size_t i = lines.size(); i-- > 0;)
    text += lines[i];
  return text;
}

Result<CallOrder::Comparison> CallOrder::compare(std::string_view text,
                                                 const std::string &nameHere,
                                                 const std::string &otherName,
                                                 bool firstHere) const {
  const std::optional<Note> note = Note::parse(text);
  if (!note)
    return Error("its message about its calls cannot be read");
  Comparison result;
  result.calls = note->count;
  if (!note->calls.empty())
    result.last = plain(note->nameOf(note->count - 1));
  std::lock_guard lock(mutex);
  for (const auto &[hash, same] : othersByTime()) {
    const auto found = note->others.find(hash);
    if (found == note->others.end() && !note->hasAllOthers)
      continue;
    const uint64_t other = found == note->others.end() ? 0 : found->second;
    if (other >= same->count)
      continue;
    result.fewer = {oneLine(*same->call), other, same->count};
    break;
  }
  const uint64_t oldest = count - std::min<uint64_t>(count, KEPT);
  const uint64_t begin = std::max(oldest, note->first());
  for (uint64_t i = begin; i < std::min(count, note->count); ++i) {
    if (note->calls[i - note->first()].first == entry(i).hash)
      continue;
    const std::string mine = oneLine(*entry(i).call), other = note->nameOf(i);
    std::string first = fmt::format("{} {}", nameHere, predicate(mine)),
                second = fmt::format("{} {}", otherName, predicate(other));
    if (!firstHere)
      std::swap(first, second);
    if (isValue(mine) && isValue(other)) {
      result.difference = fmt::format(
          "the processes do not have the same value where all must: {}, {}. "
          "Give every process the same value, for example from the same seed, "
          "or cut it over the processes by a layout that is not replicated",
          first, second);
      break;
    }
    result.difference = fmt::format(
        "the processes do not make the same calls in one order: as number {}{} "
        "{}, {}",
        i + 1,
        i == begin && begin > 0 ? " (or at an earlier one)"
        : i == 0
            ? ""
            : fmt::format(", after {},", plain(oneLine(*entry(i - 1).call))),
        first, second);
    result.difference += ". Call the same functions and ops, as often and in "
                         "the same order, in every process";
    break;
  }
  return result;
}
