// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions by segments, selections, unique elements, counts and searches.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(SegmentsTest, SumsAndMeans) {
  Tensor data = tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}, {9.f, 9.f}});
  Tensor ids = tensor({2, 0, 2, 7});
  expectNear(segment_sum(data, ids, 3), {3, 4, 0, 0, 6, 8});
  expectNear(segment_mean(data(range(0, 3)), tensor({1, 0, 1}), 2),
             {3, 4, 3, 4});
  expectNear(unsorted_segment_mean(data, ids, 2), {3, 4, 0, 0});
  expectNear(unsorted_segment_sqrt_n(data(range(0, 3)), tensor({1, 1, 0}), 2),
             {5, 6, 4 / std::sqrt(2.), 6 / std::sqrt(2.)});
  EXPECT_EQ(
      segment_sum(tensor({true, true}), tensor({1, 1}), 2).to_vector<int64_t>(),
      (std::vector<int64_t>{0, 2}));
  EXPECT_ERROR(segment_sum(data, tensor({1}), 3), HAS("[segment_sum]"),
               HAS("f32 [4, 2]"));
}

// Empty segments have the identity, as in JAX; unsorted_ ones what TensorFlow
// gives.
TEST(SegmentsTest, ExtremesAndProducts) {
  Tensor data = tensor({3.f, -1.f, 2.f, 5.f}), ids = tensor({0, 0, 2, -1});
  EXPECT_EQ(segment_max(data, ids, 3).to_vector<float>(),
            (std::vector<float>{3, -INFINITY, 2}));
  EXPECT_EQ(segment_min(data, ids, 3).to_vector<float>(),
            (std::vector<float>{-1, INFINITY, 2}));
  EXPECT_EQ(segment_prod(data, ids, 3).to_vector<float>(),
            (std::vector<float>{-3, 1, 2}));
  EXPECT_EQ(unsorted_segment_max(data, ids, 2).to_vector<float>()[1],
            std::numeric_limits<float>::lowest());
  EXPECT_EQ(
      segment_max(tensor({uint8_t(4)}), tensor({1}), 2).to_vector<uint8_t>(),
      (std::vector<uint8_t>{0, 4}));
  EXPECT_EQ(
      segment_min(tensor({int64_t(4)}), tensor({1}), 2).to_vector<int64_t>(),
      (std::vector<int64_t>{std::numeric_limits<int64_t>::max(), 4}));
  // Without a number as many as the largest id says.
  EXPECT_EQ(segment_sum(data, tensor({0, 3, 3, 1})).shape(), (Shape{4}));
  EXPECT_ERROR(function([](const Tensor &x) {
                 return segment_sum(x, tensor({0, 0, 1, 1}));
               })(data),
               HAS("[segment_sum]"), HAS("num_segments"));
}

TEST(SegmentsTest, SoftmaxOverSegments) {
  Tensor x = tensor({1.f, 1000.f, 1000.f, 2.f, 7.f});
  expectNear(segment_softmax(x, tensor({0, 1, 1, 0, 5}), 2),
             {1 / (1 + std::exp(1.)), 0.5, 0.5, 1 / (1 + std::exp(-1.)), 0});
}

// Values and gradients under every layout.
TEST(SegmentsTest, AreTheSameUnderEveryLayout) {
  for (auto f : {segment_sum, segment_mean, segment_prod, segment_max,
                 segment_min, segment_softmax})
    expectSharded(
        [f](const Tensor &x) {
          return f(x, tensor({1, 3, 3, 2, 1, 1, 0, 2}), 4, Where::current());
        },
        sample({8, 4}), {"xy", "yu", "ux"});
}

TEST(SegmentsTest, Nonzero) {
  Tensor x = tensor({{0.f, 2.f}, {std::nanf(""), 0.f}, {5.f, 0.f}});
  EXPECT_EQ(nonzero(x).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 1, 0, 2, 0}));
  EXPECT_EQ(nonzero(x, 5).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 1, 0, 2, 0, -1, -1, -1, -1}));
  EXPECT_EQ(nonzero(x, 2, 9).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(nonzero(tensor({false, false})).shape(), (Shape{0, 1}));
  Tensor sharded = distribute(sample({8, 8}) > 0.5f, specs("xy", mesh2x4()));
  auto places = function([](const Tensor &x) { return nonzero(x, 40); });
  expectSame(places(sharded), nonzero(sample({8, 8}) > 0.5f, 40), 0);
  EXPECT_ERROR(function([](const Tensor &x) { return nonzero(x); })(x),
               HAS("[nonzero]"), HAS("a size in a function"));
  EXPECT_ERROR(nonzero(x, -1), HAS("at least 0"));
}

