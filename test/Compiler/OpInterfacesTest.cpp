// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists the interfaces of every op of the dialect, and the sources that know it
// by name: the table shows what a new op still lacks.
#include "../Matrix/Ops.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Targets/Kernels/ScalarLowering.h"
#include "meshloom/Targets/StableHLO/ExportStableHLO.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace meshloom {
namespace {
using namespace dtensor;
using Name = mlir::RegisteredOperationName;

/// Ops that kernels have code of their own for, or that become other ops before
/// there are kernels.
const std::map<std::string, std::string> otherwiseComputed = {
    {"argmax", "a reduction of kernels"},
    {"argmin", "a reduction of kernels"},
    {"reduce", "a reduction of kernels"},
    {"dot_general", "a product: by oneDNN, or a kernel"},
    {"matmul", "canonicalizes to dot_general"},
    {"constant", "memory, or in kernels"},
    {"iota", "in kernels: an index"},
    {"rng", "in kernels: a function of the index"},
    {"reshape", "in kernels: digits of an index"},
    {"relayout", "becomes collectives"},
    {"constraint", "becomes a relayout"},
};

/// Ops whose attributes the importer writes for values with more dims itself.
const std::map<std::string, std::string> notVectorisable = {
    {"convolution", "its batch may have groups"},
    {"reduce_window", "its padding has two entries a dim"},
    {"select_and_scatter", "its padding has two entries a dim"},
    {"dynamic_slice", "it has an operand a dim"},
    {"dynamic_update_slice", "it has an operand a dim"},
    {"custom_call", "it counts its batch dims"},
    {"callback", "it is about whole values"},
    {"constant", "it is the same on all devices"},
    {"rng", "it is about global indices"},
    {"relayout", "it is about global dims"},
    {"constraint", "it is about global dims"},
};

/// Ops on variables, which are lifted, on blocks, and those of maps, which are
/// vectorised before all else.
const std::set<std::string> structure = {
    "read_variable", "assign_variable", "while",       "case",     "yield",
    "map",           "axis_reduce",     "axis_gather", "axis_part"};

/// How the op is computed, or nothing.
std::string computedBy(Name name, const std::string &mnemonic) {
  std::vector<std::string> ways;
  if (name.hasInterface<ElementwiseOpInterface>())
    ways.push_back(hasScalarLowering(name) ? "element by element"
                                           : "no op of math and no row");
  if (name.hasInterface<IndexMapOpInterface>())
    ways.push_back("index map");
  if (name.hasInterface<LibraryOpInterface>())
    ways.push_back("library call");
  if (auto other = otherwiseComputed.find(mnemonic);
      other != otherwiseComputed.end())
    ways.push_back(other->second);
  return ways.size() == 1 && !ways[0].starts_with("no ") ? ways[0] : "";
}

TEST(OpInterfacesTest, EveryOpSaysWhatPassesAsk) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string matrixText;
  for (const matrix::OpSpec &spec : matrix::allOps())
    matrixText += spec.before + spec.body + "\n";

  unsigned ops = 0;
  std::string table, missing;
  for (Name name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "dtensor")
      continue;
    const std::string mnemonic = name.stripDialect().str();
    if (structure.contains(mnemonic))
      continue;
    ++ops;
    std::string lacks;
    auto need = [&](bool has, std::string_view name) {
      if (!has)
        lacks += fmt::format("{}{}", lacks.empty() ? "" : ", ", name);
    };
    const std::string computed = computedBy(name, mnemonic);
    const bool layout = mnemonic == "relayout" || mnemonic == "constraint";
    need(name.hasInterface<ShardedOpInterface>(), "rule and cost");
    need(!computed.empty(), "exactly one way to be computed");
    if (auto *elementwise = name.getInterface<ElementwiseOpInterface>())
      if (StringRef math = elementwise->getMathName(); !math.empty())
        need(Name::lookup(math, &context).has_value(),
             fmt::format("an op {}", math.str()));
    need(name.hasInterface<DifferentiableOpInterface>() !=
             !whyNoGradient(name).empty(),
         "gradient, or why there is none");
    // Only the runtime has them, and CustomCallTest and CallbackTest a case.
    const bool user = mnemonic == "custom_call" || mnemonic == "callback";
    need(user || isInterpreted(name), "definition in the interpreter");
    need(layout || user || isExported(name) != !whyNotExported(name).empty(),
         "export, or why there is none");
    need(layout || user ||
             matrixText.find("dtensor." + mnemonic + " ") != std::string::npos,
         "row in test/Matrix");
    need(name.hasInterface<VectorisableOpInterface>() !=
             notVectorisable.contains(mnemonic),
         "how its attributes change with more dims, or why not");
    table += fmt::format("{:24} {:36} {}\n", mnemonic, computed,
                         lacks.empty() ? "" : "LACKS " + lacks);
    if (!lacks.empty())
      missing += fmt::format("dtensor.{} lacks: {}\n", mnemonic, lacks);
  }
  fmt::print("{}", table);
  EXPECT_GT(ops, 80u);
  EXPECT_EQ(missing, "");
}

// The lists above hold no op that is gone.
TEST(OpInterfacesTest, ReasonsAreAboutOpsThatThereAre) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  for (const auto *reasons : {&otherwiseComputed, &notVectorisable})
    for (const auto &[mnemonic, why] : *reasons)
      EXPECT_TRUE(Name::lookup("dtensor." + mnemonic, &context)) << mnemonic;
  for (const std::string &mnemonic : structure)
    EXPECT_TRUE(Name::lookup("dtensor." + mnemonic, &context)) << mnemonic;
}

} // namespace
} // namespace meshloom
