// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing Programs by hand, with kernels that are plain C++ functions.
#pragma once

#include "meshloom/Core/Program.h"
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/KernelFunction.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace meshloom::test {

class FunctionLibrary : public CodeSymbols {
public:
  std::map<std::string, KernelFunction> functions;
  Result<const void *> lookup(const std::string &symbol) const override {
    auto found = functions.find(symbol);
    if (found == functions.end())
      return Error("no kernel '" + symbol + "'");
    return addressOf(found->second);
  }
};

/// add, double, update, ...: see TestPrograms.cpp.
std::shared_ptr<FunctionLibrary> testKernels();

/// The dims of an access: loop l, or -1 for index 0.
std::vector<DimAccess> byLoops(std::initializer_list<int> loops);

class ProgramBuilder {
public:
  explicit ProgramBuilder(Mesh mesh) : program{.name = "test", .mesh = mesh} {}

  unsigned buffer(Shape shape, Layout layout, DType type = DType::F32);
  unsigned argument(Shape shape, Layout layout, DType type = DType::F32);
  unsigned constant(Shape shape, Layout layout, std::vector<float> values);
  void result(unsigned buffer, int aliasedArgument = -1);
  void kernel(std::string symbol, std::vector<Loop> loops,
              std::vector<Operand> inputs, std::vector<Operand> outputs,
              std::vector<int> inPlace = {});
  void dot(std::vector<Loop> loops, Operand lhs, Operand rhs, Operand out);
  void collective(CollectiveKind kind, std::vector<unsigned> axes,
                  std::vector<CollectiveStep::Move> moves,
                  ReduceKind reduce = ReduceKind::Sum);

  Program program;
};

Mesh makeMesh(std::vector<MeshAxis> axes);
std::shared_ptr<Client> makeClient(CPUOptions options);

std::vector<float> floats(const Result<HostBytes> &bytes);
Array fromFloats(const std::shared_ptr<Client> &client, Shape shape,
                 Layout layout, const std::vector<float> &values);
/// 0, 1, 2, ... plus `first`.
std::vector<float> counting(int64_t count, float first = 0);

/// Loads and runs; fails the test on an error.
std::vector<Array> runProgram(const std::shared_ptr<Client> &client,
                              const Program &program,
                              std::vector<Array> arguments);

} // namespace meshloom::test
