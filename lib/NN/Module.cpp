// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module, see Module.h.
#include "meshloom/NN/Module.h"

#include "meshloom/NN/Layers/Layer.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <variant>

namespace meshloom {

/// The parts that a member has now.
struct Module::Found {
  /// A module that is a part. `whole`, where known, has its members.
  struct Inner {
    std::shared_ptr<State> state;
    const Module *whole;
  };
  using Part = std::variant<DVariable, Inner, Layer>;

  /// In its module's constructor: what is empty may come later.
  bool isEarly = false;
  std::vector<Part> parts;
};

/// Shared by the copies of a module, and by the modules that track it.
struct Module::State {
  struct Member {
    ptrdiff_t offset; ///< in its module
    ReadMember read;
    std::vector<Found::Part> last; ///< what it had when it was last looked at
  };
  std::vector<std::variant<Found::Part, Member>> parts;
  bool isTracked = false; ///< `track` was called
  /// One that lives and has the members, for copies of nothing but the base.
  const Module *whole = nullptr;
  std::mutex mutex; ///< guards `whole` and `Member::last`

  void leave(const Module *module, const Module *successor) {
    std::lock_guard lock(mutex);
    if (whole == module)
      whole = successor;
  }

  /// Returns the parts in `member` of `module` (null: of the one that is
  /// known).
  std::vector<Found::Part> partsOf(Member &member, const Module *module) {
    std::lock_guard lock(mutex);
    for (const Module *candidate : {module, std::as_const(whole)}) {
      Found found;
      if (!candidate || !member.read(*candidate, member.offset, found))
        continue;
      if (!whole)
        whole = candidate;
      member.last = found.parts;
      for (Found::Part &part : member.last)
        if (auto *inner = std::get_if<Found::Inner>(&part))
          inner->whole = nullptr; // which may be gone by then
      return std::move(found.parts);
    }
    return member.last;
  }

  /// Returns whether `other` is this one or a part of it, as far as known.
  bool contains(const State &other) const {
    auto isIn = [&](const Found::Part &part) {
      auto *inner = std::get_if<Found::Inner>(&part);
      return inner && inner->state->contains(other);
    };
    return this == &other || std::ranges::any_of(parts, [&](auto &part) {
             auto *member = std::get_if<Member>(&part);
             return member ? std::ranges::any_of(member->last, isIn)
                           : isIn(std::get<Found::Part>(part));
           });
  }

  struct Collected {
    bool onlyTrainable;
    std::vector<DVariable> variables;
    std::set<std::pair<const State *, const Module *>> seen;

    void add(const DVariable &variable) {
      if (std::ranges::none_of(variables, [&](const DVariable &other) {
            return other.is(variable);
          }))
        variables.push_back(variable);
    }
  };

