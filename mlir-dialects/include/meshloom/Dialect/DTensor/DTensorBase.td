// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorBase.td - The dtensor dialect and its base classes ----------===//
//
// The dialect, the element and tensor types its ops take, and the op classes
// that carry a sharding rule. Every other .td file of the dialect starts here.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_BASE
#define MESHLOOM_DIALECT_DTENSOR_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "meshloom/Dialect/DTensor/OpInterfaces.td"

def DTensor_Dialect : Dialect {
  let name = "dtensor";
  let cppNamespace = "::meshloom::dtensor";
  let summary = "Math on global tensors that are laid out over a mesh of devices";
  let description = [{
    A program is written against **global** tensors. The layout in a tensor's
    type (its encoding, `#dtensor.layout`) says how the tensor's dims are cut
    over the named axes of a mesh. An op means the same whatever the layouts
    are, and what StableHLO's op of that name means.

    A tensor type is in one of three states, and every verifier runs on all:

    | encoding | meaning | shape in the type |
    |---|---|---|
    | none | the layout is not decided yet | global |
    | `#dtensor.layout<...>` | decided | global |
    | `#spmd.shard<...>` | one device's shard, after `--dtensor-expand-to-spmd` | local, padded |

    An op's attributes are about the global tensor in all three, so the state
    changes types only. Constraints of an op on shapes are on global ones.

    The module attribute `dtensor.mesh` names the mesh when no layout does.
    Without both, the mesh is one device: `#dtensor.mesh<d = 1>`.

    ```mlir
    #mesh = #dtensor.mesh<batch = 8>
    #rows = #dtensor.layout<#mesh, [batch, *]>
    #full = #dtensor.layout<#mesh, [*, *]>
    func.func @dense(%x: tensor<128x784xf32, #rows>,
                     %w: tensor<784x700xf32, #full>) -> tensor<128x700xf32> {
      %y = dtensor.matmul %x, %w
          : (tensor<128x784xf32, #rows>, tensor<784x700xf32, #full>)
          -> tensor<128x700xf32>
      return %y : tensor<128x700xf32>
    }
    ```

    A function may have layouts over several meshes, which number the same
    devices alike: `--dtensor-unify-meshes` brings them to one.

    These rules hold for every op on tensors and are checked for it:

    * (S1) In the shard state, all layouts of one op are over the same mesh.
    * (S2) Either all of an op's tensors are shards or none is.
    * (S3) In the shard state, operands and results are laid out as the rule
      says for one way to run the op (`relayout` and `constraint` excepted).
    * (S4) In the shard state, devices hold what the rule's windows say of an
      operand that has been through a halo exchange.
    * (S5) A tensor has at most 2^53 bytes, empty dims left out.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Name of the module attribute that gives the default mesh.
    static constexpr ::llvm::StringLiteral meshAttrName = "dtensor.mesh";

    /// The Core values of attributes, made once per attribute. Attributes live
    /// in a bump allocator that runs no destructors, so they cannot hold them.
    ::meshloom::Mesh meshOf(MeshAttr attr);
    ::meshloom::Layout layoutOf(LayoutAttr attr);

    /// The rule that is known as `key`, parsed once.
    const ::meshloom::ShardingRule &
    ruleOf(::llvm::StringRef key,
           ::llvm::function_ref<::meshloom::ShardingRule()> parse);

  private:
    void registerAttributes();
    void registerTypes();
    struct CoreValues;
    std::shared_ptr<CoreValues> coreValues;
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

defvar DTensor_Floats = [F16, BF16, F32, F64];
defvar DTensor_Complexes = [Complex<F32>, Complex<F64>];
defvar DTensor_Ints = [I8, I16, I32, I64, UI8, UI16, UI32, UI64];

class DTensor_TensorOf<list<Type> elements, string names>
    : StaticShapeTensorOf<elements> {
  let summary = "tensor of static shape of " # names;
}

// "float" in messages is f16, bf16, f32 or f64, "integer" i8 to i64 or ui8 to
// ui64, "complex" complex<f32> or complex<f64>.
def DTensor_Tensor
    : DTensor_TensorOf<!listconcat(DTensor_Floats, [I1], DTensor_Ints,
                                   DTensor_Complexes),
                       "float, complex, integer (8, 16, 32 or 64 bits) or i1">;
def DTensor_FloatTensor
    : DTensor_TensorOf<DTensor_Floats, "float (f16, bf16, f32 or f64)">;
def DTensor_FloatOrComplexTensor
    : DTensor_TensorOf<!listconcat(DTensor_Floats, DTensor_Complexes),
                       "float or complex">;
def DTensor_PartTensor : DTensor_TensorOf<[F32, F64], "f32 or f64">;
def DTensor_ComplexTensor
    : DTensor_TensorOf<DTensor_Complexes, "complex<f32> or complex<f64>">;
def DTensor_IntTensor
    : DTensor_TensorOf<DTensor_Ints, "integer (8, 16, 32 or 64 bits)">;
def DTensor_IntOrBoolTensor
    : DTensor_TensorOf<!listconcat([I1], DTensor_Ints), "integer or i1">;
/// Tensors whose elements have an order.
def DTensor_RealTensor
    : DTensor_TensorOf<!listconcat(DTensor_Floats, DTensor_Ints),
                       "float or integer">;
def DTensor_RealOrBoolTensor
    : DTensor_TensorOf<!listconcat(DTensor_Floats, DTensor_Ints, [I1]),
                       "float, integer or i1">;
/// Tensors whose elements can be added and multiplied.
def DTensor_NumberTensor
    : DTensor_TensorOf<!listconcat(DTensor_Floats, DTensor_Ints,
                                   DTensor_Complexes),
                       "float, integer or complex">;
def DTensor_BoolTensor : DTensor_TensorOf<[I1], "i1">;
def DTensor_WordTensor : DTensor_TensorOf<[UI32], "ui32">;
def DTensor_IndexTensor : DTensor_TensorOf<[I32, I64], "i32 or i64">;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Ops that say how their attributes change with more dims in front.
class DTensor_VectorisableTrait
    : DeclareOpInterfaceMethods<DTensor_VectorisableOpInterface>;
def DTensor_Vectorisable : DTensor_VectorisableTrait;
class DTensor_isVectorisable<list<Trait> traits> {
  bit value = !not(!empty(!filter(t, traits, !isa<DTensor_VectorisableTrait>(t))));
}
class DTensor_Strings<list<string> strings> {
  string text = !if(!empty(strings), "{}",
                    "{\"" # !interleave(strings, "\", \"") # "\"}");
}

/// An op on tensors. Passes know of it only its declarations here, or in C++ in
/// mlir-dialects/lib/DTensor. `methods`: those of ShardedOpInterface that have
/// a default, and that this op defines.
class DTensor_Op<string mnemonic, list<Trait> traits = [],
                 list<string> methods = []>
    : Op<DTensor_Dialect, mnemonic,
         !listconcat(traits, [DeclareOpInterfaceMethods<
                                 DTensor_ShardedOpInterface, methods>])> {
  /// The rule, as text. `...` in it stands for the dims that the shapes leave
  /// over. Empty: C++ builds it (getShardingRule).
  string rule = "";
  /// With it: the PartialFlow; the operands that may carry a pending reduction
  /// (empty: all); how reduced letters, and what passes through a LinearJoint
  /// op, combine.
  string flow = "None";
  string carriers = "";
  string kind = "Sum";
  /// Simple operations for each point of the rule's factors. Negative: C++ says
  /// (getCost).
  int flops = -1;
  /// Attributes that speak of dims, see DimAttributes; for ops that are
  /// vectorisable.
  list<string> dims = [];
  list<string> batching = [];
  list<string> zeros = [];
  list<string> ones = [];
  list<string> extents = [];
  /// More definitions of methods.
  code definitions = "";

  code ruleDefinition = !if(!empty(rule), "", [{
    ::meshloom::ShardingRule $cppClass::getShardingRule() {
      return ::meshloom::dtensor::ruleFromText(
          getOperation(), "}] # rule # [{",
          ::meshloom::PartialFlow::}] # flow # [{, {}] # carriers # [{},
          ::meshloom::ReduceKind::}] # kind # [{);
    }
  }]);
  code costDefinition = !if(!lt(flops, 0), "", [{
    ::meshloom::dtensor::OpCost
    $cppClass::getCost(const ::meshloom::ShardingRule &) {
      return {}] # !cast<string>(flops) # [{};
    }
  }]);
  code dimsDefinition = !if(DTensor_isVectorisable<traits>.value, [{
    void $cppClass::addLeadingDims(::mlir::Builder &builder,
                                   ::mlir::NamedAttrList &attributes,
                                   ::llvm::ArrayRef<int64_t> extents) {
      ::meshloom::dtensor::addLeadingDims(
          builder, attributes, extents, {}] # DTensor_Strings<dims>.text # ", "
      # DTensor_Strings<batching>.text # ", " # DTensor_Strings<zeros>.text # ", "
      # DTensor_Strings<ones>.text # ", " # DTensor_Strings<extents>.text # [{});
    }
  }], "");
  let extraClassDefinition =
      ruleDefinition # costDefinition # dimsDefinition # definitions;
}

