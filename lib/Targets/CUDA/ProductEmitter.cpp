// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block computes a square tile of the result, then further ones in steps of
// the grid. It goes over the summed loops in slices: its threads bring a slice
// of both operands to shared memory, and each thread adds the products of
// 4 x 4 results. A result's products are added in their order, one by one.
//
// Warps add products of bf16 and f16 on tensor cores: one instruction adds
// those of 16 terms to 16 x 8 sums of f32, and a warp has 16 x 32 of the tile.
// A result's bits depend on its operands alone in both cases.
//
// The left operand of a convolution is an implicit matrix: where an element of
// a slice lies, and whether it is there, follows from the place of its row and
// that of its term in each spatial dim. Where a group has few features of the
// result, as in depthwise ones, most columns of a tile would be empty: then a
// thread computes a result by itself, in the same order.
#include "ProductEmitter.h"

#include "BlockEmitter.h"
#include "meshloom/Targets/Kernels/ElementEmitter.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

using namespace meshloom;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
namespace scf = mlir::scf;

/// Rows and columns of a tile, results of a thread along each, and the depth of
/// a slice. A block has (tileSize / threadSize)^2 threads.
static constexpr int64_t tileSize = 64, threadSize = 4, sliceDepth = 16;
static constexpr int64_t side = tileSize / threadSize;
static constexpr int64_t productThreads = side * side;
/// Convolutions of so few columns and terms have a thread for each result.
static constexpr int64_t mostThinColumns = 4, mostThinTerms = 4096;
/// From one term to the next in shared memory, where a warp writes several
/// terms: an odd number takes them to different banks.
static constexpr int64_t termPitch = tileSize + 1;
/// The rows and columns of a result of one instruction of a tensor core, whose
/// terms are a slice's, and the warps of a block along a row of its tile.
static constexpr int64_t coreRows = 16, coreColumns = 8, warpsAcross = 2;
static constexpr int64_t columnsOfWarp = tileSize / warpsAcross;
/// From one line to the next in shared memory for tensor cores, where a warp
/// reads 8 lines and 4 pairs of terms: these are in different banks.
static constexpr int64_t linePitch = sliceDepth + 8;

