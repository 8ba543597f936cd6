// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Card.h"

#include "CardLibraries.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;

static DevicePointer pointerTo(const char *memory) {
  return DevicePointer(reinterpret_cast<uintptr_t>(memory));
}

/// Says whether the calling thread runs a host function.
static thread_local bool inHostFunction = false;

Card::HostScope::HostScope() {
  inHostFunction = true;
}
Card::HostScope::~HostScope() {
  inHostFunction = false;
}

Card::Card(const Driver &driver, const LibraryPaths &paths)
    : driver(driver), libraryUse(std::make_unique<CardLibraries>(paths)) {}

Result<std::shared_ptr<Card>> Card::open(const Driver &driver, int number,
                                         int64_t memoryLimit,
                                         const LibraryPaths &paths) {
  std::shared_ptr<Card> card(new Card(driver, paths));
  if (Status ok = card->start(number, memoryLimit); !ok)
    return ok.error();
  return card;
}

Result<int> Card::count(const Driver &driver) {
  int count = 0;
  if (DriverResult result = driver.cuDeviceGetCount(&count);
      result != DriverResult::Success)
    return Error(
        fmt::format("cuDeviceGetCount fails with {}", driver.nameOf(result)),
        ErrorCode::INTERNAL);
  return count;
}

Result<std::string> Card::describe(const Driver &driver, int number) {
  Result<int> cards = count(driver);
  if (!cards)
    return cards.error();
  if (number < 0 || number >= *cards)
    return Error(fmt::format("there is no GPU {}: this machine has {}", number,
                             *cards == 0   ? "none"
                             : *cards == 1 ? "one, GPU 0"
                                           : fmt::format("{}, GPU 0 to GPU {}",
                                                         *cards, *cards - 1)),
                 ErrorCode::NOT_FOUND);
  DeviceNumber device = 0;
  std::array<char, 128> name{};
  DriverResult result = driver.cuDeviceGet(&device, number);
  if (result == DriverResult::Success)
    result = driver.cuDeviceGetName(name.data(), int(name.size()) - 1, device);
  if (result != DriverResult::Success)
    return Error(fmt::format("GPU {}: cuDeviceGetName fails with {}", number,
                             driver.nameOf(result)),
                 ErrorCode::INTERNAL);
  return fmt::format("GPU {} ({})", number, name.data());
}

Status Card::start(int number, int64_t memoryLimit) {
  Result<std::string> described = describe(driver, number);
  if (!described)
    return described.error();
  text = std::move(*described);
  ordinal = number;
  if (Status ok = check(driver.cuDeviceGet(&device, number), "cuDeviceGet");
      !ok)
    return ok;
  int major = 0, minor = 0, pools = 0;
  for (auto [value, attribute] :
       {std::pair(&processors, DeviceAttribute::Multiprocessors),
        std::pair(&major, DeviceAttribute::CapabilityMajor),
        std::pair(&minor, DeviceAttribute::CapabilityMinor),
        std::pair(&pools, DeviceAttribute::MemoryPools)})
    if (Status ok = check(driver.cuDeviceGetAttribute(value, attribute, device),
                          "cuDeviceGetAttribute");
        !ok)
      return ok;
  computeCapability = 10 * major + minor;
  if (!pools)
    return Error(fmt::format("{} has no pools of memory, which the platform "
                             "cuda needs",
                             text));
  size_t total = 0;
  if (Status ok =
          check(driver.cuDeviceTotalMem_v2(&total, device), "cuDeviceTotalMem");
      !ok)
    return ok;
  limit = memoryLimit ? memoryLimit : int64_t(total);
  if (Status ok = check(driver.cuDevicePrimaryCtxRetain(&context, device),
                        "cuDevicePrimaryCtxRetain");
      !ok)
    return ok;
  if (Status ok = enter(); !ok)
    return ok;
  // The process keeps memory that is given back: allocations then cost nothing.
  PoolHandle pool = nullptr;
  uint64_t threshold = ~uint64_t(0);
  if (Status ok = check(driver.cuDeviceGetDefaultMemPool(&pool, device),
                        "cuDeviceGetDefaultMemPool");
      !ok)
    return ok;
  if (Status ok = check(driver.cuMemPoolSetAttribute(
                            pool, PoolAttribute::ReleaseThreshold, &threshold),
                        "cuMemPoolSetAttribute");
      !ok)
    return ok;
  return check(driver.cuStreamCreate(&stream, streamNonBlocking),
               "cuStreamCreate");
}

