// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of many terms in a kernel. Terms are added one by one only within
// blocks; the sums of blocks are added in pairs, those of two pairs, and so on,
// as a binary counter counts: so n terms are off by at most about
// (block + log2(n / block)) rounding errors of the sum of their sizes, instead
// of n. The sums of few blocks are added one by one, which takes less code; n
// equal terms are then off by (block + n / block) / 2. docs/Rationale.md says
// what was measured.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Code for the sums of `width` elements side by side: their running sums lie
/// in arrays; on the stack lie, of each level l, the sums of 2^l blocks that
/// still wait for their other half, or one level of sums of all blocks so far.
class PairwiseSums {
public:
  /// `running`: arrays of at least `width` elements of the given types, whose
  /// running sums are kept here, aligned to 64 bytes. There are at most
  /// 2^`bits` blocks. `width` is 1 or a multiple of `lanes`. Makes the memory
  /// of the levels at the builder's insertion point.
  PairwiseSums(OpBuilder &b, Location loc, ArrayRef<Value> running,
               ArrayRef<Type> types, int64_t width, unsigned bits);

  ArrayRef<Value> runningSums() const { return running; }
  /// Returns whether the sums of blocks are added one by one.
  bool addsOneByOne() const { return hasFewBlocks; }
  /// A block is complete: takes the running sums of elements [0, count), and
  /// leaves zeros. `blocks`: how many were complete before, an i64, where
  /// sums are added in pairs; returns how many are now.
  Value push(Value blocks, Value count);
  /// All terms are added: makes the running sums those of all blocks.
  void finish(Value blocks, Value count);

  /// Elements that are added at once where there are several side by side. The
  /// code is vectors as it comes, and whole ones: neither is left to LLVM's
  /// vectoriser, which takes longer to compile it than the loops that add
  /// terms.
  static constexpr int64_t lanes = 16;

private:
  /// There are no more blocks than terms in a block.
  static constexpr unsigned bitsOfFewBlocks = 6;

  /// For each j in [0, count): to[j] += from[j], and from[j] = 0, for all
  /// arrays of `to` and `from`.
  void moveSums(ArrayRef<Value> to, ArrayRef<Value> from, Value count);
  Value addressOf(Value array, Type type, Value index);
  Value constant(int64_t value);
  Value zero(Type group);
  /// For each j in [0, count): running[j] += level[j].
  void addLevel(Value level, Value count);
  void loop(Value extent, int64_t step, function_ref<void(Value)> fill);
  /// Calls `fill` with the first element of each group of [0, count). The last
  /// group may have elements from `count` on, which nobody reads.
  void forGroups(Value count, function_ref<void(Value)> fill);
  Value load(Type group, Value address);
  void store(Value group, Value address);
  /// Bytes that the address of a group is a multiple of; 0: what its type says.
  unsigned alignment() const { return width == 1 ? 0 : 64; }

  OpBuilder &b;
  Location loc;
  SmallVector<Value> running, levels;
  SmallVector<Type> elements, groups; ///< of `running`; a group is a vector
  int64_t width;
  bool hasFewBlocks;
};

} // namespace meshloom
