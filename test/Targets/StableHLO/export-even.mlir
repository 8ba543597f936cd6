// Each collective of even shards becomes StableHLO's one of the same name, with
// a mesh axis' devices as its groups.
// RUN: mesh-opt %s --split-input-file --spmd-to-stablehlo | FileCheck %s

#mesh = #dtensor.mesh<x = 2, y = 4>
#whole = #dtensor.layout<#mesh, [*, *]>
#rows = #dtensor.layout<#mesh, [y, *]>
#columns = #dtensor.layout<#mesh, [*, y]>
#sum = #dtensor.layout<#mesh, [*, *] partial<y: sum>>
#first = #dtensor.layout<#mesh, [x, y, *, *]>
#last = #dtensor.layout<#mesh, [*, *, y, x]>

// What the driver needs is on arguments and results.
// CHECK: module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 8 : i32}
// CHECK-LABEL: func.func @all_gather(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x4xf32> {meshloom.boxes =
// CHECK-SAME: [0, 2], [0, 4]{{\], \[}}[2, 4], [0, 4]
// CHECK-SAME: meshloom.shape = [8, 4]
// CHECK: "stablehlo.all_gather"(%[[X]])
// CHECK-SAME: all_gather_dim = 0
// CHECK-SAME: replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
// CHECK-SAME: (tensor<2x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return
func.func @all_gather(%x: tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>) -> tensor<8x4xf32, #spmd.shard<[8, 4], #whole>> {
  %0 = spmd.all_gather over [y] %x : (tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>) -> tensor<8x4xf32, #spmd.shard<[8, 4], #whole>>
  return %0 : tensor<8x4xf32, #spmd.shard<[8, 4], #whole>>
}

// CHECK-LABEL: func.func @all_to_all(
// CHECK: "stablehlo.all_to_all"
// CHECK-SAME: concat_dimension = 0 : i64
// CHECK-SAME: split_count = 4 : i64, split_dimension = 1 : i64
// CHECK-SAME: (tensor<2x4xf32>) -> tensor<8x1xf32>
// CHECK-NEXT: return
func.func @all_to_all(%x: tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>) -> tensor<8x1xf32, #spmd.shard<[8, 4], #columns>> {
  %0 = spmd.all_to_all over [y] %x : (tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>) -> tensor<8x1xf32, #spmd.shard<[8, 4], #columns>>
  return %0 : tensor<8x1xf32, #spmd.shard<[8, 4], #columns>>
}

