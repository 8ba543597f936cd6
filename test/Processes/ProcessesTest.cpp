// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of several processes: every test runs in all of them at the same
// time, as mesh-launch starts this program.
#include "meshloom/API/Processes.h"
#include "../Distribute/Testing.h"
#include "meshloom/Meshloom.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace meshloom {
namespace {

using testing::HasSubstr;

/// Two devices of each process.
Mesh meshOfAll() {
  return create_distributed_mesh({{"batch", 2 * num_clients()}});
}
/// Returns as many devices in this process alone.
Mesh meshHere() {
  std::vector<DeviceSpec> devices;
  for (int64_t i = 0; i < 2 * num_clients(); ++i)
    devices.push_back({"CPU", i, client_id()});
  return create_mesh({{"batch", -1}}, devices);
}

/// The value, which is the same in all processes.
std::vector<float> valuesOf(const Tensor &tensor) {
  return detail::replicateUnlessLocal(tensor).to_vector<float>();
}

TEST(ProcessesTest, AMeshHasABlockOfDevicesInEachProcess) {
  const Mesh mesh = meshOfAll();
  EXPECT_EQ(mesh.size(), 2 * num_clients());
  EXPECT_EQ(mesh.num_local_devices(), 2);
  EXPECT_EQ(mesh.local_device_ids()[0], 2 * client_id());
  EXPECT_EQ(
      mesh.local_devices()[1],
      fmt::format("/job:worker/replica:0/task:{}/device:CPU:1", client_id()));
  EXPECT_EQ(int64_t(mesh.global_devices().size()), mesh.size());
  EXPECT_EQ(mesh, create_mesh({{"batch", 2 * num_clients()}},
                              virtual_cpus(2 * num_clients())));
  EXPECT_EQ(full_job_name(),
            fmt::format("worker/replica:0/task:{}", client_id()));
  EXPECT_EQ(meshHere().num_local_devices(), meshHere().size());
  EXPECT_EQ(create_mesh({{"x", 1}}, virtual_cpus(1)).num_local_devices(), 1);
}

TEST(ProcessesTest, MeshesThatProcessesDoNotDivideAreRefused) {
  EXPECT_THAT(
      errorOf([] { create_distributed_mesh({{"x", 2 * num_clients() + 1}}); }),
      HasSubstr(fmt::format("the {} processes divide", num_clients())));
  EXPECT_EQ(num_global_devices() % num_clients(), 0);
  EXPECT_THAT(errorOf([] {
                create_mesh({{"x", num_clients()}}, [] {
                  auto devices = virtual_cpus(num_clients());
                  std::swap(devices[0], devices[1]);
                  return devices;
                }());
              }),
              HasSubstr("in order"));
  EXPECT_THAT(errorOf([] {
                (void)DeviceSpec::from_string(fmt::format(
                    "/job:worker/task:{}/device:CPU:0", num_clients()));
              }),
              HasSubstr("one of the"));
}

TEST(ProcessesTest, OpsAndReadsSayWhatIsNotHere) {
  const Mesh mesh = meshOfAll();
  const Layout rows = Layout::batch_sharded(mesh, "batch", 2);
  const Tensor x = distribute(iota({8, 4}, 0, DType::F32), rows);
  const Tensor y = x * 2.0 + 1.0;
  EXPECT_THAT(errorOf([&] { (void)y.to_vector<float>(); }),
              HasSubstr("relayout"));
  const std::vector<float> values = valuesOf(y);
  for (int64_t row = 0; row < 8; ++row)
    EXPECT_EQ(values[size_t(row * 4)], float(2 * row + 1));
  EXPECT_EQ(reduce_sum(y).item<float>(), 8 * 4 * 8);
  // The part of this process.
  const std::string text = to_string(y);
  EXPECT_THAT(text, HasSubstr(std::string(mesh.local_devices()[0])));
  if (client_id() == 0)
    EXPECT_THAT(text, HasSubstr("1."));
}

// The second of three processes has devices of both halves of `outer`, and so
// all of a value that is cut over it; the others have one half each.
TEST(ProcessesTest, ValueOfOneProcessComesToAll) {
  const Mesh mesh =
      create_distributed_mesh({{"outer", 2}, {"inner", num_clients()}});
  const Tensor whole = iota({6}, 0, DType::F32);
  const Tensor halves =
      distribute(whole, Layout::batch_sharded(mesh, "outer", 1));
  EXPECT_EQ(valuesOf(halves), whole.to_vector<float>());
  EXPECT_EQ(reduce_sum(halves).item<float>(), 15);
}

TEST(ProcessesTest, PackTakesAndUnpackGivesTheComponentsOfThisProcess) {
  const Mesh mesh = meshOfAll();
  const Layout rows = Layout::batch_sharded(mesh, "batch", 1);
  const float first = float(2 * client_id());
  const Tensor packed = pack({tensor({first}), tensor({first + 1})}, rows);
  EXPECT_EQ(packed.shape(), Shape({mesh.size()}));
  const std::vector<float> values = valuesOf(packed);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], float(i));
  const std::vector<Tensor> parts = unpack(packed * 10.0);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].to_vector<float>(), std::vector<float>{10 * (first + 1)});
  EXPECT_THAT(errorOf([&] { pack({tensor({1.f})}, rows); }),
              HasSubstr("expected 2 components"));
}

