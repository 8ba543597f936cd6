// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens order what is in the order of the program anyway. This step leaves
// nothing of them: no value, no element of a tuple, and no entry of a list that
// has one for each value. So no handler of the import knows tokens.
#include "Prepare.h"

#include "GspmdSharding.h"
#include "Shardings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace meshloom;
using namespace meshloom::importer;
using llvm::BitVector;
using mlir::TupleType;
using mlir::func::FuncOp;

static bool isToken(Type type) {
  return isa<stablehlo::TokenType>(type);
}

bool importer::holdsToken(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::any_of(tuple.getTypes(), holdsToken);
  return isToken(type);
}

/// `type`, which is not a token, without those in it.
static Type withoutTokens(Type type) {
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple || !holdsToken(type))
    return type;
  SmallVector<Type> elements;
  for (Type element : tuple.getTypes())
    if (!isToken(element))
      elements.push_back(withoutTokens(element));
  return TupleType::get(type.getContext(), elements);
}

/// Which of `types` are tokens.
static BitVector tokensAmong(TypeRange types) {
  BitVector tokens(unsigned(types.size()));
  for (auto [i, type] : llvm::enumerate(types))
    if (isToken(type))
      tokens.set(unsigned(i));
  return tokens;
}

/// Appends to `tokens`, for each tensor and token in `type`, which it is.
static void appendLeaves(Type type, SmallVectorImpl<bool> &tokens) {
  if (auto tuple = dyn_cast<TupleType>(type))
    for (Type element : tuple.getTypes())
      appendLeaves(element, tokens);
  else
    tokens.push_back(isToken(type));
}

/// GSPMD's shardings of all tensors and tokens of `types`, without those of
/// tokens. Null: nothing is left.
static Attribute withoutTokens(StringAttr shardings, TypeRange types) {
  SmallVector<bool> tokens;
  for (Type type : types)
    appendLeaves(type, tokens);
  auto parts = splitGspmdTuple(shardings.str());
  // Else it is one for all, or malformed, which the import reports.
  if (!parts || parts->size() != tokens.size() || tokens.size() < 2)
    return llvm::is_contained(tokens, false) ? shardings : Attribute();
  std::string remaining;
  int64_t count = 0;
  for (auto [part, token] : llvm::zip_equal(*parts, tokens))
    if (!token) {
      remaining += (count++ ? ", " : "") + part;
    }
  if (count == 0)
    return {};
  return StringAttr::get(shardings.getContext(),
                         count == 1 ? remaining : "{" + remaining + "}");
}

static sdy::TensorShardingPerValueAttr
withoutTokens(sdy::TensorShardingPerValueAttr shardings,
              const BitVector &tokens) {
  SmallVector<sdy::TensorShardingAttr> remaining;
  for (auto [i, sharding] : llvm::enumerate(shardings.getShardings()))
    if (i >= tokens.size() || !tokens.test(unsigned(i)))
      remaining.push_back(sharding);
  return sdy::TensorShardingPerValueAttr::get(shardings.getContext(),
                                              remaining);
}

/// Replaces the list `name` of `op`, if it has one, which has an entry for each
/// value that `tokens` is about.
static void dropEntries(Operation *op, StringRef name,
                        const BitVector &tokens) {
  if (auto shardings = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(name))
    op->setAttr(name, withoutTokens(shardings, tokens));
}

/// The operands that are tokens go; elements of tuples are counted anew.
static void dropOperands(Operation *op) {
  if (auto part = dyn_cast<stablehlo::GetTupleElementOp>(op)) {
    ArrayRef<Type> elements =
        cast<TupleType>(part.getOperand().getType()).getTypes();
    uint32_t index = part.getIndex();
    if (index < elements.size())
      part.setIndex(index - uint32_t(llvm::count_if(elements.take_front(index),
                                                    isToken)));
    return;
  }
  BitVector tokens = tokensAmong(op->getOperandTypes());
  if (tokens.none())
    return;
  if (isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(op))
    dropEntries(op, "in_shardings", tokens);
  op->eraseOperands(tokens);
}

/// Returns whether nothing is left to do of `op`, whose operands and results
/// were tokens.
static bool onlyOrders(Operation *op) {
  if (op->getNumOperands() != 0 || op->getNumRegions() != 0)
    return false;
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return !call.getHasSideEffect();
  return isa<stablehlo::AfterAllOp, stablehlo::CreateTokenOp,
             stablehlo::OptimizationBarrierOp>(op) ||
         (isa<sdy::SdyDialect>(op->getDialect()) &&
          !op->hasTrait<mlir::OpTrait::IsTerminator>());
}

/// The arguments that are tokens go.
static void dropArguments(Region &region) {
  for (Block &block : region) {
    block.eraseArguments(
        [](BlockArgument argument) { return isToken(argument.getType()); });
    for (BlockArgument argument : block.getArguments())
      argument.setType(withoutTokens(argument.getType()));
  }
}

