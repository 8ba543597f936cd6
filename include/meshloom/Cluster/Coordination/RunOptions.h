// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that rank 0 and every rank give the coordination service and
// their clients, as the environment says.
#pragma once

#include "meshloom/Cluster/Coordination/CoordinationClient.h"
#include "meshloom/Cluster/Coordination/CoordinationService.h"
#include "meshloom/Cluster/ProcessGroup.h"

namespace meshloom {

/// The options of a group's service. From the environment: MESHLOOM_TOKEN;
/// MESHLOOM_TLS_CERTIFICATE, MESHLOOM_TLS_KEY and MESHLOOM_TLS_AUTHORITY,
/// paths; MESHLOOM_HEARTBEAT_TIMEOUT and MESHLOOM_START_TIMEOUT, seconds;
/// MESHLOOM_PLAIN_NETWORK=1, see allowPlainNetwork. Its size, address and
/// generation are the group's, its rank 0. Fails where a number is malformed.
Result<CoordinationServiceOptions>
serviceOptions(const ProcessGroup &group,
               const Environment &environment = processEnvironment);

/// How a rank of a group joins, from the same variables.
Result<CoordinationClientOptions>
clientOptions(const ProcessGroup &group,
              const Environment &environment = processEnvironment);

} // namespace meshloom
