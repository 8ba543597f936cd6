// Kernels of few numbers may be interpreted where none of the program has to be compiled, or where they take a small part of a step. One op of many numbers takes as long as its machine code.
// RUN: mesh-opt %s --function=few --target=cpu | FileCheck %s --check-prefix=FEW
// RUN: mesh-opt %s --function=mixed --target=cpu | FileCheck %s --check-prefix=MIXED
// RUN: mesh-opt %s --function=part --target=cpu | FileCheck %s --check-prefix=PART
// RUN: mesh-opt %s --function=alone --target=cpu | FileCheck %s --check-prefix=ALONE

// FEW-COUNT-2: spmd.kernel {{.*}} small}
func.func @few(%x: tensor<8xf32>, %y: tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>) {
  %sum = dtensor.add %x, %x : tensor<8xf32>
  %square = dtensor.multiply %y, %y : tensor<9xf32>
  return %sum, %square : tensor<8xf32>, tensor<9xf32>
}

// MIXED: spmd.kernel
// MIXED-NOT: small}
// MIXED: return
func.func @mixed(%some: tensor<8000xf32>, %many: tensor<100000xf32>) -> (tensor<8000xf32>, tensor<100000xf32>) {
  %sum = dtensor.add %some, %some : tensor<8000xf32>
  %product = dtensor.multiply %sum, %some : tensor<8000xf32>
  %square = dtensor.multiply %many, %many : tensor<100000xf32>
  %cube = dtensor.multiply %square, %many : tensor<100000xf32>
  return %product, %cube : tensor<8000xf32>, tensor<100000xf32>
}

// Bfloat16 numbers are widened for a function as quickly as in machine code, but a constant is filled in, operands that are not dense are collected, and machine code multiplies by the inverse of a divisor and takes less for one op of bfloat16 numbers.
// ALONE: spmd.kernel {{.*}}ops = "tanh", small}
// ALONE: spmd.kernel {{.*}}ops = "multiply"}
// ALONE: spmd.kernel {{.*}}ops = "divide"}
// ALONE: spmd.kernel {{.*}}ops = "add"}
// ALONE: spmd.kernel {{.*}}ops = "exp", small}
// ALONE: spmd.kernel {{.*}}ops = "abs"}
func.func @alone(%a: tensor<100000xf32>, %b: tensor<100001xf32>, %c: tensor<100002xf32>, %rows: tensor<300xf32>, %d: tensor<400x300xf32>, %e: tensor<100003xbf16>, %f: tensor<100004xbf16>)
    -> (tensor<100000xf32>, tensor<100001xf32>, tensor<100002xf32>, tensor<400x300xf32>, tensor<100003xbf16>, tensor<100004xbf16>) {
  %tanh = dtensor.tanh %a : tensor<100000xf32>
  %three = dtensor.constant dense<3.0> : tensor<100001xf32>
  %product = dtensor.multiply %b, %three : tensor<100001xf32>
  %seven = dtensor.constant dense<7.0> : tensor<100002xf32>
  %quotient = dtensor.divide %c, %seven : tensor<100002xf32>
  %all = dtensor.broadcast_in_dim %rows dims [1] : (tensor<300xf32>) -> tensor<400x300xf32>
  %sum = dtensor.add %d, %all : tensor<400x300xf32>
  %exp = dtensor.exp %e : tensor<100003xbf16>
  %size = dtensor.abs %f : tensor<100004xbf16>
  return %tanh, %product, %quotient, %sum, %exp, %size : tensor<100000xf32>, tensor<100001xf32>, tensor<100002xf32>, tensor<400x300xf32>, tensor<100003xbf16>, tensor<100004xbf16>
}

// A mean is divided once a row, and read once for each of its elements.
// PART: spmd.kernel {{.*}}ops = "divide", small}
// PART: spmd.kernel
// PART-NOT: small}
// PART: return
func.func @part(%x: tensor<4096x768xf32>, %size: tensor<f32>) -> tensor<4096x768xf32> {
  %sum = dtensor.reduce sum %x dims [1] : (tensor<4096x768xf32>) -> tensor<4096xf32>
  %sizes = dtensor.broadcast_in_dim %size dims [] : (tensor<f32>) -> tensor<4096xf32>
  %mean = dtensor.divide %sum, %sizes : tensor<4096xf32>
  %means = dtensor.broadcast_in_dim %mean dims [0] : (tensor<4096xf32>) -> tensor<4096x768xf32>
  %difference = dtensor.subtract %x, %means : tensor<4096x768xf32>
  return %difference : tensor<4096x768xf32>
}
