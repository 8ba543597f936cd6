// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-opt --emit-portable-artifact: the program as a portable artifact of
// StableHLO.
#pragma once

#include "meshloom/Import/VHLO/WriteArtifact.h"

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace meshloom::opt {

/// A pass that writes the module to `output`.
std::unique_ptr<mlir::Pass> createEmitArtifact(StableHLORelease release,
                                               llvm::raw_ostream &output);

/// The artifact of the program in `text`, which is StableHLO of one device.
Result<std::string> artifactOfText(const std::string &text,
                                   StableHLORelease release);

} // namespace meshloom::opt
