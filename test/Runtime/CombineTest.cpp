// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Box copies, element-wise reductions, matrix products of any strides, events.
#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Event.h"
#include "meshloom/Runtime/HalfFloats.h"

#include "../../lib/Runtime/Library/Dot.h"

#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <thread>

using namespace meshloom;

namespace {
TEST(BoxCopyTest, CopiesOnlyTheBox) {
  std::vector<int> from(6 * 5), to(4 * 4, -1);
  std::iota(from.begin(), from.end(), 0);
  // `from` starts at [10, 20], `to` at [12, 21].
  copyBox({reinterpret_cast<char *>(to.data()), {{12, 21}, {4, 4}}},
          {reinterpret_cast<char *>(from.data()), {{10, 20}, {6, 5}}},
          {{13, 22}, {2, 3}}, sizeof(int));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const bool inside = i >= 1 && i < 3 && j >= 1;
      EXPECT_EQ(to[size_t(i * 4 + j)], inside ? (i + 2) * 5 + j + 1 : -1);
    }
}

TEST(BoxCopyTest, ScalarsAndEmptyBoxes) {
  int from = 7, to = 0;
  copyBox({reinterpret_cast<char *>(&to), {}},
          {reinterpret_cast<char *>(&from), {}}, {}, sizeof(int));
  EXPECT_EQ(to, 7);
  copyBox({nullptr, {{0}, {0}}}, {nullptr, {{0}, {0}}}, {{0}, {0}}, 4);
}

template <typename T>
std::vector<T> combined(ReduceKind kind, DType type,
                        std::vector<std::vector<T>> addends) {
  std::vector<const void *> sources;
  for (auto &addend : addends)
    sources.push_back(addend.data());
  std::vector<T> result(addends[0].size());
  combine(kind, type, result.data(), sources, int64_t(result.size()));
  return result;
}

TEST(CombineTest, HalvesComplexNumbersAndWideIntegers) {
  using Half = _Float16;
  // 2048 + 1 is no f16, the sum is rounded once.
  EXPECT_EQ(combined(ReduceKind::Sum, DType::F16,
                     std::vector<std::vector<Half>>{
                         {Half(2048)}, {Half(1)}, {Half(1)}, {Half(2)}}),
            std::vector<Half>{Half(2052)});
  using Complex = std::complex<float>;
  std::vector<std::vector<Complex>> numbers{{{1, 2}}, {{3, -1}}, {{0, 1}}};
  EXPECT_EQ(combined(ReduceKind::Sum, DType::C64, numbers),
            (std::vector<Complex>{{4, 2}}));
  EXPECT_EQ(combined(ReduceKind::Prod, DType::C64, numbers),
            (std::vector<Complex>{{-5, 5}}));
  EXPECT_EQ(combined(ReduceKind::Max, DType::UI64,
                     std::vector<std::vector<uint64_t>>{{1}, {UINT64_MAX}}),
            std::vector<uint64_t>{UINT64_MAX});
  EXPECT_EQ(combined(ReduceKind::Prod, DType::UI16,
                     std::vector<std::vector<uint16_t>>{{65535}, {65535}}),
            std::vector<uint16_t>{1});
  Complex one;
  fillIdentity(ReduceKind::Prod, DType::C64, &one, 1);
  EXPECT_EQ(one, Complex(1));
  int16_t least;
  fillIdentity(ReduceKind::Max, DType::I16, &least, 1);
  EXPECT_EQ(least, INT16_MIN);
}

TEST(CombineTest, EveryF16IsWidenedAndNarrowed) {
  for (uint32_t i = 0; i < 1 << 16; ++i) {
    const auto bits = uint16_t(i);
    const auto expected = float(std::bit_cast<_Float16>(bits));
    const float wide = F16::widen(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(wide)) << i;
      EXPECT_TRUE(std::isnan(F16::widen(F16::narrow(wide)))) << i;
      continue;
    }
    EXPECT_EQ(std::bit_cast<uint32_t>(wide), std::bit_cast<uint32_t>(expected))
        << i;
    EXPECT_EQ(F16::narrow(wide), bits);
  }
}

