// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code for one element, one device or one replica, run for all of them: vmap
// (elements along a dim), shard_map (devices along the axes of a mesh), and the
// collectives between them. The function is traced once, with what one of them
// sees; values that are the same for all are computed once.
//
// In a `function` that is part of what is traced; outside, what vmap and
// shard_map return is a `function`. Gradients go through from outside, and may
// be taken inside, each of its own values.
#pragma once

#include "meshloom/API/ControlOps.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace meshloom {

/// Says which dim of each argument is mapped, or which dim of each result it
/// becomes: one number for all tensors, or a list. `std::nullopt` means that
/// the tensor is the same for all calls.
class MappedDims {
public:
  /// The same for all.
  MappedDims(int64_t dim) : dims{dim} {}
  /// None for all.
  MappedDims(std::nullopt_t) : dims{std::nullopt} {}
  /// One for each argument of the function, or each tensor of its result.
  MappedDims(std::initializer_list<std::optional<int64_t>> list)
      : dims(list), isList(true) {}
  /// The same.
  MappedDims(std::vector<std::optional<int64_t>> list)
      : dims(std::move(list)), isList(true) {}

  std::vector<std::optional<int64_t>> dims; ///< one where it is not a list
  bool isList = false;                      ///< one for each
};

/// The options of `vmap`.
struct VmapOptions {
  /// The name of the axis in collectives; without a name, no collective can run
  /// along it.
  std::string axis_name = "";
  /// How many elements there are; needed where no argument is mapped.
  std::optional<int64_t> axis_size = std::nullopt;
};

/// Names of axes: one, or a list.
class AxisNames {
public:
  /// One.
  AxisNames(const char *name, Where where = Where::current())
      : names{textOrThrow(name, "an axis' name", where)} {}
  /// An axis has a name.
  AxisNames(std::nullptr_t) = delete;
  /// One.
  AxisNames(std::string name) : names{std::move(name)} {}
  /// Several.
  AxisNames(std::initializer_list<const char *> list,
            Where where = Where::current()) {
    for (const char *name : list)
      names.push_back(textOrThrow(name, "an axis' name", where));
  }
  /// Several.
  AxisNames(std::vector<std::string> list) : names(std::move(list)) {}

  std::vector<std::string> names; ///< in the order given
};

namespace detail {

/// The body that one element, device or replica runs on its tensors.
using PlaceBody = std::function<std::vector<Tensor>(RegionTensors)>;

/// The arguments of a map: the tensors of all, and how many each one has.
struct PlaceArguments {
  std::vector<Tensor> tensors;
  std::vector<size_t> counts;
};
template <typename... Args> PlaceArguments placeArguments(const Args &...args) {
  PlaceArguments collected;
  auto add = [&](const auto &argument) {
    size_t before = collected.tensors.size();
    appendTensors(argument, collected.tensors);
    collected.counts.push_back(collected.tensors.size() - before);
  };
  (add(args), ...);
  return collected;
}

struct VmapPlan {
  MappedDims inAxes = 0, outAxes = 0;
  VmapOptions options;
};
[[nodiscard]] std::vector<Tensor> traceVmap(const VmapPlan &plan,
                                            const PlaceArguments &arguments,
                                            const PlaceBody &body,
                                            const std::source_location &where);

struct ShardMapPlan {
  Mesh mesh;
  std::vector<Layout> inLayouts, outLayouts;
  std::vector<std::string> axes;
};
[[nodiscard]] std::vector<Tensor>
traceShardMap(const ShardMapPlan &plan, const PlaceArguments &arguments,
              const PlaceBody &body, const std::source_location &where);

//===----------------------------------------------------------------------===//
// For strategies
//===----------------------------------------------------------------------===//

/// The axis of a strategy's replicas, in meshes and collectives.
inline constexpr char replicaAxis[] = "replica";

/// The replicas that a function is mapped over.
struct ReplicaAxis {
  std::string name = replicaAxis; ///< what collectives call it
  int64_t replicas = 1;           ///< how many
  /// The mesh and axis over which values that differ are laid out, where one is
  /// given.
  std::optional<Mesh> mesh = std::nullopt;
  std::string mesh_axis = ""; ///< of `mesh`
};

/// A value of replicas.
struct ReplicaValue {
  /// [replicas, ...] where it differs; else the value that all have.
  Tensor value;
  bool differs = false; ///< there is one for each replica
  /// The number of rows (of dim 0) of each replica, where replicas have
  /// different numbers of rows. `value` is then [replicas, most rows, ...],
  /// filled up with anything. Empty: every replica has all rows.
  std::vector<int64_t> rows = {};
};

/// The results of `body` for each replica's values, in a `function`. It is
/// called once for each combination of numbers of rows, with tensors of those
/// shapes; the i-th collective of each call is the same one, as is the i-th
/// assignment to a variable. Throws meshloom::Error outside of a function (wrap
/// the call), if shapes do not fit, or if a value that differs is assigned to a
/// variable.
std::vector<ReplicaValue> replicaMap(const ReplicaAxis &axis,
                                     const std::vector<ReplicaValue> &arguments,
                                     const PlaceBody &body,
                                     const std::source_location &where);

/// All replicas' values of `x`, [places, ...], the same for all; where x's
/// first dim is the rows of a replica, filled up with zeros to the most rows.
/// `rows` is set to how many each has, where that is so. Null: x has one shape
/// in all replicas, also where its first dim is as long as one's rows.
[[nodiscard]] Tensor stackPlaces(const Tensor &x, const std::string &axis,
                                 std::vector<int64_t> *rows,
                                 const std::source_location &where);
/// This place's entry of [places, ...]; with `rows`, its first so many rows.
[[nodiscard]] Tensor localPlace(const Tensor &stack, const std::string &axis,
                                const std::vector<int64_t> &rows,
                                const std::source_location &where);
/// Returns whether a map around has that axis.
bool isMappedAxis(const std::string &axis);

/// Calls a function of one place with its tensors in place of all places'.
template <typename F, typename Plan,
          std::vector<Tensor> (*trace)(const Plan &, const PlaceArguments &,
                                       const PlaceBody &,
                                       const std::source_location &)>
struct PlaceFunction {
  F fn;
  std::shared_ptr<const Plan> plan;
  std::source_location where;

