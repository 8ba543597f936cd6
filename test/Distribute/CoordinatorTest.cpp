// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ClusterCoordinator: what is scheduled runs, whatever is lost.
#include "../TemporaryFolder.h"
#include "ParameterServers.h"

#include "../../lib/Distribute/ParameterServer/Coordination.h"

namespace meshloom {
namespace {
using detail::ClosureQueue;
using detail::RemoteResult;
using testing::HasSubstr;

/// A value for each of two workers: taking it from the first one's stops until
/// `open`, from the second one's fails.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = false;
  int64_t waiting = 0;

  void open() {
    std::lock_guard lock(mutex);
    isOpen = true;
    changed.notify_all();
  }
  /// Until so many wait at it.
  void await(int64_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting >= count; });
  }
  void pass() {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [&] { return isOpen; });
  }
};
/// An argument that workers make when they take a function.
struct CreatedByWorker {
  std::function<Tensor(int64_t worker)> make;
};

} // namespace

namespace detail {
template <> struct OfWorker<CreatedByWorker> {
  using type = Tensor;
  static constexpr bool differs = true;
  static Tensor get(const CreatedByWorker &argument, WorkerCall &call) {
    return argument.make(call.worker);
  }
};
} // namespace detail

namespace {

template <typename Coordinator, typename F, typename... Args>
concept CanSchedule =
    requires(const Coordinator &coordinator, const F &f, const Args &...args) {
      coordinator.schedule(f, args...);
    };

// 83.
TEST(CoordinatorTest, SchedulesFunctionsOnly) {
  auto body = [](const Tensor &x) { return x + 1; };
  using F = decltype(function(body));
  using C = ClusterCoordinator;
  static_assert(CanSchedule<C, F, Tensor>);
  static_assert(CanSchedule<C, F, PerWorkerValues<Tensor>>);
  static_assert(!CanSchedule<C, decltype(body), Tensor>);
  static_assert(!CanSchedule<C, F, RemoteValue<Tensor>>);
  EXPECT_THAT(errorOf([] { ClusterCoordinator{get_strategy()}; }),
              HasSubstr("expected a ParameterServerStrategy"));
}

// 83, 86.
TEST(CoordinatorTest, ScheduleReturnsAtOnce) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  EXPECT_TRUE(coordinator.done());
  Gate gate;
  auto add = function([](const Tensor &x) { return std::pair(x + 1, x); });
  const CreatedByWorker slow{[&](int64_t) {
    gate.pass();
    return tensor(1.f);
  }};
  auto first = coordinator.schedule(add, slow);
  auto second = coordinator.schedule(add, tensor(5.f));
  gate.await(1);
  EXPECT_FALSE(coordinator.done());
  gate.open();
  EXPECT_EQ(coordinator.fetch(second).first.item<float>(), 6);
  coordinator.join();
  EXPECT_TRUE(coordinator.done());
  EXPECT_EQ(first.fetch().first.item<float>(), 2);
  EXPECT_EQ(add.trace_count(), 1);
}

TEST(CoordinatorTest, MovedFromObjectsAreErrors) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto batches = coordinator.create_per_worker_dataset(
      data::from_tensor_slices(iota({2}, 0, DType::F32)));
  const auto says = HasSubstr("this one was moved from");
  auto otherBatches = std::move(batches);
  EXPECT_THAT(errorOf([&] { (void)batches.iterate(); }), says);

  auto add = function([](const Tensor &x) { return x + 1; });
  auto result = coordinator.schedule(add, tensor(1.f));
  auto otherResult = std::move(result);
  EXPECT_THAT(errorOf([&] { (void)result.fetch(); }), says);
  EXPECT_EQ(otherResult.fetch().item<float>(), 2);

  ClusterCoordinator other = std::move(coordinator);
  EXPECT_THAT(errorOf([&] { coordinator.join(); }), says);
  EXPECT_THAT(errorOf([&] { (void)coordinator.done(); }), says);
  EXPECT_THAT(errorOf([&] {
                (void)coordinator.create_per_worker_values(
                    [](int64_t index) { return index; });
              }),
              says);
  other.join();
  Strategy whole = strategy, taken = std::move(whole);
  EXPECT_THAT(errorOf([&] {
                (void)whole.experimental_distribute_dataset(
                    data::from_tensor_slices(zeros({2})).batch(1));
              }),
              says);
  EXPECT_THAT(errorOf([&] { (void)whole.name(); }), HasSubstr("moved from"));
}

