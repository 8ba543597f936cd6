// What rounding alone moves in a program, --verify allows: where terms cancel,
// and where values go through a narrow type.
// RUN: mesh-run %s --verify --machine=ring | FileCheck %s
// RUN: mesh-run %s --verify --platform=reference | FileCheck %s

// The gradient of a bias before a normalization is 0, up to the rounding of
// what cancels.
// CHECK: verify result 0 ('cancelled') f32[]: error {{.*}}: ok
// A result in f32 of values in bf16 is as exact as those.
// CHECK-NEXT: verify result 1 ('of_bf16') f32[4, 4]: error 0.00{{.*}}, allowed 0.0{{.*}}: ok
// A result that nothing was rounded in is held to its own type.
// CHECK-NEXT: verify result 2 ('sum') f32[8]: error {{.*}}, allowed 1.{{.*}}e-05: ok
// Overflow in f16 is the program's own.
// CHECK-NEXT: verify result 3 ('overflow') f32[8]: {{.*}}expected {{.*}}, got inf, {{.*}}: ok

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#x = #dtensor.layout<#mesh, [x]>
func.func @main(%a: tensor<64x4xf32, #rows>, %x: tensor<8xf32, #x>)
    -> (tensor<f32> {dtensor.name = "cancelled"}, tensor<4x4xf32> {dtensor.name = "of_bf16"},
        tensor<8xf32> {dtensor.name = "sum"}, tensor<8xf32> {dtensor.name = "overflow"}) {
  %all = dtensor.reduce sum %a dims [0, 1] : (tensor<64x4xf32, #rows>) -> tensor<f32>
  %count = dtensor.constant dense<256.0> : tensor<f32>
  %mean = dtensor.divide %all, %count : tensor<f32>
  %means = dtensor.broadcast_in_dim %mean dims [] : (tensor<f32>) -> tensor<64x4xf32>
  %rest = dtensor.subtract %a, %means : (tensor<64x4xf32, #rows>, tensor<64x4xf32>) -> tensor<64x4xf32>
  %zero = dtensor.reduce sum %rest dims [0, 1] : (tensor<64x4xf32>) -> tensor<f32>

  %b = dtensor.convert %a : (tensor<64x4xf32, #rows>) -> tensor<64x4xbf16>
  %t = dtensor.tanh %b : tensor<64x4xbf16>
  %c = dtensor.transpose %t dims [1, 0] : (tensor<64x4xbf16>) -> tensor<4x64xbf16>
  %p = dtensor.matmul %c, %t : (tensor<4x64xbf16>, tensor<64x4xbf16>) -> tensor<4x4xbf16>
  %wide = dtensor.convert %p : (tensor<4x4xbf16>) -> tensor<4x4xf32>

  %sum = dtensor.add %x, %x : (tensor<8xf32, #x>, tensor<8xf32, #x>) -> tensor<8xf32>

  %h = dtensor.convert %x : (tensor<8xf32, #x>) -> tensor<8xf16>
  %square = dtensor.multiply %h, %h : tensor<8xf16>
  %one = dtensor.constant dense<1.0> : tensor<8xf16>
  %shifted = dtensor.add %square, %one : tensor<8xf16>
  %large = dtensor.constant dense<6.0e4> : tensor<8xf16>
  %product = dtensor.multiply %shifted, %large : tensor<8xf16>
  %quotient = dtensor.divide %product, %large : tensor<8xf16>
  %over = dtensor.convert %quotient : (tensor<8xf16>) -> tensor<8xf32>
  return %zero, %wide, %sum, %over : tensor<f32>, tensor<4x4xf32>, tensor<8xf32>, tensor<8xf32>
}
