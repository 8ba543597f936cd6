// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dtensor.map and the ops between its places: verifiers.
#include "meshloom/Dialect/DTensor/Map.h"

#include "llvm/ADT/StringSet.h"

#include <numeric>

#define GET_OP_CLASSES
#include "meshloom/Dialect/DTensor/DTensorMapOps.cpp.inc"

namespace meshloom::dtensor {

static ArrayRef<int64_t> listAt(mlir::ArrayAttr lists, unsigned i) {
  return cast<DenseI64ArrayAttr>(lists[i]).asArrayRef();
}

ArrayRef<int64_t> MapOp::getLanesOf(unsigned input) {
  return listAt(getLanes(), input);
}

SmallVector<int64_t> MapOp::getMembersOf(unsigned part) {
  if (auto members = getMembers())
    return SmallVector<int64_t>(listAt(*members, part));
  int64_t places = std::accumulate(getSizes().begin(), getSizes().end(),
                                   int64_t(1), std::multiplies<>());
  return llvm::to_vector(llvm::seq<int64_t>(0, places));
}

MapOp mapAround(Operation *op, StringRef axis) {
  for (auto map = op->getParentOfType<MapOp>(); map;
       map = map->getParentOfType<MapOp>())
    for (StringRef name : map.getAxes().getAsValueRange<StringAttr>())
      if (name == axis)
        return map;
  return {};
}

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

LogicalResult MapOp::verify() {
  if (getAxes().empty() || getAxes().size() != getSizes().size())
    return violates(*this, 1) << getAxes().size() << " axes, but "
                              << getSizes().size() << " sizes";
  llvm::StringSet<> names;
  for (StringRef name : getAxes().getAsValueRange<StringAttr>())
    if (!names.insert(name).second)
      return violates(*this, 1) << "two axes are called '" << name << "'";
  if (llvm::any_of(getSizes(), [](int64_t size) { return size < 0; }))
    return violates(*this, 1) << "an axis has a size below 0";

  if (getLanes().size() != getInputs().size())
    return violates(*this, 2) << getInputs().size() << " inputs, but "
                              << getLanes().size() << " lists of lanes";
  for (unsigned i = 0; i < getInputs().size(); ++i) {
    int64_t last = -1;
    for (int64_t lane : getLanesOf(i)) {
      if (lane <= last || lane >= int64_t(getSizes().size()))
        return violates(*this, 2)
               << "the lanes of input #" << i << " must be rising numbers of "
               << "the " << getSizes().size() << " axes";
      last = lane;
    }
  }

  unsigned parts = getBodies().size();
  if (auto members = getMembers()) {
    if (getAxes().size() != 1 || members->size() != parts)
      return violates(*this, 5)
             << members->size() << " lists of members for " << getAxes().size()
             << " axes and " << parts << " regions";
    SmallVector<int64_t> places;
    for (unsigned part = 0; part < parts; ++part)
      llvm::append_range(places, listAt(*members, part));
    llvm::sort(places);
    if (places != llvm::to_vector(llvm::seq<int64_t>(0, getSizes()[0])))
      return violates(*this, 5) << "the members must name each of the "
                                << getSizes()[0] << " places once";
  } else if (parts != 1) {
    return violates(*this, 5) << parts << " regions without members";
  }
  if (parts == 0 || getInputs().size() % parts || getNumResults() % parts)
    return violates(*this, 5)
           << getInputs().size() << " inputs and " << getNumResults()
           << " results cannot be those of " << parts << " regions";

  if (auto mesh = getMesh()) {
    int64_t last = -1;
    for (auto [name, size] :
         llvm::zip_equal(getAxes().getAsValueRange<StringAttr>(), getSizes())) {
      auto index = mesh->getMesh().axis_index(std::string_view(name));
      if (!index || int64_t(*index) <= last || mesh->getSizes()[*index] != size)
        return violates(*this, 6)
               << "axis '" << name << "' of size " << size
               << " is not an axis of the mesh, or not in its order";
      last = *index;
    }
  }
  return success();
}

LogicalResult MapOp::verifyRegions() {
  unsigned parts = getBodies().size();
  unsigned results = getNumResults() / parts;
  for (unsigned part = 0; part < parts; ++part) {
    Region &body = getBodies()[part];
    auto extentOf = [&](int64_t axis) {
      return getMembers() ? int64_t(listAt(*getMembers(), part).size())
                          : getSizes()[axis];
    };
    auto yield = body.front().empty() ? YieldOp()
                                      : dyn_cast<YieldOp>(body.front().back());
    if (!yield || yield.getNumOperands() != results)
      return violates(*this, 4) << "a region must end with dtensor.yield of "
                                << results << " values";
    if (body.getNumArguments() != getInputsEach())
      return violates(*this, 3)
             << "region #" << part << " has " << body.getNumArguments()
             << " arguments for " << getInputsEach() << " inputs";
    auto expect = [&](Type global, Type local, ArrayRef<int64_t> lanes,
                      unsigned constraint, StringRef role) -> LogicalResult {
      SmallVector<int64_t> shape;
      for (int64_t lane : lanes)
        shape.push_back(extentOf(lane));
      llvm::append_range(shape, globalShape(local));
      if (undecided(global) != undecided(local, shape))
        return violates(*this, constraint)
               << role << " is " << local << " at a place, but " << global
               << " for all";
      return success();
    };
    for (unsigned i = 0; i < getInputsEach(); ++i) {
      unsigned number = part * getInputsEach() + i;
      if (failed(expect(getInputs()[number].getType(),
                        body.getArgument(i).getType(), getLanesOf(number), 3,
                        "an input")))
        return failure();
    }
    auto allAxes = llvm::to_vector(llvm::seq<int64_t>(0, getAxes().size()));
    for (unsigned i = 0; i < results; ++i)
      if (failed(expect(getResult(part * results + i).getType(),
                        yield.getOperand(i).getType(), allAxes, 4, "a result")))
        return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Between places
//===----------------------------------------------------------------------===//

void AxisReduceOp::addLeadingDims(Builder &, mlir::NamedAttrList &,
                                  ArrayRef<int64_t>) {}
void AxisGatherOp::addLeadingDims(Builder &builder,
                                  mlir::NamedAttrList &attributes,
                                  ArrayRef<int64_t> extents) {
  dtensor::addLeadingDims(builder, attributes, extents,
                          {{"dimension"}, {}, {}, {}, {}});
}
void AxisPartOp::addLeadingDims(Builder &builder,
                                mlir::NamedAttrList &attributes,
                                ArrayRef<int64_t> extents) {
  dtensor::addLeadingDims(builder, attributes, extents,
                          {{"dimension"}, {}, {}, {}, {}});
}

/// How many places there are along `axis`, or -1.
static int64_t extentAround(Operation *op, StringRef axis) {
  MapOp map = mapAround(op, axis);
  if (!map)
    return -1;
  for (auto [name, size] : llvm::zip_equal(
           map.getAxes().getAsValueRange<StringAttr>(), map.getSizes()))
    if (name == axis)
      return size;
  return -1;
}

LogicalResult AxisReduceOp::verify() {
  if (undecided(getOperand().getType()) != undecided(getResult().getType()))
    return violates(*this, 1) << getResult().getType() << " is not the type of "
                              << "the operand, " << getOperand().getType();
  llvm::StringSet<> names;
  for (StringRef axis : getAxes().getAsValueRange<StringAttr>())
    if (extentAround(*this, axis) < 0 || !names.insert(axis).second)
      return violates(*this, 2)
             << "'" << axis << "' is named twice, or no axis "
             << "of a map around";
  return success();
}

/// Verifies that `whole` is made of parts like `part` along a dim.
template <typename OpTy>
static LogicalResult verifyParts(OpTy op, Type whole, Type part) {
  int64_t dim = op.getDimension(), places = extentAround(op, op.getAxis());
  if (places < 0 || (op.getSizes() && int64_t(op.getSizes()->size()) != places))
    return violates(op, 2) << "'" << op.getAxis()
                           << "' is not an axis of a map "
                           << "around, or has another number of sizes";
  SmallVector<int64_t> shape = globalShape(part);
  if (dim < 0 || dim >= int64_t(shape.size()))
    return violates(op, 1) << "dim " << dim << " is not one of " << part;
  if (auto sizes = op.getSizes()) {
    if (!llvm::is_contained(*sizes, shape[dim]))
      return violates(op, 1)
             << "no place has " << shape[dim] << " elements along dim " << dim;
    shape[dim] = std::accumulate(sizes->begin(), sizes->end(), int64_t(0));
  } else {
    shape[dim] *= places;
  }
  if (undecided(whole) != undecided(part, shape))
    return violates(op, 1) << part << " at " << places
                           << " places does not make up " << whole;
  return success();
}

LogicalResult AxisGatherOp::verify() {
  return verifyParts(*this, getResult().getType(), getOperand().getType());
}
LogicalResult AxisPartOp::verify() {
  return verifyParts(*this, getOperand().getType(), getResult().getType());
}

} // namespace meshloom::dtensor
