// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout: how a tensor's dims are cut over the axes of a mesh.
#pragma once

#include "meshloom/Core/Box.h"
#include "meshloom/Core/Mesh.h"

#include <initializer_list>
#include <source_location>
#include <utility>

namespace meshloom {

/// How the addends of a partial value, or the elements of a reduced dim, are
/// combined.
enum class ReduceKind : uint8_t { Sum, Prod, Min, Max, And, Or };
/// The name in IR and messages: "sum", "prod", ...
std::string_view name(ReduceKind kind);
/// The kind of that name, if there is one.
std::optional<ReduceKind> parseReduceKind(std::string_view name);

/// The spec of a dim that is on no axis.
struct Unsharded {
  bool operator==(const Unsharded &) const = default;
};
/// A dim that is cut over no axis: Layout({"x", UNSHARDED}, mesh).
inline constexpr Unsharded UNSHARDED{};

/// Several mesh axes for one dim, major to minor: Axes{"x", "y"}.
struct Axes {
  std::vector<std::string> names;
  Axes(std::initializer_list<std::string> names) : names(names) {}
  explicit Axes(std::vector<std::string> names) : names(std::move(names)) {}
};

/// The axes over which one tensor dim is sharded: UNSHARDED, "axis", or
/// Axes{...}.
struct DimSpec {
  std::vector<std::string> axes;
  DimSpec(Unsharded) {}
  DimSpec(std::nullptr_t) = delete; // write UNSHARDED for a dim on no axis
  /// Throws meshloom::Error if it is a null pointer.
  DimSpec(const char *axis,
          std::source_location where = std::source_location::current())
      : axes{textOrThrow(
            axis, "an axis' name, or UNSHARDED for a dim on no axis", where)} {}
  DimSpec(std::string axis) : axes{std::move(axis)} {}
  DimSpec(Axes several) : axes(std::move(several.names)) {}
  bool is_unsharded() const { return axes.empty(); }
  bool operator==(const DimSpec &) const = default;
};

/// A pending reduction over an axis: the value is the `kind`-combination of
/// what the devices along `axis` (an index into mesh().axes()) hold.
struct Partial {
  unsigned axis;
  ReduceKind kind;
  auto operator<=>(const Partial &) const = default;
};

/// How a tensor's dims are cut over the axes of a mesh, and over which axes its
/// value is still to be reduced.
///
/// Splitting is nested, major to minor, for any extent: n over an axis of size
/// k gives blocks of ceil(n/k), the last ones short or empty; each block is
/// then split over the next axis the same way.
///
/// Example: mesh <x=2, y=4>, extent 10 on {x, y}. x cuts 10 into 5 and 5; y
/// cuts each 5 into blocks of ceil(5/4) = 2: 2, 2, 1, 0. Device (x=1, y=2)
/// holds [9, 10); every device allocates local_shape 2.
///
/// Invariants: an axis appears at most once, in one dim or as partial; all
/// partial axes have one kind (sum over x of max over y is not max over y of
/// sum over x, so two kinds would leave the value undefined); partial is sorted
/// by axis; the first device of a split holds the largest shard; adding or
/// dropping the minor axis of a dim moves no data between the blocks of the
/// axes before it.
///
/// Rejected: one split of a dim by the product of its axes' sizes. It is the
/// same where the extent divides, but for other extents the blocks of {x, y}
/// would not nest in those of {x}, and gathering y would move rows across x.
/// Also rejected: the layout as a list of strings (TensorFlow's): the compiler
/// compares and takes layouts apart at every op, so axes are indices here.
///
/// An immutable value, cheap to copy, usable from any thread. `==` is a pointer
/// or hash comparison in nearly every case. One made without arguments, or
/// moved from, is empty: it equals other empty ones, and all else throws
/// meshloom::Error.
class Layout {
public:
  /// The line of a call, for messages.
  using Where = std::source_location;
  Layout() = default;
  /// Returns whether it is not empty.
  bool defined() const { return impl != nullptr; }

  /// Axes of each dim by index into mesh.axes(), major to minor.
  using DimAxes = std::vector<std::vector<unsigned>>;

