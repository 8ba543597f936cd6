// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables with names, filled as models begin.
#pragma once

#include <meshloom/Meshloom.h>

#include <string>

namespace example {

/// Normal numbers, others for each name; no device makes more than its shard.
meshloom::DVariable normalWeight(const std::string &name,
                                 const meshloom::Shape &shape,
                                 const meshloom::Layout &layout,
                                 double deviation = 0.02);
meshloom::DVariable constantWeight(const std::string &name,
                                   const meshloom::Shape &shape, double value,
                                   const meshloom::Layout &layout);

} // namespace example
