// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of Shardy's dialect mpmd, which assigns parts of a program to meshes
// of a topology. All of them have as many devices, as those of the stages of a
// pipeline do. Where a part runs changes no value: what is left is the program
// on global tensors over the devices of one such mesh, with the names of the
// parts as scopes. `--pipeline` puts the parts on sets of devices of their own
// again.
#include "Prepare.h"

#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/StableHLO/Mpmd.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/StringSwitch.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

static constexpr llvm::StringLiteral topologyName = "topology";
static constexpr llvm::StringLiteral shardingName = "sdy.sharding";

bool importer::holdsFragments(ModuleOp module) {
  auto isOnMesh = [](Type type) { return isa<mpmd::MeshTensorType>(type); };
  auto found = module.walk([&](Operation *op) {
    auto func = dyn_cast<FuncOp>(op);
    const bool isFragment =
        isa_and_nonnull<mpmd::MpmdDialect>(op->getDialect()) ||
        (func && (func->hasAttrOfType<mpmd::TopologyAttr>(topologyName) ||
                  llvm::any_of(func.getArgumentTypes(), isOnMesh)));
    return isFragment ? mlir::WalkResult::interrupt()
                      : mlir::WalkResult::advance();
  });
  return found.wasInterrupted();
}

namespace {

class FragmentReader {
public:
  explicit FragmentReader(ModuleOp module) : module(module) {}

  LogicalResult run();

private:
  LogicalResult readTopology(FuncOp func);
  void forgetMeshes(FuncOp func);
  void forgetMeshes(Operation *op);
  sdy::TensorShardingAttr shardingOf(Type type) const;
  void replace(Value result, Value value);
  void inlineBody(Operation *op, Region &body, ValueRange operands);
  LogicalResult rewrite(Operation *op);
  LogicalResult unroll(mpmd::ForOp loop);
  LogicalResult combine(mpmd::ReduceOp reduce);

  ModuleOp module;
  DenseMap<StringAttr, sdy::MeshAttr> topology;       ///< meshes by name
  DenseMap<Value, sdy::TensorShardingAttr> shardings; ///< that types had
};

} // namespace

static int64_t numberOfDevices(sdy::MeshAttr mesh) {
  int64_t number = 1;
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    number *= axis.getSize();
  return number;
}

/// Notes the meshes of the topology. The program is on the first one, also if
/// no value is cut over it.
LogicalResult FragmentReader::readTopology(FuncOp func) {
  auto found = dyn_cast_or_null<mpmd::TopologyAttr>(
      func->removeDiscardableAttr(topologyName));
  if (!found || found.getNames().empty())
    return success();
  const StringAttr firstName = found.getNames().front();
  const sdy::MeshAttr first = found.getMeshes().front();
  for (auto [name, mesh] :
       llvm::zip_equal(found.getNames(), found.getMeshes())) {
    topology[name] = mesh;
    if (numberOfDevices(mesh) != numberOfDevices(first))
      return func.emitError("the topology has the mesh ")
             << firstName << " with " << numberOfDevices(first)
             << " devices and the mesh " << name << " with "
             << numberOfDevices(mesh)
             << "; expected as many in each, so that all parts can run on the "
                "devices of one mesh";
  }
  if (!module.lookupSymbol(firstName))
    OpBuilder::atBlockBegin(module.getBody())
        .create<sdy::MeshOp>(module.getLoc(), firstName, first);
  return success();
}

/// Returns the sharding of a tensor on a mesh of the topology, if it has one.
/// The name of a mesh that is not defined stands for that mesh.
sdy::TensorShardingAttr FragmentReader::shardingOf(Type type) const {
  auto onMesh = dyn_cast<mpmd::MeshTensorType>(type);
  const sdy::TensorShardingAttr sharding =
      onMesh ? onMesh.getSharding() : sdy::TensorShardingAttr();
  const sdy::MeshAttr mesh =
      onMesh ? topology.lookup(onMesh.getMesh()) : sdy::MeshAttr();
  if (!sharding || !mesh || sharding.getMeshName().empty() ||
      ModuleOp(module).lookupSymbol(sharding.getMeshName()))
    return sharding;
  return sdy::TensorShardingAttr::get(
      sharding.getContext(), mesh, sharding.getDimShardings(),
      sharding.getReplicatedAxes(), sharding.getUnreducedAxes(),
      sharding.getReductionOp());
}

