// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that are gathered or computed again where they are used, so that no
// device keeps them in between.
#pragma once

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <string>
#include <vector>

namespace meshloom {

/// Ops in a row of a block: the function's, or the body of the loop in which
/// most bytes wait for a later use. Some of their results are not used before
/// the boundary of the recomputation, and are computed again then.
struct RecomputedPart {
  size_t first = 0, end = 0; ///< the ops [first, end), by number in the block
  int64_t savedBytes = 0;    ///< that a device need not keep
  std::string place;         ///< in the source: "f.py:3:4 to f.py:9:2"
  bool operator==(const RecomputedPart &) const = default;
};

/// An op before the boundary that has a value in a layout which an op after it
/// needs too. The value is brought to that layout twice, and is not kept so.
struct GatherAgain {
  size_t op = 0;          ///< its number in the block
  int64_t savedBytes = 0; ///< that a device need not keep
  std::string place;      ///< in the source
  bool operator==(const GatherAgain &) const = default;
};

/// A choice of values to gather and to compute again, in a function whose
/// values have layouts. It also holds for copies of the function.
struct Recomputation {
  /// The number of the op up to which parts reach. In a training step it is
  /// about the first op of the backward part.
  size_t boundary = 0;
  std::vector<GatherAgain> gathers;
  std::vector<RecomputedPart> parts; ///< in program order, disjoint
  Cost time = 0;    ///< of a step, as the layout search prices it
  int64_t peak = 0; ///< bytes per device, as the layout search counts them
  bool isEmpty() const { return gathers.empty() && parts.empty(); }
  bool operator==(const Recomputation &) const = default;
};

/// Looks for values of a function to gather and to compute again. Every value
/// has a layout.
class RecomputationSearch {
public:
  RecomputationSearch(mlir::func::FuncOp function, const MachineModel &machine);
  ~RecomputationSearch();

  /// Returns the costs of the function as it is.
  FailureOr<Recomputation> none() const;
  /// Returns the choice to gather all values again that can be.
  FailureOr<Recomputation> gathersAgain() const;
  /// Returns a choice for each of several numbers of parts: as few of the parts
  /// as bring the peak to `most` bytes per device, or all of them. The best one
  /// comes first. Each has these gathers too.
  FailureOr<std::vector<Recomputation>>
  candidates(const std::vector<GatherAgain> &gathers, int64_t most) const;

private:
  struct Cuts;
  std::unique_ptr<Cuts> cuts;
};

/// Computes the parts again: the ops of a part move into a region that gives
/// only what is used before the boundary, and a copy of those that the other
/// results need is put before the first use of one of these. Both are
/// `dtensor.case`s with `dtensor.recomputed`, which no pass merges, and with
/// `dtensor.inlined`. An op whose operand is gathered again is alone in such a
/// region, so that no op outside shares what is gathered in it.
void recompute(mlir::func::FuncOp function, const Recomputation &recomputation);

} // namespace meshloom
