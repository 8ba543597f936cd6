// A kernel of a grouped convolution that each chunk makes for itself, as a
// weight gradient in replicas has it: what one chunk's call kept of it is not
// taken for the next one's, which lies in the same place.
// RUN: mesh-run %s --verify --workers=2
#mesh = #dtensor.mesh<replica = 2>
#rows = #dtensor.layout<#mesh, [replica, *, *, *, *]>
#whole = #dtensor.layout<#mesh, [*, *, *, *]>

func.func @main(%x: tensor<2x6x8x8x1xf32, #rows>, %kernel: tensor<5x5x1x3xf32, #whole>) -> tensor<5x5x1x3xf32> {
  %0 = dtensor.reshape %x : (tensor<2x6x8x8x1xf32, #rows>) -> tensor<12x8x8x1xf32>
  %1 = dtensor.convolution %0, %kernel dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f] strides [2, 2] padding [1, 2, 1, 2] : (tensor<12x8x8x1xf32>, tensor<5x5x1x3xf32, #whole>) -> tensor<12x4x4x3xf32>
  %2 = dtensor.reshape %1 : (tensor<12x4x4x3xf32>) -> tensor<2x6x4x4x3xf32>
  %a = dtensor.multiply %2, %2 : tensor<2x6x4x4x3xf32>
  %b = dtensor.add %a, %2 : tensor<2x6x4x4x3xf32>
  %c = dtensor.multiply %b, %2 : tensor<2x6x4x4x3xf32>
  %d = dtensor.add %c, %a : tensor<2x6x4x4x3xf32>
  %3 = dtensor.multiply %d, %2 : tensor<2x6x4x4x3xf32>
  %4 = dtensor.transpose %3 dims [1, 2, 3, 0, 4] : (tensor<2x6x4x4x3xf32>) -> tensor<6x4x4x2x3xf32>
  %5 = dtensor.reshape %4 : (tensor<6x4x4x2x3xf32>) -> tensor<6x4x4x6xf32>
  %6 = dtensor.convolution %0, %5 dims [f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f] padding [1, 2, 1, 2] rhs_dilation [2, 2] feature_groups 2 : (tensor<12x8x8x1xf32>, tensor<6x4x4x6xf32>) -> tensor<5x5x1x6xf32>
  %7 = dtensor.reshape %6 : (tensor<5x5x1x6xf32>) -> tensor<5x5x1x2x3xf32>
  %8 = dtensor.transpose %7 dims [3, 0, 1, 2, 4] : (tensor<5x5x1x2x3xf32>) -> tensor<2x5x5x1x3xf32>
  %9 = dtensor.constraint %8 : (tensor<2x5x5x1x3xf32>) -> tensor<2x5x5x1x3xf32, #rows>
  %10 = dtensor.reduce sum %9 dims [0] : (tensor<2x5x5x1x3xf32, #rows>) -> tensor<5x5x1x3xf32>
  return %10 : tensor<5x5x1x3xf32>
}
