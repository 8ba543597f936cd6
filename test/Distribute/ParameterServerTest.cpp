// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables on parameter servers: where they lie, how functions read and change
// them, and what servers refuse.
#include "../TemporaryFolder.h"
#include "ParameterServers.h"

#include "../../lib/Distribute/ParameterServer/Store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>

namespace meshloom {
namespace {
using testing::HasSubstr;

int64_t serverOf(const DVariable &variable) {
  return int64_t(dynamic_cast<const detail::ps::ServerVariable *>(
                     detail::remoteOf(variable))
                     ->server);
}

// 34.
TEST(ParameterServerTest, NeedsServersAndWorkers) {
  auto errorWith = [](std::map<std::string, std::vector<std::string>> jobs,
                      std::optional<std::string> type = "chief") {
    return errorOf([&] {
      ParameterServerStrategy strategy(
          SimpleClusterResolver(ClusterSpec(jobs), {.master = "",
                                                    .task_type = type,
                                                    .task_id = 0,
                                                    .environment = "",
                                                    .num_accelerators = {},
                                                    .rpc_layer = ""}));
    });
  };
  EXPECT_THAT(errorWith({{"worker", {"localhost:1"}}}),
              HasSubstr("at least one 'ps'"));
  EXPECT_THAT(errorWith({{"ps", {"localhost:1"}}}),
              HasSubstr("at least one 'worker'"));
  EXPECT_THAT(errorWith({{"ps", {"localhost:1"}},
                         {"worker", {"localhost:2"}},
                         {"judge", {"localhost:3"}}}),
              HasSubstr("got 'judge'"));
  EXPECT_THAT(
      errorWith({{"ps", {"localhost:1"}}, {"worker", {"localhost:2"}}}, "ps"),
      HasSubstr("Server(cluster, \"ps\", 0)"));
}

TEST(ParameterServerTest, SaysWhichServerDoesNotComeUp) {
  ServerThreads cluster(1, 1);
  cluster.servers.front()->shutdown();
  EXPECT_THAT(
      errorOf([&] { cluster.strategy({.connect_timeout_seconds = 0.2}); }),
      HasSubstr("/job:ps/task:0 at localhost:"));
}

// 35, 36.
TEST(ParameterServerTest, VariablesLieOnTheServersInTurn) {
  ServerThreads cluster(1, 2);
  ParameterServerStrategy strategy = cluster.strategy();
  EXPECT_EQ(strategy.num_replicas_in_sync(), 1);
  auto scope = strategy.scope();
  std::vector<int64_t> servers;
  for (int i = 0; i < 5; ++i)
    servers.push_back(serverOf(DVariable(full({2}, i))));
  EXPECT_EQ(servers, (std::vector<int64_t>{0, 1, 0, 1, 0}));

  DVariable a(tensor({1.f, 2.f})), b(tensor({3.f}));
  EXPECT_EQ(serverOf(a), 1);
  EXPECT_EQ(a.to_vector<float>(), (std::vector{1.f, 2.f}));
  const detail::ColocationScope beside(a);
  EXPECT_EQ(serverOf(DVariable(zeros({2}))), 1);
  EXPECT_EQ(serverOf(DVariable(zeros({3}))), 1);
}

// 36.
TEST(ParameterServerTest, ReplicasAreTheGPUsOfAWorker) {
  EXPECT_EQ(detail::replicasOfWorkers({0, 0}), 1);
  EXPECT_EQ(detail::replicasOfWorkers({2, 2}), 2);
  EXPECT_THAT(errorOf([] { (void)detail::replicasOfWorkers({2, 1}); }),
              HasSubstr("equally many GPUs in each worker, got [2, 1]"));
}

// 82, 35.
TEST(ParameterServerTest, PartsLieOnTheServersInTurn) {
  ServerThreads cluster(1, 2);
  ParameterServerStrategy strategy =
      cluster.strategy({.variable_partitioner = FixedShardsPartitioner(3)});
  auto scope = strategy.scope();
  DVariable v(reshape(range(10, DType::F32), {5, 2}), {.name = "v"});
  const std::vector<DVariable> parts = detail::partsOf(v);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].name(), "v/part_1");
  EXPECT_EQ(parts[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(parts[2].shape(), (Shape{1, 2}));
  EXPECT_EQ(serverOf(parts[0]), 0);
  EXPECT_EQ(serverOf(parts[1]), 1);
  EXPECT_EQ(serverOf(parts[2]), 0);
  EXPECT_EQ(v.shape(), (Shape{5, 2}));
  EXPECT_EQ(v.to_vector<float>(), range(10, DType::F32).to_vector<float>());
  v.assign(full({5, 2}, 2));
  v.assign_add(reshape(range(10, DType::F32), {5, 2}));
  EXPECT_EQ(v.to_vector<float>()[9], 11.f);

  // A gradient is that of the whole; each part is changed where it is.
  optimizers::Adagrad optimizer({.learning_rate = 0.5});
  auto step = function([&] {
    GradientTape tape;
    Tensor loss = reduce_sum(square(v));
    optimizer.apply_gradients(tape.gradient(loss, {v}));
    return loss;
  });
  const float before = v.to_vector<float>()[9];
  ClusterCoordinator(strategy).schedule(step).fetch();
  EXPECT_LT(v.to_vector<float>()[9], before);
  const auto slots = optimizer.slot_variables();
  ASSERT_EQ(slots.size(), 1u);
  EXPECT_EQ(serverOf(detail::partsOf(slots[0].variable)[1]), 1);
  EXPECT_EQ(slots[0].variable.shape(), (Shape{5, 2}));
}

// 35.
TEST(ParameterServerTest, SlotsOfAWholeVariableAreNotPartitioned) {
  ServerThreads cluster(1, 2);
  ParameterServerStrategy strategy =
      cluster.strategy({.variable_partitioner = FixedShardsPartitioner(2)});
  auto scope = strategy.scope();
  DVariable scalar(zeros({}));
  const detail::ColocationScope beside(scalar);
  DVariable rows(zeros({4, 2}));
  EXPECT_TRUE(detail::partsOf(rows).empty());
  EXPECT_EQ(serverOf(rows), serverOf(scalar));
}

// 82: of a partitioner of one's own.
TEST(ParameterServerTest, BadPartsAreNamed) {
  ServerThreads cluster(1, 1);
  for (auto [parts, expected] :
       {std::pair(std::vector<int64_t>{0, 1}, "1 part or more"),
        {{-1, 1}, "1 part or more"},
        {{5, 1}, "not more than there are rows"},
        {{2, 2}, "the only one that is cut"},
        {{}, "a number of parts for each dim"}}) {
    ParameterServerStrategy strategy =
        cluster.strategy({.variable_partitioner =
                              [parts](const Shape &, DType) { return parts; }});
    auto scope = strategy.scope();
    EXPECT_THAT(errorOf([] { DVariable v(zeros({4, 4})); }),
                HasSubstr(expected));
  }
}

TEST(ParameterServerTest, VariablesAreReadAndAssignedOutsideOfFunctions) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  auto scope = strategy.scope();
  DVariable v(tensor({1.f, 2.f, 3.f}), {.name = "v"});
  v.assign(tensor({4.f, 5.f, 6.f}));
  v.assign_add(1.f);
  v.assign_sub(tensor({1.f, 1.f, 2.f}));
  v.scatter_add(tensor({2}), tensor({10.f}));
  EXPECT_EQ(v.to_vector<float>(), (std::vector{4.f, 5.f, 15.f}));
  EXPECT_THAT(errorOf([&] { v.assign(tensor({1.f})); }),
              HasSubstr("expected f32 [3] for variable 'v', got f32 [1]"));
  // A function that is called runs here.
  auto twice = function([&] {
    v.assign_add(v);
    return v + 1;
  });
  EXPECT_EQ(twice().to_vector<float>(), (std::vector{9.f, 11.f, 31.f}));
  EXPECT_EQ(v.to_vector<float>(), (std::vector{8.f, 10.f, 30.f}));
}

TEST(ParameterServerTest, AFunctionSeesItsOwnAssigns) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable v(tensor({1.f, 2.f}), {.name = "v"});
  auto seen = function([&](const Tensor &x) {
    Tensor before = v;
    v.assign_add(x);
    Tensor added = v;
    v.assign(x * 5);
    v.assign_sub(1);
    return std::vector<Tensor>{before, added, v};
  });
  std::vector<Tensor> values =
      coordinator.schedule(seen, tensor({10.f, 20.f})).fetch();
  EXPECT_EQ(values[0].to_vector<float>(), (std::vector{1.f, 2.f}));
  EXPECT_EQ(values[1].to_vector<float>(), (std::vector{11.f, 22.f}));
  EXPECT_EQ(values[2].to_vector<float>(), (std::vector{49.f, 99.f}));
  EXPECT_EQ(v.to_vector<float>(), (std::vector{49.f, 99.f}));

