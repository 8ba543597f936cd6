// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dot's loops become as few products of matrices as their strides allow:
// loops that are contiguous in every operand are joined, others run around the
// product. Long contractions are cut into blocks whose products are summed in
// pairs.
#include "Dot.h"

#include "ByteProduct.h"
#include "Clones.h"
#include "ComplexProduct.h"
#include "FixedProduct.h"
#include "NarrowDot.h"
#include "PairwiseSums.h"
#include "PanelProduct.h"
#include "ProductBatches.h"
#include "StreamedProduct.h"
#include "ThinProduct.h"
#include "ThreadScratch.h"
#include "meshloom/Core/ThreadLocal.h"
#include "meshloom/Runtime/Library/HostCall.h"

#include <algorithm>
#include <complex>
#include <dlfcn.h>
#include <type_traits>

using namespace meshloom;
using namespace meshloom::library;

namespace {
template <typename T>
void gather(T *to, const T *from, MatrixStrides matrix, int64_t rows,
            int64_t columns) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      to[r * columns + c] =
          from[r * matrix.rowStride + c * matrix.columnStride];
}

/// The sum of products of a block, 32 lanes side by side.
template <typename T>
[[gnu::always_inline]] inline T sumLanesOfBlock(const T *lhs, const T *rhs,
                                                int64_t count) {
  constexpr int64_t LANES = 32;
  T lanes[LANES] = {};
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES)
    for (int64_t l = 0; l < LANES; ++l)
      lanes[l] += lhs[i + l] * rhs[i + l];
  for (int64_t l = 0; i < count; ++i, ++l)
    lanes[l] += lhs[i] * rhs[i];
  for (int64_t half = LANES / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; ++l)
      lanes[l] += lanes[l + half];
  return lanes[0];
}
MESHLOOM_CLONES float sumOfBlock(const float *lhs, const float *rhs,
                                 int64_t count) {
  return sumLanesOfBlock(lhs, rhs, count);
}
MESHLOOM_CLONES double sumOfBlock(const double *lhs, const double *rhs,
                                  int64_t count) {
  return sumLanesOfBlock(lhs, rhs, count);
}
MESHLOOM_CLONES uint32_t sumOfBlock(const uint32_t *lhs, const uint32_t *rhs,
                                    int64_t count) {
  return sumLanesOfBlock(lhs, rhs, count);
}

/// The sum of products, of blocks in pairs.
template <typename T>
T sumOfProducts(const T *lhs, const T *rhs, int64_t count) {
  constexpr int64_t block = 1024;
  T total = 0;
  if (count <= block)
    return sumOfBlock(lhs, rhs, count);
  auto &sums = threadLocal<PairwiseSums<T>>();
  sums.start(1);
  for (int64_t i = 0; i < count; i += block) {
    T sum = sumOfBlock(lhs + i, rhs + i, std::min(block, count - i));
    sums.push(&sum);
  }
  sums.addTo(&total);
  return total;
}

/// Whether rows lie along the contraction, beside a vector, and are long: short
/// ones are summed faster side by side.
bool isMatrixByVector(int64_t m, int64_t n, int64_t k, MatrixStrides lhsStrides,
                      MatrixStrides rhsStrides) {
  constexpr int64_t few = 256;
  return (m == 1 || n == 1) && k > few && lhsStrides.columnStride == 1 &&
         rhsStrides.rowStride == 1;
}

