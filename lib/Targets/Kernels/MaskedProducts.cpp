// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel's argument forward through its body: on every way to a result
// there must be a select whose condition is false outside of one half-space of
// the loops. From that condition back to the loops' indices. Each scalar of a
// body is looked at once a kernel and product.
#include "MaskedProducts.h"

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Matchers.h"

using namespace meshloom;
using spmd::KernelOp;
namespace arith = mlir::arith;

namespace {
/// offset + sum of coefficient * loop; as a half-space: where it is >= 0.
struct Linear {
  int64_t offset = 0;
  SmallVector<int64_t> coefficients; ///< one a loop
  bool operator==(const Linear &) const = default;
};

/// The half spaces of one kernel's loops that its scalars depend on.
class HalfSpaces {
public:
  explicit HalfSpaces(KernelOp kernel) : kernel(kernel) {}

  /// The half-space outside of which `value` does not change what the kernel
  /// yields, if there is one.
  std::optional<Linear> whereUsed(Value value);

private:
  std::optional<Linear> findWhereUsed(Value value);
  /// A half-space in which `condition` is `wanted`, and outside of which it is
  /// not.
  std::optional<Linear> whereIs(Value condition, bool wanted);
  std::optional<Linear> whereCompared(arith::CmpIOp compare, bool wanted);
  /// An integer that is linear in the loops, and in range of its type at all
  /// iterations.
  std::optional<Linear> linearOf(Value value);
  std::optional<Linear> combined(Value a, Value b, int64_t factor);

  KernelOp kernel;
  DenseMap<Value, std::optional<Linear>> linears;
};

std::optional<bool> truthOf(Value value) {
  llvm::APInt number;
  if (!value.getType().isInteger(1) ||
      !mlir::matchPattern(value, mlir::m_ConstantInt(&number)))
    return std::nullopt;
  return number.getBoolValue();
}

/// a + factor * b.
std::optional<Linear> HalfSpaces::combined(Value a, Value b, int64_t factor) {
  std::optional<Linear> sum = linearOf(a), other = linearOf(b);
  if (!sum || !other)
    return std::nullopt;
  sum->offset += factor * other->offset;
  for (auto [mine, theirs] : llvm::zip(sum->coefficients, other->coefficients))
    mine += factor * theirs;
  return sum;
}

std::optional<Linear> HalfSpaces::linearOf(Value value) {
  std::optional<Linear> result;
  Operation *op = value.getDefiningOp();
  llvm::APInt number;
  if (!op || !isa<IntegerType>(value.getType()))
    return result;
  const unsigned width = value.getType().getIntOrFloatBitWidth();
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&number))) {
    result = Linear{number.getSExtValue(),
                    SmallVector<int64_t>(kernel.getNumLoops(), 0)};
  } else if (auto index = dyn_cast<spmd::IndexOp>(op)) {
    result = Linear{0, SmallVector<int64_t>(kernel.getNumLoops(), 0)};
    result->coefficients[index.getLoop()] = 1;
  } else if (isa<arith::TruncIOp, arith::ExtSIOp>(op)) {
    result = linearOf(op->getOperand(0));
  } else if (isa<arith::AddIOp>(op)) {
    result = combined(op->getOperand(0), op->getOperand(1), 1);
  } else if (isa<arith::SubIOp>(op)) {
    result = combined(op->getOperand(0), op->getOperand(1), -1);
  }
  if (!result)
    return result;
  // Far from where sums of them would overflow here.
  const int64_t bound = int64_t(1) << std::min(width - 1, 60u);
  int64_t low = result->offset, high = low;
  for (auto [c, extent] :
       llvm::zip(result->coefficients, kernel.getExtents())) {
    const __int128 reach = __int128(c) * std::max<int64_t>(extent - 1, 0);
    if (reach >= bound || reach <= -bound)
      return std::nullopt;
    (reach < 0 ? low : high) += int64_t(reach);
    if (low < -bound || high >= bound)
      return std::nullopt;
  }
  return result;
}

std::optional<Linear> HalfSpaces::whereCompared(arith::CmpIOp compare,
                                                bool wanted) {
  using Predicate = arith::CmpIPredicate;
  Value a = compare.getLhs(), b = compare.getRhs();
  Predicate predicate = compare.getPredicate();
  if (predicate == Predicate::sle || predicate == Predicate::slt) {
    std::swap(a, b);
    predicate = predicate == Predicate::sle ? Predicate::sge : Predicate::sgt;
  }
  if (predicate != Predicate::sge && predicate != Predicate::sgt)
    return std::nullopt;
  if (!wanted) { // a >= b is not where b > a
    std::swap(a, b);
    predicate = predicate == Predicate::sge ? Predicate::sgt : Predicate::sge;
  }
  std::optional<Linear> difference = combined(a, b, -1);
  if (difference && predicate == Predicate::sgt)
    --difference->offset;
  return difference;
}

