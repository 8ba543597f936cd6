// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SourceNote: where a step of a program comes from.
#pragma once

#include <string>

namespace meshloom {

/// Where a step comes from, for messages: "model.cpp:12:8" or "step.mlir:7:10"
/// and the op's name.
struct SourceNote {
  std::string location, op;
  bool operator==(const SourceNote &) const = default;
};

} // namespace meshloom
