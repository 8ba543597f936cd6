// Gathers of every element type: numbers, rows, columns, boxes and batches, of
// indices out of bounds, of any integer type and along any dim; operands whole
// and cut over devices.
// RUN: %verify
// RUN: mesh-opt --target=stablehlo %s | mesh-opt > /dev/null
#mesh = #dtensor.mesh<x = 2, y = 2>
#v = #dtensor.layout<#mesh, [{x, y}]>
#m = #dtensor.layout<#mesh, [x, y]>
#t = #dtensor.layout<#mesh, [x, *, y]>
#q = #dtensor.layout<#mesh, [*, x, *, y]>

func.func @main(%a0: tensor<9x7xf32>,
                %a1: tensor<50xf32, #v>,
                %a2: tensor<8x6xf32, #m>,
                %a3: tensor<8x6xf32>,
                %a4: tensor<8x6x4xf32>,
                %a5: tensor<3x8xf32>,
                %a6: tensor<3x2x4xf32>,
                %a7: tensor<9x7xf64, #m>,
                %a8: tensor<50xf64>,
                %a9: tensor<8x6xf64>,
                %a10: tensor<8x6xf64, #m>,
                %a11: tensor<8x6x4xf64>,
                %a12: tensor<3x8xf64, #m>,
                %a13: tensor<3x2x4xf64>,
                %a14: tensor<9x7xbf16>,
                %a15: tensor<50xbf16, #v>,
                %a16: tensor<8x6xbf16>,
                %a17: tensor<8x6xbf16>,
                %a18: tensor<8x6x4xbf16, #t>,
                %a19: tensor<3x8xbf16>,
                %a20: tensor<3x2x4xbf16>,
                %a21: tensor<9x7xf16, #m>,
                %a22: tensor<50xf16>,
                %a23: tensor<8x6xf16, #m>,
                %a24: tensor<8x6xf16>,
                %a25: tensor<8x6x4xf16>,
                %a26: tensor<3x8xf16, #m>,
                %a27: tensor<3x2x4xf16>,
                %a28: tensor<9x7xi8>,
                %a29: tensor<50xi8, #v>,
                %a30: tensor<8x6xi8>,
                %a31: tensor<8x6xi8, #m>,
                %a32: tensor<8x6x4xi8>,
                %a33: tensor<3x8xi8>,
                %a34: tensor<3x2x4xi8>,
                %a35: tensor<9x7xi16, #m>,
                %a36: tensor<50xi16>,
                %a37: tensor<8x6xi16>,
                %a38: tensor<8x6xi16>,
                %a39: tensor<8x6x4xi16, #t>,
                %a40: tensor<3x8xi16, #m>,
                %a41: tensor<3x2x4xi16>,
                %a42: tensor<9x7xi32>,
                %a43: tensor<50xi32, #v>,
                %a44: tensor<8x6xi32, #m>,
                %a45: tensor<8x6xi32>,
                %a46: tensor<8x6x4xi32>,
                %a47: tensor<3x8xi32>,
                %a48: tensor<3x2x4xi32>,
                %a49: tensor<9x7xi64, #m>,
                %a50: tensor<50xi64>,
                %a51: tensor<8x6xi64>,
                %a52: tensor<8x6xi64, #m>,
                %a53: tensor<8x6x4xi64>,
                %a54: tensor<3x8xi64, #m>,
                %a55: tensor<3x2x4xi64>,
                %a56: tensor<9x7xui8>,
                %a57: tensor<50xui8, #v>,
                %a58: tensor<8x6xui8>,
                %a59: tensor<8x6xui8>,
                %a60: tensor<8x6x4xui8, #t>,
                %a61: tensor<3x8xui8>,
                %a62: tensor<3x2x4xui8>,
                %a63: tensor<9x7xui32, #m>,
                %a64: tensor<50xui32>,
                %a65: tensor<8x6xui32, #m>,
                %a66: tensor<8x6xui32>,
                %a67: tensor<8x6x4xui32>,
                %a68: tensor<3x8xui32, #m>,
                %a69: tensor<3x2x4xui32>,
                %a70: tensor<9x7xcomplex<f32>>,
                %a71: tensor<50xcomplex<f32>, #v>,
                %a72: tensor<8x6xcomplex<f32>>,
                %a73: tensor<8x6xcomplex<f32>, #m>,
                %a74: tensor<8x6x4xcomplex<f32>>,
                %a75: tensor<3x8xcomplex<f32>>,
                %a76: tensor<3x2x4xcomplex<f32>>,
                %a77: tensor<9x7xcomplex<f64>, #m>,
                %a78: tensor<50xcomplex<f64>>,
                %a79: tensor<8x6xcomplex<f64>>,
                %a80: tensor<8x6xcomplex<f64>>,
                %a81: tensor<8x6x4xcomplex<f64>, #t>,
                %a82: tensor<3x8xcomplex<f64>, #m>,
                %a83: tensor<3x2x4xcomplex<f64>>,
                %a84: tensor<9x7xi1>,
                %a85: tensor<50xi1, #v>,
                %a86: tensor<8x6xi1, #m>,
                %a87: tensor<8x6xi1>,
                %a88: tensor<8x6x4xi1>,
                %a89: tensor<3x8xi1>,
                %a90: tensor<3x2x4xi1>)
    -> (tensor<13xf32>,
        tensor<3x5x2xf32>,
        tensor<8x4xf32>,
        tensor<5x6xf32>,
        tensor<3x5x2xf32>,
        tensor<3x5xf32>,
        tensor<4x3x6xf32>,
        tensor<13xf64>,
        tensor<3x5x2xf64>,
        tensor<8x4xf64>,
        tensor<5x6xf64>,
        tensor<3x5x2xf64>,
        tensor<3x5xf64>,
        tensor<4x3x6xf64>,
        tensor<13xbf16>,
        tensor<3x5x2xbf16>,
        tensor<8x4xbf16>,
        tensor<5x6xbf16>,
        tensor<3x5x2xbf16>,
        tensor<3x5xbf16>,
        tensor<4x3x6xbf16>,
        tensor<13xf16>,
        tensor<3x5x2xf16>,
        tensor<8x4xf16>,
        tensor<5x6xf16>,
        tensor<3x5x2xf16>,
        tensor<3x5xf16>,
        tensor<4x3x6xf16>,
        tensor<13xi8>,
        tensor<3x5x2xi8>,
        tensor<8x4xi8>,
        tensor<5x6xi8>,
        tensor<3x5x2xi8>,
        tensor<3x5xi8>,
        tensor<4x3x6xi8>,
        tensor<13xi16>,
        tensor<3x5x2xi16>,
        tensor<8x4xi16>,
        tensor<5x6xi16>,
        tensor<3x5x2xi16>,
        tensor<3x5xi16>,
        tensor<4x3x6xi16>,
        tensor<13xi32>,
        tensor<3x5x2xi32>,
        tensor<8x4xi32>,
        tensor<5x6xi32>,
        tensor<3x5x2xi32>,
        tensor<3x5xi32>,
        tensor<4x3x6xi32>,
        tensor<13xi64>,
        tensor<3x5x2xi64>,
        tensor<8x4xi64>,
        tensor<5x6xi64>,
        tensor<3x5x2xi64>,
        tensor<3x5xi64>,
        tensor<4x3x6xi64>,
        tensor<13xui8>,
        tensor<3x5x2xui8>,
        tensor<8x4xui8>,
        tensor<5x6xui8>,
        tensor<3x5x2xui8>,
        tensor<3x5xui8>,
        tensor<4x3x6xui8>,
        tensor<13xui32>,
        tensor<3x5x2xui32>,
        tensor<8x4xui32>,
        tensor<5x6xui32>,
        tensor<3x5x2xui32>,
        tensor<3x5xui32>,
        tensor<4x3x6xui32>,
        tensor<13xcomplex<f32>>,
        tensor<3x5x2xcomplex<f32>>,
        tensor<8x4xcomplex<f32>>,
        tensor<5x6xcomplex<f32>>,
        tensor<3x5x2xcomplex<f32>>,
        tensor<3x5xcomplex<f32>>,
        tensor<4x3x6xcomplex<f32>>,
        tensor<13xcomplex<f64>>,
        tensor<3x5x2xcomplex<f64>>,
        tensor<8x4xcomplex<f64>>,
        tensor<5x6xcomplex<f64>>,
        tensor<3x5x2xcomplex<f64>>,
        tensor<3x5xcomplex<f64>>,
        tensor<4x3x6xcomplex<f64>>,
        tensor<13xi1>,
        tensor<3x5x2xi1>,
        tensor<8x4xi1>,
        tensor<5x6xi1>,
        tensor<3x5x2xi1>,
        tensor<3x5xi1>,
        tensor<4x3x6xi1>) {
  %i0 = dtensor.constant dense<[[6, 1, 7, 4, 2, 4, 11, 3, 3, 1, 0, 6, 9], [6, 11, -1, 8, 5, 1, -1, 2, 1, 8, 7, -2, -2]]> : tensor<2x13xi32>
  %0 = dtensor.gather %a0, %i0 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xf32>, tensor<2x13xi32>) -> tensor<13xf32>
  %i1 = dtensor.constant dense<[[[17, 42], [29, 12], [9, 58], [51, 38], [48, 43]], [[43, 28], [19, 54], [52, 16], [46, 26], [29, 16]], [[12, 8], [3, 2], [34, 37], [3, 47], [34, 35]]]> : tensor<3x5x2xi32>
  %1 = dtensor.gather %a1, %i1 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xf32, #v>, tensor<3x5x2xi32>) -> tensor<3x5x2xf32>
  %i2 = dtensor.constant dense<[0, 4, 6, 2]> : tensor<4xi32>
  %2 = dtensor.gather %a2, %i2 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xf32, #m>, tensor<4xi32>) -> tensor<8x4xf32>
  %i3 = dtensor.constant dense<[[7], [5], [7], [3], [7]]> : tensor<5x1xi32>
  %3 = dtensor.gather %a3, %i3 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xf32>, tensor<5x1xi32>) -> tensor<5x6xf32>
  %i4 = dtensor.constant dense<[[8, 6], [3, 7], [1, 1], [8, 6], [0, 6]]> : tensor<5x2xi32>
  %4 = dtensor.gather %a4, %i4 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xf32>, tensor<5x2xi32>) -> tensor<3x5x2xf32>
  %i5 = dtensor.constant dense<[[[5], [4], [1], [4], [5]], [[6], [7], [0], [3], [1]], [[4], [3], [2], [8], [2]]]> : tensor<3x5x1xi32>
  %5 = dtensor.gather %a5, %i5 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xf32>, tensor<3x5x1xi32>) -> tensor<3x5xf32>
  %i6 = dtensor.constant dense<[[[1], [0], [0], [0], [0], [0]], [[0], [1], [1], [0], [0], [0]], [[0], [0], [1], [1], [1], [1]], [[0], [1], [0], [1], [0], [1]]]> : tensor<4x6x1xi32>
  %6 = dtensor.gather %a6, %i6 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xf32>, tensor<4x6x1xi32>) -> tensor<4x3x6xf32>
  %i7 = dtensor.constant dense<[[2, -2, 2, 11, 0, 2, 11, 5, -2, 5, 1, 8, 7], [7, 5, 7, 6, 8, -2, -1, 2, -1, 5, 11, -1, 10]]> : tensor<2x13xi64>
  %7 = dtensor.gather %a7, %i7 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xf64, #m>, tensor<2x13xi64>) -> tensor<13xf64>
  %i8 = dtensor.constant dense<[[[19, 22], [31, 34], [27, 31], [32, 22], [9, 49]], [[33, 8], [49, 29], [12, 16], [28, 7], [18, 53]], [[11, 3], [56, 57], [24, 28], [0, 19], [14, 44]]]> : tensor<3x5x2xi64>
  %8 = dtensor.gather %a8, %i8 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xf64>, tensor<3x5x2xi64>) -> tensor<3x5x2xf64>
  %i9 = dtensor.constant dense<[1, 6, 1, 3]> : tensor<4xi64>
  %9 = dtensor.gather %a9, %i9 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xf64>, tensor<4xi64>) -> tensor<8x4xf64>
  %i10 = dtensor.constant dense<[[3], [1], [3], [8], [5]]> : tensor<5x1xi64>
  %10 = dtensor.gather %a10, %i10 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xf64, #m>, tensor<5x1xi64>) -> tensor<5x6xf64>
  %i11 = dtensor.constant dense<[[7, 6], [7, 2], [4, 1], [3, 2], [7, 3]]> : tensor<5x2xi64>
  %11 = dtensor.gather %a11, %i11 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xf64>, tensor<5x2xi64>) -> tensor<3x5x2xf64>
  %i12 = dtensor.constant dense<[[[3], [2], [5], [2], [6]], [[8], [3], [0], [5], [7]], [[8], [4], [0], [5], [0]]]> : tensor<3x5x1xi64>
  %12 = dtensor.gather %a12, %i12 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xf64, #m>, tensor<3x5x1xi64>) -> tensor<3x5xf64>
  %i13 = dtensor.constant dense<[[[1], [0], [0], [1], [1], [1]], [[0], [1], [1], [0], [0], [1]], [[0], [0], [0], [0], [1], [0]], [[1], [0], [1], [1], [1], [0]]]> : tensor<4x6x1xi64>
  %13 = dtensor.gather %a13, %i13 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xf64>, tensor<4x6x1xi64>) -> tensor<4x3x6xf64>
  %i14 = dtensor.constant dense<[[3, 3, 4, 10, 7, 8, 9, 11, 2, 2, 11, 1, 4], [5, 6, 2, 2, 8, 1, 1, 6, 1, 8, 9, 2, 3]]> : tensor<2x13xui8>
  %14 = dtensor.gather %a14, %i14 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xbf16>, tensor<2x13xui8>) -> tensor<13xbf16>
  %i15 = dtensor.constant dense<[[[33, 32], [11, 35], [5, 52], [37, 23], [33, 45]], [[36, 59], [6, 14], [24, 19], [36, 46], [54, 53]], [[11, 18], [49, 58], [47, 52], [3, 1], [41, 18]]]> : tensor<3x5x2xui8>
  %15 = dtensor.gather %a15, %i15 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xbf16, #v>, tensor<3x5x2xui8>) -> tensor<3x5x2xbf16>
  %i16 = dtensor.constant dense<[8, 1, 5, 8]> : tensor<4xui8>
  %16 = dtensor.gather %a16, %i16 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xbf16>, tensor<4xui8>) -> tensor<8x4xbf16>
  %i17 = dtensor.constant dense<[[3], [7], [6], [4], [3]]> : tensor<5x1xui8>
  %17 = dtensor.gather %a17, %i17 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xbf16>, tensor<5x1xui8>) -> tensor<5x6xbf16>
  %i18 = dtensor.constant dense<[[0, 4], [2, 6], [0, 2], [4, 1], [0, 3]]> : tensor<5x2xui8>
  %18 = dtensor.gather %a18, %i18 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xbf16, #t>, tensor<5x2xui8>) -> tensor<3x5x2xbf16>
  %i19 = dtensor.constant dense<[[[3], [1], [1], [7], [3]], [[3], [8], [0], [4], [6]], [[2], [7], [7], [6], [5]]]> : tensor<3x5x1xui8>
  %19 = dtensor.gather %a19, %i19 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xbf16>, tensor<3x5x1xui8>) -> tensor<3x5xbf16>
  %i20 = dtensor.constant dense<[[[1], [1], [0], [0], [0], [0]], [[1], [0], [0], [1], [0], [0]], [[0], [1], [0], [1], [1], [0]], [[0], [0], [1], [1], [0], [0]]]> : tensor<4x6x1xui8>
  %20 = dtensor.gather %a20, %i20 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xbf16>, tensor<4x6x1xui8>) -> tensor<4x3x6xbf16>
  %i21 = dtensor.constant dense<[[4, 3, 0, 9, 8, 0, 0, 4, 1, 8, 6, 4, 8], [-2, -1, 0, 3, 11, 7, 1, 2, 8, -1, 8, 5, -1]]> : tensor<2x13xi8>
  %21 = dtensor.gather %a21, %i21 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xf16, #m>, tensor<2x13xi8>) -> tensor<13xf16>
  %i22 = dtensor.constant dense<[[[28, 6], [8, 6], [33, 36], [31, 33], [20, 37]], [[34, 16], [57, 51], [1, 57], [47, 31], [56, 52]], [[54, 48], [12, 5], [7, 20], [51, 53], [34, 23]]]> : tensor<3x5x2xi8>
  %22 = dtensor.gather %a22, %i22 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xf16>, tensor<3x5x2xi8>) -> tensor<3x5x2xf16>
  %i23 = dtensor.constant dense<[6, 6, 4, 4]> : tensor<4xi8>
  %23 = dtensor.gather %a23, %i23 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xf16, #m>, tensor<4xi8>) -> tensor<8x4xf16>
  %i24 = dtensor.constant dense<[[4], [5], [5], [8], [5]]> : tensor<5x1xi8>
  %24 = dtensor.gather %a24, %i24 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xf16>, tensor<5x1xi8>) -> tensor<5x6xf16>
  %i25 = dtensor.constant dense<[[0, 7], [4, 5], [0, 1], [1, 8], [1, 1]]> : tensor<5x2xi8>
  %25 = dtensor.gather %a25, %i25 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xf16>, tensor<5x2xi8>) -> tensor<3x5x2xf16>
  %i26 = dtensor.constant dense<[[[6], [7], [8], [1], [4]], [[3], [6], [0], [0], [6]], [[2], [2], [3], [3], [0]]]> : tensor<3x5x1xi8>
  %26 = dtensor.gather %a26, %i26 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xf16, #m>, tensor<3x5x1xi8>) -> tensor<3x5xf16>
  %i27 = dtensor.constant dense<[[[0], [1], [0], [0], [1], [1]], [[1], [1], [1], [1], [0], [1]], [[1], [0], [0], [1], [0], [0]], [[1], [0], [0], [1], [1], [1]]]> : tensor<4x6x1xi8>
  %27 = dtensor.gather %a27, %i27 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xf16>, tensor<4x6x1xi8>) -> tensor<4x3x6xf16>
  %i28 = dtensor.constant dense<[[5, 10, -1, -1, 1, 0, 1, 10, 1, 10, 7, 4, 9], [4, 8, -2, 2, -2, 2, 7, 4, 3, 11, 5, 2, 0]]> : tensor<2x13xi16>
  %28 = dtensor.gather %a28, %i28 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xi8>, tensor<2x13xi16>) -> tensor<13xi8>
  %i29 = dtensor.constant dense<[[[55, 16], [26, 13], [53, 39], [58, 22], [8, 55]], [[22, 21], [19, 53], [40, 58], [41, 28], [27, 12]], [[1, 52], [6, 22], [34, 27], [38, 49], [42, 1]]]> : tensor<3x5x2xi16>
  %29 = dtensor.gather %a29, %i29 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xi8, #v>, tensor<3x5x2xi16>) -> tensor<3x5x2xi8>
  %i30 = dtensor.constant dense<[3, 2, 0, 8]> : tensor<4xi16>
  %30 = dtensor.gather %a30, %i30 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xi8>, tensor<4xi16>) -> tensor<8x4xi8>
  %i31 = dtensor.constant dense<[[2], [1], [2], [7], [0]]> : tensor<5x1xi16>
  %31 = dtensor.gather %a31, %i31 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xi8, #m>, tensor<5x1xi16>) -> tensor<5x6xi8>
  %i32 = dtensor.constant dense<[[3, 2], [0, 8], [2, 7], [1, 0], [8, 0]]> : tensor<5x2xi16>
  %32 = dtensor.gather %a32, %i32 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xi8>, tensor<5x2xi16>) -> tensor<3x5x2xi8>
  %i33 = dtensor.constant dense<[[[6], [0], [3], [5], [0]], [[7], [6], [5], [1], [1]], [[2], [2], [4], [0], [8]]]> : tensor<3x5x1xi16>
  %33 = dtensor.gather %a33, %i33 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xi8>, tensor<3x5x1xi16>) -> tensor<3x5xi8>
  %i34 = dtensor.constant dense<[[[1], [0], [1], [1], [0], [0]], [[1], [0], [0], [0], [0], [0]], [[0], [1], [0], [1], [0], [0]], [[0], [1], [0], [0], [0], [1]]]> : tensor<4x6x1xi16>
  %34 = dtensor.gather %a34, %i34 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xi8>, tensor<4x6x1xi16>) -> tensor<4x3x6xi8>
  %i35 = dtensor.constant dense<[[8, 9, 11, 0, 7, 8, 1, 0, 3, 2, 5, 1, 0], [4, 9, 10, 1, 7, 8, 6, 1, 5, 0, 11, 9, 7]]> : tensor<2x13xui32>
  %35 = dtensor.gather %a35, %i35 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xi16, #m>, tensor<2x13xui32>) -> tensor<13xi16>
  %i36 = dtensor.constant dense<[[[43, 35], [19, 16], [24, 31], [45, 41], [26, 31]], [[30, 35], [54, 30], [21, 36], [0, 28], [25, 52]], [[33, 17], [59, 25], [59, 45], [6, 31], [11, 24]]]> : tensor<3x5x2xui32>
  %36 = dtensor.gather %a36, %i36 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xi16>, tensor<3x5x2xui32>) -> tensor<3x5x2xi16>
  %i37 = dtensor.constant dense<[6, 5, 6, 4]> : tensor<4xui32>
  %37 = dtensor.gather %a37, %i37 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xi16>, tensor<4xui32>) -> tensor<8x4xi16>
  %i38 = dtensor.constant dense<[[2], [8], [5], [4], [4]]> : tensor<5x1xui32>
  %38 = dtensor.gather %a38, %i38 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xi16>, tensor<5x1xui32>) -> tensor<5x6xi16>
  %i39 = dtensor.constant dense<[[7, 3], [3, 6], [3, 6], [4, 8], [4, 7]]> : tensor<5x2xui32>
  %39 = dtensor.gather %a39, %i39 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xi16, #t>, tensor<5x2xui32>) -> tensor<3x5x2xi16>
  %i40 = dtensor.constant dense<[[[5], [7], [2], [5], [0]], [[1], [4], [2], [2], [6]], [[1], [7], [5], [4], [2]]]> : tensor<3x5x1xui32>
  %40 = dtensor.gather %a40, %i40 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xi16, #m>, tensor<3x5x1xui32>) -> tensor<3x5xi16>
  %i41 = dtensor.constant dense<[[[0], [0], [1], [0], [0], [1]], [[1], [0], [1], [1], [1], [0]], [[1], [1], [1], [0], [0], [0]], [[0], [0], [0], [1], [1], [1]]]> : tensor<4x6x1xui32>
  %41 = dtensor.gather %a41, %i41 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xi16>, tensor<4x6x1xui32>) -> tensor<4x3x6xi16>
  %i42 = dtensor.constant dense<[[11, 0, 7, 7, 9, 9, 5, 1, 7, 5, 11, 10, 6], [10, 1, 10, 2, 0, 7, 4, 4, 3, 1, 8, 0, 9]]> : tensor<2x13xui64>
  %42 = dtensor.gather %a42, %i42 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xi32>, tensor<2x13xui64>) -> tensor<13xi32>
  %i43 = dtensor.constant dense<[[[54, 8], [31, 26], [37, 48], [59, 55], [1, 37]], [[13, 52], [14, 20], [35, 30], [9, 35], [40, 18]], [[2, 20], [49, 44], [3, 27], [12, 27], [37, 13]]]> : tensor<3x5x2xui64>
  %43 = dtensor.gather %a43, %i43 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xi32, #v>, tensor<3x5x2xui64>) -> tensor<3x5x2xi32>
  %i44 = dtensor.constant dense<[1, 4, 7, 7]> : tensor<4xui64>
  %44 = dtensor.gather %a44, %i44 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xi32, #m>, tensor<4xui64>) -> tensor<8x4xi32>
  %i45 = dtensor.constant dense<[[3], [5], [2], [6], [8]]> : tensor<5x1xui64>
  %45 = dtensor.gather %a45, %i45 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xi32>, tensor<5x1xui64>) -> tensor<5x6xi32>
  %i46 = dtensor.constant dense<[[2, 1], [7, 8], [4, 3], [1, 2], [1, 0]]> : tensor<5x2xui64>
  %46 = dtensor.gather %a46, %i46 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xi32>, tensor<5x2xui64>) -> tensor<3x5x2xi32>
  %i47 = dtensor.constant dense<[[[1], [8], [4], [5], [8]], [[4], [2], [6], [7], [3]], [[7], [1], [2], [3], [6]]]> : tensor<3x5x1xui64>
  %47 = dtensor.gather %a47, %i47 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xi32>, tensor<3x5x1xui64>) -> tensor<3x5xi32>
  %i48 = dtensor.constant dense<[[[0], [1], [0], [0], [1], [0]], [[0], [1], [1], [0], [0], [0]], [[0], [0], [1], [1], [1], [0]], [[1], [1], [0], [0], [0], [1]]]> : tensor<4x6x1xui64>
  %48 = dtensor.gather %a48, %i48 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xi32>, tensor<4x6x1xui64>) -> tensor<4x3x6xi32>
  %i49 = dtensor.constant dense<[[6, 7, 7, -2, 2, 5, 7, 11, 10, 3, 4, 4, 11], [-2, 1, 5, 3, -1, 4, -1, -2, 3, 6, 7, 8, 10]]> : tensor<2x13xi32>
  %49 = dtensor.gather %a49, %i49 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xi64, #m>, tensor<2x13xi32>) -> tensor<13xi64>
  %i50 = dtensor.constant dense<[[[44, 4], [33, 19], [34, 22], [5, 12], [16, 53]], [[32, 22], [47, 44], [51, 44], [36, 19], [3, 48]], [[46, 46], [59, 5], [3, 41], [12, 16], [36, 28]]]> : tensor<3x5x2xi32>
  %50 = dtensor.gather %a50, %i50 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xi64>, tensor<3x5x2xi32>) -> tensor<3x5x2xi64>
  %i51 = dtensor.constant dense<[3, 6, 6, 0]> : tensor<4xi32>
  %51 = dtensor.gather %a51, %i51 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xi64>, tensor<4xi32>) -> tensor<8x4xi64>
  %i52 = dtensor.constant dense<[[8], [3], [6], [6], [3]]> : tensor<5x1xi32>
  %52 = dtensor.gather %a52, %i52 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xi64, #m>, tensor<5x1xi32>) -> tensor<5x6xi64>
  %i53 = dtensor.constant dense<[[2, 7], [4, 4], [6, 2], [1, 7], [5, 3]]> : tensor<5x2xi32>
  %53 = dtensor.gather %a53, %i53 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xi64>, tensor<5x2xi32>) -> tensor<3x5x2xi64>
  %i54 = dtensor.constant dense<[[[6], [8], [4], [4], [3]], [[7], [8], [2], [4], [5]], [[7], [6], [0], [1], [5]]]> : tensor<3x5x1xi32>
  %54 = dtensor.gather %a54, %i54 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xi64, #m>, tensor<3x5x1xi32>) -> tensor<3x5xi64>
  %i55 = dtensor.constant dense<[[[0], [1], [0], [1], [0], [1]], [[0], [0], [0], [1], [1], [1]], [[0], [0], [1], [0], [0], [0]], [[0], [0], [1], [0], [0], [0]]]> : tensor<4x6x1xi32>
  %55 = dtensor.gather %a55, %i55 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xi64>, tensor<4x6x1xi32>) -> tensor<4x3x6xi64>
  %i56 = dtensor.constant dense<[[-2, 7, 8, 11, 11, 7, 4, 6, 4, 0, 4, 10, 2], [6, 7, 0, 2, 9, 2, 10, 7, 9, 11, 8, 10, -1]]> : tensor<2x13xi64>
  %56 = dtensor.gather %a56, %i56 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xui8>, tensor<2x13xi64>) -> tensor<13xui8>
  %i57 = dtensor.constant dense<[[[43, 16], [42, 20], [4, 12], [41, 56], [17, 54]], [[5, 53], [23, 16], [21, 8], [14, 5], [9, 21]], [[32, 53], [44, 29], [41, 59], [29, 0], [55, 51]]]> : tensor<3x5x2xi64>
  %57 = dtensor.gather %a57, %i57 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xui8, #v>, tensor<3x5x2xi64>) -> tensor<3x5x2xui8>
  %i58 = dtensor.constant dense<[7, 6, 8, 1]> : tensor<4xi64>
  %58 = dtensor.gather %a58, %i58 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xui8>, tensor<4xi64>) -> tensor<8x4xui8>
  %i59 = dtensor.constant dense<[[3], [3], [7], [7], [1]]> : tensor<5x1xi64>
  %59 = dtensor.gather %a59, %i59 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xui8>, tensor<5x1xi64>) -> tensor<5x6xui8>
  %i60 = dtensor.constant dense<[[3, 6], [3, 0], [7, 1], [0, 3], [7, 4]]> : tensor<5x2xi64>
  %60 = dtensor.gather %a60, %i60 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xui8, #t>, tensor<5x2xi64>) -> tensor<3x5x2xui8>
  %i61 = dtensor.constant dense<[[[8], [8], [3], [2], [4]], [[2], [2], [6], [8], [7]], [[1], [1], [8], [0], [6]]]> : tensor<3x5x1xi64>
  %61 = dtensor.gather %a61, %i61 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xui8>, tensor<3x5x1xi64>) -> tensor<3x5xui8>
  %i62 = dtensor.constant dense<[[[0], [1], [0], [1], [0], [0]], [[0], [1], [0], [0], [0], [1]], [[1], [0], [0], [0], [0], [1]], [[0], [0], [1], [0], [0], [1]]]> : tensor<4x6x1xi64>
  %62 = dtensor.gather %a62, %i62 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xui8>, tensor<4x6x1xi64>) -> tensor<4x3x6xui8>
  %i63 = dtensor.constant dense<[[2, 1, 8, 0, 1, 4, 2, 8, 8, 9, 2, 3, 1], [4, 8, 9, 11, 2, 10, 3, 11, 7, 5, 11, 1, 3]]> : tensor<2x13xui8>
  %63 = dtensor.gather %a63, %i63 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xui32, #m>, tensor<2x13xui8>) -> tensor<13xui32>
  %i64 = dtensor.constant dense<[[[32, 8], [3, 36], [48, 2], [4, 9], [1, 7]], [[15, 39], [22, 47], [37, 43], [11, 26], [59, 19]], [[1, 41], [59, 29], [29, 7], [24, 18], [19, 34]]]> : tensor<3x5x2xui8>
  %64 = dtensor.gather %a64, %i64 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xui32>, tensor<3x5x2xui8>) -> tensor<3x5x2xui32>
  %i65 = dtensor.constant dense<[3, 0, 0, 5]> : tensor<4xui8>
  %65 = dtensor.gather %a65, %i65 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xui32, #m>, tensor<4xui8>) -> tensor<8x4xui32>
  %i66 = dtensor.constant dense<[[5], [0], [0], [2], [1]]> : tensor<5x1xui8>
  %66 = dtensor.gather %a66, %i66 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xui32>, tensor<5x1xui8>) -> tensor<5x6xui32>
  %i67 = dtensor.constant dense<[[0, 0], [0, 1], [6, 3], [7, 8], [2, 6]]> : tensor<5x2xui8>
  %67 = dtensor.gather %a67, %i67 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xui32>, tensor<5x2xui8>) -> tensor<3x5x2xui32>
  %i68 = dtensor.constant dense<[[[6], [1], [1], [8], [4]], [[3], [8], [3], [4], [6]], [[5], [7], [7], [2], [0]]]> : tensor<3x5x1xui8>
  %68 = dtensor.gather %a68, %i68 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xui32, #m>, tensor<3x5x1xui8>) -> tensor<3x5xui32>
  %i69 = dtensor.constant dense<[[[0], [1], [0], [0], [0], [1]], [[0], [1], [0], [0], [0], [0]], [[0], [0], [1], [0], [1], [1]], [[0], [0], [1], [0], [1], [0]]]> : tensor<4x6x1xui8>
  %69 = dtensor.gather %a69, %i69 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xui32>, tensor<4x6x1xui8>) -> tensor<4x3x6xui32>
  %i70 = dtensor.constant dense<[[7, 6, 9, 1, 11, 5, 2, 8, -2, 0, 7, 11, 3], [0, 4, 7, 6, 6, 11, 1, 6, 7, 6, 11, 1, 5]]> : tensor<2x13xi8>
  %70 = dtensor.gather %a70, %i70 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xcomplex<f32>>, tensor<2x13xi8>) -> tensor<13xcomplex<f32>>
  %i71 = dtensor.constant dense<[[[22, 18], [17, 56], [44, 50], [55, 34], [6, 27]], [[40, 53], [49, 11], [40, 29], [46, 37], [52, 8]], [[1, 56], [46, 46], [52, 32], [53, 6], [0, 29]]]> : tensor<3x5x2xi8>
  %71 = dtensor.gather %a71, %i71 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xcomplex<f32>, #v>, tensor<3x5x2xi8>) -> tensor<3x5x2xcomplex<f32>>
  %i72 = dtensor.constant dense<[4, 8, 5, 5]> : tensor<4xi8>
  %72 = dtensor.gather %a72, %i72 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xcomplex<f32>>, tensor<4xi8>) -> tensor<8x4xcomplex<f32>>
  %i73 = dtensor.constant dense<[[0], [7], [8], [5], [0]]> : tensor<5x1xi8>
  %73 = dtensor.gather %a73, %i73 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xcomplex<f32>, #m>, tensor<5x1xi8>) -> tensor<5x6xcomplex<f32>>
  %i74 = dtensor.constant dense<[[5, 0], [8, 4], [4, 0], [3, 6], [2, 8]]> : tensor<5x2xi8>
  %74 = dtensor.gather %a74, %i74 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xcomplex<f32>>, tensor<5x2xi8>) -> tensor<3x5x2xcomplex<f32>>
  %i75 = dtensor.constant dense<[[[5], [4], [4], [4], [3]], [[3], [4], [7], [0], [0]], [[6], [5], [6], [7], [4]]]> : tensor<3x5x1xi8>
  %75 = dtensor.gather %a75, %i75 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xcomplex<f32>>, tensor<3x5x1xi8>) -> tensor<3x5xcomplex<f32>>
  %i76 = dtensor.constant dense<[[[1], [1], [0], [0], [0], [0]], [[1], [0], [0], [1], [0], [1]], [[1], [0], [0], [0], [0], [0]], [[0], [1], [0], [1], [0], [1]]]> : tensor<4x6x1xi8>
  %76 = dtensor.gather %a76, %i76 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xcomplex<f32>>, tensor<4x6x1xi8>) -> tensor<4x3x6xcomplex<f32>>
  %i77 = dtensor.constant dense<[[1, 1, 6, 7, 11, 11, -2, -2, 3, 5, 9, 0, -1], [10, 2, 7, 4, 7, -1, 10, 0, -2, 8, 9, 5, 5]]> : tensor<2x13xi16>
  %77 = dtensor.gather %a77, %i77 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xcomplex<f64>, #m>, tensor<2x13xi16>) -> tensor<13xcomplex<f64>>
  %i78 = dtensor.constant dense<[[[5, 33], [4, 5], [2, 27], [5, 30], [14, 24]], [[15, 47], [36, 0], [9, 49], [11, 29], [9, 46]], [[31, 40], [39, 27], [2, 59], [13, 41], [57, 33]]]> : tensor<3x5x2xi16>
  %78 = dtensor.gather %a78, %i78 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xcomplex<f64>>, tensor<3x5x2xi16>) -> tensor<3x5x2xcomplex<f64>>
  %i79 = dtensor.constant dense<[6, 4, 4, 7]> : tensor<4xi16>
  %79 = dtensor.gather %a79, %i79 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xcomplex<f64>>, tensor<4xi16>) -> tensor<8x4xcomplex<f64>>
  %i80 = dtensor.constant dense<[[6], [4], [0], [8], [0]]> : tensor<5x1xi16>
  %80 = dtensor.gather %a80, %i80 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xcomplex<f64>>, tensor<5x1xi16>) -> tensor<5x6xcomplex<f64>>
  %i81 = dtensor.constant dense<[[2, 3], [0, 4], [0, 8], [6, 0], [1, 6]]> : tensor<5x2xi16>
  %81 = dtensor.gather %a81, %i81 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xcomplex<f64>, #t>, tensor<5x2xi16>) -> tensor<3x5x2xcomplex<f64>>
  %i82 = dtensor.constant dense<[[[6], [4], [7], [6], [7]], [[2], [3], [7], [8], [7]], [[3], [3], [1], [5], [7]]]> : tensor<3x5x1xi16>
  %82 = dtensor.gather %a82, %i82 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xcomplex<f64>, #m>, tensor<3x5x1xi16>) -> tensor<3x5xcomplex<f64>>
  %i83 = dtensor.constant dense<[[[0], [1], [0], [0], [0], [1]], [[0], [0], [0], [1], [1], [0]], [[0], [0], [1], [0], [0], [0]], [[1], [0], [1], [1], [0], [1]]]> : tensor<4x6x1xi16>
  %83 = dtensor.gather %a83, %i83 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xcomplex<f64>>, tensor<4x6x1xi16>) -> tensor<4x3x6xcomplex<f64>>
  %i84 = dtensor.constant dense<[[9, 6, 9, 4, 1, 7, 0, 9, 11, 8, 3, 2, 6], [6, 3, 2, 2, 9, 9, 1, 6, 11, 1, 8, 7, 0]]> : tensor<2x13xui32>
  %84 = dtensor.gather %a84, %i84 {index_vector_dim = 0 : i64, collapsed_slice_dims = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1, 0>}
      : (tensor<9x7xi1>, tensor<2x13xui32>) -> tensor<13xi1>
  %i85 = dtensor.constant dense<[[[40, 59], [2, 37], [57, 39], [33, 1], [53, 34]], [[58, 47], [8, 16], [24, 31], [53, 58], [30, 3]], [[2, 8], [17, 16], [2, 55], [41, 57], [10, 34]]]> : tensor<3x5x2xui32>
  %85 = dtensor.gather %a85, %i85 {index_vector_dim = 3 : i64, collapsed_slice_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<50xi1, #v>, tensor<3x5x2xui32>) -> tensor<3x5x2xi1>
  %i86 = dtensor.constant dense<[6, 0, 8, 8]> : tensor<4xui32>
  %86 = dtensor.gather %a86, %i86 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0>, slice_sizes = array<i64: 8, 1>, start_index_map = array<i64: 1>}
      : (tensor<8x6xi1, #m>, tensor<4xui32>) -> tensor<8x4xi1>
  %i87 = dtensor.constant dense<[[4], [6], [5], [4], [3]]> : tensor<5x1xui32>
  %87 = dtensor.gather %a87, %i87 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xi1>, tensor<5x1xui32>) -> tensor<5x6xi1>
  %i88 = dtensor.constant dense<[[0, 1], [4, 3], [5, 7], [6, 7], [5, 6]]> : tensor<5x2xui32>
  %88 = dtensor.gather %a88, %i88 {index_vector_dim = 1 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 3, 1, 2>, start_index_map = array<i64: 2, 0>}
      : (tensor<8x6x4xi1>, tensor<5x2xui32>) -> tensor<3x5x2xi1>
  %i89 = dtensor.constant dense<[[[3], [0], [4], [6], [2]], [[8], [6], [8], [5], [7]], [[5], [6], [4], [7], [7]]]> : tensor<3x5x1xui32>
  %89 = dtensor.gather %a89, %i89 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x8xi1>, tensor<3x5x1xui32>) -> tensor<3x5xi1>
  %i90 = dtensor.constant dense<[[[0], [0], [0], [1], [0], [1]], [[0], [1], [1], [0], [1], [1]], [[0], [0], [0], [1], [1], [0]], [[0], [0], [1], [1], [0], [1]]]> : tensor<4x6x1xui32>
  %90 = dtensor.gather %a90, %i90 {index_vector_dim = 2 : i64, collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 2>, start_indices_batching_dims = array<i64: 0>, slice_sizes = array<i64: 3, 1, 1>, start_index_map = array<i64: 1>}
      : (tensor<3x2x4xi1>, tensor<4x6x1xui32>) -> tensor<4x3x6xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90
      : tensor<13xf32>,
        tensor<3x5x2xf32>,
        tensor<8x4xf32>,
        tensor<5x6xf32>,
        tensor<3x5x2xf32>,
        tensor<3x5xf32>,
        tensor<4x3x6xf32>,
        tensor<13xf64>,
        tensor<3x5x2xf64>,
        tensor<8x4xf64>,
        tensor<5x6xf64>,
        tensor<3x5x2xf64>,
        tensor<3x5xf64>,
        tensor<4x3x6xf64>,
        tensor<13xbf16>,
        tensor<3x5x2xbf16>,
        tensor<8x4xbf16>,
        tensor<5x6xbf16>,
        tensor<3x5x2xbf16>,
        tensor<3x5xbf16>,
        tensor<4x3x6xbf16>,
        tensor<13xf16>,
        tensor<3x5x2xf16>,
        tensor<8x4xf16>,
        tensor<5x6xf16>,
        tensor<3x5x2xf16>,
        tensor<3x5xf16>,
        tensor<4x3x6xf16>,
        tensor<13xi8>,
        tensor<3x5x2xi8>,
        tensor<8x4xi8>,
        tensor<5x6xi8>,
        tensor<3x5x2xi8>,
        tensor<3x5xi8>,
        tensor<4x3x6xi8>,
        tensor<13xi16>,
        tensor<3x5x2xi16>,
        tensor<8x4xi16>,
        tensor<5x6xi16>,
        tensor<3x5x2xi16>,
        tensor<3x5xi16>,
        tensor<4x3x6xi16>,
        tensor<13xi32>,
        tensor<3x5x2xi32>,
        tensor<8x4xi32>,
        tensor<5x6xi32>,
        tensor<3x5x2xi32>,
        tensor<3x5xi32>,
        tensor<4x3x6xi32>,
        tensor<13xi64>,
        tensor<3x5x2xi64>,
        tensor<8x4xi64>,
        tensor<5x6xi64>,
        tensor<3x5x2xi64>,
        tensor<3x5xi64>,
        tensor<4x3x6xi64>,
        tensor<13xui8>,
        tensor<3x5x2xui8>,
        tensor<8x4xui8>,
        tensor<5x6xui8>,
        tensor<3x5x2xui8>,
        tensor<3x5xui8>,
        tensor<4x3x6xui8>,
        tensor<13xui32>,
        tensor<3x5x2xui32>,
        tensor<8x4xui32>,
        tensor<5x6xui32>,
        tensor<3x5x2xui32>,
        tensor<3x5xui32>,
        tensor<4x3x6xui32>,
        tensor<13xcomplex<f32>>,
        tensor<3x5x2xcomplex<f32>>,
        tensor<8x4xcomplex<f32>>,
        tensor<5x6xcomplex<f32>>,
        tensor<3x5x2xcomplex<f32>>,
        tensor<3x5xcomplex<f32>>,
        tensor<4x3x6xcomplex<f32>>,
        tensor<13xcomplex<f64>>,
        tensor<3x5x2xcomplex<f64>>,
        tensor<8x4xcomplex<f64>>,
        tensor<5x6xcomplex<f64>>,
        tensor<3x5x2xcomplex<f64>>,
        tensor<3x5xcomplex<f64>>,
        tensor<4x3x6xcomplex<f64>>,
        tensor<13xi1>,
        tensor<3x5x2xi1>,
        tensor<8x4xi1>,
        tensor<5x6xi1>,
        tensor<3x5x2xi1>,
        tensor<3x5xi1>,
        tensor<4x3x6xi1>
}
