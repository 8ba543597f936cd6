// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling for TPUs that are not there: what can be read of topologies and
// optimised programs without libtpu, and all of it with libtpu where it is
// installed.
#include "PluginsForTests.h"

#include "meshloom/Runtime/Backends/PJRT/AheadOfTime.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace meshloom;
using namespace meshloom::pjrt;
using namespace meshloom::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
using Numbers = std::vector<int64_t>;

// ---- Places

// Attributes say more clearly what the text says too.
TEST(PlaceTest, AttributesGoBeforeTheText) {
  DevicePlace place =
      placeOf({{"coords", Numbers{3, 1, 0}}, {"core_on_chip", int64_t(1)}},
              "TPU_5(process=1,(1,2,0,0))");
  EXPECT_EQ(place.coords, (Numbers{3, 1, 0}));
  EXPECT_EQ(place.core, 1);
}

TEST(PlaceTest, TextIsReadWhereThereAreNoAttributes) {
  DevicePlace place = placeOf({}, "TPU_13(process=1,(0,1,2,1))");
  EXPECT_EQ(place.coords, (Numbers{0, 1, 2}));
  EXPECT_EQ(place.core, 1);
}

TEST(PlaceTest, OtherTextsGiveNone) {
  for (const char *text :
       {"", "TFRT_CPU_0", "TPU_5(process=1,(1,x,0))", "TPU_5(process=1,())",
        "TPU_5(process=1,(1,2,0,0", "TPU_5(process=1,(1,,2))",
        "TPU_5(process=1,(99999999999999999999,0))"})
    EXPECT_TRUE(placeOf({}, text).coords.empty()) << text;
}

// ---- Finding libtpu

TEST(FindTPULibraryTest, GivenThenEnvironment) {
  ScopedVariable tpu("TPU_LIBRARY_PATH", "/y/libtpu.so");
  ScopedVariable none("PJRT_NAMES_AND_LIBRARY_PATHS", nullptr);
  EXPECT_EQ(*findTPULibrary("/x/libtpu.so"), "/x/libtpu.so");
  EXPECT_EQ(*findTPULibrary(), "/y/libtpu.so");
  ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS", "tpu:/z/libtpu.so");
  EXPECT_EQ(*findTPULibrary(), "/z/libtpu.so");
}

// Whoever has none learns what was looked for, and whose it is to get.
TEST(FindTPULibraryTest, WithoutOneTheErrorSaysHowToGetIt) {
  ScopedVariable tpu("TPU_LIBRARY_PATH", nullptr);
  ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS", "cpu:/x/cpu.so");
  const std::string message = findTPULibrary().error().message();
  EXPECT_THAT(message, HasSubstr("TPU_LIBRARY_PATH is not set"));
  EXPECT_THAT(message, HasSubstr("names no plug-in 'tpu'"));
  EXPECT_THAT(message, HasSubstr("its own terms, which you have to accept"));
}

TEST(TopologyTest, PluginsWithoutTopologiesAreRefused) {
  auto topology = Topology::create(faultyPlugin(), "v5e:2x4");
  ASSERT_FALSE(topology);
  EXPECT_THAT(topology.error().message(),
              HasSubstr("it has no function PJRT_TopologyDescription_Create"));
}

// ---- Optimised programs

