// What sdy's verifiers refuse about ops that are no collectives, a case for each thing they check.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{there is no axis 'z'}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error @+1 {{begins a pending max along {"x"}; only sums can begin}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced=max{"x"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) {
  // expected-error @+1 {{turns a pending max along {"x"} into a sum}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{there is no axis 'z'}}
  %0 = sdy.reshard %a <@mesh, [{"z"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error @+1 {{begins a pending max along {"x"}; only sums can begin}}
  %0 = sdy.reshard %a <@mesh, [{}, {}], unreduced=max{"x"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) {
  // expected-error @+1 {{turns a pending max along {"x"} into a sum}}
  %0 = sdy.reshard %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{lets shardings pass both ways: without it they do}}
  %0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{its value is a 'tensor<3xf32>', its result a 'tensor<4xf32>'}}
  %0 = sdy.constant() {value = dense<1.0> : tensor<3xf32>} : () -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{its value is a 'tensor<4xi32>', its result a 'tensor<4xf32>'}}
  %0 = sdy.constant() {value = dense<1> : tensor<4xi32>} : () -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<?xf32>) {
  // expected-error @+1 {{needs a static shape}}
  %0 = sdy.data_flow_edge %a : tensor<?xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{must be the only user of its input}}
  %0 = sdy.data_flow_edge %a : tensor<8x8xf32>
  %1 = stablehlo.abs %a : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{there is no axis 'z'}}
  %0 = sdy.data_flow_edge %a sharding=<@mesh, [{"z"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @edge(%a: tensor<8xf32>) {
  // expected-note @+1 {{made here}}
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  // expected-error @+1 {{its input is made by 'sdy.reshard'}}
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return
}

// -----

func.func @edge(%a: tensor<8xf32>) {
  %0 = stablehlo.abs %a : tensor<8xf32>
  // expected-error @+1 {{must be an argument of a function or a result of a call}}
  %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{must be the only user of its operand}}
  %0 = sdy.func_data_flow_edge %a : tensor<8x8xf32>
  %1 = stablehlo.abs %a : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<?xf32>) {
  // expected-error @+1 {{needs a static shape}}
  %0 = sdy.func_data_flow_edge %a : tensor<?xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @named(%a: tensor<8xf32>) {
  // expected-error @+1 {{its body has 2 arguments for 1 operands}}
  %0 = sdy.named_computation<"f">(%a) (%v: tensor<8xf32>, %w: tensor<8xf32>) {
    sdy.return %v : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @named(%a: tensor<8xf32>) {
  // expected-error @+1 {{argument #0 of its body is a 'tensor<4xf32>', but the operand a 'tensor<8xf32>'}}
  %0 = sdy.named_computation<"f">(%a) (%v: tensor<4xf32>) {
    %c = stablehlo.constant dense<0.0> : tensor<8xf32>
    sdy.return %c : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @named(%a: tensor<8xf32>) {
  // expected-error @+1 {{its body returns ('tensor<8xf32>'), but the results are ('tensor<4xf32>')}}
  %0 = sdy.named_computation<"f">(%a) (%v: tensor<8xf32>) {
    sdy.return %v : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @named(%a: tensor<8xf32>) {
  // expected-error @+1 {{has 2 shardings for 1 operand}}
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] (%v: tensor<8xf32>) {
    sdy.return %v : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @named(%a: tensor<8xf32>) {
  // expected-error @+1 {{result #0: there is no axis 'z'}}
  %0 = sdy.named_computation<"f">(%a) out_shardings=[<@mesh, [{"z"}]>] (%v: tensor<8xf32>) {
    sdy.return %v : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @named(%a: tensor<8xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = sdy.named_computation<"f">(%a) (%v: tensor<8xf32>) {
    // expected-error @+1 {{using value defined outside the region}}
    %1 = stablehlo.add %v, %a : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{operand #0 is a 'tensor<8x8xf32>', so a 'tensor<4x8xf32>' on each device, but the body has a 'tensor<8x8xf32>'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<8x8xf32>) {
    sdy.return %v : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{result #0 is a 'tensor<8x8xf32>', so a 'tensor<8x8xf32>' on each device, but the body has a 'tensor<4x8xf32>'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>) {
    sdy.return %v : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{operand #0: dim 0 is cut over manual axis 'x' after 'y', which is not manual; manual axes come first}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y", "x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>) {
    sdy.return %v : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["w"=3]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{dim 0 of size 8 is cut over manual axes into 3 parts, which are not equal}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"w"}, {}]>] out_shardings=[<@mesh, [{"w"}, {}]>] manual_axes={"w"} (%v: tensor<8x8xf32>) {
    sdy.return %v : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{has 2 shardings for 1 operand}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>) {
    sdy.return %v : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{has 1 operands, but its body has 2}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>, %w: tensor<4x8xf32>) {
    sdy.return %v : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{has 1 results, but its body has 2}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>) {
    sdy.return %v, %v : tensor<4x8xf32>, tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{there is no axis 'z' in the mesh of this manual computation}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"z"} (%v: tensor<4x8xf32>) {
    sdy.return %v : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @more = <["x"=2, "z"=2]>
func.func @manual(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{its shardings are of several meshes}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@more, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>) {
    sdy.return %v : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @inside(%a: tensor<8x8xf32>) {
  // expected-note @+1 {{the manual computation}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>) {
    // expected-error @+1 {{axis 'x' is manual in a computation around, where shardings do not use it}}
    %1 = sdy.sharding_constraint %v <@mesh, [{}, {"x"}]> : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @inside(%a: tensor<8x8xf32>) {
  // expected-note @+1 {{the manual computation}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>) {
    // expected-error @+1 {{axis 'x' is manual in a computation around, where shardings do not use it}}
    %1 = sdy.reshard %v <@mesh, [{}, {}], replicated={"x"}> : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @inside(%a: tensor<8x8xf32>) {
  // expected-note @+1 {{the manual computation}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%v: tensor<4x8xf32>) {
    // expected-error @+1 {{result #0: axis 'x' is manual in a computation around, where shardings do not use it}}
    %1 = stablehlo.add %v, %v {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}
