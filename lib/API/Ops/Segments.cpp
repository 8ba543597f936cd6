// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segments are scatters that reduce; see Segments.h.
#include "meshloom/API/Segments.h"

#include "IndexedElements.h"
#include "Operands.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/API/IndexOps.h"

#include <fmt/format.h>

#include <limits>

namespace meshloom {
using namespace detail;

Tensor detail::identityOf(ReduceKind kind, DType type, bool isFinite,
                          std::string_view op,
                          const std::source_location &where) {
  const double sign = kind == ReduceKind::Max ? -1 : 1;
  auto number = [&]() -> TensorLike {
    if (isFloat(type))
      return {sign * (isFinite ? largestFinite(type)
                               : std::numeric_limits<double>::infinity()),
              where};
    if (type == DType::UI64)
      return {sign > 0 ? std::numeric_limits<uint64_t>::max() : uint64_t(0),
              where};
    const int64_t largest = largestInteger(type);
    return {sign > 0 ? largest : isSigned(type) ? -largest - 1 : 0, where};
  };
  return operandLike(number(), type, op);
}

namespace {

/// The ids as i64, and the number of segments.
struct SegmentIds {
  Tensor ids;
  int64_t count;
};

SegmentIds segmentIds(std::string_view op, const Tensor &data,
                      const Tensor &ids, std::optional<int64_t> count,
                      Where loc) {
  nodeOf(data, op, &loc);
  nodeOf(ids, op, &loc);
  if (!isInteger(ids.dtype()) || ids.rank() != 1 || data.rank() < 1 ||
      data.shape()[0] != ids.shape()[0])
    fail(op,
         fmt::format("expected data [n, ...] and integer ids [n], got {} and "
                     "{}",
                     typeText(data), typeText(ids)),
         &loc);
  Tensor wide = cast(ids, DType::I64, loc);
  const int64_t segments = sizeOr(count, "num_segments", op, loc, [&] {
    if (ids.size() == 0)
      return int64_t(0);
    return std::max<int64_t>(
        reduce_max(wide, Axis(), false, loc).item<int64_t>() + 1, 0);
  });
  return {wide, segments};
}

Shape segmentShape(const Tensor &data, int64_t segments) {
  Shape shape = data.shape();
  shape[0] = segments;
  return shape;
}

/// Rows scattered into rows of `identity`, a scalar.
Tensor reduceSegments(std::string_view op, ReduceKind kind, const Tensor &data,
                      const SegmentIds &to, const Tensor &identity, Where loc) {
  Tensor start = broadcast_to(identity, segmentShape(data, to.count), loc);
  return scatterBy(op, start, to.ids, data, kind, loc);
}

Tensor sumSegments(std::string_view op, const Tensor &data,
                   const SegmentIds &to, Where loc) {
  Tensor numbers =
      data.dtype() == DType::I1 ? cast(data, DType::I64, loc) : data;
  return scatterBy(op,
                   zeros(segmentShape(data, to.count), numbers.dtype(), loc),
                   to.ids, numbers, ReduceKind::Sum, loc);
}

/// [segments, 1...] of data's rank and type: the number of rows of each.
Tensor countRows(std::string_view op, const Tensor &data, const SegmentIds &to,
                 Where loc) {
  Tensor ones = full({data.shape()[0]}, 1, DType::F32, loc);
  Shape column(data.shape().size(), 1);
  column[0] = to.count;
  return cast(reshape(sumSegments(op, ones, to, loc), column, loc),
              data.dtype(), loc);
}

Tensor meanSegments(std::string_view op, const Tensor &data,
                    const Tensor &segment_ids, std::optional<int64_t> segments,
                    bool emptyIsZero, bool byRoot, Where loc) {
  const CallName name(op);
  if (!isComplex(nodeOf(data, op, &loc).dtype))
    expectFloat(data, op, loc);
  SegmentIds to = segmentIds(op, data, segment_ids, segments, loc);
  Tensor count = countRows(op, data, to, loc);
  if (emptyIsZero) // a sum of nothing is 0 whatever it is divided by
    count = where({equal({count, loc}, {0, loc}), loc}, {1, loc}, {count, loc});
  if (byRoot)
    count = sqrt(count, loc);
  return divide({sumSegments(op, data, to, loc), loc}, {count, loc});
}

Tensor extremeSegments(std::string_view op, ReduceKind kind, const Tensor &data,
                       const Tensor &segment_ids,
                       std::optional<int64_t> segments, bool isFinite,
                       Where loc) {
  const CallName name(op);
  SegmentIds to = segmentIds(op, data, segment_ids, segments, loc);
  const DType type = data.dtype();
  if (!isFloat(type) && !isInteger(type))
    fail(op,
         fmt::format("expected numbers with an order, got {}", typeText(data)),
         &loc);
  return reduceSegments(op, kind, data, to,
                        identityOf(kind, type, isFinite, op, loc), loc);
}

Tensor productSegments(std::string_view op, const Tensor &data,
                       const Tensor &segment_ids,
                       std::optional<int64_t> segments, Where loc) {
  const CallName name(op);
  SegmentIds to = segmentIds(op, data, segment_ids, segments, loc);
  return reduceSegments(op, ReduceKind::Prod, data, to,
                        ones({}, data.dtype(), loc), loc);
}

} // namespace

Tensor segment_sum(const Tensor &data, const Tensor &segment_ids,
                   std::optional<int64_t> num_segments, Where loc) {
  constexpr std::string_view op = "segment_sum";
  const CallName name(op);
  return sumSegments(op, data,
                     segmentIds(op, data, segment_ids, num_segments, loc), loc);
}
Tensor segment_mean(const Tensor &data, const Tensor &segment_ids,
                    std::optional<int64_t> num_segments, Where loc) {
  return meanSegments("segment_mean", data, segment_ids, num_segments, false,
                      false, loc);
}
Tensor segment_prod(const Tensor &data, const Tensor &segment_ids,
                    std::optional<int64_t> num_segments, Where loc) {
  return productSegments("segment_prod", data, segment_ids, num_segments, loc);
}
Tensor segment_max(const Tensor &data, const Tensor &segment_ids,
                   std::optional<int64_t> num_segments, Where loc) {
  return extremeSegments("segment_max", ReduceKind::Max, data, segment_ids,
                         num_segments, false, loc);
}
Tensor segment_min(const Tensor &data, const Tensor &segment_ids,
                   std::optional<int64_t> num_segments, Where loc) {
  return extremeSegments("segment_min", ReduceKind::Min, data, segment_ids,
                         num_segments, false, loc);
}

Tensor segment_softmax(const Tensor &data, const Tensor &segment_ids,
                       std::optional<int64_t> num_segments, Where loc) {
  constexpr std::string_view op = "segment_softmax";
  const CallName name(op);
  expectFloat(data, op, loc);
  SegmentIds to = segmentIds(op, data, segment_ids, num_segments, loc);
  if (to.count == 0)
    return zeros_like(data, loc);
  Shape column(data.shape().size(), 1);
  column[0] = data.shape()[0];
  Tensor isIn =
      reshape(logical_and({greater_equal({to.ids, loc}, {0, loc}), loc},
                          {less({to.ids, loc}, {to.count, loc}), loc}),
              column, loc);
  Tensor fixed = stop_gradient(data, loc);
  Tensor top = reduceSegments(
      op, ReduceKind::Max, fixed, to,
      identityOf(ReduceKind::Max, data.dtype(), false, op, loc), loc);
  // Rows that are all -inf, or have an inf: nothing to shift by.
  top = where({is_finite(top, loc), loc}, {top, loc}, {0, loc});
  Tensor shifted =
      subtract({data, loc}, {gatherClamped(top, to.ids, 0, loc), loc});
  Tensor power = exp(where({isIn, loc}, {shifted, loc}, {0, loc}), loc);
  Tensor sum = gatherClamped(sumSegments(op, power, to, loc), to.ids, 0, loc);
  Tensor part =
      divide({power, loc}, {where({isIn, loc}, {sum, loc}, {1, loc}), loc});
  return where({isIn, loc}, {part, loc}, {0, loc});
}

Tensor unsorted_segment_sum(const Tensor &data, const Tensor &segment_ids,
                            int64_t num_segments, Where loc) {
  const CallName name("unsorted_segment_sum");
  return segment_sum(data, segment_ids, num_segments, loc);
}
Tensor unsorted_segment_mean(const Tensor &data, const Tensor &segment_ids,
                             int64_t num_segments, Where loc) {
  return meanSegments("unsorted_segment_mean", data, segment_ids, num_segments,
                      true, false, loc);
}
Tensor unsorted_segment_prod(const Tensor &data, const Tensor &segment_ids,
                             int64_t num_segments, Where loc) {
  return productSegments("unsorted_segment_prod", data, segment_ids,
                         num_segments, loc);
}
Tensor unsorted_segment_max(const Tensor &data, const Tensor &segment_ids,
                            int64_t num_segments, Where loc) {
  return extremeSegments("unsorted_segment_max", ReduceKind::Max, data,
                         segment_ids, num_segments, true, loc);
}
Tensor unsorted_segment_min(const Tensor &data, const Tensor &segment_ids,
                            int64_t num_segments, Where loc) {
  return extremeSegments("unsorted_segment_min", ReduceKind::Min, data,
                         segment_ids, num_segments, true, loc);
}
Tensor unsorted_segment_sqrt_n(const Tensor &data, const Tensor &segment_ids,
                               int64_t num_segments, Where loc) {
  return meanSegments("unsorted_segment_sqrt_n", data, segment_ids,
                      num_segments, true, true, loc);
}

} // namespace meshloom
