// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bf16 products by PanelProduct.h where the CPU multiplies bf16 itself, by
// oneDNN where it has tiles for that (AMX); everything else is widened to f32,
// multiplied and rounded. All keep f32 sums; contractions that they
// would add up in too long runs, or that several loops are of, are summed here,
// in f32 tiles.
#include "NarrowDot.h"

#include "Clones.h"
#include "DenseOperand.h"
#include "DnnlProduct.h"
#include "PairwiseSums.h"
#include "PanelProduct.h"
#include "ProductBatches.h"
#include "ThreadScratch.h"

#include "meshloom/Core/ThreadLocal.h"
#include "meshloom/Runtime/HalfFloats.h"

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace meshloom;
using namespace meshloom::library;

namespace {

/// Returns whether the CPU multiplies tiles of bf16, for which oneDNN has code.
bool hasBF16Tiles() {
  static const bool has = [] {
    const auto wanted = unsigned(dnnl::cpu_isa::avx512_core_amx);
    return (unsigned(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
  }();
  return has;
}

// Rows of elements, which are `step` apart in narrow memory. Compilers do not
// make vectors of f16 conversions in functions for several CPUs.
#if defined(__x86_64__)
[[gnu::target("avx,f16c")]] int64_t widenVectors(const uint16_t *from,
                                                 float *to, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                 reinterpret_cast<const __m128i *>(from + i))));
  return i;
}
[[gnu::target("avx,f16c")]] int64_t narrowVectors(const float *from,
                                                  uint16_t *to, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(
        reinterpret_cast<__m128i *>(to + i),
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}
bool convertsF16() {
  static const bool does =
      __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
  return does;
}
#else
int64_t widenVectors(const uint16_t *, float *, int64_t) {
  return 0;
}
int64_t narrowVectors(const float *, uint16_t *, int64_t) {
  return 0;
}
bool convertsF16() {
  return false;
}
#endif

constexpr int64_t HALF_LANES = 8; // of widenVectors and narrowVectors

void widenRow(F16, const uint16_t *from, int64_t step, float *to,
              int64_t count) {
  int64_t i = step == 1 && convertsF16() ? widenVectors(from, to, count) : 0;
  if (!convertsF16())
    for (; i < count; ++i)
      to[i] = F16::widen(from[i * step]);
  for (; i < count; i += HALF_LANES) {
    const int64_t lanes = std::min(HALF_LANES, count - i);
    uint16_t block[HALF_LANES] = {};
    float wide[HALF_LANES];
    for (int64_t l = 0; l < lanes; ++l)
      block[l] = from[(i + l) * step];
    widenVectors(block, wide, HALF_LANES);
    std::copy_n(wide, lanes, to + i);
  }
}
void storeRow(F16, const float *from, uint16_t *to, int64_t step,
              int64_t count) {
  int64_t i = step == 1 && convertsF16() ? narrowVectors(from, to, count) : 0;
  if (!convertsF16())
    for (; i < count; ++i)
      to[i * step] = F16::narrow(from[i]);
  for (; i < count; i += HALF_LANES) {
    const int64_t lanes = std::min(HALF_LANES, count - i);
    float block[HALF_LANES] = {};
    uint16_t narrow[HALF_LANES];
    std::copy_n(from + i, lanes, block);
    narrowVectors(block, narrow, HALF_LANES);
    for (int64_t l = 0; l < lanes; ++l)
      to[(i + l) * step] = narrow[l];
  }
}

MESHLOOM_CLONES void widenRow(BF16, const uint16_t *from, int64_t step,
                              float *to, int64_t count) {
  if (step == 1)
    for (int64_t i = 0; i < count; ++i)
      to[i] = BF16::widen(from[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      to[i] = BF16::widen(from[i * step]);
}
MESHLOOM_CLONES void storeRow(BF16, const float *from, uint16_t *to,
                              int64_t step, int64_t count) {
  if (step == 1)
    for (int64_t i = 0; i < count; ++i)
      to[i] = BF16::narrow(from[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      to[i * step] = BF16::narrow(from[i]);
}

/// A row of a result that is f32.
template <typename Float>
void storeRow(Float, const float *from, float *to, int64_t step,
              int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i * step] = from[i];
}

template <typename Float, typename Out>
void storeRows(const float *from, int64_t rows, int64_t count, Out *to,
               int64_t rowStep, int64_t step) {
  if (step == 1 && rowStep == count)
    return storeRow(Float(), from, to, 1, rows * count);
  for (int64_t r = 0; r < rows; ++r)
    storeRow(Float(), from + r * count, to + r * rowStep, step, count);
}

//===----------------------------------------------------------------------===//
// By oneDNN
//===----------------------------------------------------------------------===//

/// Sums a product up in `tile`, [rows, columns], by blocks of terms:
/// multiply(lhs, rhs, terms, adds) computes one, or adds it to what is there.
template <typename Multiply>
void sumBlocks(const uint16_t *lhs, const uint16_t *rhs, float *tile,
               int64_t elements, const Contraction &c,
               const Multiply &multiply) {
  auto &sums = threadLocal<PairwiseSums<float>>();
  sums.start(elements);
  const int64_t pieces = piecesOf(c.sum.count, DOT_BLOCK);
  int64_t terms = 0;
  (void)forEach(c.outer, {}, true, [&](std::array<int64_t, 3> offsets, bool) {
    for (int64_t p = 0; p < pieces; ++p) {
      const int64_t begin = c.sum.count * p / pieces,
                    count = c.sum.count * (p + 1) / pieces - begin;
      multiply(lhs + offsets[0] + begin * c.sum.strides[0],
               rhs + offsets[1] + begin * c.sum.strides[1], count, terms > 0);
      terms += count;
      if (terms >= DOT_BLOCK) {
        sums.push(tile);
        terms = 0;
      }
    }
    return Status(Success());
  });
  if (terms == 0)
    std::fill_n(tile, elements, 0.F);
  sums.addTo(tile);
}

float *tileOf(int64_t elements) {
  return static_cast<float *>(
      threadScratch(4, size_t(elements) * sizeof(float)));
}

/// Some rows of a result whose contraction is too long for one call. False
/// where oneDNN has nothing good for a block.
template <typename Out>
bool multiplyInBlocks(const uint16_t *lhs, const uint16_t *rhs, Out *out,
                      const Contraction &c, ProductShape shape) {
  const int64_t elements = shape.m * shape.n,
                pieces = piecesOf(shape.k, DOT_BLOCK);
  float *tile = tileOf(elements);
  const MatrixStrides result = shape.result;
  shape.result = {shape.n, 1};
  shape.resultType = ProductShape::Type::f32;
  for (int64_t p = 0; p < pieces; ++p)
    for (bool adds : {false, true}) {
      shape.k = c.sum.count * (p + 1) / pieces - c.sum.count * p / pieces;
      shape.adds = adds;
      if (!productOf(shape).good)
        return false;
    }
  sumBlocks(lhs, rhs, tile, elements, c,
            [&](const uint16_t *lhsBlock, const uint16_t *rhsBlock,
                int64_t count, bool adds) {
              shape.k = count;
              shape.adds = adds;
              productOf(shape).multiply(lhsBlock, rhsBlock, tile);
            });
  storeRows<BF16>(tile, shape.m, shape.n, out, result.rowStride,
                  result.columnStride);
  return true;
}

/// False where oneDNN has nothing good for it.
template <typename Out>
bool runByLibrary(const uint16_t *lhs, const uint16_t *rhs, Out *out,
                  const Contraction &c) {
  using Type = ProductShape::Type;
  ProductShape shape =
      ProductShape::of(c, Type::bf16, Type::bf16,
                       std::is_same_v<Out, float> ? Type::f32 : Type::bf16);
  if (!isPlain(shape.lhs, shape.m, shape.k) ||
      !isPlain(shape.rhs, shape.k, shape.n))
    return false;
  MatrixStrides result = shape.result;
  const bool plain =
      isPlain(result, shape.m, shape.n) && result.columnStride == 1;
  ProductShape whole = shape;
  whole.result = plain ? result : MatrixStrides{shape.n, 1};
  if (!productOf(whole).good)
    return false;
  if (plain && c.terms == shape.k && shape.k <= DOT_BLOCK) {
    productOf(whole).multiply(lhs, rhs, out);
    return true;
  }
  const int64_t rows = std::clamp<int64_t>(LARGEST_TILE / shape.n, 1, shape.m);
  for (int64_t r = 0; r < c.row.count; r += rows) {
    shape.m = std::min(rows, c.row.count - r);
    if (!multiplyInBlocks(lhs + r * c.row.strides[0], rhs,
                          out + r * c.row.strides[2], c, shape))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// By panels
//===----------------------------------------------------------------------===//

template <typename Out>
void runByPanels(const uint16_t *lhs, const uint16_t *rhs, Out *out,
                 Contraction c) {
  std::vector<Extent> outer;
  if (hasColumnMajorResult(c)) {
    std::swap(lhs, rhs);
    c = transposed(c, outer);
  }
  const MatrixStrides lhsStrides{c.row.strides[0], c.sum.strides[0]},
      rhsStrides{c.sum.strides[1], c.column.strides[1]};
  const int64_t n = c.column.count;
  if constexpr (std::is_same_v<Out, float>)
    if (c.terms == c.sum.count && c.terms <= DOT_BLOCK &&
        (c.column.strides[2] == 1 || n == 1))
      return bf16PanelProduct(c.row.count, n, c.terms, lhs, lhsStrides, rhs,
                              rhsStrides, /*accumulate=*/false, out,
                              c.row.strides[2]);
  // A tile stays in the second-level cache; the right operand is copied for
  // each.
  constexpr int64_t mostElements = 1 << 18, fewestRows = 64;
  const int64_t rows =
      std::min(c.row.count, std::max(fewestRows, mostElements / n));
  for (int64_t r = 0; r < c.row.count; r += rows) {
    const int64_t height = std::min(rows, c.row.count - r);
    float *tile = tileOf(height * n);
    sumBlocks(lhs + r * c.row.strides[0], rhs, tile, height * n, c,
              [&](const uint16_t *lhsBlock, const uint16_t *rhsBlock,
                  int64_t terms, bool adds) {
                bf16PanelProduct(height, n, terms, lhsBlock, lhsStrides,
                                 rhsBlock, rhsStrides, adds, tile, n);
              });
    storeRows<BF16>(tile, height, n, out + r * c.row.strides[2],
                    c.row.strides[2], c.column.strides[2]);
  }
}

//===----------------------------------------------------------------------===//
// In f32
//===----------------------------------------------------------------------===//

template <typename Float> struct WidenRow {
  void operator()(const uint16_t *from, int64_t step, float *to,
                  int64_t count) const {
    widenRow(Float(), from, step, to, count);
  }
};

template <typename Float, typename Out>
Status runWidened(const uint16_t *lhs, const uint16_t *rhs, Out *out,
                  const Contraction &c) {
  constexpr bool isWide = std::is_same_v<Out, float>;
  const WidenRow<Float> widenRow;
  const DenseOperand right = densify<float>(rhs, 1, c.column, c, widenRow);
  const int64_t rows =
      std::clamp<int64_t>(LARGEST_TILE / c.column.count, 1, c.row.count);
  float *tile = isWide ? nullptr : tileOf(rows * c.column.count);
  const int64_t rowStep = isWide ? c.row.strides[2] : c.column.count,
                columnStep = isWide ? c.column.strides[2] : 1;
  for (int64_t r = 0; r < c.row.count; r += rows) {
    Extent row = c.row;
    row.count = std::min(rows, c.row.count - r);
    const DenseOperand lhsRows =
        densify<float>(lhs + r * row.strides[0], 0, row, c, widenRow);
    const Contraction dense{
        {row.count, {lhsRows.matrix.rowStride, 0, rowStep}},
        {c.column.count, {0, right.matrix.rowStride, columnStep}},
        {c.terms, {lhsRows.matrix.columnStride, right.matrix.columnStride, 0}},
        {},
        c.terms};
    Out *to = out + r * row.strides[2];
    if constexpr (isWide)
      tile = to;
    if (Status ok = runTiles<float>(lhsRows.data, right.data, tile, dense); !ok)
      return ok;
    if constexpr (!isWide)
      storeRows<Float>(tile, row.count, c.column.count, to, row.strides[2],
                       c.column.strides[2]);
  }
  return Success();
}

/// sums += factors[0] rows[0] + ... of rows of `stride` elements.
constexpr int64_t ROWS_AT_ONCE = 4;
MESHLOOM_CLONES void addRows(const float *rows, int64_t stride,
                             const float *factors, float *sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sums[i] += factors[0] * rows[i] + factors[1] * rows[i + stride] +
               factors[2] * rows[i + 2 * stride] +
               factors[3] * rows[i + 3 * stride];
}

/// A vector by a matrix whose rows are contiguous, which is read once.
template <typename Float, typename Out>
void runVectorByRows(const uint16_t *vector, int64_t vectorStep,
                     const uint16_t *matrix, int64_t rowStep, int64_t terms,
                     int64_t columns, Out *out, int64_t outStep) {
  constexpr int64_t most = 1024; // of columns, whose sums stay in cache
  auto *factors = static_cast<float *>(threadScratch(
      4, size_t(terms + ROWS_AT_ONCE + (1 + ROWS_AT_ONCE) * most) *
             sizeof(float)));
  float *sums = factors + terms + ROWS_AT_ONCE, *rows = sums + most;
  widenRow(Float(), vector, vectorStep, factors, terms);
  for (int64_t c = 0; c < columns; c += most) {
    const int64_t count = std::min(most, columns - c);
    std::fill_n(sums, count, 0.F);
    for (int64_t k = 0; k < terms; k += ROWS_AT_ONCE) {
      const int64_t part = std::min(ROWS_AT_ONCE, terms - k);
      for (int64_t r = 0; r < part; ++r)
        widenRow(Float(), matrix + (k + r) * rowStep + c, 1, rows + r * most,
                 count);
      if (part < ROWS_AT_ONCE) {
        std::fill_n(factors + terms, ROWS_AT_ONCE, 0.F);
        std::fill(rows + part * most, rows + ROWS_AT_ONCE * most, 0.F);
      }
      addRows(rows, most, factors + k, sums, count);
    }
    storeRow(Float(), sums, out + c * outStep, outStep, count);
  }
}

/// Returns whether the product is one of a vector by a matrix whose rows are
/// contiguous, and was computed. oneDNN takes many times as long for it.
template <typename Float, typename Out>
bool runVector(const uint16_t *lhs, const uint16_t *rhs, Out *out,
               const Contraction &c) {
  if (!c.outer.empty() || c.terms > DOT_BLOCK)
    return false;
  for (unsigned vector : {0U, 1U}) {
    const unsigned matrix = 1 - vector;
    const Extent &one = vector == 0 ? c.row : c.column,
                 &columns = vector == 0 ? c.column : c.row;
    if (one.count != 1 || columns.strides[matrix] != 1 || columns.count == 1)
      continue;
    runVectorByRows<Float>(vector == 0 ? lhs : rhs, c.sum.strides[vector],
                           vector == 0 ? rhs : lhs, c.sum.strides[matrix],
                           c.terms, columns.count, out, columns.strides[2]);
    return true;
  }
  return false;
}

/// A dense f32 copy of matrices of `rows` and `columns`, `step` apart in narrow
/// memory, as they lie.
template <typename Float>
MatrixStrides widenBatch(const uint16_t *from, int64_t count, int64_t step,
                         int64_t rows, int64_t columns, MatrixStrides matrix,
                         float *to) {
  const bool byColumns = matrix.rowStride == 1 && matrix.columnStride != 1;
  if (byColumns) {
    std::swap(rows, columns);
    std::swap(matrix.rowStride, matrix.columnStride);
  }
  const int64_t size = rows * columns;
  if (matrix.columnStride == 1 && matrix.rowStride == columns && step == size)
    widenRow(Float(), from, 1, to, count * size);
  else
    for (int64_t i = 0; i < count; ++i)
      copyRows(from + i * step, rows, matrix.rowStride, columns,
               matrix.columnStride, to + i * size, WidenRow<Float>());
  return byColumns ? MatrixStrides{1, columns} : MatrixStrides{columns, 1};
}

/// The products of a batch, as many at once as stay in cache in f32.
template <typename Float, typename Out>
Status runWidenedBatch(const uint16_t *lhs, const uint16_t *rhs, Out *out,
                       const Extent &batch, const Contraction &c) {
  const int64_t m = c.row.count, n = c.column.count, k = c.terms;
  constexpr int64_t inCache = 4096;
  const int64_t most =
      std::max<int64_t>(1, inCache / std::max({m * k, k * n, m * n}));
  auto *wideLhs = static_cast<float *>(
      threadScratch(5, size_t(most * (m * k + k * n + m * n)) * sizeof(float)));
  float *wideRhs = wideLhs + most * m * k, *result = wideRhs + most * k * n;
  for (int64_t first = 0; first < batch.count; first += most) {
    const int64_t count = std::min(most, batch.count - first);
    auto widenOperand = [&](const uint16_t *from, unsigned operand,
                            int64_t rows, int64_t columns, MatrixStrides matrix,
                            float *to) {
      const int64_t step = batch.strides[operand];
      return widenBatch<Float>(from + first * step, count, step, rows, columns,
                               matrix, to);
    };
    const MatrixStrides l = widenOperand(
        lhs, 0, m, k, {c.row.strides[0], c.sum.strides[0]}, wideLhs);
    const MatrixStrides r = widenOperand(
        rhs, 1, k, n, {c.sum.strides[1], c.column.strides[1]}, wideRhs);
    const Contraction dense{{m, {l.rowStride, 0, n}},
                            {n, {0, r.columnStride, 1}},
                            {k, {l.columnStride, r.rowStride, 0}},
                            {},
                            k};
    const std::array wide{Extent{count, {m * k, k * n, m * n}}};
    if (!multiplyBatches<float>(wideLhs, wideRhs, result, wide, dense))
      for (int64_t i = 0; i < count; ++i)
        if (Status ok =
                runTiles<float>(wideLhs + i * m * k, wideRhs + i * k * n,
                                result + i * m * n, dense);
            !ok)
          return ok;
    const int64_t step = batch.strides[2];
    Out *to = out + first * step;
    if (c.column.strides[2] == 1 && c.row.strides[2] == n && step == m * n)
      storeRow(Float(), result, to, 1, count * m * n);
    else
      for (int64_t i = 0; i < count; ++i)
        storeRows<Float>(result + i * m * n, m, n, to + i * step,
                         c.row.strides[2], c.column.strides[2]);
  }
  return Success();
}

} // namespace

template <typename Out>
std::optional<Status> library::runNarrowBatches(DType type, const uint16_t *lhs,
                                                const uint16_t *rhs, Out *out,
                                                std::span<const Extent> batch,
                                                const Contraction &c) {
  constexpr int64_t small = int64_t(1) << 15;
  const BatchLoops loops(batch);
  if (loops.inner.count == 1 || !c.outer.empty() || c.terms > small ||
      c.row.count * c.column.count > small / c.terms)
    return std::nullopt;
  return forEach(loops.around, {}, true,
                 [&](std::array<int64_t, 3> offsets, bool) {
                   auto run = [&](auto number) {
                     return runWidenedBatch<decltype(number)>(
                         lhs + offsets[0], rhs + offsets[1], out + offsets[2],
                         loops.inner, c);
                   };
                   return type == DType::BF16 ? run(BF16()) : run(F16());
                 });
}

template <typename Out>
Status library::runNarrow(DType type, const uint16_t *lhs, const uint16_t *rhs,
                          Out *out, const Contraction &c) {
  if (type == DType::BF16 ? runVector<BF16>(lhs, rhs, out, c)
                          : runVector<F16>(lhs, rhs, out, c))
    return Success();
  if (type == DType::BF16) {
    // Calling oneDNN takes longer than the product of small matrices.
    constexpr int64_t small = int64_t(1) << 17;
    const bool isSmall =
        c.terms <= small && c.row.count * c.column.count <= small / c.terms;
    try {
      if (hasBF16Tiles() && !isSmall && runByLibrary(lhs, rhs, out, c))
        return Success();
    } catch (const dnnl::error &error) {
      return productError("bf16", c, error);
    }
    // A few long sums would fill a small part of a panel.
    constexpr int64_t fewSums = 4;
    if (hasBF16Panels() && c.row.count * c.column.count > fewSums) {
      runByPanels(lhs, rhs, out, c);
      return Success();
    }
  }
  return type == DType::BF16 ? runWidened<BF16>(lhs, rhs, out, c)
                             : runWidened<F16>(lhs, rhs, out, c);
}

namespace meshloom::library {
template Status runNarrow(DType, const uint16_t *, const uint16_t *, uint16_t *,
                          const Contraction &);
template Status runNarrow(DType, const uint16_t *, const uint16_t *, float *,
                          const Contraction &);
template std::optional<Status> runNarrowBatches(DType, const uint16_t *,
                                                const uint16_t *, uint16_t *,
                                                std::span<const Extent>,
                                                const Contraction &);
template std::optional<Status> runNarrowBatches(DType, const uint16_t *,
                                                const uint16_t *, float *,
                                                std::span<const Extent>,
                                                const Contraction &);
} // namespace meshloom::library
