// The training step that everything is measured by.
// RUN: mesh-opt %S/../Programs/mnist_mlp_step.mlir --dtensor-partition=machine=ring --explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=RING
// RUN: mesh-opt %S/../Programs/mnist_mlp_step.mlir --dtensor-partition=machine=shared-memory | FileCheck %s --check-prefix=SHARED

// At most 2.4 MB sent by each device; the rejected all_reduce has a name.
// RING: @main on ring: 4 collectives, 2333051 bytes sent by each device
// RING: rejected: [*, *] partial<batch: sum>: all_reduce over [batch] of 2195200 bytes

// No gradient is reduced: what is reduced is the loss.
// SHARED-NOT: spmd.reduce_scatter
// SHARED-NOT: spmd.all_reduce
// SHARED: spmd.all_reduce sum over [batch] %{{[0-9]+}} {bytes = 4 : i64
// SHARED-NOT: spmd.reduce_scatter
// SHARED-NOT: spmd.all_reduce
