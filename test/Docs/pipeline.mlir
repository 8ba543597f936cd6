// The gradient of a dense layer's weight and a step of SGD, data parallel over 4
// devices. docs/Pipeline.md shows it after every pass.
#mesh = #dtensor.mesh<batch = 4>
#rows = #dtensor.layout<#mesh, [batch, *]>
#whole = #dtensor.layout<#mesh, [*, *]>
func.func @main(%x: tensor<8x6xf32, #rows> {dtensor.name = "x"},
                %dy: tensor<8x4xf32, #rows> {dtensor.name = "dy"},
                %w: tensor<6x4xf32, #whole> {dtensor.name = "w", dtensor.alias = 0 : i64})
    -> tensor<6x4xf32, #whole> {
  %dw = dtensor.dot_general %x, %dy contracting [0] x [0] : (tensor<8x6xf32, #rows>, tensor<8x4xf32, #rows>) -> tensor<6x4xf32>
  %rate = dtensor.constant dense<0.1> : tensor<6x4xf32>
  %scaled = dtensor.multiply %dw, %rate : tensor<6x4xf32>
  %new = dtensor.subtract %w, %scaled : (tensor<6x4xf32, #whole>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %pinned = dtensor.constraint %new : (tensor<6x4xf32>) -> tensor<6x4xf32, #whole>
  return %pinned : tensor<6x4xf32, #whole>
}
