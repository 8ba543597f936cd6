// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types as kernels compute with them, against the reference interpreter
// (exact, or to a few units of the last place) and the C++ library: the ends of
// ranges, every pair of small integers, every f16.
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <fmt/format.h>
#include <random>

using namespace meshloom;

namespace {

struct Values {
  HostValue got, expected;
};

std::string typeText(DType type, const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += fmt::format("{}x", extent);
  return text + std::string(name(type)) + ">";
}

/// Runs "dtensor.OP" compiled and interpreted. `attributes` follow the
/// operands.
Values run(const std::string &op, const std::vector<HostValue> &inputs,
           DType result, Shape shape, const std::string &attributes = "",
           bool optimize = true) {
  std::string arguments, operands, types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string type = typeText(inputs[i].type, inputs[i].shape);
    const char *comma = i ? ", " : "";
    arguments += fmt::format("{}%{}: {}", comma, char('a' + i), type);
    operands += fmt::format("{}%{}", comma, char('a' + i));
    types += comma + type;
  }
  std::string to = typeText(result, shape);
  std::string text = fmt::format(
      "func.func @main({}) -> {} {{ %r = dtensor.{} {}{} : ({}) -> {} return "
      "%r : {} }}",
      arguments, to, op, operands, attributes, types, to, to);
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    throw std::runtime_error("does not parse: " + text);
  auto expected = interpret(*module, "", inputs);
  CompileOptions options;
  options.machine = *MachineModel::preset("shared-memory");
  options.optimizeKernels = optimize;
  auto compiled = compile(*module, options);
  if (!expected || !compiled)
    throw std::runtime_error(expected ? compiled.error().message()
                                      : expected.error().message());
  auto client = *createCPUClient({});
  auto executable = *client->load(*compiled);
  std::vector<Array> arrays;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const BufferDecl &buffer =
        compiled->program().buffers[compiled->program().arguments[i].buffer];
    arrays.push_back(
        *Array::fromHost(client, {buffer.type, buffer.shape, buffer.layout},
                         inputs[i].toBytes()));
  }
  auto results = *executable->execute(std::move(arrays));
  return {*HostValue::fromBytes(result, shape, *results[0].toHost()),
          expected->front()};
}

Values elementwise(const std::string &op, const std::vector<HostValue> &inputs,
                   DType result, const std::string &attributes = "") {
  return run(op, inputs, result, inputs[0].shape, attributes);
}

