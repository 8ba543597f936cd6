// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Container.h"

#include <array>

namespace meshloom::vhlo {

namespace {

class SectionReader {
public:
  SectionReader(Container &container, Fault &fault)
      : container(container), fault(fault) {}

  LogicalResult readAll(StringRef artifact);

private:
  LogicalResult readSections(ByteReader reader);
  LogicalResult readStrings(ByteReader reader);
  LogicalResult readDialects(ByteReader reader);
  LogicalResult readOpNames(ByteReader &reader);
  LogicalResult readEntries(ByteReader &offsets, ByteReader &data,
                            uint64_t count,
                            std::vector<Container::Entry> &entries);
  LogicalResult readProperties(ByteReader reader);
  LogicalResult readString(ByteReader &reader, uint64_t index,
                           StringRef &value);

  bool has(Section kind) const { return isPresent[size_t(kind)]; }
  ByteReader of(Section kind) const { return {sections[size_t(kind)], fault}; }

  static constexpr size_t kinds = size_t(Section::Properties) + 1;
  Container &container;
  Fault &fault;
  std::array<StringRef, kinds> sections;
  std::array<bool, kinds> isPresent{};
  std::vector<StringRef> dialects;
};

LogicalResult SectionReader::readAll(StringRef artifact) {
  ByteReader reader(artifact, fault);
  StringRef magic;
  if (failed(reader.readBytes(4, magic)) ||
      failed(reader.readNumber(container.version)) ||
      failed(reader.readCString(container.producer)))
    return failure();
  if (container.version > format::newest)
    return reader.fail("it is MLIR bytecode of version " +
                       llvm::Twine(container.version) + ", written by " +
                       container.producer + ", and versions up to " +
                       llvm::Twine(format::newest) +
                       " can be read: ask its writer for an older target "
                       "version of StableHLO, such as 1.13.3");
  return readSections(reader);
}

LogicalResult SectionReader::readSections(ByteReader reader) {
  while (!reader.atEnd()) {
    uint8_t kind = 0;
    StringRef contents;
    if (failed(reader.readSection(kind, contents)))
      return failure();
    if (kind >= kinds)
      return reader.fail("unknown kind of section, " +
                         llvm::Twine(unsigned(kind)));
    if (std::exchange(isPresent[kind], true))
      return reader.fail("two sections of kind " + llvm::Twine(unsigned(kind)));
    sections[kind] = contents;
  }
  for (Section kind : {Section::Strings, Section::Dialects, Section::Attributes,
                       Section::AttributeOffsets, Section::IR})
    if (!has(kind))
      return reader.fail("the section of kind " + llvm::Twine(unsigned(kind)) +
                         " is missing");
  if (failed(readStrings(of(Section::Strings))) ||
      failed(readDialects(of(Section::Dialects))))
    return failure();
  ByteReader offsets = of(Section::AttributeOffsets),
             data = of(Section::Attributes);
  uint64_t attributes = 0, types = 0;
  if (failed(offsets.readCount(attributes)) ||
      failed(offsets.readCount(types)) ||
      failed(readEntries(offsets, data, attributes, container.attributes)) ||
      failed(readEntries(offsets, data, types, container.types)))
    return failure();
  container.ir = sections[size_t(Section::IR)];
  return has(Section::Properties) ? readProperties(of(Section::Properties))
                                  : success();
}

LogicalResult SectionReader::readStrings(ByteReader reader) {
  uint64_t count = 0;
  if (failed(reader.readCount(count)))
    return failure();
  // Lengths come from the last string to the first.
  std::vector<uint64_t> lengths(static_cast<size_t>(count));
  for (size_t i = lengths.size(); i-- > 0;)
    if (failed(reader.readNumber(lengths[i])))
      return failure();
  container.strings.reserve(lengths.size());
  for (uint64_t length : lengths) {
    StringRef text;
    if (failed(reader.readBytes(length, text)))
      return failure();
    if (text.empty() || text.back() != '\0')
      return reader.fail("expected a text that ends with a zero byte");
    container.strings.push_back(text.drop_back());
  }
  return success();
}

LogicalResult SectionReader::readString(ByteReader &reader, uint64_t index,
                                        StringRef &value) {
  if (index >= container.strings.size())
    return reader.fail("there is no string number " + llvm::Twine(index));
  value = container.strings[size_t(index)];
  return success();
}

LogicalResult SectionReader::readDialects(ByteReader reader) {
  uint64_t count = 0;
  if (failed(reader.readCount(count)))
    return failure();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t name = 0;
    bool isVersioned = false;
    if (failed(container.version >= format::versionedDialects
                   ? reader.readFlagged(name, isVersioned)
                   : reader.readNumber(name)) ||
        failed(readString(reader, name, dialects.emplace_back())))
      return failure();
    uint8_t kind = 0;
    StringRef contents; // what the version says follows from the ops' names
    if (isVersioned && failed(reader.readSection(kind, contents)))
      return failure();
  }
  return readOpNames(reader);
}

LogicalResult SectionReader::readOpNames(ByteReader &reader) {
  uint64_t total = 0;
  if (container.version >= format::optionalArgumentLocations &&
      failed(reader.readCount(total)))
    return failure();
  while (!reader.atEnd()) {
    uint64_t dialect = 0, count = 0;
    if (failed(reader.readNumber(dialect)) || failed(reader.readCount(count)))
      return failure();
    if (dialect >= dialects.size())
      return reader.fail("there is no dialect number " + llvm::Twine(dialect));
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t index = 0;
      bool isRegistered = false;
      StringRef name;
      if (failed(container.version >= format::properties
                     ? reader.readFlagged(index, isRegistered)
                     : reader.readNumber(index)) ||
          failed(readString(reader, index, name)))
        return failure();
      container.opNames.push_back(
          (dialects[size_t(dialect)] + "." + name).str());
    }
  }
  return success();
}

LogicalResult
SectionReader::readEntries(ByteReader &offsets, ByteReader &data,
                           uint64_t count,
                           std::vector<Container::Entry> &entries) {
  while (entries.size() < count) {
    uint64_t dialect = 0, size = 0;
    if (failed(offsets.readNumber(dialect)) || failed(offsets.readCount(size)))
      return failure();
    if (dialect >= dialects.size())
      return offsets.fail("there is no dialect number " + llvm::Twine(dialect));
    if (size == 0 || size > count - entries.size())
      return offsets.fail("expected a group of 1 to " +
                          llvm::Twine(count - entries.size()) +
                          " entries, got " + llvm::Twine(size));
    for (uint64_t i = 0; i < size; ++i) {
      Container::Entry entry{dialects[size_t(dialect)], false, {}};
      uint64_t length = 0;
      if (failed(offsets.readFlagged(length, entry.isEncoded)) ||
          failed(data.readBytes(length, entry.bytes)))
        return failure();
      entries.push_back(entry);
    }
  }
  return success();
}

LogicalResult SectionReader::readProperties(ByteReader reader) {
  uint64_t count = 0;
  if (failed(reader.readCount(count)))
    return failure();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t length = 0;
    if (failed(reader.readNumber(length)) ||
        failed(reader.readBytes(length, container.properties.emplace_back())))
      return failure();
  }
  return success();
}

} // namespace

LogicalResult Container::read(StringRef artifact, Container &container,
                              Fault &fault) {
  return SectionReader(container, fault).readAll(artifact);
}

} // namespace meshloom::vhlo
