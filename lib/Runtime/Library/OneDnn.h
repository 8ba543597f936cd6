// What all users of oneDNN's primitives share.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace meshloom::library {

/// The CPU, as oneDNN has it. Never destroyed: threads may compute at exit.
inline const dnnl::engine &engine() {
  static const auto &cpu = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return cpu;
}

} // namespace meshloom::library
