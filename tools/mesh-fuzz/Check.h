// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one random program every way there is and compares each result with the
// reference interpreter's.
#pragma once

#include "Recipe.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Interpreter/HostValue.h"

#include <functional>
#include <memory>

namespace meshloom::fuzz {

/// A way to run a program.
struct Way {
  std::string machine;
  bool privateMemories = false;
  /// "cpu", or another that platform() knows.
  std::string platform = "cpu";
  int64_t workers = 1;
  std::string text() const;
};

struct CheckOptions {
  /// Both machines, both memories of virtual CPUs.
  std::vector<Way> ways = {{"shared-memory", false},
                           {"shared-memory", true},
                           {"ring", false},
                           {"ring", true}};
  bool refine = true;
  /// Compiles deterministic programs; every way, and the program on one device,
  /// must give the same bits.
  bool deterministic = false;
  /// Damages the compiled program, to see that the damage is found.
  std::function<void(CodedProgram &)> damage = {};
};

/// A program of dtensor or StableHLO, and what it gives exactly.
struct TextProgram {
  std::string text;
  std::vector<HostValue> inputs, expected;
};

class Checker {
public:
  Checker();
  ~Checker();

  /// Nothing, or what went wrong: "ring, private memories: result 0: ...".
  std::string check(const Recipe &recipe, const CheckOptions &options);
  /// The same; the interpreter must give what is expected, too.
  std::string check(const TextProgram &program, const CheckOptions &options);
  /// Every op of the dialect that a program can have: "dtensor.add", ...
  std::vector<std::string> ops() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace meshloom::fuzz
