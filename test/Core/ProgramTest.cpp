// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs: verification, and .mlprog files that were written, damaged, forged.
#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/Hash.h"

#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace meshloom;
using testing::HasSubstr;

namespace {

const Mesh batch = *Mesh::get({{"batch", 4}});

BufferDecl buffer(std::string name, Shape shape, Layout layout) {
  return {std::move(name), DType::F32, std::move(shape), std::move(layout)};
}
Layout full(unsigned rank) {
  return Layout::replicated(batch, rank);
}
Layout rows(unsigned rank) {
  return Layout::batch_sharded(batch, "batch", rank);
}
DimAccess accessOf(unsigned loop) {
  return {0, {{loop, 1}}};
}

/// dw = x^T dy, all_reduce, w' = w + dw, in place.
Program sample() {
  Layout partial = full(2).with_partial({{0, ReduceKind::Sum}});
  Program program{"step", batch, {}, {}, {}, {}, {}};
  program.buffers = {
      buffer("x", {10, 3}, rows(2)),  buffer("dy", {10, 5}, rows(2)),
      buffer("w", {3, 5}, full(2)),   buffer("dw", {3, 5}, partial),
      buffer("sum", {3, 5}, full(2)), buffer("w2", {3, 5}, full(2)),
      buffer("half", {}, full(0))};
  program.constants = {{6, {0, 0, 0, 63}, true}};
  program.arguments = {{0, "x"}, {1, "dy"}, {2, "w"}};
  program.results = {{5, 2, "w"}};
  DotStep dot{{{3, false, {}}, {5, false, {}}, {10, true, {0}}},
              {0, {accessOf(2), accessOf(0)}},
              {1, {accessOf(2), accessOf(1)}},
              {3, {accessOf(0), accessOf(1)}},
              {"model.cpp:3:1", "matmul"},
              DimAccess{1, {{0, 2}, {1, -1}}}};
  CollectiveStep reduce{CollectiveKind::AllReduce, {0},
                        ReduceKind::Sum,           {{3, 4}},
                        "dw is partial",           {"model.cpp:4:1", "add"}};
  KernelStep add{"add_1",
                 {{3, false, {}}, {5, false, {}}},
                 {{2, {accessOf(0), accessOf(1)}},
                  {4, {accessOf(0), accessOf(1)}},
                  {6, {}}},
                 {{5, {accessOf(0), accessOf(1)}}},
                 {0},
                 {"model.cpp:5:1", "add"},
                 2};
  program.steps = {dot, reduce, add};
  return program;
}

std::string message(const Status &status) {
  return status ? "" : status.error().message();
}

/// `file` with a right checksum over whatever its body now is.
std::string withChecksum(std::string file) {
  constexpr size_t accessOf = 8 + 4, body = accessOf + 8 + 8;
  StableHash hash;
  hash.add(std::string_view(file).substr(std::min(body, file.size())));
  uint64_t sum = hash.value();
  if (file.size() >= accessOf + 8)
    std::memcpy(&file[accessOf], &sum, 8);
  if (file.size() >= body) {
    uint64_t length = file.size() - body;
    std::memcpy(&file[accessOf + 8], &length, 8);
  }
  return file;
}

} // namespace

TEST(ProgramTest, RoundTrip) {
  Program program = sample();
  EXPECT_EQ(message(program.verify()), "");
  auto back = Compiled::deserialize(Compiled(program).serialize());
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->program(), program);
}

