// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Array: a DTensor's value on the devices of a Client.
#pragma once

#include "meshloom/Core/ArrayType.h"
#include "meshloom/Runtime/Event.h"

#include <memory>
#include <span>
#include <vector>

namespace meshloom {

class Buffer;
class Client;

/// Element bytes in row-major order.
using HostBytes = std::vector<char>;

/// One device's part of an array: its exact, unpadded extents.
struct Component {
  Shape shape;
  std::span<const char> bytes;
};
struct OwnedComponent {
  Shape shape;
  HostBytes bytes;
};

/// An immutable value, cheap to copy: copies share memory, which is freed (or
/// reused) when the last of them is gone. Keeps its client alive. A backend may
/// still be computing it; whatever reads it waits, and returns the error that
/// computing it ended with. Safe to use from any thread.
///
/// Each device of the layout's mesh holds its component. A layout that is
/// partial makes every device along the axis hold an addend (factor, ...) of
/// the value.
class Array {
public:
  /// No array at all: `if (array)` is false.
  Array() = default;
  Array(ArrayType type, std::shared_ptr<Buffer> buffer, Event event = {});
  /// The same memory as an array of `type`, whose layout gives every device the
  /// same part. Takes the reference over.
  Array as(ArrayType type) &&;

  /// The same value as an array of `type`, which may be on other devices, of
  /// `client`, and in another layout. Without a copy and without waiting where
  /// the devices of both share memory (see Client::adopt), else by way of the
  /// host. Fails as toHost and fromHost do.
  Result<Array> movedTo(const std::shared_ptr<Client> &client,
                        const ArrayType &type) &&;

  /// Distributes a global value. Where `type.layout` is partial, the first
  /// device along the axis gets the value and the others the identity of the
  /// reduction. Fails if `data` has not exactly the type's bytes, or the mesh
  /// has more devices than the client.
  static Result<Array> fromHost(const std::shared_ptr<Client> &client,
                                const ArrayType &type,
                                std::span<const char> data);
  /// One component per device of the mesh in this process, in device order,
  /// each exactly of its local shape (empty ones included). The global shape is
  /// their sum along each dim; where some are in other processes, as many times
  /// their size as there are shards, for they must then be alike. Fails, naming
  /// the device, what was expected and what was given, where a shape does not
  /// fit, and where components that should be copies of each other differ.
  static Result<Array> fromComponents(const std::shared_ptr<Client> &client,
                                      DType dtype, const Layout &layout,
                                      std::span<const Component> components);
  /// The global shape is that of `type`.
  static Result<Array> fromComponents(const std::shared_ptr<Client> &client,
                                      const ArrayType &type,
                                      std::span<const Component> components);

  explicit operator bool() const { return state != nullptr; }
  const ArrayType &type() const;
  DType dtype() const { return type().dtype; }
  const Shape &shape() const { return type().shape; }
  const Layout &layout() const { return type().layout; }
  const std::shared_ptr<Client> &client() const;

  /// Completion of the work that computes the array.
  const Event &event() const;
  /// Waits for it, and returns the error that it ended with, which is reported
  /// then.
  Status wait() const;
  /// Returns the value that the array was to replace, where computing the array
  /// has failed and left that value; else an empty array.
  Array oldValue() const;

  /// The global value; addends of a partial value are combined. Fails where a
  /// part of it is in other processes only: see isWhollyHere.
  Result<HostBytes> toHost() const;
  /// Returns the component that `device` of the mesh, one of this process,
  /// holds.
  Result<OwnedComponent> component(int64_t device) const;
  /// The one element of a global value with one element.
  template <typename T> Result<T> item() const;

  /// The array's memory on its devices, for backends.
  const std::shared_ptr<Buffer> &buffer() const;
  /// Returns whether this handle is the only reference to the memory.
  bool isUnique() const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

/// Returns whether devices of this process hold all of a value: every element,
/// of every addend.
bool isWhollyHere(const ArrayType &type);

/// The global shape that components of the given shapes make up, those of the
/// devices of this process; fails naming the first device whose shape does not
/// fit.
Result<Shape> globalShapeOf(const Layout &layout,
                            std::span<const Shape> components);

template <typename T> Result<T> Array::item() const {
  Result<HostBytes> bytes = toHost();
  if (!bytes)
    return bytes.error();
  if (bytes->size() != sizeof(T))
    return Error("item() needs an array of one element of the type asked for; "
                 "this one is " +
                 type().to_string());
  T value;
  __builtin_memcpy(&value, bytes->data(), sizeof(T));
  return value;
}

} // namespace meshloom
