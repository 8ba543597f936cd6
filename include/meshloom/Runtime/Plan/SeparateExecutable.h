// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SeparateExecutable: a straight program on devices with a memory each. Actions
// run one after the other in the program's order; each for every device, but
// for calls of the host that give every device the same.
#pragma once

#include "meshloom/Runtime/Plan/BoxMove.h"
#include "meshloom/Runtime/Plan/Failure.h"
#include "meshloom/Runtime/Plan/StraightExecutable.h"

namespace meshloom::plan {

/// One device's part of a kernel, library call or dot, in the form that a
/// KernelFunction takes. (A dot's operands are its own two and the result.)
struct DeviceCall {
  size_t slot;
  Box iterations; ///< in global indices
  std::vector<void *> operands;
  std::vector<int64_t> strides; ///< [operand][loop]
};

class SeparateExecutable : public StraightExecutable {
public:
  using StraightExecutable::StraightExecutable;
  /// To be called once, before the first run.
  Status plan();

protected:
  // A backend provides these functions.

  /// Makes a kernel, library call or dot ready to run.
  virtual Status prepareStep(unsigned step) = 0;
  /// Runs it on one device.
  virtual Status runStep(unsigned step, const DeviceCall &call) const = 0;
  /// Calls `body` for each slot, in any order or at the same time. All are over
  /// when it returns.
  virtual void forEachSlot(const std::function<void(size_t)> &body);

  /// One move of a collective, here between memories that the host can read and
  /// write, of which every device of the mesh has one.
  virtual void runMove(const BoxMove &move, const Action &action,
                       const Frame &frame, Failure &failure);
  /// Looks for a nan or an infinity in what a call has written, where the host
  /// can read it.
  virtual void checkFinite(const Action &action, const DeviceCall &call,
                           Failure &failure) const;

  /// Returns the index of the calling thread among the workers of this process,
  /// for profiles.
  virtual int64_t worker() const { return 0; }

  Result<Event> runActions(const Frame &frame) override;
  /// forEachSlot, where what is thrown fails the step.
  void onEachSlot(unsigned step, Failure &failure,
                  const std::function<void(size_t)> &body);

private:
  /// Runs one device's part of an action for `runActions`.
  void runOn(size_t slot, const Action &action, const Frame &frame,
             Failure &failure) const;
  /// Copies what the first device has written to the others.
  void shareFirst(const Action &action, const Frame &frame, Failure &failure);
  /// An event of what one device has done of an action since `begin`.
  void record(size_t slot, const Action &action, int64_t begin) const;
  DeviceCall bind(const Action &action, size_t slot, const Frame &frame) const;

  std::vector<int64_t> devices; ///< per slot
  std::vector<Shape> local;     ///< per buffer of the program: padded shape
  std::vector<std::unique_ptr<BoxMove>> moves; ///< per action, if it is one
  std::vector<bool> once; ///< per action: the first device's call is all
};

} // namespace meshloom::plan
