// A constant of few bits may have no elements, or one number for more elements than memory holds.
// RUN: mesh-opt %s --stablehlo-to-dtensor | FileCheck %s
// CHECK-LABEL: func.func @empty
// CHECK: dense<{{.*}}> : tensor<2x0x3xi8>
// CHECK: dense<{{.*}}> : tensor<0xui8>
// CHECK: dense<{{.*}}> : tensor<0x2xi8>
// CHECK: dense<{{.*}}> : tensor<3x0xui8>
// CHECK: dense<{{.*}}> : tensor<0xui8>
func.func @empty() -> (tensor<2x0x3xi4>, tensor<0xui4>, tensor<0x2xi2>, tensor<3x0xui2>, tensor<0xf8E5M2>) {
  %0 = stablehlo.constant dense<2> : tensor<2x0x3xi4>
  %1 = stablehlo.constant dense<> : tensor<0xui4>
  %2 = stablehlo.constant dense<1> : tensor<0x2xi2>
  %3 = stablehlo.constant dense<> : tensor<3x0xui2>
  %4 = stablehlo.constant dense<1.0> : tensor<0xf8E5M2>
  return %0, %1, %2, %3, %4 : tensor<2x0x3xi4>, tensor<0xui4>, tensor<0x2xi2>, tensor<3x0xui2>, tensor<0xf8E5M2>
}

// CHECK-LABEL: func.func @large
// CHECK: dense<-1> : tensor<1099511627776xi8>
// CHECK: dense<60> : tensor<1099511627776xui8>
func.func @large() -> (tensor<1099511627776xi4>, tensor<1099511627776xf8E5M2>) {
  %0 = stablehlo.constant dense<-1> : tensor<1099511627776xi4>
  %1 = stablehlo.constant dense<1.0> : tensor<1099511627776xf8E5M2>
  return %0, %1 : tensor<1099511627776xi4>, tensor<1099511627776xf8E5M2>
}
