// Checks before a run, statistics after it.
#include "CPUExecutable.h"

#include "StepGraph.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cpu;

void Failure::report(unsigned step, std::string message) {
  std::lock_guard lock(mutex);
  if (failed && first <= step)
    return;
  first = step;
  text = std::move(message);
  failed = true;
}

Error Failure::error(const Program &program) const {
  return Error(describe(program, first) + text);
}

std::string cpu::nonFiniteMessage(const std::string &buffer) {
  return fmt::format("the result{} holds a nan or an infinity",
                     buffer.empty() ? "" : " '" + buffer + "'");
}

namespace {
bool isNonFinite(DType type, const char *data, int64_t count, int64_t stride) {
  bool found = false;
  auto scan = [&](auto exponent) {
    // All exponent bits set.
    using Bits = decltype(exponent);
    for (int64_t i = 0; i < count; ++i) {
      Bits bits;
      std::memcpy(&bits, data + i * stride * int64_t(sizeof(Bits)),
                  sizeof(Bits));
      found |= Bits(bits & exponent) == exponent;
    }
  };
  if (type == DType::F32)
    scan(uint32_t(0x7f800000));
  else if (type == DType::F64)
    scan(uint64_t(0x7ff0000000000000));
  else
    scan(uint16_t(type == DType::F16 ? 0x7c00 : 0x7f80));
  return found;
}
} // namespace

bool cpu::hasNonFinite(DType type, const char *data, const int64_t *extents,
                       const int64_t *strides, unsigned loops) {
  if (isComplex(type)) {
    // As floats, one more loop over the two parts.
    std::vector<int64_t> partExtents(extents, extents + loops);
    std::vector<int64_t> partStrides(strides, strides + loops);
    for (int64_t &stride : partStrides)
      stride *= 2;
    partExtents.push_back(2);
    partStrides.push_back(1);
    return hasNonFinite(partOf(type), data, partExtents.data(),
                        partStrides.data(), loops + 1);
  }
  if (!isFloat(type))
    return false;
  // Outermost loop first; loops that do not move through the array are skipped.
  unsigned l = 0;
  while (l < loops && (strides[l] == 0 || extents[l] == 1))
    ++l;
  if (l == loops)
    return isNonFinite(type, data, 1, 1);
  unsigned rest = l + 1;
  while (rest < loops && (strides[rest] == 0 || extents[rest] == 1))
    ++rest;
  if (rest == loops)
    return isNonFinite(type, data, extents[l], strides[l]);
  for (int64_t i = 0; i < extents[l]; ++i)
    if (hasNonFinite(type, data + i * strides[l] * byteWidth(type),
                     extents + rest, strides + rest, loops - rest))
      return true;
  return false;
}

CPUExecutable::CPUExecutable(std::shared_ptr<CPUClient> client,
                             BoundProgram bound, LoadOptions options)
    : Executable(client, std::move(bound.compiled), bound.assignment),
      device(std::move(client)), kernels(std::move(bound.kernels)),
      loaded(compiled().program()), options(options) {
  unsigned id = 0;
  addCollectives(loaded.steps, id);
}

/// Each once; `id`: of the first step, then of what follows.
void CPUExecutable::addCollectives(const std::vector<Step> &steps,
                                   unsigned &id) {
  for (const Step &step : steps) {
    const unsigned own = id++;
    for (const std::vector<Step> *list : nestedLists(step))
      addCollectives(*list, id);
    auto *collective = std::get_if<CollectiveStep>(&step);
    if (!collective || collective->kind == CollectiveKind::Slice)
      continue;
    stats.collectives.push_back({own, collective->kind,
                                 groupSize(loaded.mesh, collective->axes),
                                 transferBytes(loaded.buffers, *collective)});
  }
}

Result<KernelFunction> CPUExecutable::kernel(unsigned step) const {
  const std::string &symbol = std::get<KernelStep>(loaded.steps[step]).symbol;
  if (!kernels)
    return Error(describe(loaded, step) + "the program has no kernels with it");
  Result<const void *> function = kernels->lookup(symbol);
  if (!function)
    return Error(describe(loaded, step) + function.error().message());
  return asKernel(*function);
}

Result<std::shared_ptr<const LibraryCall>>
CPUExecutable::libraryCall(const KernelStep &step) const {
  const std::string where =
      fmt::format("{}in '{}': ",
                  step.note.location.empty() ? "" : step.note.location + ": ",
                  step.note.op);
  KernelFunction scalar = nullptr;
  if (!step.symbol.empty()) {
    if (!kernels)
      return Error(where + "the program has no kernels with it");
    Result<const void *> function = kernels->lookup(step.symbol);
    if (!function)
      return Error(where + function.error().message());
    scalar = asKernel(*function);
  }
  auto call = LibraryCall::make(loaded, step, scalar);
  if (!call)
    return Error(where + call.error().message());
  return call;
}

ArrayType CPUExecutable::typeOf(unsigned buffer) const {
  const BufferDecl &decl = loaded.buffers[buffer];
  return {decl.type, decl.shape, decl.layout.placed_on(assignment())};
}

Result<std::vector<Array>>
CPUExecutable::execute(std::vector<Array> arguments) {
  if (Status ok = checkArguments(arguments); !ok)
    return ok.error();
  for (const Array &argument : arguments)
    if (Status ready = argument.wait(); !ready)
      return ready.error();
  std::lock_guard one(running);
  const auto begin = std::chrono::steady_clock::now();
  Result<std::vector<Array>> results = [&]() -> Result<std::vector<Array>> {
    try {
      return run(std::move(arguments));
    } catch (const std::bad_alloc &) {
      return Error(
          fmt::format("out of memory while running program '{}'", loaded.name));
    }
  }();
  const std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - begin;
  std::lock_guard lock(reading);
  ++stats.executions;
  stats.lastSeconds = spent.count();
  return results;
}

void CPUExecutable::recordCollectives(std::vector<CollectiveRecord> sent) {
  std::lock_guard lock(reading);
  stats.collectives = std::move(sent);
}

Statistics CPUExecutable::statistics() const {
  std::lock_guard lock(reading);
  return stats;
}
