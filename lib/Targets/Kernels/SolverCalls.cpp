// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decomposition of a batch of matrices a becomes
//
//   operand       = transpose(the elements of a that the op reads), zeros for a
//                   matrix that has an element that is not finite
//   columns, info = solver_cholesky(operand)
//   result        = transpose(columns), nans where a is not finite, or where
//                   info is not 0
//
// A solver has its matrices column by column. It promises nothing for numbers
// that are not finite, and nothing about the phases of vectors. For batches of
// small matrices it has other functions.
#include "SolverCalls.h"

#include "CallLoops.h"
#include "ShapedBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <numeric>

using namespace meshloom;
using namespace meshloom::dtensor;

namespace {

/// Builds ops on batches of matrices, vectors and numbers, which are cut as the
/// batch of the matrices of `op` is.
class SolverBuilder {
public:
  SolverBuilder(Operation *op, Value matrices)
      : op(op), b(op), loc(op->getLoc()),
        element(elementTypeOf(matrices.getType())),
        part(partTypeOf(matrices.getType())),
        batch(llvm::ArrayRef(globalShape(matrices.getType())).drop_back(2)),
        rows(globalShape(matrices.getType()).rbegin()[1]),
        columns(globalShape(matrices.getType()).back()) {
    const Layout layout = spmd::layoutOf(matrices.getType());
    Layout::DimAxes axes = layout.dim_axes();
    axes.resize(batch.size());
    batchLayout =
        LayoutAttr::get(b.getContext(), *Layout::get(layout.mesh(), axes, {}));
  }

