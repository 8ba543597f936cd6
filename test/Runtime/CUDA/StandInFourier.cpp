// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in cuFFT: a library with the functions of NVIDIA's cuFFT that
// Meshloom calls, which asks the stand-in driver for its work.
//
// It refuses plans that do not fit their transform or have no workspace. It
// writes poison to its workspace, and to operands of real results, which the
// real library overwrites too; what such operands have where the transform of
// real numbers is real must be real.
#include "../../../lib/Runtime/Backends/CUDA/FourierFacts.h"
#include "StandInDriver.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <numbers>
#include <vector>

namespace meshloom::cuda {
namespace {

using Number = std::complex<double>;

/// A workspace is asked for where lines have at least so many elements.
constexpr int64_t fewElements = 8;
constexpr int poison = 0xee;

struct Side {
  int64_t stride, distance;
};

struct Plan {
  bool allocates = true;
  FourierType type{};
  int64_t length = 0, lines = 0; ///< 0: it is not made
  Side from{}, to{};
  size_t workspaceBytes = 0;
  char *workspace = nullptr;
  StreamHandle stream = nullptr;

  bool isDouble() const { return int(type) >= int(FourierType::C2C64); }
  bool isFromReal() const {
    return type == FourierType::R2C || type == FourierType::R2C64;
  }
  bool isToReal() const {
    return type == FourierType::C2R || type == FourierType::C2R64;
  }
  int64_t elements(bool isReal) const {
    const bool isHalf = !isReal && (isFromReal() || isToReal());
    return isHalf ? length / 2 + 1 : length;
  }
  int64_t width(bool isReal) const {
    return (isDouble() ? 8 : 4) * (isReal ? 1 : 2);
  }
  size_t bytes(const Side &side, bool isReal) const {
    return size_t(((lines - 1) * side.distance +
                   (elements(isReal) - 1) * side.stride + 1) *
                  width(isReal));
  }
};

std::mutex mutex;
std::map<FourierHandle, Plan> plans;
FourierHandle lastHandle = 0;

/// Calls `use` with a plan that there is.
template <typename Use>
FourierResult withPlan(FourierHandle handle, const Use &use) {
  std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  return found == plans.end() ? FourierResult::InvalidPlan : use(found->second);
}

double loadPart(const char *data, bool isDouble) {
  if (isDouble) {
    double value = 0;
    std::memcpy(&value, data, sizeof(value));
    return value;
  }
  float value = 0;
  std::memcpy(&value, data, sizeof(value));
  return value;
}

void storePart(char *data, bool isDouble, double value) {
  const auto narrow = float(value);
  if (isDouble)
    std::memcpy(data, &value, sizeof(value));
  else
    std::memcpy(data, &narrow, sizeof(narrow));
}

/// The whole line of complex numbers that a transform begins with; empty: it
/// has no real transform.
std::vector<Number> loadLine(const Plan &plan, const char *line) {
  const bool isReal = plan.isFromReal();
  const int64_t width = plan.width(isReal), part = plan.width(true);
  std::vector<Number> numbers;
  for (int64_t i = 0; i < plan.elements(isReal); ++i) {
    const char *element = line + i * plan.from.stride * width;
    numbers.emplace_back(loadPart(element, plan.isDouble()),
                         isReal ? 0
                                : loadPart(element + part, plan.isDouble()));
  }
  if (!plan.isToReal())
    return numbers;
  if (numbers[0].imag() != 0 ||
      (plan.length % 2 == 0 && numbers.back().imag() != 0))
    return {};
  for (int64_t i = plan.elements(false); i < plan.length; ++i)
    numbers.push_back(std::conj(numbers[size_t(plan.length - i)]));
  return numbers;
}

std::vector<Number> transformed(const std::vector<Number> &line, int sign) {
  const size_t length = line.size();
  std::vector<Number> roots, result(length);
  for (size_t k = 0; k < length; ++k)
    roots.push_back(std::polar(1.0, 2 * std::numbers::pi * sign * double(k) /
                                        double(length)));
  for (size_t k = 0; k < length; ++k)
    for (size_t i = 0; i < length; ++i)
      result[k] += line[i] * roots[i * k % length];
  return result;
}

void storeLine(const Plan &plan, const std::vector<Number> &numbers,
               char *line) {
  const bool isReal = plan.isToReal();
  const int64_t width = plan.width(isReal), part = plan.width(true);
  for (int64_t i = 0; i < plan.elements(isReal); ++i) {
    char *element = line + i * plan.to.stride * width;
    storePart(element, plan.isDouble(), numbers[size_t(i)].real());
    if (!isReal)
      storePart(element + part, plan.isDouble(), numbers[size_t(i)].imag());
  }
}

/// Returns what is wrong, or nothing.
std::string compute(const Plan &plan, int sign, char *from, char *to) {
  std::vector<std::vector<Number>> lines;
  for (int64_t l = 0; l < plan.lines; ++l) {
    lines.push_back(loadLine(plan, from + l * plan.from.distance *
                                              plan.width(plan.isFromReal())));
    if (lines.back().empty())
      return "an operand of cuFFT's is no transform of real numbers";
  }
  if (plan.isToReal())
    for (int64_t l = 0; l < plan.lines; ++l)
      for (int64_t i = 0; i < plan.elements(false); ++i)
        std::memset(from + (l * plan.from.distance + i * plan.from.stride) *
                               plan.width(false),
                    poison, size_t(plan.width(false)));
  for (int64_t l = 0; l < plan.lines; ++l)
    storeLine(plan, transformed(lines[size_t(l)], sign),
              to + l * plan.to.distance * plan.width(plan.isToReal()));
  return "";
}

FourierResult execute(FourierHandle handle, FourierType type, void *from,
                      void *to, FourierDirection direction) {
  return withPlan(handle, [&](Plan &plan) {
    if (plan.lines == 0 || plan.type != type || !plan.stream)
      return FourierResult::InvalidPlan;
    if (plan.workspaceBytes > 0 && !plan.workspace)
      return FourierResult::NoWorkspace;
    auto isAligned = [&](const void *address) {
      return reinterpret_cast<uintptr_t>(address) %
                 uintptr_t(plan.width(false)) ==
             0;
    };
    if (!isAligned(from) || !isAligned(to))
      return FourierResult::InvalidValue;
    const DriverResult asked = standInEnqueue(
        plan.stream, "cufftExec", {},
        [plan, direction, from = static_cast<char *>(from),
         to = static_cast<char *>(to)](
            const DeviceBytes &isMemory) -> std::string {
          if (!isMemory(from, plan.bytes(plan.from, plan.isFromReal())) ||
              !isMemory(to, plan.bytes(plan.to, plan.isToReal())) ||
              (plan.workspaceBytes > 0 &&
               !isMemory(plan.workspace, plan.workspaceBytes)))
            return "a transform of cuFFT's is of no memory of the GPU";
          if (plan.workspaceBytes > 0)
            std::memset(plan.workspace, poison, plan.workspaceBytes);
          return compute(plan, int(direction), from, to);
        });
    return asked == DriverResult::Success ? FourierResult::Success
                                          : FourierResult::ExecutionFailed;
  });
}
} // namespace

extern "C" {
FourierResult cufftCreate(FourierHandle *handle) {
  std::lock_guard lock(mutex);
  *handle = ++lastHandle;
  plans.try_emplace(*handle);
  return FourierResult::Success;
}
FourierResult cufftDestroy(FourierHandle handle) {
  std::lock_guard lock(mutex);
  return plans.erase(handle) > 0 ? FourierResult::Success
                                 : FourierResult::InvalidPlan;
}

FourierResult cufftSetAutoAllocation(FourierHandle handle, int allocates) {
  return withPlan(handle, [&](Plan &plan) {
    plan.allocates = allocates != 0;
    return FourierResult::Success;
  });
}

FourierResult cufftMakePlanMany64(FourierHandle handle, int rank,
                                  long long *length, long long *fromExtents,
                                  long long fromStride, long long fromDistance,
                                  long long *toExtents, long long toStride,
                                  long long toDistance, FourierType type,
                                  long long lines, size_t *workspaceBytes) {
  return withPlan(handle, [&](Plan &plan) {
    // Without extents strides would mean nothing. We have no use for other
    // ranks, nor for memory that the library allocates by itself.
    if (rank != 1 || !fromExtents || !toExtents || plan.allocates ||
        *length < 1 || lines < 1 || fromStride < 1 || toStride < 1)
      return FourierResult::InvalidValue;
    plan.type = type;
    plan.length = *length;
    plan.lines = lines;
    plan.from = {fromStride, fromDistance};
    plan.to = {toStride, toDistance};
    plan.workspaceBytes =
        *length < fewElements ? 0 : size_t(*length * lines * plan.width(false));
    *workspaceBytes = plan.workspaceBytes;
    return FourierResult::Success;
  });
}

FourierResult cufftSetWorkArea(FourierHandle handle, void *workspace) {
  return withPlan(handle, [&](Plan &plan) {
    plan.workspace = static_cast<char *>(workspace);
    return FourierResult::Success;
  });
}
FourierResult cufftSetStream(FourierHandle handle, StreamHandle stream) {
  return withPlan(handle, [&](Plan &plan) {
    plan.stream = stream;
    return FourierResult::Success;
  });
}

FourierResult cufftExecC2C(FourierHandle handle, void *from, void *to,
                           FourierDirection direction) {
  return execute(handle, FourierType::C2C, from, to, direction);
}
FourierResult cufftExecZ2Z(FourierHandle handle, void *from, void *to,
                           FourierDirection direction) {
  return execute(handle, FourierType::C2C64, from, to, direction);
}
FourierResult cufftExecR2C(FourierHandle handle, void *from, void *to) {
  return execute(handle, FourierType::R2C, from, to, FourierDirection::Forward);
}
FourierResult cufftExecD2Z(FourierHandle handle, void *from, void *to) {
  return execute(handle, FourierType::R2C64, from, to,
                 FourierDirection::Forward);
}
FourierResult cufftExecC2R(FourierHandle handle, void *from, void *to) {
  return execute(handle, FourierType::C2R, from, to, FourierDirection::Inverse);
}
FourierResult cufftExecZ2D(FourierHandle handle, void *from, void *to) {
  return execute(handle, FourierType::C2R64, from, to,
                 FourierDirection::Inverse);
}
} // extern "C"
} // namespace meshloom::cuda
