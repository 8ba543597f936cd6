// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers against the numbers that Keras 3.15 gives for the same weights and
// inputs.
#pragma once

#include "Samples.h"

namespace meshloom {

/// sin(0.7 i + k) / 2, as in the script that asked Keras.
inline Tensor weightOf(const Shape &shape, double k) {
  return waves(shape, k);
}

/// Weight j is sin(0.7 i + j + 1) / 2.
inline void fill(const Layer &layer) {
  double k = 1;
  for (const NamedVariable &weight : layer.named_variables())
    weight.variable.assign(weightOf(weight.variable.shape(), k++));
}

/// The first four elements, and a sum of all.
inline void expectValues(const Tensor &y, const std::vector<double> &expected) {
  const std::vector<float> values = y.to_vector<float>();
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i)
    sum += double(values[i]) * std::sin(double(i) * 0.3);
  for (size_t i = 0; i + 1 < expected.size(); ++i)
    EXPECT_NEAR(values.at(i), expected[i], 2e-5) << i;
  EXPECT_NEAR(sum, expected.back(), 1e-4);
}

/// Expects the results for inputs sin(0.7 i + 0.1 k): at once, made of its
/// config, and in a function whose inputs are cut along their first dims.
inline void expectKeras(const Layer &layer, const std::vector<Shape> &shapes,
                        const std::vector<std::vector<double>> &expected) {
  SCOPED_TRACE(layer.class_name());
  std::vector<Tensor> xs, cut;
  const Mesh mesh = mesh2x4();
  for (const Shape &shape : shapes) {
    xs.push_back(waves(shape, 0.1 * double(xs.size())) * 2.f);
    std::string axes(shape.size(), 'u');
    axes.replace(0, 2, "xy");
    cut.push_back(distribute(xs.back(), specs(axes, mesh)));
  }
  layer.call_many(xs);
  fill(layer);
  const Layer again =
      Layer::from_config(nn::Config::parse(layer.config().to_json()));
  if (layer.count_params() > 0)
    again.set_weights(layer.get_weights());
  auto step = function([&](const std::vector<Tensor> &inputs) {
    return layer.call_many(inputs);
  });
  for (const std::vector<Tensor> &ys :
       {layer.call_many(xs), again.call_many(xs), step(cut)}) {
    ASSERT_EQ(ys.size(), expected.size());
    for (size_t i = 0; i < ys.size(); ++i)
      expectValues(ys[i], expected[i]);
  }
}

} // namespace meshloom
