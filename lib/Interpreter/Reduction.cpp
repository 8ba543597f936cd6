// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's ops that combine elements: dot_general, matmul, reduce,
// argmax and argmin.
#include "ComplexOps.h"
#include "Ops.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace meshloom::interpreter {
namespace {

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

/// The elements of `value` with its dims in the order `dims`, as `T`.
template <typename T>
std::vector<T> pack(const HostValue &value, const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides = stridesOf(value.shape);
  std::vector<T> out(value.count());
  std::vector<int64_t> index(dims.size());
  int64_t source = 0;
  for (T &element : out) {
    if constexpr (std::is_same_v<T, Complex>)
      element = complexAt(value, source);
    else if constexpr (std::is_same_v<T, double>)
      element = value.floats[source];
    else
      element = T(value.ints[source]);
    for (size_t d = dims.size(); d-- > 0;) {
      source += strides[dims[d]];
      if (++index[d] < value.shape[dims[d]])
        break;
      source -= index[d] * strides[dims[d]];
      index[d] = 0;
    }
  }
  return out;
}

/// out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n], each sum in the
/// order of k; k in blocks, so that a block of rhs stays in cache. `rounded` is
/// what a sum is after a block.
template <typename T, typename F>
std::vector<T> multiply(const std::vector<T> &lhs, const std::vector<T> &rhs,
                        int64_t batch, int64_t rows, int64_t inner,
                        int64_t columns, const F &rounded) {
  constexpr int64_t block = SUM_BLOCK;
  std::vector<T> out(batch * rows * columns);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t from = 0; from < inner; from += block)
      for (int64_t m = 0; m < rows; ++m) {
        T *target = out.data() + (b * rows + m) * columns;
        for (int64_t k = from; k < std::min(inner, from + block); ++k) {
          T factor = lhs[(b * rows + m) * inner + k];
          const T *source = rhs.data() + (b * inner + k) * columns;
          for (int64_t n = 0; n < columns; ++n)
            target[n] += factor * source[n];
        }
        for (int64_t n = 0; n < columns; ++n)
          target[n] = rounded(target[n]);
      }
  return out;
}

/// The dims of a tensor of `rank` dims that are in neither list.
std::vector<int64_t> freeDims(int64_t rank, const std::vector<int64_t> &batch,
                              const std::vector<int64_t> &contracting) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d))
      dims.push_back(d);
  return dims;
}

int64_t extent(const HostValue &value, const std::vector<int64_t> &dims) {
  int64_t product = 1;
  for (int64_t d : dims)
    product *= value.shape[d];
  return product;
}

std::vector<int64_t> joined(std::vector<int64_t> first,
                            const std::vector<int64_t> &second,
                            const std::vector<int64_t> &third) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

/// Returns bounds of the terms, as pack() packs them.
std::vector<double> sizes(const HostValue &value,
                          const std::vector<int64_t> &dims) {
  std::vector<double> packed = pack<double>(value, dims);
  for (double &x : packed)
    x = std::abs(x);
  return packed;
}

/// Makes nan of the sums whose terms overflow in some order.
void markOverflows(HostValue &out, const std::vector<double> &reach) {
  for (size_t i = 0; i < reach.size(); ++i)
    if (std::isinf(roundToType(out.type, reach[i])) &&
        std::isfinite(roundToType(out.type, out.floats[i])))
      setNan(out, int64_t(i));
}

HostValue dot(const Call &call, const std::vector<int64_t> &lhsBatch,
              const std::vector<int64_t> &rhsBatch,
              const std::vector<int64_t> &lhsContracting,
              const std::vector<int64_t> &rhsContracting) {
  const HostValue &lhs = call[0], &rhs = call[1];
  auto lhsFree = freeDims(lhs.shape.size(), lhsBatch, lhsContracting);
  auto rhsFree = freeDims(rhs.shape.size(), rhsBatch, rhsContracting);
  auto run = [&]<typename T>(T) {
    return multiply(
        pack<T>(lhs, joined(lhsBatch, lhsFree, lhsContracting)),
        pack<T>(rhs, joined(rhsBatch, rhsContracting, rhsFree)),
        extent(lhs, lhsBatch), extent(lhs, lhsFree),
        extent(lhs, lhsContracting), extent(rhs, rhsFree), [&](T sum) -> T {
          if constexpr (std::is_same_v<T, Complex>)
            return {call.partialSum(sum.real()), call.partialSum(sum.imag())};
          else if constexpr (std::is_same_v<T, double>)
            return call.partialSum(sum);
          else
            return sum;
        });
  };
  HostValue out = call.result();
  if (out.isComplex()) {
    std::vector<Complex> sums = run(Complex());
    for (size_t i = 0; i < sums.size(); ++i)
      setComplex(out, i, sums[i]);
    return out;
  }
  if (out.isFloating()) {
    out.floats = run(double());
    if (AnyOrder::isLookedAt(call, ReduceKind::Sum, out.type))
      markOverflows(
          out, multiply(sizes(lhs, joined(lhsBatch, lhsFree, lhsContracting)),
                        sizes(rhs, joined(rhsBatch, rhsContracting, rhsFree)),
                        extent(lhs, lhsBatch), extent(lhs, lhsFree),
                        extent(lhs, lhsContracting), extent(rhs, rhsFree),
                        [](double sum) { return sum; }));
    return out;
  }
  std::vector<uint64_t> sums = run(uint64_t());
  for (size_t i = 0; i < sums.size(); ++i)
    out.ints[i] = wrapInteger(out.type, int64_t(sums[i]));
  return out;
}

