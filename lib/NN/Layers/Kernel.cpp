// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with a low-rank product beside them, and kernels of integers or
// eight-bit floats; see Kernel.h.
#include "Kernel.h"
#include "Float8.h"
#include "SharedOptions.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/CustomOps.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/NN/Functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace meshloom::detail {
namespace {

constexpr double largestInteger = 127;

/// 127 over the largest absolute value along `dims`, which stay as dims of 1.
Tensor integerScale(const Tensor &x, const std::vector<int64_t> &dims) {
  return largestInteger /
         (reduce_max(abs(x), Axis(dims), /*keepdims=*/true) + 1e-7);
}
Tensor asIntegers(const Tensor &x, const Tensor &scale) {
  return clip_by_value(round(x * scale), -largestInteger, largestInteger);
}

/// None of what lies on the host.
std::optional<Layout> deviceLayoutOf(const DVariable &variable) {
  return init_scope([&]() -> std::optional<Layout> {
    if (!is_dtensor(variable.read_value()))
      return std::nullopt;
    return variable.layout();
  });
}

Shape withoutDims(const Shape &shape, const std::vector<int64_t> &dims) {
  Shape remaining;
  for (size_t d = 0; d < shape.size(); ++d)
    if (std::ranges::find(dims, int64_t(d)) == dims.end())
      remaining.push_back(shape[d]);
  return remaining;
}

} // namespace

void Kernel::build(const Shape &shape, const WeightOptions &weightOptions,
                   const std::vector<int64_t> &scaledDims) {
  options = weightOptions;
  if (!mode.empty())
    return addQuantized(
        LayerImpl::State::of(layer).weights.size(), shape, std::nullopt,
        isFloat8() ? Shape() : withoutDims(shape, scaledDims), std::nullopt);
  base = LayerImpl::State::addWeight(layer, name, shape, options);
  if (rank > 0)
    addLora();
}

void Kernel::write(nn::Config &config) const {
  if (rank > 0) {
    config["lora_rank"] = rank;
    config["lora_alpha"] = alpha;
  }
  if (!mode.empty())
    config["quantization_mode"] = mode;
}
void Kernel::read(const nn::Config &config) {
  ReadFields fields(config);
  fields("lora_rank", rank);
  alpha = double(rank);
  fields("lora_alpha", alpha);
  fields("quantization_mode", mode);
}

Tensor Kernel::value() const {
  const Tensor kernel = base.read_value();
  if (rank == 0)
    return kernel;
  const Tensor flat = reshape(a.read_value(), {-1, rank});
  return kernel + reshape(matmul(flat, b.read_value()), base.shape()) *
                      (alpha / double(rank));
}

Tensor Kernel::productWith(const Tensor &x, const Rule &rule) {
  if (mode.empty())
    return rule.product(x, value());
  if (!quantizedProduct)
    quantizedProduct = custom_gradient(
        [rule, this](const Tensor &input) {
          const Tensor codes = base.read_value();
          const Tensor kernelScale = cast(scale.read_value(), input.dtype());
          if (isFloat8()) {
            const Tensor inputScale = float8Scale(input);
            return rule.product(roundedToFloat8(input / inputScale),
                                valuesOfFloat8(codes, input.dtype())) *
                   (inputScale * kernelScale);
          }
          const Tensor inputScale = integerScale(input, rule.inputDims(input));
          return rule.product(asIntegers(input, inputScale),
                              cast(codes, input.dtype())) /
                 rule.scales(inputScale, kernelScale);
        },
        [rule, this](const Tensor &input, const Tensor &,
                     const Tensor &gradient) {
          const Tensor kernel = dequantized(
              base.read_value(), cast(scale.read_value(), input.dtype()),
              input.dtype(), rule.kernelDims);
          const GradientTape tape;
          return tape.gradient(
              reduce_sum(rule.product(input, kernel) * gradient), input);
        });
  return quantizedProduct(x);
}

Tensor Kernel::dequantized(const Tensor &codes, const Tensor &kernelScale,
                           DType type, const std::vector<int64_t> &dims) const {
  if (isFloat8())
    return valuesOfFloat8(codes, type) * kernelScale;
  Shape wide = codes.shape();
  for (int64_t d : dims)
    wide[size_t(d)] = 1;
  return cast(codes, type) / reshape(kernelScale, wide);
}

