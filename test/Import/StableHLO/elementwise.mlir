// Elementwise ops: pretty and generic text mean the same, and both are read back.
// RUN: mesh-opt %s > %t.pretty
// RUN: mesh-opt %t.pretty | diff %t.pretty -
// RUN: mesh-opt --mlir-print-op-generic %s > %t.generic
// RUN: mesh-opt %t.generic | diff %t.pretty -
// RUN: FileCheck %s < %t.pretty

// One type stands for all where they agree, else a function type is written.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<4xf32>, %c: tensor<4xcomplex<f32>>) {
  // CHECK: stablehlo.abs %{{.*}} : tensor<4xf32>
  %0 = stablehlo.abs %x : tensor<4xf32>
  // CHECK: stablehlo.abs %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %1 = stablehlo.abs %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<4xf32>
  %2 = stablehlo.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : tensor<4xcomplex<f32>>
  %4 = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
  %5 = stablehlo.real %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %6 = stablehlo.imag %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xf32>) -> tensor<4x4xui8>
  %7 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x4xui8>
  %8 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<?x4xf32>, %i: tensor<4xi4>) {
  %0 = stablehlo.cbrt %x : tensor<?x4xf32>
  %1 = stablehlo.ceil %x : tensor<?x4xf32>
  %2 = stablehlo.cosine %x : tensor<?x4xf32>
  %3 = stablehlo.count_leading_zeros %i : tensor<4xi4>
  %4 = stablehlo.exponential_minus_one %x : tensor<?x4xf32>
  %5 = stablehlo.floor %x : tensor<?x4xf32>
  %6 = stablehlo.log %x : tensor<?x4xf32>
  %7 = stablehlo.log_plus_one %x : tensor<?x4xf32>
  %8 = stablehlo.logistic %x : tensor<?x4xf32>
  %9 = stablehlo.negate %x : tensor<?x4xf32>
  %10 = stablehlo.not %i : tensor<4xi4>
  %11 = stablehlo.popcnt %i : tensor<4xi4>
  %12 = stablehlo.round_nearest_afz %x : tensor<?x4xf32>
  %13 = stablehlo.round_nearest_even %x : tensor<?x4xf32>
  %14 = stablehlo.rsqrt %x : tensor<?x4xf32>
  %15 = stablehlo.sign %x : tensor<?x4xf32>
  %16 = stablehlo.sine %x : tensor<?x4xf32>
  %17 = stablehlo.sqrt %x : tensor<?x4xf32>
  %18 = stablehlo.tan %x : tensor<?x4xf32>
  %19 = stablehlo.tanh %x : tensor<?x4xf32>
  // CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<?x4xf32>
  %20 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<?x4xf32>
  // CHECK: #stablehlo.result_accuracy<atol = {{.*}}, rtol = {{.*}}, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>
  %21 = stablehlo.tanh %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-05, rtol = 0.0, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<?x4xf32>
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<?x4xf32>
  %22 = stablehlo.reduce_precision %x, format = e5m10 : tensor<?x4xf32>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%a: tensor<4xf32>, %i: tensor<4xi32>) {
  %0 = stablehlo.atan2 %a, %a : tensor<4xf32>
  %1 = stablehlo.divide %a, %a : tensor<4xf32>
  %2 = stablehlo.maximum %a, %a : tensor<4xf32>
  %3 = stablehlo.minimum %a, %a : tensor<4xf32>
  %4 = stablehlo.multiply %a, %a : tensor<4xf32>
  %5 = stablehlo.power %a, %a : tensor<4xf32>
  %6 = stablehlo.remainder %a, %a : tensor<4xf32>
  %7 = stablehlo.subtract %a, %a : tensor<4xf32>
  %8 = stablehlo.and %i, %i : tensor<4xi32>
  %9 = stablehlo.or %i, %i : tensor<4xi32>
  %10 = stablehlo.xor %i, %i : tensor<4xi32>
  %11 = stablehlo.shift_left %i, %i : tensor<4xi32>
  %12 = stablehlo.shift_right_arithmetic %i, %i : tensor<4xi32>
  %13 = stablehlo.shift_right_logical %i, %i : tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @choices
func.func @choices(%a: tensor<4xf32>, %p: tensor<4xi1>, %s: tensor<f32>) {
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.compare LT, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare EQ, %{{.*}}, %{{.*}}, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.compare  EQ, %a, %a,  FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %2 = "stablehlo.compare"(%a, %a) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %3 = stablehlo.select %p, %a, %a : tensor<4xi1>, tensor<4xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  %4 = stablehlo.select %p, %a, %a : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @values
func.func @values() {
  // CHECK: stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
  %0 = stablehlo.constant dense<(1.0,0.0)> : tensor<complex<f32>>
  // CHECK: stablehlo.constant {mhlo.sharding = "{replicated}"} dense<0xFF800000> : tensor<f32>
  %1 = stablehlo.constant {mhlo.sharding = "{replicated}"} dense<0xFF800000> : tensor<f32>
  // CHECK: stablehlo.constant dense<[0, 1]> : tensor<2xi16>
  %2 = stablehlo.constant dense<"0x00000100"> : tensor<2xi16>
  // CHECK: stablehlo.constant() {value = dense<1> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>
  %3 = stablehlo.constant() {value = dense<1> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>
  %4 = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  // CHECK: stablehlo.iota dim = 1 : tensor<2x3xui64>
  %5 = stablehlo.iota dim = 1 : tensor<2x3xui64>
  return
}