TEST(CombineTest, EveryCountOfSources) {
  for (size_t count = 1; count < 12; ++count) {
    std::vector<std::vector<float>> addends;
    for (size_t s = 0; s < count; ++s)
      addends.push_back(std::vector<float>(5000, float(1 << s)));
    EXPECT_EQ(combined(ReduceKind::Sum, DType::F32, addends),
              std::vector<float>(5000, float((1 << count) - 1)));
    // In place of the first.
    std::vector<const void *> sources;
    for (auto &addend : addends)
      sources.push_back(addend.data());
    combine(ReduceKind::Sum, DType::F32, addends[0].data(), sources, 5000);
    EXPECT_EQ(addends[0], std::vector<float>(5000, float((1 << count) - 1)));
  }
}

TEST(CombineTest, EveryKind) {
  using I = std::vector<int32_t>;
  const std::vector<I> addends = {{6, -1, 3}, {5, 4, 3}, {3, 0, -9}};
  EXPECT_EQ(combined(ReduceKind::Sum, DType::I32, addends), (I{14, 3, -3}));
  EXPECT_EQ(combined(ReduceKind::Prod, DType::I32, addends), (I{90, 0, -81}));
  EXPECT_EQ(combined(ReduceKind::Min, DType::I32, addends), (I{3, -1, -9}));
  EXPECT_EQ(combined(ReduceKind::Max, DType::I32, addends), (I{6, 4, 3}));
  EXPECT_EQ(combined(ReduceKind::And, DType::I32, addends), (I{0, 0, 3}));
  EXPECT_EQ(combined(ReduceKind::Or, DType::I32, addends), (I{7, -1, -9}));
  using B = std::vector<uint8_t>;
  const std::vector<B> bools = {{0, 0, 1}, {0, 1, 1}};
  EXPECT_EQ(combined(ReduceKind::Sum, DType::I1, bools), (B{0, 1, 1}));
  EXPECT_EQ(combined(ReduceKind::And, DType::I1, bools), (B{0, 0, 1}));
}

TEST(CombineTest, NanWinsInMinAndMax) {
  const float nan = std::nanf("");
  for (ReduceKind kind : {ReduceKind::Min, ReduceKind::Max})
    for (float x : combined<float>(kind, DType::F32, {{nan, 1}, {1, nan}}))
      EXPECT_TRUE(std::isnan(x));
}

// 256 times 1 in bf16 is 256 only if it is added in f32.
TEST(CombineTest, TheOrderOfZerosDoesNotMatter) {
  for (double first : {0.0, -0.0}) {
    auto signsOf = [&](ReduceKind kind) {
      const auto wide =
          combined(kind, DType::F64,
                   std::vector<std::vector<double>>{{first}, {-first}});
      const auto narrow = combined(
          kind, DType::F32,
          std::vector<std::vector<float>>{{float(first)}, {float(-first)}});
      return std::pair(std::signbit(wide[0]), std::signbit(narrow[0]));
    };
    EXPECT_EQ(signsOf(ReduceKind::Max), std::pair(false, false));
    EXPECT_EQ(signsOf(ReduceKind::Min), std::pair(true, true));
  }
}

TEST(CombineTest, SumsOfBF16AreMadeInF32) {
  std::vector<std::vector<uint16_t>> addends(300, {0x3f80});
  EXPECT_EQ(combined(ReduceKind::Sum, DType::BF16, addends)[0], 0x4396);
}

TEST(CombineTest, IdentityChangesNothing) {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Min,
                          ReduceKind::Max, ReduceKind::And, ReduceKind::Or}) {
    std::vector<int64_t> identity(2);
    fillIdentity(kind, DType::I64, identity.data(), 2);
    EXPECT_EQ(combined<int64_t>(kind, DType::I64, {identity, {-5, 1L << 40}}),
              (std::vector<int64_t>{-5, 1L << 40}));
    std::vector<uint8_t> flags(2);
    fillIdentity(kind, DType::I1, flags.data(), 2);
    EXPECT_EQ(combined<uint8_t>(kind, DType::I1, {flags, {0, 1}}),
              (std::vector<uint8_t>{0, 1}));
  }
  float most, least;
  fillIdentity(ReduceKind::Max, DType::F32, &most, 1);
  fillIdentity(ReduceKind::Min, DType::F32, &least, 1);
  EXPECT_EQ(most, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(least, std::numeric_limits<float>::infinity());
}

