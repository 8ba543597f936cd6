// Program text before it is parsed: blanks what newer releases write at the
// ends of location ranges, finds element types that we cannot read and what
// would be too much for the parser.

#include "meshloom/Dialect/StableHLO/SourceText.h"

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

std::unique_ptr<llvm::MemoryBuffer> meshloom::readableSource(StringRef text,
                                                             StringRef name) {
  auto buffer =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(text.size(), name);
  llvm::MutableArrayRef<char> copy = buffer->getBuffer();
  std::copy(text.begin(), text.end(), copy.begin());
  // A range follows a file's name: `"f.py":3:5 to :9`.
  for (size_t at = text.find('"'); at != StringRef::npos;
       at = text.find('"', at + 1)) {
    StringRef rest = text.drop_front(at + 1);
    if (!dropNumber(rest, ":") || !dropNumber(rest, ":"))
      continue;
    size_t begin = text.size() - rest.size();
    std::fill_n(copy.begin() + begin, rangeEnd(rest), ' ');
  }
  return buffer;
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