TEST(SegmentsTest, BooleanMask) {
  Tensor x = reshape(arange(8), {4, 2});
  Tensor keep = tensor({false, true, false, true});
  expectNear(boolean_mask(x, keep), {2, 3, 6, 7});
  expectNear(boolean_mask(x, keep, 3, 0, -1), {2, 3, 6, 7, -1, -1});
  expectNear(boolean_mask(x, keep, 1), {2, 3});
  expectNear(boolean_mask(x, tensor({true, false}), {}, 1), {0, 2, 4, 6});
  expectNear(boolean_mask(x, x > 4.f), {5, 6, 7});
  EXPECT_EQ(boolean_mask(x, keep & false).shape(), (Shape{0, 2}));
  expectSharded(
      [](const Tensor &x) {
        return boolean_mask(x, tensor({true, false, true, true, false, true}),
                            5);
      },
      sample({6, 8}), {"xy", "yu", "ux"});
  EXPECT_ERROR(boolean_mask(x, tensor({true})), HAS("[boolean_mask]"),
               HAS("f32 [4, 2]"), HAS("i1 [1]"));
}

TEST(SegmentsTest, UniqueElements) {
  Unique u = unique(tensor({{3, 1, 3}, {2, 1, 3}}));
  EXPECT_EQ(u.values.to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(u.inverse.to_vector<int64_t>(),
            (std::vector<int64_t>{2, 0, 2, 1, 0, 2}));
  EXPECT_EQ(u.inverse.shape(), (Shape{2, 3}));
  EXPECT_EQ(u.counts.to_vector<int64_t>(), (std::vector<int64_t>{2, 1, 3}));
  EXPECT_EQ(u.count.item<int64_t>(), 3);
  Tensor x = cast(floor(sample({64}) * 8.f), DType::I32);
  Unique whole = unique(x, 20, -100);
  auto inFunction = function([](const Tensor &x) {
    Unique u = unique(x, 20, -100);
    return std::tuple(u.values, u.inverse, u.counts, u.count);
  });
  for (std::string_view letters : {"x", "y", "u"}) {
    auto [values, inverse, counts, count] =
        inFunction(distribute(x, specs(letters, mesh2x4())));
    expectSame(values, whole.values, 0);
    expectSame(inverse, whole.inverse, 0);
    expectSame(counts, whole.counts, 0);
    expectSame(count, whole.count, 0);
  }
  EXPECT_EQ(whole.values.to_vector<int32_t>().back(), -100);
  expectSame(gather(whole.values, whole.inverse), x, 0);
  // Too small a size leaves the largest out.
  Unique small = unique(tensor({5.f, 4.f, 5.f}), 1);
  expectNear(small.values, {4});
  EXPECT_EQ(small.inverse.to_vector<int64_t>(),
            (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(unique(tensor({true, false, true})).values.to_vector<bool>(),
            (std::vector<bool>{false, true}));
  EXPECT_EQ(unique(zeros({0})).values.shape(), (Shape{0}));
}

TEST(SegmentsTest, SearchesInOrder) {
  Tensor sorted = tensor({1.f, 2.f, 2.f, 5.f});
  Tensor values = tensor({0.f, 1.f, 2.f, 3.f, 5.f, 6.f, std::nanf("")});
  EXPECT_EQ(searchsorted(sorted, values).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 0, 1, 3, 3, 4, 4}));
  EXPECT_EQ(searchsorted(sorted, values, Side::Right).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 3, 3, 4, 4, 4}));
  EXPECT_EQ(searchsorted(zeros({0}), values).to_vector<int64_t>(),
            std::vector<int64_t>(7, 0));
  // The results are those of std::lower_bound and upper_bound, for every
  // length.
  for (int64_t n = 1; n < 20; ++n) {
    Tensor list = sort(floor(sample({n}) * 6.f)),
           wanted = floor(sample({40}, 2) * 7.f);
    std::vector<float> in = list.to_vector<float>();
    std::vector<int64_t> lower, upper;
    for (float value : wanted.to_vector<float>()) {
      lower.push_back(std::lower_bound(in.begin(), in.end(), value) -
                      in.begin());
      upper.push_back(std::upper_bound(in.begin(), in.end(), value) -
                      in.begin());
    }
    EXPECT_EQ(searchsorted(list, wanted).to_vector<int64_t>(), lower);
    EXPECT_EQ(searchsorted(list, wanted, Side::Right).to_vector<int64_t>(),
              upper);
  }
  Tensor edges = tensor({0.f, 1.f, 2.f});
  EXPECT_EQ(digitize(tensor({-1.f, 0.f, 1.f, 5.f}), edges).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(
      digitize(tensor({-1.f, 0.f, 1.f, 5.f}), edges, true).to_vector<int64_t>(),
      (std::vector<int64_t>{0, 0, 1, 3}));
  Mesh mesh = mesh2x4();
  auto search = function([](const Tensor &sorted, const Tensor &x) {
    return searchsorted(sorted, x);
  });
  Tensor list = sort(sample({24})), many = sample({8, 8}, 3);
  for (auto [a, b] : {std::pair("u", "xy"), {"x", "yu"}, {"y", "ux"}})
    expectSame(search(distribute(list, specs(a, mesh)),
                      distribute(many, specs(b, mesh))),
               searchsorted(list, many), 0);
  EXPECT_ERROR(searchsorted(sorted, tensor({1})), HAS("[searchsorted]"),
               HAS("f32 [4] and i32 [1]"));
}

