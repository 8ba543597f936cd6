// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x[i], x(range(1, -1), all, ...) and index_update, against NumPy's results.
#include "Testing.h"

namespace meshloom {
namespace {

Tensor counted(Shape shape) {
  return reshape(arange(double(elementCount(shape)), DType::F32), shape);
}

// Which of the functions called range it is.
static_assert(std::is_same_v<decltype(range(1, {})), IndexRange>);
static_assert(std::is_same_v<decltype(range({}, -1)), IndexRange>);
static_assert(std::is_same_v<decltype(range(1, -1)), IndexRange>);
static_assert(std::is_same_v<decltype(range(4)), Tensor>);
static_assert(std::is_same_v<decltype(range(4, DType::F32)), Tensor>);

TEST(SliceOpsTest, IndexesAsNumPyDoes) {
  Tensor x = counted({3, 4, 5});
  auto check = [&](const Tensor &part, Shape shape,
                   const std::vector<double> &values) {
    EXPECT_EQ(part.shape(), shape);
    expectNear(part, values);
  };
  check(x[1](1), {5}, {25, 26, 27, 28, 29});
  check(x(2, 3, 4), {}, {59});
  check(x(-1, range(1, -1)), {2, 5}, {45, 46, 47, 48, 49, 50, 51, 52, 53, 54});
  check(x(range(0, 1), range({}, {}, -1), range({}, {}, 2)), {1, 4, 3},
        {15, 17, 19, 10, 12, 14, 5, 7, 9, 0, 2, 4});
  check(x(ellipsis, newaxis, -1), {3, 4, 1},
        {4, 9, 14, 19, 24, 29, 34, 39, 44, 49, 54, 59});
  check(x(range(2, 0, -1), 3, range(-100, 2)), {2, 2}, {55, 56, 35, 36});
  check(x(all, all, range(3, 1)), {3, 4, 0}, {});
  check(x(2, 3, range(3, {})), {2}, {58, 59});
  check(x(newaxis, 0, range(2, 100, 1000), 1), {1, 1}, {11});
}

TEST(SliceOpsTest, TensorsPickWhatIsKnownLater) {
  Tensor x = counted({3, 4, 5});
  Tensor rows = x(all, tensor({3, -4, 0}), range(1, 3));
  EXPECT_EQ(rows.shape(), (Shape{3, 3, 2}));
  expectNear(rows, {16, 17, 1, 2, 1, 2, 36, 37, 21, 22, 21, 22, 56, 57, 41, 42,
                    41, 42});
  expectNear(x(tensor(-1), 0, tensor(int8_t(2))), {42});
  auto sum = function([](const Tensor &x) {
    return fori_loop(
        0, 3, [&](const Tensor &i, const Tensor &sum) { return sum + x[i](i); },
        zeros({5}));
  });
  expectNear(sum(x), {75, 78, 81, 84, 87});
}

// Compiling took minutes: what uses of one value share was searched anew, all
// against all, whenever one of them was laid out otherwise.
TEST(SliceOpsTest, HundredsOfPiecesAreJoinedAndSplitInSeconds) {
  constexpr int64_t count = 300;
  Mesh mesh = create_mesh({{"x", 3}}, virtual_cpus(3));
  std::vector<Tensor> pieces;
  int64_t rows = 0;
  for (int64_t i = 0; i < count; rows += 1 + i % 3, ++i)
    pieces.push_back(
        distribute(reshape(arange(4 * (1 + i % 3)), {1 + i % 3, 4}) + float(i),
                   i % 2 ? Layout({"x", UNSHARDED}, mesh)
                         : Layout({UNSHARDED, "x"}, mesh)));
  auto both = function([](const std::vector<Tensor> &pieces) {
    Tensor joined = concat(pieces, 0);
    std::vector<Tensor> parts = meshloom::split(joined, count, 0);
    std::vector<Tensor> turned(parts.rbegin(), parts.rend());
    return std::pair{joined, concat(turned, 0)};
  });
  auto [joined, turned] = both(pieces);
  const std::vector<float> got = joined.to_vector<float>(),
                           back = turned.to_vector<float>();
  ASSERT_EQ(got.size(), size_t(4 * rows));
  // The parts are of two rows each.
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t part = i / 8;
    EXPECT_EQ(back[8 * (size_t(count) - 1 - part) + i % 8], got[i]) << i;
  }
}

TEST(SliceOpsTest, UpdatesPlaces) {
  Tensor x = counted({3, 4, 5});
  auto expected = [&](auto change) {
    std::vector<double> values = cast(x, DType::F64).to_vector<double>();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j)
        for (int k = 0; k < 5; ++k)
          change(values[size_t(i * 20 + j * 5 + k)], i, j, k);
    return values;
  };
  expectNear(index_update(x, {all, range(1, {}, 2), -1}, tensor({7.f, 8.f})),
             expected([](double &v, int, int j, int k) {
               if (j % 2 == 1 && k == 4)
                 v = j == 1 ? 7 : 8;
             }));
  expectNear(
      index_update(x, {range({}, {}, -1), 0, 0}, tensor({1.f, 2.f, 3.f})),
      expected([](double &v, int i, int j, int k) {
        if (j == 0 && k == 0)
          v = 3 - i;
      }));
  Tensor ends = tensor({3, -4});
  expectNear(index_update(x, {all, ends, range(1, 3)}, -1),
             expected([](double &v, int, int j, int k) {
               if ((j == 0 || j == 3) && (k == 1 || k == 2))
                 v = -1;
             }));
  expectNear(index_update(x, {tensor(-2), range(0, 2), tensor(4)}, -5),
             expected([](double &v, int i, int j, int k) {
               if (i == 1 && j < 2 && k == 4)
                 v = -5;
             }));
  expectNear(index_add(x, {ellipsis, range(-1, 0, -2)}, 100),
             expected([](double &v, int, int, int k) {
               if (k == 4 || k == 2)
                 v += 100;
             }));
  expectNear(index_add(x, {tensor({1, 1, 2}), 0}, 100),
             expected([](double &v, int i, int j, int) {
               if (j == 0)
                 v += i == 1 ? 200 : i == 2 ? 100 : 0;
             }));
  // Nothing is picked; all is.
  expectSame(index_update(x, {range(2, 2)}, 9), x);
  expectSame(index_update(x, {}, 9), full({3, 4, 5}, 9));
  Tensor flags = index_update(full({4}, 0, DType::I1), {range(0, {}, 2)}, true);
  EXPECT_EQ(flags.to_vector<bool>(),
            (std::vector<bool>{true, false, true, false}));
}

