// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that tests of strategies share.
#pragma once

#include "meshloom/Meshloom.h"

#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

namespace meshloom {

inline std::vector<DeviceSpec> cpus(int64_t count) {
  std::vector<DeviceSpec> names;
  for (const DeviceSpec &device : virtual_cpus(count))
    names.push_back(device);
  return names;
}

using Floats = std::vector<float>;
using Rows = std::vector<Floats>;

/// The values of each replica of this process.
inline Rows localValues(const Strategy &strategy,
                        const PerReplica<Tensor> &value) {
  Rows rows;
  for (const Tensor &local : strategy.experimental_local_results(value))
    rows.push_back(cast(local, DType::F32).to_vector<float>());
  return rows;
}

/// The error of `call`; empty where there is none.
inline std::string errorOf(const std::function<void()> &call) {
  try {
    call();
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

/// Keeps what is logged while it lives, by any thread.
class Logged {
public:
  Logged()
      : before(set_logger([this](LogLevel level, std::string_view text) {
          const std::lock_guard lock(mutex);
          messages.push_back(fmt::format("{}: {}", name(level), text));
        })) {}
  ~Logged() { set_logger(before); }
  Logged(const Logged &) = delete;
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex);
    return messages;
  }

private:
  mutable std::mutex mutex;
  std::vector<std::string> messages;
  Logger before;
};

} // namespace meshloom
