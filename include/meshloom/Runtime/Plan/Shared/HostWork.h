// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostWork: a piece of work that threads of the host run, on memory that they
// read and write.
#pragma once

#include "meshloom/Runtime/Library/HostCall.h"
#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

namespace meshloom::plan {

class HostWork {
public:
  /// `work` of `graph`, which is made of `program`: all outlive it. `code`: see
  /// HostCall::make; the errors name the step. An exchange does nothing here.
  static Result<HostWork> make(const Program &program, const StepGraph &graph,
                               const Work &work, const CodeSymbols *code);

  /// A box of the iterations.
  struct Part {
    void *const *pointers;  ///< per access: the element of the first iteration
    const int64_t *strides; ///< in elements, [access][loop]
    const int64_t *origin;  ///< global indices of the first iteration
    const int64_t *extents; ///< per loop
    size_t instance = 0;    ///< of Work::instances, where it has some
  };
  Status run(const Part &part) const;

private:
  const Work *work = nullptr;
  library::HostCall function; ///< of a kernel or dot
  /// Copies and reductions: of an element, and from one addend to the next.
  int64_t width = 0, copyBytes = 0;
  DType type = DType::F32;
};

} // namespace meshloom::plan
