// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConstantNumbers: a small interpreter of the ops that shapes are computed
// with.
#include "ConstantNumbers.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Shapes are short; longer tensors are data.
static constexpr int64_t most = 4096;

static int64_t count(ArrayRef<int64_t> shape) {
  int64_t result = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && result > most / extent))
      return most + 1;
    result *= extent;
  }
  return result;
}

static std::optional<SmallVector<int64_t>> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() ||
      !isa<IntegerType>(type.getElementType()) || count(type.getShape()) > most)
    return std::nullopt;
  return SmallVector<int64_t>(type.getShape());
}

/// `number` as an integer of `type` holds it.
static int64_t wrapped(int64_t number, Type type) {
  auto integer = cast<IntegerType>(type);
  llvm::APInt bits(64, uint64_t(number));
  bits = bits.trunc(std::min(integer.getWidth(), 64u));
  return integer.isUnsigned() || integer.getWidth() == 1
             ? int64_t(bits.getZExtValue())
             : bits.getSExtValue();
}

static std::optional<Numbers> read(mlir::ElementsAttr attribute) {
  auto dense = dyn_cast<mlir::DenseIntElementsAttr>(attribute);
  if (!dense || count(dense.getType().getShape()) > most)
    return std::nullopt;
  Numbers result{SmallVector<int64_t>(dense.getType().getShape()), {}};
  auto type = cast<IntegerType>(dense.getElementType());
  for (const llvm::APInt &number : dense.getValues<llvm::APInt>())
    result.values.push_back(wrapped(int64_t(number.getZExtValue()), type));
  return result;
}

/// Calls `body` with each index of `shape`, in order.
template <typename Body>
static void forEachIndex(ArrayRef<int64_t> shape, Body body) {
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t remaining = count(shape); remaining > 0; --remaining) {
    body(ArrayRef<int64_t>(index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

static int64_t elementAt(const Numbers &numbers, ArrayRef<int64_t> index) {
  int64_t place = 0;
  for (auto [extent, i] : llvm::zip_equal(numbers.shape, index))
    place = place * extent + i;
  return numbers.values[place];
}

/// Returns whether the numbers of an op's result follow from those of its
/// operands.
static bool isComputed(Operation *op) {
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         !isa<stablehlo::GetDimensionSizeOp, mlir::CallOpInterface>(op) &&
         shapeOf(op->getResult(0));
}

std::optional<Numbers> ConstantNumbers::of(Value value) {
  auto meant = [&](Value value) {
    while (Value same = bound.lookup(value))
      value = same;
    return value;
  };
  auto isDone = [&](Value value) {
    return computed.count(value) || culprits.count(value);
  };
  value = meant(value);
  // Operands come first: a chain may be longer than a stack is deep.
  SmallVector<Value> waiting{value};
  while (!waiting.empty()) {
    Value next = waiting.back();
    const size_t before = waiting.size();
    if (Operation *op = next.getDefiningOp(); isComputed(op) && !isDone(next))
      for (Value operand : op->getOperands())
        if (!isDone(meant(operand)))
          waiting.push_back(meant(operand));
    if (waiting.size() > before)
      continue;
    waiting.pop_back();
    if (isDone(next))
      continue;
    if (auto numbers = compute(next))
      computed[next] = *numbers;
    else
      culprits[next] = culpritOf(next);
  }
  if (auto numbers = computed.find(value); numbers != computed.end())
    return numbers->second;
  unknown = culprits.lookup(value);
  return std::nullopt;
}

/// Returns the value that `value`, which could not be computed, depends on.
Value ConstantNumbers::culpritOf(Value value) const {
  if (Operation *op = value.getDefiningOp(); isComputed(op))
    for (Value operand : op->getOperands()) {
      while (Value same = bound.lookup(operand))
        operand = same;
      if (Value culprit = culprits.lookup(operand))
        return culprit;
    }
  return value;
}

void ConstantNumbers::forget(mlir::Operation *op) {
  for (Value result : op->getResults()) {
    computed.erase(result);
    culprits.erase(result);
  }
}

std::optional<Numbers> ConstantNumbers::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  using Result = std::optional<Numbers>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](stablehlo::ConstantOp c) { return read(c.getValue()); })
      .Case([&](stablehlo::GetDimensionSizeOp size) -> Result {
        auto type = dyn_cast<RankedTensorType>(size.getOperand().getType());
        int64_t dim = int64_t(size.getDimension());
        if (!type || dim < 0 || dim >= type.getRank() ||
            type.isDynamicDim(unsigned(dim)))
          return std::nullopt;
        return Numbers{{}, {type.getDimSize(unsigned(dim))}};
      })
      .Case([&](stablehlo::IotaOp iota) -> Result {
        auto shape = shapeOf(iota.getOutput());
        int64_t dim = int64_t(iota.getIotaDimension());
        if (!shape || dim < 0 || dim >= int64_t(shape->size()))
          return std::nullopt;
        Numbers result{*shape, {}};
        forEachIndex(*shape, [&](ArrayRef<int64_t> index) {
          result.values.push_back(index[dim]);
        });
        return result;
      })
      .Case([&](mlir::CallOpInterface call) -> Result {
        auto callee =
            dyn_cast_or_null<mlir::func::FuncOp>(call.resolveCallable());
        if (!callee || !callee.getBody().hasOneBlock())
          return std::nullopt;
        ConstantNumbers inside;
        for (auto [argument, operand] :
             llvm::zip(callee.getArguments(), call->getOperands()))
          if (shapeOf(operand))
            if (auto numbers = of(operand))
              inside.computed[argument] = *numbers;
        unsigned which = cast<mlir::OpResult>(value).getResultNumber();
        Operation *end = callee.getBody().front().getTerminator();
        if (which >= end->getNumOperands())
          return std::nullopt;
        return inside.of(end->getOperand(which));
      })
      .Default([&](Operation *other) -> Result {
        if (!shapeOf(value) || other->getNumRegions() ||
            other->getNumResults() != 1)
          return std::nullopt;
        Result result = moved(other);
        return result ? result : elementwise(other);
      });
}

