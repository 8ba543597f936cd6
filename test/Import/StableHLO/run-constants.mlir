// Constants whose numbers do not stand in the op: resources at the end of the
// file (as torch-mlir prints weights), sparse ones, and truth values as digits,
// of which older releases write eight in a byte and newer ones one.
// RUN: mesh-run %s --verify | FileCheck %s
// CHECK: result 0 f32[2, 2] [*, *] [1, 2, 3, 4]
// CHECK: result 1 i1[3] [*] [true, false, true]
// CHECK: result 2 complex<f32>[1] [*] [1+2j]
// CHECK: result 3 f32[3] [*] [0, 5, 6]
// CHECK: result 4 i64[2, 2] [*, *] [0, 7, 0, 0]
// CHECK: result 5 f32[0] [*] []
// CHECK: result 6 i32[2] [*] [2, 2]
// CHECK: result 7 i1[6] [*] [true, false, false, false, true, true]
// CHECK: result 8 i1[6] [*] [true, false, false, false, true, true]
func.func @main() -> (tensor<2x2xf32>, tensor<3xi1>, tensor<1xcomplex<f32>>, tensor<3xf32>, tensor<2x2xi64>, tensor<0xf32>, tensor<2xi32>, tensor<6xi1>, tensor<6xi1>) {
  %0 = stablehlo.constant dense_resource<weights> : tensor<2x2xf32>
  %1 = stablehlo.constant dense_resource<bools> : tensor<3xi1>
  %2 = stablehlo.constant dense_resource<complex> : tensor<1xcomplex<f32>>
  %3 = stablehlo.constant sparse<[[1], [2]], [5.0, 6.0]> : tensor<3xf32>
  %4 = stablehlo.constant sparse<[[0, 1]], 7> : tensor<2x2xi64>
  %5 = stablehlo.constant dense_resource<nothing> : tensor<0xf32>
  // Shapes that are computed of them fold.
  %6 = stablehlo.constant dense_resource<sizes> : tensor<2xi32>
  %7 = stablehlo.constant dense<2> : tensor<i32>
  %9 = stablehlo.slice %6 [0:1] : (tensor<2xi32>) -> tensor<1xi32>
  %8 = stablehlo.dynamic_broadcast_in_dim %7, %9, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
  %10 = stablehlo.convert %8 : (tensor<?xi32>) -> tensor<2xi32>
  %11 = stablehlo.constant dense<"0x8D03"> : tensor<10xi1>
  %12 = stablehlo.constant dense<"0x01000101000000010101"> : tensor<10xi1>
  %13 = stablehlo.slice %11 [3:9] : (tensor<10xi1>) -> tensor<6xi1>
  %14 = stablehlo.slice %12 [3:9] : (tensor<10xi1>) -> tensor<6xi1>
  return %0, %1, %2, %3, %4, %5, %10, %13, %14 : tensor<2x2xf32>, tensor<3xi1>, tensor<1xcomplex<f32>>, tensor<3xf32>, tensor<2x2xi64>, tensor<0xf32>, tensor<2xi32>, tensor<6xi1>, tensor<6xi1>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F000000400000404000008040",
      bools: "0x01000000010001",
      complex: "0x040000000000803F00000040",
      nothing: "0x01000000",
      sizes: "0x040000000200000003000000"
    }
  }
#-}
