// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How named parts are found by name and made of a config: the definitions of
// NamedPart's members, for the files that have parts.
#pragma once

#include "Fields.h"
#include "Names.h"

#include "meshloom/NN/Named.h"

namespace meshloom {

namespace detail {
/// The options of a part that has none.
struct NoOptions {};
template <typename F> void fields(F &, NoOptions &) {}
} // namespace detail

/// Each kind has one: what its names stand for.
template <typename Kind>
detail::Names<std::function<Kind(const nn::Config &)>> &registeredParts();

/// A row of a table of parts: `make` makes what `name` stands for from its
/// options, which are `defaults` where a config does not say them.
template <typename Kind, typename Options>
std::pair<const char *, std::function<Kind(const nn::Config &)>>
registeredPart(const char *name, Kind (*make)(const Options &),
               const Options &defaults = {}) {
  return {name, [=](const nn::Config &config) {
            Options options = defaults;
            detail::ReadFields read(config, name);
            fields(read, options);
            read.finish();
            return make(options);
          }};
}

/// The part `name` of these options. Throws meshloom::Error for a number that
/// is out of its bound.
template <typename Kind, typename Options>
Kind makePart(const char *name, const Options &options,
              typename Kind::Function function) {
  detail::checkFields(name, options);
  return Kind(name, detail::toConfig(options), std::move(function));
}

template <typename Kind, typename Result, typename... Arguments>
void NamedPart<Kind, Result(Arguments...)>::add(const std::string &name,
                                                Maker maker) {
  registeredParts<Kind>().add(name, std::move(maker));
}

template <typename Kind, typename Result, typename... Arguments>
Kind NamedPart<Kind, Result(Arguments...)>::get(std::string_view id,
                                                const nn::Config &config) {
  auto [name, maker] = registeredParts<Kind>().find(id);
  Kind part = maker(config);
  if (part.partName.empty()) {
    part.partName = name;
    part.partConfig = config;
  }
  return part;
}

template <typename Kind, typename Result, typename... Arguments>
void NamedPart<Kind, Result(Arguments...)>::refuseEmpty() {
  registeredParts<Kind>().none().raise();
}

} // namespace meshloom