std::optional<Linear> HalfSpaces::whereIs(Value condition, bool wanted) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return whereCompared(compare, wanted);
  auto eitherIs = [&](Value a, bool first, Value b, bool second) {
    std::optional<Linear> found = whereIs(a, first);
    return found ? found : whereIs(b, second);
  };
  if ((isa<arith::AndIOp>(op) && wanted) || (isa<arith::OrIOp>(op) && !wanted))
    return eitherIs(op->getOperand(0), wanted, op->getOperand(1), wanted);
  if (isa<arith::XOrIOp>(op)) {
    if (std::optional<bool> flips = truthOf(op->getOperand(1)))
      return whereIs(op->getOperand(0), wanted != *flips);
    return std::nullopt;
  }
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select)
    return std::nullopt;
  // The wanted value comes from one of the two arms only.
  if (truthOf(select.getFalseValue()) == !wanted)
    return eitherIs(select.getCondition(), true, select.getTrueValue(), wanted);
  if (truthOf(select.getTrueValue()) == !wanted)
    return eitherIs(select.getCondition(), false, select.getFalseValue(),
                    wanted);
  return std::nullopt;
}

std::optional<Linear> HalfSpaces::whereUsed(Value value) {
  if (auto found = linears.find(value); found != linears.end())
    return found->second;
  std::optional<Linear> result = findWhereUsed(value);
  linears[value] = result;
  return result;
}

std::optional<Linear> HalfSpaces::findWhereUsed(Value value) {
  std::optional<Linear> common;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user->getNumResults() != 1 || user->getNumRegions() != 0)
      return std::nullopt; // it is yielded
    std::optional<Linear> here;
    if (auto select = dyn_cast<arith::SelectOp>(user);
        select && use.getOperandNumber() > 0 &&
        select.getTrueValue() != select.getFalseValue())
      here = whereIs(select.getCondition(), use.getOperandNumber() == 1);
    if (!here)
      here = whereUsed(user->getResult(0));
    if (!here || (common && *common != *here))
      return std::nullopt;
    common = here;
  }
  return common;
}

/// A half-space of a kernel's loops in the dims of an operand, if these say
/// where in the loops an element is read.
std::optional<Linear> inDims(const Linear &loops, mlir::AffineMap access) {
  Linear dims{loops.offset, SmallVector<int64_t>(access.getNumResults(), 0)};
  for (auto [loop, coefficient] : llvm::enumerate(loops.coefficients)) {
    if (coefficient == 0)
      continue;
    const auto index = mlir::getAffineDimExpr(loop, access.getContext());
    const auto *dim = llvm::find(access.getResults(), index);
    if (dim == access.getResults().end())
      return std::nullopt;
    dims.coefficients[size_t(dim - access.getResults().begin())] += coefficient;
  }
  return dims;
}

/// Where the result of a product is read, if not everywhere.
std::optional<Linear> whereRead(Value result) {
  std::optional<Linear> common;
  for (Operation *user : result.getUsers()) {
    auto kernel = dyn_cast<KernelOp>(user);
    if (!kernel)
      return std::nullopt;
    HalfSpaces spaces(kernel);
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      if (input != result)
        continue;
      std::optional<Linear> here =
          spaces.whereUsed(kernel.getBlock()->getArgument(i));
      if (here)
        here = inDims(*here, kernel.getInputAccess(i));
      if (!here || (common && *common != *here))
        return std::nullopt;
      common = here;
    }
  }
  return common;
}
} // namespace

void meshloom::findMaskedProducts(mlir::func::FuncOp func) {
  func.walk([](dtensor::DotGeneralOp product) {
    std::optional<Linear> read = whereRead(product.getResult());
    if (!read)
      return;
    MLIRContext *context = product.getContext();
    auto expr = mlir::getAffineConstantExpr(read->offset, context);
    for (auto [dim, coefficient] : llvm::enumerate(read->coefficients))
      expr = expr + mlir::getAffineDimExpr(dim, context) * coefficient;
    product->setAttr("spmd.read_where",
                     mlir::IntegerSetAttr::get(mlir::IntegerSet::get(
                         read->coefficients.size(), 0, expr, false)));
  });
}
