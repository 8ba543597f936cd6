// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code as text, and the size of a grid.
#include "LayoutEnumeration.h"

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Core/Program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;

namespace {

using Kind = KernelParameter::Kind;

DimAccess loop(unsigned number) {
  return {0, {{number, 1}}};
}

DeviceCode exampleCode() {
  KernelShape sum{"sum", 32, 8, {0, 2}, {}};
  sum.parameters = {{Kind::Pointer, 0, 0},
                    {Kind::Pointer, 1, 0},
                    {Kind::Extent, 0, 1},
                    {Kind::Origin, 0, 2},
                    {Kind::Stride, 1, 2}};
  using Form = ProductEpilogue::Form;
  return {
      {sum, {"scalar", 256, 1, {}, {{Kind::Pointer, 0, 0}}}},
      {{"scalar", Form::Gelu, {1, 0}, 2, "", {}, {}},
       {"sum", Form::GeluGradient, {}, 4, "scalar", 0, {{1, 2}, {2, 3}}},
       {"sum", Form::BiasGradient, {0}, 1, "", {}, {}}},
      {{.batchLoops = 1,
        .terms = 4,
        .columns = 8,
        .query = {3, {loop(0), loop(1), {0, {{2, 16}, {3, 1}}}}},
        .key = {4, {loop(2), loop(0), loop(3)}},
        .value = {5, {loop(0), {64, {{2, 1}}}, {}}},
        .scores = {8, {loop(0), loop(1), loop(2)}},
        .result = {9, {loop(0), loop(1)}},
        .mask = {{"sum", {{6, {loop(0)}}, {7, {loop(1), loop(2)}}}, {0, 1}}},
        .scale = 0.25,
        .hidden = -1e9,
        .gradient = {{.result = {10, {loop(0)}},
                      .query = {11, {loop(1)}},
                      .key = {12, {loop(2)}},
                      .value = {13, {loop(3)}}}}}},
      {'\x7f', 'E'},
      "avx2,fma",
      ".version 7.8\n.target sm_80\n"};
}

TEST(DeviceCodeTest, TextIsReadBack) {
  const DeviceCode code = exampleCode();
  EXPECT_EQ(
      code.text(),
      "// Meshloom device code 1\n"
      "// kernel sum results 32 terms 8 grid 0,2 parameters p0 p1 e1 o2 "
      "s1.2\n"
      "// kernel scalar results 256 terms 1 grid none parameters p0\n"
      "// epilogue scalar gelu result 2 terms 1,0\n"
      "// epilogue sum gelu_gradient result 4 terms none of scalar factor "
      "0 saved 1:2 saved 2:3\n"
      "// epilogue sum bias_gradient result 1 terms 0\n"
      "// attention batches 1 terms 4 columns 8 scale 0.25 hidden "
      "-1000000000 query 3:0,1,2*16+3 key 4:2,0,3 value 5:0,2@64,- scores "
      "8:0,1,2 result 9:0,1 mask sum loops 0,1 operands 6:0 7:1,2 gradient "
      "10:0 query_gradient 11:1 "
      "key_gradient 12:2 value_gradient 13:3\n"
      "// host avx2,fma 7f45\n"
      ".version 7.8\n.target sm_80\n");
  auto parsed = DeviceCode::parse(code.text());
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(*parsed, code);
}

TEST(DeviceCodeTest, OtherTextIsRefused) {
  auto wrong = DeviceCode::parse(".version 7.8\n");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(), "this is no device code: its first line "
                                     "is not '// Meshloom device code 1'");
  const std::string text = exampleCode().text();
  const char *changes[][2] = {
      {"terms 8", "terms x"}, {"terms 8", "terms 64"},   {"terms 8", "terms 0"},
      {" s1.2", " s1"},       {" grid 0,2", " grid 0,"}, {" e1", " q1"}};
  for (auto &[from, to] : changes) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    auto parsed = DeviceCode::parse(changed);
    ASSERT_FALSE(parsed) << to;
    EXPECT_NE(parsed.error().message().find("describes no kernel: '// kernel "
                                            "sum"),
              std::string::npos)
        << parsed.error().message();
  }
  std::string changed = text;
  changed.replace(changed.find(" gelu "), 6, " relu ");
  EXPECT_EQ(DeviceCode::parse(changed).error().message(),
            "device code has a line that describes no epilogue: '// epilogue "
            "scalar relu result 2 terms 1,0'");
  changed = text;
  changed.replace(changed.find("4:2,0,3"), 7, "4:2,0,9"); // of loops 0 to 4
  EXPECT_THAT(DeviceCode::parse(changed).error().message(),
              testing::HasSubstr("describes no attention: '// attention "));
}

TEST(DeviceCodeTest, BlocksCoverTheParallelLoops) {
  const DeviceCode code = exampleCode();
  const std::vector<int64_t> extents{10, 1000, 7}, none{10, 1000, 0};
  EXPECT_EQ(code.kernels[0].blocks(extents), 3); // 70 results in groups of 32
  EXPECT_EQ(code.kernels[0].blocks(none), 0);
  EXPECT_EQ(code.kernels[1].blocks({}), 1);
}

// Loops are what the operands that have them say.
TEST(DeviceCodeTest, KindOfAProduct) {
  const Mesh mesh = test::makeMesh({2});
  auto dim = [](unsigned loop) { return DimAccess{0, {{loop, 1}}}; };
  DotStep dot{{{4}, {3}, {10, true}, {5}},
              {0, {dim(0), dim(1), dim(2)}},
              {1, {dim(2), dim(3), dim(0)}},
              {2, {dim(0), dim(1), dim(3)}},
              {}};
  Program program{.name = "main", .mesh = mesh};
  for (const Shape &shape : {Shape{4, 3, 10}, Shape{10, 5, 4}, Shape{4, 3, 5}})
    program.buffers.push_back(
        {"", DType::BF16, shape, Layout::replicated(mesh, 3)});
  auto kind = ProductKind::of(program, dot);
  ASSERT_TRUE(kind);
  EXPECT_EQ(kind->symbol(), "product_bf16_bmkn");
  // A loop that one operand has is none of a product.
  DotStep broadcast = dot;
  broadcast.rhs.dims[1] = DimAccess{};
  EXPECT_FALSE(ProductKind::of(program, broadcast));
  program.buffers[2].type = DType::F32;
  kind = ProductKind::of(program, dot);
  ASSERT_TRUE(kind);
  EXPECT_EQ(kind->symbol(), "product_bf16_f32_bmkn");
  EXPECT_EQ(kind->resultType(), DType::F32);
  program.buffers[2].type = DType::F64;
  EXPECT_FALSE(ProductKind::of(program, dot));
}

} // namespace
