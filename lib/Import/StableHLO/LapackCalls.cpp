// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Custom calls about matrices: those of LAPACK and BLAS, which JAX emits on
// CPUs, and those that XLA's compilers expand, which it emits elsewhere.
#include "CustomCalls.h"
#include "meshloom/Math/FloatMath.h"

#include "llvm/ADT/StringSwitch.h"

using namespace meshloom;
using namespace meshloom::importer;

/// The letter that LAPACK calls an option by; the first one of `allowed` where
/// the call does not say.
static FailureOr<char> letter(Importer &im, Call op, StringRef name,
                              StringRef allowed) {
  int64_t value = configured(op, name).value_or(allowed.front());
  if (value > 0 && value < 128 && allowed.contains(char(value)))
    return char(value);
  std::string names;
  for (char choice : allowed)
    names += (names.empty() ? "" : ", ") + std::string(1, choice);
  auto error = im.error("custom call '")
               << op.getCallTargetName() << "': '" << name << "' is " << value;
  if (value > 32 && value < 127)
    error << " (" << std::string(1, char(value)) << ")";
  error << ", expected one of " << names;
  return failure();
}

static LogicalResult checkMatrices(Importer &im, Call op) {
  for (Value operand : im.get(op.getInputs()))
    if (im.b.rankOf(operand) < 1 ||
        !isa<FloatType, mlir::ComplexType>(im.b.elementOf(operand)))
      return im.error("custom call '")
             << op.getCallTargetName() << "' takes matrices of floats, not a "
             << im.b.typeOf(operand);
  return success();
}

/// potrf: the factor, and per matrix 0 or where it stops being definite.
static Imported importPotrf(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (failed(checkCounts(im, op, 1, 2)) || failed(checkMatrices(im, op)))
    return failure();
  Value a = im.get(op.getInputs()[0]);
  int64_t rank = b.rankOf(a);
  if (rank < 2)
    return im.error("potrf takes matrices");
  auto uplo = letter(im, op, "uplo", "LU");
  if (failed(uplo))
    return failure();
  SmallVector<NamedAttribute> attributes;
  if (*uplo == 'L')
    attributes.push_back(b.named("lower", b.getUnitAttr()));
  Value factor = b.make<dtensor::CholeskyOp>(
      {b.typeOf(a)}, a, Lanes(b.lanesOf(a)), attributes)[0];
  // A matrix that is not definite has a nan in its factor.
  FloatMath m(b);
  Value failed =
      b.reduce(ReduceKind::Or, m.ne(factor, factor), {rank - 2, rank - 1});
  Value info =
      b.convert(failed, Importer::typeOf(op->getResult(1)).getElementType());
  return SmallVector<Value>{factor, info};
}

static Value solve(LaneBuilder &b, Value a, Value c, bool isLeft, bool lower,
                   bool unit, StringRef transpose) {
  SmallVector<Value> operands = b.aligned({a, c});
  SmallVector<NamedAttribute> attributes{
      b.named("transpose_a", b.getStringAttr(transpose))};
  auto flag = [&](StringRef name, bool set) {
    if (set)
      attributes.push_back(b.named(name, b.getUnitAttr()));
  };
  flag("left_side", isLeft);
  flag("lower", lower);
  flag("unit_diagonal", unit);
  return b.make<dtensor::TriangularSolveOp>({b.typeOf(c)}, operands,
                                            b.lanesOf(operands), attributes)[0];
}

static Imported importTrsm(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 2, 1)) || failed(checkMatrices(im, op)))
    return failure();
  auto side = letter(im, op, "side", "LR"), uplo = letter(im, op, "uplo", "LU"),
       diagonal = letter(im, op, "diag", "NU"),
       transpose = letter(im, op, "trans_x", "NTC");
  if (failed(side) || failed(uplo) || failed(diagonal) || failed(transpose))
    return failure();
  return SmallVector<Value>{solve(im.b, im.get(op.getInputs()[0]),
                                  im.get(op.getInputs()[1]), *side == 'L',
                                  *uplo == 'L', *diagonal == 'U',
                                  *transpose == 'C'   ? "ADJOINT"
                                  : *transpose == 'T' ? "TRANSPOSE"
                                                      : "NO_TRANSPOSE")};
}

