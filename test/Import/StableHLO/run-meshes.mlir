// Programs on several meshes, of one device or in an order of their own, run
// everywhere and give what they say.
// RUN: split-file %s %t
// RUN: mesh-run %t/two.mlir --verify | FileCheck %s --check-prefix=TWO
// RUN: mesh-run %t/two.mlir --verify --private-memories | FileCheck %s --check-prefix=TWO
// RUN: mesh-run %t/two.mlir --verify --platform=reference | FileCheck %s --check-prefix=TWO
// RUN: mesh-run %t/two.mlir --explain | FileCheck %s --check-prefix=NOTES
// RUN: mesh-run %t/order.mlir --verify | FileCheck %s --check-prefix=ORDER
// RUN: mesh-run %t/order.mlir --verify --private-memories | FileCheck %s --check-prefix=ORDER
// RUN: mesh-run %t/order.mlir --emit-program=%t/order.mlprog
// RUN: mesh-run %t/order.mlprog --private-memories | FileCheck %s --check-prefix=SAVED

// TWO: result 0 f32[8, 8] [p, *] [
// TWO-NEXT: result 1 f32[8, 8] [
// TWO-NEXT: verify result 0 {{.*}} ok
// TWO-NEXT: verify result 1 {{.*}} ok
// NOTES: not as asked: a value at {{.*}}two.mlir:6:17 is to be on device 3 alone; it is laid out as if nothing was said
// NOTES: not as asked: a value at {{.*}}two.mlir:10:8 is to be on device 0 alone

// Each device's number, at its place in the mesh.
// ORDER: result 0 ui32[4] [x] [3, 0, 2, 1]
// ORDER: verify {{.*}} ok
// SAVED: result 0 ui32[4] [x] [3, 0, 2, 1]

//--- two.mlir
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["p"=4, "q"=2]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @single = <["z"=1]>
func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@a, [{"y"}, {}]>}, %w: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"q"}, {"p"}]>},
                %h: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one, []>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %h : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %1 <@single, [{"z"}, {}]> : tensor<8x8xf32>
  return %2, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}
//--- order.mlir
sdy.mesh @m = <["x"=4], device_ids=[3, 0, 2, 1]>
func.func public @main() -> tensor<4xui32> {
  %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} () {
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.reshape %1 : (tensor<ui32>) -> tensor<1xui32>
    sdy.return %2 : tensor<1xui32>
  } : () -> tensor<4xui32>
  return %0 : tensor<4xui32>
}
