// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights under the names and in the shapes of other programs' files.
#include "meshloom/NN/State/WeightMap.h"

#include "../API/Testing.h"
#include "../TemporaryFolder.h"
#include "Samples.h"
#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;
using WeightMapTest = meshloom::test::TemporaryFolderTest;

namespace {

std::vector<float> valuesOf(const Layer &layer, const char *path) {
  return layer.variable(path).read_value().to_vector<float>();
}
Layer denseOf(int64_t in, int64_t units) {
  layers::Dense layer(units, {.name = "dense"});
  layer.build({-1, in});
  return layer;
}
/// 0, 1, 2, ...
Tensor counted(const Shape &shape) {
  return reshape(cast(iota({elementCount(shape)}, 0), DType::F32), shape);
}
/// The last message of a map's constructor or use.
WeightMap mapOf(WeightMapping mapping) {
  return WeightMap({std::move(mapping), {{"b"}, {"bias"}}});
}

// A matrix [out, in] is the kernel [in, out], in both directions.
TEST_F(WeightMapTest, TransposesMatrices) {
  const WeightMap map = mapOf({{"w"}, {"kernel"}, "i o -> o i"});
  const Layer dense = denseOf(2, 3);
  map.assign(dense, {{"w", counted({3, 2})}, {"b", counted({3})}});
  EXPECT_THAT(valuesOf(dense, "kernel"), ElementsAre(0, 2, 4, 1, 3, 5));
  const data::NamedTensors tensors = map.tensors(dense);
  EXPECT_EQ(tensors.at("w").shape(), (Shape{3, 2}));
  EXPECT_EQ(tensors.at("w").to_vector<float>(),
            counted({3, 2}).to_vector<float>());
}

// Queries, keys and values of two heads of 2, with one head of keys and values:
// rows of PyTorch's matrix belong to them one after another.
TEST_F(WeightMapTest, SplitsATensorOfSeveralWeights) {
  const layers::MultiHeadAttention attention(
      2, 2, {.num_key_value_heads = 1, .use_bias = false});
  attention.build({-1, 4, 3});
  const WeightMap map({{{"qkv"}, {"query", "key", "value"}, "i h d -> (h d) i"},
                       {{"proj"}, {"output"}, "h d o -> o (h d)"}});
  map.assign(attention, {{"qkv", counted({8, 3})}, {"proj", counted({3, 4})}});
  // [in, heads, size]: input 0 takes column 0 of the matrix.
  EXPECT_THAT(valuesOf(attention, "query"),
              ElementsAre(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
  EXPECT_THAT(valuesOf(attention, "key"), ElementsAre(12, 15, 13, 16, 14, 17));
  EXPECT_THAT(valuesOf(attention, "value"),
              ElementsAre(18, 21, 19, 22, 20, 23));
  EXPECT_EQ(map.tensors(attention).at("qkv").to_vector<float>(),
            counted({8, 3}).to_vector<float>());
  EXPECT_THAT(map.names(attention), ElementsAre("qkv", "proj"));
}

// A GRU's biases are two tensors of PyTorch, and one weight [2, 3 units] here;
// an LSTM's weight is their sum.
TEST_F(WeightMapTest, JoinsAndAddsTensors) {
  const layers::GRU gru(2);
  gru.build({-1, 4, 3});
  const WeightMap joined({{{"x"}, {"kernel"}},
                          {{"h"}, {"recurrent_kernel"}},
                          {{"b0", "b1"}, {"bias"}, "two g -> (two g)"}});
  data::NamedTensors tensors = joined.tensors(gru);
  EXPECT_EQ(tensors.at("b1").shape(), Shape{6});
  tensors["b0"] = counted({6});
  tensors["b1"] = counted({6}) + 6;
  joined.assign(gru, tensors);
  EXPECT_EQ(valuesOf(gru, "bias"), counted({12}).to_vector<float>());

  const layers::LSTM lstm(2);
  lstm.build({-1, 4, 3});
  const WeightMap added(
      {{{"x"}, {"kernel"}},
       {{"h"}, {"recurrent_kernel"}},
       {.names = {"b0", "b1"}, .paths = {"bias"}, .sum = true}});
  tensors = added.tensors(lstm);
  tensors["b0"] = counted({8});
  tensors["b1"] = ones({8});
  added.assign(lstm, tensors);
  EXPECT_EQ(valuesOf(lstm, "bias"), (counted({8}) + 1).to_vector<float>());
  tensors = added.tensors(lstm);
  EXPECT_EQ(tensors.at("b0").to_vector<float>(), valuesOf(lstm, "bias"));
  EXPECT_EQ(tensors.at("b1").to_vector<float>(), std::vector<float>(8, 0));
}

// A number in a name is the same one in the path; what a file has beside
// weights is left out where the map says so. Weights keep layouts and types.
TEST_F(WeightMapTest, FilesGoBothWays) {
  const Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  auto modelOf = [&](bool isCut) {
    Sequential model;
    for (int64_t i = 0; i < 12; ++i)
      model.add(layers::Dense(2, {.name = "dense_" + std::to_string(i)}));
    model.build({-1, 2});
    if (isCut)
      set_layouts(model, {{"*/kernel", Layout({"x", UNSHARDED}, mesh)}});
    return model;
  };
  const WeightMap map({{{"layers.*.weight"}, {"dense_*/kernel"}, "i o -> o i"},
                       {{"layers.*.bias"}, {"dense_*/bias"}},
                       {{"layers.*.mask"}}});
  const Sequential model = modelOf(false), cut = modelOf(true);
  const fs::path path = folder / "w.safetensors";
  save_weights(model, path, map);
  data::NamedTensors tensors = data::load_safetensors(path);
  EXPECT_EQ(tensors.size(), 24u);
  tensors["layers.3.mask"] = ones({4});
  data::save_safetensors(path, tensors);
  load_weights(cut, path, map);
  EXPECT_EQ(valuesOf(cut, "dense_11/kernel"),
            valuesOf(model, "dense_11/kernel"));
  EXPECT_EQ(cut.variable("dense_1/kernel").layout().spec_string(), "[x, *]");
  save_weights(cut, path, map);
  EXPECT_EQ(
      data::load_safetensors(path).at("layers.11.weight").to_vector<float>(),
      tensors.at("layers.11.weight").to_vector<float>());
}

// All that does not fit is listed, and nothing is assigned.
TEST_F(WeightMapTest, TensorsThatDoNotFitAreListed) {
  const Layer dense = denseOf(2, 3);
  const std::vector<float> before = valuesOf(dense, "bias");
  const WeightMap map = mapOf({{"w"}, {"kernel"}, "i o -> o i"});
  EXPECT_ERROR(map.assign(dense, {{"w", counted({2, 3})},
                                  {"b", counted({3})},
                                  {"extra", counted({1})}}),
               HAS("'w' is [2, 3], expected [3, 2]"),
               HAS("'extra' is of no weight"));
  EXPECT_EQ(valuesOf(dense, "bias"), before);
  const fs::path path = folder / "w.safetensors";
  data::save_safetensors(path, {{"w", counted({3, 2})}});
  EXPECT_ERROR(load_weights(dense, path, map), HAS("w.safetensors' is not of"),
               HAS("'b' is missing"));
}

TEST_F(WeightMapTest, MapsThatDoNotFitAreErrors) {
  const Layer dense = denseOf(2, 3);
  EXPECT_ERROR(WeightMap({{{"w"}, {"kernel"}}}).tensors(dense),
               HAS("the weight 'bias' has no mapping"));
  EXPECT_ERROR(mapOf({{"w"}, {"kernel", "bias"}}).tensors(dense),
               HAS("the weight 'bias' has several mappings"));
  EXPECT_ERROR(mapOf({{"w"}, {"kernel", "scale"}}).tensors(dense),
               HAS("there is no weight 'scale', which 'w' has"));
  EXPECT_ERROR(
      WeightMap({{{"w"}, {"kernel"}}, {{"b"}, {"bias"}}, {{"s"}, {"scale"}}})
          .tensors(dense),
      HAS("no weight has the path 'scale' of 's'"));
  EXPECT_ERROR(WeightMap({{{"w"}, {"kernel", "bias"}}}).tensors(dense),
               HAS("'bias' does not lie beside 'kernel' in 'w'"));
  EXPECT_ERROR(mapOf({{"w"}, {"kernel"}, "a b c -> c b a"}).tensors(dense),
               HAS("\"a b c -> c b a\" does not fit"));
  EXPECT_ERROR(mapOf({{"w", "v", "u", "t"}, {"kernel"}}).tensors(dense),
               HAS("cannot share [2, 3] equally along axis 0"));
  EXPECT_ERROR(mapOf({{"w.*"}, {"kernel"}}), HAS("expected as many '*'"));
  for (const char *dims : {"i o", "i o -> o", "i o -> (o i", "i o -> o i)",
                           "i o -> o o", "i o -> ((o) i)", "i o -> o i x"})
    EXPECT_ERROR(mapOf({{"w"}, {"kernel"}, dims}), HAS("expected dims as"));
}

} // namespace
