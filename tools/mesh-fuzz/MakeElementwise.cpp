// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makers of elementwise ops. Ops that jump (compare, floor, sign) take exact
// operands only; the others bring theirs to where they are smooth.
#include "Generator.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace meshloom::fuzz {
namespace {

using Result = Generator::Result;

/// Where a function of a float is smooth: for operands in [low, high] its
/// values are in [from, to].
struct Smooth {
  double low, high, from, to;
};

/// The first of some ranges where, by samples, the function is finite, and
/// neither it nor its slope is large: roundings stay small there. None for a
/// function that jumps.
std::optional<Smooth> smoothRange(dtensor::HostFunction function) {
  constexpr int samples = 1024;
  constexpr double mostValue = 8, mostSlope = 8;
  constexpr std::pair<double, double> ranges[] = {
      {-16, 16}, {-2, 2}, {-1, 1}, {-0.5, 4}, {0.25, 8}};
  for (auto [low, high] : ranges) {
    const double step = (high - low) / samples;
    double before = function(low), from = before, to = before;
    bool isSmooth = std::fabs(before) <= mostValue;
    for (int i = 1; i <= samples && isSmooth; ++i) {
      const double value = function(low + i * step);
      isSmooth = std::fabs(value) <= mostValue &&
                 std::fabs(value - before) <= mostSlope * step;
      from = std::min(from, value), to = std::max(to, value);
      before = value;
    }
    if (isSmooth)
      return Smooth{low, high, from, to};
  }
  return std::nullopt;
}

/// The ops that are a smooth function of a float.
void addSmooth(OpMakers &makers) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<dtensor::DTensorDialect>();
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    auto *elementwise = name.getInterface<dtensor::ElementwiseOpInterface>();
    if (!elementwise || !elementwise->getHostFunction())
      continue;
    const std::optional<Smooth> range =
        smoothRange(elementwise->getHostFunction());
    if (!range)
      continue;
    makers.push_back(
        {name.stripDialect().str(),
         [f = *range, op = name.getStringRef().str()](Generator &g) {
           unsigned x = g.into(g.anyFloat(), f.low, f.high);
           const Value v = g[x];
           g.emitOne(op, {x},
                     {v.type, v.shape,
                      rangeIn(v.type, f.from, f.to, -1, v.range.epsilon)},
                     "", true);
           return true;
         }});
  }
}

void addUnary(OpMakers &makers) {
  auto add = [&](const char *op, auto make) {
    makers.push_back({op, [op, make](Generator &g) {
                        return make(g, std::string("dtensor.") + op);
                      }});
  };
  add("abs", [](Generator &g, const std::string &op) {
    unsigned x = g.chance(0.8) ? g.anyFloat() : g.exactFloat();
    const Value v = g[x];
    Range range = v.range;
    range.high = range.magnitude();
    range.low = 0;
    g.emitOne(op, {x}, {v.type, v.shape, range}, "", true);
    return true;
  });
  add("negate", [](Generator &g, const std::string &op) {
    unsigned x = g.chance(0.8) ? g.anyFloat() : g.anyInteger();
    const Value v = g[x];
    Range range = v.range;
    range.low = -v.range.high;
    range.high = -v.range.low;
    g.emitOne(op, {x}, {v.type, v.shape, range}, "", true);
    return true;
  });
  for (const char *op : {"sign", "floor", "ceil", "round", "round_nearest_afz"})
    add(op, [](Generator &g, const std::string &name) {
      unsigned x = g.exactFloat();
      const Value v = g[x];
      bool isSign = name == "dtensor.sign";
      Range range{isSign ? -1 : std::floor(v.range.low),
                  isSign ? 1 : std::ceil(v.range.high), 0, v.range.epsilon};
      g.emitOne(name, {x}, {v.type, v.shape, range});
      return true;
    });
  add("is_finite", [](Generator &g, const std::string &op) {
    unsigned x = g.anyFloat();
    g.emitOne(op, {x}, {DType::I1, g[x].shape, {0, 1, 0, 0}});
    return true;
  });
  for (const char *op : {"not", "popcnt", "count_leading_zeros"})
    add(op, [](Generator &g, const std::string &name) {
      unsigned x = g.anyInteger();
      const Value v = g[x];
      g.emitOne(name, {x}, {v.type, v.shape, {0, 0, 0, 0}});
      return true;
    });
  add("reduce_precision", [](Generator &g, const std::string &op) {
    unsigned x = g.exactFloat();
    const Value v = g[x];
    if (v.type != DType::F32 && v.type != DType::F64)
      return false;
    Range range = v.range;
    range.low *= 1.0625;
    range.high *= 1.0625;
    range =
        rangeIn(v.type, range.low, range.high, range.fraction, range.epsilon);
    g.emitOne(op, {x}, {v.type, v.shape, range},
              fmt::format("exponent_bits = 8 : i64, mantissa_bits = {} : i64",
                          g.between(3, 10)),
              true);
    return true;
  });
}

/// Extents that integers of a type wrap within; their ranges are not kept.
Range ofIntegers() {
  return {-1e30, 1e30, 0, 0};
}