namespace {
class ProductEmitter : ElementEmitter {
public:
  ProductEmitter(const ProductKind &kind, ModuleOp module)
      : ElementEmitter(module.getContext(),
                       mlir::UnknownLoc::get(module.getContext())),
        kind(kind), module(module),
        type(spmd::KernelOp::scalarType(
            mlir::parseType(name(kind.type), module.getContext()))),
        sumType(type.isBF16() || type.isF16() ? b.getF32Type() : type),
        resultType(kind.isWidening ? sumType : type) {}
  KernelShape emit();

private:
  enum OperandIndex : uint8_t { Lhs, Rhs, Out };
  /// An element of the result, by the indices of its loops together.
  struct Place {
    Value batch, row, column;
  };
  /// The part of an operand's place that loops of one letter decide.
  struct PartialPlace {
    Value exists, offset;
    SmallVector<Value> positions; ///< of the left operand, for each window
  };
  KernelShape shapeOf() const;
  bool has(OperandIndex operand, unsigned loop) const;
  /// The loops with this letter, of which the last one runs fastest.
  SmallVector<unsigned> loopsOf(char letter) const;
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(loc, x, y); }
  Value times(Value x, Value y) { return b.create<arith::MulIOp>(loc, x, y); }
  Value less(Value x, Value y) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
  }
  Value both(Value x, Value y) { return b.create<arith::AndIOp>(loc, x, y); }
  Value quotient(Value x, Value y) {
    return b.create<arith::DivUIOp>(loc, x, y);
  }
  Value remainder(Value x, Value y) {
    return b.create<arith::RemUIOp>(loc, x, y);
  }
  void barrier() { b.create<NVVM::Barrier0Op>(loc); }

  void bind(LLVM::LLVMFuncOp function);
  /// The product of the extents of all loops with this letter.
  Value countOf(char letter);
  /// The index of each loop with this letter where `index` counts the
  /// iterations of all of them.
  std::map<unsigned, Value> indicesOf(char letter, Value index);
  /// From an operand's first element to that of these loops' indices.
  Value offsetOf(OperandIndex operand,
                 const std::map<unsigned, Value> &indices);
  Value offsetOf(OperandIndex operand, char letter, Value index) {
    return offsetOf(operand, indicesOf(letter, index));
  }
  PartialPlace placeOf(OperandIndex operand, char letter, Value index,
                       Value count);
  PartialPlace placeAt(OperandIndex operand, char letter,
                       const std::map<unsigned, Value> &indices, Value exists);
  /// The left operand's position in a window where its output, or its kernel,
  /// is at one of these indices.
  Value positionOf(const ProductKind::Window &window, char letter,
                   const std::map<unsigned, Value> &indices);
  /// Adds the window's dim to `place`.
  void addWindow(const ProductKind::Window &window, Value position,
                 PartialPlace &place);
  Value makeShared(StringRef name);
  Value zeroOf(Type type) {
    return b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
  }

  /// The part of an operand's slices that a thread brings: elements of some
  /// lines (rows or columns of the tile) and terms of the slice.
  struct Share {
    OperandIndex operand;
    Value base, shared;
    SmallVector<Value> lines, terms;  ///< in the tile, in the slice
    SmallVector<PartialPlace> places; ///< of the lines
  };
  /// `first`: the tile's first line. `termsFirst`: neighbouring threads take
  /// neighbouring terms.
  Share shareOf(OperandIndex operand, Value base, Value shared, Value first,
                bool termsFirst);
  /// The operand's element at two partial places together, or zero where there
  /// is none.
  Value loadAt(OperandIndex operand, Value base, const PartialPlace &first,
               const PartialPlace &second);
  /// Brings the slice from term `first` on.
  void bringSlice(const Share &share, Value first);
  void emitTile(Value tile);
  void emitTiles(Value block, Value blocks);
  /// A result's operands, without what its terms decide.
  struct ThinResult {
    Value lhs, rhs;
    PartialPlace row, column;
  };
  /// Emits the loops over a thread's own results.
  void emitThinResults(Value block, Value blocks);
  void emitThinResult(Value number);
  /// The sum after the terms of all iterations of `loops`, where the loops
  /// around them are at `indices`.
  Value sumTerms(const ThinResult &result, ArrayRef<unsigned> loops,
                 std::map<unsigned, Value> &indices, Value sum);
  void storeResult(const Place &place, Value sum);
  Value addProduct(Value x, Value y, Value sum) {
    if (isa<mlir::FloatType>(sumType))
      return b.create<mlir::math::FmaOp>(loc, x, y, sum);
    return add(times(x, y), sum);
  }
  SmallVector<Value> emitSlice(ValueRange sums);
  bool usesTensorCores() const { return type != sumType; }
  SmallVector<Value> emitSliceOnCores(ValueRange sums);
  /// The parts of a product of a warp that a thread has. It is in the warp's
  /// `group`-th row of eight, and has two neighbours from term or column
  /// `pair` on.
  struct CorePart {
    Value row, column, group, pair; ///< row and column: the warp's first
  };
  CorePart partOfThread();
  /// The row and column in the tile of each of a thread's sums.
  SmallVector<std::pair<Value, Value>> resultsOfThread();
  /// Where an element of a slice is in shared memory.
  Value placeInSlice(Value line, Value term) {
    return usesTensorCores() ? add(times(line, constant(linePitch)), term)
                             : add(times(term, constant(termPitch)), line);
  }
  Value widened(Value value) {
    return type == sumType ? value
                           : b.create<arith::ExtFOp>(loc, sumType, value);
  }
  void storeTile(const Place &place, ValueRange sums);

  const ProductKind &kind;
  ModuleOp module;
  const Type type, sumType, resultType;
  SmallVector<Value> pointers, extents;
  std::map<unsigned, Value> origins;       ///< of the windows' loops
  SmallVector<SmallVector<Value>> strides; ///< [operand][loop]
  Value thread, sharedLhs, sharedRhs;
  Value batches, rows, columns, terms;
};
} // namespace

