// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that move elements, tuples, calls and barriers.
#include "Importer.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Builds OpTy with the source's result type; the dtensor op's verifier checks
/// attributes that do not fit.
template <typename OpTy, typename SourceOp>
static Value likeSource(Importer &im, SourceOp op, ArrayRef<Value> operands,
                        ArrayRef<unsigned> lanes,
                        ArrayRef<NamedAttribute> attributes) {
  return im.b.make<OpTy>({Importer::typeOf(op->getResult(0))}, operands, lanes,
                         attributes)[0];
}

/// An op of one operand that dtensor has with the same attributes.
template <typename SourceOp, typename OpTy>
static void addAlike(Handlers &handlers) {
  handlers.add<SourceOp>([](Importer &im, SourceOp op) {
    Value operand = im.get(op.getOperand());
    SmallVector<NamedAttribute> attributes;
    for (StringRef name : OpTy::getAttributeNames())
      if (Attribute attribute = op->getAttr(name))
        attributes.push_back(im.b.named(name, attribute));
    return likeSource<OpTy>(im, op, operand, Lanes(im.b.lanesOf(operand)),
                            attributes);
  });
}

/// The old form: new dims in front.
static Value importBroadcast(Importer &im, stablehlo::BroadcastOp op) {
  Value operand = im.get(op.getOperand());
  int64_t added = int64_t(op.getBroadcastSizes().size());
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < im.b.rankOf(operand); ++dim)
    dims.push_back(dim + added);
  return im.b.broadcast(operand, Importer::typeOf(op.getResult()).getShape(),
                        dims);
}

/// Two pieces of one value, joined (jnp.roll): the value moved to where the
/// first piece goes, and beyond its end the value moved to where the second
/// goes. Then devices fetch what they need straight from the value, and not
/// first for the pieces and then for what is joined from them. Null where it is
/// not that.
static Value joinedPieces(LaneBuilder &b, ArrayRef<Value> inputs, int64_t dim) {
  if (inputs.size() != 2)
    return {};
  Value whole;
  SmallVector<Value> moved;
  int64_t total = b.shapeOf(inputs[0])[dim] + b.shapeOf(inputs[1])[dim],
          offset = 0;
  for (Value input : inputs) {
    auto piece = input.getDefiningOp<dtensor::SliceOp>();
    if (!piece || (whole && piece.getOperand() != whole) ||
        b.lanesOf(input) != b.lanesOf(piece.getOperand()))
      return {};
    whole = piece.getOperand();
    Lanes lanes(b.lanesOf(input));
    SmallVector<int64_t> sizes = b.shapeOf(whole);
    for (int64_t d = 0; d < int64_t(sizes.size()); ++d)
      if (d != dim && b.shapeOf(input)[d] != sizes[d])
        return {};
    int64_t pieceDim = int64_t(lanes.size()) + dim;
    if (piece.getStrides()[pieceDim] != 1)
      return {};
    SmallVector<int64_t> low(sizes.size(), 0), high(low), interior(low);
    low[dim] = offset - piece.getStartIndices()[pieceDim];
    high[dim] = total - low[dim] - sizes[dim];
    offset += b.shapeOf(input)[dim];
    sizes[dim] = total;
    auto zero = RankedTensorType::get({}, b.elementOf(whole));
    moved.push_back(b.make<dtensor::PadOp>(
        {RankedTensorType::get(sizes, b.elementOf(whole))},
        {whole, b.splat(zero, 0.0)}, lanes,
        {b.list("edge_padding_low", low), b.list("edge_padding_high", high),
         b.list("interior_padding", interior)})[0]);
  }
  Value index = b.iota(b.typeOf(moved[0]).clone(b.getI32Type()), dim);
  Value isFirst = b.compare(dtensor::ComparisonDirection::LT, index,
                            b.like(index, double(b.shapeOf(inputs[0])[dim])));
  return b.select(isFirst, moved[0], moved[1]);
}

static Value importConcatenate(Importer &im, stablehlo::ConcatenateOp op) {
  LaneBuilder &b = im.b;
  SmallVector<Value> pieces = im.get(op.getInputs());
  int64_t joined = int64_t(op.getDimension());
  if (!pieces.empty() && joined < b.rankOf(pieces[0]))
    if (Value result = joinedPieces(b, pieces, joined))
      return result;
  SmallVector<Value> inputs = b.aligned(im.get(op.getInputs()));
  Lanes lanes = b.lanesOf(inputs);
  return likeSource<dtensor::ConcatenateOp>(
      im, op, inputs, lanes, b.number("dimension", int64_t(op.getDimension())));
}

