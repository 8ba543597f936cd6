// Tokens are nothing wherever they stand: in tuples and tuples of tuples, carried by loops, given by branches and calls, in barriers and manual computations.
// RUN: mesh-run %s --function=nested | FileCheck %s --check-prefix=NESTED
// RUN: mesh-run %s --function=loop | FileCheck %s --check-prefix=LOOP
// RUN: mesh-run %s --function=branch --verify && mesh-run %s --function=called --verify
// RUN: mesh-run %s --function=manual --verify && mesh-run %s --function=manual --verify --private-memories
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s --implicit-check-not=token
module {
  sdy.mesh @mesh = <["x"=2]>
  // NESTED: result 0 {{.*}} [3, 4]
  // NESTED: result 1 {{.*}} [1, 2]
  func.func public @nested() -> (tuple<tensor<2xf32>, !stablehlo.token>, tuple<tuple<!stablehlo.token, tensor<2xf32>>>) {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %t = stablehlo.create_token : !stablehlo.token
    %0 = stablehlo.tuple %t, %a : tuple<!stablehlo.token, tensor<2xf32>>
    %1 = stablehlo.tuple %0 : tuple<tuple<!stablehlo.token, tensor<2xf32>>>
    %2 = stablehlo.get_tuple_element %1[0] : (tuple<tuple<!stablehlo.token, tensor<2xf32>>>) -> tuple<!stablehlo.token, tensor<2xf32>>
    %3 = stablehlo.get_tuple_element %2[0] : (tuple<!stablehlo.token, tensor<2xf32>>) -> !stablehlo.token
    %4 = stablehlo.get_tuple_element %2[1] : (tuple<!stablehlo.token, tensor<2xf32>>) -> tensor<2xf32>
    %5 = stablehlo.after_all %3, %t : !stablehlo.token
    %6:2 = stablehlo.optimization_barrier %5, %4 : !stablehlo.token, tensor<2xf32>
    %7 = stablehlo.tuple %b, %6#0 : tuple<tensor<2xf32>, !stablehlo.token>
    %8 = stablehlo.tuple %6#0, %6#1 : tuple<!stablehlo.token, tensor<2xf32>>
    %9 = stablehlo.tuple %8 : tuple<tuple<!stablehlo.token, tensor<2xf32>>>
    return %7, %9 : tuple<tensor<2xf32>, !stablehlo.token>, tuple<tuple<!stablehlo.token, tensor<2xf32>>>
  }
  // LOOP: result 0 {{.*}} [5]
  func.func public @loop() -> tensor<i32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = stablehlo.while(%k = %t, %i = %zero) : !stablehlo.token, tensor<i32>
    cond {
      %five = stablehlo.constant dense<5> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.after_all %k : !stablehlo.token
      stablehlo.return %2, %1 : !stablehlo.token, tensor<i32>
    }
    return %0#1 : tensor<i32>
  }
  func.func public @branch(%p: tensor<i1>, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = "stablehlo.if"(%p) ({
      "stablehlo.return"(%t, %x) : (!stablehlo.token, tensor<4xf32>) -> ()
    }, {
      %1 = stablehlo.negate %x : tensor<4xf32>
      "stablehlo.return"(%t, %1) : (!stablehlo.token, tensor<4xf32>) -> ()
    }) : (tensor<i1>) -> (!stablehlo.token, tensor<4xf32>)
    return %0#0, %0#1 : !stablehlo.token, tensor<4xf32>
  }
  func.func private @callee(%t: !stablehlo.token, %x: tensor<4xf32>) -> (tensor<4xf32>, !stablehlo.token) {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0, %t : tensor<4xf32>, !stablehlo.token
  }
  // The result that takes the memory of %x is number 1, and number 0 without the token.
  // CHECK-LABEL: func.func @called
  // CHECK-SAME: dtensor.alias = 0
  func.func public @called(%t: !stablehlo.token, %x: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> (!stablehlo.token, tensor<4xf32>) {
    %0:2 = call @callee(%t, %x) : (!stablehlo.token, tensor<4xf32>) -> (tensor<4xf32>, !stablehlo.token)
    return %0#1, %0#0 : !stablehlo.token, tensor<4xf32>
  }
  func.func public @manual(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = sdy.manual_computation(%t, %x) in_shardings=[<@mesh, []>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] manual_axes={"x"} (%k: !stablehlo.token, %a: tensor<2xf32>) {
      %1 = stablehlo.add %a, %a : tensor<2xf32>
      sdy.return %1, %k : tensor<2xf32>, !stablehlo.token
    } : (!stablehlo.token, tensor<4xf32>) -> (tensor<4xf32>, !stablehlo.token)
    return %0#0 : tensor<4xf32>
  }
}