/// An op whose rule is text.
class DTensor_RuleOp<string mnemonic, string ruleText, list<Trait> traits = [],
                     string partialFlow = "None", list<string> methods = []>
    : DTensor_Op<mnemonic, traits, methods> {
  let rule = ruleText;
  let flow = partialFlow;
}

/// An op on elements, each at the same place, that takes `elementFlops` for each
/// (of complex numbers three times that). StableHLO calls it `target`.
/// `methods`: those of ElementwiseOpInterface that have a default, and that this
/// op defines.
class DTensor_ElementwiseOp<string mnemonic, int elementFlops,
                            list<Trait> traits = [], string target = mnemonic,
                            list<string> methods = []>
    : DTensor_Op<mnemonic, !listconcat(traits, [
          Pure, DTensor_Vectorisable,
          DeclareOpInterfaceMethods<DTensor_ElementwiseOpInterface,
                                    methods>])> {
  let costDefinition = [{
    ::meshloom::dtensor::OpCost
    $cppClass::getCost(const ::meshloom::ShardingRule &) {
      return {getFlops()};
    }
    int64_t $cppClass::getFlops() {
      return ::meshloom::dtensor::elementFlops(getOperation(), }]
      # !cast<string>(elementFlops) # [{);
    }
    ::llvm::StringRef $cppClass::getStableHLOName() {
      return "}] # target # [{";
    }
  }];
}

/// No fused kernel computes it: see DTensor_LibraryOpInterface. `methods`: those
/// of it that have a default, and that this op defines.
class DTensor_Library<list<string> methods = []>
    : DeclareOpInterfaceMethods<DTensor_LibraryOpInterface, methods>;

/// Moves elements: see DTensor_IndexMapOpInterface.
class DTensor_Moves<list<string> methods = []>
    : DeclareOpInterfaceMethods<DTensor_IndexMapOpInterface, methods>;

/// All operands and results have the same global shape, except that operands
/// which the op declares so may be scalars: constraint C1 of such ops.
def DTensor_Elementwise : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::meshloom::dtensor";
}
/// Operands and results have the same element type: constraint C2 of such ops.
def DTensor_SameElements : NativeOpTrait<"SameElements"> {
  let cppNamespace = "::meshloom::dtensor";
}

#endif // MESHLOOM_DIALECT_DTENSOR_BASE