  template <typename... Args> auto operator()(const Args &...args) const {
    using R = std::decay_t<std::invoke_result_t<const F &, const Args &...>>;
    static_assert(!std::is_void_v<R>,
                  "the function of vmap and shard_map returns a tensor, or a "
                  "structure of tensors");
    std::optional<R> result;
    std::vector<Tensor> tensors = trace(
        *plan, placeArguments(args...),
        [&](RegionTensors operands) {
          std::tuple<Args...> locals =
              rebuild(std::tuple<Args...>(args...), operands);
          result.emplace(std::apply(fn, std::as_const(locals)));
          return tensorsOf(*result);
        },
        where);
    return rebuild(*result, std::span<const Tensor>(tensors));
  }
};
template <typename F> using VmapBody = PlaceFunction<F, VmapPlan, traceVmap>;
template <typename F>
using ShardMapBody = PlaceFunction<F, ShardMapPlan, traceShardMap>;

} // namespace detail

/// `fn`, which is written for one element, for all elements along a dim: dim
/// `in_axes` of each argument is mapped, and what fn gives is put together
/// along dim `out_axes` of the results. Arguments and result are structures of
/// tensors (see Structure.h); an entry of a list of in_axes is for all tensors
/// of an argument.
///
///   auto distances = vmap([](const Tensor &x, const Tensor &y) {
///     return norm(x - y); }, {0, std::nullopt});
///   Tensor d = distances(xs, y); // xs [n, k], y [k]: d [n]
///
/// fn may be anything: loops and branches (which go on as long as any element
/// does), random ops (the same numbers for all where the seed is the same),
/// another vmap, a GradientTape of its own (gradients for each example).
/// Collectives along options.axis_name work as in a shard_map. A variable that
/// fn reads is the same for all; what fn assigns must be, too.
///
/// Throws meshloom::Error if arguments have different extents along their
/// mapped dims, if an argument lacks its mapped dim, if out_axes says nullopt
/// of a result that differs, or if a value that differs is assigned to a
/// variable.
template <typename F>
auto vmap(F &&fn, MappedDims in_axes = 0, MappedDims out_axes = 0,
          VmapOptions options = {}, Where where = Where::current()) {
  using Fn = std::decay_t<F>;
  auto plan = std::make_shared<const detail::VmapPlan>(detail::VmapPlan{
      std::move(in_axes), std::move(out_axes), std::move(options)});
  return meshloom::function(
      detail::VmapBody<Fn>{std::forward<F>(fn), std::move(plan), where},
      {.name = "vmap"}, where);
}