// 83, 89.
TEST(CoordinatorTest, WorkersGetTheirOwnValues) {
  ServerThreads cluster(2, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy), same(strategy);
  auto values = coordinator.create_per_worker_values(
      [](int64_t worker) { return tensor(float(worker + 1) * 10); });
  ASSERT_EQ(values.values.size(), 2u);
  // Both run at the same time, so each is another worker's.
  Gate gate;
  const CreatedByWorker both{[&](int64_t) {
    gate.pass();
    return tensor(1.f);
  }};
  auto add = function([](const Tensor &x, const Tensor &y) { return x + y; });
  auto a = coordinator.schedule(add, values, both);
  auto b = same.schedule(add, values, both);
  gate.await(2);
  EXPECT_FALSE(same.done());
  gate.open();
  coordinator.join();
  EXPECT_THAT((std::vector{a.fetch().item<float>(), b.fetch().item<float>()}),
              testing::UnorderedElementsAre(11, 21));
}

// 84.
TEST(CoordinatorTest, TheQueueIsBounded) {
  ClosureQueue queue;
  auto item = [] {
    return ClosureQueue::Item{{}, std::make_shared<RemoteResult>()};
  };
  EXPECT_EQ(ClosureQueue::bound, 262144u);
  for (size_t i = 0; i < ClosureQueue::bound; ++i)
    queue.put(item());
  std::atomic<bool> isIn = false;
  std::thread blocked([&] {
    queue.put(item());
    isIn = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(isIn);
  queue.finish(*queue.take(), {});
  blocked.join();
  EXPECT_TRUE(isIn);
  queue.close();
}

// 85.
TEST(CoordinatorTest, TheFirstErrorCancelsWhatWaits) {
  ServerThreads cluster(2, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  Gate inFlight, failing;
  auto add = function([](const Tensor &x) { return x + 1; });
  auto runs = coordinator.schedule(add, CreatedByWorker{[&](int64_t) {
                                     inFlight.pass();
                                     return tensor(1.f);
                                   }});
  inFlight.await(1);
  auto fails =
      coordinator.schedule(add, CreatedByWorker{[&](int64_t) -> Tensor {
                             failing.pass();
                             throw Error("broken on purpose");
                           }});
  failing.await(1);
  auto waits = coordinator.schedule(add, tensor(1.f));
  failing.open();
  EXPECT_THAT(errorOf([&] { fails.fetch(); }), HasSubstr("broken on purpose"));
  EXPECT_THROW(waits.fetch(), CancelledError);
  // A function that runs comes to its end before the error is thrown.
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    inFlight.open();
  });
  EXPECT_THAT(errorOf([&] { coordinator.schedule(add, tensor(1.f)); }),
              HasSubstr("broken on purpose"));
  later.join();
  EXPECT_EQ(runs.fetch().item<float>(), 2);
  // It is thrown once.
  coordinator.join();
  EXPECT_TRUE(coordinator.done());
  EXPECT_EQ(coordinator.schedule(add, tensor(2.f)).fetch().item<float>(), 3);
}

// 85: of join and done, and of what a program finds where it runs.
TEST(CoordinatorTest, ErrorsOfProgramsAreThrown) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  const CheckNumericsScope checking;
  auto root = function([](const Tensor &x) { return log(x); });
  auto good = coordinator.schedule(root, tensor({1.f}));
  EXPECT_EQ(good.fetch().item<float>(), 0);
  auto bad = coordinator.schedule(root, tensor({-1.f}));
  EXPECT_THAT(errorOf([&] { coordinator.join(); }), HasSubstr("nan"));
  EXPECT_THAT(errorOf([&] { bad.fetch(); }), HasSubstr("nan"));
  auto again = coordinator.schedule(root, tensor({-1.f}));
  EXPECT_THAT(errorOf([&] { again.fetch(); }), HasSubstr("nan"));
  EXPECT_THAT(errorOf([&] { coordinator.done(); }), HasSubstr("nan"));
  EXPECT_TRUE(coordinator.done());
}

