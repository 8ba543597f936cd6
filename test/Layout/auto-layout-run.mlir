// A step whose layouts the compiler finds gives the numbers of the reference,
// also where a device may hold little.
// RUN: mesh-run %s --auto-layout --mesh=a=2,b=4 --machine=ring --verify | FileCheck %s
// RUN: mesh-run %s --auto-layout=100000 --mesh=a=2,b=4 --machine=ring --private-memories --verify | FileCheck %s
// RUN: not mesh-run %s --auto-layout=100 --mesh=a=2,b=4 --machine=ring 2>&1 | FileCheck %s --check-prefix=MEMORY
// CHECK: verify result 2 {{.*}}: ok
// MEMORY: error: no layouts, values to compute again and microbatches were found with which a device holds at most 100 bytes
module attributes {dtensor.open_signature} {
  func.func @main(%w: tensor<32x24xf32> {dtensor.alias = 0 : i64}, %v: tensor<24x8xf32> {dtensor.alias = 1 : i64}, %x: tensor<64x32xf32>)
      -> (tensor<32x24xf32>, tensor<24x8xf32>, tensor<64x8xf32>) {
    %h = dtensor.dot_general %x, %w contracting [1] x [0] : (tensor<64x32xf32>, tensor<32x24xf32>) -> tensor<64x24xf32>
    %t = dtensor.tanh %h : (tensor<64x24xf32>) -> tensor<64x24xf32>
    %y = dtensor.dot_general %t, %v contracting [1] x [0] : (tensor<64x24xf32>, tensor<24x8xf32>) -> tensor<64x8xf32>
    %dv = dtensor.dot_general %t, %y contracting [0] x [0] : (tensor<64x24xf32>, tensor<64x8xf32>) -> tensor<24x8xf32>
    %dh = dtensor.dot_general %y, %v contracting [1] x [1] : (tensor<64x8xf32>, tensor<24x8xf32>) -> tensor<64x24xf32>
    %dw = dtensor.dot_general %x, %dh contracting [0] x [0] : (tensor<64x32xf32>, tensor<64x24xf32>) -> tensor<32x24xf32>
    %nw = dtensor.subtract %w, %dw : (tensor<32x24xf32>, tensor<32x24xf32>) -> tensor<32x24xf32>
    %nv = dtensor.subtract %v, %dv : (tensor<24x8xf32>, tensor<24x8xf32>) -> tensor<24x8xf32>
    return %nw, %nv, %y : tensor<32x24xf32>, tensor<24x8xf32>, tensor<64x8xf32>
  }
}
