// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ProvenSockets: TCP connections between processes of one run, both ends of
// which have shown that they are of it.
//
// The process of the higher rank connects to the other one. It says a number
// that the other one has told through the store, and hears its own: strangers
// know neither. A process listens at one port, until all its peers have come;
// who says something else, or nothing, is closed, and never heard of again.
#pragma once

#include "meshloom/Runtime/KeyValueStore.h"

#include <cstdint>
#include <utility>

namespace meshloom {

/// A socket, closed with it.
class Socket {
public:
  Socket() = default;
  explicit Socket(int file) : file(file) {}
  Socket(Socket &&other) noexcept : file(other.release()) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(file, other.file);
    return *this;
  }
  ~Socket();

  explicit operator bool() const { return file >= 0; }
  int get() const { return file; }
  int release() { return std::exchange(file, -1); }

private:
  int file = -1;
};

struct SocketOptions {
  int rank = 0;
  /// The name or address of this host, for others.
  std::string address;
  /// The prefix of keys of the store.
  std::string prefix;
  /// Each rank's number, known to the processes of this run only.
  std::vector<uint64_t> secrets;
  std::chrono::milliseconds timeout{0};
  /// See ProcessTransportOptions::failure.
  std::function<std::optional<Error>()> failure = {};
};

/// A connection with each of `peers`, which connect with this process: they do
/// not block, and nothing is left in them to be read. The error names who did
/// not come.
Result<std::map<int, Socket>> connectSockets(KeyValueStore &store,
                                             const std::vector<int> &peers,
                                             const SocketOptions &options);

} // namespace meshloom
