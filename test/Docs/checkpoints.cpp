// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of docs/Checkpoints.md.
#include <meshloom/Data/Dataset.h>
#include <meshloom/Data/TensorFolder.h>
#include <meshloom/Meshloom.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace meshloom;

int main() {
  std::string folder =
      std::filesystem::temp_directory_path() / "meshloom-docs-XXXXXX";
  std::filesystem::current_path(mkdtemp(folder.data()));

  Mesh mesh = create_mesh({{"batch", 2}, {"model", 2}}, virtual_cpus(4));
  auto scope = default_mesh(mesh);
  layers::Dense net(
      4, {.name = "net",
          .common = {.layouts = {{"kernel",
                                  Layout::inner_sharded(mesh, "model", 2)}}}});
  net.build({-1, 8});
  optimizers::Adam adam(1e-3);
  auto train_step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(net(x)));
    adam.apply_gradients(tape.gradient(loss, net.trainable_variables()));
    return loss;
  });
  auto batches = data::from_tensor_slices(ones({64, 8})).repeat().batch(16);

  {
    int64_t seed = 7;
    auto batch = batches.iterate();
    Checkpoint checkpoint({{"model", net},
                           {"optimizer", adam},
                           {"data", batch},
                           {"seed", &seed}});
    CheckpointManager manager(checkpoint, "checkpoints", {.max_to_keep = 3});
    if (auto path = manager.restore_or_initialize())
      std::cout << "goes on from " << *path << '\n';
    for (int step = 1; step <= 10; ++step) {
      train_step(batch.get_next());
      if (step % 5 == 0)
        manager.save();
    }
  }

  {
    Checkpoint checkpoint({{"model", net}});
    checkpoint.write("weights", {.asynchronous = true});
    train_step(ones({16, 8})); // while it is written
    checkpoint.wait();
  }

  {
    Mesh other = create_mesh({{"x", 3}}, virtual_cpus(3));
    layers::Dense same(
        4, {.name = "net",
            .common = {.layouts = {
                           {"kernel", Layout::batch_sharded(other, "x", 2)}}}});
    same.build({-1, 8});
    Checkpoint({{"model", same}})
        .restore("checkpoints/ckpt-2", {.allow_extra_objects = true});
  }

  {
    data::TensorFolder weights("weights");
    for (auto &[name, tensor] : weights.tensors())
      std::cout << name << ' ' << tensor.shape << ' ' << tensor.layout << '\n';
    Tensor kernel = weights.read("model/kernel");
  }

  {
    Model model =
        Sequential({Input({8}), layers::Dense(16, {.activation = "relu"}),
                    layers::Dense(4)});
    save(model, "model.keras");
    Model again = load_model("model.keras");
    save_weights(model, "weights.keras");
    load_weights(again, "weights.keras");
  }

  {
    auto predict = function([&](const Tensor &x) { return net(x); });
    export_functions(
        "exported",
        {{"serving_default", predict.get_concrete_function(ones({1, 8}))}});
    ExportedFunctions exported = load_functions("exported", mesh);
    Tensor y = exported("serving_default", {ones({1, 8})})[0];

    std::ofstream("key") << std::string(32, 'k');
    const std::map<std::string, ConcreteFunction> functions = {
        {"serving_default", predict.get_concrete_function(ones({1, 8}))}};
    export_functions("exported", functions, "key");
    ExportedFunctions trusted = load_functions("exported", mesh, "key");
  }
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
}
