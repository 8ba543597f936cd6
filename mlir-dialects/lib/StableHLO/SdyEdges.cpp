// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Propagation edges: what Shardy's propagation writes down of its steps. They
// are read and checked, and say nothing that the program means.

#include "Assembly.h"
#include "SdyAxes.h"
#include "SdyText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"

using namespace meshloom;
using namespace meshloom::sdy;
using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::LogicalResult;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `-3` after a word, where the sign is a hyphen: 3.
static ParseResult parseNumberAfterHyphen(AsmParser &parser, int64_t &number) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(number))
    return failure();
  if (number > 0 || number == INT64_MIN)
    return parser.emitError(loc) << "expected a hyphen and a number";
  number = -number;
  return success();
}

Attribute EdgeValueRefAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef kind;
  int64_t index;
  if (parser.parseKeyword(&kind))
    return {};
  if (kind != "operand" && kind != "result") {
    parser.emitError(loc) << "expected operand or result, but got " << kind;
    return {};
  }
  if (parseNumberAfterHyphen(parser, index))
    return {};
  return get(parser.getContext(), kind == "result", index);
}

void EdgeValueRefAttr::print(AsmPrinter &printer) const {
  printer << (getIsResult() ? "result-" : "operand-") << getIndex();
}

Attribute AxisToPropagationDetailsAttr::parse(AsmParser &parser, Type) {
  AxisRefAttr axis;
  EdgeValueRefAttr source;
  SmallVector<EdgeValueRefAttr> targets;
  if (parser.parseLBrace() || parseOne(parser, axis) || parser.parseEqual() ||
      parseOne(parser, source) || parser.parseArrow() ||
      sdy::parseList(parser, targets) || parser.parseRBrace())
    return {};
  return get(parser.getContext(), axis, source, targets);
}

void AxisToPropagationDetailsAttr::print(AsmPrinter &printer) const {
  printer << '{';
  getAxis().print(printer);
  printer << " = ";
  getSource().print(printer);
  printer << " -> ";
  sdy::printList(printer, getTargets());
  printer << '}';
}

Attribute PropagationOneStepAttr::parse(AsmParser &parser, Type) {
  int64_t step;
  SmallVector<AxisToPropagationDetailsAttr> axes;
  if (parser.parseLBrace() || parser.parseKeyword("step") ||
      parseNumberAfterHyphen(parser, step) || parser.parseEqual() ||
      sdy::parseList(parser, axes) || parser.parseRBrace())
    return {};
  return get(parser.getContext(), step, axes);
}

void PropagationOneStepAttr::print(AsmPrinter &printer) const {
  printer << "{step-" << getStep() << " = ";
  sdy::printList(printer, getAxes());
  printer << '}';
}

Attribute PropagationEdgesAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<PropagationOneStepAttr> steps;
  if (parser.parseLess() || sdy::parseList(parser, steps) ||
      parser.parseGreater())
    return {};
  auto report = [&] { return parser.emitError(loc); };
  llvm::function_ref<mlir::InFlightDiagnostic()> emitError(report);
  return getChecked(emitError, parser.getContext(),
                    ArrayRef<PropagationOneStepAttr>(steps));
}

void PropagationEdgesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  sdy::printList(printer, getSteps());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult PropagationEdgesAttr::verify(
    llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
    ArrayRef<PropagationOneStepAttr> steps) {
  llvm::SmallSet<int64_t, 8> numbers;
  for (PropagationOneStepAttr step : steps) {
    if (!numbers.insert(step.getStep()).second)
      return emitError() << "propagation edges have step " << step.getStep()
                         << " twice";
    for (AxisToPropagationDetailsAttr axis : step.getAxes()) {
      ArrayRef<EdgeValueRefAttr> targets = axis.getTargets();
      if (llvm::is_contained(targets, axis.getSource()))
        return emitError() << "propagation edges have axis '"
                           << axis.getAxis().getName() << "' come to a value "
                           << "from itself in step " << step.getStep();
      for (auto [i, target] : llvm::enumerate(targets))
        if (llvm::is_contained(targets.take_front(i), target))
          return emitError() << "propagation edges have axis '"
                             << axis.getAxis().getName() << "' come to a value "
                             << "twice in step " << step.getStep();
    }
  }
  return success();
}

/// The value of `op` that `ref` names, or null.
static Value valueOf(Operation *op, EdgeValueRefAttr ref) {
  int64_t count =
      ref.getIsResult() ? op->getNumResults() : op->getNumOperands();
  if (ref.getIndex() >= count)
    return {};
  unsigned index = unsigned(ref.getIndex());
  return ref.getIsResult() ? Value(op->getResult(index))
                           : op->getOperand(index);
}

LogicalResult sdy::verifyEdges(Operation *op, PropagationEdgesAttr edges) {
  MeshAttr mesh;
  // The edges of a function are about values of other functions, too.
  const bool isInside = !isa<FuncDataFlowEdgeOp>(op);
  auto visit = [&](EdgeValueRefAttr ref) -> LogicalResult {
    Value value = valueOf(op, ref);
    if (!value && isInside)
      return op->emitOpError("its propagation edges name ")
             << (ref.getIsResult() ? "result" : "operand") << " #"
             << ref.getIndex() << ", but the op has "
             << (ref.getIsResult() ? op->getNumResults()
                                   : op->getNumOperands());
    auto sharding = value ? shardingOf(value) : TensorShardingAttr();
    MeshAttr its = sharding ? meshOf(op, sharding.getMeshOrRef()) : MeshAttr();
    if (!its || its == mesh || its.getAxes().empty())
      return success();
    if (mesh)
      return op->emitOpError(
          "its propagation edges are between shardings over several meshes");
    mesh = its;
    return success();
  };
  for (PropagationOneStepAttr step : edges.getSteps())
    for (AxisToPropagationDetailsAttr axis : step.getAxes()) {
      if (failed(visit(axis.getSource())))
        return failure();
      for (EdgeValueRefAttr target : axis.getTargets())
        if (failed(visit(target)))
          return failure();
    }
  if (!mesh)
    return op->emitOpError("has propagation edges, but none of the values that "
                           "they name has a sharding");
  for (PropagationOneStepAttr step : edges.getSteps())
    for (AxisToPropagationDetailsAttr axis : step.getAxes())
      if (!partOf(mesh, axis.getAxis()))
        return op->emitOpError("its propagation edges name axis '")
               << axis.getAxis().getName()
               << "', which is not in the mesh of its shardings, or a part "
                  "that the axis does not have";
  return success();
}
