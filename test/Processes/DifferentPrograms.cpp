// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processes that do not run the same program, or none that several can run, in
// the way that the argument names; the last one is the one that differs. Prints
// what it throws, and how long after the first difference.
#include "meshloom/API/Create.h"
#include "meshloom/API/Devices.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Errors.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Processes.h"
#include "meshloom/Distribute/ReplicaContext.h"
#include "meshloom/Distribute/Strategies.h"
#include "meshloom/NN/Layers/Core.h"
#include "meshloom/NN/Models/Model.h"
#include "meshloom/NN/State/Checkpoint.h"
#include "meshloom/NN/State/SavedModel.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

using namespace meshloom;

namespace {

Tensor add(const Tensor &x) {
  return reduce_sum(x + 1.0); // the op of most
}
Tensor multiply(const Tensor &x) {
  return reduce_sum(x * 2.0); // that of the last one
}

/// Values that no process sends to another one, of which the last one has
/// another: "value" that is put on the mesh, "scalar" that a function is called
/// with, "constant" of a function, "local" that a program computes of its own.
void runOnValues(const std::string &difference, bool isOther, const Mesh &mesh,
                 const Tensor &x) {
  const float number = isOther ? 2.5f : 1.5f;
  auto of = [&](const char *name) { return difference == name ? number : 1.f; };
  const DVariable w(distribute(tensor({of("value"), 5.f, 6.f, 7.f}),
                               Layout::replicated(mesh, 1)),
                    {.name = "w"});
  if (difference == "later") {
    // Compared each time, where that is asked for: what one rank changes alone.
    auto sum =
        function([&](const Tensor &rows) { return reduce_sum(w * rows); },
                 {.name = "sum"});
    for (int step = 0; step < 4; ++step) {
      (void)sum(x).item<float>();
      if (step == 2 && isOther)
        w.assign(distribute(tensor({1.f, 5.f, 6.f, number}),
                            Layout::replicated(mesh, 1)));
    }
    return;
  }
  const Tensor local = w.read_value() * of("local");
  auto step = function(
      [&](const Tensor &rows, const Tensor &scalar) {
        return reduce_sum(w * rows * scalar * local * of("constant"));
      },
      {.name = "step"});
  std::printf("%g\n", double(step(x, tensor(of("scalar"))).item<float>()));
}

/// The last one saves, which all have to, and the others go on.
void runWithoutSaving(bool isOther, const Mesh &mesh, const Tensor &x) {
  const DVariable w(distribute(ones({4}), Layout::replicated(mesh, 1)));
  auto step = function([&](const Tensor &rows) { return reduce_sum(w * rows); },
                       {.name = "step"});
  (void)step(x).item<float>();
  if (isOther)
    Checkpoint({{"w", w}}).write("saved-by-one");
  (void)step(x).item<float>();
  barrier(mesh, "end", 60);
}

/// The last one saves the model between two fits of all.
void runFits(bool isOther) {
  const MultiWorkerMirroredStrategy strategy;
  auto scope = strategy.scope();
  const Sequential model({Input({2}), layers::Dense(1)});
  Sequential(model).compile({.optimizer = "sgd", .loss = "mse"});
  for (int turn = 0; turn < 2; ++turn) {
    (void)model.fit(ones({6, 2}), ones({6, 1}), {.verbose = 0});
    if (isOther)
      save(model, "saved-by-one.keras");
  }
}

/// The last one ends. A function that the others call after that is refused
/// before it takes the value of a variable.
void runAfterTheEnd(bool isOther, const Mesh &mesh, const Tensor &x) {
  const DVariable v(distribute(ones({4}), Layout::replicated(mesh, 1)));
  auto probe = function(add, {.name = "probe"});
  auto step = function(
      [&](const Tensor &rows) {
        v.assign_add(ones({4}));
        return reduce_sum(v * rows);
      },
      {.name = "step"});
  (void)probe(x).item<float>();
  (void)step(x).item<float>();
  if (isOther)
    std::exit(3);
  try {
    (void)probe(x).item<float>();
  } catch (const UnavailableError &error) {
    std::cout << error.what() << std::endl;
  }
  try {
    (void)step(x).item<float>();
  } catch (const UnavailableError &) {
    std::printf("refused, v = %g\n",
                double(v.read_value().to_vector<float>().front()));
    throw;
  }
}

/// All have run both before; then they do so in an order of their own.
void runInOrder(const std::string &difference, bool isOther, const Mesh &mesh,
                const Tensor &x) {
  auto first = function(add, {.name = "first"});
  auto second = function(multiply, {.name = "second"});
  auto once = [&](auto &step) { (void)step(x).template item<float>(); };
  once(first);
  once(second);
  if (difference == "order" && isOther)
    std::swap(first, second);
  if (difference == "often" && isOther)
    once(first);
  if (difference == "eager" && isOther)
    (void)reduce_max(x).item<float>();
  if (difference == "barrier" && isOther)
    barrier(mesh, "meet", 60);
  if (difference == "barriers")
    barrier(mesh, isOther ? "meet" : "part", 60);
  if (difference == "end" && isOther)
    std::exit(0);
  once(first);
  once(second);
}

/// Another thread than the main one of the last one does not call what those of
/// the others do.
void runInThreads(bool isOther, const Mesh &mesh, const Tensor &x) {
  auto first = function(add, {.name = "first"});
  auto second = function(multiply, {.name = "second"});
  auto once = [&](auto &step) { (void)step(x).template item<float>(); };
  once(first);
  once(second);
  detail::waitForAll("thread");
  std::exception_ptr failure;
  std::thread([&] {
    try {
      once(first);
      if (!isOther)
        once(second);
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure)
    std::rethrow_exception(failure);
  barrier(mesh, "end", 60);
}

/// The last one comes later than others wait for it, as is asked of all
/// collectives of a strategy or of the one call. Its first run is in time.
void runLate(bool ofTheCall, bool isOther) {
  CommunicationOptions usual, asked;
  (ofTheCall ? asked : usual).timeout_seconds = 2;
  const MultiWorkerMirroredStrategy strategy(usual);
  const auto local = strategy.experimental_distribute_values_from_function(
      [](const ValueContext &context) {
        return tensor(float(context.replica_id_in_sync_group));
      });
  auto sum = [&] {
    const auto sums = strategy.run(
        [&](const Tensor &x) {
          return get_replica_context()->all_reduce(ReduceOp::SUM, x, asked);
        },
        local);
    return strategy.experimental_local_results(sums).front().item<float>();
  };
  (void)sum();
  if (isOther)
    std::this_thread::sleep_for(std::chrono::seconds(12));
  std::printf("%g\n", double(sum()));
}

/// A function whose parts are on the first process and on the last one.
void runOnSubmeshes(const std::string &difference, bool isOther,
                    const Mesh &mesh, const Tensor &x) {
  const Mesh front = create_submesh({{"d", 1}}, {"CPU:0"});
  const Mesh back =
      create_submesh({{"d", 1}}, {DeviceSpec{"CPU", num_clients() - 1}});
  if (difference == "submesh value")
    enable_check_numerics(true);
  const double rate = difference == "submesh constant" && isOther ? 2.5 : 1.5;
  const DVariable w(copy_to_mesh(ones({4}), front), {.name = "w"});
  auto step = function(
      [&](const Tensor &y) {
        const Tensor there = log(copy_to_mesh(w * y * rate, back));
        return copy_to_mesh(reduce_sum(there), mesh);
      },
      {.name = "step"});
  auto once = [&](double value) { (void)step(full({4}, value)).item<float>(); };
  once(1);
  if (difference == "submesh call" && isOther)
    (void)reduce_max(x).item<float>();
  once(difference == "submesh value" ? -1 : 1);
}

void run(const std::string &difference) {
  if (difference == "private")
    set_client_options({.private_memories = true});
  const bool isOther = client_id() == num_clients() - 1;
  if (difference == "late" || difference == "late call")
    return runLate(difference == "late call", isOther);
  if (difference == "fit")
    return runFits(isOther);
  const Mesh mesh = create_distributed_mesh({{"batch", num_clients()}});
  const Tensor x = distribute(
      ones({8, 4}),
      Layout::batch_sharded(mesh, "batch", 2,
                            difference == "layout" && isOther ? 1 : 0));
  for (const char *name :
       {"order", "often", "eager", "barrier", "barriers", "end"})
    if (difference == name)
      return runInOrder(difference, isOther, mesh, x);
  for (const char *name : {"value", "scalar", "constant", "local", "later"})
    if (difference == name)
      return runOnValues(difference, isOther, mesh, x);
  if (difference == "refused")
    return runAfterTheEnd(isOther, mesh, x);
  if (difference.starts_with("submesh"))
    return runOnSubmeshes(difference, isOther, mesh, x);
  if (difference == "save")
    return runWithoutSaving(isOther, mesh, x);
  if (difference == "thread")
    return runInThreads(isOther, mesh, x);
  if (difference == "machine" && isOther)
    set_machine_model("ring");
  auto step = function(difference == "op" && isOther ? multiply : add,
                       {.name = "step"});
  if (difference == "exit" && isOther)
    std::exit(3);
  std::printf("%g\n", double(step(x).item<float>()));
}

} // namespace

/// Reports the type of an error, as a program can tell it.
static const char *kindOf(const std::exception &error) {
  return dynamic_cast<const DeadlineExceededError *>(&error)
             ? "deadline exceeded"
         : dynamic_cast<const UnavailableError *>(&error) ? "unavailable"
                                                          : "other";
}

int main(int, char **argv) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    const char *rank = std::getenv("DTENSOR_CLIENT_ID");
    if (argv[1] == std::string("devices"))
      setenv("MESHLOOM_DEVICES_PER_PROCESS", rank[0] == '2' ? "4" : "2", 1);
    if (argv[1] == std::string("later"))
      setenv("MESHLOOM_COMPARE_VALUES", "1", 1);
    if (argv[1] == std::string("thread"))
      setenv("MESHLOOM_TIMEOUT", "10", 1);
    detail::waitForAll("start");
    run(argv[1]);
  } catch (const std::exception &error) {
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    std::cout << error.what() << " [" << kindOf(error) << "]\nafter "
              << seconds.count() << " s" << std::endl;
    return 1;
  }
}
