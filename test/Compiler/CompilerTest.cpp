// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile(): what a Program says about its module, errors as text, shared
// objects, several threads.
#include "../TemporaryFolder.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Runtime/KernelFunction.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace meshloom;
using testing::HasSubstr;

namespace {
Result<Compiled> compileText(const std::string &text,
                             CompileOptions options = {}) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context, "step.mlir");
  EXPECT_TRUE(module) << text;
  if (!module)
    return Error("does not parse");
  return compile(*module, options);
}

const char *denseText = R"(#mesh = #dtensor.mesh<batch = 4>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>
func.func @dense(%x: tensor<6x3xf32, #rows> {dtensor.name = "x"},
                 %w: tensor<3x5xf32, #full> {dtensor.name = "w", dtensor.alias = 1 : i64})
    -> (tensor<6x5xf32, #rows> {dtensor.name = "y"}, tensor<3x5xf32, #full>) {
  %c = dtensor.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %0 = dtensor.matmul %x, %w : (tensor<6x3xf32, #rows>, tensor<3x5xf32, #full>) -> tensor<6x5xf32>
  %1 = dtensor.broadcast_in_dim %c dims [1] : (tensor<5xf32>) -> tensor<6x5xf32>
  %2 = dtensor.add %0, %1 : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32, #rows>
  %3 = dtensor.add %w, %w : tensor<3x5xf32, #full>
  return %2, %3 : tensor<6x5xf32, #rows>, tensor<3x5xf32, #full>
})";

/// Arguments, results, constants, dot and kernel of a dense layer.
TEST(CompilerTest, ProgramOfADenseLayer) {
  CompileOptions options;
  options.refine = false;
  auto compiled = compileText(denseText, options);
  ASSERT_TRUE(compiled) << compiled.error().message();
  const Program &program = compiled->program();
  EXPECT_EQ(program.name, "dense");
  EXPECT_EQ(program.mesh.to_string(), Mesh::get({{"batch", 4}})->to_string());
  ASSERT_EQ(program.arguments.size(), 2u);
  EXPECT_EQ(program.arguments[0].name, "x");
  EXPECT_EQ(program.buffers[program.arguments[0].buffer].shape, (Shape{6, 3}));
  ASSERT_EQ(program.results.size(), 2u);
  EXPECT_EQ(program.results[0].name, "y");
  EXPECT_EQ(program.results[0].aliasedArgument, -1);
  EXPECT_EQ(program.results[1].aliasedArgument, 1);
  ASSERT_EQ(program.constants.size(), 1u);
  EXPECT_FALSE(program.constants[0].splat);
  EXPECT_EQ(program.constants[0].bytes.size(), 5 * sizeof(float));

  ASSERT_EQ(program.steps.size(), 3u);
  const DotStep *dot = nullptr;
  const KernelStep *bias = nullptr, *update = nullptr;
  for (const Step &step : program.steps)
    if (auto *found = std::get_if<DotStep>(&step))
      dot = found;
    else if (auto *kernel = std::get_if<KernelStep>(&step))
      (kernel->inputs.size() == 2 ? bias : update) = kernel;
  ASSERT_TRUE(dot && bias && update);
  ASSERT_EQ(dot->loops.size(), 3u);
  EXPECT_EQ(dot->loops[0], (Loop{6, false, {0}}));
  EXPECT_EQ(dot->loops[1], (Loop{5, false, {}}));
  EXPECT_EQ(dot->loops[2], (Loop{3, true, {}}));
  EXPECT_EQ(dot->note.location, "step.mlir:8:8");
  EXPECT_EQ(bias->note.op, "add");
  EXPECT_EQ(update->inPlace, std::vector<int>{0});
}

/// A saved program's kernels need nothing of this process but libm.
TEST(CompilerTest, SharedObject) {
  CompileOptions options;
  options.codeAsBytes = true;
  auto compiled = compileText(
      "func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> { %0 = dtensor.tanh "
      "%x : tensor<4xf64> return %0 : tensor<4xf64> }",
      options);
  ASSERT_TRUE(compiled) << compiled.error().message();
  EXPECT_EQ(compiled->code().symbols, nullptr);
  EXPECT_THAT(compiled->code().requirements, HasSubstr("sse4.2"));
  const test::TemporaryFolder folder;
  const std::string path = folder / "kernels.so";
  std::ofstream(path, std::ios::binary)
      .write(compiled->code().bytes.data(),
             std::streamsize(compiled->code().bytes.size()));
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  auto &kernel = std::get<KernelStep>(compiled->program().steps.front());
  auto function =
      reinterpret_cast<KernelFunction>(dlsym(library, kernel.symbol.c_str()));
  ASSERT_TRUE(function);
  double x[4] = {0, 0.5, -1, 2}, y[4];
  void *operands[] = {x, y};
  int64_t strides[] = {1, 1}, origin[] = {0}, extents[] = {4};
  function(operands, strides, origin, extents);
  for (int i = 0; i < 4; ++i)
    EXPECT_DOUBLE_EQ(y[i], std::tanh(x[i]));
  dlclose(library);
}

TEST(CompilerTest, ChoiceOfTheFunction) {
  auto function = [](const std::string &name) {
    return "func.func @" + name +
           "(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = dtensor.exp %x : "
           "tensor<4xf32> return %0 : tensor<4xf32> }\n";
  };
  EXPECT_EQ(compileText(function("one"))->program().name, "one");
  EXPECT_EQ(compileText(function("f") + function("main"))->program().name,
            "main");
  CompileOptions options;
  options.function = "f";
  EXPECT_EQ(
      compileText(function("f") + function("main"), options)->program().name,
      "f");
  EXPECT_EQ(
      compileText(function("f") + function("g")).error().message(),
      "the module has no function 'main' and several others (f, g): name one");
  options.function = "h";
  EXPECT_EQ(
      compileText(function("f") + function("g"), options).error().message(),
      "the module has no function 'h', only f, g");
  EXPECT_EQ(compileText("").error().message(),
            "the module has no function with a body");
}

/// A module of two meshes that are not over the same devices.
const char *meshesText = R"(#two = #dtensor.mesh<x = 2>
#three = #dtensor.mesh<y = 3>
func.func @f(%x: tensor<6xf32, #dtensor.layout<#two, [x]>>,
             %y: tensor<6xf32, #dtensor.layout<#three, [y]>>) -> tensor<6xf32> {
  %0 = dtensor.add %x, %y : (tensor<6xf32, #dtensor.layout<#two, [x]>>, tensor<6xf32, #dtensor.layout<#three, [y]>>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
})";

/// Diagnostics of passes are in the error, with their locations.
TEST(CompilerTest, ErrorsNameTheirSource) {
  auto compiled = compileText(meshesText);
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().message(), HasSubstr("step.mlir:"));
  EXPECT_THAT(compiled.error().message(), HasSubstr("error: "));
}

