// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostControl: a loop or branch whose bodies move values between sets of
// devices. No executable is on all of them, so the host runs it: it reads the
// condition or the index, and then runs a body, a program of its own.
//
// A turn waits for its condition, and so for what the condition depends on; the
// rest of a body is launched as any other program is.
#pragma once

#include "meshloom/Engine/DeviceProgram.h"

namespace meshloom::detail {

class HostControl {
public:
  using Bodies = std::vector<std::shared_ptr<const DeviceProgram>>;
  /// `bodies`: the condition and the body of a loop, or the branches. Results
  /// come in `layouts`.
  HostControl(bool isLoop, Bodies bodies, std::vector<Layout> layouts)
      : isLoop(isLoop), bodies(std::move(bodies)), layouts(std::move(layouts)) {
  }

  /// Operands are the carried values of a loop, or the index of a branch, and
  /// then the values that the bodies use.
  Result<std::vector<Array>> run(const std::vector<Array> &operands) const;
  /// Returns the parts of all bodies that have an executable.
  std::vector<const DeviceProgram::Part *> programs() const;

private:
  Result<std::vector<Array>> runLoop(std::vector<Array> values) const;
  Result<std::vector<Array>> runBody(size_t number,
                                     std::vector<Array> arguments) const;

  const bool isLoop;
  const Bodies bodies;
  const std::vector<Layout> layouts;
};

} // namespace meshloom::detail
