// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that all processes are assumed to have alike.
//
// A value that a process puts on a mesh of several processes from its host,
// replicated, is sent to nobody. Such a value has an *origin*: a hash of its
// bytes, and what messages call it. A run in which processes exchange messages
// makes the origins of its arguments a part of the order of calls
// (CallOrder.h), which its messages show: that costs no message, and ranks
// whose values differ find it out before they compute with them. A run without
// messages, which a rank may make on its own, passes the origins of its
// arguments on to its results, and adds its own program's. An origin is
// compared once.
#pragma once

#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Processes.h"

#include <atomic>

namespace meshloom::detail {

struct ValueOrigin;
using ValueOrigins = std::vector<std::shared_ptr<ValueOrigin>>;

/// Where a value comes from that no process has sent.
struct ValueOrigin {
  uint64_t hash = 0;
  /// For a value that the program puts there itself, as all processes have to:
  /// how often this call has done so before.
  std::optional<int64_t> time = std::nullopt;
  std::string place; ///< "of distribute (at model.cpp:8)"
  /// The type and the first bytes of a value.
  std::optional<DType> dtype;
  Shape shape;
  std::vector<char> firstBytes;
  ValueOrigins parts; ///< of one that stands for several
  std::atomic<bool> isCompared = false;
};

/// How a value comes from the host.
enum class Placing : uint8_t {
  Asked, ///< by a call of the program for that, as of distribute
  Needed ///< by an op that takes it
};
/// `array` has `bytes`, which this process has put there. `where`: the line
/// that messages name; null: that of the call that the thread is in.
void noteHostValue(const Array &array, std::span<const char> bytes,
                   Placing placing, std::string_view op,
                   const std::source_location *where);
/// Brings a value to the devices of `type`, and notes it. Throws where they
/// have no room.
Array placedFromHost(const ArrayType &type, std::span<const char> bytes,
                     Placing placing, std::string_view op,
                     const std::source_location *where = nullptr);

/// The origins of arguments that are still to be compared.
ValueOrigins originsOf(std::span<const Array> arguments);
/// `results` have them.
void passOrigins(const ValueOrigins &origins, std::span<const Array> results);

/// Before a run in which all processes take part, which begins in this thread:
/// makes the origins of its arguments calls in the order of all.
void compareOrigins(const Processes &processes, const Signature &signature,
                    std::span<const Array> arguments);
/// The same of the values of all arguments that are replicated.
Status compareReplicated(const Processes &processes, const Signature &signature,
                         std::span<const Array> arguments);

/// Returns the text that a process sends as it leaves: the values that the
/// program has put there and that no run has compared; empty where there are
/// none.
std::string uncomparedHere();
/// Fails where what all have said shows that they have done so with different
/// values.
Status comparedAtEnd(const std::vector<std::string> &texts,
                     const Processes &processes);

} // namespace meshloom::detail