HostValue fromInts(DType type, std::vector<int64_t> values) {
  HostValue value(type, {int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    value.ints[i] = wrapInteger(type, values[i]);
  return value;
}

HostValue fromFloats(DType type, std::vector<double> values) {
  HostValue value(type, {int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    value.floats[i] = roundToType(type, values[i]);
  return value;
}

/// The same elements, nan for nan.
void expectSame(const std::string &name, const Values &values) {
  EXPECT_EQ(values.got.ints, values.expected.ints) << name;
  ASSERT_EQ(values.got.floats.size(), values.expected.floats.size()) << name;
  for (size_t i = 0; i < values.got.floats.size(); ++i) {
    double a = values.got.floats[i], b = values.expected.floats[i];
    ASSERT_TRUE(std::isnan(a) ? std::isnan(b)
                              : a == b && std::signbit(a) == std::signbit(b))
        << name << ", element " << i << ": " << a << ", expected " << b;
  }
}

/// All pairs of `values`.
std::pair<HostValue, HostValue> pairs(DType type,
                                      const std::vector<int64_t> &values) {
  std::vector<int64_t> first, second;
  for (int64_t x : values)
    for (int64_t y : values) {
      first.push_back(x);
      second.push_back(y);
    }
  return {fromInts(type, first), fromInts(type, second)};
}

const std::vector<int64_t> corners = {0,
                                      1,
                                      2,
                                      3,
                                      7,
                                      8,
                                      9,
                                      15,
                                      16,
                                      17,
                                      31,
                                      32,
                                      33,
                                      63,
                                      64,
                                      65,
                                      100,
                                      127,
                                      128,
                                      255,
                                      256,
                                      32767,
                                      32768,
                                      65535,
                                      65536,
                                      INT32_MAX,
                                      int64_t(1) << 31,
                                      int64_t(1) << 32,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT64_MIN + 1,
                                      -1,
                                      -2,
                                      -3,
                                      -7,
                                      -8,
                                      -64,
                                      -128,
                                      -129,
                                      -32768};

TEST(TypesTest, IntegerArithmeticAtTheEndsOfEveryType) {
  for (DType type : {DType::I8, DType::UI8, DType::I16, DType::UI16, DType::I32,
                     DType::UI32, DType::I64, DType::UI64}) {
    auto [x, y] = pairs(type, corners);
    for (const char *op : {"add", "subtract", "multiply", "divide", "remainder",
                           "power", "maximum", "minimum", "shift_left",
                           "shift_right_arithmetic", "shift_right_logical"})
      expectSame(fmt::format("{} {}", op, name(type)),
                 elementwise(op, {x, y}, type));
    for (const char *op :
         {"abs", "negate", "sign", "not", "popcnt", "count_leading_zeros"})
      expectSame(fmt::format("{} {}", op, name(type)),
                 elementwise(op, {x}, type));
    for (const char *direction : {"LT", "GE", "NE"})
      expectSame(fmt::format("{} {}", direction, name(type)),
                 elementwise(std::string("compare ") + direction + ",", {x, y},
                             DType::I1));
  }
}

TEST(TypesTest, ShiftsOfEveryPairOfBytes) {
  std::vector<int64_t> bytes(256);
  for (int64_t i = 0; i < 256; ++i)
    bytes[size_t(i)] = i;
  for (DType type : {DType::I8, DType::UI8}) {
    auto [x, y] = pairs(type, bytes);
    for (const char *op :
         {"shift_left", "shift_right_arithmetic", "shift_right_logical"})
      expectSame(op, elementwise(op, {x, y}, type));
  }
}

TEST(TypesTest, BooleansAddByOrAndMultiplyByAnd) {
  auto [x, y] = pairs(DType::I1, {0, 1});
  auto values = [&, &x = x, &y = y](const char *op) {
    return elementwise(op, {x, y}, DType::I1).got.ints;
  };
  std::vector<int64_t> either = {0, 1, 1, 1}, both = {0, 0, 0, 1};
  EXPECT_EQ(values("add"), either);
  EXPECT_EQ(values("maximum"), either);
  EXPECT_EQ(values("multiply"), both);
  EXPECT_EQ(values("minimum"), both);
}

std::vector<double> specials() {
  std::vector<double> values = {
      0.0,        0.5,    1.5,     2.5,     0.49999997, 127.5, 128,
      255.5,      256,    32767.5, 65503.9, 65519.99,   65520, 65536,
      2147483647, 0x1p31, 0x1p32,  0x1p63,  0x1p64,     1e30,  1e-5,
      6e-8,       2.9e-8, 3e-8,    1e-40,   INFINITY,   NAN};
  for (size_t i = values.size(); i-- > 0;)
    values.push_back(-values[i]);
  return values;
}

TEST(TypesTest, ConversionsBetweenAllTypes) {
  for (unsigned from = 0; from <= unsigned(lastDType); ++from)
    for (unsigned to = 0; to <= unsigned(lastDType); ++to) {
      DType source = DType(from), target = DType(to);
      HostValue x = isFloat(source) || isComplex(source)
                        ? fromFloats(source, specials())
                        : fromInts(source, corners);
      for (size_t i = 0; i < x.imaginaries.size(); ++i)
        x.imaginaries[i] = double(i % 3);
      expectSame(fmt::format("{} to {}", name(source), name(target)),
                 elementwise("convert", {x}, target));
    }
}

TEST(TypesTest, EveryF16IsConvertedAsTheHostDoes) {
  HostValue everyValue(DType::I16, {65536});
  for (int64_t i = 0; i < 65536; ++i)
    everyValue.ints[size_t(i)] = int16_t(i);
  HostValue halves =
      *HostValue::fromBytes(DType::F16, {65536}, everyValue.toBytes());
  Values wide = elementwise("convert", {halves}, DType::F32);
  for (int i = 0; i < 65536; ++i) {
    uint16_t bits = uint16_t(i);
    _Float16 half;
    std::memcpy(&half, &bits, 2);
    double expected = double(half);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(wide.got.floats[size_t(i)]));
    else
      EXPECT_EQ(wide.got.floats[size_t(i)], expected) << i;
  }
  // And back; between two of them, to the nearest.
  HostValue between(DType::F32, {65535});
  for (size_t i = 0; i < 65535; ++i)
    between.floats[i] =
        float((wide.got.floats[i] + 2 * wide.got.floats[i + 1]) / 3);
  Values narrow = elementwise("convert", {between}, DType::F16);
  for (size_t i = 0; i < 65535; ++i)
    if (!std::isnan(between.floats[i]))
      ASSERT_EQ(narrow.got.floats[i],
                double(_Float16(float(between.floats[i]))))
          << between.floats[i];
}

/// Every 65,537th f32.
HostValue manyFloats() {
  std::vector<double> values;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 65'537) {
    float value;
    uint32_t word = uint32_t(bits);
    std::memcpy(&value, &word, 4);
    values.push_back(value);
  }
  return fromFloats(DType::F32, values);
}

TEST(TypesTest, PrecisionIsReducedLikeTheReference) {
  HostValue x = manyFloats();
  for (auto [exponent, mantissa] :
       {std::pair{8, 7}, {5, 10}, {8, 23}, {4, 3}, {1, 0}, {11, 52}, {8, 0}})
    expectSame(fmt::format("e{}m{}", exponent, mantissa),
               elementwise("reduce_precision", {x}, DType::F32,
                           fmt::format(" exponent {} mantissa {}", exponent,
                                       mantissa)));
  HostValue halves = fromFloats(DType::F16, specials());
  expectSame("f16", elementwise("reduce_precision", {halves}, DType::F16,
                                " exponent 4 mantissa 3"));
}

TEST(TypesTest, RoundingAwayFromZero) {
  expectSame("f32",
             elementwise("round_nearest_afz", {manyFloats()}, DType::F32));
  EXPECT_EQ(elementwise("round_nearest_afz",
                        {fromFloats(DType::F32, {0.5, -0.5, 2.5, 0.49999997})},
                        DType::F32)
                .got.floats,
            (std::vector<double>{1, -1, 3, 0}));
}

TEST(TypesTest, CastsBetweenAllWidths) {
  std::mt19937 random(1);
  for (unsigned from = 0; from <= unsigned(lastDType); ++from)
    for (unsigned to = 0; to <= unsigned(lastDType); ++to) {
      DType source = DType(from), target = DType(to);
      if (source == DType::I1 || target == DType::I1)
        continue;
      int64_t a = byteWidth(source), b = byteWidth(target);
      Shape shape = {3}, result = {3};
      if (a < b)
        shape.push_back(b / a);
      if (a > b)
        result.push_back(a / b);
      std::vector<char> bytes(size_t(elementCount(shape) * a));
      // No byte of all ones, so that no float is a nan, whose bits may change.
      for (char &byte : bytes)
        byte = char(random() % 112);
      HostValue x = *HostValue::fromBytes(source, shape, bytes);
      Values values = run("bitcast_convert", {x}, target, result, "", false);
      EXPECT_EQ(values.got.toBytes(), bytes)
          << name(source) << " to " << name(target);
    }
}

TEST(TypesTest, AnglesAreThoseOfLibm) {
  std::vector<double> first, second;
  std::vector<double> axis = {0,      -0.0,   1,        -1,        0.5,   -3,
                              1e-30,  1e30,   2e38,     -1e-40,    1e-45, 100,
                              0.4142, 0.4143, INFINITY, -INFINITY, NAN};
  for (double y : axis)
    for (double x : axis) {
      first.push_back(float(y));
      second.push_back(float(x));
    }
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 20'000; ++i) {
    first.push_back(normal(random));
    second.push_back(normal(random));
  }
  Values values = elementwise(
      "atan2", {fromFloats(DType::F32, first), fromFloats(DType::F32, second)},
      DType::F32);
  for (size_t i = 0; i < first.size(); ++i) {
    double got = values.got.floats[i];
    double exact =
        std::atan2(double(float(first[i])), double(float(second[i])));
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(got)) << first[i] << " " << second[i];
      continue;
    }
    EXPECT_EQ(std::signbit(got), std::signbit(exact));
    EXPECT_NEAR(got, exact, 4 * std::ldexp(std::abs(exact), -24) + 1e-45)
        << first[i] << " " << second[i];
  }
}

