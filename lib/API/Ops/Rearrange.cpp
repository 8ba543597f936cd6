// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns of einops, as a reshape that splits dims, a transposition or
// reduction, and a reshape that joins them; see Rearrange.h.
#include "meshloom/API/Rearrange.h"

#include "Operands.h"

#include <fmt/format.h>

#include <charconv>

namespace meshloom {
using namespace detail;

namespace {

/// One side of a pattern: dims, each joined of factors. A factor is a name, or
/// "#3" for a number, which is alike with no other one; "..." stands for dims.
struct PatternDim {
  std::vector<std::string> factors;
  bool isDots = false; ///< "..." outside of parentheses: any number of dims
};
using PatternSide = std::vector<PatternDim>;

class DimPattern {
public:
  DimPattern(std::string_view op, std::string_view text, const Tensor &x,
             const DimSizes &sizes, Where loc);

  /// Both sides have the same names, for `rearrange`.
  Tensor rearranged();
  Tensor reduced(std::string_view reduction);
  Tensor repeated();

private:
  [[noreturn]] void refuse(const std::string &message) const {
    fail(op, fmt::format("in \"{}\": {}", text, message), &loc);
  }
  PatternSide parse(std::string_view side);
  void expandDots(PatternSide &side);
  void deduceSizes();
  std::vector<std::string> factorsOf(const PatternSide &side) const;
  void expectIn(const std::vector<std::string> &names,
                const std::vector<std::string> &others,
                std::string_view message) const;
  Shape shapeOf(const std::vector<std::string> &factors) const;
  /// x with a dim for each factor of the left side.
  Tensor split() const;
  /// `value`, which has a dim for each of `factors`, as the right side has
  /// them.
  Tensor joined(Tensor value, const std::vector<std::string> &factors) const;

  std::string op, text;
  Tensor x;
  DimSizes sizes;
  Where loc;
  PatternSide leftSide, rightSide;
  int64_t numbers = 0, dots = 0;
};

/// Returns the text of a dim of "...", which is not a name.
std::string dotName(int64_t i) {
  return fmt::format("dim {} of \"...\"", i);
}

PatternSide DimPattern::parse(std::string_view side) {
  PatternSide dims;
  bool isOpen = false;
  auto put = [&](std::string factor) {
    if (isOpen)
      dims.back().factors.push_back(std::move(factor));
    else
      dims.push_back({{factor}, factor == "..."});
  };
  while (!side.empty()) {
    const char first = side.front();
    if (std::isspace(static_cast<unsigned char>(first))) {
      side.remove_prefix(1);
    } else if (first == '(') {
      if (isOpen)
        refuse("parentheses do not nest");
      isOpen = true;
      dims.emplace_back();
      side.remove_prefix(1);
    } else if (first == ')') {
      if (!isOpen)
        refuse("expected '(' before ')'");
      isOpen = false;
      side.remove_prefix(1);
    } else if (side.starts_with("...")) {
      put("...");
      side.remove_prefix(3);
    } else {
      size_t end = 0;
      while (end < side.size() &&
             (std::isalnum(static_cast<unsigned char>(side[end])) ||
              side[end] == '_'))
        ++end;
      if (end == 0)
        refuse(fmt::format("expected names, numbers, '(', ')', \"...\" and one "
                           "\"->\", got '{}'",
                           first));
      const std::string_view word = side.substr(0, end);
      side.remove_prefix(end);
      if (!std::isdigit(static_cast<unsigned char>(word.front()))) {
        put(std::string(word));
        continue;
      }
      int64_t number = 0;
      auto [parsed, error] =
          std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || parsed != word.data() + word.size() ||
          number < 1)
        refuse(fmt::format("expected a number of at least 1 or a name that "
                           "begins with a letter, got \"{}\"",
                           word));
      if (number == 1) { // nothing to split, join or copy
        if (!isOpen)
          dims.emplace_back();
        continue;
      }
      std::string name = fmt::format("#{}", numbers++);
      sizes[name] = number;
      put(std::move(name));
    }
  }
  if (isOpen)
    refuse("expected ')' behind '('");
  std::vector<std::string> factors = factorsOf(dims);
  for (const std::string &factor : factors)
    if (llvm::count(factors, factor) > 1)
      refuse(fmt::format("{} is twice on one side",
                         factor == "..." ? "\"...\"" : factor));
  return dims;
}

void DimPattern::expandDots(PatternSide &side) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < dots; ++i)
    names.push_back(dotName(i));
  PatternSide expanded;
  for (const PatternDim &dim : side) {
    if (dim.isDots) {
      for (const std::string &name : names)
        expanded.push_back({{name}});
      continue;
    }
    std::vector<std::string> &to = expanded.emplace_back().factors;
    for (const std::string &factor : dim.factors)
      if (factor == "...")
        to.insert(to.end(), names.begin(), names.end());
      else
        to.push_back(factor);
  }
  side = std::move(expanded);
}