template <typename T>
void gemm(int64_t m, int64_t n, int64_t k, const T *lhs,
          MatrixStrides lhsStrides, const T *rhs, MatrixStrides rhsStrides,
          bool accumulate, T *out, MatrixStrides result) {
  if (isMatrixByVector(m, n, k, lhsStrides, rhsStrides)) {
    for (int64_t r = 0; r < m; ++r)
      for (int64_t c = 0; c < n; ++c) {
        T &to = out[r * result.rowStride + c * result.columnStride];
        const T sum = sumOfProducts(lhs + r * lhsStrides.rowStride,
                                    rhs + c * rhsStrides.columnStride, k);
        to = accumulate ? to + sum : sum;
      }
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    // Few columns are few rows of the transposed product.
    if (n < m && n <= THIN_ROWS && lhsStrides.columnStride == 1 &&
        rhsStrides.rowStride == 1 && result.rowStride == 1 &&
        isThinProduct<T>(n, m, k, 1, lhsStrides.rowStride)) {
      thinProduct(n, m, k, rhs, rhsStrides.columnStride, lhs,
                  lhsStrides.rowStride, accumulate, out, result.columnStride);
      return;
    }
    if (lhsStrides.columnStride == 1 && result.columnStride == 1 &&
        isThinProduct<T>(m, n, k, rhsStrides.rowStride,
                         rhsStrides.columnStride)) {
      thinProduct(m, n, k, lhs, lhsStrides.rowStride, rhs,
                  rhsStrides.columnStride, accumulate, out, result.rowStride);
      return;
    }
  }
  // A column-major result is the row-major result of the transposed product.
  // Few columns would fill a small part of a vector.
  constexpr int64_t fewColumns = 4, manyRows = 16;
  const bool isColumnMajor = result.rowStride == 1 && m > 1 &&
                             (result.columnStride != 1 || n == 1),
             hasFewColumns =
                 n <= fewColumns && m >= manyRows && lhsStrides.rowStride == 1;
  if (isColumnMajor || hasFewColumns) {
    std::swap(m, n);
    std::swap(lhs, rhs);
    std::swap(lhsStrides, rhsStrides);
    std::swap(lhsStrides.rowStride, lhsStrides.columnStride);
    std::swap(rhsStrides.rowStride, rhsStrides.columnStride);
    std::swap(result.rowStride, result.columnStride);
  }
  if (isStreamedProduct(m, n, k, rhsStrides.columnStride, result.columnStride))
    return streamedProduct(m, n, k, lhs, lhsStrides, rhs, rhsStrides.rowStride,
                           accumulate, out, result.rowStride);
  if (result.columnStride == 1 || n == 1)
    return panelProduct(m, n, k, lhs, lhsStrides, rhs, rhsStrides, accumulate,
                        out, result.rowStride);
  auto &rows = threadLocal<std::vector<T>>();
  rows.resize(size_t(m * n));
  panelProduct(m, n, k, lhs, lhsStrides, rhs, rhsStrides, /*accumulate=*/false,
               rows.data(), n);
  for (int64_t r = 0; r < m; ++r)
    for (int64_t c = 0; c < n; ++c) {
      T &to = out[r * result.rowStride + c * result.columnStride];
      to = accumulate ? to + rows[size_t(r * n + c)] : rows[size_t(r * n + c)];
    }
}

/// Loops of one role, neighbours joined where all operands allow it.
std::vector<Extent> join(std::span<const unsigned> loops,
                         const int64_t *extents,
                         const std::array<const int64_t *, 3> &strides) {
  std::vector<Extent> joined;
  for (unsigned loop : loops) {
    if (extents[loop] == 1)
      continue;
    Extent extent{extents[loop],
                  {strides[0][loop], strides[1][loop], strides[2][loop]}};
    bool fits = !joined.empty();
    for (unsigned o = 0; o < 3 && fits; ++o)
      fits = joined.back().strides[o] == extent.strides[o] * extent.count;
    if (fits)
      joined.back() = {joined.back().count * extent.count, extent.strides};
    else
      joined.push_back(extent);
  }
  return joined;
}

/// Takes the loop that the gemm itself runs: one that is contiguous somewhere,
/// else the longest.
Extent takeInner(std::vector<Extent> &loops) {
  if (loops.empty())
    return {};
  size_t best = loops.size() - 1;
  for (size_t i = 0; i < loops.size(); ++i) {
    auto unit = [&](size_t l) {
      return loops[l].strides[0] == 1 || loops[l].strides[1] == 1 ||
             loops[l].strides[2] == 1;
    };
    if (unit(i) > unit(best) ||
        (unit(i) == unit(best) && loops[i].count > loops[best].count))
      best = i;
  }
  Extent inner = loops[best];
  loops.erase(loops.begin() + long(best));
  return inner;
}

