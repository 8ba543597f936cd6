// With --carry results of a run are the first arguments of the next, also where
// they are laid out in another way.
// RUN: mesh-run %s --function=two --output-dir=%t
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_0.npy --repeat=3 | FileCheck %s --check-prefix=ONCE
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_0.npy --carry=1 | FileCheck %s --check-prefix=ONCE
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_0.npy --repeat=3 --carry=1 | FileCheck %s
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_0.npy --repeat=3 --carry=1 --private-memories | FileCheck %s
// RUN: not mesh-run %s --function=main --repeat=3 --carry=1 --verify 2>&1 | FileCheck %s --check-prefix=VERIFY
// VERIFY: mesh-run: error: --verify compares one run from the inputs, and --carry continues from the results: give one of them
// RUN: not mesh-run %s --function=main --carry=2 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: mesh-run: error: --carry=2: the program has 2 results and 2 arguments; results from that number on must be the first arguments
// RUN: not mesh-run %s --function=main --carry=0 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: mesh-run: error: --carry=0: result 0 f32[] with layout [] cannot be argument 0 f32[2] with layout [x]
// RUN: not mesh-run %s --function=main --carry=-1 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: --carry: expected an integer of at least 0, got -1
module @step attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  // ONCE: result 0 f32[] [] [4]
  // ONCE: result 1 f32[2] [*] [4, 4]
  // CHECK: result 0 f32[] [] [12]
  // CHECK: result 1 f32[2] [*] [8, 8]
  func.func public @two() -> tensor<2xf32> {
    %0 = stablehlo.constant dense<2.0> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @main(
      %state: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 1 : i32},
      %added: tensor<2xf32>)
      -> (tensor<f32>, tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%state init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %0 = stablehlo.add %state, %added : tensor<2xf32>
    return %sum, %0 : tensor<f32>, tensor<2xf32>
  }
}
