// Layout: how a tensor's dims are cut over the axes of a mesh.
#pragma once

#include "meshloom/Core/Box.h"
#include "meshloom/Core/Mesh.h"

#include <initializer_list>

namespace meshloom {

/// How the addends of a partial value, or the elements of a reduced dim, are
/// combined.
enum class ReduceKind : uint8_t { Sum, Prod, Min, Max, And, Or };
std::string_view name(ReduceKind kind);
std::optional<ReduceKind> parseReduceKind(std::string_view name);

/// The spec of a dim that is on no axis.
struct Unsharded {
  bool operator==(const Unsharded &) const = default;
};
inline constexpr Unsharded UNSHARDED{};

/// Several mesh axes for one dim, major to minor: Axes{"x", "y"}.
struct Axes {
  std::vector<std::string> names;
  Axes(std::initializer_list<std::string> names) : names(names) {}
  explicit Axes(std::vector<std::string> names) : names(std::move(names)) {}
};

/// What one tensor dim is sharded over: UNSHARDED, "axis", or Axes{...}.
struct DimSpec {
  std::vector<std::string> axes;
  DimSpec(Unsharded) {}
  DimSpec(const char *axis) : axes{axis} {}
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

/// An immutable value, cheap to copy. Splitting is nested, major to minor, for
/// any extent: n over an axis of size k gives blocks of ceil(n/k), the last
/// ones short or empty; each block is then split over the next axis the same
/// way. An axis appears at most once: in one dim, or as partial.
class Layout {
public:
  /// Axes of each dim by index into mesh.axes(), major to minor.
  using DimAxes = std::vector<std::vector<unsigned>>;

  /// Throws meshloom::Error if an axis is not in the mesh or is used twice.
  Layout(std::vector<DimSpec> specs, Mesh mesh,
         std::vector<std::pair<std::string, ReduceKind>> partial = {});
  static Result<Layout>
  get(std::vector<DimSpec> specs, Mesh mesh,
      std::vector<std::pair<std::string, ReduceKind>> partial = {});
  /// From axis indices; fails like the constructor. `partial` in any order.
  static Result<Layout> get(Mesh mesh, DimAxes dims,
                            std::vector<Partial> partial = {});

  static Layout replicated(const Mesh &mesh, unsigned rank);
  /// Dim `dim` on `axis`. Throws meshloom::Error if axis or dim do not exist.
  static Layout batch_sharded(const Mesh &mesh, std::string_view axis,
                              unsigned rank, unsigned dim = 0);
  /// The last dim on `axis`.
  static Layout inner_sharded(const Mesh &mesh, std::string_view axis,
                              unsigned rank);

  const Mesh &mesh() const;
  unsigned rank() const;
  /// Axis indices of dim `dim`, major to minor.
  std::span<const unsigned> axes(unsigned dim) const;
  const DimAxes &dim_axes() const;
  /// Sorted by axis.
  std::span<const Partial> partial() const;
  std::vector<DimSpec> sharding_specs() const;
  /// Number of blocks that dim `dim` is cut into.
  int64_t num_shards(unsigned dim) const;
  bool is_fully_replicated() const; ///< no dim sharded, nothing partial
  bool is_partial() const { return !partial().empty(); }
  bool uses_axis(unsigned axis) const;

  /// Without the given dims (their axes become unused): TensorFlow's delete.
  Layout remove(std::vector<unsigned> dims) const;
  Layout with_dim(unsigned dim, std::vector<unsigned> axes) const;
  Layout with_partial(std::vector<Partial> partial) const;
  Layout without_partial() const { return with_partial({}); }

  /// Shape of the largest shard: what every device allocates (the first
  /// device's extents; others may be short or empty).
  Shape local_shape(const Shape &global) const;
  /// The part of the global array that device `device` holds.
  Box shard(const Shape &global, int64_t device) const;
  /// Per device of the mesh: the index of its shard along each dim.
  std::vector<std::vector<int64_t>> offset_to_shard() const;
  /// True where every device's shard is full, whatever the block count.
  bool is_even(const Shape &global) const;

  /// "sharding_specs:x,unsharded, mesh:<mesh>", TensorFlow's form, with
  /// "{x;y}" for several axes and " partial:x=sum" where partial.
  std::string to_string() const;
  static Result<Layout> from_string(std::string_view text);
  /// "[x, *, {y, z}] partial<w: sum>": the form of messages and of the IR.
  std::string spec_string() const;

  bool operator==(const Layout &other) const;
  size_t hash() const;

private:
  struct Impl;
  explicit Layout(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const Impl> impl;
};

} // namespace meshloom
