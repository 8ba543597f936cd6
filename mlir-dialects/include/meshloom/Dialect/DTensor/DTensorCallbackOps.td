// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorCallbackOps.td - Calls that the host sees -------------------===//
//
// The op with effects: what it calls is called in the program's order, and not
// removed. Callback.h has its class.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_CALLBACK_OPS
#define MESHLOOM_DIALECT_DTENSOR_CALLBACK_OPS

include "meshloom/Dialect/DTensor/DTensorBase.td"

def DTensor_CallbackOp
    : DTensor_Op<"callback", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                              DTensor_Library<>]> {
  let flops = 4;
  let summary = "A call of a function of the host, for what it does";
  let description = [{
    Calls the function that was registered under `call_target_name`
    (meshloom/Core/CustomCall.h) with whole values, though its results may have
    no user: once for all devices of a process. `backend_config` is handed to
    the function.

    With `batch_dims`, the function is called once for each index of that many
    first dims, about the others: as often as the shards of a `shard_map` are, by
    the device that has them.

    With `masked`, the first input says for which of these indices the function
    is called, and the function does not see it. The results of all others are
    zeros.

    With `by_shard`, the function is called once for each shard of the inputs, in
    whatever layouts these have. Where two inputs are cut over one axis, one of
    them is gathered.

    The last result is a number that is there when the call is over, one for each
    call. With `after`, the last input is that of the calls that come before; the
    function sees neither.

    Sharding rule: all dims are whole but for the batch dims. With `by_shard` the
    dims of inputs are reduced: the number is the sum of those of all calls.

    Constraints:
    * (C1) The last result, and with `after` the last input, is a tensor of i32;
      the result has the batch dims and no other.
    * (C2) All other results and inputs begin with the batch dims.
    * (C3) With `by_shard` there are no batch dims and no other results.
    * (C4) With `masked` the first input is a tensor of i1 with the batch dims
      and no other.

    Example:
    ```mlir
    %done = dtensor.callback "log"(%x) : (tensor<8xf32>) -> tensor<i32>
    %next = dtensor.callback "log"(%y, %done) {after}
        : (tensor<8xf32>, tensor<i32>) -> tensor<i32>
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inputs,
                       StrAttr:$call_target_name,
                       DefaultValuedStrAttr<StrAttr, "">:$backend_config,
                       UnitAttr:$after,
                       UnitAttr:$by_shard,
                       UnitAttr:$masked,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Variadic<DTensor_Tensor>:$results);
  let assemblyFormat = [{
    $call_target_name `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

#endif // MESHLOOM_DIALECT_DTENSOR_CALLBACK_OPS
