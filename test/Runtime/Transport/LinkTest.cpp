// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Links: what a peer may write into shared memory, and where its memory is.
#include "../../../lib/Runtime/Transport/SharedMemory.h"

#include <array>
#include <cstring>
#include <gmock/gmock.h>
#include <random>
#include <unistd.h>

using namespace meshloom;
using testing::HasSubstr;

namespace {
constexpr int64_t RING = 128 << 10;

/// Both ends of a link, as if they were two processes.
struct TwoEnds {
  TwoEnds()
      : segments{*Segment::create("test", 2, RING, 1),
                 *Segment::create("test", 2, RING, 2)},
        seen{*Segment::open(segments[0]->address(), 1),
             *Segment::open(segments[1]->address(), 2)},
        first(makeMemoryLink(segments[0], 1, seen[1], 0, gone)),
        second(makeMemoryLink(segments[1], 0, seen[0], 1, gone)) {}

  std::atomic<bool> gone{false};
  std::shared_ptr<Segment> segments[2], seen[2];
  std::unique_ptr<Link> first, second;
};

FrameHeader dataOf(int64_t bytes) {
  FrameHeader header;
  header.total = header.bytes = bytes;
  return header;
}

// Frames of all sizes, many times around the ring; some are given back late.
TEST(MemoryLinkTest, FramesComeInOrderAndHeldOnesStay) {
  TwoEnds ends;
  std::mt19937 random(1);
  std::vector<std::pair<std::string, Arrived>> held;
  std::vector<const char *> places;
  int numHeld = 0;
  for (int count = 0; count < 1000; ++count) {
    const int64_t bytes = random() % (ends.first->mostBytes() + 1);
    if (!ends.first->hasRoom(bytes)) {
      held.clear();
      places.clear();
      ASSERT_TRUE(ends.first->hasRoom(bytes));
    }
    const std::string sent(bytes, char('a' + count % 26));
    ends.first->write(dataOf(bytes), sent.data());
    const auto frame = ends.second->next();
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ(std::string((*frame)->payload, bytes), sent);
    places.push_back((*frame)->payload);
    if (count % 3 == 0) {
      ends.second->pop();
      places.pop_back();
    } else {
      held.emplace_back(sent, ends.second->popHeld());
      ++numHeld;
      if (held.size() > 3) {
        held.erase(held.begin() + 1);
        places.erase(places.begin() + 1);
      }
    }
    for (size_t i = 0; i < held.size(); ++i)
      ASSERT_EQ(
          std::memcmp(places[i], held[i].first.data(), held[i].first.size()),
          0);
  }
  EXPECT_GT(numHeld, 600);
}

// Whatever stands in the memory that a peer can write, reading it gives frames
// or an error.
TEST(MemoryLinkTest, GarbageIsAnError) {
  std::mt19937_64 random(1);
  int errors = 0;
  for (int round = 0; round < 300; ++round) {
    TwoEnds ends;
    for (int i = 0; i < 3; ++i)
      ends.first->write(dataOf(100), std::string(100, 'x').data());
    // The ring's header, then the first frames, as a broken peer would.
    RingHeader &ring = ends.seen[1]->ring(0);
    char *bytes = ends.seen[1]->mapRing(0);
    if (round % 2)
      ring.written = round % 4 == 1 ? random() : random() % (2 * RING);
    else
      ring.released = random();
    for (int count = 0; count < 8; ++count)
      bytes[random() % 512] = char(random());
    for (int count = 0; count < 10; ++count) {
      const auto frame = ends.second->next();
      if (!frame) {
        EXPECT_THAT(frame.error().message(), HasSubstr("damaged"));
        ++errors;
        break;
      }
      if (!*frame)
        break;
      // Every byte it names can be read.
      volatile char sum = 0;
      for (int64_t i = 0; i < (*frame)->header.bytes; ++i)
        sum = char(sum + (*frame)->payload[i]);
      ends.second->pop();
    }
    ends.first->hasRoom(1000);
    if (ends.first->hasRoom(1000))
      ends.first->write(dataOf(1000), std::string(1000, 'y').data());
  }
  EXPECT_GT(errors, 100);
}

// Why a peer gives up arrives with its code; damaged codes are internal errors.
TEST(MemoryLinkTest, TheCodeOfAFailureArrives) {
  const Error late("rank 2 is late", ErrorCode::DEADLINE_EXCEEDED);
  TwoEnds ends;
  EXPECT_FALSE(ends.second->ended());
  ends.first->close(&late);
  ASSERT_TRUE(ends.second->ended());
  EXPECT_EQ(ends.second->ended()->message(), "has given up: rank 2 is late");
  EXPECT_EQ(ends.second->ended()->code(), ErrorCode::DEADLINE_EXCEEDED);
  ends.seen[0]->header().code = 77;
  EXPECT_EQ(ends.second->ended()->code(), ErrorCode::INTERNAL);
  ends.second->close(nullptr);
  EXPECT_EQ(ends.first->ended()->code(), ErrorCode::UNAVAILABLE);
}

TEST(SegmentTest, OnlyTheRunsOwnSegmentsAreOpened) {
  const auto segment = *Segment::create("test", 2, RING, 7);
  EXPECT_FALSE(Segment::open(segment->address(), 8));
  EXPECT_FALSE(Segment::open("/proc/self/fd/12345", 7));
  segment->header().ringBytes = int64_t(1) << 29;
  EXPECT_FALSE(Segment::open(segment->address(), 7));
  segment->header().ringBytes = RING;
  EXPECT_TRUE(Segment::open(segment->address(), 7));
  segment->header().version = 99;
  const auto other = Segment::open(segment->address(), 7);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(), HasSubstr("not the shared memory"));
}
} // namespace
