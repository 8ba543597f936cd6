// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// einsum as diagonals, sums, products of two (dot_general) and a transposition.
#include "meshloom/API/Einsum.h"

#include "Operands.h"
#include "meshloom/API/Create.h"

#include <fmt/format.h>

#include <map>

namespace meshloom {
using namespace detail;

namespace {

constexpr std::string_view op = "einsum";

/// A dim's name: its letter, or for the dims of "..." a number below 0, -1 the
/// last of them.
using Label = int;
using Labels = std::vector<Label>;

std::string text(Label label) {
  return label < 0 ? fmt::format("dim {} of \"...\"", label)
                   : fmt::format("'{}'", char(label));
}

struct Factor {
  Tensor tensor;
  Labels labels;
  std::optional<size_t> find(Label label) const {
    auto found = llvm::find(labels, label);
    if (found == labels.end())
      return {};
    return size_t(found - labels.begin());
  }
};

class Equation {
public:
  Equation(std::string_view equation, const std::vector<Tensor> &operands,
           Where loc);
  Tensor result();

private:
  [[noreturn]] void refuse(const std::string &message) {
    fail(op, fmt::format("in \"{}\": {}", equation, message), &loc);
  }
  Labels parse(std::string_view letters, int64_t dots);
  void addOperand(std::string_view letters, const Tensor &operand);
  void takeDiagonals(Factor &factor);
  void noteExtents();
  void dropOnes(Factor &factor);
  /// Returns whether a factor other than those two, or the result, has the
  /// label.
  bool isNeeded(Label label, const Factor *one, const Factor *other);
  void sumOut(Factor &factor);
  Labels productOf(const Factor &l, const Factor &r);
  int64_t sizeOf(const Labels &labels);
  Factor multiplied(const Factor &l, const Factor &r);

