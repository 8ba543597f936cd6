// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StableHLOBase.td - The input dialects and their base classes -------===//
//
// The dialects stablehlo, chlo and sdy: what JAX and its relatives print. They
// are an input vocabulary, parsed and then converted to dtensor at once
// (lib/Import/StableHLO). Their verifiers check what the specification demands.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_STABLEHLO_BASE
#define MESHLOOM_DIALECT_STABLEHLO_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::meshloom::stablehlo";
  let summary = "StableHLO as JAX, TensorFlow and PyTorch/XLA print it";
  let description = [{
    Ops and attributes are those of the public StableHLO specification, names
    and text included; what they mean is said there. The dialect exists to read
    programs: no pass but the import knows it. The verifiers cite the constraints
    of the specification by their numbers; what the import does not support, it
    says at the op's location.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
    void registerTypes();
    void registerElementwiseOps();
    void registerOps();
  }];
}

def CHLO_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::meshloom::chlo";
  let summary = "Ops that clients lower to StableHLO: special functions, top_k";
  let description = [{
    The client dialect beside StableHLO. Like `stablehlo`, it is only read.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
    void registerOps();
  }];
}

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::meshloom::sdy";
  let summary = "Shardy: meshes and shardings on StableHLO programs";
  let description = [{
    Shardings are discardable attributes: `sdy.sharding` on arguments and
    function results (`#sdy.sharding`) and on ops (`#sdy.sharding_per_value`),
    `sdy.sharding_rule` on custom calls. Like `stablehlo`, it is only read, but
    its verifiers check all that Shardy's do: what a sharding says must hold
    before anything is decided about it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
    void registerOps();
  }];
}

class StableHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<StableHLO_Dialect, mnemonic, traits>;

/// Tensors of any element type and shape: the import says what it cannot take.
defvar StableHLO_Tensor = AnyRankedTensor;

// Element types. Integers without a sign in their type are signed; i1 is a
// boolean. Quantized types stand where the floats do that they express.
def StableHLO_Bool : Type<CPred<"$_self.isInteger(1)">, "i1">;
def StableHLO_Signed
    : Type<CPred<"$_self.isSignlessInteger() && !$_self.isInteger(1)">,
           "signed integer">;
def StableHLO_Integer
    : Type<CPred<"$_self.isIntOrFloat() && !$_self.isInteger(1) && "
                 "::llvm::isa<::mlir::IntegerType>($_self)">, "integer">;
def StableHLO_Float
    : Type<Or<[AnyFloat.predicate,
               CPred<"::llvm::isa<::meshloom::stablehlo::MinifloatType>("
                     "$_self)">]>, "floating-point">;
def StableHLO_Complex
    : Type<Or<[Complex<F32>.predicate, Complex<F64>.predicate]>,
           "complex<f32> or complex<f64>">;
def StableHLO_Quantized
    : Type<CPred<"$_self.getDialect().getNamespace() == \"quant\"">,
           "quantized">;

class StableHLO_TensorOf<list<Type> elements> : RankedTensorOf<elements>;
defvar StableHLO_BoolTensor = StableHLO_TensorOf<[StableHLO_Bool]>;
defvar StableHLO_IntegerTensor = StableHLO_TensorOf<[StableHLO_Integer]>;
defvar StableHLO_BitsTensor
    = StableHLO_TensorOf<[StableHLO_Bool, StableHLO_Integer]>;
defvar StableHLO_FloatTensor
    = StableHLO_TensorOf<[StableHLO_Float, StableHLO_Quantized]>;
defvar StableHLO_FloatOrComplexTensor
    = StableHLO_TensorOf<[StableHLO_Float, StableHLO_Complex,
                          StableHLO_Quantized]>;
defvar StableHLO_SignedTensor
    = StableHLO_TensorOf<[StableHLO_Signed, StableHLO_Float, StableHLO_Complex,
                          StableHLO_Quantized]>;
defvar StableHLO_NumberTensor
    = StableHLO_TensorOf<[StableHLO_Integer, StableHLO_Float,
                          StableHLO_Complex, StableHLO_Quantized]>;
/// Tensors, tokens and tuples.
defvar StableHLO_Value = AnyType;

#endif // MESHLOOM_DIALECT_STABLEHLO_BASE
