// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Public functions of one module may be on meshes of different numbers of
// devices: a tool that compiles one of them takes that one, and what it calls.
//
// RUN: mesh-run %s --verify | FileCheck %s --check-prefix=MAIN
// RUN: mesh-run %s --function=other --verify | FileCheck %s --check-prefix=OTHER
// RUN: mesh-opt %s --target=cpu --function=other | FileCheck %s --check-prefix=TEXT

sdy.mesh @four = <["x"=4]>
sdy.mesh @eight = <["x"=8]>

// MAIN: result 0 f32{{\[}}8{{\]}}
// MAIN: : ok
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@four, [{"x"}]>}) -> tensor<8xf32> {
  %0 = func.call @twice(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func public @twice(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// OTHER: result 0 f32{{\[}}16{{\]}}
// TEXT: x = 8
// TEXT-NOT: x = 4
func.func public @other(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@eight, [{"x"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}