std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7)
    text += char(value | 0x80);
  return text + char(value);
}
std::string field(unsigned number, const std::string &bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string field(unsigned number, uint64_t value) {
  return varint(number << 3) + varint(value);
}
/// A ShapeProto of f32.
std::string array(const Numbers &dims) {
  std::string list;
  for (int64_t dim : dims)
    list += varint(uint64_t(dim));
  return field(2, 11) + field(3, list);
}
std::string tuple(const std::vector<std::string> &shapes) {
  std::string text = field(2, 13);
  for (const std::string &shape : shapes)
    text += field(4, shape);
  return text;
}
std::string instruction(const std::string &name, const std::string &opcode,
                        const std::string &shape) {
  // Fields that are not read, of each kind, lie between those that are.
  return field(1, name) + field(35, 7) + varint(90 << 3 | 5) + "abcd" +
         varint(91 << 3 | 1) + "abcdefgh" + field(2, opcode) + field(43, "x") +
         field(3, shape);
}

std::string metadata(const std::string &file, uint64_t line) {
  return field(7, field(2, "jit(step)") + field(3, file) + field(4, line));
}
/// A ReplicaGroup in a CollectiveDeviceListProto.
std::string group(uint64_t size) {
  std::string ids;
  for (uint64_t id = 0; id < size; ++id)
    ids += varint(id + 200);
  return field(1, field(1, ids));
}

/// A module with all that is read, in all its forms.
std::string exampleBytes() {
  const std::string main =
      field(2,
            instruction("r", "all-reduce", tuple({array({4, 8}), array({2})})) +
                metadata("model.py", 12) + field(87, group(4) + group(4))) +
      field(2, instruction("g", "all-gather-start",
                           tuple({array({2}), array({16})})) +
                   metadata("model.py", 0) +
                   field(87, field(2, field(1, 2) + field(2, 3)))) +
      field(2, instruction("gd", "all-gather-done", array({16}))) +
      field(2, instruction(
                   "p", "collective-permute-start",
                   tuple({array({3}), array({3}), field(2, 8), field(2, 8)}))) +
      field(2, instruction("s", "reduce-scatter", array({2})) +
                   field(49, field(1, 0) + field(1, 1))) +
      field(2, instruction("d", "dot", array({4, 4})));
  return field(1,
               field(1, "step") + field(2, "main") +
                   field(3, field(1, "sum") +
                                field(2, instruction("a", "add", array({})))) +
                   field(3, field(1, "main") + main));
}
const std::string hloBytes = exampleBytes();

TEST(HloProgramTest, InstructionsAndTheirBytes) {
  HloProgram program = HloProgram::parse(hloBytes).value_or_throw();
  EXPECT_EQ(program.name, "step");
  ASSERT_EQ(program.computations.size(), 2u);
  EXPECT_EQ(program.computations[0].name, "sum");
  const HloComputation &main = program.computations[1];
  ASSERT_EQ(main.instructions.size(), 6u);
  EXPECT_EQ(main.instructions[0].name, "r");
  EXPECT_EQ(main.instructions[0].opcode, "all-reduce");
  EXPECT_THAT(main.instructions[0].bytes, ElementsAre(128, 8));
  EXPECT_THAT(main.instructions[5].bytes, ElementsAre(64));
}

// A start and its end are one collective; what starts with a tuple of operands
// and results counts its results.
TEST(HloProgramTest, CollectivesAreCountedOnce) {
  std::vector<std::string> found;
  for (const HloCollective &collective :
       HloProgram::parse(hloBytes).value_or_throw().collectives())
    found.push_back(fmt::format(
        "{} {}{} {} of {} by {} at '{}'", collective.name, collective.kind,
        collective.asynchronous ? "*" : "", collective.bytes, collective.values,
        collective.groupSize, collective.source));
  EXPECT_THAT(found, ElementsAre("r all-reduce 136 of 2 by 4 at 'model.py:12'",
                                 "g all-gather* 64 of 1 by 3 at 'model.py'",
                                 "p collective-permute* 12 of 1 by 0 at ''",
                                 "s reduce-scatter 8 of 1 by 2 at ''"));
}

// No prefix of a module, and no module with a byte changed, is read past its
// end; what is not whole is refused.
TEST(HloProgramTest, DamagedBytesAreRefused) {
  for (size_t size = 0; size < hloBytes.size(); ++size)
    EXPECT_FALSE(HloProgram::parse(std::string_view(hloBytes).substr(0, size)))
        << size;
  for (size_t position = 0; position < hloBytes.size(); ++position) {
    std::string damaged = hloBytes;
    damaged[position] = char(0xff);
    (void)HloProgram::parse(damaged);
  }
  EXPECT_THAT(HloProgram::parse("none").error().message(),
              HasSubstr("not a module of XLA's"));
}

// ---- libtpu

class TPUTest : public testing::Test {
protected:
  void SetUp() override {
    std::string why;
    std::optional<std::string> path = tpuLibraryPath(why);
    if (!path)
      GTEST_SKIP() << why;
    auto loaded = loadForCompilation(*path);
    ASSERT_TRUE(loaded) << loaded.error().message();
    library = *loaded;
  }
  Topology topology(const std::string &name, const Attributes &options = {}) {
    return Topology::create(*library, name, options).value_or_throw();
  }
  const Plugin *library = nullptr;
};

/// A product whose addends are summed over all replicas; the sum may take the
/// memory of the argument.
std::string sumOfProducts(int64_t replicas) {
  std::string ids;
  for (int64_t i = 0; i < replicas; ++i)
    ids += fmt::format("{}{}", i ? ", " : "", i);
  return fmt::format(R"(
module @products {{
  func.func @main(%a: tensor<128x128xf32> {{tf.aliasing_output = 0 : i32}},
                  %b: tensor<128x128xf32>) -> tensor<128x128xf32> {{
    %0 = "stablehlo.dot_general"(%a, %b) {{dot_dimension_numbers =
      #stablehlo.dot<lhs_contracting_dimensions = [1],
                     rhs_contracting_dimensions = [0]>}}
      : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %1 = "stablehlo.all_reduce"(%0) ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y)
        : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }}) {{replica_groups = dense<[[{}]]> : tensor<1x{}xi64>}}
      : (tensor<128x128xf32>) -> tensor<128x128xf32> loc("model.py":12:3)
    func.return %1 : tensor<128x128xf32>
  }}
}})",
                     ids, replicas);
}

