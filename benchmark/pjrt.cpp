// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of a call on a PJRT plug-in: a tiny add through the platform and
// through the plug-in's C API alone, on one device and on eight. The plug-in is
// MESHLOOM_PJRT_CPU_PLUGIN, else what PJRT_NAMES_AND_LIBRARY_PATHS names.
#include "meshloom/Runtime/Backends/PJRT/PJRTPlatform.h"
#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::pjrt;

namespace {
const std::string &pluginPath() {
  static const std::string path = [] {
    const char *path = std::getenv("MESHLOOM_PJRT_CPU_PLUGIN");
    return findPlugin(path ? path : "").value_or_throw();
  }();
  return path;
}

std::string addModule(int64_t devices) {
  return fmt::format(R"(
"builtin.module"() <{{sym_name = "add"}}> ({{
  "func.func"() <{{function_type = (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}}> ({{
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%z) : (tensor<4xf32>) -> ()
  }}) : () -> ()
}}) {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {} : i32}} : () -> ())",
                     devices);
}

/// Nothing but what a program that calls the C API by hand would do: execute,
/// wait for every device's event, destroy events and outputs.
void bareAdd(benchmark::State &state) {
  const int64_t devices = state.range(0);
  const Plugin &plugin = *Plugin::load(pluginPath()).value_or_throw();
  auto client = PluginClient::create(plugin, {{"cpu_device_count", devices}})
                    .value_or_throw();
  auto program =
      client->compile(addModule(devices), {devices, {}}).value_or_throw();
  const std::vector<float> ones(4, 1);
  std::vector<PluginBuffer> arguments;
  std::vector<capi::Handle> inputs;
  for (int64_t i = 0; i < 2 * devices; ++i) {
    arguments.push_back(
        client
            ->toDevice(client->devices()[size_t(i / 2)], DType::F32, {4},
                       {reinterpret_cast<const char *>(ones.data()), 16})
            .value_or_throw());
    inputs.push_back(arguments.back().handle());
  }
  using Args = capi::LoadedExecutable_Execute_Args;
  std::vector<capi::Handle> outputs(static_cast<size_t>(devices)),
      events(static_cast<size_t>(devices));
  std::vector<capi::Handle *> inputLists, outputLists;
  for (int64_t i = 0; i < devices; ++i) {
    inputLists.push_back(inputs.data() + 2 * i);
    outputLists.push_back(outputs.data() + i);
  }
  auto call = [&](capi::Slot slot, capi::Block &block) {
    if (Status ok = plugin.call(slot, block, "run"); !ok)
      throw ok.error();
  };
  for (auto _ : state) {
    capi::Block options, run;
    run.set(Args::executable, program.handle())
        .set(Args::options, options.data())
        .set(Args::argument_lists, inputLists.data())
        .set(Args::num_devices, size_t(devices))
        .set(Args::num_args, size_t(2))
        .set(Args::output_lists, outputLists.data())
        .set(Args::device_complete_events, events.data());
    call(capi::Slot::LoadedExecutable_Execute, run);
    for (int64_t i = 0; i < devices; ++i) {
      capi::Block wait, destroyEvent, destroyBuffer;
      wait.set(capi::Event_Await_Args::event, events[size_t(i)]);
      call(capi::Slot::Event_Await, wait);
      destroyEvent.set(capi::Event_Destroy_Args::event, events[size_t(i)]);
      call(capi::Slot::Event_Destroy, destroyEvent);
      destroyBuffer.set(capi::Buffer_Destroy_Args::buffer, outputs[size_t(i)]);
      call(capi::Slot::Buffer_Destroy, destroyBuffer);
    }
  }
}
BENCHMARK(bareAdd)->Arg(1)->Arg(8)->UseRealTime();

void platformAdd(benchmark::State &state) {
  const int64_t devices = state.range(0);
  auto client = platform("pjrt:" + pluginPath())
                    .value_or_throw()
                    ->client(devices)
                    .value_or_throw();
  const Mesh mesh = Mesh::get({{"x", devices}}).value_or_throw();
  const ArrayType type{DType::F32, {4 * devices}, Layout({"x"}, mesh)};
  Signature signature{"add", mesh, {{"x", type}, {"y", type}}, {{"z", type}}};
  auto executable =
      client
          ->load(Compiled(signature, {}, StableHLOProgram{addModule(devices)}))
          .value_or_throw();
  const std::vector<float> ones(size_t(4 * devices), 1);
  // The layout is that of results, which are the next arguments of a training
  // loop.
  const Array x =
      Array::fromHost(client, executable->signature().arguments[0].type,
                      {reinterpret_cast<const char *>(ones.data()),
                       ones.size() * sizeof(float)})
          .value_or_throw();
  for (auto _ : state) {
    auto results = executable->execute({x, x});
    if (!results || !(*results)[0].wait())
      throw Error("the add failed");
  }
}
BENCHMARK(platformAdd)->Arg(1)->Arg(8)->UseRealTime();
} // namespace

BENCHMARK_MAIN();
