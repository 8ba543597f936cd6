// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Means over the batches of all replicas, see Losses.h.
#include "Errors.h"
#include "Labels.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/Distribute/Strategy.h"
#include "meshloom/NN/Losses.h"

namespace meshloom::nn {

/// Returns the number of replicas that this thread's values are a part of.
static int64_t countReplicas() {
  return has_strategy() && !in_cross_replica_context()
             ? get_strategy().num_replicas_in_sync()
             : 1;
}

Tensor compute_average_loss(const Tensor &per_example_loss,
                            const AverageLossOptions &options, Where where) {
  constexpr std::string_view op = "compute_average_loss";
  detail::CallSite site(where);
  if (per_example_loss.rank() == 0)
    fail(op,
         "expected losses of examples [batch, ...], got a scalar: give the "
         "loss reduction = \"none\"",
         where);
  Tensor losses = wide(per_example_loss);
  if (isPresent(options.sample_weight))
    losses = losses * weightsFor(losses, options.sample_weight, op);
  Tensor sum = reduce_sum(losses);
  if (!options.global_batch_size) {
    Tensor size = full({}, double(per_example_loss.shape()[0]), sum.dtype());
    // Replicas may have different numbers of examples.
    if (countReplicas() > 1)
      size = psum(size, detail::ReplicaAxis().name);
    return divideNoNan(sum, size);
  }
  const TensorLike &size = *options.global_batch_size;
  if (size.kind == TensorLike::Kind::Tensor) {
    if (size.tensor.rank() != 0 || !isInteger(size.tensor.dtype()))
      fail(op,
           "expected a global_batch_size that is an integer scalar, got " +
               text(size.tensor),
           where);
    return divideNoNan(sum, cast(size.tensor, sum.dtype()));
  }
  if (size.kind != TensorLike::Kind::Integer || size.integer < 1)
    fail(op,
         "expected a global_batch_size that is a positive integer, got " +
             (size.kind == TensorLike::Kind::Integer
                  ? std::to_string(size.integer)
                  : std::string("another number")),
         where);
  return sum / double(size.integer);
}

Tensor scale_regularization_loss(const Tensor &regularization_loss,
                                 Where where) {
  detail::CallSite site(where);
  return reduce_sum(wide(regularization_loss)) / double(countReplicas());
}

} // namespace meshloom::nn
