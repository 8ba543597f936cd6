// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values as text: on the standard output, one line a call, and in the errors of
// checks.
#include "meshloom/Runtime/DebugPrint.h"

#include "meshloom/Runtime/HalfFloats.h"

#include <complex>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// The call shows only the two ends of each dim of a tensor with more elements.
constexpr int64_t mostElements = 1000, edge = 3;

template <typename T> T read(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

std::string textOf(DType type, const char *element) {
  auto complex = [](auto value) {
    return fmt::format("{:.6g}{:+.6g}j", value.real(), value.imag());
  };
  switch (type) {
  case DType::F32:
    return fmt::format("{:.6g}", read<float>(element));
  case DType::F64:
    return fmt::format("{:.6g}", read<double>(element));
  case DType::BF16:
    return fmt::format("{:.6g}", BF16::widen(read<uint16_t>(element)));
  case DType::F16:
    return fmt::format("{:.6g}", F16::widen(read<uint16_t>(element)));
  case DType::C64:
    return complex(read<std::complex<float>>(element));
  case DType::C128:
    return complex(read<std::complex<double>>(element));
  case DType::I1:
    return *element ? "True" : "False";
  case DType::I8:
    return std::to_string(read<int8_t>(element));
  case DType::I16:
    return std::to_string(read<int16_t>(element));
  case DType::I32:
    return std::to_string(read<int32_t>(element));
  case DType::I64:
    return std::to_string(read<int64_t>(element));
  case DType::UI8:
    return std::to_string(read<uint8_t>(element));
  case DType::UI16:
    return std::to_string(read<uint16_t>(element));
  case DType::UI32:
    return std::to_string(read<uint32_t>(element));
  case DType::UI64:
    return std::to_string(read<uint64_t>(element));
  }
  return "?";
}

/// The part of `value` from dim `dim` on, at `data`, in brackets as NumPy has
/// them.
void write(std::string &text, const CustomOperand &value, size_t dim,
           const char *data, bool isWhole) {
  if (dim == value.shape.size()) {
    text += textOf(value.type, data);
    return;
  }
  const int64_t extent = value.shape[dim];
  const int64_t stride = value.strides[dim] * byteWidth(value.type);
  // Lines of the innermost dim are below each other.
  const bool innermost = dim + 1 == value.shape.size();
  const std::string separator =
      innermost ? " " : "\n" + std::string(dim + 1, ' ');
  text += '[';
  for (int64_t i = 0; i < extent; ++i) {
    if (i > 0)
      text += separator;
    if (!isWhole && extent > 2 * edge && i == edge) {
      text += "...";
      i = extent - edge - 1;
      continue;
    }
    write(text, value, dim + 1, data + i * stride, isWhole);
  }
  text += ']';
}

/// The call's config with inputs from number `next` on in place of each `{}`.
std::string formatted(const CustomCall &call, size_t next) {
  std::string line;
  const std::string_view format = call.config;
  for (size_t position = 0; position < format.size(); ++position) {
    const std::string_view two = format.substr(position, 2);
    if (two == "{}" && next < call.inputs.size()) {
      const CustomOperand &value = call.inputs[next++];
      write(line, value, 0, static_cast<const char *>(value.data),
            elementCount(value.shape) <= mostElements);
      ++position;
    } else {
      line += format[position];
      position += two == "{{" || two == "}}";
    }
  }
  return line;
}

Status print(const CustomCall &call) {
  const std::string line = formatted(call, 0) + '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
  return Success();
}

Status expectHolds(const CustomCall &call) {
  if (call.inputs.empty())
    return Error("a check needs a condition");
  if (read<int8_t>(call.inputs[0].data))
    return Success();
  return Error(formatted(call, 1));
}
} // namespace

std::shared_ptr<const CustomTarget> meshloom::debugPrint() {
  static const auto &target = *new std::shared_ptr<const CustomTarget>(
      std::make_shared<const CustomTarget>(CustomTarget{"", print}));
  return target;
}

std::shared_ptr<const CustomTarget> meshloom::assertion() {
  static const auto &target = *new std::shared_ptr<const CustomTarget>(
      std::make_shared<const CustomTarget>(CustomTarget{"", expectHolds}));
  return target;
}
