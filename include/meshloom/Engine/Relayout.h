// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moving values between layouts, and between sets of devices.
#pragma once

#include "meshloom/Engine/Nodes.h"

namespace meshloom::detail {

/// Throws, in the name of `op`, if the layout has another rank than the tensor.
void expectRank(const Tensor &tensor, const Layout &layout, std::string_view op,
                const std::source_location *where = nullptr);

/// The same value in `layout`, which may be on other devices. Messages name
/// `op` and `where`.
Tensor relayoutTo(const Tensor &tensor, const Layout &layout,
                  std::string_view op, const std::source_location &where);

} // namespace meshloom::detail
