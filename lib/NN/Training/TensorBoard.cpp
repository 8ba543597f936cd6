// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The callback that writes event files, see TensorBoard.h.
#include "meshloom/NN/Training/TensorBoard.h"

#include "CallbackList.h"
#include "ProfileFile.h"

#include "meshloom/API/Processes.h"
#include "meshloom/NN/Models/Model.h"

#include <chrono>

namespace meshloom::callbacks {
namespace {

double steadySeconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

bool isOfValidation(std::string_view name) {
  return name.starts_with("val_");
}

} // namespace

TensorBoard::TensorBoard(TensorBoardOptions settings)
    : options(std::move(settings)) {
  const auto [first, last] = options.profile_batch;
  if (first < 0 || last < first)
    Error("[TensorBoard] expected profile_batch to be the first and the "
          "last batch, from 1, got " +
          std::to_string(first) + " and " + std::to_string(last))
        .raise();
  for (auto [option, frequency] :
       {std::pair("histogram_freq", options.histogram_freq),
        {"update_freq", options.update_freq}})
    if (frequency < 0)
      Error("[TensorBoard] expected " + std::string(option) +
            " to be 0 or more, got " + std::to_string(frequency))
          .raise();
}

TensorBoard::~TensorBoard() = default;

SummaryWriter &TensorBoard::validation() {
  if (!evaluated)
    evaluated = std::make_shared<SummaryWriter>(options.log_dir / "validation");
  return *evaluated;
}

void TensorBoard::on_train_begin(Logs &) {
  if (isWriter(model()))
    train = std::make_shared<SummaryWriter>(options.log_dir / "train");
  hasGraph = false;
}

void TensorBoard::on_train_end(Logs &) {
  endProfile();
  if (train)
    train->flush();
  if (evaluated)
    evaluated->flush();
  train.reset();
  evaluated.reset();
}

void TensorBoard::on_epoch_begin(int64_t, Logs &) {
  epochBegan = steadySeconds();
  epochBatches = batches;
}

void TensorBoard::on_train_batch_begin(int64_t, Logs &) {
  const auto [first, last] = options.profile_batch;
  if (first > 0 && !profile && batches + 1 >= first && batches < last)
    profile = std::make_shared<ProfileScope>();
}

void TensorBoard::endProfile() {
  if (!profile)
    return;
  if (isWriter(model()))
    writeProfile(*profile, options.log_dir);
  profile.reset();
  options.profile_batch = {0, 0};
}

void TensorBoard::on_train_batch_end(int64_t batch, Logs &logs) {
  batches = epochBatches + batch + 1;
  if (profile && batches >= options.profile_batch.second)
    endProfile();
  if (options.update_freq <= 0 || batches - shown < options.update_freq)
    return;
  shown = batches;
  // Reading them is something that all processes do.
  const std::vector<Logs::Value> &values = logs.values();
  if (!train)
    return;
  for (auto &[name, value] : values)
    train->scalar("batch_" + name, value, batches - 1);
  if (options.write_steps_per_second)
    train->scalar("batch_steps_per_second",
                  double(batches - epochBatches) /
                      (steadySeconds() - epochBegan),
                  batches - 1);
}

void TensorBoard::on_epoch_end(int64_t epoch, Logs &logs) {
  // Before the first batch a model may not be built.
  if (train && options.write_graph && !hasGraph)
    train->graph(model());
  hasGraph = true;
  const int64_t seen = batches - std::exchange(epochBatches, batches);
  const std::vector<Logs::Value> &values = logs.values();
  if (options.histogram_freq > 0 && epoch % options.histogram_freq == 0)
    for (const NamedVariable &weight : model().named_variables())
      if (isFloat(weight.variable.dtype())) {
        const Tensor whole =
            detail::replicateUnlessLocal(weight.variable.read_value());
        if (train)
          train->histogram(weight.path, whole, epoch);
      }
  if (!train)
    return;
  for (auto &[name, value] : values)
    if (isOfValidation(name))
      validation().scalar("epoch_" + name.substr(4), value, epoch);
    else
      train->scalar("epoch_" + name, value, epoch);
  if (options.write_steps_per_second)
    train->scalar("epoch_steps_per_second",
                  double(seen) / (steadySeconds() - epochBegan), epoch);
  train->flush();
  if (evaluated)
    evaluated->flush();
}

CallbackState TensorBoard::get_state() const {
  return {.values =
              nn::Config::Map{{"batches", epochBatches}, {"shown", shown}}};
}

void TensorBoard::set_state(const CallbackState &state) {
  batches = epochBatches = state.values.at("batches").as_int();
  shown = state.values.at("shown").as_int();
}

void TensorBoard::on_test_end(Logs &logs) {
  // These are the numbers of evaluate; those of fit come with their epoch, too.
  const std::vector<Logs::Value> &values = logs.values();
  if (!isWriter(model()))
    return;
  for (auto &[name, value] : values)
    validation().scalar("evaluation_" + name + "_vs_iterations", value,
                        model().steps_taken());
  if (!train && evaluated) {
    evaluated->flush();
    evaluated.reset();
  }
}

} // namespace meshloom::callbacks