  std::string equation;
  std::vector<Factor> factors;
  Labels output;
  int64_t mostDots = 0;
  std::map<Label, int64_t> extents;
  Where loc;
};

/// `dots`: how many dims "..." stands for.
Labels Equation::parse(std::string_view letters, int64_t dots) {
  Labels labels;
  bool seen = false;
  while (!letters.empty()) {
    if (letters.starts_with("...")) {
      if (seen)
        refuse("expected at most one \"...\" for a tensor");
      seen = true;
      for (int64_t i = dots; i > 0; --i)
        labels.push_back(Label(-i));
      letters.remove_prefix(3);
      continue;
    }
    const char letter = letters.front();
    if (!std::isalpha(static_cast<unsigned char>(letter)))
      refuse(fmt::format("expected letters, \"...\", ',' and one \"->\", got "
                         "'{}'",
                         letter));
    labels.push_back(Label(letter));
    letters.remove_prefix(1);
  }
  return labels;
}

void Equation::addOperand(std::string_view letters, const Tensor &operand) {
  const int64_t rank = int64_t(nodeOf(operand, op, &loc).shape.size());
  const bool hasDots = letters.find("...") != letters.npos;
  const int64_t named = int64_t(letters.size()) - (hasDots ? 3 : 0);
  if (hasDots ? named > rank : named != rank)
    refuse(fmt::format("operand {} is \"{}\", for {} dims{}, got {}",
                       factors.size(), letters, named,
                       hasDots ? " and more" : "", typeText(operand)));
  mostDots = std::max(mostDots, rank - named);
  factors.push_back({operand, parse(letters, rank - named)});
}

Equation::Equation(std::string_view text, const std::vector<Tensor> &operands,
                   Where loc)
    : equation(text), loc(loc) {
  std::string spaceless;
  for (char letter : text)
    if (letter != ' ')
      spaceless.push_back(letter);
  std::string_view inputs = spaceless;
  std::optional<std::string_view> resultTerm;
  if (size_t arrow = inputs.find("->"); arrow != inputs.npos) {
    resultTerm = inputs.substr(arrow + 2);
    inputs = inputs.substr(0, arrow);
  }
  std::vector<std::string_view> terms;
  for (size_t comma; (comma = inputs.find(',')) != inputs.npos;) {
    terms.push_back(inputs.substr(0, comma));
    inputs.remove_prefix(comma + 1);
  }
  terms.push_back(inputs);
  if (terms.size() != operands.size())
    refuse(fmt::format("expected {} operands, got {}", terms.size(),
                       operands.size()));
  for (size_t i = 0; i < terms.size(); ++i)
    addOperand(terms[i], operands[i]);
  for (const Tensor &operand : operands)
    operandPair({operands.front(), loc}, {operand, loc}, op); // one type

  std::map<Label, int> uses;
  for (const Factor &factor : factors)
    for (Label label : factor.labels)
      ++uses[label];
  if (resultTerm) {
    output = parse(*resultTerm, mostDots);
    for (Label label : output) {
      if (!uses.contains(label) && label > 0)
        refuse(fmt::format("the result's {} is in no operand",
                           meshloom::text(label)));
      if (llvm::count(output, label) > 1)
        refuse(fmt::format("the result has {} twice", meshloom::text(label)));
    }
    return;
  }
  for (int64_t i = mostDots; i > 0; --i)
    output.push_back(Label(-i));
  for (auto [label, count] : uses) // letters in order
    if (label > 0 && count == 1)
      output.push_back(label);
}

/// Joins dims with one label: keeps elements whose indices are equal.
void Equation::takeDiagonals(Factor &factor) {
  for (size_t first = 0; first < factor.labels.size(); ++first)
    for (size_t second = factor.labels.size() - 1; second > first; --second) {
      if (factor.labels[first] != factor.labels[second])
        continue;
      const Shape &shape = factor.tensor.shape();
      if (shape[first] != shape[second])
        refuse(fmt::format("{} is {} and {} in {}", text(factor.labels[first]),
                           shape[first], shape[second],
                           typeText(factor.tensor)));
      Tensor same = equal({iota(shape, int64_t(first), DType::I32, loc), loc},
                          {iota(shape, int64_t(second), DType::I32, loc), loc});
      Tensor diagonal = where({same, loc}, {factor.tensor, loc}, {0, loc});
      factor.tensor = reduce_sum(diagonal, int64_t(second), false, loc);
      factor.labels.erase(factor.labels.begin() + ptrdiff_t(second));
    }
}

void Equation::noteExtents() {
  for (const Factor &factor : factors)
    for (size_t d = 0; d < factor.labels.size(); ++d) {
      const int64_t extent = factor.tensor.shape()[d];
      auto [entry, isNew] = extents.try_emplace(factor.labels[d], extent);
      if (isNew || entry->second == extent)
        continue;
      const bool broadcasts = entry->first < 0;
      if (broadcasts && entry->second == 1)
        entry->second = extent;
      else if (!broadcasts || extent != 1)
        refuse(fmt::format("{} is {} in one operand and {} in another",
                           text(entry->first), entry->second, extent));
    }
}

/// Dims of "..." that have one element where others have more.
void Equation::dropOnes(Factor &factor) {
  Shape shape;
  Labels labels;
  for (size_t d = 0; d < factor.labels.size(); ++d) {
    const int64_t extent = factor.tensor.shape()[d];
    if (extent == 1 && extents.at(factor.labels[d]) != 1)
      continue;
    shape.push_back(extent);
    labels.push_back(factor.labels[d]);
  }
  factor = {reshape(factor.tensor, shape, loc), std::move(labels)};
}

bool Equation::isNeeded(Label label, const Factor *one, const Factor *other) {
  if (llvm::is_contained(output, label))
    return true;
  return llvm::any_of(factors, [&](const Factor &factor) {
    return &factor != one && &factor != other && factor.find(label);
  });
}

/// Labels that nothing else has.
void Equation::sumOut(Factor &factor) {
  std::vector<int64_t> dims;
  Labels labels;
  for (size_t d = 0; d < factor.labels.size(); ++d)
    if (isNeeded(factor.labels[d], &factor, nullptr))
      labels.push_back(factor.labels[d]);
    else
      dims.push_back(int64_t(d));
  if (!dims.empty())
    factor.tensor = reduce_sum(factor.tensor, Axis(dims), false, loc);
  factor.labels = std::move(labels);
}

/// Returns the labels in dot_general's order: batches, the remaining ones of l,
/// the remaining ones of r.
Labels Equation::productOf(const Factor &l, const Factor &r) {
  Labels labels;
  for (Label label : l.labels)
    if (r.find(label) && isNeeded(label, &l, &r))
      labels.push_back(label);
  for (Label label : l.labels)
    if (!r.find(label))
      labels.push_back(label);
  for (Label label : r.labels)
    if (!l.find(label))
      labels.push_back(label);
  return labels;
}

int64_t Equation::sizeOf(const Labels &labels) {
  double size = 1;
  for (Label label : labels)
    size *= double(extents.at(label));
  return int64_t(std::min(size, 0x1p62));
}

Factor Equation::multiplied(const Factor &l, const Factor &r) {
  DotDims dims;
  for (size_t d = 0; d < l.labels.size(); ++d) {
    auto other = r.find(l.labels[d]);
    if (!other)
      continue;
    const bool stays = isNeeded(l.labels[d], &l, &r);
    (stays ? dims.lhs_batch : dims.lhs_contracting).push_back(int64_t(d));
    (stays ? dims.rhs_batch : dims.rhs_contracting).push_back(int64_t(*other));
  }
  return {dot_general(l.tensor, r.tensor, dims, loc), productOf(l, r)};
}

Tensor Equation::result() {
  for (Factor &factor : factors)
    takeDiagonals(factor);
  noteExtents();
  for (Factor &factor : factors) {
    dropOnes(factor);
  }
  for (Factor &factor : factors)
    sumOut(factor);
  while (factors.size() > 1) {
    size_t bestLeft = 0, bestRight = 1;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t l = 0; l < factors.size(); ++l)
      for (size_t r = l + 1; r < factors.size(); ++r)
        if (int64_t size = sizeOf(productOf(factors[l], factors[r]));
            size < least) {
          least = size;
          bestLeft = l;
          bestRight = r;
        }
    Factor product = multiplied(factors[bestLeft], factors[bestRight]);
    factors.erase(factors.begin() + ptrdiff_t(bestRight));
    factors[bestLeft] = std::move(product);
  }
  Factor &last = factors.front();
  std::vector<int64_t> order;
  for (Label label : output)
    if (auto dim = last.find(label))
      order.push_back(int64_t(*dim));
  bool inOrder = llvm::is_sorted(order);
  return inOrder ? last.tensor : transpose(last.tensor, order, loc);
}

} // namespace

