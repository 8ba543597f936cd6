// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Following values to where they come from, composing index maps on the way.
// Everything is linear in the loops. A reshape that merges dims would need
// divisions: instead the loop that runs over the merged dim is split in two and
// the kernel is begun anew; each split refines a loop, so this terminates.
#include "KernelBuilder.h"

#include "ComplexLowering.h"
#include "KernelParts.h"
#include "NumberGathers.h"
#include "meshloom/Targets/Kernels/ScalarLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::KernelOp;
using spmd::Reducer;
namespace arith = mlir::arith;

bool meshloom::isSplat(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && isa<mlir::SplatElementsAttr>(constant.getValue());
}

bool meshloom::isMovement(Operation *op) {
  return isa_and_nonnull<ReshapeOp>(op) ||
         (isa_and_nonnull<IndexMapOpInterface>(op) && !isAssembled(op));
}

bool meshloom::isInlinable(Operation *op) {
  return isMovement(op) || isSplat(op) || isa<IotaOp, RngOp>(op) ||
         (isPerElement(op) && !isAssembled(op)) || isNumberGather(op);
}

//===----------------------------------------------------------------------===//
// Linear indices
//===----------------------------------------------------------------------===//

static LinearIndex operator*(LinearIndex index, int64_t factor) {
  index.offset *= factor;
  for (int64_t &coefficient : index.coefficients)
    coefficient *= factor;
  return index;
}

static LinearIndex operator+(LinearIndex index, const LinearIndex &other) {
  index.offset += other.offset;
  for (auto [mine, theirs] : llvm::zip(index.coefficients, other.coefficients))
    mine += theirs;
  return index;
}

/// Writes index = sum over digits of digit * (product of the later sizes), each
/// digit in [0, its size). A loop that runs over two digits must be split:
/// `wanted` says how.
bool KernelBuilder::delinearize(LinearIndex index, ArrayRef<int64_t> sizes,
                                SmallVectorImpl<LinearIndex> &digits) {
  digits.assign(sizes.size(), constantIndex(0));
  for (int i = int(sizes.size()) - 1; i >= 0; --i) {
    if (i == 0) {
      digits[0] = index;
      break;
    }
    int64_t size = sizes[i];
    LinearIndex quotient = constantIndex(0), rest = constantIndex(0);
    rest.offset = ((index.offset % size) + size) % size;
    quotient.offset = (index.offset - rest.offset) / size;
    int64_t low = rest.offset, high = rest.offset;
    for (auto [loop, c] : llvm::enumerate(index.coefficients)) {
      if (c % size == 0) {
        quotient.coefficients[loop] = c / size;
        continue;
      }
      rest.coefficients[loop] = c;
      (c > 0 ? high : low) += c * (loops[loop].extent - 1);
    }
    if (low < 0 || high >= size) {
      for (auto [loop, c] : llvm::enumerate(rest.coefficients))
        if (c > 0 && size % c == 0 && loops[loop].extent > size / c) {
          wanted = Split{unsigned(loop), size / c};
          break;
        }
      return false;
    }
    digits[i] = rest;
    index = quotient;
  }
  return true;
}

/// The mesh axes stay with the outer loop until it has one iteration a device;
/// those behind go to the inner one. So blocks are blocks of both.
bool KernelBuilder::split(const Split &request) {
  Loop outer = loops[request.loop], inner = outer;
  if (!outer.splittable || outer.extent % request.inner != 0)
    return false;
  outer.extent /= request.inner;
  inner.extent = request.inner;
  outer.axes.clear();
  inner.axes.clear();
  if (ArrayRef<unsigned> axes = loops[request.loop].axes; !axes.empty()) {
    Mesh mesh = spmd::layoutOf(plan.outputs.front().result.getType()).mesh();
    int64_t remaining = outer.extent;
    while (!axes.empty() && remaining % mesh.axis_size(axes.front()) == 0) {
      remaining /= mesh.axis_size(axes.front());
      outer.axes.push_back(axes.front());
      axes = axes.drop_front();
    }
    if (!axes.empty() && remaining != 1)
      return false;
    inner.axes.assign(axes.begin(), axes.end());
  }
  loops[request.loop] = outer;
  loops.insert(loops.begin() + request.loop + 1, inner);
  for (LinearIndex &dim : dims) {
    int64_t c = dim.coefficients[request.loop];
    dim.coefficients[request.loop] = c * request.inner;
    dim.coefficients.insert(dim.coefficients.begin() + request.loop + 1, c);
  }
  return true;
}

