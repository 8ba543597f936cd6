// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Explanation: why a compiled function has the layouts and collectives that it
// has, as plain data. The compiler computes it;
// meshloom/Support/ExplanationText.h and meshloom/Explain/Explain.h write it.
#pragma once

#include "meshloom/Core/AxisLink.h"
#include "meshloom/Core/Collective.h"

namespace meshloom {

/// One value that a collective moves. Notes that are missing are empty.
struct MovedValue {
  CollectiveOp collective;
  std::string type;     ///< "tensor<8x4xf32>", the global one
  std::string location; ///< the user's line
  std::string consumer; ///< the name of the op that it is for
  std::string reason;   ///< from the user's annotation to the collective
  std::string rejected; ///< the plan that refinement did not take
  int64_t countedBytes = 0, globalBytes = 0;
};

/// One collective that sends something, and may move several values.
struct ExplainedCollective {
  std::vector<MovedValue> values;
  std::optional<ReduceKind> reduce; ///< nothing where values only move
  /// The loops and branches around it, innermost first: "in the body of the
  /// while at f.mlir:3:8"; empty: there is none.
  std::string place;
  int64_t sentBytes = 0; ///< by each device in one execution
  Cost cost = 0;         ///< of one execution
  /// The executions in one step; nothing where a loop decides it at run time.
  std::optional<int64_t> executions = 1;

  const CollectiveOp &first() const { return values.front().collective; }
  /// The names of the mesh axes that it runs over.
  std::vector<std::string> axisNames() const;
  /// The counted bytes of all its values.
  int64_t countedBytes() const;
};

/// All of one function.
struct Explanation {
  std::string function;
  std::string machine; ///< name of the machine model that prices it
  /// False: layouts are as propagation gave them, and no alternatives were
  /// looked for.
  bool isRefined = false;
  /// The mesh that it runs on as parts of the meshes that it was written on;
  /// empty where it was written on one.
  std::string meshes;
  std::vector<std::string> notAsAsked; ///< layouts that it asks for in vain
  std::vector<std::string> automaticLayouts; ///< as lines to copy
  /// How the program keeps to its memory budget, as lines; empty where layouts
  /// suffice.
  std::vector<std::string> memoryChoices;
  std::vector<ExplainedCollective> collectives; ///< in program order
  std::vector<std::string> refinements;         ///< the total, then each move
};

} // namespace meshloom
