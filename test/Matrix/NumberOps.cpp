// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix's rows for element types: what each type adds to the rows of the
// other files, casts and conversions between types, and the ops on bits.
#include "Ops.h"

namespace meshloom::matrix {
namespace {

using Specs = std::vector<OpSpec>;

bool hasGradient(const std::string &type) {
  return isFloat(type) || type.starts_with("complex");
}

/// complex_f32 for complex<f32>.
std::string plain(std::string type) {
  if (size_t open = type.find('<'); open != std::string::npos)
    type = "c" + type.substr(open + 2, type.size() - open - 3);
  return type;
}

/// An op that maps MxN of `from` to MxN of `to`.
void add(Specs &specs, const std::string &op, size_t operands,
         const std::string &from, const std::string &to, double low = -1,
         double high = 1, const std::string &attributes = "") {
  OpSpec spec;
  spec.name = op + "_" + plain(from) + (from == to ? "" : "_" + plain(to));
  spec.operands.assign(operands, "MxN:" + from);
  spec.result = "MxN:" + to;
  spec.body = "dtensor." + op + " $0" + (operands > 1 ? ", $1" : "") +
              attributes +
              (operands > 1 ? " : ($T0, $T1) -> $R" : " : ($T0) -> $R");
  spec.low = low;
  spec.high = high;
  spec.gradient = hasGradient(from) && hasGradient(to);
  specs.push_back(spec);
}

void addArithmetic(Specs &specs) {
  const std::string c64 = "complex<f32>", c128 = "complex<f64>";
  for (const char *type : {"f16", "i16", "ui16", "ui64", "i1"})
    add(specs, "add", 2, type, type);
  for (const std::string &type : {c64, c128}) {
    for (const char *op : {"add", "subtract", "multiply"})
      add(specs, op, 2, type, type);
    add(specs, "divide", 2, type, type, 0.5, 2);
    add(specs, "negate", 1, type, type);
  }
  for (const char *type : {"f16", "ui64", "i1"})
    for (const char *op : {"multiply", "maximum", "minimum"})
      add(specs, op, 2, type, type);
  for (const char *type : {"i16", "ui64"})
    for (const char *op : {"divide", "remainder", "power"})
      add(specs, op, 2, type, type);
  add(specs, "power", 2, c64, c64, 0.5, 1.5);
  add(specs, "power", 2, "f16", "f16", 0.5, 1.5);
  add(specs, "atan2", 2, "f32", "f32", 0.5, 2);
  add(specs, "atan2", 2, "f16", "f16", 0.5, 2);

  for (const char *op : {"exp", "expm1", "log", "log1p", "sqrt", "rsqrt",
                         "tanh", "logistic", "sine", "cosine", "tan", "sign"})
    add(specs, op, 1, c64, c64, 0.2, 1);
  for (const char *op : {"exp", "log", "sqrt", "tanh"})
    add(specs, op, 1, c128, c128, 0.2, 1);
  for (const char *op : {"exp", "tanh", "sine"})
    add(specs, op, 1, "f16", "f16", 0.2, 1);
  add(specs, "tan", 1, "f32", "f32", -1, 1);
  add(specs, "round_nearest_afz", 1, "f32", "f32", -4, 4);
  add(specs, "reduce_precision", 1, "f32", "f32", -4, 4,
      " exponent 4 mantissa 3");
  add(specs, "reduce_precision", 1, "bf16", "bf16", -4, 4,
      " exponent 3 mantissa 2");
  for (const char *op : {"abs", "real", "imag"})
    add(specs, op, 1, c64, "f32", 0.2, 1);
  add(specs, "abs", 1, c128, "f64", 0.2, 1);
  add(specs, "real", 1, "f32", "f32");
  add(specs, "complex", 2, "f32", c64);
  add(specs, "complex", 2, "f64", c128);
  specs.push_back({"compare_c32",
                   {"MxN:complex<f32>", "MxN:complex<f32>"},
                   "MxN:i1",
                   "dtensor.compare EQ, $0, $1 : ($T0, $T1) -> $R"});
  specs.push_back({"compare_ui64",
                   {"MxN:ui64", "MxN:ui64"},
                   "MxN:i1",
                   "dtensor.compare GT, $0, $1 : ($T0, $T1) -> $R"});
  for (const std::string &type : {c64, std::string("f16")})
    specs.push_back({"select_" + plain(type),
                     {"MxN:i1", "MxN:" + type, "MxN:" + type},
                     "MxN:" + type,
                     "dtensor.select $0, $1, $2 : ($T0, $T1, $T2) -> $R",
                     -1,
                     1,
                     true});
  specs.push_back({"clamp_ui64",
                   {":ui64", "MxN:ui64", ":ui64"},
                   "MxN:ui64",
                   "dtensor.clamp $0, $1, $2 : ($T0, $T1, $T2) -> $R"});
}

void addBits(Specs &specs) {
  for (const char *op :
       {"shift_left", "shift_right_arithmetic", "shift_right_logical"})
    for (const char *type : {"i32", "ui8", "ui64"})
      add(specs, op, 2, type, type);
  for (const char *op : {"popcnt", "count_leading_zeros"})
    for (const char *type : {"i16", "ui64"})
      add(specs, op, 1, type, type);
  auto cast = [&](const std::string &from, const std::string &fromShape,
                  const std::string &to, const std::string &toShape) {
    specs.push_back({"bitcast_convert_" + plain(from) + "_" + plain(to),
                     {fromShape + ":" + from},
                     toShape + ":" + to,
                     "dtensor.bitcast_convert $0 : ($T0) -> $R",
                     0.5,
                     1});
  };
  cast("f32", "MxN", "ui32", "MxN");
  cast("f64", "MxN", "i64", "MxN");
  cast("f16", "MxN", "i16", "MxN");
  cast("f32", "MxN", "ui8", "MxNx4");
  cast("ui16", "MxNx4", "ui64", "MxN");
  cast("complex<f32>", "MxN", "f32", "MxNx2");
  cast("f32", "MxNx2", "complex<f32>", "MxN");
  cast("complex<f32>", "MxN", "ui64", "MxN");
  cast("complex<f64>", "MxN", "complex<f32>", "MxNx2");
}

void addConversions(Specs &specs) {
  using Pair = std::pair<const char *, const char *>;
  for (auto [from, to] :
       {Pair{"f16", "f32"}, Pair{"f32", "f16"}, Pair{"bf16", "f16"},
        Pair{"f64", "f16"}, Pair{"f16", "i8"}, Pair{"ui16", "f16"},
        Pair{"f32", "i16"}, Pair{"f32", "ui64"}, Pair{"ui64", "f32"},
        Pair{"ui64", "i16"}, Pair{"i16", "ui64"}, Pair{"f32", "complex<f32>"},
        Pair{"complex<f32>", "f32"}, Pair{"complex<f32>", "complex<f64>"},
        Pair{"complex<f64>", "complex<f32>"}, Pair{"i32", "complex<f64>"},
        Pair{"complex<f32>", "i1"}})
    add(specs, "convert", 1, from, to, -9, 9);
}

void addStructure(Specs &specs) {
  const std::string c64 = "complex<f32>";
  specs.push_back({"constant_c32",
                   {},
                   "MxN:complex<f32>",
                   "dtensor.constant dense<(1.5, -2.0)> : $R"});
  specs.push_back(
      {"iota_c32", {}, "MxN:complex<f32>", "dtensor.iota dim 1 : $R"});
  specs.push_back({"iota_f16", {}, "MxN:f16", "dtensor.iota dim 0 : $R"});
  specs.push_back({"transpose_c64",
                   {"MxN:complex<f64>"},
                   "NxM:complex<f64>",
                   "dtensor.transpose $0 dims [1, 0] : ($T0) -> $R",
                   -1,
                   1,
                   true});
  specs.push_back({"concatenate_c32",
                   {"MxN:complex<f32>", "MxN:complex<f32>"},
                   "M+MxN:complex<f32>",
                   "dtensor.concatenate $0, $1 dim 0 : ($T0, $T1) -> $R",
                   -1,
                   1,
                   true});
  specs.push_back({"reshape_f16",
                   {"MxN:f16"},
                   "M*N:f16",
                   "dtensor.reshape $0 : ($T0) -> $R",
                   -1,
                   1,
                   true});
  for (const std::string &type :
       {c64, std::string("complex<f64>"), std::string("f16"),
        std::string("ui64"), std::string("i16")})
    specs.push_back({"matmul_" + plain(type),
                     {"MxN:" + type, "Nx3:" + type},
                     "Mx3:" + type,
                     "dtensor.matmul $0, $1 : ($T0, $T1) -> $R",
                     -1,
                     1,
                     hasGradient(type)});
  auto reduce = [&](const std::string &kind, const std::string &type,
                    double low, double high) {
    specs.push_back({"reduce_" + kind + "_" + plain(type),
                     {"MxN:" + type},
                     "N:" + type,
                     "dtensor.reduce " + kind + " $0 dims [0] : ($T0) -> $R",
                     low,
                     high,
                     hasGradient(type) && kind != "prod"});
  };
  reduce("sum", c64, -1, 1);
  reduce("sum", "complex<f64>", -1, 1);
  reduce("prod", c64, 0.4, 0.9);
  reduce("sum", "f16", -1, 1);
  reduce("min", "f16", -1, 1);
  reduce("max", "ui64", 0, 0);
  reduce("sum", "ui16", 0, 0);
  reduce("prod", "i16", 0, 0);
  reduce("or", "ui64", 0, 0);
  for (const char *type : {"ui64", "f16"})
    specs.push_back({std::string("argmax_") + type,
                     {std::string("MxN:") + type},
                     "M:i32",
                     "dtensor.argmax $0 dim 1 : ($T0) -> $R"});
}

} // namespace

void addNumbers(Specs &specs) {
  addArithmetic(specs);
  addBits(specs);
  addConversions(specs);
  addStructure(specs);
}

} // namespace meshloom::matrix
