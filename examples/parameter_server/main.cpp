// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameter server program of TensorFlow's guide "Migrate multi-worker CPU
// training": fit on a line, by workers that do not wait for each other, with
// variables on parameter servers.
//
// Alone it is a whole cluster: 3 workers and 2 parameter servers in threads of
// this process, with free ports. With TF_CONFIG it is the task that this names:
// start it once for each, the chief trains.
#include <meshloom/Meshloom.h>

#include <cstdlib>
#include <iostream>

using namespace meshloom;

namespace {

ClusterSpec freeCluster() {
  std::map<std::string, std::vector<std::string>> jobs;
  for (auto [job, count] : {std::pair("chief", 1), {"worker", 3}, {"ps", 2}})
    for (int i = 0; i < count; ++i)
      jobs[job].push_back("localhost:" + std::to_string(pick_unused_port()));
  return ClusterSpec(jobs);
}

void train(const ClusterResolver &resolver) {
  ParameterServerStrategy strategy(resolver);
  auto scope = strategy.scope();

  const Tensor features = tensor({{1.f, 1.5f}, {2.f, 2.5f}, {3.f, 3.5f}});
  const Tensor labels = tensor({{0.3f}, {0.5f}, {0.7f}});
  const Tensor evalFeatures = tensor({{4.f, 4.5f}, {5.f, 5.5f}, {6.f, 6.5f}});
  const Tensor evalLabels = tensor({{0.8f}, {0.9f}, {1.f}});
  auto batches = [](const Tensor &x, const Tensor &y) {
    return data::from_tensor_slices(x, y).shuffle(10).repeat().batch(64);
  };

  // Weights that begin beside the solution, as those of seed 0 do, leave
  // Adagrad's steps so large that gradients of older values lead away from it.
  set_random_seed(3);
  Sequential model({layers::Dense(1)});
  model.compile({.optimizer = optimizers::Adagrad({.learning_rate = 0.05}),
                 .loss = "mse"});
  model.fit(batches(features, labels),
            {.epochs = 5, .verbose = 2, .steps_per_epoch = 10});
  const Logs result =
      model.evaluate(batches(evalFeatures, evalLabels), {.steps = 10});
  std::cout << "{'loss': " << result.at("loss") << "}\n";
}

} // namespace

int main() {
  try {
    if (std::getenv("TF_CONFIG")) {
      const TFConfigClusterResolver resolver;
      if (resolver.task_type() != "chief")
        Server(resolver.cluster_spec(), *resolver.task_type(),
               *resolver.task_id())
            .join();
      else
        train(resolver);
      return 0;
    }
    const ClusterSpec cluster = freeCluster();
    std::vector<Server> servers;
    for (const char *job : {"worker", "ps"})
      for (int64_t task : cluster.task_indices(job))
        servers.emplace_back(cluster, job, task);
    train(SimpleClusterResolver(cluster));
  } catch (const std::exception &error) {
    std::cerr << "parameter_server: " << error.what() << '\n';
    return 1;
  }
}