TEST(ProcessesTest, RandomNumbersAreThoseOfOneProcess) {
  const Mesh mesh = meshOfAll();
  auto draw = [](const Layout &layout) {
    return call_with_layout(
        [] { return random::stateless_normal({16, 3}, Seed{3, 7}); }, layout);
  };
  EXPECT_EQ(
      valuesOf(draw(Layout::batch_sharded(mesh, "batch", 2))),
      draw(Layout::batch_sharded(meshHere(), "batch", 2)).to_vector<float>());
}

/// Ten steps of a model of two layers; its losses.
std::vector<float> losses(const Mesh &mesh) {
  auto scope = default_mesh(mesh);
  const Layout whole = Layout::replicated(mesh, 2);
  DVariable w(call_with_layout(
      [] { return random::stateless_normal({4, 8}, Seed{1, 2}); }, whole));
  DVariable v(call_with_layout(
      [] { return random::stateless_normal({8, 1}, Seed{3, 4}); }, whole));
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor error = matmul(nn::relu(matmul(x, w)), v) - y;
    const Tensor loss = reduce_mean(error * error);
    const auto gradients = tape.gradient(loss, {w, v});
    w.assign_sub(gradients[0].gradient * 0.01);
    v.assign_sub(gradients[1].gradient * 0.01);
    return loss;
  });
  std::vector<float> values;
  for (uint32_t i = 0; i < 5; ++i) {
    const Layout rows = Layout::batch_sharded(mesh, "batch", 2);
    const Tensor x =
        distribute(random::stateless_normal({16, 4}, Seed{5, i}), rows);
    const Tensor y =
        distribute(random::stateless_normal({16, 1}, Seed{6, i}), rows);
    values.push_back(step(x, y).item<float>());
  }
  return values;
}

TEST(ProcessesTest, LargeValuesMoveWithinProcesses) {
  const Mesh mesh =
      create_distributed_mesh({{"outer", num_clients()}, {"inner", 2}});
  auto add = function(
      [](const Tensor &x, const Tensor &y) { return reduce_sum(exp(x + y)); });
  auto onAxis = [&](const std::string &axis) {
    return distribute(ones({256, 256}) * 0.5,
                      Layout::batch_sharded(mesh, axis, 2));
  };
  const Tensor x = onAxis("outer"), y = onAxis("inner");
  EXPECT_NEAR(add(x, y).item<float>(), 65536 * std::exp(1.f), 1);
  auto moves = [&](std::string_view machine) {
    std::set<std::string> axes;
    const ConcreteFunction compiled = add.get_concrete_function(x, y);
    for (const CollectiveInfo &one : machine.empty()
                                         ? compiled.collectives()
                                         : compiled.collectives(machine))
      if (one.bytes > 1000)
        axes.insert(one.axes.begin(), one.axes.end());
    return axes;
  };
  // x is where all of its devices are together; y comes to it.
  EXPECT_THAT(moves(""), testing::ElementsAre("inner"));
  EXPECT_THAT(moves("ring"), testing::ElementsAre("inner", "outer"));
}

TEST(ProcessesTest, AModelLearnsWhatItLearnsInOneProcess) {
  const std::vector<float> together = losses(meshOfAll());
  const std::vector<float> here = losses(meshHere());
  for (size_t i = 0; i < here.size(); ++i)
    EXPECT_NEAR(together[i], here[i], 1e-5 * std::abs(here[i]));
}

