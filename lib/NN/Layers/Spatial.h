// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spatial: what layers share that slide windows over 1, 2 or 3 spatial dims.
#pragma once

#include "BuiltIn.h"

#include "meshloom/API/WindowOps.h"
#include "meshloom/NN/Layers/Shapes.h"

#include <fmt/format.h>

namespace meshloom::detail {

/// The adaptive ones in Convolutional.h, which convolutionalLayers lists among
/// its own.
LayerList adaptivePoolings();

inline std::string ranked(const char *name, int64_t rank) {
  return fmt::format("{}{}D", name, rank);
}

/// [batch, features, spatial...] as [batch, spatial..., features].
inline Tensor featuresLast(const Tensor &x) {
  std::vector<int64_t> order{0};
  for (int64_t d = 2; d < x.rank(); ++d)
    order.push_back(d);
  order.push_back(1);
  return transpose(x, order);
}
inline Tensor featuresFirst(const Tensor &x) {
  std::vector<int64_t> order{0, x.rank() - 1};
  for (int64_t d = 1; d + 1 < x.rank(); ++d)
    order.push_back(d);
  return transpose(x, order);
}

/// The common part of layers with spatial dims.
template <typename Impl, typename Options>
class Spatial : public BuiltIn<Impl, Options> {
public:
  Spatial(const char *kind, int64_t rank, Options options,
          const char *suffix = "")
      : BuiltIn<Impl, Options>(ranked(kind, rank) + suffix, std::move(options)),
        rank(rank) {
    const std::string &format = this->settings.data_format;
    if (format != "channels_last" && format != "channels_first")
      this->refuse(fmt::format("expected the data_format 'channels_last' or "
                               "'channels_first', got '{}'",
                               format));
    channelsFirst = format == "channels_first";
    this->set_input_spec({.rank = rank + 2});
  }

protected:
  /// One number for each spatial dim.
  Shape countsFor(const layers::Sizes &sizes, const char *option) const {
    Shape counts = sizes.values.size() == 1
                       ? Shape(size_t(rank), sizes.values[0])
                       : sizes.values;
    if (int64_t(counts.size()) != rank)
      this->refuse(fmt::format("expected one number or {} as its {}, got {}",
                               rank, option, counts.size()));
    return counts;
  }
  /// The same of numbers that are positive.
  Shape forEach(const layers::Sizes &sizes, const char *option) const {
    Shape counts = countsFor(sizes, option);
    for (int64_t size : counts)
      this->expectPositive(option, size);
    return counts;
  }
  Padding paddingOf(const std::string &name) const {
    if (name != "valid" && name != "same")
      this->refuse(fmt::format("expected the padding 'valid' or 'same', got "
                               "'{}'",
                               name));
    return name == "same" ? "SAME" : "VALID";
  }
  void expectRank(const Shape &input) const {
    if (int64_t(input.size()) != rank + 2)
      this->refuse(fmt::format("expected an input of rank {}, [batch, {}], got "
                               "{}",
                               rank + 2,
                               channelsFirst ? "features, spatial..."
                                             : "spatial..., features",
                               sizesText(input)));
  }
  size_t featureDim() const { return channelsFirst ? 1 : size_t(rank) + 1; }

  const int64_t rank;
  bool channelsFirst = false;
};

} // namespace meshloom::detail
