// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SPMDBase.td - The spmd dialect and its attribute -------------------===//
//
// The form of a program after --dtensor-expand-to-spmd: one device's local
// program. The ops are in SPMDOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_SPMD_BASE
#define MESHLOOM_DIALECT_SPMD_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "meshloom/Dialect/DTensor/DTensorAttrs.td"
include "meshloom/Dialect/SPMD/CollectiveOpInterface.td"
include "meshloom/Dialect/SPMD/SPMDEnums.td"

def SPMD_Dialect : Dialect {
  let name = "spmd";
  let cppNamespace = "::meshloom::spmd";
  let summary = "One device's program: shards and collectives";
  let description = [{
    After `--dtensor-expand-to-spmd` every tensor in a function is a *shard*: its
    encoding `#spmd.shard` holds the global shape and the layout, and the shape
    of the type is the local one, padded to the largest shard. Local computation
    is dtensor ops on such types; this dialect adds the **collectives**, the only
    ops through which devices see each other's data.

    A collective runs over mesh axes: devices that differ only in their
    coordinates on those axes form a group. What it does is read off the layouts
    in its operands' and results' types. A collective with several operands is
    several collectives that are sent together.

    ```mlir
    %r = spmd.all_reduce sum over [batch] %g {bytes = 2195200 : i64, reason = "..."}
        : (tensor<784x700xf32, #spmd.shard<[784, 700], #layout_u_u_sum_batch>>)
        -> tensor<784x700xf32, #spmd.shard<[784, 700], #layout_u_u>>
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
  }];
}

def SPMD_ShardAttr
    : AttrDef<SPMD_Dialect, "Shard",
              [VerifiableTensorEncoding,
               DeclareAttrInterfaceMethods<DTensor_LayoutEncodingInterface,
                                           ["getWindows"]>]> {
  let mnemonic = "shard";
  let summary = "Encoding of one device's shard of a global tensor";
  let description = [{
    The shape and the layout of the global value. The tensor type's own shape is
    the local one: that of the largest shard, which every device allocates.

    What a `halo_exchange` gives also has *windows*: for each dim, `*` where
    devices hold their blocks, or one range `begin:end` of global indices for each
    shard of the dim.

    ```mlir
    tensor<16x784xf32, #spmd.shard<[128, 784], #dtensor.layout<#mesh, [batch, *]>>>
    // 10 rows over 2 devices; both hold one row of the other.
    tensor<6x4xf32, #spmd.shard<[10, 4], #rows, windows [[0:6, 4:10], *]>>
    ```

    Constraints:
    * (C1) The global shape and the layout have the same rank.
    * (C2) As a tensor's encoding: the tensor's shape is the layout's local shape
      of the global one, and that of the largest window along windowed dims.
    * (C3) A windowed dim has one range a shard, inside the dim.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t", "global shape">:$globalShape,
    "::meshloom::dtensor::LayoutAttr":$layout,
    OptionalArrayRefParameter<"unsigned", "number of windows of each dim">:$windowCounts,
    OptionalArrayRefParameter<"int64_t", "begin and end of all windows">:$windowBounds
  );
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$globalShape,
                     "::meshloom::dtensor::LayoutAttr":$layout), [{
      return $_get($_ctxt, globalShape, layout, ::llvm::ArrayRef<unsigned>(),
                   ::llvm::ArrayRef<int64_t>());
    }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$globalShape,
                     "::meshloom::dtensor::LayoutAttr":$layout,
                     "const ::meshloom::Windows &":$windows)>
  ];
  let extraClassDeclaration = [{
    // VerifiableTensorEncoding.
    ::llvm::LogicalResult verifyEncoding(
        ::llvm::ArrayRef<int64_t> shape, ::mlir::Type elementType,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
  let assemblyFormat = [{
    `<` `[` (`]`) : ($globalShape^ `]`)? `,` $layout ``
    custom<Windows>($windowCounts, $windowBounds) `>`
  }];
  let genVerifyDecl = 1;
}

def SPMD_ShardTensor
    : Type<And<[DTensor_Tensor.predicate,
                          CPred<"::meshloom::dtensor::isShard($_self)">]>,
                     "one device's shard of a tensor", "::mlir::RankedTensorType">;

#endif // MESHLOOM_DIALECT_SPMD_BASE
