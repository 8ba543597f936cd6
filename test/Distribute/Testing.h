// What tests of strategies share.
#pragma once

#include "meshloom/Meshloom.h"

#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshloom {

inline std::vector<DeviceName> cpus(int64_t count) {
  std::vector<DeviceName> names;
  for (const DeviceSpec &device : virtual_cpus(count))
    names.push_back(device);
  return names;
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

/// Keeps what is logged while it lives.
class Logged {
public:
  Logged()
      : before(set_logger([this](LogLevel level, std::string_view text) {
          lines.push_back(fmt::format("{}: {}", name(level), text));
        })) {}
  ~Logged() { set_logger(before); }
  Logged(const Logged &) = delete;
  std::vector<std::string> lines;

private:
  Logger before;
};

} // namespace meshloom
