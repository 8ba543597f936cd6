// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers what the passes noted on a function and its collectives.
#include "Explain.h"
#include "CollectiveUses.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Core/SubAxis.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

namespace {

/// "in the body of the while at f.mlir:3:8, in branch #1 of the case at ...";
/// nothing outside of loops and branches.
std::string placeOf(Operation *op) {
  std::string text;
  for (Operation *inner = op, *outer; (outer = inner->getParentOp());
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
  return text;
}

/// Tells what became of the meshes that the program was written on.
std::string meshesText(mlir::func::FuncOp function) {
  FailureOr<Mesh> mesh = onlyMesh(function);
  SmallVector<Mesh> written = dtensor::writtenMeshes(function);
  if (failed(mesh) || written.size() <= 1)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "runs on mesh " << mesh->spec_string() << ":";
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
  return text;
}

/// Returns the texts of an attribute of the function; none where it has none.
std::vector<std::string> textsOf(mlir::func::FuncOp function,
                                 StringRef attribute) {
  std::vector<std::string> texts;
  if (auto lines = function->getAttrOfType<mlir::ArrayAttr>(attribute))
    for (auto line : lines.getAsRange<StringAttr>())
      texts.push_back(line.str());
  return texts;
}

} // namespace

Explanation explain(mlir::func::FuncOp function, const MachineModel &machine) {
  Explanation explanation;
  explanation.function = function.getName().str();
  explanation.machine = machine.name;
  explanation.isRefined = function->hasAttr(dtensor::refinedAttr);
  explanation.meshes = meshesText(function);
  explanation.notAsAsked = textsOf(function, dtensor::notesAttr);
  explanation.automaticLayouts = textsOf(function, dtensor::autoLayoutAttr);
  explanation.memoryChoices = textsOf(function, dtensor::memoryChoicesAttr);
  explanation.refinements = textsOf(function, dtensor::refinedAttr);
  for (CollectiveUse &use : collectiveUses(function, machine)) {
    use.reduce = use.op.getReduceKind();
    use.place = placeOf(use.op);
    explanation.collectives.push_back(std::move(use));
  }
  return explanation;
}

} // namespace meshloom
