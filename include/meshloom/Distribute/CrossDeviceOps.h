// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the values of replicas become one: which collectives a strategy asks for.
#pragma once

#include "meshloom/API/Mesh.h"
#include "meshloom/Distribute/PerReplica.h"

namespace meshloom {

/// How values of replicas are combined: ReduceOp::SUM, ReduceOp::MEAN, or
/// "sum", "MEAN", in any case of letters.
class ReduceOp {
public:
  /// Which it is.
  enum Kind : uint8_t {
    SUM, ///< of all replicas
    MEAN ///< their sum through their number
  };
  /// One of them.
  ReduceOp(Kind kind) : kind(kind) {}
  /// By name. Throws meshloom::Error if it is not one of them.
  ReduceOp(std::string_view name,
           std::source_location where = std::source_location::current());
  /// See above.
  ReduceOp(const std::string &name,
           std::source_location where = std::source_location::current())
      : ReduceOp(std::string_view(name), where) {}
  /// See above.
  ReduceOp(const char *name,
           std::source_location where = std::source_location::current())
      : ReduceOp(textOrThrow(name, "\"SUM\" or \"MEAN\"", where), where) {}
  /// Write "SUM" or "MEAN".
  ReduceOp(std::nullptr_t) = delete;
  /// Returns whether both are the same.
  bool operator==(const ReduceOp &) const = default;
  /// "SUM" or "MEAN".
  std::string_view name() const { return kind == SUM ? "SUM" : "MEAN"; }

  Kind kind; ///< as given
};

/// Where the result of a reduction goes.
struct ReduceDestinations {
  Mesh mesh;                       ///< of the strategy
  std::string axis;                ///< of replicas, in the mesh
  std::vector<DeviceSpec> devices; ///< of the mesh: those that get it
};

/// How a strategy brings values of its replicas together, where it says how:
/// gradients in Optimizer::apply_gradients, ReplicaContext::all_reduce and
/// Strategy::reduce. Your own way is a class that derives from this:
///
///   struct Plain : CrossDeviceOps {
///     std::string name() const override { return "Plain"; }
///     Tensor reduce(ReduceOp op, const PerReplica<Tensor> &value,
///                   const ReduceDestinations &) const override {
///       return op == ReduceOp::SUM ? reduce_sum(value.stacked, {0})
///                                  : reduce_mean(value.stacked, {0});
///     }
///   };
///   MirroredStrategy strategy({}, std::make_shared<Plain>());
class CrossDeviceOps {
public:
  CrossDeviceOps() = default;
  CrossDeviceOps(const CrossDeviceOps &) = delete;
  CrossDeviceOps &operator=(const CrossDeviceOps &) = delete;
  virtual ~CrossDeviceOps() = default;

  /// For messages.
  virtual std::string name() const = 0;
  /// The combination of several replicas' tensors [replicas, ...], without that
  /// dim: the same for all devices. May be called while a function is traced.
  virtual Tensor reduce(ReduceOp op, const PerReplica<Tensor> &value,
                        const ReduceDestinations &destinations) const = 0;
  /// Reduces several values, in their order, one after the other.
  virtual std::vector<Tensor>
  batch_reduce(ReduceOp op, const std::vector<PerReplica<Tensor>> &values,
               const ReduceDestinations &destinations) const;
};

/// Brings values to one device, adds them there and sends the result to all.
class ReductionToOneDevice : public CrossDeviceOps {
public:
  /// Adds tensors of one shape.
  using Accumulation = std::function<Tensor(const std::vector<Tensor> &)>;
  /// `reduce_to_device`: one of the strategy's; none: the first of the
  /// destinations. `accumulation`: how values are added; empty: they are
  /// summed.
  explicit ReductionToOneDevice(
      std::optional<DeviceSpec> reduce_to_device = std::nullopt,
      Accumulation accumulation = {});
  std::string name() const override { return "ReductionToOneDevice"; }
  Tensor reduce(ReduceOp op, const PerReplica<Tensor> &value,
                const ReduceDestinations &destinations) const override;

private:
  std::optional<DeviceSpec> device;
  Accumulation accumulate;
};

/// All-reduces: of packs, which are all values one after the other, cut into
/// `num_packs` parts of the same size, the last one with what is left.
class AllReduceCrossDeviceOps : public CrossDeviceOps {
public:
  Tensor reduce(ReduceOp op, const PerReplica<Tensor> &value,
                const ReduceDestinations &destinations) const override;
  std::vector<Tensor>
  batch_reduce(ReduceOp op, const std::vector<PerReplica<Tensor>> &values,
               const ReduceDestinations &destinations) const override;
  /// The number of packs.
  int64_t num_packs() const { return packs; }

protected:
  /// Throws meshloom::Error if `num_packs` is negative; 0: values as they are.
  AllReduceCrossDeviceOps(std::string_view name, int64_t num_packs);
  /// The sum over dim 0 of [replicas, n], on all devices.
  virtual Tensor sum(const Tensor &stacked,
                     const ReduceDestinations &destinations) const;

private:
  int64_t packs;
};

/// All-reduces by NCCL, between GPUs.
class NcclAllReduce : public AllReduceCrossDeviceOps {
public:
  /// Throws meshloom::Error if num_packs is negative.
  explicit NcclAllReduce(int64_t num_packs = 1);
  std::string name() const override { return "NcclAllReduce"; }

protected:
  /// Throws meshloom::Error if the devices are no GPUs.
  Tensor sum(const Tensor &stacked,
             const ReduceDestinations &destinations) const override;
};

/// All-reduces in groups of devices, then between the groups.
class HierarchicalCopyAllReduce : public AllReduceCrossDeviceOps {
public:
  /// Throws meshloom::Error if num_packs is negative.
  explicit HierarchicalCopyAllReduce(int64_t num_packs = 1);
  std::string name() const override { return "HierarchicalCopyAllReduce"; }

protected:
  Tensor sum(const Tensor &stacked,
             const ReduceDestinations &destinations) const override;
};

/// By what collectives between processes are done.
class CommunicationImplementation {
public:
  /// Which it is.
  enum Kind : uint8_t {
    AUTO, ///< what suits the devices
    RING, ///< host memory
    NCCL  ///< between GPUs
  };
  /// One of them.
  CommunicationImplementation(Kind kind) : kind(kind) {}
  /// By name. Throws meshloom::Error if it is not one of them.
  CommunicationImplementation(const char *name);
  /// Returns whether both are the same.
  bool operator==(const CommunicationImplementation &) const = default;

  Kind kind; ///< as given
};

/// The options of a collective; those of a call that are not the default
/// count before those of the strategy.
struct CommunicationOptions {
  /// Values are packed until there are more bytes than that; 0: in one pack.
  int64_t bytes_per_pack = 0;
  /// After so many seconds in which nothing of it moves, a collective between
  /// processes fails, for all of them; none: after as many as other transfers
  /// (InitializeOptions::timeout_seconds). A program that is compiled as a
  /// whole has the longest time that is asked for any of its collectives.
  std::optional<double> timeout_seconds = std::nullopt;
  /// See CommunicationImplementation.
  CommunicationImplementation implementation =
      CommunicationImplementation::AUTO;
  /// These, and `others` where it says something. Throws meshloom::Error if
  /// bytes_per_pack is negative, or timeout_seconds not positive.
  CommunicationOptions merged(const CommunicationOptions &others) const;
};

namespace detail {
/// How many values in turn are in each pack: a new one begins after the one
/// that brought the pack over the limit.
std::vector<int64_t> packsByBytes(const std::vector<int64_t> &bytes,
                                  int64_t limit);
} // namespace detail

} // namespace meshloom
