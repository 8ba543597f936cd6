// What the verifiers of reduce_window and select_and_scatter refuse, by
// constraint.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @case1() {
  // expected-error @below {{violates constraint C1: }}
  "stablehlo.reduce_window"() <{window_dimensions = array<i64>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @case2(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> ()
  return
}

// -----

func.func @case3(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C1: expected an init value for each input}}
  %0 = "stablehlo.reduce_window"(%x, %s, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case4(%x: tensor<4x2xf32>, %s: tensor<f64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case5(%x: tensor<4x2xf32>, %s: tensor<1xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<1xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case6(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case7(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case8(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case9(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, -2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case10(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case11(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case12(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C10: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>, window_dilations = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case13(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C11: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>, window_dilations = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case14(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<4xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case15(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<2x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case16(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C13: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case17(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C13: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case18(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C13: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.tuple %a : tuple<tensor<f32>>
    stablehlo.return %t : tuple<tensor<f32>>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @case19(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C15: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @case20(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C16: }}
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<3x2xf64>
  return
}

// -----

func.func @case21(%x: tensor<4xf32>, %u: tensor<2xf64>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf64>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case22(%x: tensor<4xf32>, %u: tensor<3xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case23(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @case24(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case25(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case26(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case27(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case28(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case29(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, padding = dense<0> : tensor<2x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case30(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case31(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C10: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case32(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C11: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @case33(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C12: }}
  %0 = "stablehlo.select_and_scatter"(%x, %u, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf64>
  return
}
