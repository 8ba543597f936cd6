//===- Passes.td - The passes of include/meshloom/Transforms --------------===//
//
// From a dtensor function with some layouts given to one local program with
// explicit collectives. docs/Architecture.md shows one program after each.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_TRANSFORMS_PASSES
#define MESHLOOM_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def LiftVariables : Pass<"dtensor-lift-variables", "::mlir::func::FuncOp"> {
  let summary = "Make variables arguments and results";
  let description = [{
    A variable argument becomes a tensor argument; reads become the value it
    has at that point, so that a read after an assignment sees the new value;
    each assigned variable's last value becomes an additional result. The
    argument then has the attribute `dtensor.alias`: the index of that result,
    whose memory it may share. A result that was lifted has the `dtensor.name`
    of its argument. No later pass sees a side effect.

    ```mlir
    func.func @f(%v: !dtensor.variable<tensor<4xf32>>, %x: tensor<4xf32>) {
      %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<4xf32>>) -> tensor<4xf32>
      %1 = dtensor.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      dtensor.assign_variable %v, %1 : !dtensor.variable<tensor<4xf32>>, tensor<4xf32>
      return
    }
    // becomes
    func.func @f(%v: tensor<4xf32> {dtensor.alias = 0 : i64}, %x: tensor<4xf32>)
        -> tensor<4xf32> {
      %0 = dtensor.add %v, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def SimplifyControlFlow
    : Pass<"dtensor-simplify-control-flow", "::mlir::func::FuncOp"> {
  let summary = "Bring loops and branches to a simpler form";
  let description = [{
    * A carried value that the body passes on unchanged is used from outside,
      one that nobody reads is dropped; unless the user laid it out.
    * A case with a constant index, or with one branch, becomes that branch.
    * A loop whose trip count can be proven (a counter with constant ends and
      step) gets it as the attribute `dtensor.trip_count`.
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def DistributeOps : Pass<"dtensor-distribute-ops", "::mlir::func::FuncOp"> {
  let summary = "Make ops that need a cut dim whole of ops on its blocks";
  let description = [{
    argmax, argmin, top_k, cumulative, sort and generic_reduce need a dim whole
    on every device. Where the operand is going to be cut along it (by the flow
    of axes that `--dtensor-propagate-layouts` is made of, which comes next), and
    exchanging a little costs less by `machine` than bringing the dim together,
    the op becomes ordinary ops that have rules for the blocks:

    * argmax, argmin: the best value (a reduction), then the least index that
      has it (another one);
    * top_k: the best `k` of each block, and of those the best `k`; equal ones
      stay in order of index;
    * cumulative: running values inside each block, combined with what the
      blocks before it come to.

    * sort: Leighton's columnsort over blocks (of `P` blocks of `r` elements, a
      device sends `(3 - 2 / P) r` elements and sees no more than one block),
      where `P` divides `r` and `r >= 2 (P - 1)^2`; else Batcher's merge exchange.
      The result is that of a stable sort, to the bit: the comparator must be
      recognised as an order (of integer keys, or of floats with nans behind),
      and where equal elements can differ, the places of elements decide, those
      of an iota operand or of one that is added and sent along. Blocks must be
      full;
    * generic_reduce: where accumulators are only added to (multiplied by, ...) a
      function of the elements, that function, then a `dtensor.reduce`. Where the
      op says `dtensor.associative`, as imported ones do, each block is reduced
      by a tree of elementwise ops, the few results are gathered and reduced, and
      the init counts once, at the end. Other regions stay, with the dim brought
      together.

    Blocks are the layout's own, uneven ones padded, so that cutting a dim into
    them moves nothing.

    ```mlir
    %i = dtensor.argmax %x dim 1 : (tensor<8x64xf32, #columns>) -> tensor<8xi32>
    // becomes
    %m = dtensor.reduce max %x dims [1] : (tensor<8x64xf32, #columns>) -> tensor<8xf32>
    %b = dtensor.broadcast_in_dim %m dims [0] : (tensor<8xf32>) -> tensor<8x64xf32>
    // ... where %x equals %b (or is a nan), its index, else 64
    %i = dtensor.reduce min %w dims [1] : (tensor<8x64xi32>) -> tensor<8xi32>
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"shared-memory\"",
           "preset or JSON file of the machine model">
  ];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def PropagateLayouts : Pass<"dtensor-propagate-layouts", "::mlir::func::FuncOp"> {
  let summary = "Give every value a layout, from those that the user gave";
  let description = [{
    Layouts of arguments, function results and `dtensor.constraint` never
    change. From them axes flow along the factors of the ops' sharding rules,
    forward and backward, to a fixpoint, in four stages; an axis that arrived
    earlier is never displaced:

    1. through ops whose tensors all have the same factors (elementwise,
       transpose, reshape), both ways;
    2. forward through the others but broadcasts (dots, reductions);
    3. backward and sideways through those;
    4. through broadcasts.

    Where factors of one op compete for an axis, its results' layouts come
    first, then factors that results show before reduced ones, then operands in
    order. Then every op gets its result types, exactly as the op produces them:
    partial over the axes of its reduced factors. Where all operands carry a
    reduced factor on an axis that only the result's wish wants elsewhere, the
    op reduces there (and a reduce_scatter follows). A pending reduction passes
    through an op where that is linear, it is the value's only user, and its
    result is not larger; else it is resolved before the op.

    Function results are partial only where their type says so. Constants and
    other leaves that cost nothing are laid out per use.

    Each op whose layouts use an axis gets the discardable attribute
    `dtensor.origin`, a dictionary from the axis to the annotation that it came
    from, in words: `{batch = "argument 'x' [batch, *]"}`; likewise each
    argument that had no layout. Annotations read `argument 'NAME' LAYOUT`
    (`argument #2 LAYOUT` without `dtensor.name`), `result #0 LAYOUT`,
    `constraint at FILE:LINE:COL LAYOUT`, `relayout at ... LAYOUT`.

    ```mlir
    func.func @f(%x: tensor<128x784xf32, #rows>, %w: tensor<784x700xf32, #full>)
        -> tensor<128x700xf32> {
      %0 = dtensor.matmul %x, %w : (tensor<128x784xf32, #rows>, tensor<784x700xf32, #full>) -> tensor<128x700xf32>
      return %0 : tensor<128x700xf32>
    }
    // becomes
    func.func @f(%x: tensor<128x784xf32, #rows>, %w: tensor<784x700xf32, #full>)
        -> tensor<128x700xf32, #rows> {
      %0 = dtensor.matmul %x, %w {dtensor.origin = {batch = "argument #0 [batch, *]"}}
          : (tensor<128x784xf32, #rows>, tensor<784x700xf32, #full>) -> tensor<128x700xf32, #rows>
      return %0 : tensor<128x700xf32, #rows>
    }
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def RefineLayouts : Pass<"dtensor-refine-layouts", "::mlir::func::FuncOp"> {
  let summary = "Move ops to layouts that the machine model finds cheaper";
  let description = [{
    Every value has a layout. Ops linked by identity-like rules (an optimizer's
    elementwise chain, say) form clusters. A cluster's candidates are the ways
    to put each mesh axis on one of its factors, or none; its cost is its local
    work plus the relayouts on its edges, by `machine`. Clusters are revisited
    from a worklist while the total falls; where no single move helps, adjacent
    pairs are tried once.

    What loops carry and branches give moves like any other value; what runs in
    a loop counts once for each trip (8, where their number is not known), in a
    branch of n once in n.

    Only types of ops' results change. Arguments, function results, constraints
    and relayouts never do. A move must save at least 5 % of the cost that it
    touches. A plan whose peak bytes per device exceed the given one's is not
    taken.

    A changed op gets the discardable attribute `dtensor.refined`, what its
    first result was laid out as; ops whose cluster was moved or that collectives
    are made for get `dtensor.rejected`: the best that was not chosen, in words.
    The function's `dtensor.refined` lists the predicted time before and after
    and each move, for `--explain`.

    ```mlir
    #part = #dtensor.layout<#mesh, [*, *] partial<batch: sum>>
    %dw = dtensor.dot_general %x, %dh contracting [0] x [0]
        : (tensor<128x784xf32, #rows>, tensor<128x700xf32, #rows>) -> tensor<784x700xf32, #part>
    // becomes, with machine=ring
    %dw = dtensor.dot_general %x, %dh contracting [0] x [0]
        {dtensor.refined = "[*, *] partial<batch: sum>", dtensor.rejected =
         "[*, *] partial<batch: sum>: all_reduce over [batch] of 2195200 bytes; 625.6 us against 469.3 us, 156.3 us more"}
        : (tensor<128x784xf32, #rows>, tensor<128x700xf32, #rows>) -> tensor<784x700xf32, #rows>
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"shared-memory\"",
           "preset or JSON file of the machine model">
  ];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def InsertRelayouts : Pass<"dtensor-insert-relayouts", "::mlir::func::FuncOp"> {
  let summary = "Make operands agree with how their op runs";
  let description = [{
    Every value has a layout; an op's result types say how it runs. An operand
    that is laid out otherwise gets a `dtensor.relayout`, one for each value and
    target, before its first user. The same before `return`. `constraint`
    becomes `relayout`, or nothing where the layout is right. A value needed in
    several layouts is brought to each from whichever of those is cheapest, so
    that a pending reduction is resolved once.

    A relayout that the pass inserts carries `dtensor.reason`, in words.
    Afterwards every op's operands are what its rule asks for; a target that is
    partial where the value is not is an error.
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

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
    Option<"machine", "machine", "std::string", "\"shared-memory\"",
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
    * all_reduce of all_reduce, all_gather of all_gather -> one over both axes;
    * slice of what ops make of an all_reduce's result, where nobody needs the
      whole -> the ops on slices, and then the line above;
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

def FormKernels : Pass<"spmd-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Make fused kernels of local math";
  let description = [{
    Local dtensor ops become `spmd.kernel` ops; f32 `dot_general` (a library's
    work), collectives and constants that are not splats stay.

    * Elementwise ops over one shape and layout go into one kernel, with as many
      outputs as others read; so do reductions of such values along inner dims,
      and reductions along the same dims. Reductions that include the outermost
      dim, argmax and argmin take in what only they read.
    * Moves of elements (broadcast, transpose, reshape, slice, reverse), splats
      and iota are computed by whatever reads them. So are cheap elementwise
      ops, where that reads no more memory.
    * Other dots are a kernel each; a concatenate is a kernel for each part.
    * An output takes the memory of an input of its type that it reads at the
      same index and that nothing needs afterwards; of an argument only where
      `dtensor.alias` gives the argument's memory to what the output becomes.

    ```mlir
    %1 = dtensor.broadcast_in_dim %b dims [1] : (tensor<4xf32, #b>) -> tensor<2x4xf32, #x>
    %2 = dtensor.add %x, %1 : tensor<2x4xf32, #x>
    // becomes
    %2 = spmd.kernel loops [16 over [batch], 4] ins (%x at #ij, %b at #j) outs (#ij)
        : (tensor<2x4xf32, #x>, tensor<4xf32, #b>) -> tensor<2x4xf32, #x> {
    ^bb0(%0: f32, %1: f32):
      %3 = arith.addf %0, %1 : f32
      spmd.yield %3 : f32
    }
    ```
  }];
  let dependentDialects = ["::meshloom::spmd::SPMDDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::math::MathDialect"];
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

#endif // MESHLOOM_TRANSFORMS_PASSES
