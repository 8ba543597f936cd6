// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts as integers on the host; see Text.h.
#include "meshloom/NN/Layers/Text.h"
#include "../Errors.h"
#include "BuiltIn.h"
#include "TextHash.h"
#include "Vocabulary.h"

#include "meshloom/API/Create.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>

namespace meshloom::layers {
namespace {

using namespace detail;

/// The rows of tokens of a call, and what the result's shape begins with.
struct TokenRows {
  std::vector<Texts> rows;
  /// {}: one token; {n}: one row of n tokens; {rows, n}.
  Shape shape;

  static TokenRows one(const std::string &token) { return {{{token}}, {}}; }
  static TokenRows row(const Texts &tokens) {
    return {{tokens}, {int64_t(tokens.size())}};
  }
  static TokenRows matrix(const std::vector<Texts> &rows,
                          const std::string &layer, const Where &where) {
    const size_t length = rows.empty() ? 0 : rows[0].size();
    for (const Texts &row : rows)
      if (row.size() != length)
        nn::fail(layer,
                 fmt::format("expected rows of equally many tokens, got {} and "
                             "{}: fill the short ones up",
                             length, row.size()),
                 where);
    return {rows, {int64_t(rows.size()), int64_t(length)}};
  }
};

/// Rows of indices as `mode` says: indices below 0 count nowhere. `shape`: see
/// TokenRows. `weights`: of each index in "tf_idf".
Tensor encodedRows(const std::vector<std::vector<int64_t>> &rows,
                   const Shape &shape, const std::string &mode, int64_t depth,
                   const std::vector<double> &weights, const Where &where) {
  if (mode == "int") {
    std::vector<int64_t> indices;
    for (const auto &row : rows)
      indices.insert(indices.end(), row.begin(), row.end());
    return tensor(indices, shape, where);
  }
  const bool isByToken = mode == "one_hot";
  Shape wide = shape;
  if (!isByToken && !wide.empty())
    wide.pop_back();
  wide.push_back(depth);
  std::vector<float> values(size_t(elementCount(wide)));
  size_t begin = 0; // of the vector that is being written
  for (const auto &row : rows) {
    for (int64_t index : row) {
      if (index >= 0) {
        float &value = values[begin + size_t(index)];
        value = mode == "multi_hot" || isByToken ? 1 : value + 1;
      }
      if (isByToken)
        begin += size_t(depth);
    }
    if (mode == "tf_idf")
      for (int64_t i = 0; i < depth; ++i)
        values[begin + size_t(i)] *= float(weights[size_t(i)]);
    if (!isByToken)
      begin += size_t(depth);
  }
  return tensor(values, wide, where);
}

using Vocabulary = VocabularyOf<std::string>;

/// A layer of texts: a tensor has none.
template <typename Impl, typename Options>
class TextLayer : public BuiltIn<Impl, Options> {
public:
  using BuiltIn<Impl, Options>::BuiltIn;
  Tensor call(const Tensor &, const CallOptions &) override {
    this->refuse("it takes texts and not tensors: call it on a std::string or "
                 "a std::vector<std::string>, such as in Dataset::map, and "
                 "give the model its result");
  }
};

template <typename Impl, typename Options>
class VocabularyLayer : public TextLayer<Impl, Options> {
public:
  VocabularyLayer(const char *className, Options vocabularyOptions,
                  std::vector<std::string> modes, int64_t unknownIndices,
                  std::optional<std::string> maskToken,
                  std::string unknownToken)
      : TextLayer<Impl, Options>(className, std::move(vocabularyOptions)),
        vocabulary(*this, {this->settings.max_tokens, unknownIndices,
                           std::move(maskToken), std::move(unknownToken),
                           this->settings.output_mode,
                           this->settings.pad_to_max_tokens}) {
    expectTextOption(*this, "output_mode", this->settings.output_mode, modes);
    if (!this->settings.vocabulary.empty())
      vocabulary.set(this->settings.vocabulary, this->settings.idf_weights);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn<Impl, Options>::get_config();
    vocabulary.write(config);
    return config;
  }
  Tensor encoded(const std::vector<std::vector<int64_t>> &rows,
                 const Shape &shape, const Where &where) const {
    if (vocabulary.isEmpty())
      this->refuse("it has no vocabulary yet: call adapt or set_vocabulary "
                   "first");
    return encodedRows(rows, shape, vocabulary.mode(), vocabulary.depth(),
                       vocabulary.idfWeights(), where);
  }
  std::vector<int64_t> indicesOf(const Texts &tokens,
                                 const Where &where) const {
    std::vector<int64_t> indices;
    for (const std::string &token : tokens)
      indices.push_back(indexOf(token, where));
    return indices;
  }
  /// The index of a token; -1: it does not count.
  int64_t indexOf(const std::string &token, const Where &where) const {
    if (const std::optional<int64_t> index = vocabulary.indexOf(token))
      return *index;
    const int64_t unknown = vocabulary.unknownIndices();
    if (unknown == 0)
      nn::fail(this->class_name(),
               fmt::format("layer '{}': the token '{}' is not in the "
                           "vocabulary, and num_oov_indices is 0",
                           this->name(), token),
               where);
    return vocabulary.firstUnknown() +
           (unknown == 1 ? 0
                         : int64_t(farmFingerprint(token) % uint64_t(unknown)));
  }

