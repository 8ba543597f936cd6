// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/ControlFlow/SourceLocation.h"

namespace meshloom {

// A fused location of one with a name as metadata: what nothing else makes, so
// that names that importers give to locations are not parts.
Location inPart(Location location, StringRef part) {
  MLIRContext *context = location->getContext();
  return mlir::FusedLoc::get({location}, StringAttr::get(context, part),
                             context);
}

static StringRef partOf(Location location) {
  StringRef part;
  location->walk([&](Location inner) {
    auto fused = dyn_cast<mlir::FusedLoc>(inner);
    auto name = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata())
                      : StringAttr();
    if (name)
      part = name.getValue();
    return name ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return part;
}

std::optional<std::string> sourcePosition(Location location) {
  auto file = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!file)
    return std::nullopt;
  StringRef part = partOf(location);
  return (Twine(file.getFilename().strref()) + ":" + Twine(file.getLine()) +
          ":" + Twine(file.getColumn()) + (part.empty() ? "" : " in ") + part)
      .str();
}

std::string locationText(Location location) {
  return sourcePosition(location).value_or("unknown location");
}

} // namespace meshloom
