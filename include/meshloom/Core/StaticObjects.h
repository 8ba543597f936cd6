// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static objects of other people's libraries that live as long as the process.
#pragma once

namespace meshloom {

/// From here on, the static objects that the shared library at `address` (a
/// function or an object of it) constructs are never destroyed. Takes some
/// microseconds. Nothing changes where the address lies in the program itself
/// or in the library that holds this function.
///
/// A handler of atexit, a destructor, or a thread that a static std::jthread
/// waits for may use a library after exit() has begun. By then exit() has
/// destroyed everything that was constructed later than that handler or that
/// std::jthread was, such as tables that the library constructs at its first
/// use.
///
/// The call by which the library registers destructors (`__cxa_atexit`) is led
/// to a function that registers nothing.
///
/// Rejected: constructing such tables when the program is loaded. LLVM's belong
/// to a dozen functions in its middle, and only a whole compilation reaches
/// them, which would add some 20 ms to the start of each process.
void keepStaticObjects(const void *address);

} // namespace meshloom
