// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The execution matrix: every op under every layout on every mesh, forward and
// gradient, under both machine models and both kinds of memory, against the
// reference interpreter. Prints which op works under which layout.
//
// All layouts of one op on one mesh are cells of one function: starting a
// compilation costs more than compiling a cell. Where the function fails as a
// whole, its cells are tried one by one.
//
// MATRIX_PLATFORM=cuda:driver=... runs a sample of it on that platform instead:
// each op, under all layouts on one of the meshes, for one machine model.
// MATRIX_SHARE=8 leaves one op of eight, and MATRIX_SEED=1 chooses others.
//
// MATRIX_DOC=docs/Matrix.md writes the table as a page of documentation; a test
// holds that page against the ops and layouts that there are.
#include "../Interpreter/HostValues.h"
#include "Document.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/Platform.h"
#include "meshloom/Support/File.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <sstream>
#include <thread>

namespace meshloom::matrix {
namespace {

/// How programs are compiled: refined for the machine that is the default, and
/// as propagation lays them out, with all collectives, for separate memories.
/// (Refining for those takes half of the time; mesh-fuzz does it.)
struct Machine {
  const char *name;
  bool refine;
};
constexpr Machine machines[] = {{"shared-memory", true}, {"ring", false}};

std::vector<std::string> machineNames() {
  std::vector<std::string> names;
  for (const Machine &machine : machines)
    names.push_back(fmt::format(
        "{}{}", machine.name, machine.refine ? " refined" : " as propagated"));
  return names;
}

/// Which results of the function belong to which cell, and what they are.
struct ResultOf {
  size_t cell;
  std::string description;
};

/// Several cells as one function.
class Batch {
public:
  Batch(MLIRContext &context, const OpSpec &op, const MeshSpec &mesh,
        const std::vector<LayoutSpec> &layouts)
      : op(op) {
    std::string arguments, body, results, types;
    auto append = [](std::string &list, const std::string &item) {
      list += (list.empty() ? "" : ", ") + item;
    };
    for (size_t c = 0; c < layouts.size(); ++c) {
      CellText cell = cellText(op, layouts[c], mesh, fmt::format("c{}", c));
      cellOperands.push_back(cell.arguments.size());
      for (size_t i = 0; i < cell.arguments.size(); ++i)
        append(arguments, cell.arguments[i] + ": " + cell.argumentTypes[i]);
      body += cell.body;
      for (size_t i = 0; i < cell.results.size(); ++i) {
        append(results, cell.results[i]);
        append(types, cell.resultTypes[i]);
        owners.push_back({c, "result"});
      }
    }
    text = fmt::format("#mesh = #dtensor.mesh<{}>\nmodule attributes "
                       "{{dtensor.mesh = #mesh}} {{\nfunc.func @main({}) -> "
                       "({}) {{\n{}  return {} : {}\n}}\n}}\n",
                       mesh.attribute, arguments, types, body, results, types);
    module = mlir::parseSourceString<ModuleOp>(text, &context);
    if (module && op.gradient)
      addGradients();
  }

