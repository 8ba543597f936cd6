// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ShardingRule: an op's sharding behaviour in einsum notation, and the one
// generic algorithm that everything the compiler does to an op follows from.
#pragma once

#include "meshloom/Core/Window.h"

namespace meshloom {

/// The kind of a factor: how a sharded factor is computed.
enum class FactorKind : uint8_t {
  Parallel, ///< in a result: shards work independently
  Reduced,  ///< in operands only: results become partial
  Whole     ///< marked `!`: the op needs all of it on every device
};

/// One letter of a rule. Sizes come from the tensors' shapes.
struct Factor {
  std::string name;
  int64_t size = 1;
  FactorKind kind = FactorKind::Parallel;
  bool operator==(const Factor &) const = default;
};

/// How pending reductions pass through an op; declared by the op. Reductions of
/// kind `reduceKind` pass where the flow is linear, reductions of any kind
/// where it is movement.
enum class PartialFlow : uint8_t {
  None,        ///< operands must not be partial
  LinearJoint, ///< they pass when all carriers carry them: add, maximum (max)
  LinearEach,  ///< they pass from any one carrier: multiply, dot, negate
  Movement     ///< any kind passes, from all carriers: transpose, reshape
};

/// An op's sharding behaviour: which dims of its operands and results move
/// together, and what sharding them means.
///
/// Example: "m k, k n -> m n" is a matrix product. m and n are Parallel: put m
/// on axis x, and the lhs must be [x, *], the rhs [*, *], the result is [x, *].
/// k is Reduced: put it on y, and the lhs is [*, y], the rhs [y, *], the result
/// [*, *] partial<y: sum>. Everything the compiler does to an op is one of the
/// functions below this struct, none of which knows any op.
///
/// Factors of each dim of each operand and result. A dim of several factors is
/// a compound `(a b)`, major to minor; a dim of none is `1` (size one, possibly
/// broadcast).
///
/// Text form: operands separated by commas, `->`, results; dims by spaces:
/// "m k, k n -> m n", "b (h d) -> b h d", "b n! -> b n!" (n must be whole),
/// "1 n, m n -> m n". A scalar operand is empty: ", m -> m"; a single scalar
/// operand is `[]`: "[] -> m n", as nothing at all means that the op has no
/// operand: "-> m n". A scalar result is empty: "m -> ".
///
/// An operand dim can be *windowed*: its one factor is a dim of a result (or of
/// another operand), and for a range of that factor the op reads a range of the
/// dim (Window). "y{1:-1:1} -> y" reads a row to both sides of its own, as a
/// convolution does; the text after the factor is `{scale:low:high}`,
/// `{scale:low:high:divisor}` or `{take 2 0 -1}`. Such a dim is laid out over
/// the factor's axes by its own blocks; what a device lacks of its window comes
/// by a halo exchange. Its size tells nothing of the factor's.
///
/// Invariants: a factor appears at most once in a tensor; one that is in no
/// result is Reduced, one marked `!` Whole, all others Parallel; there is at
/// least one result.
///
/// Rejected: a function per op that computes layouts forward, one backward and
/// one that expands (TensorFlow's expanders): they disagree with each other,
/// and every new op needs all three. Also rejected: one table of rules for all
/// ops (Shardy's registry): here a rule stands beside its op's declaration.
struct ShardingRule {
  using Dim = std::vector<unsigned>;
  using Tensor = std::vector<Dim>;
  /// Dim `dim` of operand `operand` is read through a window over `factor`, the
  /// dim's only one: for the factor's range [lo, hi) the op reads
  /// [floor((scale * lo + low) / divisor),
  ///  floor((scale * (hi - 1) + high) / divisor) + 1), ends swapped where scale
  /// is negative (low is then added to the one from hi - 1), or, with
  /// `sources`, the hull of sources[lo], ..., sources[hi - 1] without -1;
  /// clipped to the dim; nothing for an empty range.
  struct Window {
    unsigned operand = 0, dim = 0, factor = 0;
    int64_t scale = 1, low = 0, high = 0, divisor = 1;
    std::vector<int64_t> sources = {}; ///< one per index of the factor

    /// The part of a dim of size `extent` that is read for `range` of the
    /// factor.
    Interval map(Interval range, int64_t extent) const;
    bool operator==(const Window &) const = default;
  };
  std::vector<Factor> factors;
  std::vector<Tensor> operands, results;
  std::vector<Window> windows; ///< of operand dims
  PartialFlow partialFlow = PartialFlow::None;
  /// How a Reduced factor's shards combine, and the kind that linear flows
  /// pass.
  ReduceKind reduceKind = ReduceKind::Sum;
  /// Operands that may be partial under `partialFlow`; empty: all of them. E.g.
  /// divide is linear in operand 0 only, select jointly in 1 and 2.
  std::vector<unsigned> carriers;