/// A folder that all processes know.
std::filesystem::path sharedFolder(const std::string &name) {
  const std::filesystem::path localFolder =
      std::filesystem::temp_directory_path() /
      fmt::format("meshloom-{}-{}", name, getpid());
  return detail::gatherTexts("folder", localFolder.string()).front();
}

TEST(ProcessesTest, CheckpointsAreWrittenByAllAndReadIntoOtherMeshes) {
  const std::filesystem::path folder = sharedFolder("checkpoint");
  const Mesh mesh = meshOfAll();
  const Tensor value = iota({10, 3}, 0, DType::F32);
  DVariable cut(distribute(value, Layout::batch_sharded(mesh, "batch", 2)),
                {.name = "cut"});
  DVariable whole(copy_to_mesh(value + 1.0, mesh), {.name = "whole"});
  Checkpoint({{"cut", cut}, {"whole", whole}}).write(folder / "one");
  // Again, in place of it.
  Checkpoint({{"cut", cut}, {"whole", whole}}).write(folder / "one");
  DVariable here(
      distribute(zeros({10, 3}), Layout::batch_sharded(meshHere(), "batch", 2)),
      {.name = "cut"});
  DVariable again(copy_to_mesh(zeros({10, 3}), mesh), {.name = "whole"});
  Checkpoint({{"cut", here}, {"whole", again}}).restore(folder / "one");
  EXPECT_EQ(here.read_value().to_vector<float>(), value.to_vector<float>());
  EXPECT_EQ(again.read_value().to_vector<float>(),
            (value + 1.0).to_vector<float>());
  // Each element once.
  if (client_id() == 0) {
    uintmax_t bytes = 0;
    for (const auto &entry :
         std::filesystem::directory_iterator(folder / "one"))
      if (entry.path().extension() == ".safetensors")
        bytes += entry.file_size();
    EXPECT_LT(bytes, 2u * 10 * 3 * 4 + 600u * unsigned(mesh.size()));
  }
  detail::waitForAll("read");
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
}

TEST(ProcessesTest, ASignalToOneSavesOneStepOfAll) {
  const std::filesystem::path folder = sharedFolder("preemption");
  const Mesh mesh = meshOfAll();
  auto handlerOf = [&](const DVariable &steps) {
    return PreemptionCheckpointHandler(
        Checkpoint({{"steps", steps}}), folder,
        {.exit_fn = [] { throw std::runtime_error("ended"); }});
  };
  {
    const DVariable steps(copy_to_mesh(zeros({}), mesh));
    const PreemptionCheckpointHandler handler = handlerOf(steps);
    EXPECT_THROW(for (int i = 1; i <= 10; ++i) handler.run([&] {
      steps.assign_add(1.0);
      if (i == 4 && client_id() == num_clients() - 1)
        std::raise(SIGTERM);
    }),
                 std::runtime_error);
    EXPECT_EQ(handler.total_run_calls(), 4);
  }
  const DVariable steps(copy_to_mesh(zeros({}), mesh));
  const PreemptionCheckpointHandler handler = handlerOf(steps);
  EXPECT_EQ(handler.total_run_calls(), 4);
  while (handler.total_run_calls() < 6)
    handler.run([&] { steps.assign_add(1.0); });
  EXPECT_EQ(steps.read_value().item<float>(), 6.f);
  detail::waitForAll("read");
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
}

TEST(ProcessesTest, FitGoesOnFromTheBackupOfAll) {
  const std::filesystem::path folder = sharedFolder("backup");
  auto train = [&](int64_t epochs, int64_t breaksAfter) {
    const MultiWorkerMirroredStrategy strategy;
    auto scope = strategy.scope();
    Sequential model(
        {Input({2}), layers::Dense(1, {.kernel_initializer = "ones"})});
    model.compile({.optimizer = optimizers::Adam({.learning_rate = 0.05}),
                   .loss = "mse"});
    auto data = data::from_tensor_slices(iota({24, 2}, 0, DType::F32) * 0.1,
                                         iota({24, 1}, 0, DType::F32) * 0.2)
                    .batch(12);
    callbacks::LambdaCallback crash(
        {.on_epoch_end = [&](int64_t epoch, const Logs &) {
          if (epoch == breaksAfter)
            throw std::runtime_error("crash");
        }});
    return model.fit(
        data, {.epochs = epochs,
               .verbose = 0,
               .callbacks = {callbacks::BackupAndRestore(folder / "b"),
                             callbacks::ModelCheckpoint(folder / "{epoch}"),
                             crash}})["loss"];
  };
  const std::vector<double> unbroken = train(4, -1);
  ASSERT_EQ(unbroken.size(), 4u);
  EXPECT_FALSE(std::filesystem::exists(folder / "b"));
  EXPECT_THROW(train(4, 1), std::runtime_error);
  const std::vector<double> continued = train(4, -1);
  // The backup of an epoch is written when all callbacks have seen its end.
  ASSERT_EQ(continued.size(), 3u);
  for (size_t i = 0; i < continued.size(); ++i)
    EXPECT_NEAR(continued[i], unbroken[i + 1], 1e-5);
  // A model that all processes wrote can be read by one process.
  EXPECT_EQ(load_model(folder / "4").variables().size(), 2u);
  detail::waitForAll("read");
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
}