void addArithmetic(OpMakers &makers) {
  struct Arithmetic {
    const char *op;
    char sign;
  };
  for (Arithmetic a : {Arithmetic{"add", '+'},
                       {"subtract", '-'},
                       {"multiply", '*'},
                       {"maximum", 'M'},
                       {"minimum", 'm'}})
    makers.push_back(
        {a.op, [a](Generator &g) {
           unsigned x = g.anyFloat();
           unsigned y = g.like(g[x].type, g[x].shape);
           const Value v = g[x], w = g[y];
           const Range r = v.range, s = w.range;
           double low = 0, high = 0;
           Range both = joined(r, s);
           int fraction = both.fraction;
           switch (a.sign) {
           case '+':
             low = r.low + s.low, high = r.high + s.high;
             break;
           case '-':
             low = r.low - s.high, high = r.high - s.low;
             break;
           case '*':
             high = r.magnitude() * s.magnitude();
             low = -high;
             if (both.exact())
               fraction = r.fraction + s.fraction;
             break;
           default:
             low = both.low, high = both.high;
           }
           if (std::max(-low, high) > 300)
             return false;
           g.emitOne(std::string("dtensor.") + a.op, {x, y},
                     {v.type, v.shape,
                      rangeIn(v.type, low, high, fraction, both.epsilon)},
                     "", true);
           return true;
         }});
  for (const char *op : {"divide", "atan2", "power"})
    makers.push_back(
        {op, [op](Generator &g) {
           bool isPower = std::string(op) == "power";
           unsigned x = g.into(g.anyFloat(), 0.5, 2);
           unsigned y =
               g.into(g.like(g[x].type, g[x].shape), isPower ? -2 : 0.5, 2);
           const Value v = g[x];
           g.emitOne(std::string("dtensor.") + op, {x, y},
                     {v.type, v.shape,
                      rangeIn(v.type, 0.1, 4, -1,
                              joined(v.range, g[y].range).epsilon)},
                     "", true);
           return true;
         }});
  makers.push_back(
      {"remainder", [](Generator &g) {
         unsigned x = g.exactFloat();
         const Value v = g[x];
         unsigned y = g.argument(v.type, v.shape, {1, 4, 2, 0});
         double most = std::min(v.range.magnitude(), 4.0);
         g.emitOne("dtensor.remainder", {x, y},
                   {v.type, v.shape,
                    rangeIn(v.type, -most, most, std::max(v.range.fraction, 2),
                            v.range.epsilon)});
         return true;
       }});
  for (const char *op :
       {"add", "subtract", "multiply", "divide", "remainder", "maximum",
        "minimum", "power", "and", "or", "xor", "shift_left",
        "shift_right_arithmetic", "shift_right_logical"})
    makers.push_back({std::string(op) + " of integers", [op](Generator &g) {
                        unsigned x = g.anyInteger();
                        const Value v = g[x];
                        bool small = std::string(op) == "power";
                        unsigned y = small ? g.exactIn(v.type, v.shape, 0, 3)
                                           : g.like(v.type, v.shape);
                        g.emitOne(std::string("dtensor.") + op, {x, y},
                                  {v.type, v.shape, ofIntegers()});
                        return true;
                      }});
  for (const char *op :
       {"and", "or", "xor", "add", "multiply", "maximum", "minimum", "not"})
    makers.push_back({std::string(op) + " of i1", [op](Generator &g) {
                        Shape shape = g[g.anyValue()].shape;
                        unsigned x = g.like(DType::I1, shape);
                        std::vector<unsigned> operands{x};
                        if (std::string(op) != "not")
                          operands.push_back(g.like(DType::I1, shape));
                        g.emitOne(std::string("dtensor.") + op, operands,
                                  {DType::I1, shape, {0, 1, 0, 0}});
                        return true;
                      }});
}

/// Some rows are taken from a new value, the others from an old one, and so is
/// what is known of each row: as in a loop over rows that come to rest one by
/// one.
bool maskedUpdate(Generator &g) {
  const unsigned before = g.anyFloat(2, 2);
  const Value v = g[before];
  const Shape rows{v.shape[0]};
  if (v.shape[1] == 0) // the largest of nothing is infinite
    return false;
  const Range opposite{-v.range.high, -v.range.low, v.range.fraction,
                       v.range.epsilon};
  const Generator::Result row{v.type, rows, opposite};
  const Generator::Result mask{DType::I1, rows, {0, 1, 0, 0}};
  unsigned now = g.emitOne("dtensor.negate", {before},
                           {v.type, v.shape, opposite}, "", true);
  unsigned largest =
      g.emitOne("dtensor.reduce", {now}, row,
                "dimensions = array<i64: 1>, kind = #dtensor.kind<max>", true);
  unsigned size =
      g.emitOne("dtensor.negate", {largest}, {v.type, rows, v.range}, "", true);
  unsigned moves = g.emitOne(
      "dtensor.and", {g.like(DType::I1, rows), g.like(DType::I1, rows)}, mask);
  unsigned everywhere = g.emitOne("dtensor.broadcast_in_dim", {moves},
                                  {DType::I1, v.shape, mask.range},
                                  "broadcast_dimensions = array<i64: 0>");
  g.emitOne("dtensor.select", {everywhere, now, before},
            {v.type, v.shape, joined(opposite, v.range)}, "", true);
  unsigned fallback = g.like(v.type, rows);
  g.emitOne("dtensor.select", {moves, size, fallback},
            {v.type, rows, joined(v.range, g[fallback].range)}, "", true);
  return true;
}

