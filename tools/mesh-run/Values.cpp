// Inputs and results as bytes.
#include "Values.h"

#include "meshloom/Support/Npy.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

} // namespace

HostBytes randomValue(DType type, const Shape &shape, uint32_t seed) {
  HostBytes bytes(size_t(elementCount(shape)) * byteWidth(type));
  auto real = [&](uint32_t i) {
    return float(hash(i, seed) >> 8) * 0x1p-23f - 1;
  };
  auto whole = [&](uint32_t i) { return hash(i, seed) % 8; };
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
    fill<uint16_t>(bytes, [&](uint32_t i) { return toBf16(real(i)); });
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

Result<std::vector<HostBytes>> makeInputs(const Program &program,
                                          const Options &options) {
  size_t wanted = program.arguments.size();
  if (!options.inputs.empty() && options.inputs.size() != wanted)
    return Error(fmt::format(
        "{} takes {} argument{}, got {} --input file{}: give one for each, in "
        "order, or none for random ones",
        program.name.empty() ? "the program" : "'" + program.name + "'", wanted,
        wanted == 1 ? "" : "s", options.inputs.size(),
        options.inputs.size() == 1 ? "" : "s"));
  std::vector<HostBytes> inputs;
  for (size_t i = 0; i < wanted; ++i) {
    const BufferDecl &buffer = program.buffers[program.arguments[i].buffer];
    if (options.inputs.empty()) {
      inputs.push_back(
          randomValue(buffer.type, buffer.shape, options.seed + uint32_t(i)));
      continue;
    }
    std::string argument = describe("argument", i, program.arguments[i].name);
    std::string expected = describe(buffer.type, buffer.shape);
    Result<NpyArray> array = readNpy(options.inputs[i]);
    if (!array)
      return Error(fmt::format("{} (expected {}): {}", argument, expected,
                               array.error().message()));
    if (array->type != buffer.type || array->shape != buffer.shape)
      return Error(fmt::format("{}: expected {}, got {} in '{}'", argument,
                               expected, describe(array->type, array->shape),
                               options.inputs[i]));
    inputs.push_back(std::move(array->bytes));
  }
  return inputs;
}

Status saveResults(const std::string &directory, const Program &program,
                   const std::vector<HostBytes> &results) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure)
    return Error(fmt::format("cannot make the directory '{}': {}", directory,
                             failure.message()));
  for (size_t i = 0; i < results.size(); ++i) {
    const BufferDecl &buffer = program.buffers[program.results[i].buffer];
    if (Status saved = writeNpy(fmt::format("{}/result_{}.npy", directory, i),
                                buffer.type, buffer.shape, results[i]);
        !saved)
      return saved;
  }
  return Success();
}

} // namespace meshloom::run
