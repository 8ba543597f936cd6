// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers by name, see Logs.h.
#include "meshloom/NN/Training/Logs.h"

#include "meshloom/API/NameScope.h"

#include "meshloom/Core/Result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {
namespace {

template <typename Values>
[[noreturn]] void refuseName(std::string_view of, std::string_view name,
                             const Values &values) {
  std::vector<std::string_view> names;
  names.reserve(values.size());
  for (auto &[key, value] : values)
    names.push_back(key);
  Error(fmt::format("[{}] expected the name of a number, got '{}'; there "
                    "are {}",
                    of, name,
                    names.empty()
                        ? std::string("none")
                        : fmt::format("'{}'", fmt::join(names, "', '"))))
      .raise();
}

} // namespace

const std::vector<Logs::Value> &Logs::values() const {
  if (read) {
    std::vector<Value> values = std::exchange(read, nullptr)();
    // A number that was set before it was read stays.
    for (Value &entry : entries) {
      auto same = [&](const Value &other) {
        return other.first == entry.first;
      };
      auto found = std::find_if(values.begin(), values.end(), same);
      if (found != values.end())
        found->second = entry.second;
      else
        values.push_back(std::move(entry));
    }
    entries = std::move(values);
  }
  return entries;
}

std::optional<double> Logs::find(std::string_view name) const {
  for (auto &[key, value] : values())
    if (key == name)
      return value;
  return std::nullopt;
}

double Logs::at(std::string_view name, std::source_location where) const {
  return meshloom::detail::atLine(where, [&] {
    if (std::optional<double> found = find(name))
      return *found;
    refuseName("Logs", name, values());
  });
}

void Logs::set(std::string_view name, double value) {
  for (auto &[key, old] : entries)
    if (key == name) {
      old = value;
      return;
    }
  entries.emplace_back(name, value);
}

const std::vector<double> &History::operator[](std::string_view name) const {
  for (auto &[key, values] : history)
    if (key == name)
      return values;
  refuseName("History", name, history);
}

} // namespace meshloom
