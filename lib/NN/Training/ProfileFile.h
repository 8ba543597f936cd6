// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a profile as TensorBoard's profile plugin reads it.
#pragma once

#include "meshloom/API/Profile.h"

namespace meshloom {

/// Writes plugins/profile/TIME/HOST.xplane.pb in `folder`, and the same as
/// HOST.trace.json. Ends the recording. Throws meshloom::Error if they cannot
/// be written.
void writeProfile(ProfileScope &profile, const std::filesystem::path &folder);

} // namespace meshloom
