// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules, verifiers and builders of matrix factorizations, fft and custom_call.
#include "ScalarRegion.h"

#include "RuleBuilder.h"

#include "meshloom/Core/CustomCall.h"

namespace meshloom::dtensor {

/// C1 of most: operands and results have one element type.
static LogicalResult verifyOneElementType(Operation *op) {
  Type expected = elementTypeOf(op->getResult(0).getType());
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (elementTypeOf(type) != expected)
        return violates(op, 1) << "the element types " << elementTypeOf(type)
                               << " and " << expected << " differ";
  return success();
}

/// Returns the length of rows, or of a transform.
static int64_t lengthOf(Value value) {
  auto shape = globalShape(value.getType());
  return shape.empty() ? 1 : shape.back();
}

static ArrayRef<int64_t> leading(ArrayRef<int64_t> shape) {
  return shape.drop_back(2);
}

//===----------------------------------------------------------------------===//
// CholeskyOp, TriangularSolveOp
//===----------------------------------------------------------------------===//

OpCost CholeskyOp::getCost(const ShardingRule &) {
  return {std::max<int64_t>(1, lengthOf(getA()) / 3)};
}
int64_t CholeskyOp::getTerms() {
  return lengthOf(getA());
}

LibraryCall CholeskyOp::getLibraryCall() {
  return LibraryCall(*this, "cholesky").flag("lower", getLower());
}
int CholeskyOp::getOverwritable(unsigned) {
  return 0;
}

LogicalResult CholeskyOp::verify() {
  if (undecided(getA().getType()) != undecided(getType()))
    return violates(*this, 1)
           << "the result must be " << undecided(getA().getType());
  auto shape = globalShape(getType());
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2])
    return violates(*this, 2) << "the operand has no square matrices";
  return success();
}

ShardingRule TriangularSolveOp::getShardingRule() {
  RuleBuilder rule(*this);
  size_t batch = globalShape(getB().getType()).size() - 2;
  ShardingRule::Tensor a = rule.dims(batch), b = a;
  a.push_back({rule.whole()});
  a.push_back({rule.whole()});
  ShardingRule::Dim solved{rule.whole()}, each{rule.factor()};
  b.push_back(getLeftSide() ? solved : each);
  b.push_back(getLeftSide() ? each : solved);
  rule.operand(std::move(a));
  rule.operand(b);
  rule.result(b);
  return rule.finish(PartialFlow::LinearEach, {1});
}

/// Two of the three whole factors of one size count.
OpCost TriangularSolveOp::getCost(const ShardingRule &rule) {
  std::vector<unsigned> flat = onlyIn(rule.operands[1], rule.operands[0]);
  llvm::erase_if(flat, [&](unsigned f) {
    return rule.factors[f].kind != FactorKind::Whole;
  });
  return {1, flat};
}
int64_t TriangularSolveOp::getTerms() {
  return lengthOf(getA());
}

LibraryCall TriangularSolveOp::getLibraryCall() {
  return LibraryCall(*this, "triangular_solve")
      .flag("left_side", getLeftSide())
      .flag("lower", getLower())
      .flag("unit_diagonal", getUnitDiagonal())
      .text("transpose_a", getTransposeA());
}
int TriangularSolveOp::getOverwritable(unsigned) {
  return 1;
}

LogicalResult TriangularSolveOp::verify() {
  if (failed(verifyOneElementType(*this)))
    return failure();
  auto a = globalShape(getA().getType()), b = globalShape(getB().getType());
  if (a.size() != b.size() || a.size() < 2 || leading(a) != leading(b))
    return violates(*this, 2) << "the operands differ in rank or leading dims, "
                                 "or have no matrices";
  int64_t size = a.back();
  if (a[a.size() - 2] != size ||
      (getLeftSide() ? b[b.size() - 2] : b.back()) != size)
    return violates(*this, 3)
           << "the matrices do not fit: a is " << a[a.size() - 2] << " by "
           << size << ", b is " << b[b.size() - 2] << " by " << b.back();
  if (globalShape(getType()) != b)
    return violates(*this, 4)
           << "the result must be " << undecided(getB().getType());
  if (!llvm::is_contained(
          ArrayRef<StringRef>{"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"},
          getTransposeA()))
    return violates(*this, 5)
           << "transpose_a is '" << getTransposeA()
           << "', expected NO_TRANSPOSE, TRANSPOSE or ADJOINT";
  return success();
}

