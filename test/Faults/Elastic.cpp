// Trains under mesh-launch --max-restarts, and kills a process of the first
// starts itself:
//
//   elastic FOLDER HOSTS SIZE...
//
// Backups go to FOLDER. Start k ends after its third batch (the file HOSTS then
// has as many slots as the next SIZE), the last start trains to the end and
// prints how many steps were done in all, and the weights.
#include "meshloom/API/Processes.h"
#include "meshloom/Meshloom.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

using namespace meshloom;

namespace {

void train(const std::string &folder, const std::string &hosts,
           const std::vector<std::string> &sizes) {
  const char *text = std::getenv("MESHLOOM_RESTARTS");
  const size_t start = text ? size_t(std::stoul(text)) : 0;
  const MultiWorkerMirroredStrategy strategy;
  auto scope = strategy.scope();
  Sequential model(
      {Input({2}), layers::Dense(1, {.kernel_initializer = "ones"})});
  model.compile(
      {.optimizer = optimizers::Adam({.learning_rate = 0.05}), .loss = "mse"});
  // Every example counts: one that is missed or seen twice changes the weights.
  const Tensor x = random::stateless_normal({480, 2}, Seed{1, 2});
  const Tensor y = random::stateless_normal({480, 1}, Seed{3, 4});
  auto data =
      data::from_tensor_slices(x, y).shuffle(480, {.seed = 1}).batch(120);
  int64_t batches = 0;
  callbacks::LambdaCallback crash(
      {.on_train_batch_end = [&](int64_t, const Logs &) {
        if (++batches < 3 || start + 1 >= sizes.size() ||
            client_id() != num_clients() - 1)
          return;
        std::ofstream(hosts) << "localhost " << sizes[start + 1] << std::endl;
        (void)kill(getpid(), SIGKILL);
      }});
  model.fit(data, {.epochs = 3,
                   .verbose = 0,
                   .callbacks = {callbacks::BackupAndRestore(folder + "/backup",
                                                             {.save_freq = 1}),
                                 crash}});
  if (client_id() != 0)
    return;
  std::printf(
      "steps %g\n",
      double(model.optimizer().iterations().read_value().item<int64_t>()));
  for (const DVariable &variable : model.variables())
    for (const float value : variable.read_value().to_vector<float>())
      std::printf("weight %.7g\n", value);
}

} // namespace

int main(int argc, char **argv) {
  try {
    train(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
