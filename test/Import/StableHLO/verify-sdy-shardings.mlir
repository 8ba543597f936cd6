// What sdy's verifiers refuse about meshes and shardings, a case for each thing they check.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

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
// expected-error @+1 {{a value that is not a tensor has no dims and no axes in its sharding}}
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
// expected-error @+1 {{4 is not a multiple of 1 x 3}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)3}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{4 is not a multiple of 4 x 2}}
func.func @argument(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(4)2}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{not a part of axis}}
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