//===----------------------------------------------------------------------===//
// FftOp
//===----------------------------------------------------------------------===//

/// The operand's sizes; the result's with `result`.
static SmallVector<int64_t> fftShape(ArrayRef<int64_t> shape, StringRef type,
                                     ArrayRef<int64_t> lengths, bool result) {
  SmallVector<int64_t> sizes(shape);
  for (auto [i, length] : llvm::enumerate(lengths))
    sizes[sizes.size() - lengths.size() + i] = length;
  if (type == (result ? "RFFT" : "IRFFT") && !lengths.empty())
    sizes.back() = lengths.back() / 2 + 1;
  return sizes;
}

/// The result's element type, or null.
static Type fftElement(Type operand, StringRef type) {
  auto complex = dyn_cast<mlir::ComplexType>(operand);
  if (type == "RFFT")
    return complex || !(operand.isF32() || operand.isF64())
               ? Type()
               : mlir::ComplexType::get(operand);
  if (!complex)
    return {};
  return type == "IRFFT" ? complex.getElementType() : operand;
}

void FftOp::build(OpBuilder &builder, OperationState &state, Value operand,
                  StringRef fftType, ArrayRef<int64_t> fftLength) {
  Type element = fftElement(elementTypeOf(operand.getType()), fftType);
  auto shape = globalShape(operand.getType());
  build(builder, state,
        RankedTensorType::get(
            fftShape(shape, fftType, fftLength, /*result=*/true),
            element ? element : elementTypeOf(operand.getType())),
        operand, fftType, fftLength);
}

ShardingRule FftOp::getShardingRule() {
  RuleBuilder rule(*this);
  size_t rank = globalShape(getType()).size(), along = getFftLength().size();
  ShardingRule::Tensor operand = rule.dims(rank - along), result = operand;
  for (size_t i = 0; i < along; ++i) {
    operand.push_back({rule.whole()});
    result.push_back({rule.whole()});
  }
  rule.operand(std::move(operand));
  rule.result(std::move(result));
  return rule.finish(PartialFlow::LinearEach);
}

OpCost FftOp::getCost(const ShardingRule &rule) {
  int64_t logs = 0;
  for (int64_t length : getFftLength())
    logs += logOf(length);
  return {5 * logs, onlyIn(rule.results[0], rule.operands[0])};
}
int64_t FftOp::getTerms() {
  return lengthOf(getOperand());
}

LibraryCall FftOp::getLibraryCall() {
  return LibraryCall(*this, "fft")
      .text("fft_type", getFftType())
      .list("fft_length", getFftLength());
}

LogicalResult FftOp::verify() {
  StringRef type = getFftType();
  ArrayRef<int64_t> lengths = getFftLength();
  auto shape = globalShape(getOperand().getType());
  if (!llvm::is_contained(ArrayRef<StringRef>{"FFT", "IFFT", "RFFT", "IRFFT"},
                          type))
    return violates(*this, 1)
           << "fft_type is '" << type << "', expected FFT, IFFT, RFFT or IRFFT";
  if (lengths.empty() || lengths.size() > 3 || lengths.size() > shape.size())
    return violates(*this, 1) << "fft_length has " << lengths.size()
                              << " entries for " << shape.size() << " dims";
  Type element = fftElement(elementTypeOf(getOperand().getType()), type);
  if (!element || elementTypeOf(getType()) != element)
    return violates(*this, 2)
           << type << " does not take " << elementTypeOf(getOperand().getType())
           << " and give " << elementTypeOf(getType());
  if (shape != fftShape(shape, type, lengths, /*result=*/false))
    return violates(*this, 3) << "the operand's last dims are not fft_length";
  auto expected = fftShape(shape, type, lengths, /*result=*/true);
  if (globalShape(getType()) != expected)
    return violates(*this, 4)
           << "the result must be " << undecided(getType(), expected);
  return success();
}

