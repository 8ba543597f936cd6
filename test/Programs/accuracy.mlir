// Labels against predictions with the classes sharded: argmax, comparison, mean;
// and booleans reduced by "and" and "or".
// RUN: %verify
#mesh = #dtensor.mesh<batch = 2, classes = 4>
#logits = #dtensor.layout<#mesh, [batch, classes]>
#labels = #dtensor.layout<#mesh, [batch]>

func.func @main(%logits: tensor<9x8xf32, #logits>, %labels: tensor<9xi32, #labels>, %mask: tensor<9x8xi1, #logits>)
    -> (tensor<f32>, tensor<9xi1>, tensor<8xi1>, tensor<9x8xi1>) {
  %0 = dtensor.argmax %logits dim 1 : (tensor<9x8xf32, #logits>) -> tensor<9xi32>
  %1 = dtensor.compare EQ, %0, %labels : (tensor<9xi32>, tensor<9xi32, #labels>) -> tensor<9xi1>
  %2 = dtensor.convert %1 : (tensor<9xi1>) -> tensor<9xf32>
  %3 = dtensor.reduce sum %2 dims [0] : (tensor<9xf32>) -> tensor<f32>
  %4 = dtensor.constant dense<9.0> : tensor<f32>
  %5 = dtensor.divide %3, %4 : tensor<f32>
  %6 = dtensor.reduce and %mask dims [1] : (tensor<9x8xi1, #logits>) -> tensor<9xi1>
  %7 = dtensor.reduce or %mask dims [0] : (tensor<9x8xi1, #logits>) -> tensor<8xi1>
  %8 = dtensor.not %mask : (tensor<9x8xi1, #logits>) -> tensor<9x8xi1>
  return %5, %6, %7, %8 : tensor<f32>, tensor<9xi1>, tensor<8xi1>, tensor<9x8xi1>
}
