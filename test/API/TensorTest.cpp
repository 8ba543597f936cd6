// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in and out: creation, reading, printing, files, random numbers.
#include "../TemporaryFolder.h"
#include "Testing.h"

#include "meshloom/Fmt/Formatters.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace meshloom {
namespace {

TEST(TensorTest, KeepsValuesShapeAndType) {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  Tensor x = tensor(values, {2, 3});
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.dtype(), DType::F32);
  EXPECT_EQ(x.device(), "CPU:0");
  EXPECT_EQ(x.to_vector<float>(), values);
  EXPECT_EQ(tensor({{1, 2}, {3, 4}}).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(tensor({true, false}).to_vector<bool>(),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(tensor(2.5).item<double>(), 2.5);
}

TEST(TensorTest, ReadsIntoTypesThatHoldEveryValue) {
  EXPECT_EQ(tensor(2.5f).item<double>(), 2.5);
  EXPECT_EQ(tensor(int32_t(-3)).item<int64_t>(), -3);
  EXPECT_EQ(full({}, 1.5, DType::BF16).item<float>(), 1.5f);
  EXPECT_ERROR(tensor(2.5).item<float>(), HAS("[item]"), HAS("f64"),
               HAS("cast"));
  EXPECT_ERROR(tensor({1.f, 2.f}).item<float>(), HAS("one element"),
               HAS("[2]"));
}

TEST(TensorTest, RejectsWrongNumberOfValues) {
  EXPECT_ERROR(tensor({1.f, 2.f, 3.f}, {2, 2}), HAS("[tensor]"),
               HAS("4 values"), HAS("got 3"));
  EXPECT_ERROR(zeros({2, -1}), HAS("[zeros]"), HAS("-1"));
  // More elements than 64 bits count, also where the product wraps to none.
  int64_t many = int64_t(1) << 32;
  EXPECT_ERROR(zeros({many, many}), HAS("[zeros]"), HAS("at most"),
               HAS("[4294967296, 4294967296]"));
  EXPECT_ERROR(ones({many, many, 0}), HAS("[ones]"), HAS("at most"));
  EXPECT_ERROR(tensor(std::vector<float>(), {many, many}), HAS("[tensor]"));
#if !__has_feature(address_sanitizer) // its allocator ends the process
  EXPECT_ERROR(zeros({many, 1 << 20}), HAS("[zeros]"), HAS("out of memory"));
#endif
}

TEST(TensorTest, HandlesPrintThemselves) {
  Mesh mesh = create_mesh({{"x", 2}, {"y", 4}}, virtual_cpus(8), "m");
  Layout layout({"x", UNSHARDED}, mesh);
  Tensor x = tensor({1.f, 2.f});
  std::ostringstream out;
  out << Shape{2, 3} << " " << DType::C64 << " " << layout << " " << mesh;
  EXPECT_EQ(out.str(), "[2, 3] complex<f32> [x, *] on m<x=2, y=4> m<x=2, y=4>");
  EXPECT_EQ(
      fmt::format("{} {} {} {} {}", x.shape(), x.dtype(), x, layout, Mesh()),
      "[2] f32 [1. 2.] f32 [2] [x, *] on m<x=2, y=4> empty mesh");
  EXPECT_EQ(fmt::format("{}", DVariable()), "DVariable()");
}

TEST(TensorTest, EmptyHandleIsAnError) {
  Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_ERROR(bool(nothing), HAS("empty Tensor"));
  EXPECT_ERROR(nothing.shape(), HAS("empty Tensor"));
  EXPECT_ERROR(exp(nothing), HAS("[exp]"), HAS("empty Tensor"));
}

TEST(TensorTest, FillsAndCounts) {
  EXPECT_EQ(zeros({2}).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(ones({2}, DType::I32).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(full({1, 2}, 2.5, DType::F64).to_vector<double>(),
            (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(ones({2}, DType::I1).to_vector<bool>(),
            (std::vector<bool>{true, true}));
  EXPECT_EQ(range(4).to_vector<int32_t>(), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(iota({2, 2}, 0, DType::I64).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_ERROR(full({2}, 0.5, DType::I32), HAS("[full]"), HAS("0.5"));
}

TEST(TensorTest, DefaultMeshIsScopedAndNests) {
  Mesh outer = mesh8(), inner = mesh2x4();
  EXPECT_FALSE(get_default_mesh());
  {
    auto scope = default_mesh(outer);
    Tensor x = ones({4});
    EXPECT_EQ(x.layout(), Layout::replicated(outer, 1));
    {
      auto scope = default_mesh(inner);
      EXPECT_EQ(zeros({2}).mesh(), inner);
    }
    EXPECT_EQ(range(3).mesh(), outer);
  }
  EXPECT_FALSE(get_default_mesh());
  EXPECT_FALSE(is_dtensor(ones({4})));
}

TEST(TensorTest, PrintsLikeNumPy) {
  EXPECT_EQ(to_string(tensor({{1.f, 2.5f}, {-3.f, 4.f}})),
            "[[ 1.   2.5]\n [-3.   4. ]] f32 [2, 2]");
  EXPECT_EQ(to_string(tensor({1, 20, 3})), "[ 1 20  3] i32 [3]");
  EXPECT_EQ(to_string(tensor({true, false})), "[ True False] i1 [2]");
  EXPECT_EQ(to_string(tensor(0.1f)), "0.1 f32 []");
  EXPECT_EQ(to_string(range(2000)),
            "[   0    1    2 ... 1997 1998 1999] i32 [2000]");
  Layout rows({"batch", UNSHARDED}, mesh8());
  EXPECT_THAT(to_string(distribute(ones({8, 1}), rows)),
              HAS("layout [batch, *] on mesh[batch=8]"));
  std::ostringstream stream;
  stream << tensor({NAN, -INFINITY, 1.f});
  EXPECT_EQ(stream.str(), "[ nan -inf   1.] f32 [3]");
  EXPECT_EQ(to_string(tensor({1e-8f, 1e10f})), "[1.e-08 1.e+10] f32 [2]");
  EXPECT_EQ(to_string(tensor({1e-8, -1.25e3, double(NAN)})),
            "[ 1.00e-08 -1.25e+03       nan] f64 [3]");
}

TEST(TensorTest, VisualizeDrawsWhoHoldsWhat) {
  Layout layout({"x", UNSHARDED}, mesh2x4());
  EXPECT_EQ(visualize(layout, {4, 3}),
            "[4, 3] laid out as [x, *] on mesh[x=2, y=4]\n"
            "     0:3\n"
            "    +---------+\n"
            "0:2 | CPU 0-3 |\n"
            "    +---------+\n"
            "2:4 | CPU 4-7 |\n"
            "    +---------+\n");
  Layout uneven({"batch"}, mesh8());
  EXPECT_THAT(visualize(distribute(range(9), uneven)), HAS("empty: CPU 5-7"));
  EXPECT_THAT(visualize(Layout::replicated(mesh8(), 0), {}), HAS("CPU 0-7"));
}

TEST(TensorTest, NpyRoundTripsEachType) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "round_trip.npy";
  Tensor base = tensor({0, 1, 2, 3, 4, 5}, {3, 2});
  for (DType type : {DType::F32, DType::F64, DType::BF16, DType::I1, DType::I8,
                     DType::I32, DType::I64, DType::UI8, DType::UI32}) {
    Tensor x = cast(base, type);
    save_npy(path, x);
    Tensor back = load_npy(path);
    EXPECT_EQ(back.dtype(), type);
    EXPECT_EQ(back.shape(), x.shape());
    expectSame(back, x, 0);
  }
  Layout columns({UNSHARDED, "x"}, mesh2x4());
  save_npy(path, distribute(base, columns));
  Tensor back = load_npy(path, columns);
  EXPECT_EQ(back.layout(), columns);
  expectSame(back, base, 0);
  EXPECT_ERROR(load_npy(path, Layout({"x"}, mesh2x4())), HAS("[load_npy]"),
               HAS("rank 1"), HAS("[3, 2]"));
}

TEST(TensorTest, MissingAndBrokenFilesAreErrors) {
  EXPECT_ERROR(load_npy("/nowhere/x.npy"), HAS("[load_npy]"),
               HAS("/nowhere/x.npy"));
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "broken.npy";
  std::ofstream(path) << "not an array";
  EXPECT_ERROR(load_npy(path), HAS("[load_npy]"), HAS("broken.npy"));
}

TEST(RandomTest, SameNumbersUnderEachLayoutAndMesh) {
  Tensor plain = random::stateless_uniform({6, 10}, Seed{22, 23});
  Mesh mesh = mesh2x4();
  for (std::string_view letters : {"uu", "xu", "ux", "xy", "yx"}) {
    Layout layout = specs(letters, mesh);
    Tensor sharded = call_with_layout(
        [] { return random::stateless_uniform({6, 10}, Seed{22, 23}); },
        layout);
    EXPECT_EQ(sharded.layout(), layout);
    expectSame(sharded, plain, 0);
  }
  EXPECT_NE(random::stateless_uniform({4}, Seed{1, 2}).to_vector<float>(),
            random::stateless_uniform({4}, Seed{1, 3}).to_vector<float>());
}

TEST(RandomTest, UniformStaysInItsBounds) {
  for (DType type : {DType::F32, DType::F64, DType::BF16}) {
    Tensor x = random::stateless_uniform({4000}, Seed{3, 4}, -2, 3, type);
    EXPECT_GE(cast(reduce_min(x), DType::F64).item<double>(), -2);
    EXPECT_LE(cast(reduce_max(x), DType::F64).item<double>(), 3);
    EXPECT_NEAR(
        cast(reduce_mean(cast(x, DType::F32)), DType::F64).item<double>(), 0.5,
        0.1);
  }
  Tensor i = random::stateless_uniform({1000}, Seed{5, 6}, -3, 4, DType::I32);
  EXPECT_EQ(reduce_min(i).item<int32_t>(), -3);
  EXPECT_EQ(reduce_max(i).item<int32_t>(), 3);
  EXPECT_ERROR(random::stateless_uniform({2}, Seed{}, 1, 1),
               HAS("[stateless_uniform]"), HAS("minval < maxval"));
}

TEST(RandomTest, NormalHasMeanAndDeviation) {
  Tensor x = random::stateless_normal({20000}, Seed{7, 8}, 1, 2);
  double mean = reduce_mean(x).item<float>();
  double variance = reduce_mean(square(x - float(mean))).item<float>();
  EXPECT_NEAR(mean, 1, 0.05);
  EXPECT_NEAR(variance, 4, 0.2);
  EXPECT_TRUE(reduce_all(is_finite(x)).item<bool>());
}

} // namespace
} // namespace meshloom
