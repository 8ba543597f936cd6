// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See PtxScalars.h. Compiled without contraction: an fma is one where PTX says
// so.
#include "PtxScalars.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

namespace meshloom::ptx {
namespace {

/// The bits of an instruction's operands, of which it may have fewer.
using OperandBits = std::array<uint64_t, 4>;

uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}
uint64_t signExtended(uint64_t value, unsigned bits) {
  const unsigned shift = 64 - bits;
  return uint64_t(int64_t(value << shift) >> shift);
}
/// The value of a register as a number of `type`, in 64 bits.
uint64_t widened(Type type, uint64_t value) {
  return type.kind == TypeKind::Signed ? signExtended(value, type.bits)
                                       : lowBits(value, type.bits);
}

template <Type type> uint64_t product(Part part, uint64_t x, uint64_t y) {
  __extension__ using Wide = __int128;
  const Wide wide = type.kind == TypeKind::Signed
                        ? Wide(int64_t(x)) * Wide(int64_t(y))
                        : Wide(x) * Wide(y);
  return part == Part::High ? uint64_t(wide >> type.bits) : uint64_t(wide);
}

template <typename T> bool compare(Compare kind, T x, T y) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>)
    unordered = std::isnan(x) || std::isnan(y);
  switch (kind) {
  case Compare::Eq:
    return x == y;
  case Compare::Ne:
    return !unordered && x != y;
  case Compare::Lt:
    return x < y;
  case Compare::Le:
    return x <= y;
  case Compare::Gt:
    return x > y;
  case Compare::Ge:
    return x >= y;
  case Compare::Equ:
    return unordered || x == y;
  case Compare::Neu:
    return unordered || x != y;
  case Compare::Ltu:
    return unordered || x < y;
  case Compare::Leu:
    return unordered || x <= y;
  case Compare::Gtu:
    return unordered || x > y;
  case Compare::Geu:
    return unordered || x >= y;
  case Compare::Num:
    return !unordered;
  case Compare::Nan:
    return unordered;
  }
  return false;
}

uint64_t quotient(bool isDivision, Type type, uint64_t x, uint64_t y) {
  if (type.kind != TypeKind::Signed)
    return isDivision ? x / y : x % y;
  if (int64_t(y) == -1) // whose quotient may not fit
    return isDivision ? uint64_t(0) - x : 0;
  return uint64_t(isDivision ? int64_t(x) / int64_t(y)
                             : int64_t(x) % int64_t(y));
}

uint64_t reversed(uint64_t value) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 64; ++i)
    result |= (value >> i & 1) << (63 - i);
  return result;
}

/// The field of `value` that begins at the bit operands[1] and has operands[2]
/// bits, of which those behind the value's end equal its sign.
uint64_t extracted(Type type, uint64_t value, const OperandBits &operands) {
  const uint64_t begin = lowBits(operands[1], 8),
                 length = lowBits(operands[2], 8);
  if (type.kind != TypeKind::Signed)
    return begin >= type.bits ? 0 : lowBits(value >> begin, unsigned(length));
  const uint64_t end = std::min<uint64_t>(begin + length, type.bits);
  const uint64_t field =
      uint64_t(int64_t(value) >> std::min<uint64_t>(begin, 63));
  if (length == 0)
    return 0;
  return end <= begin ? field : signExtended(field, unsigned(end - begin));
}

/// `base`, whose bits from operands[2] on are the first operands[3] ones of
/// `field`.
uint64_t inserted(uint64_t field, uint64_t base, const OperandBits &operands) {
  const uint64_t begin = lowBits(operands[2], 8),
                 length = lowBits(operands[3], 8);
  if (begin >= 64)
    return base;
  const uint64_t mask = lowBits(~uint64_t(0), unsigned(length)) << begin;
  return (base & ~mask) | (field << begin & mask);
}

