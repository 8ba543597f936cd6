// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program text before it is parsed: blanks what newer releases write at the
// ends of location ranges, packs truth values that they write as bytes, writes
// lists of older ones as arrays, finds element types that we cannot read and
// what would be too much for the parser.

#include "meshloom/Dialect/StableHLO/SourceText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

using llvm::StringRef;

/// Drops `prefix` and then digits; whether both were there.
static bool dropNumber(StringRef &text, StringRef prefix) {
  if (!text.consume_front(prefix))
    return false;
  StringRef remaining = text.drop_while(llvm::isDigit);
  bool some = remaining.size() < text.size();
  text = remaining;
  return some;
}

/// The length of ` to :9` or ` to 4:9` at the front of `text`, or 0.
static size_t rangeEnd(StringRef text) {
  StringRef remaining = text;
  if (!remaining.consume_front(" to "))
    return 0;
  remaining = remaining.drop_while(llvm::isDigit);
  return dropNumber(remaining, ":") ? text.size() - remaining.size() : 0;
}

/// Returns the `dense<[1, 2]> : tensor<2xi64>` at the front of `text` as an
/// array, `array<i64: 1, 2>`, and drops it; empty where there is none.
static std::string takeDenseList(StringRef &text) {
  StringRef remaining = text;
  if (!remaining.consume_front("dense<"))
    return {};
  auto [numbers, type] = remaining.split("> : tensor<");
  size_t end = type.find('>');
  auto [extent, element] = type.take_front(end).split('x');
  unsigned count = 0;
  constexpr unsigned most = 64; // no tensor has as many dims
  bool isList = numbers.consume_front("[") && numbers.consume_back("]");
  if (end == StringRef::npos || extent.getAsInteger(10, count) ||
      count > most || (element != "i64" && element != "i1") ||
      numbers.find_first_of("<>[]{}\"\n") != StringRef::npos)
    return {};
  std::string list = "array<" + element.str();
  for (unsigned i = 0; i < (isList ? 1 : count); ++i)
    list += (i == 0 ? ": " : ", ") + numbers.str();
  text = type.drop_front(end + 1);
  return list + ">";
}

/// Lists of dims that were elements until early 2024.
static constexpr llvm::StringLiteral listNames[] = {
    "base_dilations",   "broadcast_dimensions", "broadcast_sizes",
    "dimensions",       "edge_padding_high",    "edge_padding_low",
    "fft_length",       "interior_padding",     "lhs_dilation",
    "limit_indices",    "permutation",          "rhs_dilation",
    "slice_sizes",      "start_indices",        "strides",
    "window_dilations", "window_dimensions",    "window_reversal",
    "window_strides"};

/// `text` with those lists as arrays.
static std::string withArrays(StringRef text) {
  constexpr StringRef sign = " = dense<";
  std::string result;
  for (size_t place; (place = text.find(sign)) != StringRef::npos;) {
    StringRef before = text.take_front(place);
    bool isList = llvm::any_of(listNames, [&](StringRef name) {
      StringRef candidate = before;
      return candidate.consume_back(name) &&
             (candidate.ends_with(" ") || candidate.ends_with("{"));
    });
    size_t begin = place + StringRef(" = ").size();
    result += text.take_front(begin);
    text = text.drop_front(begin);
    if (isList)
      result += takeDenseList(text);
  }
  return result + text.str();
}

/// The number of elements of the `2x3xi1` before a '>' at the front of `text`;
/// 0 where it is another type.
static uint64_t countOfTruths(StringRef text) {
  StringRef extents = text.take_until([](char c) { return c == '>'; });
  if (!extents.consume_back("xi1"))
    return 0;
  uint64_t count = 1;
  while (!extents.empty()) {
    auto [first, others] = extents.split('x');
    uint64_t extent = 0;
    constexpr uint64_t most = uint64_t(1) << 31;
    if (first.getAsInteger(10, extent) || extent > most || count > most)
      return 0;
    count *= extent;
    extents = others;
  }
  return count;
}

/// `text` with the elements of i1 that are written as digits,
/// `dense<"0x0100"> : tensor<2xi1>`, eight in a byte. Releases of MLIR since
/// 2025 write one in a byte.
static std::string withPackedTruths(StringRef text) {
  constexpr StringRef begin = "dense<\"0x", end = "\"> : tensor<";
  std::string result;
  for (size_t place; (place = text.find(begin)) != StringRef::npos;) {
    result += text.take_front(place + begin.size());
    text = text.drop_front(place + begin.size());
    StringRef digits = text.take_while(llvm::isHexDigit);
    StringRef type = text.drop_front(digits.size());
    const size_t count = digits.size() / 2;
    if (count < 2 || !type.consume_front(end) || countOfTruths(type) != count)
      continue;
    std::string bytes((count + 7) / 8, 0);
    for (size_t i = 0; i < count; ++i)
      if (digits.substr(2 * i, 2) != "00")
        bytes[i / 8] |= char(1 << (i % 8));
    result += llvm::toHex(bytes);
    text = text.drop_front(digits.size());
  }
  return result + text.str();
}

std::unique_ptr<llvm::MemoryBuffer> meshloom::readableSource(StringRef source,
                                                             StringRef name) {
  std::string copy = withPackedTruths(withArrays(source));
  StringRef text = copy;
  // Editors on Windows begin a file of UTF-8 with a mark that says so.
  if (text.starts_with("\xef\xbb\xbf"))
    std::fill_n(copy.begin(), 3, ' ');
  // A range follows a file's name: `"f.py":3:5 to :9`.
  for (size_t quote = text.find('"'); quote != StringRef::npos;
       quote = text.find('"', quote + 1)) {
    StringRef remaining = text.drop_front(quote + 1);
    if (!dropNumber(remaining, ":") || !dropNumber(remaining, ":"))
      continue;
    size_t begin = text.size() - remaining.size();
    std::fill_n(copy.begin() + ptrdiff_t(begin), rangeEnd(remaining), ' ');
  }
  return llvm::MemoryBuffer::getMemBufferCopy(copy, name);
}