/// Ops that move numbers: of each element of the result, where it comes from.
std::optional<Numbers> ConstantNumbers::moved(Operation *op) {
  if (!isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
           stablehlo::BroadcastOp, stablehlo::SliceOp, stablehlo::TransposeOp,
           stablehlo::ConcatenateOp>(op))
    return std::nullopt;
  SmallVector<Numbers> inputs;
  for (Value operand : op->getOperands()) {
    auto numbers = of(operand);
    if (!numbers)
      return std::nullopt;
    inputs.push_back(*numbers);
  }
  Numbers result{*shapeOf(op->getResult(0)), {}};
  if (isa<stablehlo::ReshapeOp>(op)) {
    result.values = inputs[0].values;
    return int64_t(result.values.size()) == count(result.shape)
               ? std::optional(result)
               : std::nullopt;
  }
  bool fits = true;
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> from;
    const Numbers *source = inputs.begin();
    if (auto spread = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(spread.getBroadcastDimensions()))
        from.push_back(i < source->shape.size() && source->shape[i] == 1 ? 0
                       : dim >= 0 && dim < int64_t(index.size()) ? index[dim]
                                                                 : -1);
    } else if (isa<stablehlo::BroadcastOp>(op)) {
      from.append(index.end() - std::min(source->shape.size(), index.size()),
                  index.end());
    } else if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
      for (auto [start, stride, i] :
           llvm::zip(slice.getStartIndices(), slice.getStrides(), index))
        from.push_back(start + stride * i);
    } else if (auto turn = dyn_cast<stablehlo::TransposeOp>(op)) {
      from.assign(index.size(), -1);
      for (auto [i, dim] : llvm::zip(index, turn.getPermutation()))
        if (dim >= 0 && dim < int64_t(from.size()))
          from[dim] = i;
    } else {
      auto dim = int64_t(cast<stablehlo::ConcatenateOp>(op).getDimension());
      from.assign(index.begin(), index.end());
      if (dim >= 0 && dim < int64_t(from.size()))
        while (source + 1 < inputs.end() && from[dim] >= source->shape[dim])
          from[dim] -= (source++)->shape[dim];
    }
    bool inside = from.size() == source->shape.size();
    for (size_t d = 0; inside && d < from.size(); ++d)
      inside = from[d] >= 0 && from[d] < source->shape[d];
    fits &= inside;
    result.values.push_back(inside ? elementAt(*source, from) : 0);
  });
  return fits ? std::optional(result) : std::nullopt;
}

