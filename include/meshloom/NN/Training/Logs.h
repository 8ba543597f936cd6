// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logs: the numbers of a batch or an epoch, as callbacks get them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshloom {

/// Numbers by name, in the order in which they are shown: "loss", then metrics.
/// The numbers of a batch lie on the devices until the first of them is asked
/// for: a callback that does not look at them does not make the step wait.
///
///   if (logs.find("val_loss").value_or(1) < 0.1) ...
///
/// Callbacks after this one see the numbers that a callback sets in the logs of
/// an epoch, and they are part of the History. May be used from one thread.
class Logs {
public:
  /// A name and its number.
  using Value = std::pair<std::string, double>;
  /// No numbers.
  Logs() = default;
  /// These.
  Logs(std::vector<Value> values) : entries(std::move(values)) {}
  /// The numbers that `read` returns when the first one is asked for.
  explicit Logs(std::function<std::vector<Value>()> read)
      : read(std::move(read)) {}

  /// All of them.
  const std::vector<Value> &values() const;
  /// The number of the name, or none.
  std::optional<double> find(std::string_view name) const;
  /// The number of the name. Throws meshloom::Error, which lists the names that
  /// there are, if there is none.
  double at(std::string_view name,
            std::source_location where = std::source_location::current()) const;
  /// Gives the name a number.
  void set(std::string_view name, double value);

private:
  mutable std::vector<Value> entries;
  mutable std::function<std::vector<Value>()> read; ///< empty once it was read
};

/// The result of `fit`: the numbers of each epoch.
struct History {
  /// Which epochs, from 0.
  std::vector<int64_t> epoch = {};
  /// The numbers of those epochs, by name, in the order in which names came.
  std::vector<std::pair<std::string, std::vector<double>>> history = {};

  /// The numbers of one name. Throws meshloom::Error, which lists the names
  /// that there are, if there is none.
  const std::vector<double> &operator[](std::string_view name) const;
};

} // namespace meshloom