Tensor Kernel::rowsAt(const Tensor &ids) const {
  const Tensor rows = nn::embedding(base, ids);
  if (!mode.empty())
    return cast(rows, scale.dtype()) /
           nn::embedding(reshape(scale.read_value(), {-1, 1}), ids);
  if (rank == 0)
    return rows;
  return rows +
         matmul(nn::embedding(a, ids), b.read_value()) * (alpha / double(rank));
}

void Kernel::addLora() {
  const std::optional<Layout> layout = deviceLayoutOf(base);
  Shape shapeOfA = base.shape();
  const Shape shapeOfB{rank, shapeOfA.back()};
  shapeOfA.back() = rank;
  size_t place = placeOf(base);
  auto add = [&](const char *suffix, const Shape &shape,
                 const initializers::Initializer &initializer, auto &&specsOf) {
    WeightOptions weight{.initializer = initializer,
                         .regularizer = options.regularizer};
    if (layout)
      weight.layout = Layout(specsOf(layout->sharding_specs()), layout->mesh());
    return addNamed(++place, "lora_" + name + suffix, shape, weight);
  };
  using Specs = std::vector<DimSpec>;
  a = add("_a", shapeOfA, lora.a_initializer, [](Specs specs) {
    specs.back() = UNSHARDED;
    return specs;
  });
  b = add("_b", shapeOfB, lora.b_initializer,
          [](const Specs &specs) { return Specs{UNSHARDED, specs.back()}; });
  weightOf(base).isFrozen = true;
}

void Kernel::addQuantized(size_t place, const Shape &shape,
                          const std::optional<Layout> &layout,
                          const Shape &scaleShape,
                          const std::optional<Layout> &scaleLayout) {
  base = addNamed(place, name, shape,
                  {.initializer = "zeros",
                   .dtype = isFloat8() ? DType::UI8 : DType::I8,
                   .trainable = false,
                   .layout = layout});
  scale = addNamed(
      place + 1, name + "_scale", scaleShape,
      {.initializer = "ones", .trainable = false, .layout = scaleLayout});
}

DVariable Kernel::addNamed(size_t place, const std::string &weight,
                           const Shape &shape,
                           const WeightOptions &weightOptions) {
  const std::string before = base.internal() ? base.name() : std::string();
  DVariable variable =
      LayerImpl::State::addWeight(layer, weight, shape, weightOptions);
  // Beside the kernel, wherever in a model that is.
  if (const size_t slash = before.rfind('/'); slash != std::string::npos)
    renameVariable(variable, before.substr(0, slash + 1) + weight);
  auto &weights = LayerImpl::State::of(layer).weights;
  std::rotate(weights.begin() + ptrdiff_t(place), weights.end() - 1,
              weights.end());
  return variable;
}

void Kernel::enableLora(int64_t newRank, const LoraOptions &loraOptions) {
  expectFloats();
  if (newRank <= 0)
    refuse(fmt::format("expected a positive rank, got {}", newRank));
  if (options.constraint)
    refuse("LoRA and a constraint of the kernel exclude each other: make the "
           "layer without the constraint");
  const double newAlpha = loraOptions.alpha.value_or(double(newRank));
  if (!std::isfinite(newAlpha))
    refuse(fmt::format("expected a finite alpha, got {}", newAlpha));
  rank = newRank;
  alpha = newAlpha;
  lora = loraOptions;
  addLora();
}
void Kernel::mergeLora() {
  base.assign(cast(value(), base.dtype()));
  weightOf(base).isFrozen = false;
  remove(a);
  remove(b);
  a = b = DVariable();
  rank = 0;
}
void Kernel::quantize(const std::string &newMode,
                      const std::vector<int64_t> &dims) {
  expectFloats();
  mode = newMode;
  const Tensor kernel = base.read_value();
  std::optional<Layout> layout = deviceLayoutOf(base), scaleLayout;
  const size_t place = placeOf(base);
  remove(base);
  if (isFloat8()) {
    if (layout)
      scaleLayout = Layout::replicated(layout->mesh(), 0);
    const Tensor ofAll = float8Scale(kernel);
    addQuantized(place, kernel.shape(), layout, {}, scaleLayout);
    base.assign(codesOfFloat8(kernel / ofAll));
    scale.assign(cast(ofAll, scale.dtype()));
    return;
  }
  const Tensor wideScale = integerScale(kernel, dims);
  const Shape scaleShape = withoutDims(kernel.shape(), dims);
  if (layout)
    scaleLayout =
        layout->remove(std::vector<unsigned>(dims.begin(), dims.end()));
  addQuantized(place, kernel.shape(), layout, scaleShape, scaleLayout);
  base.assign(cast(asIntegers(kernel, wideScale), DType::I8));
  scale.assign(cast(reshape(wideScale, scaleShape), scale.dtype()));
}

