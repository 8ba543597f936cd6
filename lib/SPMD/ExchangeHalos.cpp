// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of operands as collectives. An operand is first laid out by its own
// blocks (InsertRelayouts sees to that); a device that the rule says needs more
// gets it by a halo exchange, one that holds more anyway (the value was cut
// from a wider one) keeps more, and splat constants are made as wide as needed.

#include "ExchangeHalos.h"

#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/SharedWindows.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/SPMD/RunningOp.h"

#include "llvm/ADT/MapVector.h"

namespace meshloom {

static Shape shapeOf(Value value) {
  SmallVector<int64_t> dims = dtensor::globalShape(value.getType());
  return Shape(dims.begin(), dims.end());
}

/// "a{2:1:1} of operand #0 of slice".
static std::string windowText(const ShardingRule &rule, OpOperand &operand) {
  std::string text;
  for (const ShardingRule::Window &window : rule.windows) {
    if (window.operand != operand.getOperandNumber())
      continue;
    text += text.empty() ? "" : " and ";
    text += "rows " + rule.factors[window.factor].name;
    if (window.sources.empty()) {
      text += "{" + std::to_string(window.scale) + ":" +
              std::to_string(window.low) + ":" + std::to_string(window.high);
      if (window.divisor != 1)
        text += ":" + std::to_string(window.divisor);
      text += "}";
    }
    text += " of dim " + std::to_string(window.dim);
  }
  return text + " of operand #" + std::to_string(operand.getOperandNumber()) +
         " of " + operand.getOwner()->getName().stripDialect().str();
}

void HaloExchanges::collect(mlir::func::FuncOp function) {
  function.walk([&](dtensor::ShardedOpInterface op) {
    if (isa<dtensor::RelayoutOp, dtensor::ConstraintOp>(op) ||
        op->getNumResults() == 0 ||
        !dtensor::layoutAttrOf(op->getResult(0).getType()))
      return;
    ShardingRule opRule = op.getShardingRule();
    if (opRule.windows.empty())
      return;
    const RunningOp running(op, std::move(opRule));
    const auto &[rule, operands, results, sharding] = running;
    for (OpOperand &operand : op->getOpOperands()) {
      const Layout &layout = operands[operand.getOperandNumber()];
      Shape shape = shapeOf(operand.get());
      Windows windows = operandWindows(rule, operand.getOperandNumber(),
                                       sharding, shape, layout.mesh());
      if (areWithinBlocks(layout, shape, windows))
        continue;
      std::string reason = "devices need " + windowText(rule, operand) +
                           " beyond their blocks of " + layout.spec_string();
      auto origin = op->getAttrOfType<DictionaryAttr>(dtensor::originAttr);
      if (origin)
        for (NamedAttribute entry : origin)
          if (auto text = dyn_cast<StringAttr>(entry.getValue()))
            reason += "; '" + entry.getName().str() + "' from " + text.str();
      found.push_back(
          {{&operand, std::move(reason), origin}, std::move(windows)});
    }
  });
}

/// The op that all uses are of, or null.
static Operation *onlyUser(ArrayRef<OpOperand *> uses) {
  Operation *user = uses.front()->getOwner();
  bool only = llvm::all_of(
      uses, [&](OpOperand *use) { return use->getOwner() == user; });
  return only ? user : nullptr;
}

/// Before what a use's exchange is made, as relayouts are: in front of loops
/// that the value comes from outside of, but inside of branches, which may not
/// run.
static Operation *placeOf(Value value, Operation *user) {
  while (user->getBlock() != value.getParentBlock() &&
         isa<dtensor::WhileOp>(user->getParentOp()))
    user = user->getParentOp();
  return user;
}

void HaloExchanges::insert() {
  using Place = std::pair<Value, Block *>;
  llvm::MapVector<Place, SmallVector<Need>> needs;
  llvm::DenseMap<Place, SharedWindows> sharing;
  for (auto &[use, windows] : found) {
    Value value = use.operand->get();
    Place place{value, placeOf(value, use.operand->getOwner())->getBlock()};
    auto shared = sharing.try_emplace(place, spmd::layoutOf(value.getType()),
                                      shapeOf(value));
    SmallVector<Need> &wanted = needs[place];
    size_t part = shared.first->second.add(windows);
    if (part == wanted.size())
      wanted.push_back(Need{value, {}, {}});
    wanted[part].windows = shared.first->second.list()[part];
    wanted[part].uses.push_back(use);
  }
  // By what they have in common, the value or the op, and the axes.
  llvm::MapVector<std::tuple<const void *, Block *, const void *>,
                  SmallVector<Need>>
      together;
  for (auto &[place, wanted] : needs) {
    const auto [value, block] = place;
    llvm::erase_if(wanted, makeLocally);
    for (const Need &need : wanted) {
      std::vector<unsigned> axes = haloAxes(spmd::layoutOf(value.getType()),
                                            shapeOf(value), need.windows);
      SmallVector<OpOperand *> uses;
      for (const Use &use : need.uses)
        uses.push_back(use.operand);
      Operation *user = onlyUser(uses);
      mlir::ArrayAttr over = spmd::axesAttr(
          dtensor::layoutAttrOf(value.getType()).getMeshAttr(), axes);
      const void *common = wanted.size() == 1 && user
                               ? static_cast<const void *>(user)
                               : value.getAsOpaquePointer();
      together[{common, block, over.getAsOpaquePointer()}].push_back(need);
    }
  }
  for (auto &[key, group] : together)
    exchange(group);
}

/// Returns whether the devices that `slice` cuts a value for have all of
/// `windows`. The sum that is only there to be cut will become a
/// reduce_scatter.
static bool isInSource(spmd::SliceOp slice, unsigned index, const Shape &shape,
                       const Windows &windows) {
  Value source = slice.getInputs()[index];
  if (source.getDefiningOp<spmd::AllReduceOp>() && source.hasOneUse())
    return false;
  return isWithinSource(spmd::layoutOf(source.getType()),
                        spmd::layoutOf(slice.getOutputs()[index].getType()),
                        shape, windows);
}

static RankedTensorType windowedType(Value value, const Windows &windows) {
  return spmd::shardType(shapeOf(value),
                         dtensor::elementTypeOf(value.getType()),
                         dtensor::layoutAttrOf(value.getType()), windows);
}

bool HaloExchanges::makeLocally(const Need &need) {
  Operation *producer = need.value.getDefiningOp();
  if (!producer)
    return false;
  OpBuilder builder(producer->getContext());
  builder.setInsertionPointAfter(producer);
  RankedTensorType type = windowedType(need.value, need.windows);
  Value widened;
  if (auto constant = dyn_cast<dtensor::ConstantOp>(producer)) {
    if (!isa<mlir::SplatElementsAttr>(constant.getValue()))
      return false;
    widened = builder.create<dtensor::ConstantOp>(constant.getLoc(), type,
                                                  constant.getValue());
  } else if (auto slice = dyn_cast<spmd::SliceOp>(producer)) {
    unsigned index = cast<OpResult>(need.value).getResultNumber();
    if (!isInSource(slice, index, shapeOf(need.value), need.windows))
      return false;
    widened = createCollective(builder, slice.getLoc(), CollectiveKind::Slice,
                               slice.getAxisIndices(), slice.getInputs()[index],
                               type, notesOf(slice))
                  ->getResult(0);
  } else {
    return false;
  }
  for (const Use &use : need.uses)
    use.operand->set(widened);
  return true;
}

/// Why `uses` are given windows: the notes of an exchange for them.
SmallVector<NamedAttribute> HaloExchanges::notesFor(ArrayRef<Use> uses) {
  Operation *user = uses.front().operand->getOwner();
  Builder builder(user->getContext());
  std::string reasons;
  mlir::NamedAttrList origins;
  for (const Use &use : uses) {
    reasons += (reasons.empty() ? "" : " | ") + use.reason;
    if (use.origin)
      for (NamedAttribute entry : use.origin)
        origins.set(entry.getName(), entry.getValue());
  }
  SmallVector<NamedAttribute> notes{
      builder.getNamedAttr("reason", builder.getStringAttr(reasons)),
      builder.getNamedAttr(
          dtensor::consumerAttr,
          builder.getStringAttr(user->getName().getStringRef()))};
  if (!origins.empty())
    notes.push_back(builder.getNamedAttr(
        dtensor::originAttr, origins.getDictionary(user->getContext())));
  return notes;
}

void HaloExchanges::exchange(ArrayRef<Need> needs) {
  Operation *first = nullptr;
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<Use> uses;
  bool oneValue = llvm::all_of(needs, [&](const Need &need) {
    return need.value == needs.front().value;
  });
  for (const Need &need : needs) {
    values.push_back(need.value);
    types.push_back(windowedType(need.value, need.windows));
    for (const Use &use : need.uses) {
      // Several values are of one op, and all there just before it.
      Operation *user = use.operand->getOwner();
      Operation *place = oneValue ? placeOf(need.value, user) : user;
      if (!first || place->isBeforeInBlock(first))
        first = place;
      uses.push_back(use);
    }
  }
  OpBuilder builder(first);
  Location location = uses.front().operand->getOwner()->getLoc();
  SmallVector<NamedAttribute> notes = notesFor(uses);
  if (needs.size() > 1) {
    SmallVector<Attribute> members;
    for (const Need &need : needs) {
      mlir::NamedAttrList needNotes(notesFor(need.uses));
      needNotes.set("location",
                    builder.getStringAttr(locationText(
                        need.uses.front().operand->getOwner()->getLoc())));
      members.push_back(needNotes.getDictionary(builder.getContext()));
    }
    notes.push_back(builder.getNamedAttr(dtensor::membersAttr,
                                         builder.getArrayAttr(members)));
  }
  std::vector<unsigned> axes =
      haloAxes(spmd::layoutOf(values.front().getType()),
               shapeOf(values.front()), needs.front().windows);
  Operation *exchange =
      createCollective(builder, location, CollectiveKind::HaloExchange, axes,
                       values, mlir::TypeRange(types), notes);
  for (auto [need, result] : llvm::zip_equal(needs, exchange->getResults()))
    for (const Use &use : need.uses)
      use.operand->set(result);
}

} // namespace meshloom
