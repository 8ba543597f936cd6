// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions and reductions.
#include "Operands.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

template <typename F> void visitFields(const DotDims &dims, F visit) {
  const auto &[lhsBatch, rhsBatch, lhsContracting, rhsContracting] = dims;
  for (const auto *list :
       {&lhsBatch, &rhsBatch, &lhsContracting, &rhsContracting})
    visit(*list);
}
template <typename F> void visitFields(const MatMulOptions &options, F visit) {
  const auto &[transposeA, transposeB] = options;
  visit(transposeA);
  visit(transposeB);
}

namespace {

Shape withOnes(Shape shape, std::span<const int64_t> dims) {
  for (int64_t d : dims)
    shape[size_t(d)] = 1;
  return shape;
}

/// Body{}(emitter, value, dims, options...) reduces along sorted dims.
template <typename Body, typename... Options>
Tensor reduction(std::string_view name, const Tensor &x, const Axis &axis,
                 bool keepdims, const std::source_location &where, Body,
                 const Options &...options) {
  nodeOf(x, name, &where);
  std::vector<int64_t> dims =
      axesOf(axis.dims, axis.all, x.rank(), name, where);
  OpCall call;
  call.name = name;
  call.operands = {x};
  call.where = where;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, ArrayRef<int64_t> dims,
         bool keepdims, const auto &...values) {
        Value result = Body{}(e, operands[0], dims, values...);
        return one(keepdims
                       ? e.reshape(result, withOnes(e.shape(operands[0]), dims))
                       : result);
      },
      dims, keepdims, options...);
  return runOp(std::move(call));
}

void expectOrder(const Tensor &x, std::string_view name,
                 const std::source_location &where) {
  if (isComplex(x.dtype()))
    fail(name,
         fmt::format("expected numbers with an order, got {}: take its abs, "
                     "real or imag",
                     typeText(x)),
         &where);
}

Tensor reduceBy(ReduceKind kind, std::string_view name, const Tensor &x,
                const Axis &axis, bool keepdims,
                const std::source_location &where) {
  bool isLogical = kind == ReduceKind::And || kind == ReduceKind::Or;
  DType type = nodeOf(x, name, &where).dtype;
  if (isLogical && type != DType::I1)
    fail(name,
         fmt::format("expected i1, got {}: compare it first", typeText(x)),
         &where);
  const bool ofBools = !isLogical && type == DType::I1;
  if (kind == ReduceKind::Max || kind == ReduceKind::Min)
    expectOrder(x, name, where);
  return reduction(
      name, x, axis, keepdims, where,
      [](Emitter &e, Value value, ArrayRef<int64_t> dims, ReduceKind kind,
         bool ofBools) {
        ReduceKind reduces = kind;
        // Bools are counted; whether all hold is their product and minimum.
        if (ofBools && kind == ReduceKind::Sum)
          value = e.convert(value, e.getI64Type());
        else if (ofBools)
          reduces = kind == ReduceKind::Max ? ReduceKind::Or : ReduceKind::And;
        if (!dims.empty())
          value = e.reduce(reduces, value, dims);
        return ofBools && kind == ReduceKind::Prod
                   ? e.convert(value, e.getI64Type())
                   : value;
      },
      kind, ofBools);
}

/// Returns the result of `body` for `value`, whose sums and counts f16 and bf16
/// may not hold: those are computed from an f32 copy and rounded at the end.
Value inWide(Emitter &e, Value value, function_ref<Value(Value)> body) {
  Type element = e.elementType(value);
  if (!element.isF16() && !element.isBF16())
    return body(value);
  Value wide = body(e.convert(value, e.getF32Type()));
  return e.convert(wide, element);
}

Value logSumExp(Emitter &e, Value value, ArrayRef<int64_t> dims) {
  Value top = e.shiftFor(value, dims);
  // All elements -inf, or one inf: nothing to shift by.
  Value finite = e.create<dtensor::IsFiniteOp>(e.getLoc(), top);
  top = e.stopped(e.select(finite, top, e.like(top, 0)));
  Value shifted = e.subtract(value, e.repeat(top, value, dims));
  Value sum = e.sum(e.apply<dtensor::ExpOp>(shifted), dims);
  return e.add(e.apply<dtensor::LogOp>(sum), top);
}

