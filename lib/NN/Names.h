// What is known by a name that a user writes ("adam", "relu"): one that is not
// there is an error that lists the closest ones.
#pragma once

#include "meshloom/Core/Result.h"

#include <algorithm>
#include <map>
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

template <typename T> class Names {
public:
  /// `kind`: what the names are of, for errors. Names are of small letters.
  Names(std::string kind, std::map<std::string, T, std::less<>> known)
      : kind(std::move(kind)), known(std::move(known)) {}

  /// Capital letters are small ones. Throws meshloom::Error.
  const T &find(std::string_view name) const {
    std::string small(name);
    std::ranges::transform(small, small.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? char(letter - 'A' + 'a') : letter;
    });
    if (auto found = known.find(small); found != known.end())
      return found->second;
    throw Error(message(name, small));
  }

private:
  std::string message(std::string_view name, std::string_view small) const {
    std::vector<std::pair<size_t, std::string_view>> near;
    for (auto &[other, value] : known)
      near.emplace_back(editDistance(small, other), other);
    std::ranges::sort(near);
    std::string text = "expected the name of an " + kind + ", got '" +
                       std::string(name) + "'; closest are";
    for (size_t i = 0; i < std::min<size_t>(3, near.size()); ++i)
      text += std::string(i ? ", '" : " '") + std::string(near[i].second) + "'";
    return text;
  }

  std::string kind;
  std::map<std::string, T, std::less<>> known;
};

} // namespace meshloom::detail