TEST(CompilerTest, ModuleStaysAsItIs) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(denseText, &context);
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  };
  std::string before = print();
  ASSERT_TRUE(compile(*module, {}));
  EXPECT_EQ(print(), before);
}

/// Each thread has a context of its own; the cache of kernels is shared.
TEST(CompilerTest, SeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<std::string> symbols(4);
  for (std::string &symbol : symbols)
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        auto compiled = compileText(denseText);
        ASSERT_TRUE(compiled) << compiled.error().message();
        for (const Step &step : compiled->program().steps)
          if (auto *kernel = std::get_if<KernelStep>(&step)) {
            symbol = kernel->symbol;
            EXPECT_TRUE(compiled->code().symbols->lookup(symbol));
          }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &symbol : symbols)
    EXPECT_EQ(symbol, symbols.front());
}

/// Threads that compile in one context at the same time: each gets its own
/// program, and the diagnostics of its own module.
TEST(CompilerTest, SeveralThreadsInOneContext) {
  mlir::MLIRContext context;
  loadDialects(&context);
  auto compileHere = [&](const std::string &text, const std::string &name) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, name);
    return module ? compile(*module, {}) : Error("does not parse");
  };
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([&, id] {
      std::string name = "module" + std::to_string(id) + ".mlir";
      for (int i = 0; i < 5; ++i) {
        auto good = compileHere(denseText, name);
        ASSERT_TRUE(good) << good.error().message();
        EXPECT_EQ(good->program().name, "dense");
        std::string error = compileHere(meshesText, name).error().message();
        EXPECT_THAT(error, HasSubstr(name));
        for (int other = 0; other < 4; ++other)
          if (other != id)
            EXPECT_THAT(error, testing::Not(HasSubstr("module" +
                                                      std::to_string(other))));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Loading again is nothing: extensions are not added twice.
TEST(CompilerTest, DialectsAreLoadedOnce) {
  mlir::MLIRContext context;
  loadDialects(&context);
  llvm::hash_code before = context.getRegistryHash();
  loadDialects(&context);
  EXPECT_EQ(context.getRegistryHash(), before);
}

TEST(CompilerTest, UnknownKernel) {
  auto compiled = compileText(denseText);
  ASSERT_TRUE(compiled);
  EXPECT_THAT(compiled->code().symbols->lookup("nothing").error().message(),
              HasSubstr("no kernel 'nothing'"));
}
} // namespace

/// Ranks rely on this: the same program is the same bytes, whoever compiles it.
TEST(CompilerTest, EqualProgramsAreEqualBytes) {
  CompileOptions options;
  options.codeAsBytes = true;
  auto one = compileText(denseText, options),
       two = compileText(denseText, options);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->serialize(), two->serialize());
  auto inMemory = compileText(denseText);
  ASSERT_TRUE(inMemory);
  EXPECT_EQ(inMemory->contentHash(), one->contentHash());
  options.machine = *MachineModel::preset("ring");
  auto ring = compileText(denseText, options);
  ASSERT_TRUE(ring);
  EXPECT_NE(ring->contentHash(), one->contentHash());
}

TEST(CompilerTest, TargetStableHLO) {
  CompileOptions options;
  options.target = "stablehlo";
  auto compiled = compileText(denseText, options);
  ASSERT_TRUE(compiled) << compiled.error().message();
  ASSERT_TRUE(compiled->stableHLO());
  EXPECT_THAT(compiled->stableHLO()->text, HasSubstr("stablehlo.dot_general"));
  auto forCpu = compileText(denseText);
  ASSERT_TRUE(forCpu);
  EXPECT_EQ(compiled->signature(), forCpu->signature());
  ASSERT_EQ(compiled->collectives().size(), forCpu->collectives().size());
  for (size_t i = 0; i < compiled->collectives().size(); ++i)
    EXPECT_EQ(compiled->collectives()[i].bytes, forCpu->collectives()[i].bytes);
}

TEST(CompilerTest, UnknownTarget) {
  CompileOptions options;
  options.target = "abacus";
  auto compiled = compileText(denseText, options);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(
      compiled.error().message(),
      "there is no target 'abacus'; the targets are cpu, cuda, stablehlo");
}