  /// Sizes are 1 until `bind`.
  static Result<ShardingRule> parse(std::string_view text);
  std::string to_string() const;
  /// Takes factor sizes from shapes; fails where they disagree, naming factor,
  /// operand, dim and both sizes. A compound dim fixes at most one new factor.
  Status bind(const std::vector<Shape> &operandShapes,
              const std::vector<Shape> &resultShapes);
  /// Sets each factor's kind to Parallel or Reduced by where it appears; Whole
  /// ones stay. For rules built in C++; `parse` has done it.
  void deriveKinds();
  bool isCarrier(unsigned operand) const;
  /// The window that an operand's dim is read through, or null.
  const Window *windowOf(unsigned operand, unsigned dim) const;
  bool operator==(const ShardingRule &) const = default;
};

/// The mesh axes, major to minor, that each factor is sharded over. Every axis
/// at most once; empty for Whole factors.
struct FactorSharding {
  std::vector<std::vector<unsigned>> axes;
  bool operator==(const FactorSharding &) const = default;
  static FactorSharding none(const ShardingRule &rule) {
    return {std::vector<std::vector<unsigned>>(rule.factors.size())};
  }
};

/// How an op runs: its factors' axes, and the pending reductions that pass
/// through it. From this follow the layouts of all operands and results.
struct OpSharding {
  FactorSharding factors;
  /// Over axes that no factor uses; sorted by axis, all of one kind.
  std::vector<Partial> passed;
  /// LinearEach only: the operand that carries `passed` (0 where nothing is
  /// passed); the other flows carry it in all carriers.
  unsigned carrier = 0;
  bool operator==(const OpSharding &) const = default;
};

/// Returns whether factor `factor` may be sharded over `axes` (all its axes,
/// not more of them), the other factors being sharded as `others` says.
///
/// Whole factors never are. The axes of a compound dim are those of its
/// factors, one factor after another, and its blocks must be blocks of each
/// factor: the axes' sizes divide the factor's, unless it is the minor one, and
/// only the first sharded factors of a dim may be followed by others: each has
/// as many shards as elements. (h d) of 4 x 16 on {x=4, y=2} has h on x and d
/// on y; on {z=8} nothing, but the mesh can be cut (ReshapeCuts.h). Factors of
/// size one beside it do not make a dim compound. A factor before a sharded
/// factor in its dim is Parallel, so that results tell how an op runs
/// (opSharding).
bool canShard(const ShardingRule &rule, const FactorSharding &others,
              unsigned factor, std::span<const unsigned> axes,
              const Mesh &mesh);

/// Returns whether all factors may be sharded as `sharding` says. That no axis
/// is used twice is not looked at.
bool canRun(const ShardingRule &rule, const FactorSharding &sharding,
            const Mesh &mesh);

/// The layout that operand `index` must have for the op to run as `sharding`
/// says.
Layout operandLayout(const ShardingRule &rule, unsigned index,
                     const OpSharding &sharding, const Mesh &mesh);
/// The windows that devices need of operand `index`, of global shape `shape`,
/// for the op to run as `sharding` says; no dims where each needs its blocks.
Windows operandWindows(const ShardingRule &rule, unsigned index,
                       const OpSharding &sharding, const Shape &shape,
                       const Mesh &mesh);
/// The layout that result `index` then has: partial over the axes of Reduced
/// factors, and over the passed ones.
Layout resultLayout(const ShardingRule &rule, unsigned index,
                    const OpSharding &sharding, const Mesh &mesh);

/// The factor sharding that one tensor's layout asks for, as far as the rule
/// allows it (a prefix of each dim's axes, shared out among the dim's factors;
/// what cannot be kept is dropped).
/// Pending reductions of `layout` are not looked at.
FactorSharding project(const ShardingRule &rule,
                       const ShardingRule::Tensor &dims, const Layout &layout);

/// Adds `wish` to `sharding` where it conflicts with nothing: a factor whose
/// axes are a prefix of the wished ones is extended by the longest run of them
/// that are free and that canShard allows. Returns whether anything changed.
/// Where factors compete for an axis, `sharding` wins.
bool merge(const ShardingRule &rule, FactorSharding &sharding,
           const FactorSharding &wish, const Mesh &mesh);

/// The pending reductions that results may keep when the operands have the
/// given layouts, by the rule's PartialFlow, over axes that `factors` leaves
/// free; and the operand that carries them (LinearEach: the one that can pass
/// most; the first of those). Where a Reduced factor is sharded, only its kind
/// passes: a result has one kind.
OpSharding passPartial(const ShardingRule &rule,
                       std::span<const Layout> operands,
                       FactorSharding factors);

/// Reads back how an op runs from the layouts of its operands and results. The
/// results decide; operands only tell where an axis came from that results do
/// not show on a dim:
///
/// 1. Factors in results take the results' axes, first result first.
/// 2. Among the axes that results are partial over, each operand's Reduced
///    factors take those that the operand has there, in the operand's order;
///    the operand and factor that take most go first.
/// 3. The remaining axes are passed from an operand that is partial there.
/// 4. Axes that still remain go, as minor axes, on the first Reduced factor
/// that
///    can take them: the operands will be relaid out to it.
///
/// So opSharding(rule, operandLayouts of S, resultLayouts of S) == S for every
/// S that the rule allows: 2 finds all Reduced axes (and in order, as all
/// operands agree), 3 the passed ones. Cost: linear in factors times axes.
OpSharding opSharding(const ShardingRule &rule,
                      std::span<const Layout> operands,
                      std::span<const Layout> results);

} // namespace meshloom
