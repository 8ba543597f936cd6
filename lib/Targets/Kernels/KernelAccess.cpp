// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static strides of a kernel's operands and the order of its loops.
#include "meshloom/Targets/Kernels/KernelAccess.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Targets/Kernels/ElementEmitter.h"
#include "meshloom/Targets/Kernels/Reducer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace meshloom;
namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::AffineExpr;
using mlir::AffineMap;

int64_t meshloom::coefficientOf(AffineExpr expr, unsigned loop) {
  if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr))
    return dim.getPosition() == loop;
  auto binary = dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  int64_t lhs = coefficientOf(binary.getLHS(), loop);
  if (binary.getKind() == mlir::AffineExprKind::Add)
    return lhs + coefficientOf(binary.getRHS(), loop);
  return lhs * cast<mlir::AffineConstantExpr>(binary.getRHS()).getValue();
}

std::optional<uint64_t> meshloom::constantBits(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  llvm::APInt bits;
  if (!constant)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    bits = number.getValue().bitcastToAPInt();
  else if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
    bits = integer.getValue();
  else
    return std::nullopt;
  return bits.getBitWidth() <= 64 ? std::optional(bits.getZExtValue())
                                  : std::nullopt;
}

SmallVector<StaticStride> meshloom::staticStrides(spmd::KernelOp kernel,
                                                  unsigned operand) {
  AffineMap map = kernel.getInputAccess(operand);
  unsigned numInputs = kernel.getInputs().size();
  Type type = operand < numInputs
                  ? kernel.getInputs()[operand].getType()
                  : kernel.getOutputs()[operand - numInputs].getType();
  SmallVector<int64_t> global = spmd::globalShape(type);
  int last = int(global.size()) - 1;
  while (last >= 0 && global[last] == 1)
    --last;
  SmallVector<StaticStride> result(kernel.getNumLoops());
  for (unsigned loop = 0; loop < result.size(); ++loop) {
    if (!map.isFunctionOfDim(loop)) {
      result[loop] = {true, 0};
      continue;
    }
    bool onlyLast = last >= 0;
    for (int dim = 0; dim < int(global.size()); ++dim)
      if (dim != last && map.getResult(dim).isFunctionOfDim(loop))
        onlyLast = false;
    if (onlyLast)
      result[loop] = {true, coefficientOf(map.getResult(last), loop)};
  }
  return result;
}

/// The stride of an operand for `loop` where its array is dense.
static int64_t denseStride(spmd::KernelOp kernel, unsigned operand,
                           unsigned loop) {
  const unsigned numInputs = kernel.getInputs().size();
  Type type = operand < numInputs
                  ? kernel.getInputs()[operand].getType()
                  : kernel.getOutputs()[operand - numInputs].getType();
  int64_t stride = 0;
  for (auto [expr, dimStride] :
       llvm::zip_equal(kernel.getInputAccess(operand).getResults(),
                       rowMajorStrides(spmd::globalShape(type))))
    stride += dimStride * coefficientOf(expr, loop);
  return stride;
}

unsigned meshloom::loopAround(const LoopOrder &order) {
  return order.vectorIsReduction ? order.parallel.back()
                                 : order.parallel[order.parallel.size() - 2];
}

/// Returns whether the innermost loop and the one around it are one loop where
/// all arrays are dense.
static bool areOneLoop(spmd::KernelOp kernel, const LoopOrder &order) {
  const unsigned inner = order.vector, around = loopAround(order);
  const bool usesIndex = llvm::any_of(
      kernel.getBlock()->getOps<spmd::IndexOp>(), [&](spmd::IndexOp op) {
        return op.getLoop() == inner || op.getLoop() == around;
      });
  return !usesIndex && !order.vectorIsReduction &&
         llvm::all_of(llvm::seq<unsigned>(kernel.getAccesses().size()),
                      [&](unsigned k) {
                        return denseStride(kernel, k, around) ==
                               denseStride(kernel, k, inner) *
                                   kernel.getExtents()[inner];
                      });
}

