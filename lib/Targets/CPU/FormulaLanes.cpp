// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of the formulas of NarrowFormulas.h and WideFormulas.h, for processors
// with AVX-512 and for those with AVX2. The compiler makes vectors of them.
#include "FormulaLanes.h"

#include "meshloom/Targets/Kernels/NarrowFormulas.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

using namespace meshloom;
namespace narrow = meshloom::formulas::narrow;
namespace wide = meshloom::formulas::wide;

// Other compilers than clang make the same loops, but round products.
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

namespace {

// The operators of numbers, which say whether a product may be added without
// being rounded.
template <Contraction contraction, typename T> T add(T a, T b) {
  if constexpr (contraction == Contraction::Fast) {
#pragma clang fp contract(fast)
    return a + b;
  } else {
    return a + b;
  }
}
template <Contraction contraction, typename T> T subtract(T a, T b) {
  if constexpr (contraction == Contraction::Fast) {
#pragma clang fp contract(fast)
    return a - b;
  } else {
    return a - b;
  }
}
template <Contraction contraction, typename T> T multiply(T a, T b) {
  if constexpr (contraction == Contraction::Fast) {
#pragma clang fp contract(fast)
    return a * b;
  } else {
    return a * b;
  }
}

template <typename T>
using BitsOf =
    std::conditional_t<std::is_floating_point_v<T>,
                       std::conditional_t<sizeof(T) == 8, int64_t, int32_t>,
                       std::conditional_t<sizeof(T) == 8, double, float>>;

struct Condition {
  bool value;

