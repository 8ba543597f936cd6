// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dense layer of any einsum; see EinsumDense.h.
#include "meshloom/NN/Layers/EinsumDense.h"
#include "BuiltIn.h"
#include "Kernel.h"

#include "meshloom/API/Einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace meshloom::layers {
namespace {

using namespace detail;

/// "...ab,bc->...ac".
struct DenseEquation {
  enum class Elided : uint8_t { None, Left, Right };
  std::string input, kernel, output; ///< their letters
  Elided elided = Elided::None;

  /// None: it is no such equation.
  static std::optional<DenseEquation> parse(const std::string &text);
};

std::optional<DenseEquation> DenseEquation::parse(const std::string &text) {
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma)
    return std::nullopt;
  DenseEquation equation{text.substr(0, comma),
                         text.substr(comma + 1, arrow - comma - 1),
                         text.substr(arrow + 2)};
  constexpr std::string_view dots = "...";
  if (equation.input.starts_with(dots) && equation.output.starts_with(dots)) {
    equation.elided = Elided::Left;
    equation.input.erase(0, 3);
    equation.output.erase(0, 3);
  } else if (equation.input.ends_with(dots) &&
             equation.output.ends_with(dots)) {
    equation.elided = Elided::Right;
    equation.input.resize(equation.input.size() - 3);
    equation.output.resize(equation.output.size() - 3);
  }
  for (const std::string *letters :
       {&equation.input, &equation.kernel, &equation.output})
    if (letters->empty() || !std::ranges::all_of(*letters, [](char letter) {
          return (letter >= 'a' && letter <= 'z') ||
                 (letter >= 'A' && letter <= 'Z');
        }))
      return std::nullopt;
  return equation;
}

/// Returns whether a shape says how far its numbers spread.
bool isOfFans(const initializers::Initializer &initializer) {
  static const auto &names = *new std::set<std::string>{
      "glorot_uniform", "glorot_normal", "he_uniform",      "he_normal",
      "lecun_uniform",  "lecun_normal",  "variance_scaling"};
  return names.contains(initializer.name());
}

class EinsumDenseImpl : public BuiltIn<EinsumDenseImpl, EinsumDenseOptions>,
                        public KernelOwner {
public:
  EinsumDenseImpl(std::string text, Shape outputShape,
                  EinsumDenseOptions options)
      : BuiltIn("EinsumDense", std::move(options)), text(std::move(text)),
        outputShape(std::move(outputShape)) {
    // -1: as the input has it.
    for (int64_t size : this->outputShape)
      if (size != -1)
        expectPositive("output_shape", size);
    const auto parsed = DenseEquation::parse(this->text);
    if (!parsed)
      refuse("expected an equation X,Y->Z, ...X,Y->...Z or X...,Y->Z... of "
             "letters, got '" +
             this->text + "'");
    equation = *parsed;
    for (char letter : settings.bias_axes)
      if (equation.output.find(letter) == std::string::npos)
        refuse(fmt::format("expected bias_axes of the result's letters '{}', "
                           "got '{}'",
                           equation.output, settings.bias_axes));
    for (char letter : equation.output)
      if ((equation.input + equation.kernel).find(letter) == std::string::npos)
        refuse(fmt::format("expected a result of letters of its operands, got "
                           "'{}' in '{}'",
                           letter, this->text));
    for (char letter : equation.kernel)
      if ((equation.input + equation.output).find(letter) == std::string::npos)
        refuse(fmt::format("expected a kernel of letters of the input or the "
                           "result, got '{}' in '{}'",
                           letter, this->text));
  }
  explicit EinsumDenseImpl(const nn::Config &config)
      : EinsumDenseImpl(config.at("equation").as_string(),
                        config.at("output_shape").as_ints(), read(config)) {
    kernel.read(config);
  }
  template <typename F> static void fields(F &field, EinsumDenseOptions &o) {
    field("activation", o.activation);
    field("bias_axes", o.bias_axes);
    weightFields(field, o);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["equation"] = text;
    config["output_shape"] = outputShape;
    kernel.write(config);
    return config;
  }

  void build(const Shape &input) override {
    const Sizes sizes = sizesOf(input);
    Shape shape;
    int64_t in = 1, out = 1;
    InputSpec spec{.rank = int64_t(input.size())};
    for (char letter : equation.kernel) {
      shape.push_back(sizeOf(sizes, letter, input));
      (equation.output.find(letter) != std::string::npos ? out : in) *=
          shape.back();
      if (const size_t place = equation.input.find(letter);
          place != std::string::npos)
        spec.sizes[dimOfInput(place, input)] = shape.back();
    }
    kernel.build(shape,
                 {.initializer = kernelInitializer(in, out),
                  .regularizer = settings.kernel_regularizer,
                  .constraint = settings.kernel_constraint},
                 scaledDims());
    if (!settings.bias_axes.empty())
      bias = add_weight("bias", biasShape(sizes, input), biasOptions(settings));
    set_input_spec(std::move(spec));
  }

  Tensor call(const Tensor &x, const CallOptions &) override {
    Tensor y = kernel.productWith(
        x, {.product =
                [this](const Tensor &input, const Tensor &matrix) {
                  return einsum(text, input, matrix);
                },
            .inputDims =
                [this](const Tensor &input) {
                  return summedDimsOf(input.shape());
                },
            .kernelDims = scaledDims(),
            .scales =
                [this](const Tensor &ofInput, const Tensor &ofKernel) {
                  return einsum(scaleEquation(),
                                squeeze(ofInput, summedDimsOf(ofInput.shape())),
                                ofKernel);
                }});
    if (bias.defined())
      y = y + bias;
    return settings.activation ? settings.activation(y) : y;
  }

  Kernel &kernelOfLayer() override { return kernel; }
  std::vector<int64_t> scaledDims() const override {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < equation.kernel.size(); ++i)
      if (!isInResult(equation.kernel[i]))
        dims.push_back(int64_t(i));
    return dims;
  }

