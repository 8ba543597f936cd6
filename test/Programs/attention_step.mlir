// One step of training by attention, as JAX writes its gradient: queries, keys
// and values are parts of one product, and a mask hides keys of one example. The
// batch is cut. A library may compute the attention and its gradient.
// RUN: %verify
#mesh = #dtensor.mesh<batch = 2>
#batch = #dtensor.layout<#mesh, [batch, *, *]>

func.func @main(%x: tensor<2x6x8xf32, #batch>, %seen: tensor<2x6xi1>,
                %w: tensor<8x24xf32> {dtensor.alias = 0 : i64},
                %o: tensor<8x8xf32> {dtensor.alias = 1 : i64})
    -> (tensor<8x24xf32>, tensor<8x8xf32>) {
  %0 = dtensor.constant dense<0.000000e+00> : tensor<2x2x6x6xf32>
  %1 = dtensor.constant dense<2.000000e+00> : tensor<2x6x8xf32>
  %2 = dtensor.constant dense<1.000000e+00> : tensor<2x2x6x1xf32>
  %3 = dtensor.constant dense<0xFF800000> : tensor<2x2x6xf32>
  %4 = dtensor.constant dense<-1.000000e+02> : tensor<2x2x6x6xf32>
  %5 = dtensor.constant dense<5.000000e-01> : tensor<2x2x6x6xf32>
  %6 = dtensor.constant dense<0.000000e+00> : tensor<f32>
  %7 = dtensor.dot_general %x, %w contracting [2] x [0] : (tensor<2x6x8xf32, #batch>, tensor<8x24xf32>) -> tensor<2x6x24xf32>
  %8 = dtensor.reshape %7 : (tensor<2x6x24xf32>) -> tensor<2x6x3x2x4xf32>
  %9 = dtensor.slice %8 [0:2, 0:6, 0:1, 0:2, 0:4] : (tensor<2x6x3x2x4xf32>) -> tensor<2x6x1x2x4xf32>
  %10 = dtensor.reshape %9 : (tensor<2x6x1x2x4xf32>) -> tensor<2x6x2x4xf32>
  %11 = dtensor.slice %8 [0:2, 0:6, 1:2, 0:2, 0:4] : (tensor<2x6x3x2x4xf32>) -> tensor<2x6x1x2x4xf32>
  %12 = dtensor.reshape %11 : (tensor<2x6x1x2x4xf32>) -> tensor<2x6x2x4xf32>
  %13 = dtensor.slice %8 [0:2, 0:6, 2:3, 0:2, 0:4] : (tensor<2x6x3x2x4xf32>) -> tensor<2x6x1x2x4xf32>
  %14 = dtensor.reshape %13 : (tensor<2x6x1x2x4xf32>) -> tensor<2x6x2x4xf32>
  %15 = dtensor.dot_general %10, %12 batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x6xf32>
  %16 = dtensor.multiply %15, %5 : tensor<2x2x6x6xf32>
  %17 = dtensor.broadcast_in_dim %seen dims [0, 3] : (tensor<2x6xi1>) -> tensor<2x2x6x6xi1>
  %18 = dtensor.select %17, %16, %4 : (tensor<2x2x6x6xi1>, tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>) -> tensor<2x2x6x6xf32>
  %19 = dtensor.reduce max %18 dims [3] : (tensor<2x2x6x6xf32>) -> tensor<2x2x6xf32>
  %20 = dtensor.maximum %19, %3 : tensor<2x2x6xf32>
  %21 = dtensor.broadcast_in_dim %20 dims [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x6xf32>
  %22 = dtensor.subtract %18, %21 : tensor<2x2x6x6xf32>
  %23 = dtensor.exp %22 : tensor<2x2x6x6xf32>
  %24 = dtensor.reduce sum %23 dims [3] : (tensor<2x2x6x6xf32>) -> tensor<2x2x6xf32>
  %25 = dtensor.broadcast_in_dim %24 dims [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x1xf32>
  %26 = dtensor.broadcast_in_dim %24 dims [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x6xf32>
  %27 = dtensor.divide %23, %26 : tensor<2x2x6x6xf32>
  %28 = dtensor.multiply %25, %25 : tensor<2x2x6x1xf32>
  %29 = dtensor.divide %2, %28 : tensor<2x2x6x1xf32>
  %30 = dtensor.dot_general %14, %27 batching [0, 2] x [0, 1] contracting [1] x [3] : (tensor<2x6x2x4xf32>, tensor<2x2x6x6xf32>) -> tensor<2x2x4x6xf32>
  %31 = dtensor.transpose %30 dims [0, 3, 1, 2] : (tensor<2x2x4x6xf32>) -> tensor<2x6x2x4xf32>
  %32 = dtensor.reshape %31 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %33 = dtensor.dot_general %32, %o contracting [2] x [0] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %35 = dtensor.multiply %33, %1 : tensor<2x6x8xf32>
  %37 = dtensor.dot_general %35, %32 contracting [0, 1] x [0, 1] : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<8x8xf32>
  %38 = dtensor.transpose %37 dims [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %39 = dtensor.dot_general %35, %o contracting [2] x [1] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %40 = dtensor.reshape %39 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %41 = dtensor.dot_general %40, %14 batching [0, 2] x [0, 2] contracting [3] x [3] : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x6xf32>
  %42 = dtensor.dot_general %40, %27 batching [0, 2] x [0, 1] contracting [1] x [2] : (tensor<2x6x2x4xf32>, tensor<2x2x6x6xf32>) -> tensor<2x2x4x6xf32>
  %43 = dtensor.transpose %42 dims [0, 3, 1, 2] : (tensor<2x2x4x6xf32>) -> tensor<2x6x2x4xf32>
  %44 = dtensor.broadcast_in_dim %29 dims [0, 1, 2, 3] : (tensor<2x2x6x1xf32>) -> tensor<2x2x6x6xf32>
  %45 = dtensor.multiply %41, %44 : tensor<2x2x6x6xf32>
  %46 = dtensor.multiply %45, %23 : tensor<2x2x6x6xf32>
  %47 = dtensor.reduce sum %46 dims [3] : (tensor<2x2x6x6xf32>) -> tensor<2x2x6xf32>
  %48 = dtensor.reshape %47 : (tensor<2x2x6xf32>) -> tensor<2x2x6x1xf32>
  %49 = dtensor.negate %48 : tensor<2x2x6x1xf32>
  %50 = dtensor.divide %41, %26 : tensor<2x2x6x6xf32>
  %51 = dtensor.reshape %49 : (tensor<2x2x6x1xf32>) -> tensor<2x2x6xf32>
  %52 = dtensor.broadcast_in_dim %51 dims [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x6xf32>
  %53 = dtensor.add %50, %52 : tensor<2x2x6x6xf32>
  %54 = dtensor.multiply %53, %23 : tensor<2x2x6x6xf32>
  %55 = dtensor.select %17, %54, %0 : (tensor<2x2x6x6xi1>, tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>) -> tensor<2x2x6x6xf32>
  %56 = dtensor.multiply %55, %5 : tensor<2x2x6x6xf32>
  %57 = dtensor.dot_general %56, %10 batching [0, 1] x [0, 2] contracting [2] x [1] : (tensor<2x2x6x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %58 = dtensor.transpose %57 dims [0, 2, 1, 3] : (tensor<2x2x6x4xf32>) -> tensor<2x6x2x4xf32>
  %59 = dtensor.dot_general %56, %12 batching [0, 1] x [0, 2] contracting [3] x [1] : (tensor<2x2x6x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %60 = dtensor.transpose %59 dims [0, 2, 1, 3] : (tensor<2x2x6x4xf32>) -> tensor<2x6x2x4xf32>
  %61 = dtensor.broadcast_in_dim %43 dims [0, 1, 3, 4] : (tensor<2x6x2x4xf32>) -> tensor<2x6x1x2x4xf32>
  %62 = dtensor.pad %61, %6 low [0, 0, 2, 0, 0] high [0, 0, 0, 0, 0] interior [0, 0, 0, 0, 0] : (tensor<2x6x1x2x4xf32>, tensor<f32>) -> tensor<2x6x3x2x4xf32>
  %63 = dtensor.broadcast_in_dim %58 dims [0, 1, 3, 4] : (tensor<2x6x2x4xf32>) -> tensor<2x6x1x2x4xf32>
  %64 = dtensor.pad %63, %6 low [0, 0, 1, 0, 0] high [0, 0, 1, 0, 0] interior [0, 0, 0, 0, 0] : (tensor<2x6x1x2x4xf32>, tensor<f32>) -> tensor<2x6x3x2x4xf32>
  %65 = dtensor.add %62, %64 : tensor<2x6x3x2x4xf32>
  %66 = dtensor.broadcast_in_dim %60 dims [0, 1, 3, 4] : (tensor<2x6x2x4xf32>) -> tensor<2x6x1x2x4xf32>
  %67 = dtensor.pad %66, %6 low [0, 0, 0, 0, 0] high [0, 0, 2, 0, 0] interior [0, 0, 0, 0, 0] : (tensor<2x6x1x2x4xf32>, tensor<f32>) -> tensor<2x6x3x2x4xf32>
  %68 = dtensor.add %65, %67 : tensor<2x6x3x2x4xf32>
  %69 = dtensor.reshape %68 : (tensor<2x6x3x2x4xf32>) -> tensor<2x6x24xf32>
  %70 = dtensor.dot_general %69, %x contracting [0, 1] x [0, 1] : (tensor<2x6x24xf32>, tensor<2x6x8xf32, #batch>) -> tensor<24x8xf32>
  %71 = dtensor.transpose %70 dims [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
  %73 = dtensor.subtract %w, %71 : tensor<8x24xf32>
  %74 = dtensor.subtract %o, %38 : tensor<8x8xf32>
  return %73, %74 : tensor<8x24xf32>, tensor<8x8xf32>
}
