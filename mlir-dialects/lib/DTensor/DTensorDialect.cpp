// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dtensor dialect itself: registration, the cache of Core values, aliases
// in printed IR, the constant materializer, and the module's mesh.

#include "meshloom/Dialect/DTensor/Callback.h"
#include "meshloom/Dialect/DTensor/Map.h"

#include <mutex>
#include <shared_mutex>

using namespace meshloom;
using namespace meshloom::dtensor;

#include "meshloom/Dialect/DTensor/DTensorDialect.cpp.inc"

namespace {

/// Prints `#layout_batch_u` for `[batch, *]`: the name tells the layout.
std::string aliasOf(LayoutAttr layout) {
  std::string name = "layout";
  ArrayRef<StringAttr> axes = layout.getMeshAttr().getNames();
  ArrayRef<unsigned> remaining = layout.getDimAxes();
  for (unsigned count : layout.getAxisCounts()) {
    name += '_';
    if (count == 0)
      name += 'u';
    for (unsigned axis : remaining.take_front(count))
      name += axes[axis].getValue();
    remaining = remaining.drop_front(count);
  }
  for (Partial partial : layout.getPartial()) {
    name += '_';
    name += meshloom::name(partial.kind);
    name += '_';
    name += axes[partial.axis].getValue();
  }
  return name;
}

struct AliasInterface : mlir::OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<MeshAttr>(attr)) {
      os << "mesh";
      return AliasResult::FinalAlias;
    }
    if (auto layout = dyn_cast<LayoutAttr>(attr)) {
      os << aliasOf(layout);
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};

} // namespace

struct DTensorDialect::CoreValues {
  std::shared_mutex mutex;
  DenseMap<MeshAttr, Mesh> meshes;
  DenseMap<LayoutAttr, Layout> layouts;
  /// By text, shapes and all else that an op's rule depends on. Entries stay
  /// where they are.
  llvm::StringMap<ShardingRule> rules;

  /// The value for `attr` in `values`, made by `make` when missing. Values are
  /// never removed; two threads may make the same one, and one is kept.
  template <typename Attr, typename Value, typename Make>
  Value lookup(DenseMap<Attr, Value> &values, Attr attr, Make make) {
    {
      std::shared_lock lock(mutex);
      if (auto found = values.find(attr); found != values.end())
        return found->second;
    }
    Value value = make();
    std::unique_lock lock(mutex);
    return values.try_emplace(attr, std::move(value)).first->second;
  }
};

void DTensorDialect::initialize() {
  coreValues = std::make_shared<CoreValues>();
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/DTensor/DTensorOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/DTensor/DTensorCallbackOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/DTensor/DTensorMapOps.cpp.inc"
      >();
  addInterfaces<AliasInterface>();
}

Mesh DTensorDialect::meshOf(MeshAttr attr) {
  return coreValues->lookup(coreValues->meshes, attr, [&] {
    std::vector<MeshAxis> axes;
    for (auto [name, size] : llvm::zip_equal(attr.getNames(), attr.getSizes()))
      axes.push_back({name.str(), size});
    return *Mesh::get(std::move(axes));
  });
}

Layout DTensorDialect::layoutOf(LayoutAttr attr) {
  return coreValues->lookup(coreValues->layouts, attr, [&] {
    Layout::DimAxes dims;
    ArrayRef<unsigned> remaining = attr.getDimAxes();
    for (unsigned count : attr.getAxisCounts()) {
      dims.emplace_back(remaining.begin(), remaining.begin() + count);
      remaining = remaining.drop_front(count);
    }
    return *Layout::get(attr.getMesh(), std::move(dims),
                        attr.getPartial().vec());
  });
}

const ShardingRule &DTensorDialect::ruleOf(StringRef key,
                                           function_ref<ShardingRule()> parse) {
  {
    std::shared_lock lock(coreValues->mutex);
    if (auto found = coreValues->rules.find(key);
        found != coreValues->rules.end())
      return found->second;
  }
  ShardingRule rule = parse();
  std::unique_lock lock(coreValues->mutex);
  return coreValues->rules.try_emplace(key, std::move(rule)).first->second;
}

Operation *DTensorDialect::materializeConstant(OpBuilder &builder,
                                               Attribute value, Type type,
                                               Location loc) {
  auto elements = dyn_cast<mlir::ElementsAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!elements || !tensor || elements.getType() != undecided(tensor))
    return nullptr;
  return builder.create<ConstantOp>(loc, tensor, elements);
}

LogicalResult
DTensorDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  if (attribute.getName() != meshAttrName)
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitOpError("has '")
           << meshAttrName << "', which belongs on the module";
  if (!isa<MeshAttr>(attribute.getValue()))
    return op->emitOpError("needs a #dtensor.mesh for '")
           << meshAttrName << "', but has " << attribute.getValue();
  return success();
}

MeshAttr dtensor::meshOf(ModuleOp module) {
  MeshAttr found;
  auto look = [&](Type type) {
    if (!found)
      if (LayoutAttr layout = layoutAttrOf(type))
        found = layout.getMeshAttr();
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  module.walk<mlir::WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          if (look(type).wasInterrupted())
            return mlir::WalkResult::interrupt();
    for (Type type : op->getResultTypes())
      if (look(type).wasInterrupted())
        return mlir::WalkResult::interrupt();
    if (auto function = dyn_cast<mlir::FunctionOpInterface>(op))
      for (Type type : function.getResultTypes())
        if (look(type).wasInterrupted())
          return mlir::WalkResult::interrupt();
    return mlir::WalkResult::advance();
  });
  if (found)
    return found;
  if (auto mesh = module->getAttrOfType<MeshAttr>(DTensorDialect::meshAttrName))
    return mesh;
  return MeshAttr::get(module.getContext(), *Mesh::get({{"d", 1}}));
}
