// chlo's functions of complex numbers, on both sides of their branch cuts, where squares overflow and near 0: the values are NumPy's.
// RUN: mesh-run %s --function=values --verify | FileCheck %s
// RUN: mesh-run %s --function=sharded --verify --private-memories
// RUN: mesh-run %s --function=order | FileCheck %s --check-prefix=ORDER
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @values() -> (tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>) {
    %z = stablehlo.constant dense<[(2.0, 0.0), (2.0, -0.0), (-0.5, 1.0e-20), (0.0, 1.0e200), (-3.0, 4.0), (1.0e-10, 0.5)]> : tensor<6xcomplex<f64>>
    // CHECK: result 0 {{.*}} [1.5708+1.31696j, 1.5708-1.31696j, -0.523599+1.1547e-20j, 0+461.21j, -0.633984+2.30551j, 8.94427e-11+0.481212j]
    %0 = chlo.asin %z : tensor<6xcomplex<f64>> -> tensor<6xcomplex<f64>>
    // CHECK: result 1 {{.*}} [0-1.31696j, 0+1.31696j, 2.0944-1.1547e-20j, 1.5708-461.21j, 2.20478-2.30551j, 1.5708-0.481212j]
    %1 = chlo.acos %z : tensor<6xcomplex<f64>> -> tensor<6xcomplex<f64>>
    // CHECK: result 2 {{.*}} [1.10715+0j, 1.10715-0j, -0.463648+8e-21j, 1.5708+1e-200j, -1.44831+0.158997j, 1.33333e-10+0.549306j]
    %2 = chlo.atan %z : tensor<6xcomplex<f64>> -> tensor<6xcomplex<f64>>
    // CHECK: result 3 {{.*}} [1.44364+0j, 1.44364-0j, -0.481212+8.94427e-21j, 461.21+1.5708j, -2.29991+0.917617j, 1.1547e-10+0.523599j]
    %3 = chlo.asinh %z : tensor<6xcomplex<f64>> -> tensor<6xcomplex<f64>>
    // CHECK: result 4 {{.*}} [1.31696+0j, 1.31696-0j, 1.1547e-20+2.0944j, 461.21+1.5708j, 2.30551+2.20478j, 0.481212+1.5708j]
    %4 = chlo.acosh %z : tensor<6xcomplex<f64>> -> tensor<6xcomplex<f64>>
    // CHECK: result 5 {{.*}} [0.549306+1.5708j, 0.549306-1.5708j, -0.549306+1.33333e-20j, 0+1.5708j, -0.117501+1.40992j, 8e-11+0.463648j]
    %5 = chlo.atanh %z : tensor<6xcomplex<f64>> -> tensor<6xcomplex<f64>>
    // CHECK: result 6 {{.*}} [3.62686+0j, 3.62686-0j, -0.521095+1.12763e-20j, {{.*}}, 6.54812-7.61923j, 8.77583e-11+0.479426j]
    %6 = chlo.sinh %z : tensor<6xcomplex<f64>> -> tensor<6xcomplex<f64>>
    // CHECK: result 7 {{.*}} [3.7622+0j, 3.7622-0j, 1.12763-5.21095e-21j, {{.*}}, -6.58066+7.58155j, 0.877583+4.79426e-11j]
    %7 = chlo.cosh %z : tensor<6xcomplex<f64>> -> tensor<6xcomplex<f64>>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>
  }
  func.func public @sharded(%z: tensor<8x3xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<8x3xcomplex<f32>>) -> (tensor<8x3xcomplex<f32>>, tensor<8x3xcomplex<f32>>) {
    %0 = chlo.asin %z : tensor<8x3xcomplex<f32>> -> tensor<8x3xcomplex<f32>>
    %1 = chlo.acos %0 : tensor<8x3xcomplex<f32>> -> tensor<8x3xcomplex<f32>>
    %2 = chlo.atanh %1 : tensor<8x3xcomplex<f32>> -> tensor<8x3xcomplex<f32>>
    %3 = chlo.square %2 : tensor<8x3xcomplex<f32>> -> tensor<8x3xcomplex<f32>>
    %4 = chlo.tan %3 : tensor<8x3xcomplex<f32>> -> tensor<8x3xcomplex<f32>>
    %5 = stablehlo.maximum %4, %w : tensor<8x3xcomplex<f32>>
    %6 = stablehlo.cbrt %5 : tensor<8x3xcomplex<f32>>
    %7 = stablehlo.atan2 %6, %w : tensor<8x3xcomplex<f32>>
    %8 = chlo.broadcast_minimum %7, %w : (tensor<8x3xcomplex<f32>>, tensor<8x3xcomplex<f32>>) -> tensor<8x3xcomplex<f32>>
    return %3, %8 : tensor<8x3xcomplex<f32>>, tensor<8x3xcomplex<f32>>
  }
  // By real parts, then by imaginary ones; a reducer too.
  // ORDER: result 0 {{.*}} [1+2j, 3-1j]
  // ORDER: result 1 {{.*}} [1-1j, 2+7j]
  // ORDER: result 2 {{.*}} [3-1j]
  func.func public @order() -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<complex<f32>>) {
    %a = stablehlo.constant dense<[(1.0, 2.0), (2.0, 7.0)]> : tensor<2xcomplex<f32>>
    %b = stablehlo.constant dense<[(1.0, -1.0), (3.0, -1.0)]> : tensor<2xcomplex<f32>>
    %least = stablehlo.constant dense<(0xFF800000, 0.0)> : tensor<complex<f32>>
    %0 = stablehlo.maximum %a, %b : tensor<2xcomplex<f32>>
    %1 = stablehlo.minimum %a, %b : tensor<2xcomplex<f32>>
    %2 = stablehlo.reduce(%b init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
    return %0, %1, %2 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<complex<f32>>
  }
}