/// One tile of the result, all of the contraction.
template <typename T>
Status runTile(const T *lhs, const T *rhs, T *out, const Contraction &c) {
  const Extent &row = c.row, &column = c.column, &sum = c.sum;
  const MatrixStrides result{row.strides[2], column.strides[2]};
  const int64_t elements = row.count * column.count;
  const bool dense = result.columnStride == 1 &&
                     (result.rowStride == column.count || row.count == 1);
  const MatrixStrides lhsStrides{row.strides[0], sum.strides[0]},
      rhsStrides{sum.strides[1], column.strides[1]};
  const bool isThin = std::is_floating_point_v<T> &&
                      lhsStrides.columnStride == 1 &&
                      rhsStrides.rowStride == 1 &&
                      std::min(row.count, column.count) <= THIN_ROWS;
  const bool isStreamed =
      isStreamedProduct(row.count, column.count, sum.count,
                        rhsStrides.columnStride, result.columnStride) ||
      isStreamedProduct(column.count, row.count, sum.count,
                        lhsStrides.rowStride, result.rowStride);
  const int64_t most = isThin       ? THIN_TERMS
                       : isStreamed ? STREAMED_TERMS
                                    : DOT_BLOCK;
  const int64_t pieces = isMatrixByVector(row.count, column.count, sum.count,
                                          lhsStrides, rhsStrides)
                             ? 1
                             : piecesOf(sum.count, most);
  if (pieces == 1 && c.outer.empty()) {
    gemm(row.count, column.count, sum.count, lhs, lhsStrides, rhs, rhsStrides,
         /*accumulate=*/false, out, result);
    return Success();
  }
  auto &sums = threadLocal<PairwiseSums<T>>();
  auto &packed = threadLocal<std::vector<T>>();
  sums.start(elements);
  int64_t terms = 0, done = 0; // in `out`, and in all
  Status ok =
      forEach(c.outer, {}, true, [&](std::array<int64_t, 3> offsets, bool) {
        for (int64_t p = 0; p < pieces; ++p) {
          const int64_t begin = sum.count * p / pieces,
                        count = sum.count * (p + 1) / pieces - begin;
          gemm(row.count, column.count, count,
               lhs + offsets[0] + begin * sum.strides[0], lhsStrides,
               rhs + offsets[1] + begin * sum.strides[1], rhsStrides, terms > 0,
               out, result);
          terms += count;
          done += count;
          if (terms < most || done == c.terms)
            continue;
          T *block = out;
          if (!dense) {
            packed.resize(size_t(elements));
            block = packed.data();
            gather(block, out, result, row.count, column.count);
          }
          sums.push(block);
          terms = 0;
        }
        return Status(Success());
      });
  if (!ok || sums.empty())
    return ok;
  if (dense) {
    sums.addTo(out);
    return Success();
  }
  packed.resize(size_t(elements));
  gather(packed.data(), out, result, row.count, column.count);
  sums.addTo(packed.data());
  for (int64_t r = 0; r < row.count; ++r)
    for (int64_t n = 0; n < column.count; ++n)
      out[r * result.rowStride + n * result.columnStride] =
          packed[size_t(r * column.count + n)];
  return Success();
}

using SetThreads = void (*)(int);
using GetThreads = int (*)();
/// OpenMP's functions, if it is what oneDNN runs on.
SetThreads setThreads() {
  static const auto function =
      reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  return function;
}
GetThreads getThreads() {
  static const auto function =
      reinterpret_cast<GetThreads>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return function;
}
} // namespace

/// Cuts the result where blocks of it will be summed in pairs.
template <typename T>
Status library::runTiles(const T *lhs, const T *rhs, T *out, Contraction c) {
  if (c.terms <= DOT_BLOCK || c.row.count * c.column.count <= LARGEST_TILE)
    return runTile(lhs, rhs, out, c);
  auto cut = [](Extent &extent, int64_t most, auto body) -> Status {
    const Extent whole = extent;
    const int64_t tiles = piecesOf(whole.count, most);
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t begin = whole.count * t / tiles;
      extent.count = whole.count * (t + 1) / tiles - begin;
      if (Status ok = body(begin); !ok)
        return ok;
    }
    return Success();
  };
  constexpr int64_t side = 1024;
  static_assert(side * side == LARGEST_TILE);
  const int64_t columns =
      std::min(c.column.count, LARGEST_TILE / std::min(c.row.count, side));
  return cut(c.column, columns, [&](int64_t n) {
    Contraction strip = c;
    return cut(strip.row, LARGEST_TILE / c.column.count, [&](int64_t r) {
      return runTile(lhs + r * c.row.strides[0], rhs + n * c.column.strides[1],
                     out + r * c.row.strides[2] + n * c.column.strides[2],
                     strip);
    });
  });
}

