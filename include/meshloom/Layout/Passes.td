// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - The passes of include/meshloom/Layout -----------------===//
//
// Every value gets a layout, and operands one that their op can use.
// docs/Pipeline.md shows one program after each.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_LAYOUT_PASSES
#define MESHLOOM_LAYOUT_PASSES

include "mlir/Pass/PassBase.td"

def UnifyMeshes : Pass<"dtensor-unify-meshes", "::mlir::func::FuncOp"> {
  let summary = "Bring the layouts of a function to one mesh";
  let description = [{
    Layouts of a function may be over several meshes: they number the same
    devices, position 0 of one being position 0 of the others, and so on. The
    pass rewrites all layouts, in types and wishes, to axes of the meshes' common
    refinement, whose axes are those of the first mesh that something is cut
    over, or parts of them. Meshes that nothing is cut over take no part in it;
    what is on a mesh of one device is then on every device. Axes of one device
    cut nothing and are left out, of one mesh too. Later passes see one mesh.

    Arguments and results remember what was written as `dtensor.written`, which
    is what the program's signature says: its parts on each device are the same.
    Where they are not (a dim that its axes do not divide, over an axis that is
    cut), and where a layout was on one device, the function's `dtensor.notes`
    say so, for `--explain`. `dtensor.meshes` lists the meshes: a result that
    nobody laid out is told on the first of them that has axes for it.

    It is an error where meshes have different numbers of devices or no common
    refinement (2 x 3 and 3 x 2).

    ```mlir
    #a = #dtensor.mesh<x = 2, y = 4>
    #b = #dtensor.mesh<p = 4, q = 2>
    func.func @f(%x: tensor<8x4xf32, #dtensor.layout<#a, [y, *]>>,
                 %y: tensor<8x4xf32, #dtensor.layout<#b, [p, *]>>) -> tensor<8x4xf32>
    // becomes
    #both = #dtensor.mesh<x = 2, y:(1)2 = 2, y:(2)2 = 2>
    func.func @f(
        %x: tensor<8x4xf32, #dtensor.layout<#both, [y, *]>>
            {dtensor.written = #dtensor.layout<#a, [y, *]>},
        %y: tensor<8x4xf32, #dtensor.layout<#both, [{x, y:(1)2}, *]>>
            {dtensor.written = #dtensor.layout<#b, [p, *]>}) -> tensor<8x4xf32>
        attributes {dtensor.meshes = [#a, #b]}

    #c = #dtensor.mesh<x = 2, y = 1>
    func.func @g(%x: tensor<8x4xf32, #dtensor.layout<#c, [x, y]>>)
    // becomes
    #d = #dtensor.mesh<x = 2>
    func.func @g(%x: tensor<8x4xf32, #dtensor.layout<#d, [x, *]>>
                     {dtensor.written = #dtensor.layout<#c, [x, y]>})
        attributes {dtensor.meshes = [#c]}
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def DistributeOps : Pass<"dtensor-distribute-ops", "::mlir::func::FuncOp"> {
  let summary = "Make ops that need a cut dim whole of ops on its blocks";
  let description = [{
    argmax, argmin, top_k, cumulative, sort and generic_reduce need a dim whole
    on every device. Where the flow of axes in `--dtensor-propagate-layouts`,
    which comes next, is going to cut the operand along that dim, and exchanging
    a little costs less by `machine` than bringing the dim together, the op
    becomes ordinary ops that have rules for the blocks:

    * argmax, argmin: the best value, then the least index that has this value:
      two reductions;
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

    Blocks are those of the layout, uneven ones padded, so that cutting a dim
    into them moves nothing.

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
    Option<"machine", "machine", "::meshloom::MachineModel",
           "::meshloom::MachineModel()",
           "preset or JSON file of the machine model">
  ];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def AutoLayout : Pass<"dtensor-auto-layout", "::mlir::func::FuncOp"> {
  let summary = "Find layouts of arguments that take the least time";
  let description = [{
    Arguments that nobody laid out get layouts. The pass lays them out in
    several ways: each mesh axis cuts nothing, the inputs along their first dim,
    the state (arguments with `dtensor.alias`) along its largest dim, or both. From each
    of these starts it propagates layouts through a copy of the function and
    lets the search of `--dtensor-refine-layouts` move all layouts, those of the
    arguments as well, while that takes less time by `machine`. The layouts that
    the cheapest plan came to become those of the function's arguments, and of
    the results that are the arguments' next values. A step is priced as one of
    many: what a result needs to become the next step's argument counts.

    The mesh is that of the layouts in the program, or the module's
    `dtensor.mesh`; a program of one device takes `mesh`. Where that is a number
    of devices, meshes of one and of two axes are tried, and the cheapest plan
    decides.

    With `memory`, no plan is taken whose peak is more bytes per device; it is an
    error where none is found. With `least-memory`, the plan that takes least is
    taken then. Layouts of arguments that the user gave stand; with
    `reconsider` they are one more start, so that what is found is never slower.

    The function's `dtensor.auto_layout` says in words what the plan takes, and
    lists the layouts to copy into the program.

    ```mlir
    #mesh = #dtensor.mesh<x = 8>
    module attributes {dtensor.mesh = #mesh} {
      func.func @f(%x: tensor<4096x512xf32>, %w: tensor<512x512xf32>) -> tensor<4096x512xf32>
      // becomes
      func.func @f(%x: tensor<4096x512xf32, #dtensor.layout<#mesh, [x, *]>>,
                   %w: tensor<512x512xf32, #dtensor.layout<#mesh, [*, *]>>) -> tensor<4096x512xf32>
    }
    ```
  }];
  let options = [
    Option<"machine", "machine", "::meshloom::MachineModel",
           "::meshloom::MachineModel()",
           "preset or JSON file of the machine model">,
    Option<"memory", "memory", "int64_t", "0",
           "most bytes that a device may hold at a time; 0: any number">,
    Option<"leastMemory", "least-memory", "bool", "false",
           "with memory, take the plan that takes least where none keeps to it">,
    Option<"reconsider", "reconsider", "bool", "false",
           "layouts that arguments have are a start and may change">,
    Option<"mesh", "mesh", "std::string", "\"\"",
           "the mesh of a program that names none, as in x=2,y=4, or a number of "
           "devices">
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

    In a module with `dtensor.open_signature` (the importer's) arguments and
    results that nobody laid out are listed in the function's
    `dtensor.open_arguments` and `dtensor.open_results`, for refinement.

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

def DivideSignature : Pass<"dtensor-divide-signature", "::mlir::func::FuncOp"> {
  let summary = "Lay out arguments and results in shards of one size";
  let description = [{
    In a module with `dtensor.even_signature` each dim of an argument or result
    that its axes do not divide keeps the first of them whose product does, and a
    dim that has a part of an axis (`x:(1)2`) of a mesh in `dtensor.meshes` loses
    it. A constraint beside it gives the program the layout that was there before.
    Other modules stay as they are.

    ```mlir
    // On a mesh of a=4 and b=2 devices, #both cuts the dim by a and then by b.
    func.func @f(%x: tensor<4xf32, #both>) -> tensor<4xf32, #both>
    // becomes, where #first cuts it by a
    func.func @f(%x: tensor<4xf32, #first>) -> tensor<4xf32, #first>
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

    Structure that repeats (layers written out) is decided once: of 600 ops and
    more, those with the same rule, shapes, layouts, operands and users become
    one, if less than half remain, and what is decided for one is done to all and
    priced as that. Sequences of moves are tried up to 100,000 changes and 30 for
    each cluster, and where links are priced and there are at most 64 clusters
    longer ones up to 10,000 more; `dtensor.refined` says where the search was limited.

    What loops carry and branches give moves like any other value; what runs in
    a loop counts once for each trip (8, where their number is not known), in a
    branch of n once in n.

    Only types of ops' results change. Constraints, relayouts and calls of the
    host's functions never do, nor do arguments and function results but for
    those that propagation listed as open: such an argument comes in the layout that makes its relayouts
    cheapest, such a result as what makes it is laid out. A move must save at
    least 5 % of the cost that it touches. A plan whose peak bytes per device
    exceed the given one's is not taken, unless they are at most 65,536.

    A changed op gets the discardable attribute `dtensor.refined`, what its
    first result was laid out as; ops whose cluster was moved or that collectives
    are made for get `dtensor.rejected`: the best that was not chosen, in words.
    The function's `dtensor.refined` lists the predicted time before and after
    and each move, for `--explain`.

    With `by-time` any saving is worth a move, and a plan may send more than the
    given one and take up to `memory`: the search of `--dtensor-auto-layout`.
    With `single-moves` no sequences of moves are tried, and nothing is noted of
    what was rejected: that is for estimates.

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
    Option<"machine", "machine", "::meshloom::MachineModel",
           "::meshloom::MachineModel()",
           "preset or JSON file of the machine model">,
    Option<"byTime", "by-time", "bool", "false",
           "find the least time, whatever is sent and however little is saved">,
    Option<"memory", "memory", "int64_t", "0",
           "with by-time, most bytes that a device may hold at a time; 0: any "
           "number">,
    Option<"singleMoves", "single-moves", "bool", "false",
           "move single clusters of ops only: an estimate in a thirtieth of the "
           "time">
  ];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def GatherSmallLoops : Pass<"dtensor-gather-small-loops", "::mlir::func::FuncOp"> {
  let summary = "Have all values of small loops whole on every device";
  let description = [{
    A loop is small where a turn of it, and of each loop inside it, takes less
    time on one core than it takes to start the steps of several devices. The
    values in an outermost such loop become whole, also those that the user laid
    out. `--dtensor-insert-relayouts` then gathers inits and captured values in
    front of the loop; in memory that devices share, a gather is a view. Behind
    the loop, a relayout brings each result to the layout that it had.

    compile() runs the pass for targets that compile such a loop as one function
    (virtual CPUs), and for devices that share memory.

    ```mlir
    %0 = dtensor.while (%a) : (tensor<8xf32, #rows>) -> tensor<8xf32, #rows> cond {
    ^bb0(%u: tensor<8xf32, #rows>):
      ...
    // becomes
    %1 = dtensor.while (%a) : (tensor<8xf32, #rows>) -> tensor<8xf32, #full> cond {
    ^bb0(%u: tensor<8xf32, #full>):
      ...
    %0 = dtensor.relayout %1 : (tensor<8xf32, #full>) -> tensor<8xf32, #rows>
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def InsertRelayouts : Pass<"dtensor-insert-relayouts", "::mlir::func::FuncOp"> {
  let summary = "Make operands agree with how their op runs";
  let description = [{
    Every value has a layout; an op's result types say how it runs. An operand
    that is laid out otherwise gets a `dtensor.relayout`, one for each value and
    target, before its first user. The same before `return`. `constraint`
    becomes `relayout`, or nothing where the layout is right. A value needed in
    several layouts is brought to all of them by the cheapest tree of relayouts
    on `machine`, the one that refinement priced, so that a pending reduction is
    resolved once.

    A relayout that the pass inserts carries `dtensor.reason`, in words.
    Afterwards every op's operands are what its rule asks for; a target that is
    partial where the value is not is an error.
  }];
  let options = [
    Option<"machine", "machine", "::meshloom::MachineModel",
           "::meshloom::MachineModel()",
           "preset or JSON file of the machine model">
  ];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

#endif // MESHLOOM_LAYOUT_PASSES
