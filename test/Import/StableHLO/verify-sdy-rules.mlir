// What sdy's verifiers refuse about sharding rules, a case for each thing they check.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected #sdy.op_sharding_rule as its rule}}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = 1} : tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{its rule has 2 operands, but the op has 1}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i])->([i]) {i=8, j=1}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{its rule has 2 results, but the op has 1}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i], [i]) {i=8, j=1}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{has a rule, but no operands}}
  %0 = stablehlo.custom_call @f() {sdy.sharding_rule = #sdy.op_sharding_rule<()->([i]) {i=8}>} : () -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{its rule for operand #0 has 1 dims, but that has rank 2}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{its rule for operand #0 has factor #0 twice}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i]) {i=8}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{its rule for operand #0 has a factor of size 1 beside others in dim 0}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i]) {i=8, j=1, k=1}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{its rule gives the size of factor #2, which no dim has}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=1, k=2}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{need_replication factors are not in order, each once}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=1} need_replication={j, i}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{its rule has factor #1 in two of reduction, need_replication and permutation}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=1} reduction={j} permutation={j}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{its rule reduces factor #0, which a result has}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=1} reduction={i}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<?x1xf32>) {
  // expected-error @+1 {{needs a tensor of static shape}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=1}>} : (tensor<?x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @rule(%a: tensor<8x1xf32>) {
  // expected-error @+1 {{the rule uses a factor whose size it does not give}}
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8}>} : (tensor<8x1xf32>) -> tensor<8xf32>
  return
}
