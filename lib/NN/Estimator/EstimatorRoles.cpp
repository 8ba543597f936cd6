// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The roles of the processes of an Estimator's cluster, see Estimator.h.
#include "EstimatorState.h"

#include "meshloom/API/NameScope.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/Processes.h"
#include "meshloom/Core/SystemError.h"
#include "meshloom/Distribute/ParameterServer/ClusterCoordinator.h"
#include "meshloom/Distribute/ParameterServer/Server.h"
#include "meshloom/Distribute/Strategies.h"
#include "meshloom/NN/Config.h"
#include "meshloom/Support/File.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace meshloom::estimator {

namespace fs = std::filesystem;

namespace {

constexpr char evaluatorJob[] = "evaluator";
/// In the folder, where a training has ended: its global_step.
constexpr char endedName[] = "training_ended";

/// The "model_dir" of TF_CONFIG, or a new folder.
fs::path defaultFolder() {
  if (const auto text = processEnvironment("TF_CONFIG")) {
    const nn::Config config = nn::Config::parse(*text);
    if (const nn::Config *folder = config.find("model_dir"))
      return folder->as_string();
  }
  std::error_code failure;
  const fs::path folder = fs::temp_directory_path(failure);
  if (failure)
    Error(fmt::format("[Estimator] expected TMPDIR to name a folder, which has "
                      "the checkpoints where no model_dir is given: {}",
                      failure.message()),
          errorCodeOfSystem(failure.value()))
        .raise();
  std::string name = (folder / "meshloom.XXXXXX").string();
  if (!mkdtemp(name.data()))
    Error(fmt::format("[Estimator] cannot make the temporary folder "
                      "'{}': {}",
                      name, std::strerror(errno)),
          errorCodeOfSystem(errno))
        .raise();
  meshloom::detail::log(
      LogLevel::WARNING,
      fmt::format("[Estimator] no model_dir: '{}', a temporary folder, has the "
                  "checkpoints",
                  name));
  return name;
}

void expectConfig(const RunConfig &config) {
  auto expect = [](bool holds, const char *option, auto value,
                   const char *needed) {
    if (!holds)
      Error(fmt::format("[Estimator] expected {} to be {}, got {}", option,
                        needed, value))
          .raise();
  };
  expect(config.save_checkpoints_secs >= 0, "save_checkpoints_secs",
         config.save_checkpoints_secs, "0 or more");
  expect(config.save_checkpoints_steps.value_or(1) >= 1,
         "save_checkpoints_steps", config.save_checkpoints_steps.value_or(1),
         "1 or more");
  expect(config.keep_checkpoint_max >= 0, "keep_checkpoint_max",
         config.keep_checkpoint_max, "0 or more");
  expect(config.save_summary_steps >= 0, "save_summary_steps",
         config.save_summary_steps, "0 or more");
  expect(config.log_step_count_steps >= 0, "log_step_count_steps",
         config.log_step_count_steps, "0 or more");
}

/// Serves evaluation in a process that does nothing else.
std::map<std::string, double> evaluateContinuously(const Estimator &estimator,
                                                   const TrainSpec &train_spec,
                                                   const EvalSpec &eval_spec) {
  using Clock = std::chrono::steady_clock;
  constexpr auto glance = std::chrono::milliseconds(200);
  // For so long a training that is there already may begin again.
  constexpr auto grace = std::chrono::seconds(10);
  const fs::path &folder = estimator.model_dir();
  const fs::path ended = folder / endedName;
  const auto begin = Clock::now();
  const auto beginOfFiles = fs::file_time_type::clock::now();
  std::map<std::string, double> numbers;
  std::optional<int64_t> seen;
  std::optional<Clock::time_point> last;
  for (;; std::this_thread::sleep_for(glance)) {
    // Read before the checkpoints: after it there comes none.
    std::error_code missing;
    const fs::file_time_type time = fs::last_write_time(ended, missing);
    const bool hasEnded =
        !missing && (time >= beginOfFiles || Clock::now() - begin > grace);
    const std::optional<int64_t> newest = newestStep(folder);
    const bool isLast = hasEnded || (newest && train_spec.max_steps &&
                                     *newest >= *train_spec.max_steps);
    const bool isDue = !last || isLast ||
                       Clock::now() - *last >= std::chrono::duration<double>(
                                                   eval_spec.throttle_secs);
    if (newest && newest != seen && *newest > 0 && isDue) {
      try {
        numbers = estimator.evaluate(eval_spec.input_fn, eval_spec.steps,
                                     eval_spec.name);
      } catch (const Error &) {
        if (newestStep(folder) == newest)
          throw; // else it was removed meanwhile, as newer ones came
        continue;
      }
      seen = int64_t(numbers.at("global_step"));
      last = Clock::now();
    }
    if (isLast && (!newest || seen == newest || *newest == 0))
      return numbers;
  }
}

} // namespace

Role Estimator::State::role() const {
  if (task && task->type == evaluatorJob)
    return Role::Evaluates;
  if (cluster.empty())
    return num_clients() > 1 ? Role::Together : Role::Alone;
  if (cluster.has_job("ps"))
    return task->type == "chief" ? Role::Leads : Role::Serves;
  return worker_count(cluster, *task) > 1 ? Role::Together : Role::Alone;
}

