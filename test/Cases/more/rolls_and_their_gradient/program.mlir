module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x40xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %arg1: tensor<16x40xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<16x40xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, tensor<16x40xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
    %0 = call @_roll_static(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %1 = stablehlo.add %0, %arg1 : tensor<16x40xf32>
    %2 = call @_roll_static_0(%1) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %3 = call @_roll_static_1(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %4 = stablehlo.tanh %3 : tensor<16x40xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x40xf32>
    %6 = stablehlo.subtract %5, %4 : tensor<16x40xf32>
    %7 = call @_roll_static_2(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %8 = stablehlo.multiply %4, %7 : tensor<16x40xf32>
    %9 = stablehlo.multiply %8, %arg1 : tensor<16x40xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x40xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x40xf32>
    %12 = stablehlo.multiply %11, %arg1 : tensor<16x40xf32>
    %13 = stablehlo.multiply %4, %12 : tensor<16x40xf32>
    %14 = stablehlo.multiply %12, %7 : tensor<16x40xf32>
    %15 = call @_roll_static_3(%13) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %16 = stablehlo.multiply %14, %6 : tensor<16x40xf32>
    %17 = stablehlo.multiply %16, %4 : tensor<16x40xf32>
    %18 = stablehlo.add %16, %17 : tensor<16x40xf32>
    %19 = call @_roll_static_4(%18) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %20 = stablehlo.add %15, %19 : tensor<16x40xf32>
    return %2, %20 : tensor<16x40xf32>, tensor<16x40xf32>
  }
  func.func private @_roll_static(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = stablehlo.slice %arg0 [0:16, 37:40] : (tensor<16x40xf32>) -> tensor<16x3xf32>
    %1 = stablehlo.slice %arg0 [0:16, 0:37] : (tensor<16x40xf32>) -> tensor<16x37xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<16x3xf32>, tensor<16x37xf32>) -> tensor<16x40xf32>
    return %2 : tensor<16x40xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = stablehlo.slice %arg0 [0:16, 10:40] : (tensor<16x40xf32>) -> tensor<16x30xf32>
    %1 = stablehlo.slice %arg0 [0:16, 0:10] : (tensor<16x40xf32>) -> tensor<16x10xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<16x30xf32>, tensor<16x10xf32>) -> tensor<16x40xf32>
    return %2 : tensor<16x40xf32>
  }
  func.func private @_roll_static_1(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = stablehlo.slice %arg0 [0:16, 20:40] : (tensor<16x40xf32>) -> tensor<16x20xf32>
    %1 = stablehlo.slice %arg0 [0:16, 0:20] : (tensor<16x40xf32>) -> tensor<16x20xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<16x20xf32>, tensor<16x20xf32>) -> tensor<16x40xf32>
    return %2 : tensor<16x40xf32>
  }
  func.func private @_roll_static_2(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = stablehlo.slice %arg0 [0:16, 3:40] : (tensor<16x40xf32>) -> tensor<16x37xf32>
    %1 = stablehlo.slice %arg0 [0:16, 0:3] : (tensor<16x40xf32>) -> tensor<16x3xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<16x37xf32>, tensor<16x3xf32>) -> tensor<16x40xf32>
    return %2 : tensor<16x40xf32>
  }
  func.func private @_roll_static_3(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = stablehlo.slice %arg0 [0:16, 0:37] : (tensor<16x40xf32>) -> tensor<16x37xf32>
    %1 = stablehlo.slice %arg0 [0:16, 37:40] : (tensor<16x40xf32>) -> tensor<16x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %1, %cst, low = [0, 0], high = [0, 37], interior = [0, 0] : (tensor<16x3xf32>, tensor<f32>) -> tensor<16x40xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %0, %cst_0, low = [0, 3], high = [0, 0], interior = [0, 0] : (tensor<16x37xf32>, tensor<f32>) -> tensor<16x40xf32>
    %4 = stablehlo.add %2, %3 : tensor<16x40xf32>
    return %4 : tensor<16x40xf32>
  }
  func.func private @_roll_static_4(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = stablehlo.slice %arg0 [0:16, 0:20] : (tensor<16x40xf32>) -> tensor<16x20xf32>
    %1 = stablehlo.slice %arg0 [0:16, 20:40] : (tensor<16x40xf32>) -> tensor<16x20xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %1, %cst, low = [0, 0], high = [0, 20], interior = [0, 0] : (tensor<16x20xf32>, tensor<f32>) -> tensor<16x40xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %0, %cst_0, low = [0, 20], high = [0, 0], interior = [0, 0] : (tensor<16x20xf32>, tensor<f32>) -> tensor<16x40xf32>
    %4 = stablehlo.add %2, %3 : tensor<16x40xf32>
    return %4 : tensor<16x40xf32>
  }
}
