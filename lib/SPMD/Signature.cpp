// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/SPMD/Signature.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include <cmath>

namespace meshloom {

namespace {

std::string nameOf(DictionaryAttr attributes, const Twine &otherwise) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>(dtensor::nameAttr))
      return name.str();
  return otherwise.str();
}

class SignatureBuilder {
public:
  SignatureBuilder(mlir::func::FuncOp function, Mesh mesh)
      : function(function), mesh(std::move(mesh)),
        meshes(dtensor::writtenMeshes(function)) {}

  /// Returns the type of an argument or a result with `attributes`, called
  /// `which` in messages.
  FailureOr<ArrayType> arrayType(Value value, DictionaryAttr attributes,
                                 const Twine &which) const {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    std::optional<DType> element;
    if (tensor && dtensor::isShard(tensor))
      element = dtensor::dtypeOf(tensor.getElementType());
    if (!element)
      return function.emitError() << which << " has type " << value.getType()
                                  << ", no local tensor of a program";
    Layout layout = spmd::layoutOf(tensor);
    SmallVector<int64_t> dims = dtensor::globalShape(tensor);
    Shape shape(dims.begin(), dims.end());
    FailureOr<Layout> writtenLayout =
        written(layout, shape, value, attributes, which);
    if (failed(writtenLayout))
      return failure();
    return ArrayType{*element, std::move(shape), std::move(*writtenLayout)};
  }

  /// The notes on the values of argument `i`, which is of type `type`.
  FailureOr<InputNotes> inputNotes(unsigned i, DType type) const {
    InputNotes notes;
    if (auto bits =
            function.getArgAttrOfType<IntegerAttr>(i, dtensor::bitsAttr))
      notes.bits = bits.getInt();
    Attribute range = function.getArgAttr(i, dtensor::inputRangeAttr);
    auto ends = dyn_cast_or_null<mlir::DenseF64ArrayAttr>(range);
    if (ends && ends.size() == 2)
      notes.range = {ends[0], ends[1]};
    else if (range)
      notes.range = {NAN, NAN}; // what no range is
    if (Status fits = verifyInputNotes(notes, type); !fits)
      return mlir::emitError(function.getArgument(i).getLoc())
             << "argument #" << i << " has " << dtensor::inputRangeAttr << " = "
             << range << ": " << fits.error().message();
    return notes;
  }

private:
  /// The layout as the user wrote it, or would write it.
  FailureOr<Layout> written(const Layout &layout, const Shape &shape,
                            Value value, DictionaryAttr attributes,
                            const Twine &which) const {
    if (Attribute attribute =
            attributes ? attributes.get(dtensor::writtenAttr) : Attribute()) {
      auto layoutAttribute = dyn_cast<dtensor::LayoutAttr>(attribute);
      if (layoutAttribute &&
          haveSameShards(layoutAttribute.getLayout(), layout, shape))
        return layoutAttribute.getLayout();
      return mlir::emitError(value.getLoc())
             << which << " has " << dtensor::writtenAttr << " = " << attribute
             << ", which does not cut it as " << layout.spec_string() << " on "
             << mesh.spec_string() << " does";
    }
    for (const Mesh &writtenMesh : meshes)
      if (auto found = layoutOn(layout, writtenMesh);
          found && haveSameShards(*found, layout, shape))
        return *found;
    return layout;
  }

  mutable mlir::func::FuncOp function;
  const Mesh mesh;
  SmallVector<Mesh> meshes; ///< the user's
};

} // namespace

FailureOr<Signature> signatureOf(mlir::func::FuncOp function) {
  FailureOr<Mesh> mesh = onlyMesh(function);
  if (failed(mesh))
    return failure();
  SignatureBuilder builder(function, *mesh);
  Signature signature{function.getName().str(), *mesh, {}, {}};
  for (auto [i, value] : llvm::enumerate(function.getArguments())) {
    DictionaryAttr attributes = function.getArgAttrDict(i);
    auto array = builder.arrayType(value, attributes, "argument #" + Twine(i));
    if (failed(array))
      return failure();
    auto notes = builder.inputNotes(unsigned(i), array->dtype);
    if (failed(notes))
      return failure();
    signature.arguments.push_back(
        {nameOf(attributes, "argument " + Twine(i)), *array, *notes});
  }
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    DictionaryAttr attributes = function.getResultAttrDict(i);
    auto array = builder.arrayType(value, attributes, "result #" + Twine(i));
    if (failed(array))
      return failure();
    signature.results.push_back(
        {nameOf(attributes, "result " + Twine(i)), *array, -1});
  }
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto alias = function.getArgAttrOfType<IntegerAttr>(i, dtensor::aliasAttr);
    if (!alias)
      continue;
    if (alias.getInt() < 0 ||
        size_t(alias.getInt()) >= signature.results.size())
      return function.emitError("dtensor.alias = ")
             << alias.getInt() << " of argument #" << i << ": the function has "
             << signature.results.size() << " results";
    // Memory can be shared only where both are laid out alike, which a variable
    // without a layout need not be.
    if (function.getArgument(i).getType() ==
        end->getOperand(unsigned(alias.getInt())).getType())
      signature.results[alias.getInt()].aliasedArgument = int(i);
  }
  if (auto devices =
          function->getAttrOfType<DenseI64ArrayAttr>(dtensor::devicesAttr)) {
    signature.deviceOrder.assign(devices.asArrayRef().begin(),
                                 devices.asArrayRef().end());
    if (Status ok = verifyDeviceOrder(signature.deviceOrder, signature.mesh);
        !ok)
      return mlir::emitError(function.getLoc())
             << dtensor::devicesAttr << " = " << devices << ": "
             << ok.error().message();
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