template <typename Op>
Tensor argReduction(std::string_view name, const Tensor &x, int64_t axis,
                    DType type, const std::source_location &where) {
  nodeOf(x, name, &where);
  expectOrder(x, name, where);
  if (type != DType::I32 && type != DType::I64)
    fail(name,
         fmt::format("expected result type i32 or i64, got {}",
                     meshloom::name(type)),
         &where);
  axis = axisOf(axis, x.rank(), name, where);
  if (x.shape()[size_t(axis)] == 0)
    fail(name,
         fmt::format("expected elements along axis {}, got {}", axis,
                     typeText(x)),
         &where);
  OpCall call;
  call.name = name;
  call.operands = {x};
  call.where = where;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &axis,
         const auto &type, const auto &isBool) {
        Value numbers =
            isBool ? e.convert(operands[0], e.getI32Type()) : operands[0];
        return one(e.create<Op>(e.getLoc(), numbers, axis,
                                dtensor::typeOf(e.getContext(), type)));
      },
      axis, type, x.dtype() == DType::I1);
  return runOp(std::move(call));
}

} // namespace

Tensor reduce_sum(const Tensor &x, const Axis &axis, bool keepdims, Where loc) {
  return reduceBy(ReduceKind::Sum, "reduce_sum", x, axis, keepdims, loc);
}
Tensor reduce_prod(const Tensor &x, const Axis &axis, bool keepdims,
                   Where loc) {
  return reduceBy(ReduceKind::Prod, "reduce_prod", x, axis, keepdims, loc);
}
Tensor reduce_max(const Tensor &x, const Axis &axis, bool keepdims, Where loc) {
  return reduceBy(ReduceKind::Max, "reduce_max", x, axis, keepdims, loc);
}
Tensor reduce_min(const Tensor &x, const Axis &axis, bool keepdims, Where loc) {
  return reduceBy(ReduceKind::Min, "reduce_min", x, axis, keepdims, loc);
}
Tensor reduce_all(const Tensor &x, const Axis &axis, bool keepdims, Where loc) {
  return reduceBy(ReduceKind::And, "reduce_all", x, axis, keepdims, loc);
}
Tensor reduce_any(const Tensor &x, const Axis &axis, bool keepdims, Where loc) {
  return reduceBy(ReduceKind::Or, "reduce_any", x, axis, keepdims, loc);
}

Tensor reduce_mean(const Tensor &x, const Axis &axis, bool keepdims,
                   Where loc) {
  const DType type = nodeOf(x, "reduce_mean", &loc).dtype;
  if (!isComplex(type) && type != DType::I1)
    expectFloat(x, "reduce_mean", loc);
  return reduction("reduce_mean", x, axis, keepdims, loc,
                   [](Emitter &e, Value value, ArrayRef<int64_t> dims) {
                     double count = 1;
                     for (int64_t d : dims)
                       count *= double(e.shape(value)[size_t(d)]);
                     if (e.elementType(value).isInteger(1)) {
                       Value trueCount =
                           e.sum(e.convert(value, e.getI64Type()), dims);
                       Value sum = e.convert(trueCount, e.getF32Type());
                       return e.divide(sum, e.like(sum, count));
                     }
                     return inWide(e, value, [&](Value wide) {
                       // Division keeps an empty mean nan.
                       Value sum = e.sum(wide, dims);
                       return e.divide(sum, e.like(sum, count));
                     });
                   });
}

Tensor reduce_logsumexp(const Tensor &x, const Axis &axis, bool keepdims,
                        Where loc) {
  expectFloat(x, "reduce_logsumexp", loc);
  return reduction("reduce_logsumexp", x, axis, keepdims, loc,
                   [](Emitter &e, Value value, ArrayRef<int64_t> dims) {
                     return inWide(e, value, [&](Value wide) {
                       return logSumExp(e, wide, dims);
                     });
                   });
}

Tensor argmax(const Tensor &x, int64_t axis, DType type, Where loc) {
  return argReduction<dtensor::ArgMaxOp>("argmax", x, axis, type, loc);
}
Tensor argmin(const Tensor &x, int64_t axis, DType type, Where loc) {
  return argReduction<dtensor::ArgMinOp>("argmin", x, axis, type, loc);
}

