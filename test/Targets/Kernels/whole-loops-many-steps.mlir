// A loop of many steps, with little data in each of them, is compiled whole:
// its kernels are functions of their own, which LLVM compiles sooner.
// RUN: mesh-opt %s --target=cpu | FileCheck %s
// RUN: mesh-run %s --verify | FileCheck %s --check-prefix=RUNS
// CHECK: spmd.library_call "loop"
// CHECK-COUNT-137: spmd.kernel
// RUNS: verify result 0 {{.*}}: ok

func.func @main(%a: tensor<8x150xf32>) -> tensor<8x150xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<8x150xf32> cond {
    %goes = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes : tensor<i1>
  } do {
    %k = stablehlo.add %i, %one : tensor<i32>
    %next = func.call @steps(%x) : (tensor<8x150xf32>) -> tensor<8x150xf32>
    stablehlo.return %k, %next : tensor<i32>, tensor<8x150xf32>
  }
  return %r#1 : tensor<8x150xf32>
}

// Ninety steps.
func.func private @steps(%x0: tensor<8x150xf32>) -> tensor<8x150xf32> {
  %x1 = func.call @six(%x0) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x2 = func.call @six(%x1) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x3 = func.call @six(%x2) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x4 = func.call @six(%x3) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x5 = func.call @six(%x4) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x6 = func.call @six(%x5) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x7 = func.call @six(%x6) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x8 = func.call @six(%x7) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x9 = func.call @six(%x8) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x10 = func.call @six(%x9) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x11 = func.call @six(%x10) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x12 = func.call @six(%x11) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x13 = func.call @six(%x12) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x14 = func.call @six(%x13) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x15 = func.call @six(%x14) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  return %x15 : tensor<8x150xf32>
}

// Six steps.
func.func private @six(%x0: tensor<8x150xf32>) -> tensor<8x150xf32> {
  %x1 = func.call @step(%x0) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x2 = func.call @step(%x1) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x3 = func.call @step(%x2) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x4 = func.call @step(%x3) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x5 = func.call @step(%x4) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  %x6 = func.call @step(%x5) : (tensor<8x150xf32>) -> tensor<8x150xf32>
  return %x6 : tensor<8x150xf32>
}

// One kernel or two: sums of columns, and a matrix that needs all of them.
func.func private @step(%x: tensor<8x150xf32>) -> tensor<8x150xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %limit = stablehlo.constant dense<0.75> : tensor<8x150xf32>
  %part = stablehlo.constant dense<0.125> : tensor<8x150xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x150xf32>, tensor<f32>) -> tensor<150xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [1] : (tensor<150xf32>) -> tensor<8x150xf32>
  %mean = stablehlo.multiply %sums, %part : tensor<8x150xf32>
  %difference = stablehlo.subtract %limit, %mean : tensor<8x150xf32>
  %y = stablehlo.minimum %difference, %x : tensor<8x150xf32>
  return %y : tensor<8x150xf32>
}