Card::~Card() {
  if (!context)
    return;
  (void)driver.cuCtxSetCurrent(context);
  if (stream)
    (void)driver.cuStreamSynchronize(stream);
  for (const HostBlock &block : freeHost) {
    (void)driver.cuEventDestroy_v2(block.done);
    (void)driver.cuMemFreeHost(block.data);
  }
  libraryUse = nullptr;
  for (EventHandle mark : freeMarks)
    (void)driver.cuEventDestroy_v2(mark);
  if (stream)
    (void)driver.cuStreamDestroy_v2(stream);
  (void)driver.cuDevicePrimaryCtxRelease_v2(device);
}

Status Card::enter() {
  if (inHostFunction)
    return Error(fmt::format("{}: a function that the host runs as a step of a "
                             "program on a GPU cannot use GPUs itself",
                             text),
                 ErrorCode::FAILED_PRECONDITION);
  {
    std::lock_guard lock(mutex);
    if (lost)
      return *lost;
  }
  return check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

Status Card::check(DriverResult result, std::string_view function) {
  if (result == DriverResult::Success)
    return Success();
  std::lock_guard lock(mutex);
  if (lost)
    return *lost;
  const std::string failure = fmt::format("{}: {} fails with {}", text,
                                          function, driver.nameOf(result));
  if (!isFinal(result))
    return Error(failure, ErrorCode::INTERNAL);
  lost = Error(failure + ". The GPU does nothing more for this process, whose "
                         "arrays on it are lost: start the program again",
               ErrorCode::INTERNAL);
  return *lost;
}

Error Card::outOfMemory(int64_t bytes) {
  size_t free = 0, total = 0;
  (void)driver.cuMemGetInfo_v2(&free, &total);
  return Error(
      fmt::format("out of memory: {} are wanted on {}, of whose {} {} are "
                  "free; arrays and programs here take {}, of {} that they may",
                  plan::formatBytes(bytes), text,
                  plan::formatBytes(int64_t(total)),
                  plan::formatBytes(int64_t(free)), plan::formatBytes(used),
                  plan::formatBytes(limit)),
      ErrorCode::RESOURCE_EXHAUSTED);
}

Result<plan::Block> Card::allocate(int64_t bytes) {
  if (Status ok = enter(); !ok)
    return ok.error();
  if (bytes > limit - used)
    return outOfMemory(bytes);
  DevicePointer address = 0;
  // The driver refuses blocks of no bytes.
  const DriverResult result = driver.cuMemAllocAsync(
      &address, size_t(std::max<int64_t>(bytes, 1)), stream);
  if (result == DriverResult::OutOfMemory)
    return outOfMemory(bytes);
  if (Status ok = check(result, "cuMemAllocAsync"); !ok)
    return ok.error();
  used += bytes;
  return plan::Block(reinterpret_cast<char *>(uintptr_t(address)),
                     [self = shared_from_this(), bytes](char *block) {
                       self->release(block, bytes);
                     });
}

/// A failure is one that the next call reports.
void Card::release(char *block, int64_t bytes) {
  used -= bytes;
  if (enter())
    (void)check(driver.cuMemFreeAsync(pointerTo(block), stream),
                "cuMemFreeAsync");
}

Result<std::shared_ptr<char>> Card::allocateHost(int64_t bytes) {
  if (Status ok = enter(); !ok)
    return ok.error();
  HostBlock block{nullptr, std::max<int64_t>(bytes, 1), nullptr};
  {
    std::lock_guard lock(mutex);
    auto fits = [&](const HostBlock &free) {
      return free.bytes >= block.bytes && free.bytes / 4 <= block.bytes &&
             driver.cuEventQuery(free.done) == DriverResult::Success;
    };
    if (auto found = std::ranges::find_if(freeHost, fits);
        found != freeHost.end()) {
      block = *found;
      freeHost.erase(found);
    }
  }
  if (!block.data) {
    void *data = nullptr;
    if (Status ok = check(driver.cuMemHostAlloc(&data, size_t(block.bytes), 0),
                          "cuMemHostAlloc");
        !ok)
      return ok.error();
    block.data = static_cast<char *>(data);
    if (Status ok = check(driver.cuEventCreate(&block.done, eventWithoutTiming),
                          "cuEventCreate");
        !ok) {
      (void)driver.cuMemFreeHost(data);
      return ok.error();
    }
  }
  return std::shared_ptr<char>(
      block.data,
      [self = shared_from_this(), block](char *) { self->releaseHost(block); });
}

void Card::releaseHost(const HostBlock &block) {
  if (!enter() ||
      !check(driver.cuEventRecord(block.done, stream), "cuEventRecord"))
    return; // the card is lost, and may still write there
  std::lock_guard lock(mutex);
  freeHost.push_back(block);
}

Status Card::copyFromHost(char *to, const char *from, int64_t bytes) {
  if (bytes == 0)
    return Success();
  if (Status ok = enter(); !ok)
    return ok;
  return check(
      driver.cuMemcpyHtoDAsync_v2(pointerTo(to), from, size_t(bytes), stream),
      "cuMemcpyHtoDAsync");
}

Status Card::copyToHost(char *to, const char *from, int64_t bytes) {
  if (bytes == 0)
    return Success();
  if (Status ok = enter(); !ok)
    return ok;
  return check(
      driver.cuMemcpyDtoHAsync_v2(to, pointerTo(from), size_t(bytes), stream),
      "cuMemcpyDtoHAsync");
}

Status Card::copy(char *to, const char *from, int64_t bytes) {
  if (bytes == 0)
    return Success();
  if (Status ok = enter(); !ok)
    return ok;
  return check(driver.cuMemcpyDtoDAsync_v2(pointerTo(to), pointerTo(from),
                                           size_t(bytes), stream),
               "cuMemcpyDtoDAsync");
}

Status Card::copyBox(const CopyNode &box) {
  if (Status ok = enter(); !ok)
    return ok;
  return check(driver.cuMemcpy3DAsync_v2(&box, stream), "cuMemcpy3DAsync");
}

Status Card::launch(FunctionHandle function, unsigned blocks, unsigned threads,
                    std::span<uint64_t> parameters) {
  if (Status ok = enter(); !ok)
    return ok;
  std::vector<void *> pointers;
  pointers.reserve(parameters.size());
  for (uint64_t &parameter : parameters)
    pointers.push_back(&parameter);
  return check(driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0,
                                     stream, pointers.data(), nullptr),
               "cuLaunchKernel");
}

