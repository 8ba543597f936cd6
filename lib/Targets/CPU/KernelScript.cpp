// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel to its script. Values get registers, which are used again when
// their last user has run.
#include "KernelScript.h"

#include "ScriptLanes.h"
#include "ScriptReductions.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"

#include "llvm/Support/raw_ostream.h"

using namespace meshloom;
using spmd::KernelOp;

namespace {
/// Writes the script of one kernel.
class ScriptWriter {
public:
  explicit ScriptWriter(KernelOp kernel)
      : kernel(kernel),
        contraction(isDeterministic(kernel) ? Contraction::None
                                            : Contraction::Fast),
        os(text) {}

  /// Returns the script, or an empty text where there is none.
  std::string write() {
    if (kernel.getHeld() || !hasTypes() || !hasReductions())
      return "";
    os << "script\nloops";
    for (bool isReduction : kernel.getReductions())
      os << (isReduction ? " reduce" : " parallel");
    os << "\n";
    return writeBody(*kernel.getBlock()) && registers <= mostScriptRegisters
               ? text
               : "";
  }

private:
  static std::string nameOf(Type type) {
    std::string name;
    llvm::raw_string_ostream(name) << type;
    return type.isIndex() ? "i64" : name;
  }

  /// Returns whether scripts have the types of all operands.
  bool hasTypes() {
    auto hasBytes = [](Type type) { return scriptBytes(nameOf(type)) > 0; };
    return llvm::all_of(kernel.getBlock()->getArgumentTypes(), hasBytes) &&
           llvm::all_of(kernel.getBlock()->getTerminator()->getOperandTypes(),
                        hasBytes);
  }

  /// Returns the name of a result's reduction (ScriptReductions.h).
  std::string reductionOf(unsigned result) {
    Operation *yield = kernel.getBlock()->getTerminator();
    return (spmd::stringifyReducer(kernel.getReducer(result)) + " " +
            nameOf(yield->getOperand(result).getType()))
        .str();
  }

  /// Returns whether scripts have the reductions of all results. Terms of f64
  /// that are many have to be added in pairs, and unsigned numbers have another
  /// order.
  bool hasReductions() {
    constexpr int64_t fewTerms = 64;
    int64_t terms = 1;
    for (auto [extent, isReduction] :
         llvm::zip_equal(kernel.getExtents(), kernel.getReductions()))
      terms *= isReduction ? extent : 1;
    return llvm::all_of(
        llvm::seq<unsigned>(kernel.getNumResults()), [&](unsigned result) {
          const Type type =
              dtensor::elementTypeOf(kernel.getResult(result).getType());
          return kernel.getReducer(result) == spmd::Reducer::None ||
                 (findScriptReduction(reductionOf(result)) &&
                  !type.isUnsignedInteger() &&
                  (!type.isF64() || terms <= fewTerms));
        });
  }

  bool writeBody(Block &body) {
    for (BlockArgument argument : body.getArguments())
      if (!argument.use_empty())
        os << "load " << define(argument) << " " << nameOf(argument.getType())
           << " " << argument.getArgNumber() << "\n";
    // All constants are written once, in front of the first block.
    for (Operation &op : body)
      if (op.hasTrait<mlir::OpTrait::ConstantLike>() && !writeConstant(op))
        return false;
    for (Operation &op : body.without_terminator()) {
      if (!op.hasTrait<mlir::OpTrait::ConstantLike>() && !writeOp(op))
        return false;
      for (Value operand : op.getOperands())
        release(operand, &op);
    }
    writeStores(*body.getTerminator());
    return true;
  }

  bool writeConstant(Operation &op) {
    Value constant = op.getResult(0);
    const std::optional<uint64_t> bits = constantBits(constant);
    if (!bits || scriptBytes(nameOf(constant.getType())) == 0)
      return false;
    os << "constant " << define(constant) << " " << nameOf(constant.getType())
       << " " << *bits << "\n";
    return true;
  }

  bool writeOp(Operation &op) {
    if (auto index = dyn_cast<spmd::IndexOp>(op)) {
      os << "index " << define(index.getResult()) << " " << index.getLoop()
         << "\n";
      return true;
    }
    if (auto read = dyn_cast<spmd::ReadOp>(op)) {
      const std::string type = nameOf(read.getType());
      const unsigned condition = numbers.lookup(read.getCondition());
      os << "read " << define(read.getResult()) << " " << type << " "
         << read.getInput() << " " << condition << "\n";
      return scriptBytes(type) > 0;
    }
    if (op.getNumResults() != 1 || op.getNumOperands() > 3)
      return false;
    const std::string name = scriptOpName(&op, contraction);
    if (!findScriptLanes(name))
      return false;
    os << "apply " << define(op.getResult(0));
    for (Value operand : op.getOperands())
      os << " " << numbers.lookup(operand);
    os << " : " << name << "\n";
    return true;
  }

  void writeStores(Operation &yield) {
    unsigned next = kernel.getInputs().size();
    for (auto [i, value] : llvm::enumerate(yield.getOperands())) {
      const int32_t over = kernel.getInPlace()[i];
      const unsigned operand = over >= 0 ? unsigned(over) : next++;
      const bool isReduced = kernel.getReducer(i) != spmd::Reducer::None;
      os << (isReduced ? "reduce " : "store ") << numbers.lookup(value) << " ";
      if (isReduced)
        os << reductionOf(i) << " : "
           << nameOf(dtensor::elementTypeOf(kernel.getResult(i).getType()));
      else
        os << nameOf(value.getType());
      os << " " << operand << "\n";
    }
  }

  unsigned define(Value value) {
    unsigned result = registers;
    if (unused.empty())
      ++registers;
    else
      result = unused.pop_back_val();
    numbers[value] = result;
    return result;
  }
  /// Lets the register of `operand` be used again behind its last user.
  /// Constants keep theirs, as all blocks of elements need them.
  void release(Value operand, Operation *user) {
    Operation *owner = operand.getDefiningOp();
    if (owner && owner->hasTrait<mlir::OpTrait::ConstantLike>())
      return;
    const bool isLast = llvm::all_of(operand.getUsers(), [&](Operation *other) {
      return other == user || other->isBeforeInBlock(user);
    });
    auto entry = numbers.find(operand);
    if (!isLast || entry == numbers.end())
      return;
    unused.push_back(entry->second);
    numbers.erase(entry);
  }

  KernelOp kernel;
  const Contraction contraction;
  std::string text;
  llvm::raw_string_ostream os;
  DenseMap<Value, unsigned> numbers;
  SmallVector<unsigned> unused;
  unsigned registers = 0;
};
} // namespace

std::string meshloom::scriptOf(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  return kernel && isSmall(kernel) ? ScriptWriter(kernel).write() : "";
}

bool meshloom::isScript(StringRef text) {
  return text.starts_with("script\n");
}
