// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elementary functions of scripts: loops over the elements of a block.
#pragma once

#include "OpLanes.h"

namespace meshloom {

/// Says whether a loop adds products without rounding them, as kernels do that
/// are not deterministic.
enum class Contraction { None, Fast };

/// Returns the loop of a function of the math dialect, such as "exp", for
/// elements of type "f32" or "f64". Null: there is none, or this processor
/// lacks instructions that it needs.
ScriptLanes findFormulaLanes(std::string_view function, std::string_view type,
                             Contraction contraction);

} // namespace meshloom
