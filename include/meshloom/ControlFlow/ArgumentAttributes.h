// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
    lists.resize(function.getNumArguments());
    if (mlir::ArrayAttr present = function.getArgAttrsAttr())
      for (auto [list, attributes] :
           llvm::zip_equal(lists, present.getAsRange<DictionaryAttr>()))
        list = mlir::NamedAttrList(attributes);
  }

  void set(unsigned argument, StringRef name, Attribute value) {
    lists[argument].set(name, value);
    changed = true;
  }
  void erase(unsigned argument, StringRef name) {
    lists[argument].erase(name);
    changed = true;
  }

  void apply() {
    if (!changed)
      return;
    SmallVector<DictionaryAttr> attributes;
    attributes.reserve(lists.size());
    for (mlir::NamedAttrList &list : lists)
      attributes.push_back(list.getDictionary(function.getContext()));
    function.setAllArgAttrs(attributes);
  }

private:
  mlir::func::FuncOp function;
  SmallVector<mlir::NamedAttrList, 0> lists;
  bool changed = false;
};

} // namespace meshloom
