// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pixels that are repeated or turned around, every third number, planes of
// colours, transposes of small matrices: all vectors along a line are made of
// the same bytes of windows that move on with them.
#include "ByteLookUp.h"

#include "LaneTranspose.h"
#include "StridedCopy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// The windows of the source that a vector of the result is made of, at most.
constexpr size_t mostWindows = 8;

/// The index of a byte that is not taken: a shuffle of 16 bytes makes it 0.
constexpr uint8_t notTaken = 0x80;

/// Says how a vector of the result is made: of some turns of one loop, the
/// line's, each with all turns of the loops inside.
struct Pattern {
  /// A part of the source that is as long as a vector.
  struct Window {
    int64_t begin = 0;               ///< from the first unit on
    uint64_t read = 0;               ///< which bytes of it are read
    uint64_t taken = 0;              ///< which bytes of the vector come from it
    std::array<uint8_t, 64> index{}; ///< where it has each of them
  };
  int64_t turns = 0;
  int64_t written = 0; ///< bytes of the result, gaps among them
  uint64_t stored = 0; ///< which bytes of the vector are no gaps
  size_t count = 0;    ///< of the windows
  std::array<Window, mostWindows> windows{};
};

/// The loops of a copy by patterns: what a vector holds some turns of, and the
/// loop inside, if any, whose turns read different windows.
struct PatternLoops {
  size_t line = 0, lines = SIZE_MAX;
  int64_t turns = 0;
  int64_t width = 0; ///< windows that lie one behind another
};

/// Finds the loops for which vectors of `vector` bytes move the most bytes by
/// an instruction, and more than `leastRate`.
std::optional<PatternLoops> findPatternLoops(const Copy &copy, int64_t vector,
                                             double leastRate) {
  const bool mayHaveGaps = vector == 64; // vectors are stored by masks
  std::optional<PatternLoops> best;
  double bestRate = leastRate;
  PatternLoops loops;
  // All turns of the loops inside take so much of the result and of the source,
  // and read so many lines.
  int64_t inside = copy.unit, span = copy.unit, lines = 1;
  for (size_t i = copy.loops.size(); i-- > 0;) {
    const auto [extent, to, from] = copy.loops[i];
    const bool hasGaps = to != inside;
    if (inside > vector || (hasGaps && !mayHaveGaps))
      break;
    const int64_t step = std::abs(from),
                  most = std::min(extent, (vector - inside) / to + 1);
    loops.line = i;
    for (int64_t width = 1; width * lines <= int64_t(mostWindows); ++width) {
      const int64_t bytes = width * vector;
      if (span > bytes)
        continue;
      loops.turns =
          step == 0 ? most : std::min(most, (bytes - span) / step + 1);
      const int64_t moved = loops.turns * inside;
      // A window is loaded and looked up, a vector is stored.
      const double rate = double(moved) / double(1 + 2 * width * lines);
      if (moved < 2 * copy.unit || rate <= bestRate)
        continue;
      loops.width = width;
      best = loops;
      bestRate = rate;
    }
    if (hasGaps)
      break;
    inside *= extent;
    if (span + step * (extent - 1) <= vector) {
      span += step * (extent - 1);
    } else if (lines == 1 && extent <= int64_t(mostWindows)) {
      lines = extent;
      loops.lines = i;
    } else {
      break;
    }
  }
  if (best) {
    // The vectors of a line share its turns evenly, if they can.
    const int64_t extent = copy.loops[best->line].extent,
                  vectors = (extent + best->turns - 1) / best->turns;
    if (extent % vectors == 0)
      best->turns = extent / vectors;
  }
  return best;
}

