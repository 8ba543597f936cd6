// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns and branches that the host decides, see HostControl.h.
#include "HostControl.h"

#include "meshloom/Engine/Transfers.h"

#include <cstring>

namespace meshloom::detail {

std::vector<const DeviceProgram::Part *> HostControl::programs() const {
  std::vector<const DeviceProgram::Part *> found;
  for (const auto &body : bodies)
    llvm::append_range(found, body->programs());
  return found;
}

/// Runs a body whose results are the loop's or the branch's.
Result<std::vector<Array>>
HostControl::runBody(size_t number, std::vector<Array> arguments) const {
  Result<std::vector<Array>> results =
      bodies[number]->execute(std::move(arguments));
  if (!results)
    return results;
  for (size_t r = 0; r < results->size(); ++r) {
    Result<Array> placed = movedTo(std::move((*results)[r]), layouts[r]);
    if (!placed)
      return placed.error();
    (*results)[r] = std::move(*placed);
  }
  return results;
}

Result<std::vector<Array>>
HostControl::runLoop(std::vector<Array> values) const {
  while (true) {
    Result<std::vector<Array>> condition =
        bodies[0]->execute(std::vector<Array>(values));
    if (!condition)
      return condition;
    Result<bool> goesOn = condition->front().item<bool>();
    if (!goesOn)
      return goesOn.error();
    if (!*goesOn)
      break;
    Result<std::vector<Array>> next = runBody(1, values);
    if (!next)
      return next;
    std::ranges::move(*next, values.begin());
  }
  values.resize(layouts.size());
  return values;
}

Result<std::vector<Array>>
HostControl::run(const std::vector<Array> &operands) const {
  if (isLoop)
    return runLoop(operands);
  Result<int32_t> index = operands.front().item<int32_t>();
  if (!index)
    return index.error();
  const size_t last = bodies.size() - 1;
  const bool isThere = *index >= 0 && size_t(*index) < last;
  return runBody(isThere ? size_t(*index) : last,
                 {operands.begin() + 1, operands.end()});
}

} // namespace meshloom::detail
