// Machine code for a lesser processor than this one, which may be another's.
// REQUIRES: x86_64
// RUN: rm -rf %t && mkdir -p %t
// RUN: env MESHLOOM_CPU=x86-64-v2 mesh-run %s --emit-program=%t/f.mlprog --output-dir=%t/made
// RUN: mesh-run %t/f.mlprog --output-dir=%t/saved
// RUN: cmp %t/made/result_0.npy %t/saved/result_0.npy
// The code itself has no wider vectors, and says what it needs.
// RUN: grep -ac 'sse4.2,popcnt' %t/f.mlprog
// RUN: not grep -ac 'avx' %t/f.mlprog
// RUN: env MESHLOOM_CPU=x86-64-v2 mesh-run %s --verify
// RUN: not env MESHLOOM_CPU=pentium9 mesh-run %s 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: mesh-run: error: MESHLOOM_CPU is 'pentium9', which is not an x86-64 processor: take x86-64-v2,
func.func @f(%x: tensor<64x33xf32, #dtensor.layout<#dtensor.mesh<x = 2, y = 2>, [x, *]>>) -> tensor<64xf32> {
  %0 = dtensor.tanh %x : tensor<64x33xf32, #dtensor.layout<#dtensor.mesh<x = 2, y = 2>, [x, *]>>
  %1 = dtensor.reduce sum %0 dims [1] : (tensor<64x33xf32, #dtensor.layout<#dtensor.mesh<x = 2, y = 2>, [x, *]>>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