  template <typename Scalar> Scalar select(Scalar yes, Scalar no) const {
    return {value ? yes.value : no.value};
  }
  friend Condition both(Condition a, Condition b) {
    return {a.value && b.value};
  }
};

/// A number as the scalar of a formula (Formulas.h).
template <typename T, Contraction contraction> struct Number {
  template <typename U> using Other = Number<U, contraction>;
  /// Integers wrap around.
  using Arithmetic = std::conditional_t<
      std::is_floating_point_v<T>, T,
      std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

  T value;

  Number f(double number) const { return {T(number)}; }
  Number i(int64_t number) const { return {T(number)}; }
  Other<BitsOf<T>> bits() const { return {std::bit_cast<BitsOf<T>>(value)}; }
  Other<BitsOf<T>> asFloat() const { return {std::bit_cast<BitsOf<T>>(value)}; }
  Other<float> toF32() const { return {float(value)}; }
  Other<double> toF64() const { return {double(value)}; }
  Other<int32_t> toI32() const { return {int32_t(value)}; }
  Condition less(Number other) const { return {value < other.value}; }
  Condition equals(Number other) const { return {value == other.value}; }
  Condition isZero() const { return {value == 0}; }
  Condition isNegative() const { return {value < 0}; }
  Number clamp(double low, double high) const {
    const Number above = less(f(low)).select(f(low), *this);
    return f(high).less(above).select(f(high), above);
  }
  Number abs() const { return {std::abs(value)}; }
  Number sqrt() const { return {std::sqrt(value)}; }
  Number floor() const { return {std::floor(value)}; }
  Number withSignOf(Number other) const {
    return {std::copysign(value, other.value)};
  }
  Number multiplyAdd(Number factor, Number addend) const {
    return {std::fma(value, factor.value, addend.value)};
  }

  Number operator-() const { return {-value}; }
  friend Number operator+(Number a, Number b) {
    return {T(add<contraction>(Arithmetic(a.value), Arithmetic(b.value)))};
  }
  friend Number operator-(Number a, Number b) {
    return {T(subtract<contraction>(Arithmetic(a.value), Arithmetic(b.value)))};
  }
  friend Number operator*(Number a, Number b) {
    return {T(multiply<contraction>(Arithmetic(a.value), Arithmetic(b.value)))};
  }
  friend Number operator/(Number a, Number b) { return {a.value / b.value}; }
  Number operator+(double number) const { return *this + f(number); }
  Number operator-(double number) const { return *this - f(number); }
  Number operator*(double number) const { return *this * f(number); }
  Number operator&(int64_t mask) const { return {T(value & T(mask))}; }
  friend Number operator|(Number a, Number b) { return {a.value | b.value}; }
  friend Number operator^(Number a, Number b) { return {a.value ^ b.value}; }
  friend Number shiftLeft(Number a, int by) {
    return {T(Arithmetic(a.value) << by)};
  }
  friend Number shiftRight(Number a, int by) { return {T(a.value >> by)}; }
  friend Number unsignedThird(Number a) { return {T(Arithmetic(a.value) / 3)}; }
};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The formula `f` of elements of type T.
template <auto f, typename T, size_t operands> struct Formula {
  using Element = T;
  using Sources = std::array<const T *, operands>;
  /// Elements whose results are computed at once: vectors of AVX-512, so many
  /// that one has not to wait for the other.
  static constexpr int64_t vectors = 2, width = vectors * 64 / sizeof(T);

  template <Contraction contraction>
  [[gnu::always_inline]] void runVectors(T *__restrict result,
                                         const Sources &sources) {
    run<contraction>(result, sources, std::make_index_sequence<operands>());
  }
  void finish(T *, const Sources &, int64_t) {}

private:
  template <Contraction contraction, size_t... number>
  [[gnu::always_inline]] void run(T *__restrict result, const Sources &sources,
                                  std::index_sequence<number...>) {
#pragma clang loop unroll(disable) interleave_count(vectors)
    for (int64_t i = 0; i < width; ++i)
      result[i] = f(Number<T, contraction>{sources[number][i]}...).value;
  }
};

/// A formula of angles, which is wrong for huge ones: libm has those.
template <auto f, auto libm, typename T> struct FormulaOfAngle {
  using Element = T;
  using Sources = std::array<const T *, 1>;
  static constexpr int64_t vectors = std::is_same_v<T, float> ? 4 : 2,
                           width = vectors * 64 / sizeof(T);

  template <Contraction contraction>
  [[gnu::always_inline]] void runVectors(T *__restrict result,
                                         const Sources &sources) {
#pragma clang loop unroll(disable) interleave_count(vectors)
    for (int64_t i = 0; i < width; ++i) {
      result[i] = f(Number<T, contraction>{sources[0][i]}).value;
      largest[i] = std::max(largest[i], sizeOf(sources[0][i]));
    }
  }
  void finish(T *results, const Sources &sources, int64_t count) {
    constexpr uint32_t limit = sizeOf(T(formulas::hugeAngle));
    if (*std::ranges::max_element(largest) <= limit)
      return;
    for (int64_t i = 0; i < count; ++i)
      if (sizeOf(sources[0][i]) > limit)
        results[i] = libm(sources[0][i]);
  }

private:
  /// Returns a number that is larger for larger sizes: bits without the sign.
  static constexpr uint32_t sizeOf(T angle) {
    return 2 * std::bit_cast<uint32_t>(float(angle));
  }
  uint32_t largest[width] = {};
};

/// Runs a formula for all elements. The elements behind the last whole vectors
/// are copied into some.
template <typename Formula, Contraction contraction>
[[gnu::always_inline]] inline void
runAll(void *result, const void *const *operands, int64_t count) {
  using T = typename Formula::Element;
  using Sources = typename Formula::Sources;
  constexpr size_t numSources = std::tuple_size_v<Sources>;
  constexpr int64_t width = Formula::width;
  auto *const results = static_cast<T *>(result);
  Sources arrays, sources;
  for (size_t k = 0; k < numSources; ++k)
    sources[k] = arrays[k] = static_cast<const T *>(operands[k]);
  Formula formula;
  int64_t done = 0;
  for (; done + width <= count; done += width) {
    formula.template runVectors<contraction>(results + done, sources);
    for (const T *&source : sources)
      source += width;
  }
  if (const int64_t others = count - done; others > 0) {
    T last[numSources][width] = {}, lastResults[width];
    for (size_t k = 0; k < numSources; ++k) {
      std::copy_n(sources[k], others, last[k]);
      sources[k] = last[k];
    }
    formula.template runVectors<contraction>(lastResults, sources);
    std::copy_n(lastResults, others, results + done);
  }
  formula.finish(results, arrays, count);
}

#if defined(__x86_64__)
/// The loop for CPUs with AVX-512.
template <typename Formula, Contraction contraction>
[[gnu::target("arch=x86-64-v4")]] void
runWide(void *result, const void *const *operands, int64_t count) {
  runAll<Formula, contraction>(result, operands, count);
}
/// The loop for CPUs with AVX2.
template <typename Formula, Contraction contraction>
[[gnu::target("arch=x86-64-v3")]] void
run(void *result, const void *const *operands, int64_t count) {
  runAll<Formula, contraction>(result, operands, count);
}
template <typename Formula, Contraction contraction> ScriptLanes lanes() {
  if (__builtin_cpu_supports("x86-64-v4"))
    return runWide<Formula, contraction>;
  return __builtin_cpu_supports("x86-64-v3") ? run<Formula, contraction>
                                             : nullptr;
}
#else
template <typename Formula, Contraction contraction> ScriptLanes lanes() {
  return nullptr; // scripts are for x86-64
}
#endif

/// All loops.
class FormulaTable {
public:
  FormulaTable() {
    add<[](auto x) { return narrow::exp(x); },
        [](auto x) { return wide::exp(x); }>("exp");
    add<[](auto x) { return narrow::expm1(x); },
        [](auto x) { return wide::expm1(x); }>("expm1");
    add<[](auto x) { return narrow::log(x); },
        [](auto x) { return wide::log(x); }>("log");
    add<[](auto x) { return narrow::log1p(x); },
        [](auto x) { return wide::log1p(x); }>("log1p");
    add<[](auto x) { return narrow::tanh(x); },
        [](auto x) { return wide::tanh(x); }>("tanh");
    add<[](auto x) { return narrow::erf(x); },
        [](auto x) { return wide::erf(x); }>("erf");
    constexpr auto squareRoot = [](auto x) { return x.sqrt(); };
    add<squareRoot, squareRoot>("sqrt");
    add<[](auto x) { return narrow::cbrt(x); },
        [](auto x) { return wide::cbrt(x); }>("cbrt");
    addAngle<[](auto x) { return narrow::sin(x); },
             [](auto x) { return wide::sin(x); },
             [](auto x) { return std::sin(x); }>("sin");
    addAngle<[](auto x) { return narrow::cos(x); },
             [](auto x) { return wide::cos(x); },
             [](auto x) { return std::cos(x); }>("cos");
    addAngle<[](auto x) { return narrow::tan(x); },
             [](auto x) { return wide::tan(x); },
             [](auto x) { return std::tan(x); }>("tan");
    add<[](auto y, auto x) { return narrow::atan2(y, x); },
        [](auto y, auto x) { return wide::atan2(y, x); }, 2>("atan2");
    add<[](auto x, auto y) { return narrow::pow(x, y); },
        [](auto x, auto y) { return wide::pow(x, y); }, 2>("powf");
  }

