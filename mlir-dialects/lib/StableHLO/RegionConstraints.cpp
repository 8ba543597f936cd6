// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of ops with regions that are functions (reduce, map, sort) or
// branches (if, case, while), and of tuples, composites and custom calls. The
// results of regions are verified after the ops in them.

#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::stablehlo;

//===----------------------------------------------------------------------===//
// Functions of scalars
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  Constraints c(*this);
  if (!c.require(!getInputs().empty(), "C3", "expected at least one input") ||
      !c.require(getNumOperands() % 2 == 0, "C3",
                 "expected an init value for each input") ||
      !c.size("C3", "the list of results", getNumResults(),
              int64_t(getInputs().size())) ||
      !c.sameShape("C1", getInputs().getTypes()))
    return failure();
  for (auto [input, init] : llvm::zip_equal(getInputs(), getInitValues()))
    if (!c.scalar("C2", "an init value", init) ||
        !c.sameElement("C2", {input.getType(), init.getType()}))
      return failure();
  ArrayRef<int64_t> shape = shapeOf(getInputs()[0]);
  if (!c.inRange("C4", "dimensions", getDimensions(), 0,
                 int64_t(shape.size())) ||
      !c.unique("C5", "dimensions", getDimensions()))
    return failure();
  SmallVector<int64_t> expected;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(getDimensions(), int64_t(dim)))
      expected.push_back(size);
  for (Type result : getResultTypes())
    if (!c.shape("C7", "a result", result, expected))
      return failure();
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return success(Constraints(*this).reducer(
      "C6", getBody(), getInputs().getTypes(), "C8", getResultTypes()));
}

LogicalResult MapOp::verify() {
  Constraints c(*this);
  if (!c.require(!getInputs().empty(), "C2", "expected at least one input"))
    return failure();
  SmallVector<Type> types(getInputs().getTypes());
  types.push_back(getType());
  int64_t rank = rankOf(getInputs()[0]);
  return success(c.sameShape("C1", types) &&
                 c.permutation("C3", "dimensions", getDimensions(), rank) &&
                 c.sorted("C3", "dimensions", getDimensions()));
}

LogicalResult MapOp::verifyRegions() {
  Constraints c(*this);
  Region &region = getComputation();
  auto values = c.returned("C4", region);
  if (!values)
    return failure();
  auto scalarOf = [](Type type, Type whole) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0 && elementsAgree(tensor, whole);
  };
  bool holds = region.getNumArguments() == getInputs().size() &&
               values->size() == 1 &&
               scalarOf(values->front().getType(), getType());
  if (holds)
    for (auto [argument, input] :
         llvm::zip_equal(region.getArguments(), getInputs()))
      holds &= scalarOf(argument.getType(), input.getType());
  if (holds)
    return success();
  return c.violates("C4") << "the region is (" << region.getArgumentTypes()
                          << ") -> (" << values->getTypes()
                          << "), expected a scalar of each of ("
                          << getInputs().getTypes() << ") and to return one of "
                          << getType();
}

LogicalResult SortOp::verify() {
  Constraints c(*this);
  if (!c.require(!getInputs().empty(), "C1", "expected at least one input") ||
      !c.size("C2", "the list of results", getNumResults(),
              int64_t(getInputs().size())))
    return failure();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults()))
    if (!c.sameTypes("C2", {input.getType(), result.getType()}))
      return failure();
  int64_t rank = rankOf(getInputs()[0]);
  return success(
      c.sameShape("C3", getInputs().getTypes()) &&
      c.inRange("C4", "dimension", int64_t(getDimension()), -rank, rank));
}

LogicalResult SortOp::verifyRegions() {
  auto flag =
      RankedTensorType::get({}, IntegerType::get(getContext(), /*width=*/1));
  return success(
      Constraints(*this).scalars("C5", getComparator(), getInputs().getTypes(),
                                 /*interleaved=*/true, TypeRange(flag)));
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  return success(Constraints(*this).scalar("I1", "pred", getPred()));
}

LogicalResult IfOp::verifyRegions() {
  Constraints c(*this);
  return success(c.branch("C3", getTrueBranch(), getResultTypes()) &&
                 c.branch("C2", getFalseBranch(), getResultTypes()));
}

LogicalResult CaseOp::verify() {
  Constraints c(*this);
  return success(
      c.require(!getBranches().empty(), "C1", "expected at least one branch") &&
      c.scalar("I1", "index", getIndex()));
}

LogicalResult CaseOp::verifyRegions() {
  Constraints c(*this);
  for (auto [i, branch] : llvm::enumerate(getBranches()))
    if (!c.branch(i ? "C3" : "C4", branch, getResultTypes()))
      return failure();
  return success();
}

LogicalResult WhileOp::verify() {
  Constraints c(*this);
  TypeRange carried = getOperandTypes();
  auto matches = [&](StringRef number, StringRef role, TypeRange types) {
    if (agree(types, carried))
      return true;
    c.violates(number) << "carries (" << carried << "), but " << role << " ("
                       << types << ")";
    return false;
  };
  return success(
      matches("C1", "the condition takes", getCond().getArgumentTypes()) &&
      matches("C2", "the body takes", getBody().getArgumentTypes()) &&
      matches("C3", "the results are", getResultTypes()));
}

