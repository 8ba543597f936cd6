// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Container: the sections of MLIR's bytecode, format versions 0 to 6.
#pragma once

#include "ByteReader.h"

#include <vector>

namespace meshloom::vhlo {

/// Kinds of sections.
enum class Section : uint8_t {
  Strings,
  Dialects,
  Attributes,
  AttributeOffsets,
  IR,
  Resources,
  ResourceOffsets,
  DialectVersions,
  Properties,
};

/// The parts of an op that follow its name.
enum OpPart : uint8_t {
  HasAttributes = 1,
  HasResults = 2,
  HasOperands = 4,
  HasSuccessors = 8,
  HasRegions = 16,
  HasUseListOrders = 32,
  HasProperties = 64,
};

/// Format versions from which on something is written differently.
namespace format {
inline constexpr uint64_t versionedDialects = 1, sectionsOfIsolatedRegions = 2,
                          useListOrders = 3, optionalArgumentLocations = 4,
                          properties = 5, newest = 6;
} // namespace format

/// The sections of an artifact, as far as they can be read without knowing what
/// is in them. It refers to the artifact's bytes.
struct Container {
  /// An attribute or a type that other parts refer to by its number.
  struct Entry {
    StringRef dialect;
    bool isEncoded = false; ///< by its dialect; else it is MLIR's text
    StringRef bytes;
  };

  uint64_t version = 0;
  StringRef producer; ///< "StableHLO_v1.13.3"
  std::vector<StringRef> strings;
  std::vector<std::string> opNames; ///< "vhlo.add_v1"
  std::vector<Entry> attributes, types;
  std::vector<StringRef> properties;
  StringRef ir;

  static LogicalResult read(StringRef artifact, Container &container,
                            Fault &fault);
};

} // namespace meshloom::vhlo