Tensor einsum(detail::EquationText equation,
              const std::vector<Tensor> &operands, Where loc) {
  return Equation(equation.text, operands, loc).result();
}

Tensor tensordot(const Tensor &x, const Tensor &y, int64_t axes, Where loc) {
  constexpr std::string_view name = "tensordot";
  const int64_t lhsRank = int64_t(nodeOf(x, name, &loc).shape.size()),
                rhsRank = int64_t(nodeOf(y, name, &loc).shape.size());
  if (axes < 0 || axes > std::min(lhsRank, rhsRank))
    fail(name,
         fmt::format("expected a number of dims that both have, got {} of {} "
                     "and {}",
                     axes, typeText(x), typeText(y)),
         &loc);
  Axis last(std::vector<int64_t>{}), first(std::vector<int64_t>{});
  for (int64_t d = 0; d < axes; ++d) {
    last.dims.push_back(lhsRank - axes + d);
    first.dims.push_back(d);
  }
  return tensordot(x, y, last, first, loc);
}

Tensor tensordot(const Tensor &x, const Tensor &y, const Axis &x_axes,
                 const Axis &y_axes, Where loc) {
  const CallName name("tensordot");
  auto dimsOf = [&](const Axis &axes, const Tensor &of) {
    nodeOf(of, "tensordot", &loc);
    return axes.all ? axesOf({}, true, of.rank(), "tensordot", loc) : axes.dims;
  };
  DotDims dims;
  dims.lhs_contracting = dimsOf(x_axes, x);
  dims.rhs_contracting = dimsOf(y_axes, y);
  return dot_general(x, y, dims, loc);
}

Tensor outer(const Tensor &x, const Tensor &y, Where loc) {
  operandPair({x, loc}, {y, loc}, "outer");
  return multiply({reshape(x, {x.size(), 1}, loc), loc},
                  {reshape(y, {1, y.size()}, loc), loc});
}

} // namespace meshloom
