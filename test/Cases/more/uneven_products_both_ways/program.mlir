module @jit_uneven_products_both_ways attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["model"=8]> {stablehlo.mesh = {axes = [{name = "model", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<50x30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<30x22xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<22x30xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"model"}, {}]> : tensor<50x30xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<50x30xf32>, tensor<30x22xf32>) -> tensor<50x22xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"model"}]> : tensor<50x22xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<50x22xf32>) -> tensor<22x50xf32>
    %4 = stablehlo.dot_general %3, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<22x50xf32>, tensor<50x30xf32>) -> tensor<22x30xf32>
    return %4 : tensor<22x30xf32>
  }
}
