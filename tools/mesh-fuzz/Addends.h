// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addends: a value that is still to be reduced, in parts of which every device
// along the pending axes holds one that matters.
#pragma once

#include "Recipe.h"

#include "meshloom/Interpreter/HostValue.h"
#include "meshloom/Runtime/Array.h"

namespace meshloom::fuzz {

/// `value`, whose elements are what `range` says and exact, on the devices of
/// `client` in a layout that is partial: what the devices hold combines to it.
/// (Array::fromHost gives one device the value and the others nothing to add.)
Result<Array> inAddends(const std::shared_ptr<Client> &client,
                        const ArrayType &type, const HostValue &value,
                        const Range &range, uint64_t seed);

} // namespace meshloom::fuzz
