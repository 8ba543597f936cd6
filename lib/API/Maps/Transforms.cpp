// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of function transformations on the tensors of structures.
#include "meshloom/API/Transforms.h"

#include "../Ops/Operands.h"

#include "meshloom/API/Create.h"

#include <fmt/format.h>

namespace meshloom {
namespace detail {

void expectLoss(const Tensor &loss, std::string_view op,
                const std::source_location &where) {
  const TensorNode &node = nodeOf(loss, op, &where);
  if (!node.shape.empty() || !isFloat(node.dtype))
    fail(op,
         fmt::format("expected a function whose value is a float scalar, got "
                     "{}: reduce it (reduce_sum, reduce_mean), or ask for its "
                     "jacobian",
                     typeText(loss)),
         &where);
}

void expectTangents(const std::vector<Tensor> &primals,
                    const std::vector<Tensor> &tangents,
                    const std::source_location &where) {
  if (primals.size() != tangents.size())
    fail("jvp",
         fmt::format("expected as many tangents as primals, got {} for {}",
                     tangents.size(), primals.size()),
         &where);
  for (size_t i = 0; i < primals.size(); ++i) {
    const TensorNode &primal = nodeOf(primals[i], "jvp", &where),
                     &tangent = nodeOf(tangents[i], "jvp", &where);
    if (primal.shape != tangent.shape || primal.dtype != tangent.dtype)
      fail("jvp",
           fmt::format("expected tangent {} to be like its primal, {}, got {}",
                       i, typeText(primals[i]), typeText(tangents[i])),
           &where);
  }
}

std::vector<Tensor> forwardProduct(const GradientTape &tape,
                                   const std::vector<Tensor> &outputs,
                                   const std::vector<Tensor> &primals,
                                   const std::vector<Tensor> &tangents,
                                   const std::source_location &where) {
  const CallName name("jvp");
  std::vector<Tensor> units;
  for (const Tensor &output : outputs)
    units.push_back(zeros_like(output, where));
  GradientTape ofUnits;
  const std::vector<Tensor> slopes =
      tape.gradient(outputs, {primals.begin(), primals.end()}, units,
                    UnconnectedGradients::Zero, where);
  return ofUnits.gradient(slopes, {units.begin(), units.end()}, tangents,
                          UnconnectedGradients::Zero, where);
}

/// Every `stride`-th element of [begin, end).
static Tensor everyNth(const Tensor &x, int64_t begin, int64_t end,
                       int64_t stride, const std::source_location &where) {
  Shape from(x.shape().size(), 0), to = x.shape(), by(x.shape().size(), 1);
  from[0] = begin;
  to[0] = end;
  by[0] = stride;
  return strided_slice(x, from, to, by, where);
}

std::vector<Tensor> everySecond(const std::vector<Tensor> &xs, int64_t first,
                                const std::source_location &where) {
  std::vector<Tensor> parts;
  for (const Tensor &x : xs)
    parts.push_back(everyNth(x, first, x.shape()[0], 2, where));
  return parts;
}

std::vector<Tensor> elementsOf(const std::vector<Tensor> &xs, int64_t begin,
                               int64_t end, const std::source_location &where) {
  std::vector<Tensor> parts;
  for (const Tensor &x : xs)
    parts.push_back(everyNth(x, begin, end, 1, where));
  return parts;
}

std::vector<Tensor> interleaved(const std::vector<Tensor> &even,
                                const std::vector<Tensor> &odd,
                                const std::source_location &where) {
  std::vector<Tensor> merged;
  for (size_t k = 0; k < even.size(); ++k) {
    const int64_t pairs = odd[k].shape()[0], count = even[k].shape()[0];
    Shape shape = odd[k].shape();
    shape[0] = 2 * pairs;
    Tensor both = reshape(
        stack({everyNth(even[k], 0, pairs, 1, where), odd[k]}, 1, where), shape,
        where);
    merged.push_back(count > pairs ? concat({both, everyNth(even[k], pairs,
                                                            count, 1, where)},
                                            0, where)
                                   : both);
  }
  return merged;
}

std::vector<Tensor> reversed(std::vector<Tensor> xs,
                             const std::source_location &where) {
  for (Tensor &x : xs)
    x = reverse(x, 0, where);
  return xs;
}

} // namespace detail

using namespace detail;

Tensor add_n(const std::vector<Tensor> &values, Where where) {
  constexpr std::string_view op = "add_n";
  if (values.empty())
    fail(op, "expected at least one tensor, got none", &where);
  for (const Tensor &value : values)
    if (nodeOf(value, op, &where).shape != values.front().shape())
      fail(op,
           fmt::format("expected tensors of one shape, got {} beside {}",
                       typeText(value), typeText(values.front())),
           &where);
  // By pairs, so that the error grows with the logarithm of their number.
  std::vector<Tensor> sums = values;
  while (sums.size() > 1) {
    std::vector<Tensor> next;
    for (size_t i = 0; i + 1 < sums.size(); i += 2)
      next.push_back(add({sums[i], where}, {sums[i + 1], where}));
    if (sums.size() % 2)
      next.push_back(sums.back());
    sums = std::move(next);
  }
  return sums.front();
}

} // namespace meshloom
