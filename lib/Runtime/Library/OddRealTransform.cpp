// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element j = j1 * columns + j2 and result k = k2 * rows + k1, as in a
// transform of complex numbers. With n elements, result n - k is the conjugate
// of result k, and so is row rows - k1 of row k1.
#include "OddRealTransform.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// The number of rows that fills vectors best, or 0 if the length is a prime.
int64_t oddRowsOf(int64_t length, int64_t lanes) {
  int64_t best = 0, least = 0;
  for (int64_t rows = 3; rows < length; rows += 2) {
    if (length % rows != 0)
      continue;
    const int64_t columns = length / rows;
    const int64_t cost = roundedUp(columns / 2 + 1, lanes) * rows +
                         roundedUp(rows / 2 + 1, lanes) * columns;
    if (best == 0 || cost < least) {
      best = rows;
      least = cost;
    }
  }
  return best;
}
} // namespace

template <typename Real> bool OddRealTransform<Real>::isFor(int64_t length) {
  return length % 2 == 1 && length >= LONG_LINE && hasSmallFactors(length) &&
         oddRowsOf(length, fourierCode<Real>().lanes) > 0;
}

template <typename Real>
OddRealTransform<Real>::OddRealTransform(int64_t length)
    : code(fourierCode<Real>()), rows(oddRowsOf(length, code.lanes)),
      columns(length / rows), ofColumns(makePasses<Real>(rows)),
      ofRows(makePasses<Real>(columns)) {
  const RootsOfUnity<Real> roots(length);
  const int64_t lanes = code.lanes;
  auto append = [&](LargeVector<Real> &twiddles, int64_t count,
                    int64_t firstLine) {
    for (int64_t i = 0; i < count; ++i) {
      const size_t begin = twiddles.size();
      twiddles.resize(begin + size_t(2 * lanes));
      Real *to = twiddles.data() + begin;
      for (int64_t l = 0; l < lanes; ++l)
        roots.get((firstLine + l) * i % length, to[l], to[lanes + l]);
    }
  };
  for (int64_t group = 0; group < groupsOfPairs().count(); ++group)
    for (int64_t first : {int64_t(0), pairs()})
      append(columnTwiddles, distinctRows(),
             first + groupsOfPairs().begin(group));
  for (int64_t group = 0; group < groupsOfRows().count(); ++group)
    append(rowTwiddles, columns, groupsOfRows().begin(group));
}

/// Reads a group of pairs of columns. Lanes that are no pairs hold anything.
template <typename Real>
void OddRealTransform<Real>::loadPairs(const Real *from, int64_t group,
                                       Real *block) const {
  const LineGroups groups = groupsOfPairs();
  const int64_t begin = groups.begin(group), lanes = code.lanes,
                size = 2 * lanes;
  const LineStrides strides{columns, pairs(), 1};
  // Whole vectors are read where the line does not end before them.
  const int64_t behind = length() - (begin + pairs() + lanes),
                whole = behind < 0 ? 0 : std::min(behind / columns + 1, rows);
  const bool hasLast = begin + groups.size() == pairs();
  code.load(from + begin, strides, lanes, whole, 1, block);
  code.load(from + begin + whole * columns, strides,
            groups.size() - (hasLast ? 1 : 0), rows - whole, 1,
            block + whole * size);
  if (!hasLast)
    return;
  // The last column is alone.
  const int64_t last = groups.size() - 1;
  for (int64_t row = 0; row < rows; ++row) {
    block[row * size + last] = from[row * columns + pairs() - 1];
    block[row * size + lanes + last] = 0;
  }
}

