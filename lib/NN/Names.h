// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts that a user names in a text ("adam", "relu"): an unknown name is an
// error that lists the closest ones. Users add their own.
#pragma once

#include "meshloom/Core/Result.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshloom::detail {

/// How many letters must be changed, added or left out (Levenshtein, 1966).
inline size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1],
                               std::min({row[j] + 1, row[j + 1] + 1,
                                         diagonal + size_t(a[i] != b[j])}));
  }
  return row.back();
}

/// Returns the form of a name that is compared: capitals are small letters,
/// underscores do not count ("GlorotUniform" is "glorot_uniform").
inline std::string bareName(std::string_view name) {
  std::string bare;
  for (char letter : name)
    if (letter != '_')
      bare +=
          letter >= 'A' && letter <= 'Z' ? char(letter - 'A' + 'a') : letter;
  return bare;
}

/// Returns whether the letters of `part` stand in `whole` in the same order
/// ("sparsecross" in "sparsecategoricalcrossentropy").
inline bool hasLettersInOrder(std::string_view whole, std::string_view part) {
  for (char letter : whole)
    if (part.starts_with(letter))
      part.remove_prefix(1);
  return part.empty();
}

/// A bare name in Keras's words: PyTorch's and papers' name some things after
/// others, in letters that have nothing in common.
inline std::string inOurWords(std::string bare) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"xavier", "glorot"},
      {"kaiming", "he"},
      {"softcrossentropy", "categoricalcrossentropy"},
      {"nllloss", "sparsecategoricalcrossentropy"},
      {"l1loss", "meanabsoluteerror"}};
  for (const auto &[theirs, ours] : words)
    if (const size_t begin = bare.find(theirs); begin != std::string::npos)
      return bare.replace(begin, theirs.size(), ours);
  return bare;
}

template <typename T> class Names {
public:
  /// `kind`: what the names are of, for errors: "an optimizer".
  Names(std::string kind,
        std::initializer_list<std::pair<const char *, T>> initial)
      : kind(std::move(kind)) {
    for (auto &[name, value] : initial)
      entries.emplace(bareName(name), std::pair(std::string(name), value));
  }

  /// The name as it was added, and what it stands for. Throws meshloom::Error.
  std::pair<std::string, T> find(std::string_view name) const {
    std::lock_guard lock(mutex);
    if (auto found = entries.find(bareName(name)); found != entries.end())
      return found->second;
    Error(message(name)).raise();
  }

  void add(const std::string &name, T value) {
    std::lock_guard lock(mutex);
    if (bareName(name).empty())
      Error(tag() + "expected the name of " + kind + ", got an empty one")
          .raise();
    if (!entries.emplace(bareName(name), std::pair(name, std::move(value)))
             .second)
      Error(tag() + "there is " + kind + " called '" + name +
            "' already: choose another name")
          .raise();
  }

  /// Returns the error for a part that is needed and is not there.
  Error none() const {
    return Error(tag() + "expected " + kind +
                 ", got an empty one: give its name or a function");
  }

private:
  /// "[optimizer] ": `kind` without its article.
  std::string tag() const {
    return "[" + kind.substr(kind.find(' ') + 1) + "] ";
  }
  std::string message(std::string_view name) const {
    // Names that begin with it come first, then names that contain it, then
    // names that have its letters, unless they are few, in their order.
    struct Near {
      bool beginsOtherwise, isElsewhere, lacksLetters;
      size_t distance;
      std::string_view name;
      auto operator<=>(const Near &) const = default;
    };
    const std::string spelled = inOurWords(bareName(name));
    const bool isShort = spelled.size() < 2, hasFewLetters = spelled.size() < 6;
    std::vector<Near> near;
    near.reserve(entries.size());
    for (auto &[bare, entry] : entries)
      near.push_back({isShort || !bare.starts_with(spelled),
                      isShort || bare.find(spelled) == std::string::npos,
                      hasFewLetters || !hasLettersInOrder(bare, spelled),
                      editDistance(spelled, bare), entry.first});
    std::ranges::sort(near);
    std::string text = tag() + "expected the name of " + kind + ", got '" +
                       std::string(name) + "'; closest are";
    for (size_t i = 0; i < std::min<size_t>(3, near.size()); ++i)
      text += std::string(i ? ", '" : " '") + std::string(near[i].name) + "'";
    return text;
  }

  mutable std::mutex mutex;
  std::string kind;
  std::map<std::string, std::pair<std::string, T>, std::less<>> entries;
};

} // namespace meshloom::detail
