// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions: the kernels that tell the nodes of a graph which of their bodies
// run. Drivers of CUDA 12.3 and later have such nodes.
#pragma once

#include "Card.h"

namespace meshloom::cuda {

class Conditions {
public:
  /// Null where the driver does not have them.
  static std::shared_ptr<const Conditions> make(Card &card);

  /// Sets the value of `handle` to 1 where any of the bytes at `flags` is not
  /// 0, else to 0.
  Status setLoop(Commands &commands, const char *flags, int64_t bytes,
                 ConditionHandle handle) const;
  /// Sets it to 1 where the number at `index` chooses `branch`, else to 0.
  Status setBranch(Commands &commands, const char *index, int64_t branch,
                   int64_t last, ConditionHandle handle) const;

private:
  std::shared_ptr<const Kernels> kernels;
  FunctionHandle loop = nullptr, branch = nullptr;
};

} // namespace meshloom::cuda
