// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Import/StableHLO/ReadProgram.h"

#include "meshloom/Core/Timing.h"
#include "meshloom/Dialect/StableHLO/SourceText.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"

#include "mlir/Parser/Parser.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace meshloom {

/// MLIR bytecode says who made it, in text: "ML", 0xEF, "R", the version,
/// "StableHLO_v1.9.0".
static bool isBytecode(StringRef text) {
  return text.starts_with("ML\xefR");
}

/// What else there is to say of a text that was not read: a dialect that other
/// tools turn into StableHLO.
static StringRef remedyFor(StringRef text, StringRef messages) {
  if (messages.contains("`vhlo'"))
    return "vhlo is StableHLO's portable form: stablehlo-translate "
           "--deserialize makes StableHLO of it\n";
  if (text.contains("mhlo."))
    return "mhlo is XLA's own dialect: mlir-hlo-opt "
           "--hlo-legalize-to-stablehlo "
           "makes StableHLO of it\n";
  return "";
}

Result<OwningOpRef<ModuleOp>>
readProgram(StringRef text, const std::string &path, MLIRContext *context) {
  if (isBytecode(text))
    return Error(path + ": error: this is MLIR bytecode, and Meshloom reads "
                        "text: stablehlo-translate --deserialize prints it, as "
                        "in JAX do lowered.as_text() and "
                        "exported.mlir_module()",
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
  auto module = [&] {
    TimedScope timed("parse");
    return mlir::parseSourceFile<ModuleOp>(sources, context);
  }();
  if (!module) {
    if (StringRef type = unreadableElementType(text); !type.empty())
      messages += "the program has elements of type " + type.str() +
                  ", which Meshloom does not support\n";
    messages += remedyFor(text, messages);
    if (messages.empty())
      return Error("cannot parse '" + path + "'");
    return Error(messages, ErrorCode::INVALID_ARGUMENT, path);
  }
  TimedScope timed("import");
  if (holdsStableHLO(*module) && failed(importStableHLO(*module)))
    return Error(messages, ErrorCode::INVALID_ARGUMENT, path);
  return module;
}

} // namespace meshloom
