// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One walk over the function: every tensor value is a buffer, every op a step.
//   dtensor.constant     constant data
//   dtensor.dot_general  a product by the runtime's library
//   spmd.kernel          a kernel
//   spmd.library_call    a kernel that is a function of the runtime, or a loop
//                        that is compiled whole
//   spmd collectives     a collective
//   dtensor.while, case  a loop or branch with steps of its own
#include "meshloom/Targets/Kernels/ToProgram.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/SPMD/Signature.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"
#include "meshloom/Targets/Kernels/KernelSymbol.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

#include "llvm/ADT/StringSet.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using mlir::AffineExpr;
using mlir::AffineMap;
using spmd::KernelOp;

/// Adds a linear affine expression.
static void addTerms(AffineExpr expr, int64_t factor, DimAccess &access) {
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(expr)) {
    access.offset += factor * constant.getValue();
  } else if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr)) {
    access.terms.emplace_back(dim.getPosition(), factor);
  } else {
    auto binary = cast<mlir::AffineBinaryOpExpr>(expr);
    if (binary.getKind() == mlir::AffineExprKind::Mul) {
      auto constant = cast<mlir::AffineConstantExpr>(binary.getRHS());
      return addTerms(binary.getLHS(), factor * constant.getValue(), access);
    }
    addTerms(binary.getLHS(), factor, access);
    addTerms(binary.getRHS(), factor, access);
  }
}

DimAccess meshloom::linearAccess(AffineExpr index) {
  DimAccess access;
  addTerms(index, 1, access);
  return access;
}

namespace {

/// The elements of a constant as a runtime stores them.
std::vector<char> bytesOf(mlir::ElementsAttr value, DType type, bool splat) {
  std::vector<char> bytes;
  auto append = [&](const llvm::APInt &bits) {
    uint64_t word = bits.getZExtValue();
    const char *begin = reinterpret_cast<const char *>(&word);
    bytes.insert(bytes.end(), begin, begin + byteWidth(partOf(type)));
  };
  auto dense = cast<DenseElementsAttr>(value);
  if (isComplex(type)) {
    auto appendBoth = [&](const std::complex<llvm::APFloat> &number) {
      append(number.real().bitcastToAPInt());
      append(number.imag().bitcastToAPInt());
    };
    using Complex = std::complex<llvm::APFloat>;
    if (splat)
      appendBoth(dense.getSplatValue<Complex>());
    else
      for (Complex element : dense.getValues<Complex>())
        appendBoth(element);
  } else if (isFloat(type)) {
    if (splat)
      append(dense.getSplatValue<llvm::APFloat>().bitcastToAPInt());
    else
      for (llvm::APFloat element : dense.getValues<llvm::APFloat>())
        append(element.bitcastToAPInt());
  } else if (splat) {
    append(dense.getSplatValue<llvm::APInt>());
  } else {
    for (const llvm::APInt &element : dense.getValues<llvm::APInt>())
      append(element);
  }
  return bytes;
}

class Lowering {
public:
  Lowering(mlir::func::FuncOp func, const Signature &signature, bool hasCode)
      : func(func), signature(signature), hasCode(hasCode),
        lowered{Program{.name = signature.name,
                        .mesh = signature.mesh,
                        .buffers = {},
                        .constants = {},
                        .arguments = {},
                        .results = {},
                        .steps = {},
                        .deviceOrder = signature.deviceOrder,
                        .deterministic = isDeterministic(func)},
                {}},
        program(lowered.program) {}

  FailureOr<LoweredProgram> run() {
    if (failed(arguments()))
      return failure();
    if (failed(block(func.getBody().front())))
      return failure();
    results();
    lowered.buffers = std::move(buffers);
    return std::move(lowered);
  }

private:
  FailureOr<unsigned> bufferFor(Value value, std::string name) {
    Operation *op = value.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !isShard(type) || !dtypeOf(type.getElementType())) {
      InFlightDiagnostic error =
          op ? op->emitOpError() : func.emitOpError("argument ");
      return error << "has type " << value.getType()
                   << ", no local tensor of a program";
    }
    SmallVector<int64_t> shape = globalShape(type);
    unsigned index = program.buffers.size();
    program.buffers.push_back(
        BufferDecl{std::move(name), *dtypeOf(type.getElementType()),
                   Shape(shape.begin(), shape.end()), spmd::layoutOf(type),
                   spmd::windowsOf(type)});
    buffers[value] = index;
    return index;
  }