bool ProductEmitter::has(OperandIndex operand, unsigned loop) const {
  for (const ProductKind::Window &window : kind.windows) {
    if (loop == window.output)
      return operand == Out;
    if (loop == window.kernel)
      return operand == Rhs;
    if (loop == window.input)
      return operand == Lhs;
  }
  constexpr StringRef letters[] = {"bmk", "bnk", "bmn"};
  return letters[operand].contains(kind.loops[loop]);
}

/// A kernel's places come first, so that its features, which are often
/// contiguous, run fastest.
SmallVector<unsigned> ProductEmitter::loopsOf(char letter) const {
  auto isKernel = [&](unsigned loop) {
    return llvm::any_of(kind.windows,
                        [&](auto &window) { return window.kernel == loop; });
  };
  SmallVector<unsigned> loops;
  for (bool inKernel : {true, false})
    for (unsigned loop = 0; loop < kind.loops.size(); ++loop)
      if (kind.loops[loop] == letter && isKernel(loop) == inKernel)
        loops.push_back(loop);
  return loops;
}

KernelShape ProductEmitter::shapeOf() const {
  using Kind = KernelParameter::Kind;
  KernelShape shape;
  shape.symbol = kind.symbol();
  shape.results = productThreads;
  for (unsigned operand : {Lhs, Rhs, Out})
    shape.parameters.push_back({Kind::Pointer, operand, 0});
  for (unsigned loop = 0; loop < kind.loops.size(); ++loop)
    shape.parameters.push_back({Kind::Extent, 0, loop});
  for (const ProductKind::Window &window : kind.windows)
    for (unsigned loop : {window.output, window.kernel, window.input})
      shape.parameters.push_back({Kind::Origin, 0, loop});
  for (OperandIndex operand : {Lhs, Rhs, Out})
    for (unsigned loop = 0; loop < kind.loops.size(); ++loop)
      if (has(operand, loop))
        shape.parameters.push_back({Kind::Stride, operand, loop});
  for (unsigned loop = 0; loop < kind.loops.size(); ++loop)
    if (StringRef("bmn").contains(kind.loops[loop]))
      shape.parallel.push_back(loop);
  return shape;
}

/// Takes the parameters in the order of shapeOf().
void ProductEmitter::bind(LLVM::LLVMFuncOp function) {
  auto next = function.getArguments().begin();
  for (unsigned operand = 0; operand < 3; ++operand)
    pointers.push_back(*next++);
  for (size_t loop = 0; loop < kind.loops.size(); ++loop)
    extents.push_back(*next++);
  for (const ProductKind::Window &window : kind.windows)
    for (unsigned loop : {window.output, window.kernel, window.input})
      origins[loop] = *next++;
  for (OperandIndex operand : {Lhs, Rhs, Out}) {
    strides.emplace_back(kind.loops.size());
    for (unsigned loop = 0; loop < kind.loops.size(); ++loop)
      if (has(operand, loop))
        strides.back()[loop] = *next++;
  }
  batches = countOf('b');
  rows = countOf('m');
  columns = countOf('n');
  terms = countOf('k');
}

Value ProductEmitter::countOf(char letter) {
  Value count = constant(1);
  for (unsigned loop : loopsOf(letter))
    count = times(count, extents[loop]);
  return count;
}

std::map<unsigned, Value> ProductEmitter::indicesOf(char letter, Value index) {
  const SmallVector<unsigned> loops = loopsOf(letter);
  std::map<unsigned, Value> indices;
  for (unsigned loop : llvm::reverse(loops)) {
    indices[loop] =
        loop == loops.front() ? index : remainder(index, extents[loop]);
    if (loop != loops.front())
      index = quotient(index, extents[loop]);
  }
  return indices;
}

Value ProductEmitter::offsetOf(OperandIndex operand,
                               const std::map<unsigned, Value> &indices) {
  Value offset = constant(0);
  for (auto [loop, index] : indices)
    if (has(operand, loop))
      offset = add(offset, times(index, strides[operand][loop]));
  return offset;
}