static Value importPad(Importer &im, stablehlo::PadOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand()),
        padding = im.get(op.getPaddingValue());
  Lanes lanes = b.lanesOf({operand, padding});
  if (b.lanesOf(padding).empty())
    return likeSource<dtensor::PadOp>(
        im, op, {b.withLanes(operand, lanes), padding}, lanes,
        {b.list("edge_padding_low", op.getEdgePaddingLow()),
         b.list("edge_padding_high", op.getEdgePaddingHigh()),
         b.list("interior_padding", op.getInteriorPadding())});
  // A padding value per device: pad with zeros, and put it where a padded
  // tensor of false is true.
  auto pad = [&](Value value, Value with) {
    Lanes its(b.lanesOf(value));
    return b.make<dtensor::PadOp>(
        {Importer::typeOf(op.getResult()).clone(b.elementOf(value))},
        {value, with}, its,
        {b.list("edge_padding_low", op.getEdgePaddingLow()),
         b.list("edge_padding_high", op.getEdgePaddingHigh()),
         b.list("interior_padding", op.getInteriorPadding())})[0];
  };
  auto flag = RankedTensorType::get({}, b.getI1Type());
  Value isPadding = pad(b.splat(b.typeOf(operand).clone(b.getI1Type()), 0),
                        b.splat(flag, llvm::APInt(1, 1)));
  Value padded = pad(operand, b.splat(b.typeOf(padding), 0.0));
  return b.select(isPadding, b.broadcast(padding, b.shapeOf(padded)), padded);
}

namespace {
/// Elements `start`, `start + strides`, ... below `limit` of a value's dims.
struct Piece {
  Value source;
  SmallVector<int64_t> start, limit, strides;

  /// Returns whether it has all of a dim.
  bool isAll(LaneBuilder &b, size_t dim) const {
    return start[dim] == 0 && limit[dim] == b.shapeOf(source)[dim] &&
           strides[dim] == 1;
  }
  /// The parts of what was joined along `dim` that it has, in order. None where
  /// it takes every other element or so.
  std::vector<Piece> partsOf(LaneBuilder &b, dtensor::ConcatenateOp join) const;
  /// The same of what the source is itself a piece of.
  Piece traced(LaneBuilder &b) const;
};
} // namespace

std::vector<Piece> Piece::partsOf(LaneBuilder &b,
                                  dtensor::ConcatenateOp join) const {
  const auto dim = size_t(join.getDimension());
  std::vector<Piece> parts;
  if (strides[dim] != 1)
    return parts;
  int64_t offset = 0;
  for (Value input : join.getInputs()) {
    const int64_t size = b.shapeOf(input)[dim];
    Piece part{input, start, limit, strides};
    part.start[dim] = std::max<int64_t>(start[dim] - offset, 0);
    part.limit[dim] = std::min(limit[dim] - offset, size);
    offset += size;
    if (part.start[dim] < part.limit[dim])
      parts.push_back(std::move(part));
  }
  return parts;
}

Piece Piece::traced(LaneBuilder &b) const {
  Piece piece = *this;
  while (b.lanesOf(piece.source).empty()) {
    if (auto slice = piece.source.getDefiningOp<dtensor::SliceOp>()) {
      for (size_t dim = 0; dim < start.size(); ++dim) {
        const int64_t first = slice.getStartIndices()[dim],
                      step = slice.getStrides()[dim];
        if (piece.start[dim] >= piece.limit[dim])
          return piece;
        // One past the last element that is taken.
        piece.limit[dim] = first + (piece.limit[dim] - 1) * step + 1;
        piece.start[dim] = first + piece.start[dim] * step;
        piece.strides[dim] *= step;
      }
      piece.source = slice.getOperand();
    } else if (auto join =
                   piece.source.getDefiningOp<dtensor::ConcatenateOp>()) {
      std::vector<Piece> parts = piece.partsOf(b, join);
      if (parts.size() != 1)
        return piece;
      piece = std::move(parts[0]);
    } else {
      return piece;
    }
  }
  return piece;
}

/// Where the piece goes over the border of two that were joined, both of one
/// value (jnp.pad(mode="wrap")), it is joined of that value's own: see
/// joinedPieces.
static Value take(LaneBuilder &b, const Piece &taken) {
  Piece piece = taken.traced(b);
  auto join = piece.source.getDefiningOp<dtensor::ConcatenateOp>();
  std::vector<Piece> parts;
  if (join && b.lanesOf(piece.source).empty())
    parts = piece.partsOf(b, join);
  if (parts.size() == 2) {
    const auto dim = size_t(join.getDimension());
    Piece first = parts[0].traced(b), second = parts[1].traced(b);
    bool isAlike = first.source == second.source && first.strides[dim] == 1 &&
                   second.strides[dim] == 1;
    for (size_t d = 0; d < first.start.size(); ++d)
      isAlike &= d == dim || (first.start[d] == second.start[d] &&
                              first.limit[d] == second.limit[d] &&
                              first.strides[d] == second.strides[d]);
    if (isAlike) {
      Piece widened = first;
      widened.start[dim] = 0;
      widened.limit[dim] = b.shapeOf(first.source)[dim];
      Value whole = take(b, widened);
      SmallVector<Value> both;
      for (const Piece &part : {first, second})
        both.push_back(
            b.sliceDim(whole, int64_t(dim), part.start[dim], part.limit[dim]));
      if (Value joined = joinedPieces(b, both, int64_t(dim)))
        return joined;
    }
  }
  bool isWhole = true;
  for (size_t dim = 0; dim < piece.start.size(); ++dim)
    isWhole &= piece.isAll(b, dim);
  return isWhole
             ? piece.source
             : b.slice(piece.source, piece.start, piece.limit, piece.strides);
}

