// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plug-ins that tests run: our own, which fails on demand, and XLA's for
// CPUs, where it is installed.
#pragma once

#include "meshloom/Runtime/Backends/PJRT/Plugin.h"

#include <optional>
#include <span>
#include <vector>

namespace meshloom::test {

/// A copy of the faulty plug-in, which nobody has loaded yet, so that it may be
/// loaded with a fault of its own. Deleted with the object.
class FaultyCopy {
public:
  FaultyCopy();
  ~FaultyCopy();
  const std::string &path() const { return file; }
  /// Loads it, with that value of MESHLOOM_FAULTY_PLUGIN.
  Result<const pjrt::Plugin *> load(const std::string &fault) const;

private:
  std::string file;
};

/// Our plug-in without a fault; the same one each time.
const pjrt::Plugin &faultyPlugin();

/// Fails the test unless everything that our plug-in gave out since this began
/// is given back when it ends. A fixture has it before what holds such things.
class AllReturned {
public:
  explicit AllReturned(const pjrt::Plugin &plugin = faultyPlugin());
  AllReturned(const AllReturned &) = delete;
  ~AllReturned();

private:
  const pjrt::Plugin &plugin;
  int64_t before;
};

/// XLA's plug-in for CPUs: MESHLOOM_PJRT_CPU_PLUGIN, else what
/// scripts/fetch-pjrt-cpu-plugin put into the build folder. Nothing, with the
/// reason in `why`, where there is none.
std::optional<std::string> cpuPluginPath(std::string &why);

/// libtpu: TPU_LIBRARY_PATH, else build/pjrt/libtpu.so. Nothing, with the
/// reason in `why`, where there is none.
std::optional<std::string> tpuLibraryPath(std::string &why);

/// The bytes of numbers, which must live as long.
inline std::span<const char> bytesOf(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(float)};
}

/// Sets an environment variable as long as it lives; null unsets it.
class ScopedVariable {
public:
  ScopedVariable(const char *name, const char *value);
  ~ScopedVariable();

private:
  std::string name;
  std::optional<std::string> before;
};

} // namespace meshloom::test