Values dotGeneral(const Call &call) {
  return {dot(call, call.integers("lhs_batching_dimensions"),
              call.integers("rhs_batching_dimensions"),
              call.integers("lhs_contracting_dimensions"),
              call.integers("rhs_contracting_dimensions"))};
}

Values matmul(const Call &call) {
  int64_t lhsRank = call[0].shape.size(), rhsRank = call[1].shape.size();
  std::vector<int64_t> batch;
  for (int64_t d = 0; d + 2 < rhsRank; ++d)
    batch.push_back(d);
  return {dot(call, batch, batch, {lhsRank - 1}, {rhsRank - 2})};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

double combine(ReduceKind kind, double x, double y) {
  switch (kind) {
  case ReduceKind::Sum:
    return x + y;
  case ReduceKind::Prod:
    return x * y;
  case ReduceKind::Min:
    return std::isnan(x) || x < y ? x : y; // y where y is nan
  default:
    return std::isnan(x) || x > y ? x : y;
  }
}

/// Booleans: sum, max and or are "or"; prod, min and "and" are "and".
int64_t combine(ReduceKind kind, int64_t x, int64_t y, DType type) {
  bool boolean = type == DType::I1;
  switch (kind) {
  case ReduceKind::Sum:
    return boolean ? x | y : int64_t(uint64_t(x) + uint64_t(y));
  case ReduceKind::Prod:
    return int64_t(uint64_t(x) * uint64_t(y));
  case ReduceKind::Min:
    return isLess(type, y, x) ? y : x;
  case ReduceKind::Max:
    return isLess(type, x, y) ? y : x;
  case ReduceKind::And:
    return x & y;
  case ReduceKind::Or:
    return x | y;
  }
  return 0;
}

/// The value of a reduction over nothing.
void fillIdentity(ReduceKind kind, HostValue &value) {
  double infinity = std::numeric_limits<double>::infinity();
  bool boolean = value.type == DType::I1, isSignedType = isSigned(value.type);
  unsigned bits = isInteger(value.type) ? 8 * byteWidth(value.type) : 64;
  int64_t smallest = isSignedType ? int64_t(-1) << (bits - 1) : 0;
  int64_t largest = boolean        ? 1
                    : isSignedType ? ~smallest
                    : bits == 64   ? -1
                                   : (int64_t(1) << bits) - 1;
  double floating = 0;
  int64_t integer = 0;
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    break;
  case ReduceKind::Prod:
    floating = integer = 1;
    break;
  case ReduceKind::Min:
    floating = infinity, integer = largest;
    break;
  case ReduceKind::Max:
    floating = -infinity, integer = smallest;
    break;
  case ReduceKind::And:
    integer = wrapInteger(value.type, -1);
    break;
  }
  std::fill(value.floats.begin(), value.floats.end(), floating);
  std::fill(value.ints.begin(), value.ints.end(), integer);
}

/// Calls `visit(source, target, index)` for each element of `shape`, row-major:
/// `target` is its position once `dims` are dropped, `index` its position along
/// the last of them.
template <typename F>
void forEachReduced(const Shape &shape, const std::vector<int64_t> &dims,
                    F visit) {
  std::vector<int64_t> index(shape.size()), stride(shape.size());
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0;)
    if (!llvm::is_contained(dims, int64_t(d))) {
      stride[d] = step;
      step *= shape[d];
    }
  int64_t target = 0;
  for (int64_t source = 0, count = elementCount(shape); source < count;
       ++source) {
    visit(source, target, dims.empty() ? 0 : index[dims.back()]);
    for (size_t d = shape.size(); d-- > 0;) {
      target += stride[d];
      if (++index[d] < shape[d])
        break;
      target -= index[d] * stride[d];
      index[d] = 0;
    }
  }
}

