// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A short text may stand for a very large program. All calls are inlined and
// all tuples are taken apart, so each function that calls another one twice,
// and each tuple of two equal types, doubles what there is to do: forty of them
// are 4 KB of text. The sizes are counted before anything is done, once for
// each function and type.
#include "Prepare.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

namespace {
/// The ops of functions with all calls in them inlined.
class InlinedSizes {
public:
  explicit InlinedSizes(ModuleOp module) : symbols(module) {}

  /// Reports what exceeds a bound. Cost: O(ops of the functions reached).
  FailureOr<int64_t> of(FuncOp func) {
    if (auto found = sizes.find(func); found != sizes.end())
      return found->second;
    int64_t size = 0;
    calling.push_back(func);
    auto result = func.walk([&](Operation *op) -> mlir::WalkResult {
      ++size;
      FuncOp callee = calleeOf(op);
      if (callee && !callee.isExternal()) {
        auto inlined = ofCallee(op, callee);
        if (failed(inlined))
          return failure();
        size += *inlined;
      }
      if (size <= mostOps)
        return success();
      auto error = op->emitError("function '")
                   << func.getName() << "' has more than " << mostOps
                   << " ops, the most that a program may have, when the calls "
                      "in it are inlined";
      if (callee)
        error << "; this call of '" << callee.getName() << "' is "
              << sizes.lookup(callee) << " of them";
      return error;
    });
    calling.pop_back();
    if (result.wasInterrupted())
      return failure();
    sizes[func] = size;
    return size;
  }

private:
  FuncOp calleeOf(Operation *op) {
    if (auto call = dyn_cast<mlir::func::CallOp>(op))
      return symbols.lookup<FuncOp>(call.getCallee());
    if (auto call = dyn_cast<stablehlo::CompositeOp>(op))
      return symbols.lookup<FuncOp>(call.getDecomposition());
    return {};
  }

  FailureOr<int64_t> ofCallee(Operation *call, FuncOp callee) {
    if (llvm::is_contained(calling, callee))
      return call->emitError("'") << callee.getName() << "' calls itself";
    if (calling.size() >= deepestCall)
      return call->emitError("calls are nested more than ")
             << deepestCall << " deep";
    return of(callee);
  }

  static constexpr size_t deepestCall = 200;
  mlir::SymbolTable symbols;
  DenseMap<Operation *, int64_t> sizes;
  SmallVector<FuncOp> calling;
};

/// How many tensors and tokens tuples are made of.
class TupleSizes {
public:
  LogicalResult check(Location loc, TypeRange types) {
    for (Type type : types)
      if (of(type) > mostParts)
        return mlir::emitError(loc)
               << "a tuple has more than " << mostParts
               << " tensors in it, the most that a value may be made of";
    return success();
  }

private:
  /// A number above the bound stands for all that are.
  int64_t of(Type type) {
    auto tuple = dyn_cast<mlir::TupleType>(type);
    if (!tuple)
      return 1;
    if (auto found = sizes.find(type); found != sizes.end())
      return found->second;
    int64_t size = 0;
    for (Type element : tuple.getTypes())
      size = std::min(size + of(element), mostParts + 1);
    sizes[type] = size;
    return size;
  }

  static constexpr int64_t mostParts = 1 << 16;
  DenseMap<Type, int64_t> sizes;
};
} // namespace

FailureOr<int64_t> importer::inlinedSize(ModuleOp module) {
  TupleSizes tuples;
  auto result = module.walk([&](Operation *op) -> mlir::WalkResult {
    if (auto func = dyn_cast<FuncOp>(op))
      return failure(
          failed(tuples.check(op->getLoc(), func.getArgumentTypes())) ||
          failed(tuples.check(op->getLoc(), func.getResultTypes())));
    return tuples.check(op->getLoc(), op->getResultTypes());
  });
  if (result.wasInterrupted())
    return failure();
  InlinedSizes sizes(module);
  int64_t total = 0;
  for (auto func : module.getOps<FuncOp>()) {
    if (func.isExternal() || func.isPrivate())
      continue;
    auto size = sizes.of(func);
    if (failed(size))
      return failure();
    total += *size;
    if (total > mostOps)
      return func.emitError("the program has more than ")
             << mostOps << " ops, the most that one may have, when all calls "
             << "are inlined; function '" << func.getName() << "' has " << *size
             << " of them";
  }
  return total;
}
