// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LAPACK's calls as JAX wrote them in 2023 and 2024, as those of today: what is
// an attribute now was an operand then, and results were joined by scratch
// memory.
//
// %0 = stablehlo.constant dense<1> : tensor<i32>  // lower
// %1:2 = custom_call @lapack_spotrf(%0, %batch, %n, %a)
//   becomes
// %1:2 = custom_call @lapack_spotrf_ffi(%a)
//            {mhlo.backend_config = {uplo = 76 : ui8}}
#include "ConstantNumbers.h"
#include "Prepare.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace meshloom;
using namespace meshloom::importer;
using Call = stablehlo::CustomCallOp;

namespace {
/// An option and the operand that says it.
struct Option {
  enum Kind {
    Letter,    ///< as it is
    Uplo,      ///< not 0: the lower triangle
    Vectors,   ///< of two operands, whether there are vectors, and all of them
    WithBasis, ///< no operand: always V
  };
  StringRef name;
  Kind kind;
  unsigned operand;
};

/// How a routine was called. Its matrices are the last operands.
struct Form {
  unsigned flags; ///< operands in front of the matrices
  SmallVector<Option> options;
  /// A letter for each result of then: the number of the result of today, `z`
  /// for LAPACK's info where there is none today, `.` for scratch memory, which
  /// everything beyond is too.
  StringRef results;
};
} // namespace

static std::optional<Form> formOf(StringRef target) {
  StringRef routine = target;
  if (!routine.consume_front("lapack_") || routine.size() < 2 ||
      !StringRef("sdcz").contains(routine[0]))
    return std::nullopt;
  bool isReal = StringRef("sd").contains(routine[0]);
  using Result = std::optional<Form>;
  return llvm::StringSwitch<Result>(routine.drop_front())
      .Case("potrf", Form{3, {{"uplo", Option::Uplo, 0}}, "01"})
      .Case("getrf", Form{3, {}, "012"})
      .Case("geqrf", Form{4, {}, "01z"})
      .Cases("orgqr", "ungqr", Form{5, {}, "0z"})
      .Cases("syevd", "heevd",
             Form{3,
                  {{"uplo", Option::Uplo, 0}, {"mode", Option::WithBasis, 0}},
                  "012"})
      .Case("gesdd", Form{6, {{"mode", Option::Vectors, 0}}, "01234"})
      .Case("geev", Form{4,
                         {{"compute_left", Option::Letter, 2},
                          {"compute_right", Option::Letter, 3}},
                         isReal ? "...01234" : "..0123"})
      .Case("gees",
            Form{4,
                 {{"mode", Option::Letter, 2}, {"sort", Option::Letter, 3}},
                 isReal ? "023145" : "0.2134"})
      .Case("gehrd",
            Form{6,
                 {{"low", Option::Letter, 1}, {"high", Option::Letter, 2}},
                 "012"})
      .Cases("sytrd", "hetrd", Form{5, {{"uplo", Option::Uplo, 1}}, "01234"})
      .Default(std::nullopt);
}

bool importer::isOldLapackCall(Operation *op) {
  auto call = dyn_cast<Call>(op);
  return call && formOf(call.getCallTargetName());
}

/// The call's options as attributes.
static FailureOr<DictionaryAttr> optionsOf(Call op, const Form &form,
                                           ConstantNumbers &numbers) {
  OpBuilder b(op);
  auto flag = [&](unsigned i) -> FailureOr<int64_t> {
    auto found = numbers.of(op.getInputs()[i]);
    if (found && found->values.size() == 1)
      return found->values[0];
    return op.emitError("operand #")
           << i << " of custom call '" << op.getCallTargetName()
           << "' must be a constant: the results depend on it";
  };
  mlir::NamedAttrList options;
  for (const Option &option : form.options) {
    int64_t value = 'V';
    if (option.kind != Option::WithBasis) {
      auto read = flag(option.operand);
      if (failed(read))
        return failure();
      value = *read;
    }
    if (option.kind == Option::Uplo)
      value = value != 0 ? 'L' : 'U';
    if (option.kind == Option::Vectors) {
      auto vectors = flag(option.operand + 1);
      if (failed(vectors))
        return failure();
      value = *vectors == 0 ? 'N' : value != 0 ? 'A' : 'S';
    }
    options.set(option.name, b.getIntegerAttr(b.getIntegerType(32), value));
  }
  return options.getDictionary(op.getContext());
}

static LogicalResult rewrite(Call op, const Form &form,
                             ConstantNumbers &numbers) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  if (op.getInputs().size() <= form.flags)
    return op.emitError("custom call '")
           << op.getCallTargetName() << "' takes " << form.flags
           << " numbers and then its matrices";
  auto options = optionsOf(op, form, numbers);
  if (failed(options))
    return failure();
  SmallVector<Type> types(op.getResultTypes());
  auto sourceOf = [&](size_t i) {
    return i < form.results.size() ? form.results[i] : '.';
  };
  size_t count =
      llvm::count_if(form.results, [](char c) { return llvm::isDigit(c); });
  SmallVector<Type> today(count);
  for (auto [i, type] : llvm::enumerate(types))
    if (llvm::isDigit(sourceOf(i)))
      today[size_t(sourceOf(i) - '0')] = type;
  bool isWhole =
      types.size() >= form.results.size() && llvm::all_of(types, [](Type type) {
        return isa<RankedTensorType>(type);
      });
  if (!isWhole)
    return op.emitError("custom call '")
           << op.getCallTargetName() << "' gives at least "
           << form.results.size() << " tensors, here " << types.size();
  OperationState state(loc, Call::getOperationName(),
                       op.getInputs().drop_front(form.flags), today);
  state.addAttribute("call_target_name",
                     b.getStringAttr(op.getCallTargetName() + "_ffi"));
  state.addAttribute("mhlo.backend_config", *options);
  Operation *updated = b.create(state);

  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (llvm::isDigit(sourceOf(i))) {
      result.replaceAllUsesWith(
          updated->getResult(unsigned(sourceOf(i) - '0')));
      continue;
    }
    if (result.use_empty())
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    if (sourceOf(i) == '.' || !isa<IntegerType>(type.getElementType()))
      return op.emitError("result ")
             << i << " of custom call '" << op.getCallTargetName()
             << "' is scratch memory, but is used";
    OperationState zeros(loc, "stablehlo.constant");
    zeros.addTypes(type);
    zeros.addAttribute(
        "value",
        DenseElementsAttr::get(type, b.getZeroAttr(type.getElementType())));
    result.replaceAllUsesWith(b.create(zeros)->getResult(0));
  }
  op.erase();
  return success();
}

LogicalResult importer::updateLapackCalls(ModuleOp module) {
  SmallVector<Call> calls;
  module.walk([&](Call call) {
    if (isOldLapackCall(call))
      calls.push_back(call);
  });
  ConstantNumbers numbers;
  for (Call call : calls)
    if (failed(rewrite(call, *formOf(call.getCallTargetName()), numbers)))
      return failure();
  return success();
}
