// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FourierPlan.h"

#include "FourierParts.h"
#include "LargeMemory.h"
#include "OddRealTransform.h"

#include <map>
#include <mutex>
#include <tuple>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Elements of a long line that are worth a worker.
constexpr int64_t ELEMENTS_OF_WORKER = 1 << 12;
/// Bytes of lines that are copied to lie side by side.
constexpr int64_t COPIED_BYTES = 1 << 20;

//===----------------------------------------------------------------------===//
// A line as a matrix
//===----------------------------------------------------------------------===//

/// The number of rows that fills vectors best; among equals, the one nearest to
/// a square.
int64_t rowsOf(int64_t length, int64_t lanes) {
  int64_t best = 0;
  double least = 0;
  for (int64_t rows = 2; rows * rows <= length; ++rows) {
    if (length % rows != 0)
      continue;
    for (int64_t candidate : {rows, length / rows}) {
      const int64_t columns = length / candidate;
      const double steps = double(roundedUp(columns, lanes) * candidate) +
                           double(roundedUp(candidate, lanes) * columns);
      const double cost =
          steps *
          (1 + 0.05 * std::abs(std::log2(double(candidate) / double(columns))));
      if (best == 0 || cost < least) {
        best = candidate;
        least = cost;
      }
    }
  }
  return best;
}

/// Element j = j1 * columns + j2 and result k = k2 * rows + k1: the sum over j1
/// is the transform of column j2, and that over j2 of row k1, between which
/// there is the factor exp(-2 pi i j2 k1 / length).
template <typename Real>
class MatrixTransform final : public LineTransform<Real> {
public:
  explicit MatrixTransform(int64_t length)
      : code(fourierCode<Real>()), rows(rowsOf(length, code.lanes)),
        columns(length / rows), ofColumns(makePasses<Real>(rows)),
        ofRows(makePasses<Real>(columns)) {
    const LineGroups groups = groupsOf(columns);
    const int64_t lanes = code.lanes;
    const RootsOfUnity<Real> roots(length);
    twiddles.resize(size_t(groups.count() * rows * 2 * lanes));
    Real *to = twiddles.data();
    for (int64_t group = 0; group < groups.count(); ++group)
      for (int64_t row = 0; row < rows; ++row, to += 2 * lanes)
        for (int64_t l = 0; l < groups.size(); ++l)
          roots.get((groups.begin(group) + l) * row, to[l], to[lanes + l]);
  }

  void run(const Real *from, Real sign, Real *to, Real realScale,
           Real imaginaryScale) const override {
    const LineGroups ofColumn = groupsOf(columns), ofRow = groupsOf(rows);
    const int64_t size = 2 * code.lanes, most = std::max(rows, columns) * size,
                  step = (ofColumn.count() + 1) * size;
    Real *twiddled = fourierScratch<Real>(Twiddled, rows * step);
    ofColumn.forEach(length(), [&](int64_t group) {
      Real *first = fourierScratch<Real>(FirstBlock, most),
           *second = fourierScratch<Real>(SecondBlock, most);
      code.load(from + 2 * ofColumn.begin(group), {2 * columns, 1, 2},
                ofColumn.size(), rows, sign, first);
      const Real *sums = code.transform(ofColumns.passes, first, second);
      code.rotate(sums, rows, &twiddles[size_t(group * rows * size)],
                  twiddled + group * size, step);
    });
    ofRow.forEach(length(), [&](int64_t group) {
      Real *first = fourierScratch<Real>(FirstBlock, most),
           *second = fourierScratch<Real>(SecondBlock, most);
      const int64_t begin = ofRow.begin(group), count = ofRow.size();
      code.loadRows(twiddled + begin * step, step, count, columns, first);
      const Real *sums = code.transform(ofRows.passes, first, second);
      code.store(sums, count, columns, realScale, imaginaryScale,
                 to + 2 * begin, {2 * rows, 1, 2});
    });
  }

  /// A column of all lines becomes a block, then a row.
  bool runBeside(const Real *from, LineStrides fromStrides, int64_t lines,
                 Real sign, Real *to, LineStrides toStrides, Real realScale,
                 Real imaginaryScale) const override {
    const int64_t lanes = code.lanes, size = 2 * lanes, step = columns * size;
    if (2 * lines < lanes || rows * step * int64_t(sizeof(Real)) > COPIED_BYTES)
      return false;
    Real *first = fourierScratch<Real>(FirstBlock, rows * size),
         *second =
             fourierScratch<Real>(SecondBlock, std::max(rows, columns) * size),
         *twiddled = fourierScratch<Real>(Twiddled, rows * step);
    for (int64_t column = 0; column < columns; ++column) {
      code.load(from + column * fromStrides.element,
                {columns * fromStrides.element, fromStrides.imaginary,
                 fromStrides.line},
                lines, rows, sign, first);
      const Real *sums = code.transform(ofColumns.passes, first, second);
      const int64_t group = column / lanes;
      code.rotateAlike(sums, rows,
                       &twiddles[size_t(group * rows * size + column -
                                        groupsOf(columns).begin(group))],
                       twiddled + column * size, step);
    }
    for (int64_t row = 0; row < rows; ++row) {
      const Real *sums =
          code.transform(ofRows.passes, twiddled + row * step, second);
      code.store(
          sums, lines, columns, realScale, imaginaryScale,
          to + row * toStrides.element,
          {rows * toStrides.element, toStrides.imaginary, toStrides.line});
    }
    return true;
  }

private:
  int64_t length() const { return rows * columns; }
  LineGroups groupsOf(int64_t lines) const { return {code.lanes, lines}; }

