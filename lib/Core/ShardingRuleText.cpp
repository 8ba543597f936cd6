// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ShardingRule's text form, and binding its factors to the sizes of tensors.
#include "meshloom/Core/ShardingRule.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {

namespace {
/// Reads "m k, k n -> m n" from the front.
class RuleParser {
public:
  explicit RuleParser(std::string_view text) : whole(text), remaining(text) {}

  Result<ShardingRule> parse() {
    skipSpaces();
    if (!atArrow()) {
      if (auto ok = tensors(rule.operands); !ok)
        return ok.error();
    }
    if (!take("->"))
      return error("expected '->' between operands and results");
    inResults = true;
    if (auto ok = tensors(rule.results); !ok)
      return ok.error();
    if (!remaining.empty())
      return error(fmt::format("unexpected '{}'", remaining));
    rule.deriveKinds();
    return std::move(rule);
  }

private:
  Status tensors(std::vector<ShardingRule::Tensor> &list) {
    do {
      seen.clear();
      auto dims = tensor();
      if (!dims)
        return dims.error();
      list.push_back(std::move(*dims));
    } while (take(","));
    return Success();
  }

  Result<ShardingRule::Tensor> tensor() {
    ShardingRule::Tensor dims;
    dimsSeen = 0;
    if (take("[]"))
      return dims;
    while (true) {
      skipSpaces();
      if (remaining.empty() || remaining[0] == ',' || atArrow())
        return dims;
      ShardingRule::Dim dim;
      if (take("1")) {
      } else if (take("(")) {
        inCompound = true;
        while (!take(")")) {
          auto factor = parseFactor();
          if (!factor)
            return factor.error();
          dim.push_back(*factor);
        }
        inCompound = false;
        if (dim.size() < 2)
          return error("a compound dim has two factors or more, e.g. (a b)");
      } else {
        auto factor = parseFactor();
        if (!factor)
          return factor.error();
        dim.push_back(*factor);
      }
      dims.push_back(std::move(dim));
      ++dimsSeen;
    }
  }

  Result<unsigned> parseFactor() {
    skipSpaces();
    auto letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    size_t length = 0;
    while (length < remaining.size() &&
           (letter(remaining[length]) ||
            (length && remaining[length] >= '0' && remaining[length] <= '9')))
      ++length;
    if (!length)
      return error(remaining.empty() ? "it ends inside '('"
                                     : fmt::format("'{}' is not a factor name",
                                                   remaining.substr(0, 1)));
    std::string name(remaining.substr(0, length));
    remaining.remove_prefix(length);
    unsigned index = 0;
    while (index < rule.factors.size() && rule.factors[index].name != name)
      ++index;
    if (index == rule.factors.size())
      rule.factors.push_back({name});
    if (take("!"))
      rule.factors[index].kind = FactorKind::Whole;
    while (remaining.starts_with("{")) {
      auto window = parseWindow(index);
      if (!window)
        return window.error();
      window->operand = rule.operands.size();
      window->dim = dimsSeen;
      if (inResults || inCompound)
        return error(fmt::format("factor '{}' has a window where only a dim of "
                                 "its own in an operand can have one",
                                 name));
      rule.windows.push_back(std::move(*window));
    }
    if (std::find(seen.begin(), seen.end(), index) != seen.end())
      return error(fmt::format(
          "factor '{}' is twice in one tensor; an axis cannot shard two dims",
          name));
    seen.push_back(index);
    return index;
  }

