// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A language model of LSTM layers (Zaremba et al., 2014; Hochreiter and
// Schmidhuber, 1997), and PyTorch's names and shapes of its weights.
#pragma once

#include <meshloom/Meshloom.h>

#include <string>
#include <vector>

namespace lstm {

struct Sizes {
  int64_t vocabulary = 10000, width = 650, layers = 2;
  /// "medium" (650 wide, 2 layers, 10,000 words) or "tiny". Throws
  /// meshloom::Error for another name.
  static Sizes named(const std::string &name);
};

struct WordModelImpl : meshloom::ModelImpl {
  explicit WordModelImpl(const Sizes &sizes);
  /// words [batch, steps] -> logits [batch, steps, vocabulary].
  meshloom::Tensor call(const meshloom::Tensor &words,
                        const meshloom::CallOptions &options) override;

  meshloom::layers::Embedding encoder;
  std::vector<meshloom::layers::LSTM> layers;
  meshloom::layers::Dense decoder;
};
using WordModel = meshloom::ModelOf<WordModelImpl>;

/// A built model, replicated on the mesh.
WordModel makeModel(const Sizes &sizes, const meshloom::Mesh &mesh);
/// The mean loss of each of words [batch, steps + 1] but the first, from those
/// before it.
meshloom::Tensor loss(const WordModel &model, const meshloom::Tensor &words);

/// The names and shapes of a module with an nn.Embedding "encoder", an nn.LSTM
/// "rnn" and an nn.Linear "decoder".
meshloom::WeightMap publishedWeights();

} // namespace lstm
