// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types as C++ types: what they accumulate in, and how they combine.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Core/Layout.h"
#include "meshloom/Runtime/HalfFloats.h"

#include <complex>
#include <limits>
#include <type_traits>

namespace meshloom::library {

/// The 16-bit floats in memory.
struct BF16Element {
  uint16_t bits;
};
struct F16Element {
  uint16_t bits;
};
/// An i1 in memory.
struct BoolElement {
  uint8_t value;
};

/// Numbers are what they are; halves accumulate in f32, booleans in a byte.
template <typename T> struct Numbers {
  using Sum = T;
  static Sum load(T value) { return value; }
  static T store(Sum value) { return value; }
};
template <> struct Numbers<BF16Element> {
  using Sum = float;
  static Sum load(BF16Element value) { return BF16::widen(value.bits); }
  static BF16Element store(Sum value) { return {BF16::narrow(value)}; }
};
template <> struct Numbers<F16Element> {
  using Sum = float;
  static Sum load(F16Element value) { return F16::widen(value.bits); }
  static F16Element store(Sum value) { return {F16::narrow(value)}; }
};
template <> struct Numbers<BoolElement> {
  using Sum = uint8_t;
  static Sum load(BoolElement value) { return value.value; }
  static BoolElement store(Sum value) { return {value}; }
};
template <typename T> using SumOf = typename Numbers<T>::Sum;

/// The same in loops that are compiled for the CPU at hand (Clones.h), where
/// converting f16 numbers is one instruction; elsewhere it is a call.
template <typename T> struct CloneNumbers : Numbers<T> {};
template <> struct CloneNumbers<F16Element> {
  using Sum = float;
  static Sum load(F16Element value) {
    return float(std::bit_cast<_Float16>(value.bits));
  }
  static F16Element store(Sum value) {
    return {std::bit_cast<uint16_t>(_Float16(value))};
  }
};

template <typename T> inline constexpr bool isComplexType = false;
template <typename R>
inline constexpr bool isComplexType<std::complex<R>> = true;

/// Integers whose arithmetic wraps.
template <typename T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

/// Returns whether `kind` combines elements of the type: floats have no bits,
/// and complex numbers have no order either.
inline bool isCombinedBy(DType type, ReduceKind kind) {
  const bool isArithmetic = kind == ReduceKind::Sum || kind == ReduceKind::Prod,
             isLogical = kind == ReduceKind::And || kind == ReduceKind::Or;
  return isComplex(type) ? isArithmetic : !isFloat(type) || !isLogical;
}

/// min and max are nan where either is.
template <ReduceKind kind, typename T> inline T combined(T a, T b) {
  if constexpr (kind == ReduceKind::Sum) {
    if constexpr (std::is_integral_v<T>)
      return T(Wrapping<T>(a) + Wrapping<T>(b));
    else
      return T(a + b);
  } else if constexpr (kind == ReduceKind::Prod) {
    if constexpr (isComplexType<T>)
      return T(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    else if constexpr (std::is_integral_v<T>)
      return T(Wrapping<T>(a) * Wrapping<T>(b));
    else
      return T(a * b);
  } else if constexpr (kind == ReduceKind::Min) {
    const T smaller = a < b ? a : b;
    return a != a ? a : smaller;
  } else if constexpr (kind == ReduceKind::Max) {
    const T larger = a > b ? a : b;
    return a != a ? a : larger;
  } else if constexpr (kind == ReduceKind::And) {
    return T(a & b);
  } else {
    return T(a | b);
  }
}

/// The kind that does for i1 what `kind` does.
inline ReduceKind booleanKind(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Max:
  case ReduceKind::Or:
    return ReduceKind::Or;
  default:
    return ReduceKind::And;
  }
}

/// Calls `body.template operator()<T>()` for the C++ type of `type`. Signs
/// matter to the order of integers.
template <typename Body> auto withElement(DType type, const Body &body) {
  switch (type) {
  case DType::F32:
    return body.template operator()<float>();
  case DType::F64:
    return body.template operator()<double>();
  case DType::BF16:
    return body.template operator()<BF16Element>();
  case DType::F16:
    return body.template operator()<F16Element>();
  case DType::I1:
    return body.template operator()<BoolElement>();
  case DType::I8:
    return body.template operator()<int8_t>();
  case DType::UI8:
    return body.template operator()<uint8_t>();
  case DType::I16:
    return body.template operator()<int16_t>();
  case DType::UI16:
    return body.template operator()<uint16_t>();
  case DType::I32:
    return body.template operator()<int32_t>();
  case DType::UI32:
    return body.template operator()<uint32_t>();
  case DType::I64:
    return body.template operator()<int64_t>();
  case DType::UI64:
    return body.template operator()<uint64_t>();
  case DType::C64:
    return body.template operator()<std::complex<float>>();
  default:
    return body.template operator()<std::complex<double>>();
  }
}

/// Calls `body.template operator()<T, kind>()` if `kind` is one of `kinds`.
template <typename T, ReduceKind... kinds, typename Body>
void withKindAmong(ReduceKind kind, const Body &body) {
  ((kind == kinds ? body.template operator()<T, kinds>() : void()), ...);
}

/// Calls `body.template operator()<T, kind>()` for the C++ type of `type` and a
/// kind that combines its elements (isCombinedBy). Only the order of integers
/// depends on signs: T is an unsigned type for all other kinds.
template <typename Body>
void withReduction(DType type, ReduceKind kind, const Body &body) {
  using enum ReduceKind;
  auto floats = [&]<typename T>() {
    withKindAmong<T, Sum, Prod, Min, Max>(kind, body);
  };
  auto integers = [&]<typename T>() {
    withKindAmong<T, Min, Max>(kind, body);
    withKindAmong<std::make_unsigned_t<T>, Sum, Prod, And, Or>(kind, body);
  };
  switch (type) {
  case DType::F32:
    return floats.template operator()<float>();
  case DType::F64:
    return floats.template operator()<double>();
  case DType::BF16:
    return floats.template operator()<BF16Element>();
  case DType::F16:
    return floats.template operator()<F16Element>();
  case DType::I1:
    return withKindAmong<BoolElement, And, Or>(booleanKind(kind), body);
  case DType::C64:
    return withKindAmong<std::complex<float>, Sum, Prod>(kind, body);
  case DType::C128:
    return withKindAmong<std::complex<double>, Sum, Prod>(kind, body);
  case DType::I8:
    return integers.template operator()<int8_t>();
  case DType::UI8:
    return integers.template operator()<uint8_t>();
  case DType::I16:
    return integers.template operator()<int16_t>();
  case DType::UI16:
    return integers.template operator()<uint16_t>();
  case DType::I32:
    return integers.template operator()<int32_t>();
  case DType::UI32:
    return integers.template operator()<uint32_t>();
  case DType::I64:
    return integers.template operator()<int64_t>();
  case DType::UI64:
    return integers.template operator()<uint64_t>();
  }
}

/// Calls body.template operator()<kind>() for a kind that combines elements of
/// T.
template <typename T, typename Body>
[[gnu::always_inline]] inline void withKindOf(ReduceKind kind,
                                              const Body &body) {
  using enum ReduceKind;
  auto among = [&]<ReduceKind... kinds>() __attribute__((always_inline)) {
    ((kind == kinds ? body.template operator()<kinds>() : void()), ...);
  };
  if constexpr (isComplexType<T>)
    among.template operator()<Sum, Prod>();
  else if constexpr (std::is_same_v<T, BoolElement>)
    among.template operator()<And, Or>();
  else if constexpr (!std::is_integral_v<T>)
    among.template operator()<Sum, Prod, Min, Max>();
  else if constexpr (std::is_signed_v<T>)
    among.template operator()<Min, Max>();
  else
    among.template operator()<Sum, Prod, Min, Max, And, Or>();
}

/// Calls the macro `DO` for each type of elements.
#define MESHLOOM_FOR_ELEMENTS(DO)                                              \
  DO(float)                                                                    \
  DO(double)                                                                   \
  DO(BF16Element)                                                              \
  DO(F16Element)                                                               \
  DO(BoolElement)                                                              \
  DO(int8_t)                                                                   \
  DO(uint8_t)                                                                  \
  DO(int16_t)                                                                  \
  DO(uint16_t)                                                                 \
  DO(int32_t)                                                                  \
  DO(uint32_t)                                                                 \
  DO(int64_t)                                                                  \
  DO(uint64_t)                                                                 \
  DO(std::complex<float>)                                                      \
  DO(std::complex<double>)

} // namespace meshloom::library
