// What cannot be lifted.
// RUN: mesh-opt %s --dtensor-lift-variables --split-input-file --verify-diagnostics

// expected-error @+1 {{returns a variable; return its value, read by dtensor.read_variable}}
func.func @returned(%v: !dtensor.variable<tensor<2xf32>>) -> !dtensor.variable<tensor<2xf32>> {
  return %v : !dtensor.variable<tensor<2xf32>>
}

// -----

func.func private @other(!dtensor.variable<tensor<2xf32>>)
func.func @passed_on(%v: !dtensor.variable<tensor<2xf32>>) {
  // expected-error @+1 {{takes a variable; only read_variable and assign_variable do}}
  func.call @other(%v) : (!dtensor.variable<tensor<2xf32>>) -> ()
  return
}
