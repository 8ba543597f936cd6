// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The .npy format (numpy.lib.format): the magic word, a version, the length of
// the header, the header as a Python dict literal, the elements.
#include "meshloom/Support/Npy.h"

#include "meshloom/Support/File.h"
#include "meshloom/Support/FileKind.h"

#include <cassert>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace meshloom {

static constexpr std::string_view npyMagic = "\x93NUMPY";

namespace {

struct TypeCode {
  DType type;
  std::string_view code; ///< without the byte order
};
constexpr TypeCode typeCodes[] = {
    {DType::F32, "f4"},
    {DType::F64, "f8"},
    {DType::BF16, "V2"},
    {DType::I1, "b1"},
    {DType::I8, "i1"},
    {DType::I32, "i4"},
    {DType::I64, "i8"},
    {DType::UI8, "u1"},
    {DType::UI32, "u4"},
    {DType::F16, "f2"},
    {DType::I16, "i2"},
    {DType::UI16, "u2"},
    {DType::UI64, "u8"},
    {DType::C64, "c8"},
    {DType::C128, "c16"},
    // ml_dtypes' numbers of one byte or less: f8, int4. Read as bytes only.
    {DType::UI8, "V1"},
    {DType::UI8, "f1"}};

/// The fields of a header.
struct Header {
  std::string descr;
  bool fortranOrder = false;
  Shape shape;
};

/// Reads the subset of Python literals that NumPy writes into headers: a dict
/// of strings, booleans and tuples of integers.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Result<Header> parse() {
    Header header;
    bool seen[3] = {};
    if (!take('{'))
      return Error("its header is not a dict");
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':'))
        return Error("its header is damaged");
      bool good = false;
      if (key == "descr") {
        skip();
        if (!text.empty() && text.front() == '[')
          return Error("it holds records, expected one plain type");
        good = string(header.descr) && !std::exchange(seen[0], true);
      } else if (key == "fortran_order") {
        good = boolean(header.fortranOrder) && !std::exchange(seen[1], true);
      } else if (key == "shape") {
        good = tuple(header.shape) && !std::exchange(seen[2], true);
      }
      if (!good)
        return Error(fmt::format("its header's entry '{}' is wrong", key));
      take(',');
    }
    if (!seen[0] || !seen[1] || !seen[2])
      return Error("its header lacks descr, fortran_order or shape");
    return header;
  }

private:
  void skip() {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n'))
      text.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (text.empty() || text.front() != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected) {
    skip();
    if (!text.starts_with(expected))
      return false;
    text.remove_prefix(expected.size());
    return true;
  }
  bool string(std::string &value) {
    skip();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return false;
    size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos)
      return false;
    value = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return true;
  }
  bool boolean(bool &value) {
    value = word("True");
    return value || word("False");
  }
  bool integer(int64_t &value) {
    skip();
    value = 0;
    size_t digits = 0;
    for (; digits < text.size() && std::isdigit(text[digits]); ++digits) {
      if (value > (std::numeric_limits<int64_t>::max() - 9) / 10)
        return false;
      value = value * 10 + (text[digits] - '0');
    }
    text.remove_prefix(digits);
    word("L"); // Python 2 wrote 3L
    return digits > 0;
  }
  bool tuple(Shape &shape) {
    if (!take('('))
      return false;
    while (!take(')')) {
      int64_t extent;
      if (!integer(extent))
        return false;
      shape.push_back(extent);
      if (!take(',')) {
        if (!take(')'))
          return false;
        break;
      }
    }
    return true;
  }

  std::string_view text;
};

} // namespace

/// The type of a descr such as "<f4"; fails with the reason.
static Result<DType> typeOf(const std::string &descr) {
  std::string_view code = descr;
  char order = '|';
  if (!code.empty() && std::strchr("<>=|", code.front())) {
    order = code.front();
    code.remove_prefix(1);
  }
  for (TypeCode entry : typeCodes)
    if (entry.code == code) {
      if (order == '>' && byteWidth(entry.type) > 1)
        return Error(fmt::format("its elements are big endian ('{}'); save it "
                                 "with .astype('<{}')",
                                 descr, code));
      return entry.type;
    }
  return Error(fmt::format("its type '{}' is not supported: expected f2, f4, "
                           "f8, c8, c16, i1, i2, i4, i8, u1, u2, u4, u8, b1, "
                           "or V2 for bf16",
                           descr));
}

