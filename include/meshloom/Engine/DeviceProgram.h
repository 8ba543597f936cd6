// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceProgram: what a trace is compiled to. Mostly one executable; where the
// values of the trace are on several sets of devices, one for each part of it
// (see DeviceCut.h), which are launched one after the other. Launches do not
// wait for each other: an executable begins when what it takes is there, so
// parts on different devices run at the same time. Values that move between
// devices which share memory are not copied.
#pragma once

#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Settings.h"

#include "meshloom/Runtime/CallOrder.h"
#include "meshloom/Runtime/Client.h"
#include "meshloom/Support/LLVM.h"

#include <atomic>
#include <functional>
#include <map>

namespace meshloom::detail {

class DeviceCut;
class HostControl;
class Trace;
struct SavedProgram;

class DeviceProgram {
public:
  /// One executable, and what it runs.
  struct Part {
    std::shared_ptr<Executable> executable;
    /// The user's, of the values that it takes and gives.
    std::vector<Mesh> meshes;
    /// Its function, where that is not the whole trace.
    OwningOpRef<ModuleOp> module;
    std::vector<size_t> operands, results; ///< numbers of values
    /// Instead of an executable: a loop or branch that the host runs.
    std::shared_ptr<const HostControl> control = nullptr;
  };

  DeviceProgram() = default;
  /// Returns a program that is not whole as a file has it: its parts with their
  /// code, and the moves between them. `names`: of its arguments. Throws where
  /// a part is on devices of other processes.
  std::string serialize(const Settings &settings,
                        const std::vector<std::string> &names) const;
  /// Returns whether `bytes` begin as those do.
  static bool isSerialized(std::string_view bytes);
  /// Loads it on the devices that it names. Throws where `serialize` cannot
  /// have written it.
  static SavedProgram parse(std::string_view bytes, const LoadOptions &options);
  /// Compiles a trace that has ended.
  static std::shared_ptr<const DeviceProgram>
  compile(Trace &trace, const Settings &settings, std::string_view name);

  /// Returns whether a part of it calls the user's functions, which may fail.
  bool callsUser() const;
  /// Runs the program: takes and returns arrays on the user's meshes. It may
  /// update arrays without another reference in place. Returns an Error where
  /// memory does not suffice. `accepted`: see Executable::execute. An error
  /// that depends on values between the parts comes after that.
  ///
  /// Where it fails, `arguments` has the values that it did not use up and, of
  /// the variables that parts have updated already, the new values.
  Result<std::vector<Array>>
  execute(std::vector<Array> &&arguments,
          const std::function<void()> &accepted = {}) const;

  /// Compiles a function whose values are on several sets of devices, and whose
  /// variables are values. `sets`: those that its arguments are on;
  /// `resultSets`: those that results have to be on, ANYWHERE: where they are.
  static std::shared_ptr<const DeviceProgram>
  compileFunction(OwningOpRef<ModuleOp> module,
                  std::shared_ptr<MLIRContext> context, ArrayRef<int64_t> sets,
                  ArrayRef<int64_t> resultSets, ArrayRef<Mesh> meshes,
                  const Settings &settings, std::string_view name);

  /// The parts that have an executable, those of loops and branches that the
  /// host runs included.
  std::vector<const Part *> programs() const;
  bool isWhole() const;
  /// The types of arguments and results, as the compiler decided, on the user's
  /// meshes.
  const std::vector<ArrayType> &argumentTypes() const { return takes; }
  const std::vector<ArrayType> &resultTypes() const { return gives; }
  /// Per result: the argument whose variable it is the new value of, or -1.
  const std::vector<int64_t> &aliases() const { return aliased; }
  double compileSeconds() const { return seconds; }
  /// The function's, where it is not whole.
  const std::string &title() const { return name; }
  /// How often it has run, where it is not whole.
  int64_t executions() const { return runs; }

  /// Makes a program of one executable, whose values are on `meshes`.
  DeviceProgram(std::shared_ptr<Executable> executable,
                std::vector<Mesh> meshes, double compileSeconds);

private:
  /// A value that comes from other devices, in this layout.
  struct Move {
    size_t source;
    Layout layout;
    /// Where it takes messages between processes; else null.
    std::shared_ptr<const SharedCall> call;
  };
  class Run;
  class Reader;
  /// Returns whether the parts that take nothing but arguments would refuse
  /// them.
  Status mayExecuteParts(const std::vector<Array> &arguments) const;
  void compileParts(DeviceCut &cut, ArrayRef<Mesh> meshes,
                    const Settings &settings);
  Part compileControl(DeviceCut &cut, size_t number, ArrayRef<Mesh> meshes,
                      const Settings &settings) const;
  Result<std::vector<Array>>
  executeParts(std::vector<Array> &&arguments,
               const std::function<void()> &accepted) const;
  /// Runs the parts, and adds the results to `arrays`.
  Status runParts(Run &run, std::vector<Array> &arrays) const;
  /// Whether processes send each other values between its parts.
  bool sends() const;

  std::shared_ptr<MLIRContext> context; ///< outlives the modules
  std::vector<Part> pieces;
  std::map<size_t, Move> moves; ///< by the number of the value they make
  std::vector<size_t> results;  ///< numbers of values
  std::vector<size_t> uses;     ///< of each value
  std::vector<ArrayType> takes, gives;
  std::vector<int64_t> aliased;
  std::string name; ///< of the function, where it is not whole
  double seconds = 0;
  mutable std::atomic<int64_t> runs = 0;
};

/// A DeviceProgram of a file.
struct SavedProgram {
  std::shared_ptr<const DeviceProgram> program;
  std::vector<std::string> argumentNames;
};

} // namespace meshloom::detail