/// Decides about short innermost loops.
static void chooseShortLoops(spmd::KernelOp kernel, LoopOrder &order) {
  if (order.vector < 0 || order.parallel.empty())
    return;
  // Elements of the loop, ops of what is written out for all of them, and the
  // strides for which whole vectors are loaded.
  const int64_t mostWrittenOut =
      kernel.getBlock()->without_terminator().empty() ? 64 : 16;
  constexpr int64_t mostOps = 192, shortStride = 16;
  constexpr uint64_t mostRun = 512;
  const int64_t length = kernel.getExtents()[order.vector];
  const int64_t ops = llvm::count_if(*kernel.getBlock(), [](Operation &op) {
    return !op.hasTrait<mlir::OpTrait::ConstantLike>();
  });
  const bool isOneLoop =
      order.vectorIsReduction
          ? order.reduction.size() == 1
          : order.parallel.size() > 1 && !kernel.hasReductionLoops();
  // Terms that are looked up do not lie side by side.
  const bool looksUp = order.vectorIsReduction &&
                       !kernel.getBlock()->getOps<spmd::LoadOp>().empty();
  if (isOneLoop && !looksUp && order.tiled < 0 && length > 1 &&
      length <= mostWrittenOut && length * ops <= mostOps &&
      !areOneLoop(kernel, order)) {
    order.writtenOut = length;
    const unsigned around = loopAround(order);
    const bool takesWhole = length * flopsOf(kernel) <= mostOps;
    for (unsigned k = 0; k < kernel.getAccesses().size(); ++k) {
      const int64_t stride =
          takesWhole && !staticStrides(kernel, k)[around].isStatic
              ? denseStride(kernel, k, around)
              : 0;
      order.shortStrides.push_back(std::abs(stride) <= shortStride ? stride
                                                                   : 0);
    }
  }
  // Loops behind the last parallel one are one run where they are contiguous.
  uint64_t run = 1;
  for (unsigned loop : order.reduction)
    if (loop > order.parallel.back())
      run = llvm::SaturatingMultiply(run, uint64_t(kernel.getExtents()[loop]));
  auto isFloatSum = [&](unsigned output) {
    const auto reducer =
        makeReducer(kernel, output, /*anyOrder=*/!order.deterministic);
    return reducer && reducer->isFloatSum();
  };
  // A run is one part of a sum in pairs: no long one.
  const bool sums = llvm::any_of(llvm::seq(kernel.getNumResults()), isFloatSum);
  order.reducesByRows = order.vectorIsReduction && order.reduction.size() > 1 &&
                        !order.deterministic &&
                        (sums ? run : uint64_t(length)) <= mostRun &&
                        order.reduction.front() < order.parallel.back() &&
                        kernel.getExtents()[order.parallel.back()] > 1;
}

/// Finds the loop of an input's neighbouring rows, where rows are long and the
/// output's neighbours are different ones.
static void chooseCrossedRows(spmd::KernelOp kernel, LoopOrder &order) {
  constexpr int64_t leastRow = 16, leastElements = int64_t(1) << 18;
  if (order.tiled >= 0 || order.parallel.size() < 3 || order.writtenOut > 0 ||
      kernel.getExtents()[order.vector] < leastRow ||
      kernel.getNumIterations() < leastElements)
    return;
  const unsigned next = order.parallel[order.parallel.size() - 2];
  for (unsigned k = 0; k < kernel.getInputs().size(); ++k) {
    const StaticStride stride = staticStrides(kernel, k)[order.vector];
    if (!stride.isStatic || stride.value != 1)
      continue;
    // The last dim but that of rows.
    for (AffineExpr expr :
         llvm::reverse(kernel.getInputAccess(k).getResults().drop_back())) {
      if (isa<mlir::AffineConstantExpr>(expr))
        continue;
      auto dim = dyn_cast<mlir::AffineDimExpr>(expr);
      if (!dim || dim.getPosition() == next)
        break;
      if (kernel.getExtents()[dim.getPosition()] == 1)
        continue;
      if (llvm::is_contained(order.parallel, dim.getPosition()) &&
          int(dim.getPosition()) != order.vector)
        order.crossed = int(dim.getPosition());
      break;
    }
  }
}

