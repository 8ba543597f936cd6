// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How named parts are found by name and made of a config: the definitions of
// NamedPart's members, for the files that have parts, and what reads a config.
#pragma once

#include "Names.h"

#include "meshloom/NN/Named.h"

#include <set>

namespace meshloom::detail {

/// Reads the options of one part, by name. Throws meshloom::Error where the
/// config has another type, or, in `finish`, an option that nobody asked for.
class ConfigReader {
public:
  ConfigReader(std::string part, const PartConfig &config)
      : part(std::move(part)), config(config) {}

  double number(const std::string &option, double otherwise);
  int64_t integer(const std::string &option, int64_t otherwise);
  bool flag(const std::string &option, bool otherwise);
  std::string word(const std::string &option, const std::string &otherwise);
  /// A list, or one number.
  std::vector<int64_t> integers(const std::string &option,
                                const std::vector<int64_t> &otherwise);
  /// A list of any numbers.
  std::vector<double> numbers(const std::string &option,
                              const std::vector<double> &otherwise);
  bool has(const std::string &option) const { return config.contains(option); }
  void finish() const;

private:
  using Value = PartConfig::mapped_type;
  const Value *find(const std::string &option);
  [[noreturn]] void refuse(const std::string &option,
                           const std::string &expected) const;

  std::string part;
  const PartConfig &config;
  std::set<std::string> asked;
};

} // namespace meshloom::detail

namespace meshloom {

/// Each kind has one: what its names stand for.
template <typename Kind>
detail::Names<std::function<Kind(const PartConfig &)>> &knownParts();

/// What a name stands for: `make` reads options and makes a part of them.
template <typename Kind>
std::pair<const char *, std::function<Kind(const PartConfig &)>>
knownPart(const char *name, Kind (*make)(detail::ConfigReader &)) {
  return {name, [name, make](const PartConfig &config) {
            detail::ConfigReader reader(name, config);
            Kind part = make(reader);
            reader.finish();
            return part;
          }};
}

template <typename Kind, typename Result, typename... Arguments>
void NamedPart<Kind, Result(Arguments...)>::add(const std::string &name,
                                                Maker maker) {
  knownParts<Kind>().add(name, std::move(maker));
}

template <typename Kind, typename Result, typename... Arguments>
Kind NamedPart<Kind, Result(Arguments...)>::get(std::string_view id,
                                                const PartConfig &config) {
  auto [name, maker] = knownParts<Kind>().find(id);
  Kind part = maker(config);
  if (part.partName.empty()) {
    part.partName = name;
    part.partConfig = config;
  }
  return part;
}

template <typename Kind, typename Result, typename... Arguments>
void NamedPart<Kind, Result(Arguments...)>::refuseEmpty() {
  throw knownParts<Kind>().none();
}

} // namespace meshloom