// Devices are numbered core by core, then along x, y and z, whatever process
// drives them.
TEST_F(TPUTest, TopologiesByName) {
  struct {
    const char *name, *kind;
    Numbers shape;
    int64_t cores;
  } known[] = {{"v5e:2x4", "TPU v5 lite", {2, 4, 1}, 1},
               {"v5e:4x4", "TPU v5 lite", {4, 4, 1}, 1},
               {"v5e:16x16", "TPU v5 lite", {16, 16, 1}, 1},
               {"v4:2x2x2", "TPU v4", {2, 2, 2}, 2},
               {"v5p:2x2x2", "TPU v5", {2, 2, 2}, 1},
               {"v6e:2x4", "TPU v6 lite", {2, 4, 1}, 1}};
  for (const auto &[name, kind, shape, cores] : known) {
    SCOPED_TRACE(name);
    const Topology found = topology(name);
    const int64_t chips = shape[0] * shape[1] * shape[2];
    ASSERT_EQ(int64_t(found.devices().size()), chips * cores);
    for (const TopologyDevice &device : found.devices()) {
      const int64_t chip = device.id / cores;
      EXPECT_EQ(device.kind, kind);
      EXPECT_EQ(device.place.core, device.id % cores);
      EXPECT_EQ(device.place.coords,
                (Numbers{chip % shape[0], chip / shape[0] % shape[1],
                         chip / shape[0] / shape[1]}));
    }
  }
}

// The text says the same as the attributes.
TEST_F(TPUTest, TextsHaveThePlacesToo) {
  const Topology found = topology("v4:2x2x2");
  for (const TopologyDevice &device : found.devices()) {
    DevicePlace read = placeOf({}, device.text);
    EXPECT_EQ(read.coords, device.place.coords) << device.text;
    EXPECT_EQ(read.core, device.place.core) << device.text;
  }
}

TEST_F(TPUTest, OptionsPutChipsOnOneHost) {
  EXPECT_EQ(topology("v5e:2x4").devices().back().process, 1);
  EXPECT_EQ(topology("v5e:2x4", {{"chips_per_host_bounds", Numbers{2, 4, 1}}})
                .devices()
                .back()
                .process,
            0);
}

