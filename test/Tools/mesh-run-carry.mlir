// With --carry a run goes on from what the run before left in donated arguments.
// RUN: mesh-run %s --function=two --output-dir=%t
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_0.npy --repeat=3 | FileCheck %s --check-prefix=ONCE
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_0.npy --carry | FileCheck %s --check-prefix=ONCE
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_0.npy --repeat=3 --carry | FileCheck %s
// RUN: mesh-run %s --function=main --input=%t/result_0.npy --input=%t/result_0.npy --repeat=3 --carry --private-memories | FileCheck %s
// RUN: not mesh-run %s --function=main --repeat=3 --carry --verify 2>&1 | FileCheck %s --check-prefix=VERIFY
// VERIFY: mesh-run: error: --verify compares one run from the inputs, --carry goes on from results: give one of them
module @step attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  // ONCE: result 0 {{.*}}f32[2] {{.*}} [4, 4]
  // ONCE: result 1 {{.*}}f32[2] {{.*}} [2, 2]
  // CHECK: result 0 {{.*}}f32[2] {{.*}} [8, 8]
  // CHECK: result 1 {{.*}}f32[2] {{.*}} [6, 6]
  func.func public @two() -> tensor<2xf32> {
    %0 = stablehlo.constant dense<2.0> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @main(
      %state: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 0 : i32},
      %added: tensor<2xf32>)
      -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<2xf32>) {
    %0 = stablehlo.add %state, %added : tensor<2xf32>
    return %0, %state : tensor<2xf32>, tensor<2xf32>
  }
}