template Status library::runTiles(const float *, const float *, float *,
                                  Contraction);
template Status library::runTiles(const double *, const double *, double *,
                                  Contraction);
template Status library::runTiles(const uint32_t *, const uint32_t *,
                                  uint32_t *, Contraction);

SingleThreaded::SingleThreaded() {
  if (!setThreads() || !getThreads())
    return;
  before = getThreads()();
  if (before != 1)
    setThreads()(1);
}

SingleThreaded::~SingleThreaded() {
  if (before > 1)
    setThreads()(before);
}

Dot::Dot(const DotStep &step, DotTypes types, bool deterministic)
    : types(types), deterministic(deterministic), readWhere(step.readWhere) {
  auto uses = [](const Operand &operand, unsigned loop) {
    for (const DimAccess &dim : operand.dims)
      for (auto [l, coefficient] : dim.terms)
        if (l == loop)
          return true;
    return false;
  };
  for (unsigned loop = 0; loop < step.loops.size(); ++loop) {
    const bool inLhs = uses(step.lhs, loop), inRhs = uses(step.rhs, loop),
               inOut = uses(step.out, loop);
    if (inLhs && inRhs && inOut)
      batch.push_back(loop);
    else if (inOut)
      (inRhs ? columns : rows).push_back(loop);
    else
      reduced.push_back(loop);
  }
}

/// Returns the half plane of the result that is read, if that is a part which
/// rows or columns of one loop decide.
std::optional<HalfPlane> Dot::readOf(const int64_t *extents,
                                     const int64_t *origin) const {
  if (!readWhere)
    return std::nullopt;
  HalfPlane read{0, 0, readWhere->offset};
  for (auto [loop, coefficient] : readWhere->terms) {
    read.offset += coefficient * (origin ? origin[loop] : 0);
    if (extents[loop] == 1)
      continue;
    auto isOnly = [&](const std::vector<unsigned> &loops) {
      return std::ranges::count(loops, loop) == 1 &&
             std::ranges::count_if(
                 loops, [&](unsigned l) { return extents[l] != 1; }) == 1;
    };
    if (isOnly(rows))
      read.row += coefficient;
    else if (isOnly(columns))
      read.column += coefficient;
    else
      return std::nullopt;
  }
  return read;
}

template <typename T>
static void setZero(T *out, MatrixStrides matrix, int64_t rows,
                    int64_t columns) {
  if (matrix.columnStride != 1) {
    std::swap(rows, columns);
    std::swap(matrix.rowStride, matrix.columnStride);
  }
  for (int64_t r = 0; r < rows; ++r)
    if (T *row = out + r * matrix.rowStride; matrix.columnStride == 1)
      std::fill_n(row, columns, T());
    else
      for (int64_t c = 0; c < columns; ++c)
        row[c * matrix.columnStride] = T();
}

/// The types whose products skip blocks of zeros: those that masks are of.
static bool isFewBits(DType type) {
  return type == DType::F32 || type == DType::BF16 || type == DType::F16;
}

/// `tile` multiplies those parts of a product that have terms.
template <typename T, typename Out, typename Tile>
static Status runParts(DType type, const T *lhs, const T *rhs, Out *out,
                       const Contraction &whole,
                       const std::optional<HalfPlane> &read, const Tile &tile) {
  std::vector<ProductPart> parts;
  if (read || isFewBits(type))
    parts = productParts(type, lhs, rhs, whole, read);
  if (parts.empty())
    return tile(lhs, rhs, out, whole);
  for (const ProductPart &part : parts) {
    Contraction c = whole;
    c.row.count = part.rows.size();
    c.column.count = part.columns.size();
    c.sum.count = part.terms.size();
    Out *to = out + part.rows.begin * c.row.strides[2] +
              part.columns.begin * c.column.strides[2];
    if (part.terms.empty()) {
      setZero(to, {c.row.strides[2], c.column.strides[2]}, c.row.count,
              c.column.count);
      continue;
    }
    if (part.terms.size() < whole.sum.count)
      c.terms = c.sum.count;
    if (Status ok = tile(lhs + part.rows.begin * c.row.strides[0] +
                             part.terms.begin * c.sum.strides[0],
                         rhs + part.columns.begin * c.column.strides[1] +
                             part.terms.begin * c.sum.strides[1],
                         to, c);
        !ok)
      return ok;
  }
  return Success();
}

