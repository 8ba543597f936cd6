// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CallOrder: what a process has called of that which all processes call
// together, in order. Ranks that wait for each other compare theirs.
#pragma once

#include "meshloom/Core/Result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace meshloom {

/// Something that all processes call together: a run of a program, a barrier.
/// Or a value that all processes have, which is compared like a call.
struct SharedCall {
  uint64_t hash;        ///< the same in all processes for the same call
  std::string name;     ///< for messages: "'step' (at model.cpp:17)"
  bool isValue = false; ///< the name is then "'w', f32 [2] = [0, 5]"
};

/// The calls of a process's main thread are in one order, which is the same in
/// all processes. Calls of other threads, and calls that are made within
/// another one, may come in any order: only how often each was made is known.
///
/// Every call gets a number that ranks give alike where they have made the same
/// calls up to it, and that differs (but for one in 2^25) where they have not:
/// so messages of different calls never meet, and two ranks that did not make
/// the same calls end up waiting for each other. Then they compare notes. A
/// note that differs proves that calls differ, one that is shorter does not,
/// and neither does one with fewer calls out of the order: that is what is said
/// of a rank that did not come in time.
///
/// A call costs one uncontended lock. Safe to use from any thread.
class CallOrder {
public:
  /// Bits of a call's number.
  static constexpr unsigned NUMBER_BITS = 42;

  CallOrder();
  /// The number of this thread's next call.
  uint64_t next(const std::shared_ptr<const SharedCall> &call);
  /// For a call that is made rarely.
  uint64_t next(std::string_view name);
  /// This thread's last call has failed in such a way that nobody who takes
  /// part can have made it.
  void takeBack();
  /// Returns whether calls of this thread are in the order now.
  static bool isOrdered();

  /// While one lives, this thread is within a call.
  class Inside {
  public:
    Inside() { ++depth(); }
    ~Inside() { --depth(); }
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

  private:
    friend class CallOrder;
    static int &depth();
  };

  /// How many calls there were, and the last of them: lines of text of at most
  /// `mostBytes`.
  std::string note(size_t mostBytes) const;

  struct Comparison {
    uint64_t calls = 0; ///< of the other rank
    std::string last;   ///< of these; empty: none
    /// Says what both ranks have as the first call that differs; empty where
    /// all calls that both have made are the same.
    std::string difference;
    /// The last call, of those out of the order, that this rank has made more
    /// often than the other one.
    struct Fewer {
      std::string call;
      uint64_t other, here; ///< how often each rank has made it
    };
    std::optional<Fewer> fewer;
  };
  /// Compares another rank's note with this rank's calls. Names are those of
  /// ranks; `firstHere`: which one the message names first. Fails where it is
  /// no note.
  Result<Comparison> compare(std::string_view note, const std::string &nameHere,
                             const std::string &otherName,
                             bool firstHere) const;
  uint64_t calls() const;
  /// Returns whether there was none, in the order or out of it.
  bool isEmpty() const;
  /// The last call that is in the order; empty: none.
  std::string last() const;

private:
  struct Entry {
    uint64_t hash = 0; ///< of all calls up to this one
    std::shared_ptr<const SharedCall> call;
  };
  /// Returns call `index`, counted from 0, where it is kept.
  const Entry &entry(uint64_t index) const {
    return entries[index % entries.size()];
  }

  mutable std::mutex mutex;
  std::vector<Entry> entries; ///< the last ones
  uint64_t count = 0;
  uint64_t soFar = 0;
  /// Calls out of the order that are the same.
  struct Others {
    uint64_t count = 0;
    uint64_t last = 0; ///< when it was made: the number of all such calls then
    std::shared_ptr<const SharedCall> call;
  };
  /// By hash; the one that was made last comes first.
  std::vector<std::pair<uint64_t, const Others *>> othersByTime() const;
  std::map<uint64_t, Others> others;
  uint64_t otherCount = 0;
};

} // namespace meshloom
