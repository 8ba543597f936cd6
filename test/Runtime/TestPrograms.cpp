// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The test kernels. Strides are [operand][loop]; every kernel knows how many
// loops it has.
#include "TestPrograms.h"

#include <functional>
#include <numeric>
#include <stdexcept>

using namespace meshloom;
using namespace meshloom::test;

namespace {
float *operand(void *const *operands, const int64_t *strides, int loops, int k,
               std::initializer_list<int64_t> index) {
  float *pointer = static_cast<float *>(operands[k]);
  int l = 0;
  for (int64_t i : index)
    pointer += i * strides[k * loops + l++];
  return pointer;
}

template <typename Body> void loops2(const int64_t *extents, Body body) {
  for (int64_t i = 0; i < extents[0]; ++i)
    for (int64_t j = 0; j < extents[1]; ++j)
      body(i, j);
}

#define KERNEL(name)                                                           \
  void name(void *const *operands, const int64_t *strides,                     \
            const int64_t *origin, const int64_t *extents)
#define AT2(k) (*operand(operands, strides, 2, k, {i, j}))

/// out[i, j] = a[i, j] + b[i, j], for any access: also broadcasts and windows.
KERNEL(add) {
  loops2(extents, [&](int64_t i, int64_t j) { AT2(2) = AT2(0) + AT2(1); });
}
KERNEL(multiply) {
  loops2(extents, [&](int64_t i, int64_t j) { AT2(2) = AT2(0) * AT2(1); });
}
/// out[i, j] = 2 * a[i, j]
KERNEL(twice) {
  loops2(extents, [&](int64_t i, int64_t j) { AT2(1) = 2 * AT2(0); });
}
/// a[i, j] = 2 * a[i, j]
KERNEL(twiceInPlace) {
  loops2(extents, [&](int64_t i, int64_t j) { AT2(0) *= 2; });
}
/// a[i, j] -= b[i, j], in a's memory
KERNEL(update) {
  loops2(extents, [&](int64_t i, int64_t j) { AT2(0) -= AT2(1); });
}
/// out[i] = sum over j of a[i, j]
KERNEL(rowSum) {
  for (int64_t i = 0; i < extents[0]; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < extents[1]; ++j)
      sum += AT2(0);
    *operand(operands, strides, 2, 1, {i, 0}) = sum;
  }
}
/// out = sum over i, j of a[i, j]; out2 = how many
KERNEL(total) {
  float sum = 0, count = 0;
  loops2(extents, [&](int64_t i, int64_t j) {
    sum += AT2(0);
    ++count;
  });
  *static_cast<float *>(operands[1]) = sum;
  *static_cast<float *>(operands[2]) = count;
}
/// out = max over i of a[i], -infinity if there are none
KERNEL(maximum) {
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < extents[0]; ++i)
    most = std::max(most, *operand(operands, strides, 1, 0, {i}));
  *static_cast<float *>(operands[1]) = most;
}
/// out[i, j] = 100 * i + j, by global index
KERNEL(index) {
  loops2(extents, [&](int64_t i, int64_t j) {
    AT2(0) = float(100 * (origin[0] + i) + origin[1] + j);
  });
}
KERNEL(reciprocal) {
  loops2(extents, [&](int64_t i, int64_t j) { AT2(1) = 1 / AT2(0); });
}
KERNEL(failing) {
  throw std::runtime_error("no more ink");
}
} // namespace

std::shared_ptr<FunctionLibrary> meshloom::test::testKernels() {
  auto library = std::make_shared<FunctionLibrary>();
  library->functions = {{"add", add},        {"multiply", multiply},
                        {"twice", twice},    {"twice_in_place", twiceInPlace},
                        {"update", update},  {"row_sum", rowSum},
                        {"total", total},    {"maximum", maximum},
                        {"index", index},    {"reciprocal", reciprocal},
                        {"failing", failing}};
  return library;
}

std::vector<DimAccess>
meshloom::test::byLoops(std::initializer_list<int> loops) {
  std::vector<DimAccess> dims;
  for (int loop : loops) {
    dims.emplace_back();
    if (loop >= 0)
      dims.back().terms = {{unsigned(loop), 1}};
  }
  return dims;
}

