// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WeightMap: weights under the names and in the shapes of another program's
// files.
//
// Published weights seldom have the paths and shapes of a model's own weights:
// PyTorch's matrices are [out, in], and the projections of an attention to
// queries, keys and values are often one tensor. A WeightMap says which tensors
// of a file hold which weights, and serves both directions:
//
//   WeightMap vit({
//       {{"cls_token"}, {"class_token"}},
//       {{"blocks.*.mlp.fc1.weight"}, {"block_*/up/kernel"}, "i o -> o i"},
//       {{"blocks.*.attn.qkv.weight"},
//        {"block_*/attention/query", "block_*/attention/key",
//         "block_*/attention/value"},
//        "i h d -> (h d) i"},
//   });
//   load_weights(model, "model.safetensors", vit);
//   save_weights(model, "trained.safetensors", vit);
//
// Both directions read one map, so that what was saved loads again.
#pragma once

#include "meshloom/Data/Safetensors.h"
#include "meshloom/NN/Layers/Layer.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom {

/// Which tensors of a file hold which weights.
struct WeightMapping {
  /// The tensors' names in the file. A '*' stands for a number, and for the
  /// same number in `paths`; several stand for several numbers, in order.
  std::vector<std::string> names;
  /// The weights' paths (see Layer::named_variables). Without one, the file's
  /// tensors are left out when it is loaded, and not written.
  std::vector<std::string> paths = {};
  /// How dims of a weight become dims of the file, as letters or words: "i h d
  /// -> (h d) i" writes [in, heads, size] as [heads * size, in]. Empty: the
  /// same dims.
  std::string dims = "";
  /// The dim of the file's tensors along which several weights lie one after
  /// another, and several tensors of equal size are one. Other dims agree.
  int64_t axis = 0;
  /// The weight is the sum of the tensors, instead of what they are one after
  /// another; the first one gets all of it when it is saved, the others zeros.
  /// PyTorch's recurrent layers have two biases where Keras's have their sum.
  bool sum = false;
};

/// The weights of a model under a file's names; see above.
class WeightMap {
public:
  /// Throws meshloom::Error if a mapping has no name, if its names and paths
  /// differ in the number of '*', or if its `dims` cannot be read.
  explicit WeightMap(std::vector<WeightMapping> mappings,
                     Where where = Where::current());

  // The model is built in each call. They throw meshloom::Error, listing them,
  // if weights have no mapping or several ones, or if mappings fit no weight.

  /// Returns the names that a file of this model has, in the order of the
  /// weights.
  std::vector<std::string> names(const Layer &model,
                                 Where where = Where::current()) const;
  /// Returns the weights as tensors of a file: global values by name.
  data::NamedTensors tensors(const Layer &model,
                             Where where = Where::current()) const;
  /// Assigns such tensors to the weights, cast to their types, whatever their
  /// layouts. Throws meshloom::Error, listing them, if tensors are missing,
  /// superfluous or of another shape; no weight is changed then.
  void assign(const Layer &model, const data::NamedTensors &tensors,
              Where where = Where::current()) const;

private:
  struct Group;
  std::vector<Group> groups(const Layer &model) const;
  /// See assign. `call` and `source` say in messages where tensors come from.
  void assignFrom(std::string_view call, std::string_view source,
                  const Layer &model, const data::NamedTensors &tensors) const;
  friend void load_weights(const Layer &model,
                           const std::filesystem::path &path,
                           const WeightMap &map, Where where);

  std::vector<WeightMapping> mappings;
};

/// Writes the weights into a .safetensors file under the names of the map.
/// Throws meshloom::Error as WeightMap::tensors and data::save_safetensors.
void save_weights(const Layer &model, const std::filesystem::path &path,
                  const WeightMap &map, Where where = Where::current());
/// Takes the weights of a .safetensors or .npz file by the names of the map.
/// Throws meshloom::Error as WeightMap::assign and data::load_safetensors.
void load_weights(const Layer &model, const std::filesystem::path &path,
                  const WeightMap &map, Where where = Where::current());

} // namespace meshloom
