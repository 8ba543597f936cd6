// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halo exchanges, which ExpandToSPMD inserts for windowed operands where some
// device needs more than its block.
#pragma once

#include "Collectives.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// The operands of a function's ops that devices need windows of.
class HaloExchanges {
public:
  /// Finds them, while types still have their layouts and ops their origins.
  void collect(mlir::func::FuncOp function);
  /// Inserts the exchanges, once all types are shards, as relayouts are placed:
  /// in front of loops, inside of branches. There uses of one value share one
  /// where that moves no more than one for each would; several windows of
  /// one value, and values that only one op needs, are exchanged together.
  void insert();

private:
  struct Use {
    mlir::OpOperand *operand;
    std::string reason;
    DictionaryAttr origin;
  };
  /// The windows that some uses of a value need together.
  struct Need {
    Value value;
    Windows windows;
    SmallVector<Use> uses;
  };
  /// Gives the uses what they need without an exchange, if that can be.
  static bool makeLocally(const Need &need);
  static SmallVector<NamedAttribute> notesFor(ArrayRef<Use> uses);
  /// One exchange for all of them, over the same axes.
  static void exchange(ArrayRef<Need> needs);

  SmallVector<std::pair<Use, Windows>> found;
};

} // namespace meshloom
