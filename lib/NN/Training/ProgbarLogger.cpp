// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The progress of training as Keras shows it, see Callbacks.h: a bar that is
// full at the end of an epoch,
//
//   Epoch 1/2
//   10/10 [==============================] - 1s 2ms/step - loss: 2.2552
//
// or a line an epoch,
//
//   10/10 - 5s - loss: 4.6559 - 5s/epoch - 535ms/step
#include "meshloom/API/Processes.h"
#include "meshloom/NN/Training/Callbacks.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iostream>

#include <unistd.h>

namespace meshloom::callbacks {
namespace {

double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

std::string timeText(double seconds, std::string_view of) {
  if (seconds >= 1 || seconds == 0)
    return fmt::format("{:.0f}s/{}", seconds, of);
  if (seconds >= 1e-3)
    return fmt::format("{:.0f}ms/{}", seconds * 1e3, of);
  return fmt::format("{:.0f}us/{}", seconds * 1e6, of);
}

std::string numbersText(const Logs &logs) {
  std::string text;
  for (auto &[name, value] : logs.values())
    text += std::abs(value) > 1e-3 ? fmt::format(" - {}: {:.4f}", name, value)
                                   : fmt::format(" - {}: {:.4e}", name, value);
  return text;
}

std::string remainingText(double seconds) {
  const auto whole = int64_t(seconds);
  if (whole > 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60,
                       whole % 60);
  if (whole > 60)
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}s", whole);
}

std::string barText(int64_t done, int64_t total) {
  constexpr int64_t length = 30;
  const int64_t filled =
      total ? std::min(length * done / total, length) : length;
  std::string bar(size_t(length), '.');
  for (int64_t i = 0; i < filled; ++i)
    bar[size_t(i)] = '=';
  if (filled > 0 && done < total)
    bar[size_t(filled - 1)] = '>';
  return fmt::format("[{}]", bar);
}

/// How often a bar moves, at most.
constexpr double interval = 0.05;

} // namespace

ProgbarLogger::ProgbarLogger(std::ostream *stream)
    : out(stream ? *stream : std::cout),
      isTerminal(!stream && isatty(STDOUT_FILENO)) {}

void ProgbarLogger::begin() {
  done = 0;
  width = 0;
  began = seconds();
  shown = 0;
}

/// Where the bar of an epoch stands; `logs` are read only if it is shown. When
/// it moves is a matter of time and of who has a terminal, reading them one of
/// all processes: where there are several, none is shown before the end.
void ProgbarLogger::show(int64_t batch, Logs &logs) {
  const bool isFirst = done == 0;
  done = batch + 1;
  if (!isTerminal || params().verbose != 1 || num_clients() > 1) {
    if (isFirst)
      afterFirst = seconds();
    return;
  }
  const double now = seconds();
  if (isFirst)
    afterFirst = now;
  if (now - shown < interval)
    return;
  shown = now;
  const double perStep = (now - began) / double(done);
  std::string line =
      params().steps
          ? fmt::format("{:>{}}/{} {} - ETA: {}", done,
                        std::to_string(*params().steps).size(), *params().steps,
                        barText(done, *params().steps),
                        remainingText(perStep * double(*params().steps - done)))
          : fmt::format("{:>7}/Unknown - {:.0f}s {}", done, now - began,
                        timeText(perStep, "step"));
  line += numbersText(logs);
  const size_t before = std::exchange(width, line.size());
  out << '\r' << line << std::string(before > width ? before - width : 0, ' ')
      << std::flush;
}

void ProgbarLogger::finish(Logs &logs) {
  const double now = seconds(), whole = now - began;
  // The first step compiles: the others tell how long one takes.
  const double perStep =
      done > 1 ? (now - afterFirst) / double(done - 1) : whole;
  std::string line;
  if (params().verbose == 2)
    line = fmt::format("{}/{} - {:.0f}s{} - {} - {}", done, done, whole,
                       numbersText(logs), timeText(whole, "epoch"),
                       timeText(perStep, "step"));
  else
    line = fmt::format("{}{}/{} {} - {:.0f}s {}{}", isTerminal ? "\r" : "",
                       done, done, barText(done, done), whole,
                       timeText(perStep, "step"), numbersText(logs));
  if (line.size() < width)
    line.append(width - line.size(), ' ');
  out << line << std::endl;
}

void ProgbarLogger::on_train_begin(Logs &) {
  isTraining = true;
}
void ProgbarLogger::on_train_end(Logs &) {
  isTraining = false;
}

void ProgbarLogger::on_epoch_begin(int64_t epoch, Logs &) {
  if (params().verbose > 0 && params().epochs > 1)
    out << "Epoch " << epoch + 1 << '/' << params().epochs << std::endl;
  begin();
}
void ProgbarLogger::on_train_batch_end(int64_t batch, Logs &logs) {
  show(batch, logs);
}
void ProgbarLogger::on_epoch_end(int64_t, Logs &logs) {
  if (params().verbose > 0)
    finish(logs);
}

// Evaluations inside of training are part of its line.
void ProgbarLogger::on_test_begin(Logs &) {
  if (!isTraining)
    begin();
}
void ProgbarLogger::on_test_batch_end(int64_t batch, Logs &logs) {
  if (!isTraining)
    show(batch, logs);
}
void ProgbarLogger::on_test_end(Logs &logs) {
  if (!isTraining && params().verbose > 0)
    finish(logs);
}

void ProgbarLogger::on_predict_begin(Logs &) {
  begin();
}
void ProgbarLogger::on_predict_batch_end(int64_t batch, Logs &logs) {
  show(batch, logs);
}
void ProgbarLogger::on_predict_end(Logs &logs) {
  if (params().verbose > 0)
    finish(logs);
}

} // namespace meshloom::callbacks
