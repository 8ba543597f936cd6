// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: texts as integers: StringLookup, TextVectorization and Hashing, with
// the names, defaults and numbers of Keras. A text is a std::string on the
// host, so these layers are called on strings and not on tensors: in the
// function of Dataset::map, or on their own.
//
//   layers::TextVectorization vectorize(
//       {.max_tokens = 10000, .output_sequence_length = 200});
//   vectorize.adapt(texts);                       // Dataset<std::string>
//   auto ids = texts.map([=](const std::string &text) {
//     return vectorize(text);                     // i64 [200]
//   });
//
// The vocabulary is a part of the layer's config: Layer::config() saves it, and
// Layer::from_config gives the same layer again.
#pragma once

#include "meshloom/Data/Dataset.h"
#include "meshloom/NN/Layers/Core.h"

namespace meshloom::layers {

/// One text for each element, or one row of tokens for each element.
using Texts = std::vector<std::string>;

/// The options of StringLookup.
struct StringLookupOptions {
  /// The most tokens that the vocabulary has, special ones included. None: no
  /// limit.
  std::optional<int64_t> max_tokens = std::nullopt;
  /// How many indices unknown tokens share, chosen by FarmHash's Fingerprint64
  /// as in Keras. 0: an unknown token is an error.
  int64_t num_oov_indices = 1;
  /// The token that has index 0 in mode "int"; other modes leave it out.
  std::optional<std::string> mask_token = std::nullopt;
  std::string oov_token = "[UNK]"; ///< how unknown tokens are written
  /// The tokens in order of their indices, instead of `adapt`. The special
  /// tokens may come first.
  Texts vocabulary = {};
  /// The weight of each token of `vocabulary`, for "tf_idf".
  std::vector<double> idf_weights = {};
  /// "int" gives the index of each token. Other modes give one vector for each
  /// row of tokens: "multi_hot" says which tokens it has, "count" how often,
  /// "tf_idf" how often, times their idf weights. "one_hot" gives a vector for
  /// each token.
  std::string output_mode = "int";
  /// Says whether these vectors have max_tokens elements, however few tokens
  /// there are.
  bool pad_to_max_tokens = false;
  std::string name = "";    ///< default: "string_lookup"
  LayerOptions common = {}; ///< of all layers
};

/// Tokens as indices in a vocabulary:
///
///   layers::StringLookup lookup({.vocabulary = {"a", "b"}});
///   lookup(layers::Texts{"b", "x", "a"});         // i64 {2, 0, 1}
class StringLookup : public Layer {
public:
  /// Throws meshloom::Error if an option is not one of the values above, or if
  /// the vocabulary has a token twice.
  explicit StringLookup(StringLookupOptions options = {});
  /// The same layer, which was read from a config. Throws meshloom::Error if it
  /// is one of another class.
  explicit StringLookup(const Layer &layer);
  /// Tokens [n] -> i64 [n]; in other modes f32 [vocabulary] ("one_hot": f32
  /// [n, vocabulary]).
  Tensor operator()(const Texts &tokens, Where where = Where::current()) const;
  /// Rows of equally many tokens [rows, n] -> i64 [rows, n], or f32 [rows,
  /// vocabulary].
  Tensor operator()(const std::vector<Texts> &rows,
                    Where where = Where::current()) const;
  /// One token -> i64 [], or f32 [vocabulary].
  Tensor operator()(const std::string &token,
                    Where where = Where::current()) const;
  /// The tokens of indices, in row-major order: Keras's `invert`. Indices that
  /// are not in the vocabulary give oov_token.
  Texts to_tokens(const Tensor &indices, Where where = Where::current()) const;

