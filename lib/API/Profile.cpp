// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scopes over the runtime's profiler.
#include "meshloom/API/Profile.h"

#include "meshloom/Engine/Nodes.h"

#include "meshloom/Runtime/Profiler.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/ProfileTrace.h"

#include <iostream>
#include <optional>

namespace meshloom {
namespace detail {

class ProfileState {
public:
  std::filesystem::path trace;
  std::shared_ptr<Profiler> profiler;
  std::optional<Profile> recorded;
  bool asked = false; ///< for what would be printed

  const Profile &stop() {
    if (!recorded) {
      recorded = profiler->stop();
      if (!trace.empty())
        write(trace);
    }
    return *recorded;
  }
  void write(const std::filesystem::path &path) const {
    if (Status ok = writeFile(path.string(), profileTrace(*recorded)); !ok)
      fail("profile", ok.error());
  }
};

} // namespace detail
using namespace detail;

ProfileScope::ProfileScope(std::filesystem::path trace,
                           std::source_location where)
    : state(std::make_unique<ProfileState>()) {
  const UserLine line(where);
  state->trace = std::move(trace);
  // Before the work whose profile would be lost.
  if (!state->trace.empty())
    if (Status ok = writeFile(state->trace.string(), profileTrace({})); !ok)
      fail("profile", ok.error());
  Result<std::shared_ptr<Profiler>> started = Profiler::start();
  if (!started)
    fail("profile", started.error());
  state->profiler = std::move(*started);
}

ProfileScope::~ProfileScope() {
  try {
    const Profile &recorded = state->stop();
    if (state->trace.empty() && !state->asked)
      std::cout << costTable(recorded) << std::flush;
  } catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
  }
}

void ProfileScope::stop(std::source_location where) {
  const UserLine line(where);
  state->stop();
}

std::vector<StepCost> ProfileScope::steps() {
  state->asked = true;
  return stepCosts(state->stop());
}

std::string ProfileScope::table(size_t count) {
  state->asked = true;
  return costTable(state->stop(), count);
}

void ProfileScope::write(const std::filesystem::path &trace,
                         std::source_location where) {
  const UserLine line(where);
  state->asked = true;
  state->stop();
  state->write(trace);
}

} // namespace meshloom
