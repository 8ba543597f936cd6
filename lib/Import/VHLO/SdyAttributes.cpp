// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes of Shardy.
#include "Attributes.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

namespace meshloom::vhlo {

namespace {

/// The numbers by which artifacts name attributes of Shardy.
enum class SdyAttributeCode : uint8_t {
  ManualAxes = 0,
  MeshAxis = 1,
  Mesh = 2,
  SubAxisInfo = 3,
  AxisRef = 4,
  DimensionSharding = 5,
  TensorShardingWithoutUnreduced = 6,
  TensorShardingPerValueWithoutUnreduced = 7,
  DimMapping = 8,
  TensorMapping = 9,
  OpShardingRule = 10,
  AxisRefList = 11,
  ListOfAxisRefLists = 12,
  AllToAllParam = 13,
  AllToAllParamList = 14,
  TensorSharding = 15,
  TensorShardingPerValue = 16,
};

/// An attribute that is a list of others.
template <typename ListAttr, typename Element>
LogicalResult readListAttr(EntryReader &reader, Attribute &attribute) {
  SmallVector<Element> elements;
  if (failed(reader.readList(elements)))
    return failure();
  attribute = ListAttr::get(reader.context(), elements);
  return success();
}

LogicalResult readMesh(EntryReader &reader, Attribute &attribute) {
  SmallVector<sdy::MeshAxisAttr> axes;
  SmallVector<int64_t> devices;
  if (failed(reader.readList(axes)) || failed(reader.readSignedList(devices)))
    return failure();
  attribute = sdy::MeshAttr::getChecked(reader.emitter(), reader.context(),
                                        ArrayRef<sdy::MeshAxisAttr>(axes),
                                        ArrayRef<int64_t>(devices));
  return attribute ? success() : reader.fail("a mesh is not valid");
}

LogicalResult readMeshAxis(EntryReader &reader, Attribute &attribute) {
  StringRef name;
  int64_t size = 0;
  if (failed(reader.readString(name)) || failed(reader.readSigned(size)))
    return failure();
  attribute = sdy::MeshAxisAttr::getChecked(reader.emitter(), reader.context(),
                                            name, size);
  return attribute ? success() : reader.fail("an axis of a mesh is not valid");
}

LogicalResult readAxisRef(EntryReader &reader, Attribute &attribute) {
  StringRef name;
  Attribute part;
  if (failed(reader.readString(name)) || failed(reader.readOptional(part)))
    return failure();
  auto info = dyn_cast_or_null<sdy::SubAxisInfoAttr>(part);
  if (part && !info)
    return reader.fail("an attribute is of another kind");
  attribute = sdy::AxisRefAttr::get(reader.context(), name, info);
  return success();
}

LogicalResult readDimensionSharding(EntryReader &reader, Attribute &attribute) {
  SmallVector<sdy::AxisRefAttr> axes;
  bool isClosed = false, hasPriority = false;
  uint64_t priority = 0;
  if (failed(reader.readList(axes)) || failed(reader.readBool(isClosed)) ||
      failed(reader.readFlagged(priority, hasPriority)))
    return failure();
  attribute = sdy::DimensionShardingAttr::get(
      reader.context(), axes, isClosed,
      hasPriority ? std::optional(int64_t(priority)) : std::nullopt);
  return success();
}

LogicalResult readSharding(EntryReader &reader, bool hasUnreduced,
                           Attribute &attribute) {
  Attribute mesh;
  SmallVector<sdy::DimensionShardingAttr> dims;
  SmallVector<sdy::AxisRefAttr> replicated, unreduced;
  if (failed(reader.readAttribute(mesh)) || failed(reader.readList(dims)) ||
      failed(reader.readList(replicated)) ||
      (hasUnreduced && failed(reader.readList(unreduced))))
    return failure();
  if (!isa<sdy::MeshAttr, mlir::FlatSymbolRefAttr>(mesh))
    return reader.fail("a sharding names no mesh");
  attribute =
      sdy::TensorShardingAttr::get(reader.context(), mesh, dims, replicated,
                                   unreduced, sdy::ReductionOp::SUM);
  return success();
}

LogicalResult readRule(EntryReader &reader, Attribute &attribute) {
  SmallVector<int64_t> sizes, reductions, replications, permutations, blocked;
  SmallVector<sdy::TensorMappingAttr> operands, results;
  bool isCustom = false;
  if (failed(reader.readSignedList(sizes)) ||
      failed(reader.readList(operands)) || failed(reader.readList(results)) ||
      failed(reader.readSignedList(reductions)) ||
      failed(reader.readSignedList(replications)) ||
      failed(reader.readSignedList(permutations)) ||
      failed(reader.readSignedList(blocked)) ||
      failed(reader.readBool(isCustom)))
    return failure();
  auto isFactor = [&](int64_t factor) {
    return factor >= 0 && factor < int64_t(sizes.size());
  };
  for (ArrayRef<int64_t> factors :
       {ArrayRef(reductions), ArrayRef(replications), ArrayRef(permutations),
        ArrayRef(blocked)})
    if (!llvm::all_of(factors, isFactor))
      return reader.fail(
          "a sharding rule names a factor that it does not have");
  for (ArrayRef<sdy::TensorMappingAttr> mappings :
       {ArrayRef(operands), ArrayRef(results)})
    for (sdy::TensorMappingAttr mapping : mappings)
      for (sdy::DimMappingAttr dim : mapping.getDimMappings())
        if (!llvm::all_of(dim.getFactorIndices(), isFactor))
          return reader.fail(
              "a sharding rule names a factor that it does not have");
  attribute = sdy::OpShardingRuleAttr::get(reader.context(), sizes, operands,
                                           results, reductions, replications,
                                           permutations, blocked, isCustom);
  return success();
}

} // namespace

LogicalResult readSdy(EntryReader &reader, Attribute &attribute) {
  MLIRContext *context = reader.context();
  uint64_t code = 0;
  if (failed(reader.readNumber(code)))
    return failure();
  switch (SdyAttributeCode(std::min<uint64_t>(code, 0xff))) {
  case SdyAttributeCode::ManualAxes:
    return readListAttr<sdy::ManualAxesAttr, StringAttr>(reader, attribute);
  case SdyAttributeCode::MeshAxis:
    return readMeshAxis(reader, attribute);
  case SdyAttributeCode::Mesh:
    return readMesh(reader, attribute);
  case SdyAttributeCode::SubAxisInfo: {
    int64_t before = 0, size = 0;
    if (failed(reader.readSigned(before)) || failed(reader.readSigned(size)))
      return failure();
    attribute = sdy::SubAxisInfoAttr::get(context, before, size);
    return success();
  }
  case SdyAttributeCode::AxisRef:
    return readAxisRef(reader, attribute);
  case SdyAttributeCode::DimensionSharding:
    return readDimensionSharding(reader, attribute);
  case SdyAttributeCode::TensorShardingWithoutUnreduced:
    return readSharding(reader, /*hasUnreduced=*/false, attribute);
  case SdyAttributeCode::TensorSharding:
    return readSharding(reader, /*hasUnreduced=*/true, attribute);
  case SdyAttributeCode::TensorShardingPerValueWithoutUnreduced:
  case SdyAttributeCode::TensorShardingPerValue:
    return readListAttr<sdy::TensorShardingPerValueAttr,
                        sdy::TensorShardingAttr>(reader, attribute);
  case SdyAttributeCode::DimMapping: {
    SmallVector<int64_t> factors;
    if (failed(reader.readSignedList(factors)))
      return failure();
    attribute = sdy::DimMappingAttr::get(context, factors);
    return success();
  }
  case SdyAttributeCode::TensorMapping:
    return readListAttr<sdy::TensorMappingAttr, sdy::DimMappingAttr>(reader,
                                                                     attribute);
  case SdyAttributeCode::OpShardingRule:
    return readRule(reader, attribute);
  case SdyAttributeCode::AxisRefList:
    return readListAttr<sdy::AxisRefListAttr, sdy::AxisRefAttr>(reader,
                                                                attribute);
  case SdyAttributeCode::ListOfAxisRefLists:
    return readListAttr<sdy::ListOfAxisRefListsAttr, sdy::AxisRefListAttr>(
        reader, attribute);
  case SdyAttributeCode::AllToAllParam: {
    SmallVector<sdy::AxisRefAttr> axes;
    int64_t source = 0, target = 0;
    if (failed(reader.readList(axes)) || failed(reader.readSigned(source)) ||
        failed(reader.readSigned(target)))
      return failure();
    attribute = sdy::AllToAllParamAttr::get(context, axes, source, target);
    return success();
  }
  case SdyAttributeCode::AllToAllParamList:
    return readListAttr<sdy::AllToAllParamListAttr, sdy::AllToAllParamAttr>(
        reader, attribute);
  }
  return reader.fail("cannot read attribute " + llvm::Twine(code) +
                     " of Shardy, which is newer than Meshloom's reader");
}

} // namespace meshloom::vhlo
