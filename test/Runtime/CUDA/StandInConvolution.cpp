// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StandInConvolution.h"

#include <bit>
#include <numeric>
#include <span>
#include <utility>

namespace meshloom::cuda {
namespace {

/// Calls `body` with each list of indices.
template <typename Body>
void forEachIndex(std::span<const int64_t> extents, const Body &body) {
  std::vector<int64_t> index(extents.size());
  while (true) {
    body(std::as_const(index));
    size_t dim = extents.size();
    while (dim > 0 && ++index[dim - 1] == extents[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

int64_t placeOf(std::span<const int64_t> index,
                std::span<const int64_t> strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(),
                            int64_t(0));
}

/// Adds up the products of all elements of the image and the filter that meet.
class Convolver {
public:
  Convolver(const ConvolutionOperation &operation,
            const std::array<char *, 3> &arrays, bool isRounded)
      : operation(operation), arrays(arrays), isRounded(isRounded) {}
  void run();

private:
  const ConvolutionTensor &tensor(ConvolutionRole role) const {
    return operation.tensors[role];
  }
  double load(ConvolutionRole role, int64_t place) const;
  /// Finds the element of the image under a place of the filter, in the group
  /// of the filter's feature. Returns false where there is none.
  bool findImage(std::span<const int64_t> response,
                 std::span<const int64_t> filter,
                 std::vector<int64_t> &image) const;
  int64_t filterPlace(std::span<const int64_t> filter) const;

  const ConvolutionOperation &operation;
  const std::array<char *, 3> arrays;
  const bool isRounded; ///< f32 to bf16
};

double Convolver::load(ConvolutionRole role, int64_t place) const {
  const double value = loadNumber(arrays[role], place, tensor(role).type);
  return isRounded
             ? std::bit_cast<float>(uint32_t(roundToBF16(float(value))) << 16)
             : value;
}

bool Convolver::findImage(std::span<const int64_t> response,
                          std::span<const int64_t> filter,
                          std::vector<int64_t> &image) const {
  const ConvolutionWindows &windows = operation.windows;
  const int64_t channels = tensor(Filter).extents[1],
                groups = tensor(Image).extents[1] / channels,
                perGroup = tensor(Filter).extents[0] / groups;
  image.assign({response[0], filter[0] / perGroup * channels + filter[1]});
  for (size_t d = 0; d < windows.strides.size(); ++d) {
    image.push_back(response[d + 2] * windows.strides[d] - windows.before[d] +
                    filter[d + 2] * windows.dilations[d]);
    if (image.back() < 0 || image.back() >= tensor(Image).extents[d + 2])
      return false;
  }
  return true;
}

int64_t Convolver::filterPlace(std::span<const int64_t> filter) const {
  std::vector<int64_t> index(filter.begin(), filter.end());
  for (size_t dim = 2; dim < index.size() && operation.windows.isFlipped; ++dim)
    index[dim] = tensor(Filter).extents[dim] - 1 - index[dim];
  return placeOf(index, tensor(Filter).strides);
}

void Convolver::run() {
  const ConvolutionTensor &result = tensor(operation.result);
  std::vector<double> sums(result.span());
  std::vector<int64_t> image, oneChannel = tensor(Response).extents;
  oneChannel[1] = 1;
  forEachIndex(tensor(Filter).extents, [&](const std::vector<int64_t> &filter) {
    std::array<int64_t, 3> places{};
    places[Filter] = filterPlace(filter);
    forEachIndex(oneChannel, [&](const std::vector<int64_t> &response) {
      if (!findImage(response, filter, image))
        return;
      places[Image] = placeOf(image, tensor(Image).strides);
      places[Response] = placeOf(response, tensor(Response).strides) +
                         filter[0] * tensor(Response).strides[1];
      double product = 1;
      for (ConvolutionRole role : {Image, Filter, Response})
        if (role != operation.result)
          product *= load(role, places[role]);
      sums[size_t(places[operation.result])] += product;
    });
  });
  forEachIndex(result.extents, [&](const std::vector<int64_t> &index) {
    const int64_t place = placeOf(index, result.strides);
    storeNumber(arrays[operation.result], place, result.type,
                sums[size_t(place)]);
  });
}

} // namespace

void convolve(const ConvolutionOperation &operation,
              const std::array<char *, 3> &arrays, bool isRounded) {
  Convolver(operation, arrays, isRounded).run();
}

} // namespace meshloom::cuda
