// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small dataset, and the options without output, that tests of fit share.
#pragma once

#include "../API/Testing.h"

namespace meshloom {

inline data::Dataset<std::pair<Tensor, Tensor>> ofOnes(int64_t examples,
                                                       int64_t batch) {
  return data::from_tensors(tensor({1.f}), tensor({1.f}))
      .repeat(examples)
      .batch(batch);
}

inline const FitOptions silent{.verbose = 0};
inline const EvaluateOptions silently{.verbose = 0};

} // namespace meshloom
