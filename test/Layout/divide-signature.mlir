// Callers that take shards of one size get them: a dim keeps the axes that
// divide it, and the program the layouts that it had.
// RUN: mesh-opt %s --dtensor-divide-signature --split-input-file | FileCheck %s

#both = #dtensor.layout<#dtensor.mesh<a = 4, b = 2>, [{a, b}]>

// Of 8 shards of 4 elements half would be empty, and of 16 none is.
// CHECK-DAG: #[[BOTH:.*]] = #dtensor.layout<#mesh, [{a, b}]>
// CHECK-DAG: #[[FIRST:.*]] = #dtensor.layout<#mesh, [a]>
// CHECK-LABEL: func.func @divided
// CHECK-SAME: %arg0: tensor<4xf32, #[[FIRST]]>, %arg1: tensor<16xf32, #[[BOTH]]>) -> (tensor<4xf32, #[[FIRST]]>, tensor<16xf32, #[[BOTH]]>)
// CHECK-NEXT: %[[IN:.*]] = dtensor.constraint %arg0 : (tensor<4xf32, #[[FIRST]]>) -> tensor<4xf32, #[[BOTH]]>
// CHECK-NEXT: %[[TANH:.*]] = dtensor.tanh %[[IN]]
// CHECK-NEXT: %[[OUT:.*]] = dtensor.constraint %[[TANH]] : (tensor<4xf32, #[[BOTH]]>) -> tensor<4xf32, #[[FIRST]]>
// CHECK-NEXT: return %[[OUT]], %arg1
module attributes {dtensor.even_signature} {
  func.func @divided(%x: tensor<4xf32, #both>, %y: tensor<16xf32, #both>)
      -> (tensor<4xf32, #both>, tensor<16xf32, #both>) {
    %tanh = dtensor.tanh %x : (tensor<4xf32, #both>) -> tensor<4xf32, #both>
    return %tanh, %y : tensor<4xf32, #both>, tensor<16xf32, #both>
  }
}

// -----

#both = #dtensor.layout<#dtensor.mesh<a = 4, b = 2>, [{a, b}]>

// No axis divides 5.
// CHECK-LABEL: func.func @replicated
// CHECK-SAME: %arg0: tensor<5xf32, #layout_u>
module attributes {dtensor.even_signature} {
  func.func @replicated(%x: tensor<5xf32, #both>) -> tensor<5xf32, #both> {
    return %x : tensor<5xf32, #both>
  }
}

// -----

#mesh = #dtensor.mesh<a:(1)2 = 2, a:(2)4 = 4, b = 2>
#parts = #dtensor.layout<#mesh, [{b, a:(1)2}, a:(2)4]>
#whole = #dtensor.layout<#mesh, [{a, b}, *]>

// A caller has no name for a part of an axis.
// CHECK-DAG: #[[PARTS:.*]] = #dtensor.layout<#mesh, [{b, a:(1)2}, a:(2)4]>
// CHECK-DAG: #[[WHOLE:.*]] = #dtensor.layout<#mesh, [{a, b}, *]>
// CHECK-DAG: #[[FIRST:.*]] = #dtensor.layout<#mesh, [b, *]>
// CHECK-LABEL: func.func @whole_axes
// CHECK-SAME: -> (tensor<16x4xf32, #[[FIRST]]>, tensor<16x4xf32, #[[WHOLE]]>)
// A program that names no axes has no axis that a part could be of.
// CHECK-LABEL: func.func @no_names
// CHECK-SAME: -> tensor<16x4xf32, #[[PARTS]]>
module attributes {dtensor.even_signature} {
  func.func @whole_axes(%x: tensor<16x4xf32, #parts>,
                        %y: tensor<16x4xf32, #whole>)
      -> (tensor<16x4xf32, #parts>, tensor<16x4xf32, #whole>)
      attributes {dtensor.meshes = [#dtensor.mesh<a = 8, b = 2>]} {
    return %x, %y : tensor<16x4xf32, #parts>, tensor<16x4xf32, #whole>
  }
  func.func @no_names(%x: tensor<16x4xf32, #parts>) -> tensor<16x4xf32, #parts> {
    return %x : tensor<16x4xf32, #parts>
  }
}

// -----

#both = #dtensor.layout<#dtensor.mesh<a = 4, b = 2>, [{a, b}]>

// Other callers take what there is.
// CHECK-LABEL: func.func @uneven
// CHECK-SAME: tensor<4xf32, #layout_ab>) -> tensor<4xf32, #layout_ab>
func.func @uneven(%x: tensor<4xf32, #both>) -> tensor<4xf32, #both> {
  return %x : tensor<4xf32, #both>
}

// -----

#mesh = #dtensor.mesh<x = 2, y:(1)2 = 2, y:(2)2 = 2>
#other = #dtensor.layout<#mesh, [y:(2)2, {x, y:(1)2}]>

// A part of an axis of one mesh is an axis of the other one.
// CHECK-DAG: #[[OTHER:.*]] = #dtensor.layout<#mesh, [y:(2)2, {x, y:(1)2}]>
// CHECK-LABEL: func.func @axes_of_the_other_mesh
// CHECK-SAME: -> tensor<8x8xf32, #[[OTHER]]>
module attributes {dtensor.even_signature} {
  func.func @axes_of_the_other_mesh(%x: tensor<8x8xf32, #other>)
      -> tensor<8x8xf32, #other>
      attributes {dtensor.meshes = [#dtensor.mesh<x = 2, y = 4>,
                                    #dtensor.mesh<x = 4, y = 2>]} {
    return %x : tensor<8x8xf32, #other>
  }
}