void KernelBuilder::startLoops() {
  bool indexed = llvm::any_of(plan.outputs, [](const KernelOutput &output) {
    return output.reducer == Reducer::ArgMax ||
           output.reducer == Reducer::ArgMin;
  });
  SmallVector<int> loopOf;
  for (const DomainDim &dim : plan.domain) {
    // A dim of one element needs no loop, unless devices share it out.
    if (dim.extent == 1 && !dim.reduction && dim.axes.empty()) {
      loopOf.push_back(-1);
      continue;
    }
    loopOf.push_back(loops.size());
    bool splittable = !(indexed && dim.reduction) && dim.ranges.empty();
    loops.push_back(
        {dim.extent, dim.reduction, dim.axes, dim.ranges, splittable});
  }
  for (int loop : loopOf) {
    dims.push_back(constantIndex(0));
    if (loop >= 0)
      dims.back().coefficients[loop] = 1;
  }
}

//===----------------------------------------------------------------------===//
// Where elements come from
//===----------------------------------------------------------------------===//

FailureOr<TensorAccess>
KernelBuilder::throughReshape(Operation *op, const TensorAccess &access) {
  SmallVector<int64_t> from = globalShape(op->getOperand(0).getType());
  SmallVector<int64_t> to = globalShape(op->getResult(0).getType());
  TensorAccess result(from.size(), constantIndex(0));
  if (llvm::is_contained(from, 0))
    return result; // no element is ever read
  // Runs of dims with equal products correspond.
  unsigned i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    unsigned iBegin = i, jBegin = j;
    int64_t fromExtent = i < from.size() ? from[i++] : 1;
    int64_t right = j < to.size() ? to[j++] : 1;
    while (fromExtent != right)
      if (fromExtent < right)
        fromExtent *= from[i++];
      else
        right *= to[j++];
    LinearIndex linear = constantIndex(0);
    for (unsigned dim = jBegin; dim < j; ++dim)
      linear = linear * to[dim] + access[dim];
    SmallVector<LinearIndex> digits;
    if (!delinearize(linear, ArrayRef(from).slice(iBegin, i - iBegin), digits))
      return failure();
    for (unsigned dim = iBegin; dim < i; ++dim)
      result[dim] = digits[dim - iBegin];
  }
  return result;
}

