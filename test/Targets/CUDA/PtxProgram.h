// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX as data: the part of it that LLVM writes for our kernels. Reading fails
// on everything else, so that nothing is run that is not understood.
#pragma once

#include "meshloom/Core/Result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom::ptx {

enum class TypeKind : uint8_t { Predicate, Bits, Unsigned, Signed, Float };
struct Type {
  TypeKind kind = TypeKind::Bits;
  uint8_t bits = 0;
  bool operator==(const Type &) const = default;
};

enum class Op : uint8_t {
  // clang-format off
  Abs, Add, And, BarSync, Bfe, Bfi, Bra, Brev, Clz, Cvt, Cvta, Div, Fma, Ld,
  Mad, Max, Min, Mma, Mov, Mul, Neg, Not, Or, Pack, Popc, Prmt, Rcp, Rem, Ret, Selp,
  SetCondition, Setp, Shf, ShflDown, Shl, Shr, Sqrt, St, Sub, Testp, Unpack, Xor
  // clang-format on
};
/// Which half of a product, or all of it.
enum class Part : uint8_t { None, Low, High, Wide };
/// How a conversion makes a whole number.
enum class Rounding : uint8_t { None, Nearest, Zero, Down, Up };
enum class Space : uint8_t { Parameter, Global, Shared, Constant };
/// Ordered comparisons, the same or unordered, and tests for nan.
enum class Compare : uint8_t {
  // clang-format off
  Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan
  // clang-format on
};
enum class Special : uint8_t { Thread, Threads, Block, Blocks };

/// The place of a value among those of a thread: first its numbers (Special)
/// and what nobody reads, then the registers and constants of its kernel.
using Slot = uint32_t;
constexpr Slot unreadSlot = 4, firstFreeSlot = 5;

struct Instruction;
/// Returns the result of an instruction, as bits, which may be sign-extended.
using Computation = uint64_t (*)(const Instruction &, const uint64_t *slots);

struct Instruction {
  /// Null: the instruction does not only compute a result from its operands.
  Computation compute = nullptr;
  uint64_t resultMask = 0; ///< the bits that the result has
  Slot result = unreadSlot;
  std::array<Slot, 4> operands{};
  int guard = -1;            ///< the predicate that it depends on, or -1
  bool guardNegated = false; ///< runs where the predicate does not hold
  bool dividesIntegers = false;
  Op op = Op::Ret;
  Type type, from; ///< `from`: what a conversion converts
  Part part = Part::None;
  Rounding rounding = Rounding::None;
  Compare compare = Compare::Eq;
  Space space = Space::Global;
  bool nanWins = false;         ///< of min and max
  bool finite = false;          ///< of testp: finite, not infinite
  bool toLeft = false;          ///< of shf: shifts to the left
  bool constantRead = false;    ///< of ld: of what no thread writes
  bool ofBrainFloats = false;   ///< an mma multiplies bf16, not f16
  uint8_t vectorSize = 1;       ///< the elements of an access
  uint8_t vectorPlace = 0;      ///< the bytes of the access in front of it
  int64_t offset = 0;           ///< of an address, in bytes; or a parameter
  Slot highResult = unreadSlot; ///< the upper half that a mov unpacks
  unsigned fragments = 0;       ///< of an mma: its place among the kernel's
  unsigned target = 0;          ///< where a branch goes, an index of code
  unsigned line = 0;            ///< in the text, from 1
};

/// The registers of an mma: its result, both factors and the sum.
using Fragments = std::array<Slot, 14>;

struct Kernel {
  std::string name;
  unsigned mostThreads = 0; ///< of a block
  unsigned parameters = 0;  ///< of 64 bits each
  unsigned sharedBytes = 0;
  /// The bits that each slot has, and what it holds when a thread begins.
  std::vector<uint64_t> masks, slots;
  std::vector<Fragments> fragments;
  std::vector<Instruction> code;
};

struct Program {
  std::vector<Kernel> kernels;
  std::vector<std::string> lines;
  std::vector<char> constants; ///< the memory of all `.const` arrays
  bool setsConditions = false; ///< by the driver's cudaGraphSetConditional
  const Kernel *find(std::string_view name) const;
};

/// Fails, with the line, on anything outside of the subset.
Result<Program> parse(std::string_view text);

} // namespace meshloom::ptx