/// `tile` multiplies what a gemm can at once.
template <typename T, typename Out, typename Tile>
Status Dot::runAs(const T *lhs, const T *rhs, Out *out, const int64_t *extents,
                  std::array<const int64_t *, 3> strides, const int64_t *origin,
                  const Tile &tile) const {
  int64_t reductions = 1;
  for (unsigned loop : reduced)
    reductions *= extents[loop];
  for (const std::vector<unsigned> *loops : {&batch, &rows, &columns})
    for (unsigned loop : *loops)
      if (extents[loop] <= 0)
        return Success();

  std::vector<Extent> outer = join(batch, extents, strides);
  std::vector<Extent> m = join(rows, extents, strides);
  std::vector<Extent> n = join(columns, extents, strides);
  if (reductions <= 0) {
    for (const std::vector<Extent> &loops : {m, n})
      outer.insert(outer.end(), loops.begin(), loops.end());
    return forEach(outer, {}, true, [&](std::array<int64_t, 3> offsets, bool) {
      out[offsets[2]] = Out();
      return Status(Success());
    });
  }
  std::vector<Extent> k = join(reduced, extents, strides);
  const Extent row = takeInner(m), column = takeInner(n), sum = takeInner(k);
  outer.insert(outer.end(), m.begin(), m.end());
  outer.insert(outer.end(), n.begin(), n.end());
  const Contraction whole{row, column, sum, k, reductions};
  const std::optional<HalfPlane> read = readOf(extents, origin);
  // Small products are computed whole, also where a part of them is read.
  if constexpr (std::is_same_v<T, uint16_t>) {
    if (!read)
      if (auto ok = runNarrowBatches(types.lhs, lhs, rhs, out, outer, whole))
        return *ok;
  } else if constexpr (std::is_same_v<T, Out>) {
    if (multiplyBatches(lhs, rhs, out, outer, whole))
      return Success();
  }
  return forEach(outer, {}, true, [&](std::array<int64_t, 3> offsets, bool) {
    return runParts(types.lhs, lhs + offsets[0], rhs + offsets[1],
                    out + offsets[2], whole, read, tile);
  });
}

/// Where the iterations of `loops` are in operands `first` and `second`.
static Offsets offsetsOf(std::span<const unsigned> loops,
                         const int64_t *extents, const int64_t *first,
                         const int64_t *second) {
  Offsets offsets{{0}, {0}};
  for (unsigned loop : loops) {
    Offsets next;
    const size_t count =
        offsets.first.size() * size_t(std::max<int64_t>(extents[loop], 0));
    next.first.reserve(count);
    next.second.reserve(count);
    for (size_t i = 0; i < offsets.first.size(); ++i)
      for (int64_t j = 0; j < extents[loop]; ++j) {
        next.first.push_back(offsets.first[i] + j * first[loop]);
        next.second.push_back(offsets.second[i] + j * second[loop]);
      }
    offsets = std::move(next);
  }
  return offsets;
}

/// FixedProduct.h of complex numbers, by the products of their parts.
template <typename Real>
static void fixedComplexProduct(const char *lhs, const char *rhs, char *out,
                                const Offsets &rows, const Offsets &columns,
                                const Offsets &terms) {
  constexpr DType part = std::is_same_v<Real, float> ? DType::F32 : DType::F64;
  auto twice = [](const std::vector<int64_t> &offsets) {
    std::vector<int64_t> doubled;
    doubled.reserve(offsets.size());
    for (int64_t offset : offsets)
      doubled.push_back(2 * offset);
    return doubled;
  };
  Offsets inRows{twice(rows.first), {}}, inColumns{twice(columns.first), {}};
  const Offsets inTerms{twice(terms.first), twice(terms.second)};
  const auto width = int64_t(columns.first.size()),
             height = int64_t(rows.first.size());
  for (int64_t r = 0; r < height; ++r)
    inRows.second.push_back(r * width);
  for (int64_t c = 0; c < width; ++c)
    inColumns.second.push_back(c);
  std::array<std::vector<Real>, 4> products;
  for (size_t of = 0; of < products.size(); ++of) {
    products[of].resize(size_t(width * height));
    fixedProduct(part, lhs + of / 2 * sizeof(Real), rhs + of % 2 * sizeof(Real),
                 products[of].data(), inRows, inColumns, inTerms);
  }
  auto *result = reinterpret_cast<std::complex<Real> *>(out);
  for (int64_t r = 0; r < height; ++r)
    for (int64_t c = 0; c < width; ++c) {
      const auto i = size_t(r * width + c);
      result[rows.second[size_t(r)] + columns.second[size_t(c)]] = {
          products[0][i] - products[3][i], products[1][i] + products[2][i]};
    }
}

