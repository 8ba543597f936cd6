// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of collectives. Facts that the mesh decides (which devices there
// are, how many a group of mesh axes has) are checked by the import.

#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::stablehlo;
using mlir::ShapedType;

/// The constraints on replica groups, as each op numbers them.
struct GroupNumbers {
  StringRef unique, range;
};

/// Which groups an op takes: all devices in groups of one size, or of any,
/// where -1 fills smaller ones up; or only some of the devices.
enum class GroupKind { OneSize, AnySize, Partial };

/// Groups of ids, each once.
static bool groups(const Constraints &c, Attribute attribute,
                   const GroupNumbers &numbers, GroupKind kind) {
  auto listed = dyn_cast<mlir::DenseIntElementsAttr>(attribute);
  if (!listed)
    return isa<ReplicaGroupMeshAxesAttr>(attribute) ||
           c.require(false, numbers.range,
                     "replica_groups must be a list of groups or mesh axes");
  ArrayRef<int64_t> shape = listed.getType().getShape();
  if (shape.size() != 2) {
    c.violates(numbers.range)
        << "replica_groups must be of shape [groups, size], but are a "
        << listed.getType();
    return false;
  }
  // Nothing at all stands for one group of all.
  if (listed.empty())
    return c.require(shape[0] == 0 && shape[1] == 0, numbers.range,
                     "replica_groups hold no groups, or groups of nothing");
  SmallVector<int64_t> ids;
  for (int64_t id : numbersIn(listed)) {
    if (id == -1 && kind == GroupKind::OneSize)
      return c.require(false, numbers.range,
                       "replica_groups are filled up with -1; where a result's "
                       "shape depends on a group's size, groups must be "
                       "equally large");
    if (id != -1)
      ids.push_back(id);
  }
  return c.unique(numbers.unique, "replica_groups", ids) &&
         c.inRange(numbers.range, "replica_groups", ids, 0,
                   kind == GroupKind::Partial ? INT64_MAX
                                              : int64_t(ids.size()));
}

static bool channelled(const Constraints &c, StringRef number,
                       std::optional<ChannelHandleAttr> channel,
                       bool useGlobalDeviceIds) {
  return c.require(!useGlobalDeviceIds || (channel && channel->getHandle() > 0),
                   number,
                   "use_global_device_ids needs a channel_handle of at least "
                   "1");
}

/// `dim` of the result is a multiple of that of the operand.
static bool grows(const Constraints &c, StringRef number, Type operand,
                  Type result, int64_t dim) {
  SmallVector<int64_t> from(cast<RankedTensorType>(operand).getShape()),
      to(cast<RankedTensorType>(result).getShape());
  bool holds = from.size() == to.size() && elementsAgree(operand, result);
  if (holds) {
    int64_t before = std::exchange(from[dim], ShapedType::kDynamic),
            after = std::exchange(to[dim], ShapedType::kDynamic);
    holds = agree(from, to) &&
            (ShapedType::isDynamic(before) || ShapedType::isDynamic(after) ||
             (before == 0 ? after == 0 : after % before == 0));
  }
  if (!holds)
    c.violates(number) << result << " is not " << operand << " gathered along "
                       << "dim " << dim;
  return holds;
}

/// There must be as many results as operands.
template <typename OpTy>
static bool paired(const Constraints &c, StringRef number, OpTy op) {
  return c.require(!op.getOperands().empty(), number,
                   "expected at least one operand") &&
         c.size(number, "the list of results", op->getNumResults(),
                int64_t(op.getOperands().size()));
}

LogicalResult AllGatherOp::verify() {
  Constraints c(*this);
  if (!paired(c, "C6", *this) ||
      !groups(c, getReplicaGroups(), {"C2", "C4"}, GroupKind::OneSize) ||
      !channelled(c, "C5", getChannelHandle(), getUseGlobalDeviceIds()))
    return failure();
  int64_t dim = int64_t(getAllGatherDim());
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults()))
    if (!c.inRange("C1", "all_gather_dim", dim, 0, rankOf(operand)) ||
        !grows(c, "C6", operand.getType(), result.getType(), dim))
      return failure();
  return success();
}

LogicalResult AllReduceOp::verify() {
  Constraints c(*this);
  if (!paired(c, "C6", *this) ||
      !groups(c, getReplicaGroups(), {"C1", "C3"}, GroupKind::AnySize) ||
      !channelled(c, "C4", getChannelHandle(), getUseGlobalDeviceIds()))
    return failure();
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults()))
    if (!c.sameShape("C6", {operand.getType(), result.getType()}))
      return failure();
  return success();
}

LogicalResult AllReduceOp::verifyRegions() {
  Constraints c(*this);
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults()))
    if (!c.reducer("C5", getComputation(), operand.getType(), "C7",
                   result.getType()))
      return failure();
  return success();
}

/// How many of the operands are data: with a dynamic root, the last is no data.
static size_t dataCount(CollectiveReduceOp op) {
  size_t count = op.getOperands().size();
  return op.getHasDynamicRoot() && count > 0 ? count - 1 : count;
}