// Gradients in packs: one for each of them, a few, and one for all.
/// The standard output of this process is a terminal while one lives.
class Terminal {
public:
  Terminal() : before(::dup(STDOUT_FILENO)), end(::posix_openpt(O_RDWR)) {
    ::grantpt(end);
    ::unlockpt(end);
    const int terminal = ::open(::ptsname(end), O_RDWR | O_NOCTTY);
    ::dup2(terminal, STDOUT_FILENO);
    ::close(terminal);
  }
  ~Terminal() {
    ::dup2(before, STDOUT_FILENO);
    ::close(before);
    ::close(end);
  }
  Terminal(const Terminal &) = delete;

private:
  int before, end;
};

TEST(ProcessesTest, TheFirstWritesWhatAllSee) {
  const std::filesystem::path folder = sharedFolder("callbacks");
  std::filesystem::create_directories(folder);
  const MultiWorkerMirroredStrategy strategy;
  auto scope = strategy.scope();
  Sequential model({Input({2}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  {
    // A bar that moves in one process alone asks nothing of the others.
    std::optional<Terminal> terminal;
    if (client_id() == 0)
      terminal.emplace();
    model.fit(data::from_tensor_slices(ones({16, 2}), ones({16, 1})).batch(4),
              {.epochs = 2,
               .callbacks = {callbacks::CSVLogger(folder / "log.csv"),
                             callbacks::TensorBoard({.log_dir = folder,
                                                     .histogram_freq = 1,
                                                     .update_freq = 2})}});
  }
  detail::waitForAll("written");
  std::ifstream log(folder / "log.csv");
  std::string line;
  int64_t lines = 0;
  while (std::getline(log, line))
    ++lines;
  EXPECT_EQ(lines, 3);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "train"),
                          std::filesystem::directory_iterator()),
            1);
  detail::waitForAll("read");
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
}

TEST(ProcessesTest, FitAddsUpGradientsInPacks) {
  auto train = [](int64_t bytesPerPack) {
    const MultiWorkerMirroredStrategy strategy(
        {.bytes_per_pack = bytesPerPack});
    auto scope = strategy.scope();
    Sequential model(
        {Input({2}),
         layers::Dense(6, {.activation = "tanh", .kernel_initializer = "ones"}),
         layers::Dense(1, {.kernel_initializer = "ones"})});
    model.compile(
        {.optimizer = optimizers::SGD({.learning_rate = 0.05}), .loss = "mse"});
    auto data = data::from_tensor_slices(iota({16, 2}, 0, DType::F32) * 0.1,
                                         iota({16, 1}, 0, DType::F32) * 0.2)
                    .batch(8);
    return model.fit(data, {.epochs = 3, .verbose = 0})["loss"];
  };
  const std::vector<double> expected = train(0);
  ASSERT_EQ(expected.size(), 3u);
  for (const int64_t bytes : {1, 32, 1 << 20}) {
    const std::vector<double> losses = train(bytes);
    ASSERT_EQ(losses.size(), 3u);
    for (size_t epoch = 0; epoch < 3; ++epoch)
      EXPECT_NEAR(losses[epoch], expected[epoch], 1e-5 * expected[epoch])
          << bytes << " bytes a pack";
  }
}

