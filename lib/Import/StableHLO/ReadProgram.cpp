// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Import/StableHLO/ReadProgram.h"

#include "meshloom/Import/StableHLO/NameScopes.h"

#include "meshloom/Core/Timing.h"
#include "meshloom/Dialect/StableHLO/SourceText.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"
#include "meshloom/Import/VHLO/ReadArtifact.h"

#include "mlir/Parser/Parser.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace meshloom {

/// Returns a remedy for a text that was not read: a dialect that other tools
/// turn into StableHLO.
static StringRef remedyFor(StringRef text, StringRef messages) {
  if (messages.contains("`vhlo'"))
    return "vhlo is StableHLO's portable form, which Meshloom reads as "
           "bytecode; stablehlo-translate --deserialize makes StableHLO of its "
           "text\n";
  if (text.contains("mhlo."))
    return "mhlo is XLA's own dialect: mlir-hlo-opt "
           "--hlo-legalize-to-stablehlo "
           "makes StableHLO of it\n";
  return "";
}

static Result<OwningOpRef<ModuleOp>>
parseText(StringRef text, const std::string &path, MLIRContext *context) {
  if (text.starts_with("ML\xefR"))
    return Error(path + ": error: this is bytecode of MLIR, but no portable "
                        "artifact of StableHLO: print it as text (mesh-opt "
                        "does), or let JAX's exported.serialize() write it",
                 ErrorCode::INVALID_ARGUMENT, path);
  if (auto fault = sourceFault(text))
    return Error(path + ":" + std::to_string(fault->line) +
                     ": error: " + fault->message,
                 ErrorCode::INVALID_ARGUMENT, path);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(readableSource(text, path), {});
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  mlir::SourceMgrDiagnosticHandler handler(sources, context, stream);
  auto module = mlir::parseSourceFile<ModuleOp>(sources, context);
  if (module)
    return module;
  if (StringRef type = unreadableElementType(text); !type.empty())
    messages += "the program has elements of type " + type.str() +
                ", which only portable artifacts can have here: write the "
                "program as one (JAX's exported.serialize() does)\n";
  messages += remedyFor(text, messages);
  if (messages.empty())
    return Error("cannot parse '" + path + "'");
  return Error(messages, ErrorCode::INVALID_ARGUMENT, path);
}

Result<OwningOpRef<ModuleOp>>
parseProgram(StringRef bytes, const std::string &path, MLIRContext *context) {
  TimedScope timed("parse");
  // The op of an error may be a function, as long as the program.
  context->printOpOnDiagnostic(false);
  const std::optional<StringRef> artifact = artifactIn(bytes);
  return artifact ? readArtifact(*artifact, path, context)
                  : parseText(bytes, path, context);
}

Status importProgram(ModuleOp module, StringRef bytes,
                     const std::string &path) {
  // Diagnostics show lines of the text.
  llvm::SourceMgr sources;
  if (!artifactIn(bytes))
    sources.AddNewSourceBuffer(readableSource(bytes, path), {});
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  mlir::SourceMgrDiagnosticHandler handler(sources, module.getContext(),
                                           stream);
  TimedScope timed("import");
  if (holdsStableHLO(module) && failed(importStableHLO(module)))
    return Error(messages, ErrorCode::INVALID_ARGUMENT, path);
  return Success();
}

/// Makes all functions but one private: they are imported where they are
/// called.
static void selectFunction(ModuleOp module, StringRef name) {
  auto selected =
      module.lookupSymbol<mlir::func::FuncOp>(name.empty() ? "main" : name);
  if (!selected || selected.isExternal())
    return;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    function.setPrivate();
  selected.setPublic();
}

Result<OwningOpRef<ModuleOp>> readProgram(StringRef bytes,
                                          const std::string &path,
                                          MLIRContext *context,
                                          StringRef function) {
  auto module = parseProgram(bytes, path, context);
  if (!module)
    return module;
  if (holdsStableHLO(**module)) {
    readNameScopes(**module);
    selectFunction(**module, function);
  }
  if (Status imported = importProgram(**module, bytes, path); !imported)
    return imported.error();
  return module;
}

} // namespace meshloom
