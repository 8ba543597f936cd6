// --spmd-check-contract: what a local program sends against what its function
// may send.
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' --spmd-check-contract --split-input-file --verify-diagnostics -o /dev/null

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#vector = #dtensor.layout<#mesh, [*]>

// 2 * 3 / 4 of 64 bytes.
func.func @kept(%a: tensor<8x16xf32, #rows>) -> tensor<16xf32, #vector>
    attributes {dtensor.contract = [{collective = "all_reduce", axes = ["x"], count = 1, bytes = 96}]} {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x16xf32, #rows>) -> tensor<16xf32>
  %1 = dtensor.constraint %0 : (tensor<16xf32>) -> tensor<16xf32, #vector>
  return %1 : tensor<16xf32, #vector>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#vector = #dtensor.layout<#mesh, [*]>

func.func @forbidden(%a: tensor<8x16xf32, #rows>) -> tensor<16xf32, #vector> attributes {dtensor.contract = []} {
  // expected-error @below {{the program breaks its contract: it has 1 all_reduce over [x] in a step, which sends 96 bytes; the contract allows no all_reduce over [x]}}
  // expected-note-re @below {{tensor<16xf32> at {{.*}} for dtensor.reduce: [*] partial<x: sum> -> [*], 64 bytes; why: {{.*}} 'x' from argument #0 [x, *]}}
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x16xf32, #rows>) -> tensor<16xf32>
  %1 = dtensor.constraint %0 : (tensor<16xf32>) -> tensor<16xf32, #vector>
  return %1 : tensor<16xf32, #vector>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#vector = #dtensor.layout<#mesh, [*]>

func.func @bytes(%a: tensor<8x16xf32, #rows>) -> tensor<16xf32, #vector>
    attributes {dtensor.contract = [{collective = "all_reduce", axes = ["x"], bytes = 95}]} {
  // expected-error @below {{it has 1 all_reduce over [x] in a step, which sends 96 bytes; the contract allows 95 bytes}}
  // expected-note @below {{64 bytes; why}}
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x16xf32, #rows>) -> tensor<16xf32>
  %1 = dtensor.constraint %0 : (tensor<16xf32>) -> tensor<16xf32, #vector>
  return %1 : tensor<16xf32, #vector>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [*]>
#scalar = #dtensor.layout<#mesh, []>

// One in a loop counts each time.
func.func @loop(%a: tensor<8xf32, #cut>) -> tensor<f32, #scalar>
    attributes {dtensor.contract = [{collective = "all_reduce", axes = ["x"], count = 5}]} {
  %zero = dtensor.constant dense<0> : tensor<i32>
  %six = dtensor.constant dense<6> : tensor<i32>
  %one = dtensor.constant dense<1> : tensor<i32>
  %start = dtensor.constant dense<0.0> : tensor<f32>
  %r:2 = dtensor.while (%zero, %start) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>) cond {
  ^bb0(%i: tensor<i32>, %s: tensor<f32>):
    %more = dtensor.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    dtensor.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<f32>):
    %wide = dtensor.broadcast_in_dim %s dims [] : (tensor<f32>) -> tensor<8xf32>
    %moved = dtensor.add %a, %wide : (tensor<8xf32, #cut>, tensor<8xf32>) -> tensor<8xf32>
    %squares = dtensor.multiply %moved, %moved : tensor<8xf32>
    // expected-error @below {{it has 6 all_reduce over [x] in a step, which send 36 bytes; the contract allows 5 of them}}
    // expected-note @below {{'x' from argument #0 [x]}}
    %sum = dtensor.reduce sum %squares dims [0] : (tensor<8xf32>) -> tensor<f32>
    %next = dtensor.add %i, %one : tensor<i32>
    dtensor.yield %next, %sum : tensor<i32>, tensor<f32>
  }
  %1 = dtensor.constraint %r#1 : (tensor<f32>) -> tensor<f32, #scalar>
  return %1 : tensor<f32, #scalar>
}

// -----

// expected-error @below {{has a 'dtensor.contract' that is no list of entries}}
func.func @no_list() attributes {dtensor.contract = 1 : i64} {
  return
}

// -----

// expected-error @below {{with the entry {axes = ["x"], collective = "all_red"}, which names no kind of collective}}
func.func @no_kind() attributes {dtensor.contract = [{collective = "all_red", axes = ["x"]}]} {
  return
}

// -----

// expected-error @below {{which has the unknown field 'times'}}
func.func @unknown_field() attributes {dtensor.contract = [{collective = "all_reduce", axes = ["x"], times = 1}]} {
  return
}

// -----

// expected-error @below {{whose count is no i64}}
func.func @unsigned() attributes {dtensor.contract = [{collective = "all_reduce", axes = ["x"], count = 1 : ui64}]} {
  return
}

// -----

// expected-error @below {{the contract has two entries for all_reduce over [x, y]: make one of them}}
func.func @twice() attributes {dtensor.contract = [{collective = "all_reduce", axes = ["x", "y"]}, {collective = "all_reduce", axes = ["y", "x"]}]} {
  return
}
