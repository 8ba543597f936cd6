// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScriptLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Operation.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshloom;

static constexpr StringRef strictly = "strict ";

ScriptLanes meshloom::findScriptLanes(StringRef name) {
  const Contraction contraction =
      name.consume_front(strictly) ? Contraction::None : Contraction::Fast;
  if (ScriptLanes lanes = findOpLanes(name))
    return lanes;
  auto [function, types] = name.split(' ');
  auto [operand, result] = types.split(' ');
  return function.consume_front("math.") && operand == result
             ? findFormulaLanes(function, result, contraction)
             : nullptr;
}

static void printType(Type type, raw_ostream &os) {
  os << ' ';
  type.isIndex() ? os << "i64" : os << type;
}

std::string meshloom::scriptOpName(Operation *op, Contraction contraction) {
  std::string name = ((contraction == Contraction::None ? strictly : "") +
                      op->getName().getStringRef())
                         .str();
  llvm::raw_string_ostream os(name);
  if (auto compare = dyn_cast<mlir::arith::CmpFOp>(op))
    os << ' ' << mlir::arith::stringifyCmpFPredicate(compare.getPredicate());
  else if (auto compare = dyn_cast<mlir::arith::CmpIOp>(op))
    os << ' ' << mlir::arith::stringifyCmpIPredicate(compare.getPredicate());
  if (op->getNumOperands() > 0)
    printType(op->getOperands().back().getType(), os);
  for (Type type : op->getResultTypes())
    printType(type, os);
  return name;
}

unsigned meshloom::scriptBytes(StringRef type) {
  return llvm::StringSwitch<unsigned>(type)
      .Cases("i1", "i8", 1)
      .Cases("i16", "bf16", 2)
      .Cases("i32", "f32", 4)
      .Cases("i64", "f64", 8)
      .Default(0);
}