//===----------------------------------------------------------------------===//
// GeqrfOp, HouseholderProductOp
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> tausShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> taus(leading(shape));
  taus.push_back(std::min(shape.back(), shape[shape.size() - 2]));
  return taus;
}

void GeqrfOp::build(OpBuilder &builder, OperationState &state, Value a) {
  build(builder, state, undecided(a.getType()),
        undecided(a.getType(), tausShape(globalShape(a.getType()))), a);
}

int64_t GeqrfOp::getTerms() {
  return lengthOf(getA());
}

LibraryCall GeqrfOp::getLibraryCall() {
  return LibraryCall(*this, "geqrf");
}
int GeqrfOp::getOverwritable(unsigned result) {
  return result == 0 ? 0 : -1;
}

LogicalResult GeqrfOp::verify() {
  if (failed(verifyOneElementType(*this)))
    return failure();
  auto shape = globalShape(getA().getType());
  if (shape.size() < 2 || globalShape(getResult().getType()) != shape)
    return violates(*this, 2) << "the operand has no matrices, or the result "
                                 "another shape";
  if (globalShape(getTaus().getType()) != tausShape(shape))
    return violates(*this, 3) << "the second result must be "
                              << undecided(getA().getType(), tausShape(shape));
  return success();
}

int64_t HouseholderProductOp::getTerms() {
  return lengthOf(getA());
}

LibraryCall HouseholderProductOp::getLibraryCall() {
  return LibraryCall(*this, "householder_product");
}
int HouseholderProductOp::getOverwritable(unsigned) {
  return 0;
}

