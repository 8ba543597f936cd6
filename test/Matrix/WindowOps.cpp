// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of the execution matrix for convolutions, windows and running
// reductions: M and N are the batch and a spatial dim, or two spatial dims, so
// that windows reach over one and over several shards.
#include "Ops.h"

namespace meshloom::matrix {
namespace {

OpSpec convolution(const std::string &name, const std::string &lhs,
                   const std::string &rhs, const std::string &result,
                   const std::string &attributes,
                   const std::string &type = "f32") {
  return {"convolution." + name,
          {lhs + ":" + type, rhs + ":" + type},
          result + ":" + type,
          "dtensor.convolution $0, $1 " + attributes + " : ($T0, $T1) -> $R",
          -1,
          1,
          isFloat(type)};
}

/// The init value is the last operand.
OpSpec window(const std::string &kind, const std::string &name,
              const std::string &from, const std::string &to,
              const std::string &attributes, const std::string &type = "f32") {
  return {"reduce_window_" + kind + "." + name,
          {from + ":" + type, ":" + type},
          to + ":" + type,
          "dtensor.reduce_window " + kind + " $0 init $1 " + attributes +
              " : ($T0, $T1) -> $R",
          -1,
          1,
          isFloat(type)};
}

OpSpec cumulative(const std::string &kind, const std::string &attributes,
                  const std::string &name, const std::string &type = "f32") {
  return {"cumulative_" + kind + "." + name,
          {"MxN:" + type},
          "MxN:" + type,
          "dtensor.cumulative " + kind + " $0 " + attributes + " : ($T0) -> $R",
          0.5,
          1.5,
          isFloat(type)};
}

} // namespace

void addWindows(std::vector<OpSpec> &specs) {
  const std::string nwc = "dims [b, 0, f] x [0, i, o] -> [b, 0, f] ";
  const std::string plane = "dims [0, 1, b, f] x [0, 1, i, o] -> [0, 1, b, f] ";
  for (const char *type : {"f32", "f64", "bf16", "i32"})
    specs.push_back(convolution("same_" + std::string(type), "MxNx3", "3x3x4",
                                "MxNx4", nwc + "padding [1, 1]", type));
  specs.push_back(convolution("valid", "MxN+2x2", "3x2x3", "MxNx3", nwc));
  specs.push_back(convolution("stride", "MxNx2", "3x2x3", "Mx(N+1)/2x3",
                              nwc + "strides [2] padding [1, 1]"));
  specs.push_back(convolution("spread", "MxNx2", "3x2x3", "MxN*2x3",
                              nwc + "padding [1, 2] lhs_dilation [2]"));
  specs.push_back(convolution("dilated", "MxNx2", "2x2x3", "MxNx3",
                              nwc + "padding [3, 0] rhs_dilation [3]"));
  specs.push_back(convolution("reversed", "MxNx2", "4x2x3", "MxN-1x3",
                              nwc + "padding [1, 1] reversal [1]"));
  specs.push_back(convolution("cropped", "MxN+3x2", "2x2x3", "MxNx3",
                              nwc + "padding [-1, -1]"));
  specs.push_back(convolution("features", "2x5xM", "3xMxN", "2x3xN", nwc));
  specs.push_back(convolution("feature_groups", "2x5xN*2", "3x2xM*N", "2x3xM*N",
                              nwc + "feature_groups $N"));
  specs.push_back(convolution("depthwise", "2xMxN", "3x1xN", "2xMxN",
                              nwc + "padding [1, 1] feature_groups $N"));
  specs.push_back(convolution("batch_groups", "N*2x5xM", "3xMxN*2", "2x3xN*2",
                              nwc + "batch_groups $N"));
  // The kernel is larger than the result: its elements are summed over.
  specs.push_back(convolution("wide_kernel", "3xN+2x2", "Nx2xM", "3x3xM", nwc));
  specs.push_back(convolution("whole", "MxNx2", "Nx2x3", "Mx1x3", nwc));
  specs.push_back(convolution("plane", "MxNx2x1", "3x3x1x2", "MxNx2x2",
                              plane + "padding [1, 1, 2, 0]"));
  specs.push_back(convolution("far", "MxNx1x1", "6x1x1x2", "MxNx1x2",
                              plane + "padding [5, 0, 0, 0]"));
  specs.push_back(convolution("other_order", "NxMx2", "2x3x2", "3xNxM",
                              "dims [0, b, f] x [i, o, 0] -> [f, 0, b] "
                              "padding [0, 1]"));

  specs.push_back(window("max", "same", "MxN", "MxN",
                         "window [3, 3] padding [1, 1, 1, 1]"));
  specs.push_back(window("max", "stride", "MxNx2", "Mx(N+1)/2x2",
                         "window [1, 3, 1] strides [1, 2, 1] padding [0, 0, 1, "
                         "1, 0, 0]"));
  specs.push_back(window("max", "cropped", "M+2xN", "MxN",
                         "window [3, 1] padding [1, -1, 0, 0]"));
  specs.push_back(window("sum", "same", "MxN", "MxN",
                         "window [2, 3] padding [0, 1, 1, 1]"));
  specs.push_back(
      window("sum", "far", "MxN", "MxN", "window [5, 1] padding [4, 0, 0, 0]"));
  specs.push_back(window("sum", "bf16", "MxN", "MxN",
                         "window [1, 4] padding [0, 0, 2, 1]", "bf16"));
  specs.push_back(window("sum", "dilated", "MxN", "MxN*2",
                         "window [2, 3] padding [1, 1, 2, 1] base_dilations "
                         "[1, 2] window_dilations [2, 1]"));
  specs.push_back(window("min", "dilated", "MxN", "MxN",
                         "window [3, 1] padding [4, 0, 0, 0] window_dilations "
                         "[2, 1]"));
  specs.push_back(window("prod", "stride", "MxN", "(M+1)/2xN",
                         "window [2, 1] strides [2, 1] padding [0, 1, 0, 0]"));
  specs.push_back(window("sum", "i32", "MxN", "MxN",
                         "window [5, 1] padding [2, 2, 0, 0]", "i32"));
  specs.push_back(window("or", "i1", "MxN", "MxN",
                         "window [1, 3] padding [0, 0, 1, 1]", "i1"));
  specs.push_back(
      {"reduce_window.two",
       {"MxN:f32", "MxN:f32", ":f32", ":f32"},
       "MxN:f32",
       "dtensor.reduce_window $0, $1 init $2, $3 window [3, 2] padding [1, 1, "
       "1, 0] : ($T0, $T1, $T2, $T3) -> ($R, $R) {\n"
       "^bb0(%a: tensor<f32>, %ai: tensor<f32>, %b: tensor<f32>, "
       "%bi: tensor<f32>):\n"
       "%c = dtensor.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> "
       "tensor<i1>\n"
       "%v = dtensor.select %c, %a, %b : (tensor<i1>, tensor<f32>, "
       "tensor<f32>) -> tensor<f32>\n"
       "%n = dtensor.select %c, %ai, %bi : (tensor<i1>, tensor<f32>, "
       "tensor<f32>) -> tensor<f32>\n"
       "dtensor.yield %v, %n : tensor<f32>, tensor<f32>\n}",
       -1,
       1,
       true});

  auto scatter = [&](const std::string &name, const std::string &operand,
                     const std::string &source, const std::string &kinds,
                     const std::string &attributes, const std::string &type) {
    specs.push_back({"select_and_scatter." + name,
                     {operand + ":" + type, source + ":" + type, ":" + type},
                     operand + ":" + type,
                     "dtensor.select_and_scatter $0, $1 init $2 " + kinds +
                         " " + attributes + " : ($T0, $T1, $T2) -> $R",
                     -1,
                     1,
                     isFloat(type)});
  };
  scatter("max", "MxN", "M/2xN", "select max scatter sum",
          "window [2, 1] strides [2, 1]", "f32");
  scatter("overlap", "MxN", "MxN", "select max scatter sum",
          "window [3, 2] padding [1, 1, 1, 0]", "f32");
  scatter("min", "MxNx2", "Mx(N+1)/2x2", "select min scatter sum",
          "window [1, 3, 1] strides [1, 2, 1] padding [0, 0, 1, 1, 0, 0]",
          "f32");
  scatter("bf16", "MxN", "MxN", "select max scatter sum",
          "window [1, 3] padding [0, 0, 1, 1]", "bf16");
  scatter("prod", "MxN", "MxN", "select max scatter prod",
          "window [3, 1] padding [0, 2, 0, 0]", "f64");

  for (const char *kind : {"sum", "prod", "max", "min"}) {
    specs.push_back(cumulative(kind, "dim 0", "rows"));
    specs.push_back(cumulative(kind, "dim 1 reverse", "columns"));
  }
  specs.push_back(cumulative("sum", "dim 0", "bf16", "bf16"));
  specs.push_back(cumulative("sum", "dim 1", "i32", "i32"));
  specs.push_back(cumulative("or", "dim 0 reverse", "i1", "i1"));
}

} // namespace meshloom::matrix