TEST_F(TPUTest, UnknownTopologiesSayHowTheyAreNamed) {
  for (const char *name : {"v5litepod-8", "v5e:3x4", "v9:2x2", ""}) {
    auto found = Topology::create(*library, name);
    if (found && std::string(name).empty())
      continue; // libtpu's own default
    ASSERT_FALSE(found) << name;
    EXPECT_THAT(found.error().message(), HasSubstr("GENERATION:SHAPE")) << name;
  }
}

// Sizes, costs and the optimised program of one that adds over all devices; its
// argument's memory is the result's.
TEST_F(TPUTest, CompilesForDevicesThatAreNotThere) {
  for (const char *name : {"v5e:2x4", "v4:2x2x1", "v6e:2x4"}) {
    SCOPED_TRACE(name);
    const Topology found = topology(name);
    CompileOptions options;
    options.replicas = 8;
    auto executable = found.compile(sumOfProducts(8), options);
    ASSERT_TRUE(executable) << executable.error().message();
    const CompiledMemory memory = executable->memory().value_or_throw();
    EXPECT_GT(memory.code, 0);
    EXPECT_EQ(memory.argument, 2 * 128 * 128 * 4);
    EXPECT_GE(memory.output, 128 * 128 * 4);
    EXPECT_EQ(memory.alias, 128 * 128 * 4);
    EXPECT_GT(memory.peak, 0);
    EXPECT_GE(executable->costs().value_or_throw().at("flops"),
              2. * 128 * 128 * 128);

    const HloProgram hlo = executable->optimized().value_or_throw();
    EXPECT_EQ(hlo.name, "products");
    const std::vector<HloCollective> collectives = hlo.collectives();
    ASSERT_FALSE(collectives.empty());
    int64_t bytes = 0;
    for (const HloCollective &collective : collectives)
      bytes += collective.bytes;
    EXPECT_GE(bytes, 128 * 128 * 4);
    EXPECT_EQ(collectives.front().groupSize, 8);
    EXPECT_EQ(collectives.front().source, "model.py:12");
  }
}

// A client of such devices would load these bytes; they say which program it
// is.
TEST_F(TPUTest, CompiledProgramsCanBeSaved) {
  const Topology found = topology("v5e:2x4");
  CompileOptions options;
  options.replicas = 8;
  options.devices = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::string bytes = found.compile(sumOfProducts(8), options)
                                .value_or_throw()
                                .serialize()
                                .value_or_throw();
  EXPECT_THAT(bytes, HasSubstr("products"));
}

TEST_F(TPUTest, RefusedProgramsSayWhy) {
  const Topology found = topology("v5e:2x4");
  CompileOptions options;
  options.replicas = 8;
  auto refused = found.compile("module { func.func @main() { bad } }", options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(),
              StartsWith("cannot compile a program for 'v5e:2x4' with the "));
  options.replicas = 9;
  EXPECT_EQ(found.compile(sumOfProducts(9), options).error().message(),
            "a program for 9 devices cannot be compiled for 'v5e:2x4', which "
            "has 8");
}

// libtpu lets one process at a time drive TPUs; those that only compile do not
// wait for each other.
TEST_F(TPUTest, TwoProcessesCompileAtOnce) {
  if (std::getenv("MESHLOOM_TEST_CHILD"))
    GTEST_SKIP() << "this is one of the two processes";
  const std::string self = std::filesystem::canonical("/proc/self/exe");
  int status[2] = {-1, -1};
  ScopedVariable child("MESHLOOM_TEST_CHILD", "1");
  std::thread second([&] {
    status[1] =
        std::system((self + " --gtest_filter=*AreNotThere >/dev/null").c_str());
  });
  status[0] =
      std::system((self + " --gtest_filter=*AreNotThere >/dev/null").c_str());
  second.join();
  EXPECT_THAT(status, ElementsAre(0, 0));
}
} // namespace
