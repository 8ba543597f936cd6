// Scatters of every element type and combination, to numbers, rows, boxes and
// batches: indices that come more than once, more often than sums one by one
// allow, and out of bounds; index vectors along any dim, indices of any integer
// type; results whole and cut over devices.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2, y = 2>
#v = #dtensor.layout<#mesh, [{x, y}]>
#m = #dtensor.layout<#mesh, [x, y]>
#t = #dtensor.layout<#mesh, [x, *, y]>
#q = #dtensor.layout<#mesh, [*, x, *, y]>

func.func @main(%a0: tensor<7xf32, #v>,
                %a1: tensor<90xf32>,
                %a2: tensor<300xf32>,
                %a3: tensor<90xf32>,
                %a4: tensor<11x5xf32, #m>,
                %a5: tensor<4x5x5xf32>,
                %a6: tensor<40x6xf32>,
                %a7: tensor<6x7xf32>,
                %a8: tensor<6x5xf32, #m>,
                %a9: tensor<31xf32>,
                %a10: tensor<7xf32>,
                %a11: tensor<90xf32>,
                %a12: tensor<300xf32>,
                %a13: tensor<90xf32>,
                %a14: tensor<9x4x5xf32>,
                %a15: tensor<2x6x3xf32>,
                %a16: tensor<9x4x5xf64>,
                %a17: tensor<2x6x3xf64>,
                %a18: tensor<3x8x2xf64, #t>,
                %a19: tensor<5x2x3xf64>,
                %a20: tensor<2x5x3x4xf64>,
                %a21: tensor<6x2x3xf64>,
                %a22: tensor<7xf64, #v>,
                %a23: tensor<90xf64>,
                %a24: tensor<300xf64>,
                %a25: tensor<90xf64>,
                %a26: tensor<7xf64>,
                %a27: tensor<90xf64>,
                %a28: tensor<300xf64>,
                %a29: tensor<90xf64>,
                %a30: tensor<9x4x5xf64>,
                %a31: tensor<2x6x3xf64>,
                %a32: tensor<11x5xbf16, #m>,
                %a33: tensor<4x5x5xbf16>,
                %a34: tensor<40x6xbf16>,
                %a35: tensor<6x7xbf16>,
                %a36: tensor<6x5xbf16, #m>,
                %a37: tensor<31xbf16>,
                %a38: tensor<9x4x5xbf16>,
                %a39: tensor<2x6x3xbf16>,
                %a40: tensor<3x8x2xbf16, #t>,
                %a41: tensor<5x2x3xbf16>,
                %a42: tensor<7xbf16>,
                %a43: tensor<90xbf16>,
                %a44: tensor<300xbf16>,
                %a45: tensor<90xbf16>,
                %a46: tensor<9x4x5xbf16>,
                %a47: tensor<2x6x3xbf16>,
                %a48: tensor<2x5x3x4xf16>,
                %a49: tensor<6x2x3xf16>,
                %a50: tensor<7xf16, #v>,
                %a51: tensor<90xf16>,
                %a52: tensor<300xf16>,
                %a53: tensor<90xf16>,
                %a54: tensor<11x5xf16, #m>,
                %a55: tensor<4x5x5xf16>,
                %a56: tensor<40x6xf16>,
                %a57: tensor<6x7xf16>,
                %a58: tensor<7xf16>,
                %a59: tensor<90xf16>,
                %a60: tensor<300xf16>,
                %a61: tensor<90xf16>,
                %a62: tensor<9x4x5xf16>,
                %a63: tensor<2x6x3xf16>,
                %a64: tensor<6x5xi8, #m>,
                %a65: tensor<31xi8>,
                %a66: tensor<9x4x5xi8>,
                %a67: tensor<2x6x3xi8>,
                %a68: tensor<3x8x2xi8, #t>,
                %a69: tensor<5x2x3xi8>,
                %a70: tensor<2x5x3x4xi8>,
                %a71: tensor<6x2x3xi8>,
                %a72: tensor<7xi8, #v>,
                %a73: tensor<90xi8>,
                %a74: tensor<300xi8>,
                %a75: tensor<90xi8>,
                %a76: tensor<11x5xi8, #m>,
                %a77: tensor<4x5x5xi8>,
                %a78: tensor<40x6xi16>,
                %a79: tensor<6x7xi16>,
                %a80: tensor<6x5xi16, #m>,
                %a81: tensor<31xi16>,
                %a82: tensor<9x4x5xi16>,
                %a83: tensor<2x6x3xi16>,
                %a84: tensor<3x8x2xi16, #t>,
                %a85: tensor<5x2x3xi16>,
                %a86: tensor<2x5x3x4xi16>,
                %a87: tensor<6x2x3xi16>,
                %a88: tensor<7xi16, #v>,
                %a89: tensor<90xi16>,
                %a90: tensor<300xi16>,
                %a91: tensor<90xi16>,
                %a92: tensor<11x5xi32, #m>,
                %a93: tensor<4x5x5xi32>,
                %a94: tensor<40x6xi32>,
                %a95: tensor<6x7xi32>,
                %a96: tensor<6x5xi32, #m>,
                %a97: tensor<31xi32>,
                %a98: tensor<9x4x5xi32>,
                %a99: tensor<2x6x3xi32>,
                %a100: tensor<3x8x2xi32, #t>,
                %a101: tensor<5x2x3xi32>,
                %a102: tensor<2x5x3x4xi32>,
                %a103: tensor<6x2x3xi32>,
                %a104: tensor<7xi32, #v>,
                %a105: tensor<90xi32>,
                %a106: tensor<300xi64>,
                %a107: tensor<90xi64>,
                %a108: tensor<11x5xi64, #m>,
                %a109: tensor<4x5x5xi64>,
                %a110: tensor<40x6xi64>,
                %a111: tensor<6x7xi64>,
                %a112: tensor<6x5xi64, #m>,
                %a113: tensor<31xi64>,
                %a114: tensor<9x4x5xi64>,
                %a115: tensor<2x6x3xi64>,
                %a116: tensor<3x8x2xi64, #t>,
                %a117: tensor<5x2x3xi64>,
                %a118: tensor<2x5x3x4xi64>,
                %a119: tensor<6x2x3xi64>,
                %a120: tensor<7xui8, #v>,
                %a121: tensor<90xui8>,
                %a122: tensor<300xui8>,
                %a123: tensor<90xui8>,
                %a124: tensor<11x5xui8, #m>,
                %a125: tensor<4x5x5xui8>,
                %a126: tensor<40x6xui8>,
                %a127: tensor<6x7xui8>,
                %a128: tensor<6x5xui8, #m>,
                %a129: tensor<31xui8>,
                %a130: tensor<9x4x5xui8>,
                %a131: tensor<2x6x3xui8>,
                %a132: tensor<3x8x2xui8, #t>,
                %a133: tensor<5x2x3xui8>,
                %a134: tensor<2x5x3x4xui32>,
                %a135: tensor<6x2x3xui32>,
                %a136: tensor<7xui32, #v>,
                %a137: tensor<90xui32>,
                %a138: tensor<300xui32>,
                %a139: tensor<90xui32>,
                %a140: tensor<11x5xui32, #m>,
                %a141: tensor<4x5x5xui32>,
                %a142: tensor<40x6xui32>,
                %a143: tensor<6x7xui32>,
                %a144: tensor<6x5xui32, #m>,
                %a145: tensor<31xui32>,
                %a146: tensor<9x4x5xui32>,
                %a147: tensor<2x6x3xui32>,
                %a148: tensor<3x8x2xcomplex<f32>, #t>,
                %a149: tensor<5x2x3xcomplex<f32>>,
                %a150: tensor<2x5x3x4xcomplex<f32>>,
                %a151: tensor<6x2x3xcomplex<f32>>,
                %a152: tensor<7xcomplex<f32>>,
                %a153: tensor<90xcomplex<f32>>,
                %a154: tensor<300xcomplex<f32>>,
                %a155: tensor<90xcomplex<f32>>,
                %a156: tensor<9x4x5xcomplex<f32>>,
                %a157: tensor<2x6x3xcomplex<f32>>,
                %a158: tensor<7xcomplex<f64>, #v>,
                %a159: tensor<90xcomplex<f64>>,
                %a160: tensor<300xcomplex<f64>>,
                %a161: tensor<90xcomplex<f64>>,
                %a162: tensor<7xcomplex<f64>>,
                %a163: tensor<90xcomplex<f64>>,
                %a164: tensor<300xcomplex<f64>>,
                %a165: tensor<90xcomplex<f64>>,
                %a166: tensor<9x4x5xcomplex<f64>>,
                %a167: tensor<2x6x3xcomplex<f64>>,
                %a168: tensor<11x5xi1, #m>,
                %a169: tensor<4x5x5xi1>,
                %a170: tensor<40x6xi1>,
                %a171: tensor<6x7xi1>,
                %a172: tensor<6x5xi1, #m>,
                %a173: tensor<31xi1>)
    -> (tensor<7xf32>,
        tensor<300xf32>,
        tensor<11x5xf32>,
        tensor<40x6xf32>,
        tensor<6x5xf32>,
        tensor<7xf32>,
        tensor<300xf32>,
        tensor<9x4x5xf32>,
        tensor<9x4x5xf64>,
        tensor<3x8x2xf64>,
        tensor<2x5x3x4xf64>,
        tensor<7xf64>,
        tensor<300xf64>,
        tensor<7xf64>,
        tensor<300xf64>,
        tensor<9x4x5xf64>,
        tensor<11x5xbf16>,
        tensor<40x6xbf16>,
        tensor<6x5xbf16>,
        tensor<9x4x5xbf16>,
        tensor<3x8x2xbf16>,
        tensor<7xbf16>,
        tensor<300xbf16>,
        tensor<9x4x5xbf16>,
        tensor<2x5x3x4xf16>,
        tensor<7xf16>,
        tensor<300xf16>,
        tensor<11x5xf16>,
        tensor<40x6xf16>,
        tensor<7xf16>,
        tensor<300xf16>,
        tensor<9x4x5xf16>,
        tensor<6x5xi8>,
        tensor<9x4x5xi8>,
        tensor<3x8x2xi8>,
        tensor<2x5x3x4xi8>,
        tensor<7xi8>,
        tensor<300xi8>,
        tensor<11x5xi8>,
        tensor<40x6xi16>,
        tensor<6x5xi16>,
        tensor<9x4x5xi16>,
        tensor<3x8x2xi16>,
        tensor<2x5x3x4xi16>,
        tensor<7xi16>,
        tensor<300xi16>,
        tensor<11x5xi32>,
        tensor<40x6xi32>,
        tensor<6x5xi32>,
        tensor<9x4x5xi32>,
        tensor<3x8x2xi32>,
        tensor<2x5x3x4xi32>,
        tensor<7xi32>,
        tensor<300xi64>,
        tensor<11x5xi64>,
        tensor<40x6xi64>,
        tensor<6x5xi64>,
        tensor<9x4x5xi64>,
        tensor<3x8x2xi64>,
        tensor<2x5x3x4xi64>,
        tensor<7xui8>,
        tensor<300xui8>,
        tensor<11x5xui8>,
        tensor<40x6xui8>,
        tensor<6x5xui8>,
        tensor<9x4x5xui8>,
        tensor<3x8x2xui8>,
        tensor<2x5x3x4xui32>,
        tensor<7xui32>,
        tensor<300xui32>,
        tensor<11x5xui32>,
        tensor<40x6xui32>,
        tensor<6x5xui32>,
        tensor<9x4x5xui32>,
        tensor<3x8x2xcomplex<f32>>,
        tensor<2x5x3x4xcomplex<f32>>,
        tensor<7xcomplex<f32>>,
        tensor<300xcomplex<f32>>,
        tensor<9x4x5xcomplex<f32>>,
        tensor<7xcomplex<f64>>,
        tensor<300xcomplex<f64>>,
        tensor<7xcomplex<f64>>,
        tensor<300xcomplex<f64>>,
        tensor<9x4x5xcomplex<f64>>,
        tensor<11x5xi1>,
        tensor<40x6xi1>,
        tensor<6x5xi1>) {
  %i0 = dtensor.constant dense<[[5], [1], [5], [5], [1], [5], [1], [1], [5], [2], [4], [8], [8], [3], [1], [7], [2], [5], [0], [5], [3], [7], [0], [-1], [3], [4], [2], [7], [6], [4], [2], [-1], [0], [8], [6], [6], [5], [2], [6], [0], [7], [-1], [0], [8], [6], [7], [5], [0], [1], [0], [2], [6], [3], [0], [3], [4], [0], [2], [7], [4], [7], [5], [5], [2], [3], [2], [5], [0], [7], [8], [1], [3], [6], [-1], [7], [3], [2], [5], [5], [7], [1], [2], [8], [6], [2], [5], [4], [8], [-1], [2]]> : tensor<90x1xi64>
  %0 = dtensor.scatter %a0 at %i0 with %a1 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xf32, #v>, tensor<90x1xi64>, tensor<90xf32>) -> tensor<7xf32>
  %i1 = dtensor.constant dense<[[17], [17], [0], [17], [17], [17], [17], [17], [250], [250], [17], [152], [263], [33], [17], [17], [17], [17], [250], [256], [250], [76], [17], [17], [114], [17], [226], [60], [17], [17], [17], [17], [89], [75], [17], [17], [250], [250], [17], [102], [17], [299], [17], [107], [113], [250], [17], [250], [124], [170], [14], [72], [257], [250], [17], [176], [17], [250], [250], [278], [17], [250], [17], [17], [36], [250], [250], [133], [249], [201], [17], [17], [250], [17], [154], [17], [300], [17], [17], [17], [-1], [250], [17], [272], [17], [17], [162], [159], [17], [4]]> : tensor<90x1xi32>
  %1 = dtensor.scatter %a2 at %i1 with %a3 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<max>}
      : (tensor<300xf32>, tensor<90x1xi32>, tensor<90xf32>) -> tensor<300xf32>
  %i2 = dtensor.constant dense<[[4, 1, 1, -2, 11], [6, 3, 6, 3, 3], [4, 11, 11, 1, -1], [10, 0, 11, -1, 4]]> : tensor<4x5xi8>
  %2 = dtensor.scatter %a4 at %i2 with %a5 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>, kind = #dtensor.kind<min>}
      : (tensor<11x5xf32, #m>, tensor<4x5xi8>, tensor<4x5x5xf32>) -> tensor<11x5xf32>
  %i3 = dtensor.constant dense<[3, -1, 39, 40, 0, 3, 3]> : tensor<7xi16>
  %3 = dtensor.scatter %a6 at %i3 with %a7 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>}
      : (tensor<40x6xf32>, tensor<7xi16>, tensor<6x7xf32>) -> tensor<40x6xf32>
  %i4 = dtensor.constant dense<[[3, 1, 1, 3, 2, 3, 1, 5, 0, 5, 2, 2, 1, 3, 0, 0, 4, 3, 2, 4, 0, 2, 4, 1, 0, 1, 5, 2, 1, 1, 1], [6, 5, 1, 6, 0, 4, 2, 4, 3, 6, 1, 5, 5, 1, 2, 5, 1, 1, 1, 0, 5, 4, 0, 0, 4, 4, 3, 1, 2, 4, 5]]> : tensor<2x31xui32>
  %4 = dtensor.scatter %a8 at %i4 with %a9 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, kind = #dtensor.kind<prod>}
      : (tensor<6x5xf32, #m>, tensor<2x31xui32>, tensor<31xf32>) -> tensor<6x5xf32>
  %i5 = dtensor.constant dense<[[5], [1], [5], [5], [1], [5], [1], [1], [5], [2], [4], [8], [8], [3], [1], [7], [2], [5], [0], [5], [3], [7], [0], [-1], [3], [4], [2], [7], [6], [4], [2], [-1], [0], [8], [6], [6], [5], [2], [6], [0], [7], [-1], [0], [8], [6], [7], [5], [0], [1], [0], [2], [6], [3], [0], [3], [4], [0], [2], [7], [4], [7], [5], [5], [2], [3], [2], [5], [0], [7], [8], [1], [3], [6], [-1], [7], [3], [2], [5], [5], [7], [1], [2], [8], [6], [2], [5], [4], [8], [-1], [2]]> : tensor<90x1xi32>
  %5 = dtensor.scatter %a10 at %i5 with %a11 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xf32>, tensor<90x1xi32>, tensor<90xf32>) -> tensor<7xf32>
  %6 = dtensor.scatter %a12 at %i1 with %a13 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<300xf32>, tensor<90x1xi32>, tensor<90xf32>) -> tensor<300xf32>
  %i6 = dtensor.constant dense<[[3, 5], [3, 6], [4, 4], [3, 4], [0, 5], [0, 6]]> : tensor<6x2xi32>
  %7 = dtensor.scatter %a14 at %i6 with %a15 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<sum>}
      : (tensor<9x4x5xf32>, tensor<6x2xi32>, tensor<2x6x3xf32>) -> tensor<9x4x5xf32>
  %i7 = dtensor.constant dense<[[3, 5], [3, 6], [4, 4], [3, 4], [0, 5], [0, 6]]> : tensor<6x2xui64>
  %8 = dtensor.scatter %a16 at %i7 with %a17 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<sum>}
      : (tensor<9x4x5xf64>, tensor<6x2xui64>, tensor<2x6x3xf64>) -> tensor<9x4x5xf64>
  %i8 = dtensor.constant dense<[[[-1], [6], [1]], [[2], [0], [5]], [[4], [7], [-1]], [[-1], [5], [8]], [[6], [1], [8]]]> : tensor<5x3x1xi32>
  %9 = dtensor.scatter %a18 at %i8 with %a19 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<max>}
      : (tensor<3x8x2xf64, #t>, tensor<5x3x1xi32>, tensor<5x2x3xf64>) -> tensor<3x8x2xf64>
  %i9 = dtensor.constant dense<[[3, 4], [0, 4], [4, 4], [2, 4], [0, 0], [1, 3]]> : tensor<6x2xi64>
  %10 = dtensor.scatter %a20 at %i9 with %a21 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1, 3>, scatter_dims_to_operand_dims = array<i64: 1, 3>, update_window_dims = array<i64: 1, 2>, kind = #dtensor.kind<min>}
      : (tensor<2x5x3x4xf64>, tensor<6x2xi64>, tensor<6x2x3xf64>) -> tensor<2x5x3x4xf64>
  %i10 = dtensor.constant dense<[[5], [1], [5], [5], [1], [5], [1], [1], [5], [2], [4], [8], [8], [3], [1], [7], [2], [5], [0], [5], [3], [7], [0], [1], [3], [4], [2], [7], [6], [4], [2], [1], [0], [8], [6], [6], [5], [2], [6], [0], [7], [1], [0], [8], [6], [7], [5], [0], [1], [0], [2], [6], [3], [0], [3], [4], [0], [2], [7], [4], [7], [5], [5], [2], [3], [2], [5], [0], [7], [8], [1], [3], [6], [1], [7], [3], [2], [5], [5], [7], [1], [2], [8], [6], [2], [5], [4], [8], [1], [2]]> : tensor<90x1xui8>
  %11 = dtensor.scatter %a22 at %i10 with %a23 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>}
      : (tensor<7xf64, #v>, tensor<90x1xui8>, tensor<90xf64>) -> tensor<7xf64>
  %12 = dtensor.scatter %a24 at %i1 with %a25 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<prod>}
      : (tensor<300xf64>, tensor<90x1xi32>, tensor<90xf64>) -> tensor<300xf64>
  %13 = dtensor.scatter %a26 at %i5 with %a27 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xf64>, tensor<90x1xi32>, tensor<90xf64>) -> tensor<7xf64>
  %14 = dtensor.scatter %a28 at %i1 with %a29 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<300xf64>, tensor<90x1xi32>, tensor<90xf64>) -> tensor<300xf64>
  %15 = dtensor.scatter %a30 at %i6 with %a31 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<sum>}
      : (tensor<9x4x5xf64>, tensor<6x2xi32>, tensor<2x6x3xf64>) -> tensor<9x4x5xf64>
  %i11 = dtensor.constant dense<[[4, 1, 1, -2, 11], [6, 3, 6, 3, 3], [4, 11, 11, 1, -1], [10, 0, 11, -1, 4]]> : tensor<4x5xi16>
  %16 = dtensor.scatter %a32 at %i11 with %a33 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>, kind = #dtensor.kind<sum>}
      : (tensor<11x5xbf16, #m>, tensor<4x5xi16>, tensor<4x5x5xbf16>) -> tensor<11x5xbf16>
  %i12 = dtensor.constant dense<[3, 1, 39, 40, 0, 3, 3]> : tensor<7xui32>
  %17 = dtensor.scatter %a34 at %i12 with %a35 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>, kind = #dtensor.kind<max>}
      : (tensor<40x6xbf16>, tensor<7xui32>, tensor<6x7xbf16>) -> tensor<40x6xbf16>
  %i13 = dtensor.constant dense<[[3, 1, 1, 3, 2, 3, 1, 5, 0, 5, 2, 2, 1, 3, 0, 0, 4, 3, 2, 4, 0, 2, 4, 1, 0, 1, 5, 2, 1, 1, 1], [6, 5, 1, 6, 0, 4, 2, 4, 3, 6, 1, 5, 5, 1, 2, 5, 1, 1, 1, 0, 5, 4, 0, 0, 4, 4, 3, 1, 2, 4, 5]]> : tensor<2x31xui64>
  %18 = dtensor.scatter %a36 at %i13 with %a37 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, kind = #dtensor.kind<min>}
      : (tensor<6x5xbf16, #m>, tensor<2x31xui64>, tensor<31xbf16>) -> tensor<6x5xbf16>
  %19 = dtensor.scatter %a38 at %i6 with %a39 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>}
      : (tensor<9x4x5xbf16>, tensor<6x2xi32>, tensor<2x6x3xbf16>) -> tensor<9x4x5xbf16>
  %i14 = dtensor.constant dense<[[[-1], [6], [1]], [[2], [0], [5]], [[4], [7], [-1]], [[-1], [5], [8]], [[6], [1], [8]]]> : tensor<5x3x1xi64>
  %20 = dtensor.scatter %a40 at %i14 with %a41 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<prod>}
      : (tensor<3x8x2xbf16, #t>, tensor<5x3x1xi64>, tensor<5x2x3xbf16>) -> tensor<3x8x2xbf16>
  %21 = dtensor.scatter %a42 at %i5 with %a43 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xbf16>, tensor<90x1xi32>, tensor<90xbf16>) -> tensor<7xbf16>
  %22 = dtensor.scatter %a44 at %i1 with %a45 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<300xbf16>, tensor<90x1xi32>, tensor<90xbf16>) -> tensor<300xbf16>
  %23 = dtensor.scatter %a46 at %i6 with %a47 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<sum>}
      : (tensor<9x4x5xbf16>, tensor<6x2xi32>, tensor<2x6x3xbf16>) -> tensor<9x4x5xbf16>
  %i15 = dtensor.constant dense<[[3, 4], [0, 4], [4, 4], [2, 4], [0, 0], [1, 3]]> : tensor<6x2xui8>
  %24 = dtensor.scatter %a48 at %i15 with %a49 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1, 3>, scatter_dims_to_operand_dims = array<i64: 1, 3>, update_window_dims = array<i64: 1, 2>, kind = #dtensor.kind<sum>}
      : (tensor<2x5x3x4xf16>, tensor<6x2xui8>, tensor<6x2x3xf16>) -> tensor<2x5x3x4xf16>
  %i16 = dtensor.constant dense<[[5], [1], [5], [5], [1], [5], [1], [1], [5], [2], [4], [8], [8], [3], [1], [7], [2], [5], [0], [5], [3], [7], [0], [-1], [3], [4], [2], [7], [6], [4], [2], [-1], [0], [8], [6], [6], [5], [2], [6], [0], [7], [-1], [0], [8], [6], [7], [5], [0], [1], [0], [2], [6], [3], [0], [3], [4], [0], [2], [7], [4], [7], [5], [5], [2], [3], [2], [5], [0], [7], [8], [1], [3], [6], [-1], [7], [3], [2], [5], [5], [7], [1], [2], [8], [6], [2], [5], [4], [8], [-1], [2]]> : tensor<90x1xi8>
  %25 = dtensor.scatter %a50 at %i16 with %a51 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<max>}
      : (tensor<7xf16, #v>, tensor<90x1xi8>, tensor<90xf16>) -> tensor<7xf16>
  %i17 = dtensor.constant dense<[[17], [17], [0], [17], [17], [17], [17], [17], [250], [250], [17], [152], [263], [33], [17], [17], [17], [17], [250], [256], [250], [76], [17], [17], [114], [17], [226], [60], [17], [17], [17], [17], [89], [75], [17], [17], [250], [250], [17], [102], [17], [299], [17], [107], [113], [250], [17], [250], [124], [170], [14], [72], [257], [250], [17], [176], [17], [250], [250], [278], [17], [250], [17], [17], [36], [250], [250], [133], [249], [201], [17], [17], [250], [17], [154], [17], [300], [17], [17], [17], [-1], [250], [17], [272], [17], [17], [162], [159], [17], [4]]> : tensor<90x1xi16>
  %26 = dtensor.scatter %a52 at %i17 with %a53 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<min>}
      : (tensor<300xf16>, tensor<90x1xi16>, tensor<90xf16>) -> tensor<300xf16>
  %i18 = dtensor.constant dense<[[4, 1, 1, 2, 11], [6, 3, 6, 3, 3], [4, 11, 11, 1, 1], [10, 0, 11, 1, 4]]> : tensor<4x5xui32>
  %27 = dtensor.scatter %a54 at %i18 with %a55 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>}
      : (tensor<11x5xf16, #m>, tensor<4x5xui32>, tensor<4x5x5xf16>) -> tensor<11x5xf16>
  %i19 = dtensor.constant dense<[3, 1, 39, 40, 0, 3, 3]> : tensor<7xui64>
  %28 = dtensor.scatter %a56 at %i19 with %a57 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>, kind = #dtensor.kind<prod>}
      : (tensor<40x6xf16>, tensor<7xui64>, tensor<6x7xf16>) -> tensor<40x6xf16>
  %29 = dtensor.scatter %a58 at %i5 with %a59 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xf16>, tensor<90x1xi32>, tensor<90xf16>) -> tensor<7xf16>
  %30 = dtensor.scatter %a60 at %i1 with %a61 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<300xf16>, tensor<90x1xi32>, tensor<90xf16>) -> tensor<300xf16>
  %31 = dtensor.scatter %a62 at %i6 with %a63 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<sum>}
      : (tensor<9x4x5xf16>, tensor<6x2xi32>, tensor<2x6x3xf16>) -> tensor<9x4x5xf16>
  %i20 = dtensor.constant dense<[[3, -1, -1, 3, 2, 3, 1, 5, 0, 5, 2, 2, 1, 3, 0, 0, 4, 3, 2, 4, 0, 2, 4, 1, 0, -1, 5, 2, -1, 1, -1], [6, 5, 1, 6, 0, 4, 2, 4, 3, 6, 1, 5, 5, 1, 2, 5, 1, 1, 1, 0, 5, 4, 0, 0, 4, 4, 3, 1, 2, 4, 5]]> : tensor<2x31xi32>
  %32 = dtensor.scatter %a64 at %i20 with %a65 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, kind = #dtensor.kind<sum>}
      : (tensor<6x5xi8, #m>, tensor<2x31xi32>, tensor<31xi8>) -> tensor<6x5xi8>
  %i21 = dtensor.constant dense<[[3, 5], [3, 6], [4, 4], [3, 4], [0, 5], [0, 6]]> : tensor<6x2xi64>
  %33 = dtensor.scatter %a66 at %i21 with %a67 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<max>}
      : (tensor<9x4x5xi8>, tensor<6x2xi64>, tensor<2x6x3xi8>) -> tensor<9x4x5xi8>
  %i22 = dtensor.constant dense<[[[1], [6], [1]], [[2], [0], [5]], [[4], [7], [1]], [[1], [5], [8]], [[6], [1], [8]]]> : tensor<5x3x1xui8>
  %34 = dtensor.scatter %a68 at %i22 with %a69 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<min>}
      : (tensor<3x8x2xi8, #t>, tensor<5x3x1xui8>, tensor<5x2x3xi8>) -> tensor<3x8x2xi8>
  %i23 = dtensor.constant dense<[[3, 4], [0, 4], [4, 4], [2, 4], [0, 0], [1, 3]]> : tensor<6x2xi8>
  %35 = dtensor.scatter %a70 at %i23 with %a71 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1, 3>, scatter_dims_to_operand_dims = array<i64: 1, 3>, update_window_dims = array<i64: 1, 2>}
      : (tensor<2x5x3x4xi8>, tensor<6x2xi8>, tensor<6x2x3xi8>) -> tensor<2x5x3x4xi8>
  %i24 = dtensor.constant dense<[[5], [1], [5], [5], [1], [5], [1], [1], [5], [2], [4], [8], [8], [3], [1], [7], [2], [5], [0], [5], [3], [7], [0], [-1], [3], [4], [2], [7], [6], [4], [2], [-1], [0], [8], [6], [6], [5], [2], [6], [0], [7], [-1], [0], [8], [6], [7], [5], [0], [1], [0], [2], [6], [3], [0], [3], [4], [0], [2], [7], [4], [7], [5], [5], [2], [3], [2], [5], [0], [7], [8], [1], [3], [6], [-1], [7], [3], [2], [5], [5], [7], [1], [2], [8], [6], [2], [5], [4], [8], [-1], [2]]> : tensor<90x1xi16>
  %36 = dtensor.scatter %a72 at %i24 with %a73 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<prod>}
      : (tensor<7xi8, #v>, tensor<90x1xi16>, tensor<90xi8>) -> tensor<7xi8>
  %i25 = dtensor.constant dense<[[17], [17], [0], [17], [17], [17], [17], [17], [250], [250], [17], [152], [263], [33], [17], [17], [17], [17], [250], [256], [250], [76], [17], [17], [114], [17], [226], [60], [17], [17], [17], [17], [89], [75], [17], [17], [250], [250], [17], [102], [17], [299], [17], [107], [113], [250], [17], [250], [124], [170], [14], [72], [257], [250], [17], [176], [17], [250], [250], [278], [17], [250], [17], [17], [36], [250], [250], [133], [249], [201], [17], [17], [250], [17], [154], [17], [300], [17], [17], [17], [1], [250], [17], [272], [17], [17], [162], [159], [17], [4]]> : tensor<90x1xui32>
  %37 = dtensor.scatter %a74 at %i25 with %a75 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<or>}
      : (tensor<300xi8>, tensor<90x1xui32>, tensor<90xi8>) -> tensor<300xi8>
  %i26 = dtensor.constant dense<[[4, 1, 1, 2, 11], [6, 3, 6, 3, 3], [4, 11, 11, 1, 1], [10, 0, 11, 1, 4]]> : tensor<4x5xui64>
  %38 = dtensor.scatter %a76 at %i26 with %a77 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>, kind = #dtensor.kind<and>}
      : (tensor<11x5xi8, #m>, tensor<4x5xui64>, tensor<4x5x5xi8>) -> tensor<11x5xi8>
  %i27 = dtensor.constant dense<[3, -1, 39, 40, 0, 3, 3]> : tensor<7xi32>
  %39 = dtensor.scatter %a78 at %i27 with %a79 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<40x6xi16>, tensor<7xi32>, tensor<6x7xi16>) -> tensor<40x6xi16>
  %i28 = dtensor.constant dense<[[3, -1, -1, 3, 2, 3, 1, 5, 0, 5, 2, 2, 1, 3, 0, 0, 4, 3, 2, 4, 0, 2, 4, 1, 0, -1, 5, 2, -1, 1, -1], [6, 5, 1, 6, 0, 4, 2, 4, 3, 6, 1, 5, 5, 1, 2, 5, 1, 1, 1, 0, 5, 4, 0, 0, 4, 4, 3, 1, 2, 4, 5]]> : tensor<2x31xi64>
  %40 = dtensor.scatter %a80 at %i28 with %a81 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, kind = #dtensor.kind<max>}
      : (tensor<6x5xi16, #m>, tensor<2x31xi64>, tensor<31xi16>) -> tensor<6x5xi16>
  %i29 = dtensor.constant dense<[[3, 5], [3, 6], [4, 4], [3, 4], [0, 5], [0, 6]]> : tensor<6x2xui8>
  %41 = dtensor.scatter %a82 at %i29 with %a83 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<min>}
      : (tensor<9x4x5xi16>, tensor<6x2xui8>, tensor<2x6x3xi16>) -> tensor<9x4x5xi16>
  %i30 = dtensor.constant dense<[[[-1], [6], [1]], [[2], [0], [5]], [[4], [7], [-1]], [[-1], [5], [8]], [[6], [1], [8]]]> : tensor<5x3x1xi8>
  %42 = dtensor.scatter %a84 at %i30 with %a85 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>}
      : (tensor<3x8x2xi16, #t>, tensor<5x3x1xi8>, tensor<5x2x3xi16>) -> tensor<3x8x2xi16>
  %i31 = dtensor.constant dense<[[3, 4], [0, 4], [4, 4], [2, 4], [0, 0], [1, 3]]> : tensor<6x2xi16>
  %43 = dtensor.scatter %a86 at %i31 with %a87 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1, 3>, scatter_dims_to_operand_dims = array<i64: 1, 3>, update_window_dims = array<i64: 1, 2>, kind = #dtensor.kind<prod>}
      : (tensor<2x5x3x4xi16>, tensor<6x2xi16>, tensor<6x2x3xi16>) -> tensor<2x5x3x4xi16>
  %i32 = dtensor.constant dense<[[5], [1], [5], [5], [1], [5], [1], [1], [5], [2], [4], [8], [8], [3], [1], [7], [2], [5], [0], [5], [3], [7], [0], [1], [3], [4], [2], [7], [6], [4], [2], [1], [0], [8], [6], [6], [5], [2], [6], [0], [7], [1], [0], [8], [6], [7], [5], [0], [1], [0], [2], [6], [3], [0], [3], [4], [0], [2], [7], [4], [7], [5], [5], [2], [3], [2], [5], [0], [7], [8], [1], [3], [6], [1], [7], [3], [2], [5], [5], [7], [1], [2], [8], [6], [2], [5], [4], [8], [1], [2]]> : tensor<90x1xui32>
  %44 = dtensor.scatter %a88 at %i32 with %a89 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<or>}
      : (tensor<7xi16, #v>, tensor<90x1xui32>, tensor<90xi16>) -> tensor<7xi16>
  %i33 = dtensor.constant dense<[[17], [17], [0], [17], [17], [17], [17], [17], [250], [250], [17], [152], [263], [33], [17], [17], [17], [17], [250], [256], [250], [76], [17], [17], [114], [17], [226], [60], [17], [17], [17], [17], [89], [75], [17], [17], [250], [250], [17], [102], [17], [299], [17], [107], [113], [250], [17], [250], [124], [170], [14], [72], [257], [250], [17], [176], [17], [250], [250], [278], [17], [250], [17], [17], [36], [250], [250], [133], [249], [201], [17], [17], [250], [17], [154], [17], [300], [17], [17], [17], [1], [250], [17], [272], [17], [17], [162], [159], [17], [4]]> : tensor<90x1xui64>
  %45 = dtensor.scatter %a90 at %i33 with %a91 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<and>}
      : (tensor<300xi16>, tensor<90x1xui64>, tensor<90xi16>) -> tensor<300xi16>
  %i34 = dtensor.constant dense<[[4, 1, 1, -2, 11], [6, 3, 6, 3, 3], [4, 11, 11, 1, -1], [10, 0, 11, -1, 4]]> : tensor<4x5xi32>
  %46 = dtensor.scatter %a92 at %i34 with %a93 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>, kind = #dtensor.kind<sum>}
      : (tensor<11x5xi32, #m>, tensor<4x5xi32>, tensor<4x5x5xi32>) -> tensor<11x5xi32>
  %i35 = dtensor.constant dense<[3, -1, 39, 40, 0, 3, 3]> : tensor<7xi64>
  %47 = dtensor.scatter %a94 at %i35 with %a95 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>, kind = #dtensor.kind<max>}
      : (tensor<40x6xi32>, tensor<7xi64>, tensor<6x7xi32>) -> tensor<40x6xi32>
  %i36 = dtensor.constant dense<[[3, 1, 1, 3, 2, 3, 1, 5, 0, 5, 2, 2, 1, 3, 0, 0, 4, 3, 2, 4, 0, 2, 4, 1, 0, 1, 5, 2, 1, 1, 1], [6, 5, 1, 6, 0, 4, 2, 4, 3, 6, 1, 5, 5, 1, 2, 5, 1, 1, 1, 0, 5, 4, 0, 0, 4, 4, 3, 1, 2, 4, 5]]> : tensor<2x31xui8>
  %48 = dtensor.scatter %a96 at %i36 with %a97 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, kind = #dtensor.kind<min>}
      : (tensor<6x5xi32, #m>, tensor<2x31xui8>, tensor<31xi32>) -> tensor<6x5xi32>
  %i37 = dtensor.constant dense<[[3, 5], [3, 6], [4, 4], [3, 4], [0, 5], [0, 6]]> : tensor<6x2xi8>
  %49 = dtensor.scatter %a98 at %i37 with %a99 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>}
      : (tensor<9x4x5xi32>, tensor<6x2xi8>, tensor<2x6x3xi32>) -> tensor<9x4x5xi32>
  %i38 = dtensor.constant dense<[[[-1], [6], [1]], [[2], [0], [5]], [[4], [7], [-1]], [[-1], [5], [8]], [[6], [1], [8]]]> : tensor<5x3x1xi16>
  %50 = dtensor.scatter %a100 at %i38 with %a101 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<prod>}
      : (tensor<3x8x2xi32, #t>, tensor<5x3x1xi16>, tensor<5x2x3xi32>) -> tensor<3x8x2xi32>
  %i39 = dtensor.constant dense<[[3, 4], [0, 4], [4, 4], [2, 4], [0, 0], [1, 3]]> : tensor<6x2xui32>
  %51 = dtensor.scatter %a102 at %i39 with %a103 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1, 3>, scatter_dims_to_operand_dims = array<i64: 1, 3>, update_window_dims = array<i64: 1, 2>, kind = #dtensor.kind<or>}
      : (tensor<2x5x3x4xi32>, tensor<6x2xui32>, tensor<6x2x3xi32>) -> tensor<2x5x3x4xi32>
  %i40 = dtensor.constant dense<[[5], [1], [5], [5], [1], [5], [1], [1], [5], [2], [4], [8], [8], [3], [1], [7], [2], [5], [0], [5], [3], [7], [0], [1], [3], [4], [2], [7], [6], [4], [2], [1], [0], [8], [6], [6], [5], [2], [6], [0], [7], [1], [0], [8], [6], [7], [5], [0], [1], [0], [2], [6], [3], [0], [3], [4], [0], [2], [7], [4], [7], [5], [5], [2], [3], [2], [5], [0], [7], [8], [1], [3], [6], [1], [7], [3], [2], [5], [5], [7], [1], [2], [8], [6], [2], [5], [4], [8], [1], [2]]> : tensor<90x1xui64>
  %52 = dtensor.scatter %a104 at %i40 with %a105 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<and>}
      : (tensor<7xi32, #v>, tensor<90x1xui64>, tensor<90xi32>) -> tensor<7xi32>
  %53 = dtensor.scatter %a106 at %i1 with %a107 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<300xi64>, tensor<90x1xi32>, tensor<90xi64>) -> tensor<300xi64>
  %i41 = dtensor.constant dense<[[4, 1, 1, -2, 11], [6, 3, 6, 3, 3], [4, 11, 11, 1, -1], [10, 0, 11, -1, 4]]> : tensor<4x5xi64>
  %54 = dtensor.scatter %a108 at %i41 with %a109 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>, kind = #dtensor.kind<max>}
      : (tensor<11x5xi64, #m>, tensor<4x5xi64>, tensor<4x5x5xi64>) -> tensor<11x5xi64>
  %i42 = dtensor.constant dense<[3, 1, 39, 40, 0, 3, 3]> : tensor<7xui8>
  %55 = dtensor.scatter %a110 at %i42 with %a111 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>, kind = #dtensor.kind<min>}
      : (tensor<40x6xi64>, tensor<7xui8>, tensor<6x7xi64>) -> tensor<40x6xi64>
  %i43 = dtensor.constant dense<[[3, -1, -1, 3, 2, 3, 1, 5, 0, 5, 2, 2, 1, 3, 0, 0, 4, 3, 2, 4, 0, 2, 4, 1, 0, -1, 5, 2, -1, 1, -1], [6, 5, 1, 6, 0, 4, 2, 4, 3, 6, 1, 5, 5, 1, 2, 5, 1, 1, 1, 0, 5, 4, 0, 0, 4, 4, 3, 1, 2, 4, 5]]> : tensor<2x31xi8>
  %56 = dtensor.scatter %a112 at %i43 with %a113 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>}
      : (tensor<6x5xi64, #m>, tensor<2x31xi8>, tensor<31xi64>) -> tensor<6x5xi64>
  %i44 = dtensor.constant dense<[[3, 5], [3, 6], [4, 4], [3, 4], [0, 5], [0, 6]]> : tensor<6x2xi16>
  %57 = dtensor.scatter %a114 at %i44 with %a115 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<prod>}
      : (tensor<9x4x5xi64>, tensor<6x2xi16>, tensor<2x6x3xi64>) -> tensor<9x4x5xi64>
  %i45 = dtensor.constant dense<[[[1], [6], [1]], [[2], [0], [5]], [[4], [7], [1]], [[1], [5], [8]], [[6], [1], [8]]]> : tensor<5x3x1xui32>
  %58 = dtensor.scatter %a116 at %i45 with %a117 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<or>}
      : (tensor<3x8x2xi64, #t>, tensor<5x3x1xui32>, tensor<5x2x3xi64>) -> tensor<3x8x2xi64>
  %i46 = dtensor.constant dense<[[3, 4], [0, 4], [4, 4], [2, 4], [0, 0], [1, 3]]> : tensor<6x2xui64>
  %59 = dtensor.scatter %a118 at %i46 with %a119 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1, 3>, scatter_dims_to_operand_dims = array<i64: 1, 3>, update_window_dims = array<i64: 1, 2>, kind = #dtensor.kind<and>}
      : (tensor<2x5x3x4xi64>, tensor<6x2xui64>, tensor<6x2x3xi64>) -> tensor<2x5x3x4xi64>
  %60 = dtensor.scatter %a120 at %i5 with %a121 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xui8, #v>, tensor<90x1xi32>, tensor<90xui8>) -> tensor<7xui8>
  %i47 = dtensor.constant dense<[[17], [17], [0], [17], [17], [17], [17], [17], [250], [250], [17], [152], [263], [33], [17], [17], [17], [17], [250], [256], [250], [76], [17], [17], [114], [17], [226], [60], [17], [17], [17], [17], [89], [75], [17], [17], [250], [250], [17], [102], [17], [299], [17], [107], [113], [250], [17], [250], [124], [170], [14], [72], [257], [250], [17], [176], [17], [250], [250], [278], [17], [250], [17], [17], [36], [250], [250], [133], [249], [201], [17], [17], [250], [17], [154], [17], [300], [17], [17], [17], [-1], [250], [17], [272], [17], [17], [162], [159], [17], [4]]> : tensor<90x1xi64>
  %61 = dtensor.scatter %a122 at %i47 with %a123 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<max>}
      : (tensor<300xui8>, tensor<90x1xi64>, tensor<90xui8>) -> tensor<300xui8>
  %i48 = dtensor.constant dense<[[4, 1, 1, 2, 11], [6, 3, 6, 3, 3], [4, 11, 11, 1, 1], [10, 0, 11, 1, 4]]> : tensor<4x5xui8>
  %62 = dtensor.scatter %a124 at %i48 with %a125 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>, kind = #dtensor.kind<min>}
      : (tensor<11x5xui8, #m>, tensor<4x5xui8>, tensor<4x5x5xui8>) -> tensor<11x5xui8>
  %i49 = dtensor.constant dense<[3, -1, 39, 40, 0, 3, 3]> : tensor<7xi8>
  %63 = dtensor.scatter %a126 at %i49 with %a127 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>}
      : (tensor<40x6xui8>, tensor<7xi8>, tensor<6x7xui8>) -> tensor<40x6xui8>
  %i50 = dtensor.constant dense<[[3, -1, -1, 3, 2, 3, 1, 5, 0, 5, 2, 2, 1, 3, 0, 0, 4, 3, 2, 4, 0, 2, 4, 1, 0, -1, 5, 2, -1, 1, -1], [6, 5, 1, 6, 0, 4, 2, 4, 3, 6, 1, 5, 5, 1, 2, 5, 1, 1, 1, 0, 5, 4, 0, 0, 4, 4, 3, 1, 2, 4, 5]]> : tensor<2x31xi16>
  %64 = dtensor.scatter %a128 at %i50 with %a129 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, kind = #dtensor.kind<prod>}
      : (tensor<6x5xui8, #m>, tensor<2x31xi16>, tensor<31xui8>) -> tensor<6x5xui8>
  %i51 = dtensor.constant dense<[[3, 5], [3, 6], [4, 4], [3, 4], [0, 5], [0, 6]]> : tensor<6x2xui32>
  %65 = dtensor.scatter %a130 at %i51 with %a131 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<or>}
      : (tensor<9x4x5xui8>, tensor<6x2xui32>, tensor<2x6x3xui8>) -> tensor<9x4x5xui8>
  %i52 = dtensor.constant dense<[[[1], [6], [1]], [[2], [0], [5]], [[4], [7], [1]], [[1], [5], [8]], [[6], [1], [8]]]> : tensor<5x3x1xui64>
  %66 = dtensor.scatter %a132 at %i52 with %a133 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<and>}
      : (tensor<3x8x2xui8, #t>, tensor<5x3x1xui64>, tensor<5x2x3xui8>) -> tensor<3x8x2xui8>
  %i53 = dtensor.constant dense<[[3, 4], [0, 4], [4, 4], [2, 4], [0, 0], [1, 3]]> : tensor<6x2xi32>
  %67 = dtensor.scatter %a134 at %i53 with %a135 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1, 3>, scatter_dims_to_operand_dims = array<i64: 1, 3>, update_window_dims = array<i64: 1, 2>, kind = #dtensor.kind<sum>}
      : (tensor<2x5x3x4xui32>, tensor<6x2xi32>, tensor<6x2x3xui32>) -> tensor<2x5x3x4xui32>
  %68 = dtensor.scatter %a136 at %i0 with %a137 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<max>}
      : (tensor<7xui32, #v>, tensor<90x1xi64>, tensor<90xui32>) -> tensor<7xui32>
  %69 = dtensor.scatter %a138 at %i1 with %a139 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<min>}
      : (tensor<300xui32>, tensor<90x1xi32>, tensor<90xui32>) -> tensor<300xui32>
  %70 = dtensor.scatter %a140 at %i2 with %a141 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>}
      : (tensor<11x5xui32, #m>, tensor<4x5xi8>, tensor<4x5x5xui32>) -> tensor<11x5xui32>
  %71 = dtensor.scatter %a142 at %i3 with %a143 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>, kind = #dtensor.kind<prod>}
      : (tensor<40x6xui32>, tensor<7xi16>, tensor<6x7xui32>) -> tensor<40x6xui32>
  %72 = dtensor.scatter %a144 at %i4 with %a145 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, kind = #dtensor.kind<or>}
      : (tensor<6x5xui32, #m>, tensor<2x31xui32>, tensor<31xui32>) -> tensor<6x5xui32>
  %73 = dtensor.scatter %a146 at %i7 with %a147 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<and>}
      : (tensor<9x4x5xui32>, tensor<6x2xui64>, tensor<2x6x3xui32>) -> tensor<9x4x5xui32>
  %74 = dtensor.scatter %a148 at %i8 with %a149 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 1>, kind = #dtensor.kind<sum>}
      : (tensor<3x8x2xcomplex<f32>, #t>, tensor<5x3x1xi32>, tensor<5x2x3xcomplex<f32>>) -> tensor<3x8x2xcomplex<f32>>
  %75 = dtensor.scatter %a150 at %i9 with %a151 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1, 3>, scatter_dims_to_operand_dims = array<i64: 1, 3>, update_window_dims = array<i64: 1, 2>}
      : (tensor<2x5x3x4xcomplex<f32>>, tensor<6x2xi64>, tensor<6x2x3xcomplex<f32>>) -> tensor<2x5x3x4xcomplex<f32>>
  %76 = dtensor.scatter %a152 at %i5 with %a153 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xcomplex<f32>>, tensor<90x1xi32>, tensor<90xcomplex<f32>>) -> tensor<7xcomplex<f32>>
  %77 = dtensor.scatter %a154 at %i1 with %a155 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<300xcomplex<f32>>, tensor<90x1xi32>, tensor<90xcomplex<f32>>) -> tensor<300xcomplex<f32>>
  %78 = dtensor.scatter %a156 at %i6 with %a157 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<sum>}
      : (tensor<9x4x5xcomplex<f32>>, tensor<6x2xi32>, tensor<2x6x3xcomplex<f32>>) -> tensor<9x4x5xcomplex<f32>>
  %79 = dtensor.scatter %a158 at %i10 with %a159 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xcomplex<f64>, #v>, tensor<90x1xui8>, tensor<90xcomplex<f64>>) -> tensor<7xcomplex<f64>>
  %80 = dtensor.scatter %a160 at %i1 with %a161 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>}
      : (tensor<300xcomplex<f64>>, tensor<90x1xi32>, tensor<90xcomplex<f64>>) -> tensor<300xcomplex<f64>>
  %81 = dtensor.scatter %a162 at %i5 with %a163 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<7xcomplex<f64>>, tensor<90x1xi32>, tensor<90xcomplex<f64>>) -> tensor<7xcomplex<f64>>
  %82 = dtensor.scatter %a164 at %i1 with %a165 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, kind = #dtensor.kind<sum>}
      : (tensor<300xcomplex<f64>>, tensor<90x1xi32>, tensor<90xcomplex<f64>>) -> tensor<300xcomplex<f64>>
  %83 = dtensor.scatter %a166 at %i6 with %a167 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>, update_window_dims = array<i64: 0, 2>, kind = #dtensor.kind<sum>}
      : (tensor<9x4x5xcomplex<f64>>, tensor<6x2xi32>, tensor<2x6x3xcomplex<f64>>) -> tensor<9x4x5xcomplex<f64>>
  %84 = dtensor.scatter %a168 at %i11 with %a169 {index_vector_dim = 2 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>, kind = #dtensor.kind<or>}
      : (tensor<11x5xi1, #m>, tensor<4x5xi16>, tensor<4x5x5xi1>) -> tensor<11x5xi1>
  %85 = dtensor.scatter %a170 at %i12 with %a171 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 0>, kind = #dtensor.kind<and>}
      : (tensor<40x6xi1>, tensor<7xui32>, tensor<6x7xi1>) -> tensor<40x6xi1>
  %86 = dtensor.scatter %a172 at %i13 with %a173 {index_vector_dim = 0 : i64, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 1, 0>}
      : (tensor<6x5xi1, #m>, tensor<2x31xui64>, tensor<31xi1>) -> tensor<6x5xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86
      : tensor<7xf32>,
        tensor<300xf32>,
        tensor<11x5xf32>,
        tensor<40x6xf32>,
        tensor<6x5xf32>,
        tensor<7xf32>,
        tensor<300xf32>,
        tensor<9x4x5xf32>,
        tensor<9x4x5xf64>,
        tensor<3x8x2xf64>,
        tensor<2x5x3x4xf64>,
        tensor<7xf64>,
        tensor<300xf64>,
        tensor<7xf64>,
        tensor<300xf64>,
        tensor<9x4x5xf64>,
        tensor<11x5xbf16>,
        tensor<40x6xbf16>,
        tensor<6x5xbf16>,
        tensor<9x4x5xbf16>,
        tensor<3x8x2xbf16>,
        tensor<7xbf16>,
        tensor<300xbf16>,
        tensor<9x4x5xbf16>,
        tensor<2x5x3x4xf16>,
        tensor<7xf16>,
        tensor<300xf16>,
        tensor<11x5xf16>,
        tensor<40x6xf16>,
        tensor<7xf16>,
        tensor<300xf16>,
        tensor<9x4x5xf16>,
        tensor<6x5xi8>,
        tensor<9x4x5xi8>,
        tensor<3x8x2xi8>,
        tensor<2x5x3x4xi8>,
        tensor<7xi8>,
        tensor<300xi8>,
        tensor<11x5xi8>,
        tensor<40x6xi16>,
        tensor<6x5xi16>,
        tensor<9x4x5xi16>,
        tensor<3x8x2xi16>,
        tensor<2x5x3x4xi16>,
        tensor<7xi16>,
        tensor<300xi16>,
        tensor<11x5xi32>,
        tensor<40x6xi32>,
        tensor<6x5xi32>,
        tensor<9x4x5xi32>,
        tensor<3x8x2xi32>,
        tensor<2x5x3x4xi32>,
        tensor<7xi32>,
        tensor<300xi64>,
        tensor<11x5xi64>,
        tensor<40x6xi64>,
        tensor<6x5xi64>,
        tensor<9x4x5xi64>,
        tensor<3x8x2xi64>,
        tensor<2x5x3x4xi64>,
        tensor<7xui8>,
        tensor<300xui8>,
        tensor<11x5xui8>,
        tensor<40x6xui8>,
        tensor<6x5xui8>,
        tensor<9x4x5xui8>,
        tensor<3x8x2xui8>,
        tensor<2x5x3x4xui32>,
        tensor<7xui32>,
        tensor<300xui32>,
        tensor<11x5xui32>,
        tensor<40x6xui32>,
        tensor<6x5xui32>,
        tensor<9x4x5xui32>,
        tensor<3x8x2xcomplex<f32>>,
        tensor<2x5x3x4xcomplex<f32>>,
        tensor<7xcomplex<f32>>,
        tensor<300xcomplex<f32>>,
        tensor<9x4x5xcomplex<f32>>,
        tensor<7xcomplex<f64>>,
        tensor<300xcomplex<f64>>,
        tensor<7xcomplex<f64>>,
        tensor<300xcomplex<f64>>,
        tensor<9x4x5xcomplex<f64>>,
        tensor<11x5xi1>,
        tensor<40x6xi1>,
        tensor<6x5xi1>
}
