// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// custom_call and callback: users' functions, found by name when a program is
// loaded.
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "meshloom/Runtime/DebugPrint.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/StridedRuns.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <optional>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// The box behind the batch dims.
std::vector<CustomOperand> operandsOf(const std::vector<LibraryOperand> &boxes,
                                      ptrdiff_t batch) {
  auto withoutBatch = [&](const Shape &dims) {
    return Shape(dims.begin() + batch, dims.end());
  };
  std::vector<CustomOperand> operands;
  operands.reserve(boxes.size());
  for (const LibraryOperand &box : boxes)
    operands.push_back({box.type, box.data, withoutBatch(box.extent),
                        withoutBatch(box.strides), withoutBatch(box.offset),
                        withoutBatch(*box.global)});
  return operands;
}

Status callTarget(const CustomTarget &target, const std::string &name,
                  const CustomCall &call) {
  auto failed = [&](const Error &error) {
    // The text of an assertion is the user's.
    if (name == assertTarget)
      return error;
    return error.withMessage(
        fmt::format("custom call '{}' failed: {}", name, error.message()));
  };
  try {
    Status done = target.run(call);
    return done ? done : Status(failed(done.error()));
  } catch (const std::exception &error) {
    return failed(Error::of(error));
  }
}

/// Calls body(index) for every index of the first `batch` dims of `box`.
template <typename Body>
Status forEachCall(const LibraryOperand &box, size_t batch, const Body &body) {
  const Shape calls(box.extent.begin(), box.extent.begin() + ptrdiff_t(batch));
  Shape index(batch, 0);
  for (int64_t remaining = elementCount(calls); remaining > 0; --remaining) {
    if (Status done = body(index); !done)
      return done;
    for (size_t d = batch; d-- > 0;) {
      if (++index[d] < calls[d])
        break;
      index[d] = 0;
    }
  }
  return Success();
}

/// Moves `operands`, of the boxes behind the batch dims, to those at `index`.
void place(std::vector<CustomOperand> &operands,
           const std::vector<LibraryOperand> &boxes, const Shape &index) {
  for (size_t i = 0; i < operands.size(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * boxes[i].strides[d];
    operands[i].data = boxes[i].data + offset * byteWidth(boxes[i].type);
  }
}

/// Sets all elements of a result to zero.
void clear(const CustomOperand &result) {
  const int64_t width = byteWidth(result.type);
  auto *first = static_cast<char *>(result.data);
  forEachRun(result.shape, result.strides, result.strides,
             [&](int64_t begin, int64_t, int64_t run) {
               std::memset(first + begin * width, 0, size_t(run * width));
             });
}

/// Returns the loops over reduced dims.
std::vector<size_t> reducedLoopsOf(const KernelStep &step) {
  std::vector<size_t> reduced;
  for (size_t loop = 0; loop < step.loops.size(); ++loop)
    if (step.loops[loop].reduction)
      reduced.push_back(loop);
  return reduced;
}

/// Calls body() for each shard of the boxes `inputs`, to which they are moved.
/// `shards` has the extents of each input's shards. Devices that share memory
/// have one box of all their shards.
template <typename Body>
Status forEachShard(std::vector<CustomOperand> &inputs,
                    const std::vector<Shape> &shards, const Body &body,
                    size_t input = 0, size_t dim = 0) {
  if (input == inputs.size())
    return body();
  if (dim == inputs[input].shape.size())
    return forEachShard(inputs, shards, body, input + 1, 0);
  const CustomOperand box = inputs[input];
  const int64_t extent = shards[input][dim];
  for (int64_t begin = 0; begin < box.shape[dim]; begin += extent) {
    CustomOperand &shard = inputs[input];
    shard = box;
    shard.shape[dim] = std::min(extent, box.shape[dim] - begin);
    shard.offset[dim] += begin;
    shard.data = static_cast<char *>(box.data) +
                 begin * box.strides[dim] * byteWidth(box.type);
    if (Status done = forEachShard(inputs, shards, body, input, dim + 1); !done)
      return done;
  }
  inputs[input] = box;
  return Success();
}

/// A function that is called for what it does, for each index of the batch
/// dims where the first input holds, if `masked`, or for each shard: where
/// there are no such dims, shards or results, by the device that has the
/// beginning of the last loop, which is over devices.
class Callback : public LibraryRoutine {
public:
  Callback(std::string name, std::string config,
           std::shared_ptr<const CustomTarget> target, bool after, bool masked,
           size_t batch, std::optional<size_t> deviceLoop,
           std::vector<Shape> shards)
      : name(std::move(name)), config(std::move(config)),
        target(std::move(target)), after(after), masked(masked), batch(batch),
        deviceLoop(deviceLoop), shards(std::move(shards)) {}

  Status run(const LibraryArguments &arguments) const override {
    if (deviceLoop && (arguments.extents[*deviceLoop] <= 0 ||
                       arguments.origin[*deviceLoop] > 0))
      return Success();
    // Numbers that order calls are nobody's business.
    std::vector<LibraryOperand> boxes = arguments.inputs;
    if (after)
      boxes.pop_back();
    auto inputs = operandsOf(boxes, ptrdiff_t(batch)),
         results = operandsOf(arguments.outputs, ptrdiff_t(batch));
    std::vector<CustomOperand> over{results.back()};
    results.pop_back();
    const LibraryOperand &overBox = arguments.outputs.back();
    const auto visible = std::span(inputs).subspan(masked ? 1 : 0);
    return forEachCall(overBox, batch, [&](const Shape &index) {
      place(inputs, boxes, index);
      place(results, arguments.outputs, index);
      place(over, {overBox}, index);
      std::memset(over[0].data, 0, byteWidth(over[0].type));
      if (masked && !*static_cast<const bool *>(inputs.front().data)) {
        std::ranges::for_each(results, clear);
        return Status(Success());
      }
      const auto call = [&] {
        return callTarget(*target, name, {visible, results, config});
      };
      return shards.empty() ? call() : forEachShard(inputs, shards, call);
    });
  }

private:
  const std::string name, config;
  const std::shared_ptr<const CustomTarget> target;
  const bool after, masked;
  const size_t batch;
  const std::optional<size_t> deviceLoop;
  /// Per input, the extents of a shard; empty: calls are about whole values.
  const std::vector<Shape> shards;
};

class UserFunction : public LibraryRoutine {
public:
  UserFunction(std::string name, std::string config,
               std::shared_ptr<const CustomTarget> target, size_t batch,
               ReduceKind kind, std::vector<size_t> reducedLoops)
      : name(std::move(name)), config(std::move(config)),
        target(std::move(target)), batch(batch), kind(kind),
        reducedLoops(std::move(reducedLoops)) {}

  Status run(const LibraryArguments &arguments) const override {
    // A device that has nothing to reduce contributes the identity.
    if (std::ranges::any_of(reducedLoops, [&](size_t loop) {
          return arguments.extents[loop] <= 0;
        })) {
      for (const LibraryOperand &result : arguments.outputs)
        forEachRun(result.extent, result.strides, result.strides,
                   [&](int64_t begin, int64_t, int64_t run) {
                     fillIdentity(kind, result.type,
                                  result.data + begin * byteWidth(result.type),
                                  run);
                   });
      return Success();
    }
    auto inputs = operandsOf(arguments.inputs, ptrdiff_t(batch)),
         results = operandsOf(arguments.outputs, ptrdiff_t(batch));
    return forEachCall(
        arguments.outputs.front(), batch, [&](const Shape &index) {
          place(inputs, arguments.inputs, index);
          place(results, arguments.outputs, index);
          return callTarget(*target, name, {inputs, results, config});
        });
  }

private:
  const std::string name, config;
  const std::shared_ptr<const CustomTarget> target;
  const size_t batch;
  const ReduceKind kind;
  const std::vector<size_t> reducedLoops;
};
} // namespace