/// Returns how many elements input `input` is behind input `base`, where both
/// read one dense array along the same loops.
static std::optional<int64_t> distanceBetween(spmd::KernelOp kernel,
                                              unsigned base, unsigned input) {
  Value array = kernel.getInputs()[input];
  if (kernel.getInputs()[base] != array)
    return std::nullopt;
  const SmallVector<int64_t> origin(kernel.getNumLoops(), 0);
  AffineMap here = kernel.getInputAccess(input),
            there = kernel.getInputAccess(base);
  int64_t distance = 0;
  for (auto [expr, other, begin, otherBegin, dimStride] :
       llvm::zip_equal(here.getResults(), there.getResults(),
                       here.compose(origin), there.compose(origin),
                       rowMajorStrides(spmd::globalShape(array.getType())))) {
    for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
      if (coefficientOf(expr, loop) != coefficientOf(other, loop))
        return std::nullopt;
    distance += dimStride * (begin - otherBegin);
  }
  return distance;
}

/// Finds the inputs that read the same short rows: parts of points or colours.
static void chooseNeighbours(spmd::KernelOp kernel, LoopOrder &order) {
  constexpr int64_t mostStride = 8;
  if (order.vector < 0 || kernel.hasReductionLoops() || order.deterministic ||
      order.tiled >= 0 || order.crossed >= 0 || order.writtenOut > 0)
    return;
  const unsigned numInputs = kernel.getInputs().size();
  SmallVector<bool> isNeighbour(numInputs, false);
  for (unsigned k = 0; k < numInputs; ++k)
    // An array that is written is not read at other places.
    isNeighbour[k] =
        kernel.isGuarded(k) || llvm::is_contained(kernel.getInPlace(), int(k));
  for (unsigned base = 0; base < numInputs; ++base) {
    const int64_t stride = denseStride(kernel, base, order.vector);
    if (isNeighbour[base] || stride < 2 || stride > mostStride ||
        staticStrides(kernel, base)[order.vector].isStatic)
      continue;
    for (unsigned k = 0; k < numInputs; ++k) {
      const auto distance = distanceBetween(kernel, base, k);
      if (k == base || isNeighbour[k] || !distance ||
          std::abs(*distance) >= stride)
        continue;
      isNeighbour[k] = true;
      order.neighbours.push_back({k, base, *distance, stride});
    }
  }
}

