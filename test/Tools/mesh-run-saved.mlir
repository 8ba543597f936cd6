// A saved program runs without its source, to the same bits.
// RUN: rm -rf %t && mkdir -p %t
// RUN: mesh-run %s --emit-program=%t/f.mlprog --function=second --output-dir=%t/source
// RUN: mesh-run %t/f.mlprog --output-dir=%t/saved
// RUN: cmp %t/source/result_0.npy %t/saved/result_0.npy
// RUN: mesh-run %t/f.mlprog --private-memories --output-dir=%t/private
// RUN: cmp %t/source/result_0.npy %t/private/result_0.npy
// Native code runs when it is loaded: only a name or a flag that says so loads it.
// RUN: cp %t/f.mlprog %t/other.name
// RUN: not mesh-run %t/other.name 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: mesh-run: error: '{{.*}}other.name' is a saved program: it holds native code that runs when it is loaded. If you trust it, give --saved or name it .mlprog
// RUN: mesh-run --saved %t/other.name --output-dir=%t/renamed
// RUN: cmp %t/source/result_0.npy %t/renamed/result_0.npy
// RUN: not mesh-run %t/f.mlprog --auto-layout 2>&1 | FileCheck %s --check-prefix=SOURCE
// RUN: head -c 100 %t/f.mlprog > %t/short.mlprog
// RUN: not mesh-run %t/short.mlprog 2>&1 | FileCheck %s --check-prefix=SHORT
// SOURCE: mesh-run: error: --verify, --explain, --suggest, --function, --auto-layout, --accumulate-gradients, --no-refine, --deterministic and --emit-program need the program's source; '{{.*}}f.mlprog' is a compiled one
// SHORT: mesh-run: error: {{.*}}short.mlprog: {{.}}
#mesh = #dtensor.mesh<x = 2, y = 2>
#rows = #dtensor.layout<#mesh, [x, y]>

func.func @first(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @second(%x: tensor<5x3xf32, #rows>) -> tensor<5xf32> {
  %huge = dtensor.constant dense<1.0e+20> : tensor<5x3xf32, #rows>
  %large = dtensor.multiply %x, %huge : tensor<5x3xf32, #rows>
  %0 = dtensor.sine %large : tensor<5x3xf32, #rows>
  %1 = dtensor.reduce sum %0 dims [1] : (tensor<5x3xf32, #rows>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}