Value ProductEmitter::positionOf(const ProductKind::Window &window, char letter,
                                 const std::map<unsigned, Value> &indices) {
  auto globalIndex = [&](unsigned loop) {
    return add(origins.at(loop), indices.at(loop));
  };
  if (letter == 'm') {
    Value begin =
        add(times(origins.at(window.input), constant(window.inputDilation)),
            constant(window.low));
    return b.create<arith::SubIOp>(
        loc, times(globalIndex(window.output), constant(window.stride)), begin);
  }
  Value index = globalIndex(window.kernel);
  if (window.reversedExtent > 0)
    index = b.create<arith::SubIOp>(loc, constant(window.reversedExtent - 1),
                                    index);
  return times(index, constant(window.kernelDilation));
}

ProductEmitter::PartialPlace ProductEmitter::placeOf(OperandIndex operand,
                                                     char letter, Value index,
                                                     Value count) {
  return placeAt(operand, letter, indicesOf(letter, index), less(index, count));
}

ProductEmitter::PartialPlace
ProductEmitter::placeAt(OperandIndex operand, char letter,
                        const std::map<unsigned, Value> &indices,
                        Value exists) {
  PartialPlace place{exists, offsetOf(operand, indices), {}};
  if (operand == Lhs)
    for (const ProductKind::Window &window : kind.windows)
      place.positions.push_back(positionOf(window, letter, indices));
  return place;
}

/// Positions in front of the operand are large numbers without a sign.
void ProductEmitter::addWindow(const ProductKind::Window &window,
                               Value position, PartialPlace &place) {
  Value index = position;
  if (window.inputDilation > 1) {
    Value dilation = constant(window.inputDilation);
    index = quotient(position, dilation);
    place.exists =
        both(place.exists,
             b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                     times(index, dilation), position));
  }
  place.exists =
      both(place.exists, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                                 index, extents[window.input]));
  place.offset = add(place.offset, times(index, strides[Lhs][window.input]));
}

Value ProductEmitter::makeShared(StringRef name) {
  return makeSharedArray(b, loc, module, storageType(type),
                         usesTensorCores() ? tileSize * linePitch
                                           : sliceDepth * termPitch,
                         kind.symbol() + name);
}

ProductEmitter::Share ProductEmitter::shareOf(OperandIndex operand, Value base,
                                              Value shared, Value first,
                                              bool termsFirst) {
  Share share{operand, base, shared, {}, {}, {}};
  Value width = constant(termsFirst ? sliceDepth : tileSize);
  Value low = remainder(thread, width), high = quotient(thread, width);
  (termsFirst ? share.terms : share.lines).push_back(low);
  constexpr int64_t count = tileSize * sliceDepth / productThreads;
  const int64_t step = productThreads / (termsFirst ? sliceDepth : tileSize);
  for (int64_t i = 0; i < count; ++i)
    (termsFirst ? share.lines : share.terms)
        .push_back(add(high, constant(i * step)));
  for (Value line : share.lines)
    share.places.push_back(operand == Lhs
                               ? placeOf(Lhs, 'm', add(first, line), rows)
                               : placeOf(Rhs, 'n', add(first, line), columns));
  return share;
}

