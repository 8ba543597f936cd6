// Components: a global value taken apart into what devices hold of it, and put
// together again, in memory of the host.
#pragma once

#include "meshloom/Runtime/Array.h"

#include <functional>

namespace meshloom::plan {

/// Addends that a partial layout keeps: 1 if it is not partial.
int64_t copyCount(const Layout &layout);
/// Which of them a device with these coordinates holds.
int64_t copyIndex(const Layout &layout, std::span<const int64_t> coords);
/// All devices that hold addends of what `device` holds, in device order.
std::vector<int64_t> addendDevices(const Layout &layout, int64_t device);

/// An array in one memory that devices share is the global value, row-major and
/// unpadded, once for each addend (see copyIndex).
int64_t wholeBytes(const ArrayType &type);
void fillWhole(const ArrayType &type, std::span<const char> data, char *into);
/// Puts the component of `device` in its place, unless an earlier device has
/// brought the same.
void placeInWhole(const ArrayType &type, const Component &component,
                  int64_t device, char *into);
HostBytes readWhole(const ArrayType &type, const char *from);
OwnedComponent takeFromWhole(const ArrayType &type, const char *from,
                             int64_t device);

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
