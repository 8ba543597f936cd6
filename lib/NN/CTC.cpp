// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decoding of connectionist temporal classification; see CTC.h.
#include "meshloom/NN/CTC.h"
#include "Errors.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/WindowOps.h"
#include "meshloom/NN/Functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace meshloom::nn {
namespace {

CTCDecoded decodedGreedily(const Tensor &inputs, const Tensor &lengths,
                           const CTCDecodeOptions &options) {
  const int64_t batch = inputs.shape()[0], time = inputs.shape()[1];
  const Tensor steps = iota({batch, time}, 1);
  const Tensor isValid = less(steps, expand_dims(lengths, -1));
  const Tensor best = argmax(inputs, -1, DType::I32);
  Tensor counts = logical_and(isValid, not_equal(best, options.mask_index));
  if (options.merge_repeated && time > 1) {
    const Tensor isNew = not_equal(slice(best, {0, 1}, {batch, time - 1}),
                                   slice(best, {0, 0}, {batch, time - 1}));
    counts =
        logical_and(counts, concat({full({batch, 1}, 1, DType::I1), isNew}, 1));
  }
  // The steps that count come first, in their order.
  const Tensor order = argsort(where(counts, steps, steps + int32_t(time)), -1);
  const Tensor number =
      reduce_sum(cast(counts, DType::I32), -1, /*keepdims=*/true);
  const Tensor sequence =
      where(less(steps, number), take_along_axis(best, order, -1), int32_t(-1));
  const Tensor score = reduce_sum(where(isValid, reduce_max(inputs, -1), 0.0),
                                  -1, /*keepdims=*/true);
  return {expand_dims(sequence, 0), negative(score)};
}

double logOfSum(double a, double b) {
  const double most = std::max(a, b);
  return std::isinf(most) ? most
                          : most + std::log1p(std::exp(std::min(a, b) - most));
}

constexpr double impossible = -std::numeric_limits<double>::infinity();

/// How probable a text is, with the last step a letter or not.
struct Beam {
  double letter = impossible, blank = impossible;
  double total() const { return logOfSum(letter, blank); }
};
using Text = std::vector<int32_t>;
using Ranked = std::vector<std::pair<Text, Beam>>;

/// The `width` best texts of steps [time, classes] of log-probabilities. After
/// each step every text is in the map once, with all ways to it.
Ranked beamsOf(const double *steps, int64_t time, int64_t classes,
               int32_t blank, size_t width) {
  Ranked beams{{Text(), {impossible, 0}}};
  for (int64_t t = 0; t < time; ++t, steps += classes) {
    std::map<Text, Beam> next;
    auto add = [](double &sum, double value) { sum = logOfSum(sum, value); };
    for (const auto &[text, beam] : beams) {
      Beam &same = next[text];
      add(same.blank, beam.total() + steps[blank]);
      if (!text.empty())
        add(same.letter, beam.letter + steps[text.back()]);
      for (int32_t letter = 0; letter < int32_t(classes); ++letter) {
        if (letter == blank)
          continue;
        Text longer = text;
        longer.push_back(letter);
        // The same letter again needs a blank in between.
        const bool isRepeated = !text.empty() && text.back() == letter;
        add(next[longer].letter,
            (isRepeated ? beam.blank : beam.total()) + steps[letter]);
      }
    }
    beams.assign(next.begin(), next.end());
    std::ranges::sort(beams, [](const auto &a, const auto &b) {
      const double first = a.second.total(), second = b.second.total();
      return first != second ? first > second : a.first < b.first;
    });
    beams.resize(std::min(beams.size(), width));
  }
  return beams;
}

CTCDecoded decodedByBeams(const Tensor &inputs, const Tensor &lengths,
                          const CTCDecodeOptions &options, const Where &loc) {
  const Shape &shape = inputs.shape();
  const int64_t batch = shape[0], time = shape[1], classes = shape[2];
  const std::vector<double> steps =
      log_softmax(cast(inputs, DType::F64)).to_vector<double>(loc);
  const std::vector<int64_t> counts =
      cast(lengths, DType::I64).to_vector<int64_t>(loc);
  const auto paths = size_t(options.top_paths);
  std::vector<int32_t> sequences(paths * size_t(batch * time), -1);
  std::vector<double> scores(size_t(batch) * paths, impossible);
  for (int64_t b = 0; b < batch; ++b) {
    const Ranked beams =
        beamsOf(steps.data() + b * time * classes,
                std::clamp<int64_t>(counts[size_t(b)], 0, time), classes,
                int32_t(options.mask_index), size_t(options.beam_width));
    for (size_t path = 0; path < std::min(paths, beams.size()); ++path) {
      std::ranges::copy(
          beams[path].first,
          sequences.begin() +
              ptrdiff_t((path * size_t(batch) + size_t(b)) * size_t(time)));
      scores[size_t(b) * paths + path] = beams[path].second.total();
    }
  }
  return {
      tensor(sequences, {options.top_paths, batch, time}, loc),
      cast(tensor(scores, {batch, options.top_paths}, loc), inputs.dtype())};
}

} // namespace

CTCDecoded ctc_decode(const Tensor &inputs, const Tensor &sequence_lengths,
                      const CTCDecodeOptions &options, Where loc) {
  auto refuse = [&](const std::string &message) {
    fail("ctc_decode", message, loc);
  };
  expectFloat(inputs, "ctc_decode", loc);
  if (inputs.rank() != 3)
    refuse("expected inputs [batch, time, classes], got " + text(inputs));
  if (!isInteger(sequence_lengths.dtype()) ||
      sequence_lengths.shape() != Shape{inputs.shape()[0]})
    refuse(fmt::format("expected integers [{}] as lengths, one for each "
                       "sequence, got {}",
                       inputs.shape()[0], text(sequence_lengths)));
  if (options.mask_index < 0 || options.mask_index >= inputs.shape()[2])
    refuse(fmt::format("expected a mask_index in [0, {}), got {}",
                       inputs.shape()[2], options.mask_index));
  if (options.strategy == "greedy") {
    if (options.top_paths != 1)
      refuse(fmt::format("expected top_paths to be 1 for 'greedy', got {}",
                         options.top_paths));
    return decodedGreedily(inputs, cast(sequence_lengths, DType::I32), options);
  }
  if (options.strategy != "beam_search")
    refuse("expected the strategy 'greedy' or 'beam_search', got '" +
           options.strategy + "'");
  if (options.top_paths < 1 || options.beam_width < options.top_paths)
    refuse(fmt::format("expected 1 <= top_paths <= beam_width, got {} and {}",
                       options.top_paths, options.beam_width));
  if (inputs.is_traced() || sequence_lengths.is_traced())
    refuse("'beam_search' runs on the host and needs values: call it outside "
           "of the function, on the function's result");
  return decodedByBeams(inputs, sequence_lengths, options, loc);
}

} // namespace meshloom::nn
