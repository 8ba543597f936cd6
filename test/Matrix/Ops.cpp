// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of ops for the execution matrix.
#include "Ops.h"

namespace meshloom::matrix {
namespace {

using Specs = std::vector<OpSpec>;

std::string types(size_t operands) {
  std::string text = " : (";
  for (size_t i = 0; i < operands; ++i)
    text += (i ? ", $T" : "$T") + std::to_string(i);
  return text + ") -> $R";
}

OpSpec elementwise(const std::string &op, size_t operands, double low,
                   double high, const std::string &type = "f32") {
  OpSpec spec;
  spec.name = type == "f32" ? op : op + "_" + type;
  spec.operands.assign(operands, "MxN:" + type);
  spec.result = "MxN:" + type;
  spec.body =
      "dtensor." + op + " $0" + (operands > 1 ? ", $1" : "") + types(operands);
  spec.low = low;
  spec.high = high;
  spec.gradient = isFloat(type);
  return spec;
}

void addElementwise(Specs &specs) {
  for (const char *op : {"abs", "negate", "sign", "exp", "expm1", "cbrt",
                         "tanh", "logistic", "sine", "cosine", "erf"})
    specs.push_back(elementwise(op, 1, 0.1, 1));
  for (const char *op : {"log", "sqrt", "rsqrt"})
    specs.push_back(elementwise(op, 1, 0.5, 2));
  specs.push_back(elementwise("log1p", 1, -0.5, 1));
  for (const char *op : {"floor", "ceil", "round"})
    specs.push_back(elementwise(op, 1, -4, 4));
  for (const char *op : {"add", "subtract", "multiply", "maximum", "minimum"})
    specs.push_back(elementwise(op, 2, -1, 1));
  specs.push_back(elementwise("divide", 2, 0.5, 2));
  specs.push_back(elementwise("remainder", 2, 0.5, 3));
  specs.push_back(elementwise("power", 2, 0.5, 2));
  for (const char *op : {"add", "subtract", "multiply", "divide", "remainder",
                         "power", "maximum", "minimum", "and", "or", "xor"})
    specs.push_back(elementwise(op, 2, 0, 0, "i32"));
  for (const char *op : {"abs", "negate", "sign", "not"})
    specs.push_back(elementwise(op, 1, 0, 0, "i32"));
  specs.push_back(elementwise("not", 1, 0, 0, "i1"));
  specs.push_back(elementwise("xor", 2, 0, 0, "i1"));
  specs.push_back(elementwise("add", 2, -1, 1, "bf16"));
  specs.push_back(elementwise("multiply", 2, -1, 1, "f64"));
  specs.push_back(elementwise("add", 2, 0, 0, "i8"));
  specs.push_back(elementwise("multiply", 2, 0, 0, "ui8"));
  specs.push_back(elementwise("subtract", 2, 0, 0, "ui32"));
  specs.push_back(elementwise("divide", 2, 0, 0, "i64"));

  specs.push_back(
      {"is_finite", {"MxN:f32"}, "MxN:i1", "dtensor.is_finite $0" + types(1)});
  specs.push_back({"compare",
                   {"MxN:f32", "MxN:f32"},
                   "MxN:i1",
                   "dtensor.compare LT, $0, $1" + types(2)});
  specs.push_back({"compare_i32",
                   {"MxN:i32", "MxN:i32"},
                   "MxN:i1",
                   "dtensor.compare EQ, $0, $1" + types(2)});
  specs.push_back({"select",
                   {"MxN:i1", "MxN:f32", "MxN:f32"},
                   "MxN:f32",
                   "dtensor.select $0, $1, $2" + types(3),
                   -1,
                   1,
                   true});
  specs.push_back({"select_scalar",
                   {":i1", "MxN:f32", "MxN:f32"},
                   "MxN:f32",
                   "dtensor.select $0, $1, $2" + types(3),
                   -1,
                   1,
                   true});
  specs.push_back({"clamp",
                   {"MxN:f32", "MxN:f32", "MxN:f32"},
                   "MxN:f32",
                   "dtensor.clamp $0, $1, $2" + types(3),
                   -1,
                   1,
                   true});
  specs.push_back({"clamp_scalar",
                   {":f32", "MxN:f32", ":f32"},
                   "MxN:f32",
                   "dtensor.clamp $0, $1, $2" + types(3),
                   -1,
                   1,
                   true});
  auto convert = [&](const std::string &from, const std::string &to,
                     bool gradient) {
    specs.push_back({"convert_" + from + "_" + to,
                     {"MxN:" + from},
                     "MxN:" + to,
                     "dtensor.convert $0" + types(1),
                     -9,
                     9,
                     gradient});
  };
  convert("f32", "bf16", true);
  convert("f32", "f64", true);
  convert("f32", "i32", false);
  convert("i32", "f32", false);
  convert("i1", "f32", false);
  convert("i32", "ui8", false);
}

void addMovement(Specs &specs) {
  specs.push_back(
      {"constant", {}, "MxN:f32", "dtensor.constant dense<1.5> : $R"});
  specs.push_back({"iota_0", {}, "MxN:i32", "dtensor.iota dim 0 : $R"});
  specs.push_back({"iota_1", {}, "MxN:f32", "dtensor.iota dim 1 : $R"});
  specs.push_back({"rng",
                   {"2:ui32"},
                   "MxN:ui32",
                   "dtensor.rng uniform_bits $0" + types(1)});
  auto movement = [&](const std::string &name, const std::string &from,
                      const std::string &to, const std::string &attributes) {
    specs.push_back({name,
                     {from + ":f32"},
                     to + ":f32",
                     "dtensor." + name.substr(0, name.find('.')) + " $0" +
                         attributes + types(1),
                     -1,
                     1,
                     true});
  };
  movement("broadcast_in_dim.rows", "M", "MxN", " dims [0]");
  movement("broadcast_in_dim.columns", "N", "MxN", " dims [1]");
  movement("broadcast_in_dim.scalar", "", "MxN", " dims []");
  movement("broadcast_in_dim.one", "Mx1", "MxN", " dims [0, 1]");
  movement("broadcast_in_dim.swap", "MxN", "Nx3xM", " dims [2, 0]");
  movement("reshape.merge", "MxN", "M*N", "");
  movement("reshape.split", "M*N", "MxN", "");
  movement("reshape.middle", "Mx2xN", "M*2xN", "");
  movement("reshape.mix", "MxN", "NxM", "");
  movement("transpose.2", "MxN", "NxM", " dims [1, 0]");
  movement("transpose.3", "MxNx3", "3xMxN", " dims [2, 0, 1]");
  movement("slice.columns", "MxN", "MxN-1", " [0:$M, 1:$N]");
  movement("slice.rows", "MxN", "M-M/2xN", " [{M/2}:$M, 0:$N]");
  movement("slice.strided", "MxN", "(M+1)/2x(N+1)/2", " [0:$M:2, 0:$N:2]");
  movement("reverse.rows", "MxN", "MxN", " dims [0]");
  movement("reverse.both", "MxN", "MxN", " dims [0, 1]");
  movement("take.rows", "M+2xN", "5xN", " dim 0 at [1, {M+1}, -1, 0, 0]");
  movement("take.columns", "MxN+2", "Mx3", " dim 1 at [{N+1}, 0, 1]");
  auto pad = [&](const std::string &name, const std::string &from,
                 const std::string &to, const std::string &padding) {
    specs.push_back({"pad." + name,
                     {from + ":f32", ":f32"},
                     to + ":f32",
                     "dtensor.pad $0, $1 " + padding + types(2),
                     -1,
                     1,
                     true});
  };
  pad("edge", "MxN", "M+3xN+1", "low [1, 0] high [2, 1] interior [0, 0]");
  pad("shift", "MxN", "MxN", "low [2, -1] high [-2, 1] interior [0, 0]");
  pad("interior", "M+1xN+1", "M*2+3xN*3+1",
      "low [1, -1] high [1, 1] interior [1, 2]");
  specs.push_back({"concatenate.rows",
                   {"MxN:f32", "2xN:f32"},
                   "M+2xN:f32",
                   "dtensor.concatenate $0, $1 dim 0" + types(2),
                   -1,
                   1,
                   true});
  specs.push_back({"concatenate.columns",
                   {"MxN:f32", "MxN:f32", "MxN:f32"},
                   "MxN*3:f32",
                   "dtensor.concatenate $0, $1, $2 dim 1" + types(3),
                   -1,
                   1,
                   true});
}

void addContractions(Specs &specs) {
  auto dot = [&](const std::string &name, const std::string &lhs,
                 const std::string &rhs, const std::string &result,
                 const std::string &attributes, const std::string &type) {
    specs.push_back({name,
                     {lhs + ":" + type, rhs + ":" + type},
                     result + ":" + type,
                     "dtensor." + name.substr(0, name.find('.')) + " $0, $1" +
                         attributes + types(2),
                     -1,
                     1,
                     isFloat(type)});
  };
  dot("matmul.f32", "MxN", "NxM", "MxM", "", "f32");
  dot("matmul.f64", "MxN", "Nx3", "Mx3", "", "f64");
  dot("matmul.bf16", "MxN", "Nx5", "Mx5", "", "bf16");
  dot("matmul.i32", "MxN", "NxM", "MxM", "", "i32");
  dot("matmul.batched", "Mx3xN", "MxNx2", "Mx3x2", "", "f32");
  dot("dot_general.inner", "NxM", "NxM", "MxM", " contracting [0] x [0]",
      "f32");
  dot("dot_general.outer", "M", "N", "MxN", "", "f32");
  dot("dot_general.vector", "MxN", "N", "M", " contracting [1] x [0]", "f32");
  dot("dot_general.two", "MxNx3", "3xMxN", "",
      " contracting [0, 1, 2] x [1, 2, 0]", "f32");
  dot("dot_general.batch", "MxNx4", "4xNx3", "NxMx3",
      " batching [1] x [1] contracting [2] x [0]", "f32");

  auto reduce = [&](const std::string &kind, const std::string &dims,
                    const std::string &result, const std::string &type,
                    double low, double high) {
    specs.push_back({"reduce_" + kind + "_" + type + "." +
                         (result.empty() ? "all" : result),
                     {"MxN:" + type},
                     result + ":" + type,
                     "dtensor.reduce " + kind + " $0 dims " + dims + types(1),
                     low,
                     high,
                     isFloat(type)});
  };
  for (const char *kind : {"sum", "prod", "max", "min"}) {
    reduce(kind, "[0]", "N", "f32", 0.5, 1.5);
    reduce(kind, "[1]", "M", "f32", 0.5, 1.5);
    reduce(kind, "[0, 1]", "", "f32", 0.5, 1.5);
    reduce(kind, "[0, 1]", "", "i32", 0, 0);
  }
  reduce("sum", "[0]", "N", "f64", -1, 1);
  reduce("sum", "[0]", "N", "bf16", -1, 1);
  reduce("max", "[0]", "N", "bf16", -2, -1);
  reduce("max", "[1]", "M", "ui8", 0, 0);
  for (const char *kind : {"and", "or"}) {
    reduce(kind, "[0]", "N", "i1", 0, 0);
    reduce(kind, "[1]", "M", "i32", 0, 0);
  }
  specs.push_back(
      {"reduce_two",
       {"MxN:f32", "MxN:f32"},
       "N:f32",
       "dtensor.reduce sum $0, $1 dims [0] : ($T0, $T1) -> ($R, $R)",
       -1,
       1,
       true});
  for (const char *op : {"argmax", "argmin"}) {
    specs.push_back({std::string(op) + ".columns",
                     {"MxN:f32"},
                     "M:i32",
                     "dtensor." + std::string(op) + " $0 dim 1" + types(1)});
    specs.push_back({std::string(op) + ".rows",
                     {"MxN:i32"},
                     "N:i64",
                     "dtensor." + std::string(op) + " $0 dim 0" + types(1)});
  }
}

} // namespace

std::vector<OpSpec> allOps() {
  Specs specs;
  addElementwise(specs);
  addMovement(specs);
  addContractions(specs);
  addWindows(specs);
  addLibraryOps(specs);
  addNumbers(specs);
  addControl(specs);
  return specs;
}

} // namespace meshloom::matrix