  const FourierCode<Real> &code;
  const int64_t rows, columns;
  const FourierPasses<Real> ofColumns, ofRows;
  LargeVector<Real> twiddles; ///< [groups of columns][rows] vectors
};

//===----------------------------------------------------------------------===//
// A line as a convolution
//===----------------------------------------------------------------------===//

/// The least length of at least `least` that the passes are fast for.
int64_t convolutionLength(int64_t least) {
  least = std::max(least, LONG_LINE);
  int64_t best = 0;
  for (int64_t odd : {1, 3, 5, 9, 15, 25, 27, 45, 75}) {
    int64_t length = odd * 16;
    while (length < least)
      length *= 2;
    if (best == 0 || length < best)
      best = length;
  }
  return best;
}

/// With c[j] = exp(-pi i j^2 / n) and 2 j k = j^2 + k^2 - (k - j)^2, result k
/// is c[k] times the sum over j of (x[j] c[j]) conj(c[k - j]).
template <typename Real>
class ChirpTransform final : public LineTransform<Real> {
public:
  explicit ChirpTransform(int64_t length)
      : code(fourierCode<Real>()), length(length),
        padded(convolutionLength(2 * length - 1)), inner(padded) {
    const RootsOfUnity<Real> roots(2 * length);
    chirp.resize(size_t(2 * length));
    spectrum.resize(size_t(2 * padded));
    // j^2 modulo 2 n, from one square to the next.
    for (int64_t j = 0, square = 0; j < length; ++j) {
      Real re, im;
      roots.get(square, re, im);
      square += 2 * j + 1;
      square -= square >= 2 * length ? 2 * length : 0;
      chirp[size_t(2 * j)] = re;
      chirp[size_t(2 * j) + 1] = im;
      for (int64_t place : {j, (padded - j) % padded}) {
        spectrum[size_t(2 * place)] = re;
        spectrum[size_t(2 * place) + 1] = -im;
      }
    }
    const Real scale = Real(1) / Real(padded);
    inner.run(spectrum.data(), 1, spectrum.data(), scale, scale);
  }

  void run(const Real *from, Real sign, Real *to, Real realScale,
           Real imaginaryScale) const override {
    Real *work = fourierScratch<Real>(ChirpLine, 2 * padded);
    auto multiply = [&](const Real *a, const Real *b, int64_t count, Real aSign,
                        Real productSign, Real *product) {
      Team::current().forEachRange(
          count, ELEMENTS_OF_WORKER, /*grain=*/64,
          [&](int64_t begin, int64_t end) {
            code.multiply(a + 2 * begin, b + 2 * begin, end - begin, aSign,
                          productSign, product + 2 * begin);
          });
    };
    multiply(from, chirp.data(), length, sign, 1, work);
    std::fill(work + 2 * length, work + 2 * padded, Real(0));
    inner.run(work, 1, work, 1, 1);
    // The inverse transform is the conjugate of that of the conjugate.
    multiply(work, spectrum.data(), padded, 1, -1, work);
    inner.run(work, 1, work, realScale, realScale);
    multiply(work, chirp.data(), length, -1, imaginaryScale / realScale, to);
  }

private:
  const FourierCode<Real> &code;
  const int64_t length, padded;
  const MatrixTransform<Real> inner;
  LargeVector<Real> chirp, spectrum;
};

/// Lines of `count` elements become dense: [lines, step].
template <typename Element>
void copyFourierLines(const Element *from, ElementStrides fromStrides,
                      Element *to, ElementStrides toStrides, int64_t lines,
                      int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    for (int64_t l = 0; l < lines; ++l)
      to[i * toStrides.element + l * toStrides.line] =
          from[i * fromStrides.element + l * fromStrides.line];
}

template <typename Real> struct ComplexElement {
  Real re, im;
};

