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
  /// Of each input and each result, by number of `axes`.
  std::vector<std::vector<int64_t>> inputs, results;

  Result<SmallVector<Value>> operator()(OpBuilder &builder,
                                        ArrayRef<Value> inputValues,
                                        ArrayRef<Value> resultValues,
                                        ArrayRef<Value> gradients) const {
    const std::shared_ptr<Trace> &trace = threadState().trace();
    if (!trace)
      return Error("[custom_gradient] a gradient that a user gives is taken "
                   "where it was traced only");
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
    PlaceResults made = traceMap(
        *trace, map,
        [&](RegionTensors own) {
          SmallVector<Value> values;
          for (const Tensor &tensor : own)
            values.push_back(
                Value::getFromOpaquePointer(tensor.internal()->value));
          ArrayRef<Value> all = values;
          SmallVector<Value> given =
              check((*ofPlace)(trace->builder(), all.take_front(inputs.size()),
                               all.slice(inputs.size(), results.size()),
                               all.take_back(results.size())),
                    "custom_gradient");
          std::vector<Tensor> tensors;
          for (Value value : given) {
            present.push_back(bool(value));
            if (value)
              tensors.push_back(trace->wrapValue(value));
          }
          return tensors;
        },
        {}, {});
    // All places give to an input that is the same for all.
    lanes::LaneBuilder &b = made.builder;
    SmallVector<Value> found;
    size_t next = 0;
    for (auto [i, there] : llvm::enumerate(present)) {
      if (!there) {
        found.emplace_back();
        continue;
      }
      lanes::Lanes own(inputs[i].begin(), inputs[i].end()), others;
      for (unsigned axis = 0; axis < axes.size(); ++axis)
        if (!lanes::contains(own, axis))
          others.push_back(axis);
      Value value = made.values[next++];
      if (!others.empty())
        value = b.reduceLanes(ReduceKind::Sum, value, others);
      found.push_back(b.withLanes(value, own));
    }
    builder.setInsertionPoint(trace->builder().getInsertionBlock(),
                              trace->builder().getInsertionPoint());
    return found;
  }
};

} // namespace

void mapCustomGradient(dtensor::CaseOp made, const lanes::LaneBuilder &b) {
  auto said = made->getAttrOfType<mlir::DenseI64ArrayAttr>(customGradientAttr);
  lanes::Lanes all = b.lanesOf(ValueRange(made.getYield(0).getValues()));
  if (!said || all.empty())
    return;
  MappedRule rule{findCustomGradient(said[0]), {}, {}, {}};
  for (unsigned lane : all)
    rule.axes.push_back({"", b.extentOf(lane)});
  auto lanesOf = [&](Value value) {
    std::vector<int64_t> numbers;
    for (unsigned lane : b.lanesOf(value))
      numbers.push_back(llvm::find(all, lane) - all.begin());
    return numbers;
  };
  const size_t count = size_t(said[1]);
  for (auto [i, value] : llvm::enumerate(made.getYield(0).getValues()))
    (i < count ? rule.results : rule.inputs).push_back(lanesOf(value));
  auto known = registerCustomGradient(std::move(rule));
  made->setAttr(customGradientAttr, mlir::DenseI64ArrayAttr::get(
                                        made->getContext(), {*known, said[1]}));
  threadState().trace()->keep(std::move(known));
}

} // namespace meshloom::detail
