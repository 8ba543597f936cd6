// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The behaviour that TensorFlow DTensor's own tests check, continued: data,
// several meshes, training, sparse matrices as their indices and values, and
// all devices in one process (in two processes: ProcessesTest).
#include "Testing.h"

namespace meshloom {
namespace {

class DTensorMeshesTest : public testing::Test {
protected:
  Mesh mesh = mesh2x4();
  Layout on(std::string_view letters) const { return specs(letters, mesh); }
};

TEST_F(DTensorMeshesTest, OneProcessHasAllDevices) {
  Mesh mesh = create_distributed_mesh({{"x", 2}, {"y", 2}}, virtual_cpus(4));
  EXPECT_EQ(mesh.size(), 4);
  EXPECT_EQ(mesh.num_local_devices(), 4);
  EXPECT_THAT(mesh.local_device_ids(), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_ERROR(shutdown(), HAS("has not joined others: call initialize first"));
}

// A sparse matrix is a tensor of values and one of indices for each dim, whose
// entries are cut over devices; entries of one place add up.
TEST_F(DTensorMeshesTest, SparseMatrices) {
  for (DType type : {DType::I32, DType::I64, DType::F32, DType::F64}) {
    SCOPED_TRACE(name(type));
    Tensor entry = iota({16}, 0, DType::I32);
    Tensor rows = (entry * 5) % 6, columns = (entry * 3) % 8;
    Tensor values = cast(9 * sample({16}), type);
    Tensor b = cast(9 * sample({8, 5}, 2), type);
    Tensor dense = reshape(segment_sum(values, rows * 8 + columns, 48), {6, 8});

    std::vector<Tensor> placed;
    for (const Tensor &part : {rows, columns, values}) {
      placed.push_back(distribute(part, on("x")));
      std::vector<Tensor> components = unpack(placed.back());
      EXPECT_EQ(components[0].shape(), (Shape{8}));
      expectSame(pack(components, on("x")), part, 0);
      check_layout(function([](const Tensor &x) { return x; })(placed.back()),
                   on("x"));
    }
    auto product = function([&](const Tensor &r, const Tensor &c,
                                const Tensor &v, const Tensor &x) {
      return relayout(segment_sum(expand_dims(v, 1) * gather(x, c), r, 6),
                      on("uu"));
    });
    Tensor sum =
        product(placed[0], placed[1], placed[2], distribute(b, on("uu")));
    check_layout(sum, on("uu"));
    expectSame(sum, matmul(dense, b));

    // Components of other numbers of entries, and of another rank.
    std::vector<Tensor> components = unpack(placed[2]);
    components[1] = zeros({7}, type);
    EXPECT_ERROR(pack(components, on("x")), HAS("[7]"));
    components[1] = zeros({4, 2}, type);
    EXPECT_ERROR(pack(components, on("x")), HAS("rank"));
  }
}

// Images whole, in batches, in rows, in columns, and cut twice.
TEST_F(DTensorMeshesTest, SixLayoutsOfImages) {
  Tensor images = sample({8, 6, 5, 3}), filters = sample({3, 3, 3, 4}, 2);
  Tensor expected = conv2d(images, filters, {.padding = "SAME"});
  for (std::string_view letters :
       {"uuuu", "xuuu", "uxuu", "uuyu", "xyuu", "xuyu"}) {
    SCOPED_TRACE(letters);
    Tensor placed = distribute(images, on(letters));
    std::vector<Tensor> parts = unpack(placed);
    ASSERT_EQ(parts.size(), 8u);
    EXPECT_EQ(parts[0].shape(), placed.layout().local_shape({8, 6, 5, 3}));
    expectSame(pack(parts, placed.layout()), images, 0);
    expectSame(conv2d(placed, filters, {.padding = "SAME"}), expected);
  }
}

// From one mesh to another of the same axes, over other devices, and back.
TEST_F(DTensorMeshesTest, CopiesKeepTheirSharding) {
  Mesh other = create_mesh({{"x", 2}, {"y", 4}}, virtual_cpus(8), "other");
  for (std::string_view letters : {"xu", "uy", "xy", "uu"}) {
    SCOPED_TRACE(letters);
    Tensor x = distribute(sample({8, 6}), on(letters));
    Tensor copied = copy_to_mesh(x, specs(letters, other));
    check_layout(copied, specs(letters, other));
    expectSame(copied, x, 0);
    Tensor back = copy_to_mesh(copied, on(letters));
    check_layout(back, on(letters));
    expectSame(back, x, 0);
  }
  EXPECT_ERROR(
      distribute(sample({8, 6}), on("xu")) +
          distribute(sample({6}),
                     Layout({"z"}, create_mesh({{"z", 2}}, virtual_cpus(2)))),
      HAS("[add]"), HAS("z=2"));
}

// The mesh of what has none is that of an argument, of who uses it, the default
// one, or that of a function that is called.
TEST_F(DTensorMeshesTest, WhereAMeshComesFrom) {
  Tensor x = distribute(sample({8, 6}), on("xu"));
  auto fromArgument = function(
      [](const Tensor &v) { return std::pair{v + 1, ones({8, 6}) * 2}; });
  check_layout(fromArgument(x).first, on("xu"));
  expectSame(fromArgument(x).second, 2 * ones({8, 6}), 0);

  auto fromConsumer =
      function([&] { return relayout(ones({8, 6}), on("uy")); });
  check_layout(fromConsumer(), on("uy"));

  {
    auto scope = default_mesh(mesh);
    Tensor result = function([] { return ones({4}) + 1; })();
    EXPECT_TRUE(is_dtensor(result));
    EXPECT_TRUE(result.mesh() == mesh);
    Mesh inner = create_mesh({{"z", 8}}, virtual_cpus(8), "inner");
    auto nested = default_mesh(inner);
    EXPECT_TRUE((function([] { return ones({4}) + 2; })().mesh() == inner));
  }

  auto callee =
      function([&](const Tensor &v) { return relayout(v, on("xu")); });
  auto caller = function([&](const Tensor &v) { return callee(v * 2) + 1; });
  Tensor called = caller(sample({8, 6}));
  check_layout(called, on("xu"));
  expectSame(called, sample({8, 6}) * 2 + 1);
}

// The dense half of the item: a product over a cut batch is whole afterwards.
TEST_F(DTensorMeshesTest, ProductOverTheBatch) {
  for (DType type : {DType::I32, DType::I64, DType::F32, DType::F64}) {
    Tensor same = distribute(cast(9 * sample({8, 4}), type), on("xu"));
    check_layout(function([](const Tensor &x) { return x; })(same), on("xu"));
  }
  Tensor a = sample({6, 8}), b = sample({8, 5}, 2);
  Tensor product = relayout(
      matmul(distribute(a, on("xy")), distribute(b, on("ux"))), on("uu"));
  check_layout(product, on("uu"));
  expectSame(product, matmul(a, b));
}

// A convolution, a product and a bias: five steps of gradient descent, batches
// cut over x, the weights' columns over y, against one device.
TEST_F(DTensorMeshesTest, TrainingIsThatOfOneDevice) {
  Tensor images = sample({8, 6, 6, 2}), labels = sample({8, 4}, 5);
  struct Model {
    DVariable filters, weights, bias;
  };
  auto modelOf = [&](bool sharded) {
    auto placed = [&](const Tensor &host, std::string_view letters) {
      return sharded ? distribute(host, on(letters)) : host;
    };
    return Model{DVariable(placed(sample({3, 3, 2, 3}, 2) * 0.3, "uuuu")),
                 DVariable(placed(sample({48, 4}, 3) * 0.3, "uy")),
                 DVariable(placed(zeros({4}), "y"))};
  };
  auto train = [&](Model &model, const Tensor &x, const Tensor &y) {
    auto step = function([&](const Tensor &in, const Tensor &out) {
      GradientTape tape;
      Tensor features = conv2d(in, model.filters, {.padding = "VALID"});
      Tensor logits =
          matmul(reshape(features, {8, 48}), model.weights) + model.bias;
      Tensor loss = reduce_mean(square(logits - out));
      std::vector<Tensor> results{loss};
      for (const auto &[gradient, variable] :
           tape.gradient(loss, {model.filters, model.weights, model.bias})) {
        variable.assign_sub(0.1 * gradient);
        results.push_back(gradient);
      }
      return results;
    });
    std::vector<std::vector<Tensor>> steps;
    for (int i = 0; i < 5; ++i)
      steps.push_back(step(x, y));
    return steps;
  };
  Model whole = modelOf(false), sharded = modelOf(true);
  auto expected = train(whole, images, labels);
  auto got = train(sharded, distribute(images, on("xuuu")),
                   distribute(labels, on("xu")));
  for (int i = 0; i < 5; ++i)
    for (size_t k = 0; k < 4; ++k)
      expectSame(got[i][k], expected[i][k], k == 0 ? 5e-4 : 1e-5);
  expectSame(sharded.filters.read_value(), whole.filters.read_value());
  expectSame(sharded.weights.read_value(), whole.weights.read_value());
  expectSame(sharded.bias.read_value(), whole.bias.read_value());
  check_layout(sharded.weights.read_value(), on("uy"));
}

} // namespace
} // namespace meshloom