/// The index at which operand 0 of a movement is read for the result's.
FailureOr<TensorAccess>
KernelBuilder::operandAccess(Operation *op, const TensorAccess &access) {
  auto moves = dyn_cast<IndexMapOpInterface>(op);
  if (!moves)
    return throughReshape(op, access);
  TensorAccess result;
  for (const SourceDim &dim : moves.getIndexMap(0))
    result.push_back(dim.resultDim < 0 ? constantIndex(0)
                                       : access[dim.resultDim] * dim.scale +
                                             constantIndex(dim.offset));
  return result;
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

unsigned KernelBuilder::inputFor(Value value, const TensorAccess &access) {
  inputs.push_back(value);
  inputAccesses.push_back(access);
  region->front().addArgument(
      KernelOp::scalarType(dtensor::elementTypeOf(value.getType())),
      value.getLoc());
  return inputs.size() - 1;
}

Value KernelBuilder::indexValue(const LinearIndex &index, Location loc) {
  OpBuilder &b = *bodyBuilder;
  auto number = [&](int64_t value) -> Value {
    return b.create<arith::ConstantIntOp>(loc, value, 64);
  };
  Value sum;
  for (auto [loop, c] : llvm::enumerate(index.coefficients)) {
    if (c == 0)
      continue;
    Value term = b.create<spmd::IndexOp>(loc, b.getI64Type(), int64_t(loop));
    if (c != 1)
      term = b.create<arith::MulIOp>(loc, term, number(c));
    sum = sum ? b.create<arith::AddIOp>(loc, sum, term).getResult() : term;
  }
  if (!sum)
    return number(index.offset);
  if (index.offset != 0)
    sum = b.create<arith::AddIOp>(loc, sum, number(index.offset));
  return sum;
}

LinearIndex KernelBuilder::domainIndex(unsigned dim, int64_t begin,
                                       int64_t step) const {
  return dims[dim] * step + constantIndex(begin);
}

Value KernelBuilder::zeroOf(Type elementType) {
  OpBuilder &b = *bodyBuilder;
  Value zero = b.create<arith::ConstantIntOp>(plan.loc, 0, 64);
  return convertScalar(zero, b.getI64Type(), elementType, b, plan.loc);
}

/// An element of an input: the body's argument, or, under a condition, read
/// where that holds.
Value KernelBuilder::readInput(Value value, const TensorAccess &access) {
  unsigned input = inputFor(value, access);
  Value argument = region->front().getArgument(input);
  if (!scopes.back().condition)
    return argument;
  return bodyBuilder->create<spmd::ReadOp>(value.getLoc(), argument.getType(),
                                           int64_t(input),
                                           scopes.back().condition);
}

FailureOr<Value>
KernelBuilder::scalarAt(Value value, const TensorAccess &access, bool isRoot) {
  Operation *op = value.getDefiningOp();
  bool splat = op && isSplat(op);
  Key key{value.getAsOpaquePointer(), {}};
  if (!splat)
    for (const LinearIndex &index : access) {
      key.second.push_back(index.offset);
      llvm::append_range(key.second, index.coefficients);
    }
  for (Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.scalars.find(key); found != scope.scalars.end())
      return found->second;
  FailureOr<Value> scalar = failure();
  if (op && (splat || (isInlinable(op) && (isRoot || plan.isInlined(value)))))
    scalar = inlineOp(value, access);
  else
    scalar = readInput(value, access);
  if (succeeded(scalar))
    scopes.back().scalars[key] = *scalar;
  return scalar;
}

/// Returns whether 0 <= index < extent, as an i1; null where it always is.
Value KernelBuilder::insideOf(const LinearIndex &index, int64_t extent,
                              Location loc) {
  int64_t low = index.offset, high = low;
  for (auto [loop, c] : llvm::enumerate(index.coefficients))
    (c < 0 ? low : high) += c * (loops[loop].extent - 1);
  if (low >= 0 && high < extent)
    return {};
  OpBuilder &b = *bodyBuilder;
  // Negative indices are large unsigned ones.
  return b.create<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ult, indexValue(index, loc),
      b.create<arith::ConstantIntOp>(loc, extent, 64));
}

/// The operand's element where the index is inside of it, else the fill.
FailureOr<Value> KernelBuilder::inlineFilled(Value operand, Value fill,
                                             const TensorAccess &from,
                                             Location loc) {
  OpBuilder &b = *bodyBuilder;
  Value inside;
  for (auto [index, extent] :
       llvm::zip_equal(from, globalShape(operand.getType()))) {
    Value here = insideOf(index, extent, loc);
    if (here)
      inside = inside ? b.create<arith::AndIOp>(loc, inside, here).getResult()
                      : here;
  }
  if (!inside)
    return scalarAt(operand, from);
  auto padding = scalarAt(fill, {});
  if (failed(padding))
    return failure();
  Value condition = inside;
  if (Value outer = scopes.back().condition)
    condition = b.create<arith::AndIOp>(loc, outer, inside);
  scopes.push_back({condition, {}});
  auto element = scalarAt(operand, from);
  scopes.pop_back();
  if (failed(element))
    return failure();
  if (!isa<mlir::ComplexType>(element->getType()))
    return b.create<arith::SelectOp>(loc, inside, *element, *padding)
        .getResult();
  ComplexParts yes = partsOf(*element, b, loc), no = partsOf(*padding, b, loc);
  return joinParts(
      {b.create<arith::SelectOp>(loc, inside, yes.real, no.real),
       b.create<arith::SelectOp>(loc, inside, yes.imaginary, no.imaginary)},
      b, loc);
}

