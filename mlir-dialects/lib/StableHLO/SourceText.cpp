// Program text before it is parsed: blanks what newer releases write at the
// ends of location ranges, writes lists of older ones as arrays, finds element
// types that we cannot read and what would be too much for the parser.

#include "meshloom/Dialect/StableHLO/SourceText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using llvm::StringRef;

/// Drops `prefix` and then digits; whether both were there.
static bool dropNumber(StringRef &text, StringRef prefix) {
  if (!text.consume_front(prefix))
    return false;
  StringRef rest = text.drop_while(llvm::isDigit);
  bool some = rest.size() < text.size();
  text = rest;
  return some;
}

/// The length of ` to :9` or ` to 4:9` at the front of `text`, or 0.
static size_t rangeEnd(StringRef text) {
  StringRef rest = text;
  if (!rest.consume_front(" to "))
    return 0;
  rest = rest.drop_while(llvm::isDigit);
  return dropNumber(rest, ":") ? text.size() - rest.size() : 0;
}

/// What `dense<[1, 2]> : tensor<2xi64>` at the front of `text` is as an array,
/// `array<i64: 1, 2>`, and drops it; empty where there is none.
static std::string takeDenseList(StringRef &text) {
  StringRef rest = text;
  if (!rest.consume_front("dense<"))
    return {};
  auto [numbers, type] = rest.split("> : tensor<");
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
  for (size_t at; (at = text.find(sign)) != StringRef::npos;) {
    StringRef before = text.take_front(at);
    bool isList = llvm::any_of(listNames, [&](StringRef name) {
      StringRef rest = before;
      return rest.consume_back(name) &&
             (rest.ends_with(" ") || rest.ends_with("{"));
    });
    size_t begin = at + StringRef(" = ").size();
    result += text.take_front(begin);
    text = text.drop_front(begin);
    if (isList)
      result += takeDenseList(text);
  }
  return result + text.str();
}

std::unique_ptr<llvm::MemoryBuffer> meshloom::readableSource(StringRef source,
                                                             StringRef name) {
  std::string copy = withArrays(source);
  StringRef text = copy;
  // A range follows a file's name: `"f.py":3:5 to :9`.
  for (size_t at = text.find('"'); at != StringRef::npos;
       at = text.find('"', at + 1)) {
    StringRef rest = text.drop_front(at + 1);
    if (!dropNumber(rest, ":") || !dropNumber(rest, ":"))
      continue;
    size_t begin = text.size() - rest.size();
    std::fill_n(copy.begin() + ptrdiff_t(begin), rangeEnd(rest), ' ');
  }
  return llvm::MemoryBuffer::getMemBufferCopy(copy, name);
}

StringRef meshloom::unreadableElementType(StringRef text) {
  for (StringRef type :
       {"f8E8M0FNU", "f8E3M4", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"})
    for (size_t at = text.find(type); at != StringRef::npos;
         at = text.find(type, at + 1)) {
      // `tensor<4xf8E3M4>`
      StringRef before = text.take_front(at);
      StringRef after = text.drop_front(at + type.size());
      if ((before.ends_with("x") || before.ends_with("<")) &&
          (after.starts_with(">") || after.starts_with(",")))
        return type;
    }
  return {};
}

/// Whether `text`, which begins with '#', is the number of a result that no op
/// has.
static bool isResultTooHigh(StringRef text) {
  constexpr uint64_t most = 1 << 20;
  StringRef digits = text.drop_front().take_while(llvm::isDigit);
  uint64_t number = 0;
  return !digits.empty() && (digits.getAsInteger(10, number) || number > most);
}

std::optional<meshloom::SourceFault> meshloom::sourceFault(StringRef text) {
  constexpr unsigned deepest = 256;
  unsigned depth = 0, line = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
    case '\n':
      ++line;
      break;
    case '"':
      // Brackets in text are none. A string ends on its line.
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        at += text[at] == '\\';
      line += at < text.size() && text[at] == '\n';
      break;
    case '/':
      if (text.substr(at).starts_with("//"))
        at = std::min(text.find('\n', at), text.size()) - 1;
      break;
    case '-':
      at += text.substr(at).starts_with("->");
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      if (++depth > deepest)
        return SourceFault{line, "brackets nest more than " +
                                     std::to_string(deepest) + " deep"};
      break;
    case '#':
      if (isResultTooHigh(text.substr(at)))
        return SourceFault{line, "no op has a result of such a number"};
      break;
    case ')':
    case ']':
    case '}':
    case '>':
      depth -= depth > 0;
      break;
    default:
      break;
    }
  }
  return std::nullopt;
}
