// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Safetensors files. As with IDX, everything that the header says is checked
// against the file's size before anything is allocated by it.
#include "meshloom/Data/Safetensors.h"

#include "SafetensorsFormat.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Ops.h"
#include "meshloom/Core/TensorSize.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/FileKind.h"
#include "meshloom/Support/Json.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace meshloom::data {

using nlohmann::json;

namespace {
Error readError(std::string_view name, std::string_view why,
                ErrorCode code = ErrorCode::INVALID_ARGUMENT) {
  return Error(fmt::format("[load_safetensors] '{}' {}", name, why), code);
}
Error writeError(const std::filesystem::path &path, std::string_view why) {
  return Error(fmt::format("[save_safetensors] '{}': {}", path.string(), why));
}

/// A number of the header that counts elements or bytes.
std::optional<uint64_t> count(const json &value) {
  if (!value.is_number_unsigned())
    return std::nullopt;
  return value.get<uint64_t>();
}

/// Where the values of a tensor lie: bytes behind the header.
struct Range {
  uint64_t begin, end;
  std::string_view tensor;
};

/// Refuses a file whose bytes behind the header are not those of one tensor
/// after the other, as the format wants it: what belongs to none or to two
/// could be anything.
void expectOneAfterTheOther(std::vector<Range> ranges, uint64_t bytes,
                            std::string_view file) {
  std::ranges::sort(ranges, {}, [](const Range &range) {
    return std::pair(range.begin, range.end);
  });
  uint64_t end = 0;
  std::string_view before;
  for (const Range &range : ranges) {
    if (range.begin < end)
      readError(file,
                fmt::format("is damaged: tensors '{}' and '{}' "
                            "share bytes {} to {}",
                            before, range.tensor, range.begin,
                            std::min(end, range.end)),
                ErrorCode::DATA_LOSS)
          .raise();
    if (range.begin > end)
      readError(file,
                fmt::format("is damaged: bytes {} to {} in front of "
                            "tensor '{}' belong to no tensor",
                            end, range.begin, range.tensor),
                ErrorCode::DATA_LOSS)
          .raise();
    end = range.end;
    before = range.tensor;
  }
  if (end != bytes)
    readError(file,
              fmt::format("is damaged: {} bytes behind its last "
                          "tensor belong to no tensor",
                          bytes - end),
              ErrorCode::DATA_LOSS)
        .raise();
}

/// Refuses metadata that is not text by text.
void expectMetadata(const json &metadata, std::string_view file) {
  if (!metadata.is_object() ||
      std::ranges::any_of(metadata,
                          [](const json &value) { return !value.is_string(); }))
    readError(file, "is damaged: its __metadata__ is not a map of strings",
              ErrorCode::DATA_LOSS)
        .raise();
}

/// One tensor of the header, whose values lie in `data`. Adds where they lie to
/// `ranges`.
Tensor readTensor(const std::string &tensor, const json &entry,
                  std::string_view data, std::string_view file,
                  std::vector<Range> &ranges) {
  auto damaged = [&](const std::string &why) {
    return readError(file,
                     fmt::format("is damaged: tensor '{}' {}", tensor, why),
                     ErrorCode::DATA_LOSS);
  };
  if (!entry.is_object() || !entry.contains("dtype") ||
      !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
    damaged("has no dtype, shape and two data_offsets").raise();
  const auto type = entry["dtype"].get<std::string>();
  const std::array<float, 256> *f8 = floatsOfF8(type);
  const std::optional<DType> stored = f8 ? DType::UI8 : typeOfSafetensors(type);
  if (!stored)
    readError(file, fmt::format("has tensor '{}' of type {}, which is "
                                "not supported: convert it to F32",
                                tensor, type))
        .raise();
  auto begin = count(entry["data_offsets"][0]),
       end = count(entry["data_offsets"][1]);
  if (!begin || !end || *begin > *end || *end > data.size())
    damaged(fmt::format("lies at {} of {} bytes", entry["data_offsets"].dump(),
                        data.size()))
        .raise();
  Shape shape;
  for (const json &extent : entry["shape"]) {
    std::optional<uint64_t> n = count(extent);
    if (!n || *n > uint64_t(INT64_MAX))
      damaged("has shape " + entry["shape"].dump()).raise();
    shape.push_back(int64_t(*n));
  }
  const uint64_t bytes = *end - *begin;
  const std::optional<int64_t> needed = tensorBytes(shape, *stored);
  if (!needed || uint64_t(*needed) != bytes)
    damaged(fmt::format("of type {} and shape {} has {} bytes", type,
                        entry["shape"].dump(), bytes))
        .raise();
  ranges.push_back({*begin, *end, tensor});
  if (f8) {
    std::vector<float> numbers;
    numbers.reserve(bytes);
    for (char byte : data.substr(*begin, bytes))
      numbers.push_back((*f8)[uint8_t(byte)]);
    return meshloom::tensor(numbers, std::move(shape));
  }
  // Elements need not lie where their type may be read.
  std::vector<uint64_t> aligned((bytes + 7) / 8 + 1);
  std::memcpy(aligned.data(), data.data() + *begin, bytes);
  const int64_t elements = elementCount(shape);
  return meshloom::detail::fromHost(*stored, aligned.data(), elements,
                                    std::move(shape),
                                    std::source_location::current());
}
} // namespace

NamedTensors parse_safetensors(std::string_view bytes, std::string_view name) {
  static_assert(std::endian::native == std::endian::little);
  const std::string hint = kindHint(bytes);
  uint64_t length = 0;
  if (bytes.size() < sizeof(length))
    readError(name,
              "is not a safetensors file: it is shorter than 8 bytes" + hint)
        .raise();
  std::memcpy(&length, bytes.data(), sizeof(length));
  bytes.remove_prefix(sizeof(length));
  if (length > bytes.size())
    readError(name,
              fmt::format("is not a safetensors file, or truncated: its header "
                          "of {} bytes does not fit into the {} that follow{}",
                          length, bytes.size(), hint))
        .raise();
  const std::string_view text = bytes.substr(0, length),
                         data = bytes.substr(length);
  if (!text.starts_with('{'))
    readError(name,
              "is not a safetensors file: its header does not begin with '{'" +
                  hint)
        .raise();
  const Result<json> header = parseJson(text);
  if (!header)
    readError(name,
              "is not a safetensors file, or its header is damaged: " +
                  header.error().message(),
              ErrorCode::DATA_LOSS)
        .raise();
  NamedTensors tensors;
  std::vector<Range> ranges;
  for (const auto &[tensor, entry] : header->items())
    if (tensor == "__metadata__")
      expectMetadata(entry, name);
    else
      tensors.emplace(tensor, readTensor(tensor, entry, data, name, ranges));
  expectOneAfterTheOther(std::move(ranges), data.size(), name);
  return tensors;
}

NamedTensors load_safetensors(const std::filesystem::path &path,
                              std::source_location where) {
  return meshloom::detail::atLine(where, [&]() -> NamedTensors {
    Result<std::string> bytes = readFile(path.string());
    if (!bytes)
      bytes.error()
          .withMessage("[load_safetensors] " + bytes.error().message())
          .raise();
    return parse_safetensors(*bytes, path.string());
  });
}

void save_safetensors(const std::filesystem::path &path,
                      const NamedTensors &tensors, std::source_location where) {
  return meshloom::detail::atLine(where, [&]() -> void {
    json header = json::object();
    uint64_t offset = 0;
    for (const auto &[name, tensor] : tensors) {
      if (!tensor.defined())
        writeError(
            path,
            fmt::format("tensor '{}' is empty: give it a value first", name))
            .raise();
      const char *type = safetensorsType(tensor.dtype());
      if (!type)
        writeError(path, fmt::format("tensor '{}' is {}, which the format has "
                                     "not: save its real and imaginary parts",
                                     name, meshloom::name(tensor.dtype())))
            .raise();
      const uint64_t end =
          offset + uint64_t(tensor.size()) * byteWidth(tensor.dtype());
      header[name] = {{"dtype", type},
                      {"shape", tensor.shape()},
                      {"data_offsets", {offset, end}}};
      offset = end;
    }
    std::string file = safetensorsHead(header);
    const size_t begin = file.size();
    file.resize(begin + offset);
    char *out = file.data() + begin;
    for (const auto &[name, tensor] : tensors) {
      const uint64_t bytes =
          uint64_t(tensor.size()) * byteWidth(tensor.dtype());
      // Elements need not lie where their type may be written.
      std::vector<uint64_t> aligned(bytes / 8 + 1);
      meshloom::detail::readValue(tensor, tensor.dtype(), aligned.data(),
                                  tensor.size(), "save_safetensors", where);
      std::memcpy(out, aligned.data(), bytes);
      out += bytes;
    }
    Status written = writeFile(path.string(), file);
    if (!written)
      written.error()
          .withMessage("[save_safetensors] " + written.error().message())
          .raise();
  });
}

void save_safetensors(const std::filesystem::path &path,
                      const std::vector<DVariable> &variables,
                      std::source_location where) {
  return meshloom::detail::atLine(where, [&]() -> void {
    NamedTensors tensors;
    for (const DVariable &variable : variables) {
      if (variable.name().empty())
        writeError(path, "expected variables with names, got one without")
            .raise();
      if (!tensors.emplace(variable.name(), variable.read_value()).second)
        writeError(path,
                   fmt::format("two variables are named '{}'", variable.name()))
            .raise();
    }
    save_safetensors(path, tensors, where);
  });
}

void assign_by_name(const std::vector<DVariable> &variables,
                    const NamedTensors &tensors, std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    auto found = [&](const DVariable &variable) -> const Tensor & {
      auto entry = tensors.find(variable.name());
      if (entry == tensors.end())
        Error(fmt::format("[assign_by_name] there is no tensor for "
                          "variable '{}' [{}] among {} tensors{}",
                          variable.name(), fmt::join(variable.shape(), ", "),
                          tensors.size(),
                          tensors.empty()
                              ? std::string()
                              : " ('" + tensors.begin()->first + "', ...)"),
              ErrorCode::NOT_FOUND)
            .raise();
      if (entry->second.size() != elementCount(variable.shape()))
        Error(fmt::format("[assign_by_name] variable '{}' is [{}], its tensor "
                          "[{}]: their numbers of elements differ",
                          variable.name(), fmt::join(variable.shape(), ", "),
                          fmt::join(entry->second.shape(), ", ")))
            .raise();
      return entry->second;
    };
    for (const DVariable &variable : variables)
      found(variable);
    for (const DVariable &variable : variables) {
      Tensor value = found(variable);
      if (value.shape() != variable.shape())
        value = reshape(value, variable.shape());
      if (value.dtype() != variable.dtype())
        value = cast(value, variable.dtype());
      Tensor old = variable.read_value();
      variable.assign(is_dtensor(old) ? distribute(value, variable.layout())
                                      : value);
    }
  });
}

} // namespace meshloom::data
