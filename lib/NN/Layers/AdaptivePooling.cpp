// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling whose windows are as many as one asks for; see Convolutional.h.
#include "Spatial.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Einsum.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/NN/Layers/Convolutional.h"

#include <algorithm>

namespace meshloom::layers {
namespace {

using namespace detail;

/// Window `i` of `count` over `size` elements: [begin, end).
std::pair<int64_t, int64_t> windowOf(int64_t i, int64_t size, int64_t count) {
  return {i * size / count, ((i + 1) * size + count - 1) / count};
}

class AdaptivePoolingImpl
    : public Spatial<AdaptivePoolingImpl, DataFormatOptions> {
public:
  AdaptivePoolingImpl(bool isMax, int64_t rank, const Sizes &sizes,
                      DataFormatOptions options)
      : Spatial(kindOf(isMax), rank, std::move(options)), isMax(isMax),
        counts(forEach(sizes, "output_size")) {}
  AdaptivePoolingImpl(bool isMax, int64_t rank, const nn::Config &config)
      : AdaptivePoolingImpl(isMax, rank, sizesIn(config.at("output_size")),
                            read(config)) {}
  template <typename F> static void fields(F &field, DataFormatOptions &o) {
    field("data_format", o.data_format);
  }
  nn::Config get_config() const override {
    nn::Config config = Spatial::get_config();
    config["output_size"] = counts;
    return config;
  }
  static const char *kindOf(bool isMax) {
    return isMax ? "AdaptiveMaxPooling" : "AdaptiveAveragePooling";
  }

  void build(const Shape &input) override { expectRank(input); }
  /// One dim after the other: windows are products of those of dims.
  Tensor call(const Tensor &x, const CallOptions &) override {
    Tensor y = x;
    for (int64_t d = 0; d < rank; ++d)
      y = pooled(y, d + (channelsFirst ? 2 : 1), counts[size_t(d)]);
    return y;
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  static Sizes sizesIn(const nn::Config &config) {
    return config.is_integer() ? Sizes(config.as_int())
                               : Sizes(config.as_ints());
  }

  Tensor pooled(const Tensor &x, int64_t dim, int64_t count) const {
    const int64_t size = x.shape()[size_t(dim)];
    if (size == 0)
      refuse("expected spatial dims with elements, got " +
             sizesText(x.shape()));
    if (!isMax && size % count != 0)
      return meansOf(x, dim, count);
    // Windows side by side, in a dim of their own; the last element of short
    // ones comes again, which the largest does not notice.
    int64_t most = 0;
    for (int64_t i = 0; i < count; ++i)
      most = std::max(most, windowOf(i, size, count).second -
                                windowOf(i, size, count).first);
    Tensor windows = x;
    if (size % count != 0) {
      std::vector<int32_t> indices;
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < most; ++k) {
          const auto [begin, end] = windowOf(i, size, count);
          indices.push_back(int32_t(std::min(begin + k, end - 1)));
        }
      windows = take(x, tensor(indices, {int64_t(indices.size())}), dim);
    }
    Shape split = x.shape();
    split[size_t(dim)] = count;
    split.insert(split.begin() + dim + 1, most);
    windows = reshape(windows, split);
    return isMax ? reduce_max(windows, dim + 1) : reduce_mean(windows, dim + 1);
  }

  /// By a product with what each element counts in each window.
  static Tensor meansOf(const Tensor &x, int64_t dim, int64_t count) {
    const int64_t size = x.shape()[size_t(dim)];
    std::vector<float> shares(size_t(size * count), 0.f);
    for (int64_t i = 0; i < count; ++i) {
      const auto [begin, end] = windowOf(i, size, count);
      for (int64_t from = begin; from < end; ++from)
        shares[size_t(from * count + i)] = 1.f / float(end - begin);
    }
    const std::string letters =
        std::string("abcde").substr(0, size_t(x.rank()));
    std::string result = letters;
    result[size_t(dim)] = 'z';
    return einsum(letters + "," + letters[size_t(dim)] + "z->" + result,
                  {x, cast(tensor(shares, {size, count}), x.dtype())});
  }

  const bool isMax;
  const Shape counts;
};

} // namespace

template <int Rank>
AdaptiveMaxPooling<Rank>::AdaptiveMaxPooling(Sizes output_size,
                                             DataFormatOptions options)
    : Layer(makeLayer<AdaptivePoolingImpl>(true, Rank, output_size,
                                           std::move(options))) {}
template <int Rank>
AdaptiveAveragePooling<Rank>::AdaptiveAveragePooling(Sizes output_size,
                                                     DataFormatOptions options)
    : Layer(makeLayer<AdaptivePoolingImpl>(false, Rank, output_size,
                                           std::move(options))) {}
template class AdaptiveMaxPooling<1>;
template class AdaptiveMaxPooling<2>;
template class AdaptiveMaxPooling<3>;
template class AdaptiveAveragePooling<1>;
template class AdaptiveAveragePooling<2>;
template class AdaptiveAveragePooling<3>;

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::adaptivePoolings() {
  using layers::AdaptivePoolingImpl;
  LayerList list;
  for (int64_t rank = 1; rank <= 3; ++rank)
    for (bool isMax : {false, true})
      list.emplace_back(
          ranked(AdaptivePoolingImpl::kindOf(isMax), rank),
          [=](const nn::Config &config) {
            return Layer(makeLayer<AdaptivePoolingImpl>(isMax, rank, config));
          });
  return list;
}
