#include "meshloom/SPMD/Signature.h"

#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

namespace {

std::string nameOf(DictionaryAttr attributes, const Twine &otherwise) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>("dtensor.name"))
      return name.str();
  return otherwise.str();
}

/// Of an argument or a result of `function`, called `which` in messages.
FailureOr<ArrayType> arrayType(mlir::func::FuncOp function, Value value,
                               const Mesh &mesh, const Twine &which) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  std::optional<DType> element;
  if (tensor && dtensor::isShard(tensor))
    element = dtensor::dtypeOf(tensor.getElementType());
  if (!element)
    return function.emitError() << which << " has type " << value.getType()
                                << ", no local tensor of a program";
  Layout layout = spmd::layoutOf(tensor);
  if (layout.mesh() != mesh)
    return mlir::emitError(value.getLoc())
           << which << " is on mesh " << layout.mesh().spec_string()
           << ", but others of function '" << function.getName() << "' are on "
           << mesh.spec_string() << ": a program runs on one mesh";
  SmallVector<int64_t> shape = dtensor::globalShape(tensor);
  return ArrayType{*element, Shape(shape.begin(), shape.end()), layout};
}

} // namespace

FailureOr<Signature> signatureOf(mlir::func::FuncOp function) {
  Signature signature{
      function.getName().str(),
      dtensor::meshOf(function->getParentOfType<ModuleOp>()).getMesh(),
      {},
      {}};
  for (auto [i, value] : llvm::enumerate(function.getArguments())) {
    auto array =
        arrayType(function, value, signature.mesh, "argument #" + Twine(i));
    if (failed(array))
      return failure();
    signature.arguments.push_back(
        {nameOf(function.getArgAttrDict(i), "argument " + Twine(i)), *array});
  }
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto array =
        arrayType(function, value, signature.mesh, "result #" + Twine(i));
    if (failed(array))
      return failure();
    signature.results.push_back(
        {nameOf(function.getResultAttrDict(i), "result " + Twine(i)), *array,
         -1});
  }
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto alias = function.getArgAttrOfType<IntegerAttr>(i, "dtensor.alias");
    if (!alias)
      continue;
    if (alias.getInt() < 0 ||
        size_t(alias.getInt()) >= signature.results.size())
      return function.emitError("dtensor.alias = ")
             << alias.getInt() << " of argument #" << i << ": the function has "
             << signature.results.size() << " results";
    // Memory can be shared only where both are laid out alike, which a variable
    // without a layout need not be.
    Signature::Result &result = signature.results[alias.getInt()];
    if (signature.arguments[i].type == result.type)
      result.aliasedArgument = int(i);
  }
  return signature;
}

std::vector<CompiledCollective> collectivesOf(mlir::func::FuncOp function) {
  std::vector<CompiledCollective> found;
  function.walk<mlir::WalkOrder::PreOrder>([&](spmd::CollectiveOpInterface op) {
    if (op.getCollectiveKind() == CollectiveKind::Slice)
      return;
    SmallVector<unsigned> axes = op.getAxisIndices();
    found.push_back({op.getCollectiveKind(),
                     {axes.begin(), axes.end()},
                     op.getResultBytes(),
                     int64_t(op.getInputs().size()),
                     op.getReason().value_or("").str(),
                     {sourcePosition(op->getLoc()).value_or("unknown"),
                      op->getName().stripDialect().str()}});
  });
  return found;
}

} // namespace meshloom
