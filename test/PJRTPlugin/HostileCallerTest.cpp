// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callers of the plug-in's C interface that are wrong get errors: null
// pointers, handles of other kinds, counts and texts that are damaged.
#include "PluginTest.h"

#include "meshloom/Runtime/Backends/PJRT/WireFormat.h"

#include <gmock/gmock.h>
#include <random>

using namespace meshloom;
using namespace meshloom::pjrt::capi;
using testing::HasSubstr;

namespace {
using HostileCallerTest = PluginTest;

// Every function is called without a structure, with one of zeros, and with
// one that has room for nothing but its size.
TEST_F(HostileCallerTest, EmptyStructuresAreErrorsOrHarmless) {
  for (unsigned slot = 0; slot <= unsigned(Slot::Client_Load); ++slot) {
    SCOPED_TRACE(slotNames[slot]);
    EXPECT_THAT(call(Slot(slot), static_cast<void *>(nullptr)),
                testing::Ne(""));
    // These succeed, and give an object that belongs to the caller.
    if (Slot(slot) == Slot::Client_Create ||
        Slot(slot) == Slot::ExecuteContext_Create)
      continue;
    Block zeros;
    (void)call(Slot(slot), zeros);
    alignas(8) std::array<char, 256> room{};
    write(room.data(), Block::OWN_SIZE, size_t(8));
    (void)call(Slot(slot), room.data());
    EXPECT_TRUE(std::all_of(room.begin() + 8, room.end(), [](char byte) {
      return byte == 0;
    })) << "wrote behind the structure";
  }
}

// A client is given where buffers, events and the like are expected.
TEST_F(HostileCallerTest, HandlesOfOtherKindsAreErrors) {
  Block buffer;
  buffer.set(Buffer_Delete_Args::buffer, client);
  EXPECT_EQ(call(Slot::Buffer_Delete, buffer),
            "expected a handle of a buffer, got one of a different object, or "
            "of one that has been destroyed");
  Block event;
  event.set(Event_Await_Args::event, device);
  EXPECT_THAT(call(Slot::Event_Await, event),
              HasSubstr("a handle of an event"));
  Block destroy;
  destroy.set(LoadedExecutable_Destroy_Args::executable, client);
  EXPECT_THAT(call(Slot::LoadedExecutable_Destroy, destroy),
              HasSubstr("a loaded executable"));
}

TEST_F(HostileCallerTest, DeletedBuffersAreErrors) {
  Handle buffer = makeBuffer();
  Block remove;
  remove.set(Buffer_Delete_Args::buffer, buffer);
  EXPECT_EQ(call(Slot::Buffer_Delete, remove), "");
  EXPECT_EQ(call(Slot::Buffer_Delete, remove), "");
  for (Slot slot : {Slot::Buffer_ReadyEvent, Slot::Buffer_UnsafePointer,
                    Slot::Buffer_OpaqueDeviceMemoryDataPointer}) {
    Block args;
    args.set(Buffer_ReadyEvent_Args::buffer, buffer);
    EXPECT_THAT(call(slot, args), HasSubstr("deleted or donated"));
  }
  destroyBuffer(buffer);
}

TEST_F(HostileCallerTest, DamagedShapesOfBuffersAreErrors) {
  using Args = Client_BufferFromHostBuffer_Args;
  auto error = [&](auto damage) {
    Block args = bufferArguments();
    damage(args);
    return call(Slot::Client_BufferFromHostBuffer, args);
  };
  EXPECT_THAT(error([](Block &args) { args.set(Args::data, (char *)nullptr); }),
              HasSubstr("expected 16 bytes for a buffer"));
  EXPECT_THAT(
      error([](Block &args) { args.set(Args::dims, (int64_t *)nullptr); }),
      HasSubstr("got a null pointer"));
  EXPECT_THAT(error([](Block &args) { args.set(Args::num_dims, SIZE_MAX); }),
              HasSubstr("the longest one has"));
  EXPECT_THAT(error([](Block &args) { args.set(Args::type, 1000); }),
              HasSubstr("element type number 1000"));
  const int64_t strides[] = {4, 4};
  EXPECT_THAT(error([&](Block &args) {
                args.set(Args::byte_strides, strides)
                    .set(Args::num_byte_strides, size_t(2));
              }),
              HasSubstr("1 dims have 2 strides"));
  dims = {1 << 16};
  EXPECT_THAT(error([](Block &args) {
                args.set(Args::data, (char *)nullptr)
                    .set(Args::host_buffer_semantics,
                         HostBufferSemantics::ZeroCopy);
              }),
              HasSubstr("expected 262144 bytes for a buffer"));
  dims = {-1};
  EXPECT_THAT(error([](Block &) {}), HasSubstr("the extent -1"));
  dims = {int64_t(1) << 62};
  EXPECT_THAT(error([](Block &) {}), HasSubstr("more bytes"));
}

// JAX 0.11 and later write no size into layouts.
TEST_F(HostileCallerTest, LayoutsWithAWrongSizeAreRead) {
  using Args = Client_BufferFromHostBuffer_Args;
  using Tiled = Buffer_MemoryLayout_Tiled;
  const int64_t columns[] = {0, 1};
  alignas(8) std::array<char, Buffer_MemoryLayout::stride> layout{};
  write(layout.data(), Buffer_MemoryLayout::struct_size, size_t(2));
  write(layout.data(), Buffer_MemoryLayout::tiled + Tiled::minor_to_major,
        columns);
  write(layout.data(), Buffer_MemoryLayout::tiled + Tiled::minor_to_major_size,
        size_t(2));
  dims = {2, 2};
  Block args = bufferArguments();
  args.set(Args::device_layout, layout.data());
  Handle buffer = makeBuffer(args);
  Block pointer;
  pointer.set(Buffer_UnsafePointer_Args::buffer, buffer);
  ASSERT_EQ(call(Slot::Buffer_UnsafePointer, pointer), "");
  const auto *memory = reinterpret_cast<const float *>(
      pointer.get<uintptr_t>(Buffer_UnsafePointer_Args::buffer_pointer));
  EXPECT_THAT(std::vector(memory, memory + 4),
              testing::ElementsAre(1, 3, 2, 4));
  destroyBuffer(buffer);
}

TEST_F(HostileCallerTest, DamagedCallsOfProgramsAreErrors) {
  ASSERT_EQ(compile(doubled, ""), "");
  using Args = LoadedExecutable_Execute_Args;
  Handle buffer = makeBuffer();
  Handle result = nullptr;
  Handle *arguments[] = {&buffer}, *results[] = {&result};
  Block options;
  auto error = [&](auto damage) {
    Block args;
    args.set(Args::executable, executable)
        .set(Args::options, options.data())
        .set(Args::argument_lists, arguments)
        .set(Args::num_devices, size_t(1))
        .set(Args::num_args, size_t(1))
        .set(Args::output_lists, results);
    damage(args);
    return call(Slot::LoadedExecutable_Execute, args);
  };
  EXPECT_NE(
      error([](Block &args) { args.set(Args::options, (char *)nullptr); }), "");
  EXPECT_THAT(error([](Block &args) { args.set(Args::num_devices, SIZE_MAX); }),
              HasSubstr("runs on 1 devices"));
  EXPECT_THAT(error([](Block &args) { args.set(Args::num_args, size_t(7)); }),
              HasSubstr("takes 1 arguments, and is called with 7"));
  EXPECT_NE(error([](Block &args) {
              args.set(Args::argument_lists, (char *)nullptr);
            }),
            "");
  EXPECT_NE(
      error([](Block &args) { args.set(Args::output_lists, (char *)nullptr); }),
      "");
  Handle *none[] = {nullptr};
  EXPECT_THAT(error([&](Block &args) { args.set(Args::argument_lists, none); }),
              HasSubstr("without a list of buffers for device 0"));
  Handle *wrong[] = {&client};
  EXPECT_THAT(
      error([&](Block &args) { args.set(Args::argument_lists, wrong); }),
      HasSubstr("expected a handle of a buffer"));
  EXPECT_EQ(error([](Block &) {}), "");
  destroyBuffer(result);
  destroyBuffer(buffer);
  destroyExecutable();
}

TEST_F(HostileCallerTest, DamagedOptionsOfClientsAreErrors) {
  using Args = Client_Create_Args;
  Block args;
  args.set(Args::num_options, size_t(1));
  EXPECT_THAT(call(Slot::Client_Create, args), HasSubstr("a null pointer"));
  std::vector<char> option(NamedValue::stride);
  args.set(Args::create_options, option.data());
  EXPECT_THAT(call(Slot::Client_Create, args),
              HasSubstr("a null pointer for the name"));
  write(option.data(), NamedValue::name, "workers");
  write(option.data(), NamedValue::name_size, size_t(7));
  write(option.data(), NamedValue::value_size, size_t(3));
  EXPECT_THAT(call(Slot::Client_Create, args),
              HasSubstr("a null pointer for the value"));
}

// A program is compiled with thousands of damaged option messages; each is
// refused with a message, or means the same program.
TEST_F(HostileCallerTest, DamagedCompileOptionsAreErrorsOrHarmless) {
  using pjrt::Message;
  const std::string assignment =
      Message()
          .number(1, 1)
          .number(2, 1)
          .bytes(3, Message().packed(1, std::vector<int64_t>{0}).text)
          .text;
  const std::string good =
      Message()
          .bytes(3,
                 Message().number(4, 1).number(5, 1).bytes(9, assignment).text)
          .bytes(7, Message()
                        .bytes(1, "refine")
                        .bytes(2, Message().number(2, 1).text)
                        .text)
          .text;
  ASSERT_EQ(compile(doubled, good), "");
  destroyExecutable();
  std::minstd_rand random(1);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string options = good;
    for (unsigned change = 0; change <= random() % 3; ++change) {
      const size_t position = random() % options.size();
      if (random() % 4 == 0)
        options.resize(std::max<size_t>(1, position));
      else
        options[position] = char(random());
    }
    if (!compile(doubled, options).empty())
      ++refused;
    else
      destroyExecutable();
  }
  EXPECT_GT(refused, 100);
}

TEST_F(HostileCallerTest, DamagedProgramsAreErrors) {
  EXPECT_NE(compile("", ""), "");
  EXPECT_NE(compile("ML\xefR\x06", ""), "");
  EXPECT_THAT(compile(doubled, "\xff"),
              HasSubstr("damaged CompileOptionsProto"));
  const std::string twice =
      pjrt::Message()
          .bytes(3,
                 pjrt::Message()
                     .number(5, 2)
                     .bytes(9, pjrt::Message()
                                   .bytes(3, pjrt::Message().number(1, 0).text)
                                   .bytes(3, pjrt::Message().number(1, 0).text)
                                   .text)
                     .text)
          .text;
  EXPECT_THAT(compile(doubled, twice), HasSubstr("names a device twice"));
  using Args = Executable_DeserializeAndLoad_Args;
  Block args;
  args.set(Args::client, client)
      .set(Args::serialized_executable, "damaged")
      .set(Args::serialized_executable_size, size_t(7));
  EXPECT_THAT(call(Slot::Executable_DeserializeAndLoad, args),
              HasSubstr("no executable"));
}
} // namespace
