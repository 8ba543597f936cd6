// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workers and servers as processes and over TLS: datasets that workers make
// themselves, who is let in, who is lost, and what ends with its coordinator.
#include "ParameterServers.h"

#include "../Cluster/Certificates.h"

namespace meshloom {
namespace {
using test::Certificates;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

/// Not a test: what this program is in a process of its own.
TEST(ServerProcess, DISABLED_Serves) {
  TFConfigClusterResolver resolver;
  Server server(resolver.cluster_spec(), *resolver.task_type(),
                *resolver.task_id());
  server.join();
}

/// The environment's variable while it lives.
struct Variable {
  Variable(const char *name, const char *value) : name(name) {
    ::setenv(name, value, 1);
  }
  ~Variable() { ::unsetenv(name); }
  Variable(const Variable &) = delete;
  const char *name;
};

//===----------------------------------------------------------------------===//
// Datasets
//===----------------------------------------------------------------------===//

/// In whatever process: that process' number, and the worker's.
const auto whereAmI = register_dataset("where_am_i", [](int64_t worker) {
  return data::from_tensor_slices(tensor({int64_t(::getpid())}),
                                  tensor({worker}))
      .repeat();
});

TEST(WorkerDatasetTest, RunsInTheProcessOfItsWorker) {
  ServerThreads cluster(2, 1, /*startsWorkers=*/false);
  cluster.workers.push_back(cluster.start("worker", 0));
  auto other = std::make_unique<Process>(cluster.spec, "worker", 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto iterator = coordinator.create_per_worker_dataset(whereAmI).iterate();
  auto same = function(
      [](const std::pair<Tensor, Tensor> &element) { return element; });
  std::map<int64_t, int64_t> processes;
  while (processes.size() < 2) {
    const auto [process, worker] = coordinator.schedule(same, iterator).fetch();
    processes[worker.item<int64_t>()] = process.item<int64_t>();
  }
  EXPECT_EQ(processes[0], ::getpid());
  EXPECT_EQ(processes[1], other->number());
  EXPECT_EQ(same.trace_count(), 1);

  // A function of this process is not in the other one.
  cluster.workers.clear();
  auto here = coordinator.create_per_worker_dataset(
      [] { return data::range(3).repeat(); });
  auto add = function([](const Tensor &x) { return x + 1; });
  EXPECT_THAT(
      errorOf([&] { coordinator.schedule(add, here.iterate()).fetch(); }),
      AllOf(HasSubstr("/job:worker/task:1"),
            HasSubstr("register_dataset(\"a name\", function)")));
  EXPECT_NE(errorOf([&] { coordinator.join(); }), "");
}

TEST(WorkerDatasetTest, ElementsMayDiffer) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto iterator =
      coordinator
          .create_per_worker_dataset(
              data::from_tensor_slices(tensor({1.f, 2.f, 3.f, 4.f, 5.f}))
                  .batch(2))
          .iterate();
  auto sum = function([](const Tensor &x, const Tensor &scale) {
    return reduce_sum(x) * scale;
  });
  std::vector<float> sums;
  for (int i = 0; i < 3; ++i)
    sums.push_back(
        coordinator.schedule(sum, iterator, tensor(2.f)).fetch().item<float>());
  EXPECT_EQ(sums, (std::vector{6.f, 14.f, 10.f}));
  EXPECT_EQ(sum.trace_count(), 2);
  EXPECT_THAT(errorOf([&] {
                coordinator.schedule(sum, iterator, tensor(2.f)).fetch();
              }),
              HasSubstr("the dataset of a worker has ended"));
  EXPECT_NE(errorOf([&] { coordinator.join(); }), "");
}

TEST(WorkerDatasetTest, DatasetsWithoutIteratorsAreClosed) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  std::weak_ptr<int> opened;
  auto dataset = coordinator.create_per_worker_dataset([&opened] {
    auto held = std::make_shared<int>(0);
    opened = held;
    return data::from_generator(
        [held] { return [held]() { return std::optional(tensor(++*held)); }; });
  });
  auto same = function([](const Tensor &x) { return x; });
  {
    auto iterator = dataset.iterate();
    coordinator.schedule(same, iterator).fetch();
    EXPECT_FALSE(opened.expired());
  }
  coordinator.schedule(same, tensor(1)).fetch();
  EXPECT_TRUE(opened.expired());
}

TEST(WorkerDatasetTest, BadUseIsRefused) {
  auto make = [] { return data::range(3).repeat(); };
  EXPECT_THAT(errorOf([&] { register_dataset("where_am_i", make); }),
              HasSubstr("there is a dataset 'where_am_i' already"));
  EXPECT_THAT(errorOf([&] { register_dataset("", make); }),
              HasSubstr("expected a name"));
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto add = function([](const Tensor &x, const Tensor &y) { return x + y; });
  auto errorWith = [&](const auto &...args) {
    const std::string error =
        errorOf([&] { coordinator.schedule(add, args...).fetch(); });
    EXPECT_EQ(errorOf([&] { coordinator.join(); }), error);
    return error;
  };
  auto iterator = coordinator.create_per_worker_dataset(make).iterate();
  EXPECT_THAT(errorWith(iterator, iterator), HasSubstr("got one twice"));
  auto failing = coordinator.create_per_worker_dataset(
      [&]() -> data::Dataset<Tensor> { throw Error("no such file"); });
  EXPECT_THAT(errorWith(failing.iterate(), tensor(1)),
              HasSubstr("no such file"));
  EXPECT_THAT(errorWith(PerWorkerValues<Tensor>({}), tensor(1)),
              HasSubstr("expected a value for each worker"));
  EXPECT_THAT(errorOf([&] { coordinator.schedule(add, Tensor(), tensor(1)); }),
              HasSubstr("empty"));
  EXPECT_THAT(
      errorOf([&] { coordinator.schedule(add, tensor({1, 2}), zeros({3})); }),
      HasSubstr("[3]"));
  // The earlier errors are over; a result can be fetched as often as wanted.
  auto good = coordinator.schedule(add, tensor(1), tensor(2));
  EXPECT_EQ(good.fetch().item<int32_t>(), 3);
  EXPECT_EQ(good.fetch().item<int32_t>(), 3);
}

TEST(WorkerDatasetTest, VariablesOfAnotherStrategyAreRefused) {
  ServerThreads cluster(1, 1), others(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ParameterServerStrategy another = others.strategy();
  DVariable foreign = [&] {
    auto scope = another.scope();
    return DVariable(ones({2}), {.name = "foreign"});
  }();
  ClusterCoordinator coordinator(strategy);
  auto read = function([&] { return foreign + 1; });
  const std::string error =
      errorOf([&] { coordinator.schedule(read).fetch(); });
  EXPECT_THAT(error, HasSubstr("variable 'foreign' is not on the parameter "
                               "servers of this strategy"));
  EXPECT_EQ(errorOf([&] { coordinator.join(); }), error);
}

//===----------------------------------------------------------------------===//
// Who is let in
//===----------------------------------------------------------------------===//

/// A worker and a parameter server with these options, and the error of a
/// coordinator's first function.
std::string errorBetween(const ServerOptions &ps, const ServerOptions &worker,
                         ParameterServerOptions chief) {
  const Quiet quiet;
  const ClusterSpec spec = freeCluster(1, 1);
  Server first(spec, "ps", 0, ps), second(spec, "worker", 0, worker);
  chief.connect_timeout_seconds = 1;
  chief.worker_timeout_seconds = 1;
  return errorOf([&] {
    ParameterServerStrategy strategy(SimpleClusterResolver(spec), chief);
    auto scope = strategy.scope();
    DVariable v(zeros({2}));
    auto step = function([&](const Tensor &x) {
      v.assign_add(x);
      return reduce_sum(v);
    });
    const auto result =
        ClusterCoordinator(strategy).schedule(step, ones({2})).fetch();
    if (result.item<float>() != 2 || v.to_vector<float>().front() != 1)
      throw Error("wrong values");
  });
}

TEST(AccessTest, ATokenIsAskedForEverywhere) {
  const ServerOptions right{.token = "right"}, wrong{.token = "wrong"};
  EXPECT_EQ(errorBetween(right, right, {.token = "right"}), "");
  // The coordinator's is wrong, or missing.
  EXPECT_THAT(errorBetween(right, right, {.token = "wrong"}),
              HasSubstr("the token is another one"));
  EXPECT_THAT(errorBetween(right, right, {.token = ""}),
              HasSubstr("the token is another one"));
  // Only the worker's is.
  EXPECT_THAT(errorBetween(right, wrong, {.token = "right"}),
              AllOf(HasSubstr("/job:worker/task:0"),
                    HasSubstr("the token is another one")));
}

TEST(AccessTest, CertificatesAreAskedForEverywhere) {
  const Certificates certificates;
  const ServerOptions none, right{.tls = certificates.filesOf("authority")},
      strange{.tls = certificates.filesOf("stranger")};
  auto chief = [&](const ServerOptions &like) {
    return ParameterServerOptions{.tls = like.tls};
  };
  EXPECT_EQ(errorBetween(right, right, chief(right)), "");
  for (const ServerOptions &wrong : {none, strange}) {
    EXPECT_THAT(errorBetween(right, right, chief(wrong)),
                AllOf(HasSubstr("/job:ps/task:0"),
                      HasSubstr("certificates of one authority")));
    EXPECT_THAT(errorBetween(right, wrong, chief(right)),
                HasSubstr("no worker could be reached: /job:worker/task:0"));
  }
  // A right authority, a certificate that it has not signed.
  ServerOptions mixed = strange;
  mixed.tls->authority = right.tls->authority;
  EXPECT_THAT(errorBetween(right, right, chief(mixed)),
              HasSubstr("no peer accepts the certificate"));
}

TEST(AccessTest, SaysHowItIsReachedAndWhatCannotBeUsed) {
  const Certificates certificates;
  const ClusterSpec spec = freeCluster(1, 1);
  ServerOptions options{.token = "", .tls = certificates.filesOf("authority")};
  {
    Logged log;
    Server server(spec, "ps", 0, options);
    EXPECT_THAT(log.lines(),
                Contains(HasSubstr("(this machine alone reaches it), with TLS, "
                                   "without a token")));
  }
  auto error = [&] { return errorOf([&] { Server(spec, "ps", 0, options); }); };
  options.tls->key = certificates.folder / "none.key";
  EXPECT_THAT(error(), HasSubstr("none.key"));
  options.tls->key.clear();
  EXPECT_THAT(error(), HasSubstr("TLS needs three files"));
  options.tls.reset();
  const Variable malformed("MESHLOOM_COORDINATOR_TIMEOUT", "soon");
  EXPECT_THAT(error(), HasSubstr("such as MESHLOOM_COORDINATOR_TIMEOUT=60"));
  options.coordinator_timeout_seconds = -1;
  EXPECT_THAT(error(), HasSubstr("0 or more, got -1"));
  for (auto wrong : {ParameterServerOptions{.connect_timeout_seconds = -1},
                     ParameterServerOptions{.worker_timeout_seconds = NAN}})
    EXPECT_THAT(errorOf([&] {
                  ParameterServerStrategy(SimpleClusterResolver(spec), wrong);
                }),
                HasSubstr("timeout_seconds to be 0 or more"));
  const ClusterSpec portless(std::map<std::string, std::vector<std::string>>{
      {"ps", {"localhost"}}, {"worker", {"localhost:70000"}}});
  EXPECT_THAT(errorOf([&] { Server(portless, "ps", 0); }),
              HasSubstr("it has no port"));
  EXPECT_THAT(errorOf([&] { Server(portless, "worker", 0); }),
              HasSubstr("the port is not a number in 0..65535"));
}

//===----------------------------------------------------------------------===//
// Who is lost
//===----------------------------------------------------------------------===//

TEST(LostTest, AStoppedParameterServerIsFound) {
  const Variable silence("MESHLOOM_HEARTBEAT_TIMEOUT", "2");
  ServerThreads cluster(1, 1);
  cluster.servers.clear();
  Process server(cluster.spec, "ps", 0);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable v(zeros({}), {.name = "v"});
  auto step = function([&] { v.assign_add(1); });
  coordinator.schedule(step).fetch();
  server.signal(SIGSTOP);
  EXPECT_THROW(coordinator.schedule(step).fetch(), UnavailableError);
  EXPECT_THROW(v.read_value(), UnavailableError);
  EXPECT_THROW(coordinator.join(), UnavailableError);
}

TEST(LostTest, AStoppedWorkerIsReplacedAndUsedAgain) {
  const Variable silence("MESHLOOM_HEARTBEAT_TIMEOUT", "2");
  ServerThreads cluster(2, 1, /*startsWorkers=*/false);
  Process first(cluster.spec, "worker", 0), second(cluster.spec, "worker", 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto iterator = coordinator.create_per_worker_dataset(whereAmI).iterate();
  auto who = function(
      [](const std::pair<Tensor, Tensor> &element) { return element.second; });
  auto waitFor = [&](int64_t worker) {
    while (coordinator.schedule(who, iterator).fetch().item<int64_t>() !=
           worker)
      ;
  };
  waitFor(0);
  Logged log;
  first.signal(SIGSTOP);
  // Until it is the one that takes it.
  auto isLost = [&] {
    return std::ranges::any_of(log.lines(), [](const std::string &line) {
      return line.find("Lost /job:worker/task:0") != std::string::npos;
    });
  };
  while (!isLost()) {
    coordinator.schedule(who, iterator);
    coordinator.join();
  }
  first.signal(SIGCONT);
  waitFor(0);
}

TEST(LostTest, AServerEndsWithItsCoordinator) {
  ServerThreads cluster(1, 1, /*startsWorkers=*/false);
  Server worker(cluster.spec, "worker", 0,
                {.coordinator_timeout_seconds = 0.2});
  std::atomic<bool> hasEnded = false;
  std::thread joins([&] {
    worker.join();
    hasEnded = true;
  });
  {
    ParameterServerStrategy strategy = cluster.strategy();
    ClusterCoordinator coordinator(strategy);
    auto add = function([](const Tensor &x) { return x + 1; });
    EXPECT_EQ(coordinator.schedule(add, tensor(1)).fetch().item<int32_t>(), 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    EXPECT_FALSE(hasEnded);
  }
  joins.join();
  EXPECT_TRUE(hasEnded);
}

//===----------------------------------------------------------------------===//
// fit
//===----------------------------------------------------------------------===//

/// Losses of a model that a single worker trains, so that its steps come one
/// after the other.
struct Fitted {
  std::vector<double> losses;
  std::vector<float> kernel;
  int64_t steps;
};
data::Dataset<std::pair<Tensor, Tensor>> fourRows() {
  return data::from_tensor_slices(
             tensor({{1.f, 1.5f}, {2.f, 2.5f}, {3.f, 3.5f}, {4.f, 5.f}}),
             tensor({{0.3f}, {0.5f}, {0.7f}, {0.9f}}))
      .repeat()
      .batch(2);
}
Fitted fitted(TrainingOptions options, const TrainingData &data = fourRows()) {
  ServerThreads cluster(1, 2);
  ParameterServerStrategy strategy = cluster.strategy();
  auto scope = strategy.scope();
  Sequential model({Input({2}), layers::Dense(1, {.name = "dense"})});
  model.variables().front().assign(tensor({{0.5f}, {-1.f}}));
  options.loss = "mse";
  model.compile(options);
  const History history =
      model.fit(data, {.epochs = 2, .verbose = 0, .steps_per_epoch = 5});
  return {history["loss"], model.variables().front().to_vector<float>(),
          model.steps_taken()};
}

TEST(FitOnServersTest, AWorkerTakesSeveralStepsAtOnce) {
  auto options = [](int64_t steps) {
    return TrainingOptions{.optimizer =
                               optimizers::SGD({.learning_rate = 0.01}),
                           .steps_per_execution = steps};
  };
  const Fitted one = fitted(options(1)), three = fitted(options(3));
  EXPECT_EQ(three.steps, 10);
  EXPECT_EQ(one.kernel, three.kernel);
  EXPECT_EQ(one.losses, three.losses);
}

TEST(FitOnServersTest, LossesAreScaled) {
  auto options = [](optimizers::LossScale scale) {
    return TrainingOptions{
        .optimizer = optimizers::Adam(
            {.learning_rate = 0.1, .common = {.loss_scale = scale}})};
  };
  const Fitted plain = fitted(options({})), scaled = fitted(options({1024, 4}));
  EXPECT_THAT(scaled.kernel,
              testing::Pointwise(testing::FloatNear(1e-5f), plain.kernel));
  EXPECT_EQ(scaled.steps, 10);
}

TEST(FitOnServersTest, GradientsThatAreNotFiniteChangeOnlyTheLossScale) {
  ServerThreads cluster(1, 2);
  ParameterServerStrategy strategy =
      cluster.strategy({.variable_partitioner = FixedShardsPartitioner(2)});
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable w(tensor({1.f, 2.f}), {.name = "w"});
  optimizers::Adam optimizer(
      {.learning_rate = 0.1, .common = {.loss_scale = {1024, 2}}});
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    const Tensor loss = reduce_sum(w * x);
    optimizer.apply_gradients(tape.gradient(optimizer.scale_loss(loss), {w}));
  });
  auto scale = [&] {
    for (const DVariable &variable : optimizer.variables())
      if (variable.name() == "loss_scale")
        return variable.item<float>();
    return 0.f;
  };
  coordinator.schedule(step, full({2}, INFINITY)).fetch();
  EXPECT_EQ(w.to_vector<float>(), (std::vector{1.f, 2.f}));
  EXPECT_EQ(optimizer.iterations().item<int64_t>(), 0);
  EXPECT_EQ(scale(), 512);
  for (int i = 0; i < 2; ++i)
    coordinator.schedule(step, ones({2})).fetch();
  EXPECT_LT(w.to_vector<float>()[1], 2);
  EXPECT_EQ(optimizer.iterations().item<int64_t>(), 2);
  EXPECT_EQ(scale(), 1024);
}

TEST(FitOnServersTest, GradientsAreNotAccumulated) {
  EXPECT_THAT(errorOf([] {
                fitted({.optimizer = optimizers::SGD(
                            {.learning_rate = 0.01,
                             .common = {.gradient_accumulation_steps = 2}})});
              }),
              HasSubstr("whose workers do not wait for each other"));
}

TEST(FitOnServersTest, WorkersMakeTheBatches) {
  const auto dataset = [](const InputContext &context) {
    EXPECT_EQ(context.num_input_pipelines, 1);
    return fourRows();
  };
  for (int64_t steps : {1, 3}) {
    const auto options = [steps] {
      return TrainingOptions{.optimizer =
                                 optimizers::SGD({.learning_rate = 0.01}),
                             .steps_per_execution = steps};
    };
    const Fitted sent = fitted(options()), taken = fitted(options(), dataset);
    EXPECT_EQ(taken.steps, 10);
    EXPECT_EQ(taken.kernel, sent.kernel);
    EXPECT_EQ(taken.losses, sent.losses);
  }
  // Without workers it is called here.
  Sequential model({Input({2}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const History history =
      model.fit(dataset, {.verbose = 0, .steps_per_epoch = 2});
  EXPECT_EQ(history["loss"].size(), 1u);
  EXPECT_THAT(errorOf([&] { (void)model.predict(dataset); }),
              HasSubstr("in the order of one dataset"));
}

/// Rows of two inputs and two outputs, which are in no order by their names.
using NamedRows = std::map<std::string, Tensor>;
data::Dataset<std::pair<NamedRows, NamedRows>> namedRows() {
  const NamedRows x{{"wide", tensor({{1.f, 1.5f}, {2.f, 2.5f}})},
                    {"slim", tensor({{3.f}, {4.f}})}},
      y{{"sum", tensor({{0.3f}, {0.5f}})}, {"half", tensor({{0.7f}, {0.9f}})}};
  return data::from_tensor_slices(x, y).repeat().batch(2);
}

TEST(FitOnServersTest, PartsOfMapsGoByTheirNames) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  auto scope = strategy.scope();
  auto trained = [](const TrainingData &data) {
    const SymbolicTensor wide = Input({2}, {.name = "wide"}),
                         slim = Input({1}, {.name = "slim"});
    auto dense = [](const char *name) {
      return layers::Dense(1, {.kernel_initializer = "ones", .name = name});
    };
    Model model({wide, slim}, {dense("sum")(wide), dense("half")(slim)});
    model.compile({.optimizer = optimizers::SGD({.learning_rate = 0.01}),
                   .loss = {{"sum", "mse"}, {"half", "mse"}}});
    std::vector<double> losses = model.fit(
        data, {.epochs = 2, .verbose = 0, .steps_per_epoch = 3})["loss"];
    const Logs logs = model.evaluate(data, {.verbose = 0, .steps = 1});
    losses.push_back(logs.at("half_loss"));
    return losses;
  };
  EXPECT_EQ(trained([](const InputContext &) { return namedRows(); }),
            trained(namedRows()));
  const auto other = [](const InputContext &) {
    return namedRows().map([](const std::pair<NamedRows, NamedRows> &rows) {
      return std::pair(NamedRows{{"wide", rows.first.at("wide")},
                                 {"thin", rows.first.at("slim")}},
                       rows.second);
    });
  };
  EXPECT_THAT(errorOf([&] { trained(other); }),
              HasSubstr("names of the model's inputs, 'wide', 'slim', got "
                        "'thin', 'wide'"));
}

/// In whatever process: the number of that worker's process, as rows.
const auto processNumbers = register_dataset("process_numbers", [] {
  const float number = float(::getpid());
  return data::from_tensor_slices(tensor({{1.f}, {1.f}}),
                                  tensor({{number}, {number}}))
      .repeat()
      .batch(2);
});

TEST(FitOnServersTest, BatchesStayInTheirWorkersProcess) {
  ServerThreads cluster(1, 1, /*startsWorkers=*/false);
  const Process worker(cluster.spec, "worker", 0);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  Sequential model({layers::Dense(1, {.use_bias = false})}); // built by fit
  model.compile(
      {.optimizer = optimizers::SGD({.learning_rate = 0.5}), .loss = "mse"});
  const auto batches = coordinator.create_per_worker_dataset(processNumbers);
  EXPECT_THAT(errorOf([&] { model.fit(batches); }),
              HasSubstr("by steps_per_epoch"));
  model.fit(batches, {.epochs = 2,
                      .verbose = 0,
                      .validation_data = batches,
                      .steps_per_epoch = 2,
                      .validation_steps = 1});
  EXPECT_NEAR(model.variables().front().item<float>(), float(worker.number()),
              1e-3 * worker.number());
  EXPECT_LT(model.evaluate(batches, {.verbose = 0, .steps = 3}).at("loss"),
            1e-4 * worker.number());
}

TEST(FitOnServersTest, WorkersEvaluate) {
  ServerThreads cluster(1, 1, /*startsWorkers=*/false);
  ParameterServerStrategy strategy =
      cluster.strategy({.worker_timeout_seconds = 0.1});
  auto scope = strategy.scope();
  Sequential model({Input({2}), layers::Dense(1)});
  model.compile({.loss = "mse"});
  EXPECT_THAT(
      errorOf([&] {
        (void)model.evaluate(
            data::from_tensor_slices(ones({2, 2}), ones({2, 1})).batch(2),
            {.verbose = 0});
      }),
      HasSubstr("no worker could be reached"));
}

} // namespace
} // namespace meshloom