void Dot::runFixed(const void *lhs, const void *rhs, void *out,
                   const int64_t *extents,
                   std::array<const int64_t *, 3> strides) const {
  const Offsets m = offsetsOf(rows, extents, strides[0], strides[2]),
                n = offsetsOf(columns, extents, strides[1], strides[2]),
                k = offsetsOf(reduced, extents, strides[0], strides[1]);
  const DType type = types.lhs;
  const auto width = int64_t(byteWidth(type)),
             outWidth = int64_t(byteWidth(types.out));
  const std::vector<Extent> outer = join(batch, extents, strides);
  (void)forEach(outer, {}, true, [&](std::array<int64_t, 3> starts, bool) {
    const char *lhsMatrix = static_cast<const char *>(lhs) + starts[0] * width,
               *rhsMatrix = static_cast<const char *>(rhs) + starts[1] * width;
    char *outMatrix = static_cast<char *>(out) + starts[2] * outWidth;
    if (type == DType::C64)
      fixedComplexProduct<float>(lhsMatrix, rhsMatrix, outMatrix, m, n, k);
    else if (type == DType::C128)
      fixedComplexProduct<double>(lhsMatrix, rhsMatrix, outMatrix, m, n, k);
    else
      fixedProduct(type, lhsMatrix, rhsMatrix, outMatrix, m, n, k,
                   /*widens=*/types.out != type);
    return Status(Success());
  });
}

template <typename T, typename Out, typename Tile>
Status Dot::runOf(const void *lhs, const void *rhs, void *out,
                  const int64_t *extents,
                  std::array<const int64_t *, 3> strides, const int64_t *origin,
                  const Tile &tile) const {
  return runAs(static_cast<const T *>(lhs), static_cast<const T *>(rhs),
               static_cast<Out *>(out), extents, strides, origin, tile);
}

Status Dot::run(const void *lhs, const void *rhs, void *out,
                const int64_t *extents, std::array<const int64_t *, 3> strides,
                const int64_t *origin) const {
  const bool isInteger = types.out == DType::I32 || types.out == DType::UI32;
  if (deterministic && !isInteger) {
    runFixed(lhs, rhs, out, extents, strides);
    return Success();
  }
  auto runTilesOf = [&]<typename T>(T) {
    return runOf<T, T>(lhs, rhs, out, extents, strides, origin, runTiles<T>);
  };
  auto runComplexOf = [&]<typename Real>(Real) {
    using Complex = std::complex<Real>;
    return runOf<Complex, Complex>(lhs, rhs, out, extents, strides, origin,
                                   complexProduct<Real>);
  };
  auto runNarrowInto = [&]<typename Out>(Out) {
    return runOf<uint16_t, Out>(
        lhs, rhs, out, extents, strides, origin,
        [&](const uint16_t *lhsData, const uint16_t *rhsData, Out *outData,
            const Contraction &c) {
          return runNarrow(types.lhs, lhsData, rhsData, outData, c);
        });
  };
  switch (types.lhs) {
  case DType::F32:
    return runTilesOf(float());
  case DType::F64:
    return runTilesOf(double());
  case DType::I32:
  case DType::UI32:
    return runTilesOf(uint32_t());
  case DType::C64:
    return runComplexOf(float());
  case DType::C128:
    return runComplexOf(double());
  case DType::I8:
  case DType::UI8:
    return runOf<uint8_t, uint32_t>(
        lhs, rhs, out, extents, strides, origin,
        [&](const uint8_t *lhsData, const uint8_t *rhsData, uint32_t *outData,
            const Contraction &c) {
          return byteProduct(types.lhs, lhsData, types.rhs, rhsData, outData,
                             c);
        });
  default:
    return types.out == DType::F32 ? runNarrowInto(float())
                                   : runNarrowInto(uint16_t());
  }
}
