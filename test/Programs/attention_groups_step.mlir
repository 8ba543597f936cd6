// One step of training by causal attention whose queries share keys in groups of
// two heads, as JAX writes its gradient: those of keys and values are sums over
// the heads of a group. The batch is cut. A library may compute the attention and
// its gradient.
// RUN: %verify
#mesh = #dtensor.mesh<batch = 2>
#batch = #dtensor.layout<#mesh, [batch, *, *]>

func.func @main(%x: tensor<2x6x16xf32, #batch>, %y: tensor<2x6x16xf32, #batch>,
                %w: tensor<16x16xf32> {dtensor.alias = 0 : i64},
                %o: tensor<16x16xf32> {dtensor.alias = 1 : i64})
    -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %0 = dtensor.constant dense<1.000000e-01> : tensor<16x6xf32>
  %1 = dtensor.constant dense<1.000000e-01> : tensor<16x16xf32>
  %2 = dtensor.constant dense<0.000000e+00> : tensor<2x2x2x6x6xf32>
  %3 = dtensor.constant dense<2.000000e+00> : tensor<2x6x16xf32>
  %4 = dtensor.constant dense<1.000000e+00> : tensor<2x2x2x6x1xf32>
  %5 = dtensor.constant dense<0xFF800000> : tensor<2x2x2x6xf32>
  %6 = dtensor.constant dense<-2.38197633E+38> : tensor<2x2x2x6x6xf32>
  %7 = dtensor.constant dense<false> : tensor<6x6xi1>
  %8 = dtensor.constant dense<true> : tensor<6x6xi1>
  %9 = dtensor.constant dense<5.000000e-01> : tensor<2x2x6x2x6xf32>
  %10 = dtensor.constant dense<0.000000e+00> : tensor<f32>
  %11 = dtensor.dot_general %x, %w contracting [2] x [0] : (tensor<2x6x16xf32, #batch>, tensor<16x16xf32>) -> tensor<2x6x16xf32>
  %12 = dtensor.slice %y [0:2, 0:6, 0:8] : (tensor<2x6x16xf32, #batch>) -> tensor<2x6x8xf32>
  %13 = dtensor.reshape %12 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %14 = dtensor.slice %y [0:2, 0:6, 8:16] : (tensor<2x6x16xf32, #batch>) -> tensor<2x6x8xf32>
  %15 = dtensor.reshape %14 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %16 = dtensor.reshape %11 : (tensor<2x6x16xf32>) -> tensor<2x6x2x2x4xf32>
  %17 = dtensor.dot_general %16, %13 batching [0, 2] x [0, 2] contracting [4] x [3] : (tensor<2x6x2x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x2x6xf32>
  %18 = dtensor.multiply %17, %9 : tensor<2x2x6x2x6xf32>
  %19 = dtensor.iota dim 0 : tensor<6x6xi32>
  %20 = dtensor.iota dim 1 : tensor<6x6xi32>
  %21 = dtensor.compare GE, %19, %20 : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %22 = dtensor.select %21, %8, %7 : (tensor<6x6xi1>, tensor<6x6xi1>, tensor<6x6xi1>) -> tensor<6x6xi1>
  %23 = dtensor.broadcast_in_dim %22 dims [3, 4] : (tensor<6x6xi1>) -> tensor<2x2x2x6x6xi1>
  %24 = dtensor.transpose %18 dims [3, 0, 1, 2, 4] : (tensor<2x2x6x2x6xf32>) -> tensor<2x2x2x6x6xf32>
  %25 = dtensor.select %23, %24, %6 : (tensor<2x2x2x6x6xi1>, tensor<2x2x2x6x6xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x2x6x6xf32>
  %26 = dtensor.reduce max %25 dims [4] : (tensor<2x2x2x6x6xf32>) -> tensor<2x2x2x6xf32>
  %27 = dtensor.maximum %26, %5 : tensor<2x2x2x6xf32>
  %28 = dtensor.broadcast_in_dim %27 dims [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x6xf32>
  %29 = dtensor.subtract %25, %28 : tensor<2x2x2x6x6xf32>
  %30 = dtensor.exp %29 : tensor<2x2x2x6x6xf32>
  %31 = dtensor.reduce sum %30 dims [4] : (tensor<2x2x2x6x6xf32>) -> tensor<2x2x2x6xf32>
  %32 = dtensor.broadcast_in_dim %31 dims [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
  %33 = dtensor.broadcast_in_dim %31 dims [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x6xf32>
  %34 = dtensor.divide %30, %33 : tensor<2x2x2x6x6xf32>
  %35 = dtensor.multiply %32, %32 : tensor<2x2x2x6x1xf32>
  %36 = dtensor.divide %4, %35 : tensor<2x2x2x6x1xf32>
  %37 = dtensor.dot_general %15, %34 batching [0, 2] x [1, 2] contracting [1] x [4] : (tensor<2x6x2x4xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x4x2x6xf32>
  %38 = dtensor.transpose %37 dims [0, 4, 1, 3, 2] : (tensor<2x2x4x2x6xf32>) -> tensor<2x6x2x2x4xf32>
  %39 = dtensor.reshape %38 : (tensor<2x6x2x2x4xf32>) -> tensor<2x6x16xf32>
  %40 = dtensor.dot_general %39, %o contracting [2] x [0] : (tensor<2x6x16xf32>, tensor<16x16xf32>) -> tensor<2x6x16xf32>
  %41 = dtensor.multiply %40, %3 : tensor<2x6x16xf32>
  %42 = dtensor.dot_general %41, %39 contracting [0, 1] x [0, 1] : (tensor<2x6x16xf32>, tensor<2x6x16xf32>) -> tensor<16x16xf32>
  %43 = dtensor.transpose %42 dims [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %44 = dtensor.dot_general %41, %o contracting [2] x [1] : (tensor<2x6x16xf32>, tensor<16x16xf32>) -> tensor<2x6x16xf32>
  %45 = dtensor.reshape %44 : (tensor<2x6x16xf32>) -> tensor<2x6x2x2x4xf32>
  %46 = dtensor.transpose %45 dims [0, 2, 4, 3, 1] : (tensor<2x6x2x2x4xf32>) -> tensor<2x2x4x2x6xf32>
  %47 = dtensor.dot_general %46, %15 batching [0, 1] x [0, 2] contracting [2] x [3] : (tensor<2x2x4x2x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x2x6x6xf32>
  %48 = dtensor.transpose %47 dims [2, 0, 1, 3, 4] : (tensor<2x2x2x6x6xf32>) -> tensor<2x2x2x6x6xf32>
  %49 = dtensor.dot_general %45, %34 batching [0, 2] x [1, 2] contracting [3, 1] x [0, 3] : (tensor<2x6x2x2x4xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x4x6xf32>
  %50 = dtensor.transpose %49 dims [0, 3, 1, 2] : (tensor<2x2x4x6xf32>) -> tensor<2x6x2x4xf32>
  %51 = dtensor.broadcast_in_dim %36 dims [0, 1, 2, 3, 4] : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6x6xf32>
  %52 = dtensor.multiply %48, %51 : tensor<2x2x2x6x6xf32>
  %53 = dtensor.multiply %52, %30 : tensor<2x2x2x6x6xf32>
  %54 = dtensor.reduce sum %53 dims [4] : (tensor<2x2x2x6x6xf32>) -> tensor<2x2x2x6xf32>
  %55 = dtensor.reshape %54 : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x1xf32>
  %56 = dtensor.negate %55 : tensor<2x2x2x6x1xf32>
  %57 = dtensor.divide %48, %33 : tensor<2x2x2x6x6xf32>
  %58 = dtensor.reshape %56 : (tensor<2x2x2x6x1xf32>) -> tensor<2x2x2x6xf32>
  %59 = dtensor.broadcast_in_dim %58 dims [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x6xf32>
  %60 = dtensor.add %57, %59 : tensor<2x2x2x6x6xf32>
  %61 = dtensor.multiply %60, %30 : tensor<2x2x2x6x6xf32>
  %62 = dtensor.select %23, %61, %2 : (tensor<2x2x2x6x6xi1>, tensor<2x2x2x6x6xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x2x6x6xf32>
  %63 = dtensor.transpose %62 dims [1, 2, 3, 0, 4] : (tensor<2x2x2x6x6xf32>) -> tensor<2x2x6x2x6xf32>
  %64 = dtensor.multiply %63, %9 : tensor<2x2x6x2x6xf32>
  %65 = dtensor.dot_general %64, %16 batching [0, 1] x [0, 2] contracting [2, 3] x [1, 3] : (tensor<2x2x6x2x6xf32>, tensor<2x6x2x2x4xf32>) -> tensor<2x2x6x4xf32>
  %66 = dtensor.transpose %65 dims [0, 2, 1, 3] : (tensor<2x2x6x4xf32>) -> tensor<2x6x2x4xf32>
  %67 = dtensor.dot_general %64, %13 batching [0, 1] x [0, 2] contracting [4] x [1] : (tensor<2x2x6x2x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x2x4xf32>
  %68 = dtensor.transpose %67 dims [0, 2, 1, 3, 4] : (tensor<2x2x6x2x4xf32>) -> tensor<2x6x2x2x4xf32>
  %69 = dtensor.reshape %50 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %70 = dtensor.pad %69, %10 low [0, 0, 8] high [0, 0, 0] interior [0, 0, 0] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6x16xf32>
  %71 = dtensor.reshape %66 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %72 = dtensor.pad %71, %10 low [0, 0, 0] high [0, 0, 8] interior [0, 0, 0] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6x16xf32>
  %73 = dtensor.add %70, %72 : tensor<2x6x16xf32>
  %74 = dtensor.reshape %68 : (tensor<2x6x2x2x4xf32>) -> tensor<2x6x16xf32>
  %75 = dtensor.dot_general %74, %x contracting [0, 1] x [0, 1] : (tensor<2x6x16xf32>, tensor<2x6x16xf32, #batch>) -> tensor<16x16xf32>
  %76 = dtensor.transpose %75 dims [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %77 = dtensor.dot_general %74, %w contracting [2] x [1] : (tensor<2x6x16xf32>, tensor<16x16xf32>) -> tensor<2x6x16xf32>
  %78 = dtensor.multiply %76, %1 : tensor<16x16xf32>
  %79 = dtensor.subtract %w, %78 : tensor<16x16xf32>
  %80 = dtensor.multiply %43, %1 : tensor<16x16xf32>
  %81 = dtensor.subtract %o, %80 : tensor<16x16xf32>
  %82 = dtensor.slice %77 [0:1, 0:6, 0:16] : (tensor<2x6x16xf32>) -> tensor<1x6x16xf32>
  %83 = dtensor.reshape %82 : (tensor<1x6x16xf32>) -> tensor<6x16xf32>
  %84 = dtensor.transpose %83 dims [1, 0] : (tensor<6x16xf32>) -> tensor<16x6xf32>
  %85 = dtensor.multiply %84, %0 : tensor<16x6xf32>
  %86 = dtensor.slice %73 [0:1, 0:6, 0:16] : (tensor<2x6x16xf32>) -> tensor<1x6x16xf32>
  %87 = dtensor.reshape %86 : (tensor<1x6x16xf32>) -> tensor<6x16xf32>
  %88 = dtensor.dot_general %85, %87 contracting [1] x [0] : (tensor<16x6xf32>, tensor<6x16xf32>) -> tensor<16x16xf32>
  %89 = dtensor.add %81, %88 : tensor<16x16xf32>
  return %79, %89 : tensor<16x16xf32>, tensor<16x16xf32>
}