FailureOr<Value> KernelBuilder::inlineOp(Value value,
                                         const TensorAccess &access) {
  Operation *op = value.getDefiningOp();
  OpBuilder &b = *bodyBuilder;
  Location loc = op->getLoc();
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    Type type = KernelOp::scalarType(dtensor::elementTypeOf(value.getType()));
    auto splat = cast<mlir::SplatElementsAttr>(constant.getValue());
    mlir::TypedAttr attr;
    if (auto complex = dyn_cast<mlir::ComplexType>(type)) {
      auto number = splat.getSplatValue<std::complex<llvm::APFloat>>();
      auto part = [&](const llvm::APFloat &x) -> Value {
        auto real = FloatAttr::get(complex.getElementType(), x);
        return b.create<arith::ConstantOp>(loc, real);
      };
      Value real = part(number.real());
      return joinParts({real, part(number.imag())}, b, loc);
    }
    if (isa<FloatType>(type))
      attr = FloatAttr::get(type, splat.getSplatValue<llvm::APFloat>());
    else
      attr = IntegerAttr::get(type, splat.getSplatValue<llvm::APInt>());
    return b.create<arith::ConstantOp>(loc, attr).getResult();
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    Value index = indexValue(access[iota.getIotaDimension()], loc);
    return convertScalar(index, b.getI64Type(),
                         dtensor::elementTypeOf(value.getType()), b, loc);
  }
  if (auto rng = dyn_cast<RngOp>(op)) {
    LinearIndex linear = constantIndex(0);
    for (auto [index, size] : llvm::zip(access, globalShape(value.getType())))
      linear = linear * size + index;
    auto key0 = scalarAt(rng.getSeed(), {constantIndex(0)});
    auto key1 = scalarAt(rng.getSeed(), {constantIndex(1)});
    if (failed(key0) || failed(key1))
      return failure();
    return philoxScalar(indexValue(linear, loc), *key0, *key1, b, loc);
  }
  if (isa<GatherOp>(op))
    return inlineGather(op, access);
  if (isMovement(op)) {
    auto from = operandAccess(op, access);
    if (failed(from)) {
      obstacle = value;
      return failure();
    }
    auto moves = dyn_cast<IndexMapOpInterface>(op);
    if (Value fill = moves ? moves.getFill() : Value())
      return inlineFilled(op->getOperand(0), fill, *from, loc);
    return scalarAt(op->getOperand(0), *from);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool scalar = cast<RankedTensorType>(operand.getType()).getRank() == 0;
    auto element = scalarAt(operand, scalar ? TensorAccess() : access);
    if (failed(element))
      return failure();
    operands.push_back(*element);
  }
  return lowerToScalar(op, operands, b);
}

FailureOr<Value> KernelBuilder::emitOutput(const KernelOutput &output) {
  OpBuilder &b = *bodyBuilder;
  FailureOr<Value> scalar = failure();
  Type element;
  if (output.emit) {
    scalar = output.emit(*this);
  } else {
    // A kernel's own result is never read from memory.
    scalar = scalarAt(output.source, dims, output.source == output.result);
    element = dtensor::elementTypeOf(output.source.getType());
  }
  if (failed(scalar) || output.reducer == Reducer::None)
    return scalar;
  // Reductions accumulate f16 and bf16 in f32; argmax compares f32, f64 or i64.
  Value value = *scalar;
  if (value.getType().isBF16() || value.getType().isF16())
    return b.create<arith::ExtFOp>(plan.loc, b.getF32Type(), value).getResult();
  bool indexed =
      output.reducer == Reducer::ArgMax || output.reducer == Reducer::ArgMin;
  if (indexed && !isa<FloatType>(value.getType())) {
    value = convertScalar(value, element, b.getI64Type(), b, plan.loc);
    if (!element.isUnsignedInteger(64))
      return value;
    // The order of unsigned numbers is that of signed ones 2^63 below.
    Value lowest = b.create<arith::ConstantIntOp>(
        plan.loc, std::numeric_limits<int64_t>::min(), 64);
    return b.create<arith::XOrIOp>(plan.loc, value, lowest).getResult();
  }
  return value;
}

LogicalResult KernelBuilder::emitBody() {
  MLIRContext *context = plan.loc.getContext();
  region = std::make_unique<mlir::Region>();
  region->push_back(new Block);
  bodyBuilder.emplace(context);
  bodyBuilder->setInsertionPointToEnd(&region->front());
  inputs.clear();
  inputAccesses.clear();
  held.clear();
  tables.clear();
  yields.clear();
  scopes.assign(1, Scope());
  wanted.reset();
  obstacle = Value();
  for (const KernelOutput &output : plan.outputs) {
    auto scalar = emitOutput(output);
    if (failed(scalar))
      return failure();
    yields.push_back(*scalar);
  }
  bodyBuilder->create<spmd::YieldOp>(plan.loc, yields);
  return success();
}

