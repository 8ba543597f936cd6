// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structures of tensors: what a `function` takes and returns. A structure is a
// Tensor, or a pair, tuple, vector, array, optional, map (by key) or plain
// aggregate of structures. Numbers, enums, strings and variables inside one are
// static: they are part of what a function is traced for. So are modules,
// layers, models, optimizers and metrics, by identity: another object is
// another trace, a copy of a handle is the same object.
#pragma once

#include "meshloom/API/Variable.h"

#include <map>
#include <optional>
#include <span>
#include <tuple>

namespace meshloom::detail {

/// Converts to anything: for counting the fields of an aggregate.
struct AnyField {
  template <typename T> operator T() const;
};

template <typename T, size_t... I>
consteval bool bracesTake(std::index_sequence<I...>) {
  return requires { T{(void(I), AnyField{})...}; };
}
/// The most initialisers that T{...} takes, up to 13.
template <typename T, size_t N = 13> consteval size_t fieldCount() {
  if constexpr (N == 0)
    return 0;
  else if constexpr (bracesTake<T>(std::make_index_sequence<N>()))
    return N;
  else
    return fieldCount<T, N - 1>();
}

template <typename T, template <typename...> class Of>
inline constexpr bool isA = false;
template <typename... A, template <typename...> class Of>
inline constexpr bool isA<Of<A...>, Of> = true;
template <typename T> inline constexpr bool isArray = false;
template <typename T, size_t N>
inline constexpr bool isArray<std::array<T, N>> = true;

/// A class that names its parts itself: `visit_structure(f)` calls `f` with
/// each, values among them, as forEachPart does.
template <typename T>
concept NamesItsParts =
    requires(T &value) { value.visit_structure([](auto &) {}); };

/// An object that is told from others by what its handles share: a module, a
/// layer, an optimizer, a metric.
template <typename T>
concept SharedObject = requires(const T &object) {
  { object.shared_identity() } -> std::same_as<std::shared_ptr<const void>>;
};

template <typename T>
concept StaticLeaf = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                     std::is_same_v<T, std::string> ||
                     std::is_same_v<T, DVariable> || SharedObject<T>;

/// How a function holds an argument while it is traced: an object as it is, for
/// a copy might be one of its base class.
template <typename T>
using HeldArgument = std::conditional_t<SharedObject<T>, const T &, T>;

/// Calls `f` with each field. Structured bindings need the count spelled out.
template <typename T, typename F> void forEachField(T &value, F &&f) {
  constexpr size_t n = fieldCount<std::remove_const_t<T>>();
  static_assert(n <= 12, "a struct of more than 12 fields: nest structs");
  auto visit = [&](auto &...field) { (f(field), ...); };
  if constexpr (n == 1) {
    auto &[a] = value;
    visit(a);
  } else if constexpr (n == 2) {
    auto &[a, b] = value;
    visit(a, b);
  } else if constexpr (n == 3) {
    auto &[a, b, c] = value;
    visit(a, b, c);
  } else if constexpr (n == 4) {
    auto &[a, b, c, d] = value;
    visit(a, b, c, d);
  } else if constexpr (n == 5) {
    auto &[a, b, c, d, e] = value;
    visit(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto &[a, b, c, d, e, g] = value;
    visit(a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    auto &[a, b, c, d, e, g, h] = value;
    visit(a, b, c, d, e, g, h);
  } else if constexpr (n == 8) {
    auto &[a, b, c, d, e, g, h, i] = value;
    visit(a, b, c, d, e, g, h, i);
  } else if constexpr (n == 9) {
    auto &[a, b, c, d, e, g, h, i, j] = value;
    visit(a, b, c, d, e, g, h, i, j);
  } else if constexpr (n == 10) {
    auto &[a, b, c, d, e, g, h, i, j, k] = value;
    visit(a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (n == 11) {
    auto &[a, b, c, d, e, g, h, i, j, k, l] = value;
    visit(a, b, c, d, e, g, h, i, j, k, l);
  } else if constexpr (n == 12) {
    auto &[a, b, c, d, e, g, h, i, j, k, l, m] = value;
    visit(a, b, c, d, e, g, h, i, j, k, l, m);
  }
}

/// Calls `f` with each direct part of a structure that is not a leaf; `f` gets
/// lengths and keys too, as values.
template <typename T, typename F> void forEachPart(T &value, F &&f) {
  using V = std::remove_const_t<T>;
  if constexpr (NamesItsParts<T>) {
    value.visit_structure(f);
  } else if constexpr (isA<V, std::pair> || isA<V, std::tuple> || isArray<V>) {
    std::apply([&](auto &...part) { (f(part), ...); }, value);
  } else if constexpr (isA<V, std::vector>) {
    const size_t length = value.size();
    f(length);
    for (auto &element : value)
      f(element);
  } else if constexpr (std::is_same_v<V, std::nullopt_t>) {
    const bool present = false; // as an optional without a value
    f(present);
  } else if constexpr (isA<V, std::optional>) {
    const bool present = value.has_value();
    f(present);
    if (present)
      f(*value);
  } else if constexpr (isA<V, std::map>) {
    const size_t length = value.size();
    f(length);
    for (auto &[key, element] : value) {
      f(key);
      f(element);
    }
  } else {
    static_assert(std::is_aggregate_v<V>,
                  "a function takes and returns tensors, numbers, strings, "
                  "variables, modules, layers, optimizers, metrics, and pairs, "
                  "tuples, vectors, arrays, optionals, maps and plain structs "
                  "of them");
    if constexpr (std::is_aggregate_v<V>)
      forEachField(value, f);
  }
}

/// Calls `leaf` with every Tensor and every static leaf, in order.
template <typename T, typename F> void visitLeaves(T &value, F &leaf) {
  using V = std::remove_const_t<T>;
  if constexpr (std::is_same_v<V, Tensor> || StaticLeaf<V>)
    leaf(value);
  else
    forEachPart(value, [&](auto &part) { visitLeaves(part, leaf); });
}

template <typename T>
void appendTensors(const T &structure, std::vector<Tensor> &tensors) {
  auto leaf = [&](const auto &value) {
    if constexpr (std::is_same_v<decltype(value), const Tensor &>)
      tensors.push_back(value);
  };
  visitLeaves(structure, leaf);
}
template <typename T> std::vector<Tensor> tensorsOf(const T &structure) {
  std::vector<Tensor> tensors;
  appendTensors(structure, tensors);
  return tensors;
}

/// `structure` with its tensors replaced, in order.
template <typename T> T rebuild(T structure, std::span<const Tensor> tensors) {
  size_t next = 0;
  auto leaf = [&](auto &value) {
    if constexpr (std::is_same_v<decltype(value), Tensor &>)
      value = tensors[next++];
  };
  visitLeaves(structure, leaf);
  return structure;
}

/// `call(tensor)` for each tensor of a structure.
template <typename S, typename F> S forEachTensor(const S &structure, F call) {
  std::vector<Tensor> tensors = tensorsOf(structure);
  for (Tensor &tensor : tensors)
    tensor = call(tensor);
  return rebuild(structure, std::span<const Tensor>(tensors));
}

/// The identities of the objects in a structure.
using Identities = std::vector<std::shared_ptr<const void>>;
template <typename T>
void appendIdentities(const T &structure, Identities &identities) {
  auto leaf = [&](const auto &value) {
    if constexpr (SharedObject<std::remove_cvref_t<decltype(value)>>)
      identities.push_back(value.shared_identity());
  };
  visitLeaves(structure, leaf);
}

void appendVariableKey(const DVariable &variable, std::string &key);
template <typename T> void appendBytes(const T &value, std::string &key) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  key.append(bytes, sizeof(T));
}

/// Appends what distinguishes `structure` besides its tensors' types; without
/// its numbers unless `numbers`.
template <typename T>
void appendStatics(const T &structure, std::string &key, bool numbers = true) {
  auto leaf = [&](const auto &value) {
    using V = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<V> && !std::is_same_v<V, bool>)
      if (!numbers)
        return;
    if constexpr (std::is_same_v<V, DVariable>) {
      appendVariableKey(value, key);
    } else if constexpr (SharedObject<V>) {
      appendBytes(value.shared_identity().get(), key);
    } else if constexpr (std::is_same_v<V, std::string>) {
      key += std::to_string(value.size()) + ":" + value;
    } else if constexpr (!std::is_same_v<V, Tensor>) {
      appendBytes(value, key);
    }
  };
  visitLeaves(structure, leaf);
}

} // namespace meshloom::detail
