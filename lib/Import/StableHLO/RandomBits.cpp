// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rng, whose bits are dtensor.rng's, and rng_bit_generator: the counters that
// XLA's Philox and ThreeFry use, from each element's global index, so that the
// bits are the same under every layout. (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011.)
#include "ConstantNumbers.h"
#include "Importer.h"

#include "meshloom/Lanes/CounterBits.h"
#include "meshloom/Math/FloatMath.h"

#include <array>
#include <numbers>

using namespace meshloom;
using namespace meshloom::importer;

namespace {
/// ThreeFry2x32-20.
Pair threeFry(Words &w, Pair x, Pair key) {
  static constexpr unsigned rotations[2][4] = {{13, 15, 26, 6},
                                               {17, 29, 16, 24}};
  std::array<Value, 3> keys{key[0], key[1],
                            w.exclusiveOr(w.exclusiveOr(key[0], key[1]),
                                          w.constant(0x1BD11BDA, w.word))};
  x = {w.add(x[0], keys[0]), w.add(x[1], keys[1])};
  for (unsigned i = 0; i < 5; ++i) {
    for (unsigned bits : rotations[i % 2]) {
      x[0] = w.add(x[0], x[1]);
      x[1] = w.exclusiveOr(w.rotate(x[1], bits), x[0]);
    }
    x[0] = w.add(x[0], keys[(i + 1) % 3]);
    x[1] = w.add(w.add(x[1], keys[(i + 2) % 3]), w.constant(i + 1, w.word));
  }
  return x;
}

/// The dim along which XLA's ThreeFry puts a counter's two words beside each
/// other: the first even one, else the largest.
int64_t pairedDim(ArrayRef<int64_t> shape) {
  int64_t result = 0;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim) {
    if (shape[dim] % 2 == 0)
      return dim;
    if (shape[dim] > shape[result])
      result = dim;
  }
  return result;
}
} // namespace

namespace {
/// The entries of the state of rng_bit_generator: the key, the counter and, in
/// states of three words, the counter's upper half.
struct RandomState {
  Value key, counter, upper;
};

/// Random numbers of a shape, and how many counters they take.
struct RandomWords {
  Value bits;
  int64_t counters;
};
} // namespace

/// Numbers of up to 32 bits take the words of a counter in turns, along a dim
/// of the shape.
static RandomWords threeFryWords(Words &w, const RandomState &state,
                                 bool isWide) {
  LaneBuilder &b = w.b;
  const int64_t elements = mlir::ShapedType::getNumElements(w.shape);
  const int64_t paired = isWide || w.shape.empty() ? -1 : pairedDim(w.shape);
  Value counter = b.broadcast(state.counter, w.shape);
  Pair words = threeFry(w, w.split(w.add(counter, w.index(paired))),
                        w.split(b.broadcast(state.key, w.shape)));
  if (isWide)
    return {w.join(words[0], words[1]), elements};
  if (paired < 0)
    return {words[0], elements};
  Value position = b.iota(RankedTensorType::get(w.shape, w.word), paired);
  Value odd = b.apply<dtensor::AndOp>({position, b.like(position, 1)});
  Value bits =
      b.select(b.compare(dtensor::ComparisonDirection::EQ, odd, b.like(odd, 0)),
               words[0], words[1]);
  const int64_t extent = w.shape[paired];
  return {bits, elements / std::max<int64_t>(extent, 1) * ((extent + 1) / 2)};
}

/// A counter of 128 bits gives four words, which elements take in order. The
/// upper half of the counter is the state's third word, else the key.
static RandomWords philoxWords(Words &w, const RandomState &state,
                               bool isWide) {
  LaneBuilder &b = w.b;
  auto spread = [&](Value scalar) { return b.broadcast(scalar, w.shape); };
  const int64_t perCounter = isWide ? 2 : 4;
  Value index = w.index(-1);
  Value low = w.add(spread(state.counter), w.shiftRight(index, isWide ? 1 : 2));
  Value carry = b.convert(
      b.compare(dtensor::ComparisonDirection::LT, low, spread(state.counter)),
      w.wide);
  auto [x0, x1] = w.split(low);
  auto [x2, x3] =
      w.split(w.add(spread(state.upper ? state.upper : state.key), carry));
  Quad words = philox(w, {x0, x1, x2, x3}, w.split(spread(state.key)));
  Value place =
      b.apply<dtensor::AndOp>({index, b.like(index, double(perCounter - 1))});
  auto isAt = [&](unsigned i) {
    return b.compare(dtensor::ComparisonDirection::EQ, place, b.like(place, i));
  };
  Value bits = isWide
                   ? b.select(isAt(0), w.join(words[0], words[1]),
                              w.join(words[2], words[3]))
                   : b.select(isAt(0), words[0],
                              b.select(isAt(1), words[1],
                                       b.select(isAt(2), words[2], words[3])));
  const int64_t elements = mlir::ShapedType::getNumElements(w.shape);
  return {bits, (elements + perCounter - 1) / perCounter};
}

