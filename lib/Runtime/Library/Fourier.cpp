// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fft: transforms all lines along one dim.
#include "FourierPlan.h"
#include "LibraryArrays.h"
#include "LibraryTable.h"

#include <mutex>

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
  forEachIndex<2>(outer, {&fromOuter, &toOuter}, [&](auto offsets) {
    plan.run(from.data + offsets[0] * (isFromReal ? 1 : 2), fromStrides,
             to.data + offsets[1] * (isToReal ? 1 : 2), toStrides,
             isOne ? 1 : extent[beside]);
  });
}

template <typename Real> class Fourier : public LibraryRoutine {
public:
  Fourier(FourierKind kind, int64_t length, size_t dim)
      : kind(kind), length(std::max<int64_t>(length, 1)), dim(dim) {}

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &from = arguments.inputs[0],
                         &to = arguments.outputs[0];
    if (to.empty())
      return Success();
    if (from.empty()) {
      zeroElements(byteWidth(to.type), to.extent, to.data, to.strides);
      return Success();
    }
    // The tables of a long line take longer to make than a program to load.
    std::call_once(planned,
                   [this] { plan = FourierPlan<Real>::get(kind, length); });
    transformDim<Real>(
        *plan, from.extent, dim, kind == FourierKind::FromReal,
        {reinterpret_cast<const Real *>(from.data), from.strides},
        kind == FourierKind::ToReal,
        {reinterpret_cast<Real *>(to.data), to.strides});
    return Success();
  }

private:
  const FourierKind kind;
  const int64_t length;
  const size_t dim;
  mutable std::once_flag planned;
  mutable std::shared_ptr<const FourierPlan<Real>> plan; ///< of the first run
};

RoutineOrError makeFourier(const LibraryStep &step) {
  OptionReader options(step.step);
  const auto kind = options.named<FourierKind>("fft_type", parseFourierKind);
  const int64_t length = options.number("fft_length"),
                dim = options.number("fft_dim");
  if (!options.ok() || length < 0 || dim < 0 || step.inputs.size() != 1 ||
      step.outputs.size() != 1 || size_t(dim) >= step.inputs[0]->shape.size())
    return Error("expected one operand, one result, a length and a dim");
  // The shapes of both sides follow from the kind.
  Shape from = step.inputs[0]->shape, to = from;
  from[size_t(dim)] = kind == FourierKind::ToReal ? length / 2 + 1 : length;
  to[size_t(dim)] = kind == FourierKind::FromReal ? length / 2 + 1 : length;
  const DType in = step.inputs[0]->type, out = step.outputs[0]->type;
  const bool fits = isComplex(in) == (kind != FourierKind::FromReal) &&
                    isComplex(out) == (kind != FourierKind::ToReal) &&
                    partOf(in) == partOf(out) &&
                    (partOf(in) == DType::F32 || partOf(in) == DType::F64);
  if (!fits || step.inputs[0]->shape != from || step.outputs[0]->shape != to)
    return Error("its operands do not fit its length");
  if (partOf(in) == DType::F64)
    return routineOf(
        std::make_unique<Fourier<double>>(kind, length, size_t(dim)));
  return routineOf(std::make_unique<Fourier<float>>(kind, length, size_t(dim)));
}
} // namespace

namespace meshloom::library {
LibraryRows functionsOfFourier() {
  static constexpr LibraryRow rows[] = {
      {"fft", makeFourier, {.usesTeam = true}}};
  return rows;
}
} // namespace meshloom::library