static Value importSlice(Importer &im, stablehlo::SliceOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand());
  if (operand.getDefiningOp<dtensor::ConcatenateOp>() &&
      b.lanesOf(operand).empty()) {
    Piece piece{operand, llvm::to_vector(op.getStartIndices()),
                llvm::to_vector(op.getLimitIndices()),
                llvm::to_vector(op.getStrides())};
    bool isValid = true;
    for (auto [start, limit, stride, size] :
         llvm::zip(piece.start, piece.limit, piece.strides, b.shapeOf(operand)))
      isValid &= 0 <= start && start <= limit && limit <= size && stride > 0;
    if (isValid && piece.start.size() == b.shapeOf(operand).size())
      return take(b, piece);
  }
  return likeSource<dtensor::SliceOp>(
      im, op, operand, Lanes(b.lanesOf(operand)),
      {b.list("start_indices", op.getStartIndices()),
       b.list("limit_indices", op.getLimitIndices()),
       b.list("strides", op.getStrides())});
}

static Imported importGetTupleElement(Importer &im,
                                      stablehlo::GetTupleElementOp op) {
  auto tuple = dyn_cast<mlir::TupleType>(op.getOperand().getType());
  uint64_t index = op.getIndex();
  if (!tuple || index >= tuple.size())
    return im.error("takes element ")
           << index << " of a " << op.getOperand().getType();
  SmallVector<RankedTensorType> before, element;
  for (uint64_t i = 0; i < index; ++i)
    flatten(tuple.getType(i), before);
  flatten(tuple.getType(index), element);
  return SmallVector<Value>(
      im.leaves(op.getOperand()).slice(before.size(), element.size()));
}

static Imported importNamedComputation(Importer &im,
                                       sdy::NamedComputationOp op) {
  auto pin = [&](SmallVector<Value> values,
                 std::optional<sdy::TensorShardingPerValueAttr> shardings)
      -> Imported {
    if (!shardings)
      return values;
    if (shardings->getShardings().size() != values.size())
      return im.error("has ")
             << shardings->getShardings().size() << " shardings for "
             << values.size() << " values";
    for (auto [value, sharding] :
         llvm::zip_equal(values, shardings->getShardings())) {
      auto pinned = constrain(im, value, sharding);
      if (failed(pinned))
        return failure();
      value = *pinned;
    }
    return values;
  };
  Imported inputs = pin(im.leaves(op.getOperands()), op.getInShardings());
  if (failed(inputs))
    return failure();
  Imported results = im.importInline(op.getBody(), *inputs);
  if (failed(results))
    return failure();
  return pin(*results, op.getOutShardings());
}

void importer::addMovement(Handlers &handlers) {
  addAlike<stablehlo::BroadcastInDimOp, dtensor::BroadcastInDimOp>(handlers);
  handlers.add<stablehlo::BroadcastOp>(importBroadcast);
  handlers.add<stablehlo::ConcatenateOp>(importConcatenate);
  handlers.add<stablehlo::PadOp>(importPad);
  addAlike<stablehlo::ReshapeOp, dtensor::ReshapeOp>(handlers);
  addAlike<stablehlo::ReverseOp, dtensor::ReverseOp>(handlers);
  handlers.add<stablehlo::SliceOp>(importSlice);
  addAlike<stablehlo::TransposeOp, dtensor::TransposeOp>(handlers);
  handlers.add<stablehlo::GetTupleElementOp>(importGetTupleElement);
  handlers.add<stablehlo::TupleOp>([](Importer &im, stablehlo::TupleOp op) {
    return im.leaves(op.getVal());
  });
  handlers.add<mlir::func::CallOp>([](Importer &im, mlir::func::CallOp op) {
    return im.importCall(op.getLoc(), op.getCallee(),
                         im.leaves(op.getOperands()));
  });
  handlers.add<stablehlo::CompositeOp>(
      [](Importer &im, stablehlo::CompositeOp op) {
        return im.importCall(op.getLoc(), op.getDecomposition(),
                             im.leaves(op.getInputs()));
      });
  handlers.add<sdy::NamedComputationOp>(importNamedComputation);
}