template <typename Real>
void copyFourierLines(bool isComplex, const Real *from,
                      ElementStrides fromStrides, Real *to,
                      ElementStrides toStrides, int64_t lines, int64_t count) {
  if (!isComplex)
    return copyFourierLines<Real>(from, fromStrides, to, toStrides, lines,
                                  count);
  using Element = ComplexElement<Real>;
  copyFourierLines<Element>(reinterpret_cast<const Element *>(from),
                            fromStrides, reinterpret_cast<Element *>(to),
                            toStrides, lines, count);
}

bool isHalved(FourierKind kind, int64_t length) {
  return length % 2 == 0 &&
         (kind == FourierKind::FromReal || kind == FourierKind::ToReal);
}
} // namespace

template <typename Real> FourierPlan<Real>::~FourierPlan() = default;

template <typename Real>
FourierPlan<Real>::FourierPlan(FourierKind kind, int64_t length)
    : kind(kind), length(length),
      inner(isHalved(kind, length) ? length / 2 : length) {
  if (inner < length) {
    const RootsOfUnity<Real> rootsOfUnity(length);
    roots.resize(size_t(inner / 2 + 1) * 2);
    for (int64_t k = 0; k <= inner / 2; ++k)
      rootsOfUnity.get(k, roots[size_t(2 * k)], roots[size_t(2 * k) + 1]);
  }
  const bool isReal =
      kind == FourierKind::FromReal || kind == FourierKind::ToReal;
  if (isReal && OddRealTransform<Real>::isFor(length))
    oddLine = std::make_unique<OddRealTransform<Real>>(length);
  else if (!hasSmallFactors(inner))
    line = std::make_unique<ChirpTransform<Real>>(inner);
  else if (inner >= LONG_LINE)
    line = std::make_unique<MatrixTransform<Real>>(inner);
  else
    passes = makePasses<Real>(inner);
}

template <typename Real>
std::shared_ptr<const FourierPlan<Real>>
FourierPlan<Real>::get(FourierKind kind, int64_t length) {
  // Never destroyed: programs may be loaded until the process ends.
  static std::mutex &mutex = *new std::mutex;
  static auto &plans = *new std::map<std::pair<FourierKind, int64_t>,
                                     std::weak_ptr<const FourierPlan>>;
  std::lock_guard lock(mutex);
  std::weak_ptr<const FourierPlan> &entry = plans[{kind, length}];
  std::shared_ptr<const FourierPlan> plan = entry.lock();
  if (!plan)
    entry = plan = std::make_shared<const FourierPlan>(kind, length);
  return plan;
}

template <typename Real>
void FourierPlan<Real>::runLanes(const Real *from, LineStrides fromStrides,
                                 Real *to, LineStrides toStrides,
                                 int64_t lines) const {
  const FourierCode<Real> &code = fourierCode<Real>();
  const int64_t size = 2 * code.lanes, half = length / 2;
  Real *first = fourierScratch<Real>(FirstBlock, (length + 1) * size),
       *second = fourierScratch<Real>(SecondBlock, (length + 1) * size);
  const Real scale = Real(1) / Real(length);
  const bool halved = inner < length;
  auto transform = [&] { return code.transform(passes.passes, first, second); };
  auto pairs = [](LineStrides strides) -> LineStrides {
    return {2 * strides.element, strides.element, strides.line};
  };
  switch (kind) {
  case FourierKind::Forward:
    code.load(from, fromStrides, lines, length, 1, first);
    code.store(transform(), lines, length, 1, 1, to, toStrides);
    return;
  case FourierKind::Inverse:
    code.load(from, fromStrides, lines, length, -1, first);
    code.store(transform(), lines, length, scale, -scale, to, toStrides);
    return;
  case FourierKind::FromReal: {
    code.load(from, halved ? pairs(fromStrides) : fromStrides, lines, inner, 1,
              first);
    Real *result = transform();
    if (halved)
      code.separate(result, half, roots.data());
    code.store(result, lines, half + 1, 1, 1, to, toStrides);
    return;
  }
  case FourierKind::ToReal:
    code.load(from, fromStrides, lines, half + 1, 1, first);
    if (halved) {
      code.join(first, half, roots.data());
      code.store(transform(), lines, half, scale, -scale, to, pairs(toStrides));
      return;
    }
    // Element 0 of the spectrum of real numbers is real.
    std::fill_n(first + code.lanes, code.lanes, Real(0));
    for (int64_t k = 1; k <= half; ++k) {
      Real *element = first + k * size, *mirror = first + (length - k) * size;
      std::copy_n(element, size, mirror);
      for (int64_t l = code.lanes; l < size; ++l)
        element[l] = -element[l];
    }
    code.store(transform(), lines, length, scale, scale, to, toStrides);
  }
}

