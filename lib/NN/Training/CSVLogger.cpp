// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The callback that writes a line an epoch, see Callbacks.h.
#include "CallbackList.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

namespace meshloom::callbacks {

namespace fs = std::filesystem;

static constexpr char rateColumn[] = "learning_rate";

CSVLogger::CSVLogger(fs::path file, CSVLoggerOptions options)
    : file(std::move(file)), options(std::move(options)) {}

static Error unwritable(const fs::path &file) {
  return Error(fmt::format("[CSVLogger] cannot write '{}'", file.string()));
}

static int64_t sizeOf(const fs::path &file) {
  std::error_code error;
  const uintmax_t size = fs::file_size(file, error);
  return error ? 0 : int64_t(size);
}

void CSVLogger::write(const std::string &line) {
  if (!isWriter(model()))
    return;
  std::ofstream out(file, std::ios::app);
  out << line << '\n';
  if (!out.flush())
    unwritable(file).raise();
}

void CSVLogger::on_train_begin(Logs &) {
  names.clear();
  isCleared = false;
  hasHeader = options.append && sizeOf(file) > 0;
  // A training that goes on from a backup needs what is there.
  if (isWriter(model()) && !std::ofstream(file, std::ios::app))
    unwritable(file).raise();
}

void CSVLogger::clear() {
  if (std::exchange(isCleared, true) || options.append || !isWriter(model()))
    return;
  if (!std::ofstream(file, std::ios::trunc))
    unwritable(file).raise();
}

void CSVLogger::on_epoch_begin(int64_t, Logs &) {
  clear();
}

void CSVLogger::on_epoch_end(int64_t epoch, Logs &logs) {
  clear();
  if (names.empty()) {
    for (auto &[name, value] : logs.values())
      names.push_back(name);
    std::ranges::sort(names);
    // Columns stay what they are, so those of an evaluation that comes later
    // are there from the start.
    const bool evaluates =
        std::ranges::any_of(names, [](const std::string &name) {
          return name.starts_with("val_");
        });
    if (params().validates && !evaluates) {
      const size_t count = names.size();
      for (size_t i = 0; i < count; ++i)
        if (names[i] != rateColumn)
          names.push_back("val_" + names[i]);
    }
  }
  if (!std::exchange(hasHeader, true))
    write(fmt::format("epoch{}{}", options.separator,
                      fmt::join(names, options.separator)));
  std::string line = std::to_string(epoch);
  for (const std::string &name : names) {
    const std::optional<double> value = logs.find(name);
    line += options.separator + (value ? fmt::format("{}", *value) : "NA");
  }
  write(line);
}

CallbackState CSVLogger::get_state() const {
  return {.values = nn::Config::Map{
              {"columns", nn::Config::List(names.begin(), names.end())},
              {"header", hasHeader},
              {"bytes", isCleared || options.append ? sizeOf(file) : 0}}};
}

void CSVLogger::set_state(const CallbackState &state) {
  names.clear();
  for (const nn::Config &name : state.values.at("columns").as_list())
    names.push_back(name.as_string());
  hasHeader = state.values.at("header").as_bool();
  isCleared = true;
  // The lines of epochs that are trained again go; of a file that is gone a new
  // one begins.
  const int64_t bytes = state.values.at("bytes").as_int(), now = sizeOf(file);
  hasHeader &= now > 0;
  std::error_code error;
  if (isWriter(model()) && now > bytes)
    fs::resize_file(file, uintmax_t(bytes), error);
  if (error)
    unwritable(file).raise();
}

} // namespace meshloom::callbacks
