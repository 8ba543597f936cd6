// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code as text, and back.
#include "meshloom/Core/DeviceCode.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {
namespace {

constexpr std::string_view deviceCodeMagic = "// Meshloom device code 1";
/// The most threads that a block may have.
constexpr unsigned mostThreads = 1024;

std::string parameterText(const KernelParameter &parameter) {
  switch (parameter.kind) {
  case KernelParameter::Kind::Pointer:
    return fmt::format("p{}", parameter.operand);
  case KernelParameter::Kind::Extent:
    return fmt::format("e{}", parameter.loop);
  case KernelParameter::Kind::Origin:
    return fmt::format("o{}", parameter.loop);
  case KernelParameter::Kind::Stride:
    break;
  }
  return fmt::format("s{}.{}", parameter.operand, parameter.loop);
}

/// Reads words and numbers of one line from its front.
class LineReader {
public:
  explicit LineReader(std::string_view line) : line(line) {}

  bool word(std::string_view expected) {
    if (!line.starts_with(expected))
      return false;
    line.remove_prefix(expected.size());
    return true;
  }
  template <typename Number> bool number(Number &value) {
    auto [end, problem] =
        std::from_chars(line.data(), line.data() + line.size(), value);
    if (problem != std::errc())
      return false;
    line.remove_prefix(end - line.data());
    return true;
  }
  bool symbol(std::string &name) {
    const size_t end = line.find(' ');
    if (end == 0 || end == std::string_view::npos)
      return false;
    name = line.substr(0, end);
    line.remove_prefix(end);
    return true;
  }
  bool parameter(KernelParameter &parameter) {
    using Kind = KernelParameter::Kind;
    if (word(" p")) {
      parameter.kind = Kind::Pointer;
      return number(parameter.operand);
    }
    if (word(" e")) {
      parameter.kind = Kind::Extent;
      return number(parameter.loop);
    }
    if (word(" o")) {
      parameter.kind = Kind::Origin;
      return number(parameter.loop);
    }
    parameter.kind = Kind::Stride;
    return word(" s") && number(parameter.operand) && word(".") &&
           number(parameter.loop);
  }
  /// Numbers with commas between them, at least one.
  bool numbers(std::vector<unsigned> &values) {
    do {
      if (!number(values.emplace_back()))
        return false;
    } while (word(","));
    return true;
  }
  /// All of the line, as bytes of two hexadecimal digits.
  bool bytes(std::vector<char> &values) {
    for (; line.size() >= 2; line.remove_prefix(2)) {
      uint8_t byte = 0;
      const char *end = line.data() + 2;
      if (std::from_chars(line.data(), end, byte, 16).ptr != end)
        return false;
      values.push_back(char(byte));
    }
    return atEnd() && !values.empty();
  }
  bool atEnd() const { return line.empty(); }
  /// Returns whether a space and a digit come next.
  bool isNumber() const {
    return line.size() > 1 && line[0] == ' ' && line[1] >= '0' &&
           line[1] <= '9';
  }

private:
  std::string_view line;
};

bool parseShape(std::string_view line, KernelShape &shape) {
  LineReader reader(line);
  if (!reader.word("// kernel ") || !reader.symbol(shape.symbol) ||
      !reader.word(" results ") || !reader.number(shape.results) ||
      !reader.word(" terms ") || !reader.number(shape.terms) ||
      !reader.word(" grid "))
    return false;
  if (!reader.word("none") && !reader.numbers(shape.parallel))
    return false;
  if (!reader.word(" parameters"))
    return false;
  while (!reader.atEnd())
    if (!reader.parameter(shape.parameters.emplace_back()))
      return false;
  const uint64_t threads = uint64_t(shape.results) * shape.terms;
  return threads > 0 && threads <= mostThreads;
}

/// The word for each form.
constexpr std::array<std::string_view, 4> epilogueForms{
    "bias", "gelu", "gelu_gradient", "bias_gradient"};

std::string epilogueText(const ProductEpilogue &epilogue) {
  const auto form = epilogueForms[size_t(epilogue.form)];
  const std::string terms = fmt::format("{}", fmt::join(epilogue.terms, ","));
  std::string text =
      fmt::format("// epilogue {} {} result {} terms {}", epilogue.symbol, form,
                  epilogue.result, terms.empty() ? "none" : terms);
  if (epilogue.factor)
    text += fmt::format(" of {} factor {}", epilogue.gelu, *epilogue.factor);
  for (auto [operand, result] : epilogue.saved)
    text += fmt::format(" saved {}:{}", operand, result);
  return text + "\n";
}

bool parseEpilogue(std::string_view line, ProductEpilogue &epilogue) {
  LineReader reader(line);
  std::string form;
  if (!reader.word("// epilogue ") || !reader.symbol(epilogue.symbol) ||
      !reader.word(" ") || !reader.symbol(form))
    return false;
  const auto found = std::ranges::find(epilogueForms, form);
  if (found == epilogueForms.end())
    return false;
  epilogue.form = ProductEpilogue::Form(found - epilogueForms.begin());
  if (!reader.word(" result ") || !reader.number(epilogue.result) ||
      !reader.word(" terms "))
    return false;
  if (!reader.word("none") && !reader.numbers(epilogue.terms))
    return false;
  if (reader.word(" of ") &&
      (!reader.symbol(epilogue.gelu) || !reader.word(" factor ") ||
       !reader.number(epilogue.factor.emplace())))
    return false;
  while (reader.word(" saved ")) {
    auto &[operand, result] = epilogue.saved.emplace_back();
    if (!reader.number(operand) || !reader.word(":") || !reader.number(result))
      return false;
  }
  return reader.atEnd();
}

std::string indexText(const DimAccess &dim) {
  std::vector<std::string> terms;
  terms.reserve(dim.terms.size());
  for (auto [loop, coefficient] : dim.terms)
    terms.push_back(coefficient == 1 ? fmt::format("{}", loop)
                                     : fmt::format("{}*{}", loop, coefficient));
  std::string text =
      terms.empty() ? "-" : fmt::format("{}", fmt::join(terms, "+"));
  return dim.offset == 0 ? text : text + fmt::format("@{}", dim.offset);
}

std::string tensorText(std::string_view name, const Operand &tensor) {
  std::vector<std::string> indices;
  indices.reserve(tensor.dims.size());
  for (const DimAccess &dim : tensor.dims)
    indices.push_back(indexText(dim));
  return fmt::format("{} {}:{}", name, tensor.buffer, fmt::join(indices, ","));
}

/// The tensors that an attention always has, and their names.
template <typename Attention> auto tensorsOf(Attention &attention) {
  return std::array{std::pair(" query", &attention.query),
                    std::pair(" key", &attention.key),
                    std::pair(" value", &attention.value),
                    std::pair(" scores", &attention.scores),
                    std::pair(" result", &attention.result)};
}
template <typename Gradient> auto gradientTensorsOf(Gradient &gradient) {
  return std::array{std::pair(" gradient", &gradient.result),
                    std::pair(" query_gradient", &gradient.query),
                    std::pair(" key_gradient", &gradient.key),
                    std::pair(" value_gradient", &gradient.value)};
}

std::string attentionText(const Attention &attention) {
  std::string text =
      fmt::format("// attention batches {} terms {} columns {} scale {}",
                  attention.batchLoops, attention.terms, attention.columns,
                  attention.scale);
  if (attention.isCausal)
    text += " causal";
  text += fmt::format(" hidden {}", attention.hidden);
  auto add = [&](std::string_view name, const Operand &tensor) {
    text += tensorText(name, tensor);
  };
  for (auto [name, tensor] : tensorsOf(attention))
    add(name, *tensor);
  if (attention.bias)
    add(" bias", *attention.bias);
  if (attention.mask) {
    const std::string loops =
        fmt::format("{}", fmt::join(attention.mask->loops, ","));
    text += fmt::format(" mask {} loops {} operands", attention.mask->symbol,
                        loops.empty() ? "none" : loops);
    for (const Operand &operand : attention.mask->operands)
      add("", operand);
  }
  if (attention.gradient)
    for (auto [name, tensor] : gradientTensorsOf(*attention.gradient))
      add(name, *tensor);
  return text + "\n";
}

bool parseIndex(LineReader &reader, const Attention &attention,
                DimAccess &dim) {
  if (!reader.word("-"))
    do {
      auto &[loop, coefficient] = dim.terms.emplace_back(0, 1);
      if (!reader.number(loop) || loop >= attention.numLoops() ||
          (reader.word("*") && !reader.number(coefficient)))
        return false;
    } while (reader.word("+"));
  return !reader.word("@") || reader.number(dim.offset);
}

/// Reads a tensor whose name has been read.
bool parseTensor(LineReader &reader, const Attention &attention,
                 Operand &tensor) {
  if (!reader.word(" ") || !reader.number(tensor.buffer) || !reader.word(":"))
    return false;
  do {
    if (!parseIndex(reader, attention, tensor.dims.emplace_back()))
      return false;
  } while (reader.word(","));
  return true;
}

/// Reads a mask whose first word has been read.
bool parseMask(LineReader &reader, const Attention &attention,
               AttentionMask &mask) {
  if (!reader.symbol(mask.symbol) || !reader.word(" loops ") ||
      (!reader.word("none") && !reader.numbers(mask.loops)) ||
      !reader.word(" operands"))
    return false;
  while (reader.isNumber())
    if (!parseTensor(reader, attention, mask.operands.emplace_back()))
      return false;
  return std::ranges::all_of(
      mask.loops, [&](unsigned loop) { return loop <= attention.keyLoop(); });
}

bool parseAttention(std::string_view line, Attention &attention) {
  constexpr unsigned mostBatchLoops = 64;
  LineReader reader(line);
  if (!reader.word("// attention batches ") ||
      !reader.number(attention.batchLoops) ||
      attention.batchLoops > mostBatchLoops || !reader.word(" terms ") ||
      !reader.number(attention.terms) || !reader.word(" columns ") ||
      !reader.number(attention.columns) || !reader.word(" scale ") ||
      !reader.number(attention.scale))
    return false;
  attention.isCausal = reader.word(" causal");
  if (!reader.word(" hidden ") || !reader.number(attention.hidden))
    return false;
  auto parse = [&](Operand &tensor) {
    return parseTensor(reader, attention, tensor);
  };
  for (auto [name, tensor] : tensorsOf(attention))
    if (!reader.word(name) || !parse(*tensor))
      return false;
  if (reader.word(" bias") && !parse(attention.bias.emplace()))
    return false;
  if (reader.word(" mask ") &&
      !parseMask(reader, attention, attention.mask.emplace()))
    return false;
  if (reader.atEnd())
    return true;
  for (auto [name, tensor] : gradientTensorsOf(attention.gradient.emplace()))
    if (!reader.word(name) || !parse(*tensor))
      return false;
  return reader.atEnd();
}

std::string hostText(const DeviceCode &code) {
  std::string text = fmt::format("// host {} ", code.hostFeatures);
  for (char byte : code.hostObject)
    fmt::format_to(std::back_inserter(text), "{:02x}", uint8_t(byte));
  return text + "\n";
}

bool parseHost(std::string_view line, DeviceCode &code) {
  LineReader reader(line);
  return reader.word("// host ") && reader.symbol(code.hostFeatures) &&
         reader.word(" ") && reader.bytes(code.hostObject);
}

} // namespace

