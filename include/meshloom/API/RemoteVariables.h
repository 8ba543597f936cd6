// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables whose values another process holds, and what a function that uses
// them is to whoever runs it: a program of values that is run anywhere, and
// updates, programs of their own that run where the variables are.
//
//   auto step = function([&](const Tensor &x) {
//     Tensor y = matmul(x, w);        // w is read before the program runs
//     v.assign_add(reduce_sum(y));    // an update: v = v + operand
//     return y;
//   });
//
// The program of `step` is x, w -> y, reduce_sum(y); that of the update is
// operand, v -> v. A call reads w, runs the program, and sends what is an
// operand of the update to where v is. Nothing is held locked between: other
// processes' updates of v are not lost, and w may have changed meanwhile.
//
// Rejected: results that are the variables' new values, as a function has them
// of variables at hand. Two processes that read w, then both write it, lose one
// of the updates.
#pragma once

#include "meshloom/API/Function.h"
#include "meshloom/API/VariableCreation.h"

namespace meshloom::detail {

class TracedFunction;

/// Reaches the variables of other processes. May be used from any thread.
class VariableStore {
public:
  virtual ~VariableStore() = default;
  /// Their present values, host tensors.
  virtual std::vector<Tensor>
  read(const std::vector<DVariable> &variables) const = 0;
  virtual void write(const DVariable &variable, const Tensor &value) const = 0;
  /// Runs an update on the variables that it is of.
  virtual void update(const std::shared_ptr<const TracedFunction> &program,
                      const std::vector<Tensor> &operands) const = 0;
  /// Throws unless one process holds them all: those of an update.
  virtual void
  expectTogether(const std::vector<DVariable> &variables) const = 0;
};

/// How such a variable is read and assigned.
class RemoteVariable : public VariablePolicy {
public:
  explicit RemoteVariable(std::shared_ptr<const VariableStore> store)
      : store(std::move(store)) {}
  Tensor read(const DVariable &variable,
              std::source_location where) const override;
  void assign(const DVariable &variable, VariableUpdate update,
              const TensorLike &value) const override;
  void scatter(const DVariable &variable, RowUpdate update,
               const Tensor &indices, const Tensor &updates,
               std::source_location where) const override;
  void print(std::ostream &out, const DVariable &variable) const override;

  const std::shared_ptr<const VariableStore> store;
};
/// The remote value of the variable, or null.
const RemoteVariable *remoteOf(const DVariable &variable);
/// Gives the value up that this process holds of a variable that another one
/// holds, or that others hold parts of.
void dropStored(const DVariable &variable);

/// A variable that is several, one after the other along dim 0: it reads as
/// their concatenation.
class PartitionedVariable : public VariablePolicy {
public:
  explicit PartitionedVariable(std::vector<DVariable> parts)
      : parts(std::move(parts)) {}
  Tensor read(const DVariable &variable,
              std::source_location where) const override;
  void assign(const DVariable &variable, VariableUpdate update,
              const TensorLike &value) const override;
  /// Not at once for all parts, and not as one update.
  void scatter(const DVariable &variable, RowUpdate update,
               const Tensor &indices, const Tensor &updates,
               std::source_location where) const override;
  void print(std::ostream &out, const DVariable &variable) const override;

  const std::vector<DVariable> parts;
};
/// The parts of the variable; none: it is whole.
std::vector<DVariable> partsOf(const DVariable &variable);
/// The rows of `value` that belong to each of the parts.
std::vector<Tensor> rowsOfParts(const Tensor &value,
                                const std::vector<DVariable> &parts,
                                std::source_location where);

/// body(operands), which reads and assigns `variable` and others that lie with
/// it: where they are, in one piece. In a trace that is part of what the
/// function does. Tensors of the trace are operands.
void updateInPlace(
    const DVariable &variable, const std::vector<Tensor> &operands,
    const std::function<void(std::span<const Tensor> operands)> &body);

/// While it lives, variables that this thread makes lie where `variable` does,
/// and are cut into parts as it is where they have its shape.
class [[nodiscard]] ColocationScope {
public:
  explicit ColocationScope(const DVariable &variable);
  ~ColocationScope();
  ColocationScope(const ColocationScope &) = delete;
  ColocationScope &operator=(const ColocationScope &) = delete;

private:
  std::optional<DVariable> around;
};
/// The colocated variable of the innermost scope of this thread.
const std::optional<DVariable> &colocated();

/// A call of a compiled function.
struct FunctionCall {
  std::shared_ptr<const TracedFunction> function;
  std::vector<Tensor> inputs;
};
/// While it lives, calls of functions by this thread are traced and compiled as
/// always and kept here instead of run; they return empty tensors.
class [[nodiscard]] CallCapture {
public:
  CallCapture();
  ~CallCapture();
  CallCapture(const CallCapture &) = delete;
  CallCapture &operator=(const CallCapture &) = delete;
  std::vector<FunctionCall> calls;

private:
  CallCapture *around;
};
/// Returns whether this thread traces a function for a call that is kept.
bool isCapturingCalls();

/// The parts of a compiled function that whoever runs it needs.
struct FunctionParts {
  struct Argument {
    enum class Kind : uint8_t { Explicit, Captured, Variable } kind;
    Tensor captured;    ///< its value
    DVariable variable; ///< which it is
    bool assigned = false;
  };
  std::string name;
  int64_t id = 0;              ///< no other function has it
  bool checksNumerics = false; ///< it fails where a value is nan or infinite
  std::vector<Argument> arguments;
  /// The number of the call's results; after them come the operands of the
  /// updates, in order.
  size_t results = 0;
  /// Each takes as many operands as it has arguments that are given.
  std::vector<std::shared_ptr<const TracedFunction>> updates;
};
FunctionParts partsOf(const TracedFunction &function);
/// The bytes of a .mlprog file. Compiles.
std::string serialize(const TracedFunction &function);
/// Calls it here: variables of other processes are read, then updated.
std::vector<Tensor> runHere(const FunctionCall &call);

} // namespace meshloom::detail
