// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library functions "copy" and "fill": elements of an array, or one number,
// go to places of another one; bytes may be widened to i32 or f32. The last
// input that is not copied, if any, is the array that the result is written
// over.
#include "Clones.h"
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "meshloom/Core/ThreadLocal.h"

#include <array>

using namespace meshloom;
using namespace meshloom::library;

namespace {
// The loops, compiled for the CPU at hand.
// NOLINTBEGIN(bugprone-macro-parentheses,bugprone-signed-char-misuse): names
// take none, and bytes have signs.
#define MESHLOOM_WIDEN(From, To)                                               \
  MESHLOOM_CLONES void widen(const From *from, To *to, int64_t count) {        \
    for (int64_t i = 0; i < count; ++i)                                        \
      to[i] = To(from[i]);                                                     \
  }
MESHLOOM_WIDEN(int8_t, int32_t)
MESHLOOM_WIDEN(uint8_t, int32_t)
MESHLOOM_WIDEN(int8_t, float)
MESHLOOM_WIDEN(uint8_t, float)
#undef MESHLOOM_WIDEN
// NOLINTEND(bugprone-macro-parentheses,bugprone-signed-char-misuse)

template <typename From, typename To>
void widenRun(const char *from, char *to, int64_t count) {
  widen(reinterpret_cast<const From *>(from), reinterpret_cast<To *>(to),
        count);
}

using WidenRun = void (*)(const char *from, char *to, int64_t count);

/// Returns the function that widens runs of `from`, or null where none does.
WidenRun widening(DType from, DType to) {
  if (from == DType::I8 && to == DType::I32)
    return widenRun<int8_t, int32_t>;
  if (from == DType::UI8 && to == DType::I32)
    return widenRun<uint8_t, int32_t>;
  if (from == DType::I8 && to == DType::F32)
    return widenRun<int8_t, float>;
  if (from == DType::UI8 && to == DType::F32)
    return widenRun<uint8_t, float>;
  return nullptr;
}

/// Finds how many elements an operand goes on from one iteration of each loop
/// to the next.
void findStrides(const Operand &operand, const LibraryOperand &box,
                 size_t loops, Shape &strides) {
  strides.assign(loops, 0);
  for (size_t d = 0; d < operand.dims.size(); ++d)
    for (auto [loop, coefficient] : operand.dims[d].terms)
      strides[loop] += coefficient * box.strides[d];
}

class CopyRoutine final : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    const size_t inputs = step.inputs.size();
    if ((inputs != 1 && inputs != 2) || step.outputs.size() != 1 ||
        !step.step.options.empty() ||
        std::ranges::any_of(step.step.loops, &Loop::reduction))
      return Error("operands do not match");
    auto routine = std::make_unique<CopyRoutine>();
    const DType type = step.inputs[0]->type;
    routine->widen = widening(type, step.outputs[0]->type);
    if (type != step.outputs[0]->type && !routine->widen)
      return Error("operands do not match");
    routine->from = step.step.inputs[0];
    routine->to = step.step.outputs[0];
    routine->loops = step.step.loops.size();
    return RoutineOrError(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &in = arguments.inputs[0], &out = arguments.outputs[0];
    const std::span<const int64_t> extents(arguments.extents, loops);
    // Calls are many: their memory is that of the thread's calls before.
    auto &[fromStrides, toStrides] = threadLocal<std::array<Shape, 2>>();
    findStrides(from, in, loops, fromStrides);
    findStrides(to, out, loops, toStrides);
    if (!widen)
      copyElements(byteWidth(in.type), extents, out.data, toStrides, in.data,
                   fromStrides);
    else
      forEachRun(extents, fromStrides, toStrides,
                 [&](int64_t source, int64_t target, int64_t run) {
                   widen(in.data + source,
                         out.data + target * byteWidth(out.type), run);
                 });
    return Success();
  }

private:
  Operand from, to;
  size_t loops = 0;
  WidenRun widen = nullptr;
};

class FillRoutine final : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    OptionReader options(step.step);
    auto routine = std::make_unique<FillRoutine>();
    routine->bits = options.number("bits");
    if (step.inputs.size() > 1 || step.outputs.size() != 1 || !options.ok() ||
        byteWidth(step.outputs[0]->type) > sizeof(routine->bits) ||
        std::ranges::any_of(step.step.loops, &Loop::reduction))
      return Error("operands do not match");
    routine->to = step.step.outputs[0];
    routine->loops = step.step.loops.size();
    return RoutineOrError(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &out = arguments.outputs[0];
    auto &[fromStrides, toStrides] = threadLocal<std::array<Shape, 2>>();
    fromStrides.assign(loops, 0);
    findStrides(to, out, loops, toStrides);
    copyElements(byteWidth(out.type), {arguments.extents, loops}, out.data,
                 toStrides, reinterpret_cast<const char *>(&bits), fromStrides);
    return Success();
  }

private:
  Operand to;
  size_t loops = 0;
  int64_t bits = 0; ///< of an element, the lowest ones
};
} // namespace

namespace meshloom::library {
LibraryRows functionsOfCopy() {
  static constexpr LibraryRow rows[] = {
      {"copy", CopyRoutine::make, {.runsBackwards = true}},
      {"fill", FillRoutine::make, {.runsBackwards = true}}};
  return rows;
}
} // namespace meshloom::library
