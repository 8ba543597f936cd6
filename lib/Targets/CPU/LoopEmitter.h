// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of one loop that is compiled whole: what LoopEmitter.cpp (places,
// loops, branches, kernels), LoopIndexing.cpp (slices, gathers, scatters),
// LoopLines.cpp (running reductions, sorts), LoopProducts.cpp (products of
// matrices), LoopFactorizations.cpp (systems of equations) and
// LoopReflections.cpp (QR factorizations) write together.
#pragma once

#include "KernelEmitter.h"

#include "KernelToLLVM.h"
#include "LoopProducts.h"

#include "llvm/ADT/DenseSet.h"

namespace meshloom {

class LoopEmitter : ElementEmitter {
public:
  LoopEmitter(spmd::LibraryCallOp call, ModuleOp module)
      : ElementEmitter(module.getContext(), call.getLoc()), call(call),
        module(module) {}
  void emit(StringRef symbol);

private:
  void emitBlock(Block &block);
  void emitOp(Operation &op);
  void emitKernel(spmd::KernelOp kernel);
  void callKernel(spmd::KernelOp kernel, ArrayRef<ArrayPlace> operands);
  void allocateOnce(mlir::LLVM::LLVMFuncOp function);
  mlir::LLVM::LLVMFuncOp makeInner(const std::string &name,
                                   unsigned numPointers, bool areDistinct);
  void emitCall(spmd::LibraryCallOp call, ArrayRef<ArrayPlace> carried);
  void emitLoop(dtensor::WhileOp loop, ArrayRef<ArrayPlace> carried);
  void emitBranch(dtensor::CaseOp branch);
  void emitSlice(spmd::LibraryCallOp call);
  void emitUpdateSlice(spmd::LibraryCallOp call);
  void emitGather(spmd::LibraryCallOp call);
  void emitScatter(spmd::LibraryCallOp call);
  void emitUpdate(spmd::LibraryCallOp call, ArrayRef<ArrayPlace> to,
                  ArrayRef<ArrayPlace> from, ArrayRef<int64_t> shape);
  void emitCumulative(spmd::LibraryCallOp call);
  void emitGenericReduce(spmd::LibraryCallOp call);
  void emitSort(spmd::LibraryCallOp call);
  void emitTopK(spmd::LibraryCallOp call);
  Value isLess(Type type, Value x, Value y);
  Value insertionPlace(Value end, function_ref<Value(Value)> staysBehind,
                       function_ref<void(Value, Value)> move);
  Type orderType(Type type);
  Value orderOf(Value address, Type type);
  void emitProduct(dtensor::DotGeneralOp product);
  void emitFactorization(spmd::LibraryCallOp call);
  Value combine(spmd::Reducer kind, Type type, Value old, Value update);
  /// Sets `results` to what a scalar function makes of `operands`, which they
  /// may be.
  void applyScalar(spmd::KernelOp scalar, ArrayRef<ArrayPlace> operands,
                   ArrayRef<ArrayPlace> results);

  /// Lets results be made where they are needed: `places` of `values`, which
  /// `block` yields.
  void chooseDestinations(Block &block, ArrayRef<ArrayPlace> places);
  /// Copies what `block` yields to where it is needed.
  void moveYields(Block &block, ArrayRef<ArrayPlace> places);
  static bool isDeadBefore(BlockArgument argument, Operation *op);
  static bool canBeView(spmd::LibraryCallOp slice);

  /// By value: a reference would end when another value gets a place.
  ArrayPlace placeOf(Value value);
  ArrayPlace resultPlace(Operation *op, unsigned result);
  ArrayPlace newPlace(Type type) {
    return newPlace(dtensor::elementTypeOf(type), dtensor::globalShape(type));
  }
  ArrayPlace newPlace(Type element, ArrayRef<int64_t> shape);
  void fill(const ArrayPlace &place, dtensor::ConstantOp constant);
  void copy(Type elementType, ArrayRef<int64_t> shape, const ArrayPlace &to,
            const ArrayPlace &from);
  void copyArray(Type type, const ArrayPlace &to, const ArrayPlace &from) {
    if (to.address != from.address)
      copy(dtensor::elementTypeOf(type), dtensor::globalShape(type), to, from);
  }