TEST(CoordinatorTest, VariablesOfThisProcessAreReadOnly) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  DVariable local(tensor(2.f), {.name = "own"});
  auto read = function([&](const Tensor &x) { return local * x; });
  EXPECT_EQ(coordinator.schedule(read, tensor(3.f)).fetch().item<float>(), 6);
  local.assign(tensor(5.f));
  EXPECT_EQ(coordinator.schedule(read, tensor(3.f)).fetch().item<float>(), 15);
  auto assign = function([&] { local.assign_add(1.f); });
  EXPECT_THAT(errorOf([&] { coordinator.schedule(assign).fetch(); }),
              HasSubstr("assigns variable 'own', which is of this process"));
  EXPECT_NE(errorOf([&] { coordinator.join(); }), "");
}

// 87.
TEST(CoordinatorTest, ALostWorkerIsReplacedAndUsedAgain) {
  ServerThreads cluster(2, 1, /*startsWorkers=*/false);
  cluster.workers.push_back(cluster.start("worker", 0));
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable sum(zeros({}));
  auto add = function([&](const Tensor &x) { sum.assign_add(x); });
  auto batches = coordinator.create_per_worker_dataset([] {
    return data::from_tensor_slices(tensor({1.f, 2.f, 3.f})).repeat();
  });
  auto iterator = batches.iterate();
  Logged log;
  coordinator.schedule(add, iterator); // 1
  coordinator.join();
  // The only worker goes; what is scheduled waits for one.
  cluster.workers.front()->shutdown();
  coordinator.schedule(add, iterator);
  coordinator.schedule(add, tensor(100.f));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(sum.item<float>(), 1);
  // It comes back as another start: its dataset begins anew, its programs are
  // sent again.
  cluster.workers.front() = cluster.start("worker", 0);
  coordinator.join();
  EXPECT_EQ(sum.item<float>(), 102);
  EXPECT_THAT(log.lines(),
              testing::Contains(HasSubstr("Lost /job:worker/task:0")));
}

// 87.
TEST(CoordinatorTest, WithoutAnyWorkerItSaysSo) {
  EXPECT_EQ(ParameterServerOptions().worker_timeout_seconds, 3600);
  ServerThreads cluster(1, 1, /*startsWorkers=*/false);
  ParameterServerStrategy strategy =
      cluster.strategy({.worker_timeout_seconds = 0.1});
  ClusterCoordinator coordinator(strategy);
  auto add = function([](const Tensor &x) { return x + 1; });
  auto waits = coordinator.schedule(add, tensor(1.f));
  EXPECT_THROW(waits.fetch(), UnavailableError);
  EXPECT_THAT(errorOf([&] { coordinator.join(); }),
              HasSubstr("which was waited for for 0.1 s"));
}

