// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --dtensor-merge-sums: in a deterministic function, a sum of sums becomes one.
//
// A replica's sum over its rows, and the sum over all replicas, are two sums,
// in an order that depends on the number of replicas. Here the outer sum moves
// towards its operands as long as ops on the way are linear, until it meets the
// sum, product or convolution that adds up the rows, which then adds up the
// rows of all replicas: the program of one replica on all rows, whose sums have
// one order.
//
// Invariant: `sum` gives a value equal, but for rounding, to the sum that it is
// asked for, or none; so each op is rewritten by itself. It ends, since it goes
// from an op to its operands, and visits at most `mostVisits` ops for a sum.
#include "Cuts.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Lanes/LaneBuilder.h"
#include "meshloom/Lanes/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace meshloom {

#define GEN_PASS_DEF_MERGESUMS
#include "meshloom/Lanes/Passes.h.inc"

namespace {

using lanes::Cut, lanes::Cuts, lanes::LaneBuilder;

constexpr int mostVisits = 2000;

/// An addend; the parts of a sum have the same shape once they are added up.
/// There are several where replicas have different numbers of rows.
struct Part {
  Value value;
  Cuts cuts;
};
using Parts = SmallVector<Part, 2>;

std::optional<double> splatOf(Value value) {
  auto constant = value.getDefiningOp<dtensor::ConstantOp>();
  auto splat = constant ? dyn_cast<mlir::SplatElementsAttr>(constant.getValue())
                        : mlir::SplatElementsAttr();
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  llvm::APFloat number = splat.getSplatValue<llvm::APFloat>();
  bool loses;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

/// Returns whether both are computed alike from the same values.
bool same(Value a, Value b, int depth = 8) {
  if (a == b)
    return true;
  Operation *lhs = a.getDefiningOp(), *rhs = b.getDefiningOp();
  if (!lhs || !rhs || depth == 0 || lhs->getNumRegions() ||
      lhs->getName() != rhs->getName() || a.getType() != b.getType() ||
      lhs->getAttrDictionary() != rhs->getAttrDictionary() ||
      lhs->getNumOperands() != rhs->getNumOperands() ||
      lhs->getNumResults() != 1 || rhs->getNumResults() != 1 ||
      !mlir::isPure(lhs))
    return false;
  return llvm::all_of(
      llvm::zip_equal(lhs->getOperands(), rhs->getOperands()), [&](auto pair) {
        return same(std::get<0>(pair), std::get<1>(pair), depth - 1);
      });
}

class Merger {
public:
  explicit Merger(dtensor::ReduceOp op)
      : b(op.getContext(), ArrayRef<int64_t>()) {
    b.setLoc(op.getLoc());
    b.setInsertionPoint(op);
  }

  /// The result of the sum, or null where no other sum is met.
  Value merge(dtensor::ReduceOp op, unsigned number) {
    Value operand = op.getOperand(number);
    Cuts cuts;
    for (int64_t dim : op.getDimensions())
      cuts.push_back({dim, 1, b.shapeOf(operand)[dim]});
    Value result = sum({Part{operand, cuts}});
    if (!result)
      return {};
    SmallVector<int64_t> shape = b.shapeOf(op.getResult(number));
    return b.reshape(result, shape);
  }

private:
  SmallVector<int64_t> shrunkShape(const Part &part) {
    SmallVector<int64_t> shape = b.shapeOf(part.value);
    for (const Cut &cut : part.cuts)
      shape[cut.dim] /= cut.extent;
    return shape;
  }
  bool isWhole(const Part &part, const Cut &cut) {
    return b.shapeOf(part.value)[cut.dim] == cut.extent;
  }
  static int64_t addends(const Parts &parts) {
    int64_t total = 0;
    for (const Part &part : parts) {
      int64_t product = 1;
      for (const Cut &cut : part.cuts)
        product *= cut.extent;
      total += product;
    }
    return total;
  }
  /// Operand `number` of each part's op.
  static Parts operands(const Parts &parts, unsigned number) {
    Parts result;
    for (const Part &part : parts)
      result.push_back(
          {part.value.getDefiningOp()->getOperand(number), part.cuts});
    return result;
  }

  //===--------------------------------------------------------------------===//
  // What is the same for all addends
  //===--------------------------------------------------------------------===//

  /// The value of one addend, where all are the same; or null.
  Value shrunk(const Part &part) {
    if (llvm::all_of(part.cuts, [](const Cut &cut) { return cut.extent == 1; }))
      return part.value;
    Operation *op = part.value.getDefiningOp();
    if (!op || ++visits > mostVisits)
      return {};
    auto type =
        RankedTensorType::get(shrunkShape(part), b.elementOf(part.value));
    if (auto constant = dyn_cast<dtensor::ConstantOp>(op)) {
      auto splat = dyn_cast<mlir::SplatElementsAttr>(constant.getValue());
      return splat ? b.constant(splat.resizeSplat(type)) : Value();
    }
    if (auto broadcast = dyn_cast<dtensor::BroadcastInDimOp>(op)) {
      Part inner{broadcast.getOperand(), {}};
      auto dims = broadcast.getBroadcastDimensions();
      SmallVector<int64_t> from = b.shapeOf(inner.value);
      for (auto [i, dim] : llvm::enumerate(dims))
        if (const Cut *cut = cutOf(part.cuts, dim); cut && from[i] != 1)
          inner.cuts.push_back({int64_t(i), cut->minor, cut->extent});
      Value value = shrunk(inner);
      return value ? b.broadcast(value, type.getShape(), dims) : Value();
    }
    if (auto transpose = dyn_cast<dtensor::TransposeOp>(op)) {
      Value value = shrunk(beforeTranspose(part, transpose));
      return value ? b.transpose(value, transpose.getPermutation()) : Value();
    }
    if (!op->hasTrait<dtensor::Elementwise>() || op->getNumRegions() ||
        op->getNumResults() != 1 || !mlir::isPure(op) ||
        isa<dtensor::ConstraintOp, dtensor::RelayoutOp>(op))
      return {};
    SmallVector<Value> values;
    for (Value operand : op->getOperands()) {
      values.push_back(b.rankOf(operand) == b.rankOf(part.value)
                           ? shrunk({operand, part.cuts})
                           : operand);
      if (!values.back())
        return {};
    }
    mlir::OperationState state(b.getLoc(), op->getName().getStringRef(), values,
                               {type}, op->getAttrs());
    return b.create(state)->getResult(0);
  }
  Value shrunk(const Parts &parts) {
    Value first = shrunk(parts[0]);
    for (const Part &part : llvm::drop_begin(parts))
      if (Value other = first ? shrunk(part) : Value();
          !other || !same(first, other))
        return {};
    return first;
  }

  /// `value` times `count`, where something in it is divided by just that, as
  /// in what each replica takes its share of; or null.
  Value share(Value value, int64_t count) {
    Operation *op = value.getDefiningOp();
    if (!op || ++visits > mostVisits)
      return {};
    if (std::optional<double> number = splatOf(value)) {
      auto one = cast<FloatType>(b.elementOf(value));
      llvm::APFloat part(1.0 / double(count));
      bool loses;
      part.convert(one.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                   &loses);
      part.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &loses);
      return part.convertToDouble() == *number ? b.like(value, 1) : Value();
    }
    auto again = [&](ValueRange values) {
      mlir::OperationState state(b.getLoc(), op->getName().getStringRef(),
                                 values, {Type(b.typeOf(value))},
                                 op->getAttrs());
      return b.create(state)->getResult(0);
    };
    if (isa<dtensor::DivideOp>(op)) {
      if (splatOf(op->getOperand(1)) == double(count))
        return op->getOperand(0);
      Value part = share(op->getOperand(0), count);
      return part ? again({part, op->getOperand(1)}) : Value();
    }
    if (isa<dtensor::MultiplyOp>(op)) {
      if (Value part = share(op->getOperand(0), count))
        return again({part, op->getOperand(1)});
      Value part = share(op->getOperand(1), count);
      return part ? again({op->getOperand(0), part}) : Value();
    }
    if (isa<dtensor::AddOp, dtensor::SubtractOp>(op)) {
      Value lhs = share(op->getOperand(0), count);
      Value rhs = lhs ? share(op->getOperand(1), count) : Value();
      return rhs ? again({lhs, rhs}) : Value();
    }
    if (isa<dtensor::NegateOp, dtensor::BroadcastInDimOp, dtensor::TransposeOp,
            dtensor::ReshapeOp>(op)) {
      Value part = share(op->getOperand(0), count);
      return part ? again(part) : Value();
    }
    return {};
  }

  /// The sum of parts that a sum, product or convolution adds up, or of what is
  /// the same for all.
  Value sumOrMultiple(const Parts &parts) {
    if (Value once = shrunk(parts)) {
      const int64_t count = addends(parts);
      if (Value whole = share(once, count))
        return whole;
      return b.apply<dtensor::MultiplyOp>({once, b.like(once, double(count))});
    }
    return sum(parts);
  }

  //===--------------------------------------------------------------------===//
  // The way to what is added up
  //===--------------------------------------------------------------------===//

  static Part beforeTranspose(const Part &part, dtensor::TransposeOp op) {
    Part moved{op.getOperand(), {}};
    for (const Cut &cut : part.cuts)
      moved.cuts.push_back(
          {op.getPermutation()[cut.dim], cut.minor, cut.extent});
    llvm::sort(moved.cuts,
               [](const Cut &a, const Cut &b) { return a.dim < b.dim; });
    return moved;
  }

  /// All parts must be transposed alike.
  Value sumOfTransposes(dtensor::TransposeOp transpose, const Parts &parts) {
    Parts moved;
    for (const Part &part : parts) {
      auto partTranspose = part.value.getDefiningOp<dtensor::TransposeOp>();
      if (partTranspose.getPermutation() != transpose.getPermutation())
        return Value();
      moved.push_back(beforeTranspose(part, partTranspose));
    }
    Value value = sum(moved);
    return value ? b.transpose(value, transpose.getPermutation()) : Value();
  }

  /// The cuts must be of dims that the operands have.
  Value sumOfReshapes(const Parts &parts) {
    Parts moved;
    for (const Part &part : parts) {
      Value operand = part.value.getDefiningOp()->getOperand(0);
      auto cuts =
          throughReshape(b.shapeOf(operand), b.shapeOf(part.value), part.cuts);
      if (!cuts)
        return Value();
      moved.push_back({operand, std::move(*cuts)});
    }
    Value value = sum(moved);
    return value ? b.reshape(value, shrunkShape(parts[0])) : Value();
  }

  /// The cuts must be of dims that are not repeated.
  Value sumOfBroadcasts(dtensor::BroadcastInDimOp broadcast,
                        const Parts &parts) {
    Parts moved;
    auto dims = broadcast.getBroadcastDimensions();
    for (const Part &part : parts) {
      auto broadcast = part.value.getDefiningOp<dtensor::BroadcastInDimOp>();
      Part inner{broadcast.getOperand(), {}};
      SmallVector<int64_t> from = b.shapeOf(inner.value);
      if (broadcast.getBroadcastDimensions() != dims)
        return Value();
      for (auto [i, dim] : llvm::enumerate(dims))
        if (const Cut *cut = cutOf(part.cuts, dim);
            cut && (from[i] != 1 || cut->extent == 1))
          inner.cuts.push_back({int64_t(i), cut->minor, cut->extent});
      if (inner.cuts.size() != part.cuts.size())
        return Value();
      moved.push_back(std::move(inner));
    }
    Value value = sum(moved);
    return value ? b.broadcast(value, shrunkShape(parts[0]), dims) : Value();
  }

  /// One factor must be the same for all.
  Value sumOfProducts(const Parts &parts) {
    for (unsigned factor : {1, 0})
      if (Value once = shrunk(operands(parts, factor))) {
        Value value = sum(operands(parts, 1 - factor));
        return !value   ? Value()
               : factor ? b.apply<dtensor::MultiplyOp>({value, once})
                        : b.apply<dtensor::MultiplyOp>({once, value});
      }
    return Value();
  }

  /// A whole dim of joined values is a sum over each of them.
  Value sumOfJoined(dtensor::ConcatenateOp join, const Parts &parts) {
    const int64_t dim = int64_t(join.getDimension());
    const Part &whole = parts[0];
    const Cut *cut = cutOf(whole.cuts, dim);
    if (parts.size() > 1 || !cut || !isWhole(whole, *cut))
      return Value();
    Parts inner;
    for (Value operand : join.getOperands()) {
      Cuts operandCuts(whole.cuts);
      for (Cut &its : operandCuts)
        if (its.dim == dim)
          its.extent = b.shapeOf(operand)[dim];
      inner.push_back({operand, operandCuts});
    }
    return sum(inner);
  }

  /// The sum of all parts over their cuts, in the shape of the value with its
  /// dims made smaller; or null where no sum of others is met.
  Value sum(const Parts &parts) {
    Operation *op = parts[0].value.getDefiningOp();
    if (!op || ++visits > mostVisits)
      return {};
    for (const Part &part : parts)
      if (part.value.getDefiningOp<dtensor::ReduceOp>())
        return reduce(parts);
    for (const Part &part : parts) {
      Operation *other = part.value.getDefiningOp();
      if (!other || other->getName() != op->getName() ||
          other->getNumOperands() != op->getNumOperands())
        return {};
    }
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](dtensor::ConstraintOp) {
          for (const Part &part : parts)
            if (auto layout = dtensor::layoutAttrOf(part.value.getType());
                layout && layout.getLayout().is_partial())
              return Value();
          return sum(operands(parts, 0));
        })
        .Case([&](dtensor::TransposeOp transpose) {
          return sumOfTransposes(transpose, parts);
        })
        .Case([&](dtensor::ReshapeOp) { return sumOfReshapes(parts); })
        .Case([&](dtensor::BroadcastInDimOp broadcast) {
          return sumOfBroadcasts(broadcast, parts);
        })
        .Case([&](dtensor::ConvertOp) {
          Parts inner = operands(parts, 0);
          auto from = dyn_cast<FloatType>(b.elementOf(inner[0].value)),
               to = dyn_cast<FloatType>(b.elementOf(parts[0].value));
          if (!from || !to || from.getWidth() > to.getWidth())
            return Value();
          Value value = sum(inner);
          return value ? b.convert(value, to) : Value();
        })
        .Case([&](dtensor::NegateOp) {
          Value value = sum(operands(parts, 0));
          return value ? b.apply<dtensor::NegateOp>({value}) : Value();
        })
        .Case<dtensor::AddOp, dtensor::SubtractOp>([&](auto add) {
          Value lhs = sumOrMultiple(operands(parts, 0));
          Value rhs = lhs ? sumOrMultiple(operands(parts, 1)) : Value();
          return rhs ? b.apply<decltype(add)>({lhs, rhs}) : Value();
        })
        .Case([&](dtensor::MultiplyOp) { return sumOfProducts(parts); })
        .Case([&](dtensor::DivideOp) {
          Value once = shrunk(operands(parts, 1));
          Value value = once ? sum(operands(parts, 0)) : Value();
          return value ? b.apply<dtensor::DivideOp>({value, once}) : Value();
        })
        .Case([&](dtensor::ConcatenateOp join) {
          return sumOfJoined(join, parts);
        })
        .Case([&](dtensor::DotGeneralOp) { return product(parts); })
        .Case([&](dtensor::ConvolutionOp) { return convolution(parts); })
        .Default([](Operation *) { return Value(); });
  }

  //===--------------------------------------------------------------------===//
  // Where it ends
  //===--------------------------------------------------------------------===//

  Value joined(ArrayRef<Value> values, int64_t dim) {
    return values.size() == 1 ? values[0] : b.concatenate(values, dim);
  }
  /// Returns whether all have the same shape but for dim `dim`.
  bool fit(ArrayRef<Value> values, int64_t dim) {
    SmallVector<int64_t> shape = b.shapeOf(values[0]);
    return llvm::all_of(values, [&](Value value) {
      SmallVector<int64_t> extents = b.shapeOf(value);
      extents[dim] = shape[dim];
      return extents == shape;
    });
  }

  /// Returns the value that `value` is the sum of over `dims`; null if it is no
  /// such sum. One over dims of size 1 has become a reshape.
  Value addedUp(Value value, ArrayRef<int64_t> dims) {
    if (auto op = value.getDefiningOp<dtensor::ReduceOp>())
      return op.getKind() == ReduceKind::Sum && op.getNumOperands() == 1 &&
                     op.getDimensions() == dims
                 ? op.getOperand(0)
                 : Value();
    auto op = value.getDefiningOp<dtensor::ReshapeOp>();
    if (!op)
      return {};
    SmallVector<int64_t> shape = b.shapeOf(op.getOperand()), remaining;
    for (int64_t dim : dims)
      if (dim >= int64_t(shape.size()) || shape[dim] != 1)
        return {};
    for (int64_t dim : dtensor::remainingDims(int64_t(shape.size()), dims))
      remaining.push_back(shape[dim]);
    return remaining == b.shapeOf(value) ? op.getOperand() : Value();
  }

  Value reduce(const Parts &parts) {
    Parts inner; // with what the sums add up themselves
    SmallVector<int64_t> dims;
    for (const Part &part : parts)
      if (auto op = part.value.getDefiningOp<dtensor::ReduceOp>())
        dims.assign(op.getDimensions().begin(), op.getDimensions().end());
    for (const Part &part : parts) {
      Value operand = addedUp(part.value, dims);
      if (!operand)
        return {};
      Part source{operand, {}};
      SmallVector<int64_t> remaining =
          dtensor::remainingDims(b.rankOf(source.value), dims);
      for (const Cut &cut : part.cuts)
        source.cuts.push_back({remaining[cut.dim], cut.minor, cut.extent});
      for (int64_t dim : dims)
        source.cuts.push_back({dim, 1, b.shapeOf(source.value)[dim]});
      llvm::sort(source.cuts,
                 [](const Cut &a, const Cut &b) { return a.dim < b.dim; });
      if (!inner.empty() && !llvm::equal(source.cuts, inner[0].cuts,
                                         [](const Cut &a, const Cut &b) {
                                           return a.dim == b.dim;
                                         }))
        return {};
      inner.push_back(std::move(source));
    }
    SmallVector<int64_t> shape = shrunkShape(parts[0]);
    if (Value deeper = sum(inner))
      return b.reshape(deeper, shape);
    SmallVector<int64_t> summed;
    if (inner.size() == 1) {
      SmallVector<int64_t> split;
      for (auto [dim, size] : llvm::enumerate(b.shapeOf(inner[0].value))) {
        const Cut *cut = cutOf(inner[0].cuts, int64_t(dim));
        if (!cut || cut->extent == size) {
          if (cut)
            summed.push_back(int64_t(split.size()));
          split.push_back(size);
          continue;
        }
        split.push_back(size / (cut->extent * cut->minor));
        summed.push_back(int64_t(split.size()));
        split.push_back(cut->extent);
        split.push_back(cut->minor);
      }
      return b.reshape(
          b.reduce(ReduceKind::Sum, b.reshape(inner[0].value, split), summed),
          shape);
    }
    // Rows of replicas one after the other: [members, rows] is a run of them.
    const int64_t dim = inner[0].cuts[0].dim;
    SmallVector<Value> values;
    for (const Part &part : inner) {
      if (!llvm::all_of(part.cuts,
                        [&](const Cut &cut) { return isWhole(part, cut); }) ||
          !cutOf(part.cuts, dim + 1))
        return {};
      values.push_back(b.mergeDims(part.value, dim));
    }
    if (!fit(values, dim))
      return {};
    for (const Cut &cut : inner[0].cuts)
      if (cut.dim != dim + 1)
        summed.push_back(cut.dim > dim ? cut.dim - 1 : cut.dim);
    return b.reshape(b.reduce(ReduceKind::Sum, joined(values, dim), summed),
                     shape);
  }

  /// Batching dims become contracted ones.
  Value product(const Parts &parts) {
    auto first = parts[0].value.getDefiningOp<dtensor::DotGeneralOp>();
    SmallVector<int64_t> lhsBatching(first.getLhsBatchingDimensions()),
        rhsBatching(first.getRhsBatchingDimensions()),
        leftSummed(first.getLhsContractingDimensions()),
        rightSummed(first.getRhsContractingDimensions()), leftFree, rightFree;
    for (const Part &part : parts) {
      auto op = part.value.getDefiningOp<dtensor::DotGeneralOp>();
      if (op->getAttrDictionary() != first->getAttrDictionary() ||
          op.isWidening() != first.isWidening())
        return {};
      for (const Cut &cut : part.cuts)
        if (cut.dim >= int64_t(lhsBatching.size()) || !isWhole(part, cut))
          return {};
    }
    // Before the rows that it has at each place, else first of all.
    SmallVector<std::pair<int64_t, int64_t>> whole;
    for (size_t dim = 0; dim < lhsBatching.size(); ++dim) {
      if (!cutOf(parts[0].cuts, int64_t(dim))) {
        leftFree.push_back(lhsBatching[dim]);
        rightFree.push_back(rhsBatching[dim]);
        continue;
      }
      whole.emplace_back(lhsBatching[dim], rhsBatching[dim]);
    }
    SmallVector<Value> sides[2];
    if (parts.size() == 1) {
      for (auto [l, r] : llvm::reverse(whole)) {
        auto place = llvm::find(leftSummed, l + 1) - leftSummed.begin();
        if (place == std::ssize(leftSummed))
          place = 0;
        leftSummed.insert(leftSummed.begin() + place, l);
        rightSummed.insert(rightSummed.begin() + place, r);
      }
      sides[0].push_back(first.getLhs());
      sides[1].push_back(first.getRhs());
    } else {
      // [members, rows] of both sides become rows.
      if (whole.size() != 1)
        return {};
      auto [l, r] = whole[0];
      auto rows = llvm::find(leftSummed, l + 1);
      if (rows == leftSummed.end() ||
          rightSummed[size_t(rows - leftSummed.begin())] != r + 1)
        return {};
      for (const Part &part : parts) {
        auto op = part.value.getDefiningOp<dtensor::DotGeneralOp>();
        sides[0].push_back(b.mergeDims(op.getLhs(), l));
        sides[1].push_back(b.mergeDims(op.getRhs(), r));
      }
      if (!fit(sides[0], l) || !fit(sides[1], r))
        return {};
      for (auto *list : {&leftFree, &leftSummed})
        for (int64_t &dim : *list)
          dim -= dim > l;
      for (auto *list : {&rightFree, &rightSummed})
        for (int64_t &dim : *list)
          dim -= dim > r;
    }
    const int64_t l = whole.empty() ? 0 : whole[0].first,
                  r = whole.empty() ? 0 : whole[0].second;
    Value result = b.create<dtensor::DotGeneralOp>(
        b.getLoc(), joined(sides[0], l), joined(sides[1], r), leftFree,
        rightFree, leftSummed, rightSummed, first.getType().getElementType());
    return b.reshape(result, shrunkShape(parts[0]));
  }

  /// Groups, one for each place, become input features: those that a kernel's
  /// gradient adds up are a batch's rows.
  Value convolution(const Parts &parts) {
    auto first = parts[0].value.getDefiningOp<dtensor::ConvolutionOp>();
    const dtensor::ConvolutionSpec shared = first.getSpec();
    dtensor::ConvolutionSpec spec;
    SmallVector<Value> inputs, kernels;
    for (const Part &part : parts) {
      auto op = part.value.getDefiningOp<dtensor::ConvolutionOp>();
      spec = op.getSpec();
      const bool byBatch = spec.batchGroups > 1;
      int64_t &groups = byBatch ? spec.batchGroups : spec.featureGroups;
      const int64_t outputs = b.shapeOf(part.value)[spec.outputFeature];
      if (part.cuts.size() > 1)
        return {};
      const Cut cut = part.cuts.empty() ? Cut{spec.outputFeature, outputs, 1}
                                        : part.cuts[0];
      // The cut must be the major part of features (places, groups, own).
      if (cut.dim != spec.outputFeature || groups % cut.extent ||
          cut.extent * cut.minor != outputs ||
          (parts.size() > 1 && (groups != cut.extent || byBatch)))
        return {};
      groups /= cut.extent;
      Value lhs = op.getLhs(), rhs = op.getRhs();
      if (byBatch)
        lhs = majorMoved(lhs, spec.inputBatch, spec.inputFeature, cut.extent);
      else if (groups > 1) {
        // (places, groups, rows) -> (groups, places, rows)
        const int64_t featureDim = spec.inputFeature,
                      features = b.shapeOf(lhs)[featureDim];
        lhs = b.splitDim(lhs, featureDim,
                         {cut.extent, groups, features / groups / cut.extent});
        lhs = b.mergeDims(b.moveDim(lhs, featureDim, featureDim + 1),
                          featureDim, 3);
      }
      inputs.push_back(lhs);
      kernels.push_back(
          majorMoved(rhs, spec.kernelOutput, spec.kernelInput, cut.extent));
    }
    if (!fit(inputs, spec.inputFeature) || !fit(kernels, spec.kernelInput))
      return {};
    for (const Part &part : parts)
      if (auto spec =
              part.value.getDefiningOp<dtensor::ConvolutionOp>().getSpec();
          spec.inputFeature != shared.inputFeature ||
          spec.kernelInput != shared.kernelInput ||
          spec.padding != shared.padding || spec.strides != shared.strides)
        return {};
    auto type = RankedTensorType::get(shrunkShape(parts[0]),
                                      b.elementOf(parts[0].value));
    return b.create<dtensor::ConvolutionOp>(
        b.getLoc(), type, joined(inputs, spec.inputFeature),
        joined(kernels, spec.kernelInput), spec);
  }
  /// The major `count` of dim `from` as the major ones of dim `to`.
  Value majorMoved(Value value, int64_t from, int64_t to, int64_t count) {
    value = b.splitDim(value, from, {count, b.shapeOf(value)[from] / count});
    if (to > from) {
      value = b.moveDim(value, from, to); // dims between are one less now
      return b.mergeDims(value, to, 2);
    }
    value = b.moveDim(value, from, to);
    return b.mergeDims(value, to, 2);
  }

  LaneBuilder b;
  int visits = 0;
};