  LogicalResult arguments() {
    for (auto [argument, entry] :
         llvm::zip_equal(func.getArguments(), signature.arguments)) {
      auto buffer = bufferFor(argument, entry.name);
      if (failed(buffer))
        return failure();
      program.arguments.push_back(
          {*buffer, entry.name, writtenOn(entry.type.layout), entry.notes});
    }
    return success();
  }

  void results() {
    Operation *ret = func.getBody().front().getTerminator();
    for (auto [value, entry] :
         llvm::zip_equal(ret->getOperands(), signature.results))
      program.results.push_back({buffers.lookup(value), entry.aliasedArgument,
                                 entry.name, writtenOn(entry.type.layout)});
  }

  std::optional<Layout> writtenOn(const Layout &layout) const {
    if (layout.mesh() == program.mesh)
      return std::nullopt;
    return layout;
  }

  LogicalResult block(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(step(&op)))
        return failure();
    return success();
  }

  /// The steps of a block inside an op.
  LogicalResult block(Block &inner, std::vector<Step> &into) {
    std::vector<Step> *outer = std::exchange(steps, &into);
    LogicalResult status = block(inner);
    steps = outer;
    return status;
  }

  LogicalResult step(Operation *op) {
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      std::string name = op->getName().stripDialect().str() + " " +
                         std::to_string(program.buffers.size());
      if (failed(bufferFor(result, name)))
        return failure();
    }
    if (auto constant = dyn_cast<ConstantOp>(op))
      return add(constant);
    if (auto dot = dyn_cast<DotGeneralOp>(op))
      return add(dot);
    if (auto kernel = dyn_cast<KernelOp>(op))
      return add(kernel);
    if (auto call = dyn_cast<spmd::LibraryCallOp>(op))
      return add(call);
    if (auto collective = dyn_cast<spmd::CollectiveOpInterface>(op))
      return add(collective);
    if (auto loop = dyn_cast<WhileOp>(op))
      return add(loop);
    if (auto branch = dyn_cast<CaseOp>(op))
      return add(branch);
    return op->emitOpError(
        "is not a step of a program: it should have become part of a kernel");
  }

  SourceNote note(Operation *op) {
    std::string name = op->getName().stripDialect().str();
    if (auto ops = op->getAttrOfType<StringAttr>("ops"))
      name = ops.str();
    else if (auto call = dyn_cast<spmd::LibraryCallOp>(op))
      name = call.getCallee().str();
    return {sourcePosition(op->getLoc()).value_or("unknown"), name};
  }

  LogicalResult add(ConstantOp op) {
    unsigned buffer = buffers.lookup(op.getResult());
    bool splat = isa<mlir::SplatElementsAttr>(op.getValue());
    if (!isa<DenseElementsAttr>(op.getValue()))
      return op.emitOpError("has a value that is not dense");
    program.constants.push_back(
        {buffer, bytesOf(op.getValue(), program.buffers[buffer].type, splat),
         splat});
    return success();
  }

  Operand operand(Value value, AffineMap map) {
    Operand result{buffers.lookup(value), {}};
    for (AffineExpr expr : map.getResults())
      result.dims.push_back(linearAccess(expr));
    return result;
  }

  /// The loops, operands and note of a kernel or a library call.
  template <typename Op> KernelStep kernelStep(Op op) {
    KernelStep step;
    auto axes = op.getAxisIndices();
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      step.loops.push_back({op.getExtents()[loop],
                            op.getReductions()[loop],
                            {axes[loop].begin(), axes[loop].end()},
                            op.getLoopRanges(loop)});
    for (auto [i, value] : llvm::enumerate(op.getInputs()))
      step.inputs.push_back(operand(value, op.getInputAccess(i)));
    for (auto [i, value] : llvm::enumerate(op.getOutputs()))
      step.outputs.push_back(operand(value, op.getOutputAccess(i)));
    step.inPlace.assign(op.getInPlace().begin(), op.getInPlace().end());
    step.note = note(op);
    return step;
  }

  /// `op`: a kernel, or the call of a loop or rows that are compiled whole.
  std::string addCode(Operation *op) {
    if (!hasCode)
      return "planned";
    std::string symbol = kernelSymbol(op);
    if (symbols.insert(symbol).second)
      lowered.kernels.emplace_back(symbol, op);
    return symbol;
  }

  /// How parts of the reduction loops combine. Not where sums and products are
  /// kept wider than the result, which each part would round.
  static std::optional<ReduceKind> combineOf(spmd::Reducer reducer, Type type) {
    Type element = partTypeOf(type);
    if (element.isBF16() || element.isF16() ||
        (element.isF32() && reducer == spmd::Reducer::Prod))
      return std::nullopt;
    switch (reducer) {
    case spmd::Reducer::Sum:
      return ReduceKind::Sum;
    case spmd::Reducer::Prod:
      return ReduceKind::Prod;
    case spmd::Reducer::Min:
      return ReduceKind::Min;
    case spmd::Reducer::Max:
      return ReduceKind::Max;
    case spmd::Reducer::And:
      return ReduceKind::And;
    case spmd::Reducer::Or:
      return ReduceKind::Or;
    case spmd::Reducer::None:
    case spmd::Reducer::ArgMax:
    case spmd::Reducer::ArgMin:
      return std::nullopt;
    }
    llvm_unreachable("covered");
  }

  LogicalResult add(KernelOp op) {
    KernelStep step = kernelStep(op);
    if (llvm::is_contained(op.getReductions(), true)) {
      for (auto [reducer, value] :
           llvm::zip_equal(op.getReducers(), op.getOutputs()))
        if (auto kind = combineOf(spmd::Reducer(reducer), value.getType()))
          step.combine.push_back(*kind);
      if (step.combine.size() < step.outputs.size())
        step.combine.clear();
    }
    for (unsigned i = 0; i < step.inputs.size(); ++i)
      step.inputs[i].guarded = op.isGuarded(i);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      step.loops[loop].held = op.isHeld(loop);
    step.symbol = addCode(op);
    step.flops = flopsOf(op);
    if (isSmall(op))
      step.options.emplace("interpreted", interpretedCost(op));
    steps->push_back(std::move(step));
    return success();
  }

  /// The verifier has seen to it that it is one of these.
  static LibraryOption optionOf(Attribute value) {
    if (auto truth = dyn_cast<mlir::BoolAttr>(value))
      return int64_t(truth.getValue());
    if (auto number = dyn_cast<IntegerAttr>(value))
      return number.getInt();
    if (auto text = dyn_cast<StringAttr>(value))
      return text.str();
    return std::vector<int64_t>(cast<DenseI64ArrayAttr>(value).asArrayRef());
  }

  LogicalResult add(spmd::LibraryCallOp op) {
    KernelStep step = kernelStep(op);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      step.loops[loop].held = op.getHeld()[loop];
      step.loops[loop].ranges = op.getLoopRanges(loop);
    }
    step.flops = op.getFlops();
    if (std::optional<DictionaryAttr> options = op.getOptions())
      for (NamedAttribute option : *options)
        step.options.emplace(option.getName().str(),
                             optionOf(option.getValue()));
    // Code that is made for the region, not a function of the runtime.
    if (op.getCallee() == "loop" || op.getCallee() == "rows") {
      step.symbol = addCode(op);
      steps->push_back(std::move(step));
      return success();
    }
    step.library = op.getCallee().str();
    if (KernelOp scalar = op.getScalarKernel())
      step.symbol = addCode(scalar);
    steps->push_back(std::move(step));
    return success();
  }

  /// Loops: the result's dims (batch, rows, columns), then the contracted ones.
  LogicalResult add(DotGeneralOp op) {
    DotStep step;
    const BufferDecl &out = program.buffers[buffers.lookup(op.getResult())];
    const BufferDecl &lhs = program.buffers[buffers.lookup(op.getLhs())];
    const BufferDecl &rhs = program.buffers[buffers.lookup(op.getRhs())];
    auto addLoop = [&](const BufferDecl &decl, unsigned dim, bool reduction) {
      auto axes = decl.layout.axes(dim);
      step.loops.push_back(
          {decl.shape[dim], reduction, {axes.begin(), axes.end()}});
      return unsigned(step.loops.size() - 1);
    };
    step.lhs = {buffers.lookup(op.getLhs()),
                std::vector<DimAccess>(lhs.shape.size())};
    step.rhs = {buffers.lookup(op.getRhs()),
                std::vector<DimAccess>(rhs.shape.size())};
    step.out = {buffers.lookup(op.getResult()), {}};
    for (unsigned dim = 0; dim < out.shape.size(); ++dim)
      step.out.dims.push_back({0, {{addLoop(out, dim, false), 1}}});
    auto index = [](Operand &operand, int64_t dim, unsigned loop) {
      operand.dims[dim].terms = {{loop, 1}};
    };
    unsigned next = 0;
    for (auto [l, r] : llvm::zip(op.getLhsBatchingDimensions(),
                                 op.getRhsBatchingDimensions())) {
      index(step.lhs, l, next);
      index(step.rhs, r, next++);
    }
    for (int64_t l : op.getLhsFreeDimensions())
      index(step.lhs, l, next++);
    for (int64_t r : op.getRhsFreeDimensions())
      index(step.rhs, r, next++);
    for (auto [l, r] : llvm::zip(op.getLhsContractingDimensions(),
                                 op.getRhsContractingDimensions())) {
      unsigned loop = addLoop(lhs, l, true);
      index(step.lhs, l, loop);
      index(step.rhs, r, loop);
    }
    // The first loops are the result's dims.
    if (auto read = op->getAttrOfType<mlir::IntegerSetAttr>("spmd.read_where"))
      step.readWhere = linearAccess(read.getValue().getConstraint(0));
    step.note = note(op);
    steps->push_back(std::move(step));
    return success();
  }

  LogicalResult add(spmd::CollectiveOpInterface op) {
    CollectiveStep step;
    step.kind = op.getCollectiveKind();
    auto axes = op.getAxisIndices();
    step.axes.assign(axes.begin(), axes.end());
    step.reduce = op.getReduceKind().value_or(ReduceKind::Sum);
    for (auto [from, to] : llvm::zip(op.getInputs(), op.getOutputs()))
      step.moves.push_back({buffers.lookup(from), buffers.lookup(to)});
    step.reason = op.getReason().value_or("").str();
    step.note = note(op);
    steps->push_back(std::move(step));
    return success();
  }

  LogicalResult add(WhileOp op) {
    LoopStep step;
    for (unsigned i = 0; i < op.getNumResults(); ++i) {
      auto argument =
          bufferFor(op.getConditionArgument(i),
                    "carried " + std::to_string(program.buffers.size()));
      if (failed(argument))
        return failure();
      buffers[op.getBodyArgument(i)] = *argument;
      step.carried.push_back({buffers.lookup(op.getInits()[i]), *argument, 0,
                              buffers.lookup(op.getResult(i))});
    }
    if (failed(block(op.getCondition().front(), step.condition)) ||
        failed(block(op.getBody().front(), step.body)))
      return failure();
    step.predicate = buffers.lookup(op.getConditionYield().getOperand(0));
    for (auto [carry, next] :
         llvm::zip_equal(step.carried, op.getBodyYield().getOperands()))
      carry.next = buffers.lookup(next);
    if (auto count = op->getAttrOfType<IntegerAttr>("dtensor.trip_count"))
      step.tripCount = count.getInt();
    step.note = note(op);
    steps->push_back(std::move(step));
    return success();
  }

  LogicalResult add(CaseOp op) {
    BranchStep step;
    step.index = buffers.lookup(op.getIndex());
    step.branches.resize(op.getBranches().size());
    for (Value result : op.getResults())
      step.outputs.push_back({buffers.lookup(result), {}});
    for (unsigned b = 0; b < step.branches.size(); ++b) {
      if (failed(block(op.getBranches()[b].front(), step.branches[b])))
        return failure();
      for (auto [output, value] :
           llvm::zip_equal(step.outputs, op.getYield(b).getOperands()))
        output.values.push_back(buffers.lookup(value));
    }
    step.note = note(op);
    steps->push_back(std::move(step));
    return success();
  }

  mlir::func::FuncOp func;
  const Signature &signature;
  const bool hasCode;
  LoweredProgram lowered;
  Program &program;
  /// The list that steps are appended to.
  std::vector<Step> *steps = &program.steps;
  DenseMap<Value, unsigned> buffers;
  llvm::StringSet<> symbols;
};
} // namespace

FailureOr<LoweredProgram> meshloom::toProgram(mlir::func::FuncOp func,
                                              bool hasCode) {
  FailureOr<Signature> signature = signatureOf(func);
  if (failed(signature))
    return failure();
  return Lowering(func, *signature, hasCode).run();
}
