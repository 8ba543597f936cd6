// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tridiagonal_solve_perturbed_ffi, which JAX's eigh_tridiagonal calls for its
// inverse iteration: tridiagonal equations that may be singular, as loops.
//
// Elimination with row exchanges goes down the rows and keeps of each its three
// elements from the diagonal on; a pivot that is not a normal number becomes
// epsilon times the largest of all of these, with the sign of its real part.
// Complex numbers are compared by their absolute values. (jaxlib 0.10.2 does
// not look at the last row but one for that.) Then the unknowns follow from the
// last to the first. Both are a loop over the rows of all equations at once, so
// that batch dims may be cut.
#include "Prepare.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

/// The function, for operands whose first dim goes over the rows: A is their
/// type, V that of a row, O that of a row in A, and B and W are A and V of
/// absolute values. N and M are B and W of truth values. %dl is what stands
/// before the diagonal, %du what stands behind it.
static constexpr StringRef solveText = R"(
func.func private @NAME(%dl: A, %d: A, %du: A, %b: A) -> A {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last = stablehlo.constant dense<LAST> : tensor<i32>
  %none = stablehlo.constant dense<NULL> : V
  %empty = stablehlo.constant dense<NULL> : A
  %p0 = func.call @NAME_row(%d, %zero) : (A, tensor<i32>) -> V
  %q0 = func.call @NAME_row(%du, %zero) : (A, tensor<i32>) -> V
  %y0 = func.call @NAME_row(%b, %zero) : (A, tensor<i32>) -> V
  %down:8 = stablehlo.while(%i = %zero, %p = %p0, %q = %q0, %y = %y0, %P = %empty, %Q = %empty, %R = %empty, %Y = %empty) : tensor<i32>, V, V, V, A, A, A, A
  cond {
    %more = stablehlo.compare LT, %i, %last, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %l = func.call @NAME_row(%dl, %next) : (A, tensor<i32>) -> V
    %e = func.call @NAME_row(%d, %next) : (A, tensor<i32>) -> V
    %u = func.call @NAME_row(%du, %next) : (A, tensor<i32>) -> V
    %c = func.call @NAME_row(%b, %next) : (A, tensor<i32>) -> V
    %sizeL = stablehlo.abs %l : (V) -> W
    %sizeP = stablehlo.abs %p : (V) -> W
    %swap = stablehlo.compare GT, %sizeL, %sizeP, FLOAT : (W, W) -> M
    %pivot = stablehlo.select %swap, %l, %p : M, V
    %other = stablehlo.select %swap, %p, %l : M, V
    %pivotQ = stablehlo.select %swap, %e, %q : M, V
    %otherQ = stablehlo.select %swap, %q, %e : M, V
    %pivotR = stablehlo.select %swap, %u, %none : M, V
    %otherR = stablehlo.select %swap, %none, %u : M, V
    %pivotY = stablehlo.select %swap, %c, %y : M, V
    %otherY = stablehlo.select %swap, %y, %c : M, V
    %quotient = stablehlo.divide %other, %pivot : V
    %idle = stablehlo.compare EQ, %pivot, %none, FLOAT : (V, V) -> M
    %factor = stablehlo.select %idle, %none, %quotient : M, V
    %fq = stablehlo.multiply %factor, %pivotQ : V
    %fr = stablehlo.multiply %factor, %pivotR : V
    %fy = stablehlo.multiply %factor, %pivotY : V
    %nextP = stablehlo.subtract %otherQ, %fq : V
    %nextQ = stablehlo.subtract %otherR, %fr : V
    %nextY = stablehlo.subtract %otherY, %fy : V
    %P1 = func.call @NAME_set(%P, %pivot, %i) : (A, V, tensor<i32>) -> A
    %Q1 = func.call @NAME_set(%Q, %pivotQ, %i) : (A, V, tensor<i32>) -> A
    %R1 = func.call @NAME_set(%R, %pivotR, %i) : (A, V, tensor<i32>) -> A
    %Y1 = func.call @NAME_set(%Y, %pivotY, %i) : (A, V, tensor<i32>) -> A
    stablehlo.return %next, %nextP, %nextQ, %nextY, %P1, %Q1, %R1, %Y1 : tensor<i32>, V, V, V, A, A, A, A
  }
  %P = func.call @NAME_set(%down#4, %down#1, %last) : (A, V, tensor<i32>) -> A
  %Y = func.call @NAME_set(%down#7, %down#3, %last) : (A, V, tensor<i32>) -> A
  %absP = stablehlo.abs %P : (A) -> B
  %absQ = stablehlo.abs %down#5 : (A) -> B
  %absR = stablehlo.abs %down#6 : (A) -> B
  %PQ = stablehlo.maximum %absP, %absQ : B
  %PQR = stablehlo.maximum %PQ, %absR : B
  %start = stablehlo.constant dense<0.0> : tensor<F>
  %largest = stablehlo.reduce(%PQR init: %start) applies stablehlo.maximum across dimensions = [0] : (B, tensor<F>) -> W
  %epsilon = stablehlo.constant dense<EPSILON> : W
  %share = stablehlo.multiply %largest, %epsilon : W
  %smallest = stablehlo.constant dense<SMALLEST> : W
  %least = stablehlo.maximum %share, %smallest : W
  %leasts = stablehlo.broadcast_in_dim %least, dims = [DIMS] : (W) -> B
  %minus = stablehlo.negate %leasts : B
  %normal = stablehlo.constant dense<SMALLEST> : B
  %isTiny = stablehlo.compare LT, %absP, %normal, FLOAT : (B, B) -> N
  %unit = stablehlo.constant dense<1.0> : B
  %realP = stablehlo.real %P : (A) -> B
  %inverse = stablehlo.divide %unit, %realP : B
  %below = stablehlo.constant dense<0.0> : B
  %isBelow = stablehlo.compare LT, %inverse, %below, FLOAT : (B, B) -> N
  %signed = stablehlo.select %isBelow, %minus, %leasts : N, B
  %moved = stablehlo.convert %signed : (B) -> A
  %pivots = stablehlo.select %isTiny, %moved, %P : N, A
  %up:4 = stablehlo.while(%i = %last, %x1 = %none, %x2 = %none, %X = %empty) : tensor<i32>, V, V, A
  cond {
    %more = stablehlo.compare GE, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %p = func.call @NAME_row(%pivots, %i) : (A, tensor<i32>) -> V
    %q = func.call @NAME_row(%down#5, %i) : (A, tensor<i32>) -> V
    %r = func.call @NAME_row(%down#6, %i) : (A, tensor<i32>) -> V
    %y = func.call @NAME_row(%Y, %i) : (A, tensor<i32>) -> V
    %qx = stablehlo.multiply %q, %x1 : V
    %rx = stablehlo.multiply %r, %x2 : V
    %yq = stablehlo.subtract %y, %qx : V
    %rest = stablehlo.subtract %yq, %rx : V
    %x = stablehlo.divide %rest, %p : V
    %X1 = func.call @NAME_set(%X, %x, %i) : (A, V, tensor<i32>) -> A
    %before = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %before, %x, %x1, %X1 : tensor<i32>, V, V, A
  }
  return %up#3 : A
}
func.func private @NAME_row(%a: A, %i: tensor<i32>) -> V {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %row = stablehlo.dynamic_slice %a, %iZEROS, sizes = [ROW] : (A, tensor<i32>ZEROTYPES) -> O
  %flat = stablehlo.reshape %row : (O) -> V
  return %flat : V
}
func.func private @NAME_set(%a: A, %v: V, %i: tensor<i32>) -> A {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %row = stablehlo.reshape %v : (V) -> O
  %all = stablehlo.dynamic_update_slice %a, %row, %iZEROS : (A, O, tensor<i32>ZEROTYPES) -> A
  return %all : A
}
)";

/// solveText's words: whole ones in capitals, and what %i is followed by.
static std::string written(StringRef name, RankedTensorType type) {
  const bool isComplex = isa<mlir::ComplexType>(type.getElementType());
  const std::string part = dtensor::partTypeOf(type).isF32() ? "f32" : "f64";
  const std::string element = isComplex ? "complex<" + part + ">" : part;
  std::string row = "1", dims, zeros, zeroTypes, shape;
  for (auto [d, extent] : llvm::enumerate(type.getShape().drop_front())) {
    shape += std::to_string(extent) + "x";
    row += ", " + std::to_string(extent);
    dims += (d ? ", " : "") + std::to_string(d + 1);
    zeros += ", %zero";
    zeroTypes += ", tensor<i32>";
  }
  const int64_t n = type.getShape().front();
  const auto tensor = [](const std::string &extents, StringRef of) {
    return "tensor<" + extents + of.str() + ">";
  };
  const std::pair<StringRef, std::string> words[] = {
      {"ZEROTYPES", zeroTypes},
      {"ZEROS", zeros},
      {"NAME", name.str()},
      {"LAST", std::to_string(n - 1)},
      {"NULL", isComplex ? "(0.0, 0.0)" : "0.0"},
      {"EPSILON", part == "f32" ? "1.1920929e-07" : "2.220446049250313e-16"},
      {"SMALLEST",
       part == "f32" ? "1.17549435e-38" : "2.2250738585072014e-308"},
      {"DIMS", dims},
      {"ROW", row},
      {"A", tensor(std::to_string(n) + "x" + shape, element)},
      {"N", tensor(std::to_string(n) + "x" + shape, "i1")},
      {"O", tensor("1x" + shape, element)},
      {"V", tensor(shape, element)},
      {"W", tensor(shape, part)},
      {"M", tensor(shape, "i1")},
      {"B", tensor(std::to_string(n) + "x" + shape, part)},
      {"F", part}};
  // A word stands where no letter or digit is beside it, and is no value's
  // name; lists of zeros follow a value's name.
  std::string out;
  StringRef text = solveText;
  while (!text.empty()) {
    const bool joined =
        !out.empty() && (llvm::isAlnum(out.back()) || out.back() == '%');
    const auto *found = llvm::find_if(words, [&](const auto &word) {
      if (!text.starts_with(word.first))
        return false;
      const char after =
          text.size() > word.first.size() ? text[word.first.size()] : ' ';
      if (word.first.starts_with("ZERO"))
        return true;
      return !joined && !llvm::isAlnum(after);
    });
    if (found == std::end(words)) {
      out += text.front();
      text = text.drop_front();
      continue;
    }
    out += found->second;
    text = text.drop_front(found->first.size());
  }
  return out;
}

bool importer::isPerturbedSolve(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == "tridiagonal_solve_perturbed_ffi";
}

/// Between [..., n, k] and [n, ..., k]: dim `from` becomes dim `to`.
static Value moved(OpBuilder &b, Value value, int64_t from, int64_t to) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != from)
      order.push_back(dim);
  order.insert(order.begin() + to, from);
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  OperationState state(
      value.getLoc(), "stablehlo.transpose", value, type.clone(shape),
      {b.getNamedAttr("permutation", b.getDenseI64ArrayAttr(order))});
  return b.create(state)->getResult(0);
}

static LogicalResult writeAsLoops(Operation *op, ModuleOp module,
                                  mlir::SymbolTable &symbols) {
  const auto typeOf = [](Value value) {
    return dyn_cast<RankedTensorType>(value.getType());
  };
  RankedTensorType type =
      op->getNumOperands() == 4 ? typeOf(op->getOperand(3)) : nullptr;
  bool fits = type && type.getRank() >= 2 && op->getNumResults() == 1 &&
              op->getResult(0).getType() == type && type.getNumElements() > 0 &&
              type.getDimSize(type.getRank() - 2) < (int64_t(1) << 31);
  for (unsigned i = 0; fits && i < 3; ++i)
    fits = op->getOperand(i).getType() ==
           RankedTensorType::get(type.getShape().drop_back(),
                                 type.getElementType());
  if (!fits ||
      !(dtensor::partTypeOf(type).isF32() || dtensor::partTypeOf(type).isF64()))
    return op->emitError(
        "expected three diagonals [..., n], right-hand sides [..., n, k] and "
        "solutions like these, of f32, f64 or complex numbers of these");

  OpBuilder b(op);
  const int64_t rank = type.getRank();
  SmallVector<Value> operands;
  for (unsigned i = 0; i < 4; ++i) {
    Value operand = op->getOperand(i);
    if (i < 3) { // one for each right-hand side
      OperationState state(
          op->getLoc(), "stablehlo.broadcast_in_dim", operand, type,
          {b.getNamedAttr("broadcast_dimensions",
                          b.getDenseI64ArrayAttr(llvm::to_vector(
                              llvm::seq<int64_t>(0, rank - 1))))});
      operand = b.create(state)->getResult(0);
    }
    operands.push_back(moved(b, operand, rank - 2, 0));
  }
  std::string name = "tridiagonal_solve_perturbed";
  for (unsigned i = 0; symbols.lookup(name); ++i)
    name = "tridiagonal_solve_perturbed_" + std::to_string(i);
  auto read = mlir::parseSourceString<ModuleOp>(
      written(name, typeOf(operands.back())), module.getContext());
  if (!read)
    return op->emitError("its loops cannot be written");
  StringAttr callee;
  for (auto func : llvm::make_early_inc_range(read->getOps<FuncOp>())) {
    func->remove();
    symbols.insert(func);
    if (func.getSymName() == name)
      callee = func.getSymNameAttr();
  }
  OperationState state(
      op->getLoc(), "func.call", operands, operands.back().getType(),
      {b.getNamedAttr("callee", mlir::FlatSymbolRefAttr::get(callee))});
  Value solved = b.create(state)->getResult(0);
  op->getResult(0).replaceAllUsesWith(moved(b, solved, 0, rank - 2));
  op->erase();
  return success();
}

LogicalResult importer::writePerturbedSolvesAsLoops(ModuleOp module) {
  SmallVector<Operation *> calls;
  module.walk([&](Operation *op) {
    if (isPerturbedSolve(op))
      calls.push_back(op);
  });
  mlir::SymbolTable symbols(module);
  for (Operation *call : calls)
    if (failed(writeAsLoops(call, module, symbols)))
      return failure();
  return success();
}
