// The library multiplies bf16 into f32 and bytes into i32 as they lie, also
// where the program converts them first; products of few bytes are kernels.
// RUN: mesh-opt %s --target=cpu --function=halves | FileCheck %s --check-prefix=HALVES
// RUN: mesh-opt %s --target=cpu --function=converted_halves | FileCheck %s --check-prefix=HALVES
// RUN: mesh-opt %s --target=cpu --function=bytes | FileCheck %s --check-prefix=BYTES
// RUN: mesh-opt %s --target=cpu --function=mixed_bytes | FileCheck %s --check-prefix=MIXED
// RUN: mesh-opt %s --target=cpu --function=square | FileCheck %s --check-prefix=SQUARE
// RUN: mesh-opt %s --target=cpu --function=few | FileCheck %s --check-prefix=FEW
// RUN: mesh-opt %s --target=cpu --function=one_converted | FileCheck %s --check-prefix=ONE

// HALVES-NOT: spmd.kernel
// HALVES: dtensor.dot_general {{.*}}bf16{{.*}} -> tensor<40x50xf32
func.func @halves(%a: tensor<40x30xbf16>, %b: tensor<30x50xbf16>) -> tensor<40x50xf32> {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<40x30xbf16>, tensor<30x50xbf16>) -> tensor<40x50xf32>
  return %0 : tensor<40x50xf32>
}

func.func @converted_halves(%a: tensor<40x30xbf16>, %b: tensor<30x50xbf16>) -> tensor<40x50xf32> {
  %0 = dtensor.convert %a : (tensor<40x30xbf16>) -> tensor<40x30xf32>
  %1 = dtensor.convert %b : (tensor<30x50xbf16>) -> tensor<30x50xf32>
  %2 = dtensor.dot_general %0, %1 contracting [1] x [0] : (tensor<40x30xf32>, tensor<30x50xf32>) -> tensor<40x50xf32>
  return %2 : tensor<40x50xf32>
}

// BYTES-NOT: arith.extui
// BYTES: dtensor.dot_general {{.*}}xui8{{.*}} -> tensor<40x50xui32
// BYTES: arith.trunci
func.func @bytes(%a: tensor<40x30xui8>, %b: tensor<30x50xui8>) -> tensor<40x50xui8> {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<40x30xui8>, tensor<30x50xui8>) -> tensor<40x50xui8>
  return %0 : tensor<40x50xui8>
}

// MIXED-NOT: spmd.kernel
// MIXED: dtensor.dot_general {{.*}}xui8{{.*}}xi8{{.*}} -> tensor<40x50xi32
func.func @mixed_bytes(%a: tensor<40x30xui8>, %b: tensor<30x50xi8>) -> tensor<40x50xi32> {
  %0 = dtensor.convert %a : (tensor<40x30xui8>) -> tensor<40x30xi32>
  %1 = dtensor.convert %b : (tensor<30x50xi8>) -> tensor<30x50xi32>
  %2 = dtensor.dot_general %0, %1 contracting [1] x [0] : (tensor<40x30xi32>, tensor<30x50xi32>) -> tensor<40x50xi32>
  return %2 : tensor<40x50xi32>
}

// One conversion is both operands.
// SQUARE-NOT: spmd.kernel
// SQUARE: dtensor.dot_general {{.*}}xi8{{.*}} -> tensor<40x40xi32
func.func @square(%a: tensor<40x30xi8>) -> tensor<40x40xi32> {
  %0 = dtensor.convert %a : (tensor<40x30xi8>) -> tensor<40x30xi32>
  %1 = dtensor.dot_general %0, %0 contracting [1] x [1] : (tensor<40x30xi32>, tensor<40x30xi32>) -> tensor<40x40xi32>
  return %1 : tensor<40x40xi32>
}

// FEW-NOT: dtensor.dot_general
func.func @few(%a: tensor<4x3xi8>, %b: tensor<3x5xi8>) -> tensor<4x5xi32> {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<4x3xi8>, tensor<3x5xi8>) -> tensor<4x5xi32>
  return %0 : tensor<4x5xi32>
}

// ONE: dtensor.dot_general {{.*}}xi32{{.*}}xi32{{.*}} -> tensor<40x50xi32
func.func @one_converted(%a: tensor<40x30xi8>, %b: tensor<30x50xi32>) -> tensor<40x50xi32> {
  %0 = dtensor.convert %a : (tensor<40x30xi8>) -> tensor<40x30xi32>
  %1 = dtensor.dot_general %0, %b contracting [1] x [0] : (tensor<40x30xi32>, tensor<30x50xi32>) -> tensor<40x50xi32>
  return %1 : tensor<40x50xi32>
}
