// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Replicas.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;

namespace {
constexpr StringRef meshName = "replicas";

RankedTensorType withFirstDim(RankedTensorType type, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), extent);
  return RankedTensorType::get(shape, type.getElementType());
}

/// "<@replicas, [{"replica"}, {}, {}]>": the first dim is on the axis.
std::string shardingText(RankedTensorType local) {
  std::string text = R"(<@replicas, [{"replica"})";
  for (int64_t dim = 0; dim < local.getRank(); ++dim)
    text += ", {}";
  return text + "]>";
}

class ReplicaJoin {
public:
  ReplicaJoin(mlir::func::FuncOp main, int64_t replicas)
      : main(main), replicas(replicas), b(main.getContext()) {}

  Status run() {
    for (Type type : llvm::concat<const Type>(main.getArgumentTypes(),
                                              main.getResultTypes()))
      if (!isa<RankedTensorType>(type))
        return Error("a program of replicas has arguments and results that are "
                     "arrays",
                     ErrorCode::UNIMPLEMENTED);
    if (!llvm::hasSingleElement(main.getBody()))
      return Error("a program of replicas has a function 'main' of one block");
    const mlir::FunctionType local = main.getFunctionType();
    Block *body = &main.getBody().front();
    // The function has a new block, and the computation the old one.
    Block *outer = b.createBlock(
        &main.getBody(), main.getBody().begin(),
        widened(local.getInputs(), replicas),
        SmallVector<mlir::Location>(local.getNumInputs(), main.getLoc()));
    OperationState state(main.getLoc(), "sdy.manual_computation");
    state.addOperands(outer->getArguments());
    state.addTypes(widened(local.getResults(), replicas));
    state.addAttribute("in_shardings", shardings(local.getInputs()));
    state.addAttribute("out_shardings", shardings(local.getResults()));
    state.addAttribute("manual_axes",
                       mlir::parseAttribute(R"(#sdy<manual_axes{"replica"}>)",
                                            b.getContext()));
    state.addRegion();
    b.setInsertionPointToEnd(outer);
    Operation *computation = b.create(state);
    body->moveBefore(&computation->getRegion(0),
                     computation->getRegion(0).end());
    narrowArguments(*body);
    widenResults(*body);
    b.setInsertionPointToEnd(outer);
    b.create<mlir::func::ReturnOp>(main.getLoc(), computation->getResults());
    main.setFunctionType(
        b.getFunctionType(widened(local.getInputs(), replicas),
                          widened(local.getResults(), replicas)));
    annotate();
    return Success();
  }

private:
  SmallVector<Type> widened(ArrayRef<Type> types, int64_t extent) {
    return llvm::map_to_vector(types, [&](Type type) -> Type {
      return withFirstDim(cast<RankedTensorType>(type), extent);
    });
  }

  Attribute shardings(ArrayRef<Type> types) {
    std::string text = "#sdy.sharding_per_value<[";
    for (auto [i, type] : llvm::enumerate(types))
      text += (i ? ", " : "") + shardingText(cast<RankedTensorType>(type));
    return mlir::parseAttribute(text + "]>", b.getContext());
  }

  /// The body's arguments have the first dim, of one element.
  void narrowArguments(Block &body) {
    b.setInsertionPointToStart(&body);
    for (mlir::BlockArgument argument : body.getArguments()) {
      auto local = cast<RankedTensorType>(argument.getType());
      argument.setType(withFirstDim(local, 1));
      auto narrow =
          b.create<stablehlo::ReshapeOp>(argument.getLoc(), local, argument);
      argument.replaceAllUsesExcept(narrow, narrow);
    }
  }

  void widenResults(Block &body) {
    Operation *end = body.getTerminator();
    b.setInsertionPoint(end);
    SmallVector<Value> results;
    for (Value value : end->getOperands())
      results.push_back(b.create<stablehlo::ReshapeOp>(
          end->getLoc(),
          withFirstDim(cast<RankedTensorType>(value.getType()), 1), value));
    OperationState state(end->getLoc(), "sdy.return");
    state.addOperands(results);
    b.create(state);
    end->erase();
  }

  /// The mesh, and the shardings of arguments and results.
  void annotate() {
    auto sharding = [&](Type global) {
      auto type = cast<RankedTensorType>(global);
      auto local = RankedTensorType::get(type.getShape().drop_front(),
                                         type.getElementType());
      return mlir::parseAttribute("#sdy.sharding" + shardingText(local),
                                  b.getContext());
    };
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      main.setArgAttr(i, "sdy.sharding", sharding(main.getArgumentTypes()[i]));
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      main.setResultAttr(i, "sdy.sharding", sharding(main.getResultTypes()[i]));
    b.setInsertionPoint(main);
    OperationState state(main.getLoc(), "sdy.mesh");
    state.addAttribute("sym_name", b.getStringAttr(meshName));
    state.addAttribute(
        "mesh", mlir::parseAttribute(
                    fmt::format(R"(#sdy.mesh<["replica"={}]>)", replicas),
                    b.getContext()));
    b.create(state);
  }

  mlir::func::FuncOp main;
  const int64_t replicas;
  mlir::OpBuilder b;
};
} // namespace

Status plugin::joinReplicas(ModuleOp module, int64_t replicas) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main)
    return Error("a program of replicas has a function 'main'");
  module->removeAttr("mhlo.num_replicas");
  return ReplicaJoin(main, replicas).run();
}
