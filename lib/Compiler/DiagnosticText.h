// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The diagnostics of passes as one error.
#pragma once

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include <functional>
#include <string>
#include <thread>

namespace meshloom {

/// Collects diagnostics instead of printing them: "file:1:2: error: ..." lines,
/// notes after their error. Only this thread's, which is the one that passes
/// run on, as there is one function: others may compile in the same context.
class DiagnosticText {
public:
  explicit DiagnosticText(
      MLIRContext *context,
      std::function<void(const InspectedLayout &)> inspect = nullptr)
      : inspect(std::move(inspect)),
        handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (std::this_thread::get_id() != thread)
            return failure();
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark)
            tellLayout(diagnostic);
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark ||
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning)
            return success();
          add(diagnostic.getLocation(), "error", diagnostic.str());
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            add(note.getLocation(), "note", note.str());
          return success();
        }) {}

  /// A line behind all others.
  void addNote(const std::string &message) { text += "\nnote: " + message; }

  /// Returns the errors of the passes as one error, or `otherwise` where no
  /// pass reported one.
  Error error(const std::string &otherwise) const {
    return Error(text.empty() ? otherwise : text, ErrorCode::INVALID_ARGUMENT,
                 place);
  }

private:
  void add(Location loc, const char *severity, const std::string &message) {
    if (text.empty())
      place = sourcePosition(loc).value_or("");
    else
      text += "\n";
    text += line(loc, severity, message);
  }
  /// Reports the layout that a remark of --dtensor-insert-relayouts is about.
  void tellLayout(mlir::Diagnostic &remark) {
    const auto fused = dyn_cast<mlir::FusedLoc>(remark.getLocation());
    const auto metadata =
        fused ? dyn_cast_or_null<mlir::DictionaryAttr>(fused.getMetadata())
              : mlir::DictionaryAttr();
    if (!inspect || !metadata)
      return;
    InspectedLayout inspected;
    inspected.text = line(remark.getLocation(), "remark", remark.str());
    if (auto config = metadata.getAs<StringAttr>("config"))
      inspected.config = config.getValue();
    if (auto layout = metadata.getAs<dtensor::LayoutAttr>("layout"))
      inspected.layout = layout.getLayout();
    inspect(inspected);
  }
  static std::string line(Location loc, const char *severity,
                          const std::string &message) {
    std::optional<std::string> position = sourcePosition(loc);
    return position ? *position + ": " + severity + ": " + message : message;
  }

  const std::thread::id thread = std::this_thread::get_id();
  const std::function<void(const InspectedLayout &)> inspect;
  std::string text, place;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace meshloom
