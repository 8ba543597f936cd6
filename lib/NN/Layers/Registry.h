// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layers of `meshloom::layers` by the names of their classes: each file of
// layers lists its own.
#pragma once

#include "meshloom/NN/Layers/Layer.h"

namespace meshloom::detail {

using MakeLayer = std::function<Layer(const nn::Config &)>;
using LayerList = std::vector<std::pair<std::string, MakeLayer>>;

LayerList coreLayers();
LayerList shapeLayers();
LayerList convolutionalLayers();
LayerList normalizationLayers();
LayerList attentionLayers();
LayerList recurrentLayers();
LayerList transposedLayers();
LayerList noiseLayers();
LayerList pointwiseLayers();
LayerList operatorLayers();
LayerList einsumLayers();
LayerList preprocessingLayers();
LayerList textLayers();
LayerList spectrogramLayers();

} // namespace meshloom::detail
