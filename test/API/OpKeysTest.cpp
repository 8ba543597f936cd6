// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each op outside of functions is found by all that its program depends on: the
// same op with another option is another program, and with the same options it
// is the program that was compiled before.
#include "meshloom/Engine/OpOptions.h"

#include "meshloom/Meshloom.h"

#include <gtest/gtest.h>

#include <functional>

namespace meshloom {
namespace {
using namespace detail;

using Run = std::function<void()>;

/// Options of an op that the test has.
struct Places {
  std::vector<bool> reversal;
  int64_t count;
};
template <typename F> void visitFields(const Places &places, F visit) {
  const auto &[reversal, count] = places;
  visit(reversal);
  visit(count);
}

/// How many programs the cache compiles while `run` runs.
int64_t compiledBy(const Run &run) {
  const int64_t before = opCache().compiled();
  run();
  return opCache().compiled() - before;
}

struct Pair {
  std::string name;
  Run first, second;
};

Tensor counted(const Shape &shape, DType type = DType::F32) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return cast(reshape(iota({count}, 0, DType::F32), shape), type);
}

std::vector<Pair> pairs() {
  const Tensor x = counted({4, 4}), y = counted({4, 4, 4});
  const Tensor matrix =
      x + 5.0 * cast(equal(iota({4, 4}, 0), iota({4, 4}, 1)), DType::F32);
  const Tensor indices = tensor({{0, 1}, {2, 3}}),
               integers = counted({4, 4}, DType::I32);
  const Tensor image = counted({1, 6, 6, 2}), kernel = counted({3, 3, 2, 2});
  std::vector<Pair> pairs;
  // The results of ops are not looked at: what compiles is.
  auto add = [&](const std::string &name, auto first, auto second) {
    pairs.push_back(
        {name, [first] { (void)first(); }, [second] { (void)second(); }});
  };
#define PAIR(name, first, second)                                              \
  add(name, [=] { return first; }, [=] { return second; })
  PAIR("cast", cast(x, DType::F64), cast(x, DType::UI16));
  PAIR("bitcast", bitcast(x, DType::I32), bitcast(x, DType::UI32));
  PAIR("compare", less(x, x), greater(x, x));
  PAIR("mod", mod(x, x), mod(integers, integers));
  PAIR("reduce_precision", reduce_precision(x, 5, 10),
       reduce_precision(x, 8, 7));
  PAIR("special", asin(x), acos(x));
  PAIR("reduce_sum", reduce_sum(x, 0), reduce_sum(x, 1));
  PAIR("keepdims", reduce_max(x, 0), reduce_max(x, 0, true));
  PAIR("reduce kind", reduce_prod(x), reduce_min(x));
  PAIR("reduce_mean", reduce_mean(x, 0), reduce_mean(x, 1));
  PAIR("argmax", argmax(x, 0), argmax(x, 1));
  PAIR("argmax type", argmin(x, 0, DType::I64), argmin(x, 0, DType::I32));
  PAIR("matmul", matmul(x, x, {.transpose_a = true}),
       matmul(x, x, {.transpose_b = true}));
  PAIR("dot_general", dot_general(y, y, {{0}, {0}, {1}, {1}}),
       dot_general(y, y, {{0}, {0}, {1, 2}, {1, 2}}));
  PAIR("dot_general lists", dot_general(y, y, {{}, {}, {0, 1}, {0, 1}}),
       dot_general(y, y, {{0}, {0}, {1}, {2}}));
  PAIR("reshape", reshape(x, {2, 8}), reshape(x, {8, 2}));
  PAIR("transpose", transpose(y, {1, 0, 2}), transpose(y, {2, 1, 0}));
  PAIR("broadcast_to", broadcast_to(x, {2, 4, 4}), broadcast_to(x, {3, 4, 4}));
  PAIR("concat", concat({x, x}, 0), concat({x, x}, 1));
  PAIR("split", split(x, {1, 3}, 0), split(x, {1, 3}, 1));
  PAIR("split sizes", split(x, {2, 2}, 0), split(x, {3, 1}, 0));
  PAIR("strided_slice", strided_slice(x, {0, 0}, {4, 4}, {1, 2}),
       strided_slice(x, {0, 0}, {4, 4}, {2, 1}));
  PAIR("slice", slice(x, {0, 0}, {2, 2}), slice(x, {1, 0}, {2, 2}));
  PAIR("reverse", reverse(x, 0), reverse(x, 1));
  PAIR("one_hot", one_hot(indices, 4), one_hot(indices, 5));
  PAIR("one_hot type", one_hot(indices, 6, DType::F32),
       one_hot(indices, 6, DType::I32));
  PAIR("iota", iota({3, 3}, 0), iota({3, 3}, 1));
  PAIR("gather", gather(x, indices, 0), gather(x, indices, 1));
  PAIR("scatter kind", tensor_scatter_nd_add(x, indices, tensor({1.f, 2.f})),
       tensor_scatter_nd_max(x, indices, tensor({1.f, 2.f})));
  PAIR("scatter update",
       tensor_scatter_nd_update(x, indices, tensor({1.f, 2.f})),
       tensor_scatter_nd_min(x, indices, tensor({1.f, 2.f})));
  PAIR("pad", pad(x, {{1, 0}, {0, 0}}), pad(x, {{0, 1}, {0, 0}}));
  PAIR("pad interior", pad(x, {{0, 0, 1}, {0, 0}}),
       pad(x, {{0, 0}, {0, 0, 1}}));
  PAIR("pad mode", pad(x, {{1, 1}, {0, 0}}, PadMode::Edge),
       pad(x, {{1, 1}, {0, 0}}, PadMode::Reflect));
  PAIR("roll", roll(x, 1, 0), roll(x, 1, 1));
  PAIR("roll shift", roll(x, 2, 0), roll(x, 3, 0));
  PAIR("take_along_axis",
       take_along_axis(x, broadcast_to(tensor({0, 1, 2, 3}), {4, 4}), 0),
       take_along_axis(x, broadcast_to(tensor({0, 1, 2, 3}), {4, 4}), 1));
  PAIR("dynamic_slice", dynamic_slice(x, {0, 0}, {1, 2}),
       dynamic_slice(x, {0, 0}, {2, 1}));
  PAIR("sort", sort(x, 0), sort(x, 1));
  PAIR("sort order", sort(y, 0, false), sort(y, 0, true));
  PAIR("argsort", argsort(x, 0), argsort(x, 1));
  PAIR("top_k", top_k(x, 1), top_k(x, 2));
  PAIR("conv strides", conv2d(image, kernel, {.strides = {1, 2}}),
       conv2d(image, kernel, {.strides = {2, 1}}));
  PAIR("conv dilations", conv2d(image, kernel, {.dilations = {1, 2}}),
       conv2d(image, kernel, {.dilations = {2, 1}}));
  PAIR("max_pool", max_pool(image, {2, 1}), max_pool(image, {1, 2}));
  PAIR("avg_pool", avg_pool(image, {2, 1}), avg_pool(image, {1, 2}));
  PAIR("reduce_window init",
       reduce_window(x, 0, ReduceKind::Sum, {.window = {2, 1}}),
       reduce_window(x, 1, ReduceKind::Sum, {.window = {2, 1}}));
  PAIR("reduce_window kind",
       reduce_window(x, 0, ReduceKind::Max, {.window = {2, 1}}),
       reduce_window(x, 0, ReduceKind::Min, {.window = {2, 1}}));
  PAIR("cumsum", cumsum(x, 0), cumsum(x, 1));
  PAIR("cumsum flags", cumsum(x, 0, {.exclusive = true}),
       cumsum(x, 0, {.reverse = true}));
  PAIR("cumulative kind", cumprod(x, 0), cummax(x, 0));
  PAIR("triangular_solve", triangular_solve(matrix, x, {.lower = true}),
       triangular_solve(matrix, x, {.lower = false}));
  PAIR("triangular_solve flags",
       triangular_solve(matrix, x, {.transpose = true}),
       triangular_solve(matrix, x, {.unit_diagonal = true}));
  PAIR("fft", fft(cast(x, DType::C64)), ifft(cast(x, DType::C64)));
  PAIR("irfft", irfft(cast(x, DType::C64), 6), irfft(cast(x, DType::C64), 7));
  PAIR("qr", linalg::qr(reshape(x, {8, 2}), false),
       linalg::qr(reshape(x, {8, 2}), true));
  PAIR("svd", linalg::svd(reshape(x, {8, 2}), false),
       linalg::svd(reshape(x, {8, 2}), true));
  PAIR("eigh", linalg::eigh(matrix, true), linalg::eigh(matrix, false));
  PAIR("pinv", linalg::pinv(matrix, 1e-3), linalg::pinv(matrix, 1e-2));
  // Printed with six digits, these two are one number.
  PAIR("matrix_rank", linalg::matrix_rank(matrix, 1e-3),
       linalg::matrix_rank(matrix, 1e-3 + 1e-12));
  PAIR("lstsq", linalg::lstsq(matrix, x, 1e-3), linalg::lstsq(matrix, x, 1e-2));
  PAIR("matrix_power", linalg::matrix_power(matrix, 2),
       linalg::matrix_power(matrix, 3));
  PAIR("vector_norm", linalg::vector_norm(x, 1, 0),
       linalg::vector_norm(x, 3, 0));
  PAIR("vector_norm axis", linalg::vector_norm(x, 2, 0),
       linalg::vector_norm(x, 2, 1));
  PAIR("matrix_norm", linalg::matrix_norm(matrix, linalg::MatrixNorm::Nuclear),
       linalg::matrix_norm(matrix, linalg::MatrixNorm::Spectral));
  PAIR("random shape", random::stateless_uniform({6}, SeedLike(1, 0)),
       random::stateless_uniform({7}, SeedLike(1, 0)));
  PAIR("random type",
       random::stateless_normal({6}, SeedLike(1, 0), 0, 1, DType::F32),
       random::stateless_normal({6}, SeedLike(1, 0), 0, 1, DType::F64));
#undef PAIR
  return pairs;
}

TEST(OpKeysTest, OtherOptionsAreOtherPrograms) {
  for (const Pair &pair : pairs()) {
    SCOPED_TRACE(pair.name);
    (void)compiledBy(pair.first);
    EXPECT_GE(compiledBy(pair.second), 1) << "took the first one's program";
    EXPECT_EQ(compiledBy(pair.first), 0);
    EXPECT_EQ(compiledBy(pair.second), 0);
  }
}

TEST(OpKeysTest, ListsDoNotRunIntoOneAnother) {
  auto keyOf = [](const auto &...options) {
    CacheKey key;
    (addOption(key, options), ...);
    return key;
  };
  using List = std::vector<int64_t>;
  EXPECT_NE(keyOf(List{1, 2}, List{3}), keyOf(List{1}, List{2, 3}));
  EXPECT_NE(keyOf(std::string("ab"), std::string("c")),
            keyOf(std::string("a"), std::string("bc")));
  EXPECT_NE(keyOf(std::optional<int64_t>()), keyOf(std::optional<int64_t>(0)));
  EXPECT_NE(keyOf(Places{{true, false}, 1}), keyOf(Places{{false, true}, 1}));
  EXPECT_NE(keyOf(Places{{true}, 1}), keyOf(Places{{true}, 2}));
}

} // namespace
} // namespace meshloom
