// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that move to other devices, also to those of another process.
//
// A submesh (see create_submesh) is on devices of one process, its owner, and
// all processes know it. To a process that does not own it, a value there is a
// type without memory (see RemoteClient.h). All processes run the same moves in
// one order. A move between submeshes of two owners is one message, which
// carries the whole value; a move from a submesh to a mesh over all processes
// is a message to each of the others. Who takes no part in a move counts it, so
// that the tag of each message follows from the calls before it, as everywhere.
//
// Nobody waits: a message begins when its value is there, and an array that a
// message brings has an event. Messages from one process to another begin one
// after the other: a rank that is far ahead of another one has no transfer that
// stands still, which its timeout would end.
#pragma once

#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Processes.h"

namespace meshloom::detail {

/// Returns whether moving a value from one mesh to the other takes messages.
bool needsMessages(const Mesh &from, const Mesh &to);

/// The call that ranks compare where they run a move. `doer`: the function or
/// op that moves the value, and its line: "'step' (at model.cpp:12)".
std::shared_ptr<const SharedCall>
transferCall(std::string_view doer, const ArrayType &from, const Layout &to);

/// The same value in `layout`, on its devices. `call`: of a move that takes
/// messages; null: what this thread calls, at the user's line.
Result<Array> movedTo(Array array, const Layout &layout,
                      std::shared_ptr<const SharedCall> call = nullptr);

/// The processes that take messages of a program that runs on devices of
/// several have failed to compute a value that others wait for, or will not.
void giveUpTransfers(const Error &error);

} // namespace meshloom::detail