  /// Calls `fill` for all indices below `extents`, at the end of a block.
  void forEach(ArrayRef<int64_t> extents,
               function_ref<void(ArrayRef<Value>)> fill);
  /// Calls `fill` for each line along dim `dim` with the indices of its first
  /// element.
  void forEachLine(ArrayRef<int64_t> shape, int64_t dim,
                   function_ref<void(ArrayRef<Value>)> fill);
  /// The address of an element of the line along dim `dim` that begins at the
  /// indices `line`.
  Value elementOfLine(const ArrayPlace &place, Type type, ArrayRef<Value> line,
                      int64_t dim, Value position);
  Value offsetOf(ArrayRef<Value> indices, ArrayRef<int64_t> strides);
  ArrayPlace moved(const ArrayPlace &place, Type elementType, Value offset);
  /// An integer in memory; what is too large is the largest i64.
  Value loadIndex(Value address, Type type);
  Value clamped(Value start, int64_t most);
  /// The index vectors of a gather or a scatter, and the dims that they are
  /// about.
  struct IndexVectors {
    ArrayPlace place;
    Type type;
    int64_t entryStride;
    SmallVector<int64_t> dims;      ///< of the indices, but for the vector's
    SmallVector<int64_t> batchDims; ///< of the result, or the updates
    SmallVector<int64_t> sliceDims; ///< of the array that windows keep
    ArrayRef<int64_t> entryDims;    ///< of the array, by entry of a vector
    ArrayRef<int64_t> arrayBatching, indexBatching;
    size_t rank; ///< of the array
  };
  /// The names of the same options of a gather and of a scatter.
  struct IndexNames {
    StringRef collapsed, arrayBatching, indexBatching, entryDims;
  };
  IndexVectors indexVectors(spmd::LibraryCallOp call, Value indices,
                            const IndexNames &names, size_t rank,
                            size_t batchedRank, ArrayRef<int64_t> windowDims);
  /// Where the window begins, by dim of the array. Gives each index that is
  /// read to `limit`, whose result counts.
  SmallVector<Value> windowStarts(const IndexVectors &vectors,
                                  ArrayRef<Value> batch,
                                  function_ref<Value(Value, int64_t)> limit);
  ArrayPlace windowAt(const ArrayPlace &array, ValueRange starts,
                      ArrayRef<int64_t> sizes, Type type);
  /// An operand of a product, and which of its dims count its matrices, the
  /// rows and the columns of a matrix.
  struct ProductOperand {
    ArrayPlace place;
    Type element;
    SmallVector<int64_t> shape, batch, rows, columns;
  };
  void packOperand(ProductOperand &operand);
  MatrixProduct arrange(ProductOperand &lhs, ProductOperand &rhs);

  /// A matrix of floats.
  struct MatrixPlace {
    Value address;
    Type element;
    int64_t rowStride, columnStride;

    MatrixPlace transposed() const {
      return {address, element, columnStride, rowStride};
    }
  };
  Value entryOf(const MatrixPlace &matrix, Value row, Value column);
  Value loadEntry(const MatrixPlace &matrix, Value row, Value column);
  void subtractProduct(const MatrixPlace &matrix, Value row, Value column,
                       Value factor, Value other);
  void forRange(int64_t first, int64_t end, function_ref<void(Value)> fill);
  void emitIf(Value condition, function_ref<void()> emit);
  /// The row of the largest entry of column `step`, from that row on.
  Value findPivot(const MatrixPlace &matrix, int64_t step, int64_t rows);
  void eliminate(const MatrixPlace &matrix, int64_t rows, int64_t columns,
                 const ArrayPlace &pivots, const ArrayPlace &permutation);
  /// `solution` is the right-hand side before, which has so many rows and
  /// columns.
  void solveTriangular(spmd::LibraryCallOp op, MatrixPlace system,
                       MatrixPlace solution, int64_t rows, int64_t columns);
  /// Factors the lower triangle.
  void factorCholesky(const MatrixPlace &matrix, int64_t rows);

  Value wideNumber(double number);
  Value loadWide(Value address, Type type);
  void storeNarrow(Value address, Type type, Value number);
  Value wideEntry(const MatrixPlace &matrix, Value row, Value column) {
    return loadWide(entryOf(matrix, row, column), matrix.element);
  }
  /// A copy of a matrix in f64, or the matrix where it is of f64.
  MatrixPlace widened(const MatrixPlace &matrix, int64_t rows, int64_t columns);
  /// Rounds the entries of such a copy to those of `matrix`.
  void storeMatrix(const MatrixPlace &matrix, const MatrixPlace &wide,
                   int64_t rows, int64_t columns);
  // The matrices of the next functions are of f64.
  Value sumOfRange(Value sum, int64_t first, int64_t end,
                   function_ref<Value(Value)> term);
  Value greatestBelow(const MatrixPlace &matrix, int64_t step, int64_t rows);
  /// Stores the reflection that brings column `step` from that row on to one
  /// number, and returns its factor.
  Value makeReflection(const MatrixPlace &matrix, int64_t step, int64_t rows);
  /// Reflects the columns right of `step`.
  void reflectColumns(const MatrixPlace &matrix, Value tau, int64_t step,
                      int64_t rows, int64_t columns);
  Value isFiniteBelow(const MatrixPlace &matrix, int64_t firstOffDiagonal,
                      int64_t rows, int64_t columns);
  void spoilUnless(Value isFinite, const MatrixPlace &matrix, int64_t rows,
                   int64_t columns);
  void factorQr(const MatrixPlace &matrix, int64_t rows, int64_t columns,
                const MatrixPlace &taus);
  /// `matrix` holds the vectors of `count` reflections before.
  void multiplyReflections(const MatrixPlace &matrix, int64_t rows,
                           int64_t columns, const MatrixPlace &taus,
                           int64_t count);

  ArrayRef<int64_t> list(spmd::LibraryCallOp call, StringRef name) {
    return call.getOptions()->getAs<mlir::DenseI64ArrayAttr>(name).asArrayRef();
  }

  spmd::LibraryCallOp call;
  ModuleOp module;
  DenseMap<Value, ArrayPlace> places, destinations;
  mlir::LLVM::LLVMFuncOp inner;
  /// Addresses of inputs that no result overwrites.
  DenseSet<Value> unchanged;
  unsigned products = 0; ///< functions of products so far
  bool kernelsAreCalled = false;
  unsigned calledKernels = 0; ///< functions of kernels so far
};

} // namespace meshloom
