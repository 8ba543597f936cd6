// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a function op by op: looks each up in the table of op functions, and
// frees a value after its last use.
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "Ops.h"
#include "meshloom/Dialect/DTensor/Callback.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace meshloom {
namespace interpreter {

DType elementType(Type type) {
  Type element = mlir::getElementTypeOrSelf(type);
  if (element.isF32())
    return DType::F32;
  if (element.isF64())
    return DType::F64;
  if (element.isBF16())
    return DType::BF16;
  if (element.isF16())
    return DType::F16;
  if (auto complex = dyn_cast<mlir::ComplexType>(element))
    return complex.getElementType().isF32() ? DType::C64 : DType::C128;
  bool isUnsigned = element.isUnsignedInteger();
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return DType::I1;
  case 8:
    return isUnsigned ? DType::UI8 : DType::I8;
  case 16:
    return isUnsigned ? DType::UI16 : DType::I16;
  case 32:
    return isUnsigned ? DType::UI32 : DType::I32;
  default:
    return isUnsigned ? DType::UI64 : DType::I64;
  }
}

Shape shapeOf(Type type) {
  if (auto variable = dyn_cast<dtensor::VariableType>(type))
    type = variable.getTensorType();
  auto shape = cast<RankedTensorType>(type).getShape();
  return Shape(shape.begin(), shape.end());
}

HostValue Call::result(unsigned i) const {
  Type type = op->getResult(i).getType();
  return HostValue(elementType(type), shapeOf(type));
}

double Call::partialSum(double sum) const {
  if (rounding == Rounding::ByConvert)
    return sum;
  const DType type = elementType(op->getResult(0).getType());
  return type == DType::F64 || type == DType::C128 ? sum : double(float(sum));
}

int64_t Call::integer(StringRef attribute) const {
  return op->getAttrOfType<IntegerAttr>(attribute).getInt();
}

std::vector<int64_t> Call::integers(StringRef attribute) const {
  auto array = op->getAttrOfType<DenseI64ArrayAttr>(attribute);
  return array ? std::vector<int64_t>(array.asArrayRef())
               : std::vector<int64_t>();
}

} // namespace interpreter

using namespace interpreter;

static const OpTable &opTable() {
  static const auto &table = *new OpTable([] {
    OpTable ops;
    addElementwiseOps(ops);
    addBitOps(ops);
    addMovementOps(ops);
    addReductionOps(ops);
    addRandomOps(ops);
    addWindowOps(ops);
    addIndexOps(ops);
    addOrderOps(ops);
    addLinearAlgebraOps(ops);
    addDecompositionOps(ops);
    addEigenvalueOps(ops);
    addReflectionOps(ops);
    return ops;
  }());
  return table;
}

dtensor::HostFunction interpreter::hostFunctionOf(mlir::OperationName name) {
  auto *elementwise = name.getInterface<dtensor::ElementwiseOpInterface>();
  return elementwise ? elementwise->getHostFunction() : nullptr;
}

/// The function that runs ops of that name, or null.
static OpFunction functionOf(mlir::OperationName name) {
  if (OpFunction function = opTable().lookup(name.getStringRef()))
    return function;
  return hostFunctionOf(name) ? applyHostFunction : nullptr;
}

bool isInterpreted(mlir::OperationName name) {
  return functionOf(name);
}

/// `name`, or where that is empty `main` or the only function.
static Result<mlir::func::FuncOp> findFunction(ModuleOp module,
                                               StringRef name) {
  auto functions = llvm::to_vector(module.getOps<mlir::func::FuncOp>());
  std::string names;
  for (mlir::func::FuncOp function : functions) {
    if (function.getName() == (name.empty() ? "main" : name))
      return function;
    names += (names.empty() ? "" : ", ") + function.getName().str();
  }
  if (name.empty() && functions.size() == 1)
    return functions.front();
  if (name.empty())
    return Error("the module has no function 'main', but " +
                 (names.empty() ? "no function at all" : names) +
                 ": name the function to run");
  return Error(fmt::format("the module has no function '{}' (it has: {})",
                           std::string_view(name), names));
}

static std::string locationOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << op->getLoc();
  return text;
}

static Result<ValueSignature> signature(Type type, std::string name) {
  Type tensor = type;
  if (auto variable = dyn_cast<dtensor::VariableType>(type))
    tensor = variable.getTensorType();
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  if (ranked && ranked.hasStaticShape() &&
      dtensor::dtypeOf(ranked.getElementType()))
    return ValueSignature{elementType(ranked), shapeOf(ranked),
                          std::move(name)};
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return Error(fmt::format("{} has the unsupported type {}", name, text));
}

/// The variable arguments that some op assigns, in argument order.
static SmallVector<BlockArgument>
assignedVariables(mlir::func::FuncOp function) {
  SmallVector<BlockArgument> assigned;
  for (BlockArgument argument : function.getArguments())
    if (llvm::any_of(argument.getUsers(), [](Operation *user) {
          return isa<dtensor::AssignVariableOp>(user);
        }))
      assigned.push_back(argument);
  return assigned;
}

