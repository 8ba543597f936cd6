// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that processes of one host share. Each process has one segment: its
// bell, how it ended, and a ring of frames for each process that sends to it.
//
//   page 0:  SegmentHeader
//   page 1.. a page with a RingHeader for each local process
//   then     the rings' bytes
//
// A segment is an anonymous file; others open it by its owner's entry in /proc,
// so that it vanishes with the last process that uses it.
#pragma once

#include "Link.h"

namespace meshloom {

struct SegmentHeader {
  static constexpr uint64_t MAGIC = 0x6d6f6f6c6873654d; // "Meshloom"
  static constexpr uint32_t VERSION = 2;
  enum State : uint32_t { Open, Closed, Aborted };

  uint64_t magic = MAGIC;
  uint32_t version = VERSION;
  uint32_t rings = 0;
  uint64_t token = 0;
  int64_t ringBytes = 0;
  alignas(64) Bell bell;
  /// How the owner ended; `code` (an ErrorCode) and `reason` are written before
  /// it is Aborted.
  alignas(64) std::atomic<uint32_t> state{Open};
  uint32_t code = 0;
  char reason[1024] = {};
};

/// Frames are cache lines: a header and the payload, rounded up. The positions
/// count bytes since the start and never go back; a frame that crosses the end
/// goes on at the start, which lies behind the end a second time.
struct RingHeader {
  alignas(64) std::atomic<uint64_t> written{0};  // by the producer
  alignas(64) std::atomic<uint64_t> released{0}; // back, by the consumer
  /// The producer has seen no room and wants its bell rung.
  alignas(64) std::atomic<uint32_t> wantsRoom{0};
};

/// A segment as one process maps it.
class Segment {
public:
  /// A new one, of this process, with `rings` rings.
  static Result<std::shared_ptr<Segment>>
  create(const std::string &name, int rings, int64_t ringBytes, uint64_t token);
  /// Another process's: what `address` of it said there.
  static Result<std::shared_ptr<Segment>> open(const std::string &address,
                                               uint64_t token);
  ~Segment();
  Segment(const Segment &) = delete;
  Segment &operator=(const Segment &) = delete;

  /// How other processes open it.
  std::string address() const;
  SegmentHeader &header() const {
    return *static_cast<SegmentHeader *>(headers);
  }
  RingHeader &ring(int index) const;
  /// The bytes of a ring, twice in a row. Null if the system has no more room.
  char *mapRing(int index);
  int64_t ringBytes() const { return bytesOfRing; }
  int rings() const { return numRings; }

private:
  Segment() = default;
  Status mapHeaders();

  int file = -1;
  void *headers = nullptr;
  int numRings = 0;
  int64_t bytesOfRing = 0;
  std::vector<void *> mapped;
};

/// The link of two processes: this one reads ring `ringHere` of `here`, its own
/// segment, and writes ring `ringThere` of `there`. The peer has ended once
/// `isGone` is set, by any thread.
std::unique_ptr<Link> makeMemoryLink(std::shared_ptr<Segment> here,
                                     int ringHere,
                                     std::shared_ptr<Segment> there,
                                     int ringThere,
                                     const std::atomic<bool> &isGone);

} // namespace meshloom