TEST(SliceOpsTest, ShardedEqualsUnsharded) {
  Tensor x = sample({6, 8});
  std::initializer_list<std::string_view> layouts = {"xy", "yu", "ux"};
  expectSharded([](const Tensor &x) { return x[-2]; }, x, layouts);
  expectSharded(
      [](const Tensor &x) { return x(range(5, 0, -2), range(1, -1, 3)); }, x,
      layouts);
  expectSharded([](const Tensor &x) { return x(all, tensor({7, 0, 0})); }, x,
                layouts);
  expectSharded(
      [](const Tensor &x) {
        return index_update(x, {range(1, 5), range(1, {}, 3)},
                            x(range(0, 4), range(0, 3)));
      },
      x, layouts);
  expectSharded(
      [](const Tensor &x) { return index_add(x, {tensor({0, 0, 5})}, x[1]); },
      x, layouts);
}

TEST(SliceOpsTest, LoopsOverSlicesCompileOneProgram) {
  Tensor x = counted({64, 3});
  GradientTape tape;
  Tensor sum = x[0] * 0.f;
  for (int i = 0; i < 64; i += 4)
    sum += reduce_sum(x(range(i, i + 4)), 0);
  expectSame(sum, reduce_sum(x, 0));
  expectSame(tape.gradient(reduce_sum(sum), x), ones({64, 3}));
}

TEST(SliceOpsTest, ErrorsNameTheDim) {
  Tensor x = counted({3, 4});
  EXPECT_ERROR(x[3],
               HAS("[index] index 3 is out of range for dim 0 of f32 "
                   "[3, 4]: expected -3 to 2"),
               HAS("SliceOpsTest.cpp"));
  EXPECT_ERROR(x(0, -5), HAS("index -5 is out of range for dim 1"));
  EXPECT_ERROR(x(0, 0, 0), HAS("at most 2 indices"), HAS("got 3"));
  EXPECT_ERROR(x(range(0, 2, 0)), HAS("stride other than 0"));
  EXPECT_ERROR(x(ellipsis, ellipsis), HAS("at most one ellipsis"));
  EXPECT_ERROR(x[tensor({1.f})], HAS("integer indices"));
  EXPECT_ERROR(x[tensor({true, false, true})], HAS("use where"));
  EXPECT_ERROR(x(tensor({1}), tensor({1})), HAS("gather_nd"));
  EXPECT_ERROR(index_update(x, {0}, ones({3})), HAS("[index_update]"),
               HAS("[4]"), HAS("[3]"));
  EXPECT_ERROR(index_update(x, {0}, tensor({1, 2, 3, 4})), HAS("cast it"));
}

TEST(SliceOpsTest, CompoundAssignmentsGiveTheHandleANewValue) {
  Tensor x = tensor({7.f, -7.f});
  Tensor before = x;
  x += 1;
  x *= x;
  expectNear(x, {64, 36});
  x -= before;
  x /= 2;
  expectNear(x, {28.5, 21.5});
  expectNear(before % 4, {3, 1}); // as Python: the sign of the divisor
  before %= tensor({4.f, 2.f});
  expectNear(before, {3, 1});
  expectNear(-before, {-3, -1});
}

// Outside of functions as inside.
TEST(SliceOpsTest, WritesOutOfRangeAreLeftOut) {
  const Tensor x = zeros({3, 2}), index = tensor({7, 1, -9});
  auto update = [](const Tensor &x, const Tensor &index) {
    return index_update(x, {index}, 5);
  };
  auto add = [](const Tensor &x, const Tensor &index) {
    return index_add(x, {index, 0}, 5);
  };
  expectNear(update(x, index), {0, 0, 5, 5, 0, 0});
  expectNear(function(update)(x, index), {0, 0, 5, 5, 0, 0});
  expectNear(add(x, index), {0, 0, 5, 0, 0, 0});
  expectNear(function(add)(x, index), {0, 0, 5, 0, 0, 0});
}

} // namespace
} // namespace meshloom
