// A program of what artifacts have different entries for; artifacts.mlir writes
// it as one.
// CHECK-LABEL: module @names attributes {mhlo.num_partitions = 2 : i32, some.unit}
module @names attributes {mhlo.num_partitions = 2 : i32, some.unit} {
  // CHECK: func.func private @small(%arg0: tensor<2xf8E4M3>, %arg1: tensor<3xi2>, %arg2: tensor<?x4xf32, #stablehlo.bounds<8, ?>>)
  func.func private @small(%x: tensor<2xf8E4M3>, %y: tensor<3xi2>, %z: tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> (tensor<2xf8E4M3>, tensor<3xi2>) {
    return %x, %y : tensor<2xf8E4M3>, tensor<3xi2>
  }
  // CHECK: func.func public @main(%arg0: tensor<8xcomplex<f32>> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32}
  func.func public @main(%z: tensor<8xcomplex<f32>> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32},
                  %a: tensor<4x4xbf16>, %token: !stablehlo.token) -> tensor<8xcomplex<f32>> {
    // CHECK: stablehlo.constant dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
    %flags = stablehlo.constant dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
    // CHECK: stablehlo.constant dense<true> : tensor<9xi1>
    %true = stablehlo.constant dense<true> : tensor<9xi1>
    // CHECK: stablehlo.constant dense<[-2, 1, 7]> : tensor<3xi4>
    %bits = stablehlo.constant dense<[-2, 1, 7]> : tensor<3xi4>
    // CHECK: stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<8xcomplex<f32>>
    %number = stablehlo.constant dense<(1.0, -2.0)> : tensor<8xcomplex<f32>>
    // CHECK: precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>
    %product = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT],
      algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1,
                   rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>
      : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    // CHECK: stablehlo.tanh {{.*}} {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 0.000000e+00, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}
    %tanh = "stablehlo.tanh"(%product) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-05, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
    // CHECK: stablehlo.fft {{.*}}, type = IFFT, length = [8]
    %fft = stablehlo.fft %z, type = IFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    // CHECK: stablehlo.custom_call @f({{.*}}) {api_version = 4 : i32, backend_config = {scale = 5.000000e-01 : f64}, called_computations = [@small], has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
    %call = stablehlo.custom_call @f(%tanh) {api_version = 4 : i32, backend_config = {scale = 0.5 : f64}, called_computations = [@small], has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
    // CHECK: stablehlo.compare LT, {{.*}}, TOTALORDER
    %less = stablehlo.compare LT, %call, %a, TOTALORDER : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xi1>
    // CHECK: stablehlo.after_all
    %after = stablehlo.after_all %token, %token : !stablehlo.token
    return %fft : tensor<8xcomplex<f32>>
  }
}
