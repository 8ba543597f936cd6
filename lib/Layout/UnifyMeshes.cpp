// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// UnifyMeshes: finds the meshes of a function and rewrites its layouts to axes
// of their common refinement, which has none of one device; arguments and
// results keep what was written.

#include "LayoutFlow.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Dialect/DTensor/Wish.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Layout/Passes.h"

namespace meshloom {
#define GEN_PASS_DEF_UNIFYMESHES
#include "meshloom/Layout/Passes.h.inc"

namespace {
/// A mesh of a function, and what is on it that comes first.
struct FoundMesh {
  Mesh mesh;
  Location location;
  std::string where;
  /// Says whether anything is cut over it, or partial.
  bool cuts = false;
  /// Says whether a layout uses an axis of one device.
  bool usesAxisOfOne = false;

  void add(const Layout &layout) {
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      if (layout.uses_axis(axis))
        (mesh.axis_size(axis) > 1 ? cuts : usesAxisOfOne) = true;
  }
};

/// The meshes of a function, in the order of its text.
class FoundMeshes {
public:
  explicit FoundMeshes(mlir::func::FuncOp function) : function(function) {
    for (BlockArgument argument : function.getArguments())
      add(argument.getType(), argument.getLoc(), [&] {
        return "argument " +
               LayoutFlow::argumentName(function, argument.getArgNumber());
      });
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      add(type, function.getLoc(),
          [i = i] { return "result #" + std::to_string(i); });
    function.walk<mlir::WalkOrder::PreOrder>([&](Operation *op) {
      auto where = [&] { return "this " + op->getName().stripDialect().str(); };
      for (Type type : op->getResultTypes())
        add(type, op->getLoc(), where);
      if (auto constraint = dyn_cast<dtensor::ConstraintOp>(op))
        if (auto wish = dtensor::wishOf(constraint)) {
          FoundMesh &found = entryOf(wish->layout.mesh(), op->getLoc(), where);
          found.add(wish->layout);
          for (unsigned axis : wish->replicated)
            (wish->layout.mesh().axis_size(axis) > 1 ? found.cuts
                                                     : found.usesAxisOfOne) =
                true;
        }
      if (op == function.getOperation())
        return;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            add(argument.getType(), argument.getLoc(), where);
    });
    auto module = function->getParentOfType<ModuleOp>();
    if (auto mesh = module ? module->getAttrOfType<dtensor::MeshAttr>(
                                 dtensor::DTensorDialect::meshAttrName)
                           : dtensor::MeshAttr();
        mesh && meshes.empty())
      entryOf(mesh.getMesh(), module.getLoc(), [] { return "the module"; });
  }

  bool hasShards() const { return shards; }
  ArrayRef<FoundMesh> list() const { return meshes; }

private:
  FoundMesh &entryOf(const Mesh &mesh, Location location,
                     function_ref<std::string()> where) {
    for (FoundMesh &found : meshes)
      if (found.mesh == mesh)
        return found;
    return meshes.emplace_back(FoundMesh{mesh, location, where()});
  }

  void add(Type type, Location location, function_ref<std::string()> where) {
    dtensor::LayoutAttr attribute = dtensor::layoutAttrOf(type);
    if (!attribute || !seen.insert(attribute).second)
      return;
    shards |= dtensor::isShard(type);
    Layout layout = attribute.getLayout();
    entryOf(layout.mesh(), location, where).add(layout);
  }

  mlir::func::FuncOp function;
  SmallVector<FoundMesh> meshes;
  llvm::DenseSet<Attribute> seen;
  bool shards = false;
};

/// "mesh <x=2, y=4>".
std::string text(const FoundMesh &found) {
  return "mesh " + found.mesh.spec_string();
}

LogicalResult complain(const FoundMesh &found, const FoundMesh &other,
                       const std::string &why) {
  InFlightDiagnostic error = mlir::emitError(found.location)
                             << found.where << " is on " << text(found)
                             << ", which does not go with " << text(other)
                             << ": " << why;
  error.attachNote(other.location)
      << text(other) << " is from " << other.where << " here";
  return error;
}

/// The mesh that all layouts can be written on, but for axes of one device.
FailureOr<Mesh> refinementOf(ArrayRef<FoundMesh> meshes) {
  const FoundMesh *base = nullptr;
  for (const FoundMesh &found : meshes) {
    if (found.mesh.is_single_device())
      continue;
    if (base && found.mesh.size() != base->mesh.size())
      return complain(found, *base,
                      "it has " + std::to_string(found.mesh.size()) +
                          " devices, not " + std::to_string(base->mesh.size()) +
                          "; all meshes of a function are over the same "
                          "devices");
    if (!base || (found.cuts && !base->cuts))
      base = &found;
  }
  if (!base)
    return withoutAxesOfOne(meshes.front().mesh);
  auto sourceOf = [](const FoundMesh &found) {
    auto axes = found.mesh.axes();
    return SourceMesh{"", {axes.begin(), axes.end()}, {}};
  };
  std::vector<SourceMesh> sources{sourceOf(*base)};
  Mesh refined = base->mesh;
  for (const FoundMesh &found : meshes) {
    // A mesh that cuts nothing can be expressed on any mesh.
    if (&found == base || !found.cuts)
      continue;
    sources.push_back(sourceOf(found));
    auto unified = MeshUnification::of(sources);
    if (!unified)
      return complain(found, *base,
                      unified.error().message() +
                          "; use meshes whose axes' sizes divide one another, "
                          "or bring values to one mesh before");
    if (unified->mesh().size() > 1)
      refined = unified->mesh();
  }
  return withoutAxesOfOne(refined);
}

/// Rewrites layouts.
class Rewriter {
public:
  Rewriter(mlir::func::FuncOp function, Mesh mesh)
      : function(function), mesh(std::move(mesh)) {}

