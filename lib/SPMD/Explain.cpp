// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --explain: prints the collectives in the order of the program.
#include "Explain.h"
#include "CollectiveUses.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

namespace {

/// "in the body of the while at f.mlir:3:8, 6 times", "in branch #1 of the case
/// at ..."; nothing outside of loops and branches.
std::string placeText(const CollectiveUse &use) {
  std::string text;
  for (Operation *inner = use.op, *outer; (outer = inner->getParentOp());
       inner = outer) {
    if (!isControl(outer))
      continue;
    unsigned region = inner->getParentRegion()->getRegionNumber();
    text += text.empty() ? "in " : ", in ";
    if (isa<dtensor::WhileOp>(outer))
      text += region == 0 ? "the condition" : "the body";
    else
      text += "branch #" + std::to_string(region);
    text += " of the " + outer->getName().stripDialect().str() + " at " +
            locationText(outer->getLoc());
  }
  if (text.empty())
    return text;
  if (!use.executions)
    return text + ", as often as it goes round";
  return text + ", " + std::to_string(*use.executions) +
         (*use.executions == 1 ? " time" : " times");
}

void printValue(const MovedValue &value, bool refined, raw_ostream &os) {
  os << "     " << value.type << " at " << value.location;
  if (!value.consumer.empty())
    os << " for " << value.consumer;
  os << "\n       " << value.collective.from.spec_string() << " -> "
     << value.collective.to.spec_string() << ", " << value.countedBytes
     << " bytes";
  // Never a fallback: the cheapest way, and told.
  if (value.collective.kind == CollectiveKind::AllGather &&
      value.collective.to.is_fully_replicated())
    os << ", the whole value on every device";
  os << "\n";
  if (!value.reason.empty())
    os << "       why: " << value.reason << "\n";
  if (!value.rejected.empty())
    os << "       rejected: " << value.rejected << "\n";
  else if (!refined)
    os << "       rejected: not looked for (refine=false)\n";
  else
    os << "       rejected: nothing, no axis could be elsewhere\n";
}

/// Prints what became of the meshes that the program was written on, and which
/// layouts it asks for and does not get.
void explainMeshes(mlir::func::FuncOp function, raw_ostream &os) {
  FailureOr<Mesh> mesh = onlyMesh(function);
  SmallVector<Mesh> written = dtensor::writtenMeshes(function);
  if (succeeded(mesh) && written.size() > 1) {
    os << "  runs on mesh " << mesh->spec_string() << ":";
    for (auto [i, writtenMesh] : llvm::enumerate(written)) {
      os << (i ? "; " : " ") << writtenMesh.spec_string() << " is";
      for (unsigned axis = 0; axis < writtenMesh.rank(); ++axis) {
        auto found = axesOn(writtenMesh, {&axis, 1}, *mesh);
        os << (axis ? ", " : " ") << writtenMesh.axes()[axis].name << " = {";
        if (found)
          llvm::interleaveComma(mergedNames(*mesh, *found), os);
        os << "}";
      }
    }
    os << "\n";
  }
  if (auto notes = function->getAttrOfType<mlir::ArrayAttr>(dtensor::notesAttr))
    for (auto note : notes.getAsRange<StringAttr>())
      os << "  not as asked: " << note.getValue() << "\n";
}

/// Prints the layouts that --dtensor-auto-layout found.
void explainAutoLayout(mlir::func::FuncOp function, raw_ostream &os) {
  auto lines =
      function->getAttrOfType<mlir::ArrayAttr>(dtensor::autoLayoutAttr);
  if (!lines)
    return;
  StringRef indent = "  automatic layouts: ";
  for (auto line : lines.getAsRange<StringAttr>()) {
    os << indent << line.getValue() << "\n";
    indent = "    ";
  }
}

} // namespace

void explainCollectives(mlir::func::FuncOp function,
                        const MachineModel &machine, raw_ostream &os) {
  auto refined = function->getAttrOfType<mlir::ArrayAttr>(dtensor::refinedAttr);

  const std::vector<CollectiveUse> uses = collectiveUses(function, machine);
  int64_t sent = 0;
  Cost cost = 0;
  for (const CollectiveUse &use : uses) {
    const int64_t executions = use.executions.value_or(1);
    sent += use.sentBytes * executions;
    cost += use.cost * executions;
  }
  os << "@" << function.getName() << " on " << machine.name << ": "
     << uses.size() << (uses.size() == 1 ? " collective" : " collectives")
     << ", " << sent << " bytes sent by each device, " << formatTime(cost)
     << "\n";
  explainMeshes(function, os);
  explainAutoLayout(function, os);
  for (auto [index, use] : llvm::enumerate(uses)) {
    os << "  " << index + 1 << ". " << name(use.first().kind);
    spmd::CollectiveOpInterface op = use.op;
    if (auto kind = op.getReduceKind())
      os << " " << name(*kind);
    os << " over [";
    llvm::interleaveComma(use.axisNames(), os);
    os << "]: ";
    int64_t bytes = 0;
    for (const MovedValue &value : use.values)
      bytes += value.countedBytes;
    os << bytes << " bytes, " << use.sentBytes << " sent, "
       << formatTime(use.cost);
    if (use.values.size() > 1)
      os << ", combines " << use.values.size() << " values";
    os << "\n";
    if (std::string place = placeText(use); !place.empty())
      os << "     " << place << "\n";
    for (const MovedValue &value : use.values)
      printValue(value, bool(refined), os);
  }
  if (!refined)
    return;
  for (auto [index, note] : llvm::enumerate(refined))
    os << (index ? "    " : "  refinement: ") << cast<StringAttr>(note).str()
       << "\n";
}

} // namespace meshloom
