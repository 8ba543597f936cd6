// jax.debug.print without Python: what it is called with is printed, by a flag; without one, the call is named.
// RUN: mesh-run %s --function=jax_debug_print --print-callbacks | FileCheck %s --check-prefix=JAX
// RUN: mesh-run %s --function=jax_ordered --print-callbacks | FileCheck %s --check-prefix=ORDERED
// RUN: mesh-run %s --function=jax_partitioned --print-callbacks | FileCheck %s --check-prefix=SHARDS
// RUN: mesh-run %s --function=jax_divergent --print-callbacks | FileCheck %s --check-prefix=DIVERGENT --implicit-check-not=callback:
// RUN: not mesh-run %s --function=jax_ordered 2>&1 | FileCheck %s --check-prefix=UNKNOWN
module {
  // As JAX 0.10.2 writes jax.debug.print("x={} {y}", x, y=x.sum()).
  // JAX: callback: [1 2] 3
  func.func public @jax_debug_print() -> tensor<2xf32> {
    %arg0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0, %0) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, operand_layouts = [dense<[0]> : tensor<1xindex>, dense<> : tensor<0xindex>], result_layouts = []} : (tensor<2xf32>, tensor<f32>) -> ()
    return %arg0 : tensor<2xf32>
  }
  // jax.debug.print(..., ordered=True): two of them.
  // ORDERED: callback: 1
  // ORDERED-NEXT: callback: 2
  // ORDERED-NEXT: result 0
  // UNKNOWN: error: custom call 'xla_ffi_python_cpu_callback' is callback 3 of the program, a Python function that is not in its text; a function in its place can be registered with meshloom::register_custom_call as 'xla_ffi_python_cpu_callback:3', or as 'xla_ffi_python_cpu_callback' for all callbacks
  func.func public @jax_ordered(%arg0: !stablehlo.token {jax.token = true}) -> (!stablehlo.token {jax.token = true}, tensor<f32>) {
    %a = stablehlo.constant dense<1.0> : tensor<f32>
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0, %a) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 3 : ui64}, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (!stablehlo.token, tensor<f32>) -> !stablehlo.token
    %b = stablehlo.constant dense<2.0> : tensor<f32>
    %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%0, %b) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 4 : ui64}, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (!stablehlo.token, tensor<f32>) -> !stablehlo.token
    return %1, %b : !stablehlo.token, tensor<f32>
  }
  // jax.debug.print("{}", x, partitioned=True): each shard.
  // SHARDS-DAG: callback: [0 1]
  // SHARDS-DAG: callback: [2 3]
  // SHARDS: result 0
  sdy.mesh @mesh = <["x"=2]>
  func.func public @jax_partitioned() -> tensor<4xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<4xi32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<4xi32>
    stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%1) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 5 : ui64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = []} : (tensor<4xi32>) -> ()
    return %1 : tensor<4xi32>
  }
  // In shard_map over 4 devices: each runs as many turns as its number, and prints where it is in the last branch.
  // DIVERGENT-DAG: callback: 2 1
  // DIVERGENT-DAG: callback: 3 1
  // DIVERGENT: callback: 3 2
  // DIVERGENT: result 0 i32[4] {{.*}} [0, 1, 2, 3]
  sdy.mesh @four = <["w"=4]>
  func.func public @jax_divergent() -> tensor<4xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<4xi32>
    %1 = sdy.manual_computation(%0) in_shardings=[<@four, [{"w"}]>] out_shardings=[<@four, [{"w"}]>] manual_axes={"w"} (%a: tensor<1xi32>) {
      %id = stablehlo.reshape %a : (tensor<1xi32>) -> tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %turns = stablehlo.while(%i = %zero) : tensor<i32>
      cond {
        %more = stablehlo.compare LT, %i, %id, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      } do {
        "stablehlo.case"(%i) ({
          stablehlo.return
        }, {
          stablehlo.custom_call @xla_ffi_python_cpu_callback(%id, %i) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 6 : ui64}} : (tensor<i32>, tensor<i32>) -> ()
          stablehlo.return
        }) : (tensor<i32>) -> ()
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next : tensor<i32>
      }
      %result = stablehlo.reshape %turns : (tensor<i32>) -> tensor<1xi32>
      sdy.return %result : tensor<1xi32>
    } : (tensor<4xi32>) -> tensor<4xi32>
    return %1 : tensor<4xi32>
  }
}