Status Card::callHost(HostFunction function, void *data) {
  if (Status ok = enter(); !ok)
    return ok;
  return check(driver.cuLaunchHostFunc(stream, function, data),
               "cuLaunchHostFunc");
}

Status Card::callLibrary(std::span<const uint64_t>,
                         const std::function<Status(StreamHandle)> &call) {
  if (Status ok = enter(); !ok)
    return ok;
  return call(stream);
}

Status Card::synchronize() {
  if (inHostFunction)
    return enter();
  // On a card that is lost, too: host functions may be under way.
  (void)driver.cuCtxSetCurrent(context);
  if (Status ok =
          check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
      !ok)
    return ok;
  return enter();
}

Result<EventHandle> Card::mark() {
  if (Status ok = enter(); !ok)
    return ok.error();
  EventHandle mark = nullptr;
  {
    std::lock_guard lock(mutex);
    if (!freeMarks.empty()) {
      mark = freeMarks.back();
      freeMarks.pop_back();
    }
  }
  return record(mark, eventWithoutTiming);
}

Result<EventHandle> Card::record(EventHandle mark, unsigned flags) {
  if (!mark)
    if (Status ok = check(driver.cuEventCreate(&mark, flags), "cuEventCreate");
        !ok)
      return ok.error();
  if (Status ok = check(driver.cuEventRecord(mark, stream), "cuEventRecord");
      !ok) {
    (void)driver.cuEventDestroy_v2(mark);
    return ok.error();
  }
  return mark;
}

Status Card::wait(EventHandle mark) {
  // On a card that is lost, too: see synchronize.
  (void)driver.cuCtxSetCurrent(context);
  const Status done =
      check(driver.cuEventSynchronize(mark), "cuEventSynchronize");
  giveBack(mark);
  return done ? enter() : done;
}

