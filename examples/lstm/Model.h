// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A language model of LSTM layers (Zaremba et al., 2014; Hochreiter and
// Schmidhuber, 1997), with PyTorch's names and shapes of weights.
#pragma once

#include <meshloom/Meshloom.h>

#include <string>
#include <vector>

namespace lstm {

struct Config {
  int64_t vocabulary = 10000, width = 650, layers = 2;
  /// "medium" (650 wide, 2 layers, 10,000 words) or "tiny". Throws
  /// meshloom::Error for another name.
  static Config named(const std::string &name);
};

/// The state that a layer hands from one step to the next: [batch, width] each.
using Carry = std::pair<meshloom::Tensor, meshloom::Tensor>;

struct Layer : meshloom::Module {
  meshloom::DVariable input, hidden; ///< [4 * width, width]; gates i, f, g, o
  meshloom::DVariable inputBias, hiddenBias;
  Layer(int64_t index, int64_t width, const meshloom::Mesh &mesh);
  /// x [steps, batch, width] -> the hidden states [steps, batch, width].
  meshloom::Tensor operator()(const meshloom::Tensor &x) const;
};

struct Model : meshloom::Module {
  Config config;
  meshloom::DVariable encoder, decoder, decoderBias;
  std::vector<Layer> layers;
  Model(const Config &config, const meshloom::Mesh &mesh);

  /// words [steps, batch] -> logits [steps, batch, vocabulary].
  meshloom::Tensor operator()(const meshloom::Tensor &words) const;
  /// The mean loss of each of words [steps + 1, batch] but the first, from
  /// those before it.
  meshloom::Tensor loss(const meshloom::Tensor &words) const;
};

} // namespace lstm
