// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver.h"

#include "LibraryFunctions.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;

bool cuda::isFinal(DriverResult result) {
  switch (result) {
  case DriverResult::UncorrectableMemory:
  case DriverResult::UncorrectableLink:
  case DriverResult::IllegalAddress:
  case DriverResult::LaunchTimeout:
  case DriverResult::ContextIsDestroyed:
  case DriverResult::Assert:
  case DriverResult::HardwareStackError:
  case DriverResult::IllegalInstruction:
  case DriverResult::MisalignedAddress:
  case DriverResult::InvalidAddressSpace:
  case DriverResult::InvalidProgramCounter:
  case DriverResult::LaunchFailed:
    return true;
  default:
    return false;
  }
}

std::string Driver::nameOf(DriverResult result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != DriverResult::Success || !name)
    return fmt::format("error {} of the driver", int(result));
  if (cuGetErrorString(result, &text) != DriverResult::Success || !text)
    return name;
  return fmt::format("{} ({})", name, text);
}

Result<const Driver *> Driver::open(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error(fmt::format("the platform cuda needs NVIDIA's driver, which "
                             "cannot be loaded: {}",
                             dlerror()),
                 ErrorCode::NOT_FOUND);
  auto driver = std::make_unique<Driver>();
  LibraryFunctions functions(library);
  functions.find(driver->cuDriverGetVersion, "cuDriverGetVersion");
  int version = 0;
  if (driver->cuDriverGetVersion)
    (void)driver->cuDriverGetVersion(&version);
  if (version > 0 && version < oldestDriver)
    return Error(fmt::format(
        "the driver '{}' is one of CUDA {}.{}, and the platform cuda needs one "
        "of CUDA {}.{} or later: install a newer driver",
        path, version / 1000, version % 1000 / 10, oldestDriver / 1000,
        oldestDriver % 1000 / 10));
#define MESHLOOM_DRIVER_FUNCTION(name, ...) functions.find(driver->name, #name);
#define MESHLOOM_NEWER_DRIVER_FUNCTION(name, ...)                              \
  LibraryFunctions(library).find(driver->name, #name);
#include "DriverFunctions.def"
#undef MESHLOOM_DRIVER_FUNCTION
  if (!functions.missing().empty())
    return Error(fmt::format("'{}' is no driver of NVIDIA's of CUDA {}.{} or "
                             "later: it has no function {}",
                             path, oldestDriver / 1000,
                             oldestDriver % 1000 / 10, functions.missing()));
  const DriverResult begun = driver->cuInit(0);
  if (begun == DriverResult::NoDevice)
    return Error(fmt::format("the driver '{}' finds no GPU", path),
                 ErrorCode::NOT_FOUND);
  if (begun != DriverResult::Success)
    return Error(fmt::format("the driver '{}' does not start: cuInit fails "
                             "with {}",
                             path, driver->nameOf(begun)));
  return driver.release(); // as the library, it stays
}

Result<const Driver *> Driver::load(const std::string &path) {
  return openOnce<Driver>(path, open);
}
