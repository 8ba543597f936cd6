// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches for the execution matrix: carried and captured values in
// every layout.
#include "Ops.h"

namespace meshloom::matrix {

void addControl(std::vector<OpSpec> &specs) {
  const std::string tensor = "tensor<$Mx$Nxf32>";
  const std::string zero =
      "%$P_zero = dtensor.constant dense<0> : tensor<i32>\n";
  const std::string condition =
      "^bb0(%u: " + tensor +
      ", %i: tensor<i32>):\n"
      "%n = dtensor.constant dense<3> : tensor<i32>\n"
      "%p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\n"
      "dtensor.yield %p : tensor<i1>\n";
  auto loop = [&](const std::string &name, const std::string &body,
                  const std::string &types, size_t operands) {
    OpSpec spec;
    spec.name = "while." + name;
    spec.operands.assign(operands, "MxN:f32");
    spec.result = "MxN:f32";
    spec.before = zero;
    spec.body = "dtensor.while ($0, %$P_zero) : ($T0, tensor<i32>) -> ($R, "
                "tensor<i32>) cond {\n" +
                condition + "} do {\n^bb0(%u: " + tensor +
                ", %i: tensor<i32>):\n"
                "%one = dtensor.constant dense<1> : tensor<i32>\n"
                "%j = dtensor.add %i, %one : tensor<i32>\n" +
                body + "dtensor.yield %v, %j : " + types + ", tensor<i32>\n}";
    spec.others = 1;
    spec.gradient = true;
    specs.push_back(std::move(spec));
  };
  loop("captured",
       "%m = dtensor.multiply %u, $1 : (" + tensor + ", $T1) -> " + tensor +
           "\n%v = dtensor.sine %m : " + tensor + "\n",
       tensor, 2);
  loop("sum",
       "%s = dtensor.reduce sum $1 dims [0] : ($T1) -> tensor<$Nxf32>\n"
       "%b = dtensor.broadcast_in_dim %s dims [1] : (tensor<$Nxf32>) -> " +
           tensor + "\n%v = dtensor.add %u, %b : " + tensor + "\n",
       tensor, 2);
  loop("rows",
       "%s = dtensor.reduce max %u dims [1] : (" + tensor +
           ") -> tensor<$Mxf32>\n"
           "%b = dtensor.broadcast_in_dim %s dims [0] : (tensor<$Mxf32>) -> " +
           tensor + "\n%v = dtensor.subtract %u, %b : " + tensor + "\n",
       tensor, 1);
  loop("branch",
       "%v = dtensor.case %i : (tensor<i32>) -> " + tensor +
           " {\n"
           "%e = dtensor.tanh %u : " +
           tensor + "\ndtensor.yield %e : " + tensor +
           "\n}, {\n"
           "%m = dtensor.multiply %u, $1 : (" +
           tensor + ", $T1) -> " + tensor + "\ndtensor.yield %m : " + tensor +
           "\n}, {\ndtensor.yield $1 : $T1\n}\n",
       tensor, 2);

  OpSpec branch;
  branch.name = "case";
  branch.operands = {"MxN:f32", "MxN:f32", ":i32"};
  branch.result = "MxN:f32";
  branch.body = "dtensor.case $2 : ($T2) -> $R {\n"
                "%s = dtensor.add $0, $1 : ($T0, $T1) -> " +
                tensor + "\ndtensor.yield %s : " + tensor +
                "\n}, {\ndtensor.yield $0 : $T0\n}, {\n"
                "%m = dtensor.multiply $0, $1 : ($T0, $T1) -> " +
                tensor + "\ndtensor.yield %m : " + tensor + "\n}";
  branch.gradient = true;
  specs.push_back(std::move(branch));
}

} // namespace meshloom::matrix