/// A dot over loops with any strides, against the plain sum.
void checkDot(std::vector<int64_t> extents, std::vector<bool> reduction,
              std::array<std::vector<int64_t>, 3> strides) {
  DotStep step;
  Operand *operands[] = {&step.lhs, &step.rhs, &step.out};
  for (size_t l = 0; l < extents.size(); ++l) {
    step.loops.push_back({extents[l], reduction[l], {}});
    for (int o = 0; o < 3; ++o)
      if (strides[size_t(o)][l])
        operands[o]->dims.push_back({0, {{unsigned(l), 1}}});
  }
  auto size = [&](int o) {
    int64_t last = 1;
    for (size_t l = 0; l < extents.size(); ++l)
      last += std::max<int64_t>(extents[l] - 1, 0) * strides[size_t(o)][l];
    return size_t(last);
  };
  std::vector<float> lhs(size(0)), rhs(size(1)), out(size(2), -7);
  for (size_t i = 0; i < lhs.size(); ++i)
    lhs[i] = float(int(i * 7 % 11) - 5);
  for (size_t i = 0; i < rhs.size(); ++i)
    rhs[i] = float(int(i * 5 % 13) - 6);
  std::vector<float> expected = out;
  std::vector<int64_t> index(extents.size(), 0);
  auto visit = [&](auto &&self, size_t l, int64_t a, int64_t b, int64_t c,
                   bool first, bool zero) -> void {
    if (l == extents.size()) {
      if (zero)
        expected[size_t(c)] = 0;
      else
        expected[size_t(c)] =
            (first ? 0 : expected[size_t(c)]) + lhs[size_t(a)] * rhs[size_t(b)];
      return;
    }
    if (reduction[l] && extents[l] == 0)
      return self(self, l + 1, a, b, c, first, true);
    for (int64_t i = 0; i < extents[l]; ++i)
      self(self, l + 1, a + i * strides[0][l], b + i * strides[1][l],
           c + i * strides[2][l], first && (i == 0 || !reduction[l]), zero);
  };
  // Reductions innermost, so that `first` is the first addend.
  visit(visit, 0, 0, 0, 0, true, false);
  for (bool deterministic : {false, true}) {
    std::vector<float> result = out;
    Status status =
        library::Dot(step, {}, deterministic)
            .run(lhs.data(), rhs.data(), result.data(), extents.data(),
                 {strides[0].data(), strides[1].data(), strides[2].data()});
    ASSERT_TRUE(status) << status.error().message();
    EXPECT_EQ(result, expected) << deterministic;
  }

  // The same of narrow floats: operands are small integers, sums are rounded
  // once.
  for (DType type : {DType::BF16, DType::F16}) {
    const bool brain = type == DType::BF16;
    auto narrow = [&](const std::vector<float> &from) {
      std::vector<uint16_t> to;
      to.reserve(from.size());
      for (float value : from)
        to.push_back(brain ? BF16::narrow(value) : F16::narrow(value));
      return to;
    };
    const std::vector<uint16_t> a = narrow(lhs), b = narrow(rhs);
    std::vector<uint16_t> result(out.size(), narrow({-7}).front());
    for (bool deterministic : {false, true}) {
      Status done =
          library::Dot(step, {type, type, type}, deterministic)
              .run(a.data(), b.data(), result.data(), extents.data(),
                   {strides[0].data(), strides[1].data(), strides[2].data()});
      ASSERT_TRUE(done) << done.error().message();
      EXPECT_EQ(result, narrow(expected)) << name(type) << deterministic;
    }
  }
}

