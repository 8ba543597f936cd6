// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Components: a global value taken apart into what devices hold of it, and put
// together again, in memory of the host.
#pragma once

#include "meshloom/Core/Window.h"
#include "meshloom/Runtime/Array.h"

#include <functional>

namespace meshloom::plan {

/// Addends that a partial layout keeps: 1 if it is not partial.
int64_t copyCount(const Layout &layout);
/// Which of them a device with these coordinates holds.
int64_t copyIndex(const Layout &layout, std::span<const int64_t> coords);
/// All devices that hold addends of what `device` holds, in device order.
std::vector<int64_t> addendDevices(const Layout &layout, int64_t device);

/// The addends of a value that `devices` hold, by their numbers (see
/// copyIndex), sorted.
std::vector<int64_t> copiesOf(const Layout &layout,
                              std::span<const int64_t> devices);

/// An array in one memory that `devices`, a process's, share is the smallest
/// box around what they hold, row-major and unpadded, once for each addend that
/// they have (see copiesOf). All devices hold the whole value.
Box sharedBox(const ArrayType &type, std::span<const int64_t> devices);
int64_t sharedBytes(const ArrayType &type, std::span<const int64_t> devices);
void fillShared(const ArrayType &type, std::span<const int64_t> devices,
                std::span<const char> data, char *into);
/// Puts the component of `device` in its place, unless an earlier device has
/// brought the same.
void placeInShared(const ArrayType &type, std::span<const int64_t> devices,
                   const Component &component, int64_t device, char *into);
/// Fails where a part of the value is in another process.
Result<HostBytes> readShared(const ArrayType &type, const char *from);
OwnedComponent takeFromShared(const ArrayType &type,
                              std::span<const int64_t> devices,
                              const char *from, int64_t device);

/// An array in memories of their own is a component on each device, padded to
/// the largest one's shape.
int64_t paddedBytes(const ArrayType &type);
void fillPadded(const ArrayType &type, std::span<const char> data,
                int64_t device, char *into);
void placeInPadded(const ArrayType &type, const Component &component,
                   int64_t device, char *into);
/// `memoryOf(device)`: asked of those devices only whose components are needed.
HostBytes readPadded(const ArrayType &type,
                     const std::function<const char *(int64_t)> &memoryOf);
OwnedComponent takeFromPadded(const ArrayType &type, const char *from,
                              int64_t device);

} // namespace meshloom::plan
