// chlo.scan as a loop, forwards and backwards, sharded along and across its dim; tokens, which order what is ordered anyway.
// RUN: mesh-run %s --function=running | FileCheck %s --check-prefix=RUNNING
// RUN: mesh-run %s --function=sharded --verify && mesh-run %s --function=sharded --verify --private-memories
// RUN: mesh-run %s --function=tokens | FileCheck %s --check-prefix=TOKENS
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // RUNNING: result 0 {{.*}} [1, 3, 6, 4, 9, 15]
  // RUNNING: result 1 {{.*}} [6, 15]
  // RUNNING: result 2 {{.*}} [6, 5, 3, 15, 11, 6]
  func.func public @running() -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>) {
    %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
    %0:2 = chlo.scan(%a) inits(%zero) dimension=1 {
    ^bb0(%x: tensor<2xf32>, %sum: tensor<2xf32>):
      %1 = stablehlo.add %x, %sum : tensor<2xf32>
      stablehlo.return %1, %1 : tensor<2xf32>, tensor<2xf32>
    } : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
    %2:2 = chlo.scan(%a) inits(%zero) dimension=1 attributes {is_reverse = true} {
    ^bb0(%x: tensor<2xf32>, %sum: tensor<2xf32>):
      %1 = stablehlo.add %x, %sum : tensor<2xf32>
      stablehlo.return %1, %1 : tensor<2xf32>, tensor<2xf32>
    } : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
    return %0#0, %0#1, %2#0 : tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>
  }
  func.func public @sharded(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %b: tensor<6x8xf32>, %c: tensor<8xf32>) -> (tensor<6x8xf32>, tensor<6xf32>, tensor<8xf32>) {
    %0:3 = chlo.scan(%a, %b) inits(%c) dimension=0 {
    ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>, %carry: tensor<8xf32>):
      %1 = stablehlo.multiply %x, %carry : tensor<8xf32>
      %2 = stablehlo.add %1, %y : tensor<8xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %1, %3, %2 : tensor<8xf32>, tensor<f32>, tensor<8xf32>
    } : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<8xf32>) -> (tensor<6x8xf32>, tensor<6xf32>, tensor<8xf32>)
    return %0#0, %0#1, %0#2 : tensor<6x8xf32>, tensor<6xf32>, tensor<8xf32>
  }
  // TOKENS: result 0 {{.*}} [4, 8]
  // TOKENS-NOT: result 1
  func.func public @tokens(%before: !stablehlo.token {jax.token = true}) -> (!stablehlo.token {jax.token = true}, tensor<2xf32>) {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %i = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.create_token : !stablehlo.token
    %1 = stablehlo.after_all %before, %0 : !stablehlo.token
    %2:2 = stablehlo.optimization_barrier %1, %a : !stablehlo.token, tensor<2xf32>
    %3:3 = stablehlo.while(%n = %i, %token = %2#0, %value = %2#1) : tensor<i32>, !stablehlo.token, tensor<2xf32>
    cond {
      %end = stablehlo.constant dense<2> : tensor<i32>
      %more = stablehlo.compare LT, %n, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %n, %one : tensor<i32>
      %4:2 = func.call @inside(%token, %value) : (!stablehlo.token, tensor<2xf32>) -> (!stablehlo.token, tensor<2xf32>)
      stablehlo.return %next, %4#0, %4#1 : tensor<i32>, !stablehlo.token, tensor<2xf32>
    }
    %5 = stablehlo.custom_call @MoveToHost(%3#2) : (tensor<2xf32>) -> tensor<2xf32>
    %6 = stablehlo.custom_call @LayoutConstraint(%5) : (tensor<2xf32>) -> tensor<2xf32>
    %7 = stablehlo.custom_call @MoveToDevice(%6) : (tensor<2xf32>) -> tensor<2xf32>
    return %3#1, %7 : !stablehlo.token, tensor<2xf32>
  }
  func.func private @inside(%token: !stablehlo.token, %a: tensor<2xf32>) -> (!stablehlo.token, tensor<2xf32>) {
    %0 = stablehlo.add %a, %a : tensor<2xf32>
    return %token, %0 : !stablehlo.token, tensor<2xf32>
  }
}