LoopOrder meshloom::loopOrder(spmd::KernelOp kernel) {
  unsigned loops = kernel.getNumLoops();
  unsigned operands = kernel.getAccesses().size();
  unsigned numInputs = kernel.getInputs().size();
  LoopOrder order;
  order.deterministic = isDeterministic(kernel);
  SmallVector<int> cost(loops, 0);
  for (unsigned k = 0; k < operands; ++k) {
    SmallVector<StaticStride> strides = staticStrides(kernel, k);
    bool stored = k >= numInputs &&
                  kernel.getReducer(k - numInputs) == spmd::Reducer::None;
    for (unsigned loop = 0; loop < loops; ++loop)
      if (!strides[loop].isStatic || strides[loop].value < 0 ||
          strides[loop].value > 1)
        cost[loop] += stored ? 6 : 4;
  }
  for (unsigned loop = 0; loop < loops; ++loop) {
    // A sum over the innermost loop costs one horizontal sum a run.
    cost[loop] = 2 * cost[loop] + kernel.getReductions()[loop];
    // Later loops are the inner dims where costs are equal; a loop of one
    // iteration is never worth being the inner one.
    if (!kernel.isHeld(loop) && kernel.getExtents()[loop] != 1 &&
        (order.vector < 0 || cost[loop] <= cost[order.vector]))
      order.vector = loop;
  }
  for (unsigned loop = loops; order.vector < 0 && loop-- > 0;)
    if (!kernel.isHeld(loop))
      order.vector = loop;
  order.vectorIsReduction =
      order.vector >= 0 && kernel.getReductions()[order.vector];
  if (order.deterministic && order.vectorIsReduction)
    for (unsigned loop = order.vector; loop < loops; ++loop)
      if (kernel.getReductions()[loop])
        order.vector = loop;
  for (unsigned loop = 0; loop < loops; ++loop)
    if (int(loop) != order.vector && !kernel.isHeld(loop))
      (kernel.getReductions()[loop] ? order.reduction : order.parallel)
          .push_back(loop);
  if (order.vector >= 0)
    (order.vectorIsReduction ? order.reduction : order.parallel)
        .push_back(order.vector);
  if (kernel.hasReductionLoops() || order.parallel.size() < 2) {
    chooseShortLoops(kernel, order);
    chooseNeighbours(kernel, order);
    return order;
  }
  for (unsigned k = 0; k < operands; ++k) {
    SmallVector<StaticStride> strides = staticStrides(kernel, k);
    for (unsigned loop : order.parallel)
      if (int(loop) != order.vector && kernel.getExtents()[loop] > 1 &&
          strides[order.vector].isAcross(strides[loop]))
        order.tiled = loop;
  }
  constexpr int64_t fewestOfTile = 16;
  order.fillsWideTiles = order.tiled >= 0 &&
                         kernel.getExtents()[order.tiled] >= fewestOfTile &&
                         kernel.getExtents()[order.vector] >= fewestOfTile;
  chooseShortLoops(kernel, order);
  chooseCrossedRows(kernel, order);
  chooseNeighbours(kernel, order);
  return order;
}

unsigned meshloom::reductionBits(spmd::KernelOp kernel) {
  uint64_t terms = 1;
  for (auto [extent, reduced] :
       llvm::zip_equal(kernel.getExtents(), kernel.getReductions()))
    if (reduced)
      terms = llvm::SaturatingMultiply(terms, uint64_t(extent));
  constexpr uint64_t few = 64;
  return terms <= few ? 0
                      : unsigned(llvm::alignTo(llvm::Log2_64_Ceil(terms), 4));
}

static constexpr StringRef largeAttr = "large";

bool meshloom::isLarge(spmd::KernelOp kernel) {
  return kernel->hasAttr(largeAttr);
}

void meshloom::markLarge(spmd::KernelOp kernel) {
  kernel->setAttr(largeAttr, mlir::UnitAttr::get(kernel.getContext()));
}

/// Returns whether a value of a kernel is computed, or chosen, from constants
/// alone.
static bool isOfConstants(Value value) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> values{value};
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || isa<spmd::IndexOp>(op))
      return false;
    if (!seen.insert(op).second)
      continue;
    // Whatever guards a division chooses between divisors by its dividend.
    llvm::append_range(values, op->getOperands().drop_front(
                                   isa<mlir::arith::SelectOp>(op) ? 1 : 0));
  }
  return true;
}

/// Returns whether an op is a function that is computed by a formula.
static bool isFunction(Operation &op) {
  return isa<math::MathDialect>(op.getDialect()) &&
         !isa<math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp,
              math::RoundEvenOp, math::TruncOp>(op);
}

