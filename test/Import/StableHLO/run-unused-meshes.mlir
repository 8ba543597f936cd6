// Meshes of other numbers of devices may stand beside the one that is used, also in the annotations of private functions that nothing calls.
// RUN: mesh-run %s --verify --explain 2>&1 | FileCheck %s
// CHECK: all_gather over [x]
// CHECK: verify result 0 {{.*}}: ok
module {
  sdy.mesh @unused = <["a"=8]>
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  sdy.mesh @elsewhere = <["b"=3]>
  func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x4xf32> {
    %0 = call @called(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
  func.func private @called(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = sdy.sharding_constraint %x <@mesh, [{"y"}, {}]> : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
  func.func private @never_called(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@elsewhere, [{"b"}]>}) -> tensor<6xf32> {
    return %x : tensor<6xf32>
  }
}
