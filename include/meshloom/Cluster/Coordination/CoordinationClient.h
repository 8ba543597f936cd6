// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CoordinationClient: a rank's side of a CoordinationService.
#pragma once

#include "meshloom/Cluster/Coordination/Failure.h"
#include "meshloom/Cluster/TlsFiles.h"
#include "meshloom/Runtime/KeyValueStore.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace meshloom {

/// Who joins, and where.
struct CoordinationClientOptions {
  std::string address; ///< the service's, "host:port"
  int64_t rank = 0;
  int64_t size = 1;
  /// The name by which others reach this machine; empty: its host name.
  std::string host;
  /// Digest of the program; all ranks' must be equal. Empty: of this process'
  /// executable file.
  std::string binaryHash;
  /// The version of Meshloom; all ranks' must be equal. Empty: this library's
  /// buildId().
  std::string version;
  std::string token; ///< see CoordinationServiceOptions
  TlsFiles tls;
  /// The start that this process belongs to, where it was told.
  std::optional<uint64_t> generation = std::nullopt;
  /// How long it waits for the service and for the other ranks to come.
  std::chrono::milliseconds startTimeout{60000};
};

/// The data that ranks know of each other once all are there.
struct RankInfo {
  int64_t rank = 0;
  std::string host;
  int64_t pid = 0;
};

/// Joined to one start of one program. Calls may come from any thread; each
/// that waits ends at once when the run fails, with that failure.
class CoordinationClient final : public KeyValueStore {
public:
  /// Joins, and waits until all ranks have. Fails where the service is not
  /// found in time (naming its address), refuses (wrong token, start, version,
  /// program, rank or number of ranks), or ranks are missing in time (naming
  /// them).
  static Result<std::shared_ptr<CoordinationClient>>
  connect(CoordinationClientOptions options);
  /// Ends like a process that ends without `shutdown`: the others take it for
  /// lost.
  ~CoordinationClient() override;

  int64_t rank() const;
  int64_t size() const;
  /// The number of this start.
  uint64_t generation() const;
  /// runName(generation()).
  std::string runName() const;
  /// The data of every rank, in order.
  const std::vector<RankInfo> &ranks() const;

  Status set(const std::string &key, std::string_view value) override;
  Result<std::string> get(const std::string &key,
                          std::chrono::milliseconds timeout) override;
  Result<std::optional<std::string>> find(const std::string &key) override;
  Status erase(const std::string &prefix) override;
  /// A barrier that takes along what each rank says: one call, whatever their
  /// number.
  Result<std::vector<std::string>>
  gather(const std::string &subject, int rank, int size, std::string_view text,
         std::chrono::milliseconds timeout) override;

  /// Waits until every rank is at the barrier of this name, which may be used
  /// again afterwards. Fails after `timeout`, on every rank that waits, naming
  /// those that did not come. `call`: what messages call it where it is one of
  /// the calls that all ranks make in one order: it fails at once where all
  /// ranks wait at such barriers that are not the same.
  Status barrier(const std::string &name, std::chrono::milliseconds timeout,
                 const std::string &call = {});

  /// Ends the run for all: every rank gets a failure with this text.
  void reportFailure(const std::string &text,
                     ErrorCode code = ErrorCode::UNAVAILABLE);
  /// The run's failure; nothing while all is well.
  std::optional<Failure> failure() const;
  /// Calls `callback` when the run fails, from another thread; at once where it
  /// has. Replaces the one before; an empty one is not called. It must not
  /// destroy the client.
  void onFailure(std::function<void(const Failure &)> callback);

  /// Leaves, once all ranks do: fails after `timeout` (naming the ranks that
  /// did not come) or where the run has failed. Later calls do nothing.
  Status shutdown(std::chrono::milliseconds timeout);
  /// The same, and says something to all; gives what they say, in the order of
  /// ranks, or nothing where none says anything.
  Result<std::vector<std::string>> shutdown(std::chrono::milliseconds timeout,
                                            std::string_view farewell);

private:
  struct State;
  explicit CoordinationClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// The beginning of names of things that belong to one run: "meshloom-" and 16
/// digits of its generation.
std::string runName(uint64_t generation);

/// Digest of the file that this process runs, for `binaryHash`.
std::string executableHash();

} // namespace meshloom
