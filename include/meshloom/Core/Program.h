// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program: what each device does, step by step, for runtimes that run steps.
//
// It is written per device: buffers have layouts, steps have loops that say
// over which mesh axes they are split. A backend loads it: one memory per
// device (every step runs once a device), or shared memory, where a buffer is
// one unpadded row-major global array, a device's shard is a box of it, and
// neighbouring devices' boxes are merged. All indices in a Program are global;
// a backend subtracts where its arrays start.
#pragma once

#include "meshloom/Core/Collective.h"
#include "meshloom/Core/SourceNote.h"
#include "meshloom/Core/Window.h"

#include <map>
#include <variant>

namespace meshloom {

/// A tensor value. Layouts are never "unknown" here.
struct BufferDecl {
  std::string name;
  DType type;
  Shape shape; ///< global
  Layout layout;
  /// The parts that devices hold along each dim where these are not their
  /// blocks: the result of a halo exchange or slice, a splat constant.
  /// Arguments and results have none.
  Windows windows = {};
  bool operator==(const BufferDecl &) const = default;
  /// The part of the global array that `device` holds.
  Box box(int64_t device) const {
    return heldBox(layout, shape, windows, device);
  }
  /// The shape that every device allocates: the largest extents of all boxes.
  Shape localShape() const { return heldShape(layout, shape, windows); }
  /// Bytes of the largest shard, padded.
  int64_t localBytes() const;
};

/// One loop of a step's iteration space, in global indices: 0 <= i < extent.
/// Split over `axes` as a tensor dim of that extent would be. A Reduction loop
/// split over axes leaves the outputs partial there.
struct Loop {
  int64_t extent;
  bool reduction = false;
  std::vector<unsigned> axes;
  /// Per shard along `axes` (index major to minor): the range that it runs,
  /// where that is not the loop's block. Together they are all of the loop.
  std::vector<Interval> ranges = {};
  /// No iteration: the loop tells a library call what is there of a windowed
  /// operand's dim (`ranges`, which may overlap, are what devices hold). It is
  /// not cut into chunks, and its axes are those of another loop.
  bool held = false;
  bool operator==(const Loop &) const = default;
};

/// The part of the iteration space of `loops` that `device` runs.
Box iterationBox(std::span<const Loop> loops, const Mesh &mesh, int64_t device);

/// index of one buffer dim = offset + sum of coefficient * loop index.
struct DimAccess {
  int64_t offset = 0;
  std::vector<std::pair<unsigned, int64_t>> terms; ///< (loop, coefficient)
  bool dependsOn(unsigned loop) const;
  bool operator==(const DimAccess &) const = default;
};

/// A buffer and the element of it that an iteration touches.
struct Operand {
  unsigned buffer;
  std::vector<DimAccess> dims;
  /// Iterations whose element is outside of what the device holds do not touch
  /// it: the kernel looks before it reads.
  bool guarded = false;
  bool dependsOn(unsigned loop) const;
  bool operator==(const Operand &) const = default;
};

/// The option of a library function beside its operands, by name: numbers
/// (truth values are 0 and 1), lists of numbers, texts.
using LibraryOption = std::variant<int64_t, std::vector<int64_t>, std::string>;
using LibraryOptions = std::map<std::string, LibraryOption, std::less<>>;

/// Generated code: the function `symbol` of the program's Code. It goes through
/// the iterations of `loops` that a call names, reads one element of each input
/// an iteration, and writes one of each output that is not a reduction; where
/// it reduces, it initialises what it reduces into: one call covers the whole
/// of every reduction loop that the device has. Calls on disjoint parts of the
/// parallel loops may run at the same time. Where an operand's last dim is a
/// loop with coefficient 1 the code relies on that dim's elements being
/// adjacent.
///
/// A library call is a step with a `library` function of the runtime instead:
/// it gets the same arguments, and `options`, whose meaning is its own.
/// `symbol` then is, where not empty, generated code for scalars that
/// the function calls: a kernel of no loops. A library function finds the box
/// of each operand in the loops that its dims are indexed by; dims that every
/// call has all of are indexed by `held` loops without axes.
struct KernelStep {
  std::string symbol;
  std::vector<Loop> loops;
  std::vector<Operand> inputs, outputs;
  /// Per output: the input whose memory it overwrites (same access), or -1.
  std::vector<int> inPlace;
  SourceNote note;
  /// For scheduling: per iteration; of library calls, of all iterations.
  int64_t flops = 0;
  std::string library = {};
  LibraryOptions options = {};
  /// Per output of generated code: how what it is after parts of the reduction
  /// loops combines into what it is after all of them, so that a backend may
  /// cut a reduction that no layout cuts. Empty: for some output there is no
  /// such way. Whether there is one for a library function, the library says.
  std::vector<ReduceKind> combine = {};
  bool operator==(const KernelStep &) const = default;
};

/// Matrix product by a library: out = sum over reduction loops of lhs * rhs.
/// All three are f32, bf16 or f16; narrow ones are summed in f32. Loops in lhs,
/// rhs and out are batch; in lhs and out rows; in rhs and out columns; in lhs
/// and rhs the reduction.
struct DotStep {
  std::vector<Loop> loops;
  Operand lhs, rhs, out;
  SourceNote note;
  /// Where given: what is read of the result lies where this function of the
  /// loops (none that is reduced) is >= 0. Other elements may be left zero.
  std::optional<DimAccess> readWhere = std::nullopt;
  bool operator==(const DotStep &) const = default;
};

/// A collective over one or several buffers (combined). `from` and `to` layouts
/// are the buffers' own. Reads of non-partial sources may be views of them.
struct CollectiveStep {
  CollectiveKind kind;
  std::vector<unsigned> axes;
  /// For reductions.
  ReduceKind reduce = ReduceKind::Sum;
  struct Move {
    unsigned from, to;
    bool operator==(const Move &) const = default;
  };
  std::vector<Move> moves;
  /// Why it is there, in the user's terms.
  std::string reason;
  SourceNote note;
  bool operator==(const CollectiveStep &) const = default;
};

struct LoopStep;
struct BranchStep;
using Step =
    std::variant<KernelStep, DotStep, CollectiveStep, LoopStep, BranchStep>;

/// Runs `body` again and again while `condition` makes `predicate` true. Both
/// may read buffers of the lists around the step; what they define is theirs
/// and made anew each time. The condition overwrites no argument.
struct LoopStep {
  /// A value that goes from one iteration to the next: four buffers of one
  /// type, shape and layout. `argument` holds `init`, then each time what
  /// `next` held when the body ended (all at once), and `result` its last
  /// value.
  struct Carry {
    unsigned init, argument, next, result;
    bool operator==(const Carry &) const = default;
  };
  std::vector<Carry> carried;
  std::vector<Step> condition, body;
  /// An i1 scalar, the same on all devices; or partial by `or`: then each
  /// device goes on while its own is true, as far as it can tell from what it
  /// has, and none sends anything. (All may as well go on until the last one is
  /// done: what is read after the loop no longer changes.)
  unsigned predicate = 0;
  /// Iterations, where that is known; else -1.
  int64_t tripCount = -1;
  SourceNote note;
  bool operator==(const LoopStep &) const;
};

/// Runs one of `branches`: the one that `index` names, the last one where it is
/// negative or too large.
struct BranchStep {
  /// `result` gets what the branch that ran left in its entry of `values`.
  struct Output {
    unsigned result;
    std::vector<unsigned> values;
    bool operator==(const Output &) const = default;
  };
  /// An i32 scalar, the same on all devices.
  unsigned index = 0;
  std::vector<std::vector<Step>> branches;
  std::vector<Output> outputs;
  SourceNote note;
  bool operator==(const BranchStep &) const;
};

/// Fails unless `order`, where it is not empty, names each device of `mesh`
/// once.
Status verifyDeviceOrder(std::span<const int64_t> order, const Mesh &mesh);

/// The step lists inside a step, in order.
std::vector<const std::vector<Step> *> nestedLists(const Step &step);
/// How many steps there are, with those inside others. Steps are numbered in
/// this order: a step, then those inside it. The number is the step's id.
unsigned countSteps(const std::vector<Step> &steps);

/// Bytes that a collective is counted by, over all its moves; of a halo
/// exchange, the most that one device sends or receives.
int64_t transferBytes(std::span<const BufferDecl> buffers,
                      const CollectiveStep &step);

/// A buffer with a value known at compile time: the whole global array,
/// row-major, or one element repeated.
struct ConstantData {
  unsigned buffer;
  std::vector<char> bytes;
  bool splat = false;
  bool operator==(const ConstantData &) const = default;
};

/// The notes of a program's source on the values of an argument, beside their
/// type.
struct InputNotes {
  /// The bits of integers that have fewer than their type: 4 or 2; else 0.
  int64_t bits = 0;
  /// The range in which random inputs lie; its end is excluded.
  std::optional<std::pair<double, double>> range = std::nullopt;
  bool operator==(const InputNotes &) const = default;
};
/// Fails, with what is expected, on notes that values of type `type` cannot
/// follow.
Status verifyInputNotes(const InputNotes &notes, DType type);

struct Argument {
  unsigned buffer;
  std::string name;
  /// The user's own layout, where that is over another mesh than the program's;
  /// every device holds the same part under it as under the buffer's.
  std::optional<Layout> written = std::nullopt;
  InputNotes notes = {};
  bool operator==(const Argument &) const = default;
};

struct ProgramResult {
  unsigned buffer;
  /// The argument (a variable's old value) whose memory may be reused when the
  /// runtime holds its only reference, or -1.
  int aliasedArgument = -1;
  std::string name;
  /// The written layout, as an argument's.
  std::optional<Layout> written = std::nullopt;
  bool operator==(const ProgramResult &) const = default;
};

struct Program {
  std::string name;
  Mesh mesh; ///< axes only: see Mesh::without_devices
  std::vector<BufferDecl> buffers;
  std::vector<ConstantData> constants;
  std::vector<Argument> arguments;
  std::vector<ProgramResult> results;
  std::vector<Step> steps;
  /// See Signature.
  std::vector<int64_t> deviceOrder = {};
  /// The results' bits may depend on neither mesh, layouts nor backend: no
  /// reduction of floats is cut, and library functions add in an order that
  /// only the sum's own extents decide.
  bool deterministic = false;
  /// Every index in range, layouts of steps consistent with their buffers,
  /// written before read. Run on every program that is read from a file.
  Status verify() const;
  bool operator==(const Program &) const = default;
};

} // namespace meshloom