unsigned ProgramBuilder::buffer(Shape shape, Layout layout, DType type) {
  const unsigned index = unsigned(program.buffers.size());
  program.buffers.push_back(
      {"b" + std::to_string(index), type, std::move(shape), std::move(layout)});
  return index;
}

unsigned ProgramBuilder::argument(Shape shape, Layout layout, DType type) {
  const unsigned index = buffer(std::move(shape), std::move(layout), type);
  program.arguments.push_back({index, program.buffers[index].name});
  return index;
}

unsigned ProgramBuilder::constant(Shape shape, Layout layout,
                                  std::vector<float> values) {
  const unsigned index = buffer(std::move(shape), std::move(layout));
  ConstantData data{index, {}, values.size() == 1};
  data.bytes.resize(values.size() * sizeof(float));
  std::memcpy(data.bytes.data(), values.data(), data.bytes.size());
  program.constants.push_back(std::move(data));
  return index;
}

void ProgramBuilder::result(unsigned buffer, int aliasedArgument) {
  program.results.push_back({buffer, aliasedArgument, ""});
}

void ProgramBuilder::kernel(std::string symbol, std::vector<Loop> loops,
                            std::vector<Operand> inputs,
                            std::vector<Operand> outputs,
                            std::vector<int> inPlace) {
  KernelStep step;
  step.note = {"test.mlir:" + std::to_string(program.steps.size() + 1) + ":3",
               "dtensor." + symbol};
  step.symbol = std::move(symbol);
  step.loops = std::move(loops);
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.inPlace = std::move(inPlace);
  step.inPlace.resize(step.outputs.size(), -1);
  program.steps.push_back(std::move(step));
}

void ProgramBuilder::dot(std::vector<Loop> loops, Operand lhs, Operand rhs,
                         Operand out) {
  program.steps.push_back(
      DotStep{std::move(loops),
              std::move(lhs),
              std::move(rhs),
              std::move(out),
              {"test.mlir:" + std::to_string(program.steps.size() + 1) + ":3",
               "dtensor.dot_general"}});
}

void ProgramBuilder::collective(CollectiveKind kind, std::vector<unsigned> axes,
                                std::vector<CollectiveStep::Move> moves,
                                ReduceKind reduce) {
  CollectiveStep step;
  step.kind = kind;
  step.axes = std::move(axes);
  step.reduce = reduce;
  step.moves = std::move(moves);
  step.reason = "test";
  step.note = {"test.mlir:1:1", "dtensor.relayout"};
  program.steps.push_back(std::move(step));
}

Mesh meshloom::test::makeMesh(std::vector<MeshAxis> axes) {
  return Mesh::get(std::move(axes)).value_or_throw();
}

std::shared_ptr<Client> meshloom::test::makeClient(CPUOptions options) {
  return createCPUClient(options).value_or_throw();
}

std::vector<float> meshloom::test::floats(const Result<HostBytes> &bytes) {
  if (!bytes) {
    ADD_FAILURE() << bytes.error().message();
    return {};
  }
  std::vector<float> values(bytes->size() / sizeof(float));
  if (!values.empty())
    std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

Array meshloom::test::fromFloats(const std::shared_ptr<Client> &client,
                                 Shape shape, Layout layout,
                                 const std::vector<float> &values) {
  // Meshes of tests are on CPUs until they are on the client's devices.
  const std::string &name = client->devices().front().name;
  const std::string type = name.substr(0, name.find(':'));
  if (DeviceAssignment here = layout.mesh().assignment();
      here.deviceType != type)
    layout =
        layout.placed_on(DeviceAssignment::of(type, here.localDeviceNumbers()));
  return Array::fromHost(client,
                         {DType::F32, std::move(shape), std::move(layout)},
                         {reinterpret_cast<const char *>(values.data()),
                          values.size() * sizeof(float)})
      .value_or_throw();
}

std::vector<float> meshloom::test::counting(int64_t count, float first) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::vector<Array>
meshloom::test::runProgram(const std::shared_ptr<Client> &client,
                           const Program &program,
                           std::vector<Array> arguments) {
  auto executable = client->load(Compiled(program, testKernels()));
  if (!executable) {
    ADD_FAILURE() << executable.error().message();
    return {};
  }
  auto results = (*executable)->execute(std::move(arguments));
  if (!results) {
    ADD_FAILURE() << results.error().message();
    return {};
  }
  return *results;
}