size_t Kernel::placeOf(const DVariable &variable) const {
  const auto &weights = LayerImpl::State::of(layer).weights;
  const auto found = std::ranges::find_if(weights, [&](const auto &weight) {
    return weight.variable.is(variable);
  });
  return size_t(found - weights.begin());
}
LayerImpl::State::Weight &Kernel::weightOf(const DVariable &variable) {
  return LayerImpl::State::of(layer).weights[placeOf(variable)];
}
void Kernel::remove(const DVariable &variable) {
  std::erase_if(LayerImpl::State::of(layer).weights, [&](const auto &weight) {
    return weight.variable.is(variable);
  });
}
void Kernel::expectFloats() const {
  if (!base.internal())
    refuse("it is not built yet: call it, or build it with a shape, first");
  if (!mode.empty())
    refuse("its kernel is quantised already");
  if (rank > 0)
    refuse("it has LoRA already: merge_lora ends it");
}
void Kernel::refuse(const std::string &message) const {
  Error(fmt::format("[{}] layer '{}': {}", layer.class_name(), layer.name(),
                    message))
      .raise();
}

/// Returns the kernel owners in `layer` that `condition` holds for; throws if
/// there is none.
static std::vector<KernelOwner *> ownersIn(const Layer &layer, const char *op,
                                           const char *expected,
                                           bool (*condition)(KernelOwner &)) {
  std::vector<KernelOwner *> owners;
  for (const Layer &part : allLayers(layer))
    if (auto *owner = dynamic_cast<KernelOwner *>(&part.implementation());
        owner && condition(*owner))
      owners.push_back(owner);
  if (owners.empty())
    Error(fmt::format("[{}] expected {} in '{}', found none", op, expected,
                      layer.name()))
        .raise();
  return owners;
}
static constexpr char kernelLayers[] =
    "a Dense, EinsumDense or Embedding layer";

} // namespace meshloom::detail

namespace meshloom {
using namespace detail;

void enable_lora(const Layer &layer, int64_t rank, LoraOptions options,
                 Where where) {
  detail::atLine(where, [&] {
    for (KernelOwner *owner : ownersIn(layer, "enable_lora", kernelLayers,
                                       [](KernelOwner &) { return true; }))
      owner->kernelOfLayer().enableLora(rank, options);
  });
}
void merge_lora(const Layer &layer, Where where) {
  detail::atLine(where, [&] {
    for (KernelOwner *owner : ownersIn(layer, "merge_lora", "a layer with LoRA",
                                       [](KernelOwner &owner) {
                                         return owner.kernelOfLayer().hasLora();
                                       }))
      owner->kernelOfLayer().mergeLora();
  });
}
static void quantizeTo(const Layer &layer, const std::string &mode) {
  if (mode != "int8" && mode != "float8")
    Error(fmt::format("[quantize] expected the mode 'int8' or 'float8', got "
                      "'{}'",
                      mode))
        .raise();
  const std::vector<KernelOwner *> owners =
      mode == "int8"
          ? ownersIn(layer, "quantize", kernelLayers,
                     [](KernelOwner &) { return true; })
          : ownersIn(layer, "quantize", "a Dense or EinsumDense layer",
                     [](KernelOwner &owner) { return owner.isProduct(); });
  for (KernelOwner *owner : owners)
    owner->kernelOfLayer().quantize(mode, owner->scaledDims());
}
void quantize(const Layer &layer, const std::string &mode, Where where) {
  detail::atLine(where, [&] { quantizeTo(layer, mode); });
}

} // namespace meshloom
