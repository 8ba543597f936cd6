// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threadLocal: objects of a thread that can be used to its very end. The
// destructors of a thread's objects run in some order, and in the main thread
// before those of static objects, which may still compute: a `thread_local`
// object with a destructor would then be used after its life.
#pragma once

namespace meshloom {

/// The object of this thread for this place in the source. After the thread's
/// objects have been destroyed it is a new one, which is never destroyed.
template <typename T, typename Place = decltype([] {})> T &threadLocal() {
  thread_local T *object = nullptr; // without a destructor
  struct Owner {
    ~Owner() {
      delete object;
      object = nullptr;
    }
  };
  if (!object) {
    object = new T();
    thread_local const Owner owner;
    (void)owner;
  }
  return *object;
}

} // namespace meshloom
