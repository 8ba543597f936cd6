// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of the ops of arithmetic, for processors with AVX-512 and for any.
#include "OpLanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

using namespace meshloom;

namespace {
/// The bits of a bf16 number.
struct BFloat16 {
  uint16_t bits;
};

template <typename T> constexpr const char *nameOf = nullptr;
template <> constexpr const char *nameOf<bool> = "i1";
template <> constexpr const char *nameOf<int8_t> = "i8";
template <> constexpr const char *nameOf<int16_t> = "i16";
template <> constexpr const char *nameOf<int32_t> = "i32";
template <> constexpr const char *nameOf<int64_t> = "i64";
template <> constexpr const char *nameOf<float> = "f32";
template <> constexpr const char *nameOf<double> = "f64";
template <> constexpr const char *nameOf<BFloat16> = "bf16";

/// Applies the function `f` to the elements of all operands.
template <auto f, typename Result, typename... Operands, size_t... number>
[[gnu::always_inline]] inline void
applyTo(Result *__restrict result, const void *const *operands, int64_t count,
        std::index_sequence<number...>) {
  const std::tuple arrays{static_cast<const Operands *>(operands[number])...};
  for (int64_t i = 0; i < count; ++i)
    result[i] = f(std::get<number>(arrays)[i]...);
}
template <auto f, typename Result, typename... Operands>
[[gnu::always_inline]] inline void
applyTo(void *result, const void *const *operands, int64_t count) {
  applyTo<f, Result, Operands...>(static_cast<Result *>(result), operands,
                                  count,
                                  std::index_sequence_for<Operands...>());
}

/// The loop for any CPU.
template <auto f, typename Result, typename... Operands>
void apply(void *result, const void *const *operands, int64_t count) {
  applyTo<f, Result, Operands...>(result, operands, count);
}

/// Narrow integers are rare: their loops are not worth their code twice.
template <typename T>
constexpr bool isNarrowInteger =
    std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t>;
template <typename... Types>
constexpr bool hasWideLoop = !(isNarrowInteger<Types> || ...);

#if defined(__x86_64__)
/// The loop for CPUs with AVX-512.
template <auto f, typename Result, typename... Operands>
[[gnu::target("arch=x86-64-v4")]] void
applyWide(void *result, const void *const *operands, int64_t count) {
  applyTo<f, Result, Operands...>(result, operands, count);
}
bool hasWideLanes() {
  return __builtin_cpu_supports("x86-64-v4");
}
#else
template <auto f, typename Result, typename... Operands>
constexpr ScriptLanes applyWide = apply<f, Result, Operands...>;
bool hasWideLanes() {
  return false;
}
#endif

/// The larger or the smaller number, and nan where one is nan; -0 is less than
/// 0.
template <bool larger, typename T> T extremum(T a, T b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return std::signbit(a) == larger ? b : a;
  return (a > b) == larger ? a : b;
}

/// The number of the two that is not nan, where there is one.
template <bool larger, typename T> T extremumOfNumbers(T a, T b) {
  return a != a ? b : b != b ? a : extremum<larger>(a, b);
}

/// Quotients and remainders of what LLVM leaves undefined are 0.
template <typename T> T quotient(T a, T b) {
  if (b == 0)
    return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return T(0 - std::make_unsigned_t<T>(a));
  return T(a / b);
}
template <typename T> T remainder(T a, T b) {
  if (b == 0 || (std::is_signed_v<T> && b == T(-1)))
    return 0;
  return T(a % b);
}

/// Shifts by the width and more are undefined as well.
template <typename T> unsigned shift(T by) {
  return unsigned(by) & (8 * sizeof(T) - 1);
}

/// The integer part of a number; numbers out of range are undefined as well.
template <typename To, typename From> To integerOf(From number) {
  constexpr bool isSigned = std::is_signed_v<To>;
  constexpr From limit =
      From(uint64_t(1) << (8 * sizeof(To) - 1)) * (isSigned ? 1 : 2);
  const From whole = std::trunc(number);
  return whole >= (isSigned ? -limit : 0) && whole < limit ? To(whole) : To(0);
}

float widen(BFloat16 value) {
  return std::bit_cast<float>(uint32_t(value.bits) << 16);
}
/// Rounds to the nearest number, of two to the one that is even.
BFloat16 narrow(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return {uint16_t((bits >> 16) | 0x40)};
  return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

/// All loops by the names of their ops.
class LaneTable {
public:
  LaneTable() {
    addFloats<float, int32_t>();
    addFloats<double, int64_t>();
    addIntegers<int8_t>();
    addIntegers<int16_t>();
    addIntegers<int32_t>();
    addIntegers<int64_t>();
    addLogic();
    addConversions();
  }
  ScriptLanes find(std::string_view name) const {
    const auto loop = loops.find(name);
    return loop == loops.end() ? nullptr : loop->second;
  }

private:
  [[gnu::noinline]] void insert(const char *name, const char *last,
                                const char *result, ScriptLanes lanes,
                                ScriptLanes wideLanes) {
    loops[std::string(name) + " " + last + " " + result] =
        isWide ? wideLanes : lanes;
  }
  template <auto f, typename Result, typename... Operands>
  void add(const char *name) {
    const char *const operands[] = {nameOf<Operands>...};
    const char *last = operands[sizeof...(Operands) - 1];
    const ScriptLanes lanes = apply<f, Result, Operands...>;
    if constexpr (hasWideLoop<Result, Operands...>)
      insert(name, last, nameOf<Result>, lanes,
             applyWide<f, Result, Operands...>);
    else
      insert(name, last, nameOf<Result>, lanes, lanes);
  }
  template <auto f, typename T> void addUnary(const char *name) {
    add<f, T, T>(name);
  }
  template <auto f, typename T> void addBinary(const char *name) {
    add<f, T, T, T>(name);
  }
  template <auto f, typename T> void addComparison(const char *name) {
    add<f, bool, T, T>(name);
  }

  template <typename T> void addSelect() {
    add<[](bool condition, T a, T b) { return condition ? a : b; }, T, bool, T,
        T>("arith.select");
  }

  template <typename T, typename Bits> void addFloats() {
    addSelect<T>();
    addBinary<[](T a, T b) { return a + b; }, T>("arith.addf");
    addBinary<[](T a, T b) { return a - b; }, T>("arith.subf");
    addBinary<[](T a, T b) { return a * b; }, T>("arith.mulf");
    addBinary<[](T a, T b) { return a / b; }, T>("arith.divf");
    addBinary<extremum<true, T>, T>("arith.maximumf");
    addBinary<extremum<false, T>, T>("arith.minimumf");
    addBinary<extremumOfNumbers<true, T>, T>("arith.maxnumf");
    addBinary<extremumOfNumbers<false, T>, T>("arith.minnumf");
    addUnary<[](T a) { return -a; }, T>("arith.negf");
    addUnary<[](T a) { return std::abs(a); }, T>("math.absf");
    addUnary<[](T a) { return std::floor(a); }, T>("math.floor");
    addUnary<[](T a) { return std::ceil(a); }, T>("math.ceil");
    addUnary<[](T a) { return std::trunc(a); }, T>("math.trunc");
    addUnary<[](T a) { return std::round(a); }, T>("math.round");
    addUnary<[](T a) { return std::nearbyint(a); }, T>("math.roundeven");
    addBinary<[](T a, T b) { return std::copysign(a, b); }, T>("math.copysign");
    add<[](T a, T b, T c) { return std::fma(a, b, c); }, T, T, T, T>(
        "math.fma");
    addComparisonsOfFloats<T>();
    add<[](T a) { return std::bit_cast<Bits>(a); }, Bits, T>("arith.bitcast");
    add<[](Bits a) { return std::bit_cast<T>(a); }, T, Bits>("arith.bitcast");
  }

  template <typename T> void addComparisonsOfFloats() {
    addComparison<[](T a, T b) { return a == b; }, T>("arith.cmpf oeq");
    addComparison<[](T a, T b) { return a > b; }, T>("arith.cmpf ogt");
    addComparison<[](T a, T b) { return a >= b; }, T>("arith.cmpf oge");
    addComparison<[](T a, T b) { return a < b; }, T>("arith.cmpf olt");
    addComparison<[](T a, T b) { return a <= b; }, T>("arith.cmpf ole");
    addComparison<[](T a, T b) { return a < b || a > b; }, T>("arith.cmpf one");
    addComparison<[](T a, T b) { return a == a && b == b; }, T>(
        "arith.cmpf ord");
    addComparison<[](T a, T b) { return !(a < b || a > b); }, T>(
        "arith.cmpf ueq");
    addComparison<[](T a, T b) { return !(a <= b); }, T>("arith.cmpf ugt");
    addComparison<[](T a, T b) { return !(a < b); }, T>("arith.cmpf uge");
    addComparison<[](T a, T b) { return !(a >= b); }, T>("arith.cmpf ult");
    addComparison<[](T a, T b) { return !(a > b); }, T>("arith.cmpf ule");
    addComparison<[](T a, T b) { return a != b; }, T>("arith.cmpf une");
    addComparison<[](T a, T b) { return a != a || b != b; }, T>(
        "arith.cmpf uno");
  }

  template <typename T> void addIntegers() {
    using U = std::make_unsigned_t<T>;
    addSelect<T>();
    addBinary<[](T a, T b) { return T(U(a) + U(b)); }, T>("arith.addi");
    addBinary<[](T a, T b) { return T(U(a) - U(b)); }, T>("arith.subi");
    // In 64 bits: two numbers of 16 bits would be multiplied as int.
    addBinary<[](T a, T b) { return T(uint64_t(a) * uint64_t(b)); }, T>(
        "arith.muli");
    addBinary<[](T a, T b) { return quotient(a, b); }, T>("arith.divsi");
    addBinary<[](T a, T b) { return T(quotient(U(a), U(b))); }, T>(
        "arith.divui");
    addBinary<[](T a, T b) { return remainder(a, b); }, T>("arith.remsi");
    addBinary<[](T a, T b) { return b == 0 ? T(0) : T(U(a) % U(b)); }, T>(
        "arith.remui");
    addBinary<[](T a, T b) { return T(a & b); }, T>("arith.andi");
    addBinary<[](T a, T b) { return T(a | b); }, T>("arith.ori");
    addBinary<[](T a, T b) { return T(a ^ b); }, T>("arith.xori");
    addBinary<[](T a, T b) { return T(U(a) << shift(b)); }, T>("arith.shli");
    addBinary<[](T a, T b) { return T(a >> shift(b)); }, T>("arith.shrsi");
    addBinary<[](T a, T b) { return T(U(a) >> shift(b)); }, T>("arith.shrui");
    addBinary<[](T a, T b) { return std::max(a, b); }, T>("arith.maxsi");
    addBinary<[](T a, T b) { return std::min(a, b); }, T>("arith.minsi");
    addBinary<[](T a, T b) { return T(std::max(U(a), U(b))); }, T>(
        "arith.maxui");
    addBinary<[](T a, T b) { return T(std::min(U(a), U(b))); }, T>(
        "arith.minui");
    addUnary<[](T a) { return T(a < 0 ? 0 - U(a) : U(a)); }, T>("math.absi");
    addUnary<[](T a) { return T(std::popcount(U(a))); }, T>("math.ctpop");
    addUnary<[](T a) { return T(std::countl_zero(U(a))); }, T>("math.ctlz");
    addUnary<[](T a) { return T(std::countr_zero(U(a))); }, T>("math.cttz");
    addComparisonsOfIntegers<T>();
  }

  template <typename T> void addComparisonsOfIntegers() {
    using U = std::make_unsigned_t<T>;
    addComparison<[](T a, T b) { return a == b; }, T>("arith.cmpi eq");
    addComparison<[](T a, T b) { return a != b; }, T>("arith.cmpi ne");
    addComparison<[](T a, T b) { return a < b; }, T>("arith.cmpi slt");
    addComparison<[](T a, T b) { return a <= b; }, T>("arith.cmpi sle");
    addComparison<[](T a, T b) { return a > b; }, T>("arith.cmpi sgt");
    addComparison<[](T a, T b) { return a >= b; }, T>("arith.cmpi sge");
    addComparison<[](T a, T b) { return U(a) < U(b); }, T>("arith.cmpi ult");
    addComparison<[](T a, T b) { return U(a) <= U(b); }, T>("arith.cmpi ule");
    addComparison<[](T a, T b) { return U(a) > U(b); }, T>("arith.cmpi ugt");
    addComparison<[](T a, T b) { return U(a) >= U(b); }, T>("arith.cmpi uge");
  }

  void addLogic() {
    addSelect<bool>();
    addBinary<[](bool a, bool b) { return a && b; }, bool>("arith.andi");
    addBinary<[](bool a, bool b) { return a || b; }, bool>("arith.ori");
    addBinary<[](bool a, bool b) { return a != b; }, bool>("arith.xori");
    addBinary<[](bool a, bool b) { return a != b; }, bool>("arith.addi");
    addComparison<[](bool a, bool b) { return a == b; }, bool>("arith.cmpi eq");
    addComparison<[](bool a, bool b) { return a != b; }, bool>("arith.cmpi ne");
  }

  template <typename From, typename To> void addResize() {
    using Unsigned = std::make_unsigned_t<From>;
    if constexpr (sizeof(From) < sizeof(To)) {
      add<[](From a) { return To(a); }, To, From>("arith.extsi");
      add<[](From a) { return To(Unsigned(a)); }, To, From>("arith.extui");
    } else if constexpr (sizeof(From) > sizeof(To)) {
      add<[](From a) { return To(a); }, To, From>("arith.trunci");
    }
  }
  template <typename Integer, typename Float> void addFloatConversions() {
    using Unsigned = std::make_unsigned_t<Integer>;
    add<[](Integer a) { return Float(a); }, Float, Integer>("arith.sitofp");
    add<[](Integer a) { return Float(Unsigned(a)); }, Float, Integer>(
        "arith.uitofp");
    add<integerOf<Integer, Float>, Integer, Float>("arith.fptosi");
    add<[](Float a) { return Integer(integerOf<Unsigned>(a)); }, Integer,
        Float>("arith.fptoui");
  }
  template <typename Integer> void addConversionsOf() {
    addResize<Integer, int8_t>();
    addResize<Integer, int16_t>();
    addResize<Integer, int32_t>();
    addResize<Integer, int64_t>();
    addFloatConversions<Integer, float>();
    addFloatConversions<Integer, double>();
    add<[](bool a) { return Integer(a); }, Integer, bool>("arith.extui");
    add<[](bool a) { return Integer(-Integer(a)); }, Integer, bool>(
        "arith.extsi");
    add<[](Integer a) { return (a & 1) != 0; }, bool, Integer>("arith.trunci");
  }
  void addConversions() {
    addConversionsOf<int8_t>();
    addConversionsOf<int16_t>();
    addConversionsOf<int32_t>();
    addConversionsOf<int64_t>();
    add<[](bool a) { return float(a); }, float, bool>("arith.uitofp");
    add<[](bool a) { return double(a); }, double, bool>("arith.uitofp");
    add<[](float a) { return double(a); }, double, float>("arith.extf");
    add<[](double a) { return float(a); }, float, double>("arith.truncf");
    add<widen, float, BFloat16>("arith.extf");
    add<narrow, BFloat16, float>("arith.truncf");
    // Indices have 64 bits.
    addResizeOfIndex<int32_t>();
    addUnary<[](int64_t a) { return a; }, int64_t>("arith.index_cast");
    addUnary<[](int64_t a) { return a; }, int64_t>("arith.index_castui");
  }
  template <typename T> void addResizeOfIndex() {
    add<[](int64_t a) { return T(a); }, T, int64_t>("arith.index_cast");
    add<[](int64_t a) { return T(a); }, T, int64_t>("arith.index_castui");
    add<[](T a) { return int64_t(a); }, int64_t, T>("arith.index_cast");
    add<[](T a) { return int64_t(std::make_unsigned_t<T>(a)); }, int64_t, T>(
        "arith.index_castui");
  }

  const bool isWide = hasWideLanes();
  std::map<std::string, ScriptLanes, std::less<>> loops;
};
} // namespace

ScriptLanes meshloom::findOpLanes(std::string_view name) {
  // Never destroyed: threads may load scripts while the process ends.
  static const LaneTable &table = *new LaneTable;
  return table.find(name);
}
