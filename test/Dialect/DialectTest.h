// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the dialects' tests: a context, and one op in a function.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshloom {

class DialectTest : public testing::Test {
protected:
  DialectTest() {
    context.loadDialect<mlir::func::FuncDialect, dtensor::DTensorDialect,
                        spmd::SPMDDialect>();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<ModuleOp>(text, &context);
  }

  /// A module with a function of the arguments `arguments` and the one op `op`.
  OwningOpRef<ModuleOp> parseOp(const std::string &arguments,
                                const std::string &op) {
    return parse("func.func @f(" + arguments + ") {\n" + op + "\nreturn\n}\n");
  }

  /// All ops of the dtensor dialect.
  SmallVector<mlir::RegisteredOperationName> dtensorOps() {
    SmallVector<mlir::RegisteredOperationName> ops;
    for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
      if (name.getDialectNamespace() == "dtensor")
        ops.push_back(name);
    return ops;
  }

  static Operation *onlyOp(ModuleOp module) {
    auto function = *module.getOps<mlir::func::FuncOp>().begin();
    return &function.getBody().front().front();
  }

  MLIRContext context;
};

} // namespace meshloom