DimPattern::DimPattern(std::string_view op, std::string_view text,
                       const Tensor &x, const DimSizes &dimSizes, Where loc)
    : op(op), text(text), x(x), loc(loc) {
  const Shape &shape = nodeOf(x, op, &loc).shape;
  const size_t arrow = text.find("->");
  if (arrow == text.npos)
    refuse("expected \"->\" between the dims of x and the dims of the result");
  leftSide = parse(text.substr(0, arrow));
  rightSide = parse(text.substr(arrow + 2));
  for (const auto &[name, size] : dimSizes) {
    if (size < 1)
      refuse(fmt::format("expected a size of at least 1 for {}, got {}", name,
                         size));
    const std::vector<std::string> sides[] = {factorsOf(leftSide),
                                              factorsOf(rightSide)};
    if (!llvm::is_contained(sides[0], name) &&
        !llvm::is_contained(sides[1], name))
      refuse(fmt::format("a size is given for {}, which is not in the pattern",
                         name));
    sizes[name] = size;
  }
  const bool hasDots =
      llvm::any_of(leftSide, [](const PatternDim &dim) { return dim.isDots; });
  if (!hasDots && llvm::is_contained(factorsOf(leftSide), "..."))
    refuse("\"...\" in parentheses joins dims: it may be on the right only");
  const auto named = int64_t(leftSide.size()) - (hasDots ? 1 : 0);
  if (hasDots ? named > int64_t(shape.size()) : named != int64_t(shape.size()))
    refuse(fmt::format("the left side is for {} dims{}, got {}", named,
                       hasDots ? " and more" : "", typeText(x)));
  dots = int64_t(shape.size()) - named;
  if (!hasDots && llvm::is_contained(factorsOf(rightSide), "..."))
    refuse("\"...\" is on the right only");
  expandDots(leftSide);
  expandDots(rightSide);
  deduceSizes();
}

/// Deduces the sizes of the left side, of which each dim may have one that is
/// not given.
void DimPattern::deduceSizes() {
  for (size_t d = 0; d < leftSide.size(); ++d) {
    const int64_t extent = x.shape()[d];
    int64_t product = 1;
    const std::string *open = nullptr;
    for (const std::string &factor : leftSide[d].factors) {
      if (auto size = sizes.find(factor); size != sizes.end()) {
        product *= size->second;
      } else {
        if (open)
          refuse(fmt::format("the sizes of {} and {} are unknown: give one, as "
                             "{{{{\"{}\", size}}}}",
                             *open, factor, factor));
        open = &factor;
      }
    }
    if (open ? extent % product != 0 : extent != product)
      refuse(fmt::format("dim {} of {} is {}, and its parts make {}{}", d,
                         typeText(x), extent, open ? "a multiple of " : "",
                         product));
    if (open)
      sizes[*open] = extent / product;
  }
}

std::vector<std::string> DimPattern::factorsOf(const PatternSide &side) const {
  std::vector<std::string> factors;
  for (const PatternDim &dim : side)
    factors.insert(factors.end(), dim.factors.begin(), dim.factors.end());
  return factors;
}

void DimPattern::expectIn(const std::vector<std::string> &names,
                          const std::vector<std::string> &others,
                          std::string_view message) const {
  for (const std::string &name : names)
    if (!llvm::is_contained(others, name))
      refuse(fmt::format("{} {}",
                         name.starts_with('#') ? std::to_string(sizes.at(name))
                                               : name,
                         message));
}

