// Nothing is laid out and no mesh is named: one device. A function that is not
// called main, results that are arguments, and one returned twice.
// RUN: %verify
func.func @only(%a: tensor<4x3xf64>, %b: tensor<f64>, %unused: tensor<2xi1>)
    -> (tensor<4x3xf64>, tensor<f64>, tensor<f64>, tensor<4x3xf64>, tensor<2xi1>) {
  %0 = dtensor.broadcast_in_dim %b dims [] : (tensor<f64>) -> tensor<4x3xf64>
  %1 = dtensor.multiply %a, %0 : tensor<4x3xf64>
  %2 = dtensor.reduce sum %1 dims [0, 1] : (tensor<4x3xf64>) -> tensor<f64>
  return %a, %2, %2, %1, %unused : tensor<4x3xf64>, tensor<f64>, tensor<f64>, tensor<4x3xf64>, tensor<2xi1>
}
