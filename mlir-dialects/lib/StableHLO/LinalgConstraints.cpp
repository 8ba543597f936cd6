// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of linear algebra, fft, batch normalisation and random numbers.

#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::stablehlo;
using mlir::ShapedType;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

LogicalResult CholeskyOp::verify() {
  Constraints c(*this);
  ArrayRef<int64_t> shape = shapeOf(getA());
  if (!c.sameBaselineTypes("C1", {getA().getType(), getType()}) ||
      !c.atLeast("C2", "the rank", rankOf(getA()), 2))
    return failure();
  if (agree(shape[shape.size() - 1], shape[shape.size() - 2]))
    return success();
  return c.violates("C3") << "the matrices must be square, but the operand is "
                          << getA().getType();
}

LogicalResult TriangularSolveOp::verify() {
  Constraints c(*this);
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB());
  if (!c.sameBaseline("C1", {getA().getType(), getB().getType()}) ||
      !c.atLeast("C2", "the rank", rankOf(getA()), 2) ||
      !c.size("C2", "the shape of b", b.size(), rankOf(getA())))
    return failure();
  size_t last = a.size() - 1;
  if (!agree(a[last], a[last - 1]) ||
      !agree(a[last], b[getLeftSide() ? last - 1 : last]) ||
      !agree(a.drop_back(2), b.drop_back(2)))
    return c.violates("C3")
           << getA().getType() << " is not a system for " << getB().getType();
  return success(
      c.sameBaselineTypes("C4", {getB().getType(), getType()}) &&
      c.require(getTransposeA() != Transpose::TRANSPOSE_INVALID, "I6",
                "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT"));
}

//===----------------------------------------------------------------------===//
// fft
//===----------------------------------------------------------------------===//

LogicalResult FftOp::verify() {
  Constraints c(*this);
  ArrayRef<int64_t> lengths = getFftLength(), shape = shapeOf(getOperand());
  if (!c.inRange("C3", "size(fft_length)", int64_t(lengths.size()), 1, 4) ||
      !c.inRange("C1", "size(fft_length)", int64_t(lengths.size()), 1,
                 int64_t(shape.size()) + 1))
    return failure();
  FftType kind = getFftType();
  Type from = elementOf(getOperand().getType()), to = elementOf(getType());
  auto complexOf = [](Type complex, Type real) {
    auto number = dyn_cast<mlir::ComplexType>(complex);
    return number && number.getElementType() == real;
  };
  bool fits = kind == FftType::RFFT ? complexOf(to, from)
              : kind == FftType::IRFFT
                  ? complexOf(from, to)
                  : from == to && isa<mlir::ComplexType>(from);
  if (!fits)
    return c.violates("C2") << "a transform of type " << stringifyFftType(kind)
                            << " cannot make a " << getType() << " of a "
                            << getOperand().getType();
  // The real side is as long as fft_length says; of the other, the last dim
  // holds the half that determines the rest.
  SmallVector<int64_t> expected(shape);
  ArrayRef<int64_t> real =
      kind == FftType::IRFFT ? shapeOf(getResult()) : shape;
  bool realSide = kind == FftType::RFFT || kind == FftType::IRFFT;
  if (realSide && (real.size() < lengths.size() ||
                   !agree(real.take_back(lengths.size()), lengths)))
    return c.violates("C4") << "fft_length is [" << lengths
                            << "], but the real values' shape [" << real << "]";
  int64_t last = lengths.back(), half = last == 0 ? 0 : last / 2 + 1;
  if (kind == FftType::RFFT)
    expected.back() = half;
  if (kind == FftType::IRFFT) {
    if (!agree(shape.back(), half))
      return c.violates("C5")
             << "the operand's last dim has " << shape.back()
             << " elements, expected " << half << " of a transform of " << last;
    expected.back() = last;
  }
  return success(c.shape("C5", "the result", getType(), expected));
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

/// `features` are vectors with an entry for each place of the feature dim; the
/// constraints on their sizes are numbered from `first` on, or are all that
/// one.
static bool normalizes(const Constraints &c, Value operand, int64_t feature,
                       ArrayRef<Value> features, int first, bool counts) {
  if (!c.inRange("C1", "feature_index", feature, 0, rankOf(operand)))
    return false;
  int64_t size = shapeOf(operand)[feature];
  for (auto [i, value] : llvm::enumerate(features)) {
    std::string number = "C" + std::to_string(first + (counts ? int(i) : 0));
    if (!c.sameBaseline("C2", {operand.getType(), value.getType()}) ||
        !c.shape(number, "a value for each feature", value.getType(), size))
      return false;
  }
  return true;
}

LogicalResult BatchNormGradOp::verify() {
  Constraints c(*this);
  Type operand = getOperand().getType();
  return success(normalizes(c, getOperand(), int64_t(getFeatureIndex()),
                            {getScale(), getMean(), getVariance(),
                             getGradScale(), getGradOffset()},
                            5, /*counts=*/false) &&
                 c.sameBaseline("C2", {operand, getGradOutput().getType(),
                                       getGradOperand().getType()}) &&
                 c.sameShape("C3", {operand, getGradOutput().getType(),
                                    getGradOperand().getType()}));
}

LogicalResult BatchNormInferenceOp::verify() {
  Constraints c(*this);
  return success(
      normalizes(c, getOperand(), int64_t(getFeatureIndex()),
                 {getScale(), getOffset(), getMean(), getVariance()}, 3,
                 /*counts=*/true) &&
      c.sameBaselineTypes("C7", {getOperand().getType(), getType()}));
}

LogicalResult BatchNormTrainingOp::verify() {
  Constraints c(*this);
  return success(
      normalizes(c, getOperand(), int64_t(getFeatureIndex()),
                 {getScale(), getOffset(), getBatchMean(), getBatchVar()}, 3,
                 /*counts=*/true) &&
      c.sameBaselineTypes("C7",
                          {getOperand().getType(), getOutput().getType()}));
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

LogicalResult RngOp::verify() {
  Constraints c(*this);
  Type element = elementOf(getA().getType());
  return success(
      c.scalar("C1", "a", getA()) && c.scalar("C1", "b", getB()) &&
      c.sameElement("C1", {getA().getType(), getB().getType(), getType()}) &&
      c.require(getRngDistribution() != RngDistribution::NORMAL ||
                    isa<FloatType>(element),
                "C2", "normal numbers must be floats") &&
      c.shape("C3", "shape", getShape().getType(), rankOf(getResult())));
}

LogicalResult RngBitGeneratorOp::verify() {
  Constraints c(*this);
  if (!c.sameTypes("C1",
                   {getInitialState().getType(), getOutputState().getType()}))
    return failure();
  ArrayRef<int64_t> state = shapeOf(getInitialState());
  if (state.size() == 1 && ShapedType::isDynamic(state[0]))
    return success();
  // 64-bit words; what DEFAULT takes is this implementation's choice.
  auto word = dyn_cast<IntegerType>(elementOf(getInitialState().getType()));
  bool holds = word && state.size() == 1;
  int64_t words = holds ? state[0] * int64_t(word.getWidth()) / 64 : 0;
  holds &= getRngAlgorithm() == RngAlgorithm::THREE_FRY
               ? words == 2
               : words == 2 || words == 3;
  if (holds || getRngAlgorithm() == RngAlgorithm::DEFAULT)
    return success();
  return c.violates("C2") << "the state of "
                          << stringifyRngAlgorithm(getRngAlgorithm())
                          << " cannot be a " << getInitialState().getType();
}
