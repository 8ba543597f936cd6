// einsum and unary_einsum: contractions, batches, diagonals, sums, transposes and `...`.
// RUN: mesh-run %s --function=values | FileCheck %s
// RUN: mesh-run %s --function=sharded --verify && mesh-run %s --function=sharded --verify --machine=ring --private-memories
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s --check-prefix=IR
// IR-LABEL: @sharded
// IR: dtensor.dot_general
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @values() -> (tensor<2x2xi32>, tensor<i32>, tensor<2xi32>, tensor<2x2xi32>, tensor<2xi32>, tensor<2x2x2xi32>) {
    %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    %b = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
    // CHECK: result 0 {{.*}} [19, 22, 43, 50]
    %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    // CHECK: result 1 {{.*}} [5]
    %1 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ii->"}> : (tensor<2x2xi32>) -> tensor<i32>
    // CHECK: result 2 {{.*}} [1, 4]
    %2 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ii->i"}> : (tensor<2x2xi32>) -> tensor<2xi32>
    // CHECK: result 3 {{.*}} [1, 3, 2, 4]
    %3 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ij->ji"}> : (tensor<2x2xi32>) -> tensor<2x2xi32>
    // CHECK: result 4 {{.*}} [48, 84]
    %4 = stablehlo.einsum %a, %b, config = "ij,kj->j" : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2xi32>
    // CHECK: result 5 {{.*}} [5, 10, 6, 12, 21, 28,
    %5 = stablehlo.einsum %a, %b, config = "i...,ij->i j ..." : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
    return %0, %1, %2, %3, %4, %5 : tensor<2x2xi32>, tensor<i32>, tensor<2xi32>, tensor<2x2xi32>, tensor<2xi32>, tensor<2x2x2xi32>
  }
  func.func public @sharded(%a: tensor<4x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>}, %b: tensor<4x8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>}) -> tensor<5x4xf32> {
    %0 = stablehlo.einsum %a, %b, config = "bij,bjk->kb" : (tensor<4x6x8xf32>, tensor<4x8x5xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}
