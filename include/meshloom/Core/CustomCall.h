// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CustomCall: functions that users supply for `custom_call` ops, by name. A
// registration holds for the process; programs name their targets, so a saved
// program runs wherever the same names are registered.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Core/Layout.h"
#include "meshloom/Core/Result.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace meshloom {

struct KernelStep;

/// One input or result as a custom function sees it: the box of the global
/// tensor that this call is about.
struct CustomOperand {
  DType type;
  void *data;         ///< the box's first element; inputs must not be written
  Shape shape;        ///< of the box; with an extent of 0 there is no element
  Shape strides;      ///< elements from one index to the next, per dim
  Shape offset;       ///< global index of the box's first element
  Shape global_shape; ///< of the tensor
};

/// One call of a custom function, on the boxes of one device.
struct CustomCall {
  std::span<const CustomOperand> inputs, results;
  std::string_view config; ///< the op's backend_config
};

/// One user function.
///
/// Example: each row times a factor, on whatever rows a device has.
///
///   register_custom_call("scale_rows", {"a b, a -> a b",
///       [](const CustomCall &call) -> Status { ... return Success(); }});
///
/// With the rule "a b -> a" and the kind Max it would be the largest elements
/// of rows whose columns may be cut, too.
struct CustomTarget {
  /// How it can be sharded, in the notation of ShardingRule: letters name dims,
  /// `!` those that each call needs whole. Letters of inputs only are reduced:
  /// a call about a part of them gives that part's contribution, and `kind`
  /// says how contributions combine. Empty: everything is whole. A call is
  /// about one box of every letter. In `shard_map` the letters are the dims of
  /// the device's values.
  std::string rule;
  /// Computes the results of one call. May be called for several boxes at the
  /// same time, on any thread, and for more or fewer boxes than there are
  /// devices. An error ends the program's run.
  std::function<Status(const CustomCall &)> run;
  ReduceKind kind = ReduceKind::Sum;
  /// For functions that `host_call` calls in a program of several processes:
  /// that it sees to it that it fails in all of them or in none, at the same
  /// step. A run that fails so does not end the processes' connection, as
  /// others do, and callers of such programs wait for them.
  bool fails_together = false;
};

/// Makes `target` known as `name`, in place of what was known so before. Fails
/// where the name is empty, the rule cannot be read, or there is no function.
/// Safe from any thread.
Status register_custom_call(std::string name, CustomTarget target);

/// The function that is registered under `name`, or null.
std::shared_ptr<const CustomTarget> find_custom_call(std::string_view name);

/// Returns whether the step calls a function of the host that `fails_together`.
/// For Meshloom's own layers.
bool failsTogether(const KernelStep &step);

} // namespace meshloom
