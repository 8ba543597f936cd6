// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profile: what was measured of programs while they ran, as plain data: which
// worker did which part of which step, from when to when. The runtime fills it
// in (meshloom/Runtime/Profiler.h); Support writes it as a trace.
#pragma once

#include "meshloom/Core/Program.h"
#include "meshloom/Core/StepCost.h"

namespace meshloom {

/// The rates that one worker (a core) of this machine reaches while all of them
/// are busy, as measured by a short run.
struct MachinePeak {
  int64_t workers = 0;  ///< that were busy
  double gflops = 0;    ///< 10^9 f32 operations a second, an FMA counts as two
  double gigabytes = 0; ///< 10^9 bytes a second from and to memory
};

/// A step of a profiled program.
struct ProfiledStep {
  std::string kind; ///< "kernel", "dot", "library call", "all_reduce", "loop"
  SourceNote note;
  std::string reason; ///< of a collective, in the user's terms
};

struct ProfiledProgram {
  std::string name;
  std::string platform; ///< "cpu"
  Mesh mesh;
  /// By id. None where the platform tells of whole calls only.
  std::vector<ProfiledStep> steps = {};
};

struct ProfileEvent {
  enum class Kind : uint8_t {
    Run,     ///< a whole run of a program
    Control, ///< a loop or branch of it, which other steps are in
    Step,    ///< a worker's part of a step
    Copy,    ///< of a value that is still needed, in front of an update
    Host     ///< what a user's thread did: `name`
  };
  Kind kind;
  /// The index in Profile::programs, and in its steps; NONE where it is of no
  /// one step.
  static constexpr unsigned NONE = ~0U;
  unsigned program = NONE, step = NONE;
  int64_t run = 0; ///< number of the run, from 1
  /// The worker of a Step or Copy, whose events do not overlap; for a Host
  /// event: the thread.
  int64_t worker = 0;
  int64_t begin = 0, end = 0; ///< nanoseconds since the profile began
  /// The operations of the part, and the bytes of its operands.
  int64_t flops = 0, bytes = 0;
  unsigned devices = NONE; ///< of Profile::deviceSets: whose part it is
  int64_t iterations = -1; ///< of a loop
  /// The name of a Host event; of a Step on a GPU, the code that computes it.
  std::string name = {};
};

struct Profile {
  MachinePeak peak;
  std::vector<ProfiledProgram> programs;
  std::vector<std::vector<int64_t>> deviceSets;
  std::vector<ProfileEvent> events;
  int64_t nanoseconds = 0; ///< from begin to end
};

/// The steps of all programs, the costliest first. Steps that took no time
/// (views of memory that devices share, branches not taken) come last.
std::vector<StepCost> stepCosts(const Profile &profile);

/// The `count` costliest steps as a table, with a line about the whole.
std::string costTable(const Profile &profile, size_t count = 10);

/// A note's location without and with nothing but its part of the model.
std::string sourceOf(const SourceNote &note);
std::string scopeOf(const SourceNote &note);
/// "0-3, 7".
std::string deviceText(std::span<const int64_t> devices);

} // namespace meshloom