int64_t KernelShape::blocks(std::span<const int64_t> extents) const {
  int64_t count = 1;
  for (unsigned loop : parallel)
    count *= extents[loop];
  return (count + results - 1) / results;
}

std::string DeviceCode::text() const {
  std::string result = fmt::format("{}\n", deviceCodeMagic);
  for (const KernelShape &kernel : kernels) {
    std::string grid = fmt::format("{}", fmt::join(kernel.parallel, ","));
    result += fmt::format("// kernel {} results {} terms {} grid {} parameters",
                          kernel.symbol, kernel.results, kernel.terms,
                          grid.empty() ? "none" : grid);
    for (const KernelParameter &parameter : kernel.parameters)
      result += " " + parameterText(parameter);
    result += "\n";
  }
  for (const ProductEpilogue &epilogue : epilogues)
    result += epilogueText(epilogue);
  for (const Attention &attention : attentions)
    result += attentionText(attention);
  if (!hostObject.empty())
    result += hostText(*this);
  return result + ptx;
}

Result<DeviceCode> DeviceCode::parse(std::string_view text) {
  DeviceCode code;
  auto nextLine = [&]() {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  if (nextLine() != deviceCodeMagic)
    return Error(fmt::format("this is no device code: its first line is not "
                             "'{}'",
                             deviceCodeMagic));
  while (text.starts_with("// kernel ")) {
    const std::string_view line = nextLine();
    if (!parseShape(line, code.kernels.emplace_back()))
      return Error(fmt::format("device code has a line that describes no "
                               "kernel: '{}'",
                               line));
  }
  while (text.starts_with("// epilogue ")) {
    const std::string_view line = nextLine();
    if (!parseEpilogue(line, code.epilogues.emplace_back()))
      return Error(fmt::format("device code has a line that describes no "
                               "epilogue: '{}'",
                               line));
  }
  while (text.starts_with("// attention ")) {
    const std::string_view line = nextLine();
    if (!parseAttention(line, code.attentions.emplace_back()))
      return Error(fmt::format("device code has a line that describes no "
                               "attention: '{}'",
                               line));
  }
  if (text.starts_with("// host ") && !parseHost(nextLine(), code))
    return Error("device code has a line for the host that cannot be read");
  code.ptx = text;
  return code;
}

/// The letter of a loop, or nothing where only one operand has it.
static std::optional<char> letterOf(unsigned loop, const Operand &lhs,
                                    const Operand &rhs, const Operand &out) {
  const bool inLhs = lhs.dependsOn(loop), inRhs = rhs.dependsOn(loop),
             inOut = out.dependsOn(loop);
  if (inLhs + inRhs + inOut < 2)
    return std::nullopt;
  return !inOut ? 'k' : !inRhs ? 'm' : !inLhs ? 'n' : 'b';
}

std::optional<ProductKind> ProductKind::of(const Program &program,
                                           const DotStep &step) {
  ProductKind kind{program.buffers[step.lhs.buffer].type, "", {}};
  const DType result = program.buffers[step.out.buffer].type;
  kind.isWidening = kind.type != result;
  if ((kind.type != DType::F32 && kind.type != DType::BF16 &&
       kind.type != DType::F16) ||
      (kind.isWidening && result != DType::F32))
    return std::nullopt;
  for (unsigned loop = 0; loop < step.loops.size(); ++loop) {
    const auto letter = letterOf(loop, step.lhs, step.rhs, step.out);
    if (!letter)
      return std::nullopt;
    kind.loops += *letter;
  }
  return kind;
}

/// The windows of a convolution, from its options. Nothing where these are not
/// complete, or where some dim is no loop of its own.
static std::optional<std::vector<ProductKind::Window>>
windowsOf(const Program &program, const KernelStep &step) {
  const size_t rank = step.outputs[0].dims.size();
  bool areLists = true;
  auto list = [&](std::string_view name) {
    const auto option = step.options.find(name);
    const auto *numbers =
        option == step.options.end()
            ? nullptr
            : std::get_if<std::vector<int64_t>>(&option->second);
    areLists &= numbers && numbers->size() + 2 == rank;
    return numbers ? *numbers : std::vector<int64_t>();
  };
  const auto inputs = list("input_spatial_dimensions"),
             kernels = list("kernel_spatial_dimensions"),
             outputs = list("output_spatial_dimensions"),
             strides = list("window_strides"), low = list("padding_low"),
             inputDilation = list("lhs_dilation"),
             kernelDilation = list("rhs_dilation"),
             reversal = list("window_reversal");
  if (!areLists)
    return std::nullopt;
  bool areLoops = true;
  auto loopOf = [&](const Operand &operand, int64_t dim) {
    const DimAccess access = dim >= 0 && size_t(dim) < operand.dims.size()
                                 ? operand.dims[size_t(dim)]
                                 : DimAccess();
    const bool isLoop = access.offset == 0 && access.terms.size() == 1 &&
                        access.terms[0].second == 1;
    areLoops &= isLoop;
    return isLoop ? access.terms[0].first : 0;
  };
  std::vector<ProductKind::Window> windows;
  windows.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    windows.push_back(
        {.output = loopOf(step.outputs[0], outputs[i]),
         .kernel = loopOf(step.inputs[1], kernels[i]),
         .input = loopOf(step.inputs[0], inputs[i]),
         .stride = strides[i],
         .low = low[i],
         .inputDilation = inputDilation[i],
         .kernelDilation = kernelDilation[i],
         .reversedExtent = areLoops && reversal[i]
                               ? program.buffers[step.inputs[1].buffer]
                                     .shape[size_t(kernels[i])]
                               : 0});
  return areLoops ? std::optional(std::move(windows)) : std::nullopt;
}

std::optional<ProductKind> ProductKind::of(const Program &program,
                                           const KernelStep &step) {
  if (step.library != "convolution" || step.inputs.size() != 2 ||
      step.outputs.size() != 1)
    return std::nullopt;
  auto typeOf = [&](const Operand &operand) {
    return program.buffers[operand.buffer].type;
  };
  const DType type = typeOf(step.outputs[0]);
  if (typeOf(step.inputs[0]) != type || typeOf(step.inputs[1]) != type ||
      isComplex(type) || type == DType::I1)
    return std::nullopt;
  auto windows = windowsOf(program, step);
  if (!windows)
    return std::nullopt;
  ProductKind kind{type, "", std::move(*windows)};
  for (unsigned loop = 0; loop < step.loops.size(); ++loop) {
    auto isLoopOf = [&](unsigned Window::*dim) {
      return std::ranges::find(kind.windows, loop, dim) != kind.windows.end();
    };
    const std::optional<char> letter =
        isLoopOf(&Window::input)    ? 'h'
        : isLoopOf(&Window::kernel) ? 'k'
        : isLoopOf(&Window::output)
            ? 'm'
            : letterOf(loop, step.inputs[0], step.inputs[1], step.outputs[0]);
    if (!letter)
      return std::nullopt;
    kind.loops += *letter;
  }
  return kind;
}

std::string ProductKind::symbol() const {
  std::string symbol =
      fmt::format("{}_{}{}_{}", windows.empty() ? "product" : "convolution",
                  name(type), isWidening ? "_f32" : "", loops);
  for (const Window &window : windows) {
    symbol += fmt::format("_o{}k{}i{}s{}", window.output, window.kernel,
                          window.input, window.stride);
    symbol += fmt::format("{}{}d{}e{}", window.low < 0 ? 'n' : 'p',
                          std::abs(window.low), window.inputDilation,
                          window.kernelDilation);
    if (window.reversedExtent > 0)
      symbol += fmt::format("r{}", window.reversedExtent);
  }
  return symbol;
}

std::string CombinationKind::symbol() const {
  // Names of kernels have no brackets.
  const std::string_view typeName = type == DType::C64    ? "c64"
                                    : type == DType::C128 ? "c128"
                                                          : name(type);
  return fmt::format("combination_{}_{}_{}", name(reduce), typeName, rank);
}

std::optional<FourierKind> FourierKind::of(const Program &program,
                                           const KernelStep &step) {
  if (step.library != "fft" || step.inputs.size() != 1 ||
      step.outputs.size() != 1)
    return std::nullopt;
  auto option = [&]<typename T>(std::string_view name) {
    const auto found = step.options.find(name);
    return found == step.options.end() ? nullptr
                                       : std::get_if<T>(&found->second);
  };
  const auto *form = option.operator()<std::string>("fft_type");
  const auto *length = option.operator()<int64_t>("fft_length"),
             *dim = option.operator()<int64_t>("fft_dim");
  const BufferDecl &operand = program.buffers[step.inputs[0].buffer];
  const size_t rank = operand.shape.size();
  if (!form || !length || !dim || *dim < 0 || size_t(*dim) >= rank)
    return std::nullopt;
  return FourierKind{.form = *form == "FFT"    ? Form::Forward
                             : *form == "IFFT" ? Form::Inverse
                             : *form == "RFFT" ? Form::FromReal
                                               : Form::ToReal,
                     .part = partOf(operand.type),
                     .length = *length,
                     .rank = unsigned(rank),
                     .dim = unsigned(*dim)};
}

std::string FourierKind::symbol() const {
  return fmt::format("lines_{}_{}_{}_{}of{}",
                     form == Form::ToReal ? "irfft" : "ifft", name(part),
                     length, dim, rank);
}

} // namespace meshloom
