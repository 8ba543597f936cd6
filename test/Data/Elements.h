// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of datasets of numbers, as tests compare them.
#pragma once

#include "meshloom/Data/Dataset.h"

#include <vector>

namespace meshloom::test {

using Numbers = std::vector<int64_t>;
using Lists = std::vector<Numbers>;

inline Numbers items(const data::Dataset<Tensor> &dataset) {
  Numbers result;
  for (const Tensor &element : dataset)
    result.push_back(element.item<int64_t>());
  return result;
}

} // namespace meshloom::test
