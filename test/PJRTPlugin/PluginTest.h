// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fixture of tests that call the plug-in by its C interface.
#pragma once

#include "meshloom/Runtime/Backends/PJRT/Abi.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <vector>

namespace meshloom::pjrt::capi {

inline constexpr int32_t f32 = 11;
inline constexpr std::string_view doubled = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
})";

/// The plug-in, loaded as a caller does.
class PluginTest : public testing::Test {
protected:
  void SetUp() override {
    void *library = dlopen(MESHLOOM_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    auto get =
        reinterpret_cast<const void *(*)()>(dlsym(library, "GetPjrtApi"));
    ASSERT_NE(get, nullptr);
    table = get();
    Block create;
    ASSERT_EQ(call(Slot::Client_Create, create), "");
    client = create.get<Handle>(Client_Create_Args::client);
    Block devices;
    devices.set(Client_Devices_Args::client, client);
    ASSERT_EQ(call(Slot::Client_Devices, devices), "");
    device = devices.get<Handle *>(Client_Devices_Args::devices)[0];
  }
  void TearDown() override {
    Block destroy;
    destroy.set(Client_Destroy_Args::client, client);
    EXPECT_EQ(call(Slot::Client_Destroy, destroy), "");
  }

  Handle raw(Slot slot, void *arguments) const {
    return read<Function>(table, fieldOf(slot))(arguments);
  }
  /// Returns the message of the call's error; empty: it succeeded.
  std::string call(Slot slot, void *arguments) const {
    Handle error = raw(slot, arguments);
    if (!error)
      return "";
    Block message;
    message.set(Error_Message_Args::error, error);
    raw(Slot::Error_Message, message.data());
    std::string text(message.get<const char *>(Error_Message_Args::message),
                     message.get<size_t>(Error_Message_Args::message_size));
    Block destroy;
    destroy.set(Error_Destroy_Args::error, error);
    raw(Slot::Error_Destroy, destroy.data());
    EXPECT_NE(text, "");
    return text;
  }
  std::string call(Slot slot, Block &block) const {
    return call(slot, block.data());
  }

  /// The arguments that make a buffer of four numbers.
  Block bufferArguments() {
    using Args = Client_BufferFromHostBuffer_Args;
    return Block()
        .set(Args::client, client)
        .set(Args::data, numbers.data())
        .set(Args::type, f32)
        .set(Args::dims, dims.data())
        .set(Args::num_dims, dims.size())
        .set(Args::device, device);
  }
  Handle makeBuffer() { return makeBuffer(bufferArguments()); }
  Handle makeBuffer(Block args) const {
    EXPECT_EQ(call(Slot::Client_BufferFromHostBuffer, args), "");
    Block event;
    event.set(Event_Destroy_Args::event,
              args.get<Handle>(
                  Client_BufferFromHostBuffer_Args::done_with_host_buffer));
    EXPECT_EQ(call(Slot::Event_Destroy, event), "");
    return args.get<Handle>(Client_BufferFromHostBuffer_Args::buffer);
  }
  void destroyBuffer(Handle buffer) const {
    Block args;
    args.set(Buffer_Destroy_Args::buffer, buffer);
    EXPECT_EQ(call(Slot::Buffer_Destroy, args), "");
  }
  /// Compiles the program; its executable is `executable`.
  std::string compile(std::string_view text, std::string_view options) {
    using Args = Client_Compile_Args;
    Block program = stablehloProgram(text);
    Block args;
    args.set(Args::client, client)
        .set(Args::program, program.data())
        .set(Args::compile_options, options.data())
        .set(Args::compile_options_size, options.size());
    std::string error = call(Slot::Client_Compile, args);
    executable = error.empty() ? args.get<Handle>(Args::executable) : nullptr;
    return error;
  }
  void destroyExecutable() {
    Block args;
    args.set(LoadedExecutable_Destroy_Args::executable, executable);
    EXPECT_EQ(call(Slot::LoadedExecutable_Destroy, args), "");
  }

  const void *table = nullptr;
  Handle client = nullptr, device = nullptr, executable = nullptr;
  std::vector<float> numbers{1, 2, 3, 4};
  std::vector<int64_t> dims{4};
};

} // namespace meshloom::pjrt::capi
