// Short lines of halves are sorted in the code of a loop that is compiled
// whole, in both directions.
// RUN: %verify
func.func @main(%halves: tensor<6x5x7xbf16>, %others: tensor<9x8xf16>)
    -> (tensor<6x5x7xbf16>, tensor<9x8xf16>) {
  %limit = dtensor.constant dense<3> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %zero = dtensor.constant dense<0> : tensor<i32>
  %0, %1, %2 = "dtensor.while"(%zero, %halves, %others) ({
  ^bb0(%i: tensor<i32>, %x: tensor<6x5x7xbf16>, %y: tensor<9x8xf16>):
    %goes_on = dtensor.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "dtensor.yield"(%goes_on) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %x: tensor<6x5x7xbf16>, %y: tensor<9x8xf16>):
    %negated = dtensor.negate %x : (tensor<6x5x7xbf16>) -> tensor<6x5x7xbf16>
    %down = "dtensor.sort"(%negated) <{dimension = 1 : i64, is_stable}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %p = "dtensor.compare"(%a, %b) <{direction = #dtensor<comparison GT>}> : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      "dtensor.yield"(%p) : (tensor<i1>) -> ()
    }) : (tensor<6x5x7xbf16>) -> (tensor<6x5x7xbf16>)
    %up = "dtensor.sort"(%y) <{dimension = 1 : i64, is_stable}> ({
    ^bb0(%a: tensor<f16>, %b: tensor<f16>):
      %p = "dtensor.compare"(%a, %b) <{direction = #dtensor<comparison LT>}> : (tensor<f16>, tensor<f16>) -> tensor<i1>
      "dtensor.yield"(%p) : (tensor<i1>) -> ()
    }) : (tensor<9x8xf16>) -> (tensor<9x8xf16>)
    %next = dtensor.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "dtensor.yield"(%next, %down, %up) : (tensor<i32>, tensor<6x5x7xbf16>, tensor<9x8xf16>) -> ()
  }) : (tensor<i32>, tensor<6x5x7xbf16>, tensor<9x8xf16>) -> (tensor<i32>, tensor<6x5x7xbf16>, tensor<9x8xf16>)
  return %1, %2 : tensor<6x5x7xbf16>, tensor<9x8xf16>
}
