// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --spmd-check-contract: compares what a local program sends with what its
// function may send.

#include "CollectiveUses.h"
#include "meshloom/Dialect/DTensor/FunctionContract.h"
#include "meshloom/SPMD/Passes.h"

#include <fmt/format.h>

namespace meshloom {
#define GEN_PASS_DEF_CHECKCONTRACT
#include "meshloom/SPMD/Passes.h.inc"

namespace {

/// The collectives of one kind over the same axes.
struct UseGroup {
  Allowance total;
  std::vector<CollectiveUse> uses;
};

std::optional<int64_t> plus(std::optional<int64_t> sum,
                            std::optional<int64_t> addend) {
  return sum && addend ? std::optional(*sum + *addend) : std::nullopt;
}

std::vector<UseGroup> groupsOf(mlir::func::FuncOp function,
                               const MachineModel &machine) {
  std::vector<UseGroup> groups;
  for (CollectiveUse &use : collectiveUses(function, machine)) {
    Allowance none{use.first().kind, use.axisNames(), 0, 0};
    llvm::sort(none.axes);
    auto group = llvm::find_if(groups, [&](const UseGroup &candidate) {
      return areAlike(candidate.total, none);
    });
    if (group == groups.end()) {
      groups.push_back({std::move(none), {}});
      group = std::prev(groups.end());
    }
    Allowance &total = group->total;
    total.count = plus(total.count, use.executions);
    total.bytes =
        plus(total.bytes, use.executions
                              ? std::optional(use.sentBytes * *use.executions)
                              : std::nullopt);
    group->uses.push_back(std::move(use));
  }
  return groups;
}

/// "3 all_reduce over [batch] in a step, which send 4263 bytes".
std::string describe(const Allowance &total) {
  const std::string collectives = kindAndAxes(total);
  if (!total.count)
    return collectives + " in a loop that turns as often as its values say";
  return fmt::format("{} {} in a step, which {} {} bytes", *total.count,
                     collectives, *total.count == 1 ? "sends" : "send",
                     *total.bytes);
}

/// Reports what the group sends beyond the contract, with the causes.
void report(const UseGroup &group, const std::string &allowed) {
  const Location where = group.uses.front().op->getLoc();
  mlir::InFlightDiagnostic error = mlir::emitError(where)
                                   << "the program breaks its contract: it has "
                                   << describe(group.total)
                                   << "; the contract allows " << allowed;
  constexpr size_t most = 8;
  size_t notes = 0;
  for (const CollectiveUse &use : group.uses)
    for (const MovedValue &value : use.values) {
      if (++notes > most)
        continue;
      mlir::Diagnostic &note = error.attachNote(use.op->getLoc());
      note << value.type << " at " << value.location;
      if (!value.consumer.empty())
        note << " for " << value.consumer;
      note << ": " << value.collective.from.spec_string() << " -> "
           << value.collective.to.spec_string() << ", " << value.countedBytes
           << " bytes";
      if (!value.reason.empty())
        note << "; why: " << value.reason;
    }
  if (notes > most)
    error.attachNote(where) << "and " << notes - most << " values more";
}

class CheckContractPass : public impl::CheckContractBase<CheckContractPass> {
public:
  explicit CheckContractPass(ContractFindings *findings = nullptr)
      : findings(findings) {}

private:
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    markAllAnalysesPreserved();
    FailureOr<std::optional<Contract>> contract = dtensor::contractOf(function);
    if (failed(contract))
      return signalPassFailure();
    if (function.isExternal() || (!*contract && !findings))
      return;
    FailureOr<MachineModel> machine = machineOf(function);
    if (failed(machine))
      return signalPassFailure();
    const std::vector<UseGroup> groups = groupsOf(function, *machine);
    if (findings)
      for (const UseGroup &group : groups)
        findings->tightest.push_back(group.total);
    if (!*contract)
      return;
    for (const UseGroup &group : groups)
      if (std::string allowed = breach(**contract, group.total);
          !allowed.empty()) {
        report(group, allowed);
        signalPassFailure();
        if (findings)
          for (const CollectiveUse &use : group.uses)
            for (const MovedValue &value : use.values)
              findings->causes.push_back(value.reason);
      }
  }

  ContractFindings *const findings; ///< null: nobody asks for them
};
} // namespace

std::string breach(const Contract &contract, const Allowance &sent) {
  auto allowance = llvm::find_if(contract, [&](const Allowance &candidate) {
    return areAlike(candidate, sent);
  });
  if (allowance == contract.end())
    return "no " + kindAndAxes(sent);
  auto exceeds = [](std::optional<int64_t> number,
                    std::optional<int64_t> limit) {
    return limit && (!number || *number > *limit);
  };
  if (exceeds(sent.count, allowance->count))
    return fmt::format("{} of them", *allowance->count);
  if (exceeds(sent.bytes, allowance->bytes))
    return fmt::format("{} bytes", *allowance->bytes);
  return "";
}

std::unique_ptr<mlir::Pass> createCheckContract(ContractFindings &findings) {
  return std::make_unique<CheckContractPass>(&findings);
}
} // namespace meshloom
