// Programs of Shardy's dialect mpmd run: computations with names, and fragments
// on two meshes that send each other values.
// RUN: mesh-run %s --function computations --verify | FileCheck %s
// RUN: mesh-run %s --function fragments --verify | FileCheck %s --check-prefix=FRAGMENTS
// CHECK: verify result 0 f32[8]: error {{.*}}: ok
// FRAGMENTS: verify result 0 f32[4, 8]: error {{.*}}: ok
func.func @computations(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %e = stablehlo.exponential %a : tensor<8xf32>
    mpmd.return %e : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.broadcast %0 : tensor<8xf32>
  %2 = mpmd.named_tensor %x name="input" : tensor<8xf32>
  %3 = mpmd.reduce<add> %1, %2, %x : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = mpmd.assign %3 : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  %5 = mpmd.unassign %4 : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> tensor<8xf32>
  return %5 : tensor<8xf32>
}

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
!first = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
!second = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>
func.func @fragments(%x: !first) -> !second attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%x) (%a: tensor<4x8xf32>) {
    %sum = stablehlo.add %a, %a : tensor<4x8xf32>
    mpmd.return %sum : tensor<4x8xf32>
  } : (!first) -> !first
  %1 = mpmd.transfer %0 : (!first) -> !second
  %2 = mpmd.fragment<mesh="m2", origin=["g"], stage=1> (%1) (%a: tensor<4x8xf32>) {
    %product = stablehlo.multiply %a, %a : tensor<4x8xf32>
    mpmd.return %product : tensor<4x8xf32>
  } : (!second) -> !second
  return %2 : !second
}
