// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts that the sources of the plug-in for tests share: errors, and what
// its processes say to each other.
#pragma once

#include "meshloom/Runtime/Backends/PJRT/Abi.h"

#include <atomic>
#include <string>
#include <vector>

namespace faulty {
using namespace meshloom::pjrt::capi;

extern std::atomic<int64_t> liveObjects;

/// An object that the plug-in gives out, counted: a test may ask whether all
/// came back.
struct Counted {
  Counted() { ++liveObjects; }
  Counted(const Counted &) = delete;
  ~Counted() { --liveObjects; }
};

struct Failure : Counted {
  Failure(int32_t code, std::string message)
      : code(code), message(std::move(message)) {}
  int32_t code;
  std::string message;
};
enum Code : int32_t {
  Unknown = 2,
  Invalid = 3,
  NotFound = 5,
  Exhausted = 8,
  Internal = 13
};
inline Handle fail(Code code, const std::string &message) {
  return new Failure(code, message);
}

/// A process among those that have a client together.
struct Node {
  int64_t id = 0, count = 1;
};

/// Tells the others, by the callbacks of a Client_Create_Args, that `node` has
/// so many devices, and fills in those of every process. `silent` is one that
/// tells nothing, for which nobody waits long; -1: none is.
Handle exchangeDevices(const void *arguments, const Node &node, int64_t devices,
                       int64_t silent, std::vector<int64_t> &counts);
} // namespace faulty
