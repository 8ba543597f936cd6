// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform "pjrt": programs as StableHLO on the devices of a plug-in, in
// the same process. Arrays are cut and padded on the host's side of it; what
// runs in between is the plug-in's.
#pragma once

#include "meshloom/Runtime/Backends/PJRT/Plugin.h"
#include "meshloom/Runtime/PlatformRegistry.h"

namespace meshloom {

/// `name` is "pjrt:/path/plugin.so", or "pjrt:NAME" of a plug-in that an
/// environment variable names, or "pjrt" where that is the only one: see
/// pjrt::findPlugin. Loads the plug-in; its devices are not touched before they
/// are asked for.
Result<std::shared_ptr<Platform>> pjrtPlatform(const std::string &name,
                                               const std::string &argument);

/// The platform of a loaded plug-in. `options` are given to the clients that it
/// makes.
std::shared_ptr<Platform> makePJRTPlatform(std::string name,
                                           const pjrt::Plugin &plugin,
                                           pjrt::Attributes options = {});

} // namespace meshloom
