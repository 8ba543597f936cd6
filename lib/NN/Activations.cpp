// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations by Keras's names, made of ops and nn's functions; see
// Activations.h.
#include "meshloom/NN/Activations.h"

#include "Errors.h"
#include "RegisteredParts.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/PatternOps.h"
#include "meshloom/API/WindowOps.h"
#include "meshloom/NN/Functions.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

namespace meshloom::activations {
namespace {

/// Functions of the API and of nn, by Keras's names.
struct NamedFunction {
  Tensor (*function)(const Tensor &, Where);
  const char *name;
};
constexpr std::array<NamedFunction, 7> namedFunctions{{
    {meshloom::exp, "exponential"},
    {meshloom::sigmoid, "sigmoid"},
    {meshloom::tanh, "tanh"},
    {nn::gelu, "gelu"},
    {nn::relu, "relu"},
    {nn::silu, "silu"},
    {nn::softplus, "softplus"},
}};

Tensor positivePart(const Tensor &x) {
  return nn::relu(x);
}

} // namespace

Activation::Activation(Tensor (*function)(const Tensor &, Where)) {
  if (!function)
    Error(
        "expected an activation, got a null pointer: pass {} for no activation")
        .raise();
  auto compute = [function](const Tensor &x) {
    return function(x, Where::current());
  };
  for (auto &row : namedFunctions)
    if (row.function == function) {
      *this = Activation(row.name, {}, compute);
      return;
    }
  *this = Activation(compute);
}

Tensor celu(const Tensor &x, double alpha, Where line) {
  const detail::UserLine user(line);
  return positivePart(x) -
         alpha * (1 - exp((x - positivePart(x)) * (1 / alpha)));
}

Tensor elu(const Tensor &x, double alpha, Where line) {
  const detail::UserLine user(line);
  return nn::elu(x, alpha);
}

Tensor exponential(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return exp(x);
}

Tensor gelu(const Tensor &x, bool approximate, Where line) {
  const detail::UserLine user(line);
  if (!approximate)
    return nn::gelu(x);
  const double factor = std::sqrt(2 / std::numbers::pi);
  return x * 0.5 * (1 + meshloom::tanh((x + 0.044715 * (x * x * x)) * factor));
}

Tensor glu(const Tensor &x, int64_t axis, Where line) {
  const detail::UserLine user(line);
  const detail::CallName name("glu");
  std::vector<Tensor> halves = split(x, 2, axis);
  return halves[0] * meshloom::sigmoid(halves[1]);
}

Tensor hard_shrink(const Tensor &x, double threshold, Where line) {
  const detail::UserLine user(line);
  return where(abs(x) > threshold, x, 0);
}

Tensor hard_sigmoid(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return relu6(x + 3) / 6;
}

Tensor hard_silu(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return x * hard_sigmoid(x);
}

Tensor hard_tanh(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return clip_by_value(x, -1, 1);
}

Tensor leaky_relu(const Tensor &x, double negative_slope, Where line) {
  const detail::UserLine user(line);
  return nn::leaky_relu(x, negative_slope);
}

Tensor linear(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return x;
}

Tensor log_sigmoid(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return -nn::softplus(-x);
}

Tensor log_softmax(const Tensor &x, int64_t axis, Where line) {
  const detail::UserLine user(line);
  return nn::log_softmax(x, axis);
}

Tensor mish(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return x * meshloom::tanh(nn::softplus(x));
}

Tensor relu(const Tensor &x, const ReluOptions &options, Where line) {
  const detail::UserLine user(line);
  auto &[slope, most, threshold] = options;
  Tensor y = threshold == 0 ? nn::relu(x) : where(x > threshold, x, 0);
  if (most)
    y = minimum(y, *most);
  if (slope != 0)
    y = where(x < threshold, (x - threshold) * slope, y);
  return y;
}

// Not clip_by_value: its gradient at 0 is a half, relu6's is 0.
Tensor relu6(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return where(x < 6, nn::relu(x), 6);
}

Tensor selu(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return 1.0507009873554804934193349852946 *
         nn::elu(x, 1.6732632423543772848170429916717);
}

Tensor sigmoid(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return meshloom::sigmoid(x);
}

Tensor silu(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return nn::silu(x);
}

Tensor softmax(const Tensor &x, int64_t axis, Where line) {
  const detail::UserLine user(line);
  if (x.rank() < 2)
    nn::fail("softmax",
             fmt::format("expected x [batch, ...] with two dims or more, got "
                         "{}: nn::softmax takes any",
                         x.rank()),
             line);
  return nn::softmax(x, axis);
}

Tensor soft_shrink(const Tensor &x, double threshold, Where line) {
  const detail::UserLine user(line);
  return where(abs(x) > threshold, x - threshold * sign(x), 0);
}

Tensor softplus(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return nn::softplus(x);
}

Tensor softsign(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return x / (1 + abs(x));
}

Tensor sparse_plus(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return where(x <= -1, 0, where(x >= 1, x, square(x + 1) / 4));
}

Tensor sparse_sigmoid(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return clip_by_value((x + 1) / 2, 0, 1);
}

// With z sorted from the largest on, as many elements are positive as have
// 1 + k z_k > z_1 + ... + z_k.
Tensor sparsemax(const Tensor &x, int64_t axis, Where line) {
  const detail::UserLine user(line);
  const int64_t dim = axis < 0 ? axis + x.rank() : axis;
  Tensor sorted = sort(x, axis, true);
  Shape alongDim(size_t(x.rank()), 1);
  alongDim.at(size_t(dim)) = x.shape()[size_t(dim)];
  Tensor counts = iota(alongDim, dim, x.dtype()) + 1;
  Tensor positive = 1 + counts * sorted > cumsum(sorted, axis);
  Tensor count = reduce_sum(cast(positive, x.dtype()), axis, true);
  Tensor sum = reduce_sum(where(positive, sorted, 0), axis, true);
  return positivePart(x - (sum - 1) / count);
}

Tensor squareplus(const Tensor &x, double b, Where line) {
  const detail::UserLine user(line);
  return (x + sqrt(square(x) + b)) / 2;
}

Tensor tanh(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return meshloom::tanh(x);
}

Tensor tanh_shrink(const Tensor &x, Where line) {
  const detail::UserLine user(line);
  return x - meshloom::tanh(x);
}

Tensor threshold(const Tensor &x, double threshold_value, double value,
                 Where line) {
  const detail::UserLine user(line);
  return where(x > threshold_value, x, value);
}

using Entry =
    std::pair<const char *, std::function<Activation(const nn::Config &)>>;

template <typename F> void fields(F &field, ReluOptions &o) {
  field("negative_slope", o.negative_slope);
  field("max_value", o.max_value);
  field("threshold", o.threshold);
}

namespace {

/// The only option of an activation, by its name.
template <typename T> struct OneOption {
  const char *name;
  T value;
};
template <typename F, typename T> void fields(F &field, OneOption<T> &o) {
  field(o.name, o.value);
}
struct GeluOptions {
  bool approximate = false;
};
template <typename F> void fields(F &field, GeluOptions &o) {
  field("approximate", o.approximate);
}
struct ThresholdOptions {
  double threshold = 0, default_value = 0;
};
template <typename F> void fields(F &field, ThresholdOptions &o) {
  field("threshold", o.threshold);
  field("default_value", o.default_value);
}

/// Without options.
template <Tensor (*compute)(const Tensor &, Where)>
Entry plain(const char *name) {
  return registeredPart<Activation, detail::NoOptions>(
      name, [](const detail::NoOptions &) -> Activation {
        return [](const Tensor &x) { return compute(x, Where::current()); };
      });
}

/// With one number.
template <Tensor (*compute)(const Tensor &, double, Where)>
Entry numbered(const char *name, const char *option, double otherwise) {
  return registeredPart<Activation, OneOption<double>>(
      name,
      [](const OneOption<double> &option) -> Activation {
        return [number = option.value](const Tensor &x) {
          return compute(x, number, Where::current());
        };
      },
      {option, otherwise});
}

/// Along an axis.
template <Tensor (*compute)(const Tensor &, int64_t, Where)>
Entry alongAxis(const char *name) {
  return registeredPart<Activation, OneOption<int64_t>>(
      name,
      [](const OneOption<int64_t> &option) -> Activation {
        return [axis = option.value](const Tensor &x) {
          return compute(x, axis, Where::current());
        };
      },
      {"axis", -1});
}

Activation geluOf(const GeluOptions &options) {
  return [approximate = options.approximate](const Tensor &x) {
    return activations::gelu(x, approximate);
  };
}
Activation reluOf(const ReluOptions &options) {
  return [options](const Tensor &x) { return relu(x, options); };
}
Activation thresholdOf(const ThresholdOptions &options) {
  return [options](const Tensor &x) {
    return activations::threshold(x, options.threshold, options.default_value);
  };
}

} // namespace
} // namespace meshloom::activations