/// The older form, whose flags are operands: (left, lower, transpose, unit
/// diagonal, m, n, batch, alpha, a, b).
static Imported importOldTriangularSolve(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (op.getInputs().size() < 10)
    return im.error("custom call '")
           << op.getCallTargetName() << "' takes at least 10 operands";
  auto flag = [&](unsigned i) { return constantNumber(op.getInputs()[i]); };
  auto isLeft = flag(0), lower = flag(1), transpose = flag(2), unit = flag(3);
  if (!isLeft || !lower || !transpose || !unit)
    return im.error("the flags of '")
           << op.getCallTargetName() << "' must be constants";
  Value right = im.get(op.getInputs().back()),
        a = im.get(op.getInputs().drop_back(1).back()),
        alpha = im.get(op.getInputs().drop_back(2).back());
  if (!im.isIdentity(ReduceKind::Prod, alpha))
    right = b.apply<dtensor::MultiplyOp>(
        {right, b.broadcast(alpha, b.shapeOf(right))});
  return SmallVector<Value>{solve(b, a, right, *isLeft, *lower, *unit,
                                  *transpose == 2   ? "ADJOINT"
                                  : *transpose == 1 ? "TRANSPOSE"
                                                    : "NO_TRANSPOSE")};
}

static Imported importQr(Importer &im, Call op) {
  if (failed(checkMatrices(im, op)) || failed(checkCounts(im, op, 1, 2)))
    return failure();
  Value a = im.get(op.getInputs()[0]);
  return im.b.make<dtensor::GeqrfOp>(
      {Importer::typeOf(op->getResult(0)), Importer::typeOf(op->getResult(1))},
      a, Lanes(im.b.lanesOf(a)));
}

static Imported importHouseholder(Importer &im, Call op) {
  if (failed(checkMatrices(im, op)) || failed(checkCounts(im, op, 2, 1)))
    return failure();
  SmallVector<Value> operands = im.b.aligned(im.get(op.getInputs()));
  return im.b.make<dtensor::HouseholderProductOp>(
      {Importer::typeOf(op->getResult(0))}, operands, im.b.lanesOf(operands));
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

/// The matrices that the call is about, its one operand.
static FailureOr<Value> matricesOf(Importer &im, Call op, size_t results) {
  if (failed(checkCounts(im, op, 1, results)) || failed(checkMatrices(im, op)))
    return failure();
  Value a = im.get(op.getInputs()[0]);
  if (im.b.rankOf(a) < 2)
    return im.error("custom call '")
           << op.getCallTargetName() << "' takes matrices, not a "
           << im.b.typeOf(a);
  return a;
}

static RankedTensorType resultType(Call op, unsigned i) {
  return Importer::typeOf(op->getResult(i));
}

/// Stands for a result that LAPACK leaves something undefined in: zeros.
static FailureOr<Value> undefined(Importer &im, Call op, unsigned i) {
  if (!op->getResult(i).use_empty())
    return im.error("result ")
           << i << " of custom call '" << op.getCallTargetName()
           << "' holds nothing that is defined, but is "
              "used";
  return im.b.splat(resultType(op, i), 0.0);
}

/// LAPACK's info: 1 for the matrices whose result is nan, because they hold one
/// or an iteration did not end. `values`: of the last dims of it.
static Value infoOfNans(Importer &im, Value values, unsigned dims,
                        RankedTensorType type) {
  FloatMath m(im.b);
  int64_t rank = im.b.rankOf(values);
  SmallVector<int64_t> last =
      llvm::to_vector(llvm::seq<int64_t>(rank - dims, rank));
  return im.b.convert(im.b.reduce(ReduceKind::Or, m.ne(values, values), last),
                      type.getElementType());
}

/// `value` of the part type as a `type`.
template <typename Part>
static Value partOf(Importer &im, Value value, RankedTensorType type) {
  return im.b.apply<Part>(value, type);
}

/// Pivots from 1 on, and the place from 1 on of the first zero on the diagonal
/// of U, 0 if there is none.
static Imported importLu(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  auto a = matricesOf(im, op, 3);
  if (failed(a))
    return failure();
  RankedTensorType type = b.typeOf(*a);
  SmallVector<int64_t> rows(type.getShape().drop_back());
  SmallVector<Value> lu =
      b.make<dtensor::LuOp>({resultType(op, 0), resultType(op, 1),
                             RankedTensorType::get(rows, b.getI32Type())},
                            *a, Lanes(b.lanesOf(*a)));
  FloatMath m(b);
  auto ordinals = RankedTensorType::get(type.getShape(), b.getI32Type());
  int64_t rank = type.getRank();
  Value row = b.iota(ordinals, rank - 2), column = b.iota(ordinals, rank - 1);
  Value isZero = m.both(m.eq(lu[0], 0), m.eq(row, column));
  int64_t beyond = type.getShape().back();
  Value first =
      b.reduce(ReduceKind::Min, m.select(isZero, row, b.like(row, beyond)),
               {rank - 2, rank - 1});
  Value info =
      m.select(m.eq(first, double(beyond)), b.like(first, 0), m.add(first, 1));
  return SmallVector<Value>{
      lu[0], m.add(lu[1], 1),
      b.convert(info, resultType(op, 2).getElementType())};
}

/// XLA's: the pivots count from 0, and the permutation is there.
static Imported importLuDecomposition(Importer &im, Call op) {
  auto a = matricesOf(im, op, 3);
  if (failed(a))
    return failure();
  return im.b.make<dtensor::LuOp>(
      {resultType(op, 0), resultType(op, 1), resultType(op, 2)}, *a,
      Lanes(im.b.lanesOf(*a)));
}

static SmallVector<Value> eigh(Importer &im, Call op, Value a, bool lower) {
  SmallVector<NamedAttribute> attributes;
  if (lower)
    attributes.push_back(im.b.named("lower", im.b.getUnitAttr()));
  return im.b.make<dtensor::EighOp>({resultType(op, 0), resultType(op, 1)}, a,
                                    Lanes(im.b.lanesOf(a)), attributes);
}

/// syevd and heevd.
static Imported importEigh(Importer &im, Call op) {
  auto a = matricesOf(im, op, 3);
  auto mode = letter(im, op, "mode", "VN"), uplo = letter(im, op, "uplo", "LU");
  if (failed(a) || failed(mode) || failed(uplo))
    return failure();
  SmallVector<Value> decomposed = eigh(im, op, *a, *uplo == 'L');
  decomposed.push_back(infoOfNans(im, decomposed[1], 1, resultType(op, 2)));
  return decomposed;
}

/// XLA's, with a config of "LOWER,SORTED,SWEEPS,TOLERANCE". Sorted eigenvalues
/// are in any order, too.
static Imported importEighDecomposition(Importer &im, Call op) {
  auto a = matricesOf(im, op, 2);
  auto config = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr());
  if (failed(a))
    return failure();
  StringRef lower = config ? config.getValue().split(',').first : "";
  if (lower != "0" && lower != "1")
    return im.error("custom call 'Eigh': expected a backend_config that begins "
                    "with 1 or 0, for the lower or the upper triangle, got '")
           << (config ? config.getValue() : "") << "'";
  return eigh(im, op, *a, lower == "1");
}

