// What the verifiers of collectives refuse, by constraint.
// RUN: mesh-opt --split-input-file --verify-diagnostics %s

func.func @case1(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @case2(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @case3(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @case4(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @case5(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C4: replica_groups are filled up with -1; where a result's shape depends on a group's size, groups must be equally large}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @case6(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @case7(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<0x2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @case8(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @case9(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x2xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @case10(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x2xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @case11(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf64>
  return
}

// -----

func.func @case12() {
  // expected-error @below {{violates constraint C6: }}
  "stablehlo.all_gather"() {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : () -> ()
  return
}

// -----

func.func @case13(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case14(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 3]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case15(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case16(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case17(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case18(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @case19(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf64>
  return
}

// -----

func.func @case20(%x: tensor<4x4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 2 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @case21(%x: tensor<4x4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 3 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @case22(%x: tensor<4x4xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = -1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @case23(%x: tensor<4x4xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @case24(%x: tensor<4x4xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @case25(%x: tensor<4x4xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 5]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @case26(%x: tensor<4x4xf32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @case27(%x: tensor<4x4xf32>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @case28(%x: tensor<4x0xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x0xf32>) -> tensor<4x0xf32>
  return
}

// -----

func.func @case29(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case30(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case31(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case32(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case33(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case34(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C7: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case35(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @case36(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C8: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case37(%x: tensor<4x16xf32>) {
  // expected-error @below {{violates constraint C9: }}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf64>
  return
}

// -----

func.func @case38(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case39(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case40(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @case41(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case42(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[0, 1]> : tensor<2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case43(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case44(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case45(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case46(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C5: }}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @case47(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case48(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case49(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C3: }}
  "stablehlo.collective_reduce"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : () -> ()
  return
}

// -----

func.func @case50(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C3: }}
  "stablehlo.collective_reduce"(%r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1xf32>) -> ()
  return
}

// -----

func.func @case51(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.collective_reduce"(%x, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case52(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.collective_reduce"(%x, %q) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>, tensor<2xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @case53(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C3: }}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @case54(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case55(%x: tensor<8xf32>, %r: tensor<1xf32>, %q: tensor<2xi32>) {
  // expected-error @below {{violates constraint C4: }}
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case56(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C1: }}
  %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @case57(%x: tensor<4xf32>) {
  // expected-error @below {{violates constraint C6: }}
  %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// One number for all of them, however many the type says there are.
func.func @splat(%x: tensor<8x2xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<9223372036854775807x2xi64>} : (tensor<8x2xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @splat_pairs(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint C2: }}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<1> : tensor<4611686018427387904x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @splat_layout(%x: tensor<8xf32>) {
  // expected-error @below {{violates constraint I1: }}
  %0 = stablehlo.custom_call @Sharding(%x) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<9223372036854775807xindex>]} : (tensor<8xf32>) -> tensor<8xf32>
  return
}
