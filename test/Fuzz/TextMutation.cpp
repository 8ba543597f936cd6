// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits programs into tokens, changes some and joins them again.
#include "TextMutation.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

namespace meshloom::fuzz {
namespace {

using Random = std::mt19937_64;
using Tokens = std::vector<std::string>;

bool isWord(char c) {
  return std::isalnum(uint8_t(c)) || c == '_' || c == '.';
}

/// Words, numbers, strings, single signs and runs of blanks.
Tokens tokensOf(const std::string &text) {
  Tokens list;
  auto kind = [](char c) {
    if (isWord(c))
      return 0;
    return std::isspace(uint8_t(c)) ? 1 : 2;
  };
  for (char c : text)
    if (!list.empty() && kind(c) < 2 && kind(list.back().back()) == kind(c))
      list.back() += c;
    else
      list.emplace_back(1, c);
  return list;
}

const char *const words[] = {
    "0",
    "1",
    "-1",
    "2",
    "7",
    "9223372036854775807",
    "-9223372036854775808",
    "4611686018427387904",
    "2147483648",
    "x",
    "y",
    "batch",
    "*",
    "sum",
    "partial",
    "dtensor.",
    "stablehlo.",
    "#mesh",
    "f32",
    "f64",
    "i1",
    "i8",
    "ui8",
    "bf16",
    "f16",
    "complex<f32>",
    "tensor<f32>",
    "tensor<0xf32>",
    "tensor<2x0xf32>",
    "tensor<4xf32>",
    "tensor<8x4xf32>",
    "tensor<9223372036854775807xi8>",
    "tensor<i1>",
    "tuple<tensor<f32>>",
    "?",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "(",
    ")",
    ":",
    "->",
    ",",
    "dims",
    "i32",
    "8",
    "true",
    "array<i64>",
    "array<i64: -1>",
    "array<i64: 0, 0>",
    "dense<0>",
    "dense<[[0, 1]]>",
    "unit",
    "\"\"",
};

size_t below(Random &random, size_t bound) {
  return size_t(random() % bound);
}

void changeToken(Tokens &list, const Tokens &donor, Random &random) {
  size_t position = below(random, list.size()),
         other = below(random, list.size());
  switch (below(random, 8)) {
  case 0:
    if (list.size() > 1)
      list.erase(list.begin() + ptrdiff_t(position));
    break;
  case 1:
    list.insert(list.begin() + ptrdiff_t(position), list[other]);
    break;
  case 2:
    std::swap(list[position], list[other]);
    break;
  case 3:
    list[position] = words[below(random, std::size(words))];
    break;
  case 4:
    list[position] = list[other];
    break;
  case 5:
    list[position] = donor[below(random, donor.size())];
    break;
  default:
    break;
  }
}

/// The next token after a random place that `wanted` takes, if any.
template <typename Predicate>
size_t find(const Tokens &list, Random &random, Predicate wanted) {
  size_t start = below(random, list.size());
  for (size_t i = 0; i < list.size(); ++i)
    if (size_t position = (start + i) % list.size(); wanted(list[position]))
      return position;
  return list.size();
}

/// Numbers decide most of what an op means, and a shape is a word of them.
void changeNumber(Tokens &list, Random &random) {
  size_t position = find(list, random, [](const std::string &token) {
    return std::isdigit(uint8_t(token[0]));
  });
  if (position == list.size())
    return;
  std::string &token = list[position];
  size_t end = 0;
  while (end < token.size() && std::isdigit(uint8_t(token[end])))
    ++end;
  // Another dim of the shape, now and then.
  size_t begin = 0;
  if (size_t next = token.find('x', end);
      next != std::string::npos && next + 1 < token.size() &&
      std::isdigit(uint8_t(token[next + 1])) && below(random, 2)) {
    begin = next + 1;
    end = begin;
    while (end < token.size() && std::isdigit(uint8_t(token[end])))
      ++end;
  }
  std::string number = std::to_string(below(random, 10));
  switch (below(random, 8)) {
  case 0:
    number = "-1";
    break;
  case 1:
    number = "9223372036854775807";
    break;
  case 2:
    number = std::to_string(below(random, 1 << 20));
    break;
  default:
    break;
  }
  token.replace(begin, end - begin, number);
}

/// A name of an op or value in place of another of its kind.
void changeName(Tokens &list, const Tokens &donor, Random &random) {
  auto isOp = [](const std::string &token) {
    return token.starts_with("stablehlo.") || token.starts_with("dtensor.") ||
           token.starts_with("chlo.") || token.starts_with("sdy.");
  };
  auto isName = [](const std::string &token) {
    return std::isalpha(uint8_t(token[0])) != 0;
  };
  bool ops = below(random, 2);
  size_t position = ops ? find(list, random, isOp) : find(list, random, isName);
  const Tokens &from = below(random, 2) ? list : donor;
  size_t other = ops ? find(from, random, isOp) : find(from, random, isName);
  if (position < list.size() && other < from.size())
    list[position] = from[other];
}

/// Lines left out, repeated or exchanged, or another program's.
void changeLines(Tokens &list, const Tokens &donor, Random &random) {
  auto linesOf = [](const Tokens &tokens) {
    std::vector<Tokens> lines(1);
    for (const std::string &token : tokens) {
      lines.back().push_back(token);
      if (token.find('\n') != std::string::npos)
        lines.emplace_back();
    }
    return lines;
  };
  std::vector<Tokens> lines = linesOf(list), others = linesOf(donor);
  size_t position = below(random, lines.size()),
         other = below(random, lines.size());
  switch (below(random, 4)) {
  case 0:
    lines.erase(lines.begin() + ptrdiff_t(position));
    break;
  case 1:
    lines.insert(lines.begin() + ptrdiff_t(position), Tokens(lines[other]));
    break;
  case 2:
    std::swap(lines[position], lines[other]);
    break;
  default:
    lines.insert(lines.begin() + ptrdiff_t(position),
                 others[below(random, others.size())]);
  }
  list.clear();
  for (const Tokens &line : lines)
    list.insert(list.end(), line.begin(), line.end());
}

void change(Tokens &list, const Tokens &donor, Random &random) {
  switch (below(random, 8)) {
  case 0:
  case 1:
    changeToken(list, donor, random);
    break;
  case 2:
    changeLines(list, donor, random);
    break;
  case 3:
  case 4:
    changeName(list, donor, random);
    break;
  default:
    changeNumber(list, random);
  }
}

/// Whether every value is used where it is defined. MLIR's parser (19.1) frees
/// ops that others still refer to where a value is used before the region that
/// defines it, and that region cannot be parsed: what happens then is not ours.
/// Arguments are written `%a: type`, operands `%a : type`.
bool definesBeforeUses(const std::string &text) {
  std::vector<std::set<std::string>> scopes(1);
  size_t functionScope = 0; // that of the function's arguments
  int64_t parentheses = 0;
  for (size_t position = 0; position < text.size(); ++position) {
    parentheses += text[position] == '(' ? 1 : text[position] == ')' ? -1 : 0;
    if (text[position] == '{') {
      scopes.emplace_back();
    } else if (text[position] == '}') {
      if (scopes.size() > 1)
        scopes.pop_back();
      if (scopes.size() == functionScope && parentheses == 0)
        scopes.back().clear(); // the function ends
    } else if (text.compare(position, 9, "func.func") == 0) {
      scopes.assign(scopes.size(), {});
      functionScope = scopes.size();
      parentheses = 0;
    } else if (text[position] == '%') {
      size_t end = position + 1;
      while (end < text.size() && (isWord(text[end]) || text[end] == '-'))
        ++end;
      std::string name = text.substr(position, end - position);
      size_t next = std::min(text.find_first_not_of(" :0123456789,%_#", end),
                             text.size());
      bool assigned = next < text.size() && text[next] == '=';
      if (assigned || (end < text.size() && text[end] == ':'))
        scopes.back().insert(name);
      else if (std::ranges::none_of(scopes, [&](const auto &scope) {
                 return scope.contains(name);
               }))
        return false;
      position = end - 1;
    }
  }
  return true;
}

/// The text without what follows `//` on its lines.
std::string withoutComments(const std::string &text) {
  std::string result;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    quoted ^= text[i] == '"';
    if (!quoted && text.compare(i, 2, "//") == 0)
      i = std::min(text.find('\n', i), text.size());
    if (i < text.size())
      result += text[i];
  }
  return result;
}

} // namespace

