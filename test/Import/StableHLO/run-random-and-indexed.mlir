// rng (its own numbers for each op, the same under every layout), torch_index_select, sparse products, top_k and bitcasts of booleans.
// RUN: mesh-run %s --function=random --verify | FileCheck %s --check-prefix=RANDOM
// RUN: mesh-run %s --function=random --verify --private-memories
// RUN: mesh-run %s --function=manual --verify | FileCheck %s --check-prefix=MANUAL
// RUN: mesh-run %s --function=turns --verify | FileCheck %s --check-prefix=TURNS
// RUN: mesh-run %s --function=selected | FileCheck %s --check-prefix=SELECTED
// RUN: mesh-run %s --function=selected_batches --verify
// RUN: mesh-run %s --function=sparse --verify | FileCheck %s --check-prefix=SPARSE
// RUN: mesh-run %s --function=booleans | FileCheck %s --check-prefix=BOOLEANS
module {
  sdy.mesh @mesh = <["x"=4]>
  // Sums of 40,000 numbers: near their means of 2.5, 7 and 4; all bounds are kept, and two ops differ.
  // RANDOM: result 0 {{.*}} [2.{{49|50}}
  // RANDOM: result 1 {{.*}} [{{6.99|7[]]|7.0}}
  // RANDOM: result 2 {{.*}} [true]
  // RANDOM: result 3 {{.*}} [0]
  // RANDOM: result 4 {{.*}} [3]
  func.func public @random() -> (tensor<f32>, tensor<f64>, tensor<i1>, tensor<i32>, tensor<i32>) {
    %low = stablehlo.constant dense<2.0> : tensor<f32>
    %high = stablehlo.constant dense<3.0> : tensor<f32>
    %shape = stablehlo.constant dense<[200, 200]> : tensor<2xi64>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %count = stablehlo.constant dense<4.0e4> : tensor<f32>
    %u = stablehlo.rng %low, %high, %shape, distribution = UNIFORM {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<200x200xf32>
    %v = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<200x200xf32>
    %0 = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<200x200xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.divide %0, %count : tensor<f32>
    %mean = stablehlo.constant dense<7.0> : tensor<f64>
    %deviation = stablehlo.constant dense<1.0e-1> : tensor<f64>
    %zero64 = stablehlo.constant dense<0.0> : tensor<f64>
    %count64 = stablehlo.constant dense<4.0e4> : tensor<f64>
    %n = stablehlo.rng %mean, %deviation, %shape, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<2xi64>) -> tensor<200x200xf64>
    %2 = stablehlo.reduce(%n init: %zero64) applies stablehlo.add across dimensions = [0, 1] : (tensor<200x200xf64>, tensor<f64>) -> tensor<f64>
    %3 = stablehlo.divide %2, %count64 : tensor<f64>
    %different = stablehlo.compare NE, %u, %v : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xi1>
    %false = stablehlo.constant dense<false> : tensor<i1>
    %4 = stablehlo.reduce(%different init: %false) applies stablehlo.or across dimensions = [0, 1] : (tensor<200x200xi1>, tensor<i1>) -> tensor<i1>
    %first = stablehlo.constant dense<-2> : tensor<i32>
    %end = stablehlo.constant dense<4> : tensor<i32>
    %i = stablehlo.rng %first, %end, %shape, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<200x200xi32>
    %5 = stablehlo.reduce(%i init: %end) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<200x200xi32>, tensor<i32>) -> tensor<i32>
    %6 = stablehlo.reduce(%i init: %first) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<200x200xi32>, tensor<i32>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %7 = stablehlo.add %5, %two : tensor<i32>
    return %1, %3, %4, %7, %6 : tensor<f32>, tensor<f64>, tensor<i1>, tensor<i32>, tensor<i32>
  }
  // Each device of a shard_map has numbers of its own.
  // MANUAL: result 0 {{.*}} [4]
  func.func public @manual() -> tensor<i32> {
    %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} () {
      %first = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<1000000000> : tensor<i32>
      %shape = stablehlo.constant dense<1> : tensor<1xi64>
      %1 = stablehlo.rng %first, %end, %shape, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<1xi32>
      sdy.return %1 : tensor<1xi32>
    } : () -> tensor<4xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xi32>) -> tensor<4x4xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xi32>) -> tensor<4x4xi32>
    %3 = stablehlo.compare EQ, %1, %2 : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %4 = stablehlo.convert %3 : (tensor<4x4xi1>) -> tensor<4x4xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xi32>, tensor<i32>) -> tensor<i32>
    return %5 : tensor<i32>
  }
  // Each turn of a loop has numbers of its own, also in a loop of a loop and of a function that it calls: of 12, 12 are different.
  // TURNS: result 0 {{.*}} [12]
  func.func public @turns() -> tensor<i32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %all = stablehlo.constant dense<0> : tensor<3x4xi32>
    %0:2 = stablehlo.while(%i = %c0, %seen = %all) : tensor<i32>, tensor<3x4xi32>
    cond {
      %c3 = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = stablehlo.while(%j = %c0, %row = %seen) : tensor<i32>, tensor<3x4xi32>
      cond {
        %c4 = stablehlo.constant dense<4> : tensor<i32>
        %2 = stablehlo.compare LT, %j, %c4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %2 : tensor<i1>
      } do {
        %2 = func.call @draw() : () -> tensor<1x1xi32>
        %3 = stablehlo.dynamic_update_slice %row, %2, %i, %j : (tensor<3x4xi32>, tensor<1x1xi32>, tensor<i32>, tensor<i32>) -> tensor<3x4xi32>
        %4 = stablehlo.add %j, %c1 : tensor<i32>
        stablehlo.return %4, %3 : tensor<i32>, tensor<3x4xi32>
      }
      %5 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %5, %1#1 : tensor<i32>, tensor<3x4xi32>
    }
    %1 = stablehlo.reshape %0#1 : (tensor<3x4xi32>) -> tensor<12xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<12xi32>) -> tensor<12x12xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<12xi32>) -> tensor<12x12xi32>
    %4 = stablehlo.compare EQ, %2, %3 : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %5 = stablehlo.convert %4 : (tensor<12x12xi1>) -> tensor<12x12xi32>
    %6 = stablehlo.reduce(%5 init: %c0) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x12xi32>, tensor<i32>) -> tensor<i32>
    return %6 : tensor<i32>
  }
  func.func private @draw() -> tensor<1x1xi32> {
    %first = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<1000000000> : tensor<i32>
    %shape = stablehlo.constant dense<1> : tensor<2xi64>
    %0 = stablehlo.rng %first, %end, %shape, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<1x1xi32>
    return %0 : tensor<1x1xi32>
  }
  // SELECTED: result 0 {{.*}} [3, 1, 6, 4]
  func.func public @selected() -> tensor<2x2xi32> {
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
    %0 = "stablehlo.torch_index_select"(%a, %i) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    return %0 : tensor<2x2xi32>
  }
  func.func public @selected_batches(%a: tensor<4x3x6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) -> tensor<4x3x5x2xf32> {
    %i = stablehlo.constant dense<[[0, 5, 3, 3, 1], [1, 1, 1, 1, 1], [5, 4, 3, 2, 1], [0, 0, 0, 5, 5]]> : tensor<4x5xi32>
    %0 = "stablehlo.torch_index_select"(%a, %i) <{dim = 2 : i64, batch_dims = 1 : i64}> : (tensor<4x3x6x2xf32>, tensor<4x5xi32>) -> tensor<4x3x5x2xf32>
    return %0 : tensor<4x3x5x2xf32>
  }
  // BOOLEANS: result 0 {{.*}} [true, true, false]
  // BOOLEANS: result 1 {{.*}} [1, 3, 0]
  // BOOLEANS: result 2 {{.*}} [false, true, false, true]
  // The bits of a number, the lowest first, and back.
  // BOOLEANS: result 3 {{.*}} [true, false, true, false, false, false, ... 2 more]
  // BOOLEANS: result 4 {{.*}} [5]
  func.func public @booleans() -> (tensor<3xi1>, tensor<3xi32>, tensor<4xi1>, tensor<8xi1>, tensor<ui8>) {
    %a = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
    %values, %indices = chlo.top_k(%a, k = 3) : tensor<4xi1> -> (tensor<3xi1>, tensor<3xi32>)
    %0 = stablehlo.bitcast_convert %a : (tensor<4xi1>) -> tensor<4xi1>
    %five = stablehlo.constant dense<5> : tensor<i8>
    %1 = stablehlo.bitcast_convert %five : (tensor<i8>) -> tensor<8xi1>
    %2 = stablehlo.bitcast_convert %1 : (tensor<8xi1>) -> tensor<ui8>
    return %values, %indices, %0, %1, %2 : tensor<3xi1>, tensor<3xi32>, tensor<4xi1>, tensor<8xi1>, tensor<ui8>
  }

  // Rows 0, 2 and 3 of four have elements; the last element stored is in none, and its column is outside.
  // SPARSE: result 0 {{.*}} [7, 0, 6, 23]
  // SPARSE: result 1 {{.*}} [7, -7, 0, 0, 6, -6, ... 2 more]
  func.func public @sparse() -> (tensor<4xf32>, tensor<4x2xf32>) {
    %values = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 9.0]> : tensor<6xf32>
    %rows = stablehlo.constant dense<[0, 2, 2, 3, 5]> : tensor<5xi32>
    %columns = stablehlo.constant dense<[0, 2, 1, 1, 2, 3]> : tensor<6xi32>
    %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %d = stablehlo.constant dense<[[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]]> : tensor<3x2xf32>
    %y = sdy.sharding_constraint %d <@mesh, [{}, {"x"}]> : tensor<3x2xf32>
    %0 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%values, %rows, %columns, %x) {mhlo.backend_config = {}} : (tensor<6xf32>, tensor<5xi32>, tensor<6xi32>, tensor<3xf32>) -> tensor<4xf32>
    %1 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%values, %rows, %columns, %y) {mhlo.backend_config = {}} : (tensor<6xf32>, tensor<5xi32>, tensor<6xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    return %0, %1 : tensor<4xf32>, tensor<4x2xf32>
  }
}