mlir::AffineMap KernelBuilder::toMap(const TensorAccess &access,
                                     MLIRContext *context,
                                     std::optional<unsigned> input) const {
  SmallVector<mlir::AffineExpr> results;
  for (const LinearIndex &index : access) {
    auto expr = mlir::getAffineConstantExpr(index.offset, context);
    for (auto [loop, c] : llvm::enumerate(index.coefficients))
      expr = expr + mlir::getAffineDimExpr(loop, context) * c;
    results.push_back(expr);
  }
  for (auto [i, dim] : llvm::enumerate(held))
    if (dim.input == input)
      results[dim.dim] = mlir::getAffineDimExpr(loops.size() + i, context);
  return mlir::AffineMap::get(loops.size() + held.size(), 0, results, context);
}

FailureOr<KernelOp> KernelBuilder::build(OpBuilder &builder) {
  startLoops();
  while (failed(emitBody()))
    if (!wanted || !split(*wanted))
      return failure();

  MLIRContext *context = builder.getContext();
  SmallVector<Type> types;
  SmallVector<Attribute> accesses;
  for (auto [input, access] : llvm::enumerate(inputAccesses))
    accesses.push_back(
        mlir::AffineMapAttr::get(toMap(access, context, unsigned(input))));
  SmallVector<int32_t> reducers, inPlace;
  SmallVector<Attribute> outputAccesses;
  for (const KernelOutput &output : plan.outputs) {
    TensorAccess access;
    for (auto [i, dim] : llvm::enumerate(output.dims)) {
      access.push_back(dims[dim]);
      if (!output.places.empty())
        access.back() =
            domainIndex(dim, output.places[i].first, output.places[i].second);
    }
    auto map = mlir::AffineMapAttr::get(toMap(access, context));
    outputAccesses.push_back(map);
    types.push_back(output.result.getType());
    reducers.push_back(int32_t(output.reducer));
    inPlace.push_back(-1);
    if (output.over) {
      inPlace.back() = inputFor(output.over, access);
      accesses.push_back(map);
    }
  }
  accesses.append(outputAccesses);

  Mesh mesh = spmd::layoutOf(types.front()).mesh();
  SmallVector<int64_t> extents;
  SmallVector<bool> reductions;
  SmallVector<Attribute> axes, ranges;
  bool ranged = false;
  for (const Loop &loop : loops) {
    SmallVector<int64_t> bounds;
    for (Interval range : loop.ranges)
      bounds.append({range.begin, range.end});
    ranged |= !bounds.empty();
    ranges.push_back(builder.getDenseI64ArrayAttr(bounds));
    extents.push_back(loop.extent);
    reductions.push_back(loop.reduction);
    SmallVector<Attribute> names;
    for (unsigned axis : loop.axes)
      names.push_back(builder.getStringAttr(mesh.axes()[axis].name));
    axes.push_back(builder.getArrayAttr(names));
  }
  SmallVector<bool> isHeld(loops.size(), false);
  for (const HeldDim &dim : held) {
    extents.push_back(
        globalShape(inputs[dim.input].getType())[unsigned(dim.dim)]);
    reductions.push_back(false);
    axes.push_back(builder.getArrayAttr({}));
    ranges.push_back(builder.getDenseI64ArrayAttr({}));
    isHeld.push_back(true);
  }
  auto kernel = builder.create<KernelOp>(
      plan.loc, types, inputs, builder.getDenseI64ArrayAttr(extents),
      builder.getDenseBoolArrayAttr(reductions), builder.getArrayAttr(axes),
      builder.getArrayAttr(accesses), builder.getDenseI32ArrayAttr(reducers),
      builder.getDenseI32ArrayAttr(inPlace),
      ranged ? builder.getArrayAttr(ranges) : nullptr,
      held.empty() ? nullptr : builder.getDenseBoolArrayAttr(isHeld));
  kernel.getBody().takeBody(*region);
  return kernel;
}
