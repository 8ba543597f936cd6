// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers whose elements come after them, and raw bytes of buffers.
#include "PluginTest.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::pjrt::capi;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class TransfersTest : public PluginTest {
protected:
  using Transfer = AsyncHostToDeviceTransferManager_TransferData_Args;

  void SetUp() override {
    PluginTest::SetUp();
    using Args = Client_CreateBuffersForAsyncHostToDevice_Args;
    Block memory;
    memory.set(Device_DefaultMemory_Args::device, device);
    ASSERT_EQ(call(Slot::Device_DefaultMemory, memory), "");
    std::vector<char> specs(2 * ShapeSpec::stride);
    for (size_t i = 0; i < 2; ++i) {
      char *spec = specs.data() + i * ShapeSpec::stride;
      write(spec, ShapeSpec::dims, dims.data());
      write(spec, ShapeSpec::num_dims, dims.size());
      write(spec, ShapeSpec::element_type, f32);
    }
    Block args;
    args.set(Args::client, client)
        .set(Args::shape_specs, specs.data())
        .set(Args::num_shape_specs, size_t(2))
        .set(Args::memory,
             memory.get<Handle>(Device_DefaultMemory_Args::memory));
    ASSERT_EQ(call(Slot::Client_CreateBuffersForAsyncHostToDevice, args), "");
    manager = args.get<Handle>(Args::transfer_manager);
  }
  void TearDown() override {
    destroyManager();
    PluginTest::TearDown();
  }

  void destroyManager() {
    Block args;
    args.set(AsyncHostToDeviceTransferManager_Destroy_Args::transfer_manager,
             std::exchange(manager, nullptr));
    EXPECT_EQ(call(Slot::AsyncHostToDeviceTransferManager_Destroy, args), "");
  }
  void destroyEvent(Handle event) {
    Block args;
    args.set(Event_Destroy_Args::event, event);
    EXPECT_EQ(call(Slot::Event_Destroy, args), "");
  }
  Handle retrieve(int32_t index) {
    using Args = AsyncHostToDeviceTransferManager_RetrieveBuffer_Args;
    Block args;
    args.set(Args::transfer_manager, manager).set(Args::buffer_index, index);
    EXPECT_EQ(call(Slot::AsyncHostToDeviceTransferManager_RetrieveBuffer, args),
              "");
    return args.get<Handle>(Args::buffer_out);
  }
  /// Brings elements of `numbers` to buffer 0.
  std::string transfer(int64_t first, int64_t count, bool isLast) {
    Block args;
    args.set(Transfer::transfer_manager, manager)
        .set(Transfer::data, numbers.data() + first)
        .set(Transfer::offset, first * 4)
        .set(Transfer::transfer_size, count * 4)
        .set(Transfer::is_last_transfer, isLast);
    const std::string error =
        call(Slot::AsyncHostToDeviceTransferManager_TransferData, args);
    if (error.empty())
      destroyEvent(args.get<Handle>(Transfer::done_with_h2d_transfer));
    return error;
  }
  /// Waits for a buffer, and returns the message of its error.
  std::string await(Handle buffer) {
    Block ready;
    ready.set(Buffer_ReadyEvent_Args::buffer, buffer);
    EXPECT_EQ(call(Slot::Buffer_ReadyEvent, ready), "");
    const auto event = ready.get<Handle>(Buffer_ReadyEvent_Args::event);
    Block args;
    args.set(Event_Await_Args::event, event);
    const std::string error = call(Slot::Event_Await, args);
    destroyEvent(event);
    return error;
  }
  /// Returns `count` elements of a buffer from `first` on.
  std::vector<float> raw(Handle buffer, int64_t first, int64_t count) {
    using Args = Buffer_CopyRawToHost_Args;
    std::vector<float> elements(static_cast<size_t>(count));
    Block args;
    args.set(Args::buffer, buffer)
        .set(Args::dst, elements.data())
        .set(Args::offset, first * 4)
        .set(Args::transfer_size, count * 4);
    EXPECT_EQ(call(Slot::Buffer_CopyRawToHost, args), "");
    const auto event = args.get<Handle>(Args::event);
    Block wait;
    wait.set(Event_Await_Args::event, event);
    EXPECT_EQ(call(Slot::Event_Await, wait), "");
    destroyEvent(event);
    return elements;
  }

  Handle manager = nullptr;
};

