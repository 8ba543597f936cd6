// Kernels are made of local math only.
// RUN: mesh-opt %s --spmd-form-kernels --verify-diagnostics

func.func @global(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{is not local yet: run --dtensor-expand-to-spmd first}}
  %0 = dtensor.exp %x : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
