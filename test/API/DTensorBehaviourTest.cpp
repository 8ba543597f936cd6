// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The behaviour that TensorFlow DTensor's own tests check, on the mesh x=2, y=4
// unless noted. Where DTensor refuses a program, ours computes, and the value
// is checked.
#include "Testing.h"

#include <cmath>

namespace meshloom {
namespace {

class DTensorBehaviourTest : public testing::Test {
protected:
  Mesh mesh = mesh2x4();
  Layout on(std::string_view letters) const { return specs(letters, mesh); }
  Tensor put(const Tensor &x, std::string_view letters) const {
    return distribute(x, on(letters));
  }
};

TEST_F(DTensorBehaviourTest, DuplicateDevices) {
  EXPECT_ERROR(create_mesh({{"x", 2}}, {{"CPU", 0}, {"CPU", 0}}),
               HAS("[create_mesh]"), HAS("CPU:0 twice"));
  EXPECT_ERROR(create_mesh({{"x", 2}}, {{"CPU", 0}, {"GPU", 0}}), HAS("GPU:0"));
}

TEST_F(DTensorBehaviourTest, RepeatedOrUnknownAxis) {
  EXPECT_ERROR(Layout({"x", "x"}, mesh), HAS("x"));
  EXPECT_ERROR(Layout({"z"}, mesh), HAS("z"));
}

TEST_F(DTensorBehaviourTest, CreateMesh) {
  Mesh m = create_mesh({{"x", 2}, {"y", -1}}, virtual_cpus(8), "m");
  EXPECT_EQ(m.axis_size("y"), 4);
  EXPECT_EQ(m.name(), "m");
  EXPECT_EQ(create_mesh({}, virtual_cpus(4)).axis_size("x"), 4);
  EXPECT_EQ(list_devices("CPU").front().to_string(), "CPU:0");
  EXPECT_ERROR(create_mesh({{"x", 3}}, virtual_cpus(8)), HAS("[create_mesh]"),
               HAS("3 devices"), HAS("x=3"), HAS("got 8"));
  EXPECT_ERROR(create_mesh({{"x", 3}, {"y", -1}}, virtual_cpus(8)),
               HAS("divide"));
  EXPECT_ERROR(create_mesh({{"x", -1}, {"y", -1}}, virtual_cpus(8)),
               HAS("at most one"));
  EXPECT_ERROR(create_mesh({{"x", 2}, {"x", 4}}, virtual_cpus(8)), HAS("x"));
  EXPECT_ERROR(create_mesh({{"x", 0}}, virtual_cpus(8)), HAS("x"));
  EXPECT_ERROR(virtual_cpus(0), HAS("[virtual_cpus]"));
}

TEST_F(DTensorBehaviourTest, PackAndUnpackInvert) {
  Mesh two = create_mesh({{"x", 2}}, virtual_cpus(2));
  Tensor t = pack({tensor({1, 2}), tensor({3, 4})}, Layout({"x"}, two));
  EXPECT_EQ(t.shape(), (Shape{4}));
  EXPECT_EQ(t.to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4}));
  std::vector<Tensor> parts = unpack(t);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].to_vector<int32_t>(), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(parts[1].to_vector<int32_t>(), (std::vector<int32_t>{3, 4}));
}

TEST_F(DTensorBehaviourTest, PackUnevenAndEmpty) {
  // 9 over 8 devices: blocks of 2, the last ones short or empty.
  Layout layout({"batch"}, mesh8());
  std::vector<Tensor> parts;
  for (int64_t extent : {2, 2, 2, 2, 1, 0, 0, 0})
    parts.push_back(full({extent}, double(parts.size())));
  Tensor t = pack(parts, layout);
  EXPECT_EQ(t.to_vector<float>(),
            (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3, 4}));
  std::vector<Tensor> back = unpack(t);
  for (size_t i = 0; i < parts.size(); ++i)
    expectSame(back[i], parts[i], 0);
  parts[4] = ones({2}); // sums to 10: then device 5 would hold nothing
  parts[6] = ones({1});
  EXPECT_ERROR(pack(parts, layout), HAS("[pack]"), HAS("device"));
}

TEST_F(DTensorBehaviourTest, ScalarNeedsRankZero) {
  std::vector<Tensor> parts(8, tensor(5.f));
  EXPECT_EQ(pack(parts, Layout({}, mesh)).item<float>(), 5);
  EXPECT_ERROR(pack(parts, on("u")), HAS("[pack]"), HAS("rank 1"),
               HAS("f32 []"));
}