/// Four of eight bytes. Four bits of `selector` choose one of them: its number,
/// and whether its sign takes its place.
uint64_t permuted(uint64_t bytes, uint64_t selector) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint64_t choice = selector >> (4 * i) & 15;
    uint64_t byte = bytes >> (8 * (choice & 7)) & 255;
    if (choice & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// One half of `pair` shifted by at most 31 bits: the upper one after a shift
/// to the left, the lower one after one to the right.
uint64_t funnelShifted(const Instruction &instruction, uint64_t pair,
                       uint64_t amount) {
  return instruction.toLeft ? pair << (amount & 31) >> 32
                            : pair >> (amount & 31);
}

template <Op op, Type type>
uint64_t ofIntegers(const Instruction &instruction,
                    const OperandBits &operands) {
  constexpr bool isSigned = type.kind == TypeKind::Signed;
  const uint64_t amount = lowBits(operands[1], 32);
  const uint64_t x = widened(type, operands[0]), y = widened(type, operands[1]);
  switch (op) {
  case Op::Add:
    return x + y;
  case Op::Sub:
    return x - y;
  case Op::Mul:
    return product<type>(instruction.part, x, y);
  case Op::Mad:
    return product<type>(instruction.part, x, y) + operands[2];
  case Op::Div:
  case Op::Rem:
    return quotient(op == Op::Div, type, x, y);
  case Op::Min:
    return isSigned ? uint64_t(std::min(int64_t(x), int64_t(y)))
                    : std::min(x, y);
  case Op::Max:
    return isSigned ? uint64_t(std::max(int64_t(x), int64_t(y)))
                    : std::max(x, y);
  case Op::And:
    return x & y;
  case Op::Or:
    return x | y;
  case Op::Xor:
    return x ^ y;
  case Op::Not:
    return type.kind == TypeKind::Predicate ? !x : ~x;
  case Op::Neg:
    return uint64_t(0) - x;
  case Op::Abs:
    return int64_t(x) < 0 ? uint64_t(0) - x : x;
  case Op::Shl:
    return amount >= type.bits ? 0 : x << amount;
  case Op::Shr:
    if (isSigned)
      return uint64_t(int64_t(x) >> std::min<uint64_t>(amount, 63));
    return amount >= type.bits ? 0 : x >> amount;
  case Op::Clz:
    return uint64_t(std::countl_zero(x)) - (64 - type.bits);
  case Op::Popc:
    return uint64_t(std::popcount(x));
  case Op::Brev:
    return reversed(x) >> (64 - type.bits);
  case Op::Bfe:
    return extracted(type, x, operands);
  case Op::Bfi:
    return inserted(x, y, operands);
  case Op::Prmt:
    return permuted(x | y << 32, operands[2]);
  case Op::Shf:
    return funnelShifted(instruction, x | y << 32, operands[2]);
  case Op::Pack:
    return lowBits(x, type.bits / 2) | y << (type.bits / 2);
  case Op::Setp:
    return isSigned ? compare(instruction.compare, int64_t(x), int64_t(y))
                    : compare(instruction.compare, x, y);
  default:
    return x;
  }
}

template <Op op, typename T, typename Bits>
uint64_t ofFloats(const Instruction &instruction, const OperandBits &operands) {
  const T x = std::bit_cast<T>(Bits(operands[0])),
          y = std::bit_cast<T>(Bits(operands[1]));
  auto bits = [](T value) { return uint64_t(std::bit_cast<Bits>(value)); };
  constexpr Bits sign = Bits(1) << (8 * sizeof(T) - 1);
  switch (op) {
  case Op::Add:
    return bits(x + y);
  case Op::Sub:
    return bits(x - y);
  case Op::Mul:
    return bits(x * y);
  case Op::Div:
    return bits(x / y);
  case Op::Fma:
    return bits(std::fma(x, y, std::bit_cast<T>(Bits(operands[2]))));
  case Op::Sqrt:
    return bits(std::sqrt(x));
  case Op::Rcp:
    return bits(1 / x);
  case Op::Neg:
    return Bits(operands[0]) ^ sign;
  case Op::Abs:
    return Bits(operands[0]) & Bits(~sign);
  case Op::Min:
  case Op::Max: {
    if (std::isnan(x) || std::isnan(y)) {
      if (instruction.nanWins || (std::isnan(x) && std::isnan(y)))
        return bits(std::numeric_limits<T>::quiet_NaN());
      return bits(std::isnan(x) ? y : x);
    }
    // -0 is less than +0.
    const bool less = x < y || (x == y && std::signbit(x) > std::signbit(y));
    return bits((op == Op::Min) == less ? x : y);
  }
  case Op::Setp:
    return compare(instruction.compare, x, y);
  case Op::Testp:
    return instruction.finite ? std::isfinite(x) : std::isinf(x);
  default:
    return Bits(operands[0]);
  }
}

double rounded(Rounding rounding, double value) {
  switch (rounding) {
  case Rounding::None:
    return value;
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  }
  return value;
}

/// A float of `type` as an f64, which holds all of them.
double asDouble(Type type, uint64_t bits) {
  switch (type.bits) {
  case 16:
    return double(std::bit_cast<_Float16>(uint16_t(bits)));
  case 32:
    return std::bit_cast<float>(uint32_t(bits));
  default:
    return std::bit_cast<double>(bits);
  }
}

/// `value`, as a float of `type`.
template <typename T> uint64_t floatBits(Type type, T value) {
  switch (type.bits) {
  case 16:
    return std::bit_cast<uint16_t>(_Float16(value));
  case 32:
    return std::bit_cast<uint32_t>(float(value));
  default:
    return std::bit_cast<uint64_t>(double(value));
  }
}

/// Numbers out of range become the nearest one in range, and nan becomes 0.
uint64_t integerBits(Type type, double value) {
  if (std::isnan(value))
    return 0;
  const bool isSigned = type.kind == TypeKind::Signed;
  const double end = std::ldexp(1.0, type.bits - isSigned);
  const uint64_t most = isSigned ? lowBits(~uint64_t(0), type.bits - 1)
                                 : lowBits(~uint64_t(0), type.bits);
  if (value >= end)
    return most;
  if (isSigned)
    return value < -end ? ~most : uint64_t(int64_t(value));
  return value <= 0 ? 0 : uint64_t(value);
}

uint64_t converted(const Instruction &instruction, uint64_t operand) {
  const Type to = instruction.type, from = instruction.from;
  const bool fromFloat = from.kind == TypeKind::Float;
  if (to.kind != TypeKind::Float && !fromFloat)
    return widened(to, widened(from, operand));
  if (!fromFloat) {
    const uint64_t x = widened(from, operand);
    return from.kind == TypeKind::Signed ? floatBits(to, int64_t(x))
                                         : floatBits(to, x);
  }
  const double value = rounded(instruction.rounding, asDouble(from, operand));
  return to.kind == TypeKind::Float ? floatBits(to, value)
                                    : integerBits(to, value);
}

/// An f16 is computed in f64, and rounded.
template <Op op, Type type>
uint64_t ofHalves(const Instruction &instruction, const OperandBits &operands) {
  OperandBits wide = operands;
  for (uint64_t &operand : wide)
    operand = std::bit_cast<uint64_t>(asDouble(type, operand));
  const uint64_t value = ofFloats<op, double, uint64_t>(instruction, wide);
  return op == Op::Setp || op == Op::Testp
             ? value
             : floatBits(type, std::bit_cast<double>(value));
}

template <Op op, Type type>
uint64_t compute(const Instruction &instruction, const uint64_t *slots) {
  OperandBits operands;
  for (size_t i = 0; i < operands.size(); ++i)
    operands[i] = slots[instruction.operands[i]];
  if constexpr (op == Op::Selp)
    return operands[2] ? operands[0] : operands[1];
  else if constexpr (type.kind != TypeKind::Float)
    return ofIntegers<op, type>(instruction, operands);
  else if constexpr (type.bits == 16)
    return ofHalves<op, type>(instruction, operands);
  else if constexpr (type.bits == 32)
    return ofFloats<op, float, uint32_t>(instruction, operands);
  else
    return ofFloats<op, double, uint64_t>(instruction, operands);
}

uint64_t convert(const Instruction &instruction, const uint64_t *slots) {
  return converted(instruction, slots[instruction.operands[0]]);
}
/// An address of the host is one of global memory.
uint64_t copy(const Instruction &instruction, const uint64_t *slots) {
  return slots[instruction.operands[0]];
}

constexpr std::array types{
    Type{TypeKind::Predicate, 1}, Type{TypeKind::Bits, 16},
    Type{TypeKind::Bits, 32},     Type{TypeKind::Bits, 64},
    Type{TypeKind::Unsigned, 16}, Type{TypeKind::Unsigned, 32},
    Type{TypeKind::Unsigned, 64}, Type{TypeKind::Signed, 16},
    Type{TypeKind::Signed, 32},   Type{TypeKind::Signed, 64},
    Type{TypeKind::Float, 16},    Type{TypeKind::Float, 32},
    Type{TypeKind::Float, 64}};

template <Op op, size_t... indices>
Computation ofType(Type type, std::index_sequence<indices...>) {
  Computation found = nullptr;
  ((type == types[indices] ? void(found = compute<op, types[indices]>)
                           : void()),
   ...);
  return found;
}

template <Op... ops> Computation ofOp(Op op, Type type) {
  Computation found = nullptr;
  ((op == ops ? void(found = ofType<ops>(
                         type, std::make_index_sequence<types.size()>()))
              : void()),
   ...);
  return found;
}

} // namespace

Computation computationOf(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Cvt:
    return convert;
  case Op::Mov:
  case Op::Cvta:
    return copy;
  default:
    return ofOp<Op::Abs, Op::Add, Op::And, Op::Bfe, Op::Bfi, Op::Brev, Op::Clz,
                Op::Div, Op::Fma, Op::Mad, Op::Max, Op::Min, Op::Mul, Op::Neg,
                Op::Not, Op::Or, Op::Pack, Op::Popc, Op::Prmt, Op::Rcp, Op::Rem,
                Op::Selp, Op::Setp, Op::Shf, Op::Shl, Op::Shr, Op::Sqrt,
                Op::Sub, Op::Testp, Op::Xor>(instruction.op, instruction.type);
  }
}

bool dividesByZero(const Instruction &instruction, const uint64_t *slots) {
  return widened(instruction.type, slots[instruction.operands[1]]) == 0;
}

} // namespace meshloom::ptx