/// Throws where the program is in the scope of a strategy of this process alone
/// and others would train beside it.
static void expectForAll(Role role) {
  const Strategy strategy = get_strategy();
  const bool hasServers = bool(meshloom::detail::workersOf(strategy));
  const bool fits = role == Role::Leads      ? hasServers
                    : role == Role::Together ? num_clients() > 1
                                             : true;
  if (!fits)
    Error(fmt::format("[Estimator] TF_CONFIG names processes that train "
                      "together, and the "
                      "program is in the scope of a {} of this one alone: call "
                      "the estimator "
                      "outside of it",
                      strategy.name()),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
}

bool Estimator::State::isWriter() const {
  return client_id() == 0;
}

std::unique_ptr<StrategyScope> Estimator::State::scope() {
  const Role currentRole = role();
  if (has_strategy())
    expectForAll(currentRole);
  if (has_strategy() ||
      (currentRole != Role::Together && currentRole != Role::Leads))
    return nullptr;
  if (!strategy) {
    const SimpleClusterResolver resolver(
        cluster, {.task_type = task ? std::optional(task->type) : std::nullopt,
                  .task_id = task ? std::optional(task->index) : std::nullopt});
    if (currentRole == Role::Leads)
      strategy = ParameterServerStrategy(resolver);
    else if (cluster.empty())
      strategy = MultiWorkerMirroredStrategy();
    else
      strategy = MultiWorkerMirroredStrategy(resolver);
  }
  return std::make_unique<StrategyScope>(*strategy);
}

void Estimator::State::serve() {
  // A chief that has gone comes back in no later call of the same program.
  static std::atomic<bool> hasServed = false;
  if (hasServed.exchange(true))
    return;
  ServerOptions options;
  if (!processEnvironment("MESHLOOM_COORDINATOR_TIMEOUT"))
    options.coordinator_timeout_seconds = 10;
  Server(cluster, task->type, task->index, options).join();
}

Estimator::Estimator(ModelFunction model_fn, RunConfig config)
    : state(std::make_shared<State>()) {
  if (!model_fn)
    Error("[Estimator] expected a model function, got an empty one").raise();
  expectConfig(config);
  const TFConfigClusterResolver resolver;
  std::map<std::string, std::map<int64_t, std::string>> jobs =
      resolver.cluster_spec().as_dict();
  jobs.erase(evaluatorJob);
  state->cluster = ClusterSpec::numbered(std::move(jobs));
  state->task = resolver.task();
  if (!state->cluster.empty()) {
    if (!state->task)
      Error("[Estimator] expected TF_CONFIG to say which task this "
            R"(process is: "task": {"type": "worker", "index": 0})")
          .raise();
    if (state->task->type != evaluatorJob)
      if (Status status = validate(state->cluster, state->task); !status)
        status.error()
            .withMessage(
                fmt::format("[Estimator] {}", status.error().message()))
            .raise();
    if (state->cluster.has_job("ps") && !state->cluster.has_job("chief"))
      Error(R"([Estimator] expected a "chief" in TF_CONFIG's cluster, )"
            "which has the workers train: there is none beside its "
            "parameter servers")
          .raise();
  }
  state->modelFunction = std::move(model_fn);
  if (config.model_dir.empty())
    config.model_dir = defaultFolder();
  state->config = std::move(config);
}

const fs::path &Estimator::model_dir() const {
  return state->config.model_dir;
}
const RunConfig &Estimator::config() const {
  return state->config;
}

int64_t Estimator::train(const InputFunction &input_fn,
                         std::optional<int64_t> max_steps,
                         std::source_location where) const {
  return meshloom::detail::atLine(where, [&]() -> int64_t {
    switch (state->role()) {
    case Role::Evaluates:
      Error("[Estimator] this process is the evaluator, which does not "
            "train: call train_and_evaluate",
            ErrorCode::FAILED_PRECONDITION)
          .raise();
    case Role::Serves:
      state->serve();
      return 0;
    default:
      return state->train(input_fn, max_steps, {});
    }
  });
}

std::map<std::string, double> train_and_evaluate(const Estimator &estimator,
                                                 const TrainSpec &train_spec,
                                                 const EvalSpec &eval_spec) {
  using Clock = std::chrono::steady_clock;
  Estimator::State &state = *estimator.internal();
  const Role role = state.role();
  if (role == Role::Evaluates)
    return evaluateContinuously(estimator, train_spec, eval_spec);
  if (role == Role::Serves) {
    state.serve();
    return {};
  }
  const fs::path ended = estimator.model_dir() / endedName;
  std::error_code isNone;
  if (state.isWriter())
    fs::remove(ended, isNone);
  std::map<std::string, double> numbers;
  std::optional<int64_t> seen;
  std::optional<Clock::time_point> last;
  const bool evaluates = state.cluster.empty();
  auto evaluate = [&](int64_t step) {
    numbers =
        estimator.evaluate(eval_spec.input_fn, eval_spec.steps, eval_spec.name);
    seen = step;
    last = Clock::now();
  };
  const int64_t step = state.train(
      train_spec.input_fn, train_spec.max_steps, [&](int64_t written) {
        // A model that nobody has trained says nothing.
        const bool isDue =
            !last || Clock::now() - *last >=
                         std::chrono::duration<double>(eval_spec.throttle_secs);
        if (evaluates && written > 0 && isDue)
          evaluate(written);
      });
  if (evaluates && seen != step)
    evaluate(step);
  if (state.isWriter())
    std::move(writeFile(ended.string(), std::to_string(step))).value_or_throw();
  return numbers;
}

} // namespace meshloom::estimator
