func.func @main() {
  %0 = dtensor.iota dim 0 : tensor<9223372036854775807x2xi32>
  return
}