  auto afterScatter = function([&] {
    v.scatter_add(tensor({0}), tensor({1.f}));
    return v.read_value();
  });
  EXPECT_THAT(errorOf([&] { coordinator.schedule(afterScatter); }),
              HasSubstr("its new value is not known here"));
  auto inLoop = function([&](const Tensor &n) {
    while_loop([&](const Tensor &i) { return less(i, n); },
               [&](const Tensor &i) {
                 v.assign_add(1);
                 return i + 1;
               },
               tensor(0));
  });
  EXPECT_THAT(errorOf([&] { coordinator.schedule(inLoop, tensor(2)); }),
              HasSubstr("in the body of a loop or branch"));
}

TEST(ParameterServerTest, UpdatesOfManyWorkersAreNotLost) {
  ServerThreads cluster(3, 2);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable count(zeros({}, DType::I64)), sum(zeros({4}));
  auto add = function([&](const Tensor &x) {
    count.assign_add(1);
    sum.assign_add(x);
  });
  for (int i = 0; i < 60; ++i)
    coordinator.schedule(add, full({4}, i));
  coordinator.join();
  EXPECT_EQ(count.item<int64_t>(), 60);
  EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(4, 60 * 59 / 2));
}

/// Steps of an optimizer, each after the other.
template <typename O, typename Run>
std::vector<float> trained(const O &optimizer, Run &&run) {
  DVariable w(tensor({{1.f}, {-2.f}, {0.5f}}), {.name = "w"});
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(matmul(x, w) - 1));
    optimizer.apply_gradients(tape.gradient(loss, {w}));
    return loss;
  });
  for (int i = 0; i < 3; ++i)
    run(step, full({2, 3}, 0.25 * (i + 1)));
  return w.to_vector<float>();
}