/// Gives values the types of their tensors, and notes the shardings.
void FragmentReader::forgetMeshes(Operation *op) {
  auto forget = [&](Value value) {
    auto type = dyn_cast<mpmd::MeshTensorType>(value.getType());
    if (!type)
      return;
    if (const sdy::TensorShardingAttr sharding = shardingOf(type))
      shardings[value] = sharding;
    value.setType(type.getTensor());
  };
  llvm::for_each(op->getResults(), forget);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArguments(), forget);
}

/// Writes the shardings of arguments and results as attributes.
void FragmentReader::forgetMeshes(FuncOp func) {
  auto tensorOf = [](Type type) {
    auto onMesh = dyn_cast<mpmd::MeshTensorType>(type);
    return onMesh ? Type(onMesh.getTensor()) : type;
  };
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (auto sharding = shardingOf(type);
        sharding && !func.getArgAttr(i, shardingName))
      func.setArgAttr(i, shardingName, sharding);
  for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
    if (auto sharding = shardingOf(type);
        sharding && !func.getResultAttr(i, shardingName))
      func.setResultAttr(i, shardingName, sharding);
  func.setFunctionType(mlir::FunctionType::get(
      func.getContext(), llvm::map_to_vector(func.getArgumentTypes(), tensorOf),
      llvm::map_to_vector(func.getResultTypes(), tensorOf)));
}

/// Replaces a result by a value, in the sharding that the result's type had.
void FragmentReader::replace(Value result, Value value) {
  const sdy::TensorShardingAttr sharding = shardings.lookup(result);
  if (sharding && sharding != shardings.lookup(value)) {
    OpBuilder b(result.getDefiningOp());
    value = b.create<sdy::ShardingConstraintOp>(
        result.getLoc(), value.getType(), value, sharding);
    shardings[value] = sharding;
  }
  result.replaceAllUsesWith(value);
}

/// Moves the ops of a body in front of the op, whose results they give.
void FragmentReader::inlineBody(Operation *op, Region &body,
                                ValueRange operands) {
  Block &block = body.front();
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), operands))
    argument.replaceAllUsesWith(operand);
  Operation *terminator = block.getTerminator();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations(), block.begin(),
                                         terminator->getIterator());
  for (auto [result, operand] :
       llvm::zip_equal(op->getResults(), terminator->getOperands()))
    replace(result, operand);
  op->erase();
}

/// Returns the scope of a computation and how often it was transposed.
static std::string scopeOf(StringRef name, int64_t transposes) {
  return transposes > 0 ? "transpose(" + name.str() + ")" : name.str();
}

/// Returns the scope of a fragment, as in "stage1/m1/f+g".
static std::string scopeOf(mpmd::FragmentOp fragment) {
  std::string scope;
  if (auto stage = fragment.getStage())
    scope = "stage" + std::to_string(*stage) + "/";
  scope += fragment.getMesh();
  const char *separator = "/";
  for (auto [name, transposes] :
       llvm::zip_equal(fragment.getNames().getAsRange<StringAttr>(),
                       fragment.getTransposes())) {
    scope += separator + scopeOf(name.getValue(), transposes);
    separator = "+";
  }
  return scope;
}

static void putInScope(Region &body, StringRef scope) {
  body.walk([&](Operation *op) { op->setLoc(inPart(op->getLoc(), scope)); });
}

