// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of our plug-in, and where XLA's is.
#include "PluginsForTests.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace meshloom;
using namespace meshloom::test;

FaultyCopy::FaultyCopy() {
  static int copies = 0;
  file = fmt::format("{}/faulty-{}-{}.so",
                     std::filesystem::temp_directory_path().string(), getpid(),
                     copies++);
  std::filesystem::copy_file(MESHLOOM_FAULTY_PLUGIN_PATH, file);
}

FaultyCopy::~FaultyCopy() {
  std::filesystem::remove(file);
}

Result<const pjrt::Plugin *> FaultyCopy::load(const std::string &fault) const {
  ScopedVariable variable("MESHLOOM_FAULTY_PLUGIN", fault.c_str());
  return pjrt::Plugin::load(file);
}

const pjrt::Plugin &test::faultyPlugin() {
  return *pjrt::Plugin::load(MESHLOOM_FAULTY_PLUGIN_PATH).value_or_throw();
}

/// How many things it gave out that were not given back.
static int64_t liveObjects(const pjrt::Plugin &plugin) {
  void *library = dlopen(plugin.path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  auto *count = reinterpret_cast<int64_t (*)()>(
      dlsym(library, "FaultyPluginLiveObjects"));
  return count();
}

/// Whether it comes to be `count` soon: the last holder may be a callback that
/// has just told the test what it waited for.
static bool becomesLiveObjects(const pjrt::Plugin &plugin, int64_t count) {
  for (int tries = 0; tries < 5000; ++tries) {
    if (liveObjects(plugin) == count)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

AllReturned::AllReturned(const pjrt::Plugin &plugin)
    : plugin(plugin), before(liveObjects(plugin)) {}

AllReturned::~AllReturned() {
  EXPECT_TRUE(becomesLiveObjects(plugin, before));
}

std::optional<std::string> test::cpuPluginPath(std::string &why) {
  const char *setting = std::getenv("MESHLOOM_PJRT_CPU_PLUGIN");
  const std::string path = setting ? setting : MESHLOOM_FETCHED_CPU_PLUGIN;
  if (std::filesystem::exists(path))
    return path;
  why = fmt::format("XLA's plug-in for CPUs is not installed: there is no '{}' "
                    "({}); scripts/fetch-pjrt-cpu-plugin fetches it",
                    path,
                    setting ? "from MESHLOOM_PJRT_CPU_PLUGIN"
                            : "MESHLOOM_PJRT_CPU_PLUGIN is not set");
  return std::nullopt;
}

std::optional<std::string> test::tpuLibraryPath(std::string &why) {
  const char *setting = std::getenv("TPU_LIBRARY_PATH");
  const std::string path = setting ? setting : MESHLOOM_FETCHED_TPU_LIBRARY;
  if (std::filesystem::exists(path))
    return path;
  why = fmt::format(
      "libtpu is not installed: there is no '{}' ({}); "
      "scripts/fetch-pjrt-cpu-plugin --tpu fetches it for those "
      "who accept its terms",
      path, setting ? "from TPU_LIBRARY_PATH" : "TPU_LIBRARY_PATH is not set");
  return std::nullopt;
}

ScopedVariable::ScopedVariable(const char *name, const char *value)
    : name(name) {
  if (const char *old = std::getenv(name))
    before = old;
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

ScopedVariable::~ScopedVariable() {
  if (before)
    setenv(name.c_str(), before->c_str(), 1);
  else
    unsetenv(name.c_str());
}