/// The results that are tokens, of which there are no uses any more, go.
static void dropResults(Operation *op) {
  BitVector tokens = tokensAmong(op->getResultTypes());
  if (auto text = op->getAttrOfType<StringAttr>(gspmdName)) {
    Attribute remaining = withoutTokens(text, op->getResultTypes());
    remaining ? op->setAttr(gspmdName, remaining)
              : (void)op->removeAttr(gspmdName);
  }
  for (mlir::OpResult result : op->getResults())
    if (!isToken(result.getType()))
      result.setType(withoutTokens(result.getType()));
  if (tokens.none())
    return;
  dropEntries(op, shardyName, tokens);
  if (isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(op))
    dropEntries(op, "out_shardings", tokens);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    if (!isToken(type))
      types.push_back(type);
  OpBuilder b(op);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types,
                       op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *updated = b.create(state);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), updated->getRegions()))
    to.takeBody(from);
  unsigned next = 0;
  for (mlir::OpResult result : op->getResults())
    if (!tokens.test(result.getResultNumber()))
      result.replaceAllUsesWith(updated->getResult(next++));
  op->erase();
}

/// The arguments and results of `func` that are tokens go.
static void dropFromSignature(FuncOp func) {
  BitVector arguments = tokensAmong(func.getArgumentTypes()),
            results = tokensAmong(func.getResultTypes());
  auto keepShardings = [](Attribute sharding, Type type, auto set) {
    if (auto text = dyn_cast_or_null<StringAttr>(sharding))
      set(withoutTokens(text, type));
  };
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    const unsigned index = unsigned(i);
    keepShardings(func.getArgAttr(index, gspmdName), type,
                  [&](Attribute remaining) {
                    remaining ? func.setArgAttr(index, gspmdName, remaining)
                              : (void)func.removeArgAttr(index, gspmdName);
                  });
    // Results are counted anew.
    constexpr StringRef aliasName = "tf.aliasing_output";
    auto alias = func.getArgAttrOfType<IntegerAttr>(index, aliasName);
    if (!alias || alias.getValue().uge(results.size()))
      continue;
    unsigned before = 0;
    for (unsigned result : results.set_bits())
      before += result < alias.getValue().getZExtValue();
    func.setArgAttr(
        index, aliasName,
        IntegerAttr::get(alias.getType(), alias.getValue() - before));
  }
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    const unsigned index = unsigned(i);
    keepShardings(
        func.getResultAttr(index, gspmdName), type, [&](Attribute remaining) {
          remaining ? func.setResultAttr(index, gspmdName, remaining)
                    : (void)func.removeResultAttr(
                          index, StringAttr::get(func.getContext(), gspmdName));
        });
  }
  func.eraseArguments(arguments);
  func.eraseResults(results);
  if (!func.isExternal())
    dropArguments(func.getBody());
  auto remainingTypes = [](ArrayRef<Type> types) {
    return llvm::map_to_vector(types, [](Type t) { return withoutTokens(t); });
  };
  func.setFunctionType(mlir::FunctionType::get(
      func.getContext(), remainingTypes(func.getArgumentTypes()),
      remainingTypes(func.getResultTypes())));
}

LogicalResult importer::dropTokens(ModuleOp module) {
  SmallVector<Operation *> ops; // those in regions before what holds them
  module.walk([&](Operation *op) { ops.push_back(op); });
  auto usesTokens = [](Operation *op) {
    if (auto func = dyn_cast<FuncOp>(op))
      return llvm::any_of(func.getArgumentTypes(), holdsToken) ||
             llvm::any_of(func.getResultTypes(), holdsToken);
    return llvm::any_of(op->getOperandTypes(), holdsToken) ||
           llvm::any_of(op->getResultTypes(), holdsToken);
  };
  llvm::erase_if(ops, [&](Operation *op) { return !usesTokens(op); });
  for (Operation *op : ops) {
    if (isa<stablehlo::InfeedOp, stablehlo::OutfeedOp, stablehlo::RecvOp,
            stablehlo::SendOp>(op))
      return op->emitError() << "'" << op->getName() << "' is not supported";
    // These are about operands and results by their number.
    if (isa<stablehlo::CustomCallOp>(op))
      for (StringRef name :
           {"operand_layouts", "result_layouts", "output_operand_aliases"})
        op->removeAttr(name);
    dropOperands(op);
  }
  for (Operation *op : ops) {
    for (Region &region : op->getRegions())
      if (!isa<FuncOp>(op))
        dropArguments(region);
    bool gone = llvm::all_of(op->getResultTypes(), isToken);
    if (auto func = dyn_cast<FuncOp>(op))
      dropFromSignature(func);
    else if (isa<stablehlo::GetTupleElementOp>(op) && gone)
      op->erase();
    else if (gone && onlyOrders(op))
      op->erase();
    else
      dropResults(op);
  }
  return success();
}