  void run() {
    remember();
    SmallVector<Type> arguments, results;
    for (BlockArgument argument : function.getArguments()) {
      argument.setType(on(argument.getType()));
      arguments.push_back(argument.getType());
    }
    for (Type type : function.getResultTypes())
      results.push_back(on(type));
    function.setFunctionType(
        mlir::FunctionType::get(function.getContext(), arguments, results));
    function.walk([&](Operation *op) {
      if (op == function.getOperation())
        return;
      for (Value result : op->getResults())
        result.setType(on(result.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(on(argument.getType()));
      if (auto constraint = dyn_cast<dtensor::ConstraintOp>(op))
        if (auto wish = dtensor::wishOf(constraint))
          op->setAttr(dtensor::Wish::attrName,
                      on(*wish).toAttr(op->getContext()));
    });
  }

private:
  Layout on(const Layout &layout) const {
    if (layout.mesh().is_single_device())
      return Layout::replicated(mesh, layout.rank());
    return *layoutOn(layout, mesh); // a refinement, so there is one
  }

  Type on(Type type) {
    dtensor::LayoutAttr layout = dtensor::layoutAttrOf(type);
    if (!layout)
      return type;
    Attribute &encoding = rewritten[layout];
    if (!encoding)
      encoding =
          dtensor::LayoutAttr::get(type.getContext(), on(layout.getLayout()));
    RankedTensorType bare = dtensor::undecided(type);
    auto tensor =
        RankedTensorType::get(bare.getShape(), bare.getElementType(), encoding);
    if (isa<dtensor::VariableType>(type))
      return dtensor::VariableType::get(type.getContext(), tensor);
    return tensor;
  }

  dtensor::Wish on(dtensor::Wish wish) const {
    std::vector<unsigned> replicated;
    for (unsigned axis : wish.replicated)
      if (!wish.layout.mesh().is_single_device())
        llvm::append_range(replicated,
                           *axesOn(wish.layout.mesh(), {&axis, 1}, mesh));
    wish.replicated.assign(replicated.begin(), replicated.end());
    wish.layout = on(wish.layout);
    return wish;
  }

  /// Remembers the attributes that arguments and results had before.
  void remember() {
    SmallVector<DictionaryAttr> arguments, results;
    function.getAllArgAttrs(arguments);
    function.getAllResultAttrs(results);
    auto add = [](DictionaryAttr &attributes, Attribute written) {
      mlir::NamedAttrList merged(attributes);
      merged.set(dtensor::writtenAttr, written);
      attributes = merged.getDictionary(written.getContext());
    };
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      if (Attribute written =
              writtenOf(argument.getType(),
                        "argument " + LayoutFlow::argumentName(function, i)))
        add(arguments[i], written);
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (Attribute written = writtenOf(type, "result #" + std::to_string(i)))
        add(results[i], written);
    function.setAllArgAttrs(arguments);
    function.setAllResultAttrs(results);
  }

  /// The layout of `type`, if the program's mesh gives devices the same parts;
  /// else a note.
  Attribute writtenOf(Type type, const std::string &which) {
    dtensor::LayoutAttr attribute = dtensor::layoutAttrOf(type);
    if (!attribute)
      return {};
    Layout layout = attribute.getLayout(), now = on(layout);
    if (layout == now)
      return {};
    SmallVector<int64_t> dims = dtensor::globalShape(type);
    if (haveSameShards(layout, now, Shape(dims.begin(), dims.end())))
      return attribute;
    if (layout.mesh().is_single_device())
      dtensor::addNote(function, which + " is on the one device of mesh " +
                                     layout.mesh().spec_string() +
                                     "; the program gives it to every device");
    else
      dtensor::addNote(function,
                       dtensor::noteOfOtherBlocks(which, now, layout));
    return {};
  }

  mlir::func::FuncOp function;
  const Mesh mesh;
  DenseMap<Attribute, Attribute> rewritten;
};

class UnifyMeshesPass : public impl::UnifyMeshesBase<UnifyMeshesPass> {
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    FoundMeshes found(function);
    if (found.list().empty() || found.hasShards())
      return;
    FailureOr<Mesh> mesh = refinementOf(found.list());
    if (failed(mesh))
      return signalPassFailure();
    auto isAsWritten = [&](const FoundMesh &one) {
      return one.mesh == *mesh && !one.usesAxisOfOne;
    };
    if (llvm::all_of(found.list(), isAsWritten))
      return;
    Rewriter(function, *mesh).run();
    SmallVector<Attribute> meshes;
    for (const FoundMesh &one : found.list())
      if (one.mesh.size() == mesh->size())
        meshes.push_back(dtensor::MeshAttr::get(&getContext(), one.mesh));
    function->setAttr(dtensor::meshesAttr,
                      mlir::ArrayAttr::get(&getContext(), meshes));
  }
};
} // namespace
} // namespace meshloom
