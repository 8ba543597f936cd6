// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutAdvice: how much each change of one layout annotation of a program
// would save or cost, as plain data. meshloom/Advice/Advice.h computes it;
// meshloom/Support/AdviceFile.h writes it.
#pragma once

#include "meshloom/Core/Layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom {

/// The predicted costs of one step of a program.
struct StepCosts {
  int64_t time = 0;      ///< picoseconds
  int64_t bytesSent = 0; ///< by each device
  int64_t peakBytes = 0; ///< of the memory of each device
  bool operator==(const StepCosts &) const = default;
};

/// A place in a program that has a layout, or could have one: an argument, or a
/// constraint on a value. Arguments whose names differ in their numbers only
/// are one annotation if they have the same layout.
struct LayoutAnnotation {
  /// "argument 'x'", "arguments 'layers.*.w'", "constraint at f.mlir:3:4".
  std::string text;
  /// Nothing: nobody laid the argument out.
  std::optional<Layout> layout;
  /// The numbers of the arguments; empty for a constraint.
  std::vector<unsigned> arguments;
  /// The number of the constraint among those of the program.
  std::optional<unsigned> constraint;
  /// The texts by which reasons of collectives name its places:
  /// "argument 'layers.0.w'".
  std::vector<std::string> sources;
};

/// An annotation with a different layout, or without one.
struct AnnotationChange {
  size_t annotation = 0; ///< an index into LayoutAdvice::annotations
  std::optional<Layout> layout;
  StepCosts costs; ///< of the program with the change
  bool operator==(const AnnotationChange &) const = default;
};

/// The one change that is best for a goal.
struct Suggestion {
  enum class Goal : uint8_t {
    Time,     ///< The step takes less time.
    Bytes,    ///< Each device sends less.
    Memory,   ///< Each device needs less memory.
    Contract, ///< The program keeps its contract, which it breaks now.
  };
  Goal goal = Goal::Time;
  AnnotationChange change;
};
/// "time", "bytes", "memory" or "contract".
std::string_view name(Suggestion::Goal goal);

/// The costs of a program, and of the program with each change of one
/// annotation that was tried.
struct LayoutAdvice {
  std::string program;
  std::string machine; ///< name of the machine model
  Mesh mesh;
  /// The memory of a device of that machine in bytes; 0: it is not known.
  int64_t memoryLimit = 0;
  StepCosts costs;
  /// False: the program breaks its contract. Its costs are then those without
  /// the contract, and `changes` are the ones that keep it.
  bool keepsContract = true;
  std::vector<LayoutAnnotation> annotations;
  /// How the program keeps to its memory budget, as lines; empty where layouts
  /// suffice.
  std::vector<std::string> memoryChoices = {};
  std::vector<AnnotationChange> changes = {};
  /// The number of further changes that were not tried, as there are too many.
  size_t untried = 0;

  /// Returns the changes that save the most time, the most bytes sent and the
  /// most memory, or the fastest one that keeps the contract where the program
  /// breaks it. A goal that no change helps has none. A change whose peak is
  /// more than a device has, and more than that of the program, is no
  /// suggestion.
  std::vector<Suggestion> suggestions() const;

  /// Returns the fastest change of an annotation to a different layout; nothing
  /// where none was tried.
  std::optional<AnnotationChange> nextBest(size_t annotation) const;
};

} // namespace meshloom
