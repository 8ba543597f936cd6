// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program::verify: what a runtime may rely on. A program read from a file went
// through here, so no index, access or layout in it can lead outside a buffer.
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Core/Program.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

namespace meshloom {

Status verifyInputNotes(const InputNotes &notes, DType type) {
  if (notes.bits != 0 && (!(notes.bits == 2 || notes.bits == 4) ||
                          !isInteger(type) || byteWidth(type) != 1))
    return Error(fmt::format("{} bits of a value of {}: expected 2 or 4, of "
                             "integers of a byte",
                             notes.bits, name(type)),
                 ErrorCode::INVALID_ARGUMENT);
  if (!notes.range)
    return Success();
  const auto [first, end] = *notes.range;
  auto isWhole = [](double number) {
    return number == std::floor(number) && std::abs(number) <= 0x1p31;
  };
  if (first < end && std::isfinite(first) && std::isfinite(end) &&
      (!isInteger(type) || (isWhole(first) && isWhole(end))))
    return Success();
  return Error(fmt::format("expected the first number and the end of a range, "
                           "as in array<f64: 0.0, 1.0>{}",
                           isInteger(type) ? ", whole ones of integers" : ""),
               ErrorCode::INVALID_ARGUMENT);
}

namespace {

class Verifier {
public:
  explicit Verifier(const Program &program)
      : program(program), defined(program.buffers.size()),
        written(program.buffers.size()), overwritten(program.buffers.size()),
        ownedBy(program.buffers.size()) {}

  Status verify();

private:
  template <typename... T>
  Error fail(fmt::format_string<T...> text, T &&...args) const {
    return Error(fmt::format("program '{}': {}{}", program.name, where,
                             fmt::format(text, std::forward<T>(args)...)));
  }
  const BufferDecl &buffer(unsigned index) const {
    return program.buffers[index];
  }
  Status inRange(unsigned index, const char *role) const {
    if (index >= program.buffers.size())
      return fail("{} names buffer {} of {}", role, index,
                  program.buffers.size());
    return Success();
  }
  Status define(unsigned index, const char *role) {
    if (Status found = inRange(index, role); !found)
      return found;
    if (defined[index])
      return fail("{} writes buffer {}, which already has a value", role,
                  index);
    defined[index] = written[index] = true;
    ownedBy[index] = list;
    return Success();
  }
  /// The steps of a list inside a step, then what reads its buffers: those are
  /// gone afterwards.
  template <typename F>
  Status nested(const std::vector<Step> &steps, F &&readOutputs) {
    std::vector<bool> before = written, beforeOverwritten = overwritten;
    const unsigned outer = std::exchange(list, ++lists);
    if (Status ok = verify(steps); !ok)
      return ok;
    if (Status ok = readOutputs(); !ok)
      return ok;
    list = outer;
    written = std::move(before);
    overwritten = std::move(beforeOverwritten);
    return Success();
  }
  /// Buffers `a` and `b` may take each other's values.
  Status alike(unsigned a, unsigned b, const char *role) const {
    for (unsigned index : {a, b})
      if (Status found = inRange(index, role); !found)
        return found;
    if (buffer(a).type != buffer(b).type ||
        buffer(a).shape != buffer(b).shape ||
        !(buffer(a).layout == buffer(b).layout))
      return fail("{}: buffers {} and {} differ in type, shape or layout", role,
                  a, b);
    return Success();
  }
  /// Checks a value that decides which way a step goes.
  Status decides(unsigned index, DType type, const char *role,
                 bool byDevice = false) const {
    if (Status found = read(index, role); !found)
      return found;
    auto pending = buffer(index).layout.partial();
    if (buffer(index).type != type || !buffer(index).shape.empty() ||
        !std::ranges::all_of(pending, [&](Partial partial) {
          return byDevice && partial.kind == ReduceKind::Or;
        }))
      return fail("{} is not a replicated scalar {}", role, name(type));
    return Success();
  }
  Status read(unsigned index, const char *role) const {
    if (Status found = inRange(index, role); !found)
      return found;
    if (!written[index])
      return fail("{} reads buffer {} before it is written", role, index);
    if (overwritten[index])
      return fail("{} reads buffer {} after it was overwritten", role, index);
    return Success();
  }

