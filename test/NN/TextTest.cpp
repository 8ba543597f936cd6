// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers of texts give the numbers of Keras 3.15 on TensorFlow 2.21, and are
// the same when they are made again from their configs.
#include "../API/Testing.h"

#include "meshloom/NN/Layers/Preprocessing.h"
#include "meshloom/NN/Layers/Text.h"
#include "meshloom/NN/State/KerasModel.h"

#include "meshloom/Data/Dataset.h"

namespace meshloom {
namespace {

using namespace layers;
using Ids = std::vector<int64_t>;

Ids ids(const Tensor &x) {
  return x.to_vector<int64_t>();
}
std::vector<float> floats(const Tensor &x) {
  return x.to_vector<float>();
}
const std::vector<Texts> documents{{"a", "c", "d"}, {"d", "z", "b"}};

TEST(TextTest, AVocabularyIsByFrequencyThenByText) {
  const StringLookup lookup;
  lookup.adapt(documents);
  EXPECT_EQ(lookup.get_vocabulary(), (Texts{"[UNK]", "d", "z", "c", "b", "a"}));
  const Tensor y = lookup(std::vector<Texts>{{"a", "x"}, {"z", "d"}});
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_EQ(ids(y), (Ids{5, 0, 2, 1}));
  EXPECT_EQ(lookup("c").rank(), 0);
  EXPECT_EQ(lookup.to_tokens(y), (Texts{"a", "[UNK]", "z", "d"}));
}

// Several indices of unknown tokens: FarmHash says which.
TEST(TextTest, UnknownTokensAreSpreadByHash) {
  const StringLookup lookup(
      {.max_tokens = 6, .num_oov_indices = 3, .mask_token = ""});
  lookup.adapt(documents);
  EXPECT_EQ(lookup.get_vocabulary(),
            (Texts{"", "[UNK]", "[UNK]", "[UNK]", "d", "z"}));
  EXPECT_EQ(ids(lookup(std::vector<Texts>{{"a", "x", "", "hello"},
                                          {"z", "d", "q", "abc"}})),
            (Ids{1, 3, 0, 2, 5, 4, 3, 3}));
}

TEST(TextTest, VectorsSayWhichTokensARowHas) {
  const Texts row{"d", "d", "x", "", "a"};
  auto values = [&](const std::string &mode) {
    const StringLookup lookup({.max_tokens = 8,
                               .mask_token = "",
                               .output_mode = mode,
                               .pad_to_max_tokens = true});
    lookup.adapt({{"a", "c", "d"}, {"d", "z", "b"}, {"d", "d", "a"}});
    // The same again from the config.
    const Layer again = Layer::from_config(lookup.config());
    EXPECT_EQ(again.config().to_json(), lookup.config().to_json());
    return floats(lookup(row));
  };
  EXPECT_EQ(values("multi_hot"), (std::vector<float>{1, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values("count"), (std::vector<float>{1, 2, 1, 0, 0, 0, 0, 0}));
  const std::vector<float> weighted = values("tf_idf");
  EXPECT_NEAR(weighted[0], 0.8003271, 1e-6);
  EXPECT_NEAR(weighted[1], 1.1192316, 1e-6);
  EXPECT_NEAR(weighted[2], 0.6931472, 1e-6);
  std::vector<float> oneHot(40);
  oneHot[1] = oneHot[9] = oneHot[16] = oneHot[34] = 1;
  EXPECT_EQ(values("one_hot"), oneHot);
}

const Texts texts{"The quick, BROWN fox!", "jumped over the lazy dog's back",
                  "the end."};
const Texts questions{"the fox and the dog's  end", "Fox"};

Tensor vectorized(TextVectorizationOptions options) {
  const TextVectorization layer(std::move(options));
  layer.adapt(texts);
  return layer(questions);
}

TEST(TextTest, TextsBecomeRowsOfTokens) {
  EXPECT_EQ(ids(vectorized({})), (Ids{2, 7, 1, 2, 9, 8, 7, 0, 0, 0, 0, 0}));
  EXPECT_EQ(ids(vectorized({.output_sequence_length = 4})),
            (Ids{2, 7, 1, 2, 7, 0, 0, 0}));
  EXPECT_EQ(ids(vectorized({.standardize = "none"})),
            (Ids{2, 1, 1, 2, 9, 1, 1, 0, 0, 0, 0, 0}));
  const Ids characters =
      ids(vectorized({.standardize = "lower", .split = "character"}));
  EXPECT_EQ(Ids(characters.begin(), characters.begin() + 8),
            (Ids{5, 6, 3, 2, 28, 4, 17, 2}));
  EXPECT_EQ(
      ids(vectorized({.max_tokens = 9, .ngrams = {1, 2}})),
      (Ids{2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(TextTest, TextsBecomeVectors) {
  EXPECT_EQ(floats(vectorized({.output_mode = "multi_hot"})),
            (std::vector<float>{1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0,
                                0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}));
  const std::vector<float> counts = floats(vectorized(
      {.max_tokens = 20, .output_mode = "count", .pad_to_max_tokens = true}));
  EXPECT_EQ(counts.size(), 40u);
  EXPECT_EQ(counts[1], 2);
  const std::vector<float> weights =
      floats(vectorized({.output_mode = "tf_idf"}));
  EXPECT_NEAR(weights[0], 0.8806232, 1e-6);
  EXPECT_NEAR(weights[1], 1.1192316, 1e-6);
  EXPECT_NEAR(weights[6], 0.9162908, 1e-6);
}

data::Dataset<std::string> datasetOf(const Texts &elements) {
  return data::from_generator([=] {
    return [=, i = size_t(0)]() mutable -> std::optional<std::string> {
      return i < elements.size() ? std::optional(elements[i++]) : std::nullopt;
    };
  });
}

TEST(TextTest, LayersOfTextsWorkInDatasets) {
  const TextVectorization layer({.output_sequence_length = 3});
  layer.adapt(datasetOf(texts));
  const auto rows =
      datasetOf(questions)
          .map([=](const std::string &text) { return layer(text); })
          .batch(2);
  for (const Tensor &batch : rows)
    EXPECT_EQ(ids(batch), (Ids{2, 7, 1, 7, 0, 0}));
}

TEST(TextTest, HashesAreThoseOfKeras) {
  const std::vector<Texts> rows{{"A", "B"}, {"", "D"}};
  EXPECT_EQ(ids(Hashing(5)(rows)), (Ids{4, 3, 3, 0}));
  EXPECT_EQ(ids(Hashing(5, {.salt = {133}})(rows)), (Ids{4, 3, 2, 3}));
  EXPECT_EQ(ids(Hashing(5, {.salt = {133, 137}})(rows)), (Ids{4, 0, 0, 2}));
  EXPECT_EQ(ids(Hashing(5, {.mask_value = ""})(rows)), (Ids{1, 1, 0, 4}));
  EXPECT_EQ(floats(Hashing(5, {.output_mode = "count"})(rows)),
            (std::vector<float>{0, 0, 0, 1, 1, 1, 0, 0, 1, 0}));
  EXPECT_EQ(ids(Hashing(7)(tensor({{1, -2}, {30, 400}}))), (Ids{5, 0, 0, 4}));
  // All lengths that the hash treats in ways of their own.
  std::string digits;
  for (int i = 0; i < 13; ++i)
    digits += "0123456789";
  const Texts lengths{"",
                      "a",
                      "abc",
                      "abcd",
                      "hello",
                      "longer text of 22 byte",
                      "exactly sixteen!",
                      "a text of thirty two characters!",
                      "a text that has more than thirty-two characters",
                      std::string(64, 'x'),
                      digits.substr(0, 70),
                      digits,
                      "Gr\xc3\xbc\xc3\x9f"
                      "e"};
  constexpr int64_t bins = int64_t(1) << 62;
  EXPECT_EQ(ids(Hashing(bins)(lengths)),
            (Ids{1936946117179621455, 3694432073954588131, 2640714258260161385,
                 1897425971756105985, 3786372426573024488, 3874774234449183449,
                 180885555314056134, 3296738779259461529, 2717565429744681602,
                 2304502108871267256, 650192320029534232, 1497403020669705476,
                 4532040665262223651}));
  EXPECT_EQ(ids(Hashing(bins, {.salt = {133, 137}})(lengths)),
            (Ids{316627932347062996, 2466253977694453450, 2288159068006480041,
                 3196519216900852167, 1067426241479190957, 2025125292157906132,
                 1512810848636992941, 3623396280985543499, 2014679518185133731,
                 3649777762800071089, 4157048865023803758, 145561070717970773,
                 1260636426907473653}));
}

TEST(TextTest, WrongTextsAndOptionsAreErrors) {
  EXPECT_ERROR(StringLookup()("a"), HAS("adapt or set_vocabulary"));
  EXPECT_ERROR(StringLookup({.vocabulary = {"a", "a"}}), HAS("'a' twice"));
  EXPECT_ERROR(StringLookup({.num_oov_indices = 0, .vocabulary = {"a"}})("b"),
               HAS("'b' is not in the vocabulary"));
  EXPECT_ERROR(StringLookup({.output_mode = "twice"}), HAS("'twice'"));
  EXPECT_ERROR(Hashing(0), HAS("positive num_bins"));
  const Layer layer = Hashing(3);
  EXPECT_ERROR(layer(ones({2})), HAS("takes texts"));
}

// The numbers of Keras's IntegerLookup; in functions and in models too.
TEST(TextTest, IntegersAreLookedUp) {
  auto lookedUp = [](const IntegerLookup &lookup, const Tensor &x) {
    const Tensor y = lookup(x);
    EXPECT_EQ(ids(function([&](const Tensor &in) { return lookup(in); })(x)),
              ids(y));
    const Layer again = Layer::from_config(lookup.config());
    EXPECT_EQ(again.config().to_json(), lookup.config().to_json());
    EXPECT_EQ(ids(again(x)), ids(y));
    EXPECT_EQ(y.shape(), x.shape());
    return ids(y);
  };
  const std::vector<int64_t> vocabulary{12, 36, 1138, 42};
  const Tensor x = tensor({{12, 1138, 42}, {42, 1000, 36}});
  const IntegerLookup plain({.vocabulary = vocabulary});
  EXPECT_EQ(lookedUp(plain, x), (Ids{1, 3, 4, 4, 0, 2}));
  EXPECT_EQ(plain(tensor(12)).rank(), 0);
  EXPECT_EQ(plain.get_vocabulary(), (Ids{-1, 12, 36, 1138, 42}));
  EXPECT_EQ(ids(plain.to_tokens(tensor({{1, 3, 4}, {4, 0, 2}, {9, -1, 0}}))),
            (Ids{12, 1138, 42, 42, -1, 36, -1, -1, -1}));
  const IntegerLookup adapted;
  adapted.adapt(x);
  EXPECT_EQ(adapted.get_vocabulary(), (Ids{-1, 42, 1138, 1000, 36, 12}));
  EXPECT_EQ(lookedUp(adapted, tensor({{12, 42, 7}, {-1, 0, 36}})),
            (Ids{5, 1, 0, 0, 0, 4}));
  // Unknown integers have the index of their remainder.
  EXPECT_EQ(
      lookedUp(
          IntegerLookup({.num_oov_indices = 3, .vocabulary = vocabulary}),
          tensor({{12, 1138, 42}, {37, 1000, 36}, {7, -5, 0}, {8, 9, -2}})),
      (Ids{3, 5, 6, 1, 1, 4, 1, 1, 0, 2, 0, 1}));
  EXPECT_EQ(lookedUp(IntegerLookup({.num_oov_indices = 2,
                                    .mask_token = 0,
                                    .vocabulary = vocabulary}),
                     tensor({{12, 0, 42}, {37, 1000, 36}, {7, -5, -1}})),
            (Ids{3, 0, 6, 2, 1, 4, 2, 2, 2}));
  const IntegerLookup exact({.num_oov_indices = 0, .vocabulary = vocabulary});
  EXPECT_EQ(ids(exact(x[0])), (Ids{0, 2, 3}));
  EXPECT_ERROR(exact(x), HAS("an integer is not in the vocabulary"));
  EXPECT_ERROR(plain(tensor({1.5f})), HAS("to be integers, got f32 [1]"));
  EXPECT_ERROR(IntegerLookup()(x), HAS("adapt or set_vocabulary"));
  EXPECT_ERROR(IntegerLookup({.vocabulary = {4, 5, 4}}), HAS("'4' twice"));
}

TEST(TextTest, VectorsSayWhichIntegersARowHas) {
  const std::vector<int64_t> vocabulary{12, 36, 1138, 42};
  auto values = [&](const std::string &mode, const Tensor &x) {
    const IntegerLookup lookup({.max_tokens = 8,
                                .num_oov_indices = 2,
                                .mask_token = 0,
                                .vocabulary = vocabulary,
                                .output_mode = mode,
                                .pad_to_max_tokens = true});
    return floats(lookup(x));
  };
  const Tensor rows = tensor({{12, 0, 12}, {42, 1000, 7}});
  EXPECT_EQ(
      values("one_hot", tensor({12, 0, 42, 7})),
      (std::vector<float>{0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                          0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(
      values("multi_hot", rows),
      (std::vector<float>{0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(
      values("count", rows),
      (std::vector<float>{0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0}));
  const Tensor x = tensor({{12, 12, 42}, {42, 1000, 7}});
  expectNear(IntegerLookup({.vocabulary = vocabulary,
                            .idf_weights = {.25, .75, .6, .4},
                            .output_mode = "tf_idf"})(x),
             {0, .5, 0, 0, .4f, 1, 0, 0, 0, .4f});
  const IntegerLookup adapted({.max_tokens = 4, .output_mode = "tf_idf"});
  adapted.adapt(tensor({{12, 1138, 42}, {42, 1000, 36}, {12, 12, 5}}));
  EXPECT_EQ(adapted.get_vocabulary(), (Ids{-1, 12, 42, 1138}));
  expectNear(adapted(x),
             {0, 1.3862944f, .69314718f, 0, 1.5350567f, 0, .69314718f, 0});
}

// A layer that Keras wrote gives Keras's numbers.
TEST(TextTest, LayersOfKerasJson) {
  auto layer = [](const std::string &name, const std::string &options,
                  const std::string &type = "float32") {
    return layer_from_json(
        R"({"module": "keras.layers", "registered_name": null, "class_name": ")" +
        name + R"(", "config": {"name": "l", "trainable": true, "sparse": false,
        "dtype": {"module": "keras", "class_name": "DTypePolicy", "config":
        {"name": ")" +
        type + R"("}, "registered_name": null})" + options + "}}");
  };
  const std::string lookup =
      R"(, "invert": false, "max_tokens": null, "num_oov_indices": 1,
      "mask_token": null, "pad_to_max_tokens": false, "vocabulary_size": 3,
      "oov_method": "floormod", "salt": null)";
  const StringLookup strings(layer("StringLookup", lookup + R"(, "oov_token":
      "[UNK]", "output_mode": "tf_idf", "idf_weights": [0.25, 0.75],
      "vocabulary": ["a", "b"], "encoding": "utf-8")"));
  expectNear(strings(Texts{"a", "b", "z", "a"}), {.5, .5, .75});
  const IntegerLookup integers(layer("IntegerLookup", lookup + R"(, "oov_token":
      -1, "output_mode": "int", "vocabulary_dtype": "int64", "idf_weights":
      null, "vocabulary": [12, 36])"));
  EXPECT_EQ(ids(integers(tensor({36, 5, 12}))), (Ids{2, 0, 1}));
  const std::string text = R"(, "max_tokens": null, "output_mode": "int",
      "pad_to_max_tokens": false, "ragged": false, "idf_weights": null,
      "encoding": "utf-8", "vocabulary_size": 6)";
  const TextVectorization pairs(layer("TextVectorization", text + R"(,
      "standardize": "lower_and_strip_punctuation", "split": "whitespace",
      "ngrams": 2, "output_sequence_length": 5,
      "vocabulary": ["a", "b", "a b", "b a"])"));
  EXPECT_EQ(ids(pairs(Texts{"a b a", "x b"})),
            (Ids{2, 3, 2, 4, 5, 1, 3, 1, 0, 0}));
  const TextVectorization whole(layer("TextVectorization", text + R"(,
      "standardize": null, "split": null, "ngrams": null,
      "output_sequence_length": null, "vocabulary": ["A,b", "b"])"));
  EXPECT_EQ(ids(whole(Texts{"A,b", "b", "c"})), (Ids{2, 3, 1}));
  const Hashing hashing(layer("Hashing", R"(, "num_bins": 5, "salt": [133, 137],
      "mask_value": null, "output_mode": "int")",
                              "int64"));
  EXPECT_EQ(ids(hashing(Texts{"a", "b", "c"})), (Ids{4, 2, 1}));
  EXPECT_ERROR(layer("StringLookup", R"(, "invert": true)"),
               HAS("its option 'invert' = true is not known here"));
  EXPECT_ERROR(StringLookup(Hashing(3)),
               HAS("[StringLookup] expected a layer of this class"));
}

} // namespace
} // namespace meshloom
