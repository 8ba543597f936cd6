// What is scattered into zeros and then added to a tensor is scattered into the
// tensor, in its memory.
// RUN: mesh-opt %s --spmd-form-kernels --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 4>
#full = #dtensor.layout<#mesh, [*, *]>
#cols = #dtensor.layout<#mesh, [*, x]>
#scalar = #dtensor.layout<#mesh, []>
#table = #spmd.shard<[32, 8], #cols>
#ids = #spmd.shard<[16, 1], #full>
#updates = #spmd.shard<[16, 8], #cols>
#rate = #spmd.shard<[], #scalar>

// Plain gradient descent: table - rate * gradient.
// CHECK-LABEL: func.func @descent
// CHECK-NOT: dtensor.constant
// CHECK: %[[UPDATES:.*]] = spmd.kernel
// CHECK-SAME: (tensor<16x2xf32
// CHECK: spmd.library_call "scatter"
// CHECK-SAME: ins (%arg0 {{.*}}, %arg1 {{.*}}, %[[UPDATES]]
// CHECK-SAME: in_place [0]
// CHECK-NOT: spmd.kernel
// CHECK: return
func.func @descent(%t: tensor<32x2xf32, #table> {dtensor.alias = 0 : i64}, %i: tensor<16x1xi32, #ids>, %u: tensor<16x2xf32, #updates>, %rate: tensor<f32, #rate>) -> tensor<32x2xf32, #table> {
  %zero = dtensor.constant dense<0.0> : tensor<32x8xf32> -> tensor<32x2xf32, #table>
  %g = dtensor.scatter %zero at %i with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<32x2xf32, #table>, tensor<16x1xi32, #ids>, tensor<16x2xf32, #updates>) -> tensor<32x2xf32, #table>
  %r = dtensor.broadcast_in_dim %rate dims [] : (tensor<f32, #rate>) -> tensor<32x2xf32, #table>
  %d = dtensor.multiply %r, %g : (tensor<32x2xf32, #table>, tensor<32x2xf32, #table>) -> tensor<32x2xf32, #table>
  %n = dtensor.subtract %t, %d : (tensor<32x2xf32, #table>, tensor<32x2xf32, #table>) -> tensor<32x2xf32, #table>
  return %n : tensor<32x2xf32, #table>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#full = #dtensor.layout<#mesh, [*, *]>
#cols = #dtensor.layout<#mesh, [*, x]>
#table = #spmd.shard<[32, 8], #cols>
#ids = #spmd.shard<[16, 1], #full>
#updates = #spmd.shard<[16, 8], #cols>

// Another user needs the gradient itself.
// CHECK-LABEL: func.func @used_twice
// CHECK: %[[SUM:.*]] = spmd.library_call "scatter"
// CHECK: spmd.kernel
// CHECK-SAME: %[[SUM]]
// CHECK: return
func.func @used_twice(%t: tensor<32x2xf32, #table>, %i: tensor<16x1xi32, #ids>, %u: tensor<16x2xf32, #updates>) -> (tensor<32x2xf32, #table>, tensor<32x2xf32, #table>) {
  %zero = dtensor.constant dense<0.0> : tensor<32x8xf32> -> tensor<32x2xf32, #table>
  %g = dtensor.scatter %zero at %i with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<32x2xf32, #table>, tensor<16x1xi32, #ids>, tensor<16x2xf32, #updates>) -> tensor<32x2xf32, #table>
  %n = dtensor.add %g, %t : (tensor<32x2xf32, #table>, tensor<32x2xf32, #table>) -> tensor<32x2xf32, #table>
  return %n, %g : tensor<32x2xf32, #table>, tensor<32x2xf32, #table>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#full = #dtensor.layout<#mesh, [*, *]>
#cols = #dtensor.layout<#mesh, [*, x]>
#table = #spmd.shard<[32, 8], #cols>
#ids = #spmd.shard<[16, 1], #full>
#updates = #spmd.shard<[16, 8], #cols>

// c * a + c * b is not c * (a + b), bit by bit: a deterministic program keeps
// what was written.
// CHECK-LABEL: func.func @deterministic
// CHECK: spmd.library_call "scatter"
// CHECK: spmd.kernel
// CHECK: return
func.func @deterministic(%t: tensor<32x2xf32, #table>, %i: tensor<16x1xi32, #ids>, %u: tensor<16x2xf32, #updates>) -> tensor<32x2xf32, #table> attributes {dtensor.deterministic} {
  %zero = dtensor.constant dense<0.0> : tensor<32x8xf32> -> tensor<32x2xf32, #table>
  %c = dtensor.constant dense<0.1> : tensor<32x8xf32> -> tensor<32x2xf32, #table>
  %g = dtensor.scatter %zero at %i with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<32x2xf32, #table>, tensor<16x1xi32, #ids>, tensor<16x2xf32, #updates>) -> tensor<32x2xf32, #table>
  %d = dtensor.multiply %c, %g : (tensor<32x2xf32, #table>, tensor<32x2xf32, #table>) -> tensor<32x2xf32, #table>
  %n = dtensor.subtract %t, %d : (tensor<32x2xf32, #table>, tensor<32x2xf32, #table>) -> tensor<32x2xf32, #table>
  return %n : tensor<32x2xf32, #table>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#full = #dtensor.layout<#mesh, [*, *]>
#cols = #dtensor.layout<#mesh, [*, x]>
#table = #spmd.shard<[32, 8], #cols>
#ids = #spmd.shard<[16, 1], #full>
#updates = #spmd.shard<[16, 8], #cols>

// An infinity times the zeros of rows without updates is nan.
// CHECK-LABEL: func.func @infinite_factor
// CHECK: %[[SUM:.*]] = spmd.library_call "scatter"
// CHECK: spmd.kernel
// CHECK-SAME: %[[SUM]]
// CHECK: return
func.func @infinite_factor(%t: tensor<32x2xf32, #table>, %i: tensor<16x1xi32, #ids>, %u: tensor<16x2xf32, #updates>) -> tensor<32x2xf32, #table> {
  %zero = dtensor.constant dense<0.0> : tensor<32x8xf32> -> tensor<32x2xf32, #table>
  %g = dtensor.scatter %zero at %i with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<32x2xf32, #table>, tensor<16x1xi32, #ids>, tensor<16x2xf32, #updates>) -> tensor<32x2xf32, #table>
  %r = dtensor.constant dense<0x7F800000> : tensor<32x8xf32> -> tensor<32x2xf32, #table>
  %d = dtensor.multiply %r, %g : (tensor<32x2xf32, #table>, tensor<32x2xf32, #table>) -> tensor<32x2xf32, #table>
  %n = dtensor.add %t, %d : (tensor<32x2xf32, #table>, tensor<32x2xf32, #table>) -> tensor<32x2xf32, #table>
  return %n : tensor<32x2xf32, #table>
}
