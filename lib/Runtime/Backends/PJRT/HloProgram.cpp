// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a HloModuleProto by the wire format of protocol buffers, without its
// description: the few fields that are wanted have fixed numbers.
#include "meshloom/Runtime/Backends/PJRT/HloProgram.h"

#include "meshloom/Runtime/Backends/PJRT/WireFormat.h"

#include <algorithm>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::pjrt;

namespace {
/// Bits of an element, by xla.PrimitiveType; 0 for those that are not numbers.
uint64_t elementBits(uint64_t type) {
  switch (type) {
  case 1: // PRED
  case 2: // S8
  case 6: // U8
    return 8;
  case 3:  // S16
  case 7:  // U16
  case 10: // F16
  case 16: // BF16
    return 16;
  case 4:  // S32
  case 8:  // U32
  case 11: // F32
    return 32;
  case 5:  // S64
  case 9:  // U64
  case 12: // F64
  case 15: // C64
    return 64;
  case 18: // C128
    return 128;
  case 21: // S4
  case 22: // U4
    return 4;
  case 19: // F8E5M2 and its kin
  case 20:
  case 23:
  case 24:
  case 25:
    return 8;
  default:
    return 0;
  }
}

/// ShapeProto: adds the bytes of each array of it.
bool readShape(std::string_view message, std::vector<int64_t> &bytes,
               int depth = 0) {
  if (depth > 64)
    return false;
  Fields fields(message);
  // Unsigned: whatever damaged bytes multiply to is not an error of ours.
  uint64_t type = 0, elements = 1;
  bool tuple = false;
  for (Field field; fields.next(field);) {
    if (field.number == 2)
      type = field.value;
    if (field.number == 3 && field.isNumber)
      elements *= field.value;
    if (field.number == 3 && !field.isNumber) {
      Fields dims(field.bytes);
      while (!dims.done())
        elements *= dims.varint();
      fields.whole &= dims.whole;
    }
    if (field.number == 4) {
      tuple = true;
      fields.whole &= readShape(field.bytes, bytes, depth + 1);
    }
  }
  if (!tuple)
    if (const uint64_t bits = elementBits(type))
      bytes.push_back(int64_t((elements * bits + 7) / 8));
  return fields.whole;
}

/// OpMetadata: "file:line".
bool readSource(std::string_view message, std::string &source) {
  Fields fields(message);
  std::string_view file;
  uint64_t line = 0;
  for (Field field; fields.next(field);) {
    if (field.number == 3)
      file = field.bytes;
    if (field.number == 4)
      line = field.value;
  }
  if (!file.empty())
    source = line ? fmt::format("{}:{}", file, line) : std::string(file);
  return fields.whole;
}

/// ReplicaGroup: how many ids the largest one so far has.
bool readGroup(std::string_view message, int64_t &largest) {
  Fields fields(message);
  int64_t size = 0;
  for (Field field; fields.next(field);) {
    if (field.number == 1 && field.isNumber)
      ++size;
    if (field.number == 1 && !field.isNumber) {
      Fields ids(field.bytes);
      for (; !ids.done(); ++size)
        ids.varint();
      fields.whole &= ids.whole;
    }
  }
  largest = std::max(largest, size);
  return fields.whole;
}

/// CollectiveDeviceListProto: groups, or how many of how many devices.
bool readGroups(std::string_view message, int64_t &largest) {
  Fields fields(message);
  for (Field field; fields.next(field);) {
    if (field.number == 1)
      fields.whole &= readGroup(field.bytes, largest);
    if (field.number == 2) {
      Fields list(field.bytes);
      for (Field element; list.next(element);)
        if (element.number == 2)
          largest = std::max(largest, int64_t(element.value));
      fields.whole &= list.whole;
    }
  }
  return fields.whole;
}

bool readInstruction(std::string_view message, HloInstruction &instruction) {
  Fields fields(message);
  for (Field field; fields.next(field);) {
    if (field.number == 1)
      instruction.name = field.bytes;
    if (field.number == 2)
      instruction.opcode = field.bytes;
    if (field.number == 3)
      fields.whole &= readShape(field.bytes, instruction.bytes);
    if (field.number == 7)
      fields.whole &= readSource(field.bytes, instruction.source);
    if (field.number == 49) // of older versions
      fields.whole &= readGroup(field.bytes, instruction.groupSize);
    if (field.number == 87)
      fields.whole &= readGroups(field.bytes, instruction.groupSize);
  }
  return fields.whole;
}

bool readComputation(std::string_view message, HloComputation &computation) {
  Fields fields(message);
  for (Field field; fields.next(field);) {
    if (field.number == 1)
      computation.name = field.bytes;
    if (field.number == 2)
      fields.whole &=
          readInstruction(field.bytes, computation.instructions.emplace_back());
  }
  return fields.whole;
}

bool readModule(std::string_view message, HloProgram &program) {
  Fields fields(message);
  for (Field field; fields.next(field);) {
    if (field.number == 1)
      program.name = field.bytes;
    if (field.number == 3)
      fields.whole &=
          readComputation(field.bytes, program.computations.emplace_back());
  }
  return fields.whole;
}
} // namespace

Result<HloProgram> HloProgram::parse(std::string_view bytes) {
  HloProgram program;
  Fields fields(bytes);
  bool found = false;
  for (Field field; fields.next(field);)
    if (field.number == 1) {
      found = true;
      fields.whole &= readModule(field.bytes, program);
    }
  if (!fields.whole || !found)
    return Error(fmt::format("the optimised program that the plug-in gave ({} "
                             "bytes) is not a module of XLA's",
                             bytes.size()));
  return program;
}

std::vector<HloCollective> HloProgram::collectives() const {
  constexpr std::string_view kinds[] = {
      "all-reduce",          "all-gather",        "reduce-scatter",
      "all-to-all",          "ragged-all-to-all", "collective-permute",
      "collective-broadcast"};
  std::vector<HloCollective> found;
  for (const HloComputation &computation : computations)
    for (const HloInstruction &instruction : computation.instructions) {
      std::string_view kind = instruction.opcode;
      const bool starts = kind.ends_with("-start");
      if (starts)
        kind.remove_suffix(std::string_view("-start").size());
      if (std::ranges::find(kinds, kind) == std::end(kinds))
        continue;
      HloCollective collective;
      collective.name = instruction.name;
      collective.kind = kind;
      collective.asynchronous = starts;
      collective.source = instruction.source;
      collective.groupSize = instruction.groupSize;
      std::vector<int64_t> results = instruction.bytes;
      // These start with a tuple of the operands, the results, and marks.
      if (starts && kind != "all-reduce" && results.size() >= 2)
        results = {
            results[kind == "collective-permute" ? 1 : results.size() / 2]};
      collective.values = int64_t(results.size());
      for (int64_t size : results)
        collective.bytes += size;
      found.push_back(std::move(collective));
    }
  return found;
}
