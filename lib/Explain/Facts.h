// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts of a page as JSON; docs/Explain.md lists the fields.
#pragma once

#include "meshloom/Core/Prediction.h"
#include "meshloom/Explain/Explain.h"
#include "meshloom/Support/Json.h"

namespace meshloom {

/// The facts of one program.
nlohmann::ordered_json programFacts(const ExplainedProgram &explained,
                                    const Prediction &prediction,
                                    const Profile *measured);

} // namespace meshloom
