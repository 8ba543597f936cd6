// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library function "cumulative": running reductions along one dim.
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "Scan.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {

class CumulativeRoutine final : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    if (step.inputs.size() != 1 || step.outputs.size() != 1)
      return Error("operands do not match");
    OptionReader options(step.step);
    auto routine = std::make_unique<CumulativeRoutine>();
    const int64_t dim = options.number("dimension");
    routine->dim = size_t(dim);
    routine->kind = options.kind("kind", step.outputs[0]->type);
    routine->reverse = options.flag("reverse");
    if (!options.ok() || step.inputs[0]->shape != step.outputs[0]->shape ||
        step.inputs[0]->type != step.outputs[0]->type || dim < 0 ||
        dim >= int64_t(step.inputs[0]->shape.size()))
      return Error("operands do not match");
    return RoutineOrError(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &in = arguments.inputs[0], &out = arguments.outputs[0];
    if (out.empty())
      return Success();
    withReduction(out.type, kind, [&]<typename T, ReduceKind by>() {
      runTyped<by, T>(in, out);
    });
    return Success();
  }

private:
  template <ReduceKind staticKind, typename T>
  void runTyped(const LibraryOperand &in, const LibraryOperand &out) const {
    const int64_t count = out.extent[dim];
    int64_t fromStep = in.strides[dim], toStep = out.strides[dim];
    const T *from = reinterpret_cast<const T *>(in.data);
    T *to = reinterpret_cast<T *>(out.data);
    if (reverse) {
      from += (count - 1) * fromStep;
      to += (count - 1) * toStep;
      fromStep = -fromStep;
      toStep = -toStep;
    }
    // Lines lie side by side along the densest other dim.
    size_t side = out.extent.size();
    for (size_t d = 0; d < out.extent.size(); ++d)
      if (d != dim && out.extent[d] > 1 &&
          (side == out.extent.size() || out.strides[d] < out.strides[side]))
        side = d;
    Shape outer = out.extent;
    outer[dim] = 1;
    int64_t lines = 1, fromLine = 0, toLine = 0;
    if (side < outer.size()) {
      lines = outer[side];
      fromLine = in.strides[side];
      toLine = out.strides[side];
      outer[side] = 1;
    }
    forEachIndex<2>(outer, {&in.strides, &out.strides},
                    [&](const std::array<int64_t, 2> &offsets) {
                      scan<staticKind, T>(from + offsets[0], fromLine, fromStep,
                                          to + offsets[1], toLine, toStep,
                                          lines, count);
                    });
  }

  size_t dim = 0;
  ReduceKind kind = ReduceKind::Sum;
  bool reverse = false;
};

} // namespace

namespace meshloom::library {
LibraryRows functionsOfCumulative() {
  static constexpr LibraryRow rows[] = {
      {"cumulative", CumulativeRoutine::make, {.usesTeam = true}}};
  return rows;
}
} // namespace meshloom::library
