// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes that are dynamic in form only: what a program computes of constants
// and of known extents is folded, and every type gets the extents that follow.
#include "ConstantNumbers.h"
#include "Prepare.h"
#include "ResultShapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::ShapedType;
using mlir::func::FuncOp;

namespace {
using Shape = SmallVector<int64_t>;

RankedTensorType tensorOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}
bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}
/// Returns whether `shape` is what `type` says, where it says anything.
bool agrees(ArrayRef<int64_t> shape, RankedTensorType type) {
  if (int64_t(shape.size()) != type.getRank())
    return false;
  return llvm::all_of(llvm::zip(shape, type.getShape()), [](auto pair) {
    auto [extent, declared] = pair;
    return extent >= 0 &&
           (ShapedType::isDynamic(declared) || declared == extent);
  });
}

/// Goes through a function's ops in order. Operands have static types when an
/// op is reached; then its results get them, or the reason why not is reported.
class StaticShapes {
public:
  explicit StaticShapes(ModuleOp module) : module(module), symbols(module) {}

  LogicalResult run(FuncOp func) {
    if (failed(run(func.getBody())))
      return failure();
    Operation *end = func.getBody().front().getTerminator();
    func.setFunctionType(mlir::FunctionType::get(
        func.getContext(), func.getBody().getArgumentTypes(),
        end->getOperandTypes()));
    return success();
  }

private:
  LogicalResult run(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block))
        if (failed(visit(&op)))
          return failure();
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (auto call = dyn_cast<mlir::func::CallOp>(op))
      return visitCall(call, call.getCalleeAttr(),
                       [&](StringRef name) { call.setCallee(name); });
    if (auto call = dyn_cast<stablehlo::CompositeOp>(op))
      return visitCall(call, call.getDecompositionAttr(),
                       [&](StringRef name) { call.setDecomposition(name); });
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
      if (call.getCallTargetName() == "shape_assertion")
        return visitAssertion(call);
      if (call.getCallTargetName() == "stablehlo.dynamic_reduce_window")
        return visitReduceWindow(call);
      if (failed(dropShapeOperands(call)))
        return failure();
    }
    // The arguments of a loop's regions are its operands.
    if (isa<stablehlo::WhileOp>(op))
      for (Region &region : op->getRegions())
        for (auto [argument, operand] :
             llvm::zip(region.getArguments(), op->getOperands()))
          if (isDynamic(argument.getType()))
            argument.setType(operand.getType());
    for (Region &region : op->getRegions())
      if (failed(run(region)))
        return failure();
    if (isDynamicInForm(op))
      return replace(op);
    return giveShapes(op);
  }

  std::optional<Shape> shapeIn(Value value) {
    auto folded = numbers.of(value);
    return folded ? std::optional(Shape(folded->values)) : std::nullopt;
  }

  LogicalResult giveShapes(Operation *op) {
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      if (!isDynamic(result.getType()))
        continue;
      auto shape = isa<stablehlo::RngOp>(op) ? shapeIn(op->getOperand(2))
                                             : resultShape(op, unsigned(i));
      RankedTensorType type = tensorOf(result);
      if (!shape || !agrees(*shape, type))
        return op->emitError("the shape of '")
               << op->getName() << "' is not known here (" << type
               << "); export the program with fixed shapes";
      result.setType(type.clone(*shape));
    }
    return success();
  }

  /// JAX's check that the shapes are among those that it exported for: it says
  /// what `{0}`, ... in its message are.
  LogicalResult visitAssertion(stablehlo::CustomCallOp op) {
    if (op.getInputs().empty() || op->getNumResults() != 0)
      return op.emitError(
          "'shape_assertion' takes a condition and numbers, and "
          "gives nothing");
    auto holds = fold(op, 0);
    if (failed(holds))
      return failure();
    if (*holds == Shape{1}) {
      numbers.forget(op);
      op.erase();
      return success();
    }
    auto text = op->getAttrOfType<StringAttr>("error_message");
    std::string message = text ? text.str() : "a shape assertion does not hold";
    for (unsigned i = 1; i < op->getNumOperands(); ++i) {
      auto number = numbers.of(op->getOperand(i));
      std::string hole = "{" + std::to_string(i - 1) + "}";
      for (size_t place; number && number->values.size() == 1 &&
                         (place = message.find(hole)) != std::string::npos;)
        message.replace(place, hole.size(), std::to_string(number->values[0]));
    }
    return op.emitError(message);
  }

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  /// Each call of a function whose shapes are not all written has one of its
  /// own.
  LogicalResult visitCall(Operation *call, mlir::FlatSymbolRefAttr symbol,
                          llvm::function_ref<void(StringRef)> setCallee) {
    auto callee = symbols.lookup<FuncOp>(symbol.getValue());
    if (!callee || callee.isExternal())
      return success(); // the import reports it
    auto found = callee.walk([&](Operation *op) {
      bool open = isDynamicInForm(op) ||
                  isa<mlir::func::CallOp, stablehlo::CompositeOp>(op) ||
                  llvm::any_of(op->getResultTypes(), isDynamic);
      return open ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    });
    bool open = found.wasInterrupted() ||
                llvm::any_of(callee.getArgumentTypes(), isDynamic);
    if (!open || callee.getNumArguments() != call->getNumOperands())
      return success();
    FuncOp copy = callee.clone();
    symbols.insert(copy);
    copy.setPrivate();
    for (auto [argument, operand] :
         llvm::zip_equal(copy.getArguments(), call->getOperands())) {
      if (isDynamic(argument.getType()) && tensorOf(operand) &&
          agrees(tensorOf(operand).getShape(), tensorOf(argument)))
        argument.setType(operand.getType());
      numbers.bind(argument, operand);
    }
    if (failed(run(copy)))
      return failure();
    setCallee(copy.getName());
    for (auto [result, type] :
         llvm::zip(call->getResults(), copy.getResultTypes()))
      if (isDynamic(result.getType()))
        result.setType(type);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Ops with shapes as operands
  //===--------------------------------------------------------------------===//

  static bool isDynamicInForm(Operation *op) {
    return isa<stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicConvOp,
               stablehlo::DynamicGatherOp, stablehlo::DynamicIotaOp,
               stablehlo::DynamicPadOp, stablehlo::DynamicReshapeOp,
               stablehlo::GetDimensionSizeOp, stablehlo::RealDynamicSliceOp,
               stablehlo::SetDimensionSizeOp>(op);
  }

  /// The numbers in operand `i`, or an error that names what they depend on.
  FailureOr<Shape> fold(Operation *op, unsigned i) {
    Value operand = op->getOperand(i);
    if (auto found = numbers.of(operand))
      return found->values;
    auto error = op->emitError("operand #")
                 << i << " of '" << op->getName()
                 << "' does not fold to a constant: it depends on ";
    Value culprit = numbers.culprit() ? numbers.culprit() : operand;
    if (auto argument = dyn_cast<BlockArgument>(culprit))
      error << "argument #" << argument.getArgNumber();
    else
      error << "'" << culprit.getDefiningOp()->getName() << "'";
    return error << "; dynamic shapes are not supported, export the program "
                    "with fixed shapes";
  }
  FailureOr<DenseI64ArrayAttr> folded(Operation *op, unsigned i) {
    auto list = fold(op, i);
    if (failed(list))
      return failure();
    return DenseI64ArrayAttr::get(op->getContext(), *list);
  }

  /// The result's shape: what operand `i` says, or as written where that does
  /// not fold.
  FailureOr<RankedTensorType> resultType(Operation *op, unsigned i) {
    RankedTensorType type = tensorOf(op->getResult(0));
    if (!isDynamic(type) && !numbers.of(op->getOperand(i)))
      return type;
    auto shape = fold(op, i);
    if (failed(shape))
      return failure();
    if (!agrees(*shape, type))
      return op->emitError("operand #")
             << i << " of '" << op->getName() << "' is the shape ["
             << toString(*shape) << "], which does not fit " << type;
    return RankedTensorType::get(*shape, type.getElementType());
  }
  static std::string toString(ArrayRef<int64_t> list) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(list, stream);
    return text;
  }

  template <typename Op>
  LogicalResult become(Operation *old, Type type, ValueRange operands,
                       ArrayRef<NamedAttribute> attributes) {
    OpBuilder b(old);
    mlir::NamedAttrList list(attributes);
    for (NamedAttribute attribute : old->getDiscardableAttrs())
      list.set(attribute.getName(), attribute.getValue());
    OperationState state(old->getLoc(), Op::getOperationName(), operands, type,
                         list);
    Operation *updated = b.create(state);
    old->replaceAllUsesWith(updated);
    numbers.forget(old);
    old->erase();
    return success();
  }
  NamedAttribute named(StringRef name, Attribute value) {
    return {StringAttr::get(module.getContext(), name), value};
  }

  LogicalResult replace(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](stablehlo::DynamicReshapeOp) -> LogicalResult {
          if (op->getNumOperands() != 2)
            return op->emitError("takes a value and its shape");
          auto type = resultType(op, 1);
          if (failed(type))
            return failure();
          return become<stablehlo::ReshapeOp>(op, *type, op->getOperand(0), {});
        })
        .Case([&](stablehlo::DynamicBroadcastInDimOp spread) -> LogicalResult {
          auto type = resultType(op, 1);
          if (failed(type))
            return failure();
          return become<stablehlo::BroadcastInDimOp>(
              op, *type, op->getOperand(0),
              named("broadcast_dimensions",
                    spread.getBroadcastDimensionsAttr()));
        })
        .Case([&](stablehlo::DynamicIotaOp iota) -> LogicalResult {
          auto type = resultType(op, 0);
          if (failed(type))
            return failure();
          return become<stablehlo::IotaOp>(
              op, *type, {},
              named("iota_dimension", iota.getIotaDimensionAttr()));
        })
        .Case([&](stablehlo::DynamicPadOp) { return replacePad(op); })
        .Case([&](stablehlo::RealDynamicSliceOp) { return replaceSlice(op); })
        .Case([&](stablehlo::DynamicGatherOp gather) {
          return replaceGather(gather);
        })
        .Case([&](stablehlo::DynamicConvOp conv) {
          return replaceConvolution(conv);
        })
        .Case([&](stablehlo::GetDimensionSizeOp) {
          return replaceDimensionSize(op);
        })
        .Case([&](stablehlo::SetDimensionSizeOp set) {
          return replaceSetSize(set);
        });
  }

  LogicalResult replaceGather(stablehlo::DynamicGatherOp op) {
    if (op->getNumOperands() != 3)
      return op->emitError("takes a value, indices and slice sizes");
    auto sizes = folded(op, 2);
    if (failed(sizes))
      return failure();
    RankedTensorType type = tensorOf(op->getResult(0));
    auto dims = dyn_cast_or_null<stablehlo::GatherDimensionNumbersAttr>(
        op.getDimensionNumbersAttr());
    if (!dims)
      return op->emitError("needs its dimension_numbers");
    if (isDynamic(type)) {
      auto shape = gatherShape(tensorOf(op->getOperand(1)), dims,
                               sizes->asArrayRef(), type.getRank());
      if (!shape || !agrees(*shape, type))
        return op->emitError("its slices do not fit ") << type;
      type = type.clone(*shape);
    }
    SmallVector<NamedAttribute> attributes{named("dimension_numbers", dims),
                                           named("slice_sizes", *sizes)};
    if (auto sorted =
            dyn_cast_or_null<mlir::BoolAttr>(op.getIndicesAreSortedAttr()))
      attributes.push_back(named("indices_are_sorted", sorted));
    return become<stablehlo::GatherOp>(
        op, type, op->getOperands().take_front(2), attributes);
  }

  LogicalResult replaceDimensionSize(Operation *op) {
    auto size = numbers.of(op->getResult(0));
    if (!size)
      return op->emitError("asks for a dim that its operand, a ")
             << op->getOperand(0).getType() << ", does not have";
    auto type =
        RankedTensorType::get({}, IntegerType::get(op->getContext(), 32));
    return become<stablehlo::ConstantOp>(
        op, type, {},
        named("value", DenseElementsAttr::get(type, int32_t(size->values[0]))));
  }

  LogicalResult replaceSetSize(stablehlo::SetDimensionSizeOp op) {
    auto size = fold(op, 1);
    if (failed(size))
      return failure();
    RankedTensorType type = tensorOf(op->getOperand(0));
    int64_t dim = int64_t(op.getDimension());
    if (dim < 0 || dim >= type.getRank() || size->size() != 1 ||
        size->front() < 0 || size->front() > type.getDimSize(dim))
      return op->emitError("sets a dim of a ")
             << type << " to " << toString(*size);
    Shape begin(type.getRank(), 0), end(type.getShape()),
        step(type.getRank(), 1);
    end[dim] = size->front();
    if (!agrees(end, tensorOf(op->getResult(0))))
      return op->emitError("gives the shape [")
             << toString(end) << "], but its type says "
             << op->getResult(0).getType();
    auto list = [&](ArrayRef<int64_t> numbers) {
      return DenseI64ArrayAttr::get(op->getContext(), numbers);
    };
    return become<stablehlo::SliceOp>(
        op, RankedTensorType::get(end, type.getElementType()),
        op->getOperand(0),
        {named("start_indices", list(begin)), named("limit_indices", list(end)),
         named("strides", list(step))});
  }

  LogicalResult replaceConvolution(stablehlo::DynamicConvOp op) {
    auto padding = fold(op, 2);
    if (failed(padding))
      return failure();
    size_t spatial =
        op.getDimensionNumbers().getInputSpatialDimensions().size();
    if (padding->size() != 2 * spatial)
      return op.emitError("pads ")
             << spatial << " dims by " << padding->size() << " numbers";
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : op->getAttrs())
      attributes.push_back(attribute);
    auto pairs = RankedTensorType::get({int64_t(padding->size() / 2), 2},
                                       IntegerType::get(op->getContext(), 64));
    attributes.push_back(named(
        "padding", DenseElementsAttr::get(pairs, ArrayRef<int64_t>(*padding))));
    OperationState state(op.getLoc(), "stablehlo.convolution",
                         op->getOperands().take_front(2), op.getType(),
                         attributes);
    OpBuilder b(op);
    Operation *updated = b.create(state);
    op->replaceAllUsesWith(updated);
    numbers.forget(op);
    op.erase();
    return giveShapes(updated);
  }

  LogicalResult replacePad(Operation *op) {
    if (op->getNumOperands() != 5)
      return op->emitError("takes a value, what pads it and three shapes");
    auto low = folded(op, 2), high = folded(op, 3), interior = folded(op, 4);
    if (failed(low) || failed(high) || failed(interior))
      return failure();
    RankedTensorType from = tensorOf(op->getOperand(0));
    int64_t rank = from.getRank();
    if (low->size() != rank || high->size() != rank || interior->size() != rank)
      return op->emitError("the paddings do not fit ") << from;
    Shape shape;
    for (int64_t d = 0; d < rank; ++d) {
      int64_t extent = from.getDimSize(d);
      shape.push_back((*low)[d] + (*high)[d] + extent +
                      std::max<int64_t>(extent - 1, 0) * (*interior)[d]);
    }
    if (!agrees(shape, tensorOf(op->getResult(0))))
      return op->emitError("gives the shape [")
             << toString(shape) << "], but its type says "
             << op->getResult(0).getType();
    return become<stablehlo::PadOp>(
        op, RankedTensorType::get(shape, from.getElementType()),
        op->getOperands().take_front(2),
        {named("edge_padding_low", *low), named("edge_padding_high", *high),
         named("interior_padding", *interior)});
  }

  /// A slice whose size is known, but not where it begins: its limit is its
  /// start and a size.
  std::optional<LogicalResult> replaceMovingSlice(Operation *op) {
    Value start = op->getOperand(1);
    auto limit = op->getOperand(2).getDefiningOp<stablehlo::AddOp>();
    auto strides = numbers.of(op->getOperand(3));
    RankedTensorType from = tensorOf(op->getOperand(0)), at = tensorOf(start);
    if (numbers.of(start) || !limit || !strides ||
        llvm::any_of(strides->values, [](int64_t s) { return s != 1; }))
      return std::nullopt;
    Value size = limit.getLhs() == start   ? limit.getRhs()
                 : limit.getRhs() == start ? limit.getLhs()
                                           : Value();
    auto sizes = size ? numbers.of(size) : std::nullopt;
    if (!sizes || int64_t(sizes->values.size()) != from.getRank() ||
        at.getRank() != 1 || at.getDimSize(0) != from.getRank() ||
        !agrees(sizes->values, tensorOf(op->getResult(0))))
      return std::nullopt;
    OpBuilder b(op);
    auto make = [&](StringRef name, Type type, Value operand,
                    ArrayRef<NamedAttribute> attributes) {
      OperationState state(op->getLoc(), name, operand, type, attributes);
      return b.create(state)->getResult(0);
    };
    SmallVector<Value> operands{op->getOperand(0)};
    for (int64_t d = 0; d < from.getRank(); ++d) {
      auto list = [&](int64_t number) {
        return b.getDenseI64ArrayAttr(number);
      };
      Value entry = make("stablehlo.slice",
                         RankedTensorType::get(1, at.getElementType()), start,
                         {named("start_indices", list(d)),
                          named("limit_indices", list(d + 1)),
                          named("strides", list(1))});
      operands.push_back(make("stablehlo.reshape",
                              RankedTensorType::get({}, at.getElementType()),
                              entry, {}));
    }
    return become<stablehlo::DynamicSliceOp>(
        op, RankedTensorType::get(sizes->values, from.getElementType()),
        operands, named("slice_sizes", b.getDenseI64ArrayAttr(sizes->values)));
  }

  LogicalResult replaceSlice(Operation *op) {
    if (op->getNumOperands() != 4)
      return op->emitError("takes a value and three shapes");
    if (auto done = replaceMovingSlice(op))
      return *done;
    auto start = folded(op, 1), limit = folded(op, 2), strides = folded(op, 3);
    if (failed(start) || failed(limit) || failed(strides))
      return failure();
    RankedTensorType from = tensorOf(op->getOperand(0));
    int64_t rank = from.getRank();
    if (start->size() != rank || limit->size() != rank ||
        strides->size() != rank ||
        llvm::any_of(strides->asArrayRef(), [](int64_t s) { return s < 1; }))
      return op->emitError("the bounds and strides do not fit ") << from;
    Shape shape;
    for (int64_t d = 0; d < rank; ++d)
      shape.push_back(
          llvm::divideCeil((*limit)[d] - (*start)[d], (*strides)[d]));
    if (!agrees(shape, tensorOf(op->getResult(0))))
      return op->emitError("gives the shape [")
             << toString(shape) << "], but its type says "
             << op->getResult(0).getType();
    return become<stablehlo::SliceOp>(
        op, RankedTensorType::get(shape, from.getElementType()),
        op->getOperand(0),
        {named("start_indices", *start), named("limit_indices", *limit),
         named("strides", *strides)});
  }

  /// The last operands of a custom call may be the shapes of its results.
  LogicalResult dropShapeOperands(stablehlo::CustomCallOp op) {
    constexpr StringRef name = "indices_of_shape_operands";
    auto indices = op->getAttrOfType<mlir::DenseIntElementsAttr>(name);
    if (!indices || indices.getNumElements() != op->getNumResults())
      return success();
    llvm::BitVector gone(op->getNumOperands());
    for (auto [result, index] :
         llvm::zip_equal(op->getResults(), indices.getValues<llvm::APInt>())) {
      uint64_t i = index.getZExtValue();
      if (i >= op->getNumOperands() || !tensorOf(result))
        return op.emitError("has no operand ") << i << " for a result's shape";
      auto shape = fold(op, unsigned(i));
      if (failed(shape))
        return failure();
      if (!agrees(*shape, tensorOf(result)))
        return op.emitError("operand #")
               << i << " is the shape [" << toString(*shape)
               << "], which does not fit " << result.getType();
      result.setType(tensorOf(result).clone(*shape));
      gone.set(unsigned(i));
    }
    op->eraseOperands(gone);
    op->removeAttr(name);
    // One entry an operand; there are layouts of all or of none.
    op.removeOperandLayoutsAttr();
    op.removeResultLayoutsAttr();
    return success();
  }

  /// JAX's form of reduce_window: inputs, their initial values, and five lists
  /// that are attributes else.
  LogicalResult visitReduceWindow(stablehlo::CustomCallOp op) {
    size_t count = op->getNumResults();
    auto computations = op.getCalledComputations();
    auto symbol = computations && computations->size() == 1
                      ? dyn_cast<mlir::FlatSymbolRefAttr>((*computations)[0])
                      : mlir::FlatSymbolRefAttr();
    auto reducer =
        symbol ? symbols.lookup<FuncOp>(symbol.getValue()) : FuncOp();
    if (count == 0 || op->getNumOperands() != 2 * count + 5 || !reducer ||
        reducer.isExternal() || !reducer.getBody().hasOneBlock())
      return op.emitError("takes inputs, initial values, five lists and a "
                          "reducer");
    SmallVector<NamedAttribute> attributes;
    for (auto [i, name] : llvm::enumerate(
             ArrayRef<StringRef>{"window_dimensions", "window_strides",
                                 "base_dilations", "window_dilations"})) {
      auto list = folded(op, unsigned(2 * count + i));
      if (failed(list))
        return failure();
      attributes.push_back(named(name, *list));
    }
    auto padding = fold(op, unsigned(2 * count + 4));
    if (failed(padding))
      return failure();
    auto pairs = RankedTensorType::get({int64_t(padding->size() / 2), 2},
                                       IntegerType::get(op->getContext(), 64));
    attributes.push_back(named(
        "padding", DenseElementsAttr::get(pairs, ArrayRef<int64_t>(*padding))));
    OperationState state(op.getLoc(), "stablehlo.reduce_window",
                         op->getOperands().take_front(2 * count),
                         op->getResultTypes(), attributes);
    state.addRegion();
    OpBuilder b(op);
    Operation *updated = b.create(state);
    mlir::IRMapping mapping;
    reducer.getBody().cloneInto(&updated->getRegion(0), mapping);
    Operation *end = updated->getRegion(0).front().getTerminator();
    b.setInsertionPoint(end);
    b.create<stablehlo::ReturnOp>(end->getLoc(), end->getOperands());
    end->erase();
    op->replaceAllUsesWith(updated);
    numbers.forget(op);
    op.erase();
    return giveShapes(updated);
  }

  ModuleOp module;
  mlir::SymbolTable symbols;
  ConstantNumbers numbers;
};
} // namespace

LogicalResult importer::makeShapesStatic(ModuleOp module) {
  SmallVector<FuncOp> functions;
  for (auto func : module.getOps<FuncOp>())
    if (!func.isExternal() && !func.isPrivate() &&
        llvm::none_of(func.getArgumentTypes(), isDynamic))
      functions.push_back(func);
  StaticShapes shapes(module);
  for (FuncOp func : functions)
    if (failed(shapes.run(func)))
      return failure();
  return success();
}