Tensor matmul(const Tensor &a, const Tensor &b, MatMulOptions options,
              Where loc) {
  constexpr std::string_view op = "matmul";
  Pair pair = operandPair({a, loc}, {b, loc}, op);
  if (a.dtype() == DType::I1)
    fail(op,
         fmt::format("expected numbers, got {}: cast it first", typeText(a)),
         &loc);
  int64_t ra = a.rank(), rb = b.rank();
  if (ra < 2 || rb < 2)
    fail(op,
         fmt::format("expected tensors of rank 2 or more, got {} and {}: "
                     "expand_dims makes a vector a matrix",
                     typeText(a), typeText(b)),
         &loc);
  const Shape &sa = a.shape(), &sb = b.shape();
  size_t ka = size_t(options.transpose_a ? ra - 2 : ra - 1);
  size_t kb = size_t(options.transpose_b ? rb - 1 : rb - 2);
  if (sa[ka] != sb[kb])
    fail(op,
         fmt::format("expected equal inner dims, got {} (dim {} of {}) and {} "
                     "(dim {} of {}): transpose one, see MatMulOptions",
                     sa[ka], ka, typeText(a), sb[kb], kb, typeText(b)),
         &loc);
  Shape leading = broadcastShape(Shape(sa.begin(), sa.end() - 2),
                                 Shape(sb.begin(), sb.end() - 2), op, loc);
  OpCall call;
  call.name = op;
  call.operands = {a, b};
  call.where = loc;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &options,
         const auto &ra, const auto &rb, const auto &ka, const auto &kb,
         const auto &leading) {
        // Sugar where it says it all; its leading dims are equal.
        if (!options.transpose_a && !options.transpose_b && ra == 2 && rb == 2)
          return one(e.create<dtensor::MatMulOp>(e.getLoc(), operands[0],
                                                 operands[1]));
        if (rb == 2 &&
            (!options.transpose_a || ra == 2)) // a's leading dims: rows
          return one(e.create<dtensor::DotGeneralOp>(
              e.getLoc(), operands[0], operands[1], ArrayRef<int64_t>(),
              ArrayRef<int64_t>(), ArrayRef<int64_t>{int64_t(ka)},
              ArrayRef<int64_t>{int64_t(kb)}));
        auto batched = [&](Value x) {
          Shape shape(leading);
          llvm::append_range(shape, e.shape(x).take_back(2));
          return e.broadcastTo(x, shape);
        };
        int64_t batch = int64_t(leading.size());
        SmallVector<int64_t> dims =
            llvm::to_vector(llvm::seq<int64_t>(0, batch));
        return one(e.create<dtensor::DotGeneralOp>(
            e.getLoc(), batched(operands[0]), batched(operands[1]), dims, dims,
            ArrayRef<int64_t>{options.transpose_a ? batch : batch + 1},
            ArrayRef<int64_t>{options.transpose_b ? batch + 1 : batch}));
      },
      options, ra, rb, ka, kb, leading);
  return runOp(std::move(call));
}

Tensor dot_general(const Tensor &lhs, const Tensor &rhs, const DotDims &dims,
                   Where loc) {
  constexpr std::string_view op = "dot_general";
  operandPair({lhs, loc}, {rhs, loc}, op);
  auto normalized = [&](const std::vector<int64_t> &list, const Tensor &of) {
    std::vector<int64_t> result;
    for (int64_t axis : list)
      result.push_back(axisOf(axis, of.rank(), op, loc));
    return result;
  };
  DotDims dotDims{normalized(dims.lhs_batch, lhs),
                  normalized(dims.rhs_batch, rhs),
                  normalized(dims.lhs_contracting, lhs),
                  normalized(dims.rhs_contracting, rhs)};
  auto match = [&](const std::vector<int64_t> &l, const std::vector<int64_t> &r,
                   std::string_view role) {
    if (l.size() != r.size())
      fail(op,
           fmt::format(
               "expected equally many {} dims on both sides, got {} and {}",
               role, l.size(), r.size()),
           &loc);
    for (size_t i = 0; i < l.size(); ++i)
      if (lhs.shape()[size_t(l[i])] != rhs.shape()[size_t(r[i])])
        fail(op,
             fmt::format("expected equal {} dims, got {} (dim {} of {}) and {} "
                         "(dim {} of {})",
                         role, lhs.shape()[size_t(l[i])], l[i], typeText(lhs),
                         rhs.shape()[size_t(r[i])], r[i], typeText(rhs)),
             &loc);
  };
  match(dotDims.lhs_batch, dotDims.rhs_batch, "batch");
  match(dotDims.lhs_contracting, dotDims.rhs_contracting, "contracting");
  for (auto [batch, contracting, of] :
       {std::tuple(&dotDims.lhs_batch, &dotDims.lhs_contracting, &lhs),
        std::tuple(&dotDims.rhs_batch, &dotDims.rhs_contracting, &rhs)}) {
    std::vector<int64_t> axes(*batch);
    axes.insert(axes.end(), contracting->begin(), contracting->end());
    axesOf(axes, false, of->rank(), op, loc); // throws on repeated ones
  }
  OpCall call;
  call.name = op;
  call.operands = {lhs, rhs};
  call.where = loc;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &dotDims) {
        return one(e.create<dtensor::DotGeneralOp>(
            e.getLoc(), operands[0], operands[1], dotDims.lhs_batch,
            dotDims.rhs_batch, dotDims.lhs_contracting,
            dotDims.rhs_contracting));
      },
      dotDims);
  return runOp(std::move(call));
}

} // namespace meshloom
