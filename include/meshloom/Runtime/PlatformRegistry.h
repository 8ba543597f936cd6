// What a backend says to be found by name.
#pragma once

#include "meshloom/Runtime/Platform.h"

#include <functional>

namespace meshloom {

/// `name` is the whole name, `argument` what comes after its first colon.
using PlatformFactory = Result<std::shared_ptr<Platform>> (*)(
    const std::string &name, const std::string &argument);

/// A platform of virtual CPUs, which runs programs of the target cpu: `make`
/// makes a client of the devices of these numbers. Fails where there is an
/// `argument`: it takes none.
Result<std::shared_ptr<Platform>> virtualPlatform(
    const std::string &name, const std::string &argument,
    std::function<Result<std::shared_ptr<Client>>(const std::vector<int64_t> &)>
        make);

} // namespace meshloom
