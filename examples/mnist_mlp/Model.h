// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tutorial's model: dense layers, laid out for data and tensor parallelism.
#pragma once

#include <meshloom/Meshloom.h>

#include <vector>

namespace mnist {

/// x [n, in] -> x w + b [n, out].
struct Dense : meshloom::Module {
  meshloom::DVariable w, b;

  /// `layout`: of w; b takes that of w's columns. `number` names them: w1, b1.
  Dense(int64_t in, int64_t out, int number, const meshloom::Layout &layout);
  meshloom::Tensor operator()(const meshloom::Tensor &x) const;
};

/// Dense layers of the given widths; relu after all but the last.
struct Mlp : meshloom::Module {
  std::vector<Dense> layers;

  /// widths: 784, ..., 10. With a `modelAxis` the weights are cut over it by
  /// columns and by rows in turns, so that every second product needs no
  /// communication before it.
  Mlp(const std::vector<int64_t> &widths, const meshloom::Mesh &mesh,
      const std::string &modelAxis);
  meshloom::Tensor operator()(const meshloom::Tensor &x) const;
};

/// Mean loss and accuracy of one batch, scalars.
struct Metrics {
  meshloom::Tensor loss, accuracy;
};

/// labels [n], logits [n, 10].
Metrics metrics(const meshloom::Tensor &labels, const meshloom::Tensor &logits);

} // namespace mnist
