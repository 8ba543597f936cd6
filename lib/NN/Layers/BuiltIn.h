// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltIn: what the layers of `meshloom::layers` share: their options, and the
// config that these are saved as.
#pragma once

#include "../Models/Graph.h"
#include "Registry.h"
#include "SharedOptions.h"

#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <limits>
#include <tuple>

namespace meshloom::detail {

/// A layer whose options are an aggregate with `name` and `common`; `Impl` has
/// `fields` (see ../Fields.h), which lists the others with their bounds.
template <typename Impl, typename Options> class BuiltIn : public LayerImpl {
public:
  BuiltIn(std::string class_name, Options options)
      : LayerImpl(std::move(class_name), options.name, options.common),
        settings(std::move(options)) {
    CheckFields check(this->class_name());
    Impl::fields(check, settings);
  }
  nn::Config get_config() const override {
    nn::Config config = LayerImpl::get_config();
    WriteFields write(config);
    Options options = settings;
    Impl::fields(write, options);
    return config;
  }
  static Options read(const nn::Config &config) {
    Options options;
    ReadFields fields(config);
    Impl::fields(fields, options);
    return options;
  }

protected:
  [[noreturn]] void refuse(const std::string &message) const {
    Error("[" + class_name() + "] layer '" + name() + "': " + message).raise();
  }
  /// Sums and products of two sizes up to this one fit into 64 bits.
  static constexpr int64_t largestSize = std::numeric_limits<int32_t>::max();
  void expectPositive(const char *option, int64_t number,
                      int64_t largest = largestSize) const {
    if (number <= 0)
      refuse(fmt::format("expected positive {}, got {}", option, number));
    expectSize(option, number, largest);
  }
  void expectSize(const char *option, int64_t size,
                  int64_t largest = largestSize) const {
    if (size > largest)
      refuse(fmt::format("expected {} of at most {}, got {}", option, largest,
                         size));
  }
  /// `argument`: such as "a rate".
  void expectRate(const char *argument, double rate) const {
    if (!(rate >= 0 && rate < 1))
      refuse(fmt::format("expected {} in [0, 1), got {}", argument, rate));
  }
  /// Sets the option `seed`; without one the layer has a seed of its own.
  void seedFrom(const std::optional<uint32_t> &seed) {
    if (seed)
      set_seed({0, *seed});
  }

  Options settings;
};

/// The implementation made with these arguments, of which the last ones are the
/// options; errors name their line.
template <typename Impl, typename... Arguments>
std::shared_ptr<Impl> makeLayer(Arguments &&...arguments) {
  const Where where =
      lineOf(std::get<sizeof...(Arguments) - 1>(std::tie(arguments...)));
  return atLine(where, [&] {
    return std::make_shared<Impl>(std::forward<Arguments>(arguments)...);
  });
}

template <typename Impl> Impl &implOf(const Layer &layer) {
  return static_cast<Impl &>(layer.implementation());
}
/// The layer, if its implementation is of that class.
template <typename Impl>
std::shared_ptr<LayerImpl> expectClass(const Layer &layer, const char *name) {
  LayerImpl &impl = layer.implementation();
  if (!dynamic_cast<Impl *>(&impl))
    Error(fmt::format("[{}] expected a layer of this class, got '{}' of "
                      "class {}",
                      name, impl.name(), impl.class_name()))
        .raise();
  return impl.shared_from_this();
}
/// Returns the layer that a config describes.
template <typename Impl> Layer createLayer(const nn::Config &config) {
  return Layer(std::make_shared<Impl>(config));
}

} // namespace meshloom::detail