namespace meshloom {

using activations::Activation;

template <>
detail::Names<std::function<Activation(const nn::Config &)>> &
registeredParts<Activation>() {
  using namespace activations;
  static auto &registry =
      *new detail::Names<std::function<Activation(const nn::Config &)>>(
          "an activation",
          {numbered<activations::celu>("celu", "alpha", 1),
           numbered<activations::elu>("elu", "alpha", 1),
           plain<exponential>("exponential"),
           registeredPart<Activation, GeluOptions>("gelu", geluOf),
           alongAxis<glu>("glu"),
           numbered<hard_shrink>("hard_shrink", "threshold", 0.5),
           plain<hard_sigmoid>("hard_sigmoid"),
           plain<hard_silu>("hard_silu"),
           plain<hard_silu>("hard_swish"),
           plain<hard_tanh>("hard_tanh"),
           numbered<activations::leaky_relu>("leaky_relu", "negative_slope",
                                             0.2),
           plain<linear>("linear"),
           plain<log_sigmoid>("log_sigmoid"),
           alongAxis<activations::log_softmax>("log_softmax"),
           plain<mish>("mish"),
           registeredPart<Activation, ReluOptions>("relu", reluOf),
           plain<relu6>("relu6"),
           plain<selu>("selu"),
           plain<activations::sigmoid>("sigmoid"),
           plain<activations::silu>("silu"),
           plain<activations::silu>("swish"),
           alongAxis<activations::softmax>("softmax"),
           numbered<soft_shrink>("soft_shrink", "threshold", 0.5),
           plain<activations::softplus>("softplus"),
           plain<softsign>("softsign"),
           plain<sparse_plus>("sparse_plus"),
           plain<sparse_sigmoid>("sparse_sigmoid"),
           alongAxis<sparsemax>("sparsemax"),
           numbered<squareplus>("squareplus", "b", 4),
           plain<activations::tanh>("tanh"),
           plain<tanh_shrink>("tanh_shrink"),
           registeredPart<Activation, ThresholdOptions>("threshold",
                                                        thresholdOf)});
  return registry;
}

template class NamedPart<Activation, Tensor(const Tensor &)>;

} // namespace meshloom
