// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segments of shared memory, and links made of two rings in them.
#include "SharedMemory.h"

#include "meshloom/Core/SystemError.h"

#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace meshloom;

static constexpr int64_t PAGE = 4096;
static constexpr int64_t LINE = 64;
static_assert(sizeof(SegmentHeader) <= PAGE && sizeof(RingHeader) <= PAGE);
static_assert(sizeof(FrameHeader) == LINE);

static Error systemError(const std::string &task) {
  const int number = errno;
  return Error(
      fmt::format("[transport] cannot {}: {}", task, std::strerror(number)),
      errorCodeOfSystem(number));
}

Result<std::shared_ptr<Segment>> Segment::create(const std::string &name,
                                                 int rings, int64_t ringBytes,
                                                 uint64_t token) {
  std::shared_ptr<Segment> segment(new Segment);
  segment->numRings = rings;
  segment->bytesOfRing = ringBytes;
  segment->file = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (segment->file < 0)
    return systemError("make memory to share");
  const int64_t size = (1 + rings) * PAGE + rings * ringBytes;
  if (ftruncate(segment->file, size) != 0)
    return systemError(fmt::format("make {} bytes of memory to share", size));
  // Nobody can cut it off under our feet.
  fcntl(segment->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  if (Status status = segment->mapHeaders(); !status)
    return status.error();
  auto *header = new (segment->headers) SegmentHeader;
  header->rings = rings;
  header->ringBytes = ringBytes;
  header->token = token;
  for (int ring = 0; ring < rings; ++ring)
    new (&segment->ring(ring)) RingHeader;
  return segment;
}

Result<std::shared_ptr<Segment>> Segment::open(const std::string &address,
                                               uint64_t token) {
  std::shared_ptr<Segment> segment(new Segment);
  segment->file = ::open(address.c_str(), O_RDWR | O_CLOEXEC);
  if (segment->file < 0)
    return systemError("open the shared memory " + address);
  const Error stranger("[transport] " + address +
                       " is not the shared memory of a process of this run");
  struct stat about;
  SegmentHeader header;
  if (fstat(segment->file, &about) != 0 || about.st_size < PAGE ||
      pread(segment->file, static_cast<void *>(&header), sizeof(header), 0) !=
          ssize_t(sizeof(header)))
    return stranger;
  segment->numRings = int(header.rings);
  segment->bytesOfRing = header.ringBytes;
  if (header.magic != SegmentHeader::MAGIC ||
      header.version != SegmentHeader::VERSION || header.token != token ||
      header.rings > 4096 || header.ringBytes % PAGE != 0 ||
      header.ringBytes <= 0 || header.ringBytes > (int64_t(1) << 30) ||
      about.st_size < (1 + int64_t(header.rings)) * PAGE +
                          int64_t(header.rings) * header.ringBytes)
    return stranger;
  if (Status status = segment->mapHeaders(); !status)
    return status.error();
  return segment;
}

Status Segment::mapHeaders() {
  headers = mmap(nullptr, (1 + numRings) * PAGE, PROT_READ | PROT_WRITE,
                 MAP_SHARED, file, 0);
  if (headers != MAP_FAILED)
    return Success();
  headers = nullptr;
  return systemError("map shared memory");
}

Segment::~Segment() {
  for (void *ring : mapped)
    munmap(ring, 2 * bytesOfRing);
  if (headers)
    munmap(headers, (1 + numRings) * PAGE);
  if (file >= 0)
    close(file);
}

std::string Segment::address() const {
  return fmt::format("/proc/{}/fd/{}", getpid(), file);
}

RingHeader &Segment::ring(int index) const {
  return *reinterpret_cast<RingHeader *>(static_cast<char *>(headers) +
                                         (1 + index) * PAGE);
}

char *Segment::mapRing(int index) {
  const int64_t offset = (1 + numRings) * PAGE + index * bytesOfRing;
  // Room for both, then the same bytes twice.
  char *place = static_cast<char *>(mmap(nullptr, 2 * bytesOfRing, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (place == MAP_FAILED)
    return nullptr;
  mapped.push_back(place);
  for (char *copy : {place, place + bytesOfRing})
    if (mmap(copy, bytesOfRing, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             file, offset) == MAP_FAILED)
      return nullptr;
  return place;
}

namespace {
uint64_t frameBytes(int64_t payload) {
  return uint64_t(LINE + (payload + LINE - 1) / LINE * LINE);
}

/// Frames that were taken from a ring in order and may be given back in any:
/// what is still held keeps those behind it.
class GivingBack {
public:
  GivingBack(std::shared_ptr<Segment> here, int ring,
             std::shared_ptr<Segment> there)
      : here(std::move(here)), there(std::move(there)),
        ring(this->here->ring(ring)) {}

  void give(uint64_t end) {
    std::lock_guard lock(mutex);
    if (held.empty())
      return publish(end);
    held.push_back({end, true});
  }
  /// A place to be given back later, by what it returns.
  uint64_t hold(uint64_t end) {
    std::lock_guard lock(mutex);
    held.push_back({end, false});
    return first + held.size() - 1;
  }
  void giveHeld(uint64_t place) {
    std::lock_guard lock(mutex);
    held[place - first].free = true;
    uint64_t end = 0;
    while (!held.empty() && held.front().free) {
      end = held.front().end;
      held.pop_front();
      ++first;
    }
    if (end)
      publish(end);
  }

private:
  void publish(uint64_t end) {
    ring.released.store(end, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (ring.wantsRoom.load(std::memory_order_relaxed) &&
        ring.wantsRoom.exchange(0))
      there->header().bell.ring();
  }

  struct Place {
    uint64_t end;
    bool free;
  };
  const std::shared_ptr<Segment> here, there;
  RingHeader &ring;
  std::mutex mutex;
  std::deque<Place> held;
  uint64_t first = 0;
};

class MemoryLink final : public Link {
public:
  MemoryLink(std::shared_ptr<Segment> here, int ringHere, const char *in,
             std::shared_ptr<Segment> there, int ringThere, char *out,
             const std::atomic<bool> &isGone)
      : here(std::move(here)), there(std::move(there)), in(in), out(out),
        inbound(this->here->ring(ringHere)),
        outbound(this->there->ring(ringThere)),
        back(std::make_shared<GivingBack>(this->here, ringHere, this->there)),
        isGone(isGone), most(this->here->ringBytes() / 8) {}

  int64_t mostBytes() const override { return most; }

  bool hasRoom(int64_t bytes) override {
    const uint64_t need = frameBytes(bytes);
    if (fits(need))
      return true;
    released = outbound.released.load(std::memory_order_acquire);
    if (fits(need))
      return true;
    outbound.wantsRoom.store(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    released = outbound.released.load(std::memory_order_acquire);
    return fits(need);
  }

  void write(const FrameHeader &header, const char *payload) override {
    char *place = out + written % uint64_t(there->ringBytes());
    std::memcpy(place, &header, sizeof(header));
    if (header.bytes > 0)
      std::memcpy(place + LINE, payload, header.bytes);
    written += frameBytes(header.bytes);
    outbound.written.store(written, std::memory_order_release);
    unflushed = true;
  }

  void flush() override {
    if (unflushed)
      there->header().bell.ring();
    unflushed = false;
  }

  bool hasNext() override {
    return inbound.written.load(std::memory_order_acquire) != taken;
  }

  Result<std::optional<Frame>> next() override {
    const uint64_t there = inbound.written.load(std::memory_order_acquire);
    if (there == taken)
      return std::optional<Frame>();
    const uint64_t available = there - taken;
    Frame frame;
    const char *place = in + taken % uint64_t(here->ringBytes());
    if (available % LINE == 0 && available <= uint64_t(here->ringBytes())) {
      std::memcpy(static_cast<void *>(&frame.header), place, LINE);
      if (frame.header.isSound(most) &&
          frameBytes(frame.header.bytes) <= available) {
        frame.payload = place + LINE;
        end = taken + frameBytes(frame.header.bytes);
        return std::optional(frame);
      }
    }
    return Error("the memory that it shares with this process is damaged",
                 ErrorCode::DATA_LOSS);
  }

  void pop() override {
    back->give(end);
    taken = end;
  }

  Arrived popHeld() override {
    const uint64_t place = back->hold(end);
    taken = end;
    return {in, [back = back, place](const void *) { back->giveHeld(place); }};
  }

  void ask() override {
    heartbeats = there->header().bell.heartbeats();
    there->header().bell.wake(Bell::Background);
  }
  bool hasAnswered() override {
    return there->header().bell.heartbeats() != heartbeats;
  }

  std::optional<Error> ended() override {
    const SegmentHeader &peer = there->header();
    switch (peer.state.load(std::memory_order_acquire)) {
    case SegmentHeader::Aborted:
      return errorOfClose(
          peer.code,
          std::string_view(peer.reason,
                           strnlen(peer.reason, sizeof(peer.reason))));
    case SegmentHeader::Closed:
      return errorOfClose(0, "");
    default:
      if (isGone)
        return Error("its process has ended", ErrorCode::UNAVAILABLE);
      return std::nullopt;
    }
  }

  /// The segment says it to all peers at once; this wakes one of them.
  void close(const Error *failure) override {
    SegmentHeader &self = here->header();
    if (self.state == SegmentHeader::Open) {
      if (failure) {
        const std::string &reason = failure->message();
        const size_t length = std::min(reason.size(), sizeof(self.reason) - 1);
        std::memcpy(self.reason, reason.data(), length);
        self.code = uint32_t(failure->code());
      }
      self.state.store(failure ? SegmentHeader::Aborted : SegmentHeader::Closed,
                       std::memory_order_release);
    }
    there->header().bell.ring();
  }

private:
  /// Positions that the peer damaged count as no room: it will be noticed by
  /// the timeout, and nothing is written where it must not be.
  bool fits(uint64_t need) const {
    const uint64_t used = written - released;
    return used <= uint64_t(there->ringBytes()) &&
           need <= uint64_t(there->ringBytes()) - used;
  }

  const std::shared_ptr<Segment> here, there;
  const char *const in;
  char *const out;
  RingHeader &inbound, &outbound;
  const std::shared_ptr<GivingBack> back;
  const std::atomic<bool> &isGone;
  const int64_t most;
  uint64_t written = 0, released = 0; // of the outbound ring
  uint64_t taken = 0, end = 0;        // of the inbound one
  bool unflushed = false;
  uint32_t heartbeats = 0; // of the peer, when it was asked
};
} // namespace

std::unique_ptr<Link>
meshloom::makeMemoryLink(std::shared_ptr<Segment> here, int ringHere,
                         std::shared_ptr<Segment> there, int ringThere,
                         const std::atomic<bool> &isGone) {
  const char *in = here->mapRing(ringHere);
  char *out = there->mapRing(ringThere);
  if (!in || !out)
    return nullptr;
  return std::make_unique<MemoryLink>(std::move(here), ringHere, in,
                                      std::move(there), ringThere, out, isGone);
}
