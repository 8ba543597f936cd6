// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shardings: finds the module's meshes and annotations, unifies the meshes, and
// translates each annotation. Nothing here decides what an annotation does:
// Wishes.cpp does.
#include "Shardings.h"

#include "meshloom/Core/ReshapeCuts.h"
#include "meshloom/Core/SubAxis.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallSet.h"

using namespace meshloom;
using namespace meshloom::importer;

bool ValueSharding::hasOpenDim() const {
  return llvm::any_of(dims, [](const Dim &dim) { return dim.isOpen; });
}
bool ValueSharding::hasAxes() const {
  return !unreduced.empty() ||
         llvm::any_of(dims, [](const Dim &dim) { return !dim.axes.empty(); });
}

Attribute importer::shardingIn(DictionaryAttr attributes) {
  if (!attributes)
    return {};
  if (Attribute sharding = attributes.get(shardyName)) {
    auto perValue = dyn_cast<sdy::TensorShardingPerValueAttr>(sharding);
    if (!perValue)
      return sharding;
    if (perValue.getShardings().size() == 1)
      return perValue.getShardings().front();
  }
  return attributes.get(gspmdName);
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

/// The mesh of a program that declares none.
static constexpr StringRef allDevices = "of all devices";

int64_t importer::deviceCount(const SourceMesh &mesh) {
  int64_t count = 1;
  for (const MeshAxis &axis : mesh.axes)
    count *= axis.size;
  return count;
}

bool Shardings::hasSeveralDevices() const {
  return llvm::any_of(
      sources, [](const SourceMesh &mesh) { return deviceCount(mesh) > 1; });
}

std::optional<int64_t>
Shardings::onlyDeviceOf(std::optional<size_t> mesh) const {
  if (!mesh || *mesh == SIZE_MAX || deviceCount(sources[*mesh]) > 1 ||
      !hasSeveralDevices())
    return std::nullopt;
  const std::vector<int64_t> &ids = sources[*mesh].deviceIds;
  return ids.empty() ? 0 : ids.front();
}

size_t Shardings::addMesh(SourceMesh source, Location loc) {
  sources.push_back(std::move(source));
  sourceLocs.push_back(loc);
  return sources.size() - 1;
}

/// A mesh that a collective writes out.
static SourceMesh sourceOf(stablehlo::MeshAttr mesh) {
  SourceMesh result{"of replica groups", {}, {}};
  for (stablehlo::MeshAxisAttr axis : mesh.getAxes())
    result.axes.push_back({axis.getName().str(), axis.getSize()});
  if (mlir::DenseIntElementsAttr ids = mesh.getDeviceIds())
    for (const llvm::APInt &id : ids.getValues<llvm::APInt>())
      result.deviceIds.push_back(id.getSExtValue());
  return result;
}

static SourceMesh sourceOf(sdy::MeshAttr mesh, std::string name) {
  SourceMesh result{std::move(name), {}, {}};
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    result.axes.push_back({axis.getName().str(), axis.getSize()});
  result.deviceIds.assign(mesh.getDeviceIds().begin(),
                          mesh.getDeviceIds().end());
  return result;
}

std::optional<size_t> Shardings::indexIfDeclared(Attribute meshOrRef) const {
  if (auto symbol = dyn_cast<mlir::FlatSymbolRefAttr>(meshOrRef)) {
    auto entry = named.find(symbol.getValue().str());
    return entry == named.end() ? std::nullopt : std::optional(entry->second);
  }
  auto entry = inlined.find(meshOrRef);
  return entry == inlined.end() ? std::nullopt : std::optional(entry->second);
}

FailureOr<size_t> Shardings::indexOf(Location loc, Attribute meshOrRef) {
  if (auto number = indexIfDeclared(meshOrRef))
    return *number;
  if (auto mesh = dyn_cast<sdy::MeshAttr>(meshOrRef))
    return inlined[mesh] = addMesh(sourceOf(mesh, ""), loc);
  if (auto mesh = dyn_cast<stablehlo::MeshAttr>(meshOrRef))
    return inlined[mesh] = addMesh(sourceOf(mesh), loc);
  return mlir::emitError(loc) << "there is no mesh " << meshOrRef;
}

LogicalResult Shardings::addAxis(Location loc, size_t which, StringRef name,
                                 int64_t before, int64_t size) {
  if (which == SIZE_MAX)
    return mlir::emitError(loc)
           << "there is no axis '" << name << "': the mesh has no axes";
  const SourceMesh &source = sources[which];
  bool exists = llvm::any_of(
      source.axes, [&](const MeshAxis &axis) { return axis.name == name; });
  if (!exists)
    return mlir::emitError(loc) << "there is no axis '" << name << "' in mesh "
                                << source.to_string();
  if (size == 0)
    return success();
  uses.push_back({which, {name.str(), before, size}});
  useLocs.push_back(loc);
  return success();
}

static SubAxis subAxisOf(sdy::AxisRefAttr axis) {
  if (sdy::SubAxisInfoAttr part = axis.getSubAxisInfo())
    return {axis.getName().str(), part.getPreSize(), part.getSize()};
  return {axis.getName().str()};
}

/// A mesh without axes shards nothing.
static bool isEmptyMesh(Attribute meshOrRef, const SourceMesh *source) {
  if (auto mesh = dyn_cast<sdy::MeshAttr>(meshOrRef))
    return mesh.getAxes().empty() && mesh.getDeviceIds().empty();
  return source && source->axes.empty();
}

LogicalResult Shardings::addUses(Location loc, Attribute attribute,
                                 TypeRange types) {
  LogicalResult result = success();
  attribute.walk([&](sdy::TensorShardingAttr sharding) {
    if (isEmptyMesh(sharding.getMeshOrRef(), nullptr))
      return mlir::WalkResult::advance();
    FailureOr<size_t> which = indexOf(loc, sharding.getMeshOrRef());
    auto add = [&](ArrayRef<sdy::AxisRefAttr> axes) {
      for (sdy::AxisRefAttr axis : axes) {
        SubAxis part = subAxisOf(axis);
        if (succeeded(result))
          result = addAxis(loc, *which, part.axis, part.before, part.size);
      }
    };
    if (failed(which)) {
      result = failure();
      return mlir::WalkResult::interrupt();
    }
    auto type = types.size() == 1 ? dyn_cast<RankedTensorType>(types.front())
                                  : RankedTensorType();
    for (auto [d, dim] : llvm::enumerate(sharding.getDimShardings())) {
      add(dim.getAxes());
      if (dim.getAxes().empty() || !type || int64_t(d) >= type.getRank())
        continue;
      ShardedDim &sharded =
          shardedDims.emplace_back(*which, type.getDimSize(d));
      for (sdy::AxisRefAttr axis : dim.getAxes())
        sharded.axes.push_back(subAxisOf(axis));
    }
    add(sharding.getReplicatedAxes());
    add(sharding.getUnreducedAxes());
    return succeeded(result) ? mlir::WalkResult::advance()
                             : mlir::WalkResult::interrupt();
  });
  attribute.walk([&](stablehlo::ReplicaGroupMeshAxesAttr groups) {
    FailureOr<size_t> which = failure();
    if (succeeded(result))
      result = which = indexOf(loc, groups.getMesh());
    for (Attribute element : groups.getAxes())
      if (auto axis = dyn_cast<stablehlo::AxisRefAttr>(element))
        if (stablehlo::SubAxisInfoAttr part = axis.getSubAxisInfo())
          if (succeeded(result))
            result = addAxis(loc, *which, axis.getName(), part.getPreSize(),
                             part.getSize());
  });
  return result;
}

LogicalResult Shardings::addGspmd(Location loc, StringRef text,
                                  TypeRange types) {
  auto parts = splitGspmdTuple(text.str());
  if (!parts)
    return mlir::emitError(loc) << parts.error().message();
  for (auto [i, part] : llvm::enumerate(*parts)) {
    auto parsed = GspmdSharding::parse(part);
    if (!parsed)
      return mlir::emitError(loc) << parsed.error().message();
    gspmdParsed.emplace(part, *parsed);
    if (parsed->kind != GspmdSharding::Kind::Tiled)
      continue;
    // No mesh is declared: the devices, one after another.
    if (!hasSeveralDevices() && parsed->devices.size() > 1)
      addMesh({allDevices.str(),
               {{"devices", int64_t(parsed->devices.size())}},
               {}},
              loc);
    if (!gspmd.count(part))
      gspmd[part] = addMesh(parsed->mesh(part), loc);
    auto type = parts->size() == types.size()
                    ? dyn_cast<RankedTensorType>(types[i])
                    : RankedTensorType();
    if (!type || size_t(type.getRank()) != parsed->rank())
      continue;
    for (size_t d = 0; d < parsed->rank(); ++d)
      if (parsed->tiles[d] > 1)
        shardedDims.push_back({gspmd[part],
                               type.getDimSize(int64_t(d)),
                               {SubAxis{"dim" + std::to_string(d)}}});
  }
  return success();
}

/// The public functions of `module`, and those that they refer to.
static llvm::SmallPtrSet<Operation *, 8> usedFunctions(ModuleOp module) {
  llvm::SmallPtrSet<Operation *, 8> used;
  SmallVector<mlir::func::FuncOp> waiting;
  auto add = [&](mlir::func::FuncOp func) {
    if (func && used.insert(func).second)
      waiting.push_back(func);
  };
  mlir::SymbolTable symbols(module);
  for (auto func : module.getOps<mlir::func::FuncOp>())
    if (!func.isPrivate())
      add(func);
  while (!waiting.empty())
    waiting.pop_back_val().walk([&](Operation *op) {
      op->getAttrDictionary().walk([&](mlir::FlatSymbolRefAttr symbol) {
        add(symbols.lookup<mlir::func::FuncOp>(symbol.getValue()));
      });
    });
  return used;
}

/// Calls `visit` with every annotation of `module` and its place, but for those
/// in private functions that nothing calls.
static LogicalResult visitAnnotations(
    ModuleOp module,
    function_ref<LogicalResult(Location, Attribute, TypeRange)> visit) {
  const auto used = usedFunctions(module);
  auto result = module.walk<mlir::WalkOrder::PreOrder>([&](Operation *op)
                                                           -> mlir::WalkResult {
    if (isa<sdy::MeshOp>(op))
      return mlir::WalkResult::advance();
    auto func = dyn_cast<mlir::func::FuncOp>(op);
    if (func && !used.contains(func))
      return mlir::WalkResult::skip();
    if (!func || func.isExternal())
      return mlir::WalkResult(
          visit(op->getLoc(), op->getAttrDictionary(), op->getResultTypes()));
    for (BlockArgument argument : func.getArguments())
      if (auto attributes = func.getArgAttrDict(argument.getArgNumber()))
        if (failed(visit(argument.getLoc(), attributes, argument.getType())))
          return mlir::WalkResult::interrupt();
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (auto attributes = func.getResultAttrDict(i))
        if (failed(visit(func.getLoc(), attributes, func.getResultTypes()[i])))
          return mlir::WalkResult::interrupt();
    return mlir::WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<Shardings> Shardings::collect(ModuleOp module) {
  Shardings result;
  llvm::SmallSet<StringRef, 4> referenced;
  (void)visitAnnotations(module,
                         [&](Location, Attribute attributes, TypeRange) {
                           attributes.walk([&](mlir::FlatSymbolRefAttr symbol) {
                             referenced.insert(symbol.getValue());
                           });
                           return success();
                         });
  // A mesh that nothing refers to may still say how many devices there are.
  sdy::MeshOp unused;
  for (auto mesh : module.getOps<sdy::MeshOp>()) {
    sdy::MeshAttr attribute = mesh.getMesh();
    bool used = referenced.contains(mesh.getSymName());
    if (attribute.getAxes().empty() && attribute.getDeviceIds().empty()) {
      if (used)
        result.named[mesh.getSymName().str()] = SIZE_MAX;
      continue;
    }
    if (!used) {
      if (!unused && !attribute.getAxes().empty())
        unused = mesh;
      continue;
    }
    std::string name = "@" + mesh.getSymName().str();
    result.named[mesh.getSymName().str()] =
        result.addMesh(sourceOf(attribute, name), mesh.getLoc());
  }
  if (!result.hasSeveralDevices() && unused)
    result.named[unused.getSymName().str()] = result.addMesh(
        sourceOf(unused.getMesh(), "@" + unused.getSymName().str()),
        unused.getLoc());

  auto add = [&](Location loc, Attribute attributes,
                 TypeRange types) -> LogicalResult {
    if (failed(result.addUses(loc, attributes, types)))
      return failure();
    if (auto text = dyn_cast_or_null<StringAttr>(
            cast<DictionaryAttr>(attributes).get(gspmdName)))
      return result.addGspmd(loc, text.getValue(), types);
    return success();
  };
  if (failed(visitAnnotations(module, add)))
    return failure();
  if (failed(result.unify()))
    return failure();
  result.cutForReshapes(module);
  result.cutForGroups(module);
  result.mesh = result.unification
                    ? dtensor::MeshAttr::get(module.getContext(),
                                             result.unification->mesh())
                    : dtensor::meshOf(module);
  return result;
}

LogicalResult Shardings::unify() {
  if (sources.empty())
    return success();
  auto whole = MeshUnification::of(sources, uses);
  if (!whole && sources.front().name == allDevices && sources.size() > 1) {
    // They may all have one order of their own.
    std::vector<int64_t> standard =
        std::exchange(sources.front().deviceIds, sources[1].deviceIds);
    if (auto ordered = MeshUnification::of(sources, uses))
      whole = std::move(ordered);
    else
      sources.front().deviceIds = std::move(standard);
  }
  if (!whole && takeFirstOrder())
    whole = MeshUnification::of(sources, uses);
  if (whole) {
    unification = std::move(*whole);
    return success();
  }
  // Find the first annotation that does not fit with those before it.
  std::vector<SourceMesh> some;
  for (auto [source, loc] : llvm::zip_equal(sources, sourceLocs)) {
    some.push_back(source);
    if (auto part = MeshUnification::of(some); !part)
      return mlir::emitError(loc) << part.error().message();
  }
  for (size_t count = 1; count <= uses.size(); ++count) {
    std::vector<AxisUse> first(uses.begin(), uses.begin() + int64_t(count));
    if (auto part = MeshUnification::of(sources, first); !part)
      return mlir::emitError(useLocs[count - 1]) << part.error().message();
  }
  return mlir::emitError(sourceLocs[0]) << whole.error().message();
}

void Shardings::cutForReshapes(ModuleOp module) {
  if (shardedDims.empty())
    return;
  ReshapeCuts cuts;
  module.walk([&](stablehlo::ReshapeOp op) {
    auto from = dyn_cast<RankedTensorType>(op.getOperand().getType());
    auto to = dyn_cast<RankedTensorType>(op.getResult().getType());
    if (from && to && from.hasStaticShape() && to.hasStaticShape() &&
        from.getNumElements() == to.getNumElements())
      cuts.addReshape({from.getShape().begin(), from.getShape().end()},
                      {to.getShape().begin(), to.getShape().end()});
  });
  // The axes of all meshes, numbered.
  std::vector<std::pair<size_t, std::string>> axes;
  auto numberOf = [&](size_t mesh, const std::string &name) {
    auto found = llvm::find(axes, std::pair(mesh, name));
    if (found == axes.end())
      found = axes.insert(found, {mesh, name});
    return unsigned(found - axes.begin());
  };
  for (const ShardedDim &dim : shardedDims) {
    std::vector<AxisPart> parts;
    int64_t shards = 1;
    for (const SubAxis &axis : dim.axes) {
      int64_t size = axis.size;
      if (axis.isWhole())
        size = llvm::find_if(sources[dim.mesh].axes,
                             [&](const MeshAxis &meshAxis) {
                               return meshAxis.name == axis.axis;
                             })
                   ->size;
      parts.push_back({numberOf(dim.mesh, axis.axis), axis.before, size});
      shards *= size;
    }
    // Blocks of uneven dims are not those of a cut axis.
    if (dim.extent % shards == 0)
      cuts.addDim(dim.extent, std::move(parts));
  }
  std::vector<AxisUse> more = uses;
  for (const AxisPart &part : cuts.find())
    more.push_back({axes[part.axis].first,
                    {axes[part.axis].second, part.before, part.size}});
  // Where the parts do not fit with others, the axes stay as they are.
  if (more.size() > uses.size())
    if (auto cut = MeshUnification::of(sources, more)) {
      unification = std::move(*cut);
      uses = std::move(more);
    }
}

void Shardings::cutForGroups(ModuleOp module) {
  llvm::SmallPtrSet<void *, 4> seen;
  module.walk([&](Operation *op) {
    auto groups =
        op->getAttrOfType<mlir::DenseIntElementsAttr>("replica_groups");
    if (!unification || !groups || groups.getType().getRank() != 2 ||
        !seen.insert(const_cast<void *>(groups.getAsOpaquePointer())).second)
      return;
    int64_t count = groups.getType().getDimSize(0),
            size = groups.getType().getDimSize(1);
    if (count < 2 || size < 2)
      return;
    std::vector<SourceMesh> more = sources;
    SourceMesh &mesh = more.emplace_back(
        SourceMesh{"of replica groups", {{"group", count}, {"member", size}}});
    for (const llvm::APInt &device : groups.getValues<llvm::APInt>())
      mesh.deviceIds.push_back(device.getSExtValue());
    // Groups that are not along parts of axes stay a matter of the collective.
    if (auto cut = MeshUnification::of(more, uses)) {
      unification = std::move(*cut);
      sources = std::move(more);
      sourceLocs.push_back(op->getLoc());
    }
  });
}

//===----------------------------------------------------------------------===//
// Translating
//===----------------------------------------------------------------------===//

static ReduceKind reduceKindOf(sdy::ReductionOp op) {
  switch (op) {
  case sdy::ReductionOp::SUM:
    return ReduceKind::Sum;
  case sdy::ReductionOp::MAX:
    return ReduceKind::Max;
  case sdy::ReductionOp::MIN:
    return ReduceKind::Min;
  }
  return ReduceKind::Sum;
}

/// The dialect's verifiers have seen it: ranks fit, no axis is used twice.
ValueSharding Shardings::ofShardy(sdy::TensorShardingAttr sharding,
                                  RankedTensorType type) const {
  ValueSharding result;
  std::optional<size_t> which;
  if (!isEmptyMesh(sharding.getMeshOrRef(), nullptr))
    which = indexIfDeclared(sharding.getMeshOrRef());
  if (which == SIZE_MAX)
    which.reset();
  result.onlyDevice = onlyDeviceOf(which);
  // One device without axes: dims need not be listed.
  if (which && sources[*which].axes.empty() &&
      sharding.getDimShardings().empty()) {
    result.dims.resize(type.getRank());
    return result;
  }
  auto axesOf = [&](ArrayRef<sdy::AxisRefAttr> refs) {
    SmallVector<unsigned> axes;
    for (sdy::AxisRefAttr ref : refs)
      if (which)
        llvm::append_range(axes, unification->axes({*which, subAxisOf(ref)}));
    return axes;
  };
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    ValueSharding::Dim &wish = result.dims.emplace_back();
    wish.axes = axesOf(dim.getAxes());
    wish.isOpen = !dim.getIsClosed();
    wish.priority = dim.getPriority().value_or(0);
  }
  result.replicated = axesOf(sharding.getReplicatedAxes());
  result.unreduced = axesOf(sharding.getUnreducedAxes());
  result.unreducedKind = reduceKindOf(sharding.getReductionOp());
  return result;
}

FailureOr<ValueSharding> Shardings::ofGspmd(Location loc, StringRef text,
                                            RankedTensorType type) const {
  auto entry = gspmdParsed.find(text.str());
  if (entry == gspmdParsed.end())
    return mlir::emitError(loc)
           << "one value has several shardings: '" << text << "'";
  const GspmdSharding &parsed = entry->second;
  ValueSharding result;
  result.dims.resize(type.getRank());
  result.group = parsed.group;
  for (ValueSharding::Dim &dim : result.dims)
    dim.isOpen = parsed.kind == GspmdSharding::Kind::Unknown;
  if (parsed.kind == GspmdSharding::Kind::Maximal && hasSeveralDevices())
    result.onlyDevice = parsed.device;
  if (parsed.kind == GspmdSharding::Kind::Tiled)
    result.onlyDevice = onlyDeviceOf(gspmd.at(text.str()));
  if (parsed.kind == GspmdSharding::Kind::Manual && hasSeveralDevices())
    for (unsigned axis = 0; axis < unification->mesh().rank(); ++axis)
      result.manual.push_back(axis);
  if (parsed.kind != GspmdSharding::Kind::Tiled)
    return result;
  if (int64_t(parsed.rank()) != type.getRank())
    return mlir::emitError(loc)
           << "the sharding has " << parsed.rank() << " dim"
           << (parsed.rank() == 1 ? "" : "s") << ", but the value has rank "
           << type.getRank();
  size_t which = gspmd.at(text.str());
  for (size_t i = 0; i < parsed.tiles.size(); ++i) {
    std::vector<unsigned> axes =
        unification->axes({which, {"dim" + std::to_string(i)}});
    if (i < parsed.rank())
      result.dims[i].axes.assign(axes.begin(), axes.end());
    else if (parsed.lastDims[i - parsed.rank()] ==
             GspmdSharding::LastDim::Manual)
      result.manual.append(axes.begin(), axes.end());
  }
  llvm::sort(result.manual);
  return result;
}

FailureOr<ValueSharding> Shardings::of(Location loc, Attribute attribute,
                                       RankedTensorType type) const {
  if (auto sharding = dyn_cast<sdy::TensorShardingAttr>(attribute))
    return ofShardy(sharding, type);
  if (auto text = dyn_cast<StringAttr>(attribute))
    return ofGspmd(loc, text.getValue(), type);
  return mlir::emitError(loc) << "expected a sharding, got " << attribute;
}

bool Shardings::isForTuple(Attribute attribute) const {
  auto text = dyn_cast<StringAttr>(attribute);
  auto entry = text ? gspmdParsed.find(text.str()) : gspmdParsed.end();
  return entry != gspmdParsed.end() &&
         entry->second.kind != GspmdSharding::Kind::Tiled;
}

std::optional<Layout> Shardings::written(Attribute attribute) const {
  auto sharding = dyn_cast_or_null<sdy::TensorShardingAttr>(attribute);
  // Propagation adds axes to open dims.
  if (sharding && sharding.getUnreducedAxes().empty() &&
      llvm::any_of(sharding.getDimShardings(),
                   [](auto dim) { return !dim.getIsClosed(); }))
    return std::nullopt;
  auto which =
      sharding ? indexIfDeclared(sharding.getMeshOrRef()) : std::nullopt;
  if (!which || *which == SIZE_MAX || !unification->isAligned(*which))
    return std::nullopt;
  // An axis that is named in parts is listed in them.
  std::map<std::string, std::set<int64_t>> cuts;
  sharding.walk([&](sdy::AxisRefAttr ref) {
    if (SubAxis part = subAxisOf(ref); !part.isWhole())
      cuts[part.axis].insert({part.before, part.before * part.size});
  });
  std::vector<MeshAxis> axes;
  for (const MeshAxis &axis : sources[*which].axes) {
    auto found = cuts.find(axis.name);
    if (found == cuts.end()) {
      axes.push_back(axis);
      continue;
    }
    found->second.insert({1, axis.size});
    for (auto place = found->second.begin(), next = std::next(place);
         next != found->second.end(); ++place, ++next) {
      SubAxis part{axis.name, *place, *next / *place};
      axes.push_back(
          {part.size == axis.size ? axis.name : part.to_string(), part.size});
    }
  }
  auto mesh = Mesh::get(std::move(axes));
  if (!mesh)
    return std::nullopt;
  std::vector<DimSpec> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    std::vector<std::string> names;
    for (sdy::AxisRefAttr ref : dim.getAxes())
      names.push_back(subAxisOf(ref).to_string());
    dims.emplace_back(Axes(std::move(names)));
  }
  std::vector<std::pair<std::string, ReduceKind>> partial;
  for (sdy::AxisRefAttr ref : sharding.getUnreducedAxes())
    partial.emplace_back(subAxisOf(ref).to_string(),
                         reduceKindOf(sharding.getReductionOp()));
  auto layout = Layout::get(std::move(dims), *mesh, std::move(partial));
  return layout ? std::optional(std::move(*layout)) : std::nullopt;
}

std::vector<Mesh> Shardings::writtenMeshes() const {
  std::set<size_t> indices;
  for (const auto &[name, index] : named)
    indices.insert(index);
  for (const auto &[mesh, index] : inlined)
    indices.insert(index);
  std::vector<Mesh> meshes;
  for (size_t index : indices) {
    if (index == SIZE_MAX || !unification->isAligned(index))
      continue;
    auto sourceMesh = Mesh::get(sources[index].axes);
    if (sourceMesh && !llvm::is_contained(meshes, *sourceMesh))
      meshes.push_back(*sourceMesh);
  }
  return meshes;
}

FailureOr<SmallVector<unsigned>>
Shardings::manualAxes(Location loc, sdy::ManualAxesAttr axes,
                      ArrayRef<sdy::TensorShardingAttr> shardings) const {
  SmallVector<unsigned> result;
  std::optional<size_t> which;
  for (sdy::TensorShardingAttr sharding : shardings)
    if (auto number = indexIfDeclared(sharding.getMeshOrRef());
        number && *number != SIZE_MAX)
      which = number;
  // Without operands and results, the mesh is the only one.
  if (!which && !sources.empty())
    which = 0;
  for (StringAttr name : axes.getValue()) {
    bool exists =
        which && llvm::any_of(sources[*which].axes, [&](const MeshAxis &axis) {
          return axis.name == name.getValue();
        });
    if (!exists)
      return mlir::emitError(loc)
             << "there is no axis " << name << " in the mesh of this manual "
             << "computation";
    llvm::append_range(result,
                       unification->axes({*which, {name.getValue().str()}}));
  }
  llvm::sort(result);
  return result;
}

FailureOr<SmallVector<unsigned>>
Shardings::groupAxes(Location loc,
                     stablehlo::ReplicaGroupMeshAxesAttr groups) const {
  std::optional<size_t> which = indexIfDeclared(groups.getMesh());
  if (!which)
    return mlir::emitError(loc) << "there is no mesh " << groups.getMesh();
  if (*which == SIZE_MAX && groups.getAxes().empty())
    return SmallVector<unsigned>();
  if (*which == SIZE_MAX)
    return mlir::emitError(loc)
           << "the mesh " << groups.getMesh() << " of this collective has no "
           << "axes";
  SmallVector<unsigned> result;
  for (Attribute attribute : groups.getAxes()) {
    auto axis = dyn_cast<stablehlo::AxisRefAttr>(attribute);
    bool exists =
        axis &&
        llvm::any_of(sources[*which].axes, [&](const MeshAxis &candidate) {
          return candidate.name == axis.getName();
        });
    if (!exists)
      return mlir::emitError(loc) << "there is no axis " << attribute
                                  << " in the mesh of this collective";
    SubAxis part{axis.getName().str()};
    if (stablehlo::SubAxisInfoAttr info = axis.getSubAxisInfo())
      part = {part.axis, info.getPreSize(), info.getSize()};
    llvm::append_range(result, unification->axes({*which, part}));
  }
  return result;
}
