// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled: what a compiler's target hands to a runtime, and all that they
// share: what the program takes and gives (Signature), and what runs.
#pragma once

#include "meshloom/Core/ArrayType.h"
#include "meshloom/Core/Program.h"

#include <memory>
#include <variant>

namespace meshloom {

/// The arguments and results of a program, in the order of the call. Layouts
/// are over mesh axes; devices come in when the program is loaded.
///
/// A layout is over a mesh as its user wrote it, which need not be the one that
/// the program runs on: where a program has several meshes that is their common
/// refinement. All have as many devices, and number them alike.
struct Signature {
  struct Argument {
    std::string name;
    ArrayType type;
    InputNotes notes = {};
    bool operator==(const Argument &) const = default;
  };
  struct Result {
    std::string name;
    ArrayType type;
    /// The argument (a variable's old value) whose memory the result may take
    /// when the runtime holds its only reference, or -1.
    int aliasedArgument = -1;
    bool operator==(const Result &) const = default;
  };
  std::string name;
  /// The mesh that the program runs on.
  Mesh mesh;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  /// Which of a client's devices each index of the mesh is, where nobody says
  /// otherwise as the program is loaded. Empty: 0, 1, ...
  std::vector<int64_t> deviceOrder = {};
  bool operator==(const Signature &) const = default;
};
Signature signatureOf(const Program &program);

/// A collective of a compiled program, for reports.
struct CompiledCollective {
  CollectiveKind kind;
  std::vector<unsigned> axes; ///< of the signature's mesh
  /// The bytes of its result on one device, padded, all values together.
  int64_t bytes = 0;
  /// Values that were combined into one.
  int64_t values = 1;
  /// Why it is there, in the user's terms.
  std::string reason;
  SourceNote note;
  bool operator==(const CompiledCollective &) const = default;
};
/// The collectives inside loops and branches too, each once; without local
/// slices.
std::vector<CompiledCollective> collectivesOf(const Program &program);

/// Code in the memory of this process, by name.
class CodeSymbols {
public:
  virtual ~CodeSymbols() = default;
  virtual Result<const void *> lookup(const std::string &symbol) const = 0;
};

/// The code of a Program's kernels.
struct Code {
  /// The format of the bytes, which says who can load them: "x86-64-elf".
  std::string format;
  /// The requirements on the device, in the format's own terms: "avx2,fma".
  std::string requirements;
  /// The code of a program that can be saved; else empty, and `symbols` has the
  /// code.
  std::vector<char> bytes;
  std::shared_ptr<const CodeSymbols> symbols;
};

/// A program for a runtime that runs its steps.
struct CodedProgram {
  Program program;
  Code code;
};

/// One device's program in StableHLO, for a runtime that compiles by itself.
/// Devices are replicas, in the order of the mesh; every argument and result
/// has the shape of the largest shard, and no device reads what pads it.
struct StableHLOProgram {
  std::string text;
};

/// The result of compiling a program for a target. Equal programs, compiled for
/// equal machines by equal targets, have equal bytes in every process.
class Compiled {
public:
  /// A program with its code.
  explicit Compiled(CodedProgram program, std::string machine = "");
  explicit Compiled(Program program, Code code = {})
      : Compiled(CodedProgram{std::move(program), std::move(code)}) {}
  /// A program whose kernels are in this process.
  Compiled(Program program, std::shared_ptr<const CodeSymbols> symbols)
      : Compiled(CodedProgram{std::move(program),
                              {"", "", {}, std::move(symbols)}}) {}
  Compiled(Signature signature, std::vector<CompiledCollective> collectives,
           StableHLOProgram program, std::string machine = "");

  const Signature &signature() const { return type; }
  std::vector<CompiledCollective> collectives() const;
  /// The machine model, as text, that decided its layouts and collectives.
  const std::string &machine() const { return model; }

  /// Null where it is none with steps.
  const CodedProgram *coded() const { return std::get_if<CodedProgram>(&form); }
  const StableHLOProgram *stableHLO() const {
    return std::get_if<StableHLOProgram>(&form);
  }
  /// The steps; only where coded() is not null.
  const Program &program() const {
    return std::get<CodedProgram>(form).program;
  }
  const Code &code() const { return std::get<CodedProgram>(form).code; }

  /// The hash of everything but the bytes of the code, which differ from one
  /// CPU to another: ranks compare it before they run together. The same in
  /// every process.
  uint64_t contentHash() const;

  /// The bytes of a .mlprog file: a magic word, a version, a checksum, then the
  /// fields in order, little endian. Code that is only in memory stays behind.
  std::string serialize() const;
  /// Fails on anything that serialize() cannot have written.
  static Result<Compiled> deserialize(std::string_view bytes);

private:
  Signature type;
  std::vector<CompiledCollective> sent; ///< of a program without steps
  std::string model;
  std::variant<CodedProgram, StableHLOProgram> form;
};

} // namespace meshloom
