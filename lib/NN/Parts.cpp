// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading of configs, see Parts.h.
#include "Parts.h"

namespace meshloom::detail {

void ConfigReader::refuse(const std::string &option,
                          const std::string &expected) const {
  throw Error("[" + part + "] expected option '" + option + "' to be " +
              expected);
}

const ConfigReader::Value *ConfigReader::find(const std::string &option) {
  asked.insert(option);
  auto found = config.find(option);
  return found == config.end() ? nullptr : &found->second;
}

double ConfigReader::number(const std::string &option, double otherwise) {
  const Value *value = find(option);
  if (!value)
    return otherwise;
  if (auto *real = std::get_if<double>(value))
    return *real;
  if (auto *integer = std::get_if<int64_t>(value))
    return double(*integer);
  refuse(option, "a number");
}

int64_t ConfigReader::integer(const std::string &option, int64_t otherwise) {
  const Value *value = find(option);
  if (!value)
    return otherwise;
  if (auto *integer = std::get_if<int64_t>(value))
    return *integer;
  refuse(option, "an integer");
}

bool ConfigReader::flag(const std::string &option, bool otherwise) {
  const Value *value = find(option);
  if (!value)
    return otherwise;
  if (auto *flag = std::get_if<bool>(value))
    return *flag;
  refuse(option, "true or false");
}

std::string ConfigReader::word(const std::string &option,
                               const std::string &otherwise) {
  const Value *value = find(option);
  if (!value)
    return otherwise;
  if (auto *text = std::get_if<std::string>(value))
    return *text;
  refuse(option, "a string");
}

std::vector<int64_t>
ConfigReader::integers(const std::string &option,
                       const std::vector<int64_t> &otherwise) {
  const Value *value = find(option);
  if (!value)
    return otherwise;
  if (auto *all = std::get_if<std::vector<int64_t>>(value))
    return *all;
  if (auto *integer = std::get_if<int64_t>(value))
    return {*integer};
  refuse(option, "a list of integers");
}

std::vector<double>
ConfigReader::numbers(const std::string &option,
                      const std::vector<double> &otherwise) {
  const Value *value = find(option);
  if (!value)
    return otherwise;
  if (auto *all = std::get_if<std::vector<double>>(value))
    return *all;
  if (auto *whole = std::get_if<std::vector<int64_t>>(value))
    return std::vector<double>(whole->begin(), whole->end());
  refuse(option, "a list of numbers");
}

void ConfigReader::finish() const {
  for (auto &[option, value] : config) {
    if (asked.contains(option))
      continue;
    std::string message = "[" + part + "] has no option '" + option + "'";
    if (!asked.empty()) {
      message += "; it has";
      const char *before = " '";
      for (auto &name : asked) {
        message += before + name + "'";
        before = ", '";
      }
    }
    throw Error(message);
  }
}

} // namespace meshloom::detail
