// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ProgramCompiler: from the bytes that a caller compiles to a program that is
// loaded on a client.
#pragma once

#include "Callbacks.h"
#include "DimOrder.h"
#include "ElementTypes.h"
#include "OtherProcesses.h"
#include "ProgramProcesses.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Runtime/Client.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace meshloom::plugin {

/// How a program is compiled; a client's are those of its programs, where their
/// compile options say nothing else.
struct ProgramOptions {
  MachineModel machine = {};
  bool refine = true;
  bool deterministic = false;
  /// Write to stderr which layouts and collectives were chosen, and why.
  bool explain = false;
  bool operator==(const ProgramOptions &) const = default;
};
constexpr std::string_view programOptionNames =
    "machine, refine, deterministic, explain";
/// Sets the option of that name. False: there is none.
Result<bool> setProgramOption(ProgramOptions &options, std::string_view name,
                              const std::string &value);

/// The contents of a caller's CompileOptionsProto.
struct CompileRequest {
  int64_t replicas = 1, partitions = 1;
  /// The device of each partition.
  std::vector<int64_t> devices = {};
  ProgramOptions options;
};
/// Fails on bytes that are no such message, and on an option that there is not.
Result<CompileRequest> readCompileRequest(std::string_view bytes,
                                          const ProgramOptions &defaults);

/// The type of an argument or result in the caller's terms.
struct ValueType {
  ElementType element;
  Shape shape; ///< global, its dims in the order of memory
  DimOrder order;
  /// A first dim of the shape has a place for each device's addend, and callers
  /// see an unreduced value without it.
  bool isStacked = false;
  /// The kind of memory that callers find a result in, an index of
  /// `memoryKinds`.
  int32_t memoryKind = 0;
  /// Where its parts are, in `LoadedProgram::places`.
  size_t places = 0;
};

/// Which partitions have the parts of a value. A program on a mesh of one
/// device runs once for all partitions.
struct PartPlaces {
  /// The partition that an index of the program's mesh is, and the other way
  /// round.
  std::vector<int64_t> partitionOf, indexOf;
  /// An index of the mesh whose device is in this process.
  struct IndexHere {
    int64_t index;
    size_t list; ///< of the partition, in `LoadedProgram::partitionsHere`
  };
  std::vector<IndexHere> indicesHere; ///< ascending
  /// The devices of the value's mesh, where they are in different processes
  /// than those of the program's.
  std::optional<DeviceAssignment> elsewhere = {};

  /// The mesh index whose part a partition has.
  int64_t meshIndex(int64_t partition) const {
    return partitionOf.size() == 1 ? 0 : indexOf[size_t(partition)];
  }
};

/// The arguments and results of a program, as its text says.
struct ProgramInterface {
  std::string name;
  std::vector<ValueType> arguments, results;
  /// Says whether the caller gives an argument's memory away.
  std::vector<bool> donated;
  /// Arguments that may be given away to a result that the compiler chooses
  /// among those that are no argument's yet.
  std::vector<size_t> donors, freeResults;
};

class ProgramCompiler;
struct Placement;

/// A program on a client's devices. Which of them, only its callers know.
struct LoadedProgram {
  std::shared_ptr<ProgramCompiler> compiler;
  ProgramInterface interface;
  std::string code, compileOptions;
  CompileRequest request;
  std::shared_ptr<Executable> executable;
  /// Where arguments and results are in the executable's signature; -1 for
  /// tokens.
  std::vector<int> argumentAt, resultAt;
  /// The first ones are the program's; the others are of values on meshes that
  /// have their devices in a different order.
  std::vector<PartPlaces> places;
  /// The partitions on devices of this process, ascending: callers give and get
  /// lists of buffers in this order.
  std::vector<int64_t> partitionsHere;
  /// The processes, where there are several, and this one is one of them.
  std::optional<ProgramProcesses> processes;
  /// The functions of Python that it calls, if any.
  std::shared_ptr<CallbackSet> callbacks;
  /// The layouts that it asks to be told when it is compiled.
  std::vector<InspectedLayout> inspections;

  bool runsOnce() const { return places.front().partitionOf.size() == 1; }
  const PartPlaces &placesOf(const ValueType &value) const {
    return places[value.places];
  }
  /// The signature's type of an argument or result; null for a token.
  const ArrayType *argumentType(size_t i) const;
  const ArrayType *resultType(size_t i) const;
};

class ProgramCompiler : public std::enable_shared_from_this<ProgramCompiler> {
public:
  /// `processes`: null where this process is alone.
  ProgramCompiler(std::shared_ptr<Client> client,
                  std::shared_ptr<OtherProcesses> processes,
                  ProgramOptions defaults);
  ~ProgramCompiler();

  /// Compiles and loads a program. The same bytes and options give the program
  /// that they gave before, as long as somebody has that.
  Result<std::shared_ptr<const LoadedProgram>>
  compile(std::string_view code, std::string_view compileOptions);
  /// One device's program with its collectives, as StableHLO. The arguments
  /// and results are those of `program`, with these shardings: before version
  /// 0.93 of the interface callers read both off this text.
  Result<std::string>
  partitionedText(const LoadedProgram &program,
                  const std::vector<std::string> &argumentShardings,
                  const std::vector<std::string> &resultShardings);

private:
  struct Context;
  MachineModel machineFor(const MachineModel &machine, const Mesh &mesh,
                          std::span<const int64_t> order,
                          const Placement &placement) const;
  Result<std::shared_ptr<Executable>> loadOn(const Placement &placement,
                                             Compiled compiled,
                                             const LoadOptions &options) const;
  Result<std::shared_ptr<LoadedProgram>> load(std::string_view code,
                                              std::string_view compileOptions,
                                              CompileRequest request);
  Context &freshContext();

  const std::shared_ptr<Client> client;
  const std::shared_ptr<OtherProcesses> processes;
  const ProgramOptions defaults;
  std::mutex mutex;
  std::unique_ptr<Context> context;
  std::map<std::string, std::weak_ptr<const LoadedProgram>> programs;
};

} // namespace meshloom::plugin
