// Elements that are picked out of whole vectors: transposes of few lines, from
// and to pixels, alone, with math and cut; slices with strides; several
// elements of short rows, and complex numbers that are rolled; short rows that
// are cut.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#cut = #dtensor.layout<#mesh, [x, *]>
#columns = #dtensor.layout<#mesh, [*, x]>

func.func @main(%x0: tensor<131x2xf32>,
                %x1: tensor<3x131xf32>,
                %x2: tensor<131x5xf64>,
                %x3: tensor<7x131xi8>,
                %x4: tensor<131x4xbf16>,
                %x5: tensor<6x131xi16>,
                %x6: tensor<131x3xcomplex<f32>>,
                %x7: tensor<2x3x40x50xf32>,
                %x8: tensor<2x40x50x3xi8>,
                %y: tensor<3x131xf32>,
                %z: tensor<131x3xf32>,
                %c: tensor<140x3xf32, #cut>,
                %s0: tensor<37x301xf32>,
                %s1: tensor<301xf64>,
                %s2: tensor<301xi8>,
                %s3: tensor<1001xbf16>,
                %s4: tensor<301xcomplex<f32>>,
                %s5: tensor<2x301xi32>,
                %q: tensor<141x4xf64, #cut>,
                %w: tensor<131x8xf32, #columns>,
                %v: tensor<131xf32>)
    -> (tensor<2x131xf32>, tensor<131x3xf32>, tensor<5x131xf64>, tensor<131x7xi8>,
        tensor<4x131xbf16>, tensor<131x6xi16>, tensor<3x131xcomplex<f32>>, tensor<2x40x50x3xf32>,
        tensor<2x3x40x50xi8>, tensor<3x131xf32>, tensor<3x140xf32>, tensor<19x101xf32>,
        tensor<150xf64>, tensor<75xi8>, tensor<143xbf16>, tensor<61xcomplex<f32>>,
        tensor<2x38xi32>, tensor<131x1xf32>, tensor<141x1xf64>, tensor<301xcomplex<f32>>,
        tensor<131x8xf32, #columns>) {
  %0 = dtensor.transpose %x0 dims [1, 0] : (tensor<131x2xf32>) -> tensor<2x131xf32>
  %1 = dtensor.transpose %x1 dims [1, 0] : (tensor<3x131xf32>) -> tensor<131x3xf32>
  %2 = dtensor.transpose %x2 dims [1, 0] : (tensor<131x5xf64>) -> tensor<5x131xf64>
  %3 = dtensor.transpose %x3 dims [1, 0] : (tensor<7x131xi8>) -> tensor<131x7xi8>
  %4 = dtensor.transpose %x4 dims [1, 0] : (tensor<131x4xbf16>) -> tensor<4x131xbf16>
  %5 = dtensor.transpose %x5 dims [1, 0] : (tensor<6x131xi16>) -> tensor<131x6xi16>
  %6 = dtensor.transpose %x6 dims [1, 0] : (tensor<131x3xcomplex<f32>>) -> tensor<3x131xcomplex<f32>>
  %7 = dtensor.transpose %x7 dims [0, 2, 3, 1] : (tensor<2x3x40x50xf32>) -> tensor<2x40x50x3xf32>
  %8 = dtensor.transpose %x8 dims [0, 3, 1, 2] : (tensor<2x40x50x3xi8>) -> tensor<2x3x40x50xi8>
  %turned = dtensor.transpose %z dims [1, 0] : (tensor<131x3xf32>) -> tensor<3x131xf32>
  %sum = dtensor.add %turned, %y : tensor<3x131xf32>
  %shards = dtensor.transpose %c dims [1, 0] : (tensor<140x3xf32, #cut>) -> tensor<3x140xf32>
  %t0 = dtensor.slice %s0 [0:37:2, 0:301:3] : (tensor<37x301xf32>) -> tensor<19x101xf32>
  %t1 = dtensor.slice %s1 [1:301:2] : (tensor<301xf64>) -> tensor<150xf64>
  %t2 = dtensor.slice %s2 [2:300:4] : (tensor<301xi8>) -> tensor<75xi8>
  %t3 = dtensor.slice %s3 [5:1001:7] : (tensor<1001xbf16>) -> tensor<143xbf16>
  %t4 = dtensor.slice %s4 [0:301:5] : (tensor<301xcomplex<f32>>) -> tensor<61xcomplex<f32>>
  %t5 = dtensor.slice %s5 [0:2, 0:301:8] : (tensor<2x301xi32>) -> tensor<2x38xi32>
  %z0 = dtensor.slice %z [0:131, 0:1] : (tensor<131x3xf32>) -> tensor<131x1xf32>
  %z1 = dtensor.slice %z [0:131, 1:2] : (tensor<131x3xf32>) -> tensor<131x1xf32>
  %z2 = dtensor.slice %z [0:131, 2:3] : (tensor<131x3xf32>) -> tensor<131x1xf32>
  %z01 = dtensor.multiply %z0, %z1 : tensor<131x1xf32>
  %zs = dtensor.subtract %z2, %z01 : tensor<131x1xf32>
  %q1 = dtensor.slice %q [0:141, 1:2] : (tensor<141x4xf64, #cut>) -> tensor<141x1xf64>
  %q3 = dtensor.slice %q [0:141, 3:4] : (tensor<141x4xf64, #cut>) -> tensor<141x1xf64>
  %qs = dtensor.subtract %q3, %q1 : tensor<141x1xf64>
  %none = dtensor.constant dense<0.0> : tensor<f32>
  %nothing = dtensor.complex %none, %none : (tensor<f32>, tensor<f32>) -> tensor<complex<f32>>
  %after = dtensor.pad %s4, %nothing low [-100] high [100] interior [0] : (tensor<301xcomplex<f32>>, tensor<complex<f32>>) -> tensor<301xcomplex<f32>>
  %before = dtensor.pad %s4, %nothing low [201] high [-201] interior [0] : (tensor<301xcomplex<f32>>, tensor<complex<f32>>) -> tensor<301xcomplex<f32>>
  %index = dtensor.iota dim 0 : tensor<301xi32>
  %border = dtensor.constant dense<201> : tensor<301xi32>
  %isAfter = dtensor.compare LT, %index, %border : (tensor<301xi32>, tensor<301xi32>) -> tensor<301xi1>
  %rolled = dtensor.select %isAfter, %after, %before : (tensor<301xi1>, tensor<301xcomplex<f32>>, tensor<301xcomplex<f32>>) -> tensor<301xcomplex<f32>>
  %factors = dtensor.broadcast_in_dim %v dims [0] : (tensor<131xf32>) -> tensor<131x8xf32>
  %scaled = dtensor.multiply %w, %factors : (tensor<131x8xf32, #columns>, tensor<131x8xf32>) -> tensor<131x8xf32, #columns>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %sum, %shards, %t0, %t1, %t2, %t3, %t4, %t5, %zs, %qs, %rolled, %scaled : tensor<2x131xf32>, tensor<131x3xf32>, tensor<5x131xf64>, tensor<131x7xi8>,
        tensor<4x131xbf16>, tensor<131x6xi16>, tensor<3x131xcomplex<f32>>, tensor<2x40x50x3xf32>,
        tensor<2x3x40x50xi8>, tensor<3x131xf32>, tensor<3x140xf32>, tensor<19x101xf32>,
        tensor<150xf64>, tensor<75xi8>, tensor<143xbf16>, tensor<61xcomplex<f32>>,
        tensor<2x38xi32>, tensor<131x1xf32>, tensor<141x1xf64>, tensor<301xcomplex<f32>>,
        tensor<131x8xf32, #columns>
}
