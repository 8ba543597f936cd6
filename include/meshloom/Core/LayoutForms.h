// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts as JAX and Shardy write them, for users to copy into a program.
#pragma once

#include "meshloom/Core/Layout.h"

namespace meshloom {

/// "PartitionSpec(None, ('data', 'model'))".
std::string partitionSpec(const Layout &layout);

/// "#sdy.sharding<@mesh, [{}, {"data", "model"}]>".
std::string shardyAttribute(const Layout &layout);

/// The layout in Meshloom's form, and in these two:
/// "[*, model]  PartitionSpec(None, 'model')  #sdy.sharding<...>".
std::string layoutForms(const Layout &layout);

} // namespace meshloom
