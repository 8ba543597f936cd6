module @jit_halo_exchange_in_loop attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=8]> {stablehlo.mesh = {axes = [{name = "batch", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<64x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<64x8xf32>
    cond {
      %c_1 = stablehlo.constant dense<4> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg_0) : (tensor<64x8xf32>) -> tensor<64x8xf32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<64x8xf32>
    }
    return %0#1 : tensor<64x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x8xf32>) -> tensor<64x8xf32> {
    %0 = stablehlo.slice %arg0 [1:64, 0:8] : (tensor<64x8xf32>) -> tensor<63x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = call @_pad(%0, %c) : (tensor<63x8xf32>, tensor<i32>) -> tensor<64x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
    %3 = stablehlo.multiply %2, %arg0 : tensor<64x8xf32>
    %4 = stablehlo.subtract %1, %3 : tensor<64x8xf32>
    %5 = stablehlo.slice %arg0 [0:63, 0:8] : (tensor<64x8xf32>) -> tensor<63x8xf32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_pad_0(%5, %c_0) : (tensor<63x8xf32>, tensor<i32>) -> tensor<64x8xf32>
    %7 = stablehlo.add %4, %6 : tensor<64x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<64x8xf32>
    %10 = stablehlo.add %arg0, %9 : tensor<64x8xf32>
    return %10 : tensor<64x8xf32>
  }
  func.func private @_pad(%arg0: tensor<63x8xf32>, %arg1: tensor<i32>) -> tensor<64x8xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<63x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    return %1 : tensor<64x8xf32>
  }
  func.func private @_pad_0(%arg0: tensor<63x8xf32>, %arg1: tensor<i32>) -> tensor<64x8xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<63x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    return %1 : tensor<64x8xf32>
  }
}
