// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of one product of matrices in a loop that is compiled whole.
#pragma once

#include "meshloom/Targets/Kernels/ElementEmitter.h"

namespace meshloom {

/// Products of matrices of known sizes and strides: result [b, m, n] is the sum
/// over k of lhs [b, m, k] times rhs [b, k, n], for all indices `b` of a batch.
/// Strides are counted in elements; rows of the result are contiguous.
struct MatrixProduct {
  Type element; ///< of both operands and the result
  int64_t rows, columns, terms;
  int64_t lhsRow, lhsTerm, rhsTerm, rhsColumn;
  /// The form of tiles: `terms`, and not `rows`.
  bool alongTerms;
  SmallVector<int64_t> batch, lhsBatch, rhsBatch, resultBatch;
};

/// Emits a function that computes a product. Invariant: a tile of the result is
/// in vector registers while all of its terms are added. There are two forms of
/// a tile:
///   * rows: a vector is a piece of a row of the result. Each term is an
///   element
///     of lhs times a vector of rhs, whose columns are contiguous.
///   * terms: a vector is partial sums of one element of the result. Both
///     operands are read along their terms, which are contiguous.
class ProductEmitter : ElementEmitter {
public:
  ProductEmitter(const MatrixProduct &product, ModuleOp module, Location loc);

  /// The function, whose arguments are the addresses of lhs, rhs and the
  /// result.
  mlir::LLVM::LLVMFuncOp emit(StringRef name);

private:
  /// The numbers of rows and columns (in the form `rows`, vectors) of a tile.
  struct Tile {
    int64_t rows, columns;
  };
  struct Addresses {
    Value lhs, rhs, result;
  };

  Tile chooseTile() const;
  void emitBatch(const Addresses &from, unsigned dim);
  void emitTiles(const Addresses &from);
  void emitRowsTile(const Addresses &from, int64_t rows, int64_t columns);
  void emitTermsTile(const Addresses &from, int64_t rows, int64_t columns);
  /// Calls `emit` with multiples of `step` below `extent`, where a whole step
  /// is left, and then once with what is left.
  void forSteps(int64_t extent, int64_t step,
                function_ref<void(Value, int64_t)> emit);
  SmallVector<Value>
  loop(int64_t from, int64_t to, int64_t step, ValueRange states,
       function_ref<SmallVector<Value>(Value, ValueRange)> fill);

  Value moved(Value address, Value index, int64_t stride);
  Value moved(Value address, int64_t offset);
  /// `count` adjacent elements as a vector of sums; further lanes are zero.
  Value loadVector(Value address, int64_t count);
  void storeVector(Value address, Value vector, int64_t count);
  Value loadSplat(Value address);
  Value zeros();
  Value multiplyAdd(Value a, Value b, Value sum);
  Value sumOfLanes(Value vector);
  Value maskOf(int64_t count);
  Value widened(Value stored, Type wide);
  Value narrowed(Value sum, Type stored);
  void denormalsAreZeros(function_ref<void()> emit);

  const MatrixProduct product;
  ModuleOp module;
  Type sumType; ///< f32 for f16 and bf16
  int64_t lanes, registers;
};

} // namespace meshloom
