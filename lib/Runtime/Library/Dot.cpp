// A dot's loops become as few gemm calls as their strides allow: loops that are
// contiguous in every operand are joined, others run around the call.
#include "Dot.h"

#include "meshloom/Runtime/Library/HostCall.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// A run of iterations: how many, and the step of each operand.
struct Extent {
  int64_t count = 1;
  std::array<int64_t, 3> strides{}; ///< lhs, rhs, out
};

/// A matrix in memory.
struct Matrix {
  int64_t rowStride, columnStride;
};

/// A matrix as gemm takes it: row-major, perhaps transposed.
struct GemmOperand {
  char transposed;
  int64_t leading;
};

/// How to read a matrix without a copy, if one of its dims is contiguous.
std::optional<GemmOperand> asGemmOperand(Matrix matrix, int64_t rows,
                                         int64_t columns) {
  if ((matrix.columnStride == 1 || columns == 1) &&
      (matrix.rowStride >= columns || rows == 1))
    return GemmOperand{'N', rows == 1 ? std::max<int64_t>(columns, 1)
                                      : matrix.rowStride};
  if ((matrix.rowStride == 1 || rows == 1) &&
      (matrix.columnStride >= rows || columns == 1))
    return GemmOperand{'T', columns == 1 ? std::max<int64_t>(rows, 1)
                                         : matrix.columnStride};
  return std::nullopt;
}

/// A row-major copy in this thread's memory. `which` of several.
float *scratch(unsigned which, size_t count) {
  thread_local std::array<std::vector<float>, 3> memory;
  if (memory[which].size() < count)
    memory[which].resize(count);
  return memory[which].data();
}

void gather(float *to, const float *from, Matrix matrix, int64_t rows,
            int64_t columns) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      to[r * columns + c] =
          from[r * matrix.rowStride + c * matrix.columnStride];
}

Status gemm(int64_t m, int64_t n, int64_t k, const float *lhs, Matrix left,
            const float *rhs, Matrix right, bool accumulate, float *out,
            Matrix result) {
  // A column-major result is the row-major result of the transposed product.
  if (!(result.columnStride == 1 || n == 1) &&
      (result.rowStride == 1 || m == 1)) {
    std::swap(m, n);
    std::swap(lhs, rhs);
    std::swap(left, right);
    std::swap(left.rowStride, left.columnStride);
    std::swap(right.rowStride, right.columnStride);
    std::swap(result.rowStride, result.columnStride);
  }
  std::optional<GemmOperand> a = asGemmOperand(left, m, k);
  if (!a) {
    float *copy = scratch(0, size_t(m * k));
    gather(copy, lhs, left, m, k);
    lhs = copy;
    a = {'N', k};
  }
  std::optional<GemmOperand> b = asGemmOperand(right, k, n);
  if (!b) {
    float *copy = scratch(1, size_t(k * n));
    gather(copy, rhs, right, k, n);
    rhs = copy;
    b = {'N', n};
  }
  const bool direct =
      (result.columnStride == 1 || n == 1) && (result.rowStride >= n || m == 1);
  float *target = out;
  int64_t leading = m == 1 ? n : result.rowStride;
  if (!direct) {
    target = scratch(2, size_t(m * n));
    leading = n;
    if (accumulate)
      gather(target, out, result, m, n);
  }
  const dnnl_status_t status =
      dnnl_sgemm(a->transposed, b->transposed, m, n, k, 1.f, lhs, a->leading,
                 rhs, b->leading, accumulate ? 1.f : 0.f, target, leading);
  if (status != dnnl_success)
    return Error(fmt::format("oneDNN's matrix product of [{}, {}] x [{}, {}] "
                             "failed with status {}",
                             m, k, k, n, int(status)));
  if (!direct)
    for (int64_t r = 0; r < m; ++r)
      for (int64_t c = 0; c < n; ++c)
        out[r * result.rowStride + c * result.columnStride] = target[r * n + c];
  return Success();
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

/// Calls body(lhs offset, rhs offset, out offset, first) for every iteration of
/// `loops`.
template <typename Body>
Status forEach(std::span<const Extent> loops, std::array<int64_t, 3> at,
               bool first, const Body &body) {
  if (loops.empty())
    return body(at, first);
  for (int64_t i = 0; i < loops[0].count; ++i) {
    if (Status ok = forEach(loops.subspan(1), at, first && i == 0, body); !ok)
      return ok;
    for (unsigned o = 0; o < 3; ++o)
      at[o] += loops[0].strides[o];
  }
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

Dot::Dot(const DotStep &step) {
  auto uses = [](const Operand &operand, unsigned loop) {
    for (const DimAccess &dim : operand.dims)
      for (auto [l, coefficient] : dim.terms)
        if (l == loop)
          return true;
    return false;
  };
  for (unsigned loop = 0; loop < step.loops.size(); ++loop) {
    const bool left = uses(step.lhs, loop), right = uses(step.rhs, loop),
               result = uses(step.out, loop);
    if (left && right && result)
      batch.push_back(loop);
    else if (result)
      (right ? columns : rows).push_back(loop);
    else
      reduced.push_back(loop);
  }
}

Status Dot::run(const float *lhs, const float *rhs, float *out,
                const int64_t *extents,
                std::array<const int64_t *, 3> strides) const {
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
    return forEach(outer, {}, true, [&](std::array<int64_t, 3> at, bool) {
      out[at[2]] = 0;
      return Status(Success());
    });
  }
  std::vector<Extent> k = join(reduced, extents, strides);
  const Extent row = takeInner(m), column = takeInner(n), sum = takeInner(k);
  outer.insert(outer.end(), m.begin(), m.end());
  outer.insert(outer.end(), n.begin(), n.end());
  return forEach(outer, {}, true, [&](std::array<int64_t, 3> at, bool) {
    return forEach(k, at, true, [&](std::array<int64_t, 3> inner, bool first) {
      return gemm(row.count, column.count, sum.count, lhs + inner[0],
                  {row.strides[0], sum.strides[0]}, rhs + inner[1],
                  {sum.strides[1], column.strides[1]}, !first, out + inner[2],
                  {row.strides[2], column.strides[2]});
    });
  });
}