// The first process waits at no barrier until all others have given theirs up.
TEST(ProcessesTest, ABarrierNamesWhoIsMissing) {
  const std::filesystem::path folder = sharedFolder("barrier");
  std::filesystem::create_directories(folder);
  const Mesh mesh = meshOfAll();
  barrier(mesh, "all");
  barrier(meshHere(), "here");
  if (client_id() > 0) {
    try {
      barrier(mesh, "late", 0.3);
      ADD_FAILURE();
    } catch (const DeadlineExceededError &error) {
      EXPECT_THAT(error.what(), HasSubstr("rank 0"));
    }
    std::filesystem::create_directory(folder / std::to_string(client_id()));
  }
  const auto clientsThatFailed = [&] {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  while (client_id() == 0 && clientsThatFailed() < num_clients() - 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  detail::waitForAll("after");
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
}

TEST(ProcessesTest, AWorkersVariablesBeginWithTheChiefsValue) {
  const MultiWorkerMirroredStrategy strategy;
  EXPECT_EQ(strategy.num_replicas_in_sync() % num_clients(), 0);
  auto scope = strategy.scope();
  std::optional<Tensor> initial;
  {
    // A tensor of the host, which nobody has told of the mesh.
    auto host = device("CPU:0");
    initial = tensor(float(client_id() + 5));
  }
  const DVariable variable(*initial);
  EXPECT_EQ(variable.read_value().item<float>(), 5.f);
}

/// The rows that each step has in the replicas of this process.
std::vector<std::vector<int64_t>> rowsOfSteps(int64_t examples, int64_t batch,
                                              data::AutoShardPolicy policy) {
  const MultiWorkerMirroredStrategy strategy;
  auto dataset = data::from_tensor_slices(iota({examples}, 0, DType::F32))
                     .batch(batch)
                     .with_options({.auto_shard_policy = policy});
  std::vector<std::vector<int64_t>> steps;
  double sum = 0;
  for (const PerReplica<Tensor> &step :
       strategy.experimental_distribute_dataset(dataset)) {
    std::vector<int64_t> rows;
    for (const Tensor &result : strategy.experimental_local_results(step)) {
      rows.push_back(result.shape().front());
      for (float value : result.to_vector<float>())
        sum += value;
    }
    steps.push_back(rows);
  }
  // All examples are seen once, or by every worker.
  double total = 0;
  for (const std::vector<int64_t> &numbers :
       detail::gatherNumbers({int64_t(sum)}, "test"))
    total += double(numbers.front());
  const double sumOfAll = double(examples * (examples - 1)) / 2;
  EXPECT_EQ(total, policy == data::AutoShardPolicy::OFF
                       ? sumOfAll * double(num_clients())
                       : sumOfAll);
  return steps;
}

TEST(ProcessesTest, StepsTakeOneGlobalBatchInAllWorkers) {
  const MultiWorkerMirroredStrategy strategy;
  if (num_clients() != 2 || strategy.num_replicas_in_sync() != 4)
    GTEST_SKIP() << "the numbers are those of two workers of two replicas";
  using Steps = std::vector<std::vector<int64_t>>;
  // Global batches of 7 that both workers read: 2 and 2 to worker 0, 2 and 1 to
  // worker 1.
  EXPECT_EQ(rowsOfSteps(14, 7, data::AutoShardPolicy::DATA),
            client_id() == 0 ? Steps({{2, 2}, {2, 2}})
                             : Steps({{2, 1}, {2, 1}}));
  // The last one of 4 rows.
  EXPECT_EQ(rowsOfSteps(20, 8, data::AutoShardPolicy::AUTO),
            client_id() == 0 ? Steps({{2, 2}, {2, 2}, {2, 2}})
                             : Steps({{2, 2}, {2, 2}, {0, 0}}));
  // Batches that each worker has alone begin with its own replicas.
  EXPECT_EQ(rowsOfSteps(14, 7, data::AutoShardPolicy::OFF),
            client_id() == 0 ? Steps({{2, 2}, {2, 1}, {2, 2}, {2, 1}})
                             : Steps({{2, 1}, {2, 2}, {2, 1}, {2, 2}}));
}

// A computation that needs nothing of other ranks runs on this process alone:
// no rank waits.
TEST(ProcessesTest, OneRankComputesWithWhatItHas) {
  const Mesh mesh = meshOfAll();
  const MultiWorkerMirroredStrategy strategy;
  const DVariable mirrored = [&] {
    auto scope = strategy.scope();
    return DVariable(tensor({1.f, 2.f, 3.f}));
  }();
  const Tensor rows = distribute(iota({4 * num_clients(), 2}, 0, DType::F32),
                                 Layout::batch_sharded(mesh, "batch", 2));
  if (client_id() == num_clients() - 1) {
    EXPECT_EQ(reduce_sum(mirrored * mirrored).item<float>(), 14.f);
    auto norm = function([&] { return sqrt(reduce_sum(square(mirrored))); });
    EXPECT_FLOAT_EQ(norm().item<float>(), std::sqrt(14.f));
    const Tensor whole =
        distribute(tensor({4.f, 5.f}), Layout::replicated(mesh, 1));
    EXPECT_EQ(reduce_max(whole * 2.f).item<float>(), 10.f);
    EXPECT_EQ(unpack(rows * 2.f).front().to_vector<float>().size(), 4u);
  }
  // The others have not missed it.
  EXPECT_EQ(reduce_max(rows).item<float>(), float(4 * num_clients() - 1));
}

TEST(ProcessesTest, LogicalDevicesAreThoseOfAProcess) {
  const DeviceSpec cpu = list_physical_devices("CPU").front();
  const int64_t existing = num_local_devices("CPU");
  ASSERT_GE(existing, 2);
  std::vector<LogicalDeviceConfiguration> perDevice(
      static_cast<size_t>(existing));
  set_logical_device_configuration(cpu, perDevice);
  EXPECT_EQ(num_local_devices("CPU"), existing);
  perDevice.pop_back();
  EXPECT_THAT(
      errorOf([&] { set_logical_device_configuration(cpu, perDevice); }),
      HasSubstr(fmt::format("expected at least {} configurations", existing)));
}

TEST(ProcessesTest, AFunctionIsCalledOnceInEachWorker) {
  const MultiWorkerMirroredStrategy strategy;
  int64_t calls = 0;
  auto dataset = strategy.distribute_datasets_from_function(
      [&](const InputContext &context) {
        ++calls;
        EXPECT_EQ(context.num_input_pipelines, num_clients());
        EXPECT_EQ(context.input_pipeline_id, client_id());
        return data::from_tensor_slices(iota({8}, 0, DType::F32)).batch(2);
      });
  int64_t steps = 0;
  for (const PerReplica<Tensor> &step : dataset) {
    EXPECT_EQ(step.replicas, strategy.num_replicas_in_sync());
    ++steps;
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(steps, 4 / (strategy.num_replicas_in_sync() / num_clients()));
}

TEST(ProcessesTest, ReplicasOfAllWorkersAreReduced) {
  const MultiWorkerMirroredStrategy strategy;
  const int64_t replicas = strategy.num_replicas_in_sync();
  const auto values = strategy.experimental_distribute_values_from_function(
      [](const ValueContext &context) {
        return tensor(float(context.replica_id_in_sync_group));
      });
  const auto doubled =
      strategy.run([](const Tensor &value) { return value * 2.0; }, values);
  EXPECT_EQ(strategy.reduce(ReduceOp::SUM, doubled).item<float>(),
            float(replicas * (replicas - 1)));
  const std::vector<Tensor> local =
      strategy.experimental_local_results(doubled);
  EXPECT_EQ(int64_t(local.size()), replicas / num_clients());
  EXPECT_EQ(local.front().item<float>(),
            float(2 * client_id() * replicas / num_clients()));
}

// A value that all have is printed by one of them; results are everybody's own.
TEST(ProcessesTest, CallsForTheirEffectAreMadeOnceInAll) {
  static std::atomic<int64_t> counts[2];
  for (int device : {0, 1})
    ASSERT_TRUE(register_custom_call(device ? "count_and_give" : "count",
                                     {"", [device](const CustomCall &call) {
                                        ++counts[device];
                                        if (!call.results.empty())
                                          *static_cast<float *>(
                                              call.results[0].data) = 7;
                                        return Status(Success());
                                      }}));
  const Mesh mesh = meshOfAll();
  const Tensor whole = distribute(ones({4}), Layout::replicated(mesh, 1));
  const Tensor cut =
      distribute(ones({16}), Layout::batch_sharded(mesh, "batch", 1));
  for (const Tensor &value : {whole, cut}) {
    host_call("count", {value}, {});
    (void)function([](const Tensor &x) {
      host_call("count", {x}, {});
      return x + 1.0;
    })(value);
  }
  EXPECT_EQ(host_call("count_and_give", {whole}, {{DType::F32, {}}})
                .front()
                .item<float>(),
            7.F);
  int64_t calls[2] = {0, 0};
  for (const std::vector<int64_t> &numbers :
       detail::gatherNumbers({counts[0], counts[1]}, "counts"))
    for (int kind : {0, 1})
      calls[kind] += numbers[size_t(kind)];
  EXPECT_EQ(calls[0], 4);
  EXPECT_EQ(calls[1], num_clients());
}

} // namespace
} // namespace meshloom
