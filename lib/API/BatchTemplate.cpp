// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparing the texts of programs, see BatchTemplate.h.
//
// In a template a hole is between the characters 1 and 2:
//   i a c d   the integer (a B + c) / d
//   q c       the float c / B
//   p c       the float c B
#include "BatchTemplate.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <sstream>
#include <vector>

namespace meshloom::detail {
namespace {

constexpr char opening = '\1', closing = '\2';

struct Token {
  enum class Kind : uint8_t { Other, Integer, Float } kind;
  std::string_view text;
};

bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}

/// Strings are whole tokens, as are numbers; everything else is a token up to
/// the next of those.
std::vector<Token> tokensOf(std::string_view text) {
  std::vector<Token> tokens;
  size_t i = 0;
  auto digits = [&] {
    while (i < text.size() && isDigit(text[i]))
      ++i;
  };
  while (i < text.size()) {
    const size_t begin = i;
    Token::Kind kind = Token::Kind::Other;
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\')
          ++i;
      ++i;
    } else if (isDigit(text[i])) {
      kind = Token::Kind::Integer;
      digits();
      if (i + 1 < text.size() && text[i] == '.' && isDigit(text[i + 1])) {
        kind = Token::Kind::Float;
        ++i;
        digits();
        if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E')) {
          i += text[i + 1] == '-' || text[i + 1] == '+' ? 2 : 1;
          digits();
        }
      }
    } else {
      while (i < text.size() && text[i] != '"' && !isDigit(text[i]))
        ++i;
    }
    i = std::min(i, text.size());
    tokens.push_back({kind, text.substr(begin, i - begin)});
  }
  return tokens;
}

std::optional<int64_t> integerOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}
double floatOf(std::string_view text) {
  return std::strtod(std::string(text).c_str(), nullptr);
}
/// With a point, as MLIR reads it.
std::string floatText(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find('.') == std::string::npos) {
    const size_t exponent = text.find('e');
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  return text;
}
bool areNear(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}
/// A number that was rounded to f32, if it is near an integer that integer.
double unrounded(double value) {
  return areNear(value, std::round(value)) ? std::round(value) : value;
}

/// The hole for numbers that differ; none: they follow from no size.
std::optional<std::string> holeOf(const Token &first, const Token &second) {
  const auto [size, otherSize, last] = BatchTemplate::sizes;
  if (first.kind == Token::Kind::Integer) {
    const std::optional<int64_t> a = integerOf(first.text),
                                 b = integerOf(second.text);
    if (!a || !b)
      return std::nullopt;
    const int64_t common = std::gcd(*b - *a, otherSize - size);
    const int64_t slope = (*b - *a) / common,
                  divisor = (otherSize - size) / common;
    return fmt::format("{}i {} {} {}{}", opening, slope,
                       *a * divisor - slope * size, divisor, closing);
  }
  const double a = floatOf(first.text), b = floatOf(second.text);
  if (areNear(a * double(size), b * double(otherSize)))
    return fmt::format("{}q {}{}", opening, unrounded(a * double(size)),
                       closing);
  if (areNear(a / double(size), b / double(otherSize)))
    return fmt::format("{}p {}{}", opening, unrounded(a / double(size)),
                       closing);
  return std::nullopt;
}

Error differ(std::string_view first, std::string_view second, int64_t size) {
  return Error(
      fmt::format("its program does not follow from the size of the batch: for "
                  "{} examples its program has '{}', for {} it has '{}'",
                  BatchTemplate::sizes[0], first.substr(0, 60), size,
                  second.substr(0, 60)));
}

} // namespace

Result<BatchTemplate> BatchTemplate::of(std::string_view first,
                                        std::string_view second,
                                        std::string_view third,
                                        int64_t thirdSize) {
  const std::vector<Token> a = tokensOf(first), b = tokensOf(second);
  std::string text;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].text == b[i].text) {
      text += a[i].text;
      continue;
    }
    std::optional<std::string> hole;
    if (a[i].kind == b[i].kind && a[i].kind != Token::Kind::Other)
      hole = holeOf(a[i], b[i]);
    if (!hole)
      return differ(a[i].text, b[i].text, sizes[1]);
    text += *hole;
  }
  if (a.size() != b.size())
    return differ("more or fewer steps", "others", sizes[1]);
  BatchTemplate result(std::move(text));
  Result<std::string> proof = result.forSize(thirdSize);
  if (!proof)
    return proof.error();
  const std::vector<Token> expected = tokensOf(third), got = tokensOf(*proof);
  for (size_t i = 0; i < std::min(expected.size(), got.size()); ++i)
    if (expected[i].text != got[i].text &&
        !(expected[i].kind == Token::Kind::Float &&
          got[i].kind == Token::Kind::Float &&
          areNear(floatOf(expected[i].text), floatOf(got[i].text))))
      return differ(a[std::min(i, a.size() - 1)].text, expected[i].text,
                    thirdSize);
  if (expected.size() != got.size())
    return differ("more or fewer steps", "others", thirdSize);
  return result;
}

Result<std::string> BatchTemplate::forSize(int64_t size) const {
  std::string text;
  for (size_t i = 0; i < holes.size();) {
    const size_t begin = holes.find(opening, i);
    text += std::string_view(holes).substr(i, begin - i);
    if (begin == std::string::npos)
      break;
    const size_t end = holes.find(closing, begin);
    if (end == std::string::npos)
      return Error("the template of a program is damaged",
                   ErrorCode::DATA_LOSS);
    std::istringstream hole(holes.substr(begin + 1, end - begin - 1));
    char kind = 0;
    hole >> kind;
    if (kind == 'i') {
      int64_t slope = 0, offset = 0, divisor = 1;
      hole >> slope >> offset >> divisor;
      if (!hole || divisor <= 0)
        return Error("the template of a program is damaged",
                     ErrorCode::DATA_LOSS);
      if ((slope * size + offset) % divisor != 0)
        return Error(fmt::format("expected a batch that is a multiple of {}, "
                                 "got {}",
                                 divisor, size));
      text += std::to_string((slope * size + offset) / divisor);
    } else {
      double number = 0;
      hole >> number;
      if (!hole || (kind != 'q' && kind != 'p'))
        return Error("the template of a program is damaged",
                     ErrorCode::DATA_LOSS);
      text += floatText(kind == 'q' ? number / double(size)
                                    : number * double(size));
    }
    i = end + 1;
  }
  return text;
}

} // namespace meshloom::detail
