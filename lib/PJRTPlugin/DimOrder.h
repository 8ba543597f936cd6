// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DimOrder: in which order the dims of a value lie in memory. Callers name it
// by dims from minor to major, as in "{0,1}" for a matrix that lies column by
// column. The runtime has row-major arrays only: the array of such a value has
// the value's dims in the order of memory, here the transposed matrix.
#pragma once

#include "meshloom/Core/Layout.h"
#include "meshloom/Core/Result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom::plugin {

class DimOrder {
public:
  static DimOrder rowMajor(size_t rank);
  /// Fails unless the list names each dim once.
  static Result<DimOrder> get(std::vector<int64_t> majorToMinor);
  /// From text, "{0,1}". Fails on tiles, which no buffer has.
  static Result<DimOrder> read(std::string_view text, size_t rank);

  bool isRowMajor() const { return dims.empty(); }
  size_t rank() const { return count; }
  std::vector<int64_t> majorToMinor() const;
  std::string text() const;

  /// An entry for each dim of the value, in the order of memory.
  std::vector<int64_t> inMemory(std::span<const int64_t> ofValue) const;
  /// The reverse.
  std::vector<int64_t> ofValue(std::span<const int64_t> inMemory) const;
  /// The value's layout where its array has `inMemory`.
  Layout ofValue(const Layout &inMemory) const;

  bool operator==(const DimOrder &) const = default;

private:
  DimOrder(size_t count, std::vector<int64_t> dims)
      : count(count), dims(std::move(dims)) {}
  size_t count;
  std::vector<int64_t> dims; ///< major to minor; empty: row-major
};

} // namespace meshloom::plugin