TEST(SegmentsTest, Bincounts) {
  Tensor x = tensor({{1, 3, 1}, {0, 1, -2}});
  EXPECT_EQ(bincount(x).to_vector<int64_t>(),
            (std::vector<int64_t>{1, 3, 0, 1}));
  EXPECT_EQ(bincount(x, 2).to_vector<int64_t>(), (std::vector<int64_t>{1, 3}));
  expectNear(bincount(tensor({1, 1, 0}), 3, tensor({0.5f, 0.25f, 2.f})),
             {2, 0.75, 0});
  Tensor many = cast(floor(sample({8, 8}) * 4.f + 4.f), DType::I32);
  auto counts = function([](const Tensor &x) { return bincount(x, 8); });
  expectSame(counts(distribute(many, specs("xy", mesh2x4()))),
             bincount(many, 8), 0);
  EXPECT_ERROR(bincount(tensor({0.5f})), HAS("[bincount]"), HAS("integers"));
  EXPECT_ERROR(function([](const Tensor &x) { return bincount(x); })(many),
               HAS("a length in a function"));
}

TEST(SegmentsTest, Histograms) {
  Tensor x = tensor({0.f, 0.1f, 0.5f, 0.9f, 1.f, 2.f, std::nanf("")});
  auto [counts, edges] = histogram(x, 2, std::pair(0., 1.));
  EXPECT_EQ(counts.to_vector<int64_t>(), (std::vector<int64_t>{2, 3}));
  expectNear(edges, {0, 0.5, 1});
  EXPECT_EQ(histogram(x, tensor({0.f, 0.5f, 3.f})).counts.to_vector<int64_t>(),
            (std::vector<int64_t>{2, 4}));
  Histogram whole = histogram(tensor({1, 2, 2, 5}), 4);
  EXPECT_EQ(whole.counts.to_vector<int64_t>(),
            (std::vector<int64_t>{1, 2, 0, 1}));
  EXPECT_EQ(whole.edges.dtype(), DType::F64);
  EXPECT_EQ(histogram(tensor({3.f, 3.f}), 2).counts.to_vector<int64_t>(),
            (std::vector<int64_t>{0, 2}));
  expectNear(histogram(tensor({0.f, 1.f, 1.f}), 2, std::pair(0., 1.),
                       tensor({0.5f, 1.f, 2.f}))
                 .counts,
             {0.5, 3});
  Tensor many = sample({8, 8});
  auto counted =
      function([](const Tensor &x) { return histogram(x, 7).counts; });
  expectSame(counted(distribute(many, specs("xy", mesh2x4()))),
             histogram(many, 7).counts, 0);
  EXPECT_ERROR(histogram(x, 0), HAS("[histogram]"), HAS("one bin"));
  EXPECT_ERROR(histogram(x, tensor({0.f})), HAS("two edges"));
  EXPECT_ERROR(histogram(x, 3, std::pair(1., 0.)), HAS("does not fall"));
}

} // namespace
} // namespace meshloom
