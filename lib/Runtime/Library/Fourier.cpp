// fft by Eigen's kissfft, for any lengths: one transform of a line after the
// other along each dim. Alone in its file, as the header is heavy.
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "meshloom/Core/ThreadLocal.h"

#include <unsupported/Eigen/FFT>

#include <cstring>

using namespace meshloom;
using namespace meshloom::library;

namespace {
enum class Kind : uint8_t { Forward, Inverse, FromReal, ToReal };
std::optional<Kind> parseKind(std::string_view name) {
  return name == "FFT"     ? std::optional(Kind::Forward)
         : name == "IFFT"  ? std::optional(Kind::Inverse)
         : name == "RFFT"  ? std::optional(Kind::FromReal)
         : name == "IRFFT" ? std::optional(Kind::ToReal)
                           : std::nullopt;
}

/// Transforms `lines` complex numbers of one batch element, in place: an array
/// of `shape`, along dim `dim`.
template <typename Real>
void transformDim(std::vector<std::complex<Real>> &values, const Shape &shape,
                  size_t dim, bool inverse) {
  const int64_t length = shape[dim];
  if (length < 2)
    return;
  auto &fft = threadLocal<Eigen::FFT<Real>>();
  std::vector<std::complex<Real>> line(static_cast<size_t>(length)),
      result(static_cast<size_t>(length));
  int64_t inner = 1;
  for (size_t d = dim + 1; d < shape.size(); ++d)
    inner *= shape[d];
  const int64_t lines = int64_t(values.size()) / length;
  for (int64_t l = 0; l < lines; ++l) {
    std::complex<Real> *first =
        values.data() + l / inner * inner * length + l % inner;
    for (int64_t i = 0; i < length; ++i)
      line[size_t(i)] = first[i * inner];
    if (inverse)
      fft.inv(result.data(), line.data(), length);
    else
      fft.fwd(result.data(), line.data(), length);
    for (int64_t i = 0; i < length; ++i)
      first[i * inner] = result[size_t(i)];
  }
}

class Fourier : public LibraryRoutine {
public:
  static MadeRoutine make(const LibraryStep &step) {
    OptionReader options(step.step);
    auto fourier = std::make_unique<Fourier>();
    fourier->kind = options.named<Kind>("fft_type", parseKind);
    fourier->lengths = options.list("fft_length");
    const size_t along = fourier->lengths.size();
    if (!options.ok() || along < 1 || step.inputs.size() != 1 ||
        step.outputs.size() != 1 || step.inputs[0]->shape.size() < along)
      return Error("expected one operand, one result, and lengths");
    // The shapes of both sides follow from the kind.
    Shape from = step.inputs[0]->shape, to = from;
    for (size_t i = 0; i < along; ++i)
      from[from.size() - along + i] = to[to.size() - along + i] =
          fourier->lengths[i];
    if (fourier->kind == Kind::FromReal)
      to.back() = fourier->lengths.back() / 2 + 1;
    if (fourier->kind == Kind::ToReal)
      from.back() = fourier->lengths.back() / 2 + 1;
    const DType in = step.inputs[0]->type, out = step.outputs[0]->type;
    const bool fits = isComplex(in) == (fourier->kind != Kind::FromReal) &&
                      isComplex(out) == (fourier->kind != Kind::ToReal) &&
                      partOf(in) == partOf(out) &&
                      (partOf(in) == DType::F32 || partOf(in) == DType::F64);
    if (!fits || step.inputs[0]->shape != from || step.outputs[0]->shape != to)
      return Error("its operands do not fit its lengths");
    return made(std::move(fourier));
  }

