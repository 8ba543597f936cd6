// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The virtual-CPU runtime alone, on Programs written by hand: what a call, a
// phase, an all_reduce and a load cost. Kernels are plain C++ functions.
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/KernelFunction.h"

#include <benchmark/benchmark.h>
#include <map>

using namespace meshloom;

namespace {
/// out[i] = 2 * a[i]; one loop.
void twice(void *const *operands, const int64_t *, const int64_t *,
           const int64_t *extents) {
  const float *a = static_cast<const float *>(operands[0]);
  float *out = static_cast<float *>(operands[1]);
  for (int64_t i = 0; i < extents[0]; ++i)
    out[i] = 2 * a[i];
}
/// out = a[0] + a[1] + ... in f32, one after the other.
void sum(void *const *operands, const int64_t *, const int64_t *,
         const int64_t *extents) {
  const float *a = static_cast<const float *>(operands[0]);
  float total = 0;
  for (int64_t i = 0; i < extents[0]; ++i)
    total += a[i];
  *static_cast<float *>(operands[1]) = total;
}
/// out[i] = a[i] + b[i]; one loop, any strides.
void add(void *const *operands, const int64_t *strides, const int64_t *,
         const int64_t *extents) {
  const float *a = static_cast<const float *>(operands[0]);
  const float *b = static_cast<const float *>(operands[1]);
  float *out = static_cast<float *>(operands[2]);
  for (int64_t i = 0; i < extents[0]; ++i)
    out[i * strides[2]] = a[i * strides[0]] + b[i * strides[1]];
}

struct Kernels : CodeSymbols {
  Result<const void *> lookup(const std::string &symbol) const override {
    return addressOf(symbol == "add" ? &add : symbol == "sum" ? &sum : &twice);
  }
};

Mesh makeMesh(int64_t devices) {
  return Mesh::get({{"x", devices}}).value_or_throw();
}

Program emptyProgram(const Mesh &mesh) {
  return {"benchmark", mesh, {}, {}, {}, {}, {}};
}

unsigned addBuffer(Program &program, int64_t extent, const Layout &layout) {
  program.buffers.push_back({"", DType::F32, {extent}, layout});
  return unsigned(program.buffers.size()) - 1;
}

/// The element at (sign * i + offset).
Operand operand(unsigned buffer, int64_t offset = 0, int64_t sign = 1) {
  return {buffer, {{offset, {{0, sign}}}}};
}

void addKernel(Program &program, std::string symbol, int64_t extent,
               std::vector<unsigned> axes, std::vector<Operand> inputs,
               unsigned output) {
  KernelStep step;
  step.symbol = std::move(symbol);
  step.loops = {{extent, false, std::move(axes)}};
  step.inputs = std::move(inputs);
  step.outputs = {operand(output)};
  step.inPlace = {-1};
  program.steps.push_back(std::move(step));
}

std::shared_ptr<Executable> load(Program program, CPUOptions options = {}) {
  options.devices = program.mesh.size();
  return createCPUClient(options)
      .value_or_throw()
      ->load(Compiled(std::move(program), std::make_shared<Kernels>()))
      .value_or_throw();
}

Array zeros(const Executable &executable, unsigned argument) {
  const ArrayType &type = executable.signature().arguments[argument].type;
  const std::vector<char> data(size_t(elementCount(type.shape)) * 4);
  return Array::fromHost(executable.client(), type, data).value_or_throw();
}

void run(benchmark::State &state,
         const std::shared_ptr<Executable> &executable) {
  std::vector<Array> arguments;
  for (unsigned a = 0; a < executable->signature().arguments.size(); ++a)
    arguments.push_back(zeros(*executable, a));
  for (auto _ : state)
    for (const Array &result :
         executable->execute(std::vector(arguments)).value_or_throw())
      if (!result.wait())
        state.SkipWithError("failed");
}

/// Adding two f32[8] on 8 devices: what a call costs (JAX: 46 us at best).
Program tinyProgram(int64_t devices) {
  const Mesh mesh = makeMesh(devices);
  const Layout layout({"x"}, mesh);
  Program program = emptyProgram(mesh);
  const unsigned a = addBuffer(program, 8, layout);
  const unsigned b = addBuffer(program, 8, layout);
  const unsigned out = addBuffer(program, 8, layout);
  program.arguments = {{a, ""}, {b, ""}};
  addKernel(program, "add", 8, {0}, {operand(a), operand(b)}, out);
  program.results = {{out, -1, ""}};
  return program;
}
void tiny(benchmark::State &state) {
  run(state, load(tinyProgram(state.range(0))));
}
BENCHMARK(tiny)->Arg(1)->Arg(8)->Arg(512)->Unit(benchmark::kMicrosecond);

/// The same, launched: what it costs to hand a call to another thread and to
/// wait for it.
void launched(benchmark::State &state) {
  run(state, load(tinyProgram(8), {.launchFrom = 0}));
}
BENCHMARK(launched)->Unit(benchmark::kMicrosecond)->UseRealTime();

/// Two functions that keep one core busy each (a sum in order of 4 MB), called
/// one after the other before either is waited for. With one that waits (0) and
/// launched (1).
void twoFunctions(benchmark::State &state) {
  const CPUOptions options{.workers = 2,
                           .launchFrom = state.range(0) ? 0 : 1e300};
  const auto client = createCPUClient(options).value_or_throw();
  const int64_t count = 1 << 20;
  const Mesh mesh = makeMesh(1);
  std::vector<std::shared_ptr<Executable>> functions;
  for (int f = 0; f < 2; ++f) {
    Program program = emptyProgram(mesh);
    const unsigned a = addBuffer(program, count, Layout({UNSHARDED}, mesh));
    const unsigned out = unsigned(program.buffers.size());
    program.buffers.push_back(
        {"", DType::F32, {}, Layout::replicated(mesh, 0)});
    program.arguments = {{a, ""}};
    addKernel(program, "sum", count, {}, {operand(a)}, out);
    auto &step = std::get<KernelStep>(program.steps.back());
    step.loops[0].reduction = true;
    step.outputs[0].dims.clear();
    program.results = {{out, -1, ""}};
    functions.push_back(
        client->load(Compiled(std::move(program), std::make_shared<Kernels>()))
            .value_or_throw());
  }
  const Array a = zeros(*functions[0], 0), b = zeros(*functions[1], 0);
  for (auto _ : state) {
    auto first = functions[0]->execute({a}).value_or_throw();
    auto second = functions[1]->execute({b}).value_or_throw();
    if (!first[0].wait() || !second[0].wait())
      state.SkipWithError("failed");
  }
}
BENCHMARK(twoFunctions)
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

/// all_reduce of one addend per device; bytes are loads and stores.
void allReduce(benchmark::State &state) {
  const int64_t devices = state.range(0), count = state.range(1) / 4;
  const Mesh mesh = makeMesh(devices);
  Program program = emptyProgram(mesh);
  const unsigned from = addBuffer(
      program, count, Layout({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}}));
  const unsigned to = addBuffer(program, count, Layout({UNSHARDED}, mesh));
  program.arguments = {{from, ""}};
  program.results = {{to, -1, ""}};
  CollectiveStep step;
  step.kind = CollectiveKind::AllReduce;
  step.axes = {0};
  step.moves = {{from, to}};
  program.steps.push_back(std::move(step));
  run(state, load(std::move(program)));
  state.SetBytesProcessed(state.iterations() * (devices + 1) * count * 4);
}
BENCHMARK(allReduce)
    ->ArgsProduct({{2, 8}, {1 << 21, 1 << 24}})
    ->Args({64, 1 << 18})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

