// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance of clients on plug-ins: our own, and XLA's where it is
// installed.
#include "../ClientConformance.h"
#include "PluginsForTests.h"

#include "meshloom/Runtime/Backends/PJRT/PJRTPlatform.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace meshloom;
using namespace meshloom::test;

namespace {
/// The program of ClientConformance in another form.
Compiled updateAs(const Mesh &mesh, const Layout &layout, std::string text) {
  const ArrayType type{DType::F32, {5, 3}, layout};
  return Compiled({"test", mesh, {{"b0", type}, {"b1", type}}, {{"", type, 0}}},
                  {}, StableHLOProgram{std::move(text)});
}

Compiled updateForFaulty(const Mesh &mesh, const Layout &layout) {
  return updateAs(mesh, layout, "subtract 2 donate 0");
}

Compiled updateForXla(const Mesh &mesh, const Layout &layout) {
  const std::string type =
      fmt::format("tensor<{}xf32>", fmt::join(layout.local_shape({5, 3}), "x"));
  return updateAs(mesh, layout,
                  fmt::format(R"("builtin.module"() ({{
  "func.func"() <{{arg_attrs = [{{tf.aliasing_output = 0 : i32}}, {{}}], function_type = ({0}, {0}) -> {0}, sym_name = "main"}}> ({{
  ^bb0(%w: {0}, %g: {0}):
    %after = "stablehlo.subtract"(%w, %g) : ({0}, {0}) -> {0}
    "func.return"(%after) : ({0}) -> ()
  }}) : () -> ()
}}) : () -> ())",
                              type));
}

/// A platform of its own for each client: a test's faults are its own too.
ClientMaker makerFor(std::string name, const std::string &path,
                     decltype(ClientMaker::update) update,
                     const std::string &missing) {
  auto make = [path](int64_t devices) {
    const pjrt::Plugin *plugin = pjrt::Plugin::load(path).value_or_throw();
    return makePJRTPlatform("pjrt:" + path, *plugin)
        ->client(devices)
        .value_or_throw();
  };
  return {std::move(name), make, std::move(update), missing};
}

std::vector<ClientMaker> makers() {
  std::string why;
  const std::string xla = cpuPluginPath(why).value_or("");
  return {makerFor("Faulty", MESHLOOM_FAULTY_PLUGIN_PATH, updateForFaulty, ""),
          makerFor("XlaCpu", xla, updateForXla, why)};
}

INSTANTIATE_TEST_SUITE_P(PJRT, ClientConformance, testing::ValuesIn(makers()),
                         ClientMaker::nameOf);
} // namespace