  /// After the results: the gradients of sum(result * weights) with respect to
  /// the cell's operands. The weights are a function of the index.
  void addGradients() {
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    Operation *terminator = function.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    SmallVector<Value> results(terminator->getOperands());
    size_t forward = results.size(), argument = 0;
    for (size_t c = 0; c < cellOperands.size(); ++c) {
      dtensor::TensorBuilder math(builder, function.getLoc());
      SmallVector<Value> outputs, seeds;
      for (size_t i = 0; i < forward; ++i) {
        if (owners[i].cell != c)
          continue;
        outputs.push_back(results[i]);
        seeds.push_back(weights(builder, math, results[i]));
      }
      ValueRange operands =
          function.getArguments().slice(argument, cellOperands[c]);
      argument += cellOperands[c];
      auto gradients = buildGradients(builder, outputs, seeds, operands);
      ASSERT_TRUE(gradients) << gradients.error().message();
      for (size_t i = 0; i < gradients->size(); ++i) {
        if (!(*gradients)[i])
          continue;
        results.push_back((*gradients)[i]);
        owners.push_back({c, fmt::format("gradient of operand {}", i)});
      }
    }
    terminator->setOperands(results);
    function.setType(mlir::FunctionType::get(module->getContext(),
                                             function.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
    ASSERT_TRUE(succeeded(mlir::verify(*module)));
  }

  /// 0.5, 1.5, 2.5, ... along the last dim.
  static Value weights(OpBuilder &builder, dtensor::TensorBuilder &math,
                       Value like) {
    RankedTensorType type = dtensor::undecided(like.getType());
    if (type.getRank() == 0)
      return math.like(like, 0.5);
    Value index = builder.create<dtensor::IotaOp>(
        math.getLoc(), type, builder.getI64IntegerAttr(type.getRank() - 1));
    return math.add(index, 0.5);
  }

  /// The error in a cell, or in all: then `cell` is their number.
  struct Failure {
    size_t cell;
    std::string message;
  };
  /// Compiles for a machine, and runs in shared and in private memories.
  std::vector<Failure> run(const Machine &machine);
  /// Compiles for a machine and a platform, and runs there.
  std::vector<Failure> runOn(const std::string &platformName,
                             const Machine &machine);

private:
  std::optional<std::string> prepare();
  Result<Compiled> compileFor(const Machine &machine,
                              const std::string &target) const;
  std::vector<Failure> runIn(bool privateMemories, const Compiled &compiled);
  std::vector<Failure> runBy(const std::shared_ptr<Client> &client,
                             const Compiled &compiled);
  std::vector<Failure> allFail(const std::string &message) {
    return {{cellOperands.size(), message}};
  }

  const OpSpec &op;
  std::string text;
  std::vector<size_t> cellOperands;
  std::vector<ResultOf> owners;
  OwningOpRef<ModuleOp> module;
  std::vector<HostValue> inputs, expected;
};

/// Makes inputs and expectations; a message where that fails.
std::optional<std::string> Batch::prepare() {
  if (!module)
    return "does not parse";
  if (!expected.empty())
    return std::nullopt;
  auto signature = signatureOf(*module, "");
  if (!signature)
    return signature.error().message();
  for (size_t i = 0; i < signature->arguments.size(); ++i)
    inputs.push_back(test::random(signature->arguments[i].type,
                                  signature->arguments[i].shape,
                                  uint32_t(i + 1), op.low, op.high));
  auto values = interpret(*module, "", inputs);
  if (!values)
    return values.error().message();
  expected = *values;
  return std::nullopt;
}

Result<Compiled> Batch::compileFor(const Machine &machine,
                                   const std::string &target) const {
  CompileOptions options;
  auto model = MachineModel::preset(machine.name);
  if (!model)
    return model.error();
  options.machine = *model;
  options.refine = machine.refine;
  options.optimizeKernels = false;
  options.target = target;
  return compile(*module, options);
}

std::vector<Batch::Failure> Batch::run(const Machine &machine) {
  if (auto message = prepare())
    return allFail("reference: " + *message);
  auto compiled = compileFor(machine, CompileOptions().target);
  if (!compiled)
    return allFail("compile: " + compiled.error().message());
  std::vector<Failure> failures = runIn(false, *compiled);
  for (Failure &failure : runIn(true, *compiled))
    failures.push_back({failure.cell, "private memories: " + failure.message});
  return failures;
}

std::vector<Batch::Failure> Batch::runOn(const std::string &platformName,
                                         const Machine &machine) {
  if (auto message = prepare())
    return allFail("reference: " + *message);
  auto on = platform(platformName);
  if (!on)
    return allFail(on.error().message());
  auto compiled = compileFor(machine, std::string((*on)->target()));
  if (!compiled)
    return allFail("compile: " + compiled.error().message());
  auto client = (*on)->client(compiled->program().mesh.size());
  if (!client)
    return allFail(client.error().message());
  return runBy(*client, *compiled);
}

std::vector<Batch::Failure> Batch::runIn(bool privateMemories,
                                         const Compiled &compiled) {
  CPUOptions cpu;
  cpu.devices = compiled.program().mesh.size();
  cpu.workers = 1;
  cpu.privateMemories = privateMemories;
  auto client = createCPUClient(cpu);
  if (!client)
    return allFail(client.error().message());
  return runBy(*client, compiled);
}

std::vector<Batch::Failure> Batch::runBy(const std::shared_ptr<Client> &client,
                                         const Compiled &compiled) {
  auto executable = client->load(compiled);
  if (!executable)
    return allFail("load: " + executable.error().message());
  std::vector<Array> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArrayType &type = (*executable)->signature().arguments[i].type;
    auto array = Array::fromHost(client, type, inputs[i].toBytes());
    if (!array)
      return allFail("input: " + array.error().message());
    arguments.push_back(*array);
  }
  auto results = (*executable)->execute(std::move(arguments));
  if (!results)
    return allFail("run: " + results.error().message());
  if (results->size() != expected.size())
    return allFail(
        fmt::format("{} results, not {}", results->size(), expected.size()));

  std::vector<Failure> failures;
  int64_t contraction = longestContraction(*module, "");
  for (size_t i = 0; i < results->size(); ++i) {
    auto fail = [&](const std::string &message) {
      failures.push_back(
          {owners[i].cell, owners[i].description + ": " + message});
    };
    auto bytes = (*results)[i].toHost();
    if (!bytes) {
      fail(bytes.error().message());
      continue;
    }
    auto got = HostValue::fromBytes((*results)[i].dtype(),
                                    (*results)[i].shape(), *bytes);
    if (!got) {
      fail(got.error().message());
      continue;
    }
    Comparison comparison = compare(*got, expected[i]);
    double allowed = verifyTolerance(got->type, contraction);
    if (!comparison.within(allowed))
      fail(comparison.mismatch.empty()
               ? fmt::format("error {:.2g}, allowed {:.2g}", comparison.error,
                             allowed)
               : comparison.mismatch);
  }
  return failures;
}

class Matrix {
public:
  void run() {
    tallies.assign(ops.size(), std::vector<Tally>(layouts.size()));
    // Ops differ in cost; workers take the next one that is free.
    std::atomic<size_t> next = 0;
    auto work = [&] {
      mlir::DialectRegistry registry;
      registerDialects(registry);
      registerGradients(registry);
      MLIRContext context(registry, MLIRContext::Threading::DISABLED);
      context.loadAllAvailableDialects();
      // Diagnostics come back in the errors.
      mlir::ScopedDiagnosticHandler quiet(
          &context, [](mlir::Diagnostic &) { return success(); });
      for (size_t i = next++; i < ops.size() * meshes.size(); i = next++)
        if (isChosen(i))
          runOp(context, i / meshes.size(), meshes[i % meshes.size()]);
    };
    std::vector<std::thread> threads;
    unsigned count = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
    for (unsigned t = 0; t < count; ++t)
      threads.emplace_back(work);
    for (std::thread &thread : threads)
      thread.join();
  }

