#include "meshloom/ControlFlow/SourceLocation.h"

namespace meshloom {

std::optional<std::string> sourcePosition(Location location) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>())
    return (Twine(file.getFilename().strref()) + ":" + Twine(file.getLine()) +
            ":" + Twine(file.getColumn()))
        .str();
  return std::nullopt;
}

std::string locationText(Location location) {
  return sourcePosition(location).value_or("unknown location");
}

} // namespace meshloom
