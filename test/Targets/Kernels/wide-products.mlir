// The library multiplies bf16 into f32 as it lies; large products of small
// integers are those of 32 bits.
// RUN: mesh-opt %s --target=cpu --function=halves | FileCheck %s --check-prefix=HALVES
// RUN: mesh-opt %s --target=cpu --function=bytes | FileCheck %s --check-prefix=BYTES

// HALVES-NOT: spmd.kernel
// HALVES: dtensor.dot_general {{.*}}bf16{{.*}} -> tensor<40x50xf32
func.func @halves(%a: tensor<40x30xbf16>, %b: tensor<30x50xbf16>) -> tensor<40x50xf32> {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<40x30xbf16>, tensor<30x50xbf16>) -> tensor<40x50xf32>
  return %0 : tensor<40x50xf32>
}

// BYTES-COUNT-2: arith.extui
// BYTES: dtensor.dot_general {{.*}}xui32{{.*}} -> tensor<40x50xui32
// BYTES: arith.trunci
func.func @bytes(%a: tensor<40x30xui8>, %b: tensor<30x50xui8>) -> tensor<40x50xui8> {
  %0 = dtensor.dot_general %a, %b contracting [1] x [0] : (tensor<40x30xui8>, tensor<30x50xui8>) -> tensor<40x50xui8>
  return %0 : tensor<40x50xui8>
}
