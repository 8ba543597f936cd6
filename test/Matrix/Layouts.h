// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layouts and meshes of the execution matrix, and the text of a cell.
#pragma once

#include "Ops.h"

#include <cstdint>

namespace meshloom::matrix {

struct MeshSpec {
  std::string name, attribute;
  std::vector<std::string> axes;
  int64_t devices;
};
std::vector<MeshSpec> allMeshes();

/// A way to lay out an op's operands (or its result), and extents to try it on.
struct LayoutSpec {
  std::string name;
  int64_t rows, columns;
  enum class Where {
    Nowhere,     ///< all unsharded
    Dim0,        ///< dim 0 of every operand on the first axis
    Dim1,        ///< dim 1 (of a vector dim 0)
    Dim2,        ///< dim 2, of the operands that have three
    OneDim,      ///< dim 0 on both axes
    TwoDims,     ///< dims 0 and 1 on an axis each
    Alternating, ///< dim 0 of the first operand, dim 1 of the second, ...
    Result,      ///< dim 0 of the result only
    PartialSum,  ///< every operand a pending sum (or "or") over the first axis
    PartialMax   ///< a pending maximum (or "and")
  } where;
};
std::vector<LayoutSpec> allLayouts();

/// In words: which dims are on which axes.
std::string describe(LayoutSpec::Where where);

/// Why the cell makes no sense (a layout on two axes needs a mesh with two), or
/// nothing.
std::string whyNot(const OpSpec &op, const LayoutSpec &layout,
                   const MeshSpec &mesh);
bool applies(const OpSpec &op, const LayoutSpec &layout, const MeshSpec &mesh);

/// One cell as part of a function: arguments "%c3_0: tensor<...>", ops, and the
/// results' names and types. `prefix` is "c3".
struct CellText {
  std::vector<std::string> arguments, argumentTypes;
  std::string body;
  std::vector<std::string> results, resultTypes;
};
CellText cellText(const OpSpec &op, const LayoutSpec &layout,
                  const MeshSpec &mesh, const std::string &prefix);

} // namespace meshloom::matrix
