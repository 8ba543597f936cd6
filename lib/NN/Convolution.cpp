// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposed convolutions, see Convolution.h.
#include "meshloom/NN/Convolution.h"

#include "Errors.h"

#include <algorithm>

namespace meshloom::nn {

Tensor conv_transpose(const Tensor &x, const Tensor &filters,
                      const ConvTransposeOptions &options, Where loc) {
  constexpr std::string_view op = "conv_transpose";
  const int64_t spatial = x.rank() - 2;
  if (spatial < 1 || spatial > 3 || filters.rank() != x.rank())
    fail(op,
         "expected x [batch, spatial..., in] and filters [k..., in, out] with "
         "1 to 3 spatial dims, got " +
             text(x) + " and " + text(filters),
         loc);
  std::vector<int64_t> strides = options.strides;
  if (strides.empty())
    strides.assign(size_t(spatial), 1);
  if (int64_t(strides.size()) != spatial ||
      std::ranges::any_of(strides, [](int64_t stride) { return stride < 1; }))
    fail(op,
         "expected " + std::to_string(spatial) +
             " strides of at least 1, one for each spatial dim",
         loc);

  ConvGeneralOptions general;
  general.lhs_dilation = strides;
  const std::string dims = std::string("DHW").substr(size_t(3 - spatial));
  general.lhs_dims = general.out_dims = "N" + dims + "C";
  general.rhs_dims = dims + (options.transpose_filters ? "OI" : "IO");
  const std::string &name = options.padding.name;
  std::vector<std::pair<int64_t, int64_t>> counts = options.padding.counts;
  if (!name.empty()) {
    if (name != "SAME" && name != "VALID")
      fail(op,
           "expected padding \"VALID\", \"SAME\" or counts, got \"" + name +
               "\"",
           loc);
    for (size_t d = 0; d < strides.size(); ++d) {
      const int64_t k = filters.shape()[d], stride = strides[d];
      if (name == "VALID") {
        counts.emplace_back(k - 1, k - 1 + std::max<int64_t>(stride - k, 0));
        continue;
      }
      // In all k + stride - 2, so that stride * size elements come out.
      const int64_t total = k + stride - 2;
      const int64_t low = stride > k - 1 ? k - 1 : (total + 1) / 2;
      counts.emplace_back(low, total - low);
    }
  }
  general.padding = Padding(counts);
  std::vector<int64_t> mirrored;
  for (int64_t d = 0; d < spatial; ++d)
    mirrored.push_back(d);
  return conv_general_dilated(x,
                              options.transpose_filters
                                  ? reverse(filters, Axis(mirrored), loc)
                                  : filters,
                              general, loc);
}

} // namespace meshloom::nn