static Imported importSvd(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  auto a = matricesOf(im, op, 5);
  auto mode = letter(im, op, "mode", "ASN");
  auto scratch = undefined(im, op, 0);
  if (failed(a) || failed(mode) || failed(scratch))
    return failure();
  SmallVector<NamedAttribute> attributes;
  SmallVector<RankedTensorType> types{resultType(op, 2), resultType(op, 1),
                                      resultType(op, 3)};
  if (*mode == 'A')
    attributes.push_back(b.named("full_matrices", b.getUnitAttr()));
  if (*mode == 'N') {
    // Nothing is said of the vectors' shapes.
    SmallVector<int64_t> u(b.shapeOf(*a)), vh(u);
    u.back() = vh.end()[-2] = std::min(u.back(), u.end()[-2]);
    Type element = b.elementOf(*a);
    types[0] = RankedTensorType::get(u, element);
    types[2] = RankedTensorType::get(vh, element);
  }
  SmallVector<Value> svd =
      b.make<dtensor::SvdOp>(types, *a, Lanes(b.lanesOf(*a)), attributes);
  if (*mode == 'N')
    for (unsigned i : {0u, 2u}) {
      auto none = undefined(im, op, i == 0 ? 2 : 3);
      if (failed(none))
        return failure();
      svd[i] = *none;
    }
  return SmallVector<Value>{*scratch, svd[1], svd[0], svd[2],
                            infoOfNans(im, svd[1], 1, resultType(op, 4))};
}