TEST(ParameterServerTest, OptimizersRunWhereVariablesAre) {
  ServerThreads cluster(1, 2);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto compare = [&](auto make) {
    const std::vector<float> here =
        trained(make(), [](auto &step, const Tensor &x) { step(x); });
    auto scope = strategy.scope();
    const std::vector<float> there =
        trained(make(), [&](auto &step, const Tensor &x) {
          coordinator.schedule(step, x);
          coordinator.join();
        });
    EXPECT_THAT(there, testing::Pointwise(testing::FloatNear(1e-6f), here));
  };
  compare([] { return optimizers::Adagrad({.learning_rate = 0.05}); });
  compare([] {
    return optimizers::Adam(
        {.learning_rate =
             schedules::ExponentialDecay({.initial_learning_rate = 0.1,
                                          .decay_steps = 2,
                                          .decay_rate = 0.5}),
         .common = {.weight_decay = 0.01, .ema_momentum = 0.9}});
  });
}

// 37.
TEST(ParameterServerTest, RunOutsideOfWhatIsScheduledWarns) {
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  DVariable v(tensor(2.f));
  auto body = [&] { return v * 2; };
  auto step = function(
      [&] { return strategy.reduce(ReduceOp::SUM, strategy.run(body)); });
  Logged log;
  EXPECT_EQ(coordinator.schedule(step).fetch().template item<float>(), 4);
  EXPECT_THAT(log.lines(), testing::IsEmpty());
  Tensor here = strategy.run(body);
  EXPECT_EQ(here.item<float>(), 4);
  EXPECT_THAT(log.lines(), testing::ElementsAre(HasSubstr("not on a worker")));
}

// 52: a checkpoint holds whole variables, whatever the strategy.
TEST(ParameterServerTest, CheckpointsHoldWholeVariables) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "checkpoint";
  auto make = [] {
    return Sequential({Input({3}), layers::Dense(2, {.name = "dense"})});
  };
  std::vector<float> kernel;
  {
    ServerThreads cluster(1, 2);
    ParameterServerStrategy strategy =
        cluster.strategy({.variable_partitioner = FixedShardsPartitioner(2)});
    auto scope = strategy.scope();
    Sequential model = make();
    kernel = model.variables().front().to_vector<float>();
    EXPECT_EQ(detail::partsOf(model.variables().front())[1].name(),
              model.variables().front().name() + "/part_1");
    Checkpoint({{"model", model}}).write(path);
  }
  Sequential model = make();
  Checkpoint({{"model", model}}).restore(path);
  EXPECT_EQ(model.variables().front().to_vector<float>(), kernel);
}

//===----------------------------------------------------------------------===//
// What servers refuse
//===----------------------------------------------------------------------===//

TEST(ServerTest, NeedsATaskAndAFreePort) {
  ClusterSpec spec = freeCluster(1, 1);
  EXPECT_THAT(errorOf([&] { Server(spec, "worker", 1); }), HasSubstr("worker"));
  Server first(spec, "worker", 0);
  EXPECT_THAT(first.target(), HasSubstr("grpc://localhost:"));
  EXPECT_THAT(errorOf([&] { Server(spec, "worker", 0); }),
              HasSubstr("is taken by another process"));
}