// Each way of being wrong is found, and the message says where.
TEST(ProgramTest, VerifierRejects) {
  auto expect = [](const char *text, const std::function<void(Program &)> &f) {
    Program program = sample();
    f(program);
    EXPECT_THAT(message(program.verify()), HasSubstr(text));
    // A file of it is refused too.
    EXPECT_FALSE(Compiled::deserialize(Compiled(program).serialize()));
  };
  auto dot = [](Program &p) -> DotStep & {
    return std::get<DotStep>(p.steps[0]);
  };
  auto reduce = [](Program &p) -> CollectiveStep & {
    return std::get<CollectiveStep>(p.steps[1]);
  };
  auto kernel = [](Program &p) -> KernelStep & {
    return std::get<KernelStep>(p.steps[2]);
  };
  expect("names buffer 99", [&](Program &p) { dot(p).lhs.buffer = 99; });
  expect("before it is written", [&](Program &p) { dot(p).lhs.buffer = 4; });
  expect("already has a value", [&](Program &p) { dot(p).out.buffer = 2; });
  expect("already has a value",
         [](Program &p) { p.arguments.push_back({2, "again"}); });
  expect("before it is written", [](Program &p) { p.steps.pop_back(); });
  expect("outside dim 1 of buffer 2",
         [&](Program &p) { kernel(p).inputs[0].dims[1].offset = 1; });
  expect("outside dim 0", [&](Program &p) {
    kernel(p).inputs[0].dims[0].terms[0].second = INT64_MAX;
  });
  expect("indexed by loop 7",
         [&](Program &p) { kernel(p).inputs[0].dims[0] = accessOf(7); });
  expect("indices for buffer",
         [&](Program &p) { kernel(p).inputs[0].dims.pop_back(); });
  expect("across shards", [&](Program &p) { dot(p).loops[2].axes = {}; });
  expect("used twice", [&](Program &p) { dot(p).loops[0].axes = {0}; });
  expect("depend on loop 2",
         [&](Program &p) { dot(p).readWhere = DimAccess{0, {{2, 1}}}; });
  expect("depend on loop 9",
         [&](Program &p) { dot(p).readWhere = DimAccess{0, {{9, 1}}}; });
  expect("too large", [&](Program &p) {
    dot(p).readWhere = DimAccess{INT64_MIN, {{0, INT64_MAX}}};
  });
  expect("is in 0 operands",
         [&](Program &p) { dot(p).loops.push_back({4, false, {}}); });
  expect("extent -1", [&](Program &p) { kernel(p).loops[0].extent = -1; });
  expect("in-place entries", [&](Program &p) { kernel(p).inPlace = {}; });
  expect("cannot overwrite input 5",
         [&](Program &p) { kernel(p).inPlace = {5}; });
  expect("another access", [&](Program &p) { kernel(p).inPlace = {2}; });
  expect("has no symbol", [&](Program &p) { kernel(p).symbol = ""; });
  expect("moves nothing", [&](Program &p) { reduce(p).moves = {}; });
  expect("partial by sum",
         [&](Program &p) { reduce(p).reduce = ReduceKind::Max; });
  expect("all_gather over [batch] cannot turn",
         [&](Program &p) { reduce(p).kind = CollectiveKind::AllGather; });
  expect("aliases argument 9",
         [](Program &p) { p.results[0].aliasedArgument = 9; });
  expect("of another type",
         [](Program &p) { p.results[0].aliasedArgument = 0; });
  expect("has 3 bytes, expected 4",
         [](Program &p) { p.constants[0].bytes.pop_back(); });
  expect("too large",
         [](Program &p) { p.buffers[4].shape = {INT64_MAX / 2, 8}; });
  expect("extent -3", [](Program &p) { p.buffers[4].shape[0] = -3; });
  expect("layout of rank", [](Program &p) { p.buffers[4].shape = {3}; });
  expect("after it was overwritten", [&](Program &p) {
    p.buffers.push_back(buffer("w3", {3, 5}, full(2)));
    KernelStep again = kernel(p);
    again.outputs[0].buffer = 7;
    again.inPlace = {-1};
    p.steps.push_back(again);
  });
}

TEST(ProgramTest, DamagedFilesAreRefused) {
  std::string file = Compiled(sample()).serialize();
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(Compiled::deserialize(file.substr(0, size)));
  EXPECT_FALSE(Compiled::deserialize(file + "x"));
  for (size_t i = 0; i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] ^= 0x10;
    auto result = Compiled::deserialize(damaged);
    EXPECT_FALSE(result) << "byte " << i;
  }
  std::string other = file;
  other[8] = 99;
  EXPECT_THAT(Compiled::deserialize(other).error().message(),
              HasSubstr("version 99"));
  EXPECT_THAT(Compiled::deserialize("\x7f"
                                    "ELF")
                  .error()
                  .message(),
              HasSubstr("does not begin with 'MESHLOOM'"));
}

// With the checksum made right again, whatever is accepted has passed verify()
// and is stable; nothing crashes or allocates without bound.
TEST(ProgramTest, ForgedFilesAreReadSafely) {
  std::string file = Compiled(sample()).serialize();
  std::mt19937 random(7);
  size_t accepted = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string forged = file;
    int edits = 1 + random() % 4;
    for (int i = 0; i < edits; ++i) {
      size_t where = 28 + random() % (forged.size() - 28);
      switch (random() % 4) {
      case 0:
        forged[where] = char(random());
        break;
      case 1:
        forged[where] = random() % 2 ? '\xff' : '\0';
        break;
      case 2:
        forged.erase(where, random() % 9);
        break;
      default:
        forged.insert(where, random() % 9, char(random()));
      }
      if (forged.size() < 40)
        break;
    }
    auto result = Compiled::deserialize(withChecksum(forged));
    if (!result)
      continue;
    ++accepted;
    if (result->coded())
      EXPECT_TRUE(result->program().verify());
    const std::string again = result->serialize();
    EXPECT_EQ(Compiled::deserialize(again)->serialize(), again);
  }
  // Names and notes may be anything: not all forgeries are errors.
  EXPECT_GT(accepted, 0u);
}

TEST(ProgramTest, LocalBytesAreThoseOfTheLargestShard) {
  EXPECT_EQ(buffer("x", {10, 3}, rows(2)).localBytes(), 3 * 3 * 4);
  EXPECT_EQ(buffer("s", {}, full(0)).localBytes(), 4);
}
