// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indexing, written as slices, reverses, gathers and reshapes; see SliceOps.h.
#include "meshloom/API/SliceOps.h"

#include "Operands.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

template <typename F> void visitFields(const PadDim &dim, F visit) {
  const auto &[low, high, interior] = dim;
  for (int64_t count : {low, high, interior})
    visit(count);
}

Index::Index(const Tensor &indices, Where where)
    : kind(Kind::Tensor), tensor(indices.internal()), where(where) {}

namespace {

using List = std::vector<int64_t>;

/// The elements that are picked of one dim of the source: `count` elements from
/// `begin` on, every stride-th one, in falling order where `reversed`; or, with
/// a tensor, those that it names.
struct Cut {
  int64_t begin = 0, count = 0, stride = 1;
  bool reversed = false;
  Tensor tensor;
  bool isWhole(int64_t extent) const {
    return begin == 0 && count == extent && stride == 1;
  }
  bool isScalar() const { return tensor.internal() && tensor.rank() == 0; }
  bool isGather() const { return tensor.internal() && tensor.rank() > 0; }
};

/// Indices, resolved for a tensor.
struct Selection {
  std::vector<Cut> cuts;          ///< one a dim of the source
  Shape picked;                   ///< extents of what is picked, with every dim
  Shape result;                   ///< without those of numbers, with new ones
  std::optional<size_t> gathered; ///< the dim whose tensor is not a scalar
  std::source_location where;
};

Cut cutOf(IndexRange range, int64_t extent, std::string_view op,
          const std::source_location &where) {
  if (range.stride == 0)
    fail(op, "expected a range with a stride other than 0", &where);
  const bool falling = range.stride < 0;
  auto clamped = [&](std::optional<int64_t> bound, int64_t open) {
    if (!bound)
      return open;
    int64_t place = *bound < 0 ? *bound + extent : *bound;
    return falling ? std::clamp<int64_t>(place, -1, extent - 1)
                   : std::clamp<int64_t>(place, 0, extent);
  };
  int64_t begin = clamped(range.begin, falling ? extent - 1 : 0),
          end = clamped(range.end, falling ? -1 : extent),
          length = falling ? begin - end : end - begin;
  // A stride beyond the extent picks one element, whatever it is.
  int64_t step = falling ? -std::max(range.stride, -extent - 1)
                         : std::min(range.stride, extent + 1);
  Cut cut;
  cut.count = length <= 0 ? 0 : (length + step - 1) / step;
  cut.stride = cut.count <= 1 ? 1 : step;
  cut.reversed = falling && cut.count > 1;
  if (cut.count > 0)
    cut.begin = falling ? begin - (cut.count - 1) * step : begin;
  return cut;
}

Selection select(const Tensor &x, std::span<const Index> indices,
                 std::string_view op) {
  std::source_location where;
  if (!indices.empty())
    where = indices.front().where;
  const Shape &shape = nodeOf(x, op, &where).shape;
  int64_t taking = 0, ellipses = 0;
  for (const Index &index : indices) {
    taking += index.kind != Index::Kind::NewAxis &&
              index.kind != Index::Kind::Ellipsis;
    ellipses += index.kind == Index::Kind::Ellipsis;
  }
  if (taking > x.rank())
    fail(op,
         fmt::format("expected at most {} indices for {}, got {}", x.rank(),
                     typeText(x), taking),
         &where);
  if (ellipses > 1)
    fail(op, "expected at most one ellipsis", &where);

  Selection selection;
  selection.where = where;
  auto take = [&](Cut cut, bool stays) {
    if (cut.isGather()) {
      if (selection.gathered)
        fail(op,
             "expected at most one tensor of indices that is not a scalar: "
             "pick along one dim after the other, or use gather_nd",
             &where);
      selection.gathered = selection.cuts.size();
      const Shape &picked = cut.tensor.shape();
      selection.result.insert(selection.result.end(), picked.begin(),
                              picked.end());
    } else if (stays) {
      selection.result.push_back(cut.count);
    }
    selection.picked.push_back(cut.count);
    selection.cuts.push_back(std::move(cut));
  };
  auto takeWhole = [&](int64_t dims) {
    for (; dims > 0; --dims)
      take({0, shape[selection.cuts.size()], 1, false, Tensor()}, true);
  };
  for (const Index &index : indices) {
    const size_t dim = selection.cuts.size();
    switch (index.kind) {
    case Index::Kind::NewAxis:
      selection.result.push_back(1);
      break;
    case Index::Kind::Ellipsis:
      takeWhole(x.rank() - taking);
      break;
    case Index::Kind::Range:
      take(cutOf(index.range, shape[dim], op, index.where), true);
      break;
    case Index::Kind::Number: {
      const int64_t extent = shape[dim];
      if (index.number < -extent || index.number >= extent)
        fail(op,
             fmt::format("index {} is out of range for dim {} of {}{}",
                         index.number, dim, typeText(x),
                         extent == 0 ? ", which has no elements"
                                     : fmt::format(": expected {} to {}",
                                                   -extent, extent - 1)),
             &index.where);
      take({index.number < 0 ? index.number + extent : index.number, 1, 1,
            false, Tensor()},
           false);
      break;
    }
    case Index::Kind::Tensor: {
      Tensor tensor = Tensor::internalFrom(index.tensor);
      if (!isInteger(nodeOf(tensor, op, &index.where).dtype))
        fail(op,
             fmt::format("expected integer indices, got {}{}", typeText(tensor),
                         tensor.dtype() == DType::I1
                             ? ": with a condition, use where"
                             : ""),
             &index.where);
      if (shape[dim] == 0)
        fail(op,
             fmt::format("expected elements to pick from along dim {} of {}",
                         dim, typeText(x)),
             &index.where);
      const bool isScalar = tensor.rank() == 0;
      take({0, isScalar ? 1 : shape[dim], 1, false, std::move(tensor)}, false);
      break;
    }
    case Index::Kind::None:
      break;
    }
  }
  takeWhole(x.rank() - int64_t(selection.cuts.size()));
  return selection;
}

/// `index`, i32 or i64, where it is negative plus `extent`.
Tensor fromTheEnd(const Tensor &index, int64_t extent, Where loc) {
  Tensor wide =
      byteWidth(index.dtype()) < 4 ? cast(index, DType::I32, loc) : index;
  if (!isSigned(wide.dtype()))
    return wide;
  return where({less({wide, loc}, {0, loc}), loc},
               {add({wide, loc}, {extent, loc}), loc}, {wide, loc});
}

/// `index`, the nearest one in range: what is read there is not used where what
/// is written is left out.
Tensor inRange(const Tensor &index, int64_t extent, Where loc) {
  return cast(clip_by_value({cast(index, DType::I64, loc), loc}, {0, loc},
                            {extent - 1, loc}),
              index.dtype(), loc);
}

/// Outside of functions a slice's place is an operand of its program, so that a
/// loop over it compiles one.
bool isPlacedAtRunTime(const Cut &cut, int64_t extent) {
  return cut.isScalar() ||
         (!threadState().trace() && cut.stride == 1 && cut.count > 0 &&
          !cut.tensor.internal() && !cut.isWhole(extent));
}

/// Where dynamic slices start: one scalar a dim, all of one type.
std::vector<TensorLike> startsOf(const Selection &from, const Shape &shape) {
  std::vector<Tensor> scalars(from.cuts.size());
  DType type = DType::I32;
  for (size_t d = 0; d < scalars.size(); ++d)
    if (from.cuts[d].isScalar()) {
      scalars[d] = fromTheEnd(from.cuts[d].tensor, shape[d], from.where);
      if (scalars[d].dtype() != DType::I32)
        type = DType::I64;
    }
  std::vector<TensorLike> starts;
  for (size_t d = 0; d < scalars.size(); ++d) {
    const Cut &cut = from.cuts[d];
    if (cut.isScalar())
      starts.emplace_back(cast(scalars[d], type, from.where), from.where);
    else
      starts.emplace_back(isPlacedAtRunTime(cut, shape[d]) ? cut.begin : 0,
                          from.where);
  }
  return starts;
}

/// The elements in their dims, before dims go and come.
Tensor pick(const Tensor &x, const Selection &from) {
  const Where &loc = from.where;
  Tensor part = x;
  Shape sizes = x.shape(), begin(sizes.size(), 0), end, strides(begin.size());
  List reversed;
  bool isDynamic = false, isCut = false;
  for (size_t d = 0; d < from.cuts.size(); ++d)
    if (const Cut &cut = from.cuts[d]; isPlacedAtRunTime(cut, x.shape()[d])) {
      sizes[d] = cut.count;
      isDynamic = true;
    }
  if (isDynamic)
    part = dynamic_slice(part, startsOf(from, x.shape()), sizes, loc);
  end = sizes;
  for (size_t d = 0; d < from.cuts.size(); ++d) {
    const Cut &cut = from.cuts[d];
    strides[d] = 1;
    if (cut.reversed)
      reversed.push_back(int64_t(d));
    if (cut.tensor.internal() || isPlacedAtRunTime(cut, x.shape()[d]) ||
        cut.isWhole(x.shape()[d]))
      continue;
    isCut = true;
    begin[d] = cut.begin;
    end[d] =
        cut.count ? cut.begin + (cut.count - 1) * cut.stride + 1 : cut.begin;
    strides[d] = cut.stride;
  }
  if (isCut)
    part = strided_slice(part, begin, end, strides, loc);
  if (!reversed.empty())
    part = reverse(part, Axis(reversed), loc);
  if (from.gathered)
    part = take(part, from.cuts[*from.gathered].tensor, int64_t(*from.gathered),
                loc);
  return part;
}

/// `value` in the dims that `pick` gives.
Tensor valueFor(const Tensor &x, const Selection &to, const TensorLike &value,
                std::string_view op) {
  Tensor converted = operandLike(value, x.dtype(), op, &x);
  if (nodeOf(converted, op, &value.where).dtype != x.dtype())
    fail(op,
         fmt::format("expected a value of type {} for {}, got {}: cast it",
                     name(x.dtype()), typeText(x), typeText(converted)),
         &value.where);
  if (broadcastShape(converted.shape(), to.result, op, value.where) !=
      to.result)
    fail(op,
         fmt::format("expected a value that broadcasts to {}, which the "
                     "indices pick of {}, got {}",
                     shapeText(to.result), typeText(x), typeText(converted)),
         &value.where);
  Shape picked = to.picked;
  if (to.gathered) {
    const Shape &indexShape = to.cuts[*to.gathered].tensor.shape();
    auto position = picked.begin() + ptrdiff_t(*to.gathered);
    position = picked.erase(position);
    picked.insert(position, indexShape.begin(), indexShape.end());
  }
  return reshape(broadcast_to(converted, to.result, value.where), picked,
                 value.where);
}

/// Writes `value`, in falling order where a cut has it so, into the cuts that
/// are known: its extents are their counts.
Tensor writeStatic(const Tensor &x, const std::vector<Cut> &cuts, Tensor value,
                   bool adds, Where loc) {
  List reversed;
  std::vector<PadDim> padding;
  std::vector<TensorLike> starts;
  bool isWhole = true, isStrided = false;
  for (size_t d = 0; d < cuts.size(); ++d) {
    const Cut &cut = cuts[d];
    if (cut.count == 0)
      return x;
    if (cut.reversed)
      reversed.push_back(int64_t(d));
    isWhole &= cut.isWhole(x.shape()[d]);
    isStrided |= cut.stride != 1;
    int64_t last = cut.begin + (cut.count - 1) * cut.stride;
    padding.push_back({cut.begin, x.shape()[d] - 1 - last, cut.stride - 1});
    starts.emplace_back(cut.begin, loc);
  }
  if (!reversed.empty())
    value = reverse(value, Axis(reversed), loc);
  if (isWhole)
    return adds ? add({x, loc}, {value, loc}) : value;
  if (adds)
    return add({x, loc}, {pad(value, padding, {0, loc}, loc), loc});
  if (!isStrided)
    return dynamic_update_slice(x, value, starts, loc);
  Tensor there =
      pad(full(value.shape(), 1, DType::I1, loc), padding, {false, loc}, loc);
  TensorLike zero =
      x.dtype() == DType::I1 ? TensorLike(false, loc) : TensorLike(0, loc);
  return where({there, loc}, {pad(value, padding, zero, loc), loc}, {x, loc});
}

/// The part of x at the cuts whose place is a tensor is read, changed, and put
/// back.
Tensor write(const Tensor &x, const std::vector<Index> &indices,
             const TensorLike &update, bool adds, std::string_view op) {
  Selection to = select(x, indices, op);
  Tensor value = valueFor(x, to, update, op);
  const Where &loc = to.where;
  std::vector<Cut> cuts = to.cuts;
  Shape sizes = x.shape();
  bool isDynamic = false;
  for (size_t d = 0; d < cuts.size(); ++d)
    if (cuts[d].isScalar()) {
      sizes[d] = 1;
      cuts[d] = {0, 1, 1, false, Tensor()};
      isDynamic = true;
    }
  std::vector<TensorLike> starts;
  if (isDynamic) {
    Selection scalars = to;
    for (Cut &cut : scalars.cuts)
      if (!cut.isScalar())
        cut = {0, 0, 1, false, Tensor()};
    starts = startsOf(scalars, x.shape());
  }
  Tensor part = isDynamic ? dynamic_slice(x, starts, sizes, loc) : x;

  Tensor changed;
  if (!to.gathered) {
    changed = writeStatic(part, cuts, value, adds, loc);
  } else {
    // In front: [gathered, others]; the updates: [indices..., others].
    const int64_t dim = int64_t(*to.gathered);
    Tensor places = cuts[size_t(dim)].tensor;
    List front{dim}, updatesFront, back;
    for (int64_t d = 0; d < x.rank(); ++d) {
      if (d != dim)
        front.push_back(d);
      back.push_back(d < dim ? d + 1 : d == dim ? 0 : d);
    }
    for (int64_t d = 0; d < places.rank(); ++d)
      updatesFront.push_back(dim + d);
    for (int64_t d = 0; d < value.rank(); ++d)
      if (d < dim || d >= dim + places.rank())
        updatesFront.push_back(d);
    Tensor source = transpose(part, front, loc);
    Tensor updates = transpose(value, updatesFront, loc);
    Tensor wrapped = fromTheEnd(places, part.shape()[size_t(dim)], loc);
    // The rest of the rows is what it was, or adds nothing.
    std::vector<Cut> inRows;
    for (int64_t d = 0; d < places.rank(); ++d)
      inRows.push_back({0, places.shape()[size_t(d)], 1, false, Tensor()});
    for (size_t d = 1; d < front.size(); ++d)
      inRows.push_back(cuts[size_t(front[d])]);
    Shape rows(places.shape());
    rows.insert(rows.end(), source.shape().begin() + 1, source.shape().end());
    Tensor before =
        adds ? broadcast_to(cast(tensor(0, loc), x.dtype(), loc), rows, loc)
             : take(source, inRange(wrapped, part.shape()[size_t(dim)], loc), 0,
                    loc);
    updates = writeStatic(before, inRows, updates, false, loc);
    wrapped = expand_dims(wrapped, -1, loc);
    changed = adds ? tensor_scatter_nd_add(source, wrapped, updates, loc)
                   : tensor_scatter_nd_update(source, wrapped, updates, loc);
    changed = transpose(changed, back, loc);
  }
  return isDynamic ? dynamic_update_slice(x, changed, starts, loc) : changed;
}

} // namespace

Tensor Tensor::operator()(const Index &a, const Index &b, const Index &c,
                          const Index &d, const Index &e, const Index &f,
                          const Index &g, const Index &h) const {
  std::vector<Index> indices;
  for (const Index *index : {&a, &b, &c, &d, &e, &f, &g, &h})
    if (index->kind != Index::Kind::None)
      indices.push_back(*index);
  const detail::CallName name("index");
  Selection from = select(*this, indices, "index");
  return reshape(pick(*this, from), from.result, from.where);
}

Tensor index_update(const Tensor &x, const std::vector<Index> &indices,
                    const TensorLike &value) {
  const CallName name("index_update");
  return write(x, indices, value, false, "index_update");
}

Tensor index_add(const Tensor &x, const std::vector<Index> &indices,
                 const TensorLike &value) {
  const CallName name("index_add");
  return write(x, indices, value, true, "index_add");
}

} // namespace meshloom