  Status run(const LibraryArguments &arguments) const override {
    if (partOf(arguments.inputs[0].type) == DType::F64)
      transform<double>(arguments);
    else
      transform<float>(arguments);
    return Success();
  }

private:
  template <typename Real>
  void transform(const LibraryArguments &arguments) const {
    const LibraryOperand &from = arguments.inputs[0],
                         &to = arguments.outputs[0];
    if (to.empty())
      return;
    const size_t along = lengths.size(), batch = from.extent.size() - along;
    auto head = [&](const Shape &all) {
      return Shape(all.begin(), all.begin() + int64_t(batch));
    };
    auto tail = [&](const Shape &all) {
      return Shape(all.begin() + int64_t(batch), all.end());
    };
    const Shape batchExtent = head(from.extent), fromBatch = head(from.strides),
                toBatch = head(to.strides);
    const Shape fromExtent = tail(from.extent),
                fromStrides = tail(from.strides), toExtent = tail(to.extent),
                toStrides = tail(to.strides);
    const bool inverse = kind == Kind::Inverse || kind == Kind::ToReal;
    std::vector<std::complex<Real>> values;
    forEachIndex<2>(batchExtent, {&fromBatch, &toBatch}, [&](auto at) {
      read(from, at[0], fromExtent, fromStrides, values);
      // Dims of which both sides have all first; then, of real numbers, the
      // last one.
      for (size_t d = 0; d + 1 < along; ++d)
        transformDim(values, fromExtent, d, inverse);
      if (kind == Kind::ToReal)
        unfold(values, fromExtent.back());
      Shape full = fromExtent;
      full.back() = lengths.back();
      transformDim(values, full, along - 1, inverse);
      write(to, at[1], full, toExtent, toStrides, values);
    });
  }

  template <typename Real>
  void read(const LibraryOperand &from, int64_t at, const Shape &extent,
            const Shape &strides,
            std::vector<std::complex<Real>> &values) const {
    values.clear();
    forEachIndex<1>(extent, {&strides}, [&](auto element) {
      const int64_t index = at + element[0];
      if (kind == Kind::FromReal)
        values.emplace_back(reinterpret_cast<const Real *>(from.data)[index]);
      else
        values.push_back(
            reinterpret_cast<const std::complex<Real> *>(from.data)[index]);
    });
  }

  /// The second half of each line: the first one mirrored and conjugated. What
  /// must be real in the spectrum of real numbers is made so.
  template <typename Real>
  void unfold(std::vector<std::complex<Real>> &values, int64_t half) const {
    const int64_t length = lengths.back();
    const int64_t lines = int64_t(values.size()) / half;
    std::vector<std::complex<Real>> all(size_t(lines * length));
    for (int64_t l = 0; l < lines; ++l)
      for (int64_t i = 0; i < length; ++i) {
        const bool first = i < half;
        std::complex<Real> value =
            values[size_t(l * half + (first ? i : length - i))];
        if (i == 0 || 2 * i == length)
          value = value.real();
        all[size_t(l * length + i)] = first ? value : std::conj(value);
      }
    values = std::move(all);
  }

  template <typename Real>
  void write(const LibraryOperand &to, int64_t at, const Shape &full,
             const Shape &extent, const Shape &strides,
             const std::vector<std::complex<Real>> &values) const {
    const Shape valueStrides = rowMajorStridesOf(full);
    forEachIndex<2>(extent, {&strides, &valueStrides}, [&](auto element) {
      const int64_t index = at + element[0];
      const std::complex<Real> value = values[size_t(element[1])];
      if (kind == Kind::ToReal)
        reinterpret_cast<Real *>(to.data)[index] = value.real();
      else
        reinterpret_cast<std::complex<Real> *>(to.data)[index] = value;
    });
  }

  static Shape rowMajorStridesOf(const Shape &shape) {
    Shape strides(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
    return strides;
  }

  Kind kind = Kind::Forward;
  Shape lengths;
};
} // namespace

namespace meshloom::library {
LibraryRows fourierFunctions() {
  static constexpr LibraryRow rows[] = {{"fft", Fourier::make}};
  return rows;
}
} // namespace meshloom::library
