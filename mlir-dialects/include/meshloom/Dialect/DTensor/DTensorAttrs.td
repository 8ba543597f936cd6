// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorAttrs.td - Attributes and types of the dtensor dialect ------===//
//
// Meshes, layouts, the enums that ops take, and the variable type.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_ATTRS
#define MESHLOOM_DIALECT_DTENSOR_ATTRS

include "mlir/IR/TensorEncoding.td"
include "meshloom/Dialect/DTensor/DTensorBase.td"
include "meshloom/Dialect/DTensor/LayoutEncodingInterface.td"

class DTensor_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<DTensor_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def DTensor_MeshAttr : DTensor_Attr<"Mesh", "mesh"> {
  let summary = "A mesh: named axes over a set of devices";
  let description = [{
    Axis names and sizes, major to minor. The number of devices is the product
    of the sizes; device `d` sits at the row-major coordinates of `d`. Which
    physical device that is, is the runtime's business and not in the IR.

    ```mlir
    #dtensor.mesh<batch = 8>
    #dtensor.mesh<x = 2, y = 4>
    ```

    Constraints:
    * (C1) At least one axis; names are identifiers, each is used once, and none
      is `any`, `match` or `unsharded`; sizes are at least 1.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr", "axis names">:$names,
    ArrayRefParameter<"int64_t", "axis sizes">:$sizes
  );
  let builders = [AttrBuilder<(ins "const ::meshloom::Mesh &":$mesh)>];
  let extraClassDeclaration = [{
    /// The Core value (device ids count up from 0, no name).
    ::meshloom::Mesh getMesh() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def DTensor_LayoutAttr
    : DTensor_Attr<"Layout", "layout",
                   [VerifiableTensorEncoding,
                    DeclareAttrInterfaceMethods<DTensor_LayoutEncodingInterface>]> {
  let summary = "How a tensor's dims are cut over a mesh";
  let description = [{
    One entry a tensor dim: `*` (unsharded), a mesh axis, or several axes major
    to minor in braces; then the axes the value is *partial* over with the kind
    of the pending reduction: the value is the sum (prod, min, max, and, or) of
    what the devices along that axis hold.

    Splitting is nested, major to minor: n over an axis of size k gives blocks
    of ceil(n/k), the last ones short or empty; each block is split over the
    next axis the same way.

    ```mlir
    #dtensor.layout<#mesh, []>                          // a scalar
    #dtensor.layout<#mesh, [batch, *]>
    #dtensor.layout<#mesh, [{x, y}, *] partial<z: sum>>
    ```

    Constraints:
    * (C1) Every axis is in the mesh and appears at most once.
    * (C2) As a tensor's encoding: one entry a tensor dim.
  }];
  let parameters = (ins
    "::meshloom::dtensor::MeshAttr":$meshAttr,
    ArrayRefParameter<"unsigned", "number of axes of each dim">:$axisCounts,
    ArrayRefParameter<"unsigned", "axes of all dims, one dim after the other">:$dimAxes,
    ArrayRefParameter<"::meshloom::Partial", "pending reductions">:$partial
  );
  let builders = [
    AttrBuilder<(ins "const ::meshloom::Layout &":$layout)>
  ];
  let extraClassDeclaration = [{
    /// The Core value.
    ::meshloom::Layout getLayout() const;
    ::meshloom::Mesh getMesh() const { return getMeshAttr().getMesh(); }
    unsigned getRank() const { return getAxisCounts().size(); }
    /// The layout of a value that is whole on every device.
    static LayoutAttr replicated(::meshloom::dtensor::MeshAttr mesh,
                                 unsigned rank);

    // VerifiableTensorEncoding.
    ::llvm::LogicalResult verifyEncoding(
        ::llvm::ArrayRef<int64_t> shape, ::mlir::Type elementType,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def DTensor_ReduceKindAttr : DTensor_Attr<"ReduceKind", "kind"> {
  let summary = "How values are combined: sum, prod, min, max, and, or";
  let parameters = (ins "::meshloom::ReduceKind":$value);
  let hasCustomAssemblyFormat = 1;
  // Ops see the enum of Core.
  let returnType = "::meshloom::ReduceKind";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::meshloom::dtensor::ReduceKindAttr::get($_builder.getContext(), $0)";
}

def DTensor_ComparisonDirection : I32EnumAttr<"ComparisonDirection",
    "Which comparison", [
      I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>,
      I32EnumAttrCase<"LT", 2>, I32EnumAttrCase<"LE", 3>,
      I32EnumAttrCase<"GT", 4>, I32EnumAttrCase<"GE", 5>]> {
  let cppNamespace = "::meshloom::dtensor";
  let genSpecializedAttr = 0;
}
def DTensor_ComparisonDirectionAttr
    : EnumAttr<DTensor_Dialect, DTensor_ComparisonDirection, "comparison">;

def DTensor_RngDistribution : I32EnumAttr<"RngDistribution",
    "What random numbers are distributed like", [
      I32EnumAttrCase<"UniformBits", 0, "uniform_bits">]> {
  let cppNamespace = "::meshloom::dtensor";
  let genSpecializedAttr = 0;
}
def DTensor_RngDistributionAttr
    : EnumAttr<DTensor_Dialect, DTensor_RngDistribution, "distribution">;

def DTensor_VariableType : TypeDef<DTensor_Dialect, "Variable"> {
  let mnemonic = "variable";
  let summary = "A mutable tensor that outlives the function";
  let description = [{
    The type of a function argument that `read_variable` and `assign_variable`
    use. `--dtensor-lift-variables` turns each into an argument and, where it is
    assigned, a result.

    ```mlir
    !dtensor.variable<tensor<784x700xf32, #layout>>
    ```
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tensorType);
  let assemblyFormat = "`<` $tensorType `>`";
}

#endif // MESHLOOM_DIALECT_DTENSOR_ATTRS