  Vocabulary vocabulary;

protected:
  template <typename F> static void vocabularyFields(F &field, Options &o) {
    field("max_tokens", o.max_tokens);
    field("output_mode", o.output_mode);
    field("pad_to_max_tokens", o.pad_to_max_tokens);
  }
};

class StringLookupImpl
    : public VocabularyLayer<StringLookupImpl, StringLookupOptions> {
public:
  explicit StringLookupImpl(const StringLookupOptions &o)
      : VocabularyLayer("StringLookup", o,
                        {"int", "one_hot", "multi_hot", "count", "tf_idf"},
                        o.num_oov_indices, o.mask_token, o.oov_token) {}
  explicit StringLookupImpl(const nn::Config &config)
      : StringLookupImpl(read(config)) {
    vocabulary.read(config);
  }
  template <typename F> static void fields(F &field, StringLookupOptions &o) {
    vocabularyFields(field, o);
    field("num_oov_indices", o.num_oov_indices);
    field("mask_token", o.mask_token);
    field("oov_token", o.oov_token);
  }
  Tensor lookedUp(const TokenRows &tokens, const Where &where) const {
    std::vector<std::vector<int64_t>> rows;
    for (const Texts &row : tokens.rows)
      rows.push_back(indicesOf(row, where));
    return encoded(rows, tokens.shape, where);
  }
};

bool isSpace(char c) {
  return std::isspace(static_cast<unsigned char>(c));
}

class TextVectorizationImpl
    : public VocabularyLayer<TextVectorizationImpl, TextVectorizationOptions> {
public:
  explicit TextVectorizationImpl(const TextVectorizationOptions &o)
      : VocabularyLayer("TextVectorization", o,
                        {"int", "multi_hot", "count", "tf_idf"}, 1, "",
                        "[UNK]") {
    expectTextOption(
        *this, "standardize", settings.standardize,
        {"lower_and_strip_punctuation", "lower", "strip_punctuation", "none"});
    expectTextOption(*this, "split", settings.split,
                     {"whitespace", "character", "none"});
    for (int64_t length : settings.ngrams)
      expectPositive("lengths of ngrams", length);
    if (settings.output_sequence_length) {
      expectPositive("output_sequence_length",
                     *settings.output_sequence_length);
      if (settings.output_mode != "int")
        refuse("expected output_sequence_length for the output_mode 'int' "
               "only, got '" +
               settings.output_mode + "'");
    }
  }
  explicit TextVectorizationImpl(const nn::Config &config)
      : TextVectorizationImpl(read(config)) {
    vocabulary.read(config);
  }
  template <typename F>
  static void fields(F &field, TextVectorizationOptions &o) {
    vocabularyFields(field, o);
    field("standardize", o.standardize);
    field("split", o.split);
    field("ngrams", o.ngrams);
    field("output_sequence_length", o.output_sequence_length);
  }
  nn::Config get_config() const override {
    if (settings.standardize_function || settings.split_function)
      refuse("a layer with standardize_function or split_function cannot be "
             "saved: functions have no config");
    return VocabularyLayer::get_config();
  }

  Texts tokensOf(const std::string &text) const {
    const Texts words = split(standardized(text));
    if (settings.ngrams.empty())
      return words;
    Texts grams;
    for (int64_t length : settings.ngrams)
      for (size_t i = 0; i + size_t(length) <= words.size(); ++i)
        grams.push_back(fmt::format(
            "{}",
            fmt::join(words.begin() + ptrdiff_t(i),
                      words.begin() + ptrdiff_t(i) + ptrdiff_t(length), " ")));
    return grams;
  }
  /// `isOne`: whether the result has no dim of texts.
  Tensor vectorized(const Texts &texts, bool isOne, const Where &where) const {
    std::vector<std::vector<int64_t>> rows;
    size_t length = 0;
    for (const std::string &text : texts) {
      rows.push_back(indicesOf(tokensOf(text), where));
      length = std::max(length, rows.back().size());
    }
    if (settings.output_sequence_length)
      length = size_t(*settings.output_sequence_length);
    if (settings.output_mode == "int")
      for (auto &row : rows)
        row.resize(length, 0);
    Shape shape{int64_t(length)};
    if (!isOne)
      shape.insert(shape.begin(), int64_t(texts.size()));
    return encoded(rows, shape, where);
  }

private:
  std::string standardized(const std::string &text) const {
    if (settings.standardize_function)
      return settings.standardize_function(text);
    std::string result;
    for (char c : text) {
      const bool isAscii = static_cast<unsigned char>(c) < 128;
      if (isAscii && std::ispunct(c) &&
          settings.standardize.ends_with("strip_punctuation"))
        continue;
      result += isAscii && settings.standardize.starts_with("lower")
                    ? char(std::tolower(c))
                    : c;
    }
    return result;
  }
  Texts split(const std::string &text) const {
    if (settings.split_function)
      return settings.split_function(text);
    if (settings.split == "none")
      return {text};
    Texts tokens;
    if (settings.split == "character") {
      // Bytes 10xxxxxx go on with a character of UTF-8.
      for (char c : text)
        if ((static_cast<unsigned char>(c) & 0xc0) != 0x80 || tokens.empty())
          tokens.emplace_back(1, c);
        else
          tokens.back() += c;
      return tokens;
    }
    for (auto begin = text.begin(); begin != text.end();) {
      begin = std::find_if_not(begin, text.end(), isSpace);
      const auto end = std::find_if(begin, text.end(), isSpace);
      if (begin != end)
        tokens.emplace_back(begin, end);
      begin = end;
    }
    return tokens;
  }
};

class HashingImpl : public TextLayer<HashingImpl, HashingOptions> {
public:
  HashingImpl(int64_t bins, HashingOptions options)
      : TextLayer("Hashing", std::move(options)), bins(bins) {
    expectTextOption(*this, "output_mode", settings.output_mode,
                     {"int", "one_hot", "multi_hot", "count"});
    // Only in the other modes is it the extent of a result.
    expectPositive("num_bins", bins,
                   settings.output_mode == "int"
                       ? std::numeric_limits<int64_t>::max()
                       : largestSize);
    if (settings.salt.size() > 2)
      refuse(fmt::format("expected one or two numbers of salt, got {}",
                         settings.salt.size()));
    if (settings.mask_value && bins == 1)
      refuse("expected two bins or more beside mask_value, got 1");
  }
  explicit HashingImpl(const nn::Config &config)
      : HashingImpl(config.at("num_bins").as_int(), withSalt(config)) {}
  template <typename F> static void fields(F &field, HashingOptions &o) {
    field("mask_value", o.mask_value);
    field("output_mode", o.output_mode);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["num_bins"] = bins;
    config["salt"] =
        nn::Config::List(settings.salt.begin(), settings.salt.end());
    return config;
  }
  Tensor hashed(const TokenRows &texts, const Where &where) const {
    std::vector<std::vector<int64_t>> rows;
    for (const Texts &row : texts.rows) {
      auto &indices = rows.emplace_back();
      for (const std::string &text : row)
        indices.push_back(binOf(text));
    }
    return encodedRows(rows, texts.shape, settings.output_mode, bins, {},
                       where);
  }

private:
  int64_t binOf(const std::string &text) const {
    const uint64_t hash =
        settings.salt.empty()
            ? farmFingerprint(text)
            : sipHash(text, settings.salt.front(), settings.salt.back());
    if (!settings.mask_value)
      return int64_t(hash % uint64_t(bins));
    return text == *settings.mask_value
               ? 0
               : 1 + int64_t(hash % uint64_t(bins - 1));
  }
  static HashingOptions withSalt(const nn::Config &config) {
    HashingOptions options = read(config);
    if (const nn::Config *salt = config.find("salt");
        salt && !salt->is_null()) {
      if (salt->is_list())
        for (const nn::Config &number : salt->as_list())
          options.salt.push_back(uint64_t(number.as_int()));
      else
        options.salt.push_back(uint64_t(salt->as_int()));
    }
    return options;
  }
  const int64_t bins;
};

Vocabulary &vocabularyOf(const StringLookup &layer) {
  return implOf<StringLookupImpl>(layer).vocabulary;
}
Vocabulary &vocabularyOf(const TextVectorization &layer) {
  return implOf<TextVectorizationImpl>(layer).vocabulary;
}

} // namespace

StringLookup::StringLookup(StringLookupOptions options)
    : Layer(makeLayer<StringLookupImpl>(options)) {}
StringLookup::StringLookup(const Layer &layer)
    : Layer(expectClass<StringLookupImpl>(layer, "StringLookup")) {}
Tensor StringLookup::operator()(const Texts &tokens, Where where) const {
  return implOf<StringLookupImpl>(*this).lookedUp(TokenRows::row(tokens),
                                                  where);
}
Tensor StringLookup::operator()(const std::vector<Texts> &rows,
                                Where where) const {
  return implOf<StringLookupImpl>(*this).lookedUp(
      TokenRows::matrix(rows, "StringLookup", where), where);
}
Tensor StringLookup::operator()(const std::string &token, Where where) const {
  return implOf<StringLookupImpl>(*this).lookedUp(TokenRows::one(token), where);
}
Texts StringLookup::to_tokens(const Tensor &indices, Where where) const {
  if (!isInteger(indices.dtype()))
    nn::fail("StringLookup",
             "expected integers for to_tokens, got " + nn::text(indices),
             where);
  Texts tokens;
  for (int64_t index : cast(indices, DType::I64).to_vector<int64_t>(where))
    tokens.push_back(vocabularyOf(*this).tokenOf(index));
  return tokens;
}
void StringLookup::adapt(const Texts &tokens) const {
  adapt(std::vector<Texts>{tokens});
}
void StringLookup::adapt(const std::vector<Texts> &rows) const {
  Vocabulary::Counts counts;
  for (const Texts &row : rows)
    counts.add(row);
  vocabularyOf(*this).learn(counts);
}
void StringLookup::adapt(const data::Dataset<std::string> &tokens) const {
  Vocabulary::Counts counts;
  for (const std::string &token : tokens)
    counts.add({token});
  vocabularyOf(*this).learn(counts);
}
void StringLookup::set_vocabulary(
    const Texts &vocabulary, const std::vector<double> &idf_weights) const {
  vocabularyOf(*this).set(vocabulary, idf_weights);
}
Texts StringLookup::get_vocabulary(bool include_special_tokens) const {
  return vocabularyOf(*this).tokenList(include_special_tokens);
}
int64_t StringLookup::vocabulary_size() const {
  return vocabularyOf(*this).size();
}

TextVectorization::TextVectorization(TextVectorizationOptions options)
    : Layer(makeLayer<TextVectorizationImpl>(options)) {}
TextVectorization::TextVectorization(const Layer &layer)
    : Layer(expectClass<TextVectorizationImpl>(layer, "TextVectorization")) {}
Tensor TextVectorization::operator()(const Texts &texts, Where where) const {
  return implOf<TextVectorizationImpl>(*this).vectorized(texts, false, where);
}
Tensor TextVectorization::operator()(const std::string &text,
                                     Where where) const {
  return implOf<TextVectorizationImpl>(*this).vectorized({text}, true, where);
}
void TextVectorization::adapt(const Texts &texts) const {
  Vocabulary::Counts counts;
  for (const std::string &text : texts)
    counts.add(implOf<TextVectorizationImpl>(*this).tokensOf(text));
  vocabularyOf(*this).learn(counts);
}
void TextVectorization::adapt(const data::Dataset<std::string> &texts) const {
  Vocabulary::Counts counts;
  for (const std::string &text : texts)
    counts.add(implOf<TextVectorizationImpl>(*this).tokensOf(text));
  vocabularyOf(*this).learn(counts);
}
void TextVectorization::set_vocabulary(
    const Texts &vocabulary, const std::vector<double> &idf_weights) const {
  vocabularyOf(*this).set(vocabulary, idf_weights);
}
Texts TextVectorization::get_vocabulary(bool include_special_tokens) const {
  return vocabularyOf(*this).tokenList(include_special_tokens);
}
int64_t TextVectorization::vocabulary_size() const {
  return vocabularyOf(*this).size();
}

Hashing::Hashing(int64_t num_bins, HashingOptions options)
    : Layer(makeLayer<HashingImpl>(num_bins, std::move(options))) {}
Hashing::Hashing(const Layer &layer)
    : Layer(expectClass<HashingImpl>(layer, "Hashing")) {}
Tensor Hashing::operator()(const Texts &texts, Where where) const {
  return implOf<HashingImpl>(*this).hashed(TokenRows::row(texts), where);
}
Tensor Hashing::operator()(const std::vector<Texts> &rows, Where where) const {
  return implOf<HashingImpl>(*this).hashed(
      TokenRows::matrix(rows, "Hashing", where), where);
}
Tensor Hashing::operator()(const std::string &text, Where where) const {
  return implOf<HashingImpl>(*this).hashed(TokenRows::one(text), where);
}
Tensor Hashing::operator()(const Tensor &integers, Where where) const {
  if (!isInteger(integers.dtype()))
    nn::fail("Hashing", "expected texts or integers, got " + nn::text(integers),
             where);
  const Shape &shape = integers.shape();
  const size_t length = shape.empty() ? 1 : size_t(shape.back());
  std::vector<Texts> rows;
  for (int64_t number : cast(integers, DType::I64).to_vector<int64_t>(where)) {
    if (rows.empty() || rows.back().size() == length)
      rows.emplace_back();
    rows.back().push_back(std::to_string(number));
  }
  return implOf<HashingImpl>(*this).hashed({rows, shape}, where);
}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::textLayers() {
  using namespace layers;
  return {{"StringLookup", createLayer<StringLookupImpl>},
          {"TextVectorization", createLayer<TextVectorizationImpl>},
          {"Hashing", createLayer<HashingImpl>}};
}