LogicalResult CollectiveReduceOp::verify() {
  Constraints c(*this);
  size_t data = dataCount(*this);
  if (!c.require(data > 0, "C3", "expected at least one operand of data") ||
      !c.size("C3", "the list of results", getNumResults(), int64_t(data)) ||
      !groups(c, getReplicaGroups(), {"C1", "C2"}, GroupKind::Partial) ||
      !channelled(c, "C4", getChannelHandle(), getUseGlobalDeviceIds()))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperands(), getResults()))
    if (!c.sameShape("C3", {operand.getType(), result.getType()}))
      return failure();
  if (!getHasDynamicRoot())
    return success();
  Value root = getOperands().back();
  return success(c.require(elementOf(root.getType()).isInteger(32), "C3",
                           "the root's numbers must be i32") &&
                 c.shape("C3", "the root", root.getType(), int64_t(data)));
}

LogicalResult CollectiveReduceOp::verifyRegions() {
  Constraints c(*this);
  for (auto [operand, result] : llvm::zip(getOperands(), getResults()))
    if (!c.reducer("C4", getComputation(), operand.getType(), "C4",
                   result.getType()))
      return failure();
  return success();
}

LogicalResult CrossReplicaSumOp::verify() {
  Constraints c(*this);
  return success(
      groups(c, getReplicaGroups(), {"C1", "C3"}, GroupKind::AnySize) &&
      c.sameTypes("C6", {getOperand().getType(), getType()}));
}

LogicalResult AllToAllOp::verify() {
  Constraints c(*this);
  int64_t split = int64_t(getSplitDimension()),
          concat = int64_t(getConcatDimension()),
          count = int64_t(getSplitCount());
  if (!paired(c, "C9", *this) || !c.atLeast("C4", "split_count", count, 1) ||
      !groups(c, getReplicaGroups(), {"C5", "C7"}, GroupKind::OneSize))
    return failure();
  if (auto listed = dyn_cast<mlir::DenseIntElementsAttr>(getReplicaGroups());
      listed && !listed.empty() && listed.getType().getDimSize(1) != count)
    return c.violates("C8") << "groups of " << listed.getType().getDimSize(1)
                            << " cannot exchange " << count << " parts";
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults())) {
    int64_t rank = rankOf(operand);
    if (!c.inRange("C1", "split_dimension", split, 0, rank) ||
        !c.inRange("C3", "concat_dimension", concat, 0, rank))
      return failure();
    SmallVector<int64_t> expected(shapeOf(operand));
    auto isStatic = [&](int64_t dim) {
      return !ShapedType::isDynamic(expected[dim]);
    };
    if (isStatic(split) && expected[split] % count != 0)
      return c.violates("C2") << expected[split] << " elements of dim " << split
                              << " do not divide into " << count << " parts";
    if (split != concat) {
      if (isStatic(split))
        expected[split] /= count;
      if (isStatic(concat) &&
          __builtin_mul_overflow(expected[concat], count, &expected[concat]))
        return c.violates("C9") << "the result is too large";
    }
    if (!c.sameElement("C9", {operand.getType(), result.getType()}) ||
        !c.shape("C9", "a result", result.getType(), expected))
      return failure();
  }
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  Constraints c(*this);
  int64_t dim = int64_t(getScatterDimension());
  return success(
      c.inRange("C2", "scatter_dimension", dim, 0, rankOf(getOperand())) &&
      groups(c, getReplicaGroups(), {"C3", "C5"}, GroupKind::OneSize) &&
      channelled(c, "C6", getChannelHandle(), getUseGlobalDeviceIds()) &&
      c.size("C8", "the result's shape", size_t(rankOf(getResult())),
             rankOf(getOperand())) &&
      c.require(shapeOf(getResult())[dim] != 0 &&
                    shapeOf(getOperand())[dim] != 0,
                "C1", "the dim that is cut has no elements") &&
      // The other way round, the element type being the region's.
      grows(c, "C8",
            cast<RankedTensorType>(getType()).clone(
                elementOf(getOperand().getType())),
            getOperand().getType(), dim));
}

LogicalResult ReduceScatterOp::verifyRegions() {
  return success(Constraints(*this).reducer(
      "C7", getComputation(), getOperand().getType(), "C9", getType()));
}

LogicalResult CollectiveBroadcastOp::verify() {
  Constraints c(*this);
  if (!paired(c, "C3", *this) ||
      !groups(c, getReplicaGroups(), {"C1", "C2"}, GroupKind::Partial))
    return failure();
  for (auto [operand, result] : llvm::zip_equal(getOperands(), getResults()))
    if (!c.sameTypes("C3", {operand.getType(), result.getType()}))
      return failure();
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  Constraints c(*this);
  mlir::DenseIntElementsAttr pairs = getSourceTargetPairs();
  ArrayRef<int64_t> shape = pairs.getType().getShape();
  if (shape.size() != 2 || shape[1] != 2)
    return c.violates("C1") << "source_target_pairs must be of shape [n, 2], "
                               "but are a "
                            << pairs.getType();
  SmallVector<int64_t> ends[2];
  for (auto [i, id] : llvm::enumerate(numbersIn(pairs)))
    ends[i % 2].push_back(id);
  return success(c.unique("C2", "the list of sources", ends[0]) &&
                 c.unique("C3", "the list of targets", ends[1]) &&
                 c.atLeast("C4", "source_target_pairs", ends[0], 0) &&
                 c.atLeast("C4", "source_target_pairs", ends[1], 0) &&
                 c.sameTypes("C5", {getOperand().getType(), getType()}));
}
