// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of the execution matrix for ops that run as library calls: indices,
// orders, factorizations and transforms.
#include "Ops.h"

namespace meshloom::matrix {
namespace {

using Specs = std::vector<OpSpec>;

/// `lists`: attributes beside index_vector_dim, which is dim 1 of the indices.
OpSpec gather(const std::string &name, const std::string &operand,
              const std::string &indices, const std::string &result,
              const std::string &lists, const std::string &type = "f32") {
  return {"gather." + name,
          {operand + ":" + type, indices + ":i32"},
          result + ":" + type,
          "dtensor.gather $0, $1 {" + lists + "} : ($T0, $T1) -> $R",
          -1,
          1,
          type[0] == 'f'};
}

void addGathers(Specs &specs) {
  // Indices are in [0, 8), so some are out of bounds where M or N is small.
  const std::string rows = "collapsed_slice_dims = array<i64: 0>, "
                           "index_vector_dim = 1 : i64, "
                           "offset_dims = array<i64: 1>, "
                           "start_index_map = array<i64: 0>, ";
  specs.push_back(gather("rows", "8xN", "Mx1", "MxN",
                         rows + "slice_sizes = array<i64: 1, $N>"));
  specs.push_back(gather("rows_i1", "8xN", "Mx1", "MxN",
                         rows + "slice_sizes = array<i64: 1, $N>", "i1"));
  specs.push_back(gather("rows_f64", "M+1x5", "Nx1", "Nx5",
                         rows + "slice_sizes = array<i64: 1, 5>", "f64"));
  specs.push_back(gather("part", "M+2xN", "7x1", "7x2xN",
                         "index_vector_dim = 1 : i64, "
                         "offset_dims = array<i64: 1, 2>, "
                         "start_index_map = array<i64: 0>, "
                         "slice_sizes = array<i64: 2, $N>"));
  specs.push_back(gather("elements", "M+1xN", "6x2", "6",
                         "collapsed_slice_dims = array<i64: 0, 1>, "
                         "index_vector_dim = 1 : i64, "
                         "start_index_map = array<i64: 1, 0>, "
                         "slice_sizes = array<i64: 1, 1>"));
  specs.push_back(gather("batched", "M+1x9xN", "M+1xN", "M+1xNxN",
                         "index_vector_dim = 2 : i64, "
                         "collapsed_slice_dims = array<i64: 1>, "
                         "operand_batching_dims = array<i64: 0>, "
                         "start_indices_batching_dims = array<i64: 0>, "
                         "offset_dims = array<i64: 2>, "
                         "start_index_map = array<i64: 1>, "
                         "slice_sizes = array<i64: 1, 1, $N>"));
}

void addScatters(Specs &specs) {
  auto scatter = [&](const std::string &name, const std::string &operand,
                     const std::string &indices, const std::string &updates,
                     const std::string &lists, const std::string &region = "",
                     const std::string &type = "f32") {
    specs.push_back(
        {"scatter." + name,
         {operand + ":" + type, indices + ":i32", updates + ":" + type},
         operand + ":" + type,
         "dtensor.scatter $0 at $1 with $2 {" + lists +
             "} : ($T0, $T1, $T2) -> $R" + region,
         0.5,
         1.5,
         type == "f32"});
  };
  const std::string rows = "index_vector_dim = 1 : i64, "
                           "inserted_window_dims = array<i64: 0>, "
                           "scatter_dims_to_operand_dims = array<i64: 0>, "
                           "update_window_dims = array<i64: 1>";
  for (const char *kind : {"sum", "prod", "min", "max"})
    scatter(std::string("rows_") + kind, "MxN", "11x1", "11xN",
            rows + ", kind = #dtensor.kind<" + kind + ">");
  for (const char *kind : {"and", "or"})
    scatter(std::string("rows_") + kind, "MxN", "11x1", "11xN",
            rows + ", kind = #dtensor.kind<" + kind + ">", "", "i32");
  scatter("rows_sum_bf16", "MxN", "3x1", "3xN",
          rows + ", kind = #dtensor.kind<sum>", "", "bf16");
  scatter("rows_replace", "MxN", "11x1", "11xN", rows);
  scatter("rows_function", "MxN", "11x1", "11xN", rows,
          " {\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
          "%d = dtensor.subtract %b, %a : tensor<f32>\n"
          "dtensor.yield %d : tensor<f32>\n}");
  scatter("windows", "M+2xN", "6x1", "6x2xN",
          "index_vector_dim = 1 : i64, "
          "scatter_dims_to_operand_dims = array<i64: 0>, "
          "update_window_dims = array<i64: 1, 2>, "
          "kind = #dtensor.kind<sum>");
  scatter("batched", "Mx9xN", "Mx5", "Mx5xN",
          "index_vector_dim = 2 : i64, "
          "inserted_window_dims = array<i64: 1>, "
          "input_batching_dims = array<i64: 0>, "
          "scatter_indices_batching_dims = array<i64: 0>, "
          "scatter_dims_to_operand_dims = array<i64: 1>, "
          "update_window_dims = array<i64: 2>, "
          "kind = #dtensor.kind<sum>");
}

void addDynamicSlices(Specs &specs) {
  auto slice = [&](const std::string &name, const std::string &operand,
                   const std::string &result, const std::string &sizes,
                   const std::string &type) {
    specs.push_back({"dynamic_slice." + name,
                     {operand + ":" + type, ":i32", ":i32"},
                     result + ":" + type,
                     "dtensor.dynamic_slice $0 at $1, $2 sizes " + sizes +
                         " : ($T0, $T1, $T2) -> $R",
                     -1,
                     1,
                     type[0] == 'f'});
  };
  slice("rows", "M+4xN", "MxN", "[$M, $N]", "f32");
  slice("columns", "MxN+3", "MxN", "[$M, $N]", "f16");
  slice("both", "M+2xN+3", "MxN", "[$M, $N]", "i1");
  auto update = [&](const std::string &name, const std::string &part,
                    const std::string &type) {
    specs.push_back({"dynamic_update_slice." + name,
                     {"MxN:" + type, part + ":" + type, ":i32", ":i32"},
                     "MxN:" + type,
                     "dtensor.dynamic_update_slice $0 with $1 at $2, $3 : "
                     "($T0, $T1, $T2, $T3) -> $R",
                     -1,
                     1,
                     type[0] == 'f'});
  };
  update("rows", "M/2xN", "f32");
  update("columns", "MxN/2", "i16");
  update("both", "M/2xN/2", "complex<f32>");
}

void addOrders(Specs &specs) {
  auto compare = [](const std::string &direction, const std::string &type) {
    return " {\n^bb0(%a: tensor<" + type + ">, %b: tensor<" + type +
           ">):\n%r = dtensor.compare " + direction + ", %a, %b : (tensor<" +
           type + ">, tensor<" + type +
           ">) -> tensor<i1>\ndtensor.yield %r : tensor<i1>\n}";
  };
  for (const char *type : {"f32", "bf16", "i8", "ui64"})
    specs.push_back(
        {std::string("sort.columns_") + type,
         {std::string("MxN:") + type},
         std::string("MxN:") + type,
         "dtensor.sort $0 dim 1 : ($T0) -> $R" + compare("LT", type)});
  specs.push_back({"sort.rows",
                   {"MxN:f32"},
                   "MxN:f32",
                   "dtensor.sort $0 dim 0 {is_stable} : ($T0) -> $R" +
                       compare("GE", "f32")});
  // By a key that is computed.
  specs.push_back({"sort.key",
                   {"MxN:f32"},
                   "MxN:f32",
                   "dtensor.sort $0 dim 1 : ($T0) -> $R {\n"
                   "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
                   "%x = dtensor.abs %a : tensor<f32>\n"
                   "%y = dtensor.abs %b : tensor<f32>\n"
                   "%r = dtensor.compare GT, %x, %y : (tensor<f32>, "
                   "tensor<f32>) -> tensor<i1>\n"
                   "dtensor.yield %r : tensor<i1>\n}"});
  // By two keys.
  specs.push_back(
      {"sort.pair",
       {"MxN:i32", "MxN:i32"},
       "MxN:i32",
       "dtensor.sort $0, $1 dim 1 : ($T0, $T1) -> ($R, $R) {\n"
       "^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, "
       "%d: tensor<i32>):\n"
       "%e = dtensor.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> "
       "tensor<i1>\n"
       "%f = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> "
       "tensor<i1>\n"
       "%g = dtensor.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> "
       "tensor<i1>\n"
       "%r = dtensor.select %e, %g, %f : (tensor<i1>, tensor<i1>, tensor<i1>) "
       "-> tensor<i1>\n"
       "dtensor.yield %r : tensor<i1>\n}"});
  for (const char *type : {"f32", "i32"}) {
    OpSpec top{std::string("top_k.") + type,
               {std::string("MxN:") + type},
               std::string("MxN/2:") + type,
               "dtensor.top_k $0 k {N/2} : $T0 -> $R, tensor<{M}x{N/2}xi32>"};
    top.others = 1;
    top.gradient = type[0] == 'f';
    specs.push_back(top);
  }
  auto reduce = [&](const std::string &name, const std::string &dims,
                    const std::string &result) {
    specs.push_back({"generic_reduce." + name,
                     {"MxN:f32", ":f32"},
                     result + ":f32",
                     "dtensor.generic_reduce $0 from $1 dims " + dims +
                         " : ($T0, $T1) -> $R {\n"
                         "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
                         "%h = dtensor.constant dense<0.5> : tensor<f32>\n"
                         "%s = dtensor.multiply %a, %h : tensor<f32>\n"
                         "%r = dtensor.add %s, %b : tensor<f32>\n"
                         "dtensor.yield %r : tensor<f32>\n}",
                     -1,
                     1,
                     true});
  };
  reduce("columns", "[1]", "M");
  reduce("rows", "[0]", "N");
  reduce("all", "[0, 1]", "");
}

void addLinearAlgebra(Specs &specs) {
  // Operand 0 with 4 added on the diagonal of its last two dims.
  const std::string square = "tensor<{M}x{N}x3x3xf32>";
  const std::string dominant =
      "  %$P_i = dtensor.iota dim 2 : " + square +
      "\n  %$P_j = dtensor.iota dim 3 : " + square +
      "\n  %$P_d = dtensor.subtract %$P_i, %$P_j : " + square +
      "\n  %$P_q = dtensor.multiply %$P_d, %$P_d : " + square +
      "\n  %$P_one = dtensor.constant dense<1.0> : " + square +
      "\n  %$P_zero = dtensor.constant dense<0.0> : " + square +
      "\n  %$P_four = dtensor.constant dense<4.0> : " + square +
      "\n  %$P_s = dtensor.subtract %$P_one, %$P_q : " + square +
      "\n  %$P_e = dtensor.maximum %$P_s, %$P_zero : " + square +
      "\n  %$P_f = dtensor.multiply %$P_e, %$P_four : " + square +
      "\n  %$P_a = dtensor.add $0, %$P_f : ($T0, " + square + ") -> " + square +
      "\n";
  for (bool lower : {false, true}) {
    OpSpec spec{lower ? "cholesky.lower" : "cholesky.upper",
                {"MxNx3x3:f32"},
                "MxNx3x3:f32",
                std::string("dtensor.cholesky %$P_a") +
                    (lower ? " {lower}" : "") + " : (" + square + ") -> $R"};
    spec.before = dominant;
    spec.gradient = true;
    specs.push_back(spec);
  }
  for (const char *options : {"left_side, lower", "left_side", "lower", "",
                              "left_side, unit_diagonal"}) {
    bool isLeft = std::string(options).find("left") != std::string::npos;
    std::string b = isLeft ? "MxNx3x2" : "MxNx2x3";
    OpSpec spec{std::string("triangular_solve.") + options,
                {"MxNx3x3:f32", b + ":f32"},
                b + ":f32",
                std::string("dtensor.triangular_solve %$P_a, $1 {") + options +
                    "} : (" + square + ", $T1) -> $R"};
    spec.before = dominant;
    spec.gradient = true;
    specs.push_back(spec);
  }
  auto fft = [&](const std::string &type, const std::string &from,
                 const std::string &to, const std::string &lengths) {
    specs.push_back({"fft." + type + from,
                     {from},
                     to,
                     "dtensor.fft $0 {fft_length = array<i64: " + lengths +
                         ">, fft_type = \"" + type + "\"} : ($T0) -> $R"});
  };
  fft("FFT", "MxNx6:complex<f32>", "MxNx6:complex<f32>", "6");
  fft("IFFT", "MxNx5:complex<f64>", "MxNx5:complex<f64>", "5");
  fft("RFFT", "MxNx7:f32", "MxNx4:complex<f32>", "7");
  fft("IRFFT", "MxNx4:complex<f32>", "MxNx6:f32", "6");
  fft("RFFT", "Mx3x4:f64", "Mx3x3:complex<f64>", "3, 4");
  OpSpec qr{"geqrf",
            {"MxNx4x3:f32"},
            "MxNx4x3:f32",
            "dtensor.geqrf $0 : ($T0) -> ($R, tensor<{M}x{N}x3xf32>)"};
  qr.others = 1;
  specs.push_back(qr);
  OpSpec wellConditioned{"geqrf.square",
                         {"MxNx3x3:f32"},
                         "MxNx3x3:f32",
                         "dtensor.geqrf %$P_a : (" + square +
                             ") -> ($R, tensor<{M}x{N}x3xf32>)"};
  wellConditioned.others = 1;
  wellConditioned.before = dominant;
  wellConditioned.gradient = true;
  specs.push_back(wellConditioned);
  // Decompositions: of each, the result that comes first. Eigenvalues and
  // singular values are far apart.
  const std::string spread =
      dominant + "  %$P_g = dtensor.multiply %$P_f, %$P_i : " + square +
      "\n  %$P_h = dtensor.add %$P_a, %$P_g : " + square + "\n";
  auto decomposed = [&](const std::string &name, const std::string &op,
                        const std::string &others, unsigned count) {
    OpSpec spec{name,
                {"MxNx3x3:f32"},
                "MxNx3x3:f32",
                "dtensor." + op + " : (" + square + ") -> ($R, " + others +
                    ")"};
    spec.others = count;
    spec.before = spread;
    spec.gradient = name != "schur" && name != "hessenberg";
    specs.push_back(spec);
  };
  decomposed("lu", "lu %$P_h", "tensor<{M}x{N}x3xi32>, tensor<{M}x{N}x3xi32>",
             2);
  decomposed("eigh", "eigh %$P_h {lower}", "tensor<{M}x{N}x3xf32>", 1);
  decomposed("svd", "svd %$P_h",
             "tensor<{M}x{N}x3xf32>, tensor<{M}x{N}x3x3xf32>", 2);
  decomposed("schur", "schur %$P_h", "tensor<{M}x{N}x3x3xf32>", 1);
  decomposed("pivoted_qr", "pivoted_qr %$P_h",
             "tensor<{M}x{N}x3xi32>, tensor<{M}x{N}x3xf32>", 2);
  decomposed("hessenberg", "hessenberg %$P_h", "tensor<{M}x{N}x2xf32>", 1);
  OpSpec eig{"eig",
             {"MxNx3x3:f32"},
             "MxNx3:complex<f32>",
             "dtensor.eig %$P_h : (" + square +
                 ") -> ($R, tensor<{M}x{N}x3x3xcomplex<f32>>)"};
  eig.others = 1;
  eig.before = spread;
  specs.push_back(eig);
  OpSpec tridiagonal{"tridiagonal_solve",
                     {"MxNx3:f32", "MxNx3x2:f32"},
                     "MxNx3x2:f32",
                     "dtensor.tridiagonal_solve $0, %$P_d, $0, $1 : ($T0, "
                     "tensor<{M}x{N}x3xf32>, $T0, $T1) -> $R"};
  tridiagonal.before =
      "  %$P_d = dtensor.constant dense<4.0> : tensor<{M}x{N}x3xf32>\n";
  tridiagonal.gradient = true;
  specs.push_back(tridiagonal);
  specs.push_back({"householder_product",
                   {"MxNx4x3:f32", "MxNx3:f32"},
                   "MxNx4x3:f32",
                   "dtensor.householder_product $0, $1 : ($T0, $T1) -> $R",
                   -1,
                   1,
                   true});
}
} // namespace

void addLibraryOps(std::vector<OpSpec> &specs) {
  addGathers(specs);
  addScatters(specs);
  addDynamicSlices(specs);
  addOrders(specs);
  addLinearAlgebra(specs);
}

} // namespace meshloom::matrix
