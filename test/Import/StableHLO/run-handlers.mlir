// Every handler of the import that no other program runs: the values are those of XLA 0.10.2 (its CPU client, through JAX).
// RUN: mesh-run %s --function=elementwise --verify | FileCheck %s --check-prefix=ELEMENTWISE
// RUN: mesh-run %s --function=broadcasts --verify | FileCheck %s --check-prefix=BROADCASTS
// RUN: mesh-run %s --function=broadcast_integers --verify | FileCheck %s --check-prefix=INTEGERS
// RUN: mesh-run %s --function=special --verify | FileCheck %s --check-prefix=SPECIAL
// RUN: mesh-run %s --function=normalization --verify | FileCheck %s --check-prefix=NORMAL
// RUN: mesh-run %s --function=linalg --verify | FileCheck %s --check-prefix=LINALG
// RUN: mesh-run %s --function=structure --verify | FileCheck %s --check-prefix=STRUCTURE
// RUN: mesh-run %s --function=rest --verify | FileCheck %s --check-prefix=REST
// RUN: mesh-run %s --function=truth --verify | FileCheck %s --check-prefix=TRUTH
// RUN: mesh-run %s --function=sharded --verify && mesh-run %s --function=sharded --verify --private-memories
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>

  // Products of truth values are "and", their sums "or".
  // TRUTH: result 0 {{.*}} [true, false, true, true]
  // TRUTH: result 1 {{.*}} [true, false]
  // TRUTH: result 2 {{.*}} [true, false]
  // TRUTH: result 3 {{.*}} [true, true]
  func.func public @truth() -> (tensor<2x2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
    %a = stablehlo.constant dense<[[true, false, true], [false, true, true]]> : tensor<2x3xi1>
    %b = stablehlo.constant dense<[[true, false], [true, false], [true, false]]> : tensor<3x2xi1>
    %c = stablehlo.constant dense<[[true, false], [true, true], [false, false]]> : tensor<3x2xi1>
    %0 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] : (tensor<2x3xi1>, tensor<3x2xi1>) -> tensor<2x2xi1>
    %1 = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [0] x [1] : (tensor<2x3xi1>, tensor<3x2xi1>) -> tensor<3xi1>
    %2 = "stablehlo.einsum"(%a, %b) <{einsum_config = "ij,jk->k"}> : (tensor<2x3xi1>, tensor<3x2xi1>) -> tensor<2xi1>
    %3 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ij->i"}> : (tensor<2x3xi1>) -> tensor<2xi1>
    %4 = stablehlo.slice %1 [0:2] : (tensor<3xi1>) -> tensor<2xi1>
    return %0, %4, %2, %3 : tensor<2x2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
  }

  // REST: result 0 {{.*}} [0.622459, 0.000335
  // REST: result 1 {{.*}} [1, -8, 0, -2]
  // REST: result 2 {{.*}} 0
  func.func public @rest() -> (tensor<4xf32>, tensor<4xf32>, tensor<ui32>) {
    %a = stablehlo.constant dense<[0.5, -8.0, 0.0, -1.5]> : tensor<4xf32>
    %0 = stablehlo.logistic %a : tensor<4xf32>
    %1 = stablehlo.round_nearest_afz %a : tensor<4xf32>
    %2 = stablehlo.replica_id : tensor<ui32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<ui32>
  }

  // ELEMENTWISE: result 0 {{.*}} [0.25, -512, 1000, 0.22313]
  // ELEMENTWISE: result 1 {{.*}} [0.793701, -2, 0.01, 1.39561]
  // ELEMENTWISE: result 2 {{.*}} [0.648721, -0.999665, 1e-06, 14.1543]
  // ELEMENTWISE: result 3 {{.*}} [1.09861, 1.38629, -0.693147, nan]
  // ELEMENTWISE: result 4 {{.*}} [0.5, -8, 0, 2.5]
  // ELEMENTWISE: result 5 {{.*}} [0.5, -2, 1e-06, 1.21828]
  // ELEMENTWISE: result 6 {{.*}} [0.244979, -1.21203, 3.14159, 2.07504]
  // ELEMENTWISE: result 7 {{.*}} [1, 30, 6, 0]
  // ELEMENTWISE: result 8 {{.*}} [31, 0, 22, 32]
  // ELEMENTWISE: result 9 {{.*}} [1, 49, 0, 0]
  // ELEMENTWISE: result 10 {{.*}} [0.5, -1, -0.5, -1.5]
  // ELEMENTWISE: result 11 {{.*}} [1, -1, 1, 1]
  // ELEMENTWISE: result 12 {{.*}} [1, -1, 1, 0]
  // ELEMENTWISE: result 13 {{.*}} [1.41421, nan, 1000, 0.606531]
  func.func public @elementwise() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) {
    %a = stablehlo.constant dense<[0.5, -8.0, 1.0e-6, 2.7182817]> : tensor<4xf32>
    %b = stablehlo.constant dense<[2.0, 3.0, -0.5, -1.5]> : tensor<4xf32>
    %i = stablehlo.constant dense<[1, -7, 1000, 0]> : tensor<4xi32>
    %j = stablehlo.constant dense<[5, 2, -3, 7]> : tensor<4xi32>
    %0 = stablehlo.power %a, %b : tensor<4xf32>
    %1 = stablehlo.cbrt %a : tensor<4xf32>
    %2 = stablehlo.exponential_minus_one %a : tensor<4xf32>
    %3 = stablehlo.log_plus_one %b : tensor<4xf32>
    %4 = stablehlo.reduce_precision %a, format = e5m2 : tensor<4xf32>
    %5 = stablehlo.remainder %a, %b : tensor<4xf32>
    %6 = stablehlo.atan2 %a, %b : tensor<4xf32>
    %7 = stablehlo.popcnt %i : tensor<4xi32>
    %8 = stablehlo.count_leading_zeros %i : tensor<4xi32>
    %9 = stablehlo.power %i, %j : tensor<4xi32>
    %low = stablehlo.constant dense<-1.0> : tensor<f32>
    %10 = stablehlo.clamp %low, %a, %b : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %11 = stablehlo.sign %a : tensor<4xf32>
    %12 = stablehlo.remainder %i, %j : tensor<4xi32>
    %13 = stablehlo.rsqrt %a : tensor<4xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
  }

  // BROADCASTS: result 0 {{.*}} [3.5, 5, 5, -1.5]
  // BROADCASTS: result 1 {{.*}} [0.5, 1, -1, 7.5]
  // BROADCASTS: result 2 {{.*}} [4.5, 6, 12, -18]
  // BROADCASTS: result 3 {{.*}} [0.75, 0.666667, 1.5, -1.5]
  // BROADCASTS: result 4 {{.*}} [2, 2, 3, 2]
  // BROADCASTS: result 5 {{.*}} [1.5, 2, 2, -4.5]
  // BROADCASTS: result 6 {{.*}} [2.25, 4, 9, 20.25]
  // BROADCASTS: result 7 {{.*}} [1.5, 2, 1, -1.5]
  // BROADCASTS: result 8 {{.*}} [0.643501, 0.588003, 0.982794, -0.982794]
  // BROADCASTS: result 9 {{.*}} [1.5+2j, 2+3j, 3+2j, -4.5+3j]
  // BROADCASTS: result 10 {{.*}} [true, true, false, true]
  // BROADCASTS: result 11 {{.*}} [1.5, 2, 2, -4.5]
  // BROADCASTS: result 12 {{.*}} [1.19209e-07, 2.38419e-07, -2.38419e-07, 4.76837e-07]
  // BROADCASTS: result 13 {{.*}} [-0.154114, -0.154114, -0.0800398, -0.0800398]
  // BROADCASTS: result 14 {{.*}} [0.202057, 0.0770569, 0.0823232, 0.0198232]
  func.func public @broadcasts() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xcomplex<f32>>, tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
    %a = stablehlo.constant dense<[[1.5, 2.0], [3.0, -4.5]]> : tensor<2x2xf32>
    %b = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
    %s = stablehlo.constant dense<2.0> : tensor<f32>
    %c = stablehlo.constant dense<[[3.0], [4.0]]> : tensor<2x1xf32>
    %0 = chlo.broadcast_add %a, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %1 = chlo.broadcast_subtract %b, %a : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = chlo.broadcast_multiply %a, %c : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
    %3 = chlo.broadcast_divide %a, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %4 = chlo.broadcast_maximum %a, %s : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %5 = chlo.broadcast_minimum %s, %a : (tensor<f32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %6 = chlo.broadcast_power %a, %s : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %7 = chlo.broadcast_remainder %a, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %8 = chlo.broadcast_atan2 %a, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %9 = chlo.broadcast_complex %a, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xcomplex<f32>>
    %10 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xi1>
    %11 = chlo.broadcast_select %10, %a, %s : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %12 = chlo.broadcast_next_after %a, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %13 = chlo.broadcast_polygamma %s, %c : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    %14 = chlo.broadcast_zeta %c, %b : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x2xf32>
    %16 = stablehlo.subtract %12, %a : tensor<2x2xf32>
    %17 = stablehlo.broadcast %b, sizes = [2] : (tensor<2xf32>) -> tensor<2x2xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %16, %15, %14 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xcomplex<f32>>, tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  }

  // INTEGERS: result 0 {{.*}} [0, 2, 3, 2]
  // INTEGERS: result 1 {{.*}} [15, -5, 7, 255]
  // INTEGERS: result 2 {{.*}} [15, -7, 4, 253]
  // INTEGERS: result 3 {{.*}} [96, -20, 56, 1020]
  // INTEGERS: result 4 {{.*}} [1, -2, 0, 63]
  // INTEGERS: result 5 {{.*}} [1, 1073741822, 0, 63]
  // INTEGERS: result 6 {{.*}} [1073741823, -3, -1, 28389652]
  // INTEGERS: result 7 {{.*}} [18446744073709551614, 8262476398185226452, 1, 0]
  // INTEGERS: result 8 {{.*}} [0, 4611686018427387903, 4611686018427387904, 1]
  func.func public @broadcast_integers() -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<4xi32>, tensor<4xui64>, tensor<4xi64>) {
    %a = stablehlo.constant dense<[[12, -5], [7, 255]]> : tensor<2x2xi32>
    %b = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %0 = chlo.broadcast_and %a, %b : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    %1 = chlo.broadcast_or %a, %b : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    %2 = chlo.broadcast_xor %a, %b : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    %3 = chlo.broadcast_shift_left %a, %b : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    %4 = chlo.broadcast_shift_right_arithmetic %a, %b : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    %5 = chlo.broadcast_shift_right_logical %a, %b : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    %c = stablehlo.constant dense<[2147483647, -2147483648, -7, 123456789]> : tensor<4xi32>
    %d = stablehlo.constant dense<[2147483647, 5, 3, 987654321]> : tensor<4xi32>
    %6 = chlo.mulhi %c, %d : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    %e = stablehlo.constant dense<[18446744073709551615, 12345678901234567890, 4294967296, 3]> : tensor<4xui64>
    %7 = chlo.mulhi %e, %e : tensor<4xui64>, tensor<4xui64> -> tensor<4xui64>
    %f = stablehlo.constant dense<[-1, 9223372036854775807, -9223372036854775808, -4294967297]> : tensor<4xi64>
    %8 = chlo.mulhi %f, %f : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<4xi32>, tensor<4xui64>, tensor<4xi64>
  }

  // SPECIAL: result 0 {{.*}} [1+2j, 0-3j]
  // SPECIAL: result 1 {{.*}} [0.723674, 1.71116, 0, 2]
  // SPECIAL: result 2 {{.*}} [false, false, true, true]
  // SPECIAL: result 3 {{.*}} [false, false, true, false]
  // SPECIAL: result 4 {{.*}} [false, false, false, true]
  // SPECIAL: result 5 {{.*}} [1.28802, -0.120782, {{.*}}, 11.6893]
  // SPECIAL: result 6 {{.*}} [-4.22745, 0.0364901, 0.422785, 2.19774]
  // SPECIAL: result 7 {{.*}} [0.0981126, 0.219039, 0.215269, 0.124138]
  // SPECIAL: result 8 {{.*}} [nan, nan, -0.404114, nan]
  // SPECIAL: result 9 {{.*}} [0.0625, 2.25, 4, 90.25]
  // SPECIAL: result 10 {{.*}} [0.225312, -0.81342, 2.32676, 0]
  // SPECIAL: result 11 {{.*}} [3.5, 3.5, 3.5, 3.5]
  // SPECIAL: result 12 {{.*}} [1.5-2j, 1.5-2j]
  // SPECIAL: result 13 {{.*}} [0.276326, -0.711156, 0.842285, 0]
  func.func public @special() -> (tensor<2xcomplex<f32>>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xcomplex<f32>>, tensor<4xf32>) {
    %z = stablehlo.constant dense<[(1.0, -2.0), (0.0, 3.0)]> : tensor<2xcomplex<f32>>
    %a = chlo.constant dense<[0.25, -0.75, 0x7F800000, 0xFF800000]> : tensor<4xf32>
    %b = stablehlo.constant dense<[0.25, 1.5, 2.0, 9.5]> : tensor<4xf32>
    %0 = chlo.conj %z : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
    %1 = chlo.erfc %a : tensor<4xf32> -> tensor<4xf32>
    %2 = chlo.is_inf %a : tensor<4xf32> -> tensor<4xi1>
    %3 = chlo.is_pos_inf %a : tensor<4xf32> -> tensor<4xi1>
    %4 = chlo.is_neg_inf %a : tensor<4xf32> -> tensor<4xi1>
    %5 = chlo.lgamma %b : tensor<4xf32> -> tensor<4xf32>
    %6 = chlo.digamma %b : tensor<4xf32> -> tensor<4xf32>
    %7 = chlo.bessel_i1e %b : tensor<4xf32> -> tensor<4xf32>
    %8 = chlo.polygamma %b, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %9 = chlo.square %b : tensor<4xf32> -> tensor<4xf32>
    %c = stablehlo.constant dense<[0.25, -0.75, 0.999, 0.0]> : tensor<4xf32>
    %10 = chlo.erf_inv %c : tensor<4xf32> -> tensor<4xf32>
    %11 = "chlo.constant_like"(%b) <{value = 3.5 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
    %12 = "chlo.constant_like"(%z) <{value = #complex.number<:f32 1.5, -2.0>}> : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    %13 = chlo.erf %c : tensor<4xf32> -> tensor<4xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<2xcomplex<f32>>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xcomplex<f32>>, tensor<4xf32>
  }

  // NORMAL: result 0 {{.*}} [-1.0292, -0.485504, 2.80841, -1.5145, 0.889602, -1]
  // NORMAL: result 1 {{.*}} [-1.51505, -0.411652, 2.01505, -1.58835, 0.25, -1]
  // NORMAL: result 2 {{.*}} [2.5, 0.5]
  // NORMAL: result 3 {{.*}} [1.5, 1.5]
  // NORMAL: result 4 {{.*}} [0.794657, -0.443879, -0.31011, -0.242116, -1.99633, 0.685994]
  // NORMAL: result 5 {{.*}} [2.77161, -2.05798]
  // NORMAL: result 6 {{.*}} [2, 3]
  func.func public @normalization() -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %x = stablehlo.constant dense<[[1.0, 2.0], [4.0, -1.0], [2.5, 0.5]]> : tensor<3x2xf32>
    %scale = stablehlo.constant dense<[1.5, 0.5]> : tensor<2xf32>
    %offset = stablehlo.constant dense<[0.25, -1.0]> : tensor<2xf32>
    %mean = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
    %variance = stablehlo.constant dense<[1.25, 2.0]> : tensor<2xf32>
    %g = stablehlo.constant dense<[[0.5, -1.0], [2.0, 1.0], [-0.5, 3.0]]> : tensor<3x2xf32>
    %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = 0.125 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
    %1:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 0.125 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
    %2:3 = "stablehlo.batch_norm_grad"(%x, %scale, %mean, %variance, %g) <{epsilon = 0.125 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
    return %0, %1#0, %1#1, %1#2, %2#0, %2#1, %2#2 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>
  }

  // LINALG: result 0 {{.*}} [2, 0, 1, 2]
  // LINALG: result 1 {{.*}} [2, 1, 0, 1.33333]
  // LINALG: result 2 {{.*}} [2, 0, 1, 1.33333]
  // LINALG: result 3 {{.*}} [2, -5]
  // LINALG: result 4 {{.*}} [5]
  // LINALG: result 5 {{.*}} [2+0j, 1-3j, 0+0j, 1+3j]
  func.func public @linalg() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<f32>, tensor<4xcomplex<f32>>) {
    %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>
    %b = stablehlo.constant dense<[[2.0, 0.0], [1.0, 3.0]]> : tensor<2x2xf32>
    %v = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
    %w = stablehlo.constant dense<[1.0, 2.0, 0.0, -1.0]> : tensor<4xf32>
    %z = stablehlo.convert %w : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %c = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
    %l = stablehlo.constant dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
    %0 = stablehlo.multiply %c, %l : tensor<2x2xf32>
    %1 = "stablehlo.triangular_solve"(%b, %a) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = "stablehlo.triangular_solve"(%b, %a) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %3 = stablehlo.dot %b, %v : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %4 = stablehlo.dot %v, %v : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
    %5 = stablehlo.fft %z, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    return %0, %1, %2, %3, %4, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<f32>, tensor<4xcomplex<f32>>
  }

  // STRUCTURE: result 0 {{.*}} [6, 2, 8, 2]
  // STRUCTURE: result 1 {{.*}} [18, 2, 32, 2]
  // STRUCTURE: result 2 {{.*}} [2, 8, 2, 6]
  // STRUCTURE: result 3 {{.*}} [4, 5]
  // STRUCTURE: result 4 {{.*}} [10, 0, 20, 0]
  // STRUCTURE: result 5 {{.*}} [18, 2, 32, 2]
  func.func public @structure() -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<2xi32>, tensor<4xi32>, tensor<4xi32>) {
    %a = stablehlo.constant dense<[3, 1, 4, 1]> : tensor<4xi32>
    %0 = stablehlo.composite "test.twice" %a {decomposition = @twice} : (tensor<4xi32>) -> tensor<4xi32>
    %1 = "stablehlo.map"(%a, %0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %5 = stablehlo.multiply %x, %y : tensor<i32>
      stablehlo.return %5 : tensor<i32>
    }) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %t = stablehlo.tuple %a, %0 : tuple<tensor<4xi32>, tensor<4xi32>>
    %2 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xi32>, tensor<4xi32>>) -> tensor<4xi32>
    %3 = stablehlo.reverse %2, dims = [0] : tensor<4xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %two = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
    %4 = "stablehlo.select_and_scatter"(%a, %two, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %5 = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }, {
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %5 = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %5 : tensor<i32>
    }) : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
    %6 = "stablehlo.reduce_window"(%a, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %5 = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %5 : tensor<i32>
    }) : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>
    %index = stablehlo.constant dense<1> : tensor<i32>
    %7 = "stablehlo.case"(%index) ({
      stablehlo.return %a : tensor<4xi32>
    }, {
      stablehlo.return %1 : tensor<4xi32>
    }) : (tensor<i32>) -> tensor<4xi32>
    return %0, %1, %3, %6, %4, %7 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<2xi32>, tensor<4xi32>, tensor<4xi32>
  }
  func.func private @twice(%a: tensor<4xi32>) -> tensor<4xi32> {
    %0 = stablehlo.add %a, %a : tensor<4xi32>
    return %0 : tensor<4xi32>
  }

  // Shardy's own ops around ops that need a dim whole or do not.
  func.func public @sharded(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %scale: tensor<6xf32>, %offset: tensor<6xf32>, %g: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<8x6xf32>) {
    %0:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 0.125 : f32, feature_index = 1 : i64}> : (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>)
    %1:3 = "stablehlo.batch_norm_grad"(%x, %scale, %0#1, %0#2, %g) <{epsilon = 0.125 : f32, feature_index = 1 : i64}> : (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>)
    %2 = sdy.named_computation<"block">(%0#0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {"y"}]>] (%a: tensor<8x6xf32>) {
      %5 = stablehlo.cbrt %a : tensor<8x6xf32>
      sdy.return %5 : tensor<8x6xf32>
    } : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %3 = sdy.data_flow_edge %2 sharding=<@mesh, [{}, {"y"}]> : tensor<8x6xf32>
    %4 = sdy.propagation_barrier %3 allowed_direction=FORWARD : tensor<8x6xf32>
    %6 = chlo.broadcast_power %4, %scale : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
    %7 = sdy.reshard %1#0 <@mesh, [{"y"}, {"x"}]> : tensor<8x6xf32>
    return %3, %7, %1#1, %4 : tensor<8x6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<8x6xf32>
  }
}
