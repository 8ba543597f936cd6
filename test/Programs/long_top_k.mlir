// The largest elements of long lines, most of which are only compared with the
// best ones: random numbers, numbers that ascend (each is the best so far) or
// are equal (the first ones win), infinities, other types, and a line
// that does not lie side by side.
// RUN: %verify
func.func @main(%a: tensor<3x5003xf32>, %b: tensor<2x4000xi32>, %h: tensor<2x3000xbf16>,
                %d: tensor<4000xf64>, %t: tensor<3000x2xf16>)
    -> (tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x4990xf32>, tensor<3x4990xi32>,
        tensor<2x9xi32>, tensor<2x9xi32>, tensor<2x50xbf16>, tensor<2x50xi32>,
        tensor<1xf64>, tensor<1xi32>, tensor<2x7xf16>, tensor<2x7xi32>,
        tensor<2000xi32>, tensor<2000xi32>, tensor<30xf32>, tensor<30xi32>) {
  %0:2 = dtensor.top_k %a k 20 : tensor<3x5003xf32> -> tensor<3x20xf32>, tensor<3x20xi32>
  %1:2 = dtensor.top_k %a k 4990 : tensor<3x5003xf32> -> tensor<3x4990xf32>, tensor<3x4990xi32>
  %2:2 = dtensor.top_k %b k 9 : tensor<2x4000xi32> -> tensor<2x9xi32>, tensor<2x9xi32>
  %3:2 = dtensor.top_k %h k 50 : tensor<2x3000xbf16> -> tensor<2x50xbf16>, tensor<2x50xi32>
  %4:2 = dtensor.top_k %d k 1 : tensor<4000xf64> -> tensor<1xf64>, tensor<1xi32>
  %columns = dtensor.transpose %t dims [1, 0] : (tensor<3000x2xf16>) -> tensor<2x3000xf16>
  %5:2 = dtensor.top_k %columns k 7 : tensor<2x3000xf16> -> tensor<2x7xf16>, tensor<2x7xi32>
  %ascending = dtensor.iota dim 0 : tensor<9000xi32>
  %6:2 = dtensor.top_k %ascending k 2000 : tensor<9000xi32> -> tensor<2000xi32>, tensor<2000xi32>
  %sizes = dtensor.iota dim 0 : tensor<3000xf32>
  %middle = dtensor.constant dense<1500.5> : tensor<3000xf32>
  %less = dtensor.subtract %sizes, %middle : tensor<3000xf32>
  %zero = dtensor.subtract %less, %less : tensor<3000xf32>
  %special = dtensor.divide %less, %zero : tensor<3000xf32>
  %7:2 = dtensor.top_k %special k 30 : tensor<3000xf32> -> tensor<30xf32>, tensor<30xi32>
  return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1, %3#0, %3#1, %4#0, %4#1, %5#0, %5#1, %6#0, %6#1, %7#0, %7#1
      : tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x4990xf32>, tensor<3x4990xi32>,
        tensor<2x9xi32>, tensor<2x9xi32>, tensor<2x50xbf16>, tensor<2x50xi32>,
        tensor<1xf64>, tensor<1xi32>, tensor<2x7xf16>, tensor<2x7xi32>,
        tensor<2000xi32>, tensor<2000xi32>, tensor<30xf32>, tensor<30xi32>
}
