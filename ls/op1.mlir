#mesh = #dtensor.mesh<x = 2>
#one = #dtensor.layout<#mesh, []>
#row = #dtensor.layout<#mesh, [*]>
#cut = #dtensor.layout<#mesh, [x]>
#rows = #dtensor.layout<#mesh, [x, *]>
#flat = #dtensor.layout<#mesh, [*, *]>
#images = #dtensor.layout<#mesh, [x, *, *, *]>
#weights = #dtensor.layout<#mesh, [*, *, *, *]>
func.func @main(%x: tensor<32768x8xf32, #flat>, %y: tensor<32768x8xf32, #rows>, %v: tensor<1x32768xf32, #flat>,
                %line: tensor<60000xf32, #cut>, %ids: tensor<32768x1xi32, #flat>, %bins: tensor<8x8xf32, #flat>,
                %in: tensor<64x16x16x3xf32, #images>, %out: tensor<64x16x16x4xf32, #images>) -> (tensor<8xf32, #row>) {
  %1 = dtensor.reduce sum %y dims [0] : (tensor<32768x8xf32, #rows>) -> tensor<8xf32, #row>
  return %1 : tensor<8xf32, #row>
}