/// geev, whose eigenvalues come in two parts for real matrices.
static Imported importEig(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (op.getInputs().size() != 1)
    return im.error("custom call '")
           << op.getCallTargetName() << "' takes one operand";
  bool real = isa<FloatType>(b.elementOf(im.get(op.getInputs()[0])));
  auto a = matricesOf(im, op, real ? 5 : 4);
  auto wantsLeft = letter(im, op, "compute_left", "NV"),
       right = letter(im, op, "compute_right", "NV");
  if (failed(a) || failed(wantsLeft) || failed(right))
    return failure();
  unsigned first = real ? 2 : 1;
  RankedTensorType part = resultType(op, 0), vectors = resultType(op, first);
  auto values =
      real ? part.clone(mlir::ComplexType::get(part.getElementType())) : part;
  auto decompose = [&](bool leftVectors) {
    SmallVector<NamedAttribute> attributes{
        b.named("lapack_order", b.getUnitAttr())};
    if (leftVectors)
      attributes.push_back(b.named("left", b.getUnitAttr()));
    return b.make<dtensor::EigOp>({values, vectors}, *a, Lanes(b.lanesOf(*a)),
                                  attributes);
  };
  SmallVector<Value> eig = decompose(/*leftVectors=*/false);
  SmallVector<Value> results{eig[0]};
  if (real)
    results = {partOf<dtensor::RealOp>(im, eig[0], part),
               partOf<dtensor::ImagOp>(im, eig[0], part)};
  for (auto [i, wanted] : llvm::enumerate(std::array{*wantsLeft, *right})) {
    if (wanted == 'V') {
      results.push_back(i == 0 ? decompose(/*leftVectors=*/true)[1] : eig[1]);
      continue;
    }
    auto none = undefined(im, op, first + unsigned(i));
    if (failed(none))
      return failure();
    results.push_back(*none);
  }
  results.push_back(infoOfNans(im, eig[0], 1, resultType(op, first + 2)));
  return results;
}

/// gees: the eigenvalues are T's diagonal, which nobody asks it for.
static Imported importSchur(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  size_t count = op->getNumResults();
  auto a = matricesOf(im, op, count == 6 ? 6 : 5);
  auto mode = letter(im, op, "mode", "VN"), sort = letter(im, op, "sort", "N");
  if (failed(a) || failed(mode) || failed(sort))
    return failure();
  SmallVector<Value> schur = b.make<dtensor::SchurOp>(
      {resultType(op, 0), resultType(op, 1)}, *a, Lanes(b.lanesOf(*a)),
      b.named("lapack_order", b.getUnitAttr()));
  SmallVector<Value> results{schur};
  for (unsigned i = 2; i + 2 < count; ++i) {
    auto none = undefined(im, op, i);
    if (failed(none))
      return failure();
    results.push_back(*none);
  }
  // How many eigenvalues were selected: none are.
  results.push_back(b.splat(resultType(op, unsigned(count) - 2), 0.0));
  results.push_back(
      infoOfNans(im, schur[0], 2, resultType(op, unsigned(count) - 1)));
  return results;
}

/// gtsv: the diagonals' places are scratch memory then.
static Imported importTridiagonalSolve(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 4, 5)) || failed(checkMatrices(im, op)))
    return failure();
  SmallVector<Value> operands = im.b.aligned(im.get(op.getInputs()));
  Value x = im.b.make<dtensor::TridiagonalSolveOp>(
      {resultType(op, 3)}, operands, im.b.lanesOf(operands))[0];
  SmallVector<Value> results;
  for (unsigned i = 0; i < 3; ++i) {
    auto none = undefined(im, op, i);
    if (failed(none))
      return failure();
    results.push_back(*none);
  }
  results.push_back(x);
  results.push_back(infoOfNans(im, x, 2, resultType(op, 4)));
  return results;
}

//===----------------------------------------------------------------------===//
// Reflections
//===----------------------------------------------------------------------===//

/// LAPACK's info of what never fails.
static Value noInfo(Importer &im, Call op, unsigned i) {
  return im.b.splat(resultType(op, i), 0.0);
}