Shape DimPattern::shapeOf(const std::vector<std::string> &factors) const {
  Shape shape;
  for (const std::string &factor : factors) {
    auto size = sizes.find(factor);
    if (size == sizes.end())
      refuse(fmt::format("the size of {} is unknown: give it, as {{{{\"{}\", "
                         "size}}}}",
                         factor, factor));
    shape.push_back(size->second);
  }
  return shape;
}

Tensor DimPattern::split() const {
  return meshloom::reshape(x, shapeOf(factorsOf(leftSide)), loc);
}

Tensor DimPattern::joined(Tensor value,
                          const std::vector<std::string> &factors) const {
  std::vector<std::string> wanted = factorsOf(rightSide);
  std::vector<int64_t> order;
  for (const std::string &factor : wanted)
    order.push_back(llvm::find(factors, factor) - factors.begin());
  if (!llvm::is_sorted(order))
    value = transpose(value, order, loc);
  Shape shape;
  for (const PatternDim &dim : rightSide) {
    int64_t extent = 1;
    for (int64_t size : shapeOf(dim.factors))
      extent *= size;
    shape.push_back(extent);
  }
  return meshloom::reshape(value, shape, loc);
}

Tensor DimPattern::rearranged() {
  const std::vector<std::string> from = factorsOf(leftSide),
                                 to = factorsOf(rightSide);
  expectIn(from, to, "is on the left only: reduce takes dims away");
  expectIn(to, from, "is on the right only: repeat makes new dims");
  return joined(split(), from);
}

Tensor DimPattern::reduced(std::string_view reduction) {
  const std::vector<std::string> from = factorsOf(leftSide),
                                 to = factorsOf(rightSide);
  expectIn(to, from, "is on the right only: repeat makes new dims");
  Axis gone(std::vector<int64_t>{});
  std::vector<std::string> stay;
  for (size_t i = 0; i < from.size(); ++i)
    if (llvm::is_contained(to, from[i]))
      stay.push_back(from[i]);
    else
      gone.dims.push_back(int64_t(i));
  using Reduction = Tensor (*)(const Tensor &, const Axis &, bool, Where);
  static constexpr std::pair<std::string_view, Reduction> reductions[] = {
      {"sum", reduce_sum}, {"mean", reduce_mean}, {"max", reduce_max},
      {"min", reduce_min}, {"prod", reduce_prod}, {"any", reduce_any},
      {"all", reduce_all}};
  for (auto [name, reduces] : reductions)
    if (name == reduction)
      return joined(reduces(split(), gone, false, loc), stay);
  refuse(fmt::format("expected the reduction sum, mean, max, min, prod, any or "
                     "all, got \"{}\"",
                     reduction));
}

Tensor DimPattern::repeated() {
  std::vector<std::string> factors = factorsOf(leftSide);
  const std::vector<std::string> to = factorsOf(rightSide);
  expectIn(factors, to, "is on the left only: reduce takes dims away");
  Tensor value = split();
  Shape apart = value.shape();
  for (const std::string &factor : to)
    if (!llvm::is_contained(factors, factor)) {
      factors.push_back(factor);
      apart.push_back(1);
    }
  value = meshloom::reshape(value, apart, loc);
  return joined(broadcast_to(value, shapeOf(factors), loc), factors);
}

} // namespace

Tensor rearrange(const Tensor &x, std::string_view pattern,
                 const DimSizes &sizes, Where loc) {
  const CallName name("rearrange");
  return DimPattern("rearrange", pattern, x, sizes, loc).rearranged();
}

Tensor reduce(const Tensor &x, std::string_view pattern,
              std::string_view reduction, const DimSizes &sizes, Where loc) {
  const CallName name("reduce");
  return DimPattern("reduce", pattern, x, sizes, loc).reduced(reduction);
}

Tensor repeat(const Tensor &x, std::string_view pattern, const DimSizes &sizes,
              Where loc) {
  const CallName name("repeat");
  return DimPattern("repeat", pattern, x, sizes, loc).repeated();
}

} // namespace meshloom