  /// Values with these dims behind those of the batch.
  ShapedBuilder shaped(ArrayRef<int64_t> dims) const {
    SmallVector<int64_t> shape = batch;
    llvm::append_range(shape, dims);
    return {op, shape, withDims(batchLayout, dims.size())};
  }
  /// Returns whether there are many matrices, which are small.
  bool isSmallBatch() const {
    constexpr int64_t fewest = 8, mostRows = 32;
    return std::accumulate(batch.begin(), batch.end(), int64_t(1),
                           std::multiplies<>()) >= fewest &&
           std::max(rows, columns) <= mostRows;
  }
  /// The dims of `value` behind those of the batch.
  SmallVector<int64_t> dimsOf(Value value) const {
    return llvm::to_vector(
        llvm::ArrayRef(globalShape(value.getType())).drop_front(batch.size()));
  }
  Value transposed(Value matrices) {
    const SmallVector<int64_t> dims = dimsOf(matrices);
    SmallVector<int64_t> permutation = llvm::to_vector(
        llvm::seq<int64_t>(0, int64_t(batch.size() + dims.size())));
    std::swap(permutation[batch.size()], permutation[batch.size() + 1]);
    return b.create<TransposeOp>(
        loc, shaped({dims[1], dims[0]}).of(elementTypeOf(matrices.getType())),
        matrices, permutation);
  }
  /// `value`, the same along further dims: those of `to` behind its own.
  Value spread(const ShapedBuilder &to, Value value) {
    const auto rank = int64_t(globalShape(value.getType()).size());
    return b.create<BroadcastInDimOp>(
        loc, to.of(elementTypeOf(value.getType())), value,
        llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  }
  /// Combines `value` along its last `count` dims.
  Value reduced(ReduceKind kind, Value value, size_t count) {
    SmallVector<int64_t> dims = dimsOf(value);
    const auto rank = int64_t(batch.size() + dims.size());
    dims.resize(dims.size() - count);
    auto reduce = b.create<ReduceOp>(
        loc, shaped(dims).of(elementTypeOf(value.getType())), kind, value,
        llvm::to_vector(llvm::seq<int64_t>(rank - int64_t(count), rank)));
    return reduce->getResult(0);
  }
  /// Says for each element of the batch whether all of `value` is finite.
  Value isFinite(Value value) {
    ShapedBuilder elements = shaped(dimsOf(value));
    auto isFinitePart = [&](Value number) -> Value {
      return b.create<IsFiniteOp>(loc, elements.of(b.getI1Type()), number);
    };
    Value finite;
    if (isa<mlir::ComplexType>(element))
      finite = elements.both(
          isFinitePart(b.create<RealOp>(loc, elements.of(part), value)),
          isFinitePart(b.create<ImagOp>(loc, elements.of(part), value)));
    else
      finite = isFinitePart(value);
    return reduced(ReduceKind::And, finite, dimsOf(value).size());
  }
  /// `value`, and `number` where the element of the batch does not pass.
  Value onlyWhere(Value passes, Value value, double number) {
    ShapedBuilder elements = shaped(dimsOf(value));
    return elements.select(
        spread(elements, passes), value,
        elements.number(elementTypeOf(value.getType()), number));
  }
  Value orNan(Value passes, Value value) {
    return onlyWhere(passes, value, std::numeric_limits<double>::quiet_NaN());
  }
  /// The triangle of Hermitian matrices, zeros beside it.
  Value triangle(Value matrices, bool lower, Value &isInside);
  /// Factors for the rows of `vectors`, each of which makes the largest element
  /// of its row real and positive: the first of the elements that come within a
  /// thousandth of it.
  Value phases(Value vectors);
  /// The numbers of the rows in their new order: each row has been exchanged,
  /// one after the other, with the row that its pivot names.
  Value exchangedRows(Value pivots);
  /// Calls the solver's function for the op, whose last result is `info`.
  /// Returns the others, and sets where the solver has had success.
  SmallVector<Value> call(const LibraryCall &description, ValueRange operands,
                          ArrayRef<Type> results, Value &isSolved);

  Operation *const op;
  OpBuilder b;
  const Location loc;
  const Type element, part; ///< `part`: of a complex number
  const SmallVector<int64_t> batch;
  const int64_t rows, columns;

private:
  LayoutAttr batchLayout;
};

Value SolverBuilder::triangle(Value matrices, bool lower, Value &isInside) {
  ShapedBuilder elements = shaped({rows, columns});
  Value row = elements.index(int64_t(batch.size())),
        column = elements.index(int64_t(batch.size()) + 1);
  isInside = elements.compare(
      lower ? ComparisonDirection::GE : ComparisonDirection::LE, row, column);
  if (isa<mlir::ComplexType>(element)) {
    Value real =
        b.create<ComplexOp>(loc, elements.of(element),
                            b.create<RealOp>(loc, elements.of(part), matrices),
                            elements.number(part, 0));
    matrices = elements.select(
        elements.compare(ComparisonDirection::EQ, row, column), real, matrices);
  }
  return elements.select(isInside, matrices, elements.number(element, 0));
}

Value SolverBuilder::phases(Value vectors) {
  const Type i64 = b.getI64Type();
  ShapedBuilder elements = shaped(dimsOf(vectors)),
                ones = shaped(dimsOf(vectors)[0]);
  Value size = b.create<AbsOp>(loc, elements.of(part), vectors);
  Value least = b.create<MultiplyOp>(loc, ones.of(part),
                                     reduced(ReduceKind::Max, size, 1),
                                     ones.number(part, 0.999));
  Value index = elements.index(int64_t(elements.shape.size()) - 1);
  Value isLarge =
      elements.compare(ComparisonDirection::GE, size, spread(elements, least));
  Value first =
      reduced(ReduceKind::Min,
              elements.select(isLarge, index,
                              elements.splat(i64, elements.shape.back())),
              1);
  Value isFirst =
      elements.compare(ComparisonDirection::EQ, index, spread(elements, first));
  Value largest = reduced(
      ReduceKind::Sum,
      elements.select(isFirst, vectors, elements.number(element, 0)), 1);
  Value length = b.create<AbsOp>(loc, ones.of(part), largest);
  auto over = [&](Value value) -> Value {
    return b.create<DivideOp>(loc, ones.of(part), value, length);
  };
  Value phase;
  if (isa<mlir::ComplexType>(element)) {
    Value real = b.create<RealOp>(loc, ones.of(part), largest),
          imaginary = b.create<ImagOp>(loc, ones.of(part), largest);
    phase = b.create<ComplexOp>(
        loc, ones.of(element), over(real),
        over(b.create<NegateOp>(loc, ones.of(part), imaginary)));
  } else {
    phase = over(largest);
  }
  return ones.select(
      ones.compare(ComparisonDirection::GT, length, ones.number(part, 0)),
      phase, ones.number(element, 1));
}

/// Exchanges are followed from the last one to the first.
Value SolverBuilder::exchangedRows(Value pivots) {
  const auto last = int64_t(batch.size());
  const ShapedBuilder one = shaped(1);
  ShapedBuilder numbers(op, pivots.getType());
  const Type i32 = b.getI32Type();
  Value place = b.create<ConvertOp>(loc, numbers.of(i32), numbers.index(last));
  SmallVector<int64_t> starts(batch.size() + 1, 0),
      limits(globalShape(pivots.getType())), strides(batch.size() + 1, 1);
  for (int64_t exchange = dimsOf(pivots)[0] - 1; exchange >= 0; --exchange) {
    starts[batch.size()] = exchange;
    limits[batch.size()] = exchange + 1;
    Value pivot = spread(numbers, b.create<SliceOp>(loc, one.of(i32), pivots,
                                                    starts, limits, strides));
    Value row = numbers.splat(i32, exchange);
    auto isPlace = [&](Value number) {
      return numbers.compare(ComparisonDirection::EQ, place, number);
    };
    place = numbers.select(isPlace(row), pivot,
                           numbers.select(isPlace(pivot), row, place));
  }
  return place;
}

SmallVector<Value> SolverBuilder::call(const LibraryCall &description,
                                       ValueRange operands,
                                       ArrayRef<Type> results,
                                       Value &isSolved) {
  auto sharded = cast<ShardedOpInterface>(op);
  const ShardingRule rule = sharded.getShardingRule();
  const Layout layout = batchLayout.getLayout();
  CallLoops loops;
  SmallVector<TermList> batchAccess;
  for (auto [extent, axes] : llvm::zip_equal(batch, layout.dim_axes()))
    batchAccess.push_back({{loops.add(extent, /*reduction=*/false,
                                      /*isHeld=*/false, axes),
                            1}});
  ShapedBuilder numbers = shaped({});
  SmallVector<Type> types = llvm::to_vector(results);
  types.push_back(numbers.of(b.getI32Type()));
  SmallVector<Type> arrays = llvm::to_vector(operands.getTypes());
  llvm::append_range(arrays, types);
  SmallVector<SmallVector<TermList>> accesses;
  for (Type type : arrays) {
    auto &access = accesses.emplace_back(batchAccess);
    const SmallVector<int64_t> shape = globalShape(type);
    for (int64_t size : llvm::ArrayRef(shape).drop_front(batch.size()))
      access.push_back({{loops.addHeld(size), 1}});
  }
  const std::string callee = ("solver_" + description.callee).str();
  LibraryCall ofSolver = description;
  ofSolver.callee = callee;
  auto solve = createCall(op, types, operands, loops, accesses, layout.mesh(),
                          ofSolver, SmallVector<int32_t>(types.size(), -1),
                          sharded.getCost(rule).total(rule));
  SmallVector<Value> values(solve.getOutputs());
  isSolved = numbers.compare(ComparisonDirection::EQ, values.pop_back_val(),
                             numbers.splat(b.getI32Type(), 0));
  return values;
}

void solve(CholeskyOp op) {
  SolverBuilder s(op, op.getA());
  Value isInside, isSolved;
  Value read = s.triangle(op.getA(), op.getLower(), isInside);
  // The solver finds that zeros are not positive definite.
  Value columns = s.transposed(s.onlyWhere(s.isFinite(read), read, 0));
  Value factor = s.transposed(
      s.call(op.getLibraryCall(), columns, columns.getType(), isSolved)[0]);
  ShapedBuilder elements = s.shaped({s.rows, s.columns});
  op.replaceAllUsesWith(elements.select(isInside, s.orNan(isSolved, factor),
                                        elements.number(s.element, 0)));
}

/// Rows change places in a list of their numbers, too, but not for small
/// matrices. Pivots count from 1. A matrix that is not finite has nans,
/// and its rows stay where they are.
void solve(LuOp op) {
  SolverBuilder s(op, op.getA());
  Value isFinite = s.isFinite(op.getA()), isSolved;
  Value columns = s.transposed(s.onlyWhere(isFinite, op.getA(), 0));
  ShapedBuilder rows = s.shaped(s.rows);
  Value numbers = s.b.create<ConvertOp>(s.loc, rows.of(s.b.getI32Type()),
                                        rows.index(int64_t(s.batch.size())));
  LibraryCall function = op.getLibraryCall();
  const bool isSmall = s.isSmallBatch() && s.rows == s.columns;
  if (isSmall)
    function.callee = "small_lu";
  const SmallVector<Value> results =
      s.call(function, {columns, numbers},
             {columns.getType(), op.getPivots().getType(), numbers.getType()},
             isSolved);
  op.getFactors().replaceAllUsesWith(
      s.orNan(isFinite, s.transposed(results[0])));
  ShapedBuilder pivots = s.shaped(s.dimsOf(results[1]));
  Value fromZero =
      s.b.create<SubtractOp>(s.loc, results[1].getType(), results[1],
                             pivots.splat(s.b.getI32Type(), 1));
  op.getPivots().replaceAllUsesWith(fromZero);
  op.getPermutation().replaceAllUsesWith(isSmall ? s.exchangedRows(fromZero)
                                                 : results[2]);
}

void solve(GeqrfOp op) {
  SolverBuilder s(op, op.getA());
  Value isFinite = s.isFinite(op.getA()), isSolved;
  Value columns = s.transposed(s.onlyWhere(isFinite, op.getA(), 0));
  const SmallVector<Value> results =
      s.call(op.getLibraryCall(), columns,
             {columns.getType(), op.getTaus().getType()}, isSolved);
  op.getResult().replaceAllUsesWith(
      s.orNan(isFinite, s.transposed(results[0])));
  op.getTaus().replaceAllUsesWith(s.orNan(isFinite, results[1]));
}

void solve(HouseholderProductOp op) {
  SolverBuilder s(op, op.getA());
  Value taus = op.getTaus(), isSolved;
  ShapedBuilder elements = s.shaped({s.rows, s.columns});
  // Neither R nor columns without a tau are read.
  Value row = elements.index(int64_t(s.batch.size())),
        column = elements.index(int64_t(s.batch.size()) + 1);
  Value isRead = elements.both(
      elements.compare(ComparisonDirection::GT, row, column),
      elements.compare(ComparisonDirection::LT, column,
                       elements.splat(s.b.getI64Type(), s.dimsOf(taus)[0])));
  Value read =
      elements.select(isRead, op.getA(), elements.number(s.element, 0));
  Value isFinite = s.shaped({}).both(s.isFinite(read), s.isFinite(taus));
  Value columns = s.transposed(s.onlyWhere(isFinite, read, 0));
  Value product =
      s.call(op.getLibraryCall(), {columns, s.onlyWhere(isFinite, taus, 0)},
             columns.getType(), isSolved)[0];
  op.replaceAllUsesWith(s.orNan(isFinite, s.transposed(product)));
}

void solve(EighOp op) {
  SolverBuilder s(op, op.getA());
  Value isInside, isSolved;
  Value read = s.triangle(op.getA(), op.getLower(), isInside);
  Value isFinite = s.isFinite(read);
  Value columns = s.transposed(s.onlyWhere(isFinite, read, 0));
  const SmallVector<Value> results =
      s.call(op.getLibraryCall(), columns,
             {columns.getType(), op.getValues().getType()}, isSolved);
  isSolved = s.shaped({}).both(isFinite, isSolved);
  op.getValues().replaceAllUsesWith(s.orNan(isSolved, results[1]));
  if (op.getVectors().use_empty())
    return;
  ShapedBuilder elements = s.shaped({s.rows, s.columns});
  Value vectors =
      s.b.create<MultiplyOp>(s.loc, elements.of(s.element), results[0],
                             s.spread(elements, s.phases(results[0])));
  op.getVectors().replaceAllUsesWith(s.orNan(isSolved, s.transposed(vectors)));
}

/// A solver takes matrices with at least as many rows as columns. The results
/// of the others are those of their transposes, exchanged. For small
/// matrices it has the vectors on the right themselves, and not their adjoint
/// matrix.
void solve(SvdOp op) {
  SolverBuilder s(op, op.getA());
  const int64_t k = std::min(s.rows, s.columns),
                length = std::max(s.rows, s.columns);
  const bool isWide = s.rows < s.columns,
             onlyValues = op.getU().use_empty() && op.getVh().use_empty();
  Value isFinite = s.isFinite(op.getA()), isSolved;
  Value columns = s.onlyWhere(isFinite, op.getA(), 0);
  if (!isWide)
    columns = s.transposed(columns);
  LibraryCall function = op.getLibraryCall();
  const bool isSmall = s.isSmallBatch() && s.element == s.part;
  if (isSmall)
    function.callee = "small_svd";
  const SmallVector<Value> results =
      s.call(function, columns,
             {s.shaped({k, length}).of(s.element), op.getS().getType(),
              s.shaped({k, k}).of(s.element)},
             isSolved);
  isSolved = s.shaped({}).both(isFinite, isSolved);
  op.getS().replaceAllUsesWith(s.orNan(isSolved, results[1]));
  if (onlyValues)
    return;
  Value u = results[0], vh = isSmall ? results[2] : s.transposed(results[2]);
  if (isWide)
    std::swap(u, vh);
  Value phases = s.phases(u);
  auto scaled = [&](Value vectors, Value factors) -> Value {
    ShapedBuilder elements = s.shaped(s.dimsOf(vectors));
    return s.orNan(
        isSolved, s.b.create<MultiplyOp>(s.loc, elements.of(s.element), vectors,
                                         s.spread(elements, factors)));
  };
  op.getU().replaceAllUsesWith(s.transposed(scaled(u, phases)));
  if (isa<mlir::ComplexType>(s.element)) {
    const ShapedBuilder ones = s.shaped(k);
    phases = s.b.create<ComplexOp>(
        s.loc, ones.of(s.element),
        s.b.create<RealOp>(s.loc, ones.of(s.part), phases),
        s.b.create<NegateOp>(
            s.loc, ones.of(s.part),
            s.b.create<ImagOp>(s.loc, ones.of(s.part), phases)));
  }
  op.getVh().replaceAllUsesWith(scaled(vh, phases));
}

/// Returns whether a solver knows the numbers, and every device has its
/// matrices whole.
bool isSolvable(Operation *op) {
  Value a = op->getOperand(0);
  const auto rank = int64_t(globalShape(a.getType()).size());
  const Type part = partTypeOf(a.getType());
  return (part.isF32() || part.isF64()) &&
         isPickable(a, {rank - 2, rank - 1}, op);
}

template <typename Op> bool trySolve(Operation *op) {
  auto decomposition = dyn_cast<Op>(op);
  if (!decomposition || !isSolvable(op))
    return false;
  // The vectors that complete a basis are those of the host.
  if constexpr (std::is_same_v<Op, SvdOp>)
    if (decomposition.getFullMatrices())
      return false;
  solve(decomposition);
  op->erase();
  return true;
}
} // namespace

void meshloom::callSolver(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    (void)(trySolve<CholeskyOp>(&op) || trySolve<LuOp>(&op) ||
           trySolve<GeqrfOp>(&op) || trySolve<HouseholderProductOp>(&op) ||
           trySolve<EighOp>(&op) || trySolve<SvdOp>(&op));
}