/// geqp3. LAPACK counts columns from 1; those whose number in the second
/// operand is 0 are free, all others come first.
static Imported importPivotedQr(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (failed(checkCounts(im, op, 2, 3)))
    return failure();
  Value a = im.get(op.getInputs()[0]);
  if (b.rankOf(a) < 2 || !isa<FloatType, mlir::ComplexType>(b.elementOf(a)))
    return im.error("custom call '")
           << op.getCallTargetName() << "' takes matrices of floats, not a "
           << b.typeOf(a);
  SmallVector<Value> operands{a};
  if (Value leading = im.get(op.getInputs()[1]);
      !im.isIdentity(ReduceKind::Sum, leading))
    operands = b.aligned({a, leading});
  SmallVector<Value> pivotedQr = b.make<dtensor::PivotedQrOp>(
      {resultType(op, 0), resultType(op, 1), resultType(op, 2)}, operands,
      b.lanesOf(operands));
  pivotedQr[1] = FloatMath(b).add(pivotedQr[1], 1);
  return pivotedQr;
}

/// gehrd, of whole matrices.
static Imported importHessenberg(Importer &im, Call op) {
  auto a = matricesOf(im, op, 3);
  if (failed(a))
    return failure();
  int64_t size = im.b.shapeOf(*a).back();
  if (configured(op, "low").value_or(1) != 1 ||
      configured(op, "high").value_or(size) != size)
    return im.error("custom call '")
           << op.getCallTargetName()
           << "' of a part of the matrix is not supported: 'low' must be 1 and "
              "'high' "
           << size;
  SmallVector<Value> hessenberg = im.b.make<dtensor::HessenbergOp>(
      {resultType(op, 0), resultType(op, 1)}, *a, Lanes(im.b.lanesOf(*a)));
  hessenberg.push_back(noInfo(im, op, 2));
  return hessenberg;
}

/// sytrd and hetrd: the Hessenberg form of a Hermitian matrix. From the upper
/// triangle LAPACK goes from the last column to the first, which is the same of
/// the matrix turned by half a turn.
static Imported importTridiagonalForm(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  auto operand = matricesOf(im, op, 5);
  auto uplo = letter(im, op, "uplo", "LU");
  if (failed(operand) || failed(uplo))
    return failure();
  FloatMath m(b);
  Value a = *operand;
  RankedTensorType type = b.typeOf(a);
  int64_t rank = type.getRank(), n = type.getShape().back();
  Lanes lanes(b.lanesOf(a));
  bool isComplex = isa<mlir::ComplexType>(type.getElementType());
  RankedTensorType parts =
      isComplex ? type.clone(dtensor::partTypeOf(type)) : type;
  auto realPart = [&](Value value) {
    return isComplex ? partOf<dtensor::RealOp>(im, value, parts) : value;
  };
  auto turned = [&](Value value, ArrayRef<int64_t> dims) -> Value {
    if (*uplo == 'L')
      return value;
    return b.make<dtensor::ReverseOp>({b.typeOf(value)}, value,
                                      Lanes(b.lanesOf(value)),
                                      b.list("dimensions", dims))[0];
  };
  a = turned(a, {rank - 2, rank - 1});
  // The other triangle, and the real diagonal.
  auto ordinals = RankedTensorType::get(type.getShape(), b.getI32Type());
  Value row = b.iota(ordinals, rank - 2), column = b.iota(ordinals, rank - 1);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order.end()[-1], order.end()[-2]);
  Value mirrored = b.transpose(a, order);
  if (isComplex)
    mirrored = b.apply<dtensor::ComplexOp>(
        {realPart(mirrored),
         m.neg(partOf<dtensor::ImagOp>(im, mirrored, parts))},
        type);
  Value hermitian = m.select(m.lt(column, row), a, mirrored);
  if (isComplex) {
    Value real = realPart(hermitian);
    Value imaginary = partOf<dtensor::ImagOp>(im, hermitian, parts);
    imaginary = m.select(m.eq(row, column), b.like(imaginary, 0), imaginary);
    hermitian = b.apply<dtensor::ComplexOp>({real, imaginary}, type);
  }
  RankedTensorType taus = resultType(op, 3);
  SmallVector<Value> hessenberg =
      b.make<dtensor::HessenbergOp>({type, taus}, hermitian, lanes);
  // The diagonal and the one below it, of which one element a row is left.
  auto diagonal = [&](int64_t below) {
    Value isThere = m.eq(row, below == 0 ? column : m.add(column, 1));
    Value elements = realPart(hessenberg[0]);
    elements = m.select(isThere, elements, b.like(elements, 0));
    elements = b.reduce(ReduceKind::Sum, elements, rank - 1);
    return turned(b.sliceDim(elements, rank - 2, below, n), rank - 2);
  };
  Value stored = m.select(m.lt(row, column), a, hessenberg[0]);
  return SmallVector<Value>{turned(stored, {rank - 2, rank - 1}), diagonal(0),
                            diagonal(1), turned(hessenberg[1], rank - 2),
                            noInfo(im, op, 4)};
}

