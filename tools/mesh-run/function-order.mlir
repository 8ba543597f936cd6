// The programs that mesh-run-traced compiles (CMakeLists.txt): calls of the library, kernels that are interpreted, and kernels that are compiled.
module {
  func.func @calls(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %sums = stablehlo.reduce(%product init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    return %product, %sums : tensor<256x256xf32>, tensor<256xf32>
  }
  func.func @few(%x: tensor<8xf32>) -> tensor<8xf32> {
    %two = stablehlo.constant dense<2.0> : tensor<8xf32>
    %sine = stablehlo.sine %x : tensor<8xf32>
    %product = stablehlo.multiply %sine, %two : tensor<8xf32>
    return %product : tensor<8xf32>
  }
  func.func @kernels(%x: tensor<512x512xf32>, %n: tensor<70000xi32>) -> (tensor<512x512xf32>, tensor<70000xi32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %largest = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
    %wide = stablehlo.broadcast_in_dim %largest, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
    %difference = stablehlo.subtract %x, %wide : tensor<512x512xf32>
    %exp = stablehlo.exponential %difference : tensor<512x512xf32>
    %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
    %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
    %quotient = stablehlo.divide %exp, %sums : tensor<512x512xf32>
    %three = stablehlo.constant dense<3> : tensor<70000xi32>
    %bits = stablehlo.shift_left %n, %three : tensor<70000xi32>
    %mixed = stablehlo.xor %bits, %n : tensor<70000xi32>
    return %quotient, %mixed : tensor<512x512xf32>, tensor<70000xi32>
  }
}
