// What sdy's verifiers refuse, a case for each thing they check.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

// -----

// expected-error @+1 {{axis 'x' has size 0; it is at least 1}}
sdy.mesh @mesh = <["x"=0]>

// -----

// expected-error @+1 {{axis 'x' is in the mesh twice}}
sdy.mesh @mesh = <["x"=2, "x"=2]>

// -----

// expected-error @+1 {{there is no device -1}}
sdy.mesh @mesh = <["x"=2], device_ids=[-1, 0]>

// -----

// expected-error @+1 {{a mesh without axes has one device at most, not 2}}
sdy.mesh @mesh = <[], device_ids=[0, 1]>

// -----

// expected-error @+1 {{device_ids has 3 devices, but the axes make 2}}
sdy.mesh @mesh = <["x"=2], device_ids=[2, 1, 0]>

// -----

// expected-error @+1 {{device_ids has 1 devices, but the axes make 2}}
sdy.mesh @mesh = <["x"=2], device_ids=[0]>

// -----

// expected-error @+1 {{device_ids is an order of the devices 0 to 1, but lacks 0}}
sdy.mesh @mesh = <["x"=2], device_ids=[1, 1]>

// -----

// expected-error @+1 {{but names 0 twice}}
sdy.mesh @mesh = <["x"=3], device_ids=[0, 2, 0]>

// -----

// expected-error @+1 {{the mesh has more devices than can be counted}}
sdy.mesh @mesh = <["x"=4294967296, "y"=4294967296]>

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{argument #0: there is no mesh @other}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{there is no axis 'z' in mesh @mesh <x=2, y=4>}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{the sharding has 1 dim, but the value has rank 2}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{has no rank, so it cannot be sharded}}
func.func @argument(%a: tensor<*xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{what is no tensor has no dims and no axes in its sharding}}
func.func @argument(%a: !stablehlo.token {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{a tuple of 2 has no sharding}}
func.func @argument(%a: tuple<tensor<8xf32>, tensor<8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{the sharding uses axis 'x' twice: for dim 0 and for dim 1}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{the sharding uses axis 'x' twice: for dim 0 and for replicated}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"x"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{the sharding uses axis 'y' twice: for replicated and for unreduced}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"y"}, unreduced={"y"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{uses axis 'y' twice: for dim 0 and for dim 1}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {"y"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{the whole axis is written "y"}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)4}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{the size in front is at least 1, its own at least 2}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)1}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{the size in front is at least 1, its own at least 2}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(-1)2}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{4 is no multiple of 1 x 3}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)3}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{4 is no multiple of 4 x 2}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(4)2}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{no part of axis}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(4611686018427387904)4611686018427387904}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["w"=8]>
// expected-error @+1 {{uses axis 'w' twice: for dim 0 and for dim 0 ("w":(1)4 and "w":(2)4)}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w":(1)4, "w":(2)4}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{"y":(1)2 and "y":(2)2 follow each other in dim 0: write "y"}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2, "y":(2)2}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{replicated has "x" after "y", but axes are in the order of the mesh there}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"y", "x"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{unreduced has "y":(1)2 after "y":(2)2}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y":(2)2, "y":(1)2}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{dim 0 has a priority, but is closed and on no axes}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p0, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <[], device_ids=[3]>
// expected-error @+1 {{a value on device 3 only has no dims and no axes in its sharding}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{argument #0: expected a sharding, got 1 : i64}}
func.func @attribute(%a: tensor<8xf32> {sdy.sharding = 1}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{result #0: there is no axis 'z'}}
func.func @result(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) {
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected #sdy.sharding_per_value as its sharding}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8xf32>) {
  // expected-error @+1 {{has 2 shardings for 1 result}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8xf32>) {
  // expected-error @+1 {{result #0: there is no axis 'z'}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}]>]>} : tensor<8xf32>
  return
}

// -----

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

// -----

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
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "z"} (%v: tensor<4x8xf32>) {
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

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{its operand has no sharding}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{the sharding has 1 dim}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @more = <["x"=2, "z"=2]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{its operand is on mesh @mesh, its result on @more}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@more, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{names axes of 1 dims of a value of rank 2}}
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{there is no axis 'z'}}
  %0 = sdy.all_gather [{"z"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{uses axis 'x' twice}}
  %0 = sdy.all_gather [{"x"}, {"x"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{takes {"y"} off dim 0, which is on {"x"}: a dim loses its last axes}}
  %0 = sdy.all_gather [{"y"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  // expected-error @+1 {{takes {"x"} off dim 0, which is on {"x", "y"}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  // expected-error @+1 {{takes {"y":(1)2} off dim 0}}
  %0 = sdy.all_gather [{"y":(1)2}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  // expected-error @+1 {{dim 0 of its out_sharding is on {"x"}, but the collective brings it to {"x", "y":(1)2}}
  %0 = sdy.all_gather [{"y":(2)2}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{but the collective brings it to {"x", "y"}}
  %0 = sdy.all_slice [{"y"}, {}] %a out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{uses axis 'x' twice}}
  %0 = sdy.all_slice [{}, {"x"}] %a out_sharding=<@mesh, [{"x"}, {"x"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{dim 1 of its out_sharding is on {}, but the collective brings it to {"y"}}
  %0 = sdy.reduce_scatter [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) {
  // expected-error @+1 {{ends a pending max along {"x"} by a sum}}
  %0 = sdy.reduce_scatter [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{cannot begin a pending reduction along {"y"}}
  %0 = sdy.reduce_scatter [{}, {}] %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{moves nothing}}
  %0 = sdy.all_to_all [] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{there is no dim 2 in a value of rank 2}}
  %0 = sdy.all_to_all [{"x"}: 0->2] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{dim 0 is in several moves, or in one both source and target}}
  %0 = sdy.all_to_all [{"x"}: 0->0] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{takes {"y"} off dim 0}}
  %0 = sdy.all_to_all [{"y"}: 0->1] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{dim 1 of its out_sharding is on {}, but the collective brings it to {"x"}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @order(%a: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) {
  // expected-error @+1 {{its moves are not in the order of their source dims: dim 0 comes after 2}}
  %0 = sdy.all_to_all [{"y"}: 2->3, {"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @others(%a: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  // expected-error @+1 {{dim 2 of its out_sharding is on {"y"}, but the collective brings it to {}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}, {"y"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @more = <["x"=4, "y"=2]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{has other axes than its result's}}
  %0 = sdy.collective_permute %a out_sharding=<@more, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @more = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{on meshes that are the same, under two names}}
  %0 = sdy.collective_permute %a out_sharding=<@more, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{dim 0 is in 2 parts before and in 4 after; a permute keeps their number}}
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{dim 0 of its out_sharding is on {}, but the collective brings it to {"x"}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{are in the order of the mesh}}
  %0 = sdy.all_reduce {"y":(2)2, "y":(1)2} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{reduces along "x", which cuts a dim of its operand or is replicated there}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{reduces along "y", but its out_sharding is unreduced along it}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) {
  // expected-error @+1 {{ends a pending max along {"x"} by a sum}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{begins a sum, but its out_sharding has another kind of reduction}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced=max{"x"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{takes {"y"} off dim 0}}
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{its out_sharding is unreduced along {"y"}, but the collective leaves {"x"} unreduced}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{begins a sum, but its out_sharding has another kind of reduction}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced=min{"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{names no axes}}
  %0 = sdy.replicated_to_unreduced {} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{dim 0 of its out_sharding is on {}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{its operand is not replicated along "x"}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{its out_sharding is unreduced along {}, but the collective leaves {"y"} unreduced}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}