/// ormqr and unmqr: a product with all of Q or its adjoint.
static Imported importReflect(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (failed(checkCounts(im, op, 3, 1)) || failed(checkMatrices(im, op)))
    return failure();
  bool isLeft = configured(op, "left").value_or(1) != 0,
       adjoint = configured(op, "transpose").value_or(0) != 0;
  SmallVector<Value> operands = b.aligned(im.get(op.getInputs()));
  Value a = operands[0], c = operands[2];
  int64_t rank = b.rankOf(a);
  SmallVector<int64_t> shape = b.shapeOf(a);
  if (rank < 2 || b.rankOf(c) != rank || b.rankOf(operands[1]) != rank - 1 ||
      shape.back() > shape[rank - 2] ||
      b.shapeOf(c)[rank - (isLeft ? 2 : 1)] != shape[rank - 2])
    return im.error("custom call '")
           << op.getCallTargetName() << "': the reflections in a "
           << b.typeOf(a) << " do not fit a " << b.typeOf(c);
  // Q has as many columns as rows; those that are missing store nothing.
  shape.back() = shape[rank - 2] - shape.back();
  if (shape.back() > 0)
    a = b.concatenate(
        {a, b.splat(RankedTensorType::get(shape, b.elementOf(a)), 0.0)},
        rank - 1);
  operands = b.aligned({a, operands[1]});
  Value q = b.make<dtensor::HouseholderProductOp>({b.typeOf(a)}, operands,
                                                  b.lanesOf(operands))[0];
  RankedTensorType type = b.typeOf(q);
  if (adjoint && isa<mlir::ComplexType>(type.getElementType())) {
    auto parts = type.clone(dtensor::partTypeOf(type));
    q = b.apply<dtensor::ComplexOp>(
        {partOf<dtensor::RealOp>(im, q, parts),
         b.apply<dtensor::NegateOp>(partOf<dtensor::ImagOp>(im, q, parts))},
        type);
  }
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  int64_t ofQ = isLeft != adjoint ? rank - 1 : rank - 2;
  auto product = isLeft ? importDot(im, q, c, batch, batch, ofQ, rank - 2,
                                    type.getElementType())
                        : importDot(im, c, q, batch, batch, rank - 1, ofQ,
                                    type.getElementType());
  if (failed(product))
    return failure();
  return SmallVector<Value>{*product};
}

//===----------------------------------------------------------------------===//
// Who imports what
//===----------------------------------------------------------------------===//

CustomCallHandler importer::matrixCallHandler(StringRef target) {
  if (auto handler = llvm::StringSwitch<CustomCallHandler>(target)
                         .Case("Eigh", importEighDecomposition)
                         .Case("LuDecomposition", importLuDecomposition)
                         .Cases("Qr", "QrDecompositionBlock", importQr)
                         .Case("ProductOfElementaryHouseholderReflectors",
                               importHouseholder)
                         .Default(nullptr))
    return handler;
  // lapack_spotrf_ffi and so on: s, d, c and z are element types.
  StringRef name = target;
  if (name.consume_front("lapack_") && name.consume_back("_ffi") &&
      !name.empty() && StringRef("sdcz").contains(name[0]))
    return llvm::StringSwitch<CustomCallHandler>(name.drop_front())
        .Case("potrf", importPotrf)
        .Case("trsm", importTrsm)
        .Case("geqrf", importQr)
        .Cases("orgqr", "ungqr", importHouseholder)
        .Case("getrf", importLu)
        .Cases("syevd", "heevd", importEigh)
        .Cases("gesdd", "gesvd", importSvd)
        .Case("geqp3", importPivotedQr)
        .Case("gehrd", importHessenberg)
        .Cases("sytrd", "hetrd", importTridiagonalForm)
        .Cases("ormqr", "unmqr", importReflect)
        .Case("geev", importEig)
        .Case("gees", importSchur)
        .Case("gtsv", importTridiagonalSolve)
        .Default(nullptr);
  name = target;
  if (name.consume_front("blas_") && name.size() == 5 &&
      name.drop_front() == "trsm")
    return importOldTriangularSolve;
  return nullptr;
}