/// Returns the pattern of so many turns of the line's loop.
template <int64_t vector>
Pattern makePattern(const Copy &copy, const PatternLoops &loops,
                    int64_t turns) {
  std::array<CopyLoop, mostLoops> inside;
  size_t count = 0;
  CopyLoop lines{1, 0, 0};
  int64_t lowest = 0;
  for (size_t i = loops.line; i < copy.loops.size(); ++i) {
    CopyLoop loop = copy.loops[i];
    if (i == loops.line)
      loop.extent = turns;
    if (i == loops.lines) {
      lines = loop;
      continue;
    }
    lowest += std::min<int64_t>(loop.from, 0) * (loop.extent - 1);
    inside[count++] = loop;
  }
  // For each byte of the vector: its window and where it is in it.
  constexpr uint16_t none = 0xffff;
  std::array<uint16_t, vector> places;
  places.fill(none);
  for (int64_t line = 0; line < lines.extent; ++line)
    forEachTurn(CopyLoops(inside.data(), count), copy.to + line * lines.to,
                copy.from, [&](const char *to, const char *from) {
                  const int64_t source =
                      line * loops.width * vector + (from - copy.from - lowest);
                  for (int64_t i = 0; i < copy.unit; ++i)
                    places[size_t(to - copy.to + i)] = uint16_t(source + i);
                });
  Pattern pattern{.turns = turns, .count = size_t(lines.extent * loops.width)};
  for (size_t w = 0; w < pattern.count; ++w) {
    Pattern::Window &window = pattern.windows[w];
    window.begin = int64_t(w) / loops.width * lines.from + lowest +
                   int64_t(w) % loops.width * vector;
    for (size_t i = 0; i < places.size(); ++i) {
      const unsigned index = places[i] % vector;
      const bool isHere = places[i] / vector == w;
      window.read |= uint64_t(isHere) << index;
      window.taken |= uint64_t(isHere) << i;
      window.index[i] = isHere ? uint8_t(index) : notTaken;
    }
    pattern.stored |= window.taken;
  }
  pattern.written = std::bit_width(pattern.stored);
  return pattern;
}

/// A copy by patterns: of whole vectors of a line, and of the turns that are
/// left at its end, if any.
struct LookedUp {
  CopyLoops outer;
  CopyLoop around, line; ///< the two innermost loops
  int64_t block;         ///< turns of a line that are copied of all lines first
  Pattern whole, rest;
};

template <int64_t vector>
LookedUp lookedUp(const Copy &copy, const PatternLoops &loops) {
  const CopyLoop line = copy.loops[loops.line];
  LookedUp result{
      copy.loops.first(loops.line), {1, 0, 0}, line, line.extent, {}, {}};
  if (!result.outer.empty()) {
    result.around = result.outer.back();
    result.outer = result.outer.first(result.outer.size() - 1);
    // Lines that come from the same part of the source read it together.
    constexpr int64_t blockBytes = 1 << 13;
    if (std::abs(result.around.from) < std::abs(line.from))
      result.block = std::max<int64_t>(blockBytes / std::abs(line.from) /
                                           loops.turns * loops.turns,
                                       loops.turns);
  }
  result.whole = makePattern<vector>(copy, loops, loops.turns);
  if (line.extent % loops.turns != 0)
    result.rest = makePattern<vector>(copy, loops, line.extent % loops.turns);
  return result;
}

#if defined(__x86_64__)
#define MESHLOOM_VBMI                                                          \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx2,fma")))

/// A pattern in registers.
template <int Windows> struct PatternRegisters {
  __m512i index[Windows];
  __mmask64 read[Windows], taken[Windows], stored;
  int64_t begin[Windows];

  MESHLOOM_VBMI explicit PatternRegisters(const Pattern &pattern)
      : stored(pattern.stored) {
    for (int w = 0; w < Windows; ++w) {
      const Pattern::Window &window = pattern.windows[size_t(w)];
      index[w] = _mm512_loadu_si512(window.index.data());
      read[w] = window.read;
      taken[w] = window.taken;
      begin[w] = window.begin;
    }
  }
};

/// Makes a vector of the result.
template <int Windows>
MESHLOOM_VBMI [[gnu::always_inline]] inline void
lookUpVector(const PatternRegisters<Windows> &pattern, char *to,
             const char *from) {
  __m512i bytes = _mm512_setzero_si512();
  MESHLOOM_LANES_UNROLL
  for (int w = 0; w < Windows; ++w)
    bytes = _mm512_mask_permutexvar_epi8(
        bytes, pattern.taken[w], pattern.index[w],
        _mm512_maskz_loadu_epi8(pattern.read[w], from + pattern.begin[w]));
  _mm512_mask_storeu_epi8(to, pattern.stored, bytes);
}

/// Goes to the next turn of loops. Returns whether there is one.
MESHLOOM_LANES_INLINE bool goOn(CopyLoops loops,
                                std::array<int64_t, mostLoops> &turns,
                                char *&to, const char *&from) {
  for (size_t l = loops.size(); l-- > 0;) {
    to += loops[l].to;
    from += loops[l].from;
    if (++turns[l] < loops[l].extent)
      return true;
    turns[l] = 0;
    to -= loops[l].extent * loops[l].to;
    from -= loops[l].extent * loops[l].from;
  }
  return false;
}