  /// The result of run() where everything is right.
  void assumeRight() {
    tallies.assign(ops.size(), std::vector<Tally>(layouts.size()));
    for (size_t o = 0; o < ops.size(); ++o)
      for (size_t l = 0; l < layouts.size(); ++l)
        for (const MeshSpec &mesh : meshes)
          if (applies(ops[o], layouts[l], mesh))
            tallies[o][l].passed += int(std::size(machines));
  }

  void print() const {
    fmt::print("{:26}", "");
    for (const LayoutSpec &layout : layouts)
      fmt::print(" {:>11}", layout.name);
    fmt::print("\n");
    int passed = 0, failed = 0;
    for (size_t o = 0; o < ops.size(); ++o) {
      fmt::print("{:26}", ops[o].name);
      for (const Tally &tally : tallies[o]) {
        passed += tally.passed;
        failed += tally.failed;
        std::string cell = "-";
        if (tally.failed)
          cell = fmt::format("{} WRONG", tally.failed);
        else if (tally.passed)
          cell = fmt::format("{} ok", tally.passed);
        fmt::print(" {:>11}", cell);
      }
      fmt::print("\n");
    }
    fmt::print(
        "{} cells right, {} wrong (a cell: one op, layout, mesh, machine; "
        "forward and gradient; in shared and in private memories)\n",
        passed, failed);
    for (const std::string &message : messages)
      fmt::print("{}\n", message);
  }

  /// The page of documentation.
  std::string page() const {
    return markdown({ops, layouts, meshes, machineNames(), tallies, messages});
  }

  const std::vector<std::string> &failures() const { return messages; }

private:
  /// Returns whether a pair of an op and a mesh is run.
  bool isChosen(size_t pair) const {
    const size_t op = pair / meshes.size(), mesh = pair % meshes.size();
    return platformName.empty() ||
           (op % share == seed % share &&
            mesh == (op / share + seed) % meshes.size());
  }
  /// The machines that programs of an op are compiled for.
  std::span<const Machine> machinesOf(size_t op) const {
    if (platformName.empty())
      return machines;
    const size_t machine = op / share / meshes.size() + seed;
    return std::span(machines).subspan(machine % std::size(machines), 1);
  }

