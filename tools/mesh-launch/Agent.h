// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of mesh-launch on another host: starts that host's ranks, and ends
// them when the launcher goes away.
//
// It reads, line by line, a RankStart and then commands ("signal 15"), and
// writes a line for each thing that happens: what it is, the rank, and the
// rest:
//   p 3 4711     rank 3 is process 4711
//   o 3 text     it wrote a line to its standard output stream
//   e 3 text     ... to its standard error stream
//   s 3 1        it was stopped, or (0) goes on
//   x 3 256      it ended with this status
#pragma once

namespace meshloom::launch {

/// The agent's whole life; gives the exit status.
int runAgent();

} // namespace meshloom::launch
