// Calls of the host: in the program's order, once for all devices, whether or not anything depends on them.
// RUN: mesh-run %s --function=prints --verify | FileCheck %s --check-prefix=PRINTS
// RUN: mesh-run %s --function=prints --private-memories --machine=ring | FileCheck %s --check-prefix=PRINTS
// RUN: mesh-run %s --function=prints --emit-program=%t.mlprog | FileCheck %s --check-prefix=PRINTS
// RUN: mesh-run %t.mlprog | FileCheck %s --check-prefix=PRINTS
module {
  sdy.mesh @mesh = <["x"=4]>
  // PRINTS: {x} = {{\[}}[0 1]
  // PRINTS-NEXT: [0 1]
  // PRINTS-NEXT: [0 1]
  // PRINTS-NEXT: [0 1]], sum 4
  // PRINTS-NEXT: turn 0
  // PRINTS-NEXT: turn 0 again
  // PRINTS-NEXT: even
  // PRINTS-NEXT: turn 1
  // PRINTS-NEXT: turn 1 again
  // PRINTS-NEXT: odd
  // PRINTS-NEXT: end True
  // PRINTS-NOT: end
  func.func public @prints() -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %x = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x2xf32>
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.custom_call @meshloom.debug_print(%x, %0) {backend_config = "{{x}} = {}, sum {}", has_side_effect = true} : (tensor<4x2xf32>, tensor<f32>) -> ()
    %n = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%i = %n, %value = %x) : tensor<i32>, tensor<4x2xf32>
    cond {
      %end = stablehlo.constant dense<2> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.custom_call @meshloom.debug_print(%i) {backend_config = "turn {}", has_side_effect = true} : (tensor<i32>) -> ()
      stablehlo.custom_call @meshloom.debug_print(%i) {backend_config = "turn {} again", has_side_effect = true} : (tensor<i32>) -> ()
      "stablehlo.case"(%i) ({
        stablehlo.custom_call @meshloom.debug_print() {backend_config = "even", has_side_effect = true} : () -> ()
        stablehlo.return
      }, {
        stablehlo.custom_call @meshloom.debug_print() {backend_config = "odd", has_side_effect = true} : () -> ()
        stablehlo.return
      }) : (tensor<i32>) -> ()
      %v = stablehlo.add %value, %value : tensor<4x2xf32>
      stablehlo.return %next, %v : tensor<i32>, tensor<4x2xf32>
    }
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.custom_call @meshloom.debug_print(%true) {backend_config = "end {}", has_side_effect = true} : (tensor<i1>) -> ()
    return %1#1 : tensor<4x2xf32>
  }
}