void addChoices(OpMakers &makers) {
  makers.push_back(
      {"compare", [](Generator &g) {
         unsigned x = g.chance(0.7) ? g.exactFloat() : g.anyInteger();
         const Value v = g[x];
         unsigned y = isFloat(v.type) ? g.exactIn(v.type, v.shape, -16, 16)
                                      : g.like(v.type, v.shape);
         const char *direction = g.choose(
             std::vector<const char *>{"EQ", "NE", "LT", "LE", "GT", "GE"});
         g.emitOne(
             "dtensor.compare", {x, y}, {DType::I1, v.shape, {0, 1, 0, 0}},
             fmt::format("direction = #dtensor<comparison {}>", direction));
         return true;
       }});
  makers.push_back(
      {"select", [](Generator &g) {
         unsigned x = g.anyValue();
         const Value v = g[x];
         unsigned y = g.like(v.type, v.shape);
         unsigned p = g.like(DType::I1, g.chance(0.3) ? Shape{} : v.shape);
         g.emitOne("dtensor.select", {p, x, y},
                   {v.type, v.shape, joined(v.range, g[y].range)}, "", true);
         return true;
       }});
  makers.push_back({"masked update", maskedUpdate});
  makers.push_back({"clamp", [](Generator &g) {
                      unsigned x = g.anyFloat();
                      const Value v = g[x];
                      Shape bound = g.chance(0.5) ? Shape{} : v.shape;
                      unsigned low = g.exactIn(v.type, bound, -2, -0.5);
                      unsigned high = g.exactIn(v.type, bound, 0.5, 2);
                      Range range =
                          joined(joined(v.range, g[low].range), g[high].range);
                      range.low = -2, range.high = 2;
                      g.emitOne("dtensor.clamp", {low, x, high},
                                {v.type, v.shape, range}, "", true);
                      return true;
                    }});
}

void addConversions(OpMakers &makers) {
  makers.push_back({"convert between floats", [](Generator &g) {
                      unsigned x = g.anyFloat();
                      const Value v = g[x];
                      DType to = g.choose(std::vector<DType>{
                          DType::F32, DType::F64, DType::BF16, DType::F16});
                      g.emitOne("dtensor.convert", {x},
                                {to, v.shape,
                                 rangeIn(to, v.range.low, v.range.high,
                                         v.range.fraction, v.range.epsilon)},
                                "", true);
                      return true;
                    }});
  makers.push_back(
      {"convert to integer", [](Generator &g) {
         unsigned x = g.exactFloat();
         const Value v = g[x];
         DType to =
             g.choose(std::vector<DType>{DType::I32, DType::I64, DType::I16,
                                         DType::UI32, DType::UI8, DType::I1});
         Range range{std::floor(v.range.low), std::ceil(v.range.high), 0, 0};
         g.emitOne("dtensor.convert", {x}, {to, v.shape, range});
         return true;
       }});
  makers.push_back(
      {"convert from integer", [](Generator &g) {
         std::optional<unsigned> x = g.find([](const Value &v) {
           return (isInteger(v.type) || v.type == DType::I1) &&
                  v.range.magnitude() <= 64;
         });
         if (!x)
           x = g.argument(DType::I32, g.shape(0, 3), {-9, 9, 0, 0});
         const Value v = g[*x];
         if (isInteger(v.type) && !isSigned(v.type) && v.range.low < 0)
           return false;
         g.emitOne("dtensor.convert", {*x}, {DType::F32, v.shape, v.range});
         return true;
       }});
  makers.push_back(
      {"bitcast_convert", [](Generator &g) {
         struct Pair {
           DType from, to;
         };
         Pair pair = g.choose(std::vector<Pair>{{DType::F32, DType::I32},
                                                {DType::F32, DType::UI32},
                                                {DType::I32, DType::UI32},
                                                {DType::UI32, DType::UI8},
                                                {DType::I64, DType::I32},
                                                {DType::UI8, DType::UI32},
                                                {DType::I32, DType::I64}});
         unsigned from = byteWidth(pair.from), to = byteWidth(pair.to);
         Shape shape = g.shape(0, 2), result = shape;
         if (from > to)
           result.push_back(from / to);
         if (from < to)
           shape.push_back(to / from);
         unsigned x = isFloat(pair.from) ? g.exactIn(pair.from, shape, -2, 2)
                                         : g.like(pair.from, shape);
         g.emitOne("dtensor.bitcast_convert", {x},
                   {pair.to, result, {-1e30, 1e30, 0, 0}});
         return true;
       }});
}

} // namespace

void addElementwiseMakers(OpMakers &makers) {
  addSmooth(makers);
  addUnary(makers);
  addArithmetic(makers);
  addChoices(makers);
  addConversions(makers);
}

} // namespace meshloom::fuzz
