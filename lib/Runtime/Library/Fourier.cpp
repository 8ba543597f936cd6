// fft: transforms along each of the last dims, all lines of a dim one after the
// other.
#include "FourierPlan.h"
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "ThreadScratch.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {
std::optional<FourierKind> parseFourierKind(std::string_view name) {
  return name == "FFT"     ? std::optional(FourierKind::Forward)
         : name == "IFFT"  ? std::optional(FourierKind::Inverse)
         : name == "RFFT"  ? std::optional(FourierKind::FromReal)
         : name == "IRFFT" ? std::optional(FourierKind::ToReal)
                           : std::nullopt;
}

/// A box of one side of a transform.
template <typename Real> struct FourierBox {
  Real *data;
  Shape strides;
};

/// Transforms all lines along dim `dim`. `extent`: of the other dims.
template <typename Real>
void transformDim(const FourierPlan<Real> &plan, const Shape &extent,
                  size_t dim, bool isFromReal, FourierBox<const Real> from,
                  bool isToReal, FourierBox<Real> to) {
  // Lines that are computed side by side are those that are nearest to each
  // other, if there are enough.
  const size_t rank = extent.size();
  size_t beside = rank;
  auto isBetter = [&](size_t d) {
    if (beside == rank)
      return true;
    constexpr int64_t enough = 8;
    if ((extent[d] >= enough) != (extent[beside] >= enough))
      return extent[d] >= enough;
    return to.strides[d] < to.strides[beside];
  };
  Shape outer, fromOuter, toOuter;
  for (size_t d = 0; d < rank; ++d)
    if (d != dim && extent[d] > 1 && isBetter(d))
      beside = d;
  for (size_t d = 0; d < rank; ++d)
    if (d != dim && d != beside) {
      outer.push_back(extent[d]);
      fromOuter.push_back(from.strides[d]);
      toOuter.push_back(to.strides[d]);
    }
  const bool isOne = beside == rank;
  const ElementStrides fromStrides{from.strides[dim],
                                   isOne ? 0 : from.strides[beside]},
      toStrides{to.strides[dim], isOne ? 0 : to.strides[beside]};
  forEachIndex<2>(outer, {&fromOuter, &toOuter}, [&](auto at) {
    plan.run(from.data + at[0] * (isFromReal ? 1 : 2), fromStrides,
             to.data + at[1] * (isToReal ? 1 : 2), toStrides,
             isOne ? 1 : extent[beside]);
  });
}

template <typename Real> class Fourier : public LibraryRoutine {
public:
  Fourier(FourierKind kind, const Shape &lengths) : kind(kind) {
    for (int64_t length : lengths) {
      const bool isLast = plans.size() + 1 == lengths.size();
      const FourierKind complexKind =
          isInverse() ? FourierKind::Inverse : FourierKind::Forward;
      plans.push_back(FourierPlan<Real>::get(isLast ? kind : complexKind,
                                             std::max<int64_t>(length, 1)));
    }
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &from = arguments.inputs[0],
                         &to = arguments.outputs[0];
    if (to.empty())
      return Success();
    if (from.empty()) {
      zeroElements(byteWidth(to.type), to.extent, to.data, to.strides);
      return Success();
    }
    const FourierBox<const Real> source{
        reinterpret_cast<const Real *>(from.data), from.strides};
    const FourierBox<Real> target{reinterpret_cast<Real *>(to.data),
                                  to.strides};
    const size_t last = from.extent.size() - 1,
                 first = from.extent.size() - plans.size();
    const bool isFromReal = kind == FourierKind::FromReal,
               isToReal = kind == FourierKind::ToReal;
    if (!isToReal) {
      transformDim<Real>(*plans.back(), from.extent, last, isFromReal, source,
                         false, target);
      for (size_t d = first; d < last; ++d)
        transformDim<Real>(*plans[d - first], to.extent, d, false,
                           {target.data, target.strides}, false, target);
      return Success();
    }
    // The last dim of a spectrum becomes real once the others are done.
    FourierBox<const Real> spectrum = source;
    if (first < last) {
      Shape strides(from.extent.size(), 1);
      for (size_t d = last; d-- > 0;)
        strides[d] = strides[d + 1] * from.extent[d + 1];
      const int64_t count = strides[0] * from.extent[0];
      auto *memory = static_cast<Real *>(
          threadScratch(7, size_t(2 * count) * sizeof(Real)));
      for (size_t d = first; d < last; ++d) {
        transformDim<Real>(*plans[d - first], from.extent, d, false, spectrum,
                           false, {memory, strides});
        spectrum = {memory, strides};
      }
    }
    transformDim<Real>(*plans.back(), from.extent, last, false, spectrum, true,
                       target);
    return Success();
  }

private:
  bool isInverse() const {
    return kind == FourierKind::Inverse || kind == FourierKind::ToReal;
  }

  const FourierKind kind;
  std::vector<std::shared_ptr<const FourierPlan<Real>>> plans; ///< per dim
};

MadeRoutine makeFourier(const LibraryStep &step) {
  OptionReader options(step.step);
  const auto kind = options.named<FourierKind>("fft_type", parseFourierKind);
  const Shape lengths = options.list("fft_length");
  const size_t along = lengths.size();
  if (!options.ok() || along < 1 || step.inputs.size() != 1 ||
      step.outputs.size() != 1 || step.inputs[0]->shape.size() < along ||
      std::ranges::any_of(lengths, [](int64_t length) { return length < 0; }))
    return Error("expected one operand, one result, and lengths");
  // The shapes of both sides follow from the kind.
  Shape from = step.inputs[0]->shape, to = from;
  for (size_t i = 0; i < along; ++i)
    from[from.size() - along + i] = to[to.size() - along + i] = lengths[i];
  if (kind == FourierKind::FromReal)
    to.back() = lengths.back() / 2 + 1;
  if (kind == FourierKind::ToReal)
    from.back() = lengths.back() / 2 + 1;
  const DType in = step.inputs[0]->type, out = step.outputs[0]->type;
  const bool fits = isComplex(in) == (kind != FourierKind::FromReal) &&
                    isComplex(out) == (kind != FourierKind::ToReal) &&
                    partOf(in) == partOf(out) &&
                    (partOf(in) == DType::F32 || partOf(in) == DType::F64);
  if (!fits || step.inputs[0]->shape != from || step.outputs[0]->shape != to)
    return Error("its operands do not fit its lengths");
  if (partOf(in) == DType::F64)
    return made(std::make_unique<Fourier<double>>(kind, lengths));
  return made(std::make_unique<Fourier<float>>(kind, lengths));
}
} // namespace

namespace meshloom::library {
LibraryRows fourierFunctions() {
  static constexpr LibraryRow rows[] = {{"fft", makeFourier}};
  return rows;
}
} // namespace meshloom::library
