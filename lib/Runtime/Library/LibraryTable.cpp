// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every library function, by the files that they are in.
#include "LibraryTable.h"

#include <algorithm>

namespace meshloom::library {

#define MESHLOOM_FUNCTIONS(File) LibraryRows functionsOf##File();
#include "Functions.def"
#undef MESHLOOM_FUNCTIONS

static constexpr LibraryRows (*families[])() = {
#define MESHLOOM_FUNCTIONS(File) functionsOf##File,
#include "Functions.def"
#undef MESHLOOM_FUNCTIONS
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

static bool anyCallsUser(const std::vector<Step> &steps) {
  return std::ranges::any_of(steps, [](const Step &step) {
    if (const auto *kernel = std::get_if<KernelStep>(&step))
      return propertiesOf(kernel->library).callsUser;
    return std::ranges::any_of(
        nestedLists(step),
        [](const std::vector<Step> *list) { return anyCallsUser(*list); });
  });
}

bool callsUserFunctions(const Program &program) {
  return anyCallsUser(program.steps);
}

} // namespace meshloom::library