/// Returns arithmetic of two integers, which wraps around, or null.
static int64_t (*binaryFunction(StringRef name))(int64_t, int64_t) {
  using Binary = int64_t (*)(int64_t, int64_t);
  static const auto &functions = *new llvm::StringMap<Binary>{
      {"add", [](int64_t x, int64_t y) { return int64_t(uint64_t(x) + y); }},
      {"subtract",
       [](int64_t x, int64_t y) { return int64_t(uint64_t(x) - y); }},
      {"multiply",
       [](int64_t x, int64_t y) { return int64_t(uint64_t(x) * y); }},
      {"divide",
       [](int64_t x, int64_t y) {
         return y == 0    ? int64_t(-1)
                : y == -1 ? int64_t(0 - uint64_t(x))
                          : x / y;
       }},
      {"remainder",
       [](int64_t x, int64_t y) {
         return y == 0 ? x : y == -1 ? int64_t(0) : x % y;
       }},
      {"maximum", [](int64_t x, int64_t y) { return std::max(x, y); }},
      {"minimum", [](int64_t x, int64_t y) { return std::min(x, y); }},
      {"and", [](int64_t x, int64_t y) { return x & y; }},
      {"or", [](int64_t x, int64_t y) { return x | y; }}};
  return functions.lookup(name);
}

static bool holds(stablehlo::ComparisonDirection direction, int64_t x,
                  int64_t y) {
  using Direction = stablehlo::ComparisonDirection;
  switch (direction) {
  case Direction::EQ:
    return x == y;
  case Direction::NE:
    return x != y;
  case Direction::GE:
    return x >= y;
  case Direction::GT:
    return x > y;
  case Direction::LE:
    return x <= y;
  case Direction::LT:
    return x < y;
  }
  llvm_unreachable("covered");
}

/// The function of an op on elements, null: it is not computed.
using ElementFunction = std::function<int64_t(ArrayRef<int64_t>)>;

static ElementFunction elementFunction(Operation *op) {
  using Elements = ArrayRef<int64_t>;
  if (!isa_and_nonnull<stablehlo::StableHLODialect>(op->getDialect()))
    return nullptr;
  if (auto binary = binaryFunction(op->getName().stripDialect());
      binary && op->getNumOperands() == 2)
    return [binary](Elements x) { return binary(x[0], x[1]); };
  const bool toLogic =
      mlir::getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1);
  return llvm::TypeSwitch<Operation *, ElementFunction>(op)
      .Case([](stablehlo::SelectOp) {
        return [](Elements x) { return x[0] ? x[1] : x[2]; };
      })
      .Case([](stablehlo::ClampOp) {
        return [](Elements x) { return std::min(std::max(x[1], x[0]), x[2]); };
      })
      .Case([](stablehlo::CompareOp compare) {
        return [direction = compare.getComparisonDirection()](Elements x) {
          return int64_t(holds(direction, x[0], x[1]));
        };
      })
      .Case([](stablehlo::NegOp) {
        return [](Elements x) { return int64_t(0 - uint64_t(x[0])); };
      })
      .Case([](stablehlo::NotOp) { return [](Elements x) { return ~x[0]; }; })
      .Case([](stablehlo::AbsOp) {
        return [](Elements x) { return x[0] < 0 ? 0 - x[0] : x[0]; };
      })
      .Case([](stablehlo::SignOp) {
        return [](Elements x) { return int64_t(x[0] > 0) - int64_t(x[0] < 0); };
      })
      .Case([toLogic](stablehlo::ConvertOp) {
        return [toLogic](Elements x) {
          return toLogic ? int64_t(x[0] != 0) : x[0];
        };
      })
      .Default(ElementFunction());
}

std::optional<Numbers> ConstantNumbers::elementwise(Operation *op) {
  const ElementFunction function = elementFunction(op);
  if (!function)
    return std::nullopt;
  SmallVector<Numbers> inputs;
  Numbers result{*shapeOf(op->getResult(0)), {}};
  for (Value operand : op->getOperands()) {
    auto numbers = of(operand);
    if (!numbers)
      return std::nullopt;
    const bool isScalar = isa<stablehlo::SelectOp, stablehlo::ClampOp>(op) &&
                          numbers->values.size() == 1;
    if (numbers->shape != result.shape && !isScalar)
      return std::nullopt;
    inputs.push_back(*numbers);
  }
  const Type element = mlir::getElementTypeOrSelf(op->getResult(0).getType());
  SmallVector<int64_t, 3> elements(inputs.size());
  for (int64_t i = 0; i < count(result.shape); ++i) {
    for (auto [operand, input] : llvm::enumerate(inputs))
      elements[operand] = input.values[input.values.size() == 1 ? 0 : i];
    result.values.push_back(wrapped(function(elements), element));
  }
  return result;
}