Value ProductEmitter::loadAt(OperandIndex operand, Value base,
                             const PartialPlace &first,
                             const PartialPlace &second) {
  PartialPlace place{
      both(first.exists, second.exists), add(first.offset, second.offset), {}};
  if (operand == Lhs)
    for (auto [w, window] : llvm::enumerate(kind.windows))
      addWindow(window, add(first.positions[w], second.positions[w]), place);
  const Type stored = storageType(type);
  auto exists = b.create<scf::IfOp>(loc, TypeRange{stored}, place.exists,
                                    /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(exists.thenBlock());
  Value value =
      loadScalar(element(base, storageType(type), place.offset), type);
  b.create<scf::YieldOp>(loc, toStorage(value));
  b.setInsertionPointToStart(exists.elseBlock());
  b.create<scf::YieldOp>(loc, zeroOf(stored));
  b.setInsertionPointAfter(exists);
  return fromStorage(exists.getResult(0), type);
}

void ProductEmitter::bringSlice(const Share &share, Value first) {
  for (Value term : share.terms) {
    const PartialPlace inTerms =
        placeOf(share.operand, 'k', add(first, term), terms);
    for (auto [line, inLines] : llvm::zip_equal(share.lines, share.places))
      storeScalar(
          element(share.shared, storageType(type), placeInSlice(line, term)),
          loadAt(share.operand, share.base, inTerms, inLines));
  }
}

ProductEmitter::CorePart ProductEmitter::partOfThread() {
  constexpr int64_t warpSize = 32, pairs = 4;
  Value warp = quotient(thread, constant(warpSize)),
        lane = remainder(thread, constant(warpSize));
  return {
      times(quotient(warp, constant(warpsAcross)), constant(coreRows)),
      times(remainder(warp, constant(warpsAcross)), constant(columnsOfWarp)),
      quotient(lane, constant(pairs)),
      times(remainder(lane, constant(pairs)), constant(2))};
}

/// A thread passes pairs of terms: of the left operand in two rows, of the
/// right one in a column. See "Matrix Fragments for mma.m16n8k16" in the manual
/// of PTX.
SmallVector<Value> ProductEmitter::emitSliceOnCores(ValueRange sums) {
  const CorePart part = partOfThread();
  const bool isHalf = type.isF16();
  Type word = b.getI32Type(), f32 = b.getF32Type();
  auto load = [&](Value shared, Value line, int64_t term) -> Value {
    Value place = placeInSlice(line, add(part.pair, constant(term)));
    Value pair = b.create<LLVM::LoadOp>(
        loc, word, element(shared, storageType(type), place), /*alignment=*/4);
    return isHalf ? b.create<LLVM::BitcastOp>(
                        loc, mlir::VectorType::get(2, b.getF16Type()), pair)
                  : pair;
  };
  constexpr int64_t half = 8; // of the rows, and of the terms
  SmallVector<Value> lhs;
  for (int64_t term : {int64_t(0), half})
    for (int64_t row : {int64_t(0), half})
      lhs.push_back(
          load(sharedLhs, add(part.row, add(part.group, constant(row))), term));
  SmallVector<Value> next;
  constexpr size_t sumsOfCore = 4;
  for (int64_t column = 0; column < columnsOfWarp; column += coreColumns) {
    SmallVector<Value> operands = lhs;
    Value line = add(part.column, add(part.group, constant(column)));
    for (int64_t term : {int64_t(0), half})
      operands.push_back(load(sharedRhs, line, term));
    llvm::append_range(operands, sums.slice(next.size(), sumsOfCore));
    auto product = b.create<LLVM::CallIntrinsicOp>(
        loc,
        LLVM::LLVMStructType::getLiteral(b.getContext(),
                                         SmallVector<Type>(sumsOfCore, f32)),
        b.getStringAttr(isHalf ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                               : "llvm.nvvm.mma.m16n8k16.row.col.bf16"),
        operands);
    for (int64_t i = 0; i < int64_t(sumsOfCore); ++i)
      next.push_back(
          b.create<LLVM::ExtractValueOp>(loc, product.getResult(0), i));
  }
  return next;
}

SmallVector<std::pair<Value, Value>> ProductEmitter::resultsOfThread() {
  SmallVector<std::pair<Value, Value>> results;
  if (usesTensorCores()) {
    const CorePart part = partOfThread();
    for (int64_t column = 0; column < columnsOfWarp; column += coreColumns)
      for (int64_t row : {int64_t(0), coreRows / 2})
        for (int64_t beside : {0, 1})
          results.emplace_back(
              add(part.row, add(part.group, constant(row))),
              add(part.column, add(part.pair, constant(column + beside))));
    return results;
  }
  Value row = quotient(thread, constant(side)),
        column = remainder(thread, constant(side));
  for (int64_t i = 0; i < threadSize; ++i)
    for (int64_t j = 0; j < threadSize; ++j)
      results.emplace_back(add(row, constant(i * side)),
                           add(column, constant(j * side)));
  return results;
}

/// The sums of a thread after a slice.
SmallVector<Value> ProductEmitter::emitSlice(ValueRange sums) {
  if (usesTensorCores())
    return emitSliceOnCores(sums);
  Value column = remainder(thread, constant(side)),
        row = quotient(thread, constant(side));
  auto loop = b.create<scf::ForOp>(
      loc, constant(0), constant(sliceDepth), constant(1), sums,
      [&](OpBuilder &, Location, Value term, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(term.getParentBlock());
        Value begin = times(term, constant(termPitch));
        auto load = [&](Value shared, Value first, int64_t number) {
          Value place = add(add(begin, first), constant(number * side));
          return loadScalar(element(shared, storageType(type), place), type);
        };
        SmallVector<Value> lhs, rhs, next;
        for (int64_t i = 0; i < threadSize; ++i) {
          lhs.push_back(load(sharedLhs, row, i));
          rhs.push_back(load(sharedRhs, column, i));
        }
        for (int64_t i = 0; i < threadSize * threadSize; ++i)
          next.push_back(addProduct(lhs[size_t(i / threadSize)],
                                    rhs[size_t(i % threadSize)],
                                    carried[size_t(i)]));
        b.create<scf::YieldOp>(loc, next);
      });
  return loop.getResults();
}

void ProductEmitter::storeTile(const Place &place, ValueRange sums) {
  for (auto [result, sum] : llvm::zip_equal(resultsOfThread(), sums)) {
    const Place here{place.batch, add(place.row, result.first),
                     add(place.column, result.second)};
    auto exists = b.create<scf::IfOp>(
        loc, both(less(here.row, rows), less(here.column, columns)),
        /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(exists.thenBlock()->getTerminator());
    storeResult(here, sum);
  }
}

void ProductEmitter::storeResult(const Place &place, Value sum) {
  if (resultType != sumType)
    sum = b.create<arith::TruncFOp>(loc, resultType, sum);
  Value offset =
      add(offsetOf(Out, 'b', place.batch),
          add(offsetOf(Out, 'm', place.row), offsetOf(Out, 'n', place.column)));
  storeScalar(element(pointers[Out], storageType(resultType), offset), sum);
}

Value ProductEmitter::sumTerms(const ThinResult &result,
                               ArrayRef<unsigned> loops,
                               std::map<unsigned, Value> &indices, Value sum) {
  if (loops.empty()) {
    Value exists = b.create<arith::ConstantIntOp>(loc, 1, 1);
    return addProduct(
        widened(loadAt(Lhs, result.lhs, placeAt(Lhs, 'k', indices, exists),
                       result.row)),
        widened(loadAt(Rhs, result.rhs, placeAt(Rhs, 'k', indices, exists),
                       result.column)),
        sum);
  }
  auto loop = b.create<scf::ForOp>(
      loc, constant(0), extents[loops.front()], constant(1), ValueRange(sum),
      [&](OpBuilder &, Location, Value index, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(index.getParentBlock());
        indices[loops.front()] = index;
        b.create<scf::YieldOp>(
            loc, sumTerms(result, loops.drop_front(), indices, carried[0]));
      });
  return loop.getResult(0);
}

/// Neighbouring threads take neighbouring groups where these are neighbours in
/// memory, else neighbouring rows.
void ProductEmitter::emitThinResult(Value number) {
  const SmallVector<unsigned> groups = loopsOf('b');
  Value groupsInner = b.create<arith::ConstantIntOp>(loc, 0, 1);
  if (!groups.empty())
    groupsInner =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                strides[Out][groups.back()], constant(1));
  Value inner = b.create<arith::SelectOp>(loc, groupsInner, batches, rows);
  Value low = remainder(number, inner), high = quotient(number, inner);
  Value outer = b.create<arith::SelectOp>(loc, groupsInner, rows, batches);
  Value middle = remainder(high, outer);
  const Place place{b.create<arith::SelectOp>(loc, groupsInner, low, middle),
                    b.create<arith::SelectOp>(loc, groupsInner, middle, low),
                    quotient(high, outer)};
  Value exists = b.create<arith::ConstantIntOp>(loc, 1, 1);
  const ThinResult result{
      element(pointers[Lhs], storageType(type),
              offsetOf(Lhs, 'b', place.batch)),
      element(pointers[Rhs], storageType(type),
              offsetOf(Rhs, 'b', place.batch)),
      placeAt(Lhs, 'm', indicesOf('m', place.row), exists),
      placeAt(Rhs, 'n', indicesOf('n', place.column), exists)};
  std::map<unsigned, Value> indices;
  storeResult(place, sumTerms(result, loopsOf('k'), indices, zeroOf(sumType)));
}

void ProductEmitter::emitThinResults(Value block, Value blocks) {
  Value count = times(batches, times(rows, columns));
  Value threads = constant(productThreads);
  b.create<scf::ForOp>(loc, add(times(block, threads), thread), count,
                       times(blocks, threads), ValueRange(),
                       [&](OpBuilder &, Location, Value number, ValueRange) {
                         OpBuilder::InsertionGuard guard(b);
                         b.setInsertionPointToEnd(number.getParentBlock());
                         emitThinResult(number);
                         b.create<scf::YieldOp>(loc);
                       });
}

void ProductEmitter::emitTile(Value tile) {
  Value size = constant(tileSize);
  auto tilesOf = [&](Value count) {
    return quotient(add(count, constant(tileSize - 1)), size);
  };
  Value across = tilesOf(columns), down = tilesOf(rows);
  Value column = times(remainder(tile, across), size);
  tile = quotient(tile, across);
  Value row = times(remainder(tile, down), size);
  Value batch = quotient(tile, down);
  Value lhs = element(pointers[Lhs], storageType(type),
                      offsetOf(Lhs, 'b', batch)),
        rhs = element(pointers[Rhs], storageType(type),
                      offsetOf(Rhs, 'b', batch));
  // Row-major operands have neighbouring terms on the left, and neighbouring
  // columns on the right.
  const Share ofLhs = shareOf(Lhs, lhs, sharedLhs, row, /*termsFirst=*/true),
              ofRhs =
                  shareOf(Rhs, rhs, sharedRhs, column, /*termsFirst=*/false);
  const SmallVector<Value> zeros(threadSize * threadSize, zeroOf(sumType));
  auto slices = b.create<scf::ForOp>(
      loc, constant(0), terms, constant(sliceDepth), zeros,
      [&](OpBuilder &, Location, Value first, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(first.getParentBlock());
        bringSlice(ofLhs, first);
        bringSlice(ofRhs, first);
        barrier();
        SmallVector<Value> sums = emitSlice(carried);
        barrier();
        b.create<scf::YieldOp>(loc, sums);
      });
  storeTile({batch, row, column}, slices.getResults());
}

void ProductEmitter::emitTiles(Value block, Value blocks) {
  auto tilesOf = [&](Value count) {
    return quotient(add(count, constant(tileSize - 1)), constant(tileSize));
  };
  Value tiles = times(batches, times(tilesOf(rows), tilesOf(columns)));
  b.create<scf::ForOp>(loc, block, tiles, blocks, ValueRange(),
                       [&](OpBuilder &, Location, Value tile, ValueRange) {
                         OpBuilder::InsertionGuard guard(b);
                         b.setInsertionPointToEnd(tile.getParentBlock());
                         emitTile(tile);
                         b.create<scf::YieldOp>(loc);
                       });
}

KernelShape ProductEmitter::emit() {
  KernelShape shape = shapeOf();
  SmallVector<Type> arguments;
  for (const KernelParameter &parameter : shape.parameters)
    arguments.push_back(
        parameter.kind == KernelParameter::Kind::Pointer ? pointer : i64);
  auto function =
      makeFunction(module, shape.symbol, arguments, LLVM::Linkage::External);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(productThreads)}));
  bind(function);
  auto wide = [&](Value value) -> Value {
    return b.create<arith::ExtUIOp>(loc, i64, value);
  };
  thread = wide(b.create<NVVM::ThreadIdXOp>(loc, b.getI32Type()));
  Value block = wide(b.create<NVVM::BlockIdXOp>(loc, b.getI32Type()));
  Value blocks = wide(b.create<NVVM::GridDimXOp>(loc, b.getI32Type()));
  sharedLhs = makeShared("_lhs");
  sharedRhs = makeShared("_rhs");
  if (kind.windows.empty()) {
    emitTiles(block, blocks);
  } else {
    Value isThin = both(less(columns, constant(mostThinColumns + 1)),
                        less(terms, constant(mostThinTerms + 1)));
    auto branch = b.create<scf::IfOp>(loc, isThin, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitThinResults(block, blocks);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    emitTiles(block, blocks);
  }
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  return shape;
}

KernelShape meshloom::emitProduct(const ProductKind &kind, ModuleOp module) {
  return ProductEmitter(kind, module).emit();
}