TEST(ServerTest, WithoutCertificatesOnlyThisMachineReachesIt) {
  const ClusterSpec open(std::map<std::string, std::vector<std::string>>{
      {"ps", {fmt::format("0.0.0.0:{}", pick_unused_port())}},
      {"worker", {"localhost:1"}}});
  EXPECT_THAT(errorOf([&] { Server(open, "ps", 0); }),
              HasSubstr("or MESHLOOM_PLAIN_NETWORK=1"));
  // A token alone would be read by who listens.
  EXPECT_THAT(errorOf([&] { Server(open, "ps", 0, {.token = "secret"}); }),
              HasSubstr("without TLS: give certificates"));
  Logged log;
  Server allowed(open, "ps", 0,
                 {.token = "secret", .allow_plain_network = true});
  EXPECT_THAT(log.lines(), testing::ElementsAre(testing::AllOf(HasSubstr(
                               "(other machines reach it), without TLS, with a "
                               "token"))));
}

TEST(ServerTest, RefusesAnotherToken) {
  const ClusterSpec spec = freeCluster(1, 1);
  Server server(spec, "ps", 0, {.token = "secret"});
  EXPECT_THAT(errorOf([&] {
                ParameterServerStrategy strategy(
                    SimpleClusterResolver(spec),
                    ParameterServerOptions{.token = "guess"});
              }),
              HasSubstr("the token is another one"));
}

TEST(ServerTest, RefusesGarbage) {
  using namespace detail::ps;
  ServerThreads cluster(1, 1);
  ParameterServerStrategy strategy = cluster.strategy();
  auto scope = strategy.scope();
  DVariable v(tensor({1.f, 2.f}));

  // A stranger may send bytes that are not even HTTP/2.
  const std::string target = cluster.spec.task_address("ps", 0);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port =
      htons(uint16_t(std::stoi(target.substr(target.find(':') + 1))));
  ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr *>(&address),
                      sizeof(address)),
            0);
  std::mt19937 random(1);
  std::string noise(1000, '\0');
  for (char &c : noise)
    c = char(random());
  EXPECT_GT(::send(socket, noise.data(), noise.size(), MSG_NOSIGNAL), 0);
  ::close(socket);

  // Frames of noise, and right ones that are cut, changed and extended.
  Peer peer("server", target, accessOf("test", "", TlsFiles()));
  MessageWriter writer;
  auto finished = [&] {
    grpc::Slice whole;
    EXPECT_TRUE(writer.finish().DumpToSingleSlice(&whole).ok());
    return std::string(reinterpret_cast<const char *>(whole.begin()),
                       whole.size());
  };
  std::vector<std::string> right;
  writer.put(uint64_t(7)); // Write: session, number, value
  writer.put(uint64_t(1));
  writer.put(tensor({1.f, 2.f, 3.f}));
  right.push_back(finished());
  writer = MessageWriter(); // Run: an iteration, and a work with an update
  for (uint64_t number : {7, 1, 5})
    writer.put(number);
  for (const char *text : {"no dataset", "a type"})
    writer.put(std::string_view(text));
  right.push_back(finished());
  writer = MessageWriter();
  for (uint64_t number : {7, 0, 1})
    writer.put(number);
  writer.put(std::string_view("no program"));
  writer.put(uint64_t(2));
  writer.put(uint64_t(0));
  writer.put(tensor({1.f, 2.f}));
  for (uint64_t number : {1, 0, 5, 1, 1, 0}) // a variable, results, an update
    writer.put(number);
  writer.put(std::string_view("no update"));
  for (uint64_t number : {1, 2, 0})
    writer.put(number);
  right.push_back(finished());
  for (int i = 0; i < 300; ++i) {
    std::string frame = right[random() % right.size()];
    frame.resize(random() % (frame.size() + 9));
    for (unsigned change = random() % 4; change > 0 && !frame.empty(); --change)
      frame[random() % frame.size()] = char(random());
    const grpc::Slice slice(frame);
    grpc::ByteBuffer answer;
    const auto method = Method(random() % (size_t(lastMethod) + 1));
    if (method == Method::Begin || method == Method::Describe ||
        method == Method::Watch)
      continue; // of which some such frames are right
    const grpc::Status status =
        peer.call(method, grpc::ByteBuffer(&slice, 1), answer, 20);
    EXPECT_FALSE(status.ok()) << path(method);
    EXPECT_FALSE(isLost(status)) << status.error_message();
  }
  EXPECT_EQ(v.to_vector<float>(), (std::vector{1.f, 2.f}));
}

} // namespace
} // namespace meshloom
