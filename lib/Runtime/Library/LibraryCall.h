// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LibraryCall: a step of a Program that calls a library function, called as if
// it were a kernel.
#pragma once

#include "Library.h"

namespace meshloom::library {

/// A step with `library`, ready to run.
class LibraryCall {
public:
  static Result<std::shared_ptr<const LibraryCall>>
  make(const Program &program, const KernelStep &step, KernelFunction scalar);

  /// Arguments as those of a kernel: see KernelStep.
  Status run(void *const *operands, const int64_t *strides,
             const int64_t *origin, const int64_t *extents) const;

private:
  struct Source {
    const BufferDecl *decl;
    unsigned pointer; ///< which of the call's operands
    const Operand *operand;
  };
  void box(const Source &source, void *const *operands, const int64_t *strides,
           const int64_t *origin, const int64_t *extents,
           LibraryOperand &result) const;

  size_t loops = 0;
  std::vector<Source> inputs, outputs;
  std::unique_ptr<LibraryRoutine> routine;
};

} // namespace meshloom::library