  /// `{scale:low:high}`, `{scale:low:high:divisor}` or `{take i j ...}`.
  Result<ShardingRule::Window> parseWindow(unsigned factor) {
    ShardingRule::Window window;
    window.factor = factor;
    take("{");
    std::vector<int64_t> numbers;
    const bool takes = take("take");
    do {
      skipSpaces();
      int64_t number = 0;
      auto [end, code] = std::from_chars(
          remaining.data(), remaining.data() + remaining.size(), number);
      if (code != std::errc())
        return error("expected a number in a window");
      remaining.remove_prefix(size_t(end - remaining.data()));
      numbers.push_back(number);
      skipSpaces();
    } while (takes ? !remaining.starts_with("}") : take(":"));
    if (!take("}"))
      return error("expected '}' after a window");
    if (takes) {
      window.sources = std::move(numbers);
      return window;
    }
    if (numbers.size() < 3 || numbers.size() > 4 ||
        (numbers.size() == 4 && numbers[3] < 1))
      return error("a window is {scale:low:high} or {scale:low:high:divisor}, "
                   "the divisor at least 1");
    window.scale = numbers[0];
    window.low = numbers[1];
    window.high = numbers[2];
    if (numbers.size() == 4)
      window.divisor = numbers[3];
    return window;
  }

  void skipSpaces() {
    while (remaining.starts_with(' '))
      remaining.remove_prefix(1);
  }
  bool atArrow() const { return remaining.starts_with("->"); }
  bool take(std::string_view token) {
    skipSpaces();
    if (!remaining.starts_with(token))
      return false;
    remaining.remove_prefix(token.size());
    return true;
  }
  Error error(std::string_view why) const {
    return Error(
        fmt::format("[ShardingRule] cannot read '{}': {}", whole, why));
  }

  std::string_view whole, remaining;
  ShardingRule rule;
  std::vector<unsigned> seen; ///< factors of the tensor being read
  unsigned dimsSeen = 0;      ///< dims of it that are complete
  bool inResults = false, inCompound = false;
};

std::string windowText(const ShardingRule::Window &window) {
  if (!window.sources.empty())
    return fmt::format("{{take {}}}", fmt::join(window.sources, " "));
  std::string text =
      fmt::format("{{{}:{}:{}", window.scale, window.low, window.high);
  if (window.divisor != 1)
    text += fmt::format(":{}", window.divisor);
  return text + "}";
}

/// `operand`: the index of an operand; nothing for a result.
std::string tensorText(const ShardingRule &rule,
                       const ShardingRule::Tensor &dims,
                       std::optional<unsigned> operand = std::nullopt) {
  auto factor = [&](unsigned f) {
    return rule.factors[f].name +
           (rule.factors[f].kind == FactorKind::Whole ? "!" : "");
  };
  std::string text;
  for (unsigned d = 0; d < dims.size(); ++d) {
    const ShardingRule::Dim &dim = dims[d];
    if (!text.empty())
      text += " ";
    if (dim.empty())
      text += "1";
    else if (dim.size() == 1)
      text += factor(dim[0]);
    else {
      text += "(";
      for (unsigned f : dim)
        text += (text.back() == '(' ? "" : " ") + factor(f);
      text += ")";
    }
    for (const ShardingRule::Window &window : rule.windows)
      if (operand == window.operand && window.dim == d)
        text += windowText(window);
  }
  return text;
}
} // namespace

Result<ShardingRule> ShardingRule::parse(std::string_view text) {
  return RuleParser(text).parse();
}

std::string ShardingRule::to_string() const {
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i ? ", " : "") + tensorText(*this, operands[i], i);
  if (operands.size() == 1 && operands[0].empty())
    text = "[]";
  text += text.empty() ? "->" : " ->";
  for (size_t i = 0; i < results.size(); ++i) {
    std::string dims = tensorText(*this, results[i]);
    text += (i ? "," : "") + (dims.empty() ? dims : " " + dims);
  }
  return text;
}

void ShardingRule::deriveKinds() {
  std::vector<bool> inResult(factors.size());
  for (const Tensor &dims : results)
    for (const Dim &dim : dims)
      for (unsigned f : dim)
        inResult[f] = true;
  for (size_t f = 0; f < factors.size(); ++f)
    if (factors[f].kind != FactorKind::Whole)
      factors[f].kind =
          inResult[f] ? FactorKind::Parallel : FactorKind::Reduced;
}

bool ShardingRule::isCarrier(unsigned operand) const {
  return carriers.empty() ||
         std::find(carriers.begin(), carriers.end(), operand) != carriers.end();
}

