// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sets of devices that the values of a function are on.
//
// A function's arguments are on the devices of their meshes; an op is where its
// operands are; a relayout brings its operand to the devices of its layout.
// Plain host tensors, and what is computed of nothing else, are on no devices:
// such a value is computed wherever it is used.
//
// An op whose operands are on several sets, each a single device, runs on the
// device of the scope around it (see device()), without one on that of its
// first operand, and the others are copied. So are operands without dims, and
// values of assigned host variables, which are on CPU:0. All else is an error:
// what moves over many devices moves where the user says so.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Engine/Trace.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace meshloom::detail {

/// The number of a mesh's devices: the same for all meshes over the same
/// devices in the same order.
int64_t deviceSetOf(const Mesh &mesh);
/// A mesh over the devices of that number: the first of `meshes` that is, else
/// any.
const Mesh &meshOfDeviceSet(int64_t set, ArrayRef<Mesh> meshes = {});
/// "mesh[x=4] on CPU:0, CPU:1, ...", by the first of `meshes` that is over
/// them.
std::string deviceSetText(int64_t set, ArrayRef<Mesh> meshes);
/// Returns whether it is CPU:0, which has the host's tensors.
bool isHostSet(int64_t set);
/// The set of a value that is computed wherever it is used.
inline constexpr int64_t ANYWHERE = -1;

/// The sets, each once, of what an op uses.
struct UsedSets {
  SmallVector<int64_t> ofTensors, ofScalars;
  /// Nothing where it is ANYWHERE.
  void add(int64_t set, bool isScalar);
};
/// Where an op runs that uses these; nothing: the user has to say. `scope`: the
/// device of the scope around it, or ANYWHERE.
std::optional<int64_t> commonDeviceSet(const UsedSets &used,
                                       int64_t scope = ANYWHERE);
/// Returns whether a value on `set` comes to a variable on `wanted` without a
/// word.
bool comesAlong(int64_t set, bool isScalar, int64_t wanted);
/// A loop whose values are on several sets is written out where it has at most
/// as many turns; the host runs the turns of any other one (see HostControl.h).
inline constexpr int64_t mostUnrolledTurns = 64;
/// The number of turns of such a loop; nothing: it has more, or their number is
/// not known.
std::optional<int64_t> unrolledTurns(dtensor::WhileOp loop);
/// Throws an error of an op, which names its line.
[[noreturn]] void failAt(Operation *op, std::string message);
/// The single device whose scope this thread is in, or ANYWHERE.
int64_t deviceSetOfScope();

/// Where the values of a function's entry block are.
class DevicePlaces {
public:
  /// `ofArguments`: of each argument of `block`. `meshes`: those of the
  /// function. Ops without operands on devices that do more than compute run
  /// once, on the devices of the first.
  DevicePlaces(Block &block, ArrayRef<int64_t> ofArguments,
               ArrayRef<Mesh> meshes);
  /// Looks at the ops up to `last`, or at all of them. Throws at an op whose
  /// operands are on several sets that do not go together.
  void visit(Operation *last = nullptr);
  int64_t of(Value value) const;
  int64_t of(Operation *op) const;
  /// Returns whether the op is a case of one branch (a checkpoint, a function
  /// with a gradient of the user's) whose ops are on several sets: it stands
  /// for them.
  bool isSpread(Operation *op) const { return spread.contains(op); }
  /// Returns whether the op is a loop or a case of several branches whose ops
  /// are on several sets: the host runs it. Each result is on one set.
  bool isHosted(Operation *op) const { return hosted.contains(op); }

private:
  UsedSets usedBy(Operation *op) const;
  int64_t placeOf(Operation *op) const;
  void add(Operation &op);
  void addBody(Block &body);
  void addUnfinished(dtensor::WhileOp loop);
  void addHosted(Operation &op);
  void addTurns(dtensor::WhileOp loop, SmallVector<int64_t> &sets);
  void expectAlong(Value value, int64_t wanted, const std::string &role) const;

  Block &block;
  const ArrayRef<Mesh> meshes;
  const int64_t ofEffects;
  DenseMap<Value, int64_t> places;
  DenseMap<Operation *, int64_t> ops;
  llvm::SmallPtrSet<Operation *, 4> spread, hosted;
};

} // namespace meshloom::detail
