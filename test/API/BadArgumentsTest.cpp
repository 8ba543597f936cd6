// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every public function with arguments that do not fit: out of range, negative,
// huge, of wrong type or rank. Each is an Error that starts with a tag.
#include "BadArguments.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Data/Digits.h"
#include "meshloom/Data/Idx.h"
#include "meshloom/Data/Mnist.h"

namespace meshloom {
namespace {

constexpr auto noType = DType(99);

TEST(BadArgumentsTest, Meshes) {
  REFUSES(virtual_cpus(0));
  REFUSES(virtual_cpus(least));
  REFUSES(virtual_cpus(most));
  REFUSES(list_devices("nothing"));
  REFUSES(create_mesh({{"x", 0}}));
  REFUSES(create_mesh({{"x", least}}));
  REFUSES(create_mesh({{"x", most}}));
  REFUSES(create_mesh({{"x", most}, {"y", most}, {"z", -1}}));
  REFUSES(create_mesh({{"x", -1}, {"y", -1}}));
  REFUSES(create_mesh({{"", 1}}, virtual_cpus(1)));
  REFUSES(create_mesh({{"a|b", 1}}, virtual_cpus(1)));
  REFUSES(create_mesh({{"x", 1}}, {{"CPU", -1}}));
  REFUSES(create_mesh({{"x", 1}}, {{"CPU", most}}));
  REFUSES(create_mesh({{"x", 1}}, {{"", 0}}));
  REFUSES(create_mesh({{"x", 1}}, {{"nothing", 0}}));
  REFUSES(create_mesh({{"x", 1}}, virtual_cpus(1), "a|b"));
  REFUSES(device(""));
  REFUSES(device("CPU:-1"));
  REFUSES(device("CPU:99999999999999999999"));
  REFUSES(device("nothing:0"));
  REFUSES(connect_platform(""));
  REFUSES(connect_platform("pjrt:/nowhere.so"));
  REFUSES(TPUClusterResolver("grpc://elsewhere"));
  EXPECT_TRUE(list_logical_devices("nothing").empty());

  Mesh mesh = mesh2x4();
  REFUSES(mesh.axis_size("z"));
  REFUSES(mesh.axis_size(2u));
  REFUSES(mesh.axis_size(7u));
  REFUSES(mesh.coords(-1));
  REFUSES(mesh.coords(least));
  EXPECT_EQ(mesh.coords(most), mesh.coords(most % 8));
  REFUSES(mesh.device_at({}));
  REFUSES(mesh.device_at(std::vector<int64_t>{1}));
  REFUSES(mesh.device_at(std::vector<int64_t>{1, 4}));
  REFUSES(mesh.device_at(std::vector<int64_t>{1, -1}));
  REFUSES(mesh.device_at(std::vector<int64_t>{1, 1, 1}));
  REFUSES(mesh.placed_on(DeviceAssignment::standard(7)));
  DeviceAssignment crooked = DeviceAssignment::standard(8);
  crooked.localDevices = {"CPU:0", "CPU:1"};
  REFUSES(mesh.placed_on(crooked));
  crooked = DeviceAssignment::standard(8);
  crooked.localIds = {9};
  REFUSES(mesh.placed_on(crooked));
  crooked.ids[3] = 17;
  REFUSES(mesh.placed_on(crooked));
  EXPECT_EQ(DeviceAssignment::standard(-1).size(), 0);

  MeshOptions options;
  options.globalDeviceIds = {most, least};
  REFUSES(*Mesh::get({{"x", 2}}, options));
  REFUSES(*Mesh::get({}));
  for (const char *text : {"", "|", "||||", "m|x=2|0,1|0,1|",
                           "x=", "m|x=9999999999999999999|*CPU"})
    REFUSES(*Mesh::from_string(text));
  REFUSES(Mesh::get({{"x", 2}}).error());
}

TEST(BadArgumentsTest, Layouts) {
  Mesh mesh = mesh2x4();
  Layout layout({"x", UNSHARDED}, mesh);
  REFUSES(layout.axes(2));
  REFUSES(layout.axes(4));
  REFUSES(layout.num_shards(2));
  REFUSES(layout.remove({2}));
  REFUSES(layout.with_dim(2, {}));
  REFUSES(layout.with_dim(1, {0}));
  REFUSES(layout.with_dim(1, {9}));
  REFUSES(layout.with_partial({{9, ReduceKind::Sum}}));
  REFUSES(layout.with_partial({{1, ReduceKind(9)}}));
  EXPECT_FALSE(layout.uses_axis(9));
  REFUSES(layout.local_shape({1}));
  REFUSES(layout.local_shape({-1, 1}));
  REFUSES(layout.shard({1}, 0));
  REFUSES(layout.shard({-1, 1}, 0));
  REFUSES(layout.shard({8, 8}, -1));
  REFUSES(layout.is_even({1, 2, 3}));
  EXPECT_EQ(layout.local_shape({most, most}), (Shape{most / 2 + 1, most}));
  EXPECT_EQ(layout.shard({most, 0}, 7).offset, (Shape{most / 2 + 1, 0}));
  REFUSES(layout.shard({8, 8}, 0).contains(Box{{0}, {1}}));
  REFUSES(layout.shard({8, 8}, 0).intersect(Box{{0}, {1}}));
  REFUSES(layout.shard({8, 8}, 0).hull(Box{{0}, {1, 1}}));
  REFUSES(layout.placed_on(DeviceAssignment::standard(1)));
  REFUSES(Layout({"z"}, mesh));
  REFUSES(Layout({"x", "x"}, mesh));
  REFUSES(Layout({UNSHARDED}, mesh, {{"z", ReduceKind::Sum}}));
  REFUSES(Layout::batch_sharded(mesh, "x", 0));
  REFUSES(Layout::batch_sharded(mesh, "x", 1, 1));
  REFUSES(Layout::batch_sharded(mesh, "z", 1));
  REFUSES(Layout::inner_sharded(mesh, "x", 0));
  REFUSES(visualize(layout, {1}));
  REFUSES(visualize(layout, {-1, 2}));
  for (const char *text : {"", "mesh:", "sharding_specs:x, mesh:", "partial:"})
    REFUSES(*Layout::from_string(text));
  REFUSES(name(ReduceKind(9)));
  REFUSES(name(noType));
  REFUSES(byteWidth(noType));
  REFUSES(isFloat(noType));
  EXPECT_EQ(elementCount({most, most}), most);
  EXPECT_EQ(elementCount({most, most, 0}), 0);
}

TEST(BadArgumentsTest, MachineModels) {
  MachineModel machine;
  machine.flopsPerSecond = 0;
  REFUSES(set_machine_model(machine));
  REFUSES(machine.work({1, 1, 1, 1}));
  REFUSES(set_machine_model("abacus"));
  REFUSES(set_machine_model("tpu:v5e:0x0"));
  REFUSES(MachineModel().link(mesh8(), 1));
  REFUSES(timeFor(1, 0));
  REFUSES(timeFor(1, least));
  REFUSES(set_machine_model("tpu:"));
}

TEST(BadArgumentsTest, Making) {
  REFUSES(zeros({-1}));
  REFUSES(ones({most, most}));
  REFUSES(full({}, std::nan(""), DType::I32));
  REFUSES(full({2}, 300, DType::I8));
  REFUSES(zeros({2}, noType));
  REFUSES(tensor({1.f}, {least}));
  REFUSES(iota({2}, 1));
  REFUSES(iota({}, 0));
  REFUSES(iota({-2}, 0));
  REFUSES(iota({2}, 0, DType::I1));
  REFUSES(iota({300}, 0, DType::I8));
  REFUSES(iota({257}, 0, DType::UI8));
  EXPECT_EQ(range(256, DType::UI8).to_vector<uint8_t>().back(), 255);
  REFUSES(iota({2}, 0, noType));
  REFUSES(range(-1));
  REFUSES(range(most));
  REFUSES(load_npy(""));
  REFUSES(load_npy("/"));
  REFUSES(save_npy("/nowhere/x.npy", zeros({1})));
  REFUSES(random::stateless_uniform({-1}, {}));
  REFUSES(random::stateless_uniform({2}, {}, 0, 300, DType::I8));
  REFUSES(random::stateless_uniform({2}, {}, -200, 0, DType::I8));
  REFUSES(random::stateless_uniform({2}, {}, 0, 70000, DType::UI16));
  REFUSES(random::stateless_uniform({2}, {}, -1, 1, DType::UI8));
  REFUSES(random::stateless_uniform({2}, {}, 0, std::nan("")));
  REFUSES(random::stateless_uniform({2}, {}, 0, INFINITY));
  REFUSES(random::stateless_uniform({2}, {}, 0, 1e300));
  REFUSES(random::stateless_uniform({2}, {}, 0, 1e6, DType::F16));
  REFUSES(random::stateless_uniform({2}, {}, 1, 0));
  REFUSES(random::stateless_uniform({2}, {}, 0, 1, DType::C64));
  REFUSES(random::stateless_uniform({2}, {}, 0, 1, noType));
  REFUSES(random::stateless_normal({2}, {}, 0, 1, DType::I32));
  REFUSES(random::stateless_bits({least}, {}));
  std::vector<uint8_t> bytes =
      random::stateless_uniform({1000}, {3, 4}, 0, 256, DType::UI8)
          .to_vector<uint8_t>();
  EXPECT_GT(*std::ranges::max_element(bytes), 240);
}

TEST(BadArgumentsTest, Elementwise) {
  Tensor f = zeros({2}), i = zeros({2}, DType::I32), b = f > 0;
  REFUSES(exp(i));
  REFUSES(sqrt(b));
  REFUSES(abs(b));
  REFUSES(f + i);
  REFUSES(f + zeros({3}));
  REFUSES(i + 0.5);
  REFUSES(i + 1e300);
  REFUSES(zeros({1}, DType::UI8) + -1);
  REFUSES(left_shift(f, 1));
  REFUSES(logical_not(f));
  REFUSES(bitcast(zeros({3}, DType::UI8), DType::F32));
  REFUSES(bitcast(f, DType::I1));
  REFUSES(bitcast(f, noType));
  REFUSES(cast(f, noType));
  REFUSES(complex(i, i));
  REFUSES(reduce_precision(f, 0, 1));
  REFUSES(reduce_precision(f, least, -1));
  EXPECT_EQ(reduce_precision(f + 1, most, most).to_vector<float>()[0], 1);
  REFUSES(where(f, f, f));
  REFUSES(where(b, f, i));
  REFUSES(where(b, 1, true));
}

TEST(BadArgumentsTest, MovingElements) {
  Tensor x = zeros({2, 3}), none = zeros({0});
  REFUSES(reshape(x, {-1, -1}));
  REFUSES(reshape(x, {-2, -3}));
  REFUSES(reshape(x, {4, -1}));
  REFUSES(reshape(none, {int64_t(1) << 32, int64_t(1) << 32}));
  REFUSES(reshape(none, {0, most, most}));
  REFUSES(reshape(none, {-1, 0}));
  REFUSES(transpose(x, {0}));
  REFUSES(transpose(x, {0, 0}));
  REFUSES(transpose(x, {0, 2}));
  REFUSES(transpose(x, {0, 1, 0}));
  REFUSES(broadcast_to(x, {3}));
  REFUSES(broadcast_to(zeros({1}), {-1}));
  REFUSES(broadcast_to(zeros({1}), {most, most}));
  REFUSES(expand_dims(x, 3));
  REFUSES(expand_dims(x, least));
  REFUSES(squeeze(x, 0));
  REFUSES(squeeze(x, 5));
  REFUSES(concat({}, 0));
  REFUSES(concat({x, none}, 0));
  REFUSES(concat({x}, 2));
  REFUSES(stack({}));
  REFUSES(stack({x, none}));
  REFUSES(stack({x}, 4));
  REFUSES(split(x, 0));
  REFUSES(split(x, -1));
  REFUSES(split(x, 4));
  REFUSES(split(none, most));
  REFUSES(split(x, std::vector<int64_t>{most, most, 4}));
  REFUSES(split(x, std::vector<int64_t>{-1, -1}));
  REFUSES(split(x, std::vector<int64_t>{-7}));
  REFUSES(split(x, 2, 9));
  REFUSES(slice(x, {0}, {1}));
  REFUSES(slice(x, {1, 1}, {most, most}));
  REFUSES(slice(x, {-1, 0}, {1, 1}));
  REFUSES(slice(x, {most, 0}, {1, 1}));
  REFUSES(slice(x, {0, 0}, {least, 1}));
  REFUSES(strided_slice(x, {0, 0}, {2, 3}, {0, 1}));
  REFUSES(strided_slice(x, {0, 0}, {2, 3}, {least, 1}));
  REFUSES(strided_slice(x, {least, 0}, {2, 3}, {1, 1}));
  REFUSES(strided_slice(x, {0, 0}, {most, 3}, {1, 1}));
  EXPECT_EQ(strided_slice(x, {0, 0}, {2, 3}, {most, most}).shape(),
            (Shape{1, 1}));
  REFUSES(reverse(x, 2));
  REFUSES(one_hot(x, 3));
  REFUSES(one_hot(zeros({1}, DType::I32), -1));
  REFUSES(one_hot(zeros({1}, DType::I32), most));
  REFUSES(one_hot(zeros({1}, DType::I32), 2, noType));
  REFUSES(pad(x, {}));
  REFUSES(pad(x, {{0, 0, -1}, {}}));
  REFUSES(pad(x, {{-3, 0}, {}}));
  REFUSES(pad(x, {{most, most}, {}}));
  REFUSES(pad(x, {{0, 0, most}, {}}));
  REFUSES(pad(x, {{least, 0}, {}}));
  REFUSES(pad(x, {{}, {}}, zeros({2})));
  REFUSES(pad(x, {{2, 0}, {}}, PadMode::Reflect));
  REFUSES(pad(x, {{most, 0}, {}}, PadMode::Symmetric));
  REFUSES(pad(x, {{most, 0}, {}}, PadMode::Edge));
  REFUSES(roll(x, 1, 2));
  EXPECT_EQ(roll(x, least).shape(), x.shape());
}

// A tensor that does not fit into memory is an error of the op, and nothing is
// lost.
TEST(BadArgumentsTest, Memory) {
#if !__has_feature(address_sanitizer) // its allocator ends the process
  EXPECT_ERROR(broadcast_to(tensor(1.f), {big}) + 1, HAS("out of memory"));
  EXPECT_ERROR(iota({big}, 0, DType::I64), HAS("out of memory"));
  auto make = function([](const Tensor &x) { return broadcast_to(x, {big}); });
  EXPECT_ERROR(make(tensor(1.f)), HAS("out of memory"));
#endif
  EXPECT_EQ((tensor(1.f) + 1).item<float>(), 2);
}

TEST(BadArgumentsTest, Indexing) {
  Tensor x = zeros({2, 3}), at = tensor({0, 1});
  REFUSES(gather(x, x));
  REFUSES(gather(x, at, 2));
  REFUSES(gather(x, at, 0, 1));
  REFUSES(gather(x, at, 1, -1));
  REFUSES(gather(zeros({0}), at));
  REFUSES(gather(x, tensor({2})));
  REFUSES(gather(x, tensor({-1})));
  REFUSES(gather(x, tensor({most})));
  REFUSES(gather(x, tensor({std::numeric_limits<uint64_t>::max()})));
  REFUSES(take(x, tensor({2})));
  REFUSES(take(x, tensor({-3})));
  REFUSES(take(x, tensor({least})));
  REFUSES(take_along_axis(x, at, 0));
  REFUSES(take_along_axis(x, tensor({{0, 1, 2}}), 0));
  REFUSES(gather_nd(x, tensor(1)));
  REFUSES(gather_nd(x, tensor({0, 1, 2})));
  REFUSES(gather_nd(x, tensor({1, 3})));
  REFUSES(gather_nd(x, tensor({-1, 0})));
  REFUSES(tensor_scatter_nd_update(x, at, zeros({2})));
  REFUSES(tensor_scatter_nd_add(x, tensor({0}), zeros({3}, DType::I32)));
  REFUSES(tensor_scatter_nd_sub(x, tensor({0}), x > 0));
  REFUSES(tensor_scatter_nd_max(x, x, x));
  REFUSES(tensor_scatter_nd_min(x, tensor(0), x));
  REFUSES(scatter_nd(at, at, {-1}));
  REFUSES(scatter_nd(at, at, {most, most}));
  REFUSES(dynamic_slice(x, {0}, {1, 1}));
  REFUSES(dynamic_slice(x, {0, 0}, {3, 1}));
  REFUSES(dynamic_slice(x, {0, 0}, {-1, 1}));
  REFUSES(dynamic_slice(x, {0, at}, {1, 1}));
  REFUSES(dynamic_update_slice(x, zeros({3, 3}), {0, 0}));
  REFUSES(dynamic_update_slice(x, at, {0, 0}));
  REFUSES(sort(x, 2));
  REFUSES(sort(x > 0));
  REFUSES(argsort(x, 0, false, DType::F32));
  REFUSES(argsort(x, least));
  REFUSES(top_k(x, 4));
  REFUSES(top_k(x, -1));
  REFUSES(top_k(tensor(1.f), 1));
}

TEST(BadArgumentsTest, StructuresAndSelections) {
  Tensor x = zeros({2, 3}), i = zeros({2}, DType::I32), none;
  RaggedTensor ragged;
  SparseTensor sparse;
  CSRMatrix rows;
  REFUSES(rearrange(none, "a -> a"));
  REFUSES(diag(none));
  REFUSES(quantile(none, 0.5));
  REFUSES(isclose(none, 1));
  REFUSES(segment_max(none, i, 2));
  REFUSES(segment_max(x, none, 2));
  REFUSES(segment_sum(x, i, -1));
  REFUSES(nonzero(none));
  REFUSES(boolean_mask(x, none));
  REFUSES(unique(none));
  REFUSES(unique(complex(x, x)));
  REFUSES(searchsorted(x, x));
  REFUSES(bincount(none));
  REFUSES(histogram(none, 3));
  REFUSES(random::stateless_gamma({-1}, {1, 2}, 1));
  REFUSES(random::stateless_gamma({2}, {1, 2}, none));
  REFUSES(random::stateless_bernoulli({2}, {1, 2}, none));
  REFUSES(random::stateless_categorical(none, 1, {1, 2}));
  REFUSES(random::stateless_shuffle(none, {1, 2}));
  REFUSES(random::stateless_permutation(-1, {1, 2}));
  REFUSES(ragged.row_lengths());
  REFUSES(ragged.to_tensor());
  REFUSES(ragged.nrows());
  REFUSES(reduce_sum(ragged, 1));
  REFUSES(ragged::concat({}));
  REFUSES(RaggedTensor::from_row_splits(x, none));
  REFUSES(RaggedTensor::from_tensor(i));
  REFUSES(sparse::to_dense(sparse));
  REFUSES(sparse::to_dense(rows));
  REFUSES(sparse::to_csr(sparse));
  REFUSES(sparse::reorder(sparse));
  REFUSES(sparse::concat({}, 0));
  REFUSES(sparse::to_dense(
      SparseTensor{zeros({1, 2}, DType::I64), zeros({1}), {-1, 4}}));
  REFUSES(sparse::sparse_dense_matmul(sparse, x));
  REFUSES(nn::embedding_lookup_sparse(x, ragged));
  REFUSES(nn::embedding_lookup_sparse(x, sparse));
}

TEST(BadArgumentsTest, ReductionsAndProducts) {
  Tensor x = zeros({2, 3}), i = zeros({2}, DType::I32);
  REFUSES(reduce_sum(x, 2));
  REFUSES(reduce_sum(x, {0, 0}));
  REFUSES(reduce_any(i));
  REFUSES(reduce_mean(i));
  REFUSES(reduce_all(x));
  REFUSES(reduce_max(complex(x, x)));
  REFUSES(reduce_logsumexp(i));
  REFUSES(argmax(x, 2));
  REFUSES(argmax(x, 0, DType::F32));
  REFUSES(argmax(zeros({0})));
  REFUSES(argmin(x, 7));
  REFUSES(matmul(x, x));
  REFUSES(matmul(tensor(1.f), x));
  REFUSES(matmul(x, i));
  REFUSES(dot_general(x, x, {.lhs_contracting = {9}, .rhs_contracting = {0}}));
  REFUSES(dot_general(x, x, {.lhs_contracting = {0}}));
  REFUSES(dot_general(x, x,
                      {.lhs_contracting = {0, 0}, .rhs_contracting = {0, 0}}));
  REFUSES(dot_general(x, x, {.lhs_batch = {least}, .rhs_batch = {0}}));
  REFUSES(cholesky(x));
  REFUSES(cholesky(tensor(1.f)));
  REFUSES(triangular_solve(x, x));
  REFUSES(triangular_solve(zeros({2, 2}), zeros({3, 3})));
  REFUSES(
      triangular_solve(zeros({2, 2}), x, {.adjoint = true, .transpose = true}));
  REFUSES(qr(i));
  REFUSES(fft(i));
  REFUSES(fft(tensor(1.f)));
  REFUSES(fft(zeros({0})));
  REFUSES(rfft(complex(x, x)));
  REFUSES(irfft(x, most));
  REFUSES(irfft(x, least));
  REFUSES(irfft(x, 0));
  REFUSES(fft2(zeros({2})));
}

TEST(BadArgumentsTest, Windows) {
  Tensor x = zeros({2, 8, 8, 3}), filters = zeros({3, 3, 3, 16});
  // PyTorch's order of dims.
  Tensor torch = zeros({16, 3, 3, 3});
  EXPECT_ERROR(conv2d(x, torch), HAS("[conv2d]"), HAS("f32 [2, 8, 8, 3]"),
               HAS("f32 [16, 3, 3, 3]"), HAS("height, width, in / groups, out"),
               HAS("PyTorch"), HAS("takes 16 elements, but there are 8"));
  REFUSES(conv2d(x, filters, {.strides = {0, 1}}));
  REFUSES(conv2d(x, filters, {.strides = {1}}));
  REFUSES(conv2d(x, filters, {.dilations = {most, 1}}));
  REFUSES(conv2d(x, filters, {.dilations = {4, 4}}));
  REFUSES(conv2d(x, filters, {.padding = "NONE"}));
  REFUSES(conv2d(x, filters, {.padding = {{1, 1}}}));
  REFUSES(conv2d(x, filters, {.padding = {{most, most}, {0, 0}}}));
  REFUSES(conv2d(x, filters, {.padding = {{-4, -4}, {0, 0}}}));
  REFUSES(conv2d(x, zeros({3, 3, 2, 16})));
  REFUSES(conv2d(x, zeros({3, 3, 0, 16})));
  REFUSES(conv2d(x, zeros({3, 3, 3, 16}, DType::F64)));
  REFUSES(conv1d(x, filters));
  REFUSES(conv3d(x, filters));
  REFUSES(conv_general_dilated(x, filters, {.lhs_dims = "NHWX"}));
  REFUSES(conv_general_dilated(x, filters, {.lhs_dims = "N"}));
  REFUSES(conv_general_dilated(x, filters, {.feature_group_count = 0}));
  REFUSES(conv_general_dilated(x, filters, {.batch_group_count = most}));
  EXPECT_ERROR(conv_general_dilated(x, torch), HAS("\"HWIO\""));
  EXPECT_EQ(conv_general_dilated(x, torch, {.rhs_dims = "OIHW"}).shape(),
            (Shape{2, 6, 6, 16}));
  REFUSES(conv_general_dilated(tensor(1.f), tensor(1.f)));
  EXPECT_ERROR(max_pool(x, {9, 9}), HAS("[max_pool]"), HAS("takes 9 elements"),
               HAS("[9, 9]"));
  REFUSES(max_pool(x, {0, 1}));
  REFUSES(max_pool(x, {2}));
  REFUSES(max_pool(x, {}));
  REFUSES(avg_pool(x, {most, 1}));
  REFUSES(avg_pool(x, {9, 9}));
  REFUSES(reduce_window(x, 0, ReduceKind(9), {}));
  REFUSES(reduce_window(x, 0, ReduceKind::Sum, {.window = {1}}));
  REFUSES(reduce_window(x, 0, ReduceKind::And, {}));
  REFUSES(reduce_window(x, 0, ReduceKind::Sum, {.window = {3, 1, 1, 1}}));
  REFUSES(cumsum(x, 4));
  REFUSES(cummax(x > 0));
  REFUSES(cummax(complex(x, x)));
  REFUSES(cummin(x, least));
}

TEST(BadArgumentsTest, Layers) {
  Tensor x = zeros({2, 3});
  REFUSES(nn::softmax(x, 2));
  REFUSES(nn::softmax(cast(x, DType::I32)));
  REFUSES(nn::log_softmax(tensor(1.f)));
  REFUSES(nn::bias_add(x, zeros({2})));
  REFUSES(nn::relu(x > 0));
  REFUSES(nn::gelu(cast(x, DType::I32)));
  REFUSES(nn::l2_loss(cast(x, DType::I32)));
  REFUSES(nn::softmax_cross_entropy_with_logits(
      {.labels = zeros({2}), .logits = x}));
}

TEST(BadArgumentsTest, FunctionsAndLoops) {
  Tensor x = zeros({2});
  REFUSES(while_loop([](const Tensor &y) { return y > 0; },
                     [](const Tensor &y) { return y; }, x));
  REFUSES(while_loop([](const Tensor &) { return tensor(true); },
                     [](const Tensor &y) { return reduce_sum(y); }, x));
  REFUSES(cond(x > 0, [&] { return x; }, [&] { return x; }));
  REFUSES(switch_case(x, [&] { return x; }, [&] { return x; }));
  REFUSES(function(std::function<Tensor(const Tensor &)>()));
  auto inside = [&](auto body) { return function(body)(x); };
  REFUSES(inside([](const Tensor &y) {
    return while_loop([](const Tensor &z) { return z; },
                      [](const Tensor &z) { return z; }, y);
  }));
  REFUSES(inside(
      [](const Tensor &y) { return switch_case(y, [&] { return y; }); }));
  REFUSES(inside([](const Tensor &y) { return pack({y}, Layout()); }));
  REFUSES(inside([](const Tensor &y) {
    DVariable late(y);
    return y;
  }));
  // The least counter is as good as any: no turn overflows.
  auto none = function([](const Tensor &y) {
    return fori_loop(
        std::numeric_limits<int32_t>::max(),
        std::numeric_limits<int32_t>::min(),
        [](const Tensor &, const Tensor &z) { return z + 1; }, y);
  });
  EXPECT_EQ(none(x).to_vector<float>()[0], 0);
  GradientTape tape;
  REFUSES(tape.gradient(cast(x, DType::I32), x));
  REFUSES(tape.gradient(exp(x), std::vector<Tensor>{zeros({1}, DType::I32)}));
}

TEST(BadArgumentsTest, Variables) {
  DVariable v(zeros({2}));
  REFUSES(v.assign(zeros({3})));
  REFUSES(v.assign(zeros({2}, DType::I32)));
  REFUSES(v.assign_add(true));
  REFUSES(v.assign_sub(zeros({2, 2})));
  REFUSES(v.item<float>());
  REFUSES(v.to_vector<int32_t>());
  REFUSES(DVariable(zeros({2}), Layout({"batch", UNSHARDED}, mesh8())));
  EXPECT_ERROR(register_custom_call("", {}).value_or_throw(), HAS("a name"));
  EXPECT_ERROR(
      register_custom_call("x", {"a -> -> b", nullptr}).value_or_throw(),
      HAS("'x'"));
  EXPECT_EQ(find_custom_call(""), nullptr);
}

TEST(BadArgumentsTest, Data) {
  REFUSES(data::read_idx(""));
  REFUSES(data::read_idx("/"));
  REFUSES(data::parse_idx("", "nothing"));
  REFUSES(data::write_idx("/nowhere/x", {}));
  REFUSES(data::write_idx("x", {DType::C64, {1}, std::vector<char>(8)}));
  REFUSES(data::write_idx("x", {DType::UI8, {most, most}, {}}));
  REFUSES(data::write_idx("x", {DType::UI8, {-1}, {}}));
  REFUSES(data::make_digits(-1, 0));
  REFUSES(data::write_digits("/proc/nowhere", 1, 1, 0));
  REFUSES(data::load_mnist("/nowhere", data::MnistPart::Train));
}

// A function that is composed of others is named itself, with its own
// arguments.
TEST(BadArgumentsTest, ComposedFunctionsHaveTheirOwnNames) {
  using ::testing::StartsWith;
  const Tensor x = ones({2, 3}), v = ones({3}), i = range(3);
  const Tensor truth = tensor({true, false});
  EXPECT_ERROR(square(truth), StartsWith("[square]"));
  EXPECT_ERROR(clip_by_value(v, ones({2}), 1), StartsWith("[clip_by_value]"));
  EXPECT_ERROR(flip(x, 5), StartsWith("[flip]"));
  EXPECT_ERROR(stack({x, v}), HAS("[stack]"), HAS("f32 [2, 3] and f32 [3]"));
  EXPECT_ERROR(stack({x, x}, 3), StartsWith("[stack]"));
  EXPECT_ERROR(range(-1), StartsWith("[range]"));
  EXPECT_ERROR(meshloom::norm(x, 7), StartsWith("[norm]"));
  EXPECT_ERROR(linalg::norm(i), StartsWith("[norm]"));
  EXPECT_ERROR(var(i), StartsWith("[var]"));
  EXPECT_ERROR(meshloom::std(i), StartsWith("[std]"));
  EXPECT_ERROR(random::split({1, 2}, -1), StartsWith("[split]"));
  EXPECT_ERROR(clip_by_global_norm(std::vector<Tensor>{}, 1),
               StartsWith("[clip_by_global_norm]"));
  EXPECT_ERROR(x(tensor({0, 5})), StartsWith("[index]"));
  EXPECT_ERROR(index_add(truth, {0}, true), StartsWith("[index_add]"));
  EXPECT_ERROR(visualize(Tensor()), StartsWith("[visualize]"));
  EXPECT_ERROR(nn::softmax(i), StartsWith("[softmax]"));
  EXPECT_ERROR(nn::softmax(v, 3), StartsWith("[softmax]"));
  EXPECT_ERROR(nn::embedding(x, tensor({7})), StartsWith("[embedding]"));
  DVariable w(v);
  EXPECT_ERROR(w.scatter_add(i, ones({2})), StartsWith("[scatter_add]"));
  EXPECT_ERROR(w.assign(cast(v, DType::F64)), HAS("cast it"));
  // The name goes with the call.
  EXPECT_ERROR(reverse(x, 5), StartsWith("[reverse]"));
  auto carriesAnotherType = function([](const Tensor &xs) {
    return scan(
        [](const Tensor &c, const Tensor &) {
          return std::pair{cast(c, DType::F64), c};
        },
        tensor(0.f), xs);
  });
  EXPECT_ERROR(carriesAnotherType(v), StartsWith("[scan]"));
  // An op of a body is named itself.
  auto multiplies = function([](const Tensor &xs) {
    return scan([](const Tensor &c,
                   const Tensor &x) { return std::pair{matmul(x, x), c}; },
                tensor(0.f), xs);
  });
  EXPECT_ERROR(multiplies(v), StartsWith("[matmul]"));
}

// Lines are those of the user's code.
TEST(BadArgumentsTest, LinesAreTheCallers) {
  const Tensor x = ones({2, 3});
  const std::string line = ":" + std::to_string(__LINE__ + 1);
  EXPECT_ERROR(einsum("ij,jk->ik", x, x), HAS("BadArgumentsTest.cpp" + line));
  layers::Concatenate joined;
  const std::string call = ":" + std::to_string(__LINE__ + 1);
  EXPECT_ERROR(joined({x, ones({3, 3})}), HAS("BadArgumentsTest.cpp" + call));
}

TEST(BadArgumentsTest, ShapesWithoutAFunction) {
  auto same = [](const std::vector<Tensor> &x) { return x; };
  EXPECT_ERROR(eval_shape(nullptr, {}), HAS("[eval_shape]"));
  EXPECT_ERROR(eval_shape(same, {{{-1}}}), HAS("[eval_shape]"), HAS("[-1]"));
  auto nothing = [](const std::vector<Tensor> &) {
    return std::vector<Tensor>(1);
  };
  EXPECT_ERROR(eval_shape(nothing, {}), HAS("[eval_shape]"));
}

TEST(BadArgumentsTest, NumbersThatSayNothing) {
  EXPECT_ERROR(clip_by_global_norm(std::vector<Tensor>{ones({2})}, -1),
               HAS("0 or more, got -1"));
  EXPECT_ERROR(random::stateless_normal({2}, {1, 2}, 0, -1), HAS("got 0 and"));
  EXPECT_ERROR(random::stateless_normal({2}, {1, 2}, std::nan("")),
               HAS("finite"));
  EXPECT_ERROR(top_k(ones({3}), -1), HAS("a k of 0 or more"));
  EXPECT_ERROR(argmax(tensor(1.f)), HAS("got a scalar and axis 0"));
  EXPECT_ERROR(tensor({{1, 2}, {3}, {4, 5, 6}}), HAS("2 and 1 numbers"));
  EXPECT_ERROR(full({1}, 0x1p64, DType::UI64), HAS("ui64"));
  EXPECT_EQ(full({}, 0x1p63, DType::UI64).item<uint64_t>(), uint64_t(1) << 63);
  EXPECT_EQ(full({}, -0x1p63, DType::I64).item<int64_t>(), least);
  EXPECT_ERROR(full({}, 0x1p63, DType::I64), HAS("i64"));
}

} // namespace
} // namespace meshloom
