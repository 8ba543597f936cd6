// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScriptReductions.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace meshloom;

namespace {
enum class Kind { Sum, Prod, Max, Min, And, Or };

template <typename T, Kind kind>
using StateOf =
    std::conditional_t<std::is_same_v<T, float> &&
                           (kind == Kind::Sum || kind == Kind::Prod),
                       double, T>;

template <typename T, Kind kind> constexpr T identity() {
  using Limits = std::numeric_limits<T>;
  switch (kind) {
  case Kind::Prod:
    return T(1);
  case Kind::Max:
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  case Kind::Min:
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  case Kind::And:
    return std::is_same_v<T, bool> ? T(1) : T(-1);
  default:
    return T(0);
  }
}

template <typename T, Kind kind> T combined(T a, T b) {
  if constexpr (kind == Kind::Max)
    return a != a || a > b ? a : b;
  else if constexpr (kind == Kind::Min)
    return a != a || a < b ? a : b;
  else if constexpr (kind == Kind::And)
    return T(a & b);
  else if constexpr (kind == Kind::Or)
    return T(a | b);
  else if constexpr (std::is_integral_v<T>)
    return kind == Kind::Sum ? T(uint64_t(a) + uint64_t(b))
                             : T(uint64_t(a) * uint64_t(b));
  else
    return kind == Kind::Sum ? a + b : a * b;
}

template <typename T, Kind kind> struct Reduction {
  using State = StateOf<T, kind>;

  /// Returns the reduction of a run of terms, which lanes share.
  static State reduced(const T *from, int64_t count) {
    constexpr int64_t lanes = 16;
    State states[lanes];
    start(states, lanes);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (int64_t lane = 0; lane < lanes; ++lane)
        states[lane] =
            combined<State, kind>(states[lane], State(from[i + lane]));
    for (int64_t lane = 0; i < count; ++i, ++lane)
      states[lane] = combined<State, kind>(states[lane], State(from[i]));
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        states[lane] = combined<State, kind>(states[lane], states[lane + half]);
    return states[0];
  }
  static void start(void *states, int64_t count) {
    std::fill_n(static_cast<State *>(states), count, identity<State, kind>());
  }
  static void combine(void *states, int64_t step, const void *terms,
                      int64_t count) {
    auto *to = static_cast<State *>(states);
    auto *from = static_cast<const T *>(terms);
    if (step == 0)
      to[0] = combined<State, kind>(to[0], reduced(from, count));
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = combined<State, kind>(to[i], State(from[i]));
  }
  static void finish(const void *states, void *results, int64_t count) {
    std::copy_n(static_cast<const State *>(states), count,
                static_cast<T *>(results));
  }
  static constexpr ScriptReduction functions{sizeof(State), start, combine,
                                             finish};
};

/// All reductions by name.
class ReductionTable {
public:
  ReductionTable() {
    addNumbers<float>("f32");
    addNumbers<double>("f64");
    addIntegers<int8_t>("i8");
    addIntegers<int16_t>("i16");
    addIntegers<int32_t>("i32");
    addIntegers<int64_t>("i64");
    addLogic<bool>("i1");
  }
  const ScriptReduction *find(StringRef name) const {
    return reductions.lookup(name);
  }

private:
  template <typename T, Kind kind>
  void add(const char *name, const char *type) {
    reductions[(Twine(name) + " " + type).str()] =
        &Reduction<T, kind>::functions;
  }
  template <typename T> void addNumbers(const char *type) {
    add<T, Kind::Sum>("sum", type);
    add<T, Kind::Prod>("prod", type);
    add<T, Kind::Max>("max", type);
    add<T, Kind::Min>("min", type);
  }
  template <typename T> void addLogic(const char *type) {
    add<T, Kind::And>("and", type);
    add<T, Kind::Or>("or", type);
  }
  template <typename T> void addIntegers(const char *type) {
    addNumbers<T>(type);
    addLogic<T>(type);
  }

  llvm::StringMap<const ScriptReduction *> reductions;
};
} // namespace

const ScriptReduction *meshloom::findScriptReduction(StringRef name) {
  // Never destroyed: threads may load scripts while the process ends.
  static const ReductionTable &table = *new ReductionTable;
  return table.find(name);
}
