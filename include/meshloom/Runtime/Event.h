// Event: the completion of asynchronous work, and the error it may end with.
#pragma once

#include "meshloom/Core/Result.h"

#include <memory>
#include <optional>

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

  bool isReady() const;
  /// Blocks until complete; the error if it failed.
  Status wait() const;

  /// Completes a pending event; only the first call counts.
  void complete() const;
  void fail(Error error) const;

private:
  struct State;
  std::shared_ptr<State> state;
};

} // namespace meshloom
