// Sums of bf16 and f16 over devices are accumulated in f32: many addends of one
// size, in all_reduce and in reduce_scatter.
// RUN: %verify
// LLVM's remarks about the loops of its kernels are not shown.
// RUN: env MESHLOOM_CACHE=off mesh-run %s 2>&1 | not grep remark
#mesh = #dtensor.mesh<x = 8>
#cut = #dtensor.layout<#mesh, [x, *]>
#row = #dtensor.layout<#mesh, [x]>
#full = #dtensor.layout<#mesh, [*]>
#sum = #dtensor.layout<#mesh, [*] partial<x: sum>>

func.func @main(%a: tensor<2000x9xbf16, #cut>, %b: tensor<2000x9xf16, #cut>, %c: tensor<9xbf16, #sum>, %d: tensor<9xf16, #sum>)
    -> (tensor<9xbf16, #full>, tensor<9xf16, #row>, tensor<9xbf16, #full>, tensor<9xf16, #row>) {
  %0 = dtensor.exp %a : (tensor<2000x9xbf16, #cut>) -> tensor<2000x9xbf16>
  %1 = dtensor.reduce sum %0 dims [0] : (tensor<2000x9xbf16>) -> tensor<9xbf16>
  %2 = dtensor.constraint %1 : (tensor<9xbf16>) -> tensor<9xbf16, #full>
  %3 = dtensor.reduce sum %b dims [0] : (tensor<2000x9xf16, #cut>) -> tensor<9xf16>
  %4 = dtensor.constraint %3 : (tensor<9xf16>) -> tensor<9xf16, #row>
  %5 = dtensor.constraint %c : (tensor<9xbf16, #sum>) -> tensor<9xbf16, #full>
  %6 = dtensor.constraint %d : (tensor<9xf16, #sum>) -> tensor<9xf16, #row>
  return %2, %4, %5, %6 : tensor<9xbf16, #full>, tensor<9xf16, #row>, tensor<9xbf16, #full>, tensor<9xf16, #row>
}
