// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code in this process, or in an ELF shared object.
#include "meshloom/Runtime/Library/HostCode.h"

#include <fmt/format.h>

using namespace meshloom;

Result<std::shared_ptr<const CodeSymbols>>
library::loadCode(const Compiled &compiled, std::string_view platform) {
  const std::string &name = compiled.signature().name;
  if (!compiled.coded())
    return Error(fmt::format("program '{}' is StableHLO, which the platform {} "
                             "does not run: compile it for the target cpu",
                             name, platform));
  const Code &code = compiled.code();
  if (!code.format.empty() && code.format != elfCode)
    return Error(fmt::format("the code of program '{}' is {}, but the platform "
                             "{} runs {}: compile it for the target cpu",
                             name, code.format, platform, elfCode));
  if (Status ok = checkCPUFeatures(code.requirements); !ok)
    return ok.error();
  if (code.symbols || code.bytes.empty())
    return code.symbols;
  return loadSharedObject(code.bytes);
}