// Two dims give their axes to two others: one exchange of blocks.
// CHECK-LABEL: func.func @several_dims(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x2x8x4xf32> {
// CHECK: %[[CUT:.*]] = stablehlo.reshape %[[X]] : (tensor<4x2x8x4xf32>) -> tensor<1x4x1x2x4x2x2x2xf32>
// CHECK: stablehlo.transpose %[[CUT]], dims = [0, 2, 4, 6, 1, 3, 5, 7]
// CHECK: stablehlo.reshape
// CHECK-SAME: -> tensor<8x4x2x2x2xf32>
// CHECK: "stablehlo.all_to_all"
// CHECK-SAME: concat_dimension = 0 : i64
// CHECK-SAME: dense<{{\[\[}}0, 4, 1, 5, 2, 6, 3, 7]]>
// CHECK-SAME: split_count = 8 : i64, split_dimension = 0 : i64
// CHECK: %[[PARTS:.*]] = stablehlo.reshape
// CHECK-SAME: -> tensor<4x2x4x2x2x2xf32>
// CHECK: stablehlo.transpose %[[PARTS]], dims = [1, 2, 0, 3, 4, 5]
// CHECK: stablehlo.reshape
// CHECK-SAME: -> tensor<8x8x2x2xf32>
func.func @several_dims(%x: tensor<4x2x8x4xf32, #spmd.shard<[8, 8, 8, 4], #first>>) -> tensor<8x8x2x2xf32, #spmd.shard<[8, 8, 8, 4], #last>> {
  %0 = spmd.all_to_all over [x, y] %x : (tensor<4x2x8x4xf32, #spmd.shard<[8, 8, 8, 4], #first>>) -> tensor<8x8x2x2xf32, #spmd.shard<[8, 8, 8, 4], #last>>
  return %0 : tensor<8x8x2x2xf32, #spmd.shard<[8, 8, 8, 4], #last>>
}

// A device finds its part by its number.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[X:[^:]*]]: tensor<8x4xf32> {
// CHECK: stablehlo.replica_id
// CHECK: dense<[0, 2, 4, 6, 0, 2, 4, 6]> : tensor<8xi32>
// CHECK: stablehlo.dynamic_slice %[[X]]
// CHECK-SAME: sizes = [2, 4]
func.func @slice(%x: tensor<8x4xf32, #spmd.shard<[8, 4], #whole>>) -> tensor<2x4xf32, #spmd.shard<[8, 4], #rows>> {
  %0 = spmd.slice over [y] %x : (tensor<8x4xf32, #spmd.shard<[8, 4], #whole>>) -> tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>
  return %0 : tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>
}

// The contraction over a cut dim is partial: all_reduce and reduce_scatter.
// CHECK-LABEL: func.func @reductions(
// CHECK: %[[P:.*]] = stablehlo.dot_general
// CHECK: "stablehlo.all_reduce"(%[[P]])
// CHECK: stablehlo.add
// CHECK: "stablehlo.reduce_scatter"(%[[P]])
// CHECK-SAME: scatter_dimension = 0
// CHECK: (tensor<8x4xf32>) -> tensor<2x4xf32>
func.func @reductions(%a: tensor<8x1xf32, #spmd.shard<[8, 4], #columns>>, %b: tensor<1x4xf32, #spmd.shard<[4, 4], #rows>>)
    -> (tensor<8x4xf32, #spmd.shard<[8, 4], #whole>>, tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>) {
  %p = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<8x1xf32, #spmd.shard<[8, 4], #columns>>, tensor<1x4xf32, #spmd.shard<[4, 4], #rows>>) -> tensor<8x4xf32, #spmd.shard<[8, 4], #sum>>
  %0 = spmd.all_reduce sum over [y] %p : (tensor<8x4xf32, #spmd.shard<[8, 4], #sum>>) -> tensor<8x4xf32, #spmd.shard<[8, 4], #whole>>
  %1 = spmd.reduce_scatter sum over [y] %p : (tensor<8x4xf32, #spmd.shard<[8, 4], #sum>>) -> tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>
  return %0, %1 : tensor<8x4xf32, #spmd.shard<[8, 4], #whole>>, tensor<2x4xf32, #spmd.shard<[8, 4], #rows>>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#xy = #dtensor.layout<#mesh, [{x, y}]>
#yx = #dtensor.layout<#mesh, [{y, x}]>

// CHECK-LABEL: func.func @permute(
// CHECK: "stablehlo.collective_permute"
// CHECK-SAME: source_target_pairs = dense<{{\[\[}}0, 0], [2, 1], [1, 2], [3, 3]]>
// CHECK-NEXT: return
func.func @permute(%x: tensor<2xf32, #spmd.shard<[8], #xy>>) -> tensor<2xf32, #spmd.shard<[8], #yx>> {
  %0 = spmd.permute over [x, y] %x : (tensor<2xf32, #spmd.shard<[8], #xy>>) -> tensor<2xf32, #spmd.shard<[8], #yx>>
  return %0 : tensor<2xf32, #spmd.shard<[8], #yx>>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>

// Each device sends the other one row; both pieces travel in permutes.
// CHECK-LABEL: func.func @halo(
// CHECK: "stablehlo.collective_permute"
// CHECK-SAME: source_target_pairs = dense<{{\[\[}}0, 1]]>
// CHECK-SAME: tensor<1xf32>
// CHECK: "stablehlo.collective_permute"
// CHECK-SAME: source_target_pairs = dense<{{\[\[}}1, 0]]>
// CHECK: stablehlo.concatenate
func.func @halo(%x: tensor<5xf32, #spmd.shard<[10], #rows>>) -> tensor<5xf32, #spmd.shard<[10], #rows>> {
  %0 = spmd.halo_exchange over [x] %x : (tensor<5xf32, #spmd.shard<[10], #rows>>) -> tensor<6xf32, #spmd.shard<[10], #rows, windows [[0:6, 4:10]]>>
  %1 = dtensor.slice %0 [0:10] : (tensor<6xf32, #spmd.shard<[10], #rows, windows [[0:6, 4:10]]>>) -> tensor<5xf32, #spmd.shard<[10], #rows>>
  return %1 : tensor<5xf32, #spmd.shard<[10], #rows>>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#whole = #dtensor.layout<#mesh, []>

// An init value that is no identity lies in the padding, and is added once.
// CHECK-LABEL: func.func @reduce_window_init(
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[P:.*]] = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [0, 1], interior = [0, 0]
// CHECK: %[[R:.*]] = "stablehlo.reduce_window"(%[[P]], %[[ZERO]])
// CHECK: %[[I:.*]] = stablehlo.broadcast_in_dim %arg1
// CHECK: stablehlo.add %[[I]], %[[R]]
func.func @reduce_window_init(%x: tensor<4x6xf32, #spmd.shard<[8, 6], #rows>>, %i: tensor<f32, #spmd.shard<[], #whole>>) -> tensor<4x6xf32, #spmd.shard<[8, 6], #rows>> {
  %0 = dtensor.reduce_window sum %x init %i window [1, 3] padding [0, 0, 1, 1] : (tensor<4x6xf32, #spmd.shard<[8, 6], #rows>>, tensor<f32, #spmd.shard<[], #whole>>) -> tensor<4x6xf32, #spmd.shard<[8, 6], #rows>>
  return %0 : tensor<4x6xf32, #spmd.shard<[8, 6], #rows>>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#cut = #dtensor.layout<#mesh, [x, *, *]>
#taus = #dtensor.layout<#mesh, [x, *]>

// QR is what XLA's compilers expand themselves: no library is called.
// CHECK-LABEL: func.func @qr(
// CHECK: %[[F:.*]]:2 = stablehlo.custom_call @Qr(%arg0) : 
// CHECK: stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%[[F]]#0, %[[F]]#1)
func.func @qr(%x: tensor<1x4x4xf32, #spmd.shard<[2, 4, 4], #cut>>) -> tensor<1x4x4xf32, #spmd.shard<[2, 4, 4], #cut>> {
  %0, %1 = dtensor.geqrf %x : (tensor<1x4x4xf32, #spmd.shard<[2, 4, 4], #cut>>) -> (tensor<1x4x4xf32, #spmd.shard<[2, 4, 4], #cut>>, tensor<1x4xf32, #spmd.shard<[2, 4], #taus>>)
  %2 = dtensor.householder_product %0, %1 : (tensor<1x4x4xf32, #spmd.shard<[2, 4, 4], #cut>>, tensor<1x4xf32, #spmd.shard<[2, 4], #taus>>) -> tensor<1x4x4xf32, #spmd.shard<[2, 4, 4], #cut>>
  return %2 : tensor<1x4x4xf32, #spmd.shard<[2, 4, 4], #cut>>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>

// A result may take the memory of an argument that is laid out like it. Addends
// of partial values are what they are, and said to be.
// CHECK-LABEL: func.func @alias(
// CHECK-SAME: %arg0: tensor<2xf32> {meshloom.boxes =
// CHECK-SAME: tf.aliasing_output = 1 : i32}
// CHECK-SAME: %arg1: tensor<4xf32> {
// CHECK-SAME: meshloom.partial = {x = "sum"}
// CHECK-NOT: tf.aliasing_output
// CHECK: meshloom.partial = {x = "sum"}
// CHECK: return
func.func @alias(%x: tensor<2xf32, #spmd.shard<[4], #rows>> {dtensor.alias = 1 : i64}, %y: tensor<4xf32, #spmd.shard<[4], #sum>> {dtensor.alias = 1 : i64}) -> (tensor<4xf32, #spmd.shard<[4], #sum>>, tensor<2xf32, #spmd.shard<[4], #rows>>) {
  return %y, %x : tensor<4xf32, #spmd.shard<[4], #sum>>, tensor<2xf32, #spmd.shard<[4], #rows>>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#vectors = #dtensor.layout<#mesh, [x, *]>
#whole = #dtensor.layout<#mesh, [*]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>

// Each device adds its own updates: what they are added to counts on the first
// one only.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: %[[X:[^:]*]]: tensor<3xf32> {
// CHECK: %[[FIRST:.*]] = stablehlo.compare EQ
// CHECK: %[[HERE:.*]] = stablehlo.broadcast_in_dim %[[FIRST]]
// CHECK: %[[INTO:.*]] = stablehlo.select %[[HERE]], %[[X]], %{{.*}} : tensor<3xi1>, tensor<3xf32>
// CHECK: "stablehlo.scatter"(%[[INTO]], %arg1, %arg2)
func.func @scatter(%x: tensor<3xf32, #spmd.shard<[3], #whole>>, %i: tensor<2x1xi32, #spmd.shard<[4, 1], #vectors>>, %u: tensor<2xf32, #spmd.shard<[4], #rows>>) -> tensor<3xf32, #spmd.shard<[3], #sum>> {
  %0 = dtensor.scatter %x at %i with %u {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>, scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<3xf32, #spmd.shard<[3], #whole>>, tensor<2x1xi32, #spmd.shard<[4, 1], #vectors>>, tensor<2xf32, #spmd.shard<[4], #rows>>) -> tensor<3xf32, #spmd.shard<[3], #sum>>
  return %0 : tensor<3xf32, #spmd.shard<[3], #sum>>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#whole = #dtensor.layout<#mesh, [*]>
#scalar = #dtensor.layout<#mesh, []>

// A slice's start is clamped by itself: XLA merges slices of slices, and leaves
// the first one's clamp out.
// CHECK-LABEL: func.func @dynamic_slice(
// CHECK: %[[START:.*]] = stablehlo.clamp %{{.*}}, %arg1, %{{.*}} : tensor<i32>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[START]] : (tensor<i32>) -> tensor<i64>
// CHECK: stablehlo.dynamic_slice %arg0, %[[WIDE]], sizes = [2]
func.func @dynamic_slice(%x: tensor<4xf32, #spmd.shard<[4], #whole>>, %i: tensor<i32, #spmd.shard<[], #scalar>>) -> tensor<2xf32, #spmd.shard<[2], #whole>> {
  %0 = dtensor.dynamic_slice %x at %i sizes [2] : (tensor<4xf32, #spmd.shard<[4], #whole>>, tensor<i32, #spmd.shard<[], #scalar>>) -> tensor<2xf32, #spmd.shard<[2], #whole>>
  return %0 : tensor<2xf32, #spmd.shard<[2], #whole>>
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 4>
// Eigenvectors of real matrices, by the call that XLA expands, get the signs that
// the op defines.
#batch = #dtensor.layout<#mesh, [y, *, *]>
#values = #dtensor.layout<#mesh, [y, *]>
// CHECK-LABEL: func.func @eigh(
// CHECK: stablehlo.custom_call @Eigh(%arg0) {backend_config = "1,1,100,1e-6"}
// CHECK: stablehlo.sign
// CHECK: return
func.func @eigh(%a: tensor<1x5x5xf32, #spmd.shard<[4, 5, 5], #batch>>) -> (tensor<1x5x5xf32, #spmd.shard<[4, 5, 5], #batch>>, tensor<1x5xf32, #spmd.shard<[4, 5], #values>>) {
  %v, %w = dtensor.eigh %a {lower} : (tensor<1x5x5xf32, #spmd.shard<[4, 5, 5], #batch>>) -> (tensor<1x5x5xf32, #spmd.shard<[4, 5, 5], #batch>>, tensor<1x5xf32, #spmd.shard<[4, 5], #values>>)
  return %v, %w : tensor<1x5x5xf32, #spmd.shard<[4, 5, 5], #batch>>, tensor<1x5xf32, #spmd.shard<[4, 5], #values>>
}