/// Returns the state behind so many counters.
static Value nextState(LaneBuilder &b, const RandomState &state,
                       int64_t counters) {
  Value used =
      b.splat(b.typeOf(state.counter), llvm::APInt(64, uint64_t(counters)));
  Value next = b.apply<dtensor::AddOp>({state.counter, used});
  SmallVector<Value> entries{b.reshape(state.key, {1}), b.reshape(next, {1})};
  if (state.upper) {
    Value carry = b.convert(
        b.compare(dtensor::ComparisonDirection::LT, next, state.counter),
        b.elementOf(next));
    entries.push_back(
        b.reshape(b.apply<dtensor::AddOp>({state.upper, carry}), {1}));
  }
  return b.concatenate(entries, 0);
}

static Imported importRngBits(Importer &im, stablehlo::RngBitGeneratorOp op) {
  LaneBuilder &b = im.b;
  Value state = im.get(op.getInitialState());
  RankedTensorType type = Importer::typeOf(op.getOutput());
  Type element = type.getElementType();
  SmallVector<int64_t> stateShape = b.shapeOf(state);
  bool isState = stateShape.size() == 1 && stateShape[0] >= 2 &&
                 stateShape[0] <= 3 && b.elementOf(state).isUnsignedInteger(64);
  if (!isState)
    return im.error("the state of rng_bit_generator must be a tensor<2xui64> "
                    "or tensor<3xui64>, not a ")
           << b.typeOf(state);
  if (!element.isUnsignedInteger() && !element.isSignlessInteger())
    return im.error("rng_bit_generator makes integers, not ") << element;
  if (element.isInteger(1))
    return im.error("rng_bit_generator makes integers of 8 bits or more");
  bool isThreeFry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  if (isThreeFry && stateShape[0] != 2)
    return im.error("ThreeFry's state is a tensor<2xui64>");

  auto entry = [&](int64_t i) {
    return b.reshape(b.sliceDim(state, 0, i, i + 1), {});
  };
  const RandomState entries{entry(0), entry(1),
                            stateShape[0] == 3 ? entry(2) : Value()};
  Words w{b, SmallVector<int64_t>(type.getShape())};
  const bool isWide = element.getIntOrFloatBitWidth() == 64;
  const RandomWords words = isThreeFry ? threeFryWords(w, entries, isWide)
                                       : philoxWords(w, entries, isWide);
  return SmallVector<Value>{nextState(b, entries, words.counters),
                            b.convert(words.bits, element)};
}

//===----------------------------------------------------------------------===//
// rng
//===----------------------------------------------------------------------===//

/// The second word of the key: a number for each combination of turns. Two
/// loops' turns have different ones up to 2^30 combinations at least, as the
/// factor is 2^32 / golden ratio: a multiple n of it is 2^32 / (sqrt(5) n) or
/// further from those of 2^32 (Knuth, TAOCP 6.4).
static Value turnWord(LaneBuilder &b, ArrayRef<Value> turns) {
  auto type =
      RankedTensorType::get({}, b.getIntegerType(32, /*isSigned=*/false));
  Value word = b.splat(type, llvm::APInt(32, 0x726e67)); // "rng"
  Value factor = b.splat(type, llvm::APInt(32, 0x9E3779B1));
  for (Value turn : turns)
    word = b.apply<dtensor::AddOp>(
        {b.apply<dtensor::MultiplyOp>({word, factor}), turn});
  return word;
}

