// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Core/AvailableCores.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sched.h>
#include <sstream>

using namespace meshloom;
namespace fs = std::filesystem;

namespace {

/// More processors than a Linux kernel can be built for.
constexpr int MostProcessors = 1 << 16;

int64_t coresOfAffinity() {
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t *)> set(
      CPU_ALLOC(MostProcessors), [](cpu_set_t *s) { CPU_FREE(s); });
  const size_t size = CPU_ALLOC_SIZE(MostProcessors);
  if (!set || sched_getaffinity(0, size, set.get()) != 0)
    return 1;
  return std::max(1, CPU_COUNT_S(size, set.get()));
}

std::string contents(const fs::path &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The cores whose time a group has: its quota of microseconds in each period.
/// The text of both begins with another word, or with a negative number, where
/// there is no limit.
std::optional<int64_t> coresOfQuota(const std::string &quotaAndPeriod) {
  std::istringstream text(quotaAndPeriod);
  int64_t quota = 0, period = 0;
  if (!(text >> quota >> period) || quota <= 0 || period <= 0)
    return std::nullopt;
  return std::max<int64_t>(1, quota / period);
}

/// The cores whose time the group in `folder` has by itself.
std::optional<int64_t> coresOfGroup(const fs::path &folder, bool isVersion2) {
  return coresOfQuota(isVersion2 ? contents(folder / "cpu.max")
                                 : contents(folder / "cpu.cfs_quota_us") + " " +
                                       contents(folder / "cpu.cfs_period_us"));
}

bool isOneOf(const std::string &list, std::string_view name) {
  std::istringstream names(list);
  for (std::string item; std::getline(names, item, ',');)
    if (item == name)
      return true;
  return false;
}

} // namespace

std::optional<int64_t>
meshloom::coresOfControlGroups(const std::string &membership,
                               const fs::path &root) {
  std::optional<int64_t> least;
  std::istringstream lines(membership);
  // Each line is number:controllers:path, and version 2 has no controllers.
  for (std::string number, controllers, path;
       std::getline(lines, number, ':') &&
       std::getline(lines, controllers, ':') && std::getline(lines, path);) {
    const bool isVersion2 = controllers.empty();
    if (!isVersion2 && !isOneOf(controllers, "cpu"))
      continue;
    // The groups above a group limit it, too. A container sees its own group as
    // the root, and there may be no folder for the path by which the host names
    // it.
    const fs::path mount = isVersion2 ? root : root / "cpu";
    for (fs::path group = fs::path(path).relative_path();;
         group = group.parent_path()) {
      if (std::optional<int64_t> cores =
              coresOfGroup(mount / group, isVersion2))
        least = std::min(least.value_or(*cores), *cores);
      if (group.empty())
        break;
    }
  }
  return least;
}

int64_t meshloom::availableCores() {
  static const std::optional<int64_t> limit =
      coresOfControlGroups(contents("/proc/self/cgroup"), "/sys/fs/cgroup");
  const int64_t cores = coresOfAffinity();
  return limit ? std::min(cores, *limit) : cores;
}