/// Complex numbers over many sizes, and near where functions cancel.
HostValue manyComplex(DType type, double largest) {
  std::vector<std::complex<double>> values;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> power(-1, 1), turn(-4, 4);
  for (int i = 0; i < 4000; ++i)
    values.push_back(
        std::polar(std::exp(power(random) * std::log(largest)), turn(random)));
  for (int i = 0; i < 1000; ++i) // |z| next to 1
    values.push_back(std::polar(1 + power(random) * 1e-4, turn(random)));
  for (double x : {1.0, -1.0, 0.5, -2.0, 1e-3})
    for (double y : {0.0, 1.0, -1e-3, 2.0})
      values.push_back({x, y});
  HostValue value(type, {int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    value.floats[i] = roundToType(type, values[i].real());
    value.imaginaries[i] = roundToType(type, values[i].imag());
  }
  return value;
}

void expectClose(const std::string &op, const std::vector<HostValue> &inputs,
                 DType result, double tolerance) {
  Values values = elementwise(op, inputs, result);
  double worst = 0;
  size_t worstAt = 0;
  for (size_t i = 0; i < values.got.floats.size(); ++i) {
    auto entry = [i](const HostValue &value) {
      return std::complex<double>(
          value.floats[i], value.isComplex() ? value.imaginaries[i] : 0.0);
    };
    std::complex<double> got = entry(values.got),
                         exact = entry(values.expected);
    double size = std::abs(exact);
    double limit = partOf(result) == DType::F32 ? 3.4e38 : 1.7e308;
    double least = partOf(result) == DType::F32 ? 1e-37 : 1e-300;
    if (!(size < limit) || size < least)
      continue; // overflows, underflows
    double error = std::abs(got - exact) / size;
    if (!(error <= worst)) {
      worst = error;
      worstAt = i;
    }
  }
  EXPECT_LE(worst, tolerance) << op << " of " << inputs[0].floats[worstAt]
                              << " + " << inputs[0].imaginaries[worstAt] << "i";
}

TEST(TypesTest, ComplexFunctionsAreAccurate) {
  struct Case {
    DType type;
    double largest, tolerance;
  };
  for (auto [type, largest, tolerance] :
       {Case{DType::C64, 1e15, 2e-7}, Case{DType::C128, 1e120, 3e-15}}) {
    HostValue x = manyComplex(type, largest);
    for (const char *op : {"log", "sqrt", "rsqrt", "sign"})
      expectClose(op, {x}, type, tolerance);
    expectClose("abs", {x}, partOf(type), tolerance);
    // The numbers are of moderate size, where they neither overflow nor turn
    // many times.
    HostValue y = manyComplex(type, 20);
    for (const char *op :
         {"exp", "expm1", "log1p", "tanh", "tan", "sine", "cosine", "logistic"})
      expectClose(op, {y}, type, tolerance * 3);
    HostValue z = y;
    std::reverse(z.floats.begin(), z.floats.end());
    std::reverse(z.imaginaries.begin(), z.imaginaries.end());
    expectClose("divide", {x, z}, type, tolerance);
    expectClose("multiply", {y, z}, type, tolerance);
  }
}

TEST(TypesTest, ComplexQuotientsBeyondTheRange) {
  // Values that overflow on the way, and values that are infinite at the end.
  HostValue x(DType::C128, {6}), y(DType::C128, {6});
  x.floats = {1e300, 1e-300, 1, INFINITY, 1, 0};
  x.imaginaries = {1e300, 1e-300, -1, 1, 1, 0};
  y.floats = {1e300, 1e-300, 0, 1, INFINITY, 0};
  y.imaginaries = {-1e300, 1e-300, 0, 1, 0, 0};
  Values values = elementwise("divide", {x, y}, DType::C128);
  EXPECT_EQ(values.got.floats[0], 0);
  EXPECT_EQ(values.got.imaginaries[0], 1);
  EXPECT_EQ(values.got.floats[1], 1);
  EXPECT_EQ(values.got.imaginaries[1], 0);
  EXPECT_EQ(values.got.floats[2], INFINITY);
  EXPECT_EQ(values.got.imaginaries[2], -INFINITY);
  EXPECT_TRUE(std::isinf(values.got.floats[3]));
  EXPECT_EQ(values.got.floats[4], 0);
  EXPECT_TRUE(std::isnan(values.got.floats[5]));
}

} // namespace
