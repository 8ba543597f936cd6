// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan of cuFFT's has the lines along one more loop, in even distances. Loops
// that are not one with it are one execution of the plan after the other.
#include "Fourier.h"

#include "LibraryFunctions.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

using namespace meshloom;
using namespace meshloom::cuda;

/// The library of CUDA 13 and that of CUDA 12, which have the same functions.
static constexpr std::array systemFourierLibraries{"libcufft.so.12",
                                                   "libcufft.so.11"};

Result<const FourierLibrary *> FourierLibrary::load(const std::string &path) {
  return loadLibrary<FourierLibrary>(
      path, {"cuFFT", systemFourierLibraries},
      [](LibraryFunctions &functions, FourierLibrary &library) {
#define MESHLOOM_FOURIER_FUNCTION(name, ...)                                   \
  functions.find(library.name, #name);
#include "FourierFunctions.def"
#undef MESHLOOM_FOURIER_FUNCTION
      });
}

namespace {
using Form = FourierKind::Form;

std::string nameOf(FourierResult result) {
  switch (result) {
  case FourierResult::InvalidPlan:
    return "CUFFT_INVALID_PLAN";
  case FourierResult::AllocationFailed:
    return "CUFFT_ALLOC_FAILED";
  case FourierResult::InvalidType:
    return "CUFFT_INVALID_TYPE";
  case FourierResult::InvalidValue:
    return "CUFFT_INVALID_VALUE";
  case FourierResult::InternalError:
    return "CUFFT_INTERNAL_ERROR";
  case FourierResult::ExecutionFailed:
    return "CUFFT_EXEC_FAILED";
  case FourierResult::SetupFailed:
    return "CUFFT_SETUP_FAILED";
  case FourierResult::NoWorkspace:
    return "CUFFT_NO_WORKSPACE";
  default:
    return fmt::format("error {}", int(result));
  }
}

Status check(FourierResult result, std::string_view function) {
  if (result == FourierResult::Success)
    return Success();
  return failedCall(function, nameOf(result));
}

/// Lines side by side: how many, and elements from one to the next.
struct LinesLoop {
  int64_t extent = 1, from = 0, to = 0;
};

/// The loops over the lines, of which as many as can are one. The longest comes
/// last.
std::vector<LinesLoop> mergedLoops(const FourierLines &lines) {
  std::vector<LinesLoop> loops;
  for (size_t d = 0; d < lines.extents.size(); ++d)
    if (d != lines.kind.dim && lines.extents[d] != 1)
      loops.push_back({lines.extents[d], lines.from[d], lines.to[d]});
  std::ranges::stable_sort(loops, std::greater(), &LinesLoop::to);
  std::vector<LinesLoop> merged;
  for (const LinesLoop &loop : loops) {
    if (!merged.empty() && merged.back().from == loop.from * loop.extent &&
        merged.back().to == loop.to * loop.extent)
      merged.back() = {merged.back().extent * loop.extent, loop.from, loop.to};
    else
      merged.push_back(loop);
  }
  if (merged.empty())
    merged.emplace_back();
  std::ranges::stable_sort(merged, {}, &LinesLoop::extent);
  return merged;
}

class FourierWork : public LibraryWork {
public:
  FourierWork(const FourierLibrary &library, Card &card, FourierLines lines)
      : library(library), card(card), lines(std::move(lines)) {}
  ~FourierWork() override {
    if (handle >= 0 && card.enter())
      (void)library.cufftDestroy(handle);
  }
  FourierWork(const FourierWork &) = delete;
  FourierWork &operator=(const FourierWork &) = delete;

  /// False: the library does not take these lines.
  Result<bool> plan();
  std::string_view function() const override;
  int64_t workspaceBytes() const override { return copyOffset + copyBytes; }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  /// Where an execution of the plan begins, in bytes.
  struct Start {
    int64_t from = 0, to = 0;
  };
  int64_t width(bool isReal) const {
    return int64_t(byteWidth(lines.kind.part)) * (isReal ? 1 : 2);
  }
  /// Makes the lines those of the copy, one behind the other.
  void placeCopy();
  void findStarts(std::span<const LinesLoop> loops);
  /// Returns whether real numbers begin where complex ones might.
  bool isAligned() const;
  FourierType type() const;
  Status copyLines(Commands &commands, char *from, char *to) const;
  Status execute(char *from, char *to) const;

  const FourierLibrary &library;
  Card &card;
  FourierLines lines;
  std::vector<int64_t> operandStrides; ///< of the array that is copied
  FourierHandle handle = -1;
  int64_t copyOffset = 0, copyBytes = 0; ///< of the copy in the workspace
  std::vector<Start> starts;
};

void FourierWork::placeCopy() {
  operandStrides = lines.from;
  const size_t rank = lines.extents.size(), dim = lines.kind.dim;
  int64_t elements = lines.extents[dim];
  lines.from[dim] = 1;
  for (size_t d = rank; d-- > 0;)
    if (d != dim) {
      lines.from[d] = elements;
      elements *= lines.extents[d];
    }
  lines.fromOffset = 0;
  copyBytes = elements * width(/*isReal=*/false);
}

void FourierWork::findStarts(std::span<const LinesLoop> loops) {
  const int64_t fromWidth = width(lines.kind.form == Form::FromReal),
                toWidth = width(lines.kind.form == Form::ToReal);
  starts.emplace_back();
  for (const LinesLoop &loop : loops) {
    std::vector<Start> next;
    for (const Start &start : starts)
      for (int64_t i = 0; i < loop.extent; ++i)
        next.push_back({start.from + i * loop.from * fromWidth,
                        start.to + i * loop.to * toWidth});
    starts = std::move(next);
  }
}

bool FourierWork::isAligned() const {
  const int64_t alignment = width(/*isReal=*/false);
  return std::ranges::all_of(starts, [&](const Start &start) {
    return (lines.fromOffset + start.from) % alignment == 0 &&
           (lines.toOffset + start.to) % alignment == 0;
  });
}

FourierType FourierWork::type() const {
  const bool isDouble = lines.kind.part == DType::F64;
  switch (lines.kind.form) {
  case Form::FromReal:
    return isDouble ? FourierType::R2C64 : FourierType::R2C;
  case Form::ToReal:
    return isDouble ? FourierType::C2R64 : FourierType::C2R;
  default:
    return isDouble ? FourierType::C2C64 : FourierType::C2C;
  }
}

Result<bool> FourierWork::plan() {
  const FourierKind &kind = lines.kind;
  if (std::ranges::any_of(lines.extents, [](int64_t e) { return e <= 0; }) ||
      lines.extents[kind.dim] != kind.operandLength() ||
      (kind.isCopied() && !lines.copy.shape))
    return false;
  if (kind.isCopied())
    placeCopy();
  // A kernel counts its results in 32 bits.
  if (copyBytes / width(/*isReal=*/false) > MOST_RESULTS)
    return false;
  const std::vector<LinesLoop> loops = mergedLoops(lines);
  findStarts(std::span(loops).first(loops.size() - 1));
  if (!isAligned())
    return false;
  if (Status ok = check(library.cufftCreate(&handle), "cufftCreate"); !ok)
    return ok.error();
  if (Status ok = check(library.cufftSetAutoAllocation(handle, 0),
                        "cufftSetAutoAllocation");
      !ok)
    return ok.error();
  long long length = kind.length, one = 1;
  const LinesLoop &beside = loops.back();
  size_t area = 0;
  // Extents of arrays are of no use for lines, but say that strides are there.
  const FourierResult result = library.cufftMakePlanMany64(
      handle, /*rank=*/1, &length, &one, lines.from[kind.dim], beside.from,
      &one, lines.to[kind.dim], beside.to, type(), beside.extent, &area);
  if (result == FourierResult::InvalidSize ||
      result == FourierResult::NotImplemented ||
      result == FourierResult::NotSupported)
    return false;
  if (Status ok = check(result, "cufftMakePlanMany64"); !ok)
    return ok.error();
  copyOffset = paddedBytes(int64_t(area));
  return true;
}

Status FourierWork::copyLines(Commands &commands, char *from, char *to) const {
  const std::array pointers{from, to};
  const std::vector<int64_t> origin(lines.extents.size());
  const std::array strides{operandStrides, lines.from};
  return launchKernel(
      commands, card, lines.copy,
      {pointers, lines.extents, origin, [&](unsigned operand, unsigned loop) {
         return strides[operand][loop];
       }});
}

std::string_view FourierWork::function() const {
  switch (type()) {
  case FourierType::C2C:
    return "cufftExecC2C";
  case FourierType::R2C:
    return "cufftExecR2C";
  case FourierType::C2R:
    return "cufftExecC2R";
  case FourierType::C2C64:
    return "cufftExecZ2Z";
  case FourierType::R2C64:
    return "cufftExecD2Z";
  case FourierType::C2R64:
    break;
  }
  return "cufftExecZ2D";
}

Status FourierWork::execute(char *from, char *to) const {
  const FourierDirection direction = lines.kind.form == Form::Inverse
                                         ? FourierDirection::Inverse
                                         : FourierDirection::Forward;
  auto result = FourierResult::InvalidType;
  switch (type()) {
  case FourierType::C2C:
    result = library.cufftExecC2C(handle, from, to, direction);
    break;
  case FourierType::R2C:
    result = library.cufftExecR2C(handle, from, to);
    break;
  case FourierType::C2R:
    result = library.cufftExecC2R(handle, from, to);
    break;
  case FourierType::C2C64:
    result = library.cufftExecZ2Z(handle, from, to, direction);
    break;
  case FourierType::R2C64:
    result = library.cufftExecD2Z(handle, from, to);
    break;
  case FourierType::C2R64:
    result = library.cufftExecZ2D(handle, from, to);
    break;
  }
  return check(result, function());
}

Status FourierWork::enqueue(Commands &commands, std::span<char *const> operands,
                            char *workspace) const {
  char *from = operands[0], *to = operands[lines.result];
  if (lines.kind.isCopied()) {
    char *copy = workspace + copyOffset;
    if (Status ok = copyLines(commands, from, copy); !ok)
      return ok;
    commands.join();
    from = copy;
  }
  const std::array addresses{reinterpret_cast<uint64_t>(from),
                             reinterpret_cast<uint64_t>(to),
                             reinterpret_cast<uint64_t>(workspace)};
  return commands.callLibrary(addresses, [&](StreamHandle stream) -> Status {
    if (Status ok =
            check(library.cufftSetStream(handle, stream), "cufftSetStream");
        !ok)
      return ok;
    if (copyOffset > 0)
      if (Status ok = check(library.cufftSetWorkArea(handle, workspace),
                            "cufftSetWorkArea");
          !ok)
        return ok;
    for (const Start &start : starts)
      if (Status ok = execute(from + start.from, to + start.to); !ok)
        return ok;
    return Success();
  });
}
} // namespace

LibraryWorkOrError cuda::planLines(const FourierLibrary &library, Card &card,
                                   const FourierLines &lines) {
  auto work = std::make_shared<FourierWork>(library, card, lines);
  Result<bool> isTaken = work->plan();
  if (!isTaken)
    return isTaken.error();
  return *isTaken ? LibraryWorkOrError(std::move(work)) : noLibraryWork();
}