template <typename Real>
void OddRealTransform<Real>::fromReal(const Real *from, Real *to) const {
  const LineGroups ofPairs = groupsOfPairs(), ofRow = groupsOfRows();
  const int64_t size = 2 * code.lanes, step = stepOfRows(),
                most = (std::max(rows, columns) + 1) * size,
                odd = ofPairs.count() * size;
  Real *twiddled = fourierScratch<Real>(Twiddled, distinctRows() * step);
  ofPairs.forEach(length(), [&](int64_t group) {
    Real *first = fourierScratch<Real>(FirstBlock, most),
         *second = fourierScratch<Real>(SecondBlock, most);
    loadPairs(from, group, first);
    const Real *sums = code.transform(ofColumns.passes, first, second);
    code.splitPairs(
        sums, rows, columnTwiddles.data() + group * 2 * distinctRows() * size,
        twiddled + group * size, twiddled + odd + group * size, step);
  });
  const int64_t half = columns / 2 + 1;
  ofRow.forEach(length(), [&](int64_t group) {
    Real *first = fourierScratch<Real>(FirstBlock, most),
         *second = fourierScratch<Real>(SecondBlock, most);
    const int64_t begin = ofRow.begin(group), count = ofRow.size();
    const Real *lines = twiddled + begin * step;
    code.loadRows(lines, step, count, pairs(), first);
    code.loadRows(lines + odd, step, count, pairs(), first + pairs() * size);
    const Real *sums = code.transform(ofRows.passes, first, second);
    code.store(sums, count, half, 1, 1, to + 2 * begin, {2 * rows, 1, 2});
    code.store(sums + half * size, count, columns - half, 1, -1,
               to + 2 * ((columns - half) * rows - begin), {-2 * rows, 1, -2});
  });
}

template <typename Real>
void OddRealTransform<Real>::toReal(const Real *from, Real *to,
                                    Real scale) const {
  const LineGroups ofPairs = groupsOfPairs(), ofRow = groupsOfRows();
  const int64_t lanes = code.lanes, size = 2 * lanes, step = stepOfColumns(),
                most = std::max(rows, columns) * size, half = columns / 2 + 1;
  Real *twiddled = fourierScratch<Real>(Twiddled, columns * step);
  ofRow.forEach(length(), [&](int64_t group) {
    Real *first = fourierScratch<Real>(FirstBlock, most),
         *second = fourierScratch<Real>(SecondBlock, most);
    const int64_t begin = ofRow.begin(group), count = ofRow.size();
    // The inverse transform of numbers whose results are real is that of their
    // conjugates.
    code.load(from + 2 * begin, {2 * rows, 1, 2}, count, half, -1, first);
    code.load(from + 2 * ((columns - half) * rows - begin), {-2 * rows, 1, -2},
              count, columns - half, 1, first + half * size);
    if (begin == 0) // Element 0 of the spectrum of real numbers is real.
      first[lanes] = 0;
    const Real *sums = code.transform(ofRows.passes, first, second);
    code.rotate(sums, columns, rowTwiddles.data() + group * columns * size,
                twiddled + group * size, step);
  });
  ofPairs.forEach(length(), [&](int64_t group) {
    Real *first = fourierScratch<Real>(FirstBlock, most),
         *second = fourierScratch<Real>(SecondBlock, most),
         *joined = fourierScratch<Real>(ThirdBlock, most);
    const int64_t begin = ofPairs.begin(group), count = ofPairs.size();
    const bool hasLast = begin + count == pairs();
    const int64_t imaginary = count - (hasLast ? 1 : 0);
    const Real *lines = twiddled + begin * step;
    code.loadRows(lines, step, count, distinctRows(), first);
    code.loadRows(lines + pairs() * step, step, imaginary, distinctRows(),
                  second);
    code.joinPairs(first, second, rows, joined);
    const Real *sums = code.transform(ofColumns.passes, joined, first);
    const LineStrides strides{columns, 0, 1};
    code.store(sums, count, rows, scale, scale, to + begin, strides);
    code.store(sums + lanes, imaginary, rows, scale, scale,
               to + begin + pairs(), strides);
  });
}

template class library::OddRealTransform<float>;
template class library::OddRealTransform<double>;