  void collect(const Module *module, Collected &to) {
    if (!to.seen.insert({this, module}).second)
      return;
    if (!isTracked)
      Error(to.seen.size() == 1
                ? "[Module] this module has not named its variables: end its "
                  "constructor with track(this, first, second, ...), or with "
                  "track() if it has none"
                : "[Module] a module inside of this one has not named its "
                  "variables: end its constructor with track(this, first, "
                  "second, ...), or with track() if it has none",
            ErrorCode::FAILED_PRECONDITION)
          .raise();
    for (auto &part : parts) {
      if (auto *member = std::get_if<Member>(&part))
        for (const Found::Part &one : partsOf(*member, module))
          collect(one, to);
      else
        collect(std::get<Found::Part>(part), to);
    }
  }
  static void collect(const Found::Part &part, Collected &to) {
    if (auto *inner = std::get_if<Found::Inner>(&part)) {
      inner->state->collect(inner->whole, to);
    } else if (auto *layer = std::get_if<Layer>(&part)) {
      for (const DVariable &variable :
           to.onlyTrainable ? layer->trainable_variables() : layer->variables())
        to.add(variable);
    } else if (!to.onlyTrainable || std::get<DVariable>(part).trainable()) {
      to.add(std::get<DVariable>(part));
    }
  }
};

Module::Module() : state(std::make_shared<State>()) {}
Module::Module(Module &&other) noexcept : state(std::move(other.state)) {
  if (state)
    state->leave(&other, this);
}
Module &Module::operator=(const Module &other) {
  if (state && state != other.state)
    state->leave(this, nullptr);
  state = other.state;
  return *this;
}
Module &Module::operator=(Module &&other) noexcept {
  if (this == &other)
    return *this;
  if (state)
    state->leave(this, nullptr);
  state = std::move(other.state);
  if (state)
    state->leave(&other, this);
  return *this;
}
Module::~Module() {
  if (state)
    state->leave(this, nullptr);
}

static Error movedFrom() {
  return Error("[Module] expected a module, got one that was moved from: use "
               "the one that it was moved to",
               ErrorCode::FAILED_PRECONDITION);
}
static Error partOfItself() {
  return Error("[track] a module cannot be a part of itself: leave out the "
               "one that contains this one");
}

void Module::find(const DVariable &variable, Found &found) {
  if (variable.defined())
    found.parts.emplace_back(variable);
  else if (!found.isEarly)
    Error("[Module] expected a variable, got an empty DVariable as a "
          "member that is tracked: give it an initial value before, or "
          "make it a std::optional if it may stay empty")
        .raise();
}
void Module::find(const Module &module, Found &found) {
  if (module.state)
    found.parts.emplace_back(Found::Inner{module.state, &module});
  else if (!found.isEarly)
    movedFrom().raise();
}
void Module::find(const Layer &layer, Found &found) {
  if (!found.isEarly)
    layer.implementation(); // throws if it is empty
  if (layer.defined())
    found.parts.emplace_back(layer);
}

void Module::startTracking(const Module *self) {
  if (!state)
    movedFrom().raise();
  if (self != this)
    Error("[track] expected 'this' as the first of the arguments, got a "
          "pointer to another module: track(this, ...)")
        .raise();
  state->isTracked = true;
  state->whole = this;
}

void Module::trackMember(const void *self, size_t size, const void *part,
                         size_t partSize, ReadMember read) {
  const ptrdiff_t offset =
      static_cast<const char *>(part) - static_cast<const char *>(self);
  if (offset < 0 || size_t(offset) + partSize > size)
    Error("[track] track(this, ...) takes members of the module, got something "
          "else: give the member that contains the part, such as the pointer "
          "to it, or leave 'this' out if the part does not change")
        .raise();
  Found found;
  found.isEarly = true;
  read(*this, offset, found);
  State::Member member{offset, read, std::move(found.parts)};
  for (Found::Part &one : member.last)
    if (auto *inner = std::get_if<Found::Inner>(&one)) {
      if (inner->state->contains(*state))
        partOfItself().raise();
      inner->whole = nullptr;
    }
  state->parts.emplace_back(std::move(member));
}

void Module::trackOne(const DVariable &variable) {
  if (!variable.defined())
    Error("[track] expected a variable, got an empty DVariable: give it an "
          "initial value before track, or call track(this, ...), which finds "
          "values that members get later")
        .raise();
  state->parts.emplace_back(Found::Part(variable));
}
void Module::trackOne(const Module &module) {
  if (!module.state)
    movedFrom().raise();
  if (module.state->contains(*state))
    partOfItself().raise();
  state->parts.emplace_back(Found::Part(Found::Inner{module.state, nullptr}));
}
void Module::trackOne(const Layer &layer) {
  layer.implementation(); // throws if it is empty
  state->parts.emplace_back(Found::Part(layer));
}

std::vector<DVariable> Module::found(bool onlyTrainable) const {
  if (!state)
    movedFrom().raise();
  State::Collected collected{onlyTrainable, {}, {}};
  state->collect(this, collected);
  return std::move(collected.variables);
}
std::vector<DVariable> Module::variables() const {
  return found(false);
}
std::vector<DVariable> Module::trainable_variables() const {
  return found(true);
}

} // namespace meshloom