LogicalResult HouseholderProductOp::verify() {
  if (failed(verifyOneElementType(*this)))
    return failure();
  auto shape = globalShape(getA().getType()),
       taus = globalShape(getTaus().getType());
  if (shape.size() < 2 || shape.back() > shape[shape.size() - 2] ||
      globalShape(getType()) != shape)
    return violates(*this, 2)
           << "a has no matrices with at least as many rows as columns, or the "
              "result another shape";
  if (taus.size() + 1 != shape.size() ||
      ArrayRef(taus).drop_back() != leading(shape) ||
      taus.back() > shape.back())
    return violates(*this, 3) << "taus is " << undecided(getTaus().getType())
                              << " for " << undecided(getA().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// CustomCallOp
//===----------------------------------------------------------------------===//

/// The rule's text: the op's own, else the registration's, else empty.
static std::string ruleText(CustomCallOp op) {
  if (op.getRule())
    return op.getRule()->str();
  auto target = find_custom_call(op.getCallTargetName().str());
  return target ? target->rule : "";
}

static ReduceKind kindOf(CustomCallOp op) {
  if (op.getKind())
    return *op.getKind();
  auto target = find_custom_call(op.getCallTargetName().str());
  return target ? target->kind : ReduceKind::Sum;
}

/// The rule of one call, bound to its shapes.
static Result<ShardingRule> ruleOfCall(CustomCallOp op,
                                       const std::string &text) {
  auto shapesOf = [&](mlir::TypeRange types) {
    std::vector<Shape> shapes;
    for (Type type : types) {
      auto shape = globalShape(type);
      shapes.emplace_back(shape.begin() + op.getBatchDims(), shape.end());
    }
    return shapes;
  };
  auto operands = shapesOf(op->getOperandTypes()),
       results = shapesOf(op->getResultTypes());
  if (text.empty()) {
    ShardingRule rule;
    auto whole = [&](const Shape &shape) {
      ShardingRule::Tensor dims;
      for (int64_t extent : shape) {
        dims.push_back({unsigned(rule.factors.size())});
        rule.factors.push_back({"w" + std::to_string(rule.factors.size()),
                                extent, FactorKind::Whole});
      }
      return dims;
    };
    for (const Shape &shape : operands)
      rule.operands.push_back(whole(shape));
    for (const Shape &shape : results)
      rule.results.push_back(whole(shape));
    return rule;
  }
  Result<ShardingRule> rule = ShardingRule::parse(text);
  if (!rule)
    return rule.error();
  if (Status fits = rule->bind(operands, results); !fits)
    return fits.error();
  rule->reduceKind = kindOf(op);
  return rule;
}

/// Returns the rule of all calls.
static Result<ShardingRule> readRule(CustomCallOp op, const std::string &text) {
  Result<ShardingRule> rule = ruleOfCall(op, text);
  if (!rule)
    return rule;
  auto batch = unsigned(op.getBatchDims());
  auto first = unsigned(rule->factors.size());
  auto shape = globalShape(op->getResult(0).getType());
  for (unsigned dim = 0; dim < batch; ++dim)
    rule->factors.push_back({"batch" + std::to_string(dim), shape[dim]});
  for (auto *tensors : {&rule->operands, &rule->results})
    for (ShardingRule::Tensor &dims : *tensors)
      for (unsigned dim = batch; dim-- > 0;)
        dims.insert(dims.begin(), {first + dim});
  for (ShardingRule::Window &window : rule->windows)
    window.dim += batch;
  return rule;
}

ShardingRule CustomCallOp::getShardingRule() {
  Result<ShardingRule> rule = readRule(*this, ruleText(*this));
  assert(rule && "an op that passed its verifier fits its rule");
  return *rule;
}

LibraryCall CustomCallOp::getLibraryCall() {
  return LibraryCall(*this, "custom_call")
      .text("call_target_name", getCallTargetName())
      .text("backend_config", getBackendConfig())
      .number("batch_dims", getBatchDims())
      .text("kind", name(getShardingRule().reduceKind));
}

LogicalResult CustomCallOp::verify() {
  if (getResults().empty())
    return violates(*this, 1) << "there is no result";
  auto batch = size_t(getBatchDims());
  auto batchOf = [&](Type type) -> std::optional<SmallVector<int64_t>> {
    SmallVector<int64_t> shape = globalShape(type);
    if (getBatchDims() < 0 || shape.size() < batch)
      return std::nullopt;
    shape.truncate(batch);
    return shape;
  };
  auto expected = batchOf(getResult(0).getType());
  for (mlir::TypeRange types :
       {mlir::TypeRange(getOperandTypes()), mlir::TypeRange(getResultTypes())})
    for (Type type : types)
      if (auto dims = batchOf(type); !dims || dims != expected)
        return violates(*this, 3)
               << "the first " << getBatchDims() << " dims of " << type
               << " are not those of the first result";
  std::string text = ruleText(*this);
  Result<ShardingRule> rule = readRule(*this, text);
  if (!rule)
    return violates(*this, 2)
           << "the rule '" << text << "' of '" << getCallTargetName()
           << "' does not fit: " << rule.error().message();
  if (llvm::none_of(rule->factors, [](const Factor &factor) {
        return factor.kind == FactorKind::Reduced;
      }))
    return success();
  ReduceKind kind = rule->reduceKind;
  bool logical = kind == ReduceKind::And || kind == ReduceKind::Or;
  bool extreme = kind == ReduceKind::Min || kind == ReduceKind::Max;
  for (Type type : getResultTypes()) {
    Type element = elementTypeOf(type);
    bool complex = isa<mlir::ComplexType>(element);
    if ((logical && (complex || isa<FloatType>(element))) ||
        (extreme && complex))
      return violates(*this, 4)
             << "a reduction by " << name(kind) << " does not take " << element;
  }
  return success();
}

} // namespace meshloom::dtensor
