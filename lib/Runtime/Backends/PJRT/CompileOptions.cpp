// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CompileOptions as the bytes of XLA's CompileOptionsProto. Protocol buffers'
// wire format: fields are (number << 3 | kind), then a varint (kind 0) or a
// length and that many bytes (kind 2).
#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"

using namespace meshloom::pjrt;

namespace {
class Message {
public:
  Message &number(unsigned field, uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message &bytes(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    text += value;
    return *this;
  }
  Message &packed(unsigned field, std::span<const int64_t> values) {
    Message list;
    for (int64_t value : values)
      list.varint(uint64_t(value));
    return bytes(field, list.text);
  }
  std::string text;

private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      text += char(value | 0x80);
    text += char(value);
  }
};
} // namespace

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
