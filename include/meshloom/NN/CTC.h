// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn: the texts that a model trained by connectionist temporal classification
// (losses::CTC) says. See keras.ops.ctc_decode.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom::nn {

/// The options of ctc_decode.
struct CTCDecodeOptions {
  /// "greedy" takes the best class of each step, "beam_search" sums over all
  /// ways to the same text.
  std::string strategy = "greedy";
  int64_t beam_width = 100;   ///< texts that the search keeps at each step
  int64_t top_paths = 1;      ///< how many texts the search gives
  bool merge_repeated = true; ///< greedy: whether a class in a row counts once
  int64_t mask_index = 0;     ///< the class that stands for no letter
};
/// The result of ctc_decode.
struct CTCDecoded {
  /// i32 [paths, batch, time]: classes, then -1; the most probable text first.
  Tensor sequences;
  /// [batch, paths]: the log-probability of each text (-inf: there are fewer
  /// texts); greedy: minus the sum of the best inputs.
  Tensor scores;
};
/// inputs [batch, time, classes] of logits, lengths [batch] of integers: steps
/// from there on do not count. "greedy" is made of ops. "beam_search" (Hannun
/// et al., "First-Pass Large Vocabulary Continuous Speech Recognition using
/// Bi-Directional Recurrent DNNs", 2014) runs on the host and needs values: it
/// does not run in a `function`. Throws meshloom::Error if shapes, types or
/// options do not fit.
CTCDecoded ctc_decode(const Tensor &inputs, const Tensor &sequence_lengths,
                      const CTCDecodeOptions &options = {},
                      Where loc = Where::current());

} // namespace meshloom::nn
