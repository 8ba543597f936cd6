// The block pool, and where partial layouts keep their addends.
#include "Memory.h"

#include "meshloom/Runtime/HappensBefore.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#define MESHLOOM_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MESHLOOM_POISONS 1
#endif
#endif
#ifdef MESHLOOM_POISONS
#include <sanitizer/asan_interface.h>
#endif

using namespace meshloom;
using namespace meshloom::cpu;

namespace {
constexpr int64_t ALIGNMENT = 64, HUGE_PAGE = int64_t(2) << 20;
/// Large blocks start at different places in their pages: a kernel that walks
/// through several arrays at once would else load what the CPU takes for a
/// value it has just stored, since it compares the lower 12 bits of addresses
/// first.
constexpr int64_t LARGE = 1 << 14, PAGE = 4096, STAGGER = 832;

/// Freed bytes that a pool keeps at most.
constexpr int64_t KEEP = int64_t(512) << 20;

int64_t roundedSize(int64_t bytes) {
  const int64_t grain = bytes >= (1 << 16) ? 4096 : ALIGNMENT;
  return (std::max<int64_t>(bytes, 1) + grain - 1) / grain * grain;
}

/// Under AddressSanitizer: which bytes of a block may be touched. Elsewhere
/// nothing.
void setUsable([[maybe_unused]] char *data, [[maybe_unused]] int64_t usable,
               [[maybe_unused]] int64_t bytes) {
#ifdef MESHLOOM_POISONS
  ASAN_UNPOISON_MEMORY_REGION(data, size_t(usable));
  ASAN_POISON_MEMORY_REGION(data + usable, size_t(bytes - usable));
#endif
}

/// What the system gave for a block.
char *systemAddress(char *data, int64_t bytes) {
  if (bytes < LARGE)
    return data;
  return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(data) &
                                  ~uintptr_t(PAGE - 1));
}

/// `start`: where a large block begins in its first page.
char *allocateFromSystem(int64_t bytes, int64_t start) {
  if (bytes < LARGE)
    return static_cast<char *>(std::aligned_alloc(ALIGNMENT, size_t(bytes)));
  const int64_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE;
  const int64_t size = (bytes + PAGE + alignment - 1) / alignment * alignment;
  char *data =
      static_cast<char *>(std::aligned_alloc(size_t(alignment), size_t(size)));
  if (data && bytes >= HUGE_PAGE)
    madvise(data, size_t(size), MADV_HUGEPAGE);
  return data ? data + start : nullptr;
}
} // namespace

MemoryPool::~MemoryPool() {
  for (auto &[bytes, data] : free)
    std::free(systemAddress(data, bytes));
}

Result<Block> MemoryPool::allocate(int64_t bytes) {
  int64_t size = roundedSize(bytes);
  char *data = nullptr;
  {
    std::lock_guard lock(mutex);
    if (bytes > byteLimit - used)
      return Error(fmt::format("out of memory: {} more are needed, {} of {} "
                               "are in use",
                               formatBytes(bytes), formatBytes(used),
                               formatBytes(byteLimit)));
    // A kept block of up to an eighth more than asked for is good enough.
    auto found = free.lower_bound(size);
    if (found != free.end() && found->first <= size + size / 8) {
      size = found->first;
      data = found->second;
      free.erase(found);
      kept -= size;
    }
    used += size;
    if (!data && size >= LARGE)
      nextStart = (nextStart + STAGGER) % PAGE;
    if (!data)
      data = allocateFromSystem(size, nextStart);
    if (!data) {
      used -= size;
      return Error(fmt::format("out of memory: the system has no {} left",
                               formatBytes(bytes)));
    }
  }
  setUsable(data, bytes, size);
  return Block(data, [pool = shared_from_this(), size](char *block) {
    pool->release(block, size);
  });
}

void MemoryPool::release(char *data, int64_t bytes) {
  {
    std::lock_guard lock(mutex);
    used -= bytes;
    if (kept + bytes <= KEEP) {
      kept += bytes;
      setUsable(data, 0, bytes);
      free.emplace(bytes, data);
      return;
    }
  }
  std::free(systemAddress(data, bytes));
}

int64_t MemoryPool::inUse() const {
  std::lock_guard lock(mutex);
  return used;
}

int64_t cpu::physicalMemory() {
  return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

std::string cpu::formatBytes(int64_t bytes) {
  if (bytes >= 1'000'000'000)
    return fmt::format("{:.1f} GB", double(bytes) * 1e-9);
  if (bytes >= 1'000'000)
    return fmt::format("{:.1f} MB", double(bytes) * 1e-6);
  return fmt::format("{} bytes", bytes);
}

bool cpu::mayOverwrite(const Array &array) {
  return array.isUnique() &&
         std::ranges::all_of(
             static_cast<const CPUBuffer &>(*array.buffer()).memories,
             [](const Block &block) { return isLastReference(block); });
}

int64_t cpu::copyCount(const Layout &layout) {
  int64_t count = 1;
  for (const Partial &partial : layout.partial())
    count *= layout.mesh().axis_size(partial.axis);
  return count;
}

int64_t cpu::copyIndex(const Layout &layout, std::span<const int64_t> coords) {
  int64_t index = 0;
  for (const Partial &partial : layout.partial())
    index =
        index * layout.mesh().axis_size(partial.axis) + coords[partial.axis];
  return index;
}

std::vector<int64_t> cpu::addendDevices(const Layout &layout, int64_t device) {
  const Mesh &mesh = layout.mesh();
  std::vector<int64_t> coords = mesh.coords(device), devices;
  const int64_t count = copyCount(layout);
  for (int64_t copy = 0; copy < count; ++copy) {
    int64_t rest = copy;
    std::span<const Partial> partial = layout.partial();
    for (size_t p = partial.size(); p-- > 0;) {
      const int64_t size = mesh.axis_size(partial[p].axis);
      coords[partial[p].axis] = rest % size;
      rest /= size;
    }
    devices.push_back(mesh.device_at(coords));
  }
  return devices;
}
