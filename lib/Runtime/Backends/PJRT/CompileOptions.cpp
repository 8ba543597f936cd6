// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CompileOptions as the bytes of XLA's CompileOptionsProto.
#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"
#include "meshloom/Runtime/Backends/PJRT/WireFormat.h"

using namespace meshloom::pjrt;

std::string CompileOptions::encode() const {
  Message build; // ExecutableBuildOptionsProto
  build.number(4, uint64_t(replicas)).number(5, 1);
  if (!devices.empty()) {
    const Message computation = Message().packed(1, devices);
    const Message assignment = Message()
                                   .number(1, uint64_t(replicas))
                                   .number(2, 1)
                                   .bytes(3, computation.text);
    build.bytes(9, assignment.text);
  }
  Message options;
  options.bytes(3, build.text);
  for (const std::string &flag : off) // env_option_overrides, a map
    options.bytes(
        7, Message().bytes(1, flag).bytes(2, Message().number(2, 0).text).text);
  return options.text;
}
