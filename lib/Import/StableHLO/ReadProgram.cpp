#include "meshloom/Import/StableHLO/ReadProgram.h"

#include "meshloom/Core/Timing.h"
#include "meshloom/Dialect/StableHLO/SourceText.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"

#include "mlir/Parser/Parser.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace meshloom {

Result<OwningOpRef<ModuleOp>>
readProgram(StringRef text, const std::string &path, MLIRContext *context) {
  if (auto fault = sourceFault(text))
    return Error(path + ":" + std::to_string(fault->line) +
                 ": error: " + fault->message);
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
    return Error(messages.empty() ? "cannot parse '" + path + "'" : messages);
  }
  TimedScope timed("import");
  if (holdsStableHLO(*module) && failed(importStableHLO(*module)))
    return Error(messages);
  return module;
}

} // namespace meshloom