  Status buffers() const;
  Status values();
  Status results() const;
  Status sameParts(const std::optional<Layout> &layout, unsigned index) const;
  Status loops(const std::vector<Loop> &loops) const;
  Status held(const Operand &operand, const std::vector<Loop> &loops,
              const char *role) const;
  Status access(const Operand &operand, const std::vector<Loop> &loops,
                const char *role) const;
  Status step(const KernelStep &kernel);
  Status readWhere(const DimAccess &where,
                   const std::vector<Loop> &loops) const;
  Status step(const DotStep &dot);
  Status step(const CollectiveStep &collective);
  Status step(const LoopStep &loop);
  Status step(const BranchStep &branch);
  Status verify(const std::vector<Step> &steps);

  const Program &program;
  std::vector<bool> defined;     ///< somewhere
  std::vector<bool> written;     ///< ... where it can be read now
  std::vector<bool> overwritten; ///< in place, by a kernel
  /// The list that a buffer belongs to, the one being verified, and how many
  /// there are; 0: the program's.
  std::vector<unsigned> ownedBy;
  unsigned list = 0, lists = 0;
  std::string where;
};

Status Verifier::buffers() const {
  constexpr int64_t mostElements = std::numeric_limits<int64_t>::max() / 64;
  if (!(program.mesh == program.mesh.without_devices()))
    return fail("its mesh {} is on devices; they are given when it is loaded",
                program.mesh.to_string());
  if (Status ok = verifyDeviceOrder(program.deviceOrder, program.mesh); !ok)
    return fail("{}", ok.error().message());
  for (unsigned i = 0; i < program.buffers.size(); ++i) {
    const BufferDecl &decl = buffer(i);
    if (!(decl.layout.mesh() == program.mesh))
      return fail("buffer {} is on another mesh", i);
    if (decl.layout.rank() != decl.shape.size())
      return fail("buffer {} has rank {} and a layout of rank {}", i,
                  decl.shape.size(), decl.layout.rank());
    if (Status ok = verifyWindows(decl.layout, decl.shape, decl.windows); !ok)
      return fail("buffer {}: {}", i, ok.error().message());
    // Padding adds less than one element a shard to each dim: none to what is
    // whole, so that the number of dims of one element does not matter.
    __int128 elements = 1;
    for (unsigned dim = 0; dim < decl.shape.size(); ++dim) {
      if (decl.shape[dim] < 0)
        return fail("buffer {} has extent {} in dim {}", i, decl.shape[dim],
                    dim);
      elements *= std::max<__int128>(1, __int128(decl.shape[dim]) +
                                            decl.layout.num_shards(dim) - 1);
      if (elements > mostElements)
        return fail("buffer {} is too large", i);
    }
  }
  return Success();
}

Status Verifier::values() {
  for (const ConstantData &constant : program.constants) {
    if (Status defined = define(constant.buffer, "a constant"); !defined)
      return defined;
    const BufferDecl &decl = buffer(constant.buffer);
    if (!decl.windows.empty() && !constant.splat)
      return fail("the constant in buffer {} has windows", constant.buffer);
    size_t expected =
        byteWidth(decl.type) * (constant.splat ? 1 : elementCount(decl.shape));
    if (constant.bytes.size() != expected)
      return fail("the constant in buffer {} has {} bytes, expected {}",
                  constant.buffer, constant.bytes.size(), expected);
  }
  for (const Argument &argument : program.arguments)
    if (Status defined = define(argument.buffer, "an argument"); !defined)
      return defined;
    else if (!buffer(argument.buffer).windows.empty())
      return fail("an argument, buffer {}, has windows", argument.buffer);
    else if (Status same = sameParts(argument.written, argument.buffer); !same)
      return same;
    else if (Status fits =
                 verifyInputNotes(argument.notes, buffer(argument.buffer).type);
             !fits)
      return fits;
  return Success();
}

Status Verifier::sameParts(const std::optional<Layout> &layout,
                           unsigned index) const {
  if (!layout)
    return Success();
  const BufferDecl &decl = buffer(index);
  if (!(layout->mesh() == layout->mesh().without_devices()) ||
      !haveSameShards(*layout, decl.layout, decl.shape))
    return fail("buffer {} is written as {} on {}, which gives devices "
                "different parts than {} on {} does",
                index, layout->spec_string(), layout->mesh().spec_string(),
                decl.layout.spec_string(), program.mesh.spec_string());
  return Success();
}

Status Verifier::results() const {
  std::set<int> aliased;
  for (const ProgramResult &result : program.results) {
    if (Status found = read(result.buffer, "a result"); !found)
      return found;
    if (!buffer(result.buffer).windows.empty())
      return fail("a result, buffer {}, has windows", result.buffer);
    if (Status same = sameParts(result.written, result.buffer); !same)
      return same;
    int alias = result.aliasedArgument;
    if (alias == -1)
      continue;
    if (alias < -1 || size_t(alias) >= program.arguments.size())
      return fail("a result aliases argument {} of {}", alias,
                  program.arguments.size());
    if (!aliased.insert(alias).second)
      return fail("two results alias argument {}", alias);
    const BufferDecl &from = buffer(program.arguments[alias].buffer),
                     &to = buffer(result.buffer);
    if (from.type != to.type || from.shape != to.shape ||
        !(from.layout == to.layout))
      return fail("a result aliases argument {} of another type", alias);
  }
  return Success();
}

Status Verifier::loops(const std::vector<Loop> &loops) const {
  std::set<unsigned> used;
  for (const Loop &loop : loops) {
    if (loop.extent < 0)
      return fail("a loop has extent {}", loop.extent);
    int64_t shards = 1;
    for (unsigned axis : loop.axes) {
      if (axis >= program.mesh.rank() ||
          (!loop.held && !used.insert(axis).second))
        return fail("mesh axis {} of a loop is unknown or used twice", axis);
      shards *= program.mesh.axis_size(axis);
    }
    if (loop.ranges.empty())
      continue;
    if (int64_t(loop.ranges.size()) != shards)
      return fail("a loop has {} ranges for {} shards", loop.ranges.size(),
                  shards);
    int64_t total = 0;
    std::vector<Interval> sorted = loop.ranges;
    std::ranges::sort(sorted, {}, &Interval::begin);
    for (Interval range : sorted) {
      if (range.begin < 0 || range.end < range.begin || range.end > loop.extent)
        return fail("the range {}:{} is not in a loop of {}", range.begin,
                    range.end, loop.extent);
      if (range.empty() || loop.held)
        continue;
      if (range.begin != total)
        return fail("the ranges of a loop of {} overlap or leave something out",
                    loop.extent);
      total = range.end;
    }
    if (!loop.held && total != loop.extent)
      return fail("the ranges of a loop of {} leave something out",
                  loop.extent);
  }
  return Success();
}

/// The elements that devices use lie in their windows, looked up device by
/// device: for accesses through windows.
Status Verifier::held(const Operand &operand, const std::vector<Loop> &loops,
                      const char *role) const {
  const BufferDecl &decl = buffer(operand.buffer);
  for (int64_t device = 0; device < program.mesh.size(); ++device) {
    const Box space = iterationBox(loops, program.mesh, device);
    if (space.empty())
      continue;
    const Box box = decl.box(device);
    for (unsigned dim = 0; dim < operand.dims.size(); ++dim) {
      int64_t least = operand.dims[dim].offset, most = least;
      for (auto [loop, coefficient] : operand.dims[dim].terms) {
        const int64_t first = coefficient * space.offset[loop];
        const int64_t last = first + coefficient * (space.extent[loop] - 1);
        least += std::min(first, last);
        most += std::max(first, last);
      }
      if (least < box.offset[dim] || most >= box.offset[dim] + box.extent[dim])
        return fail("{} reads or writes {}:{} in dim {} of buffer {}, of which "
                    "device {} holds {}:{}",
                    role, least, most + 1, dim, operand.buffer, device,
                    box.offset[dim], box.offset[dim] + box.extent[dim]);
    }
  }
  return Success();
}

/// Indices of a dim that the loops reach lie in the dim.
Status Verifier::access(const Operand &operand, const std::vector<Loop> &loops,
                        const char *role) const {
  const BufferDecl &decl = buffer(operand.buffer);
  if (operand.dims.size() != decl.shape.size())
    return fail("{} has {} indices for buffer {} of rank {}", role,
                operand.dims.size(), operand.buffer, decl.shape.size());
  for (unsigned dim = 0; dim < operand.dims.size(); ++dim)
    for (auto [loop, coefficient] : operand.dims[dim].terms)
      if (loop >= loops.size())
        return fail("{} is indexed by loop {} of {}", role, loop, loops.size());
  if (std::ranges::any_of(loops, [](const Loop &l) { return l.extent == 0; }))
    return Success();
  for (unsigned dim = 0; dim < operand.dims.size(); ++dim) {
    const DimAccess &index = operand.dims[dim];
    // Loop extents and coefficients are 64 bits: their products fit.
    __int128 least = index.offset, most = index.offset;
    constexpr __int128 bound = std::numeric_limits<int64_t>::max();
    for (auto [loop, coefficient] : index.terms) {
      __int128 reach = __int128(coefficient) * (loops[loop].extent - 1);
      (reach < 0 ? least : most) += reach;
      if (least < -bound || most > bound)
        return fail("{} is indexed outside dim {} of buffer {}", role, dim,
                    operand.buffer);
    }
    if (!operand.guarded && (least < 0 || most >= decl.shape[dim]))
      return fail("{} is indexed outside dim {} of buffer {}", role, dim,
                  operand.buffer);
  }
  if (operand.guarded)
    return Success();
  bool simple = decl.windows.empty();
  for (unsigned dim = 0; dim < operand.dims.size(); ++dim) {
    const DimAccess &index = operand.dims[dim];
    for (auto [loop, coefficient] : index.terms)
      simple &= loops[loop].ranges.empty();
    if (!decl.layout.axes(dim).empty())
      simple &= index.offset == 0 && index.terms.size() == 1 &&
                index.terms[0].second == 1;
  }
  if (!simple)
    return held(operand, loops, role);
  // Where a dim is a loop, a device's part of the loop is in its shard.
  for (unsigned dim = 0; dim < operand.dims.size(); ++dim) {
    const DimAccess &index = operand.dims[dim];
    auto axes = decl.layout.axes(dim);
    if (axes.empty())
      continue;
    bool covered = false;
    for (auto [loop, coefficient] : index.terms)
      covered |= loops[loop].axes.size() >= axes.size() &&
                 std::equal(axes.begin(), axes.end(), loops[loop].axes.begin());
    // Where it is not, devices may still have a part of other loops only in
    // which they hold all that is read, or none.
    if (!covered && !held(operand, loops, role))
      return fail("{} reads or writes dim {} of buffer {} across shards", role,
                  dim, operand.buffer);
  }
  return Success();
}

Status Verifier::step(const KernelStep &kernel) {
  where = fmt::format("kernel '{}' ({}): ",
                      kernel.library.empty() ? kernel.symbol : kernel.library,
                      kernel.note.location);
  if (kernel.symbol.empty() && kernel.library.empty())
    return fail("it has no symbol");
  // A loop that is compiled whole says how much it does, and so does a kernel
  // that may be interpreted.
  if (kernel.library.empty() && !kernel.options.empty() &&
      !kernel.options.contains("turns") &&
      !kernel.options.contains("interpreted"))
    return fail("it has options, but calls no library function");
  if (Status ok = loops(kernel.loops); !ok)
    return ok;
  if (kernel.inPlace.size() != kernel.outputs.size())
    return fail("{} in-place entries for {} outputs", kernel.inPlace.size(),
                kernel.outputs.size());
  if (!kernel.combine.empty() && kernel.combine.size() != kernel.outputs.size())
    return fail("{} kinds to combine parts of {} outputs",
                kernel.combine.size(), kernel.outputs.size());
  for (const Operand &input : kernel.inputs) {
    if (Status ok = read(input.buffer, "an input"); !ok)
      return ok;
    if (Status ok = access(input, kernel.loops, "an input"); !ok)
      return ok;
  }
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const Operand &output = kernel.outputs[i];
    if (Status ok = define(output.buffer, "an output"); !ok)
      return ok;
    if (Status ok = access(output, kernel.loops, "an output"); !ok)
      return ok;
    if (output.guarded)
      return fail("output {} is guarded", i);
    int input = kernel.inPlace[i];
    if (input == -1)
      continue;
    if (input < -1 || size_t(input) >= kernel.inputs.size())
      return fail("output {} cannot overwrite input {} of {}", i, input,
                  kernel.inputs.size());
    const Operand &from = kernel.inputs[input];
    if (overwritten[from.buffer])
      return fail("buffer {} is overwritten twice", from.buffer);
    if (ownedBy[from.buffer] != list)
      return fail("buffer {} of an outer list is overwritten", from.buffer);
    overwritten[from.buffer] = true;
    if (from.dims != output.dims ||
        byteWidth(buffer(from.buffer).type) !=
            byteWidth(buffer(output.buffer).type) ||
        buffer(from.buffer).shape != buffer(output.buffer).shape)
      return fail("output {} overwrites input {} with another access", i,
                  input);
  }
  return Success();
}

Status Verifier::readWhere(const DimAccess &where,
                           const std::vector<Loop> &loops) const {
  // The sum that backends compute must not overflow.
  constexpr __int128 bound = int64_t(1) << 60;
  __int128 size = where.offset < 0 ? -__int128(where.offset) : where.offset;
  for (auto [loop, coefficient] : where.terms) {
    if (loop >= loops.size() || loops[loop].reduction)
      return fail("the elements that are read depend on loop {}, which is not "
                  "a loop of the result",
                  loop);
    const __int128 reach = __int128(coefficient) * loops[loop].extent;
    size += reach < 0 ? -reach : reach;
    if (size > bound)
      return fail(
          "the elements that are read depend on numbers that are too large");
  }
  return Success();
}

/// Returns whether there are products of operands of these types with such a
/// result.
static bool isProduct(DType lhs, DType rhs, DType result) {
  auto isByte = [](DType type) {
    return type == DType::I8 || type == DType::UI8;
  };
  if (isByte(lhs) && isByte(rhs))
    return result == DType::I32 || result == DType::UI32;
  const bool isHalf = lhs == DType::BF16 || lhs == DType::F16;
  constexpr DType types[] = {DType::F32, DType::F64,  DType::BF16, DType::F16,
                             DType::I32, DType::UI32, DType::C64,  DType::C128};
  return lhs == rhs && std::ranges::find(types, lhs) != std::end(types) &&
         (result == lhs || (isHalf && result == DType::F32));
}

Status Verifier::step(const DotStep &dot) {
  where = fmt::format("dot ({}): ", dot.note.location);
  if (Status ok = loops(dot.loops); !ok)
    return ok;
  for (const Operand *input : {&dot.lhs, &dot.rhs})
    if (Status ok = read(input->buffer, "an operand"); !ok)
      return ok;
  if (Status ok = define(dot.out.buffer, "the result"); !ok)
    return ok;
  auto typeOf = [&](const Operand &operand) {
    return buffer(operand.buffer).type;
  };
  if (!isProduct(typeOf(dot.lhs), typeOf(dot.rhs), typeOf(dot.out)))
    return fail("there are no products of {} and {} into {}",
                name(typeOf(dot.lhs)), name(typeOf(dot.rhs)),
                name(typeOf(dot.out)));
  std::vector<int> uses(dot.loops.size());
  for (const Operand *operand : {&dot.lhs, &dot.rhs, &dot.out}) {
    if (Status ok = access(*operand, dot.loops, "an operand"); !ok)
      return ok;
    std::set<unsigned> used;
    for (const DimAccess &index : operand->dims) {
      if (index.terms.size() > 1 ||
          (index.terms.size() == 1 && index.terms[0].second != 1))
        return fail("dims must be indexed by one loop each");
      for (auto [loop, coefficient] : index.terms)
        if (!used.insert(loop).second)
          return fail("loop {} indexes two dims of one operand", loop);
    }
    for (unsigned loop : used)
      ++uses[loop];
  }
  for (size_t loop = 0; loop < uses.size(); ++loop)
    if (uses[loop] < 2)
      return fail("loop {} is in {} operands, expected 2 or 3", loop,
                  uses[loop]);
  if (dot.readWhere)
    return readWhere(*dot.readWhere, dot.loops);
  return Success();
}

Status Verifier::step(const CollectiveStep &collective) {
  where =
      fmt::format("{} ({}): ", name(collective.kind), collective.note.location);
  if (collective.moves.empty())
    return fail("it moves nothing");
  for (CollectiveStep::Move move : collective.moves) {
    if (Status ok = read(move.from, "it"); !ok)
      return ok;
    if (Status ok = define(move.to, "it"); !ok)
      return ok;
    const BufferDecl &from = buffer(move.from), &to = buffer(move.to);
    if (from.type != to.type || from.shape != to.shape)
      return fail("buffers {} and {} differ in type or shape", move.from,
                  move.to);
    CollectiveOp op{collective.kind, collective.axes, from.layout, to.layout};
    if (Status ok = meshloom::verify(op); !ok)
      return fail("{}", ok.error().message());
    if (!from.windows.empty())
      return fail("buffer {} has windows", move.from);
    if (collective.kind == CollectiveKind::HaloExchange) {
      std::vector<unsigned> axes = haloAxes(to.layout, to.shape, to.windows);
      if (!std::ranges::is_permutation(axes, collective.axes))
        return fail("the windows of buffer {} reach over other axes", move.to);
    } else if (collective.kind == CollectiveKind::Slice) {
      if (!isWithinSource(from.layout, to.layout, to.shape, to.windows))
        return fail("the windows of buffer {} are not in the parts of buffer "
                    "{} that devices have",
                    move.to, move.from);
    } else if (!to.windows.empty()) {
      return fail("buffer {} has windows", move.to);
    }
    if (collective.kind == CollectiveKind::AllReduce ||
        collective.kind == CollectiveKind::ReduceScatter)
      for (Partial pending : from.layout.partial())
        if (std::ranges::count(collective.axes, pending.axis) &&
            pending.kind != collective.reduce)
          return fail("it combines by {}, buffer {} is partial by {}",
                      name(collective.reduce), move.from, name(pending.kind));
  }
  return Success();
}

Status Verifier::step(const LoopStep &loop) {
  const std::string place = fmt::format("while ({}): ", loop.note.location);
  where = place;
  if (loop.tripCount < -1)
    return fail("{} iterations", loop.tripCount);
  for (const LoopStep::Carry &carry : loop.carried) {
    if (Status ok = read(carry.init, "an init"); !ok)
      return ok;
    for (unsigned other : {carry.argument, carry.next, carry.result})
      if (Status ok = alike(carry.init, other, "a carried value"); !ok)
        return ok;
  }
  std::vector<bool> before = written;
  for (const LoopStep::Carry &carry : loop.carried)
    if (Status ok = define(carry.argument, "a carried value"); !ok)
      return ok;
  auto predicate = [&] {
    where = place;
    return decides(loop.predicate, DType::I1, "the predicate", true);
  };
  if (Status ok = nested(loop.condition, predicate); !ok)
    return ok;
  // The body may overwrite the arguments: they are its own.
  for (const LoopStep::Carry &carry : loop.carried)
    ownedBy[carry.argument] = lists + 1;
  auto next = [&]() -> Status {
    where = place;
    for (const LoopStep::Carry &carry : loop.carried)
      if (Status ok = read(carry.next, "the next iteration"); !ok)
        return ok;
    return Success();
  };
  if (Status ok = nested(loop.body, next); !ok)
    return ok;
  written = std::move(before);
  for (const LoopStep::Carry &carry : loop.carried)
    if (Status ok = define(carry.result, "a result"); !ok)
      return ok;
  return Success();
}

Status Verifier::step(const BranchStep &branch) {
  const std::string place = fmt::format("case ({}): ", branch.note.location);
  where = place;
  if (branch.branches.empty())
    return fail("it has no branch");
  if (Status ok = decides(branch.index, DType::I32, "the index"); !ok)
    return ok;
  for (const BranchStep::Output &output : branch.outputs)
    if (output.values.size() != branch.branches.size())
      return fail("{} values of {} branches", output.values.size(),
                  branch.branches.size());
  for (size_t i = 0; i < branch.branches.size(); ++i) {
    auto values = [&]() -> Status {
      where = place;
      for (const BranchStep::Output &output : branch.outputs) {
        if (Status ok = read(output.values[i], "a result"); !ok)
          return ok;
        if (Status ok = alike(output.result, output.values[i], "a result"); !ok)
          return ok;
      }
      return Success();
    };
    if (Status ok = nested(branch.branches[i], values); !ok)
      return ok;
  }
  for (const BranchStep::Output &output : branch.outputs)
    if (Status ok = define(output.result, "a result"); !ok)
      return ok;
  return Success();
}

Status Verifier::verify(const std::vector<Step> &steps) {
  for (const Step &current : steps)
    if (Status ok = std::visit([&](const auto &s) { return step(s); }, current);
        !ok)
      return ok;
  return Success();
}

Status Verifier::verify() {
  if (Status ok = buffers(); !ok)
    return ok;
  if (Status ok = values(); !ok)
    return ok;
  if (Status ok = verify(program.steps); !ok)
    return ok;
  where.clear();
  return results();
}

} // namespace

Status Program::verify() const {
  return Verifier(*this).verify();
}

} // namespace meshloom
