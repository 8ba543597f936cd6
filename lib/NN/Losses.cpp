// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses of batches, see Losses.h; their formulas are in LossFunctions.cpp.
#include "meshloom/NN/Losses.h"

#include "Errors.h"
#include "Labels.h"
#include "RegisteredParts.h"

#include "meshloom/API/Mask.h"

#include <fmt/format.h>

namespace meshloom::losses {

static const detail::Names<Reduction::Kind> &reductions() {
  static const auto &registry = *new detail::Names<Reduction::Kind>(
      "a reduction",
      {{"none", Reduction::NONE},
       {"sum", Reduction::SUM},
       {"sum_over_batch_size", Reduction::SUM_OVER_BATCH_SIZE},
       {"mean", Reduction::SUM_OVER_BATCH_SIZE},
       {"mean_with_sample_weight", Reduction::MEAN_WITH_SAMPLE_WEIGHT}});
  return registry;
}

Reduction::Reduction(const std::string &name, Where where)
    : kind(detail::atLine(where,
                          [&] { return reductions().find(name).second; })) {}

const char *Reduction::name() const {
  switch (kind) {
  case NONE:
    return "none";
  case SUM:
    return "sum";
  case SUM_OVER_BATCH_SIZE:
    return "sum_over_batch_size";
  case MEAN_WITH_SAMPLE_WEIGHT:
    break;
  }
  return "mean_with_sample_weight";
}

/// The default is not written where the options of a user's loss do not have
/// it.
static nn::Config withReduction(nn::Config config, const Reduction &reduction) {
  if (reduction.kind != Reduction::SUM_OVER_BATCH_SIZE ||
      config.find("reduction"))
    config["reduction"] = std::string(reduction.name());
  return config;
}

Loss::Loss(std::string name, nn::Config config, Function function,
           Reduction reduction)
    : NamedPart(std::move(name), withReduction(std::move(config), reduction),
                std::move(function)),
      batchReduction(reduction) {}

Loss Loss::with_reduction(const Reduction &reduction) const {
  nn::Config config = this->config();
  Loss loss = *this;
  static_cast<NamedPart &>(loss) =
      NamedPart(name(), withReduction(std::move(config), reduction),
                [same = *this](const Tensor &y_true, const Tensor &y_pred) {
                  return same.NamedPart::operator()(y_true, y_pred);
                });
  loss.batchReduction = reduction;
  return loss;
}

Tensor Loss::per_example(const Tensor &y_true, const Tensor &y_pred,
                         Where where) const {
  detail::CallSite site(where);
  const std::string part = name().empty() ? "loss" : name();
  if (!nn::isPresent(y_true) || !nn::isPresent(y_pred))
    nn::fail(part, "expected labels and predictions, got an empty Tensor",
             where);
  Tensor losses = NamedPart::operator()(y_true, y_pred);
  if (!nn::isPresent(losses))
    nn::fail(part,
             "its function returned no tensor: return the losses of examples",
             where);
  return losses;
}

Tensor Loss::operator()(const Tensor &y_true, const Tensor &y_pred,
                        const Tensor &sample_weight, Where where) const {
  detail::CallSite site(where);
  Tensor losses = per_example(y_true, y_pred, where);
  // A masked example, by the predictions or the loss itself, costs nothing and
  // does not count.
  Tensor counts = get_mask(losses);
  if (Tensor mask = get_mask(y_pred);
      nn::isPresent(mask) && mask.rank() <= losses.rank()) {
    for (int64_t d = mask.rank(); d < losses.rank(); ++d)
      mask = expand_dims(mask, -1);
    counts = nn::isPresent(counts) ? logical_and(counts, mask) : mask;
  }
  const nn::Config *ignored = config().find("ignore_class");
  if (ignored && ignored->is_null())
    ignored = nullptr;
  if (nn::isPresent(counts)) {
    counts = broadcast_to(counts, losses.shape());
    if (ignored)
      counts = logical_and(counts, reshape(not_equal(y_true, ignored->as_int()),
                                           losses.shape()));
    losses = meshloom::where(counts, losses, 0);
  }
  Tensor weights;
  if (nn::isPresent(sample_weight)) {
    weights = nn::weightsFor(losses, sample_weight, "sample_weight");
    losses = losses * weights;
  }
  if (batchReduction.kind == Reduction::NONE)
    return losses;
  Tensor sum = reduce_sum(losses);
  if (batchReduction.kind == Reduction::SUM)
    return sum;
  const double size = double(std::max<int64_t>(losses.size(), 1));
  const bool byWeights =
      batchReduction.kind == Reduction::MEAN_WITH_SAMPLE_WEIGHT &&
      nn::isPresent(weights);
  Tensor count;
  if (byWeights) {
    weights = broadcast_to(weights, losses.shape());
    count = reduce_sum(
        nn::isPresent(counts) ? meshloom::where(counts, weights, 0) : weights);
  } else if (nn::isPresent(counts)) {
    count = reduce_sum(cast(counts, losses.dtype()));
  } else if (ignored) {
    count =
        reduce_sum(cast(not_equal(y_true, ignored->as_int()), losses.dtype()));
  }
  return nn::isPresent(count) ? nn::divideNoNan(sum, count) : sum / size;
}

} // namespace meshloom::losses
