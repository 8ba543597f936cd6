// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mesh axes as ranges: what the verifiers of sdy compare.

#include "SdyAxes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::sdy;
using llvm::Twine;
using mlir::LogicalResult;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static std::optional<unsigned> indexOf(MeshAttr mesh, StringRef axis) {
  for (auto [i, meshAxis] : llvm::enumerate(mesh.getAxes()))
    if (meshAxis.getName() == axis)
      return unsigned(i);
  return std::nullopt;
}

std::optional<AxisPart> sdy::partOf(MeshAttr mesh, AxisRefAttr ref) {
  auto axis = indexOf(mesh, ref.getName());
  if (!axis)
    return std::nullopt;
  int64_t whole = mesh.getAxes()[*axis].getSize();
  SubAxisInfoAttr part = ref.getSubAxisInfo();
  if (!part)
    return AxisPart{*axis, 1, whole};
  int64_t before = part.getPreSize(), size = part.getSize();
  // Bounds first: a product of them fits.
  if (before < 1 || size < 1 || before > whole || size > whole / before ||
      whole % (before * size) != 0)
    return std::nullopt;
  return AxisPart{*axis, before, size};
}

std::string sdy::text(MeshAttr mesh, const AxisPart &part) {
  MeshAxisAttr axis = mesh.getAxes()[part.axis];
  std::string text = ("\"" + axis.getName() + "\"").str();
  if (part.before == 1 && part.size == axis.getSize())
    return text;
  return (text + ":(" + Twine(part.before) + ")" + Twine(part.size)).str();
}

std::string sdy::text(MeshAttr mesh, ArrayRef<AxisPart> parts) {
  std::string list = "{";
  for (const AxisPart &part : parts)
    list += (list.size() > 1 ? ", " : "") + text(mesh, part);
  return list + "}";
}

std::string sdy::text(Attribute meshOrRef, MeshAttr mesh) {
  std::string result;
  if (auto symbol = dyn_cast<mlir::FlatSymbolRefAttr>(meshOrRef))
    result = ("@" + symbol.getValue() + " ").str();
  result += "<";
  for (auto [i, axis] : llvm::enumerate(mesh.getAxes()))
    result +=
        ((i ? ", " : "") + axis.getName() + "=" + Twine(axis.getSize())).str();
  return result + ">";
}

AxisParts sdy::joined(ArrayRef<AxisPart> parts) {
  AxisParts result;
  for (const AxisPart &part : parts) {
    if (!result.empty() && result.back().axis == part.axis &&
        result.back().after() == part.before)
      result.back().size *= part.size;
    else
      result.push_back(part);
  }
  return result;
}

AxisParts sdy::partsOf(MeshAttr mesh, ArrayRef<AxisRefAttr> refs) {
  AxisParts result;
  for (AxisRefAttr ref : refs)
    if (auto part = partOf(mesh, ref))
      result.push_back(*part);
  return joined(result);
}

AxisParts sdy::sorted(ArrayRef<AxisPart> parts) {
  AxisParts result(parts);
  llvm::sort(result);
  return joined(result);
}

AxisParts sdy::without(ArrayRef<AxisPart> parts, ArrayRef<AxisPart> less) {
  AxisParts remaining(parts);
  for (const AxisPart &gone : less) {
    AxisParts next;
    for (const AxisPart &part : remaining) {
      if (!part.overlaps(gone)) {
        next.push_back(part);
        continue;
      }
      if (part.before < gone.before)
        next.push_back({part.axis, part.before, gone.before / part.before});
      if (gone.after() < part.after())
        next.push_back({part.axis, gone.after(), part.after() / gone.after()});
    }
    remaining = std::move(next);
  }
  return remaining;
}

std::optional<AxisParts> sdy::withoutEnd(ArrayRef<AxisPart> parts,
                                         ArrayRef<AxisPart> end) {
  AxisParts remaining = joined(parts);
  for (const AxisPart &gone : llvm::reverse(end)) {
    if (remaining.empty() || remaining.back().axis != gone.axis ||
        remaining.back().after() != gone.after() ||
        remaining.back().before > gone.before)
      return std::nullopt;
    remaining.back().size = gone.before / remaining.back().before;
    if (remaining.back().size == 1)
      remaining.pop_back();
  }
  return remaining;
}

//===----------------------------------------------------------------------===//
// Who is sharded how
//===----------------------------------------------------------------------===//

MeshAttr sdy::meshOf(Operation *op, Attribute meshOrRef) {
  if (auto mesh = dyn_cast<MeshAttr>(meshOrRef))
    return mesh;
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module)
    return {};
  auto name = cast<mlir::FlatSymbolRefAttr>(meshOrRef).getAttr();
  for (auto mesh : module.getOps<MeshOp>())
    if (mesh.getSymNameAttr() == name)
      return mesh.getMesh();
  return {};
}

static TensorShardingAttr
shardingAt(std::optional<TensorShardingPerValueAttr> shardings,
           unsigned index) {
  if (!shardings || index >= shardings->getShardings().size())
    return {};
  return shardings->getShardings()[index];
}

