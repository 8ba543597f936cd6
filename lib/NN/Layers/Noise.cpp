// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that are random in training, and pass x on else; see Core.h.
#include "BuiltIn.h"

#include "meshloom/API/Create.h"
#include "meshloom/NN/Functions.h"
#include "meshloom/NN/Layers/Core.h"

#include <fmt/format.h>

#include <cmath>

namespace meshloom::layers {
namespace {

using namespace detail;

/// One class for all, known by its name; `number` is a rate or a standard
/// deviation.
class NoiseImpl : public BuiltIn<NoiseImpl, DropoutOptions> {
public:
  enum class Kind : uint8_t {
    SpatialDropout,
    GaussianNoise,
    GaussianDropout,
    AlphaDropout
  };

  /// `rank`: the spatial dims of SpatialDropout.
  NoiseImpl(Kind kind, int64_t rank, double number, DropoutOptions options)
      : BuiltIn(classOf(kind, rank), std::move(options)), kind(kind),
        number(number) {
    if (kind != Kind::GaussianNoise)
      expectRate("a rate", number);
    else if (!(number >= 0))
      refuse(fmt::format("expected a standard deviation of 0 or more, got {}",
                         number));
    seedFrom(settings.seed);
    if (kind == Kind::SpatialDropout)
      set_input_spec({.rank = rank + 2});
  }
  NoiseImpl(Kind kind, int64_t rank, const nn::Config &config)
      : NoiseImpl(kind, rank, config.at(argumentOf(kind)).as_double(),
                  read(config)) {}
  template <typename F> static void fields(F &field, DropoutOptions &o) {
    seedField(field, o.seed);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config[argumentOf(kind)] = number;
    return config;
  }
  void build(const Shape &) override {
    if (number > 0)
      add_seed();
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    if (!*options.training || number == 0)
      return x;
    if (kind == Kind::SpatialDropout) {
      Shape ofFeatures(x.shape().size(), 1);
      ofFeatures.front() = x.shape().front();
      ofFeatures.back() = x.shape().back();
      return x * nn::dropout(ones(ofFeatures, x.dtype()), number, next_seed());
    }
    if (kind == Kind::AlphaDropout)
      return alphaDropped(x);
    const bool isAdded = kind == Kind::GaussianNoise;
    const double deviation =
        isAdded ? number : std::sqrt(number / (1 - number));
    const Tensor noise =
        cast(random::stateless_normal(x.shape(), next_seed(), isAdded ? 0 : 1,
                                      deviation, DType::F32),
             x.dtype());
    return isAdded ? x + noise : x * noise;
  }

  static std::string classOf(Kind kind, int64_t rank) {
    return kind == Kind::GaussianNoise     ? "GaussianNoise"
           : kind == Kind::GaussianDropout ? "GaussianDropout"
           : kind == Kind::AlphaDropout
               ? "AlphaDropout"
               : fmt::format("SpatialDropout{}D", rank);
  }

private:
  Tensor alphaDropped(const Tensor &x) {
    // SELU's scale times alpha: its limit below 0.
    constexpr double limit =
        -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717;
    const Tensor keeps = not_equal(
        nn::dropout(ones(x.shape(), DType::F32), number, next_seed()), 0);
    const double scale =
        1 / std::sqrt((1 - number) * (1 + number * limit * limit));
    return where(keeps, x, limit) * scale - scale * limit * number;
  }

  static const char *argumentOf(Kind kind) {
    return kind == Kind::GaussianNoise ? "stddev" : "rate";
  }

  const Kind kind;
  const double number;
};

using Kind = NoiseImpl::Kind;

} // namespace

template <int Rank>
SpatialDropout<Rank>::SpatialDropout(double rate, DropoutOptions options)
    : Layer(makeLayer<NoiseImpl>(Kind::SpatialDropout, Rank, rate,
                                 std::move(options))) {}
template class SpatialDropout<1>;
template class SpatialDropout<2>;
template class SpatialDropout<3>;
GaussianNoise::GaussianNoise(double stddev, DropoutOptions options)
    : Layer(makeLayer<NoiseImpl>(Kind::GaussianNoise, 0, stddev,
                                 std::move(options))) {}
GaussianDropout::GaussianDropout(double rate, DropoutOptions options)
    : Layer(makeLayer<NoiseImpl>(Kind::GaussianDropout, 0, rate,
                                 std::move(options))) {}
AlphaDropout::AlphaDropout(double rate, DropoutOptions options)
    : Layer(makeLayer<NoiseImpl>(Kind::AlphaDropout, 0, rate,
                                 std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::noiseLayers() {
  using namespace layers;
  LayerList list;
  auto add = [&](Kind kind, int64_t rank) {
    list.emplace_back(NoiseImpl::classOf(kind, rank),
                      [=](const nn::Config &config) {
                        return Layer(makeLayer<NoiseImpl>(kind, rank, config));
                      });
  };
  for (int64_t rank = 1; rank <= 3; ++rank)
    add(Kind::SpatialDropout, rank);
  add(Kind::GaussianNoise, 0);
  add(Kind::GaussianDropout, 0);
  add(Kind::AlphaDropout, 0);
  return list;
}
