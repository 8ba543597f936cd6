// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layers of the peers' MLP, with the weights that all of them start from.
#pragma once

#include "PeerInputs.h"

#include "meshloom/Meshloom.h"

namespace meshloom::peers {

struct Dense : Module {
  DVariable w, b;
  Dense(int64_t in, int64_t out, uint32_t seed, const Layout &layout)
      : w(distribute(tensor(glorot(in, out, seed), {in, out}), layout)),
        b(distribute(zeros({out}), layout.remove({0}))) {
    track(w, b);
  }
  Tensor operator()(const Tensor &x) const { return matmul(x, w) + b; }
};

} // namespace meshloom::peers