void Card::giveBack(EventHandle mark) {
  std::lock_guard lock(mutex);
  freeMarks.push_back(mark);
}

Result<EventHandle> Card::markTime() {
  if (Status ok = enter(); !ok)
    return ok.error();
  return record(nullptr, eventWithTiming);
}

void Card::destroy(EventHandle mark) {
  if (enter())
    (void)driver.cuEventDestroy_v2(mark);
}

Result<float> Card::millisecondsBetween(EventHandle begin, EventHandle end) {
  if (Status ok = enter(); !ok)
    return ok.error();
  float milliseconds = 0;
  if (Status ok = check(driver.cuEventElapsedTime(&milliseconds, begin, end),
                        "cuEventElapsedTime");
      !ok)
    return ok.error();
  return milliseconds;
}

Result<bool> Card::isOver(EventHandle mark) {
  if (Status ok = enter(); !ok)
    return ok.error();
  const DriverResult result = driver.cuEventQuery(mark);
  if (result == DriverResult::NotReady)
    return false;
  if (Status ok = check(result, "cuEventQuery"); !ok)
    return ok.error();
  return true;
}

Status Card::waitInStream(EventHandle mark) {
  if (Status ok = enter(); !ok)
    return ok;
  return check(driver.cuStreamWaitEvent(stream, mark, 0), "cuStreamWaitEvent");
}

Status Card::copyFromPeer(char *to, const char *from, ContextHandle peer,
                          int64_t bytes) {
  if (bytes == 0)
    return Success();
  if (peer == context)
    return copy(to, from, bytes);
  if (Status ok = enter(); !ok)
    return ok;
  return check(driver.cuMemcpyPeerAsync(pointerTo(to), context, pointerTo(from),
                                        peer, size_t(bytes), stream),
               "cuMemcpyPeerAsync");
}

Status Card::admit(const Card &peer) {
  int isPossible = 0;
  if (Status ok = enter(); !ok)
    return ok;
  if (Status ok =
          check(driver.cuDeviceCanAccessPeer(&isPossible, peer.device, device),
                "cuDeviceCanAccessPeer");
      !ok)
    return ok;
  if (!isPossible)
    return Error(
        fmt::format("{} cannot read the memory of {}", peer.text, text),
        ErrorCode::UNIMPLEMENTED);
  PoolHandle pool = nullptr;
  if (Status ok = check(driver.cuDeviceGetDefaultMemPool(&pool, device),
                        "cuDeviceGetDefaultMemPool");
      !ok)
    return ok;
  const PoolAccess access{.device = peer.device};
  return check(driver.cuMemPoolSetAccess(pool, &access, 1),
               "cuMemPoolSetAccess");
}

Result<std::shared_ptr<const Kernels>> Card::compile(const std::string &ptx) {
  if (Status ok = enter(); !ok)
    return ok.error();
  std::array<char, 4096> log{};
  std::array<LoadOption, 2> options{LoadOption::ErrorLog,
                                    LoadOption::ErrorLogBytes};
  std::array<void *, 2> values{log.data(),
                               reinterpret_cast<void *>(log.size() - 1)};
  ModuleHandle module = nullptr;
  const DriverResult result =
      driver.cuModuleLoadDataEx(&module, ptx.c_str(), unsigned(options.size()),
                                options.data(), values.data());
  if (Status ok = check(result, "cuModuleLoadDataEx"); !ok)
    return log[0] ? ok.error().withMessage(
                        fmt::format("{}: {}", ok.error().message(), log.data()))
                  : ok.error();
  return std::make_shared<const Kernels>(shared_from_this(), module);
}

Kernels::~Kernels() {
  // The kernels of this module have to end first.
  if (card->synchronize())
    (void)card->driver.cuModuleUnload(module);
}

Result<FunctionHandle> Kernels::find(const std::string &symbol) const {
  if (Status ok = card->enter(); !ok)
    return ok.error();
  FunctionHandle function = nullptr;
  if (Status ok = card->check(
          card->driver.cuModuleGetFunction(&function, module, symbol.c_str()),
          "cuModuleGetFunction");
      !ok)
    return ok.error().withMessage(
        fmt::format("{}: no kernel '{}' in the program's PTX",
                    ok.error().message(), symbol));
  return function;
}
