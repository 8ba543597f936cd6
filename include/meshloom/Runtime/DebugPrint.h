// debug_print's function.
#pragma once

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Core/DebugPrint.h"

namespace meshloom {

/// What callbacks of debug_print call.
std::shared_ptr<const CustomTarget> debugPrint();

} // namespace meshloom
