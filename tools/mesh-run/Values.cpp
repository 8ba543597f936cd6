// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs and results as bytes.
#include "Values.h"

#include "meshloom/Support/Npy.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>

namespace meshloom::run {
namespace {

uint32_t hash(uint32_t index, uint32_t seed) {
  uint32_t h = index * 0x9E3779B1u + seed * 0x85EBCA77u;
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  h ^= h >> 12;
  h *= 0x297A2D39u;
  h ^= h >> 15;
  return h;
}

uint16_t toBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

template <typename T, typename F> void fill(HostBytes &bytes, F element) {
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value = T(element(uint32_t(i)));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

template <typename T> T elementAt(const HostBytes &bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Like NumPy: the sign of a nan means nothing.
std::string realText(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:g}", value);
}

std::string elementText(DType type, const HostBytes &bytes, size_t index) {
  switch (type) {
  case DType::F32:
    return realText(elementAt<float>(bytes, index));
  case DType::F64:
    return realText(elementAt<double>(bytes, index));
  case DType::BF16:
    return realText(std::bit_cast<float>(
        uint32_t(elementAt<uint16_t>(bytes, index)) << 16));
  case DType::I1:
    return elementAt<char>(bytes, index) ? "true" : "false";
  case DType::I8:
    return fmt::format("{}", int(elementAt<int8_t>(bytes, index)));
  case DType::UI8:
    return fmt::format("{}", int(elementAt<uint8_t>(bytes, index)));
  case DType::I32:
    return fmt::format("{}", elementAt<int32_t>(bytes, index));
  case DType::UI32:
    return fmt::format("{}", elementAt<uint32_t>(bytes, index));
  case DType::I64:
    return fmt::format("{}", elementAt<int64_t>(bytes, index));
  case DType::F16:
    return realText(float(elementAt<_Float16>(bytes, index)));
  case DType::I16:
    return fmt::format("{}", elementAt<int16_t>(bytes, index));
  case DType::UI16:
    return fmt::format("{}", elementAt<uint16_t>(bytes, index));
  case DType::UI64:
    return fmt::format("{}", elementAt<uint64_t>(bytes, index));
  case DType::C64:
  case DType::C128: {
    std::string imaginary = elementText(partOf(type), bytes, 2 * index + 1);
    bool isSigned = imaginary.front() == '-';
    return elementText(partOf(type), bytes, 2 * index) + (isSigned ? "" : "+") +
           imaginary + "j";
  }
  }
  return "?";
}

/// In which random numbers lie, the end excluded.
std::pair<double, double> rangeOf(DType type, const InputNotes &notes) {
  if (notes.range)
    return *notes.range;
  if (!isInteger(type))
    return {-1, 1};
  const double count = notes.bits == 0 ? 8 : std::ldexp(1.0, int(notes.bits));
  return notes.bits && isSigned(type) ? std::pair(-count / 2, count / 2)
                                      : std::pair(0.0, count);
}

} // namespace

HostBytes randomValue(DType type, const Shape &shape, uint32_t seed,
                      const InputNotes &notes) {
  HostBytes bytes(size_t(elementCount(shape)) * byteWidth(type));
  const auto [low, high] = rangeOf(type, notes);
  auto real = [&, low = low, width = high - low](uint32_t i) {
    return low + width * (double(hash(i, seed) >> 8) * 0x1p-24);
  };
  const auto first = int64_t(std::clamp(low, -0x1p31, 0x1p31));
  const auto count = int64_t(std::clamp(high - low, 1.0, 0x1p32));
  auto whole = [&](uint32_t i) { return first + hash(i, seed) % count; };
  switch (type) {
  case DType::F32:
    fill<float>(bytes, real);
    break;
  case DType::F64:
    fill<double>(bytes, real);
    break;
  case DType::F16:
    fill<_Float16>(bytes, real);
    break;
  case DType::C64:
    fill<float>(bytes, real);
    break;
  case DType::C128:
    fill<double>(bytes, real);
    break;
  case DType::BF16:
    fill<uint16_t>(bytes, [&](uint32_t i) { return toBf16(float(real(i))); });
    break;
  case DType::I1:
    fill<uint8_t>(bytes, [&](uint32_t i) { return hash(i, seed) % 2; });
    break;
  case DType::I8:
  case DType::UI8:
    fill<uint8_t>(bytes, whole);
    break;
  case DType::I32:
  case DType::UI32:
    fill<uint32_t>(bytes, whole);
    break;
  case DType::I16:
  case DType::UI16:
    fill<uint16_t>(bytes, whole);
    break;
  case DType::I64:
  case DType::UI64:
    fill<int64_t>(bytes, whole);
    break;
  }
  return bytes;
}

Status checkCarried(const Signature &signature, int64_t first) {
  const auto results = int64_t(signature.results.size()),
             arguments = int64_t(signature.arguments.size());
  if (first >= results || results - first > arguments)
    return Error(fmt::format("--carry={}: the program has {} results and {} "
                             "arguments; results from that number on must be "
                             "the first arguments",
                             first, results, arguments));
  for (int64_t i = first; i < results; ++i) {
    const auto &result = signature.results[size_t(i)];
    const auto &argument = signature.arguments[size_t(i - first)];
    if (result.type.dtype != argument.type.dtype ||
        result.type.shape != argument.type.shape)
      return Error(fmt::format(
          "--carry={}: {} {} cannot be {} {}", first,
          describe("result", size_t(i), result.name), result.type.to_string(),
          describe("argument", size_t(i - first), argument.name),
          argument.type.to_string()));
  }
  return Success();
}

std::string describe(DType type, const Shape &shape) {
  return fmt::format("{}[{}]", name(type), fmt::join(shape, ", "));
}

std::string describe(std::string_view kind, size_t index,
                     const std::string &name) {
  std::string text = fmt::format("{} {}", kind, index);
  // Programs call what has no name so themselves.
  return name.empty() || name == text ? text
                                      : fmt::format("{} ('{}')", text, name);
}

std::string preview(DType type, const HostBytes &bytes) {
  constexpr size_t shown = 6;
  size_t count = bytes.size() / byteWidth(type);
  std::vector<std::string> elements;
  for (size_t i = 0; i < std::min(count, shown); ++i)
    elements.push_back(elementText(type, bytes, i));
  if (count > shown)
    elements.push_back(fmt::format("... {} more", count - shown));
  return fmt::format("[{}]", fmt::join(elements, ", "));
}

namespace {
/// Returns whether a file's elements can be an argument's: NumPy has no name
/// for int4, which it writes as bytes.
bool isType(const NpyArray &file, DType wanted, int64_t bits) {
  return file.type == wanted || (wanted == DType::I8 && file.isUnnamed) ||
         (wanted == DType::I8 && bits && file.type == DType::UI8);
}
/// The numbers of a file as those of `type` with so many bits. In what are
/// bytes the others may be anything; numbers must not be too large.
Status toBits(NpyArray &file, DType type, int64_t bits) {
  const int unused = 8 - int(bits);
  const bool hasSign = isSigned(type);
  for (char &byte : file.bytes) {
    const int number = hasSign ? int8_t(byte) : uint8_t(byte);
    const int truncated = hasSign ? int8_t(uint8_t(byte) << unused) >> unused
                                  : uint8_t(uint8_t(byte) << unused) >> unused;
    if (truncated != number && file.type == type && !file.isUnnamed)
      return Error(fmt::format("expected numbers from {} to {}, got {}",
                               hasSign ? -(1 << (bits - 1)) : 0,
                               (1 << (hasSign ? bits - 1 : bits)) - 1, number));
    byte = char(truncated);
  }
  return Success();
}
/// Which file is which argument's, where there are more files than arguments:
/// exporters drop arguments that a program does not use (JAX does), so those
/// that are left are found by their types and shapes, in order. Nothing where
/// that does not tell.
std::optional<std::vector<size_t>>
matchFiles(const Signature &signature, const std::vector<NpyArray> &files) {
  size_t wanted = signature.arguments.size();
  // ways[i][j]: in how many ways (two is many) the arguments from i on can be
  // found in the files from j on.
  std::vector<std::vector<int>> ways(wanted + 1,
                                     std::vector<int>(files.size() + 1, 0));
  auto fits = [&](size_t argument, size_t file) {
    const auto &[name, type, notes] = signature.arguments[argument];
    return isType(files[file], type.dtype, notes.bits) &&
           files[file].shape == type.shape;
  };
  for (size_t j = 0; j <= files.size(); ++j)
    ways[wanted][j] = 1;
  for (size_t i = wanted; i-- > 0;)
    for (size_t j = files.size(); j-- > 0;)
      ways[i][j] =
          std::min(ways[i][j + 1] + (fits(i, j) ? ways[i + 1][j + 1] : 0), 2);
  if (ways[0][0] != 1)
    return std::nullopt;
  std::vector<size_t> chosen;
  for (size_t j = 0; chosen.size() < wanted; ++j)
    if (fits(chosen.size(), j) && ways[chosen.size() + 1][j + 1] > 0)
      chosen.push_back(j);
  return chosen;
}
} // namespace

Result<std::vector<Array>> placeInputs(const std::shared_ptr<Client> &client,
                                       const Signature &signature,
                                       const std::vector<HostBytes> &inputs) {
  std::vector<Array> arrays;
  arrays.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto array =
        Array::fromHost(client, signature.arguments[i].type, inputs[i]);
    if (!array)
      return array.error();
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Result<std::vector<HostBytes>> makeInputs(const Signature &signature,
                                          const Options &options) {
  size_t wanted = signature.arguments.size(), got = options.inputs.size();
  auto wrongCount = [&] {
    return Error(fmt::format(
        "{} takes {} argument{}, got {} --input file{}: give one for each, in "
        "order, or none for random ones",
        signature.name.empty() ? "the program" : "'" + signature.name + "'",
        wanted, wanted == 1 ? "" : "s", got, got == 1 ? "" : "s"));
  };
  if (got && got < wanted)
    return wrongCount();
  std::vector<NpyArray> files;
  for (const std::string &path : options.inputs) {
    Result<NpyArray> array = readNpy(path);
    if (!array) {
      size_t i = files.size();
      if (i >= wanted)
        return array.error();
      const ArrayType &type = signature.arguments[i].type;
      return array.error().withMessage(fmt::format(
          "{} (expected {}): {}",
          describe("argument", i, signature.arguments[i].name),
          describe(type.dtype, type.shape), array.error().message()));
    }
    files.push_back(std::move(*array));
  }
  std::vector<size_t> chosen(files.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  if (got > wanted) {
    auto matched = matchFiles(signature, files);
    if (!matched)
      return wrongCount();
    chosen = std::move(*matched);
  }
  std::vector<HostBytes> inputs;
  for (size_t i = 0; i < wanted; ++i) {
    const ArrayType &type = signature.arguments[i].type;
    const InputNotes &note = signature.arguments[i].notes;
    if (files.empty()) {
      inputs.push_back(randomValue(type.dtype, type.shape,
                                   options.seed + uint32_t(i), note));
      continue;
    }
    NpyArray &array = files[chosen[i]];
    const std::string argument =
        describe("argument", i, signature.arguments[i].name);
    if (!isType(array, type.dtype, note.bits) || array.shape != type.shape)
      return Error(fmt::format(
          "{}: expected {}{}, got {} in '{}'", argument,
          describe(type.dtype, type.shape),
          note.bits ? fmt::format(", integers of {} bits", note.bits) : "",
          describe(array.type, array.shape), options.inputs[chosen[i]]));
    if (note.bits)
      if (Status fits = toBits(array, type.dtype, note.bits); !fits)
        return fits.error().withMessage(fmt::format("{}: {} in '{}'", argument,
                                                    fits.error().message(),
                                                    options.inputs[chosen[i]]));
    inputs.push_back(std::move(array.bytes));
  }
  return inputs;
}

Status makeDirectory(const std::string &directory) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure)
    return Error(fmt::format("cannot make the directory '{}': {}", directory,
                             failure.message()));
  return Success();
}

Status saveResults(const std::string &directory, const Signature &signature,
                   const std::vector<HostBytes> &results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const ArrayType &type = signature.results[i].type;
    if (Status saved = writeNpy(fmt::format("{}/result_{}.npy", directory, i),
                                type.dtype, type.shape, results[i]);
        !saved)
      return saved;
  }
  return Success();
}

} // namespace meshloom::run