template <int Windows>
MESHLOOM_VBMI void lookUpAll(const LookedUp &copy, char *to, const char *from) {
  const PatternRegisters<Windows> whole(copy.whole), rest(copy.rest);
  const auto [lines, toLine, fromLine] = copy.around;
  const auto [extent, toStep, fromStep] = copy.line;
  const int64_t turns = copy.whole.turns, last = extent - extent % turns,
                block = copy.block;
  std::array<int64_t, mostLoops> outer{};
  do {
    for (int64_t begin = 0; begin < extent; begin += block) {
      const int64_t end = std::min(begin + block, last);
      for (int64_t l = 0; l < lines; ++l) {
        char *const result = to + l * toLine;
        const char *const source = from + l * fromLine;
        for (int64_t i = begin; i < end; i += turns)
          lookUpVector(whole, result + i * toStep, source + i * fromStep);
        if (begin + block >= extent && last < extent)
          lookUpVector(rest, result + last * toStep, source + last * fromStep);
      }
    }
  } while (goOn(copy.outer, outer, to, from));
}

/// The function for each number of windows.
template <int... Before>
constexpr auto lookUpFunctions(std::integer_sequence<int, Before...>) {
  return std::array{lookUpAll<Before + 1>...};
}

void lookUp64(const LookedUp &copy, char *to, const char *from) {
  static constexpr auto functions =
      lookUpFunctions(std::make_integer_sequence<int, mostWindows>());
  functions[copy.whole.count - 1](copy, to, from);
}

/// The bytes of the source that a call may read.
struct Source {
  const char *begin, *end;
};

Source sourceOf(const Copy &copy) {
  Source source{copy.from, copy.from + copy.unit};
  for (const CopyLoop &loop : copy.loops)
    (loop.from < 0 ? source.begin : source.end) +=
        (loop.extent - 1) * loop.from;
  return source;
}

/// Makes a vector of the result by registers of 16 bytes, which are loaded and
/// stored as a whole where all of their bytes are there.
__attribute__((target("ssse3"))) void
lookUpVector16(const Pattern &pattern, const Source &source, char *to,
               const char *endOfLine, const char *from) {
  __m128i bytes = _mm_setzero_si128();
  for (size_t w = 0; w < pattern.count; ++w) {
    const Pattern::Window &window = pattern.windows[w];
    if (window.read == 0)
      continue;
    const char *begin = from + window.begin;
    char copied[16] = {};
    if (begin < source.begin || begin + 16 > source.end) {
      const char *first = std::max(begin, source.begin),
                 *last = std::min(begin + 16, source.end);
      std::memcpy(copied + (first - begin), first, size_t(last - first));
      begin = copied;
    }
    const void *index = window.index.data();
    bytes = _mm_or_si128(
        bytes, _mm_shuffle_epi8(
                   _mm_loadu_si128(reinterpret_cast<const __m128i *>(begin)),
                   _mm_loadu_si128(static_cast<const __m128i *>(index))));
  }
  if (to + 16 <= endOfLine) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), bytes);
    return;
  }
  char copied[16];
  std::memcpy(copied, &bytes, 16);
  std::memcpy(to, copied, size_t(pattern.written));
}

void lookUp16(const LookedUp &copy, const Source &source, char *to,
              const char *from) {
  const auto [extent, toStep, fromStep] = copy.line;
  forEachTurn(copy.outer, to, from, [&](char *lineTo, const char *lineFrom) {
    for (int64_t line = 0; line < copy.around.extent; ++line) {
      const int64_t last = extent - extent % copy.whole.turns;
      const char *end = lineTo + extent * toStep;
      int64_t i = 0;
      for (; i < last; i += copy.whole.turns)
        lookUpVector16(copy.whole, source, lineTo + i * toStep, end,
                       lineFrom + i * fromStep);
      if (i < extent)
        lookUpVector16(copy.rest, source, lineTo + i * toStep, end,
                       lineFrom + i * fromStep);
      lineTo += copy.around.to;
      lineFrom += copy.around.from;
    }
  });
}
#endif
} // namespace

int64_t library::lookUpBytes() {
#if defined(__x86_64__)
  static const int64_t bytes = []() -> int64_t {
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi"))
      return 64;
    return __builtin_cpu_supports("ssse3") ? 16 : 0;
  }();
  return bytes;
#else
  return 0;
#endif
}

bool library::lookUp(const Copy &copy, int64_t vector, double leastRate) {
#if defined(__x86_64__)
  const std::optional<PatternLoops> loops =
      vector > 0 ? findPatternLoops(copy, vector, leastRate) : std::nullopt;
  if (loops && vector == 64)
    lookUp64(lookedUp<64>(copy, *loops), copy.to, copy.from);
  else if (loops)
    lookUp16(lookedUp<16>(copy, *loops), sourceOf(copy), copy.to, copy.from);
  return loops.has_value();
#else
  return false;
#endif
}
