// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mixed_precision: in which types layers compute and keep their weights.
#pragma once

#include "meshloom/API/Tensor.h"

#include <string>

/// In which types layers compute and keep their weights.
namespace meshloom::mixed_precision {

/// A choice of types, by Keras's names: "float32", "float64", "bfloat16" and
/// "float16" for all, "mixed_bfloat16" and "mixed_float16" for computing in
/// these with weights in f32. A layer takes the one that counts when it is
/// made; its inputs and trainable weights are cast for each call. Losses and
/// metrics compute in f32 anyway; f16 wants optimizers::LossScaleOptimizer.
///
///   mixed_precision::set_global_policy("mixed_bfloat16");
///   Sequential model({layers::Dense(64), layers::Dense(10)});
class Policy {
public:
  /// By name. Throws meshloom::Error that lists the closest ones.
  Policy(const char *name,
         std::source_location where = std::source_location::current())
      : Policy(textOrThrow(name, "the name of a policy", where), where) {}
  /// A policy has a name.
  Policy(std::nullptr_t) = delete;
  /// By name; see above.
  Policy(const std::string &name,
         std::source_location where = std::source_location::current());

  /// The name of the policy.
  const std::string &name() const { return title; }
  /// The type of inputs, and of weights where they are used.
  DType compute_dtype() const { return compute; }
  /// The type of weights.
  DType variable_dtype() const { return variable; }
  /// Returns whether both are the same.
  bool operator==(const Policy &) const = default;

private:
  std::string title;
  DType compute = DType::F32, variable = DType::F32;
};

/// The policy of layers that are made now: of this thread's innermost
/// PolicyScope, else the global one, "float32" at first.
Policy policy();
/// From now on that of all threads, outside of scopes.
void set_global_policy(const Policy &policy);

/// While it lives, layers that this thread makes have its policy.
class [[nodiscard]] PolicyScope {
public:
  /// Sets that policy, or the policy of that name.
  explicit PolicyScope(const Policy &policy);
  ~PolicyScope();
  PolicyScope(const PolicyScope &) = delete;
  PolicyScope &operator=(const PolicyScope &) = delete;

private:
  std::optional<Policy> around;
};

} // namespace meshloom::mixed_precision
