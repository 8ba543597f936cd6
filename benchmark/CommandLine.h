// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of a benchmark: options in the form --name=value, or --name
// alone. A CLI library of templates takes longer to compile than most
// benchmarks.
#pragma once

#include "meshloom/Core/Result.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshloom::peers {

/// Every read takes an option out of the words; what is left at the end is
/// somebody else's, or a mistake. Names are given with their dashes.
class CommandLine {
public:
  CommandLine(int argc, char **argv) : words(argv + 1, argv + argc) {}

  /// Reads "--name=value"; without it `value` stays as it is.
  void read(const std::string &name, std::string &value) {
    if (std::optional<std::string> text = take(name + "="))
      value = *text;
  }
  /// \throws Error where the value is no whole number
  void read(const std::string &name, int64_t &value) {
    const std::optional<std::string> text = take(name + "=");
    if (!text)
      return;
    const char *end = text->data() + text->size();
    const auto [last, error] = std::from_chars(text->data(), end, value);
    if (error != std::errc() || last != end)
      throw Error("expected a whole number as " + name + ", got \"" + *text +
                  "\"");
  }
  /// "--name" alone sets `flag`.
  void read(const std::string &name, bool &flag) {
    const size_t before = words.size();
    std::erase(words, name);
    flag |= words.size() < before;
  }
  /// The first word that is no option, such as a case's name; empty: none.
  std::string positional() {
    for (size_t i = 0; i < words.size(); ++i)
      if (!words[i].starts_with("--")) {
        std::string word = words[i];
        words.erase(words.begin() + int64_t(i));
        return word;
      }
    return "";
  }
  /// \throws Error where a word was not read
  void end() const {
    if (!words.empty())
      throw Error("unknown option \"" + words.front() + "\"");
  }

private:
  /// Takes the last word that begins with `prefix`, and returns the text that
  /// follows.
  std::optional<std::string> take(const std::string &prefix) {
    std::optional<std::string> text;
    std::erase_if(words, [&](const std::string &word) {
      if (!word.starts_with(prefix))
        return false;
      text = word.substr(prefix.size());
      return true;
    });
    return text;
  }

  std::vector<std::string> words;
};

} // namespace meshloom::peers
