// f32 matrix products by oneDNN, for any strides and any number of loops.
#pragma once

#include "meshloom/Core/Program.h"

#include <array>

namespace meshloom::library {

/// What each loop of a dot is to the product, read off its operands.
class Dot {
public:
  explicit Dot(const DotStep &step);

  /// out = sum over the reduction loops of lhs * rhs; zero where they are
  /// empty. `extents`: iterations of each loop. `strides[o]`: elements from one
  /// iteration to the next, per loop, of lhs, rhs and out. Fails if oneDNN
  /// does.
  Status run(const float *lhs, const float *rhs, float *out,
             const int64_t *extents,
             std::array<const int64_t *, 3> strides) const;

private:
  /// Loop indices: in all operands; lhs and out; rhs and out; lhs and rhs.
  std::vector<unsigned> batch, rows, columns, reduced;
};

} // namespace meshloom::library
