// --contract: a file of what a program may send, which --update-contract writes.
// RUN: rm -rf %t && mkdir %t
// RUN: not mesh-opt %s --contract=%t/c.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mesh-opt %s --contract=%t/c.json --update-contract 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: FileCheck %s --check-prefix=WRITTEN --match-full-lines --input-file=%t/c.json
// RUN: mesh-opt %s --contract=%t/c.json 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: mesh-opt %s --contract=%t/c.json --target=stablehlo | FileCheck %s --check-prefix=STABLEHLO
// RUN: sed 's/96/95/' %t/c.json > %t/less.json
// RUN: not mesh-opt %s --contract=%t/less.json 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: sed 's/96/97/' %t/c.json > %t/more.json
// RUN: mesh-opt %s --contract=%t/more.json 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: sed 's/sum/other/' %t/c.json > %t/other.json
// RUN: not mesh-opt %s --contract=%t/other.json 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: mesh-opt %s --contract=%t/other.json --update-contract 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: FileCheck %s --check-prefix=ADDED --input-file=%t/other.json
// RUN: echo '{"sum": [{"axes": ["x"]}]}' > %t/wrong.json
// RUN: not mesh-opt %s --contract=%t/wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not mesh-opt %s --contract=%t/c.json --dtensor-partition 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: not mesh-opt %s --update-contract 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not mesh-opt %s --contract=%t --update-contract 2>&1 | FileCheck %s --check-prefix=FOLDER

// SILENT-NOT: {{.}}
// NONE: cannot read '{{.*}}c.json': No such file or directory; --update-contract writes the contract of a program
// WRITTEN: {
// WRITTEN-NEXT:   "sum": [
// WRITTEN-NEXT:     {"collective":"all_reduce","axes":["x"],"count":1,"bytes":96}
// WRITTEN-NEXT:   ]
// WRITTEN-NEXT: }
// STABLEHLO: stablehlo.all_reduce
// BROKEN: mesh-opt-contract.mlir:[[#@LINE+21]]:8: error: the program breaks its contract: it has 1 all_reduce over [x] in a step, which sends 96 bytes; the contract allows 95 bytes
// BROKEN: note: tensor<16xf32> at {{.*}} for dtensor.reduce: [*] partial<x: sum> -> [*], 64 bytes; why: {{.*}} from argument #0 [x, *]
// BROKEN-NEXT: note: the program keeps its contract if argument #0 has {{.*}} instead of [x, *]; a step then takes a predicted {{.*}}
// BROKEN-NEXT: less.json, @sum:
// BROKEN-NEXT: - all_reduce over [x]: 1 in a step, 95 bytes
// BROKEN-NEXT: + all_reduce over [x]: 1 in a step, 96 bytes
// MORE: more.json, @sum: the program sends less than its contract allows (--update-contract writes what it sends):
// MORE-NEXT: - all_reduce over [x]: 1 in a step, 97 bytes
// MORE-NEXT: + all_reduce over [x]: 1 in a step, 96 bytes
// OTHER: contract '{{.*}}other.json' says nothing of the function @sum; --update-contract adds it
// ADDED: "other": [
// ADDED: "sum": [
// WRONG: contract '{{.*}}wrong.json': @sum: the entry {"axes":["x"]} names no kind of collective: add "collective"
// PASSES: --target, --contract, --predict, --what-if, --pipeline, --suggest, --auto-layout, --accumulate-gradients and --explain=FILE compile with passes of their own: name none beside them
// NOFILE: --update-contract needs the file that it writes: name it with --contract
// FOLDER: mesh-opt: {{.*}}directory

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#vector = #dtensor.layout<#mesh, [*]>
func.func @sum(%a: tensor<8x16xf32, #rows>) -> tensor<16xf32, #vector> {
  %0 = dtensor.reduce sum %a dims [0] : (tensor<8x16xf32, #rows>) -> tensor<16xf32>
  %1 = dtensor.constraint %0 : (tensor<16xf32>) -> tensor<16xf32, #vector>
  return %1 : tensor<16xf32, #vector>
}
