// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes what functions remember of the user's meshes.
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"

namespace meshloom::dtensor {

SmallVector<Mesh> writtenMeshes(Operation *function) {
  SmallVector<Mesh> meshes;
  if (auto list = function->getAttrOfType<mlir::ArrayAttr>(meshesAttr))
    for (auto mesh : list.getAsRange<Attribute>())
      if (auto meshAttr = dyn_cast<MeshAttr>(mesh))
        meshes.push_back(meshAttr.getMesh());
  return meshes;
}

void addNote(Operation *function, const Twine &note) {
  Builder builder(function->getContext());
  SmallVector<Attribute> notes;
  if (auto list = function->getAttrOfType<mlir::ArrayAttr>(notesAttr))
    notes.append(list.begin(), list.end());
  Attribute added = builder.getStringAttr(note);
  if (llvm::is_contained(notes, added))
    return;
  notes.push_back(added);
  function->setAttr(notesAttr, builder.getArrayAttr(notes));
}

std::string noteOfOtherBlocks(StringRef which, const Layout &now,
                              const Layout &written) {
  return which.str() + " is cut as " + now.spec_string() + " on mesh " +
         now.mesh().spec_string() + ", not as " + written.spec_string() +
         " on mesh " + written.mesh().spec_string() +
         ": where axes are split, a dim that is not a multiple of their sizes "
         "has different blocks";
}

} // namespace meshloom::dtensor