namespace {
/// Finds factor sizes: dims of one factor first, then compound dims until
/// nothing changes (each pass fixes a factor, so there are at most as many
/// passes as factors).
class Binder {
public:
  explicit Binder(ShardingRule &rule)
      : rule(rule), hasSize(rule.factors.size(), false) {}

  Status bind(const std::vector<Shape> &operands,
              const std::vector<Shape> &results) {
    if (auto ok = collect("operand", rule.operands, operands); !ok)
      return ok;
    if (auto ok = collect("result", rule.results, results); !ok)
      return ok;
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Entry &entry : entries)
        changed |= solve(entry);
    }
    for (size_t f = 0; f < hasSize.size(); ++f)
      if (!hasSize[f])
        return error(fmt::format("no dim fixes the size of factor '{}'",
                                 rule.factors[f].name));
    for (const Entry &entry : entries)
      if (auto ok = check(entry); !ok)
        return ok;
    for (const ShardingRule::Window &window : rule.windows)
      if (const Factor &factor = rule.factors[window.factor];
          !window.sources.empty() &&
          int64_t(window.sources.size()) != factor.size)
        return error(fmt::format("factor '{}' has size {}, but operand {}, dim "
                                 "{} is taken at {} places",
                                 factor.name, factor.size, window.operand,
                                 window.dim, window.sources.size()));
    return Success();
  }

private:
  struct Entry {
    std::string where; ///< "operand 0, dim 1"
    const ShardingRule::Dim *dim;
    int64_t extent;
  };

  Status collect(std::string_view role,
                 const std::vector<ShardingRule::Tensor> &tensors,
                 const std::vector<Shape> &shapes) {
    if (tensors.size() != shapes.size())
      return error(fmt::format("it has {} {}s, but {} shapes are given",
                               tensors.size(), role, shapes.size()));
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].size() != shapes[i].size())
        return error(fmt::format("{} {} has {} dims in the rule, but rank {}",
                                 role, i, tensors[i].size(), shapes[i].size()));
      for (size_t d = 0; d < tensors[i].size(); ++d)
        if (role != "operand" || !rule.windowOf(i, d))
          entries.push_back({fmt::format("{} {}, dim {}", role, i, d),
                             &tensors[i][d], shapes[i][d]});
    }
    return Success();
  }

  /// Sets the one unknown factor of a dim; false where there is none to set.
  bool solve(const Entry &entry) {
    int64_t others = 1;
    std::optional<unsigned> unknown;
    for (unsigned f : *entry.dim) {
      if (hasSize[f])
        others *= rule.factors[f].size;
      else if (unknown)
        return false;
      else
        unknown = f;
    }
    if (!unknown || others == 0)
      return false;
    rule.factors[*unknown].size = entry.extent / others;
    hasSize[*unknown] = true;
    return true;
  }

  Status check(const Entry &entry) {
    int64_t product = 1;
    std::string names;
    for (unsigned f : *entry.dim) {
      product *= rule.factors[f].size;
      names += (names.empty() ? "" : " ") + rule.factors[f].name;
    }
    if (product == entry.extent)
      return Success();
    if (entry.dim->empty())
      return error(fmt::format("{} must have size 1, but has size {}",
                               entry.where, entry.extent));
    bool several = entry.dim->size() > 1;
    return error(fmt::format("factor{} '{}' {} {} elsewhere, but {} in {}",
                             several ? "s" : "", names,
                             several ? "have product" : "has size", product,
                             entry.extent, entry.where));
  }

  Error error(std::string_view why) const {
    return Error(fmt::format("[ShardingRule] '{}': {}", rule.to_string(), why));
  }

  ShardingRule &rule;
  std::vector<bool> hasSize;
  std::vector<Entry> entries;
};
} // namespace

Status ShardingRule::bind(const std::vector<Shape> &operandShapes,
                          const std::vector<Shape> &resultShapes) {
  return Binder(*this).bind(operandShapes, resultShapes);
}

} // namespace meshloom
