// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every layout over small meshes, for property tests.
#pragma once

#include "meshloom/Core/Layout.h"

#include <algorithm>
#include <functional>

namespace meshloom::test {

inline Mesh makeMesh(const std::vector<int64_t> &sizes) {
  const char *names[] = {"x", "y", "z"};
  std::vector<MeshAxis> axes;
  for (size_t i = 0; i < sizes.size(); ++i)
    axes.push_back({names[i], sizes[i]});
  return Mesh::get(axes).value_or_throw();
}

/// 1 to 8 devices in one axis, and several shapes of two and three axes.
inline std::vector<Mesh> smallMeshes() {
  std::vector<Mesh> meshes;
  for (int64_t n = 1; n <= 8; ++n)
    meshes.push_back(makeMesh({n}));
  for (std::vector<int64_t> sizes :
       std::vector<std::vector<int64_t>>{{2, 2},
                                         {2, 4},
                                         {4, 2},
                                         {2, 3},
                                         {3, 2},
                                         {1, 8},
                                         {2, 2, 2},
                                         {2, 1, 3}})
    meshes.push_back(makeMesh(sizes));
  return meshes;
}

/// Calls `visit` with every way to put the axes of `mesh`, in every order, on
/// `places` lists, or on none.
inline void
forEachPlacement(const Mesh &mesh, size_t places,
                 const std::function<void(const Layout::DimAxes &)> &visit) {
  Layout::DimAxes lists(places);
  std::function<void(unsigned)> place = [&](unsigned axis) {
    if (axis == mesh.rank())
      return visit(lists);
    place(axis + 1);
    for (size_t list = 0; list < places; ++list)
      for (size_t position = 0; position <= lists[list].size(); ++position) {
        lists[list].insert(lists[list].begin() + position, axis);
        place(axis + 1);
        lists[list].erase(lists[list].begin() + position);
      }
  };
  place(0);
}

/// Calls `visit` with every layout of a rank; partial ones of one kind.
inline void forEachLayout(const Mesh &mesh, unsigned rank, ReduceKind kind,
                          const std::function<void(const Layout &)> &visit) {
  forEachPlacement(mesh, rank + 1, [&](const Layout::DimAxes &lists) {
    std::vector<Partial> partial;
    for (unsigned axis : lists[rank])
      partial.push_back({axis, kind});
    // Orders of partial axes are the same layout.
    if (!std::is_sorted(partial.begin(), partial.end()))
      return;
    Layout::DimAxes dims(lists.begin(), lists.begin() + rank);
    visit(Layout::get(mesh, dims, partial).value_or_throw());
  });
}

} // namespace meshloom::test