// 88.
TEST(CoordinatorTest, ALostParameterServerIsAnError) {
  ServerThreads cluster(2, 2);
  const test::TemporaryFolder folder;
  std::vector<float> saved;
  auto make = [](const Strategy &strategy) {
    auto scope = strategy.scope();
    return std::vector<DVariable>{DVariable(zeros({2}), {.name = "v"}),
                                  DVariable(ones({2}), {.name = "w"})};
  };
  {
    ParameterServerStrategy strategy = cluster.strategy();
    ClusterCoordinator coordinator(strategy);
    std::vector<DVariable> model = make(strategy);
    auto step = function([&] { model[1].assign_add(model[0] + 1); });
    coordinator.schedule(step);
    coordinator.join();
    Checkpoint({{"v", model[0]}, {"w", model[1]}}).write(folder / "checkpoint");
    saved = model[1].to_vector<float>();
    cluster.servers[1]->shutdown();
    auto lost = coordinator.schedule(step);
    EXPECT_THROW(lost.fetch(), UnavailableError);
    try {
      coordinator.join();
      ADD_FAILURE() << "expected an error";
    } catch (const UnavailableError &error) {
      EXPECT_THAT(error.what(), HasSubstr("/job:ps/task:1"));
      EXPECT_THAT(error.what(), HasSubstr("restore the newest checkpoint"));
    }
    EXPECT_THROW(model[1].read_value(), UnavailableError);
    // One that was started again holds nothing.
    cluster.servers[1] = cluster.start("ps", 1);
    std::string error;
    while ((error = errorOf([&] { model[1].read_value(); })).find("refused") !=
           std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_THAT(error,
                HasSubstr("it was started again, and holds no variables"));
  }
  ParameterServerStrategy strategy = cluster.strategy();
  std::vector<DVariable> model = make(strategy);
  Checkpoint({{"v", model[0]}, {"w", model[1]}}).restore(folder / "checkpoint");
  EXPECT_EQ(model[1].to_vector<float>(), saved);
}

// 88: two failures of a server are taken as passing, the third one counts.
TEST(CoordinatorTest, ServersMayFailTwice) {
  ServerThreads cluster(1, 2);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable v(zeros({})), w(ones({}));
  std::atomic<int64_t> tries = 0;
  auto step = function([&](const Tensor &x) { return w * x; });
  const CreatedByWorker counted{[&](int64_t) {
    ++tries;
    return tensor(1.f);
  }};
  cluster.servers[1]->shutdown();
  EXPECT_THROW(coordinator.schedule(step, counted).fetch(), UnavailableError);
  EXPECT_EQ(tries, 3);
  EXPECT_THROW(coordinator.join(), UnavailableError);
}

// 88: unless the environment says otherwise.
TEST(CoordinatorTest, TheFirstFailureOfAServerMayCount) {
  ::setenv("TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES", "1", 1);
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ::unsetenv("TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES");
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable v(zeros({}));
  auto step = function([&](const Tensor &x) { return v * x; });
  std::atomic<int64_t> tries = 0;
  const CreatedByWorker counted{[&](int64_t) {
    ++tries;
    return tensor(1.f);
  }};
  coordinator.schedule(step, counted).fetch();
  cluster.servers.clear();
  EXPECT_THROW(coordinator.schedule(step, counted).fetch(), UnavailableError);
  EXPECT_EQ(tries, 2);
  EXPECT_THROW(coordinator.join(), UnavailableError);
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

TEST(CoordinatorTest, AKilledWorkerIsReplaced) {
  ServerThreads cluster(2, 1, /*startsWorkers=*/false);
  auto first = std::make_unique<Process>(cluster.spec, "worker", 0);
  Process second(cluster.spec, "worker", 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable sum(zeros({}, DType::I64));
  auto add = function([&] { sum.assign_add(1); });
  for (int i = 0; i < 20; ++i)
    coordinator.schedule(add);
  coordinator.join();
  EXPECT_EQ(sum.item<int64_t>(), 20);
  Logged log;
  for (int i = 0; i < 40; ++i)
    coordinator.schedule(add);
  first->kill();
  for (int i = 0; i < 10; ++i)
    coordinator.schedule(add);
  coordinator.join();
  // At least once.
  EXPECT_THAT(sum.item<int64_t>(),
              testing::AllOf(testing::Ge(70), testing::Le(71)));
}

//===----------------------------------------------------------------------===//
// fit
//===----------------------------------------------------------------------===//

TEST(CoordinatorTest, FitTrainsOnWorkers) {
  ServerThreads cluster(2, 2);
  ParameterServerStrategy strategy = cluster.strategy();
  auto scope = strategy.scope();
  // From other numbers it would take other times.
  Sequential model({layers::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = optimizers::Adagrad({.learning_rate = 0.05}),
                 .loss = "mse",
                 .metrics = {"mae"}});
  const auto dataset =
      data::from_tensor_slices(tensor({{1.f, 1.5f}, {2.f, 2.5f}, {3.f, 3.5f}}),
                               tensor({{0.3f}, {0.5f}, {0.7f}}))
          .shuffle(10)
          .repeat()
          .batch(8);
  const auto loss = [&] {
    return model.evaluate(dataset, {.verbose = 0, .steps = 3}).at("loss");
  };
  const double untrained = loss();
  const History history =
      model.fit(dataset, {.epochs = 3, .verbose = 0, .steps_per_epoch = 10});
  EXPECT_EQ(model.steps_taken(), 30);
  // Epochs of workers that do not wait for each other need not fall one by one.
  EXPECT_LT(history["loss"].back(), untrained);
  EXPECT_LT(loss(), untrained / 4);
  EXPECT_EQ(model.predict(tensor({{1.f, 1.5f}}), {.verbose = 0}).shape(),
            (Shape{1, 1}));
}

} // namespace
} // namespace meshloom
