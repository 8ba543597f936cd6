// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that Keras wrote: their JSON, and their weights by path.
#pragma once

#include "meshloom/NN/Models/Model.h"

#include <filesystem>
#include <string_view>

namespace meshloom {

/// The model of what `model.to_json()` of Keras 3 gave: a Sequential or
/// functional one of layers that Meshloom has, and of +, -, *, / and slices of
/// their tensors. Its names are Keras's, its weights new ones. Masks that Keras
/// wrote down are left out, as layers pass them on; so are optimizer and loss.
/// BatchNormalization is synchronized, as here by default.
///
/// Throws meshloom::Error, naming the layer, if its class is not known (see
/// register_layer), if it has an option that Meshloom's has not, or if it is
/// called in a way that Meshloom's cannot be.
///
///   Model model = model_from_json(text);
///   load_keras_weights(model, "model.safetensors");
Model model_from_json(
    std::string_view json,
    std::source_location where = std::source_location::current());

/// The layer of what `json.dumps(keras.layers.serialize(layer))` gave, with the
/// weights of a new one. Throws meshloom::Error as model_from_json.
///
///   layers::TextVectorization vectorize(layer_from_json(text));
Layer layer_from_json(
    std::string_view json,
    std::source_location where = std::source_location::current());

/// Assigns to a built model the weights of a .safetensors or .npz file, by
/// Keras's paths. Write the file in Python by
///
///   weights = {v.path: np.array(v) for v in model.weights}
///   safetensors.numpy.save_file(weights, "model.safetensors")
///   np.savez("model.npz", **weights)
///
/// Values that Keras has beside weights, such as its states of random numbers,
/// are left out. Throws meshloom::Error, listing them, if weights are missing,
/// superfluous or of another shape: none is changed then.
void load_keras_weights(
    const Layer &model, const std::filesystem::path &path,
    std::source_location where = std::source_location::current());

} // namespace meshloom