TEST_F(DTensorBehaviourTest, PackRank3) {
  Mesh two = create_mesh({{"x", 2}}, virtual_cpus(2));
  Tensor t = pack({zeros({2, 2, 3}), ones({2, 2, 3})},
                  Layout({"x", UNSHARDED, UNSHARDED}, two));
  EXPECT_EQ(t.shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(reduce_sum(t).item<float>(), 12);
}

TEST_F(DTensorBehaviourTest, ReplicasThatDifferAreAnError) {
  // TensorFlow picks one silently.
  std::vector<Tensor> parts(8, ones({3}));
  parts[6] = zeros({3});
  EXPECT_ERROR(pack(parts, on("u")), HAS("[pack]"), HAS("6"));
}

TEST_F(DTensorBehaviourTest, PackNamesDeviceExpectedAndGot) {
  std::vector<Tensor> parts(8, ones({2, 3}));
  parts[5] = ones({2, 4});
  EXPECT_ERROR(pack(parts, on("xu")), HAS("[pack]"), HAS("5"), HAS("[2, 3]"),
               HAS("[2, 4]"));
  EXPECT_ERROR(pack({ones({2})}, on("x")), HAS("8 components"), HAS("got 1"));
  parts[5] = ones({2, 3}, DType::F64);
  EXPECT_ERROR(pack(parts, on("xu")), HAS("f64"), HAS("device 5"));
}

TEST_F(DTensorBehaviourTest, ReadingAShardedTensor) {
  // DTensor: only replicated ones. Ours gathers.
  Tensor x = sample({4, 8});
  for (std::string_view letters : {"uu", "xu", "xy", "yx"})
    EXPECT_EQ(put(x, letters).to_vector<float>(), x.to_vector<float>());
}

TEST_F(DTensorBehaviourTest, LargeHostOperand) {
  // DTensor: not implemented beyond small ones. Ours takes it as replicated.
  Tensor x = sample({64, 64}), host = sample({64, 64}, 2);
  expectSame(put(x, "xy") + host, x + host);
  Tensor ids = range(4096);
  expectSame(distribute(ids, on("x")) + ids, ids + ids);
}

TEST_F(DTensorBehaviourTest, AnErrorLeavesTheDevicesUsable) {
  Tensor x = put(sample({8, 8}), "xy");
  EXPECT_ERROR(matmul(x, put(zeros({4, 4}), "uu")), HAS("[matmul]"));
  // Integer division by zero gives all bits, no fault.
  Tensor q = put(range(8), "x") / put(zeros({8}, DType::I32), "x");
  EXPECT_EQ(q.to_vector<int32_t>(), std::vector<int32_t>(8, -1));
  expectSame(x + 1, sample({8, 8}) + 1);
}

struct MatmulCase {
  int item;
  std::string_view a, b, c;
};
class DTensorProductsTest : public DTensorBehaviourTest,
                            public testing::WithParamInterface<MatmulCase> {};
INSTANTIATE_TEST_SUITE_P(Layouts, DTensorProductsTest,
                         testing::Values(MatmulCase{27, "uu", "uu", "uu"},
                                         MatmulCase{28, "ux", "xu", "uu"},
                                         MatmulCase{29, "xu", "uy", "xy"},
                                         MatmulCase{30, "xu", "ux", "uu"},
                                         MatmulCase{31, "uy", "uu", "uu"},
                                         MatmulCase{32, "yx", "xy", "uy"},
                                         MatmulCase{33, "ux", "xu", "uy"},
                                         MatmulCase{34, "xy", "uy", "xy"},
                                         MatmulCase{35, "uy", "xu", "uu"}),
                         [](auto &info) {
                           return "Item" + std::to_string(info.param.item);
                         });
TEST_P(DTensorProductsTest, Value) {
  auto [item, la, lb, lc] = GetParam();
  // 36: with each operand transposed.
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      Tensor a = sample({8, 12}), b = sample({12, 16}, 2);
      auto laid = [&](Tensor x, std::string_view letters, bool flip) {
        return flip ? put(transpose(x),
                          std::string(letters.rbegin(), letters.rend()))
                    : put(x, letters);
      };
      Layout wanted = on(lc);
      Tensor c = call_with_layout(
          [&] {
            return matmul(laid(a, la, ta), laid(b, lb, tb),
                          {.transpose_a = ta, .transpose_b = tb});
          },
          std::nullopt);
      expectSame(c, matmul(a, b));
      auto pinned = function([&](const Tensor &a, const Tensor &b) {
        return relayout(matmul(a, b, {.transpose_a = ta, .transpose_b = tb}),
                        wanted);
      });
      Tensor d = pinned(laid(a, la, ta), laid(b, lb, tb));
      check_layout(d, wanted);
      expectSame(d, matmul(a, b));
    }
}

TEST_F(DTensorBehaviourTest, UnaryKeepsItsLayout) {
  Tensor x = sample({4, 8, 3});
  Tensor y = exp(put(x, "xyu"));
  check_layout(y, on("xyu"));
  expectSame(y, exp(x));
}

TEST_F(DTensorBehaviourTest, BinaryAndScalarKeep) {
  Tensor x = sample({4, 8}), y = sample({4, 8}, 2);
  Tensor z = put(x, "xy") * put(y, "xy");
  check_layout(z, on("xy"));
  expectSame(z, x * y);
  check_layout(put(x, "xy") + 1, on("xy"));
  expectSame(1 - put(x, "xy"), 1 - x);
}