/// Returns the sharding of a value inside of a manual computation.
static TensorShardingAttr inside(ManualComputationOp op,
                                 TensorShardingAttr sharding) {
  if (!sharding)
    return {};
  auto isFree = [&](AxisRefAttr axis) {
    return llvm::none_of(op.getManualAxes().getValue(), [&](StringAttr manual) {
      return manual.getValue() == axis.getName();
    });
  };
  auto freeOf = [&](ArrayRef<AxisRefAttr> axes) {
    SmallVector<AxisRefAttr> free;
    llvm::copy_if(axes, std::back_inserter(free), isFree);
    return free;
  };
  SmallVector<DimensionShardingAttr> dims;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(
        DimensionShardingAttr::get(op.getContext(), freeOf(dim.getAxes()),
                                   dim.getIsClosed(), dim.getPriority()));
  return TensorShardingAttr::get(op.getContext(), sharding.getMeshOrRef(), dims,
                                 freeOf(sharding.getReplicatedAxes()),
                                 freeOf(sharding.getUnreducedAxes()),
                                 sharding.getReductionOp());
}

TensorShardingAttr sdy::shardingOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    return llvm::TypeSwitch<Operation *, TensorShardingAttr>(
               argument.getOwner()->getParentOp())
        .Case([&](mlir::FunctionOpInterface func) {
          return func.getArgAttrOfType<TensorShardingAttr>(number,
                                                           "sdy.sharding");
        })
        .Case([&](ManualComputationOp op) {
          return inside(op, shardingAt(op.getInShardings(), number));
        })
        .Case([&](NamedComputationOp op) {
          return shardingAt(op.getInShardings(), number);
        })
        .Default([](Operation *) { return TensorShardingAttr(); });
  }
  unsigned number = cast<mlir::OpResult>(value).getResultNumber();
  return llvm::TypeSwitch<Operation *, TensorShardingAttr>(
             value.getDefiningOp())
      .Case<ShardingConstraintOp, ReshardOp>(
          [](auto op) { return op.getSharding(); })
      .Case([](DataFlowEdgeOp op) { return op.getShardingAttr(); })
      .Case<ManualComputationOp, NamedComputationOp>(
          [&](auto op) { return shardingAt(op.getOutShardings(), number); })
      .Default([&](Operation *op) {
        if (auto out = op->getAttrOfType<TensorShardingAttr>("out_sharding"))
          return out;
        auto shardings =
            op->getAttrOfType<TensorShardingPerValueAttr>("sdy.sharding");
        return shardings ? shardingAt(shardings, number) : TensorShardingAttr();
      });
}

//===----------------------------------------------------------------------===//
// Axes that are used once
//===----------------------------------------------------------------------===//

LogicalResult AxisUses::check(AxisRefAttr ref) {
  auto axis = indexOf(mesh, ref.getName());
  if (!axis)
    return emitError() << "there is no axis '" << ref.getName() << "' in mesh "
                       << text(meshOrRef, mesh);
  SubAxisInfoAttr part = ref.getSubAxisInfo();
  if (!part)
    return success();
  int64_t whole = mesh.getAxes()[*axis].getSize();
  int64_t before = part.getPreSize(), size = part.getSize();
  if (before >= 1 && size > 1 && size != whole && partOf(mesh, ref))
    return success();
  auto error = emitError() << "\"" << ref.getName() << "\":(" << before << ")"
                           << size << " is not a part of axis '"
                           << ref.getName() << "' of size " << whole << ": ";
  if (size == whole)
    return error << "the whole axis is written \"" << ref.getName() << "\"";
  if (before < 1 || size < 2)
    return error << "the size in front is at least 1, its own at least 2";
  return error << whole << " is not a multiple of " << before << " x " << size;
}

LogicalResult AxisUses::add(ArrayRef<AxisRefAttr> refs, const Twine &where,
                            bool inOrder) {
  std::optional<AxisPart> last;
  for (AxisRefAttr ref : refs) {
    if (failed(check(ref)))
      return failure();
    AxisPart part = *partOf(mesh, ref);
    for (const auto &[other, itsPlace] : used)
      if (other.overlaps(part)) {
        auto error = emitError()
                     << "the sharding uses axis '" << ref.getName()
                     << "' twice: for " << itsPlace << " and for " << where;
        if (ref.getSubAxisInfo())
          error << " (" << text(mesh, other) << " and " << text(mesh, part)
                << ")";
        return error;
      }
    if (last && last->axis == part.axis && last->after() == part.before)
      return emitError() << text(mesh, *last) << " and " << text(mesh, part)
                         << " follow each other in " << where << ": write "
                         << text(mesh, joined({*last, part})[0]);
    if (inOrder && last && part < *last)
      return emitError() << where << " has " << text(mesh, part) << " after "
                         << text(mesh, *last)
                         << ", but axes are in the order of the mesh there";
    used.push_back({part, where.str()});
    last = part;
  }
  return success();
}