  void runOp(MLIRContext &context, size_t o, const MeshSpec &mesh) {
    std::vector<size_t> cells;
    for (size_t l = 0; l < layouts.size(); ++l)
      if (applies(ops[o], layouts[l], mesh))
        cells.push_back(l);
    runCells(context, o, mesh, cells);
  }

  void runCells(MLIRContext &context, size_t o, const MeshSpec &mesh,
                const std::vector<size_t> &cells) {
    std::vector<LayoutSpec> chosen;
    for (size_t l : cells)
      chosen.push_back(layouts[l]);
    Batch batch(context, ops[o], mesh, chosen);
    for (const Machine &machine : machinesOf(o)) {
      auto failures = platformName.empty() ? batch.run(machine)
                                           : batch.runOn(platformName, machine);
      // All at once: find out which.
      if (!failures.empty() && failures[0].cell == cells.size() &&
          cells.size() > 1) {
        for (size_t cell : cells)
          runCells(context, o, mesh, {cell});
        return;
      }
      std::lock_guard lock(mutex);
      std::vector<bool> wrong(cells.size());
      for (const auto &failure : failures) {
        size_t cell = std::min(failure.cell, cells.size() - 1);
        wrong[cell] = true;
        messages.push_back(fmt::format("{}, {}, mesh {}, {}: {}", ops[o].name,
                                       chosen[cell].name, mesh.name,
                                       machine.name, failure.message));
      }
      for (size_t i = 0; i < cells.size(); ++i) {
        Tally &tally = tallies[o][cells[i]];
        ++(wrong[i] ? tally.failed : tally.passed);
        if (wrong[i])
          tally.failedWhere.push_back(
              fmt::format("mesh {}, {}", mesh.name, machine.name));
      }
    }
  }

  /// MATRIX_OP=add runs the ops whose name starts so.
  static std::vector<OpSpec> chosenOps() {
    std::vector<OpSpec> ops = allOps();
    if (const char *prefix = std::getenv("MATRIX_OP"))
      std::erase_if(
          ops, [&](const OpSpec &op) { return !op.name.starts_with(prefix); });
    return ops;
  }

  static std::string variable(const char *name, const char *otherwise) {
    const char *value = std::getenv(name);
    return value ? value : otherwise;
  }
  static size_t number(const char *name, const char *otherwise) {
    return size_t(std::stoull(variable(name, otherwise)));
  }

  const std::string platformName = variable("MATRIX_PLATFORM", "");
  const size_t seed = number("MATRIX_SEED", "0"),
               share = number("MATRIX_SHARE", "1");
  std::vector<OpSpec> ops = chosenOps();
  std::vector<LayoutSpec> layouts = allLayouts();
  std::vector<MeshSpec> meshes = allMeshes();
  std::vector<std::vector<Tally>> tallies;
  std::vector<std::string> messages;
  std::mutex mutex;
};

TEST(MatrixTest, EveryOpUnderEveryLayout) {
  Matrix matrix;
  matrix.run();
  matrix.print();
  if (const char *path = std::getenv("MATRIX_DOC"))
    EXPECT_TRUE(writeFile(path, matrix.page())) << "cannot write " << path;
  EXPECT_TRUE(matrix.failures().empty())
      << matrix.failures().size() << " failures, listed above";
}

/// The page names every op, layout and mesh that the test above runs, and
/// counts them right; whether they are right is that test's matter.
TEST(MatrixTest, PageIsCurrent) {
  if (std::getenv("MATRIX_OP"))
    GTEST_SKIP() << "MATRIX_OP leaves ops out";
  Matrix matrix;
  matrix.assumeRight();
  auto stored = readFile(MATRIX_PAGE);
  ASSERT_TRUE(stored) << stored.error().message();
  std::istringstream now(matrix.page()), then(*stored);
  std::string line, old;
  for (int number = 1; std::getline(now, line); ++number) {
    if (!std::getline(then, old))
      old = "(nothing)";
    ASSERT_EQ(line, old) << "line " << number
                         << " of docs/Matrix.md is not current: "
                            "MATRIX_DOC=docs/Matrix.md MatrixTest writes it";
  }
  EXPECT_FALSE(std::getline(then, old)) << "docs/Matrix.md goes on: " << old;
}

} // namespace
} // namespace meshloom::matrix
