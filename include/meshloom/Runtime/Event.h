// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Event: the completion of asynchronous work, and the error it may end with.
#pragma once

#include "meshloom/Core/Result.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace meshloom {

/// A handle to something that completes once, with success or an Error. Copies
/// refer to the same completion. Backends that finish at once hand out
/// default-made events, which cost nothing. Safe to use from any thread.
class Event {
public:
  /// Already complete, without error.
  Event() = default;
  static Event pending();
  static Event failed(Error error);
  /// Completes when the last of `events` has; with the error of the first one
  /// of the list that failed.
  static Event whenAll(std::span<const Event> events);

  bool isReady() const;
  /// Blocks until complete; the error if it failed.
  Status wait() const;
  /// Returns true the first time that it is called for an event that has
  /// failed: its error has to be reported once.
  bool isUnreported() const;
  /// Calls `action` with what the event ended with: at once where it is
  /// complete, else in the thread that completes it, in the order asked for.
  /// An action must not wait for anything, nor throw.
  void then(std::function<void(const Status &)> action) const;

  /// Completes a pending event; only the first call counts.
  void complete() const { end(std::nullopt); }
  void fail(Error error) const { end(std::move(error)); }
  /// Completes it as `outcome` says.
  void finish(const Status &outcome) const;

private:
  struct State;
  void end(std::optional<Error> failure) const;
  std::shared_ptr<State> state;
};

} // namespace meshloom