Result<FunctionSignature> signatureOf(ModuleOp module, StringRef name) {
  auto function = findFunction(module, name);
  if (!function)
    return function.error();
  if (function->isExternal())
    return Error(fmt::format("function '{}' has no body",
                             std::string_view(function->getName())));
  FunctionSignature result{function->getName().str(), {}, {}};
  std::optional<Error> failure;
  auto add = [&](std::vector<ValueSignature> &to, Type type, std::string name) {
    Result<ValueSignature> value = signature(type, std::move(name));
    if (value)
      to.push_back(std::move(*value));
    else if (!failure)
      failure = value.error();
  };
  for (auto [i, type] : llvm::enumerate(function->getArgumentTypes())) {
    auto name = function->getArgAttrOfType<StringAttr>(i, dtensor::nameAttr);
    add(result.arguments, type,
        name ? fmt::format("argument {} ('{}')", i, name.str())
             : fmt::format("argument {}", i));
  }
  for (auto [i, type] : llvm::enumerate(function->getResultTypes()))
    add(result.results, type, fmt::format("result {}", i));
  for (BlockArgument variable : assignedVariables(*function))
    add(result.results, variable.getType(),
        fmt::format("variable {}", variable.getArgNumber()));
  if (failure)
    return *failure;
  return result;
}

namespace {

/// One run of a function's block.
class Frame {
public:
  explicit Frame(Block &block, Rounding rounding = Rounding::ByConvert)
      : rounding(rounding) {
    for (Operation &op : block)
      for (Value used : uses(op))
        ++usesLeft[used];
  }

  /// Ops of the block, and of those inside of it, that nothing is made of are
  /// not run: the compiler leaves them out, too, however large they are.
  void leaveOutUnused(Block &block) {
    auto isLeftOut = [&](Operation *user) {
      for (; user; user = user->getParentOp())
        if (unused.contains(user))
          return true;
      return false;
    };
    for (Operation &op : llvm::reverse(block)) {
      if (op.getNumResults() > 0 && mlir::isMemoryEffectFree(&op) &&
          llvm::all_of(op.getUsers(), isLeftOut)) {
        unused.insert(&op);
        // The values that an op in a loop or branch uses count as uses of that.
        if (isa<mlir::func::FuncOp>(op.getParentOp()))
          for (Value used : uses(op))
            --usesLeft[used];
        continue;
      }
      if (isa<dtensor::WhileOp, dtensor::CaseOp>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            leaveOutUnused(inner);
    }
  }

  void set(Value value, HostValue contents) {
    values[value] = std::make_shared<const HostValue>(std::move(contents));
  }
  const HostValue &get(Value value) const { return *values.at(value); }

  /// Runs everything but the terminator.
  Status run(Operation &op) {
    if (unused.contains(&op))
      return Success();
    if (auto read = dyn_cast<dtensor::ReadVariableOp>(op)) {
      values[op.getResult(0)] = values.at(op.getOperand(0));
      return Success();
    }
    if (auto assign = dyn_cast<dtensor::AssignVariableOp>(op)) {
      values[op.getOperand(0)] = values.at(op.getOperand(1));
      return Success();
    }
    if (auto loop = dyn_cast<dtensor::WhileOp>(op))
      return run(loop);
    if (auto branch = dyn_cast<dtensor::CaseOp>(op))
      return run(branch);
    if (isa<dtensor::CustomCallOp>(op)) {
      Result<Values> results = runCustomCall(callOf(op));
      if (!results)
        return results.error();
      for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
        setResult(result, std::move(value));
      return Success();
    }
    // The reference computes: what the host sees happens in the program's run.
    if (isa<dtensor::CallbackOp>(op) && op.getNumResults() == 1) {
      set(op.getResult(0), callOf(op).result(0));
      return Success();
    }
    if (isa<dtensor::CallbackOp>(op))
      return Error(fmt::format("the reference interpreter cannot know the "
                               "results of a callback ({})",
                               locationOf(&op)));
    OpFunction function = functionOf(op.getName());
    if (!function)
      return Error(fmt::format("the reference interpreter cannot run '{}' ({})",
                               std::string_view(op.getName().getStringRef()),
                               locationOf(&op)),
                   ErrorCode::UNIMPLEMENTED);
    Values results;
    try {
      results = function(callOf(op));
    } catch (const std::bad_alloc &) {
      return Error(fmt::format("the reference interpreter, which keeps whole "
                               "tensors in f64, has "
                               "not enough memory for the '{}' at {}",
                               std::string_view(op.getName().getStringRef()),
                               locationOf(&op)),
                   ErrorCode::RESOURCE_EXHAUSTED);
    }
    for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
      setResult(result, std::move(value));
    return Success();
  }

  /// Frees what `op` was the last to use; variables live on.
  void release(Operation &op) {
    if (unused.contains(&op))
      return;
    for (Value result : op.getResults())
      if (usesLeft.lookup(result) == 0)
        values.erase(result);
    for (Value used : uses(op))
      if (--usesLeft[used] == 0 && !isa<dtensor::VariableType>(used.getType()))
        values.erase(used);
  }

private:
  void setResult(Value result, HostValue contents) {
    if (rounding == Rounding::ByEachOp)
      for (std::vector<double> *part :
           {&contents.floats, &contents.imaginaries})
        for (double &x : *part)
          x = roundToType(contents.type, x);
    set(result, std::move(contents));
  }

  Call callOf(Operation &op) const {
    Call call{&op, {}, rounding};
    for (Value operand : op.getOperands())
      call.operands.push_back(&get(operand));
    return call;
  }

  /// Operands, and what the regions of a loop or branch use from outside.
  static SmallVector<Value> uses(Operation &op) {
    SmallVector<Value> values(op.getOperands());
    if (isa<dtensor::WhileOp, dtensor::CaseOp>(op))
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (inner != &op &&
              !op.isAncestor(operand.getParentBlock()->getParentOp()))
            values.push_back(operand);
      });
    return values;
  }

