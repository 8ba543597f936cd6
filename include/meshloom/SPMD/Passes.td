// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - The passes of include/meshloom/SPMD -------------------===//
//
// A laid out function becomes one device's, with explicit collectives.
// docs/Pipeline.md shows one program after each.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_SPMD_PASSES
#define MESHLOOM_SPMD_PASSES

include "mlir/Pass/PassBase.td"

def ExpandToSPMD : Pass<"dtensor-expand-to-spmd", "::mlir::func::FuncOp"> {
  let summary = "Turn global tensors into shards and relayouts into collectives";
  let description = [{
    One in-place walk: the type of every value becomes the shard that one device
    holds, and each `relayout` the cheapest chain of collectives on `machine`.
    Where an op reads beyond a device's block, as its rule's windows say (a
    convolution's border, a shifted slice), a `spmd.halo_exchange` in front of it
    gives every device the range that it reads; one brings all that one op needs
    of several values, or several ops of one. Collectives carry `reason` (why they
    are there), `bytes` (of one device's result) and `dtensor.origin`.

    ```mlir
    %1 = dtensor.relayout %0 : (tensor<4x4xf32, #partial>) -> tensor<4x4xf32, #full>
    // becomes
    %1 = spmd.all_reduce sum over [batch] %0 {bytes = 64 : i64, reason = "..."}
       : (tensor<4x4xf32, #spmd.shard<[4, 4], #partial>>) -> tensor<4x4xf32, #spmd.shard<[4, 4], #full>>

    %2 = dtensor.slice %0 [1:8] : (tensor<8xf32, #rows>) -> tensor<7xf32, #rows>
    // becomes: of two devices, the first one gets element 4
    %2 = spmd.halo_exchange over [x] %0 {bytes = 4 : i64, reason = "..."}
       : (tensor<4xf32, #spmd.shard<[8], #rows>>) -> tensor<4xf32, #spmd.shard<[8], #rows, windows [[1:5, 5:8]]>>
    %3 = dtensor.slice %2 [1:8] : ...
    ```
  }];
  let options = [
    Option<"machine", "machine", "::meshloom::MachineModel",
           "::meshloom::MachineModel()",
           "preset or JSON file of the machine model that prices the chains">
  ];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect",
                           "::meshloom::spmd::SPMDDialect"];
}

def SimplifyCollectives : Pass<"spmd-simplify-collectives", "::mlir::func::FuncOp"> {
  let summary = "Drop, fold and merge collectives of one value";
  let description = [{
    * all_reduce whose only uses slice it -> reduce_scatter;
    * slice after the all_gather it undoes, and the reverse -> nothing;
    * what moves a slice of a value to another part of that value -> a slice of
      the value;
    * all_reduce of all_reduce, all_gather of all_gather -> one over both axes;
    * slice of the result of an op that sums nothing up, or that comes from an
      all_reduce, where nobody needs the whole -> the op on slices;
    * two reductions used only by one op that is linear in both (the add of sums,
      the maximum of maxima) -> the reduction of what it makes of the addends;
    * equal collectives of one value -> one; unused ones -> none.
  }];
  let dependentDialects = ["::meshloom::spmd::SPMDDialect"];
}

def HoistCollectives : Pass<"spmd-hoist-collectives", "::mlir::func::FuncOp"> {
  let summary = "Take collectives out of loops";
  let description = [{
    * A collective whose operands do not change in a loop moves in front of the
      loop, with the ops that make them.
    * An all_reduce by sum whose result is only added to a carried value that
      nothing else reads, perhaps through ops that are linear in it, is made
      once, after the loop; inside, the carried value is partial and starts at
      zero. Sums are so made in another order.
    * Where a loop goes on while any device has elements that are not done, and
      devices whose elements are all done keep what they have (a while under
      vmap, one in shard_map), none asks the others: the condition is partial
      by `or`, and a device may leave the loop by itself.

    ```mlir
    %r = dtensor.while (%zero) ... do {
    ^bb0(%sum: tensor<4xf32, #full>):
      %g = spmd.all_reduce sum over [batch] %part : (tensor<4xf32, #part>) -> tensor<4xf32, #full>
      %n = dtensor.add %sum, %g : tensor<4xf32, #full>
      dtensor.yield %n : tensor<4xf32, #full>
    }
    // becomes
    %s = dtensor.while (%zeros) ... do {
    ^bb0(%sum: tensor<4xf32, #part>):
      %n = dtensor.add %sum, %part : tensor<4xf32, #part>
      dtensor.yield %n : tensor<4xf32, #part>
    }
    %r = spmd.all_reduce sum over [batch] %s : (tensor<4xf32, #part>) -> tensor<4xf32, #full>
    ```
  }];
  let dependentDialects = ["::meshloom::spmd::SPMDDialect"];
}

def CombineCollectives : Pass<"spmd-combine-collectives", "::mlir::func::FuncOp"> {
  let summary = "Make one collective of independent ones of the same kind";
  let description = [{
    A collective's level is the longest chain of collectives that it depends on.
    Reductions of one level, over the same axes, of the same kind and element
    type, become one variadic op at the place of the last; users of the others
    move behind it. Equal levels cannot depend on each other and merged ones
    depend on lower levels only, so the order stays acyclic. Collectives that
    move data without reducing are merged only where no user of the earlier one
    has to wait for it: gathering every weight of a deep network at once would
    hold all of them in memory. No combined one is larger than the options say:
    the first of them can then run while what the next one needs is computed,
    and the values need not all be there at a time.
  }];
  let options = [
    Option<"mostBytes", "most-bytes", "int64_t", "33554432",
           "bytes of one device's results that one collective may have; 0: any">,
    Option<"mostValues", "most-values", "int64_t", "0",
           "values that one collective may have; 0: any">
  ];
  let dependentDialects = ["::meshloom::spmd::SPMDDialect"];
}

def ExplainCollectives : Pass<"spmd-explain-collectives", "::mlir::func::FuncOp"> {
  let summary = "Print why each collective is there, and what it costs";
  let description = [{
    Changes nothing. For each collective of the function, to the standard error:
    where it comes from, the op that it is for, layouts before and after, bytes,
    time by the machine model that `--dtensor-expand-to-spmd` used, the user's
    annotation that its axes follow from, and what refinement rejected. Then the
    moves that refinement made.
  }];
}

def CheckContract : Pass<"spmd-check-contract", "::mlir::func::FuncOp"> {
  let summary = "Fail where a program sends what its contract does not allow";
  let description = [{
    Changes nothing. A function with the attribute `dtensor.contract`, a list of
    what it may send, fails where a collective of its local program is of a kind
    and over axes that no entry names, or where those of one entry are more in a
    step, or send more bytes, than the entry says. A collective in a loop counts
    each time; where the number of turns is not known, no limit holds. The error
    names the collectives and the annotations that they follow from. A function
    without the attribute may send anything.

    ```mlir
    func.func @step(...) attributes {dtensor.contract = [
      {collective = "all_reduce", axes = ["batch"], count = 1, bytes = 4263}
    ]} {
    ```
  }];
}

#endif // MESHLOOM_SPMD_PASSES
