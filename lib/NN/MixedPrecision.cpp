// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types that layers compute in, see MixedPrecision.h.
#include "meshloom/NN/MixedPrecision.h"
#include "meshloom/Core/ThreadLocal.h"

#include "Names.h"

#include <mutex>

namespace meshloom::mixed_precision {
namespace {

struct Types {
  DType compute, variable;
};
const detail::Names<Types> &policies() {
  static const auto &policies = *new detail::Names<Types>(
      "a policy", {{"float32", {DType::F32, DType::F32}},
                   {"float64", {DType::F64, DType::F64}},
                   {"bfloat16", {DType::BF16, DType::BF16}},
                   {"float16", {DType::F16, DType::F16}},
                   {"mixed_bfloat16", {DType::BF16, DType::F32}},
                   {"mixed_float16", {DType::F16, DType::F32}}});
  return policies;
}

std::optional<Policy> &policyOfThread() {
  return threadLocal<std::optional<Policy>>();
}

std::mutex &globalMutex() {
  static std::mutex &mutex = *new std::mutex;
  return mutex;
}
Policy &globalPolicy() {
  static auto &policy = *new Policy("float32");
  return policy;
}

} // namespace

Policy::Policy(const std::string &name, std::source_location where) {
  auto [spelled, types] =
      meshloom::detail::atLine(where, [&] { return policies().find(name); });
  title = spelled;
  compute = types.compute;
  variable = types.variable;
}

Policy policy() {
  if (policyOfThread())
    return *policyOfThread();
  std::lock_guard lock(globalMutex());
  return globalPolicy();
}

void set_global_policy(const Policy &policy) {
  std::lock_guard lock(globalMutex());
  globalPolicy() = policy;
}

PolicyScope::PolicyScope(const Policy &policy)
    : around(std::exchange(policyOfThread(), policy)) {}
PolicyScope::~PolicyScope() {
  policyOfThread() = around;
}

} // namespace meshloom::mixed_precision
