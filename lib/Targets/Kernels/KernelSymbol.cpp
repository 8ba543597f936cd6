// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structural name of a kernel: a digest of all that its code depends on.
#include "meshloom/Targets/Kernels/KernelSymbol.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"

#include "llvm/Support/MD5.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshloom;

/// The body with values numbered in order, so that equal bodies print equally.
static void describeBody(Block &block, raw_ostream &os) {
  DenseMap<Value, unsigned> numbers;
  auto number = [&](Value value) {
    numbers.try_emplace(value, unsigned(numbers.size()));
  };
  for (BlockArgument arg : block.getArguments())
    number(arg);
  for (Operation &op : block) {
    os << op.getName().getStringRef();
    for (Value operand : op.getOperands())
      os << ' ' << numbers.lookup(operand);
    // Attributes of arith and math ops (values, predicates, fast math flags)
    // live in their properties.
    if (!op.getAttrDictionary().empty())
      os << op.getAttrDictionary();
    os << ':';
    for (Value result : op.getResults()) {
      os << result.getType();
      number(result);
    }
    os << '\n';
  }
}

static std::string symbolFor(StringRef text) {
  llvm::MD5 digest;
  digest.update(text);
  llvm::MD5::MD5Result result;
  digest.final(result);
  return ("kernel_" + result.digest().substr(0, 24)).str();
}

static std::string symbolOfCall(spmd::LibraryCallOp call) {
  std::string text = isDeterministic(call) ? "deterministic\n" : "";
  llvm::raw_string_ostream os(text);
  call->print(os, mlir::OpPrintingFlags().useLocalScope().assumeVerified());
  return symbolFor(text);
}

std::string meshloom::kernelSymbol(Operation *op) {
  if (auto call = dyn_cast<spmd::LibraryCallOp>(op))
    return symbolOfCall(call);
  auto kernel = cast<spmd::KernelOp>(op);
  std::string text;
  llvm::raw_string_ostream os(text);
  LoopOrder order = loopOrder(kernel);
  os << "v" << order.vector << " t" << order.tiled
     << (order.fillsWideTiles ? " wide" : "") << " p";
  llvm::interleaveComma(order.parallel, os);
  os << " r";
  llvm::interleaveComma(order.reduction, os);
  os << " n" << reductionBits(kernel);
  if (order.deterministic)
    os << " deterministic";
  if (isLarge(kernel))
    os << " large";
  if (isSmall(kernel))
    os << " small";
  os << " w" << order.writtenOut << " b" << order.reducesByRows << " c"
     << order.crossed << " s";
  llvm::interleaveComma(order.shortStrides, os);
  for (const auto &[input, base, distance, stride] : order.neighbours)
    os << " " << input << " beside " << base << " by " << distance << " of "
       << stride;
  for (unsigned k = 0; k < kernel.getAccesses().size(); ++k) {
    os << "\n";
    for (StaticStride stride : staticStrides(kernel, k))
      stride.isStatic ? os << stride.value << ' ' : os << "? ";
  }
  os << "\n";
  for (mlir::TypeRange types : {TypeRange(kernel.getInputs().getTypes()),
                                TypeRange(kernel.getOutputs().getTypes())})
    for (Type type : types)
      os << cast<RankedTensorType>(type).getElementType() << ' ';
  llvm::interleaveComma(kernel.getReducers(), os);
  os << ' ';
  llvm::interleaveComma(kernel.getInPlace(), os);
  os << '\n';
  describeBody(*kernel.getBlock(), os);
  return symbolFor(text);
}
