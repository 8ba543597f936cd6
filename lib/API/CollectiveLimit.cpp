// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of traces are attributes of their modules.
#include "meshloom/API/CollectiveLimit.h"

#include "meshloom/Engine/CollectiveLimits.h"
#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Trace.h"

#include "meshloom/Runtime/Communicator.h"

#include <algorithm>

namespace meshloom::detail {
namespace {

constexpr llvm::StringLiteral askedName = "dtensor.collective_timeout_ms",
                              usualName = "dtensor.usual_collective_timeout_ms";

TransferTimeout timeoutOf(std::optional<double> seconds) {
  if (!seconds)
    return std::nullopt;
  return std::chrono::milliseconds(
      int64_t(std::clamp(*seconds, 0.001, 1e10) * 1000));
}

void raise(ModuleOp module, llvm::StringRef name, TransferTimeout timeout) {
  if (!timeout)
    return;
  const auto present = module->getAttrOfType<mlir::IntegerAttr>(name);
  if (!present || present.getInt() < timeout->count())
    module->setAttr(
        name,
        OpBuilder(module.getContext()).getI64IntegerAttr(timeout->count()));
}

} // namespace

TransferTimeout collectiveTimeoutOf(ModuleOp module) {
  for (llvm::StringRef name : {askedName, usualName})
    if (auto limit = module->getAttrOfType<mlir::IntegerAttr>(name))
      return std::chrono::milliseconds(limit.getInt());
  return std::nullopt;
}

CollectiveLimit::CollectiveLimit(std::optional<double> asked,
                                 std::optional<double> usual) {
  const TransferTimeout limit = timeoutOf(asked), usualLimit = timeoutOf(usual);
  for (const std::shared_ptr<Trace> &trace : threadState().traces)
    if (trace && trace->active()) {
      raise(trace->moduleOp(), askedName, limit);
      raise(trace->moduleOp(), usualName, usualLimit);
    }
  here = std::make_unique<CollectiveTimeout>(limit ? limit : usualLimit);
}

CollectiveLimit::~CollectiveLimit() = default;

} // namespace meshloom::detail