/// Fortran order to C order: element by element, dims counted like an odometer.
static std::vector<char> toRowMajor(std::string_view data, const Shape &shape,
                                    size_t width) {
  std::vector<char> result(data.size());
  std::vector<size_t> strides(shape.size());
  size_t stride = width;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    strides[dim] = stride;
    stride *= size_t(shape[dim]);
  }
  Shape index(shape.size());
  size_t from = 0;
  for (size_t to = 0; to < result.size(); to += width) {
    std::memcpy(&result[to], &data[from], width);
    for (size_t dim = shape.size(); dim-- > 0;) {
      from += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      from -= strides[dim] * size_t(shape[dim]);
      index[dim] = 0;
    }
  }
  return result;
}

Result<NpyArray> parseNpy(std::string_view file, std::string_view path) {
  auto wrong = [&](const std::string &why) {
    return Error(fmt::format("cannot use '{}': {}", path, why));
  };
  if (file.starts_with("PK\3\4"))
    return wrong("it is a zip archive, as .npz files are: data::load_npz "
                 "reads those");
  if (!file.starts_with(npyMagic))
    return wrong("it is not a .npy file" + kindHint(file));
  std::string_view remaining = file.substr(npyMagic.size());
  if (remaining.size() < 2)
    return wrong("it is cut off in its header");
  unsigned version = uint8_t(remaining[0]);
  remaining.remove_prefix(2);
  if (version < 1 || version > 3)
    return wrong(
        fmt::format("it is of .npy version {}, expected 1 to 3", version));
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (remaining.size() < lengthBytes)
    return wrong("it is cut off in its header");
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(uint8_t(remaining[i])) << (8 * i);
  remaining.remove_prefix(lengthBytes);
  if (remaining.size() < length)
    return wrong("it is cut off in its header");

  Result<Header> header = HeaderParser(remaining.substr(0, length)).parse();
  if (!header)
    return wrong(header.error().message());
  std::string_view data = remaining.substr(length);
  Result<DType> type = typeOf(header->descr);
  if (!type)
    return wrong(type.error().message());
  __int128 expected = byteWidth(*type);
  bool empty = false;
  for (int64_t extent : header->shape) {
    empty |= extent == 0;
    // Capped: only that it is too large matters.
    expected = std::min(expected * std::max<int64_t>(extent, 1),
                        __int128(std::numeric_limits<int64_t>::max()));
  }
  if (empty)
    expected = 0;
  if (data.size() != size_t(expected))
    return wrong(
        fmt::format("shape ({}) of {} takes {} bytes, the file holds {}",
                    fmt::join(header->shape, ", "), name(*type),
                    int64_t(expected), data.size()));

  NpyArray array{*type, header->shape, {}};
  array.isUnnamed = *type == DType::UI8 && !header->descr.ends_with("u1");
  if (header->fortranOrder && array.shape.size() > 1)
    array.bytes = toRowMajor(data, array.shape, byteWidth(*type));
  else
    array.bytes.assign(data.begin(), data.end());
  if (array.type == DType::I1)
    for (char &byte : array.bytes)
      byte = byte != 0;
  return array;
}

Result<NpyArray> readNpy(const std::string &path) {
  Result<std::string> file = readFile(path);
  if (!file)
    return file.error();
  return parseNpy(*file, path);
}

std::string formatNpy(DType type, const Shape &shape,
                      std::span<const char> bytes) {
  assert(int64_t(bytes.size()) == elementCount(shape) * byteWidth(type));
  std::string_view code;
  for (TypeCode entry : typeCodes)
    if (entry.type == type && code.empty())
      code = entry.code;
  bool ordered = byteWidth(type) > 1 && type != DType::BF16;
  // A tuple of one has a trailing comma in Python.
  std::string header = fmt::format(
      "{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
      ordered ? '<' : '|', code, fmt::join(shape, ", "),
      shape.size() == 1 ? "," : "");
  // Elements start at a multiple of 64.
  size_t fixed = npyMagic.size() + 4;
  header.append(63 - (fixed + header.size()) % 64, ' ');
  header += '\n';
  std::string file(npyMagic);
  file += '\x01';
  file += '\0';
  file += char(header.size() & 0xff);
  file += char(header.size() >> 8);
  file += header;
  file.append(bytes.data(), bytes.size());
  return file;
}

Status writeNpy(const std::string &path, DType type, const Shape &shape,
                std::span<const char> bytes) {
  return writeFile(path, formatNpy(type, shape, bytes));
}

} // namespace meshloom
