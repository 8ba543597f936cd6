// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of LLVM and MLIR that Meshloom's code uses without a prefix, one by
// one: `using namespace mlir` would clash with MLIR's own `mesh` dialect.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace meshloom {
// clang-format off
using llvm::ArrayRef, llvm::DenseMap, llvm::DenseSet, llvm::MutableArrayRef,
    llvm::SmallVector, llvm::SmallVectorImpl, llvm::StringRef, llvm::Twine,
    llvm::cast, llvm::cast_or_null, llvm::dyn_cast, llvm::dyn_cast_or_null,
    llvm::isa, llvm::raw_ostream, llvm::function_ref;
using mlir::Attribute, mlir::Block, mlir::BlockArgument, mlir::Builder,
    mlir::DenseElementsAttr, mlir::DenseI64ArrayAttr, mlir::DictionaryAttr,
    mlir::FailureOr, mlir::FloatAttr, mlir::FloatType, mlir::InFlightDiagnostic,
    mlir::IntegerAttr, mlir::IntegerType, mlir::Location, mlir::LogicalResult,
    mlir::MLIRContext, mlir::ModuleOp, mlir::NamedAttribute, mlir::OpBuilder,
    mlir::OpOperand, mlir::OpResult, mlir::Operation, mlir::OperationState,
    mlir::OwningOpRef, mlir::PatternRewriter, mlir::RankedTensorType,
    mlir::Region, mlir::StringAttr, mlir::SymbolTable, mlir::Type,
    mlir::TypeRange, mlir::Value, mlir::ValueRange, mlir::failed,
    mlir::failure, mlir::success, mlir::succeeded;
// clang-format on
} // namespace meshloom