TEST_F(DTensorBehaviourTest, OperandsThatDisagree) {
  Tensor x = sample({8, 8}), y = sample({8, 8}, 2);
  auto add = function([&](const Tensor &a, const Tensor &b) {
    return relayout(a + b, on("yu"));
  });
  Tensor z = add(put(x, "yu"), put(y, "xu"));
  check_layout(z, on("yu"));
  expectSame(z, x + y);
  expectSame(put(x, "yu") + put(y, "xu"), x + y);
}

TEST_F(DTensorBehaviourTest, RequestedOutputLayout) {
  Tensor x = sample({8, 8}), y = sample({8, 8}, 2);
  auto op = function([&](const Tensor &a, const Tensor &b) {
    return relayout(a - b, on("ux"));
  });
  Tensor z = op(put(x, "xu"), put(y, "ux"));
  check_layout(z, on("ux"));
  expectSame(z, x - y);
}

TEST_F(DTensorBehaviourTest, BroadcastKeepsBothAxes) {
  Tensor x = sample({3, 4, 8}), y = sample({1, 8}, 2);
  Tensor z = put(x, "uxu") + put(y, "uy");
  check_layout(z, on("uxy"));
  expectSame(z, x + y);
}

TEST_F(DTensorBehaviourTest, BiasAdd) {
  Tensor x = sample({4, 8}), b = sample({8}, 2);
  Tensor z = nn::bias_add(put(x, "xu"), put(b, "y"));
  check_layout(z, on("xy"));
  expectSame(z, x + b);
  EXPECT_ERROR(nn::bias_add(x, sample({4})), HAS("[bias_add]"), HAS("f32 [4]"));
}

TEST_F(DTensorBehaviourTest, Reductions) {
  Tensor x = sample({8, 6});
  Tensor px = put(x, "xu");
  check_layout(reduce_sum(px, 0), on("u"));
  expectSame(reduce_sum(px, 0), reduce_sum(x, 0));
  check_layout(reduce_sum(px, 1), on("x"));
  expectSame(reduce_sum(px, 1), reduce_sum(x, 1));
  expectSame(reduce_sum(px), reduce_sum(x));
  expectSame(reduce_mean(px, 0), reduce_mean(x, 0));
  expectSame(reduce_max(px, 0), reduce_max(x, 0));
  expectSame(reduce_min(px), reduce_min(x));
  expectSame(reduce_prod(px), reduce_prod(x));
}

TEST_F(DTensorBehaviourTest, LogSumExp) {
  Tensor x = 50 * sample({8, 6});
  Tensor y = reduce_logsumexp(put(x, "xu"), -1);
  check_layout(y, on("x"));
  expectSame(y, reduce_logsumexp(x, -1));
  expectSame(reduce_logsumexp(put(x, "ux"), -1), reduce_logsumexp(x, -1));
}

TEST_F(DTensorBehaviourTest, AnyAndAll) {
  Tensor x = sample({8, 6}) > 0.9;
  expectSame(reduce_any(put(x, "xu"), 0), reduce_any(x, 0), 0);
  expectSame(reduce_all(put(x, "xu"), 1), reduce_all(x, 1), 0);
  expectSame(reduce_any(put(x, "xy")), reduce_any(x), 0);
}

TEST_F(DTensorBehaviourTest, L2Loss) {
  Tensor x = sample({8, 6});
  expectSame(nn::l2_loss(put(x, "xu")), reduce_sum(x * x) * 0.5);
}

TEST_F(DTensorBehaviourTest, BiasGradientIsReplicated) {
  Tensor x = sample({8, 4}), b = sample({4}, 2);
  Tensor pb = put(b, "u");
  GradientTape tape;
  Tensor y = reduce_sum(square(put(x, "xu") + pb));
  Tensor db = tape.gradient(y, pb);
  check_layout(db, on("u"));
  expectSame(db, reduce_sum(2 * (x + b), 0));
}

TEST_F(DTensorBehaviourTest, SubgroupReduce) {
  Mesh four = create_mesh({{"x", 4}, {"y", 2}}, virtual_cpus(8));
  Tensor x = sample({8, 6});
  Tensor y = reduce_sum(distribute(x, specs("xy", four)), 0);
  check_layout(y, specs("y", four));
  expectSame(y, reduce_sum(x, 0));
}

TEST_F(DTensorBehaviourTest, UnevenAndEmptyShardsAreRight) {
  // Whatever pads a shard must not reach a result.
  Tensor x = sample({5, 7}) - 3, w = sample({7, 3}, 2);
  for (std::string_view letters : {"xu", "yu", "uy", "xy", "yx"}) {
    Tensor px = put(x, letters);
    expectSame(reduce_max(px), reduce_max(x));
    expectSame(reduce_max(px, 0), reduce_max(x, 0));
    expectSame(reduce_prod(px, 1), reduce_prod(x, 1));
    expectSame(reduce_mean(px, 0), reduce_mean(x, 0));
    expectSame(reduce_sum(exp(px), 0), reduce_sum(exp(x), 0));
    expectSame(nn::softmax(px), nn::softmax(x));
    expectSame(matmul(px, w), matmul(x, w));
    expectSame(argmax(px, 1), argmax(x, 1));
  }
}

} // namespace
} // namespace meshloom