static Result<std::shared_ptr<const CustomTarget>>
targetOf(const std::string &name) {
  if (name == debugPrintTarget)
    return debugPrint();
  if (name == assertTarget)
    return assertion();
  if (auto target = find_custom_call(name))
    return target;
  return Error(fmt::format("no function is registered as custom call target "
                           "'{}': see register_custom_call in "
                           "meshloom/Core/CustomCall.h",
                           name));
}

static RoutineOrError makeCallback(const LibraryStep &step) {
  OptionReader options(step.step);
  std::string name = options.text("call_target_name");
  std::string config = options.text("backend_config");
  const bool after = options.flag("after"),
             effects = options.flag("has_effects");
  const int64_t batch = options.number("batch_dims");
  const bool byShard = options.flag("by_shard"),
             masked = options.flag("masked");
  auto target = targetOf(name);
  if (!target)
    return target.error();
  const size_t inputs = step.inputs.size() - (after ? 1 : 0);
  auto hasBatch = [&](const BufferDecl *operand) {
    return size_t(batch) <= operand->shape.size();
  };
  const bool fits =
      options.ok() && effects && !step.outputs.empty() &&
      (!after || !step.inputs.empty()) && batch >= 0 &&
      std::all_of(step.inputs.begin(), step.inputs.begin() + ptrdiff_t(inputs),
                  hasBatch) &&
      std::ranges::all_of(step.outputs, hasBatch);
  std::vector<Shape> shards;
  if (byShard)
    for (size_t i = 0; fits && i < inputs; ++i)
      shards.push_back(step.inputs[i]->localShape());
  const bool once = fits && step.outputs.size() == 1 && batch == 0 &&
                    reducedLoopsOf(step.step).empty();
  if (!fits || (once && step.step.loops.empty()))
    return Error("its options do not fit its operands");
  std::optional<size_t> deviceLoop;
  if (once)
    deviceLoop = step.step.loops.size() - 1;
  return routineOf(std::make_unique<Callback>(
      std::move(name), std::move(config), std::move(*target), after, masked,
      size_t(batch), deviceLoop, std::move(shards)));
}

static RoutineOrError makeCustomCall(const LibraryStep &step) {
  OptionReader options(step.step);
  std::string name = options.text("call_target_name");
  std::string config = options.text("backend_config");
  auto target = targetOf(name);
  if (!target)
    return target.error();
  const int64_t batch = options.number("batch_dims");
  const ReduceKind kind = options.kind("kind");
  auto hasBatch = [&](const BufferDecl *operand) {
    return batch >= 0 && size_t(batch) <= operand->shape.size();
  };
  if (!options.ok() || step.outputs.empty() ||
      !std::ranges::all_of(step.inputs, hasBatch) ||
      !std::ranges::all_of(step.outputs, hasBatch))
    return Error("its options do not fit its operands");
  return routineOf(std::make_unique<UserFunction>(
      std::move(name), std::move(config), std::move(*target), size_t(batch),
      kind, reducedLoopsOf(step.step)));
}

namespace meshloom::library {
LibraryRows functionsOfCustomCalls() {
  static constexpr LibraryRow rows[] = {
      {"callback", makeCallback, {.callsUser = true}},
      {"custom_call", makeCustomCall, {.callsUser = true}}};
  return rows;
}
} // namespace meshloom::library
