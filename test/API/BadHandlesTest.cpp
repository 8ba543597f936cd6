// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Empty and moved-from values of every public type: an Error at each use.
#include "Testing.h"

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Data/Dataset.h"

#include <sstream>
#include <thread>

namespace meshloom {
namespace {

template <typename T> std::string printed(const T &value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(BadHandlesTest, EmptyMesh) {
  Mesh moved = mesh8(), taken = std::move(moved);
  EXPECT_EQ(taken, mesh8());
  for (const Mesh &mesh : {Mesh(), moved}) {
    EXPECT_FALSE(mesh.defined());
    EXPECT_EQ(mesh, Mesh());
    EXPECT_NE(mesh, taken);
    EXPECT_EQ(mesh.hash(), Mesh().hash());
    EXPECT_EQ(printed(mesh), "empty mesh");
    auto says = HAS("empty");
    EXPECT_ERROR(mesh.name(), says);
    EXPECT_ERROR(mesh.device_type(), says);
    EXPECT_ERROR(mesh.axes(), says);
    EXPECT_ERROR(mesh.rank(), says);
    EXPECT_ERROR(mesh.size(), says);
    EXPECT_ERROR(mesh.contains_axis("x"), says);
    EXPECT_ERROR(mesh.axis_index("x"), says);
    EXPECT_ERROR(mesh.axis_size("x"), says);
    EXPECT_ERROR(mesh.axis_size(0u), says);
    EXPECT_ERROR(mesh.axis_names(), says);
    EXPECT_ERROR(mesh.strides(), says);
    EXPECT_ERROR(mesh.coords(0), says);
    EXPECT_ERROR(mesh.device_at({}), says);
    EXPECT_ERROR(mesh.assignment(), says);
    EXPECT_ERROR(mesh.placed_on(DeviceAssignment()), says);
    EXPECT_ERROR(mesh.without_devices(), says);
    EXPECT_ERROR(mesh.global_device_ids(), says);
    EXPECT_ERROR(mesh.local_device_ids(), says);
    EXPECT_ERROR(mesh.local_devices(), says);
    EXPECT_ERROR(mesh.global_devices(), says);
    EXPECT_ERROR(mesh.num_local_devices(), says);
    EXPECT_ERROR(mesh.min_global_device_id(), says);
    EXPECT_ERROR(mesh.local_device_locations(), says);
    EXPECT_ERROR(mesh.is_remote(), says);
    EXPECT_ERROR(mesh.is_single_device(), says);
    EXPECT_ERROR(mesh.use_xla_spmd(), says);
    EXPECT_ERROR(mesh.to_string(), says);
    EXPECT_ERROR(mesh.spec_string(), says);
    EXPECT_ERROR(Layout({UNSHARDED}, mesh), says);
    EXPECT_ERROR(*Layout::get({UNSHARDED}, mesh), says);
    EXPECT_ERROR(*Layout::get(mesh, Layout::DimAxes()), says);
    EXPECT_ERROR(Layout::replicated(mesh, 1), says);
    EXPECT_ERROR(Layout::batch_sharded(mesh, "x", 1), says);
    EXPECT_ERROR(Layout::inner_sharded(mesh, "x", 1), says);
    EXPECT_ERROR(DefaultMeshScope(mesh), says);
    EXPECT_ERROR(default_mesh(mesh), says);
    EXPECT_ERROR(copy_to_mesh(zeros({2}), mesh), says);
    EXPECT_ERROR(MachineModel().link(mesh, 0), says);
  }
}

TEST(BadHandlesTest, EmptyLayout) {
  Layout moved({"batch"}, mesh8()), taken = std::move(moved);
  EXPECT_TRUE(taken.defined());
  Tensor x = zeros({8});
  for (const Layout &layout : {Layout(), moved}) {
    EXPECT_FALSE(layout.defined());
    EXPECT_EQ(layout, Layout());
    EXPECT_NE(layout, taken);
    EXPECT_NE(taken, layout);
    EXPECT_EQ(layout.hash(), Layout().hash());
    EXPECT_EQ(printed(layout), "empty layout");
    auto says = HAS("empty");
    EXPECT_ERROR(layout.mesh(), says);
    EXPECT_ERROR(layout.placed_on(DeviceAssignment()), says);
    EXPECT_ERROR(layout.rank(), says);
    EXPECT_ERROR(layout.axes(0), says);
    EXPECT_ERROR(layout.dim_axes(), says);
    EXPECT_ERROR(layout.partial(), says);
    EXPECT_ERROR(layout.sharding_specs(), says);
    EXPECT_ERROR(layout.num_shards(0), says);
    EXPECT_ERROR(layout.is_fully_replicated(), says);
    EXPECT_ERROR(layout.is_partial(), says);
    EXPECT_ERROR(layout.uses_axis(0), says);
    EXPECT_ERROR(layout.remove({}), says);
    EXPECT_ERROR(layout.remove({0}), says);
    EXPECT_ERROR(layout.with_dim(0, {}), says);
    EXPECT_ERROR(layout.with_partial({}), says);
    EXPECT_ERROR(layout.without_partial(), says);
    EXPECT_ERROR(layout.local_shape({}), says);
    EXPECT_ERROR(layout.shard({}, 0), says);
    EXPECT_ERROR(layout.offset_to_shard(), says);
    EXPECT_ERROR(layout.is_even({}), says);
    EXPECT_ERROR(layout.to_string(), says);
    EXPECT_ERROR(layout.spec_string(), says);
    EXPECT_ERROR(visualize(layout, {8}), says);
    EXPECT_ERROR(pack({x}, layout), says);
    EXPECT_ERROR(distribute(x, layout), says);
    EXPECT_ERROR(relayout(x, layout), says);
    EXPECT_ERROR(copy_to_mesh(x, layout), says);
    EXPECT_ERROR(check_layout(x, layout), says);
    EXPECT_ERROR(call_with_layout([] { return zeros({8}); }, layout), says);
    EXPECT_ERROR(DVariable(x, layout), says);
    auto inside =
        function([&](const Tensor &value) { return relayout(value, layout); });
    EXPECT_ERROR(inside(x), says);
  }
}

TEST(BadHandlesTest, EmptyVariable) {
  DVariable moved(zeros({2})), taken = std::move(moved);
  EXPECT_TRUE(taken.defined());
  for (const DVariable &v : {DVariable(), moved}) {
    EXPECT_FALSE(v.defined());
    EXPECT_FALSE(v.is(taken));
    EXPECT_EQ(printed(v), "DVariable()");
    auto says = HAS("empty DVariable");
    EXPECT_ERROR(v.read_value(), says);
    EXPECT_ERROR(Tensor(v), says);
    EXPECT_ERROR(bool(v), says);
    EXPECT_ERROR(v + 1, says);
    EXPECT_ERROR(v.assign(1), says);
    EXPECT_ERROR(v.assign_add(1), says);
    EXPECT_ERROR(v.assign_sub(1), says);
    EXPECT_ERROR(v.shape(), says);
    EXPECT_ERROR(v.rank(), says);
    EXPECT_ERROR(v.dtype(), says);
    EXPECT_ERROR(v.layout(), says);
    EXPECT_ERROR(v.name(), says);
    EXPECT_ERROR(v.trainable(), says);
    EXPECT_ERROR(v.item<float>(), says);
    EXPECT_ERROR(v.to_vector<float>(), says);
    GradientTape tape;
    Tensor y = exp(taken);
    EXPECT_ERROR(tape.gradient(y, v), says);
    EXPECT_ERROR(tape.gradient(y, {v}), says);
    EXPECT_ERROR(tape.gradient(y, {taken, v}), says);
    EXPECT_ERROR(
        function([](const DVariable &argument) { return argument + 1; })(v),
        says);
    EXPECT_ERROR(function([&] { v.assign(1); })(), says);
    EXPECT_ERROR(function([&] { return v + 1; })(), says);
    EXPECT_ERROR(optimizers::Adam().apply_gradients({{zeros({2}), v}}), says);
    EXPECT_ERROR(optimizers::SGD().apply_gradients({{zeros({2}), v}}), says);
  }
}

TEST(BadHandlesTest, EmptyTensor) {
  Tensor moved = zeros({2}), taken = std::move(moved);
  Layout layout({UNSHARDED}, mesh8());
  EXPECT_TRUE(taken.defined());
  for (const Tensor &x : {Tensor(), moved}) {
    EXPECT_FALSE(x.is_traced());
    EXPECT_EQ(printed(x), "Tensor()");
    auto says = HAS("empty Tensor");
    EXPECT_ERROR(x.shape(), says);
    EXPECT_ERROR(x.rank(), says);
    EXPECT_ERROR(x.size(), says);
    EXPECT_ERROR(x.dtype(), says);
    EXPECT_ERROR(x.layout(), says);
    EXPECT_ERROR(x.mesh(), says);
    EXPECT_ERROR(x.device(), says);
    EXPECT_ERROR(x.item<float>(), says);
    EXPECT_ERROR(x.to_vector<float>(), says);
    EXPECT_ERROR(x.to_vector<bool>(), says);
    EXPECT_ERROR(visualize(x), says);
    EXPECT_ERROR(DVariable{x}, says);
    EXPECT_ERROR(DVariable(taken).assign(x), says);
    EXPECT_ERROR(DVariable(taken).assign_add(x), says);
    EXPECT_ERROR(pack(std::vector<Tensor>(8, x), layout), says);
    EXPECT_ERROR(unpack(x), says);
    EXPECT_ERROR(distribute(x, layout), says);
    EXPECT_ERROR(relayout(x, layout), says);
    EXPECT_ERROR(relayout_like(x, taken), says);
    EXPECT_ERROR(relayout_like(taken, x), says);
    EXPECT_ERROR(copy_to_mesh(x, mesh8()), says);
    EXPECT_ERROR(fetch_layout(x), says);
    EXPECT_ERROR(check_layout(x, layout), says);
    EXPECT_ERROR(is_dtensor(x), says);
    EXPECT_ERROR(call_with_layout([&] { return x; }, layout), says);
    EXPECT_ERROR(save_npy("nowhere.npy", x), says);
    EXPECT_ERROR(zeros_like(x), says);
    EXPECT_ERROR(ones_like(x), says);
    EXPECT_ERROR(function([](const Tensor &y) { return y; })(x), says);
    EXPECT_ERROR(function([&] { return x; })(), says);
    EXPECT_ERROR(stop_gradient(x), says);
    GradientTape tape;
    Tensor y = exp(taken);
    EXPECT_ERROR(tape.gradient(x, taken), says);
    EXPECT_ERROR(tape.gradient(y, x), says);
    EXPECT_ERROR(tape.gradient(y, {taken, x}), says);
    EXPECT_ERROR(optimizers::Adam().apply_gradients(
                     {{x, DVariable(taken, VariableOptions{"w"})}}),
                 says, HAS("'w'"));
  }
}

TEST(BadHandlesTest, MovedFromFunction) {
  auto f = function([](const Tensor &x) { return x + 1; });
  ConcreteFunction traced = f.get_concrete_function(zeros({2}));
  auto other = std::move(f);
  EXPECT_EQ(other(tensor(1.f)).item<float>(), 2.f);
  auto says = HAS("moved from");
  EXPECT_ERROR(f(zeros({2})), says);
  EXPECT_ERROR(f.get_concrete_function(zeros({2})), says);
  EXPECT_ERROR(f.trace_count(), says);
  EXPECT_ERROR(f.concrete_functions(), says);
  auto outer = function([&](const Tensor &x) { return f(x); });
  EXPECT_ERROR(outer(zeros({2})), says);

  ConcreteFunction taken = std::move(traced);
  EXPECT_EQ(taken.arguments().size(), 1u);
  for (const ConcreteFunction &none : {traced, ConcreteFunction(nullptr)}) {
    EXPECT_ERROR(none.name(), says);
    EXPECT_ERROR(none.arguments(), says);
    EXPECT_ERROR(none.results(), says);
    EXPECT_ERROR(none.collectives(), says);
    EXPECT_ERROR(none.explain(), says);
    EXPECT_ERROR(none.stages(), says);
    EXPECT_ERROR(none.compiled(), says);
    EXPECT_ERROR(none.trace_time(), says);
    EXPECT_ERROR(none.compile_time(), says);
  }
}

TEST(BadHandlesTest, MovedFromOptimizers) {
  auto says = HAS("moved from");
  DVariable w(zeros({2}));
  optimizers::Adam adam, adamTaken = std::move(adam);
  EXPECT_ERROR(adam.apply_gradients({{zeros({2}), w}}), says);
  EXPECT_ERROR(adam.variables(), says);
  optimizers::SGD sgd, sgdTaken = std::move(sgd);
  EXPECT_ERROR(sgd.apply_gradients({{zeros({2}), w}}), says);
  EXPECT_ERROR(sgd.variables(), says);
}

TEST(BadHandlesTest, MovedFromDataset) {
  auto set = data::from_tensor_slices(tensor({1.f, 2.f}));
  auto taken = std::move(set);
  auto says = HAS("moved from");
  EXPECT_EQ(taken.cardinality(), 2);
  EXPECT_ERROR(set.cardinality(), says);
  EXPECT_ERROR(set.take(1), says);
  EXPECT_ERROR(set.iterate(), says);
  auto iterator = taken.iterate(), now = std::move(iterator);
  EXPECT_ERROR(iterator.next(), says);
  EXPECT_TRUE(now.next());
}

// A scope or tape that ends on another thread leaves both threads usable.
TEST(BadHandlesTest, ScopesAndTapesEndOnAnotherThread) {
  auto tape = std::make_unique<GradientTape>();
  auto scope = std::make_unique<DefaultMeshScope>(mesh8());
  std::thread([&] {
    tape.reset();
    scope.reset();
  }).join();
  EXPECT_EQ(reduce_sum(ones({4}) * 2).item<float>(), 8);
  EXPECT_EQ(get_default_mesh(), std::nullopt);
}

} // namespace
} // namespace meshloom
