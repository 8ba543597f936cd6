// RUN: mesh-opt %s --split-input-file --verify-diagnostics
// The constraints of while and case, by their numbers.

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{violates constraint C1: 1 inits, but the condition has 0 arguments}}
  %0 = dtensor.while (%x) : (tensor<4xf32>) -> tensor<4xf32> cond {
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %u : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{violates constraint C1: 1 inits, but 0 results}}
  dtensor.while (%x) : (tensor<4xf32>) -> () cond {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %u : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{violates constraint C1: 1 carried values, but the body yields 2}}
  %0 = dtensor.while (%x) : (tensor<4xf32>) -> tensor<4xf32> cond {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %u, %u : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{violates constraint C2: carried value #0 starts as 'tensor<4xf32>', but its next value is 'tensor<5xf32>'}}
  %0 = dtensor.while (%x) : (tensor<4xf32>) -> tensor<4xf32> cond {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %y : tensor<5xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<2xi1>) {
  // expected-error @+1 {{violates constraint C3: the condition does not yield one tensor<i1>}}
  %0 = dtensor.while (%x) : (tensor<4xf32>) -> tensor<4xf32> cond {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %p : tensor<2xi1>
  } do {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %u : tensor<4xf32>
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2, y = 2>
#x = #dtensor.layout<#mesh, [x]>
#y = #dtensor.layout<#mesh, [y]>
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{violates constraint C4: carried value #0 is laid out both [x] and [y]}}
  %0 = dtensor.while (%x) : (tensor<4xf32>) -> tensor<4xf32, #y> cond {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32, #x>):
    dtensor.yield %u : tensor<4xf32, #x>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{violates constraint C5: the body does not end with dtensor.yield}}
  %0 = dtensor.while (%x) : (tensor<4xf32>) -> tensor<4xf32> cond {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %p : tensor<i1>
  } do {
  ^bb0(%u: tensor<4xf32>):
    llvm.unreachable
  }
  return
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>
#shard = #spmd.shard<[4], #rows>
#whole = #spmd.shard<[4], #dtensor.layout<#mesh, [*]>>
#flag = #spmd.shard<[], #dtensor.layout<#mesh, []>>
func.func @f(%x: tensor<2xf32, #shard>, %y: tensor<4xf32, #whole>, %p: tensor<i1, #flag>) {
  // expected-error @+1 {{violates S3: carried value #0}}
  %0 = dtensor.while (%x) : (tensor<2xf32, #shard>) -> tensor<2xf32, #shard> cond {
  ^bb0(%u: tensor<2xf32, #shard>):
    dtensor.yield %p : tensor<i1, #flag>
  } do {
  ^bb0(%u: tensor<2xf32, #shard>):
    dtensor.yield %y : tensor<4xf32, #whole>
  }
  return
}

// -----

func.func @f(%i: tensor<i32>) {
  // expected-error @+1 {{violates constraint C1: there is no branch}}
  "dtensor.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @f(%i: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{violates constraint C2: branch #1 has arguments}}
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<4xf32> {
    dtensor.yield %x : tensor<4xf32>
  }, {
  ^bb0(%u: tensor<4xf32>):
    dtensor.yield %u : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%i: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{violates constraint C3: 1 results, but branch #0 yields 0}}
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<4xf32> {
    dtensor.yield
  }
  return
}

// -----

func.func @f(%i: tensor<i32>, %x: tensor<4xf64>) {
  // expected-error @+1 {{violates constraint C3: result #0 is 'tensor<4xf32>', but branch #0 yields 'tensor<4xf64>'}}
  %0 = dtensor.case %i : (tensor<i32>) -> tensor<4xf32> {
    dtensor.yield %x : tensor<4xf64>
  }
  return
}

// -----

func.func @f(%i: tensor<2xi32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{needs a scalar index, but has 'tensor<2xi32>'}}
  %0 = dtensor.case %i : (tensor<2xi32>) -> tensor<4xf32> {
    dtensor.yield %x : tensor<4xf32>
  }
  return
}
