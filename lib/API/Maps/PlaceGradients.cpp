// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The user's gradients in maps, see PlaceGradients.h.
#include "PlaceGradients.h"

#include "Places.h"

#include "meshloom/Autodiff/Autodiff.h"

namespace meshloom::detail {

namespace {

/// A rule for values with lanes, by one for those of a place.
struct MappedRule {
  std::shared_ptr<const CustomGradient> ofPlace;
  std::vector<MappedAxis> axes;
  /// The axes of each input and each result, by number of `axes`.
  std::vector<std::vector<int64_t>> inputs, results;

  Result<SmallVector<Value>> operator()(OpBuilder &builder,
                                        ArrayRef<Value> inputValues,
                                        ArrayRef<Value> resultValues,
                                        ArrayRef<Value> gradients) const {
    const std::shared_ptr<Trace> &trace = threadState().trace();
    if (!trace)
      return Error("[custom_gradient] a gradient rule of the user can be used "
                   "only in the trace that it was recorded in");
    OpBuilder::InsertionGuard guard(trace->builder());
    trace->builder().setInsertionPoint(builder.getInsertionBlock(),
                                       builder.getInsertionPoint());
    PlaceMap map{.op = "custom_gradient", .axes = axes};
    auto add = [&](ArrayRef<Value> values,
                   const std::vector<std::vector<int64_t>> &its) {
      map.inputs.append(values.begin(), values.end());
      map.lanes.insert(map.lanes.end(), its.begin(), its.end());
    };
    add(inputValues, inputs);
    add(resultValues, results);
    add(gradients, results);
    SmallVector<bool> present;
    PlaceResults mapped = traceMap(
        *trace, map,
        [&](RegionTensors operandTensors) {
          SmallVector<Value> values;
          for (const Tensor &tensor : operandTensors)
            values.push_back(
                Value::getFromOpaquePointer(tensor.internal()->value));
          ArrayRef<Value> operands = values;
          SmallVector<Value> computed = check(
              (*ofPlace)(trace->builder(), operands.take_front(inputs.size()),
                         operands.slice(inputs.size(), results.size()),
                         operands.take_back(results.size())),
              "custom_gradient");
          std::vector<Tensor> tensors;
          for (Value value : computed) {
            present.push_back(bool(value));
            if (value)
              tensors.push_back(trace->wrapValue(value));
          }
          return tensors;
        },
        {}, {});
    // All places give to an input that is the same for all.
    lanes::LaneBuilder &b = mapped.builder;
    SmallVector<Value> found;
    size_t next = 0;
    for (auto [i, there] : llvm::enumerate(present)) {
      if (!there) {
        found.emplace_back();
        continue;
      }
      lanes::Lanes inputLanes(inputs[i].begin(), inputs[i].end()), others;
      for (unsigned axis = 0; axis < axes.size(); ++axis)
        if (!lanes::contains(inputLanes, axis))
          others.push_back(axis);
      Value value = mapped.values[next++];
      if (!others.empty())
        value = b.reduceLanes(ReduceKind::Sum, value, others);
      found.push_back(b.withLanes(value, inputLanes));
    }
    builder.setInsertionPoint(trace->builder().getInsertionBlock(),
                              trace->builder().getInsertionPoint());
    return found;
  }
};

} // namespace

void mapCustomGradient(dtensor::CaseOp mappedCase,
                       const lanes::LaneBuilder &b) {
  auto numberAndCount =
      mappedCase->getAttrOfType<mlir::DenseI64ArrayAttr>(customGradientAttr);
  lanes::Lanes yieldLanes =
      b.lanesOf(ValueRange(mappedCase.getYield(0).getValues()));
  if (!numberAndCount || yieldLanes.empty())
    return;
  MappedRule rule{findCustomGradient(numberAndCount[0]), {}, {}, {}};
  for (unsigned lane : yieldLanes)
    rule.axes.push_back({"", b.extentOf(lane)});
  auto lanesOf = [&](Value value) {
    std::vector<int64_t> numbers;
    for (unsigned lane : b.lanesOf(value))
      numbers.push_back(llvm::find(yieldLanes, lane) - yieldLanes.begin());
    return numbers;
  };
  const size_t count = size_t(numberAndCount[1]);
  for (auto [i, value] : llvm::enumerate(mappedCase.getYield(0).getValues()))
    (i < count ? rule.results : rule.inputs).push_back(lanesOf(value));
  auto registered = registerCustomGradient(std::move(rule));
  mappedCase->setAttr(
      customGradientAttr,
      mlir::DenseI64ArrayAttr::get(mappedCase->getContext(),
                                   {*registered, numberAndCount[1]}));
  threadState().trace()->keep(std::move(registered));
}

} // namespace meshloom::detail
