// What Shardy's propagation writes down of its steps is read and checked, and changes nothing.
// RUN: mesh-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: mesh-opt %s --split-input-file --verify-diagnostics | mesh-opt --split-input-file | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @taken
// CHECK: stablehlo.add
// CHECK-SAME: sdy.propagation_edges = #sdy.propagation_edges<[{step-2 = [{"y" = operand-1 -> [operand-0, result-0]}]}, {step-12345 = [{"x":(1)2 = result-0 -> [operand-0]}, {"x" = operand-0 -> []}]}]>
func.func @taken(%a: tensor<16x8xf32>) -> (tensor<16x8xf32> {sdy.propagation_edges = #sdy.propagation_edges<[]>}) {
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-2 = [{"y" = operand-1 -> [operand-0, result-0]}]}, {step-12345 = [{"x":(1)2 = result-0 -> [operand-0]}, {"x" = operand-0 -> []}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @step_twice(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{propagation edges have step 1 twice}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = []}, {step-1 = []}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_hyphen(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{expected a hyphen and a number}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step 1 = []}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @from_itself(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{propagation edges have axis 'x' come to a value from itself in step 1}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"x" = operand-0 -> [operand-0]}]}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @target_twice(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{propagation edges have axis 'x' come to a value twice in step 3}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-3 = [{"x" = operand-0 -> [result-0, result-0]}]}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_operand(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{its propagation edges name operand #3, but the op has 2}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-3 = [{"x" = result-0 -> [operand-3]}]}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_result(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{its propagation edges name result #1, but the op has 1}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-3 = [{"x" = operand-0 -> [result-1]}]}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_axis(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{its propagation edges name axis 'z', which is not in the mesh of its shardings}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-3 = [{"z" = operand-0 -> [result-0]}]}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_sharding(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{has propagation edges, but none of the values that they name has a sharding}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-3 = [{"x" = result-0 -> []}]}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @number(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{expected #sdy.propagation_edges as its sdy.propagation_edges, got 64}}
  %0 = stablehlo.add %a, %a {sdy.propagation_edges = 64} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @result_number(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{expected a list of #sdy.propagation_edges as its "sdy.result_propagation_edges", got 64}}
  %0 = stablehlo.add %a, %a {sdy.result_propagation_edges = 64} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @result_numbers(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{expected a list of #sdy.propagation_edges as its "sdy.result_propagation_edges", got [1, 2, 3]}}
  %0 = stablehlo.add %a, %a {sdy.result_propagation_edges = [1, 2, 3]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @argument_number(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{expected a list of #sdy.propagation_edges as its "sdy.block_arg_propagation_edges", got 64}}
  %0 = stablehlo.add %a, %a {sdy.block_arg_propagation_edges = 64} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @argument_numbers(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{expected a list of #sdy.propagation_edges as its "sdy.block_arg_propagation_edges", got [0, 2, 4]}}
  %0 = stablehlo.add %a, %a {sdy.block_arg_propagation_edges = [0, 2, 4]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["x"=2, "y"=2]>
func.func @meshes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{its propagation edges are between shardings over several meshes}}
  %0 = stablehlo.negate %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"x" = operand-0 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@other, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