// A program that is called before the elements have come waits for them.
TEST_F(TransfersTest, ElementsComeInPieces) {
  ASSERT_EQ(compile(doubled, {}), "");
  Handle buffer = retrieve(0);
  EXPECT_EQ(transfer(2, 2, /*isLast=*/false), "");
  Handle *arguments[] = {&buffer};
  Handle result = nullptr;
  Handle *results[] = {&result};
  using Args = LoadedExecutable_Execute_Args;
  Block options, args;
  args.set(Args::executable, executable)
      .set(Args::options, options.data())
      .set(Args::argument_lists, arguments)
      .set(Args::num_devices, size_t(1))
      .set(Args::num_args, size_t(1))
      .set(Args::output_lists, results);
  ASSERT_EQ(call(Slot::LoadedExecutable_Execute, args), "");
  EXPECT_EQ(transfer(0, 2, /*isLast=*/true), "");
  EXPECT_EQ(await(result), "");
  EXPECT_THAT(raw(result, 0, 4), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(raw(buffer, 1, 2), ElementsAre(2, 3));
  destroyBuffer(buffer);
  destroyBuffer(result);
  destroyExecutable();
}

TEST_F(TransfersTest, BuffersThatNeverGetTheirElementsFail) {
  Handle first = retrieve(0), second = retrieve(1);
  using Args = AsyncHostToDeviceTransferManager_SetBufferError_Args;
  const std::string_view message = "the file is gone";
  Block args;
  args.set(Args::transfer_manager, manager)
      .set(Args::error_code, 5)
      .set(Args::error_message, message.data())
      .set(Args::error_message_size, message.size());
  EXPECT_EQ(call(Slot::AsyncHostToDeviceTransferManager_SetBufferError, args),
            "");
  destroyManager();
  EXPECT_THAT(await(first), HasSubstr("the file is gone"));
  EXPECT_THAT(await(second), HasSubstr("was destroyed before"));
  destroyBuffer(first);
  destroyBuffer(second);
}

TEST_F(TransfersTest, TransfersThatDoNotFitAreErrors) {
  EXPECT_THAT(transfer(3, 2, false), HasSubstr("a buffer of 16"));
  EXPECT_THAT(transfer(-1, 1, false), HasSubstr("to byte -4"));
  EXPECT_EQ(transfer(0, 4, /*isLast=*/true), "");
  EXPECT_THAT(transfer(0, 1, false), HasSubstr("last elements already"));
  using Args = AsyncHostToDeviceTransferManager_BufferSize_Args;
  Block args;
  args.set(Args::transfer_manager, manager).set(Args::buffer_index, 2);
  EXPECT_THAT(call(Slot::AsyncHostToDeviceTransferManager_BufferSize, args),
              HasSubstr("there is no buffer 2; the transfer manager has 2"));
}

TEST_F(TransfersTest, BuffersWithoutElementsAreZeros) {
  using Args = Client_CreateUninitializedBuffer_Args;
  Block args;
  args.set(Args::client, client)
      .set(Args::shape_dims, dims.data())
      .set(Args::shape_num_dims, dims.size())
      .set(Args::shape_element_type, f32)
      .set(Args::device, device);
  ASSERT_EQ(call(Slot::Client_CreateUninitializedBuffer, args), "");
  const auto buffer = args.get<Handle>(Args::buffer);
  EXPECT_THAT(raw(buffer, 0, 4), ElementsAre(0, 0, 0, 0));
  destroyBuffer(buffer);
}
} // namespace