LogicalResult WhileOp::verifyRegions() {
  Constraints c(*this);
  auto condition = c.returned("C1", getCond());
  if (!condition)
    return failure();
  TypeRange types = condition->getTypes();
  auto flag = types.size() == 1 ? dyn_cast<RankedTensorType>(types[0])
                                : RankedTensorType();
  if (!flag || flag.getRank() != 0 || !flag.getElementType().isInteger(1))
    return c.violates("C1") << "the condition returns (" << types
                            << "), expected one tensor<i1>";
  auto next = c.returned("C2", getBody());
  if (!next)
    return failure();
  if (!agree(next->getTypes(), getOperandTypes()))
    return c.violates("C2")
           << "carries (" << getOperandTypes() << "), but the body returns ("
           << next->getTypes() << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// Tuples and calls
//===----------------------------------------------------------------------===//

LogicalResult OptimizationBarrierOp::verify() {
  Constraints c(*this);
  if (!c.size("C1", "the list of results", getNumResults(), getNumOperands()))
    return failure();
  for (auto [operand, result] : llvm::zip_equal(getOperand(), getResult()))
    if (!c.sameTypes("C1", {operand.getType(), result.getType()}))
      return failure();
  return success();
}

LogicalResult TupleOp::verify() {
  Constraints c(*this);
  auto tuple = dyn_cast<mlir::TupleType>(getResult().getType());
  if (tuple && agree(TypeRange(tuple.getTypes()), getVal().getTypes()))
    return success();
  return c.violates("C1") << "makes a " << getResult().getType() << " of ("
                          << getVal().getTypes() << ")";
}

LogicalResult GetTupleElementOp::verify() {
  Constraints c(*this);
  auto tuple = dyn_cast<mlir::TupleType>(getOperand().getType());
  if (!c.require(bool(tuple), "C1", "the operand must be a tuple"))
    return failure();
  int64_t index = int32_t(getIndex());
  return success(
      c.inRange("C1", "index", index, 0, int64_t(tuple.size())) &&
      c.sameTypes("C2", {tuple.getType(index), getResult().getType()}));
}

LogicalResult CompositeOp::verify() {
  // `dialect.op`: what each part is made of.
  auto isWord = [](StringRef word) {
    return !word.empty() && !llvm::isDigit(word.front()) &&
           llvm::all_of(word, [](char c) {
             return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
           });
  };
  auto [space, name] = getName().split('.');
  if (isWord(space) && isWord(name))
    return success();
  return Constraints(*this).violates("C1")
         << "the name must be that of an op in a dialect, as in "
            "\"my.function\", not \""
         << getName() << "\"";
}

/// Layouts are orders of a tensor's dims; of other types, empty.
static bool laidOut(const Constraints &c, TypeRange types,
                    mlir::ArrayAttr layouts, StringRef role) {
  if (types.size() != layouts.size()) {
    c.violates("I1") << "has " << layouts.size() << ' ' << role
                     << " layouts for " << types.size() << ' ' << role << 's';
    return false;
  }
  for (auto [type, attribute] : llvm::zip_equal(types, layouts)) {
    auto layout = dyn_cast<mlir::DenseIntElementsAttr>(attribute);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!layout || isa<mlir::TupleType>(type) ||
        (!tensor && layout.getNumElements() != 0)) {
      c.violates("I1") << "a value of type " << type
                       << " cannot have the layout " << attribute;
      return false;
    }
    if (tensor &&
        (!c.size("I1", "a layout", size_t(layout.getNumElements()),
                 tensor.getRank()) ||
         !c.permutation("I1", "a layout", numbersIn(layout), tensor.getRank())))
      return false;
  }
  return true;
}

/// The part of `type` that `indices` lead to, through tuples; null if none.
static Type partAt(Type type, ArrayRef<int64_t> indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast_or_null<mlir::TupleType>(type);
    if (!tuple || index < 0 || index >= int64_t(tuple.size()))
      return {};
    type = tuple.getType(index);
  }
  return type;
}

// The specification has no constraints on custom calls; I1 and I2 are about
// what layouts and aliases name.
LogicalResult CustomCallOp::verify() {
  Constraints c(*this);
  auto operandLayouts = getOperandLayouts(), resultLayouts = getResultLayouts();
  if (!c.require(operandLayouts.has_value() == resultLayouts.has_value(), "I1",
                 "layouts are given for both operands and results or none"))
    return failure();
  if (operandLayouts) {
    SmallVector<Type> results(getResultTypes());
    if (results.size() == 1)
      if (auto tuple = dyn_cast<mlir::TupleType>(results[0]))
        results.assign(tuple.begin(), tuple.end());
    if (!laidOut(c, getInputs().getTypes(), *operandLayouts, "operand") ||
        !laidOut(c, results, *resultLayouts, "result"))
      return failure();
  }
  for (Attribute attribute : getOutputOperandAliases().value_or(
           mlir::ArrayAttr::get(getContext(), {}))) {
    auto alias = dyn_cast<OutputOperandAliasAttr>(attribute);
    if (!alias)
      return c.violates("I2") << attribute << " is not an alias";
    if (!c.inRange("I2", "operand_index", alias.getOperandIndex(), 0,
                   int64_t(getInputs().size())))
      return failure();
    Type operand = partAt(getInputs()[alias.getOperandIndex()].getType(),
                          alias.getOperandTupleIndices());
    // Several results count as one tuple.
    Type whole = getNumResults() == 1
                     ? getResult(0).getType()
                     : mlir::TupleType::get(getContext(), getResultTypes());
    Type result = partAt(whole, alias.getOutputTupleIndices());
    if (!operand || !result || !agree(operand, result))
      return c.violates("I2") << "operand #" << alias.getOperandIndex()
                              << " does not have the type of the result that "
                                 "uses its memory";
  }
  // Versions 1 to 3 are of text, 4 of named values.
  auto config = getBackendConfig();
  bool typed = int32_t(getApiVersion()) == 4;
  if (config &&
      (typed ? !isa<DictionaryAttr>(*config) : !isa<StringAttr>(*config)))
    return c.violates("I3")
           << "backend_config of api_version " << int32_t(getApiVersion())
           << " must be " << (typed ? "a dictionary" : "a string") << ", not "
           << *config;
  return success();
}
