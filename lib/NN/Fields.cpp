// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading of options, see Fields.h.
#include "Fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom::detail {

void ReadFields::expect(bool isFitting, const char *expected,
                        const nn::Config &entry) const {
  if (!isFitting)
    Error(fmt::format("[{}] expected option '{}' to be {}, got {}", part,
                      names.back(), expected, entry.to_json()))
        .raise();
}

void ReadFields::read(const nn::Config &entry, bool &value) const {
  expect(entry.is_bool(), "true or false", entry);
  value = entry.as_bool();
}
void ReadFields::read(const nn::Config &entry, int64_t &value) const {
  expect(entry.is_integer(), "an integer", entry);
  value = entry.as_int();
}
void ReadFields::read(const nn::Config &entry, double &value) const {
  expect(entry.is_number(), "a number", entry);
  value = entry.as_double();
}
void ReadFields::read(const nn::Config &entry, std::string &value) const {
  expect(entry.is_string(), "a text", entry);
  value = entry.as_string();
}

/// The elements of a list; of a value that is not a list the value itself.
static nn::Config::List elementsOf(const nn::Config &entry) {
  return entry.is_list() ? entry.as_list() : nn::Config::List{entry};
}

void ReadFields::read(const nn::Config &entry,
                      std::vector<int64_t> &integers) const {
  integers.clear();
  for (const nn::Config &integer : elementsOf(entry)) {
    expect(integer.is_integer(), "a list of integers", entry);
    integers.push_back(integer.as_int());
  }
}
void ReadFields::read(const nn::Config &entry,
                      std::vector<double> &numbers) const {
  numbers.clear();
  for (const nn::Config &number : elementsOf(entry)) {
    expect(number.is_number(), "a list of numbers", entry);
    numbers.push_back(number.as_double());
  }
}
void ReadFields::read(const nn::Config &entry,
                      std::vector<std::string> &words) const {
  words.clear();
  for (const nn::Config &word : elementsOf(entry)) {
    expect(word.is_string(), "a list of texts", entry);
    words.push_back(word.as_string());
  }
}

void ReadFields::finish() const {
  for (const auto &[name, entry] : config.as_map())
    if (std::ranges::find(names, name) == names.end())
      Error(names.empty() ? fmt::format("[{}] has no option '{}'", part, name)
                          : fmt::format("[{}] has no option '{}'; it has '{}'",
                                        part, name, fmt::join(names, "', '")))
          .raise();
}

} // namespace meshloom::detail