/// Returns the operations that one op counts as, by the time that it takes.
static int64_t flopsOf(Operation &op) {
  constexpr int64_t division = 5, lookUp = 12, function = 20,
                    integerDivision = 20, longDivision = 60, power = 100;
  if (isa<arith::DivFOp, math::SqrtOp>(op))
    return division;
  // Processors divide long integers one by one, except by constants.
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    if (isOfConstants(op.getOperand(1)))
      return division;
    return op.getResult(0).getType().getIntOrFloatBitWidth() > 32
               ? longDivision
               : integerDivision;
  }
  if (isa<math::PowFOp>(op))
    return power;
  if (isFunction(op))
    return function;
  return isa<spmd::LoadOp>(op) ? lookUp : 1;
}

/// Returns what it costs to collect an operand's elements into a register, or
/// to put them where they belong: nothing where they are side by side, or all
/// the same.
static int64_t collectingCost(spmd::KernelOp kernel, unsigned operand,
                              int64_t iterations) {
  constexpr int64_t element = 4, elementOfRun = 1, run = 50;
  const ArrayRef<int64_t> extents = kernel.getExtents();
  auto hasStride = [&](size_t loop, int64_t stride) {
    return extents[loop] == 1 ||
           denseStride(kernel, operand, unsigned(loop)) == stride;
  };
  bool isDense = true, isOne = true;
  int64_t inside = 1;
  for (size_t loop = extents.size(); loop-- > 0; inside *= extents[loop]) {
    isDense &= hasStride(loop, inside);
    isOne &= hasStride(loop, 0);
  }
  if (isDense || isOne)
    return 0;
  const size_t innermost = extents.size() - 1;
  const bool isRun = hasStride(innermost, 0) || hasStride(innermost, 1);
  return iterations / std::max<int64_t>(extents[innermost], 1) * run +
         iterations * (isRun ? elementOfRun : element);
}

/// Returns how many picoseconds longer than machine code the loop of an op
/// takes for an element, where elements are side by side in memory.
static int64_t laneCost(Operation &op) {
  constexpr int64_t division = 100, integerDivision = 5000, largeFormula = 50,
                    choiceOrRounding = 25, narrow = 500, index = 800;
  if (isa<spmd::IndexOp, spmd::ReadOp>(op))
    return index;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return integerDivision;
  // Machine code multiplies by the inverse of a constant.
  if (isa<arith::DivFOp>(op) && isOfConstants(op.getOperand(1)))
    return division;
  if (isa<arith::SelectOp, arith::TruncFOp>(op))
    return choiceOrRounding;
  if (isa<math::SinOp, math::CosOp, math::TanOp, math::Atan2Op>(op) ||
      (isa<math::ErfOp>(op) && op.getResult(0).getType().isF64()))
    return largeFormula;
  auto isNarrow = [](Type type) {
    return isa<IntegerType>(type) && !type.isInteger(1) &&
           type.getIntOrFloatBitWidth() < 32;
  };
  return isNarrow(op.getOperand(0).getType()) ||
                 isNarrow(op.getResult(0).getType())
             ? narrow
             : 0;
}

/// Returns whether an op makes an f32 of a bf16 number or the other way round.
/// Beside a function, machine code takes longer for that than a script.
static bool convertsHalf(Operation &op) {
  return isa<arith::ExtFOp, arith::TruncFOp>(op) &&
         (op.getOperand(0).getType().isBF16() ||
          op.getResult(0).getType().isBF16());
}

/// Returns what it costs to keep the sums of a kernel, and to begin the lines
/// of terms that are side by side.
static int64_t reductionCost(spmd::KernelOp kernel) {
  constexpr int64_t result = 600, line = 90;
  if (!kernel.hasReductionLoops())
    return 0;
  const ArrayRef<bool> reductions = kernel.getReductions();
  int64_t lines = 0;
  if (reductions.back()) {
    lines = 1;
    for (auto [extent, isReduced] :
         llvm::zip_equal(kernel.getExtents(), reductions))
      if (!isReduced)
        lines *= extent;
  }
  int64_t cost = 0;
  for (unsigned output = 0; output < kernel.getOutputs().size(); ++output)
    if (kernel.getReducer(output) != spmd::Reducer::None)
      cost += result + lines * line;
  return cost;
}