/// Random words of local `shape`: dtensor.rng's Philox by global index, with
/// the number of the op and of the turn of the loops around it as key. In a
/// manual computation each device has its own.
static Value randomWords(Importer &im, ArrayRef<int64_t> shape) {
  LaneBuilder &b = im.b;
  Type word = b.getIntegerType(32, /*isSigned=*/false);
  Value number =
      b.splat(RankedTensorType::get(1, word), llvm::APInt(32, ++im.randomOps));
  Value seed =
      b.concatenate({number, b.reshape(turnWord(b, im.turns), {1})}, 0);
  Lanes lanes{ArrayRef<unsigned>(im.manualAxes)};
  llvm::sort(lanes);
  SmallVector<int64_t> global = b.extentsOf(lanes);
  llvm::append_range(global, shape);
  auto bits = b.create<dtensor::RngOp>(b.getLoc(), global, seed);
  return lanes.empty() ? bits.getResult() : b.hide(bits, lanes);
}

/// Uniform numbers in [0, 1): 24 bits for floats up to f32, 53 for f64.
static Value randomUnit(Importer &im, ArrayRef<int64_t> shape, Type element) {
  LaneBuilder &b = im.b;
  auto times = [&](Value x, double factor) {
    return b.apply<dtensor::MultiplyOp>({x, b.like(x, factor)});
  };
  auto top = [&](unsigned bits) {
    Value words = randomWords(im, shape);
    words = b.apply<dtensor::ShiftRightLogicalOp>(
        {words, b.like(words, 32 - bits)});
    return b.convert(words, element);
  };
  if (!element.isF64())
    return times(top(24), 0x1p-24);
  return times(b.apply<dtensor::AddOp>({times(top(26), 0x1p27), top(27)}),
               0x1p-53);
}

static FailureOr<Value> importRng(Importer &im, stablehlo::RngOp op) {
  LaneBuilder &b = im.b;
  RankedTensorType type = Importer::typeOf(op.getResult());
  Type element = type.getElementType();
  Value first = im.get(op.getA()), second = im.get(op.getB());
  if (b.rankOf(first) != 0 || b.rankOf(second) != 0)
    return im.error("rng takes scalars as its bounds, not ")
           << b.typeOf(first) << " and " << b.typeOf(second);
  ArrayRef<int64_t> shape = type.getShape();
  if (auto folded = ConstantNumbers().of(op.getShape());
      folded && ArrayRef<int64_t>(folded->values) != shape)
    return im.error(
               "the shape in rng's last operand is not that of its result, "
               "a ")
           << type;
  auto spread = [&](Value scalar) { return b.broadcast(scalar, shape); };
  FloatMath m(b);
  bool isNormal = op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;
  if (isa<FloatType>(element)) {
    Value low = spread(m.compute(first)), high = spread(m.compute(second));
    Value unit = randomUnit(im, shape, b.elementOf(low));
    if (isNormal) {
      // sqrt(2) erf_inv(2 u - 1), with u in the middle of its interval.
      double half = b.elementOf(low).isF64() ? 0x1p-54 : 0x1p-25;
      Value centred = m.add(m.mul(unit, 2), 2 * half - 1);
      Value normal = m.mul(m.erfInv(centred), std::numbers::sqrt2);
      return m.finish(m.add(low, m.mul(normal, high)), element);
    }
    Value number = m.finish(m.add(low, m.mul(unit, m.sub(high, low))), element);
    // Rounding may arrive at the upper bound, which is not in [a, b).
    return m.select(m.lt(number, spread(second)), number, spread(first));
  }
  if (isNormal || !isa<IntegerType>(element) || element.isInteger(1))
    return im.error("rng makes ")
           << (isNormal ? "normally distributed floats" : "floats and integers")
           << ", not " << element;
  Type wide = b.getIntegerType(64, /*isSigned=*/false);
  Value high = b.convert(randomWords(im, shape), wide);
  Value bits = b.apply<dtensor::OrOp>(
      {b.apply<dtensor::ShiftLeftOp>({high, b.like(high, 32)}),
       b.convert(randomWords(im, shape), wide)});
  Value low = spread(first);
  Value count = b.convert(m.sub(spread(second), low), wide);
  Value offset = b.apply<dtensor::RemainderOp>({bits, count});
  return m.add(low, b.convert(offset, element));
}

void importer::addRandomBits(Handlers &handlers) {
  handlers.add<stablehlo::RngOp>(importRng);
  handlers.add<stablehlo::RngBitGeneratorOp>(importRngBits);
}