  /// Makes the vocabulary from tokens: the most frequent one comes first. All
  /// tokens together are one document for idf weights.
  void adapt(const Texts &tokens) const;
  /// Makes the vocabulary from rows: a row is a document.
  void adapt(const std::vector<Texts> &rows) const;
  /// Makes the vocabulary from a dataset: an element is a document.
  void adapt(const data::Dataset<std::string> &tokens) const;
  /// Sets the vocabulary; see StringLookupOptions::vocabulary.
  void set_vocabulary(const Texts &vocabulary,
                      const std::vector<double> &idf_weights = {}) const;
  /// The tokens by index.
  Texts get_vocabulary(bool include_special_tokens = true) const;
  /// The number of tokens, special ones included.
  int64_t vocabulary_size() const;
};

/// The options of TextVectorization.
struct TextVectorizationOptions {
  /// The most tokens that the vocabulary has, special ones included. None: no
  /// limit.
  std::optional<int64_t> max_tokens = std::nullopt;
  /// Each text is changed first: "lower_and_strip_punctuation", "lower",
  /// "strip_punctuation" (all of ASCII only, as in Keras) or "none".
  std::string standardize = "lower_and_strip_punctuation";
  /// Your own function instead. A layer that has one cannot be saved.
  std::function<std::string(const std::string &)> standardize_function = {};
  /// How a text becomes tokens: "whitespace", "character" (of UTF-8) or "none"
  /// (the text is one token).
  std::string split = "whitespace";
  /// Your own function instead. A layer that has one cannot be saved.
  std::function<Texts(const std::string &)> split_function = {};
  /// The lengths of the n-grams that take the place of tokens, joined by
  /// spaces: {1, 2} for words and pairs of words. Empty: tokens stay.
  Shape ngrams = {};
  /// "int" gives the index of each token. Other modes give one vector for each
  /// row of tokens: "multi_hot" says which tokens it has, "count" how often,
  /// "tf_idf" how often, times their idf weights.
  std::string output_mode = "int";
  /// Says whether these vectors have max_tokens elements, however few tokens
  /// there are.
  bool pad_to_max_tokens = false;
  /// In mode "int", rows are cut or filled with 0 to this length. None: to the
  /// longest row of the call.
  std::optional<int64_t> output_sequence_length = std::nullopt;
  /// The tokens in order of their indices, instead of `adapt`. The special
  /// tokens may come first.
  Texts vocabulary = {};
  /// The weight of each token of `vocabulary`, for "tf_idf".
  std::vector<double> idf_weights = {};
  std::string name = "";    ///< default: "text_vectorization"
  LayerOptions common = {}; ///< of all layers
};

/// Texts as rows of indices of their tokens. Index 0 fills rows up, index 1 is
/// that of unknown tokens ("[UNK]"); in other modes than "int" the latter is 0.
class TextVectorization : public Layer {
public:
  /// Throws meshloom::Error if an option is not one of the values above, or if
  /// the vocabulary has a token twice.
  explicit TextVectorization(TextVectorizationOptions options = {});
  /// The same layer, which was read from a config. Throws meshloom::Error if it
  /// is one of another class.
  explicit TextVectorization(const Layer &layer);
  /// Texts [n] -> i64 [n, length], or f32 [n, vocabulary].
  Tensor operator()(const Texts &texts, Where where = Where::current()) const;
  /// One text -> i64 [length], or f32 [vocabulary].
  Tensor operator()(const std::string &text,
                    Where where = Where::current()) const;
  /// Makes the vocabulary from texts: the most frequent token comes first.
  void adapt(const Texts &texts) const;
  /// Makes the vocabulary from the texts of a dataset.
  void adapt(const data::Dataset<std::string> &texts) const;
  /// Sets the vocabulary; see StringLookupOptions::vocabulary.
  void set_vocabulary(const Texts &vocabulary,
                      const std::vector<double> &idf_weights = {}) const;
  /// The tokens by index.
  Texts get_vocabulary(bool include_special_tokens = true) const;
  /// The number of tokens, special ones included.
  int64_t vocabulary_size() const;
};

/// The options of Hashing.
struct HashingOptions {
  /// The text that gets bin 0 alone; other texts share the other bins.
  std::optional<std::string> mask_value = std::nullopt;
  /// None: bins are FarmHash's Fingerprint64 modulo the number of bins. One or
  /// two numbers: the key of SipHash-2-4, of which one number is both halves.
  /// Both are what Keras uses.
  std::vector<uint64_t> salt = {};
  /// "int" gives the bin of each text; "one_hot", "multi_hot" and "count" are
  /// those of CategoryEncoding.
  std::string output_mode = "int";
  std::string name = "";    ///< default: "hashing"
  LayerOptions common = {}; ///< of all layers
};

/// Texts, or integers, as bins by a hash: there is no vocabulary.
class Hashing : public Layer {
public:
  /// Throws meshloom::Error if there is no bin, or an option is not one of the
  /// values above.
  explicit Hashing(int64_t num_bins, HashingOptions options = {});
  /// The same layer, which was read from a config. Throws meshloom::Error if it
  /// is one of another class.
  explicit Hashing(const Layer &layer);
  /// Texts [n] -> i64 [n], or f32 [num_bins] ("one_hot": f32 [n, num_bins]).
  Tensor operator()(const Texts &texts, Where where = Where::current()) const;
  /// Rows of equally many texts [rows, n] -> i64 [rows, n], or f32 [rows,
  /// num_bins].
  Tensor operator()(const std::vector<Texts> &rows,
                    Where where = Where::current()) const;
  /// One text -> i64 [], or f32 [num_bins].
  Tensor operator()(const std::string &text,
                    Where where = Where::current()) const;
  /// Integers, which are hashed as their decimal digits: a tensor of any shape
  /// -> i64 of that shape, or vectors for its last dim.
  Tensor operator()(const Tensor &integers,
                    Where where = Where::current()) const;
};

} // namespace meshloom::layers
