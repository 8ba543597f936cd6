// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HloProgram: what XLA made of a program, as far as reports need it: its
// computations and their instructions.
#pragma once

#include "meshloom/Core/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom::pjrt {

struct HloInstruction {
  std::string name;
  std::string opcode; ///< "all-reduce-start"
  /// Bytes of each array of the result, without padding of its tiles.
  std::vector<int64_t> bytes;
  std::string source;    ///< "model.py:12"; empty: not known
  int64_t groupSize = 0; ///< of a collective's devices; 0: not given
};

struct HloComputation {
  std::string name;
  std::vector<HloInstruction> instructions;
};

/// A collective; the pair of its start and its end is one.
struct HloCollective {
  std::string name;
  std::string kind; ///< "all-reduce"
  bool asynchronous = false;
  int64_t bytes = 0; ///< of its result on one device
  int64_t values = 1;
  std::string source;    ///< "model.py:12"; empty: not known
  int64_t groupSize = 0; ///< 0: not given
};

/// A module after all of XLA's passes.
struct HloProgram {
  std::string name;
  std::vector<HloComputation> computations;

  /// Reads the bytes of a HloModuleProtoWithConfig ("hlo_with_config").
  static Result<HloProgram> parse(std::string_view bytes);
  /// In the order of the computations; those in a loop's body once.
  std::vector<HloCollective> collectives() const;
};

} // namespace meshloom::pjrt
