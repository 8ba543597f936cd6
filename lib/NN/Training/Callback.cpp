// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The base of callbacks, their list, and their states, see Callback.h.
#include "CallbackState.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/Processes.h"
#include "meshloom/NN/Training/Checkpoints.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace meshloom::callbacks {

Callback::~Callback() = default;
void Callback::on_train_begin(Logs &) {}
void Callback::on_train_end(Logs &) {}
void Callback::on_epoch_begin(int64_t, Logs &) {}
void Callback::on_epoch_end(int64_t, Logs &) {}
void Callback::on_train_batch_begin(int64_t, Logs &) {}
void Callback::on_train_batch_end(int64_t, Logs &) {}
void Callback::on_test_begin(Logs &) {}
void Callback::on_test_end(Logs &) {}
void Callback::on_test_batch_begin(int64_t, Logs &) {}
void Callback::on_test_batch_end(int64_t, Logs &) {}
void Callback::on_predict_begin(Logs &) {}
void Callback::on_predict_end(Logs &) {}
void Callback::on_predict_batch_begin(int64_t, Logs &) {}
void Callback::on_predict_batch_end(int64_t, Logs &) {}

CallbackState Callback::get_state() const {
  return {};
}
void Callback::set_state(const CallbackState &) {}

Model &Callback::model() const {
  if (!trained)
    Error("[Callback] there is no model yet: fit, evaluate and predict "
          "give their callbacks the model when they begin",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  return *trained;
}

/// "EarlyStopping", "(anonymous namespace)::Halve".
static std::string className(const Callback &callback) {
  const char *mangled = typeid(callback).name();
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? plain.get() : mangled;
  constexpr std::string_view builtIn = "meshloom::callbacks::";
  return name.starts_with(builtIn) ? name.substr(builtIn.size()) : name;
}

CallbackList::CallbackList(const Model &trained, std::vector<CallbackRef> list,
                           TrainingParameters parameters)
    : model(trained), callbacks(std::move(list)) {
  for (const CallbackRef &callback : callbacks)
    if (!callback.get())
      Error("[Callback] expected callbacks, got a null pointer").raise();
  for (const CallbackRef &callback : callbacks) {
    callback->trained = &model;
    callback->parameters = parameters;
    const std::string name = className(*callback.get());
    std::string free = name;
    for (int64_t i = 1; named.contains(free); ++i)
      free = fmt::format("{}_{}", name, i);
    named.emplace(std::move(free), callback.get());
  }
  for (const bool writesBackups : {false, true})
    for (const CallbackRef &callback : callbacks)
      if (bool(dynamic_cast<BackupAndRestore *>(callback.get())) ==
          writesBackups)
        backupsLast.push_back(callback.get());
}

CallbackList::~CallbackList() {
  for (const CallbackRef &callback : callbacks)
    callback->trained = nullptr;
}

void CallbackList::restore(
    const std::map<std::string, CallbackState> &states) const {
  for (const auto &[name, callback] : named) {
    if (const auto state = states.find(name); state != states.end())
      callback->set_state(state->second);
    else if (!callback->get_state().empty())
      detail::log(
          LogLevel::WARNING,
          fmt::format("[BackupAndRestore] the backup has no state of the "
                      "callback '{}', which starts from its beginning",
                      name));
  }
}

bool isWriter(const Model &model) {
  if (client_id() == 0)
    return true;
  return std::ranges::none_of(model.variables(), [](const DVariable &variable) {
    return detail::isOfAllProcesses(variable.layout().mesh());
  });
}

nn::Config numberConfig(double number) {
  return std::isfinite(number) ? nn::Config(number)
                               : nn::Config(fmt::format("{}", number));
}

double numberOf(const nn::Config &config) {
  return config.is_string() ? std::strtod(config.as_string().c_str(), nullptr)
                            : config.as_double();
}

} // namespace meshloom::callbacks