/// Writes out the turns of a loop.
LogicalResult FragmentReader::unroll(mpmd::ForOp loop) {
  Block &body = loop.getBody().front();
  const int64_t turns = loop.getIterations(),
                ops = std::ssize(body.getOperations());
  if (turns > mostOps / ops)
    return loop.emitError("the loop has ")
           << turns << " turns of " << ops << " ops; at most " << mostOps
           << " ops can be written out";
  OpBuilder b(loop);
  SmallVector<Value> carried(loop.getTensors());
  for (int64_t turn = 0; turn < turns; ++turn) {
    auto type = cast<RankedTensorType>(body.getArguments().back().getType());
    Value index = b.create<stablehlo::ConstantOp>(
        loop.getLoc(), type,
        DenseElementsAttr::get(type,
                               b.getIntegerAttr(type.getElementType(), turn)));
    mlir::IRMapping mapping;
    mapping.map(body.getArguments().drop_back(), carried);
    mapping.map(body.getArguments().back(), index);
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    for (auto [value, next] :
         llvm::zip_equal(carried, body.getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(next);
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
  return success();
}

/// Combines the operands one after the other.
LogicalResult FragmentReader::combine(mpmd::ReduceOp reduce) {
  const StringRef op = llvm::StringSwitch<StringRef>(reduce.getReduction())
                           .Case("add", "stablehlo.add")
                           .Case("max", "stablehlo.maximum")
                           .Case("min", "stablehlo.minimum")
                           .Case("mul", "stablehlo.multiply")
                           .Case("or", "stablehlo.or")
                           .Case("and", "stablehlo.and")
                           .Default("");
  const size_t operands = reduce.getTensors().size();
  if (operands == 0 || (op.empty() && reduce.getReduction() != "none"))
    return reduce.emitError("expected tensors to combine by add, max, min, "
                            "mul, or, and, or equal ones with none");
  OpBuilder b(reduce);
  Value sum = reduce.getTensors().front();
  for (Value tensor : reduce.getTensors().drop_front())
    if (!op.empty()) {
      OperationState state(reduce.getLoc(), op, {sum, tensor}, sum.getType());
      sum = b.create(state)->getResult(0);
    }
  reduce.getResult().replaceAllUsesWith(sum);
  reduce.erase();
  return success();
}

LogicalResult FragmentReader::rewrite(Operation *op) {
  if (auto computation = dyn_cast<mpmd::NamedComputationOp>(op)) {
    putInScope(computation.getBody(),
               scopeOf(computation.getName(), computation.getTransposes()));
    inlineBody(op, computation.getBody(), computation.getTensors());
  } else if (auto fragment = dyn_cast<mpmd::FragmentOp>(op)) {
    putInScope(fragment.getBody(), scopeOf(fragment));
    inlineBody(op, fragment.getBody(), fragment.getTensors());
  } else if (auto loop = dyn_cast<mpmd::ForOp>(op)) {
    return unroll(loop);
  } else if (auto reduce = dyn_cast<mpmd::ReduceOp>(op)) {
    return combine(reduce);
  } else if (auto call = dyn_cast<mpmd::CallOp>(op)) {
    auto called = OpBuilder(op).create<mlir::func::CallOp>(
        op->getLoc(), call.getCallee(), call->getResultTypes(),
        call.getTensors());
    op->replaceAllUsesWith(called);
    op->erase();
  } else { // its result is the operand, wherever it is
    replace(op->getResult(0), op->getOperand(0));
    op->erase();
  }
  return success();
}

LogicalResult FragmentReader::run() {
  for (auto func : module.getOps<FuncOp>()) {
    if (failed(readTopology(func)))
      return failure();
    forgetMeshes(func);
  }
  // The ops in the body of an op come before it.
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    forgetMeshes(op);
    if (isa_and_nonnull<mpmd::MpmdDialect>(op->getDialect()) &&
        !isa<mpmd::ReturnOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(rewrite(op)))
      return failure();
  return success();
}

LogicalResult importer::inlineFragments(ModuleOp module) {
  return FragmentReader(module).run();
}