template <typename Real>
void FourierPlan<Real>::runLine(const Real *from, Real *to) const {
  const int64_t half = length / 2;
  const Real scale = Real(1) / Real(length);
  if (kind == FourierKind::Forward)
    return line->run(from, 1, to, 1, 1);
  if (kind == FourierKind::Inverse)
    return line->run(from, -1, to, scale, -scale);
  if (kind == FourierKind::FromReal && inner < length) {
    line->run(from, 1, to, 1, 1);
    return separateLine(to, half, roots.data());
  }
  if (oddLine)
    return kind == FourierKind::FromReal ? oddLine->fromReal(from, to)
                                         : oddLine->toReal(from, to, scale);
  Real *elements = fourierScratch<Real>(OneLine, 2 * length);
  if (kind == FourierKind::FromReal) {
    for (int64_t i = 0; i < length; ++i) {
      elements[2 * i] = from[i];
      elements[2 * i + 1] = 0;
    }
    line->run(elements, 1, elements, 1, 1);
    std::copy_n(elements, 2 * (half + 1), to);
    return;
  }
  if (inner < length) {
    joinLine(from, half, roots.data(), elements);
    return line->run(elements, 1, to, scale, -scale);
  }
  elements[0] = from[0];
  elements[1] = 0;
  for (int64_t k = 1; k <= half; ++k) {
    const Real re = from[2 * k], im = from[2 * k + 1];
    elements[2 * k] = elements[2 * (length - k)] = re;
    elements[2 * k + 1] = -im;
    elements[2 * (length - k) + 1] = im;
  }
  line->run(elements, 1, elements, scale, scale);
  for (int64_t i = 0; i < length; ++i)
    to[i] = elements[2 * i];
}

template <typename Real>
bool FourierPlan<Real>::runBeside(const Real *from, LineStrides fromStrides,
                                  int64_t lines, Real *to,
                                  LineStrides toStrides) const {
  const Real scale = Real(1) / Real(length);
  if (kind == FourierKind::Forward)
    return line->runBeside(from, fromStrides, lines, 1, to, toStrides, 1, 1);
  return kind == FourierKind::Inverse &&
         line->runBeside(from, fromStrides, lines, -1, to, toStrides, scale,
                         -scale);
}

template <typename Real>
void FourierPlan<Real>::run(const Real *from, ElementStrides fromStrides,
                            Real *to, ElementStrides toStrides,
                            int64_t lines) const {
  const bool isFromReal = kind == FourierKind::FromReal,
             isToReal = kind == FourierKind::ToReal;
  auto inReals = [](ElementStrides strides, bool isReal) -> LineStrides {
    return isReal ? LineStrides{strides.element, 0, strides.line}
                  : LineStrides{2 * strides.element, 1, 2 * strides.line};
  };
  const LineStrides fromReals = inReals(fromStrides, isFromReal),
                    toReals = inReals(toStrides, isToReal);
  if (!line && !oddLine) {
    const int64_t lanes = fourierCode<Real>().lanes;
    for (int64_t l = 0; l < lines; l += lanes)
      runLanes(from + l * fromReals.line, fromReals, to + l * toReals.line,
               toReals, std::min(lanes, lines - l));
    return;
  }
  const int64_t fromCount = isToReal ? length / 2 + 1 : length,
                toCount = isFromReal ? length / 2 + 1 : length;
  const bool isFromDense = fromStrides.element == 1 || fromCount == 1,
             isToDense = toStrides.element == 1 || toCount == 1;
  // Lines that are copied side by side share cache lines where they come from.
  const int64_t cacheLine = 64, some = cacheLine / int64_t(sizeof(Real)),
                bytes = 2 * length * int64_t(sizeof(Real)),
                group = isFromDense && isToDense
                            ? lines
                            : std::clamp(COPIED_BYTES / bytes, some / 2, some);
  // One cache line more: else lines of 2^k bytes would meet in one cache set.
  const int64_t step = length + some;
  for (int64_t l = 0; l < lines; l += group) {
    const int64_t count = std::min(group, lines - l);
    const Real *source = from + l * fromReals.line;
    Real *target = to + l * toReals.line;
    if (!isToDense && runBeside(source, fromReals, count, target, toReals))
      continue;
    int64_t sourceLine = fromReals.line, targetLine = toReals.line;
    if (!isFromDense) {
      Real *copy = fourierScratch<Real>(LinesFrom, 2 * step * group);
      copyFourierLines(!isFromReal, source, fromStrides, copy, {1, step}, count,
                       fromCount);
      source = copy;
      sourceLine = isFromReal ? step : 2 * step;
    }
    if (!isToDense) {
      target = fourierScratch<Real>(LinesTo, 2 * step * group);
      targetLine = isToReal ? step : 2 * step;
    }
    for (int64_t i = 0; i < count; ++i)
      runLine(source + i * sourceLine, target + i * targetLine);
    if (!isToDense)
      copyFourierLines(!isToReal, target, {1, step}, to + l * toReals.line,
                       toStrides, count, toCount);
  }
}

template class library::FourierPlan<float>;
template class library::FourierPlan<double>;