/// Whether the program is MLIR's bytecode.
static bool isArtifact(const std::string &program) {
  return program.starts_with("ML\xefR");
}

/// The program with some bytes changed, left out or added.
static std::string withChangedBytes(std::string program, size_t longest,
                                    Random &random) {
  for (size_t changes = 1 + below(random, 4); changes > 0; --changes) {
    const size_t place = below(random, program.size());
    switch (below(random, 4)) {
    case 0:
      program[place] = char(program[place] ^ 1 << below(random, 8));
      break;
    case 1:
      program[place] = char(random());
      break;
    case 2:
      program.insert(place, 1, char(random()));
      break;
    default:
      program.erase(place, 1);
    }
  }
  program.resize(std::min(program.size(), longest));
  return program;
}

std::vector<std::string> programsIn(const std::vector<std::string> &folders,
                                    size_t longest) {
  std::vector<std::filesystem::path> paths;
  for (const std::string &folder : folders) {
    std::error_code failure;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(
             folder, std::filesystem::directory_options::skip_permission_denied,
             failure))
      if (entry.path().extension() == ".mlir" ||
          entry.path().extension() == ".mlirbc")
        paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> programs;
  for (const std::filesystem::path &path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
    if (isArtifact(text)) {
      if (text.size() <= longest)
        programs.push_back(std::move(text));
      continue;
    }
    const std::string separator = "// -----";
    for (size_t begin = 0; begin < text.size();) {
      size_t end = std::min(text.find(separator, begin), text.size());
      std::string program = withoutComments(text.substr(begin, end - begin));
      if (program.size() <= longest &&
          program.find_first_not_of(" \n") != std::string::npos)
        programs.push_back(std::move(program));
      begin = end + separator.size();
    }
  }
  return programs;
}

std::string mutated(const std::vector<std::string> &programs, uint64_t seed,
                    size_t longest) {
  Random random(seed);
  const std::string &program = programs[below(random, programs.size())];
  if (isArtifact(program))
    return withChangedBytes(program, longest, random);
  const Tokens whole = tokensOf(program);
  for (int attempts = 0; attempts < 8 && !whole.empty(); ++attempts) {
    Tokens list = whole;
    Tokens donor = tokensOf(programs[below(random, programs.size())]);
    // One change leaves most programs whole; more reach further.
    size_t count = below(random, 2) ? 1 : 1 + below(random, 3);
    for (size_t changes = count; changes > 0 && !list.empty(); --changes)
      change(list, donor, random);
    std::string text;
    for (const std::string &token : list)
      text += token;
    if (text.size() <= longest && definesBeforeUses(text))
      return text;
  }
  return program;
}

} // namespace meshloom::fuzz
