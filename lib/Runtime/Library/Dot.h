// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products for any strides and any number of loops: of f32, f64, i32 and
// complex numbers, of bf16 and f16 summed in f32, and of bytes summed in i32.
#pragma once

#include "ProductParts.h"

#include "meshloom/Core/Program.h"

#include <array>

namespace meshloom::library {

/// The element types of a product. All three are the same, but for products of
/// bf16 or f16 into f32, and of I8 and UI8, each operand of either, into
/// integers of 32 bits.
struct DotTypes {
  DType lhs = DType::F32, rhs = DType::F32, out = DType::F32;
};

/// Says which role each loop of a dot has in the product: the operands that use
/// it decide.
class Dot {
public:
  /// `deterministic`: an element's bits depend on its terms alone
  /// (FixedProduct.h).
  explicit Dot(const DotStep &step, DotTypes types = {},
               bool deterministic = false);

  /// out = sum over the reduction loops of lhs * rhs; zero where they are
  /// empty. `extents`: iterations of each loop. `strides[o]`: elements from one
  /// iteration to the next, per loop, of lhs, rhs and out. `origin`: of each
  /// loop the global index of its first iteration; null: 0. Fails if oneDNN
  /// does.
  Status run(const void *lhs, const void *rhs, void *out,
             const int64_t *extents, std::array<const int64_t *, 3> strides,
             const int64_t *origin = nullptr) const;

private:
  template <typename T, typename Out, typename Tile>
  Status runOf(const void *lhs, const void *rhs, void *out,
               const int64_t *extents, std::array<const int64_t *, 3> strides,
               const int64_t *origin, const Tile &tile) const;
  template <typename T, typename Out, typename Tile>
  Status runAs(const T *lhs, const T *rhs, Out *out, const int64_t *extents,
               std::array<const int64_t *, 3> strides, const int64_t *origin,
               const Tile &tile) const;
  std::optional<HalfPlane> readOf(const int64_t *extents,
                                  const int64_t *origin) const;
  void runFixed(const void *lhs, const void *rhs, void *out,
                const int64_t *extents,
                std::array<const int64_t *, 3> strides) const;

  const DotTypes types;
  const bool deterministic;
  const std::optional<DimAccess> readWhere;
  /// Loop indices: in all operands; lhs and out; rhs and out; lhs and rhs.
  std::vector<unsigned> batch, rows, columns, reduced;
};

} // namespace meshloom::library
