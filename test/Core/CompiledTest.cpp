// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled: what a program says without devices, its hash, and its files.
#include "meshloom/Core/Compiled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const Mesh mesh = *Mesh::get({{"x", 2}, {"y", 2}});

/// s = all_reduce(x over y), twice: once in a branch.
Program sample(std::string name = "sum") {
  Layout partial =
      Layout::replicated(mesh, 1).with_partial({{1, ReduceKind::Sum}});
  Layout whole = Layout::replicated(mesh, 1);
  Program program{std::move(name), mesh, {}, {}, {}, {}, {}};
  program.buffers = {{"x", DType::F32, {6}, partial},
                     {"s", DType::F32, {6}, whole},
                     {"i", DType::I32, {}, Layout::replicated(mesh, 0)},
                     {"t", DType::F32, {6}, whole},
                     {"r", DType::F32, {6}, whole}};
  program.arguments = {{0, "x"}, {2, "which"}};
  auto reduce = [](unsigned to) {
    return CollectiveStep{CollectiveKind::AllReduce,
                          {1},
                          ReduceKind::Sum,
                          {{0, to}},
                          "x is partial",
                          {"a.mlir:1:1", "add"}};
  };
  BranchStep branch;
  branch.index = 2;
  branch.branches = {{reduce(3)}};
  branch.outputs = {{4, {3}}};
  program.steps = {reduce(1), branch};
  program.results = {{1, -1, "s"}, {4, -1, "r"}};
  return program;
}

StableHLOProgram text() {
  return {"module {}"};
}

} // namespace

TEST(CompiledTest, SignatureAndCollectivesAreReadOffTheProgram) {
  ASSERT_TRUE(sample().verify()) << sample().verify().error().message();
  Compiled compiled(sample());
  const Signature &signature = compiled.signature();
  EXPECT_EQ(signature.name, "sum");
  ASSERT_EQ(signature.arguments.size(), 2u);
  EXPECT_EQ(signature.arguments[1].name, "which");
  EXPECT_EQ(signature.arguments[1].type.dtype, DType::I32);
  ASSERT_EQ(signature.results.size(), 2u);
  EXPECT_EQ(signature.results[0].type.shape, Shape{6});
  ASSERT_EQ(compiled.collectives().size(), 2u);
  EXPECT_THAT(compiled.collectives()[1].axes, ElementsAre(1u));
  EXPECT_EQ(compiled.collectives()[1].bytes, 24);
}

// Ranks compare hashes: what is compiled alike is equal, whatever CPU features
// the code uses; another program, machine or form is another hash.
TEST(CompiledTest, ContentHashCoversTheWholeProgram) {
  Compiled one(CodedProgram{sample(), {"x86-64-elf", "avx2", {'a'}, nullptr}},
               "ring");
  Compiled two(CodedProgram{sample(), {"x86-64-elf", "sse2", {'b'}, nullptr}},
               "ring");
  EXPECT_EQ(one.contentHash(), two.contentHash());
  Compiled renamed(CodedProgram{sample("other"), {}}, "ring");
  EXPECT_NE(one.contentHash(), renamed.contentHash());
  Compiled elsewhere(CodedProgram{sample(), {}}, "shared-memory");
  EXPECT_NE(one.contentHash(), elsewhere.contentHash());
  Compiled asText(one.signature(), one.collectives(), text(), "ring");
  EXPECT_NE(one.contentHash(), asText.contentHash());
}

// A program that was made on some devices is not what every rank compiles.
TEST(CompiledTest, ProgramsHaveNoDevices) {
  Program program = sample();
  const DeviceAssignment gpus = DeviceAssignment::of("GPU", {4, 5, 6, 7});
  program.mesh = program.mesh.placed_on(gpus);
  for (BufferDecl &buffer : program.buffers)
    buffer.layout = buffer.layout.placed_on(gpus);
  Status verified = program.verify();
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message(), HasSubstr("is on devices"));
}

