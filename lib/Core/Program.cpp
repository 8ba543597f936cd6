// Program::verify: what a runtime may rely on. A program read from a file went
// through here, so no index, access or layout in it can lead outside a buffer.
#include "meshloom/Core/Program.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace meshloom {

int64_t BufferDecl::localBytes() const {
  return elementCount(layout.local_shape(shape)) * byteWidth(type);
}

namespace {

class Verifier {
public:
  explicit Verifier(const Program &program)
      : program(program), written(program.buffers.size()),
        overwritten(program.buffers.size()) {}

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
  Status inRange(unsigned index, const char *what) const {
    if (index >= program.buffers.size())
      return fail("{} names buffer {} of {}", what, index,
                  program.buffers.size());
    return Success();
  }
  Status define(unsigned index, const char *what) {
    if (Status found = inRange(index, what); !found)
      return found;
    if (written[index])
      return fail("{} writes buffer {}, which already has a value", what,
                  index);
    written[index] = true;
    return Success();
  }
  Status read(unsigned index, const char *what) const {
    if (Status found = inRange(index, what); !found)
      return found;
    if (!written[index])
      return fail("{} reads buffer {} before it is written", what, index);
    if (overwritten[index])
      return fail("{} reads buffer {} after it was overwritten", what, index);
    return Success();
  }

  Status buffers() const;
  Status values();
  Status results() const;
  Status loops(const std::vector<Loop> &loops) const;
  Status access(const Operand &operand, const std::vector<Loop> &loops,
                const char *what) const;
  Status step(const KernelStep &kernel);
  Status step(const DotStep &dot);
  Status step(const CollectiveStep &collective);

  const Program &program;
  std::vector<bool> written;
  std::vector<bool> overwritten; ///< in place, by a kernel
  std::string where;
};

Status Verifier::buffers() const {
  constexpr int64_t mostElements = std::numeric_limits<int64_t>::max() / 64;
  for (unsigned i = 0; i < program.buffers.size(); ++i) {
    const BufferDecl &decl = buffer(i);
    if (!(decl.layout.mesh() == program.mesh))
      return fail("buffer {} is on another mesh", i);
    if (decl.layout.rank() != decl.shape.size())
      return fail("buffer {} has rank {} and a layout of rank {}", i,
                  decl.shape.size(), decl.layout.rank());
    // Padding adds less than one element a shard to each dim.
    __int128 elements = 1;
    for (unsigned dim = 0; dim < decl.shape.size(); ++dim) {
      if (decl.shape[dim] < 0)
        return fail("buffer {} has extent {} in dim {}", i, decl.shape[dim],
                    dim);
      elements *= __int128(decl.shape[dim]) + decl.layout.num_shards(dim);
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
    size_t expected =
        byteWidth(decl.type) * (constant.splat ? 1 : elementCount(decl.shape));
    if (constant.bytes.size() != expected)
      return fail("the constant in buffer {} has {} bytes, expected {}",
                  constant.buffer, constant.bytes.size(), expected);
  }
  for (const Argument &argument : program.arguments)
    if (Status defined = define(argument.buffer, "an argument"); !defined)
      return defined;
  return Success();
}

Status Verifier::results() const {
  std::set<int> aliased;
  for (const ProgramResult &result : program.results) {
    if (Status found = read(result.buffer, "a result"); !found)
      return found;
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
    for (unsigned axis : loop.axes)
      if (axis >= program.mesh.rank() || !used.insert(axis).second)
        return fail("mesh axis {} of a loop is unknown or used twice", axis);
  }
  return Success();
}

/// Indices of a dim that the loops reach lie in the dim.
Status Verifier::access(const Operand &operand, const std::vector<Loop> &loops,
                        const char *what) const {
  const BufferDecl &decl = buffer(operand.buffer);
  if (operand.dims.size() != decl.shape.size())
    return fail("{} has {} indices for buffer {} of rank {}", what,
                operand.dims.size(), operand.buffer, decl.shape.size());
  for (unsigned dim = 0; dim < operand.dims.size(); ++dim)
    for (auto [loop, coefficient] : operand.dims[dim].terms)
      if (loop >= loops.size())
        return fail("{} is indexed by loop {} of {}", what, loop, loops.size());
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
        return fail("{} is indexed outside dim {} of buffer {}", what, dim,
                    operand.buffer);
    }
    if (least < 0 || most >= decl.shape[dim])
      return fail("{} is indexed outside dim {} of buffer {}", what, dim,
                  operand.buffer);
  }
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
    if (!covered)
      return fail("{} reads or writes dim {} of buffer {} across shards", what,
                  dim, operand.buffer);
  }
  return Success();
}

Status Verifier::step(const KernelStep &kernel) {
  where =
      fmt::format("kernel '{}' ({}): ", kernel.symbol, kernel.note.location);
  if (kernel.symbol.empty())
    return fail("it has no symbol");
  if (Status ok = loops(kernel.loops); !ok)
    return ok;
  if (kernel.inPlace.size() != kernel.outputs.size())
    return fail("{} in-place entries for {} outputs", kernel.inPlace.size(),
                kernel.outputs.size());
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
    int input = kernel.inPlace[i];
    if (input == -1)
      continue;
    if (input < -1 || size_t(input) >= kernel.inputs.size())
      return fail("output {} cannot overwrite input {} of {}", i, input,
                  kernel.inputs.size());
    const Operand &from = kernel.inputs[input];
    if (overwritten[from.buffer])
      return fail("buffer {} is overwritten twice", from.buffer);
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

Status Verifier::step(const DotStep &dot) {
  where = fmt::format("dot ({}): ", dot.note.location);
  if (Status ok = loops(dot.loops); !ok)
    return ok;
  for (const Operand *input : {&dot.lhs, &dot.rhs})
    if (Status ok = read(input->buffer, "an operand"); !ok)
      return ok;
  if (Status ok = define(dot.out.buffer, "the result"); !ok)
    return ok;
  std::vector<int> uses(dot.loops.size());
  for (const Operand *operand : {&dot.lhs, &dot.rhs, &dot.out}) {
    if (Status ok = access(*operand, dot.loops, "an operand"); !ok)
      return ok;
    if (buffer(operand->buffer).type != DType::F32)
      return fail("buffer {} is not f32", operand->buffer);
    std::set<unsigned> own;
    for (const DimAccess &index : operand->dims) {
      if (index.terms.size() > 1 ||
          (index.terms.size() == 1 && index.terms[0].second != 1))
        return fail("dims must be indexed by one loop each");
      for (auto [loop, coefficient] : index.terms)
        if (!own.insert(loop).second)
          return fail("loop {} indexes two dims of one operand", loop);
    }
    for (unsigned loop : own)
      ++uses[loop];
  }
  for (size_t loop = 0; loop < uses.size(); ++loop)
    if (uses[loop] < 2)
      return fail("loop {} is in {} operands, expected 2 or 3", loop,
                  uses[loop]);
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

Status Verifier::verify() {
  if (Status ok = buffers(); !ok)
    return ok;
  if (Status ok = values(); !ok)
    return ok;
  for (const Step &each : program.steps)
    if (Status ok = std::visit([&](const auto &s) { return step(s); }, each);
        !ok)
      return ok;
  where.clear();
  return results();
}

} // namespace

Status Program::verify() const {
  return Verifier(*this).verify();
}

} // namespace meshloom
