// ArgumentAttributes: changing the attributes of many arguments of a function.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// The attributes of a function's arguments, to be changed and then applied at
/// once. FuncOp::setArgAttr makes a list of all arguments' attributes at each
/// call, and a context keeps every list: for n arguments that is n * n memory.
class ArgumentAttributes {
public:
  explicit ArgumentAttributes(mlir::func::FuncOp function)
      : function(function) {
    lists.reserve(function.getNumArguments());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      lists.emplace_back(function.getArgAttrDict(i));
  }

  void set(unsigned argument, StringRef name, Attribute value) {
    lists[argument].set(name, value);
  }

  void apply() {
    SmallVector<DictionaryAttr> all;
    all.reserve(lists.size());
    for (mlir::NamedAttrList &list : lists)
      all.push_back(list.getDictionary(function.getContext()));
    function.setAllArgAttrs(all);
  }

private:
  mlir::func::FuncOp function;
  SmallVector<mlir::NamedAttrList> lists;
};

} // namespace meshloom
