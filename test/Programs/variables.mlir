// Variables: a read after an assignment sees the new value, a counter counts, and
// an unread variable is only written.
// RUN: %verify
#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#scalar = #dtensor.layout<#mesh, []>

func.func @main(%v: !dtensor.variable<tensor<6x5xf32, #rows>>, %x: tensor<6x5xf32, #rows>,
                %count: !dtensor.variable<tensor<i32, #scalar>>, %last: !dtensor.variable<tensor<6x5xf32>>)
    -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<i32>) {
  %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<6x5xf32, #rows>>) -> tensor<6x5xf32>
  %1 = dtensor.add %0, %x : (tensor<6x5xf32>, tensor<6x5xf32, #rows>) -> tensor<6x5xf32>
  dtensor.assign_variable %v, %1 : !dtensor.variable<tensor<6x5xf32, #rows>>, tensor<6x5xf32>
  %2 = dtensor.read_variable %v : (!dtensor.variable<tensor<6x5xf32, #rows>>) -> tensor<6x5xf32>
  %3 = dtensor.multiply %2, %0 : tensor<6x5xf32>
  dtensor.assign_variable %last, %0 : !dtensor.variable<tensor<6x5xf32>>, tensor<6x5xf32>
  %4 = dtensor.read_variable %count : (!dtensor.variable<tensor<i32, #scalar>>) -> tensor<i32>
  %5 = dtensor.constant dense<1> : tensor<i32>
  %6 = dtensor.add %4, %5 : tensor<i32>
  dtensor.assign_variable %count, %6 : !dtensor.variable<tensor<i32, #scalar>>, tensor<i32>
  return %3, %2, %6 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<i32>
}
