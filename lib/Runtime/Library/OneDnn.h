// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that call oneDNN's primitives share these declarations.
#pragma once

#include "meshloom/Core/ThreadLocal.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>

namespace meshloom::library {

/// The CPU, as oneDNN has it. Never destroyed: threads may compute at exit.
inline const dnnl::engine &engine() {
  static const auto &cpu = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return cpu;
}

/// A stream of this thread.
inline dnnl::stream &streamOfThread() {
  struct Stream : dnnl::stream {
    Stream() : dnnl::stream(engine()) {}
  };
  return threadLocal<Stream, Stream>();
}

/// Takes the first code for a primitive that may run here, if there is one: not
/// the slow reference, and nothing by way of oneDNN's products of matrices
/// ("gemm"). They run with the stack pointer in memory from malloc, where the
/// frame of a signal's handler would overwrite the heap.
template <typename Description> bool takeGood(Description &description) {
  do {
    const std::string_view name = description.impl_info_str();
    if (!name.starts_with("ref") && name.find("gemm") == name.npos)
      return true;
  } while (description.next_impl());
  return false;
}

} // namespace meshloom::library
