// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands: whom work is asked for. A card does it in its stream; a graph keeps
// it for later.
#pragma once

#include "DriverFacts.h"

#include "meshloom/Core/Result.h"

#include <functional>
#include <span>

namespace meshloom::cuda {

/// Work may be done later than these functions return: memory has to last until
/// it is.
class Commands {
public:
  virtual ~Commands() = default;
  virtual Status copyFromHost(char *to, const char *from, int64_t bytes) = 0;
  virtual Status copyToHost(char *to, const char *from, int64_t bytes) = 0;
  virtual Status copy(char *to, const char *from, int64_t bytes) = 0;
  /// A copy within the card's memory.
  virtual Status copyBox(const CopyNode &box) = 0;
  /// `parameters` are read at once.
  virtual Status launch(FunctionHandle function, unsigned blocks,
                        unsigned threads, std::span<uint64_t> parameters) = 0;
  /// Calls `function(data)`, which must not use a card: see Card::HostScope.
  virtual Status callHost(HostFunction function, void *data) = 0;
  /// Work that a library of NVIDIA's asks a stream for: `call(stream)`. For the
  /// same addresses it is the same work.
  virtual Status
  callLibrary(std::span<const uint64_t> addresses,
              const std::function<Status(StreamHandle)> &call) = 0;
  /// Work that is asked for after this begins when all work before it has
  /// ended. In a stream that is always so.
  virtual void join() {}
};

} // namespace meshloom::cuda
