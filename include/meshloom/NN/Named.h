// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NamedPart: a function that a model is given by value or by name, such as an
// activation, with the numbers that it was made with. Initializers.h,
// Regularizers.h, Constraints.h, Activations.h and Losses.h have those that are
// known.
#pragma once

#include "meshloom/API/NameScope.h"
#include "meshloom/API/Tensor.h"
#include "meshloom/NN/Config.h"

#include <concepts>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>

namespace meshloom {

using Where = std::source_location;

/// A function with a name and a config, from which it can be made again: what
/// is saved of a part of a model. `Kind` is the class that derives from this.
/// Where one is expected, its name will do, with capitals or underscores as in
/// Keras ("glorot_uniform", "GlorotUniform"), or a function of the user's own,
/// which has no name and so cannot be saved:
///
///   layers::Dense(64, {.activation = "relu"});
///   layers::Dense(64, {.activation = [](const Tensor &x) {
///     return x * sigmoid(1.7f * x);
///   }});
///
/// Your own parts become known by name with `add`:
///
///   activations::Activation::add("steep", [](const Config &) {
///     return [](const Tensor &x) { return sigmoid(5 * x); };
///   });
///
/// A default-constructed part is empty. May be used from any
/// thread.
template <typename Kind, typename Signature> class NamedPart;

/// The same; `Result(Arguments...)` is what it computes.
template <typename Kind, typename Result, typename... Arguments>
class NamedPart<Kind, Result(Arguments...)> {
public:
  /// The function that a part computes.
  using Function = std::function<Result(Arguments...)>;
  /// Makes a part from a config: a map of its options.
  using Maker = std::function<Kind(const nn::Config &)>;

  /// An empty one.
  NamedPart() = default;
  /// The one that is known by this name, made with these options, or their
  /// defaults. Throws meshloom::Error that lists the closest names, or if it
  /// has no such option.
  NamedPart(const char *id, const nn::Config::Map &config = {},
            Where where = Where::current())
      : NamedPart(std::string(textOrThrow(id, "the name of a part", where)),
                  config, where) {}
  /// By name; see above.
  NamedPart(const std::string &id, const nn::Config::Map &config = {},
            Where where = Where::current())
      : NamedPart(getAt(where, id, config)) {}
  /// By name, with the config of another part.
  template <std::same_as<nn::Config> C>
  NamedPart(const std::string &id, const C &config,
            Where where = Where::current())
      : NamedPart(getAt(where, id, config)) {}
  /// The user's own function.
  template <typename F>
    requires std::is_invocable_r_v<Result, F &, Arguments...> &&
             (!std::derived_from<std::remove_cvref_t<F>, NamedPart>)
  NamedPart(F function) : function(shared(std::move(function))) {}
  /// A function that can be saved: `name` was added, or will be.
  NamedPart(std::string name, nn::Config config, Function function)
      : partName(std::move(name)), partConfig(std::move(config)),
        function(shared(std::move(function))) {}

  /// Calls the function. Throws meshloom::Error if it is empty.
  Result operator()(
      Arguments... arguments,
      std::source_location where = std::source_location::current()) const {
    if (!function)
      refuseEmpty();
    const detail::UserLine line(where);
    return (*function)(arguments...);
  }
  /// Returns whether it is not empty.
  explicit operator bool() const { return bool(function); }
  /// The name by which it is known; empty: the user's own function, without a
  /// name.
  const std::string &name() const { return partName; }
  /// The options that it was made with, a map.
  const nn::Config &config() const { return partConfig; }
  /// For `meshloom::function`: what tells this one from others.
  std::shared_ptr<const void> shared_identity() const { return function; }

  /// The one that is known by this name. Throws meshloom::Error that lists the
  /// closest names.
  static Kind get(std::string_view id,
                  const nn::Config &config = nn::Config::Map());
  /// From now on `maker` makes what is called `name`, in all threads. Throws
  /// meshloom::Error if the name is taken.
  static void add(const std::string &name, Maker maker);

protected:
  /// `get`, whose errors name the line.
  static Kind getAt(const Where &where, std::string_view id,
                    const nn::Config &config) {
    return detail::atLine(where, [&] { return get(id, config); });
  }

private:
  [[noreturn]] static void refuseEmpty();
  static std::shared_ptr<const Function> shared(Function function) {
    return function ? std::make_shared<const Function>(std::move(function))
                    : nullptr;
  }

  std::string partName;
  nn::Config partConfig = nn::Config::Map();
  std::shared_ptr<const Function> function; ///< copies have the same one
};

} // namespace meshloom