private:
  using Elided = DenseEquation::Elided;

  bool isInResult(char letter) const {
    return equation.output.find(letter) != std::string::npos;
  }
  /// The dims of an input that are summed over.
  std::vector<int64_t> summedDimsOf(const Shape &input) const {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < equation.input.size(); ++i)
      if (!isInResult(equation.input[i]))
        dims.push_back(dimOfInput(i, input));
    return dims;
  }
  /// The equation without the letters that are summed over.
  std::string scaleEquation() const {
    auto inResult = [&](std::string letters) {
      std::erase_if(letters, [&](char letter) { return !isInResult(letter); });
      return letters;
    };
    auto withDots = [&](std::string letters) {
      switch (equation.elided) {
      case Elided::None:
        return letters;
      case Elided::Left:
        return "..." + letters;
      case Elided::Right:
        return letters + "...";
      }
      return letters;
    };
    return fmt::format("{},{}->{}", withDots(inResult(equation.input)),
                       inResult(equation.kernel), withDots(equation.output));
  }
  using Sizes = std::map<char, int64_t>; ///< of letters; -1: not known

  int64_t dimOfInput(size_t letter, const Shape &input) const {
    return int64_t(letter) +
           (equation.elided == Elided::Left
                ? int64_t(input.size()) - int64_t(equation.input.size())
                : 0);
  }

  /// Returns the sizes of all letters, as the input and output_shape say.
  Sizes sizesOf(const Shape &input) const {
    const size_t letters = equation.input.size();
    if (input.size() < letters ||
        (input.size() > letters && equation.elided == Elided::None))
      refuse(fmt::format("expected an input of {} {} dims, as '{}' has, got {}",
                         equation.elided == Elided::None ? "the" : "at least",
                         letters, text, sizesText(input)));
    // The first dim of all is the batch, which output_shape leaves out.
    const bool writesBatch =
        equation.elided != Elided::Left || input.size() == letters;
    if (outputShape.size() + (writesBatch ? 1 : 0) != equation.output.size())
      refuse(fmt::format("expected an output_shape of {} sizes for '{}', got "
                         "{}",
                         equation.output.size() - (writesBatch ? 1 : 0), text,
                         sizesText(outputShape)));
    Sizes sizes;
    for (size_t i = 0; i < letters; ++i)
      sizes[equation.input[i]] = input[size_t(dimOfInput(i, input))];
    for (size_t i = writesBatch ? 1 : 0; i < equation.output.size(); ++i) {
      const int64_t size = outputShape[i - (writesBatch ? 1 : 0)];
      const auto [entry, isNew] = sizes.emplace(equation.output[i], size);
      if (!isNew && size >= 0 && entry->second >= 0 && entry->second != size)
        refuse(fmt::format("expected an output_shape whose '{}' is {}, as that "
                           "of the input {}, got {}",
                           equation.output[i], entry->second, sizesText(input),
                           size));
      if (entry->second < 0)
        entry->second = size;
    }
    return sizes;
  }
  int64_t sizeOf(const Sizes &sizes, char letter, const Shape &input) const {
    const auto found = sizes.find(letter);
    if (found == sizes.end() || found->second < 0)
      refuse(fmt::format("the size of '{}' in '{}' is not known: say it in "
                         "output_shape, or give an input whose size is known, "
                         "got {}",
                         letter, text, sizesText(input)));
    return found->second;
  }
  Shape biasShape(const Sizes &sizes, const Shape &input) const {
    Shape shape;
    for (size_t i = equation.output.find_first_of(settings.bias_axes);
         i < equation.output.size(); ++i)
      shape.push_back(settings.bias_axes.find(equation.output[i]) ==
                              std::string::npos
                          ? 1
                          : sizeOf(sizes, equation.output[i], input));
    if (equation.elided == Elided::Right)
      shape.resize(shape.size() + input.size() - equation.input.size(), 1);
    return shape;
  }
  /// By the sizes of what is summed over and of what is not, as Keras does it:
  /// the kernel's shape alone does not say which is which.
  initializers::Initializer kernelInitializer(int64_t in, int64_t out) const {
    if (!isOfFans(settings.kernel_initializer))
      return settings.kernel_initializer;
    return [of = settings.kernel_initializer, in, out](const Shape &shape,
                                                       DType type, Seed seed) {
      return reshape(of({in, out}, type, seed), shape);
    };
  }

  const std::string text;
  const Shape outputShape;
  DenseEquation equation;
  Kernel kernel{*this, "kernel"};
  DVariable bias;
};

} // namespace

EinsumDense::EinsumDense(std::string equation, Shape output_shape,
                         EinsumDenseOptions options)
    : Layer(makeLayer<EinsumDenseImpl>(
          std::move(equation), std::move(output_shape), std::move(options))) {}
EinsumDense::EinsumDense(std::string equation, int64_t output_size,
                         EinsumDenseOptions options)
    : EinsumDense(std::move(equation), Shape{output_size}, std::move(options)) {
}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::einsumLayers() {
  return {{"EinsumDense", createLayer<layers::EinsumDenseImpl>}};
}
