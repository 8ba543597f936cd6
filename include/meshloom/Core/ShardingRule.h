// ShardingRule: an op's sharding behaviour in einsum notation, and the one
// generic algorithm that everything the compiler does to an op follows from.
#pragma once

#include "meshloom/Core/Layout.h"

namespace meshloom {

/// What sharding a factor means.
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

/// How pending reductions pass through an op; declared by the op.
enum class PartialFlow : uint8_t {
  None,        ///< operands must not be partial
  LinearJoint, ///< partial sums pass when all operands (in rule) carry them: add
  LinearEach,  ///< partial sums pass from any one operand: multiply, dot
  Movement     ///< any kind passes: transpose, reshape (all data operands)
};

/// Factors of each dim of each operand and result. A dim of several factors is
/// a compound `(a b)`, major to minor; a dim of none is `1` (broadcast or
/// size one).
///
/// Text form: operands separated by commas, `->`, results; dims by spaces:
/// "m k, k n -> m n", "b (h d) -> b h d", "b n! -> b n!" (n must be whole),
/// "1 n, m n -> m n". A scalar operand is empty: ", m -> m".
struct ShardingRule {
  using Dim = std::vector<unsigned>;
  using Tensor = std::vector<Dim>;
  std::vector<Factor> factors;
  std::vector<Tensor> operands, results;
  PartialFlow partialFlow = PartialFlow::None;
  /// How a Reduced factor's shards combine.
  ReduceKind reduceKind = ReduceKind::Sum;

  /// Sizes are 1 until `bind`.
  static Result<ShardingRule> parse(std::string_view text);
  std::string to_string() const;
  /// Takes factor sizes from shapes; fails where they disagree, naming factor,
  /// operand, dim and both sizes. A compound dim fixes at most one new factor.
  Status bind(const std::vector<Shape> &operandShapes,
              const std::vector<Shape> &resultShapes);
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
  /// Over axes that no factor uses.
  std::vector<Partial> passed;
  /// LinearEach only: the operand that carries `passed`; the other flows carry
  /// it in all operands.
  unsigned carrier = 0;
  bool operator==(const OpSharding &) const = default;
};

/// Whether factor `factor` may be sharded over `axes` (in addition to nothing):
/// Whole factors never; inside a compound dim only the major factor, and only
/// where the axes' sizes divide it (else the blocks of the compound dim would
/// not be blocks of the factor).
bool canShard(const ShardingRule &rule, unsigned factor,
              std::span<const unsigned> axes, const Mesh &mesh);

/// What operand `index` must be laid out as for the op to run as `sharding`
/// says.
Layout operandLayout(const ShardingRule &rule, unsigned index,
                     const OpSharding &sharding, const Mesh &mesh);
/// What result `index` then is: partial over the axes of Reduced factors, and
/// over the passed ones.
Layout resultLayout(const ShardingRule &rule, unsigned index,
                    const OpSharding &sharding, const Mesh &mesh);

/// The factor sharding that one tensor's layout asks for, as far as the rule
/// allows it (a prefix of each dim's axes; what cannot be kept is dropped).
/// Pending reductions of `layout` are not looked at.
FactorSharding project(const ShardingRule &rule,
                       const ShardingRule::Tensor &dims, const Layout &layout);

/// Adds `wish` to `sharding` where it conflicts with nothing (axis free, factor
/// unsharded or a prefix of the wish). Returns whether anything changed. Where
/// factors compete for an axis, `sharding` wins.
bool merge(const ShardingRule &rule, FactorSharding &sharding,
           const FactorSharding &wish, const Mesh &mesh);

/// The pending reductions that results may keep when the operands have the
/// given layouts, by the rule's PartialFlow, over axes that `factors` leaves
/// free; and the operand that carries them.
OpSharding passPartial(const ShardingRule &rule,
                       std::span<const Layout> operands,
                       FactorSharding factors);

/// Reads back how an op runs from the layouts of its operands and results:
/// factors shown by results take the results' axes; an axis a result is
/// partial over is on the Reduced factor whose operand dim carries it, else
/// passed. Inverse of operandLayout and resultLayout where those agree; where
/// operands disagree with results, the results decide.
OpSharding opSharding(const ShardingRule &rule, std::span<const Layout> operands,
                      std::span<const Layout> results);

} // namespace meshloom
