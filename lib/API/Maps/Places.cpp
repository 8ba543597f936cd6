// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tracing a map, see Places.h.
#include "Places.h"

#include "../Ops/Operands.h"
#include "PlaceGradients.h"

#include "meshloom/Lanes/Vectorise.h"

#include <fmt/format.h>

namespace meshloom::detail {

using dtensor::MapOp;

lanes::LaneBuilder builderAt(Trace &trace, const std::source_location &where) {
  OpBuilder &now = trace.builder();
  lanes::LaneBuilder b(now.getContext(), ArrayRef<int64_t>());
  b.restoreInsertionPoint(now.saveInsertionPoint());
  b.setLoc(trace.location(where));
  return b;
}

namespace {

/// The map with empty regions and without results: what they are is known when
/// the bodies are.
MapOp draftOf(Trace &trace, const PlaceMap &map,
              const std::source_location &where) {
  OpBuilder &b = trace.builder();
  MLIRContext *context = b.getContext();
  auto lists = [&](const std::vector<std::vector<int64_t>> &extents) {
    SmallVector<Attribute> attributes;
    for (const std::vector<int64_t> &list : extents)
      attributes.push_back(b.getDenseI64ArrayAttr(list));
    return b.getArrayAttr(attributes);
  };
  SmallVector<StringRef> names;
  SmallVector<int64_t> sizes;
  for (const MappedAxis &axis : map.axes) {
    names.push_back(axis.name);
    sizes.push_back(axis.size);
  }
  mlir::OperationState state(trace.location(where), MapOp::getOperationName());
  state.addOperands(map.inputs);
  state.addAttribute("axes", b.getStrArrayAttr(names));
  state.addAttribute("sizes", b.getDenseI64ArrayAttr(sizes));
  state.addAttribute("lanes", lists(map.lanes));
  if (map.mesh)
    state.addAttribute("mesh", dtensor::MeshAttr::get(context, *map.mesh));
  if (!map.members.empty())
    state.addAttribute("members", lists(map.members));
  size_t regions = std::max<size_t>(1, map.members.size());
  size_t count = map.inputs.size() / regions;
  for (size_t region = 0; region < regions; ++region) {
    Region *body = state.addRegion();
    auto *block = new Block;
    body->push_back(block);
    for (size_t i = region * count; i < (region + 1) * count; ++i) {
      auto type = cast<RankedTensorType>(map.inputs[i].getType());
      block->addArgument(
          RankedTensorType::get(type.getShape().drop_front(map.lanes[i].size()),
                                type.getElementType()),
          state.location);
    }
  }
  return cast<MapOp>(b.create(state));
}

/// The axes of a map while its body is traced.
class InMap {
public:
  InMap(Trace &trace, const std::vector<MappedAxis> &axes)
      : trace(trace), before(trace.mapped.size()) {
    trace.mapped.insert(trace.mapped.end(), axes.begin(), axes.end());
  }
  ~InMap() { trace.mapped.resize(before); }
  InMap(const InMap &) = delete;

private:
  Trace &trace;
  size_t before;
};

/// Returns the text of a diagnostic of the vectoriser, in a user's words.
std::string messageOf(mlir::Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  StringRef remaining = text;
  if (remaining.consume_front("'dtensor.")) {
    auto [name, message] = remaining.split("' op ");
    text = fmt::format("{} {}", name.str(), message.str());
  }
  if (auto place = dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
    text += fmt::format(" (the op at {}:{})", place.getFilename().str(),
                        place.getLine());
  return text;
}

std::string nameOf(Trace &trace, Value variable) {
  auto argument = dyn_cast<BlockArgument>(variable);
  return argument ? trace.arguments()[argument.getArgNumber()].name : "";
}

/// Puts what `body` makes into the regions of `draft`. False: its regions took
/// each other's joined values to have other extents than they have, which
/// `joints` tells now.
bool traceBodies(Trace &trace, const PlaceMap &map, MapOp draft,
                 const PlaceBody &body,
                 const std::function<void(size_t region)> &entering,
                 const std::shared_ptr<JoinedExtents> &joints,
                 const std::source_location &where) {
  InMap inside(trace, map.axes);
  std::vector<JoinedExtents> found;
  for (auto [i, region] : llvm::enumerate(draft.getBodies())) {
    if (!map.members.empty()) {
      joints->local.clear();
      joints->used.clear();
      trace.mapped.back().joints = joints;
    }
    if (entering)
      entering(i);
    OpBuilder::InsertionGuard guard(trace.builder());
    trace.builder().setInsertionPointToEnd(&region.front());
    std::vector<Tensor> arguments;
    for (Value argument : region.getArguments())
      arguments.push_back(trace.wrapValue(argument));
    SmallVector<Value> results;
    for (const Tensor &result : body(arguments))
      results.push_back(trace.valueOf(result, map.op, &where));
    trace.builder().create<dtensor::YieldOp>(trace.location(where), results);
    found.push_back(*joints);
  }
  // Where the bodies do not join alike, the vectoriser says so.
  const size_t turns = found.front().local.size();
  std::vector<std::vector<int64_t>> extents;
  bool fits = true;
  for (size_t turn = 0; turn < turns; ++turn) {
    std::vector<int64_t> &joined = extents.emplace_back();
    for (auto [members, its] : llvm::zip_equal(map.members, found)) {
      if (its.local.size() != turns)
        return true;
      for (int64_t place : members) {
        joined.resize(std::max(joined.size(), size_t(place) + 1));
        joined[size_t(place)] = its.local[turn];
      }
    }
    for (const JoinedExtents &its : found)
      fits &= its.used[turn].empty() ? llvm::all_equal(joined)
                                     : its.used[turn] == joined;
  }
  if (!fits)
    joints->byPlace = std::move(extents);
  return fits;
}

} // namespace

PlaceResults traceMap(Trace &trace, const PlaceMap &map, const PlaceBody &body,
                      const std::function<void(size_t region)> &entering,
                      const std::source_location &where) {
  MapOp draft = draftOf(trace, map, where);
  try {
    auto joints = std::make_shared<JoinedExtents>();
    // The extents of one join may change the extents of those behind it.
    for (size_t turn = 0;
         !traceBodies(trace, map, draft, body, entering, joints, where) &&
         turn <= joints->byPlace.size();
         ++turn) {
      trace.discard(draft);
      draft = draftOf(trace, map, where);
    }
    for (Region &region : draft.getBodies())
      if (region.front().getTerminator()->getNumOperands() !=
          draft.getBodies().front().front().getTerminator()->getNumOperands())
        fail(map.op,
             "expected equally many tensors from the function for every number "
             "of rows",
             &where);
    PlaceResults results{lanes::laneBuilderFor(draft), {}};
    std::string why;
    lanes::VectoriserHooks hooks;
    hooks.caseCreated = [&](dtensor::CaseOp mappedCase,
                            const lanes::LaneBuilder &b) {
      mapCustomGradient(mappedCase, b);
    };
    hooks.variableName = [&](Value variable) {
      return nameOf(trace, variable);
    };
    mlir::ScopedDiagnosticHandler messages(draft.getContext(),
                                           [&](mlir::Diagnostic &diagnostic) {
                                             if (why.empty())
                                               why = messageOf(diagnostic);
                                           });
    auto values = lanes::vectorise(draft, results.builder, hooks);
    if (failed(values))
      fail(map.op, why, &where);
    results.values = std::move(*values);
    trace.discard(draft);
    results.builder.restoreInsertionPoint(trace.builder().saveInsertionPoint());
    results.builder.setLoc(trace.location(where));
    return results;
  } catch (...) {
    if (draft->getBlock())
      trace.discard(draft);
    throw;
  }
}

} // namespace meshloom::detail