StringRef meshloom::unreadableElementType(StringRef text) {
  for (StringRef type :
       {"f8E8M0FNU", "f8E3M4", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"})
    for (size_t place = text.find(type); place != StringRef::npos;
         place = text.find(type, place + 1)) {
      // `tensor<4xf8E3M4>`
      StringRef before = text.take_front(place);
      StringRef after = text.drop_front(place + type.size());
      if ((before.ends_with("x") || before.ends_with("<")) &&
          (after.starts_with(">") || after.starts_with(",")))
        return type;
    }
  return {};
}

/// Returns whether `text`, which begins with '#', is the number of a result
/// that no op has.
static bool isResultTooHigh(StringRef text) {
  constexpr uint64_t most = 1 << 20;
  StringRef digits = text.drop_front().take_while(llvm::isDigit);
  uint64_t number = 0;
  return !digits.empty() && (digits.getAsInteger(10, number) || number > most);
}

namespace {
/// How deep brackets nest, with what aliases (`#a = ...`, `!t = ...`) stand
/// for, and how many there would be if that were written out: an alias of an
/// alias of ... nests deeper than any bracket does, and one that has the one
/// before it twice is twice as long.
class Nesting {
public:
  /// At an opening bracket. Counts an opening bracket.
  std::string open() { return ++depth > deepest ? tooDeep() : add({0, 1}); }
  /// At a closing bracket.
  void close() { depth -= depth > 0; }
  /// At the end of a line: aliases are defined outside of brackets.
  void endLine() {
    if (depth == 0)
      defined = {};
  }
  /// At '#' or '!', with which `text` begins: the name of an alias or not.
  std::string name(StringRef text, bool beginsLine) {
    auto isOfName = [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '$' || c == '-' || c == '.';
    };
    StringRef name =
        text.take_front(1 + text.drop_front().take_while(isOfName).size());
    if (beginsLine && depth == 0 &&
        text.drop_front(name.size()).ltrim(" \t").starts_with("=")) {
      defined = name;
      sizes[name] = {};
      return {};
    }
    auto size = sizes.find(name);
    return size == sizes.end() ? std::string() : add(size->second);
  }

private:
  /// The size of the text that an alias stands for.
  struct Size {
    unsigned depth = 0;
    uint64_t brackets = 0;
  };

  static std::string tooDeep() {
    return "brackets nest more than " + std::to_string(deepest) + " deep";
  }
  std::string add(Size size) {
    if (size.depth > deepestAlias)
      return "aliases nest more than " + std::to_string(deepestAlias) + " deep";
    if (defined.empty())
      return {};
    Size &ofAlias = sizes[defined];
    ofAlias.depth = std::max(ofAlias.depth, depth + size.depth);
    ofAlias.brackets += size.brackets;
    return ofAlias.brackets <= mostBrackets
               ? std::string()
               : "alias '" + defined.str() + "' stands for more than " +
                     std::to_string(mostBrackets) + " brackets";
  }

  // Parsers, verifiers and passes call themselves for each level. Locations
  // hold the frames of a call, in aliases: Python has some 1,000 of them.
  static constexpr unsigned deepest = 256, deepestAlias = 4096;
  static constexpr uint64_t mostBrackets = uint64_t(1) << 24;
  unsigned depth = 0;
  StringRef defined; ///< the alias whose definition this is; may be empty
  llvm::StringMap<Size> sizes;
};
} // namespace

std::optional<meshloom::SourceFault> meshloom::sourceFault(StringRef text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return SourceFault{1, "the file is UTF-16, as PowerShell's '>' writes it; "
                          "expected UTF-8"};
  if (!text.starts_with("ML\xefR") && text.contains('\0'))
    return SourceFault{1, "the file is binary; expected the text of a program, "
                          "or a portable artifact of StableHLO"};
  Nesting nesting;
  unsigned line = 1;
  bool beginsLine = true; // only spaces so far
  for (size_t place = 0; place < text.size(); ++place) {
    std::string fault;
    const char c = text[place];
    switch (c) {
    case '"':
      // Brackets in text are none. A string ends on its line.
      for (++place;
           place < text.size() && text[place] != '"' && text[place] != '\n';
           ++place)
        place += text[place] == '\\';
      line += place < text.size() && text[place] == '\n';
      break;
    case '/':
      if (text.substr(place).starts_with("//"))
        place = std::min(text.find('\n', place), text.size()) - 1;
      break;
    case '-':
      place += text.substr(place).starts_with("->");
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      fault = nesting.open();
      break;
    case '#':
      if (isResultTooHigh(text.substr(place)))
        fault = "no op has a result of such a number";
      else
        fault = nesting.name(text.substr(place), beginsLine);
      break;
    case '!':
      fault = nesting.name(text.substr(place), beginsLine);
      break;
    case ')':
    case ']':
    case '}':
    case '>':
      nesting.close();
      break;
    default:
      break;
    }
    if (!fault.empty())
      return SourceFault{line, fault};
    if (c == '\n') {
      ++line;
      nesting.endLine();
      beginsLine = true;
    } else if (!llvm::isSpace(c)) {
      beginsLine = false;
    }
  }
  return std::nullopt;
}
