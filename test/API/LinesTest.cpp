// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of functions that are no ops name the user's line, as ops' do.
#include "Testing.h"

#include "meshloom/Data/Digits.h"
#include "meshloom/Data/Files.h"
#include "meshloom/Data/Mnist.h"
#include "meshloom/Data/Npz.h"
#include "meshloom/Data/Safetensors.h"

#include <cmath>

namespace meshloom {
namespace {

/// The message of what `f` throws has this file's name and `line`, in
/// parentheses, once. `end` follows the line.
template <typename F>
void expectLine(F f, uint32_t line, std::string_view end = ")") {
  try {
    f();
  } catch (const Error &error) {
    const std::string text = error.what();
    EXPECT_THAT(text,
                testing::HasSubstr("LinesTest.cpp:" + std::to_string(line) +
                                   std::string(end)));
    EXPECT_EQ(text.find("(at "), text.rfind("(at ")) << text;
    return;
  }
  FAIL() << "nothing was thrown in line " << line;
}
#define EXPECT_LINE(...) expectLine([&] { __VA_ARGS__; }, __LINE__)

TEST(LinesTest, ReadingValues) {
  const Tensor x = tensor({1.f, 2.f}), none;
  DVariable w(x);
  EXPECT_LINE((void)x.item<float>());
  EXPECT_LINE((void)w.item<float>());
  EXPECT_LINE((void)x.to_vector<int>());
  EXPECT_LINE((void)w.to_vector<int>());
  EXPECT_LINE((void)none.to_vector<float>());
  EXPECT_LINE((void)none.item<float>());
  EXPECT_LINE((void)none.shape());
  EXPECT_LINE((void)none.rank());
  EXPECT_LINE((void)none.dtype());
  EXPECT_LINE((void)none.mesh());
  EXPECT_LINE((void)DVariable().rank());
  EXPECT_LINE((void)DVariable().layout());
  EXPECT_LINE((void)DVariable().name());
}

TEST(LinesTest, TracedConditions) {
  const uint32_t line = __LINE__ + 1;
  auto size = function([](const Tensor &x) { return x > 0.f ? x : -x; });
  expectLine([&] { size(tensor(1.f)); }, line, ":");
}

TEST(LinesTest, MeshesAndLayouts) {
  const Mesh mesh = mesh2x4();
  const Tensor x = tensor({1.f, 2.f});
  EXPECT_LINE(Layout({"q"}, mesh));
  EXPECT_LINE(create_mesh({{"x", 3}}, virtual_cpus(2)));
  EXPECT_LINE((void)distribute(x, Layout::replicated(mesh, 2)));
  EXPECT_LINE((void)pack({x}, Layout::replicated(mesh, 2)));
  EXPECT_LINE((void)unpack(Tensor()));
  EXPECT_LINE((void)relayout(x, Layout()));
  EXPECT_LINE((void)copy_to_mesh(x, Mesh()));
  EXPECT_LINE((void)fetch_layout(Tensor()));
  EXPECT_LINE(check_layout(x, Layout::replicated(mesh, 2)));
  EXPECT_LINE((void)is_dtensor(Tensor()));
  EXPECT_LINE((void)visualize(Tensor()));
  EXPECT_LINE((void)visualize(Layout::replicated(mesh, 2), {3}));
}

TEST(LinesTest, MethodsOfMeshesAndLayouts) {
  const Mesh mesh = mesh2x4();
  const Layout layout({"x", UNSHARDED}, mesh);
  EXPECT_LINE((void)mesh.axis_size("q"));
  EXPECT_LINE((void)mesh.axis_size(2));
  EXPECT_LINE((void)mesh.coords(-1));
  EXPECT_LINE((void)mesh.device_at(std::vector<int64_t>{2, 0}));
  EXPECT_LINE((void)mesh.placed_on(DeviceAssignment::standard(3)));
  EXPECT_LINE((void)Mesh::from_string("|x=").value_or_throw());
  EXPECT_LINE((void)Layout::replicated(mesh, unsigned(-1)));
  EXPECT_LINE((void)Layout::batch_sharded(mesh, "q", 2));
  EXPECT_LINE((void)Layout::batch_sharded(mesh, "x", 2, 2));
  EXPECT_LINE((void)Layout::inner_sharded(mesh, "x", 0));
  EXPECT_LINE((void)layout.axes(2));
  EXPECT_LINE((void)layout.num_shards(2));
  EXPECT_LINE((void)layout.remove({2}));
  EXPECT_LINE((void)layout.with_dim(1, {0}));
  EXPECT_LINE((void)layout.with_partial({{0, ReduceKind::Sum}}));
  EXPECT_LINE((void)layout.local_shape({3}));
  EXPECT_LINE((void)layout.shard({3, -1}, 0));
  EXPECT_LINE((void)layout.is_even({3}));
  EXPECT_LINE((void)layout.placed_on(DeviceAssignment::standard(3)));
}

TEST(LinesTest, Clusters) {
  const ClusterSpec cluster({{"ps", {"a:1"}}});
  EXPECT_LINE((void)ClusterSpec::numbered({{"ps", {{-1, "a:1"}}}}));
  EXPECT_LINE((void)cluster.num_tasks("worker"));
  EXPECT_LINE((void)cluster.task_indices("worker"));
  EXPECT_LINE((void)cluster.task_address("ps", 1));
  EXPECT_LINE((void)cluster.job_tasks("worker"));
  EXPECT_LINE((void)is_chief(cluster, {"worker", 0}));
  EXPECT_LINE((void)chief_of(cluster));
  EXPECT_LINE((void)id_in_cluster(cluster, {"ps", 0}));
  EXPECT_LINE((void)worker_count(cluster, {"ps", 0}));
  const Environment wrong = [](const char *) { return "{"; };
  EXPECT_LINE(TFConfigClusterResolver({}, wrong));
  EXPECT_LINE(SlurmClusterResolver({}, wrong));
  EXPECT_LINE(KubernetesClusterResolver({.tf_server_port = 0}));
  EXPECT_LINE(TPUWorkersResolver("a:port"));
  EXPECT_LINE(UnionClusterResolver({}));
  EXPECT_LINE((void)SimpleClusterResolver(cluster).master(TaskId{"ps", 1}));
}

TEST(LinesTest, CompiledFunctions) {
  const auto double_of = function([](const Tensor &x) { return x * 2; });
  const uint32_t line = __LINE__ - 1;
  expectLine([&] { double_of(Tensor()); }, line); // a call has no line
  ConcreteFunction compiled = double_of.get_concrete_function(ones({4}));
  EXPECT_LINE((void)compiled.collectives("rng"));
  EXPECT_LINE(compiled.save("/none/f.mlprog"));
  EXPECT_LINE(write_explanation(compiled, "/none/page.html"));
  EXPECT_LINE(write_explanation(compiled, "/none/page.html", "rng"));
  EXPECT_LINE((void)predict(compiled, "rng"));
  EXPECT_LINE((void)suggest(compiled, "rng"));
  EXPECT_LINE((void)auto_layout(compiled, mesh2x4(), {.machine = "rng"}));
  EXPECT_LINE(set_machine_model("rng"));
  EXPECT_LINE((void)profile("/none/profile.json"));
  EXPECT_LINE((void)pipeline({}, 2));
  EXPECT_LINE((void)cut_stages({1, 2}, 3));
  EXPECT_LINE(set_mask(ones({2}), ones({2})));
  const Layout layout = Layout::replicated(mesh2x4(), 2);
  EXPECT_LINE((void)call_with_layout([] { return ones({2}); }, layout));
}

TEST(LinesTest, Strategies) {
  const MirroredStrategy strategy(virtual_cpus(2)), other(virtual_cpus(3));
  const auto rows = data::range(4);
  EXPECT_LINE((void)strategy.experimental_distribute_dataset(rows));
  EXPECT_LINE(register_dataset("", [](int64_t) { return data::range(4); }));
  EXPECT_LINE(TPUClusterResolver("a:port"));
  EXPECT_LINE(TPUStrategy());
  const auto scope = strategy.scope();
  EXPECT_LINE((void)other.scope());
}

TEST(LinesTest, NullTexts) {
  const char *none = nullptr;
  const Mesh mesh = mesh2x4();
  EXPECT_LINE(Layout({"x", none}, mesh));
  EXPECT_LINE(AxisNames({"x", none}));
  EXPECT_LINE(DeviceSpec{none});
  EXPECT_LINE(Padding{none});
  EXPECT_LINE(ReduceOp{none});
  EXPECT_LINE(ReduceOp{"SUMM"});
  EXPECT_LINE(mixed_precision::Policy{none});
  EXPECT_LINE(nn::Config{none});
  EXPECT_LINE(data::FileNames{none});
}

TEST(LinesTest, Devices) {
  EXPECT_LINE((void)virtual_cpus(0));
  EXPECT_LINE(create_mesh({{"x", 1}}, {"CPU:-1"}));
  EXPECT_LINE(DeviceSpec("CPU:"));
  EXPECT_LINE((void)list_devices("XPU"));
  EXPECT_LINE((void)connect_platform("none"));
  EXPECT_LINE((void)device("XPU:0"));
  EXPECT_LINE(set_client_options({.workers = -1}));
  EXPECT_LINE(set_logical_device_configuration("CPU:1", {{}}));
  EXPECT_LINE(MirroredStrategy({"CPU:0", "CPU:0"}));
  EXPECT_LINE(CentralStorageStrategy({"CPU:0"}, "XPU:4"));
  EXPECT_LINE(OneDeviceStrategy("XPU:0"));
}

TEST(LinesTest, ParameterServers) {
  const ClusterSpec cluster({{"worker", {"localhost:1"}}});
  EXPECT_LINE(Server(cluster, "worker", 1));
  EXPECT_LINE(ParameterServerStrategy(SimpleClusterResolver(cluster)));
  EXPECT_LINE(ClusterCoordinator(OneDeviceStrategy("CPU:0")));
  EXPECT_LINE(FixedShardsPartitioner(0));
  EXPECT_LINE(MinSizePartitioner(1, 0));
  EXPECT_LINE(MaxSizePartitioner(0));
}

TEST(LinesTest, Datasets) {
  const auto numbers = data::range(4);
  EXPECT_LINE((void)numbers.take(-2));
  EXPECT_LINE((void)numbers.skip(-2));
  EXPECT_LINE((void)numbers.shard(2, 2));
  EXPECT_LINE((void)numbers.repeat(-2));
  EXPECT_LINE((void)numbers.shuffle(0));
  EXPECT_LINE((void)numbers.batch(0));
  EXPECT_LINE((void)numbers.padded_batch(0));
  EXPECT_LINE((void)numbers.rebatch(0));
  EXPECT_LINE((void)numbers.rebatch(std::vector<int64_t>{}));
  EXPECT_LINE((void)numbers.window(0));
  EXPECT_LINE((void)numbers.prefetch(-2));
  const std::function<Tensor(const Tensor &)> none;
  EXPECT_LINE((void)numbers.map(none));
  EXPECT_LINE((void)numbers.filter(none));
  EXPECT_LINE((void)data::range(0, 4, 0));
  EXPECT_LINE((void)data::from_tensors(Tensor()));
  EXPECT_LINE((void)data::from_tensor_slices(ones({3}), ones({4})));
  EXPECT_LINE((void)numbers.iterate("4"));
  EXPECT_LINE(numbers.iterate().restore("4"));
  EXPECT_LINE((void)numbers.take(0).iterate().get_next());
  const auto scalars = numbers.unbatch();
  EXPECT_LINE((void)scalars.iterate().next());
  EXPECT_LINE((void)scalars.iterate().peek());
  EXPECT_LINE((void)scalars.to_vector());
  EXPECT_LINE(for (const Tensor &row : scalars)(void) row);
  EXPECT_LINE((void)data::slice(numbers, "[4"));
  EXPECT_LINE((void)data::slices<Tensor>({{"train", numbers}}, "test"));
  EXPECT_LINE(data::DTensorDataset(numbers, mesh2x4(), {}, 0));
}

TEST(LinesTest, Files) {
  const Tensor x = tensor({1.f, 2.f});
  EXPECT_LINE((void)load_npy("/none/x.npy"));
  EXPECT_LINE(save_npy("/none/x.npy", x));
  EXPECT_LINE((void)load_function("/none/x.mlprog"));
  EXPECT_LINE((void)data::load_npz("/none/x.npz"));
  EXPECT_LINE((void)data::load_idx("/none/x.idx"));
  EXPECT_LINE((void)data::list_files("/none/*"));
  EXPECT_LINE((void)data::CsvDataset("x.csv", {}));
  EXPECT_LINE((void)data::FixedLengthRecordDataset("x.bin", 0));
  EXPECT_LINE((void)data::TextLineDataset("/none/x").iterate().next());
  EXPECT_LINE(data::TFRecordWriter("/none/x"));
  EXPECT_LINE((void)data::parse_single_example("x", {}));
  EXPECT_LINE((void)data::load_safetensors("/none/x.safetensors"));
  EXPECT_LINE(data::save_safetensors("/none/x.safetensors", {{"x", x}}));
  EXPECT_LINE((void)data::load_mnist("/none", data::MnistPart::Train));
  EXPECT_LINE((void)load_model("/none/model"));
  Checkpoint checkpoint({{"x", DVariable(x)}});
  EXPECT_LINE(checkpoint.restore("/none/checkpoint"));
  checkpoint.write("/proc/none", {.asynchronous = true});
  EXPECT_LINE(checkpoint.wait());
  EXPECT_LINE(Checkpoint({{"", DVariable(x)}}));
  EXPECT_LINE(CheckpointManager(checkpoint, "/none", {.max_to_keep = -1}));
  EXPECT_LINE(data::TensorFolder("/none/folder"));
  EXPECT_LINE(data::write_tensor_folder("", {}));
  EXPECT_LINE(data::remove_tensor_folder("/none/folder"));
  EXPECT_LINE(data::assign_by_name({DVariable(x, {.name = "x"})}, {}));
  EXPECT_LINE(data::write_digits("/proc/none", 1, 1, 0));
  EXPECT_LINE((void)nn::Config::parse("{"));
  EXPECT_LINE((void)nn::Config::parse("{}").at("units"));
}

TEST(LinesTest, Models) {
  EXPECT_LINE(Sequential({Input({4}), layers::Reshape({3})}));
  Sequential model({Input({4}), layers::Dense(1)});
  const Tensor x = ones({8, 4}), y = ones({8, 1});
  EXPECT_LINE(model.fit(x, y, {.verbose = 0})); // not compiled
  EXPECT_LINE(model.evaluate(x, y, {.verbose = 0}));
  EXPECT_LINE((void)model.predict(ones({0, 4}), {.verbose = 0}));
  EXPECT_LINE(model.compile({.steps_per_execution = 0}));
  EXPECT_LINE(load_weights(model, "/none/weights"));
  EXPECT_LINE(model.fit(Tensor(), y, {.verbose = 0}));
  EXPECT_LINE((void)model.train_on_batch(x, Tensor()));
  EXPECT_LINE((void)model.get_layer("dense_3"));
  EXPECT_LINE((void)model.get_layer(3));
  EXPECT_LINE(callbacks::ModelCheckpoint(""));
  EXPECT_LINE(callbacks::BackupAndRestore(""));
  const std::function<double(int64_t)> none;
  EXPECT_LINE(callbacks::LearningRateScheduler{none});
  EXPECT_LINE(set_layouts(model, LayoutPatterns{{"none", Layout()}}));
  EXPECT_LINE((void)Logs().at("loss"));
  EXPECT_LINE(mixed_precision::set_global_policy("mixed_float61"));
  const SymbolicTensor first = Input({3}), second = Input({4});
  EXPECT_LINE(Model(first, layers::Dense(2)(second)));
  EXPECT_LINE(Model(layers::Dense(2)));
}

/// Makes two weights of one name.
struct TwinsImpl : LayerImpl {
  TwinsImpl() : LayerImpl("Twins") {}
  explicit TwinsImpl(const nn::Config &) : TwinsImpl() {}
  static constexpr uint32_t line = __LINE__ + 3; ///< of add_weight
  void build(const Shape &) override {
    for (int i = 0; i < 2; ++i)
      add_weight("w", {2});
  }
  Tensor call(const Tensor &x, const CallOptions &) override { return x; }
};

TEST(LinesTest, LayersOfYourOwn) {
  LayerOf<TwinsImpl> twins;
  EXPECT_LINE(register_layer<TwinsImpl>("Dense"));
  EXPECT_LINE(Layer::from_config(nn::Config::parse("{}")));
  expectLine([&] { twins(ones({1, 2})); }, TwinsImpl::line, " in twins)");
}

TEST(LinesTest, Layers) {
  EXPECT_LINE(layers::Dense(-1));
  EXPECT_LINE(layers::Dense(4, {.activation = "rellu"}));
  EXPECT_LINE(layers::Dense(4, "rellu"));
  EXPECT_LINE(layers::PReLU("one"));
  EXPECT_LINE(layers::Dropout(2));
  EXPECT_LINE(layers::Conv2D(4, 3, {.padding = "sane"}));
  EXPECT_LINE(layers::LeakyReLU(-1));
  EXPECT_LINE(layers::ELU(std::nan("")));
  EXPECT_LINE(layers::LSTM(-2));
  EXPECT_LINE(layers::ReLU({.max_value = -1}));
  EXPECT_LINE(layers::LayerNormalization({.epsilon = -1}));
  EXPECT_LINE(layers::MultiHeadAttention(0, 8));
  EXPECT_LINE(layers::Permute({0, 1}));
  const layers::Dense dense(2);
  EXPECT_LINE(quantize(dense, "int8")); // not built
  EXPECT_LINE(quantize(dense, "int3"));
  EXPECT_LINE(enable_lora(dense, 2));
  EXPECT_LINE(merge_lora(dense));
  EXPECT_LINE((void)dense.variable("kernel"));
  dense.build({-1, 3});
  EXPECT_LINE(enable_lora(dense, -1));
  EXPECT_LINE(enable_lora(dense, 2, {.alpha = std::nan("")}));
  EXPECT_LINE((void)dense.variable("weight"));
  EXPECT_LINE(dense.set_weights({}));
  EXPECT_LINE(dense.set_weights({ones({3, 3}), ones({2})}));
}

TEST(LinesTest, PartsOfTraining) {
  EXPECT_LINE(optimizers::Adam(-1.0));
  EXPECT_LINE(optimizers::Adam(1e-3, 2));
  EXPECT_LINE(optimizers::Adam({.learning_rate = -1}));
  EXPECT_LINE(optimizers::Adam({.beta_1 = 2}));
  EXPECT_LINE(optimizers::AdamW(1e-3, -1));
  EXPECT_LINE(optimizers::SGD({.common = {.clip_norm = -1}}));
  EXPECT_LINE(optimizers::SGD({.common = {.clip_norm = 1, .clip_value = 1}}));
  EXPECT_LINE(optimizers::SGD().set_learning_rate(-1));
  EXPECT_LINE((void)optimizers::get("adm"));
  EXPECT_LINE(optimizers::LossScaleOptimizer(optimizers::SGD(), -1));
  EXPECT_LINE(schedules::ExponentialDecay(0.1, 0, 0.5));
  EXPECT_LINE(schedules::CosineDecay({.initial_learning_rate = 1}));
  EXPECT_LINE(schedules::PiecewiseConstantDecay({3}, {1.}));
  EXPECT_LINE(losses::Huber(-1));
  EXPECT_LINE(losses::Huber({.delta = -1}));
  EXPECT_LINE(losses::Loss("cross"));
  EXPECT_LINE(losses::Reduction("total"));
  EXPECT_LINE(metrics::Metric("precise"));
  EXPECT_LINE(metrics::Precision(2.0));
  EXPECT_LINE(metrics::Precision({.thresholds = {2}}));
  EXPECT_LINE(metrics::MeanIoU(0));
  EXPECT_LINE(metrics::AUC({.curve = "round"}));
  EXPECT_LINE(metrics::F1Score("mean"));
  EXPECT_LINE(metrics::R2Score({.class_aggregation = "all"}));
  EXPECT_LINE(regularizers::L2(-1));
  EXPECT_LINE(regularizers::L1L2({.l1 = -1}));
  EXPECT_LINE(regularizers::OrthogonalRegularizer(0.1, "both"));
  EXPECT_LINE(initializers::RandomNormal(0, -1));
  EXPECT_LINE(initializers::RandomUniform({.minval = 1, .maxval = 0}));
  EXPECT_LINE(initializers::VarianceScaling(1, "fan"));
  EXPECT_LINE(initializers::Initializer("xavier"));
  EXPECT_LINE(constraints::MaxNorm(-1));
  EXPECT_LINE(constraints::MinMaxNorm(2, 1));
  EXPECT_LINE(callbacks::EarlyStopping({.patience = -1}));
  EXPECT_LINE(callbacks::ReduceLROnPlateau({.factor = 2}));
  Sequential model({Input({4}), layers::Dense(1)});
  EXPECT_LINE(model.compile({.optimizer = "adamm"}));
  EXPECT_LINE(model.compile({.loss = "mean"}));
  EXPECT_LINE(export_functions("/none", {}));
  EXPECT_LINE(plot(History(), "/none/x.svg"));
}

// It takes the number of elements that the message names.
TEST(LinesTest, ReshapeNamesTheLayerAndTheSizes) {
  try {
    Sequential({Input({4}), layers::Reshape({3})});
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("layer 'reshape': expected 4 elements, as "
                                   "the input [None, 4] has, got [3] (at "));
  }
}

} // namespace
} // namespace meshloom