/// Elementwise steps in one phase: a chunk stays in cache from step to step.
void chain(benchmark::State &state) {
  const int64_t steps = state.range(0), count = 1 << 20;
  const Mesh mesh = makeMesh(8);
  const Layout layout({"x"}, mesh);
  Program program = emptyProgram(mesh);
  unsigned value = addBuffer(program, count, layout);
  program.arguments = {{value, ""}};
  for (int64_t s = 0; s < steps; ++s) {
    const unsigned next = addBuffer(program, count, layout);
    addKernel(program, "twice", count, {0}, {operand(value)}, next);
    value = next;
  }
  program.results = {{value, -1, ""}};
  run(state, load(std::move(program)));
  state.SetItemsProcessed(state.iterations() * steps * count);
}
BENCHMARK(chain)
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

/// Every step reads what other chunks wrote: as many phases as steps. The time
/// per phase, beside that of its 2 x 32 KB of work, is the cost of a boundary.
void phases(benchmark::State &state) {
  const int64_t steps = state.range(0), count = 1 << 13;
  const Mesh mesh = makeMesh(1);
  const Layout layout({UNSHARDED}, mesh);
  Program program = emptyProgram(mesh);
  unsigned value = addBuffer(program, count, layout);
  program.arguments = {{value, ""}};
  for (int64_t s = 0; s < steps; ++s) {
    const unsigned next = addBuffer(program, count, layout);
    addKernel(program, "add", count, {},
              {operand(value), operand(value, count - 1, -1)}, next);
    std::get<KernelStep>(program.steps.back()).flops = 8;
    value = next;
  }
  program.results = {{value, -1, ""}};
  run(state, load(std::move(program)));
  state.SetItemsProcessed(state.iterations() * steps);
}
BENCHMARK(phases)->Arg(64)->Unit(benchmark::kMicrosecond)->UseRealTime();

/// Planning a long program, whatever the number of devices.
void loadTime(benchmark::State &state) {
  const int64_t devices = state.range(0), steps = state.range(1);
  const int64_t count = 1 << 16;
  const Mesh mesh = makeMesh(devices);
  const Layout layout({"x"}, mesh), whole({UNSHARDED}, mesh);
  Program program = emptyProgram(mesh);
  unsigned value = addBuffer(program, count, layout);
  program.arguments = {{value, ""}};
  for (int64_t s = 0; s < steps; ++s) {
    unsigned next = addBuffer(program, count, layout);
    addKernel(program, "twice", count, {0}, {operand(value)}, next);
    value = next;
    if (s % 10 != 9)
      continue;
    // Gathered, reversed and cut again: a phase boundary.
    const unsigned gathered = addBuffer(program, count, whole);
    CollectiveStep gather;
    gather.kind = CollectiveKind::AllGather;
    gather.axes = {0};
    gather.moves = {{value, gathered}};
    program.steps.push_back(std::move(gather));
    next = addBuffer(program, count, layout);
    addKernel(program, "add", count, {0},
              {operand(value), operand(gathered, count - 1, -1)}, next);
    value = next;
  }
  program.results = {{value, -1, ""}};
  const auto client =
      createCPUClient({.devices = devices, .workers = 2}).value_or_throw();
  const auto kernels = std::make_shared<Kernels>();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        client->load(Compiled(program, kernels)).value_or_throw());
}
BENCHMARK(loadTime)
    ->Args({8, 1000})
    ->Args({512, 1000})
    ->Args({8, 10000})
    ->Unit(benchmark::kMillisecond);
} // namespace

BENCHMARK_MAIN();
