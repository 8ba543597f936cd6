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

static Value importBroadcastInDim(Importer &im,
                                  stablehlo::BroadcastInDimOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand());
  return likeSource<dtensor::BroadcastInDimOp>(
      im, op, operand, Lanes(b.lanesOf(operand)),
      b.list("broadcast_dimensions", op.getBroadcastDimensions()));
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
    int64_t at = int64_t(lanes.size()) + dim;
    if (piece.getStrides()[at] != 1)
      return {};
    SmallVector<int64_t> low(sizes.size(), 0), high(low), interior(low);
    low[dim] = offset - piece.getStartIndices()[at];
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

static Value importReshape(Importer &im, stablehlo::ReshapeOp op) {
  Value operand = im.get(op.getOperand());
  return likeSource<dtensor::ReshapeOp>(im, op, operand,
                                        Lanes(im.b.lanesOf(operand)), {});
}

static Value importReverse(Importer &im, stablehlo::ReverseOp op) {
  Value operand = im.get(op.getOperand());
  Lanes lanes(im.b.lanesOf(operand));
  return likeSource<dtensor::ReverseOp>(
      im, op, operand, lanes, im.b.list("dimensions", op.getDimensions()));
}

static Value importSlice(Importer &im, stablehlo::SliceOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand());
  return likeSource<dtensor::SliceOp>(
      im, op, operand, Lanes(b.lanesOf(operand)),
      {b.list("start_indices", op.getStartIndices()),
       b.list("limit_indices", op.getLimitIndices()),
       b.list("strides", op.getStrides())});
}

static Value importTranspose(Importer &im, stablehlo::TransposeOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand());
  return likeSource<dtensor::TransposeOp>(
      im, op, operand, Lanes(b.lanesOf(operand)),
      b.list("permutation", op.getPermutation()));
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
  handlers.add<stablehlo::BroadcastInDimOp>(importBroadcastInDim);
  handlers.add<stablehlo::BroadcastOp>(importBroadcast);
  handlers.add<stablehlo::ConcatenateOp>(importConcatenate);
  handlers.add<stablehlo::PadOp>(importPad);
  handlers.add<stablehlo::ReshapeOp>(importReshape);
  handlers.add<stablehlo::ReverseOp>(importReverse);
  handlers.add<stablehlo::SliceOp>(importSlice);
  handlers.add<stablehlo::TransposeOp>(importTranspose);
  handlers.add<stablehlo::GetTupleElementOp>(importGetTupleElement);
  handlers.add<stablehlo::TupleOp>([](Importer &im, stablehlo::TupleOp op) {
    return im.leaves(op.getVal());
  });
  handlers.add<stablehlo::OptimizationBarrierOp>(
      [](Importer &im, stablehlo::OptimizationBarrierOp op) {
        return im.leaves(op.getOperand());
      });
  auto token = [](Importer &, auto) { return SmallVector<Value>(); };
  handlers.add<stablehlo::CreateTokenOp>(token);
  handlers.add<stablehlo::AfterAllOp>(token);
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
