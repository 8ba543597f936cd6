// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prediction: the memory and the time that a program will take on a machine
// that need not be there, as plain data. meshloom/Predict/Predict.h computes
// it; meshloom/Support/PredictionFile.h writes it.
#pragma once

#include "meshloom/Core/Mesh.h"
#include "meshloom/Core/SourceNote.h"

namespace meshloom {

/// The use of a piece of memory of one device.
enum class MemoryUse : uint8_t {
  Argument,
  Constant,
  Result,
  Temporary ///< made and used up within a step
};
/// "argument", "constant", ...
std::string_view name(MemoryUse use);

/// A tensor in the memory of each device.
struct PredictedTensor {
  std::string name;
  MemoryUse use;
  int64_t bytes = 0; ///< of the largest shard
  SourceNote note;   ///< of the step that computes it; empty for others
};

/// The bytes that one device needs while a step runs.
struct MemoryMoment {
  unsigned step = 0; ///< its id
  int64_t bytes = 0;
};

/// The memory of one device, where devices have a memory each.
struct PredictedMemory {
  /// The bytes that a run needs at once, fragmentation included.
  int64_t peakBytes = 0;
  /// Bytes between temporaries that nothing uses at the peak.
  int64_t fragmentation = 0;
  unsigned peakStep = 0; ///< the step that runs at the peak
  /// The tensors that are there at the peak, the largest first. Their bytes and
  /// the fragmentation are the peak.
  std::vector<PredictedTensor> atPeak;
  /// In the order of the program; the steps of a loop once.
  std::vector<MemoryMoment> profile;
  /// The bytes at the peak of all tensors of one use.
  int64_t bytesOf(MemoryUse use) const;
};

/// A step of a program: a kernel, product, library call or collective.
struct PredictedStep {
  unsigned step = 0; ///< its id
  std::string kind;  ///< "kernel", "dot", "library call", "all_reduce", ...
  SourceNote note;
  int64_t runs = 1;  ///< in one execution of the program
  int64_t begin = 0; ///< of its first run, picoseconds after the execution's
  int64_t time = 0;  ///< of one run, in picoseconds
  int64_t flops = 0; ///< of one run on the busiest device
  int64_t bytes = 0; ///< read and written in one run
  int64_t bytesSent = 0; ///< by one device in one run of a collective
};

/// All of one execution of a program. Times are in picoseconds. Where devices
/// share memory, `flops` and `bytes` are those of all devices together.
struct Prediction {
  std::string program;
  std::string machine; ///< name of the machine model
  Mesh mesh;
  /// The memory of a device of that machine; 0: not known.
  int64_t memoryLimit = 0;
  PredictedMemory memory;
  std::vector<PredictedStep> steps;
  int64_t time =
      0; ///< collectives overlap with work that does not wait for them
  int64_t serialTime = 0;     ///< the same without overlap
  int64_t collectiveTime = 0; ///< the part of `serialTime` in collectives
  int64_t flops = 0, bytes = 0, bytesSent = 0;
  int64_t launches = 0;    ///< of kernels, products and library calls
  int64_t collectives = 0; ///< that send anything
  /// Loops whose number of turns is known only at run time; they count as one.
  int64_t unknownLoops = 0;

  /// Returns whether the peak is within the machine's memory, as far as that is
  /// known.
  bool fits() const {
    return memoryLimit == 0 || memory.peakBytes <= memoryLimit;
  }
};

} // namespace meshloom