int64_t meshloom::interpretedCost(spmd::KernelOp kernel) {
  // In picoseconds: what a kernel and each op take for a call, and what takes
  // longer for an element, such as an op whose operand a different op leaves.
  constexpr int64_t call = 6400, opCall = 6400, handedOn = 40, constant = 15,
                    term = 200, many = int64_t(1) << 32;
  const int64_t iterations = std::min(kernel.getNumIterations(), many);
  int64_t ops = 0, operandsHandedOn = 0,
          element = kernel.hasReductionLoops() ? term : 0;
  const bool computesFunction =
      llvm::any_of(kernel.getBlock()->without_terminator(), isFunction);
  for (Operation &op : kernel.getBlock()->without_terminator()) {
    if (op.hasTrait<mlir::OpTrait::ConstantLike>()) {
      element += constant;
      continue;
    }
    ++ops;
    if (computesFunction && convertsHalf(op))
      continue;
    ++operandsHandedOn;
    element += laneCost(op);
  }
  // Machine code loads and stores as well; but one op writes over no operand,
  // and a copy is no op.
  const bool overwrites = llvm::any_of(
      kernel.getInPlace(), [](int32_t input) { return input >= 0; });
  if (ops == 0 || overwrites)
    ++operandsHandedOn;
  element += std::max<int64_t>(operandsHandedOn - (ops > 0), 0) * handedOn;
  const unsigned inputs = kernel.getInputs().size();
  int64_t cost = (call + ops * opCall + iterations * element) / 100 +
                 reductionCost(kernel);
  for (unsigned operand = 0; operand < kernel.getAccesses().size(); ++operand)
    if (operand < inputs ||
        kernel.getReducer(operand - inputs) == spmd::Reducer::None)
      cost += collectingCost(kernel, operand, iterations);
  return cost;
}

static constexpr StringRef smallAttr = "small";

bool meshloom::isSmall(spmd::KernelOp kernel) {
  return kernel->hasAttr(smallAttr);
}

void meshloom::markSmall(spmd::KernelOp kernel) {
  kernel->setAttr(smallAttr, mlir::UnitAttr::get(kernel.getContext()));
}

spmd::Reducer meshloom::reducerOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return spmd::Reducer::Sum;
  case ReduceKind::Prod:
    return spmd::Reducer::Prod;
  case ReduceKind::Min:
    return spmd::Reducer::Min;
  case ReduceKind::Max:
    return spmd::Reducer::Max;
  case ReduceKind::And:
    return spmd::Reducer::And;
  case ReduceKind::Or:
    return spmd::Reducer::Or;
  }
  llvm_unreachable("covered");
}

int64_t meshloom::flopsOf(spmd::KernelOp kernel) {
  int64_t flops = 0;
  for (Operation &op : kernel.getBlock()->without_terminator())
    if (!isa<mlir::arith::ConstantOp, spmd::IndexOp>(op) &&
        !isa<mlir::complex::ComplexDialect>(op.getDialect()))
      flops += ::flopsOf(op);
  return flops;
}

SmallVector<int32_t> meshloom::inPlaceOf(Operation *op) {
  if (auto kernel = dyn_cast<spmd::KernelOp>(op))
    return llvm::to_vector(kernel.getInPlace());
  if (auto call = dyn_cast<spmd::LibraryCallOp>(op))
    return llvm::to_vector(call.getInPlace());
  return SmallVector<int32_t>(op->getNumResults(), -1);
}

Value meshloom::memoryOf(Value value) {
  while (auto result = dyn_cast<mlir::OpResult>(value)) {
    int32_t over = inPlaceOf(result.getOwner())[result.getResultNumber()];
    if (over < 0)
      break;
    value = result.getOwner()->getOperand(over);
  }
  return value;
}
