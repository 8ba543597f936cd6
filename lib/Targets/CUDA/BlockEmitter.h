// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common parts of the emitters of kernels for blocks of threads.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Targets/Kernels/KernelBody.h"

namespace meshloom {

/// The threads of a block.
inline constexpr unsigned blockThreads = 256;

/// Makes `function` an entry point for blocks of `blockThreads` threads, whose
/// pointers are those of different arrays.
void makeEntry(mlir::LLVM::LLVMFuncOp function);

/// Emits a loop over the groups of `size` of `count` results that are the
/// block's. `emitGroup` gets its block and the number of a group's first
/// result.
void emitGroups(OpBuilder &b, Location loc, unsigned size, Value count,
                function_ref<void(Block *, Value)> emitGroup);

/// Creates an array that a block's threads share, and returns its address.
Value makeSharedArray(OpBuilder &b, Location loc, ModuleOp module, Type element,
                      unsigned size, const Twine &name);

class BlockEmitter : protected KernelBody {
protected:
  using KernelBody::KernelBody;

  /// The parameters of the code, in their order.
  std::vector<KernelParameter> parameters();
  /// The product of the extents of `loops`, as an i64.
  Value countOf(ArrayRef<unsigned> loops);
  /// The position of iteration `index` of `loops`, of which the last one runs
  /// fastest. Divides in `width` bits.
  Position positionOf(ArrayRef<unsigned> loops, const Position &from,
                      Value index, unsigned width);
  void barrier();
  /// The value that the thread so many threads behind this one has, of the same
  /// warp; any value where there is none. All threads of a warp ask together.
  Value ofThreadBehind(Value value, unsigned distance);

  /// Functions are right for all arguments.
  void emitted(Operation *op) override;
};

} // namespace meshloom
