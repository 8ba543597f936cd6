// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VocabularyOf: the tokens of a lookup layer, which are texts or integers, and
// their indices.
#pragma once

#include "BuiltIn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace meshloom::detail {

inline void expectTextOption(const LayerImpl &layer, const char *option,
                             const std::string &value,
                             const std::vector<std::string> &allowed) {
  if (std::ranges::find(allowed, value) == allowed.end())
    Error(fmt::format("[{}] layer '{}': expected {} to be one of '{}', "
                      "got '{}'",
                      layer.class_name(), layer.name(), option,
                      fmt::join(allowed, "', '"), value))
        .raise();
}

/// Tokens and their indices. Special tokens come first: the mask token (in mode
/// "int" only), then the indices of unknown tokens.
template <typename Token> class VocabularyOf {
public:
  struct Options {
    std::optional<int64_t> maxTokens;
    int64_t unknownIndices;
    std::optional<Token> maskToken;
    Token unknownToken;
    std::string mode;
    bool isPadded;
  };
  VocabularyOf(const LayerImpl &layer, Options options)
      : layer(layer), options(std::move(options)) {
    if (this->options.unknownIndices < 0)
      refuse(fmt::format("expected num_oov_indices to be 0 or more, got {}",
                         this->options.unknownIndices));
    if (this->options.maxTokens && *this->options.maxTokens <= firstToken())
      refuse(fmt::format("expected max_tokens to be more than the {} special "
                         "tokens, got {}",
                         firstToken(), *this->options.maxTokens));
    if (this->options.isPadded && !this->options.maxTokens)
      refuse("expected max_tokens beside pad_to_max_tokens, got none");
  }

  int64_t size() const { return firstToken() + int64_t(tokens.size()); }
  /// The size of vectors.
  int64_t depth() const {
    return options.isPadded ? *options.maxTokens : size();
  }
  bool isEmpty() const { return tokens.empty(); }
  const std::string &mode() const { return options.mode; }
  const std::vector<double> &idfWeights() const { return weights; }

  std::vector<Token> tokenList(bool includeSpecial) const {
    std::vector<Token> list = includeSpecial ? special() : std::vector<Token>();
    list.insert(list.end(), tokens.begin(), tokens.end());
    return list;
  }

  void set(const std::vector<Token> &vocabulary,
           const std::vector<double> &idf) {
    const std::vector<Token> first = special();
    const bool hasSpecial =
        vocabulary.size() >= first.size() &&
        std::equal(first.begin(), first.end(), vocabulary.begin());
    const std::vector<Token> list(
        vocabulary.begin() + (hasSpecial ? ptrdiff_t(first.size()) : 0),
        vocabulary.end());
    std::set<Token> seen;
    for (const Token &token : list) {
      if (!seen.insert(token).second)
        refuse(fmt::format("expected a vocabulary of different tokens, got "
                           "'{}' twice",
                           token));
      if (token == options.maskToken || token == options.unknownToken)
        refuse(fmt::format("expected the special token '{}' at its place "
                           "before all others, or not at all, in a vocabulary",
                           token));
    }
    if (options.maxTokens &&
        firstToken() + int64_t(list.size()) > *options.maxTokens)
      refuse(fmt::format("expected at most max_tokens = {} tokens, special "
                         "ones included, got {}",
                         *options.maxTokens,
                         firstToken() + int64_t(list.size())));
    if (options.mode != "tf_idf" && !idf.empty())
      refuse(fmt::format("expected idf_weights for the output_mode 'tf_idf' "
                         "only, got '{}'",
                         options.mode));
    if (options.mode == "tf_idf" && idf.size() != vocabulary.size())
      refuse(fmt::format("expected one of idf_weights for each token of the "
                         "vocabulary, got {} for {}",
                         idf.size(), vocabulary.size()));
    take(list, idf, /*hasSpecialWeights=*/hasSpecial);
  }

  /// Counts the tokens of documents.
  class Counts {
  public:
    void add(const std::vector<Token> &document) {
      ++documents;
      const std::set<Token> different(document.begin(), document.end());
      for (const Token &token : document)
        ++counts[token].tokens;
      for (const Token &token : different)
        ++counts[token].documents;
    }

  private:
    friend VocabularyOf;
    struct Count {
      int64_t tokens = 0, documents = 0;
    };
    std::map<Token, Count> counts;
    int64_t documents = 0;
  };
  /// The most frequent tokens first; of equally frequent ones that which comes
  /// last in the order of bytes, as in Keras.
  void learn(const Counts &counted) {
    std::vector<std::pair<Token, typename Counts::Count>> order;
    for (const auto &[token, count] : counted.counts)
      if (token != options.maskToken && token != options.unknownToken)
        order.emplace_back(token, count);
    std::ranges::sort(order, [](const auto &a, const auto &b) {
      return a.second.tokens != b.second.tokens
                 ? a.second.tokens > b.second.tokens
                 : a.first > b.first;
    });
    if (options.maxTokens)
      order.resize(
          std::min(order.size(), size_t(*options.maxTokens - firstToken())));
    std::vector<Token> list;
    std::vector<double> idf;
    for (const auto &[token, count] : order) {
      list.push_back(token);
      idf.push_back(std::log(1 + double(counted.documents) /
                                     double(1 + count.documents)));
    }
    take(list, idf, /*hasSpecialWeights=*/false);
  }

  /// The index of a token; -1: it does not count. None: it is unknown.
  std::optional<int64_t> indexOf(const Token &token) const {
    if (token == options.maskToken)
      return maskIndex();
    if (const auto found = indices.find(token); found != indices.end())
      return found->second;
    return std::nullopt;
  }
  int64_t unknownIndices() const { return options.unknownIndices; }
  /// The first of the indices that unknown tokens share.
  int64_t firstUnknown() const { return firstToken() - options.unknownIndices; }
  const std::optional<Token> &maskToken() const { return options.maskToken; }
  int64_t maskIndex() const { return options.mode == "int" ? 0 : -1; }
  const std::unordered_map<Token, int64_t> &byToken() const { return indices; }
  const Token &tokenOf(int64_t index) const {
    if (options.maskToken && options.mode == "int" && index == 0)
      return *options.maskToken;
    index -= firstToken();
    return index >= 0 && index < int64_t(tokens.size()) ? tokens[size_t(index)]
                                                        : options.unknownToken;
  }

  void write(nn::Config &config) const {
    config["vocabulary"] = nn::Config::List(tokens.begin(), tokens.end());
    if (options.mode == "tf_idf")
      config["idf_weights"] = nn::Config::List(
          weights.begin(),
          weights.begin() + ptrdiff_t(weights.empty() ? 0 : size()));
  }
  void read(const nn::Config &config) {
    std::vector<Token> list;
    std::vector<double> idf;
    if (const nn::Config *entry = config.find("vocabulary");
        entry && !entry->is_null())
      for (const nn::Config &token : entry->as_list()) {
        if constexpr (std::same_as<Token, std::string>)
          list.push_back(token.as_string());
        else
          list.push_back(token.as_int());
      }
    if (const nn::Config *entry = config.find("idf_weights");
        entry && !entry->is_null())
      for (const nn::Config &weight : entry->as_list())
        idf.push_back(weight.as_double());
    if (list.empty())
      return;
    // Keras writes those weights that its user gave.
    if (idf.size() == list.size())
      return set(list, idf);
    // Here weights are those of all indices.
    std::vector<Token> vocabulary = special();
    vocabulary.insert(vocabulary.end(), list.begin(), list.end());
    set(vocabulary, idf);
  }

private:
  int64_t firstToken() const {
    return options.unknownIndices +
           (options.maskToken && options.mode == "int" ? 1 : 0);
  }
  std::vector<Token> special() const {
    std::vector<Token> list(size_t(options.unknownIndices),
                            options.unknownToken);
    if (options.maskToken && options.mode == "int")
      list.insert(list.begin(), *options.maskToken);
    return list;
  }
  void take(const std::vector<Token> &list, const std::vector<double> &idf,
            bool hasSpecialWeights) {
    tokens = list;
    indices.clear();
    for (size_t i = 0; i < tokens.size(); ++i)
      indices[tokens[i]] = firstToken() + int64_t(i);
    weights = idf;
    if (options.mode != "tf_idf")
      return;
    // An unknown token weighs as much as the mean token.
    if (!hasSpecialWeights) {
      double sum = 0;
      for (double weight : idf)
        sum += weight;
      weights.insert(weights.begin(), size_t(firstToken()),
                     idf.empty() ? 0 : sum / double(idf.size()));
    }
    weights.resize(size_t(depth()), 0);
  }
  [[noreturn]] void refuse(const std::string &message) const {
    Error(fmt::format("[{}] layer '{}': {}", layer.class_name(), layer.name(),
                      message))
        .raise();
  }

  const LayerImpl &layer;
  const Options options;
  std::vector<Token> tokens; ///< without special ones
  std::unordered_map<Token, int64_t> indices;
  std::vector<double> weights; ///< of each index, in "tf_idf"
};

} // namespace meshloom::detail