  /// Throws meshloom::Error if an axis is not in the mesh, if it is used twice,
  /// or if partial axes have different kinds.
  Layout(std::vector<DimSpec> specs, Mesh mesh,
         std::vector<std::pair<std::string, ReduceKind>> partial = {},
         Where where = Where::current());
  static Result<Layout>
  get(std::vector<DimSpec> specs, Mesh mesh,
      std::vector<std::pair<std::string, ReduceKind>> partial = {});
  /// From axis indices; fails like the constructor. `partial` in any order.
  static Result<Layout> get(Mesh mesh, DimAxes dims,
                            std::vector<Partial> partial = {});

  /// No dim sharded, nothing partial.
  static Layout replicated(const Mesh &mesh, unsigned rank,
                           Where where = Where::current());
  /// Dim `dim` on `axis`. Throws meshloom::Error if axis or dim do not exist.
  static Layout batch_sharded(const Mesh &mesh, std::string_view axis,
                              unsigned rank, unsigned dim = 0,
                              Where where = Where::current());
  /// The last dim on `axis`. Throws meshloom::Error if there is no such axis or
  /// no dim.
  static Layout inner_sharded(const Mesh &mesh, std::string_view axis,
                              unsigned rank, Where where = Where::current());

  const Mesh &mesh() const;
  /// The same over the same axes on other devices. Throws meshloom::Error where
  /// their number is not the mesh's.
  Layout placed_on(const DeviceAssignment &assignment,
                   Where where = Where::current()) const;
  unsigned rank() const;
  /// Axis indices of dim `dim`, major to minor. Throws meshloom::Error if there
  /// is no such dim.
  std::span<const unsigned> axes(unsigned dim,
                                 Where where = Where::current()) const;
  const DimAxes &dim_axes() const;
  /// Sorted by axis.
  std::span<const Partial> partial() const;
  std::vector<DimSpec> sharding_specs() const;
  /// Number of blocks that dim `dim` is cut into. Throws meshloom::Error if
  /// there is no such dim.
  int64_t num_shards(unsigned dim, Where where = Where::current()) const;
  bool is_fully_replicated() const; ///< no dim sharded, nothing partial
  bool is_partial() const { return !partial().empty(); }
  /// On a dim, or partial.
  bool uses_axis(unsigned axis) const;

  /// Without the given dims (their axes become unused): TensorFlow's delete.
  /// Throws meshloom::Error if there is no such dim.
  Layout remove(std::vector<unsigned> dims,
                Where where = Where::current()) const;
  /// Dim `dim` on other axes; the same with other pending reductions. Both
  /// throw meshloom::Error where the constructor would.
  Layout with_dim(unsigned dim, std::vector<unsigned> axes,
                  Where where = Where::current()) const;
  Layout with_partial(std::vector<Partial> partial,
                      Where where = Where::current()) const;
  Layout without_partial() const { return with_partial({}); }

  /// Shape of the largest shard: what every device allocates (the first
  /// device's extents; others may be short or empty). Like `shard` and
  /// `is_even`, throws meshloom::Error if `global` has another rank or a
  /// negative extent.
  Shape local_shape(const Shape &global, Where where = Where::current()) const;
  /// The part of the global array that device `device` holds; wraps past the
  /// size like Mesh::coords.
  Box shard(const Shape &global, int64_t device,
            Where where = Where::current()) const;
  /// Per device of the mesh: the index of its shard along each dim.
  std::vector<std::vector<int64_t>> offset_to_shard() const;
  /// True where every device's shard is full, whatever the block count.
  bool is_even(const Shape &global, Where where = Where::current()) const;

  /// "sharding_specs:x,unsharded, mesh:<mesh>", TensorFlow's form, with
  /// "{x;y}" for several axes and "partial:x=sum,y=sum " before "mesh:" where
  /// partial.
  std::string to_string() const;
  static Result<Layout> from_string(std::string_view text);
  /// "[x, *, {y, z}] partial<w: sum>": the form of messages and of the IR.
  std::string spec_string() const;

  bool operator==(const Layout &other) const;
  /// The same in every process.
  size_t hash() const;

private:
  struct Impl;
  explicit Layout(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  /// Throws where it is empty.
  const Impl &contents() const;
  std::shared_ptr<const Impl> impl;
};

/// "[x, *] on <x=2, y=4>".
std::ostream &operator<<(std::ostream &, const Layout &);

} // namespace meshloom