// An element's bits are the same whatever part of the product is computed with
// it, and however its operands lie in memory.
TEST(DotTest, DeterministicElements) {
  const int64_t m = 41, n = 75;
  DotStep step;
  step.loops = {{m, false, {}}, {n, false, {}}, {1, true, {}}};
  step.lhs.dims = {{0, {{0, 1}}}, {0, {{2, 1}}}};
  step.rhs.dims = {{0, {{2, 1}}}, {0, {{1, 1}}}};
  step.out.dims = {{0, {{0, 1}}}, {0, {{1, 1}}}};
  for (DType type : {DType::F32, DType::BF16})
    for (int64_t k : {1, 7, 512, 1300}) {
      const library::Dot dot(step, {type, type, type}, /*deterministic=*/true);
      std::vector<float> lhs(size_t(m * k)), rhs(size_t(k * n));
      for (size_t i = 0; i < lhs.size(); ++i)
        lhs[i] = std::sin(float(i) * 1.7f);
      for (size_t i = 0; i < rhs.size(); ++i)
        rhs[i] = std::cos(float(i) * 2.3f);
      /// Rows [r, r + rows) and columns [c, c + columns) of the product, of
      /// operands that lie row by row or column by column.
      auto product = [&](int64_t r, int64_t rows, int64_t c, int64_t columns,
                         bool byColumn) {
        auto operand = [&](const std::vector<float> &whole, int64_t lines,
                           int64_t length) {
          std::vector<float> moved(whole.size());
          for (int64_t i = 0; i < lines; ++i)
            for (int64_t j = 0; j < length; ++j)
              moved[size_t(byColumn ? j * lines + i : i * length + j)] =
                  whole[size_t(i * length + j)];
          return moved;
        };
        const std::vector<float> a = operand(lhs, m, k), b = operand(rhs, k, n);
        const std::array<int64_t, 3> extents{rows, columns, k},
            l{byColumn ? 1 : k, 0, byColumn ? m : 1},
            t{0, byColumn ? k : 1, byColumn ? 1 : n},
            o{byColumn ? 1 : columns, byColumn ? rows : 1, 0};
        std::vector<float> wide(size_t(rows * columns));
        std::vector<uint16_t> bits(wide.size());
        auto narrow = [](const std::vector<float> &from) {
          std::vector<uint16_t> to;
          to.reserve(from.size());
          for (float value : from)
            to.push_back(BF16::narrow(value));
          return to;
        };
        const int64_t from = r * l[0], to = c * t[1];
        if (type == DType::F32) {
          EXPECT_TRUE(dot.run(a.data() + from, b.data() + to, wide.data(),
                              extents.data(), {l.data(), t.data(), o.data()}));
        } else {
          EXPECT_TRUE(dot.run(narrow(a).data() + from, narrow(b).data() + to,
                              bits.data(), extents.data(),
                              {l.data(), t.data(), o.data()}));
          for (size_t i = 0; i < bits.size(); ++i)
            wide[i] = BF16::widen(bits[i]);
        }
        return [wide, o](int64_t i, int64_t j) {
          return wide[size_t(i * o[0] + j * o[1])];
        };
      };
      auto whole = product(0, m, 0, n, false);
      for (bool byColumn : {false, true})
        for (auto [r, rows, c, columns] :
             std::vector<std::array<int64_t, 4>>{{0, m, 0, n},
                                                 {3, 1, 5, n - 5},
                                                 {7, m - 7, 2, 1},
                                                 {5, 13, 33, 40}}) {
          auto part = product(r, rows, c, columns, byColumn);
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j)
              ASSERT_EQ(part(i, j), whole(r + i, c + j))
                  << "terms " << k << ", element " << r + i << ", " << c + j;
        }
    }
}

TEST(DotTest, PlainAndTransposedOperands) {
  // m, n, k = 5, 7, 4
  checkDot({5, 7, 4}, {false, false, true},
           {{{4, 0, 1}, {0, 1, 7}, {7, 1, 0}}});
  checkDot({5, 7, 4}, {false, false, true},
           {{{1, 0, 5}, {0, 4, 1}, {7, 1, 0}}});
  // Wider leading dims, and a column-major result.
  checkDot({5, 7, 4}, {false, false, true},
           {{{9, 0, 1}, {0, 1, 20}, {1, 6, 0}}});
}