  Status runBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      if (Status done = run(op); !done)
        return done;
    return Success();
  }

  Status run(dtensor::WhileOp loop) {
    std::vector<std::shared_ptr<const HostValue>> carried;
    for (Value init : loop.getInits())
      carried.push_back(values.at(init));
    while (true) {
      for (auto [i, value] : llvm::enumerate(carried)) {
        values[loop.getConditionArgument(i)] = value;
        values[loop.getBodyArgument(i)] = value;
      }
      if (Status done = runBlock(loop.getCondition().front()); !done)
        return done;
      if (get(loop.getConditionYield().getOperand(0)).ints[0] == 0)
        break;
      if (Status done = runBlock(loop.getBody().front()); !done)
        return done;
      for (auto [i, next] : llvm::enumerate(loop.getBodyYield().getOperands()))
        carried[i] = values.at(next);
    }
    for (auto [result, value] : llvm::zip_equal(loop.getResults(), carried))
      values[result] = value;
    return Success();
  }

  Status run(dtensor::CaseOp branch) {
    int64_t last = int64_t(branch.getBranches().size()) - 1;
    int64_t chosen = get(branch.getIndex()).ints[0];
    if (chosen < 0 || chosen > last)
      chosen = last;
    if (Status done = runBlock(branch.getBranches()[chosen].front()); !done)
      return done;
    for (auto [result, value] :
         llvm::zip_equal(branch.getResults(),
                         branch.getYield(unsigned(chosen)).getOperands()))
      values[result] = values.at(value);
    return Success();
  }

  struct Hash {
    size_t operator()(Value value) const { return hash_value(value); }
  };
  std::unordered_map<Value, std::shared_ptr<const HostValue>, Hash> values;
  DenseMap<Value, int64_t> usesLeft;
  llvm::DenseSet<Operation *> unused;
  Rounding rounding;
};

} // namespace

Values interpreter::runRegion(Region &region, Values arguments) {
  Block &block = region.front();
  Frame frame(block);
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    frame.set(argument, std::move(value));
  for (Operation &op : block.without_terminator()) {
    [[maybe_unused]] Status done = frame.run(op);
    assert(done && "ops of scalar regions are in the table");
  }
  Values results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(frame.get(value));
  return results;
}

Result<std::vector<HostValue>> interpret(ModuleOp module, StringRef name,
                                         const std::vector<HostValue> &inputs,
                                         Rounding rounding) {
  auto wanted = signatureOf(module, name);
  if (!wanted)
    return wanted.error();
  mlir::func::FuncOp function = *findFunction(module, name);
  if (inputs.size() != wanted->arguments.size())
    return Error(fmt::format("function '{}' takes {} arguments, got {}",
                             wanted->name, wanted->arguments.size(),
                             inputs.size()));
  if (!llvm::hasSingleElement(function.getBody()))
    return Error(fmt::format("function '{}' branches", wanted->name));

  Block &body = function.getBody().front();
  Frame frame(body, rounding);
  frame.leaveOutUnused(body);
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    const ValueSignature &expected = wanted->arguments[i];
    if (inputs[i].type != expected.type || inputs[i].shape != expected.shape)
      return Error(fmt::format(
          "{} is {}[{}], got {}[{}]", expected.name,
          meshloom::name(expected.type), fmt::join(expected.shape, ", "),
          meshloom::name(inputs[i].type), fmt::join(inputs[i].shape, ", ")));
    frame.set(argument, inputs[i]);
  }
  for (Operation &op : body.without_terminator()) {
    if (Status done = frame.run(op); !done)
      return done.error();
    frame.release(op);
  }
  std::vector<HostValue> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(frame.get(value));
  for (BlockArgument variable : assignedVariables(function))
    results.push_back(frame.get(variable));
  return results;
}

int64_t longestContraction(ModuleOp module, StringRef name) {
  auto function = findFunction(module, name);
  if (!function)
    return 1;
  int64_t longest = 1;
  function->walk([&](dtensor::ShardedOpInterface op) {
    longest = std::max(longest, op.getTerms());
  });
  return longest;
}

} // namespace meshloom
