// ExchangeTags: the tags of what processes exchange in the runs of a program.
#pragma once

#include <cstdint>

namespace meshloom::plan {

/// Processes count their runs of a program, which they begin in one order, and
/// tell programs apart by a number that all of them make alike.
class ExchangeTags {
public:
  /// Exchanges of a run.
  static constexpr unsigned EXCHANGE_BITS = 20;

  explicit ExchangeTags(uint64_t program) : program(low(program, 22)) {}
  /// Of the first exchange of the next run; those of the others follow.
  uint64_t nextRun() {
    constexpr unsigned runBits = 20;
    return program << (runBits + EXCHANGE_BITS) | low(runs++, runBits)
                                                      << EXCHANGE_BITS;
  }

private:
  static uint64_t low(uint64_t number, unsigned bits) {
    return number & ((uint64_t(1) << bits) - 1);
  }

  uint64_t program;
  uint64_t runs = 0;
};

} // namespace meshloom::plan
