// Floats that MLIR 19 has no types of: the text that make_artifacts.py writes minifloats-1.13.3.mlirbc of.
module {
  func.func public @codes() -> (tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui4>) {
    %a = stablehlo.constant dense<[0.75, -2.5, 5.0, 0x7F800000, 0x7FC00000, 1.0e-40]> : tensor<6xf32>
    %0 = stablehlo.convert %a : (tensor<6xf32>) -> tensor<6xf8E3M4>
    %1 = stablehlo.convert %a : (tensor<6xf32>) -> tensor<6xf8E8M0FNU>
    %wide = stablehlo.convert %a : (tensor<6xf32>) -> tensor<6xf64>
    %2 = stablehlo.convert %wide : (tensor<6xf64>) -> tensor<6xf8E8M0FNU>
    %3 = stablehlo.convert %a : (tensor<6xf32>) -> tensor<6xf4E2M1FN>
    %4 = stablehlo.bitcast_convert %0 : (tensor<6xf8E3M4>) -> tensor<6xui8>
    %5 = stablehlo.bitcast_convert %1 : (tensor<6xf8E8M0FNU>) -> tensor<6xui8>
    %6 = stablehlo.bitcast_convert %2 : (tensor<6xf8E8M0FNU>) -> tensor<6xui8>
    %7 = stablehlo.bitcast_convert %3 : (tensor<6xf4E2M1FN>) -> tensor<6xui4>
    return %4, %5, %6, %7 : tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui4>
  }
  func.func public @values() -> (tensor<6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.constant dense<[1, 112, 113, 128, 240, 47]> : tensor<6xui8>
    %1 = stablehlo.bitcast_convert %0 : (tensor<6xui8>) -> tensor<6xf8E3M4>
    %2 = stablehlo.convert %1 : (tensor<6xf8E3M4>) -> tensor<6xf32>
    %3 = stablehlo.constant dense<[0, 1, 128, 255]> : tensor<4xui8>
    %4 = stablehlo.bitcast_convert %3 : (tensor<4xui8>) -> tensor<4xf8E8M0FNU>
    %5 = stablehlo.convert %4 : (tensor<4xf8E8M0FNU>) -> tensor<4xf32>
    %6 = stablehlo.constant dense<[1, 3, 6, -8, -7, -1]> : tensor<6xi4>
    %7 = stablehlo.bitcast_convert %6 : (tensor<6xi4>) -> tensor<6xf4E2M1FN>
    %8 = stablehlo.convert %7 : (tensor<6xf4E2M1FN>) -> tensor<6xf32>
    %9 = stablehlo.constant dense<[0.5, -7.0, 7.5, 0.1875]> : tensor<4xf6E2M3FN>
    %10 = stablehlo.convert %9 : (tensor<4xf6E2M3FN>) -> tensor<4xf32>
    %11 = stablehlo.constant dense<[0.0625, -28.0, 1.25, 20.0]> : tensor<4xf6E3M2FN>
    %12 = stablehlo.convert %11 : (tensor<4xf6E3M2FN>) -> tensor<4xf32>
    return %2, %5, %8, %10, %12 : tensor<6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func public @computed() -> (tensor<f32>, tensor<4xf32>, tensor<2x2xf32>, tensor<2xui8>, tensor<1x4xf32>) {
    %a = stablehlo.constant dense<[1.5, -4.0, 6.0, 0.5]> : tensor<4xf4E2M1FN>
    %two = stablehlo.constant dense<2.0> : tensor<f4E2M1FN>
    %0 = stablehlo.reduce(%a init: %two) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf4E2M1FN>, tensor<f4E2M1FN>) -> tensor<f4E2M1FN>
    %1 = stablehlo.convert %0 : (tensor<f4E2M1FN>) -> tensor<f32>
    %2 = stablehlo.add %a, %a : tensor<4xf4E2M1FN>
    %3 = stablehlo.convert %2 : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
    %4 = stablehlo.reshape %a : (tensor<4xf4E2M1FN>) -> tensor<2x2xf4E2M1FN>
    %5 = stablehlo.dot_general %4, %4, contracting_dims = [1] x [1] : (tensor<2x2xf4E2M1FN>, tensor<2x2xf4E2M1FN>) -> tensor<2x2xf32>
    %6 = stablehlo.bitcast_convert %4 : (tensor<2x2xf4E2M1FN>) -> tensor<2xui8>
    %word = stablehlo.constant dense<0x89ab> : tensor<1xui16>
    %7 = stablehlo.bitcast_convert %word : (tensor<1xui16>) -> tensor<1x4xf4E2M1FN>
    %8 = stablehlo.convert %7 : (tensor<1x4xf4E2M1FN>) -> tensor<1x4xf32>
    return %1, %3, %5, %6, %8 : tensor<f32>, tensor<4xf32>, tensor<2x2xf32>, tensor<2xui8>, tensor<1x4xf32>
  }
  // A reducer that is no kind is computed with numbers, and has a constant of its own.
  func.func public @reduced() -> tensor<f32> {
    %a = stablehlo.constant dense<[2.5, 4.0, 3.0]> : tensor<3xf8E3M4>
    %zero = stablehlo.constant dense<0.0> : tensor<f8E3M4>
    %0 = stablehlo.reduce(%a init: %zero) across dimensions = [0] : (tensor<3xf8E3M4>, tensor<f8E3M4>) -> tensor<f8E3M4>
     reducer(%x: tensor<f8E3M4>, %y: tensor<f8E3M4>) {
      %least = stablehlo.constant dense<2.0> : tensor<f8E3M4>
      %1 = stablehlo.add %x, %y : tensor<f8E3M4>
      %2 = stablehlo.maximum %1, %least : tensor<f8E3M4>
      stablehlo.return %2 : tensor<f8E3M4>
    }
    %3 = stablehlo.convert %0 : (tensor<f8E3M4>) -> tensor<f32>
    return %3 : tensor<f32>
  }
}