// Few rows or few columns, beside a matrix along whose contiguous dim is
// summed: tiles and vectors that are not full, longer sums than one call has,
// and contractions that accumulate.
TEST(DotTest, ThinProducts) {
  for (int64_t m : {2, 4, 7, 32})
    for (int64_t n : {33, 40})
      for (int64_t k : {16, 37, 5000}) {
        checkDot({m, n, k}, {false, false, true},
                 {{{k, 0, 1}, {0, k + 3, 1}, {n + 1, 1, 0}}});
        checkDot({n, m, k}, {false, false, true},
                 {{{k + 3, 0, 1}, {0, k, 1}, {1, n + 1, 0}}});
      }
  checkDot({5, 9, 20, 3}, {false, false, true, true},
           {{{60, 0, 1, 20}, {0, 80, 1, 25}, {9, 1, 0, 0}}});
}

// The last vector of a row has terms that were added before, and leaves them
// out: an infinity among them meets no zero.
TEST(DotTest, ThinProductsTakeInfinitiesOnce) {
  const int64_t m = 6, n = 9, k = 37;
  DotStep step;
  step.loops = {{m, false, {}}, {n, false, {}}, {1, true, {}}};
  step.lhs.dims = {{0, {{0, 1}}}, {0, {{2, 1}}}};
  step.rhs.dims = {{0, {{1, 1}}}, {0, {{2, 1}}}};
  step.out.dims = {{0, {{0, 1}}}, {0, {{1, 1}}}};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::array<int64_t, 3> extents{m, n, k}, l{k, 0, 1}, t{0, k, 1},
      o{n, 1, 0};
  for (int64_t term : {0, 20, 30, 36})
    for (bool inLarge : {false, true}) {
      std::vector<float> lhs(size_t(m * k), 1.f), rhs(size_t(n * k), 1.f),
          out(size_t(m * n));
      std::vector<float> &with = inLarge ? rhs : lhs;
      for (int64_t i = term; i < int64_t(with.size()); i += k)
        with[size_t(i)] = infinity;
      ASSERT_TRUE(library::Dot(step, {}, /*deterministic=*/false)
                      .run(lhs.data(), rhs.data(), out.data(), extents.data(),
                           {l.data(), t.data(), o.data()}));
      EXPECT_EQ(out, std::vector<float>(out.size(), infinity)) << term;
    }
}

TEST(DotTest, StridesThatNoGemmTakesAreCopied) {
  checkDot({5, 7, 4}, {false, false, true},
           {{{8, 0, 2}, {0, 3, 21}, {28, 2, 0}}});
}

TEST(DotTest, BatchesAndSeveralLoopsOfAKind) {
  // b, m1, m2, n, k1, k2; m1 and m2 cannot be joined, k1 and k2 can.
  checkDot({2, 3, 2, 4, 3, 2}, {false, false, false, false, true, true},
           {{{60, 6, 30, 0, 2, 1}, {24, 0, 0, 1, 8, 4}, {24, 8, 4, 1, 0, 0}}});
  // Reductions that cannot be joined accumulate.
  checkDot({3, 4, 3, 2}, {false, false, true, true},
           {{{6, 0, 1, 3}, {0, 1, 8, 4}, {4, 1, 0, 0}}});
}

TEST(DotTest, SingleRowsColumnsAndSums) {
  for (int64_t m : {1, 3})
    for (int64_t n : {1, 3})
      for (int64_t k : {1, 3})
        checkDot({m, n, k}, {false, false, true},
                 {{{k, 0, 1}, {0, 1, n}, {n, 1, 0}}});
}

TEST(DotTest, LongContractionsAreSummedInBlocks) {
  checkDot({6, 5, 17000}, {false, false, true},
           {{{17000, 0, 1}, {0, 1, 5}, {5, 1, 0}}});
  // Two loops that cannot be joined are summed in blocks too.
  checkDot({6, 5, 300, 60}, {false, false, true, true},
           {{{1, 0, 6, 1800}, {0, 18000, 60, 1}, {5, 1, 0, 0}}});
}

TEST(DotTest, EmptySumIsZeroAndEmptyResultIsNothing) {
  checkDot({3, 4, 0}, {false, false, true},
           {{{1, 0, 1}, {0, 1, 4}, {4, 1, 0}}});
  checkDot({0, 4, 2}, {false, false, true},
           {{{2, 0, 1}, {0, 1, 4}, {4, 1, 0}}});
}
} // namespace
