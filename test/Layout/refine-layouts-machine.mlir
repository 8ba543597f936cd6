// A machine that does not exist is an error that lists those that do.
// RUN: not mesh-opt %s --dtensor-refine-layouts=machine=torus 2>&1 | FileCheck %s
// CHECK: unknown machine model 'torus': expected shared-memory, ring, ring-latency, gpu:h100, gpu:h200, gpu:a100, cpu:tcp, tpu:TOPOLOGY, or a JSON file: cannot read 'torus'

// The same where a pipeline hands it on.
// RUN: not mesh-opt %s --dtensor-partition=machine=torus 2>&1 | FileCheck %s

// A file is read once, where the option is; a printed pipeline says what it
// held, and can be read again.
// RUN: echo '{"preset": "ring", "name": "two racks", "links": {"x": {"latency_ps": 7}}}' > %t.json
// RUN: mesh-opt %s --pass-pipeline='builtin.module(func.func(dtensor-refine-layouts{machine=%t.json},dtensor-insert-relayouts,dtensor-expand-to-spmd{machine=ring}))' --dump-pass-pipeline -o /dev/null 2> %t.pipeline
// RUN: FileCheck %s --check-prefix=PRINTED < %t.pipeline
// PRINTED: dtensor-refine-layouts{{[{].*}}machine={{[{][{]}}{{.*}}"links":{"x":{{.*}}"bytes_per_second":10000000000,"latency_ps":7}}{{.*}}"name":"two racks"
// PRINTED-SAME: dtensor-expand-to-spmd{machine=ring}
// RUN: rm %t.json
// RUN: sed -n "s/^builtin.*$/--pass-pipeline=\x27&\x27/p" %t.pipeline > %t.again
// RUN: mesh-opt %s @%t.again --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: "name":"two racks"

#rows = #dtensor.layout<#dtensor.mesh<x = 2>, [x]>
func.func @f(%x: tensor<4xf32, #rows>) -> tensor<4xf32, #rows> {
  return %x : tensor<4xf32, #rows>
}
