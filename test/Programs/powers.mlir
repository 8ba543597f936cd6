// Powers of constant exponents are products, quotients and roots; -0.0, -inf
// and nan have the results of pow.
// RUN: %verify
func.func @main()
    -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf64>, tensor<9xf64>, tensor<9xbf16>, tensor<9xf16>, tensor<9xi1>) {
  %x = dtensor.constant dense<[0xFF800000, -2.5, -0.0, 0.0, 1.0e-40, 0.3, 7.0, 0x7F800000, 0x7FC00000]> : tensor<9xf32>
  %half = dtensor.constant dense<0.5> : tensor<9xf32>
  %minus_half = dtensor.constant dense<-0.5> : tensor<9xf32>
  %one_and_half = dtensor.constant dense<1.5> : tensor<9xf32>
  %three = dtensor.constant dense<3.0> : tensor<9xf32>
  %minus_one = dtensor.constant dense<-1.0> : tensor<9xf32>
  %0 = dtensor.power %x, %half : tensor<9xf32>
  %1 = dtensor.power %x, %minus_half : tensor<9xf32>
  %2 = dtensor.power %x, %one_and_half : tensor<9xf32>
  %3 = dtensor.power %x, %three : tensor<9xf32>
  %4 = dtensor.power %x, %minus_one : tensor<9xf32>
  %xd = dtensor.convert %x : (tensor<9xf32>) -> tensor<9xf64>
  %half_d = dtensor.constant dense<0.5> : tensor<9xf64>
  %minus_half_d = dtensor.constant dense<-0.5> : tensor<9xf64>
  %5 = dtensor.power %xd, %half_d : tensor<9xf64>
  %6 = dtensor.power %xd, %minus_half_d : tensor<9xf64>
  %xb = dtensor.convert %x : (tensor<9xf32>) -> tensor<9xbf16>
  %half_b = dtensor.constant dense<0.5> : tensor<9xbf16>
  %7 = dtensor.power %xb, %half_b : tensor<9xbf16>
  %xh = dtensor.convert %x : (tensor<9xf32>) -> tensor<9xf16>
  %three_h = dtensor.constant dense<3.0> : tensor<9xf16>
  %8 = dtensor.power %xh, %three_h : tensor<9xf16>
  // The signs of zeros.
  %one = dtensor.constant dense<1.0> : tensor<9xf32>
  %signs = dtensor.divide %one, %0 : tensor<9xf32>
  %zero = dtensor.constant dense<0.0> : tensor<9xf32>
  %9 = dtensor.compare LT, %signs, %zero : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf64>, tensor<9xf64>, tensor<9xbf16>, tensor<9xf16>, tensor<9xi1>
}
