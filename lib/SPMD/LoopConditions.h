// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoopConditions: loops that each device leaves by itself.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Takes the all_reduce out of a condition that asks whether any device has
/// elements that are not done, where a device that has none changes nothing
/// more: then it need not know about the others. The condition becomes partial
/// by `or`. Whether that was so.
///
///   cond: %p = compare LT, %i, %n     body: %p = compare LT, %i, %n
///         %d = reduce or %p                 %v = select %p, %new, %old
///         %r = all_reduce or %d             ...
///         yield %r
///
/// JAX prints a while under vmap like this, its continued fractions, and the
/// importer makes a loop in shard_map like this whose devices go round unlike
/// often. It holds where, with all of a device's elements of %p false,
/// - every carried value that %p is computed from, or that is read after the
///   loop, stays as it is on that device: the next one is the old one, a select
///   by %p of it, or flags that say who is done; and
/// - nothing in the loop, but for that all_reduce, communicates.
bool decideLocally(dtensor::WhileOp loop);

} // namespace meshloom
