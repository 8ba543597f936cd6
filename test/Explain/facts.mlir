// --explain=FILE.json writes the facts of the page; docs/Explain.md lists them.
// RUN: mesh-opt %s --explain=%t.json
// RUN: FileCheck %s < %t.json

// The axes of the mesh, and the tensors.
// CHECK: "version": 1,
// CHECK: "name": "x",
// CHECK-NEXT: "size": 2
// CHECK: "arguments": [
// CHECK: "name": "rows",
// CHECK-NEXT: "tensor": 0
// CHECK: "tensors": [
// CHECK-NEXT: {
// CHECK-NEXT: "name": "rows",
// CHECK-NEXT: "type": "f32",
// CHECK: "local_shape": [
// CHECK-NEXT: 3,
// CHECK-NEXT: 4
// CHECK-NEXT: ],
// CHECK-NEXT: "bytes": 48

// Rows of x are 0 to 2 on the first device, and 3 and 4 on the second.
// RUN: python3 -c "import json; p = json.load(open('%t.json'))['programs'][0]; print(p['tensors'][0]['cuts'], p['cuts'])" | FileCheck %s --check-prefix=CUTS
// CUTS: [0, -1] {{.}}{{.}}[0, 3], [3, 5]]

// Steps name their scope, place and collective.
// CHECK: "steps": [
// CHECK: "scope": "encoder/block_0",
// CHECK-NEXT: "source": "model.py:5:3",
// CHECK: "collective": 0

// Neighbours of one scope are a fold.
// CHECK: "folds": [
// CHECK: "fold": "scope",
// CHECK-NEXT: "name": "encoder",
// CHECK: "fold": "scope",
// CHECK-NEXT: "name": "block_0",

// The chain of causes and the rejected plan.
// CHECK: "collectives": [
// CHECK: "kind": "all_reduce",
// CHECK: "reduce": "sum",
// CHECK: "reason": "{{.*}} 'x' from argument 'rows' [x, *]{{.*}}",
// CHECK-NEXT: "rejected":
// CHECK: "prediction": {
// CHECK: "machine": "ring",

// A source that is not there has no lines.
// CHECK: "sources": []

// The machine may be a different one, and the prediction stands beside the file.
// RUN: mesh-opt %s --machine=gpu:h100 --explain=%t.html --predict | FileCheck %s --check-prefix=BOTH
// BOTH: @main on 2 devices of gpu:h100
// RUN: FileCheck %s --check-prefix=PAGE < %t.html
// PAGE: <!doctype html>
// PAGE-NOT: {{src=|https?://[^w]|@import}}
// PAGE: "machine":"gpu:h100"

// What a run measured stands beside the prediction.
// RUN: mesh-run %s --profile --explain=%t.run.json | FileCheck %s --check-prefix=RAN
// RUN: FileCheck %s --check-prefix=MEASURED < %t.run.json
// RAN: result 0
// MEASURED: "measured": {
// MEASURED: "events": [
// MEASURED: "worker":

// RUN: not mesh-opt %s --explain=%t.txt 2>&1 | FileCheck %s --check-prefix=ENDING
// RUN: not mesh-run %s --explain=%t.txt 2>&1 | FileCheck %s --check-prefix=ENDING
// ENDING: cannot write an explanation to '{{.*}}.txt': expected a file that ends in .html, for a page, or in .json, for its facts
// RUN: not mesh-opt %s --explain=%t.none/x.html 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: mesh-opt: cannot write '{{.*}}x.html'
// RUN: not mesh-opt %s --explain=%t.html --what-if=devices=2..4 2>&1 | FileCheck %s --check-prefix=WHAT-IF
// WHAT-IF: mesh-opt: --explain=FILE explains one program whose steps Meshloom plans
// RUN: not mesh-opt %s --explain=%t.html --target=stablehlo 2>&1 | FileCheck %s --check-prefix=NO-STEPS
// NO-STEPS: plans its steps itself
// RUN: not mesh-opt %s --explain=%t.html --canonicalize 2>&1 | FileCheck %s --check-prefix=PASSES
// PASSES: name none beside them

// A loop is a fold, with its condition. The lines of a source that is there are
// in the facts.
// RUN: mesh-opt %S/../Programs/scan_over_layers.mlir --explain=%t.loop.json
// RUN: FileCheck %s --check-prefix=LOOP < %t.loop.json
// LOOP: "fold": "loop",
// LOOP-NEXT: "name": "loop of 6 turns",
// LOOP-NEXT: "step": {{[0-9]+}},
// LOOP: "fold": "condition",
// LOOP: "sources": [
// LOOP: "file": "{{.*}}scan_over_layers.mlir",
// LOOP: = dtensor.matmul

// A long list of equal parts is a fold of parts.
// RUN: python3 -c "print('func.func @main(%%v0: tensor<8x8xf32>, %%w: tensor<8x8xf32>) -> tensor<8x8xf32> {\n' + ''.join(f'%%p{i} = dtensor.matmul %%v{i}, %%w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n%%v{i + 1} = dtensor.tanh %%p{i} : tensor<8x8xf32>\n' for i in range(12)) + 'return %%v12 : tensor<8x8xf32>\n}')" > %t.long.mlir
// RUN: mesh-opt %t.long.mlir --explain=%t.long.json
// RUN: FileCheck %s --check-prefix=LONG < %t.long.json
// LONG: "fold": "repeat",
// LONG-NEXT: "name": "12 equal parts",
// LONG: "name": "part 12",

// A program without a mesh and without steps has its facts.
// RUN: echo 'func.func @main(%%x: tensor<f32>) -> tensor<f32> { return %%x : tensor<f32> }' > %t.empty.mlir
// RUN: mesh-opt %t.empty.mlir --explain=%t.empty.json
// RUN: FileCheck %s --check-prefix=EMPTY < %t.empty.json
// EMPTY: "axes": [],
// EMPTY: "steps": [],
// EMPTY-NEXT: "folds": [],
// EMPTY-NEXT: "collectives": [],

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#vector = #dtensor.layout<#mesh, [*]>
#w = #dtensor.layout<#mesh, [*, *]>
func.func @main(%rows: tensor<5x4xf32, #rows> {dtensor.name = "rows"}, %w: tensor<4x4xf32, #w>) -> tensor<4xf32, #vector> {
  %0 = dtensor.matmul %rows, %w : (tensor<5x4xf32, #rows>, tensor<4x4xf32, #w>) -> tensor<5x4xf32> loc(fused<"encoder/block_0">["model.py":5:3])
  %1 = dtensor.matmul %0, %w : (tensor<5x4xf32>, tensor<4x4xf32, #w>) -> tensor<5x4xf32> loc(fused<"encoder/block_0">["model.py":6:3])
  %2 = dtensor.reduce sum %1 dims [0] : (tensor<5x4xf32>) -> tensor<4xf32> loc(fused<"encoder/block_1">["model.py":7:3])
  %3 = dtensor.constraint %2 : (tensor<4xf32>) -> tensor<4xf32, #vector>
  return %3 : tensor<4xf32, #vector>
}
