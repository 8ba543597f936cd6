// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts of many arguments as few lines, which users copy into a program.
#pragma once

#include "meshloom/Core/Layout.h"

#include <string>
#include <vector>

namespace meshloom {

/// Returns the name with `*` for each number in it that is not part of a word:
/// "layers.*.w1".
std::string namePattern(const std::string &name);

struct NamedLayout {
  std::string name;
  Layout layout;
};

/// Returns a line for each name, in order of first appearance. Names that
/// differ in numbers only share one with `*` for the numbers, if all of them
/// have one layout: "layers.*.w1 (12 arguments): [*, model] PartitionSpec(None,
/// 'model')  #sdy.sharding<@mesh, [{}, {"model"}]>".
std::vector<std::string> reportLines(const std::vector<NamedLayout> &layouts);

} // namespace meshloom
