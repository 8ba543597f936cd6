// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every library function, by the files that they are in:
// each ends with a table of its own.
#include "LibraryTable.h"

namespace meshloom::library {

LibraryRows convolutionFunctions();
LibraryRows cumulativeFunctions();
LibraryRows customCallFunctions();
LibraryRows eigenvalueFunctions();
LibraryRows factorizationFunctions();
LibraryRows fourierFunctions();
LibraryRows gatherFunctions();
LibraryRows luFunctions();
LibraryRows orthogonalFunctions();
LibraryRows reflectionFunctions();
LibraryRows scatterFunctions();
LibraryRows selectAndScatterFunctions();
LibraryRows sortFunctions();
LibraryRows windowFunctions();

static constexpr LibraryRows (*families[])() = {
    convolutionFunctions,   cumulativeFunctions,
    customCallFunctions,    eigenvalueFunctions,
    factorizationFunctions, fourierFunctions,
    gatherFunctions,        luFunctions,
    orthogonalFunctions,    reflectionFunctions,
    scatterFunctions,       selectAndScatterFunctions,
    sortFunctions,          windowFunctions,
};

const LibraryRow *findLibraryFunction(std::string_view name) {
  for (auto family : families)
    for (const LibraryRow &row : family())
      if (row.name == name)
        return &row;
  return nullptr;
}

LibraryProperties propertiesOf(std::string_view name) {
  const LibraryRow *row = name.empty() ? nullptr : findLibraryFunction(name);
  return row ? row->properties : LibraryProperties();
}

} // namespace meshloom::library
