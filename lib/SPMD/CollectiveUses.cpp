// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the notes of collectives, and prices the collectives.
#include "CollectiveUses.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Support/MachineModelFile.h"

namespace meshloom {

namespace {

std::string typeText(Type type) {
  std::string text = "tensor<";
  for (int64_t extent : spmd::globalShape(type))
    text += std::to_string(extent) + "x";
  return text +
         std::string(name(*dtensor::dtypeOf(dtensor::elementTypeOf(type)))) +
         ">";
}

MovedValue movedValue(spmd::CollectiveOpInterface collective, unsigned index) {
  Operation *op = collective;
  Type type = op->getResult(index).getType();
  SmallVector<int64_t> dims = spmd::globalShape(type);
  Shape shape(dims.begin(), dims.end());
  DType dtype = *dtensor::dtypeOf(dtensor::elementTypeOf(type));
  CollectiveOp moved = collective.getCollective(index);
  const int64_t counted =
      spmd::transferBytes(moved.kind, op->getOperand(index).getType(), type);
  MovedValue value{std::move(moved),
                   typeText(type),
                   locationText(op->getLoc()),
                   "",
                   "",
                   "",
                   counted,
                   globalBytes(shape, dtype)};
  DictionaryAttr notes = op->getAttrDictionary();
  if (auto members = op->getAttrOfType<mlir::ArrayAttr>(dtensor::membersAttr);
      members && index < members.size())
    if (auto ofValue = dyn_cast<DictionaryAttr>(members[index]))
      notes = ofValue;
  auto note = [&](StringRef name, std::string &text) {
    if (auto found = notes.getAs<StringAttr>(name))
      text = found.str();
  };
  note("location", value.location);
  note(dtensor::consumerAttr, value.consumer);
  note("reason", value.reason);
  note(dtensor::rejectedAttr, value.rejected);
  return value;
}

/// In shared memory a result that only moves is a view, that nobody waits for.
bool isViewAtEnd(spmd::CollectiveOpInterface collective,
                 const MachineModel &machine) {
  return machine.sharedMemory && !collective.getReduceKind() &&
         llvm::all_of(collective->getUsers(), [](Operation *user) {
           return isa<mlir::func::ReturnOp>(user);
         });
}

bool isViewOfArguments(spmd::CollectiveOpInterface collective,
                       const MachineModel &machine) {
  return machine.sharedMemory && !collective.getReduceKind() &&
         llvm::all_of(collective->getOperands(),
                      [](Value value) { return isa<BlockArgument>(value); });
}

CollectiveUse describe(spmd::CollectiveOpInterface collective,
                       const MachineModel &machine) {
  CollectiveUse use;
  use.op = collective;
  for (unsigned i = 0; i < collective->getNumResults(); ++i) {
    MovedValue value = movedValue(collective, i);
    use.sentBytes += bytesSent(
        value.collective.kind, value.countedBytes,
        groupSize(value.collective.from.mesh(), value.collective.axes));
    use.cost += machine.transfer(value.collective, value.countedBytes,
                                 value.globalBytes);
    // One message, whatever the number of values; what is there from the start
    // is looked at without waiting.
    if (i == 0 && !isViewOfArguments(collective, machine))
      use.cost += machine.overhead(value.collective);
    use.values.push_back(std::move(value));
  }
  // One device may do much for one value, another for the next.
  if (collective.getCollectiveKind() == CollectiveKind::HaloExchange)
    use.sentBytes = collective.getResultBytes();
  if (isViewAtEnd(collective, machine))
    use.cost = 0;
  return use;
}

} // namespace

std::vector<CollectiveUse> collectiveUses(mlir::func::FuncOp function,
                                          const MachineModel &machine) {
  std::vector<CollectiveUse> uses;
  function.walk([&](spmd::CollectiveOpInterface collective) {
    if (collective.getCollectiveKind() == CollectiveKind::Slice)
      return;
    uses.push_back(describe(collective, machine));
    uses.back().executions = executions(collective);
  });
  return uses;
}

FailureOr<MachineModel> machineOf(mlir::func::FuncOp function) {
  auto note = function->getAttrOfType<StringAttr>(dtensor::machineAttr);
  if (!note)
    return MachineModel();
  Result<MachineModel> model = loadMachineModel(note.str());
  if (!model)
    return function.emitError("has a 'dtensor.machine' that cannot be read: ")
           << model.error().message();
  return std::move(*model);
}

} // namespace meshloom