TEST(CompiledTest, StableHLOSurvivesAFile) {
  Compiled program(sample());
  Compiled compiled(program.signature(), program.collectives(), text(), "ring");
  auto back = Compiled::deserialize(compiled.serialize());
  ASSERT_TRUE(back) << back.error().message();
  ASSERT_TRUE(back->stableHLO());
  EXPECT_EQ(back->stableHLO()->text, "module {}");
  EXPECT_EQ(back->signature(), compiled.signature());
  EXPECT_EQ(back->collectives(), compiled.collectives());
  EXPECT_EQ(back->contentHash(), compiled.contentHash());
  EXPECT_EQ(back->coded(), nullptr);
}

TEST(CompiledTest, CodeSurvivesAFile) {
  Compiled compiled(sample(), Code{"x86-64-elf", "avx2", {'\x7f'}, nullptr});
  auto back = Compiled::deserialize(compiled.serialize());
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->code().format, "x86-64-elf");
  EXPECT_EQ(back->code().requirements, "avx2");
  EXPECT_THAT(back->code().bytes, ElementsAre('\x7f'));
}

TEST(DeviceAssignmentTest, MeshOnOtherDevicesDiffersAndComesBack) {
  const DeviceAssignment upper = DeviceAssignment::of("CPU", {4, 5, 6, 7});
  Mesh placed = mesh.placed_on(upper);
  EXPECT_NE(placed, mesh);
  EXPECT_EQ(placed.local_devices()[1],
            "/job:localhost/replica:0/task:0/device:CPU:5");
  EXPECT_THAT(placed.assignment().localDeviceNumbers(),
              ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(placed.without_devices(), mesh);
  EXPECT_EQ(mesh.placed_on(DeviceAssignment::standard(4)), mesh);
  EXPECT_THROW((void)mesh.placed_on(DeviceAssignment::standard(3)), Error);
  Layout rows = Layout::batch_sharded(mesh, "x", 2);
  EXPECT_EQ(rows.placed_on(upper).mesh(), placed);
  EXPECT_EQ(rows.placed_on(upper).placed_on(mesh.assignment()), rows);
}

/// The sample with `s` on a mesh of its user's.
static Program programOnUnnamedMesh() {
  Program program = sample();
  Mesh userMesh = *Mesh::get({{"all", 4}});
  program.arguments[0].written =
      Layout({UNSHARDED}, mesh, {{"y", ReduceKind::Sum}});
  program.results[0].written = Layout::replicated(userMesh, 1);
  program.deviceOrder = {0, 2, 1, 3};
  return program;
}

// A layout that a user wrote on a mesh of their own is in the signature, the
// file and the hash.
TEST(CompiledTest, LayoutsKeepTheirOwnMeshes) {
  Compiled compiled(programOnUnnamedMesh());
  EXPECT_EQ(compiled.signature().mesh.spec_string(), "<x=2, y=2>");
  EXPECT_EQ(compiled.signature().results[0].type.layout.mesh().spec_string(),
            "<all=4>");
  EXPECT_EQ(compiled.signature().results[1].type.layout.mesh(), mesh);
  Result<Compiled> again = Compiled::deserialize(compiled.serialize());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->signature(), compiled.signature());
  EXPECT_EQ(again->contentHash(), compiled.contentHash());
  EXPECT_NE(compiled.contentHash(), Compiled(sample()).contentHash());

  Compiled withText(compiled.signature(), {}, text());
  again = Compiled::deserialize(withText.serialize());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->signature(), compiled.signature());
}

// A layout that cuts otherwise than the program does, and an order of devices
// that is none, are no program.
TEST(CompiledTest, WrittenLayoutsAreChecked) {
  Program program = programOnUnnamedMesh();
  ASSERT_TRUE(program.verify()) << program.verify().error().message();
  program.results[0].written = Layout({"all"}, *Mesh::get({{"all", 4}}));
  EXPECT_THAT(program.verify().error().message(),
              HasSubstr("is written as [all] on <all=4>"));
  program.results[0].written = Layout::replicated(*Mesh::get({{"d", 1}}), 1);
  EXPECT_FALSE(program.verify());
  program = programOnUnnamedMesh();
  program.deviceOrder = {0, 0, 1, 2};
  EXPECT_THAT(program.verify().error().message(),
              HasSubstr("order of devices"));
}
