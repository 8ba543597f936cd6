// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Folds.h"

#include "meshloom/Core/Profile.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
/// Lists that are shorter stay as they are.
constexpr size_t SHORT_LIST = 16;

size_t combined(size_t hash, size_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15U + (hash >> 31);
}
size_t combined(size_t hash, std::string_view text) {
  return combined(hash, std::hash<std::string_view>()(text));
}

std::vector<std::string> scopesOf(const SourceNote &note) {
  std::vector<std::string> scopes;
  const std::string scope = scopeOf(note);
  for (size_t begin = 0; begin < scope.size();) {
    const size_t end = std::min(scope.find('/', begin), scope.size());
    scopes.push_back(scope.substr(begin, end - begin));
    begin = end + 1;
  }
  return scopes;
}

/// The name with one '#' for each number in it: "layer_3" and "layer_12" are
/// alike.
std::string withoutNumbers(std::string_view name) {
  std::string text;
  for (char letter : name) {
    const bool isDigit = letter >= '0' && letter <= '9';
    if (!isDigit)
      text += letter;
    else if (text.empty() || text.back() != '#')
      text += '#';
  }
  return text;
}

size_t signatureOf(const Program &program, const Step &step) {
  size_t hash = combined(step.index(), noteOf(step).op);
  for (unsigned buffer : usesOf(step).writes) {
    const BufferDecl &decl = program.buffers[buffer];
    hash = combined(hash, size_t(decl.type));
    for (int64_t extent : decl.shape)
      hash = combined(hash, size_t(extent));
    hash = combined(hash, decl.layout.hash());
  }
  return hash;
}

class Folder {
public:
  explicit Folder(const Program &program) : program(program) {}

  /// Folds a list of steps that is inside of `depth` scopes.
  std::vector<FoldItem> fold(const std::vector<Step> &steps, size_t depth) {
    std::vector<FoldItem> items;
    items.reserve(steps.size());
    for (const Step &step : steps)
      items.push_back(itemOf(step));
    return foldRepeats(foldScopes(std::move(items), depth));
  }

private:
  FoldItem itemOf(const Step &step) {
    FoldItem item;
    item.step = nextId++;
    item.scope = scopesOf(noteOf(step));
    item.signature = signatureOf(program, step);
    if (auto *loop = std::get_if<LoopStep>(&step)) {
      item.fold = "loop";
      item.name = loop->tripCount < 0
                      ? "loop"
                      : fmt::format("loop of {} {}", loop->tripCount,
                                    loop->tripCount == 1 ? "turn" : "turns");
      item.items.push_back(folded("condition", "condition",
                                  fold(loop->condition, item.scope.size())));
      std::ranges::move(fold(loop->body, item.scope.size()),
                        std::back_inserter(item.items));
    }
    if (auto *branch = std::get_if<BranchStep>(&step)) {
      item.fold = "branch";
      item.name = fmt::format("one of {} branches", branch->branches.size());
      for (size_t i = 0; i < branch->branches.size(); ++i)
        item.items.push_back(
            folded("case", fmt::format("branch {}", i),
                   fold(branch->branches[i], item.scope.size())));
    }
    for (const FoldItem &part : item.items)
      item.signature = combined(item.signature, part.signature);
    return item;
  }
  static FoldItem folded(const char *kind, std::string name,
                         std::vector<FoldItem> items) {
    FoldItem item;
    item.fold = kind;
    item.name = std::move(name);
    item.signature = combined(0, withoutNumbers(item.name));
    for (const FoldItem &part : items)
      item.signature = combined(item.signature, part.signature);
    item.items = std::move(items);
    return item;
  }

  /// Neighbours whose scope number `depth` is the same become one fold.
  static std::vector<FoldItem> foldScopes(std::vector<FoldItem> items,
                                          size_t depth);
  static std::vector<FoldItem> foldRepeats(std::vector<FoldItem> items);

  const Program &program;
  unsigned nextId = 0;
};

std::vector<FoldItem> Folder::foldScopes(std::vector<FoldItem> items,
                                         size_t depth) {
  std::vector<FoldItem> result;
  auto isInScope = [&](const FoldItem &item, const std::string &name) {
    return item.scope.size() > depth && item.scope[depth] == name;
  };
  for (size_t i = 0; i < items.size();) {
    size_t end = i + 1;
    if (items[i].scope.size() > depth)
      while (end < items.size() && isInScope(items[end], items[i].scope[depth]))
        ++end;
    if (end == i + 1) { // a scope of one step says no more than the step
      result.push_back(std::move(items[i++]));
      continue;
    }
    const std::string name = items[i].scope[depth];
    std::vector<FoldItem> part(std::move_iterator(items.begin() + i),
                               std::move_iterator(items.begin() + end));
    i = end;
    part = foldScopes(std::move(part), depth + 1);
    if (part.size() == 1 && part.front().fold == "scope") {
      part.front().name = name + "/" + part.front().name;
      result.push_back(std::move(part.front()));
    } else {
      result.push_back(folded("scope", name, foldRepeats(std::move(part))));
    }
  }
  return result;
}

/// A part of a list that is `count` times as long as its first `period` items,
/// which it repeats.
struct Repeat {
  size_t begin = 0, period = 0, count = 0;
  size_t length() const { return period * count; }
};

/// The longest repeat; of equally long ones that with the shortest period.
Repeat longestRepeat(const std::vector<FoldItem> &items) {
  Repeat best;
  for (size_t period = 1; period <= items.size() / 2; ++period) {
    size_t matches = 0; // of items[i] with items[i + period], up to here
    for (size_t i = 0; i + period < items.size(); ++i) {
      matches =
          items[i].signature == items[i + period].signature ? matches + 1 : 0;
      const Repeat repeat{i + 1 - matches, period, matches / period + 1};
      if (repeat.count > 1 && repeat.length() > best.length())
        best = repeat;
    }
  }
  return best;
}

/// Where a long list repeats itself for at least half of it or SHORT_LIST
/// items, the repeat becomes a fold with a fold for each part. Terminates: what
/// is folded again is shorter.
std::vector<FoldItem> Folder::foldRepeats(std::vector<FoldItem> items) {
  if (items.size() < SHORT_LIST)
    return items;
  const Repeat repeat = longestRepeat(items);
  if (repeat.length() < std::min(SHORT_LIST, items.size() / 2))
    return items;
  auto take = [&](size_t begin, size_t end) {
    return std::vector<FoldItem>(std::move_iterator(items.begin() + begin),
                                 std::move_iterator(items.begin() + end));
  };
  const size_t end = repeat.begin + repeat.length();
  std::vector<FoldItem> parts;
  for (size_t i = 0; i < repeat.count; ++i) {
    const size_t begin = repeat.begin + i * repeat.period;
    std::vector<FoldItem> part = take(begin, begin + repeat.period);
    parts.push_back(repeat.period == 1
                        ? std::move(part.front())
                        : folded("part", fmt::format("part {}", i + 1),
                                 foldRepeats(std::move(part))));
  }
  const std::string first = parts.front().name, last = parts.back().name;
  std::string name = repeat.period == 1 && !first.empty() && first != last
                         ? fmt::format("{} to {}", first, last)
                         : fmt::format("{} equal parts", repeat.count);
  std::vector<FoldItem> result = foldRepeats(take(0, repeat.begin));
  result.push_back(folded("repeat", std::move(name), std::move(parts)));
  std::ranges::move(foldRepeats(take(end, items.size())),
                    std::back_inserter(result));
  return result;
}
} // namespace

std::vector<FoldItem> meshloom::foldSteps(const Program &program) {
  return Folder(program).fold(program.steps, 0);
}
