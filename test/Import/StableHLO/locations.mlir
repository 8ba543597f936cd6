// Ranges in locations, which newer releases of MLIR print and ours cannot read,
// are cut to their begins; nothing else changes its place.
// RUN: mesh-opt --mlir-print-debuginfo %s | FileCheck %s

// CHECK-LABEL: func.func @f
func.func @f(%x: tensor<4xf32> loc("a to :3")) -> tensor<4xf32> {
  // CHECK: stablehlo.negate {{.*}} loc(#[[NEGATE:.*]])
  %0 = stablehlo.negate %x : tensor<4xf32> loc(#loc2)
  // CHECK: stablehlo.constant {text = "f.py\22:1:2 to :3"} dense<1.000000e+00>
  %1 = stablehlo.constant {text = "f.py\22:1:2 to :3"} dense<1.0> : tensor<4xf32> loc("f.py":1:2 to 3:4)
  return %0 : tensor<4xf32>
}
// CHECK: loc("f.py":41:45)
#loc1 = loc("f.py":41:45 to :90)
// CHECK: #[[NEGATE]] = loc("jit(f)/neg"(
#loc2 = loc("jit(f)/neg"(#loc1))
