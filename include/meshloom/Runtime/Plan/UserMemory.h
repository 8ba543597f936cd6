// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays in memory of the user, without a copy.
#pragma once

#include "meshloom/Runtime/Plan/PlanClient.h"

#include <functional>
#include <memory>
#include <utility>

namespace meshloom::plan {

/// Memory of the user that is read where it is. It is never overwritten, and no
/// result of a program lies there: the user may write there again, once he has
/// given up the array that he made of it.
class UserMemory {
public:
  /// Returns a block of that memory. `release` is called with its last
  /// reference, in any thread.
  static Block block(const char *data, std::function<void()> release) {
    return {const_cast<char *>(data), Release{std::move(release)}};
  }
  static bool has(const Block &block) {
    return std::get_deleter<Release>(block) != nullptr;
  }

private:
  struct Release {
    std::function<void()> release;
    void operator()(char *) const { release(); }
  };
};

} // namespace meshloom::plan
