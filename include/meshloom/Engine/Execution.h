// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling a module for the devices of a mesh, and running what was compiled.
#pragma once

#include "meshloom/Engine/Clients.h"
#include "meshloom/Engine/Settings.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace meshloom::detail {

/// A compiled program on its client.
struct Loaded {
  std::shared_ptr<Executable> executable;
  double compileSeconds = 0;
};
/// `layout` of a loaded program on the mesh that the user made, one of
/// `meshes`, where it has its axes; else as it is, on the meshes' refinement.
Layout onMeshOf(std::span<const Mesh> meshes, const Layout &layout);
/// Runs a program whose values are on `meshes` of the user's, over the same
/// devices: takes arrays, which may be on other devices, and gives arrays on
/// them. Where other processes run it
/// too, they agree on it before its first run. An Error where memory does not
/// suffice. `accepted`: see Executable::execute.
Result<std::vector<Array>> execute(const std::shared_ptr<Executable> &program,
                                   std::span<const Mesh> meshes,
                                   std::vector<Array> &&arguments,
                                   const std::function<void()> &accepted = {});
/// Fails where `execute` would refuse the arguments.
Status mayExecute(const std::shared_ptr<Executable> &program,
                  std::span<const Mesh> meshes,
                  std::span<const Array> arguments);
/// For the devices of `mesh`.
CompileOptions optionsFor(const Mesh &mesh, const Settings &settings);
/// The constants and options of a module's ops, a line each: in what programs
/// of the same steps may differ.
std::vector<std::string> detailsOf(ModuleOp module);
/// Compiles `module` for the devices of `mesh` and loads it. `explain`: see
/// CompileOptions.
Loaded compileAndLoad(ModuleOp module, const Mesh &mesh,
                      const Settings &settings, std::string_view op,
                      raw_ostream *explain = nullptr);

} // namespace meshloom::detail
