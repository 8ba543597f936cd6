// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// EntryWriter: the strings, attributes and types of an artifact, which have
// numbers in the order of their first use.
#pragma once

#include "ByteWriter.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "llvm/ADT/StringMap.h"

#include <vector>

namespace meshloom::vhlo {

/// The dialects of an artifact, by their numbers in it.
enum class ArtifactDialect : uint8_t { Builtin, Vhlo };

/// How an attribute is written: a number in a module's attributes is not the
/// number in an op's, and versions of custom calls are a kind of their own.
enum class AttributeForm : uint8_t { Builtin, Vhlo, ApiVersion };

class EntryWriter {
public:
  /// `release` is the k of StableHLO 1.k.
  explicit EntryWriter(unsigned release) : release(release) {}

  // These return the number of their argument.
  uint64_t string(StringRef text);
  uint64_t attribute(Attribute attribute,
                     AttributeForm form = AttributeForm::Vhlo);
  uint64_t type(Type type, ArtifactDialect dialect = ArtifactDialect::Vhlo);
  /// The attributes that an op has beside the ones that belong to it.
  uint64_t discardable(DictionaryAttr attributes, AttributeForm form);

  /// The first attribute or type that no artifact of the release can have;
  /// empty: there was none.
  StringRef problem() const { return firstProblem; }

  /// Writes the sections of strings, attributes and types.
  void write(ByteWriter &artifact) const;

private:
  struct Entry {
    ArtifactDialect dialect;
    std::string bytes;
  };
  /// The number of a new entry.
  static uint64_t add(std::vector<Entry> &entries, ArtifactDialect dialect,
                      const ByteWriter &bytes);
  template <typename T> void refuse(T value, StringRef reason);

  bool writeBuiltin(Attribute attribute, ByteWriter &bytes);
  bool writeLocation(mlir::LocationAttr location, ByteWriter &bytes);
  bool writeVhlo(Attribute attribute, ByteWriter &bytes);
  bool writeElements(Attribute attribute, ByteWriter &bytes);
  bool writeResultAccuracy(stablehlo::ResultAccuracyAttr accuracy,
                           ByteWriter &bytes);
  void writeInteger(const llvm::APInt &value, ByteWriter &bytes);
  template <typename List>
  void writeAttributes(const List &attributes, AttributeForm form,
                       ByteWriter &bytes);
  void writeDictionary(DictionaryAttr dictionary, AttributeForm form,
                       AttributeForm names, ByteWriter &bytes);
  bool writeBuiltin(Type type, ByteWriter &bytes);
  bool writeVhlo(Type type, ByteWriter &bytes);
  void writeTypes(mlir::TypeRange types, ByteWriter &bytes);

  const unsigned release;
  std::string firstProblem;
  llvm::StringMap<uint64_t> stringNumbers;
  std::vector<StringRef> strings;
  DenseMap<std::pair<Attribute, unsigned>, uint64_t> attributeNumbers;
  DenseMap<std::pair<Type, unsigned>, uint64_t> typeNumbers;
  std::vector<Entry> attributes, types;
};

} // namespace meshloom::vhlo
