// A shape that is an operand and folds is the shape of the result, whether or not the type writes it out.
// RUN: mesh-opt %s --stablehlo-to-dtensor --split-input-file --verify-diagnostics

func.func @dynamic_broadcast(%a: tensor<4xf32>) -> tensor<3x4xf32> {
  %shape = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
  // expected-error @+1 {{operand #1 of 'stablehlo.dynamic_broadcast_in_dim' is the shape [1, 4], which does not fit 'tensor<3x4xf32>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %shape, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @dynamic_reshape(%a: tensor<4xf32>) -> tensor<1x4xf32> {
  %shape = stablehlo.constant dense<2> : tensor<2xi32>
  // expected-error @+1 {{operand #1 of 'stablehlo.dynamic_reshape' is the shape [2, 2], which does not fit 'tensor<1x4xf32>'}}
  %0 = stablehlo.dynamic_reshape %a, %shape : (tensor<4xf32>, tensor<2xi32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// Also where arithmetic makes the shape.
func.func @computed(%a: tensor<4xf32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %shape = stablehlo.add %one, %one : tensor<1xi32>
  // expected-error @+1 {{operand #1 of 'stablehlo.dynamic_reshape' is the shape [2], which does not fit 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_reshape %a, %shape : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @dynamic_iota() -> tensor<4xf32> {
  %shape = stablehlo.constant dense<-1> : tensor<1xi64>
  // expected-error @+1 {{operand #0 of 'stablehlo.dynamic_iota' is the shape [-1], which does not fit 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @set_dimension_size(%a: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %size = stablehlo.constant dense<2> : tensor<i32>
  // expected-error @+1 {{gives the shape [2, 5], but its type says 'tensor<3x5xf32>'}}
  %0 = stablehlo.set_dimension_size %a, %size, dim = 0 : (tensor<4x5xf32>, tensor<i32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @rng(%a: tensor<f32>, %b: tensor<f32>) -> tensor<12xf32> {
  %shape = stablehlo.constant dense<7> : tensor<1xi64>
  // expected-error @+1 {{the shape in rng's last operand is not that of its result, a 'tensor<12xf32>'}}
  %0 = stablehlo.rng %a, %b, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

// The type follows where it is open.
func.func @open_rng(%a: tensor<f32>, %b: tensor<f32>) -> tensor<?xf32> {
  %shape = stablehlo.constant dense<4> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
