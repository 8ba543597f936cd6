// Attention in the forms of JAX, PyTorch and our own layers: causal, with a
// bias of all examples, with masks of keys that are seen or hidden, and of groups
// of heads that share keys. A library may compute all of it. The heads are cut.
// RUN: %verify
#mesh = #dtensor.mesh<model = 2>
#heads = #dtensor.layout<#mesh, [*, *, model, *]>

func.func @main(%q0: tensor<2x6x2x8xbf16, #heads>,
                %k0: tensor<2x6x2x8xbf16, #heads>,
                %v0: tensor<2x6x2x8xbf16, #heads>,
                %q1: tensor<2x4x2x8xf16>,
                %k1: tensor<2x6x2x8xf16>,
                %v1: tensor<2x6x2x8xf16>,
                %b1: tensor<2x4x6xf16>,
                %q2: tensor<2x4x2x8xbf16>,
                %k2: tensor<2x6x2x8xbf16>,
                %v2: tensor<2x6x2x8xbf16>,
                %m2: tensor<2x6xi1>,
                %q3: tensor<1x5x3x4xf32>,
                %k3: tensor<1x4x3x4xf32>,
                %v3: tensor<1x4x3x4xf32>,
                %m3: tensor<5x4xi1>,
                %q4: tensor<2x4x2x3x4xf32>,
                %k4: tensor<2x5x2x4xf32>,
                %v4: tensor<2x5x2x4xf32>)
    -> (tensor<2x2x8x6xbf16>, tensor<2x2x4x8xf16>, tensor<2x2x4x8xbf16>, tensor<1x3x5x4xf32>, tensor<2x4x2x3x4xf32>) {
  // Causal, with f32 scores of bf16, as JAX writes it.
  %qf_0 = dtensor.convert %q0 : (tensor<2x6x2x8xbf16, #heads>) -> tensor<2x6x2x8xf32>
  %kf_0 = dtensor.convert %k0 : (tensor<2x6x2x8xbf16, #heads>) -> tensor<2x6x2x8xf32>
  %s_0 = dtensor.dot_general %qf_0, %kf_0 batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> tensor<2x2x6x6xf32>
  %f_0 = dtensor.constant dense<0.35> : tensor<2x2x6x6xf32>
  %x1_0 = dtensor.multiply %s_0, %f_0 : tensor<2x2x6x6xf32>
  %h_0 = dtensor.constant dense<-1.0e9> : tensor<2x2x6x6xf32>
  %i_0 = dtensor.iota dim 2 : tensor<2x2x6x6xi32>
  %j_0 = dtensor.iota dim 3 : tensor<2x2x6x6xi32>
  %c_0 = dtensor.compare GE, %i_0, %j_0 : (tensor<2x2x6x6xi32>, tensor<2x2x6x6xi32>) -> tensor<2x2x6x6xi1>
  %x3_0 = dtensor.select %c_0, %x1_0, %h_0 : (tensor<2x2x6x6xi1>, tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>) -> tensor<2x2x6x6xf32>
  %max_0 = dtensor.reduce max %x3_0 dims [3] : (tensor<2x2x6x6xf32>) -> tensor<2x2x6xf32>
  %maxs_0 = dtensor.broadcast_in_dim %max_0 dims [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x6xf32>
  %d_0 = dtensor.subtract %x3_0, %maxs_0 : tensor<2x2x6x6xf32>
  %e_0 = dtensor.exp %d_0 : tensor<2x2x6x6xf32>
  %sum_0 = dtensor.reduce sum %e_0 dims [3] : (tensor<2x2x6x6xf32>) -> tensor<2x2x6xf32>
  %sums_0 = dtensor.broadcast_in_dim %sum_0 dims [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x6xf32>
  %p_0 = dtensor.divide %e_0, %sums_0 : tensor<2x2x6x6xf32>
  %w_0 = dtensor.convert %p_0 : (tensor<2x2x6x6xf32>) -> tensor<2x2x6x6xbf16>
  %o_0 = dtensor.dot_general %v0, %w_0 batching [0, 2] x [0, 1] contracting [1] x [3] : (tensor<2x6x2x8xbf16, #heads>, tensor<2x2x6x6xbf16>) -> tensor<2x2x8x6xbf16>
  // A bias.
  %s0_1 = dtensor.dot_general %q1, %k1 batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<2x4x2x8xf16>, tensor<2x6x2x8xf16>) -> tensor<2x2x4x6xf16>
  %s_1 = dtensor.convert %s0_1 : (tensor<2x2x4x6xf16>) -> tensor<2x2x4x6xf32>
  %f_1 = dtensor.constant dense<0.35> : tensor<2x2x4x6xf32>
  %x1_1 = dtensor.multiply %s_1, %f_1 : tensor<2x2x4x6xf32>
  %bf_1 = dtensor.convert %b1 : (tensor<2x4x6xf16>) -> tensor<2x4x6xf32>
  %bs_1 = dtensor.broadcast_in_dim %bf_1 dims [1, 2, 3] : (tensor<2x4x6xf32>) -> tensor<2x2x4x6xf32>
  %x2_1 = dtensor.add %x1_1, %bs_1 : tensor<2x2x4x6xf32>
  %max_1 = dtensor.reduce max %x2_1 dims [3] : (tensor<2x2x4x6xf32>) -> tensor<2x2x4xf32>
  %maxs_1 = dtensor.broadcast_in_dim %max_1 dims [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x6xf32>
  %d_1 = dtensor.subtract %x2_1, %maxs_1 : tensor<2x2x4x6xf32>
  %e_1 = dtensor.exp %d_1 : tensor<2x2x4x6xf32>
  %sum_1 = dtensor.reduce sum %e_1 dims [3] : (tensor<2x2x4x6xf32>) -> tensor<2x2x4xf32>
  %sums_1 = dtensor.broadcast_in_dim %sum_1 dims [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x6xf32>
  %p_1 = dtensor.divide %e_1, %sums_1 : tensor<2x2x4x6xf32>
  %w_1 = dtensor.convert %p_1 : (tensor<2x2x4x6xf32>) -> tensor<2x2x4x6xf16>
  %o_1 = dtensor.dot_general %w_1, %v1 batching [0, 1] x [0, 2] contracting [3] x [1] : (tensor<2x2x4x6xf16>, tensor<2x6x2x8xf16>) -> tensor<2x2x4x8xf16>
  // A mask of the keys that are seen.
  %qf_2 = dtensor.convert %q2 : (tensor<2x4x2x8xbf16>) -> tensor<2x4x2x8xf32>
  %kf_2 = dtensor.convert %k2 : (tensor<2x6x2x8xbf16>) -> tensor<2x6x2x8xf32>
  %s_2 = dtensor.dot_general %qf_2, %kf_2 batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<2x4x2x8xf32>, tensor<2x6x2x8xf32>) -> tensor<2x2x4x6xf32>
  %f_2 = dtensor.constant dense<0.35> : tensor<2x2x4x6xf32>
  %x1_2 = dtensor.multiply %s_2, %f_2 : tensor<2x2x4x6xf32>
  %h_2 = dtensor.constant dense<-1.0e9> : tensor<2x2x4x6xf32>
  %c_2 = dtensor.broadcast_in_dim %m2 dims [0, 3] : (tensor<2x6xi1>) -> tensor<2x2x4x6xi1>
  %x3_2 = dtensor.select %c_2, %x1_2, %h_2 : (tensor<2x2x4x6xi1>, tensor<2x2x4x6xf32>, tensor<2x2x4x6xf32>) -> tensor<2x2x4x6xf32>
  %max_2 = dtensor.reduce max %x3_2 dims [3] : (tensor<2x2x4x6xf32>) -> tensor<2x2x4xf32>
  %maxs_2 = dtensor.broadcast_in_dim %max_2 dims [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x6xf32>
  %d_2 = dtensor.subtract %x3_2, %maxs_2 : tensor<2x2x4x6xf32>
  %e_2 = dtensor.exp %d_2 : tensor<2x2x4x6xf32>
  %sum_2 = dtensor.reduce sum %e_2 dims [3] : (tensor<2x2x4x6xf32>) -> tensor<2x2x4xf32>
  %sums_2 = dtensor.broadcast_in_dim %sum_2 dims [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x6xf32>
  %p_2 = dtensor.divide %e_2, %sums_2 : tensor<2x2x4x6xf32>
  %w_2 = dtensor.convert %p_2 : (tensor<2x2x4x6xf32>) -> tensor<2x2x4x6xbf16>
  %o_2 = dtensor.dot_general %w_2, %v2 batching [0, 1] x [0, 2] contracting [3] x [1] : (tensor<2x2x4x6xbf16>, tensor<2x6x2x8xbf16>) -> tensor<2x2x4x8xbf16>
  // A mask of those that are hidden.
  %s_3 = dtensor.dot_general %q3, %k3 batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<1x5x3x4xf32>, tensor<1x4x3x4xf32>) -> tensor<1x3x5x4xf32>
  %f_3 = dtensor.constant dense<0.35> : tensor<1x3x5x4xf32>
  %x1_3 = dtensor.multiply %s_3, %f_3 : tensor<1x3x5x4xf32>
  %h_3 = dtensor.constant dense<-1.0e9> : tensor<1x3x5x4xf32>
  %c_3 = dtensor.broadcast_in_dim %m3 dims [2, 3] : (tensor<5x4xi1>) -> tensor<1x3x5x4xi1>
  %x3_3 = dtensor.select %c_3, %h_3, %x1_3 : (tensor<1x3x5x4xi1>, tensor<1x3x5x4xf32>, tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32>
  %max_3 = dtensor.reduce max %x3_3 dims [3] : (tensor<1x3x5x4xf32>) -> tensor<1x3x5xf32>
  %maxs_3 = dtensor.broadcast_in_dim %max_3 dims [0, 1, 2] : (tensor<1x3x5xf32>) -> tensor<1x3x5x4xf32>
  %d_3 = dtensor.subtract %x3_3, %maxs_3 : tensor<1x3x5x4xf32>
  %e_3 = dtensor.exp %d_3 : tensor<1x3x5x4xf32>
  %sum_3 = dtensor.reduce sum %e_3 dims [3] : (tensor<1x3x5x4xf32>) -> tensor<1x3x5xf32>
  %sums_3 = dtensor.broadcast_in_dim %sum_3 dims [0, 1, 2] : (tensor<1x3x5xf32>) -> tensor<1x3x5x4xf32>
  %p_3 = dtensor.divide %e_3, %sums_3 : tensor<1x3x5x4xf32>
  %o_3 = dtensor.dot_general %p_3, %v3 batching [0, 1] x [0, 2] contracting [3] x [1] : (tensor<1x3x5x4xf32>, tensor<1x4x3x4xf32>) -> tensor<1x3x5x4xf32>
  // Groups of heads.
  %s_4 = dtensor.dot_general %q4, %k4 batching [0, 2] x [0, 2] contracting [4] x [3] : (tensor<2x4x2x3x4xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x4x3x5xf32>
  %max_4 = dtensor.reduce max %s_4 dims [4] : (tensor<2x2x4x3x5xf32>) -> tensor<2x2x4x3xf32>
  %maxs_4 = dtensor.broadcast_in_dim %max_4 dims [0, 1, 2, 3] : (tensor<2x2x4x3xf32>) -> tensor<2x2x4x3x5xf32>
  %d_4 = dtensor.subtract %s_4, %maxs_4 : tensor<2x2x4x3x5xf32>
  %e_4 = dtensor.exp %d_4 : tensor<2x2x4x3x5xf32>
  %sum_4 = dtensor.reduce sum %e_4 dims [4] : (tensor<2x2x4x3x5xf32>) -> tensor<2x2x4x3xf32>
  %sums_4 = dtensor.broadcast_in_dim %sum_4 dims [0, 1, 2, 3] : (tensor<2x2x4x3xf32>) -> tensor<2x2x4x3x5xf32>
  %p_4 = dtensor.divide %e_4, %sums_4 : tensor<2x2x4x3x5xf32>
  %o_4 = dtensor.dot_general %p_4, %v4 batching [0, 1] x [0, 2] contracting [4] x [1] : (tensor<2x2x4x3x5xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x4x3x4xf32>
  %y_4 = dtensor.transpose %o_4 dims [0, 2, 1, 3, 4] : (tensor<2x2x4x3x4xf32>) -> tensor<2x4x2x3x4xf32>
  return %o_0, %o_1, %o_2, %o_3, %y_4 : tensor<2x2x8x6xbf16>, tensor<2x2x4x8xf16>, tensor<2x2x4x8xbf16>, tensor<1x3x5x4xf32>, tensor<2x4x2x3x4xf32>
}
