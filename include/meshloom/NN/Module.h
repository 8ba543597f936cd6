// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module: what has variables, and parts that have variables.
#pragma once

#include "meshloom/API/Variable.h"

#include <concepts>
#include <ranges>

namespace meshloom {

class Layer;

/// Base of layers and models. `track` names the members that are variables,
/// modules or layers, in the order in which they are then found. A module
/// without any says so: `track()`.
///
///   struct Net : Module {
///     Dense first, second;
///     std::vector<Block> blocks;
///     Net(...) : first(...), second(...) { track(this, first, second, blocks);
///     }
///   };
///   adam.apply_gradients(tape.gradient(loss, net.trainable_variables()));
///
/// A copy of a module has the same variables.
class Module {
public:
  /// The same variables; members are looked at where `other` has them.
  Module(const Module &other) = default;
  /// Moves; a use of the old module throws.
  Module(Module &&other) noexcept;
  /// Copies, like the constructor.
  Module &operator=(const Module &other);
  /// Moves, like the constructor.
  Module &operator=(Module &&other) noexcept;
  virtual ~Module();

  /// Depth first, in the order of `track`; one tracked twice comes once. Throws
  /// meshloom::Error if this module, or one that is tracked in it, has not
  /// called `track`, or if one was moved from.
  std::vector<DVariable> variables() const;
  /// The variables that were made with trainable = true.
  std::vector<DVariable> trainable_variables() const;
  /// For `function`: what tells this module from others.
  std::shared_ptr<const void> shared_identity() const { return state; }

protected:
  Module();

  /// Called in the constructor, `self` is `this`. The members are looked at
  /// each time that variables are asked for, so what they get later is found:
  /// variables, modules and layers, vectors and maps of them, optional ones and
  /// pointers to them. Throws meshloom::Error where a part is not a member.
  template <std::derived_from<Module> Self, typename... Parts>
  void track(const Self *self, const Parts &...parts) {
    startTracking(self);
    (trackMember(self, sizeof(Self), &parts, sizeof(Parts),
                 &readMember<Self, Parts>),
     ...);
  }

  /// The same of variables, modules and layers that stay as they are, members
  /// or not. Called at the end of the constructor, when all parts are there.
  /// Throws meshloom::Error if a variable is still empty.
  template <typename... Parts>
    requires(!std::is_pointer_v<Parts> && ...)
  void track(const Parts &...parts) {
    static_assert(
        (isOnePart<Parts> && ...),
        "the parts in a vector, a map, an optional or a pointer may be added "
        "or changed later: name this module first, as in track(this, blocks)");
    startTracking(this);
    (trackOne(parts), ...);
  }

private:
  struct State;
  /// Gets the parts that a member has now.
  struct Found;

  static void find(const DVariable &variable, Found &found);
  static void find(const Module &module, Found &found);
  static void find(const Layer &layer, Found &found);
  template <typename T>
  static constexpr bool isOnePart =
      requires(const T &part, Found &found) { find(part, found); };

  /// Finds the variables and modules in `part`, which may be a container.
  template <typename T> static void findIn(const T &part, Found &found) {
    if constexpr (isOnePart<T>) {
      find(part, found);
    } else if constexpr (requires { part.second; }) { // of a map
      findIn(part.second, found);
    } else if constexpr (std::ranges::range<const T>) {
      static_assert(
          !requires { part.hash_function(); },
          "the order of variables must not depend on hashes: track "
          "a std::map instead");
      for (const auto &one : part)
        findIn(one, found);
    } else {
      static_assert(
          requires { part ? *part : *part; },
          "expected a variable, a module or a layer, or a vector, a map, an "
          "optional or a pointer of these");
      if (part)
        findIn(*part, found);
    }
  }
  /// Returns whether `module` is all of a Self: not, where only its base was
  /// copied.
  template <typename Self, typename Part>
  static bool readMember(const Module &module, ptrdiff_t offset, Found &found) {
    auto *self = dynamic_cast<const Self *>(&module);
    if (self)
      findIn(*reinterpret_cast<const Part *>(
                 reinterpret_cast<const char *>(self) + offset),
             found);
    return self;
  }
  using ReadMember = bool (*)(const Module &module, ptrdiff_t offset,
                              Found &found);

  std::vector<DVariable> found(bool onlyTrainable) const;
  void startTracking(const Module *self);
  void trackMember(const void *self, size_t size, const void *part,
                   size_t partSize, ReadMember read);
  void trackOne(const DVariable &variable);
  void trackOne(const Module &module);
  void trackOne(const Layer &layer);

  std::shared_ptr<State> state;
};

} // namespace meshloom
