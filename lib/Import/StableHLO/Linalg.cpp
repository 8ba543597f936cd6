// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cholesky, triangular_solve and fft. Their leading dims are batches, so lanes
// need nothing special.
#include "Importer.h"

using namespace meshloom;
using namespace meshloom::importer;

static Value importCholesky(Importer &im, stablehlo::CholeskyOp op) {
  LaneBuilder &b = im.b;
  Value a = im.get(op.getA());
  SmallVector<NamedAttribute> attributes;
  if (op.getLower())
    attributes.push_back(b.named("lower", b.getUnitAttr()));
  return b.make<dtensor::CholeskyOp>({Importer::typeOf(op.getResult())}, a,
                                     Lanes(b.lanesOf(a)), attributes)[0];
}

static Value importTriangularSolve(Importer &im,
                                   stablehlo::TriangularSolveOp op) {
  LaneBuilder &b = im.b;
  SmallVector<Value> operands =
      b.aligned({im.get(op.getA()), im.get(op.getB())});
  SmallVector<NamedAttribute> attributes{b.named(
      "transpose_a",
      b.getStringAttr(stablehlo::stringifyTranspose(op.getTransposeA())))};
  auto flag = [&](StringRef name, bool set) {
    if (set)
      attributes.push_back(b.named(name, b.getUnitAttr()));
  };
  flag("left_side", op.getLeftSide());
  flag("lower", op.getLower());
  flag("unit_diagonal", op.getUnitDiagonal());
  return b.make<dtensor::TriangularSolveOp>({Importer::typeOf(op.getResult())},
                                            operands, b.lanesOf(operands),
                                            attributes)[0];
}

static Value importFft(Importer &im, stablehlo::FftOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand());
  return b.make<dtensor::FftOp>(
      {Importer::typeOf(op.getResult())}, operand, Lanes(b.lanesOf(operand)),
      {b.named("fft_type",
               b.getStringAttr(stablehlo::stringifyFftType(op.getFftType()))),
       b.named("fft_length", b.getDenseI64ArrayAttr(op.getFftLength()))})[0];
}

void importer::addLinalg(Handlers &handlers) {
  handlers.add<stablehlo::CholeskyOp>(importCholesky);
  handlers.add<stablehlo::TriangularSolveOp>(importTriangularSolve);
  handlers.add<stablehlo::FftOp>(importFft);
}
