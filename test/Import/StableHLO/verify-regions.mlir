// What the verifiers of ops with regions, of tuples and of calls refuse, by
// constraint.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @case1(%x: tensor<4xf32>, %y: tensor<5xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0:2 = "stablehlo.reduce"(%x, %y, %s, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @case2(%x: tensor<4x2xf32>, %s: tensor<f64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @case3() {
  // expected-error @below {{violates constraint C3: }}
  "stablehlo.reduce"() <{dimensions = array<i64>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @case4(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C3: }}
  "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> ()
  return
}

// -----

func.func @case5(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C3: expected an init value for each input}}
  %0 = "stablehlo.reduce"(%x, %s, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @case6(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @case7(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: -1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @case8(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @case9(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @case10(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @case11(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @case12(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @case13(%x: tensor<4x2xf32>, %s: tensor<f32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf64>
  return
}

// -----

func.func @case14(%x: tensor<4x5xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @case15() {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.map"() <{dimensions = array<i64>}> ({
    stablehlo.return
  }) : () -> tensor<f32>
  return
}

// -----

func.func @case16(%x: tensor<4x5xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @case17(%x: tensor<4x5xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @case18(%x: tensor<4x5xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf64>
  return
}

// -----

func.func @case19(%x: tensor<4x5xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @case20() {
  // expected-error @below {{violates constraint C1: }}
  "stablehlo.sort"() <{dimension = 0 : i64}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @case21(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @case22(%x: tensor<4x2xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf64>
  return
}

// -----

func.func @case23(%x: tensor<4x2xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.sort"(%x) <{dimension = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @case24(%x: tensor<4x2xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.sort"(%x) <{dimension = -3 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @case25(%x: tensor<4x2xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @case26(%x: tensor<4x2xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @case27(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.if"(%p) ({
  ^bb0(%q: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @case28(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %y : tensor<f64>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @case29(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f64>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @case30(%p: tensor<2xi1>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{violates constraint I1: }}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<2xi1>) -> tensor<f32>
  return
}

// -----

func.func @case31(%i: tensor<i32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.case"(%i) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @case32(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %y : tensor<f64>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @case33(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f64>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @case34(%x: tensor<i32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<f32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @case35(%x: tensor<i32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }, {
  ^bb0(%i: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @case36(%x: tensor<i32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    stablehlo.return
  }, {
  ^bb0(%i: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @case37(%x: tensor<i32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %j: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @case38(%x: tensor<i32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>):
    stablehlo.return
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @case39(%x: tensor<i32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @case40(%x: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @case41(%x: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.tuple"(%x) : (tensor<f32>) -> tuple<tensor<f64>>
  return
}

// -----

func.func @case42(%x: tuple<tensor<f32>>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.get_tuple_element"(%x) {index = 1 : i32} : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @case43(%x: tuple<tensor<f32>>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.get_tuple_element"(%x) {index = -1 : i32} : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @case44(%x: tuple<tensor<f32>>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.get_tuple_element"(%x) {index = 0 : i32} : (tuple<tensor<f32>>) -> tensor<f64>
  return
}

// -----

func.func @case45(%x: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = stablehlo.composite "plain" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @case46(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint I1: }}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @case47(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint I1: }}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[0, 2]> : tensor<2xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @case48(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint I2: }}
  %0 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case49(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint I2: }}
  %0 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case50(%x: tensor<2x3xf32>) {
  // expected-error @below {{violates constraint I3: }}
  %0 = stablehlo.custom_call @f(%x) {api_version = 4 : i32, backend_config = ""} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @case51(%i: tensor<f32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = chlo.scan() inits(%i) dimension=0 {
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @case52(%x: tensor<2x3xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0:2 = chlo.scan(%x) inits(%i) dimension=2 attributes {} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %s = stablehlo.add %a, %b : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @case53(%x: tensor<2x3xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0:2 = chlo.scan(%x) inits(%i) dimension=-1 attributes {} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %s = stablehlo.add %a, %b : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @case54(%x: tensor<2x3xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0:2 = chlo.scan(%x) inits(%i) dimension=0 attributes {scan_dim_size = 3 : i64} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %s = stablehlo.add %a, %b : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @case55(%x: tensor<2x3xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0:2 = chlo.scan(%x) inits(%i) dimension=0 attributes {} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %s = stablehlo.add %a, %b : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @case56(%x: tensor<2x3xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0:2 = chlo.scan(%x) inits(%i) dimension=0 attributes {} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %s = stablehlo.add %a, %b : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @case57(%x: tensor<2x3xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0:2 = chlo.scan(%x) inits(%i) dimension=0 attributes {} {
  ^bb0(%a: tensor<3xf32>):
    stablehlo.return %a, %a : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @case58(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error @below {{violates constraint C5: }}
  %0:2 = chlo.scan(%x) inits(%i) dimension=0 attributes {} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %s = stablehlo.add %a, %b : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<f32>)
  return
}

// -----

func.func @case59(%x: tensor<2x3xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0:2 = chlo.scan(%x) inits(%i) dimension=0 attributes {} {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    stablehlo.return %a : tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}