Values reduce(const Call &call) {
  ReduceKind kind = cast<dtensor::ReduceOp>(call.op).getKind();
  std::vector<int64_t> dims = call.integers("dimensions");
  Values results;
  for (unsigned i = 0; i < call.size(); ++i) {
    const HostValue &in = call[i];
    HostValue out = call.result(i);
    fillIdentity(kind, out);
    std::vector<AnyOrder> orders;
    if (AnyOrder::isLookedAt(call, kind, in.type))
      orders.assign(size_t(out.count()), AnyOrder(kind, in.type));
    forEachReduced(
        in.shape, dims, [&](int64_t source, int64_t target, int64_t index) {
          combineInto(kind, out, target, in, source);
          if (!orders.empty())
            orders[target].add(in, source);
          if (kind != ReduceKind::Sum || index % SUM_BLOCK != SUM_BLOCK - 1)
            return;
          for (std::vector<double> *part : {&out.floats, &out.imaginaries})
            if (!part->empty())
              (*part)[target] = call.partialSum((*part)[target]);
        });
    for (size_t target = 0; target < orders.size(); ++target)
      if (orders[target].overflows())
        setNan(out, int64_t(target));
    results.push_back(std::move(out));
  }
  return results;
}

/// The first index of the largest (smallest) element; the first nan wins.
template <bool largest> Values argExtreme(const Call &call) {
  const HostValue &in = call[0];
  HostValue out = call.result();
  std::vector<int64_t> best(out.ints.size(), -1);
  auto better = [&](int64_t a, int64_t b) {
    if (!in.isFloating())
      return largest ? isLess(in.type, in.ints[b], in.ints[a])
                     : isLess(in.type, in.ints[a], in.ints[b]);
    double x = in.floats[a], y = in.floats[b];
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) && !std::isnan(y);
    return largest ? x > y : x < y;
  };
  forEachReduced(in.shape, {call.integer("dimension")},
                 [&](int64_t source, int64_t target, int64_t index) {
                   if (best[target] >= 0 && !better(source, best[target]))
                     return;
                   best[target] = source;
                   out.ints[target] = index;
                 });
  return {std::move(out)};
}

} // namespace

void AnyOrder::add(const HostValue &value, int64_t i) {
  const double real = value.floats[i],
               imaginary = value.isComplex() ? value.imaginaries[i] : 0;
  finite &= std::isfinite(real) && std::isfinite(imaginary);
  if (!std::exchange(begun, true))
    large = small = kind == ReduceKind::Prod ? 1 : 0;
  if (kind == ReduceKind::Prod) {
    const double size = std::hypot(real, imaginary);
    large *= std::max(size, 1.0);
    small *= size == 0 ? 1 : std::min(size, 1.0);
    hasZero |= size == 0;
  } else {
    large += std::max({real, imaginary, 0.0});
    small += std::min({real, imaginary, 0.0});
  }
}

bool AnyOrder::overflows() const {
  // An infinite one is infinite in all orders.
  if (!finite)
    return false;
  auto rounded = [&](double x) { return roundToType(type, x); };
  if (kind == ReduceKind::Sum)
    return (std::isinf(rounded(large)) || std::isinf(rounded(small))) &&
           std::isfinite(rounded(large + small));
  const double product = hasZero ? 0 : large * small;
  return (std::isinf(rounded(large)) && std::isfinite(rounded(product))) ||
         (begun && rounded(small) == 0 && rounded(product) != 0);
}

void setNan(HostValue &value, int64_t i) {
  value.floats[i] = NAN;
  if (value.isComplex())
    value.imaginaries[i] = NAN;
}

void combineInto(ReduceKind kind, HostValue &into, int64_t target,
                 const HostValue &from, int64_t source) {
  if (into.isComplex()) {
    Complex x = complexAt(into, target), y = complexAt(from, source);
    setComplex(into, target, kind == ReduceKind::Sum ? x + y : product(x, y));
  } else if (into.isFloating())
    into.floats[target] =
        combine(kind, into.floats[target], from.floats[source]);
  else
    into.ints[target] =
        wrapInteger(into.type, combine(kind, into.ints[target],
                                       from.ints[source], into.type));
}

void addReductionOps(OpTable &table) {
  table["dtensor.dot_general"] = dotGeneral;
  table["dtensor.matmul"] = matmul;
  table["dtensor.reduce"] = reduce;
  table["dtensor.argmax"] = argExtreme<true>;
  table["dtensor.argmin"] = argExtreme<false>;
}

} // namespace meshloom::interpreter
