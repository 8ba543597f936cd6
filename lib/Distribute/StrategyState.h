// What a Strategy points to, and what its thread is inside of.
#pragma once

#include "meshloom/Distribute/Strategy.h"

namespace meshloom::detail {

struct StrategyState {
  /// How variables lie on the devices.
  enum class Kind : uint8_t {
    Default,   ///< where they are made
    OneDevice, ///< on the only device
    Mirrored,  ///< on all of them
    Central,   ///< on the first one
    TPU        ///< on all of them
  };
  std::string name;
  Kind kind = Kind::Default;
  std::optional<Mesh> mesh = std::nullopt;
  /// Null: as the compiler finds best.
  std::shared_ptr<const CrossDeviceOps> crossDeviceOps = nullptr;
  std::optional<TPUClusterResolver> resolver = std::nullopt;

  int64_t replicas() const { return mesh ? mesh->size() : 1; }
};

/// The axis of replicas.
inline constexpr char replicaAxis[] = "replica";

/// The innermost frame of this thread; its strategy is never null.
StrategyFrame currentFrame();

/// "MirroredStrategy on CPU:0, CPU:1".
std::string textOf(const StrategyState &strategy);
/// Throws "[op] message".
[[noreturn]] void refuse(std::string_view op, const std::string &message,
                         const std::source_location *where = nullptr);

/// Makes a variable in the scope of a strategy that has devices.
DVariable makeVariable(const std::shared_ptr<const StrategyState> &strategy,
                       const NextVariable &next, const Tensor &initial,
                       VariableOptions options);

} // namespace meshloom::detail