bool isSumOfFloats(dtensor::ReduceOp op) {
  return op.getKind() == ReduceKind::Sum &&
         isa<FloatType>(dtensor::elementTypeOf(op.getOperand(0).getType()));
}

/// x / a / b as x / (a * b) where that is exact: a mean over rows, then over
/// replicas, divides once.
void divideOnce(dtensor::DivideOp op) {
  Value divided = op.getOperand(0);
  if (auto reshape = divided.getDefiningOp<dtensor::ReshapeOp>())
    divided = reshape.getOperand();
  auto inner = divided.getDefiningOp<dtensor::DivideOp>();
  if (!inner)
    return;
  std::optional<double> a = splatOf(inner.getOperand(1)),
                        b = splatOf(op.getOperand(1));
  if (!a || !b || double(float(*a * *b)) != *a * *b ||
      std::nearbyint(*a) != *a || std::nearbyint(*b) != *b)
    return;
  LaneBuilder build(op.getContext(), ArrayRef<int64_t>());
  build.setLoc(op.getLoc());
  build.setInsertionPoint(op);
  Value once = build.reshape(inner.getOperand(0), build.shapeOf(op));
  op->setOperands({once, build.like(op.getOperand(1), *a * *b)});
}

struct MergeSumsPass : impl::MergeSumsBase<MergeSumsPass> {
  void runOnOperation() override {
    if (!isDeterministic(getOperation()))
      return;
    SmallVector<dtensor::ReduceOp> sums;
    getOperation().walk([&](dtensor::ReduceOp op) {
      if (isSumOfFloats(op))
        sums.push_back(op);
    });
    for (dtensor::ReduceOp op : sums)
      for (unsigned number = 0; number < op.getNumResults(); ++number)
        if (Value merged = Merger(op).merge(op, number))
          op.getResult(number).replaceAllUsesWith(merged);
    getOperation().walk([](dtensor::DivideOp op) { divideOnce(op); });
    // Removes ops that were tried in vain, and ops that nobody needs any more.
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (mlir::isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace
} // namespace meshloom