  ScriptLanes find(std::string_view function, std::string_view type,
                   Contraction contraction) const {
    const auto row = std::ranges::find_if(rows, [&](const Row &row) {
      return row.function == function && row.type == type;
    });
    if (row == rows.end())
      return nullptr;
    return contraction == Contraction::Fast ? row->fast : row->strict;
  }

private:
  struct Row {
    std::string_view function, type;
    ScriptLanes fast, strict;
  };

  template <auto narrow, auto wide, size_t operands = 1>
  void add(std::string_view function) {
    addOf<Formula<narrow, float, operands>>(function, "f32");
    addOf<Formula<wide, double, operands>>(function, "f64");
  }
  template <auto narrow, auto wide, auto libm>
  void addAngle(std::string_view function) {
    addOf<FormulaOfAngle<narrow, libm, float>>(function, "f32");
    addOf<FormulaOfAngle<wide, libm, double>>(function, "f64");
  }
  template <typename Formula>
  void addOf(std::string_view function, std::string_view type) {
    rows.push_back({function, type, lanes<Formula, Contraction::Fast>(),
                    lanes<Formula, Contraction::None>()});
  }

  std::vector<Row> rows;
};
} // namespace

ScriptLanes meshloom::findFormulaLanes(std::string_view function,
                                       std::string_view type,
                                       Contraction contraction) {
  // Never destroyed: threads may load scripts while the process ends.
  static const FormulaTable &table = *new FormulaTable;
  return table.find(function, type, contraction);
}
