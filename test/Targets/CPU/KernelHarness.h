// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a dtensor function on one device and calls its kernels the way a
// backend does, through the signature in Program.h.
#pragma once

#include "meshloom/Compiler/Compiler.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace meshloom {

/// A compiled function's kernels.
class KernelHarness {
public:
  /// `text` is a module with one function; fails the test where it does not
  /// compile.
  explicit KernelHarness(const std::string &text, bool optimize = true);

  const Program &program() const { return compiled.program(); }
  std::vector<const KernelStep *> kernels() const;

  /// One operand of a call: the first element and the strides of its tensor's
  /// dims, in elements.
  struct Array {
    void *data;
    std::vector<int64_t> strides;
  };
  /// A part of the iteration space.
  struct Part {
    std::vector<int64_t> origin, extents;
  };
  /// Runs a kernel on arrays in the order of Program.h. `part`: the loops'
  /// first indices and extents; the whole space where absent. Array data is
  /// that of global index 0.
  void call(const KernelStep &kernel, const std::vector<Array> &arrays,
            const Part *part = nullptr) const;
  /// The only kernel of the function.
  void call(const std::vector<Array> &arrays, const Part *part = nullptr) const;

private:
  Compiled compiled;
};

/// Row-major arrays of a kernel's operands, whole.
template <typename T>
KernelHarness::Array rowMajor(std::vector<T> &data,
                              std::vector<int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return {data.data(), strides};
}

} // namespace meshloom
