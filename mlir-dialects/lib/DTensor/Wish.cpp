// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wishes as attributes, and back.

#include "meshloom/Dialect/DTensor/Wish.h"

namespace meshloom::dtensor {

static constexpr llvm::StringLiteral directions[] = {"both", "forward",
                                                     "backward", "none"};

DictionaryAttr Wish::toAttr(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<NamedAttribute> entries{
      builder.getNamedAttr("layout", LayoutAttr::get(context, layout))};
  auto add = [&](StringRef name, Attribute value) {
    entries.push_back(builder.getNamedAttr(name, value));
  };
  if (llvm::is_contained(open, true))
    add("open", builder.getDenseBoolArrayAttr(open));
  if (llvm::any_of(priorities, [](int64_t p) { return p != 0; }))
    add("priorities", builder.getDenseI64ArrayAttr(priorities));
  if (!replicated.empty()) {
    SmallVector<StringRef> names;
    for (unsigned axis : replicated)
      names.push_back(layout.mesh().axes()[axis].name);
    add("replicated", builder.getStrArrayAttr(names));
  }
  if (direction != WishDirection::Both)
    add("direction", builder.getStringAttr(directions[unsigned(direction)]));
  if (group)
    add("group", builder.getI64IntegerAttr(*group));
  if (released)
    add("released", builder.getUnitAttr());
  return builder.getDictionaryAttr(entries);
}

/// The wish in `attribute`, for a tensor of rank `rank`.
static FailureOr<Wish>
readWish(DictionaryAttr attribute, unsigned rank,
         llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto layout = attribute.getAs<LayoutAttr>("layout");
  if (!layout || layout.getRank() != rank || !layout.getPartial().empty())
    return emitError() << "a wish needs a 'layout' of rank " << rank
                       << " that is not partial";
  Wish wish{layout.getLayout()};
  for (NamedAttribute entry : attribute) {
    StringRef name = entry.getName().strref();
    Attribute value = entry.getValue();
    if (name == "open") {
      auto list = dyn_cast<mlir::DenseBoolArrayAttr>(value);
      if (!list || list.size() != rank)
        return emitError() << "'open' of a wish must be an array of " << rank
                           << " booleans";
      wish.open.assign(list.asArrayRef().begin(), list.asArrayRef().end());
    } else if (name == "priorities") {
      auto list = dyn_cast<DenseI64ArrayAttr>(value);
      if (!list || list.size() != rank ||
          llvm::any_of(list.asArrayRef(), [](int64_t p) { return p < 0; }))
        return emitError() << "'priorities' of a wish must be an array of "
                           << rank << " integers, none below 0";
      wish.priorities.assign(list.asArrayRef().begin(),
                             list.asArrayRef().end());
    } else if (name == "replicated") {
      auto list = dyn_cast<mlir::ArrayAttr>(value);
      if (!list)
        return emitError() << "'replicated' of a wish must be an array of axes";
      for (Attribute item : list) {
        auto axisName = dyn_cast<StringAttr>(item);
        std::optional<unsigned> axis =
            axisName ? wish.layout.mesh().axis_index(
                           std::string_view(axisName.strref()))
                     : std::nullopt;
        if (!axis)
          return emitError() << "'replicated' of a wish names " << item
                             << ", which is not an axis of the mesh";
        if (wish.layout.uses_axis(*axis))
          return emitError()
                 << "axis " << item << " is both replicated and on a dim of "
                 << layout.getLayout().spec_string();
        wish.replicated.push_back(*axis);
      }
    } else if (name == "direction") {
      auto text = dyn_cast<StringAttr>(value);
      const auto *found = llvm::find(directions, text ? text.strref() : "");
      if (found == std::end(directions))
        return emitError() << "'direction' of a wish must be \"both\", "
                              "\"forward\", \"backward\" or \"none\"";
      wish.direction = WishDirection(found - std::begin(directions));
    } else if (name == "group") {
      auto number = dyn_cast<IntegerAttr>(value);
      if (!number)
        return emitError() << "'group' of a wish must be an integer";
      wish.group = number.getInt();
    } else if (name == "released") {
      if (!isa<mlir::UnitAttr>(value))
        return emitError() << "'released' of a wish takes no value";
      wish.released = true;
    } else if (name != "layout") {
      return emitError() << "a wish has no entry '" << name << "'";
    }
  }
  return wish;
}

std::optional<Wish> wishOf(ConstraintOp op) {
  auto attribute = op->getAttrOfType<DictionaryAttr>(Wish::attrName);
  if (!attribute)
    return std::nullopt;
  auto type = cast<RankedTensorType>(op.getType());
  auto wish =
      readWish(attribute, type.getRank(), [&] { return op.emitOpError(); });
  assert(succeeded(wish) && "the verifier has read it");
  return *wish;
}

LogicalResult verifyWish(ConstraintOp op) {
  auto attribute = op->getAttrOfType<DictionaryAttr>(Wish::attrName);
  if (!attribute)
    return op.emitOpError("'dtensor.wish' must be a dictionary");
  return readWish(attribute, cast<RankedTensorType>(op.getType()).getRank(),
                  [&] { return op.emitOpError(); });
}

Value addWish(OpBuilder &builder, Location location, Value value,
              const Wish &wish) {
  auto constraint =
      builder.create<ConstraintOp>(location, undecided(value.getType()), value);
  constraint->setAttr(Wish::attrName, wish.toAttr(builder.getContext()));
  return constraint;
}

} // namespace meshloom::dtensor
