// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU features by the names that LLVM and a program's Code::requirements use.
#include "meshloom/Runtime/Library/HostCode.h"

#include <fmt/format.h>

using namespace meshloom;

namespace {
/// Whether this CPU (and system) supports a feature; nothing if the name is
/// unknown here. __builtin_cpu_supports takes literals only.
std::optional<bool> supports(std::string_view feature) {
#if defined(__x86_64__)
#define MESHLOOM_FEATURE(name)                                                 \
  if (feature == (name))                                                       \
    return bool(__builtin_cpu_supports(name));
  MESHLOOM_FEATURE("sse2")
  MESHLOOM_FEATURE("sse3")
  MESHLOOM_FEATURE("ssse3")
  MESHLOOM_FEATURE("sse4.1")
  MESHLOOM_FEATURE("sse4.2")
  MESHLOOM_FEATURE("popcnt")
  MESHLOOM_FEATURE("avx")
  MESHLOOM_FEATURE("avx2")
  MESHLOOM_FEATURE("fma")
  MESHLOOM_FEATURE("f16c")
  MESHLOOM_FEATURE("bmi")
  MESHLOOM_FEATURE("bmi2")
  MESHLOOM_FEATURE("lzcnt")
  MESHLOOM_FEATURE("aes")
  MESHLOOM_FEATURE("avx512f")
  MESHLOOM_FEATURE("avx512bw")
  MESHLOOM_FEATURE("avx512cd")
  MESHLOOM_FEATURE("avx512dq")
  MESHLOOM_FEATURE("avx512vl")
  MESHLOOM_FEATURE("avx512vbmi")
  MESHLOOM_FEATURE("avx512vnni")
  MESHLOOM_FEATURE("avx512bf16")
  MESHLOOM_FEATURE("x86-64")
  MESHLOOM_FEATURE("x86-64-v2")
  MESHLOOM_FEATURE("x86-64-v3")
  MESHLOOM_FEATURE("x86-64-v4")
#undef MESHLOOM_FEATURE
#endif
  return std::nullopt;
}
} // namespace

Status library::checkCPUFeatures(std::string_view features) {
  while (!features.empty()) {
    const size_t comma = features.find(',');
    std::string_view feature = features.substr(0, comma);
    features.remove_prefix(comma == features.npos ? features.size()
                                                  : comma + 1);
    while (!feature.empty() && (feature[0] == ' ' || feature[0] == '+'))
      feature.remove_prefix(1);
    if (feature.empty())
      continue;
    std::optional<bool> supported = supports(feature);
    if (!supported)
      return Error(fmt::format("the program's kernels need the CPU feature "
                               "'{}', which this build does not know; compile "
                               "the program again on this machine",
                               feature));
    if (!*supported)
      return Error(fmt::format("the program's kernels need the CPU feature "
                               "'{}', which this CPU does not have; compile "
                               "the program again on this machine",
                               feature));
  }
  return Success();
}
