// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of sets of devices, and where ops run, see DeviceSets.h.
#include "meshloom/Engine/DeviceSets.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"
#include "meshloom/Dialect/DTensor/Map.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <fmt/format.h>

#include <deque>

namespace meshloom::detail {

namespace {
/// Never destroyed, like all that a thread may use while the process ends.
struct SeenSets {
  std::mutex mutex;
  std::deque<Mesh> meshes; ///< one of each set
};
SeenSets &seenSets() {
  static SeenSets &sets = *new SeenSets;
  return sets;
}

bool isOneDevice(int64_t set) {
  return meshOfDeviceSet(set).is_single_device();
}
/// Returns whether a value has no dims, or repeats one that has none.
bool isScalar(Value value) {
  if (auto repeated = value.getDefiningOp<dtensor::BroadcastInDimOp>())
    value = repeated.getOperand();
  return dtensor::globalShape(value.getType()).empty();
}
} // namespace

bool isHostSet(int64_t set) {
  static const int64_t host = deviceSetOf(hostMesh());
  return set == host;
}

int64_t deviceSetOf(const Mesh &mesh) {
  SeenSets &sets = seenSets();
  std::lock_guard lock(sets.mutex);
  for (size_t set = 0; set < sets.meshes.size(); ++set)
    if (onSameDevices(sets.meshes[set], mesh))
      return int64_t(set);
  sets.meshes.push_back(mesh);
  return int64_t(sets.meshes.size()) - 1;
}

const Mesh &meshOfDeviceSet(int64_t set, ArrayRef<Mesh> meshes) {
  for (const Mesh &mesh : meshes)
    if (deviceSetOf(mesh) == set)
      return mesh;
  SeenSets &sets = seenSets();
  std::lock_guard lock(sets.mutex);
  return sets.meshes[size_t(set)];
}

std::string deviceSetText(int64_t set, ArrayRef<Mesh> meshes) {
  return devicesText(meshOfDeviceSet(set, meshes));
}

int64_t deviceSetOfScope() {
  const auto &meshes = threadState().meshes;
  for (auto held = meshes.rbegin(); held != meshes.rend(); ++held)
    if (std::shared_ptr<const Mesh> mesh = held->lock())
      return mesh->is_single_device() ? deviceSetOf(*mesh) : ANYWHERE;
  return ANYWHERE;
}

void UsedSets::add(int64_t set, bool isScalar) {
  SmallVector<int64_t> &sets = isScalar ? ofScalars : ofTensors;
  if (set != ANYWHERE && !llvm::is_contained(sets, set))
    sets.push_back(set);
}

std::optional<int64_t> commonDeviceSet(const UsedSets &used, int64_t scope) {
  const SmallVector<int64_t> &sets =
      used.ofTensors.empty() ? used.ofScalars : used.ofTensors;
  if (sets.empty())
    return isHostSet(scope) ? ANYWHERE : scope;
  if (llvm::all_of(used.ofTensors, isOneDevice) &&
      llvm::all_of(used.ofScalars, isOneDevice))
    return scope == ANYWHERE ? sets.front() : scope;
  int64_t common = ANYWHERE;
  for (int64_t set : sets) {
    if (isHostSet(set))
      continue;
    if (common == ANYWHERE)
      common = set;
    else if (common != set && !used.ofTensors.empty())
      return std::nullopt;
  }
  return common == ANYWHERE ? sets.front() : common;
}

bool comesAlong(int64_t set, bool isScalar, int64_t wanted) {
  UsedSets used;
  used.add(wanted, false);
  used.add(set, isScalar);
  return commonDeviceSet(used) == wanted;
}

DevicePlaces::DevicePlaces(Block &itsBlock, ArrayRef<int64_t> ofArguments,
                           ArrayRef<Mesh> meshes)
    : block(itsBlock), meshes(meshes), ofEffects(deviceSetOf(meshes.front())) {
  for (auto [argument, set] :
       llvm::zip_equal(block.getArguments(), ofArguments))
    places[argument] = set;
}

int64_t DevicePlaces::of(Value value) const {
  auto found = places.find(value);
  return found == places.end() ? ANYWHERE : found->second;
}
int64_t DevicePlaces::of(Operation *op) const {
  auto found = ops.find(op);
  return found == ops.end() ? ANYWHERE : found->second;
}

static std::optional<int64_t> deviceNumberOf(Operation *op, StringRef name) {
  auto number = op->getAttrOfType<IntegerAttr>(name);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

void failAt(Operation *op, std::string message) {
  if (auto position = sourcePosition(op->getLoc()))
    message += fmt::format(" (at {})", *position);
  fail(op->getName().stripDialect().str(), message);
}

UsedSets DevicePlaces::usedBy(Operation *op) const {
  UsedSets used;
  for (Value value : usedValues(op))
    used.add(of(value), isScalar(value));
  // A loop or branch brings values where its relayouts say.
  if (isControl(op))
    op->walk([&](Operation *inner) {
      if (isa<dtensor::RelayoutOp, dtensor::ConstraintOp>(inner))
        used.add(
            deviceNumberOf(inner, dtensor::deviceSetAttr).value_or(ANYWHERE),
            false);
    });
  return used;
}

int64_t DevicePlaces::placeOf(Operation *op) const {
  if (isa<dtensor::AssignVariableOp>(op)) // the value comes there
    return of(op->getOperand(0));
  UsedSets used = usedBy(op);
  const bool pins = isa<dtensor::RelayoutOp, dtensor::ConstraintOp>(op);
  const std::optional<int64_t> pinned =
      deviceNumberOf(op, dtensor::deviceSetAttr);
  if (isa<dtensor::RelayoutOp>(op) && pinned)
    return *pinned;
  if (pins && pinned)
    used.add(*pinned, false);
  if (auto common =
          commonDeviceSet(used, pins ? ANYWHERE : pinned.value_or(ANYWHERE))) {
    const bool runsOnce =
        !isa<dtensor::ReadVariableOp>(op) && !mlir::isMemoryEffectFree(op);
    return *common == ANYWHERE && runsOnce ? ofEffects : *common;
  }
  const SmallVector<int64_t> &sets = used.ofTensors;
  failAt(op,
         fmt::format(
             "expected operands on the same devices, got {} and {}: bring "
             "one to the other's devices with relayout or copy_to_mesh",
             deviceSetText(sets[0], meshes), deviceSetText(sets[1], meshes)));
}

/// Returns the block that an op runs once as it is written: the body of a map,
/// or the branch of a case that has no other; else null.
static Block *onlyBodyOf(Operation &op) {
  const bool isOnce = isa<dtensor::CaseOp, dtensor::MapOp>(op);
  return isOnce && op.getNumRegions() == 1 && !op.getRegion(0).empty()
             ? &op.getRegion(0).front()
             : nullptr;
}

void DevicePlaces::addBody(Block &body) {
  Operation &around = *body.getParentOp();
  if (isa<dtensor::MapOp>(around))
    for (auto [argument, input] :
         llvm::zip(body.getArguments(), around.getOperands()))
      places[argument] = of(input);
  for (Operation &op : body)
    if (!op.hasTrait<mlir::OpTrait::IsTerminator>())
      add(op);
}

std::optional<int64_t> unrolledTurns(dtensor::WhileOp loop) {
  const std::optional<int64_t> turns = tripCount(loop);
  return turns && *turns <= mostUnrolledTurns ? turns : std::nullopt;
}

/// Returns whether the body of a loop does not end yet.
static bool isBeingTraced(dtensor::WhileOp loop) {
  Block &body = loop.getBody().front();
  return body.empty() || !body.back().hasTrait<mlir::OpTrait::IsTerminator>();
}

/// Values of a loop may be on several sets until it ends: it may be unrolled.
void DevicePlaces::addUnfinished(dtensor::WhileOp loop) {
  UsedSets used;
  for (Value init : loop.getInits())
    used.add(of(init), isScalar(init));
  for (Region &region : loop->getRegions()) {
    for (auto [argument, init] :
         llvm::zip_equal(region.getArguments(), loop.getInits()))
      places[argument] = of(init);
    for (Operation &op : region.front())
      if (!op.hasTrait<mlir::OpTrait::IsTerminator>()) {
        add(op);
        for (Value operand : op.getOperands())
          used.add(of(operand), isScalar(operand));
      }
  }
  ops[loop] = commonDeviceSet(used).value_or(ANYWHERE);
}

void DevicePlaces::expectAlong(Value value, int64_t wanted,
                               const std::string &role) const {
  const int64_t set = of(value);
  if (set != ANYWHERE && !comesAlong(set, isScalar(value), wanted))
    failAt(value.getParentBlock()->getParentOp(),
           fmt::format("expected {} on {}, got it on {}: bring it there with "
                       "relayout at the end of the body",
                       role, deviceSetText(wanted, meshes),
                       deviceSetText(set, meshes)));
}

/// `sets`: where the carried values are. One that begins on no devices is where
/// a turn makes the next one.
void DevicePlaces::addTurns(dtensor::WhileOp loop, SmallVector<int64_t> &sets) {
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (Region &region : loop->getRegions()) {
      for (auto [argument, set] : llvm::zip_equal(region.getArguments(), sets))
        places[argument] = set;
      addBody(region.front());
    }
    for (auto [set, next] : llvm::zip_equal(
             sets, loop.getBody().front().getTerminator()->getOperands()))
      if (set == ANYWHERE && of(next) != ANYWHERE) {
        set = of(next);
        isDone = false;
      }
  }
}

void DevicePlaces::addHosted(Operation &op) {
  hosted.insert(&op);
  ops.erase(&op);
  SmallVector<int64_t> sets(op.getNumResults(), ANYWHERE);
  const int64_t host = deviceSetOf(hostMesh());
  auto settle = [&] {
    bool isChanged = false;
    for (int64_t &set : sets)
      if (set == ANYWHERE) {
        set = host;
        isChanged = true;
      }
    return isChanged;
  };
  if (auto loop = dyn_cast<dtensor::WhileOp>(op)) {
    for (auto [set, init] : llvm::zip_equal(sets, loop.getInits()))
      set = of(init);
    addTurns(loop, sets);
    if (settle())
      addTurns(loop, sets);
    for (auto [i, next] :
         llvm::enumerate(loop.getBody().front().getTerminator()->getOperands()))
      expectAlong(next, sets[i],
                  fmt::format("carried value {} of the loop", i));
  } else {
    for (Region &region : op.getRegions())
      addBody(region.front());
    // While it is traced it has no results.
    for (Region &region : op.getRegions())
      for (size_t r = 0; r < sets.size(); ++r)
        if (sets[r] == ANYWHERE)
          sets[r] = of(region.front().getTerminator()->getOperand(unsigned(r)));
    settle();
    for (Region &region : op.getRegions())
      for (size_t r = 0; r < sets.size(); ++r)
        expectAlong(region.front().getTerminator()->getOperand(unsigned(r)),
                    sets[r], fmt::format("result {} of the branch", r));
  }
  for (auto [result, set] : llvm::zip_equal(op.getResults(), sets))
    places[result] = set;
}

void DevicePlaces::add(Operation &op) {
  if (auto loop = dyn_cast<dtensor::WhileOp>(op); loop && isBeingTraced(loop))
    return addUnfinished(loop);
  Block *body = onlyBodyOf(op);
  if (body)
    addBody(*body);
  if (body && isa<dtensor::CaseOp>(op)) {
    UsedSets used;
    bool isApart = false;
    for (Operation &inner : *body) {
      used.add(of(&inner), false);
      isApart |= isSpread(&inner);
    }
    if (isApart || used.ofTensors.size() > 1) {
      spread.insert(&op);
      if (op.getNumResults())
        for (auto [result, value] : llvm::zip_equal(
                 op.getResults(), body->getTerminator()->getOperands()))
          places[result] = of(value);
      return;
    }
  }
  // One that is traced has no results yet, and its body says where values are.
  if (isa<dtensor::MapOp>(op))
    return;
  if (isControl(&op) && !commonDeviceSet(usedBy(&op)))
    return addHosted(op);
  const int64_t set = placeOf(&op);
  ops[&op] = set;
  for (Value result : op.getResults())
    places[result] = set;
}

void DevicePlaces::visit(Operation *last) {
  for (Operation &op : block) {
    if (!ops.contains(&op) && !spread.contains(&op) && !hosted.contains(&op))
      add(op);
    if (&op == last)
      return;
  }
}

} // namespace meshloom::detail
