// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StandInState.h"

#include <charconv>

namespace meshloom::cuda {

namespace {
template <typename T> bool readNumber(std::string_view text, T &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool readFailure(std::string_view text, WantedFailure &failure) {
  const size_t first = text.find(':'), second = text.rfind(':');
  if (first == second)
    return false;
  failure.function = text.substr(0, first);
  return readNumber(text.substr(first + 1, second - first - 1), failure.call) &&
         readNumber(text.substr(second + 1), failure.result);
}

} // namespace

std::optional<StandInOptions> readOptions(std::string_view text) {
  StandInOptions options;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view option = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = option.find('=');
    if (equals == std::string_view::npos)
      return std::nullopt;
    const std::string_view name = option.substr(0, equals),
                           value = option.substr(equals + 1);
    bool good = false;
    if (name == "gpus")
      good = readNumber(value, options.gpus);
    else if (name == "driver")
      good = readNumber(value, options.driver);
    else if (name == "capability")
      good = readNumber(value, options.capability);
    else if (name == "memory")
      good = readNumber(value, options.memory);
    else if (name == "patience")
      good = readNumber(value, options.patience);
    else if (name == "peers")
      good = readNumber(value, options.peers);
    else if (name == "seed")
      good = readNumber(value, options.seed);
    else if (name == "fail")
      good = readFailure(value, options.fail.emplace());
    else if (name == "order") {
      options.order = value;
      good = value == "first" || value == "last" || value == "random";
    }
    if (!good)
      return std::nullopt;
  }
  return options;
}

} // namespace meshloom::cuda
