// Kernels of few numbers may be interpreted, but only where none of the program has to be compiled.
// RUN: mesh-opt %s --function=few --target=cpu | FileCheck %s --check-prefix=FEW
// RUN: mesh-opt %s --function=mixed --target=cpu | FileCheck %s --check-prefix=MIXED

// FEW-COUNT-2: spmd.kernel {{.*}} small}
func.func @few(%x: tensor<8xf32>, %y: tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>) {
  %sum = dtensor.add %x, %x : tensor<8xf32>
  %square = dtensor.multiply %y, %y : tensor<9xf32>
  return %sum, %square : tensor<8xf32>, tensor<9xf32>
}

// MIXED: spmd.kernel
// MIXED-NOT: small}
// MIXED: return
func.func @mixed(%few: tensor<8xf32>, %many: tensor<100000xf32>) -> (tensor<8xf32>, tensor<100000xf32>) {
  %sum = dtensor.add %few, %few : tensor<8xf32>
  %square = dtensor.multiply %many, %many : tensor<100000xf32>
  return %sum, %square : tensor<8xf32>, tensor<100000xf32>
}
