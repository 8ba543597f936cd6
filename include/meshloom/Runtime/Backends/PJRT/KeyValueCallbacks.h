// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KeyValueCallbacks: what a plug-in of several processes calls to find itself
// in the others, over a store of ours.
#pragma once

#include "meshloom/Runtime/Backends/PJRT/Abi.h"
#include "meshloom/Runtime/KeyValueStore.h"

namespace meshloom::pjrt {

/// Must live as long as the client that it was given to: plug-ins
/// call it when they like, and from any thread.
///
/// Errors are made by the plug-in's own function, with these codes: NOT_FOUND
/// of a key that nobody has set, where the plug-in does not wait;
/// DEADLINE_EXCEEDED where it does; INVALID_ARGUMENT of a value that the store
/// does not take; UNAVAILABLE where the store is not reached or the run has
/// failed. Keys and values are any bytes.
class KeyValueCallbacks {
public:
  explicit KeyValueCallbacks(std::shared_ptr<KeyValueStore> store)
      : store(std::move(store)) {}
  KeyValueCallbacks(const KeyValueCallbacks &) = delete;
  /// Puts them into a Client_Create_Args.
  void giveTo(capi::Block &arguments);

private:
  static capi::Handle get(void *arguments);
  static capi::Handle tryGet(void *arguments);
  static capi::Handle put(void *arguments);

  const std::shared_ptr<KeyValueStore> store;
};

} // namespace meshloom::pjrt
