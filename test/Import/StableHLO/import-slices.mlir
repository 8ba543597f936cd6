// Slices of what is joined are slices of the pieces, and over the border of two
// pieces of one value (jnp.pad(mode="wrap")) two shifts of that value.
// RUN: mesh-opt %s --stablehlo-to-dtensor --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @wrapped(%arg0: tensor<8x6xf32>)
// CHECK-DAG: %[[AFTER:.*]] = dtensor.pad %arg0, %{{.*}} low [1, 0] high [-1, 0]
// CHECK-DAG: %[[LAST:.*]] = dtensor.pad %arg0, %{{.*}} low [-7, 0] high [7, 0]
// CHECK: %[[TURNED:.*]] = dtensor.select %{{.*}}, %[[LAST]], %[[AFTER]]
// CHECK-NOT: dtensor.concatenate
// CHECK: %[[INNER:.*]] = dtensor.slice %arg0 [3:5, 0:6]
// CHECK: %[[PART:.*]] = dtensor.slice %arg0 [0:8, 1:6:2]
// CHECK: dtensor.pad %[[PART]], %{{.*}} low [-7, 0] high [7, 0]
// CHECK: dtensor.pad %[[PART]], %{{.*}} low [1, 0] high [-1, 0]
// CHECK: return %[[TURNED]], %arg0, %[[INNER]], %{{.*}}
func.func @wrapped(%x: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<2x6xf32>, tensor<8x3xf32>) {
  %last = stablehlo.slice %x [7:8, 0:6] : (tensor<8x6xf32>) -> tensor<1x6xf32>
  %first = stablehlo.slice %x [0:1, 0:6] : (tensor<8x6xf32>) -> tensor<1x6xf32>
  %p = stablehlo.concatenate %last, %x, %first, dim = 0 : (tensor<1x6xf32>, tensor<8x6xf32>, tensor<1x6xf32>) -> tensor<10x6xf32>
  %a = stablehlo.slice %p [0:8, 0:6] : (tensor<10x6xf32>) -> tensor<8x6xf32>
  %b = stablehlo.slice %p [1:9, 0:6] : (tensor<10x6xf32>) -> tensor<8x6xf32>
  %c = stablehlo.slice %p [4:6, 0:6] : (tensor<10x6xf32>) -> tensor<2x6xf32>
  %d = stablehlo.slice %p [0:8, 1:6:2] : (tensor<10x6xf32>) -> tensor<8x3xf32>
  return %a, %b, %c, %d : tensor<8x6xf32>, tensor<8x6xf32>, tensor<2x6xf32>, tensor<8x3xf32>
}

// Every other element, three pieces, pieces of several values, and none at all.
// CHECK-LABEL: func.func @others(
// CHECK: %[[JOINED:.*]] = dtensor.concatenate %arg0, %arg1, %arg0
// CHECK-DAG: dtensor.slice %[[JOINED]] [0:12:3]
// CHECK-DAG: dtensor.slice %[[JOINED]] [2:10]
// CHECK-DAG: dtensor.slice %[[JOINED]] [2:6]
// CHECK-DAG: dtensor.slice %arg1 [1:3]
// CHECK: return
func.func @others(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<2xf32>, tensor<0xf32>) {
  %p = stablehlo.concatenate %x, %y, %x, dim = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  %a = stablehlo.slice %p [0:12:3] : (tensor<12xf32>) -> tensor<4xf32>
  %b = stablehlo.slice %p [2:10] : (tensor<12xf32>) -> tensor<8xf32>
  %c = stablehlo.slice %p [2:6] : (tensor<12xf32>) -> tensor<4xf32>
  %d = stablehlo.slice %p [5:7] : (tensor<12xf32>) -> tensor<2xf32>
  %e = stablehlo.slice %p [5:5] : (tensor<12xf32>) -> tensor<0xf32>
  return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<2xf32>, tensor<0xf32>
}

// A slice of a slice takes every sixth element.
// CHECK-LABEL: func.func @strided(
// CHECK: %[[SLICE:.*]] = dtensor.slice %arg0 [1:20:6, 0:4]
// CHECK-NEXT: return %[[SLICE]]
func.func @strided(%x: tensor<21x4xf32>) -> tensor<4x4xf32> {
  %s = stablehlo.slice %x [1:21:2, 0:4] : (tensor<21x4xf32>) -> tensor<10x4xf32>
  %p = stablehlo.concatenate %s, %s, dim = 1 : (tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<10x8xf32>
  %r = stablehlo.slice %p [0:10:3, 0:4] : (tensor<10x8xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// Takes along two dims are one gather by pairs of indices; takes that read a
// slice more than twice, and those along one dim, are two.
// CHECK-LABEL: func.func @taken(
// CHECK: %[[TAKEN:.*]] = dtensor.gather %arg0, %arg2
// CHECK: %[[PAIRS:.*]] = dtensor.concatenate %{{.*}}, %{{.*}} dim 2 : {{.*}} -> tensor<3x4x2xi32>
// CHECK: dtensor.gather %arg0, %[[PAIRS]] {collapsed_slice_dims = array<i64: 0, 1>, index_vector_dim = 2 : i64, offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 1, 5>, start_index_map = array<i64: 0, 1>}
// CHECK: dtensor.gather %[[TAKEN]], %arg3
func.func @taken(%x: tensor<8x4x5xf32>, %i: tensor<3xi32>, %j: tensor<4x1xi32>, %k: tensor<20x1xi32>) -> (tensor<3x4x5xf32>, tensor<20x4x5xf32>) {
  %a = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 8, 1, 5>}> : (tensor<8x4x5xf32>, tensor<4x1xi32>) -> tensor<8x4x5xf32>
  %b = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4, 5>}> : (tensor<8x4x5xf32>, tensor<3xi32>) -> tensor<3x4x5xf32>
  %c = "stablehlo.gather"(%a, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4, 5>}> : (tensor<8x4x5xf32>, tensor<20x1xi32>) -> tensor<20x4x5xf32>
  return %b, %c : tensor<3x4x5xf32>, tensor<20x4x5xf32>
}