/// `fn`, which is written for what one device has, on all devices along `axes`
/// of `mesh` (all by default): an argument laid out as `in_layouts` says is to
/// fn what the device holds, and what fn gives are the blocks of results laid
/// out as `out_layouts` says. Layouts are one for each argument and each tensor
/// of the result, or one for each tensor of all arguments. Axes that fn does
/// not run over stay the compiler's.
///
///   auto step = shard_map([&](const Tensor &x, const Tensor &w) {
///     return psum(matmul(x, w), "model"); },
///     mesh, {x_layout, w_layout}, {y_layout});
///
/// Where a result has no dim on an axis, all devices along it must have the
/// same: the first one's is taken.
///
/// Throws meshloom::Error if layouts are on another mesh, or have another rank
/// than their tensor, or if the axes do not divide a dim that they cut.
template <typename F>
auto shard_map(F &&fn, const Mesh &mesh, std::vector<Layout> in_layouts,
               std::vector<Layout> out_layouts,
               std::vector<std::string> axes = {},
               Where where = Where::current()) {
  using Fn = std::decay_t<F>;
  auto plan = std::make_shared<const detail::ShardMapPlan>(detail::ShardMapPlan{
      mesh, std::move(in_layouts), std::move(out_layouts), std::move(axes)});
  return meshloom::function(
      detail::ShardMapBody<Fn>{std::forward<F>(fn), std::move(plan), where},
      {.name = "shard_map"}, where);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//
// In the function of a vmap with a named axis, or of a shard_map. All throw
// meshloom::Error outside of one, and if it has no such axis (the message lists
// those it has).

/// The sum of x along the axes, the same for all.
[[nodiscard]] Tensor psum(const Tensor &x, const AxisNames &axes,
                          Where where = Where::current());
/// The mean.
[[nodiscard]] Tensor pmean(const Tensor &x, const AxisNames &axes,
                           Where where = Where::current());
/// The largest, element by element.
[[nodiscard]] Tensor pmax(const Tensor &x, const AxisNames &axes,
                          Where where = Where::current());
/// The smallest.
[[nodiscard]] Tensor pmin(const Tensor &x, const AxisNames &axes,
                          Where where = Where::current());

/// The same for each tensor of a structure.
template <typename S>
  requires(!std::is_convertible_v<S, Tensor>)
S psum(const S &structure, const AxisNames &axes,
       Where where = Where::current()) {
  return detail::forEachTensor(
      structure, [&](const Tensor &x) { return psum(x, axes, where); });
}
/// The same for each tensor of a structure.
template <typename S>
  requires(!std::is_convertible_v<S, Tensor>)
S pmean(const S &structure, const AxisNames &axes,
        Where where = Where::current()) {
  return detail::forEachTensor(
      structure, [&](const Tensor &x) { return pmean(x, axes, where); });
}

/// All places' x, one after the other: along a new dim `axis`, or `tiled`,
/// joined along that dim.
[[nodiscard]] Tensor all_gather(const Tensor &x, const std::string &axis_name,
                                int64_t axis = 0, bool tiled = false,
                                Where where = Where::current());
/// The sum of x along the axis, of which each place has its part along
/// `scatter_dimension`: that dim is as long as the axis and goes, or `tiled`,
/// is cut into as many.
[[nodiscard]] Tensor psum_scatter(const Tensor &x, const std::string &axis_name,
                                  int64_t scatter_dimension = 0,
                                  bool tiled = false,
                                  Where where = Where::current());
/// Part i along `split_axis` goes to place i, and what comes from place j is
/// the j-th along `concat_axis`: those dims are as long as the axis, and one
/// goes while one comes, or `tiled`, one is cut and one joined.
[[nodiscard]] Tensor all_to_all(const Tensor &x, const std::string &axis_name,
                                int64_t split_axis, int64_t concat_axis,
                                bool tiled = false,
                                Where where = Where::current());
/// For each pair (from, to), place `to` gets x of place `from`; others get
/// zeros. Throws meshloom::Error if a place is the target of two.
[[nodiscard]] Tensor
ppermute(const Tensor &x, const std::string &axis_name,
         const std::vector<std::pair<int64_t, int64_t>> &pairs,
         Where where = Where::current());
/// Which place along the axis this is, an i32 scalar.
[[nodiscard]] Tensor axis_index(const std::string &axis_name,
                                Where where = Where::current());
/// How many places there are.
int64_t axis_size(const std::string &axis_name, Where where = Where::current());

} // namespace meshloom
