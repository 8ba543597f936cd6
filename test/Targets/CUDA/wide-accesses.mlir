// RUN: mesh-opt --target=cuda %s | FileCheck %s

// A thread of a large kernel computes neighbouring results with one access of up
// to 16 bytes to each array, where all are aligned; else one result.
// CHECK: // kernel [[SUM:kernel_[0-9a-f]+]] results 256 terms 1 grid 0,1
// CHECK: .visible .entry [[SUM]](
// CHECK: ld.global{{.*}}.v4.f32
// CHECK: st.global.v4.f32
func.func @main(%x: tensor<512x512xf32>, %b: tensor<512xf32>) -> tensor<512x512xf32> {
  %0 = dtensor.broadcast_in_dim %b dims [1] : (tensor<512xf32>) -> tensor<512x512xf32>
  %1 = dtensor.maximum %x, %0 : tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}
