// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of splits: "train[:5000]", "[-10%:]", "train[:80%]+test".
#include "meshloom/Data/Files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

namespace meshloom::data {

namespace {

Error splitError(std::string_view text, std::string_view why) {
  return Error(fmt::format("[split] '{}' is not a slice of a split, such as "
                           "'train[:5000]' or 'test[-10%:]': {}",
                           text, why));
}

/// One end of a slice, or none.
std::optional<double> parseEnd(std::string_view text, std::string_view end,
                               bool &isPercentage) {
  if (end.empty())
    return std::nullopt;
  isPercentage = end.ends_with('%');
  std::string_view number = end.substr(0, end.size() - isPercentage);
  double value = 0;
  const auto [stop, failure] =
      std::from_chars(number.data(), number.data() + number.size(), value);
  if (failure != std::errc() || stop != number.data() + number.size() ||
      (!isPercentage && std::trunc(value) != value))
    splitError(text, fmt::format("'{}' is neither a number of elements "
                                 "nor a percentage",
                                 end))
        .raise();
  if (isPercentage && std::abs(value) > 100)
    splitError(text, fmt::format("'{}' is beyond 100%", end)).raise();
  return value;
}

int64_t placeOf(std::optional<double> end, bool isPercentage, int64_t count,
                int64_t open) {
  if (!end)
    return open;
  double place = isPercentage ? std::round(*end / 100 * double(count)) : *end;
  if (std::signbit(*end))
    place += double(count);
  return int64_t(std::clamp(place, 0., double(count)));
}

} // namespace

std::pair<int64_t, int64_t> SplitSlice::range(int64_t count) const {
  if (count < 0)
    Error("[split] expected a dataset that knows how many elements it "
          "has")
        .raise();
  const int64_t first = placeOf(from, fromIsPercentage, count, 0),
                end = placeOf(to, toIsPercentage, count, count);
  return {first, std::max(first, end)};
}

SplitSlice parse_split(std::string_view text, std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    SplitSlice slice;
    const size_t open = text.find('[');
    slice.split = text.substr(0, open);
    if (open == std::string_view::npos)
      return slice;
    if (!text.ends_with(']'))
      splitError(text, "expected ']' at its end").raise();
    std::string_view inner = text.substr(open + 1, text.size() - open - 2);
    const size_t colon = inner.find(':');
    if (colon == std::string_view::npos)
      splitError(text, "expected ':' between its ends").raise();
    slice.from = parseEnd(text, inner.substr(0, colon), slice.fromIsPercentage);
    slice.to = parseEnd(text, inner.substr(colon + 1), slice.toIsPercentage);
    return slice;
  });
}

std::vector<SplitSlice> detail::parseSplits(std::string_view text) {
  std::vector<SplitSlice> parts;
  while (true) {
    const size_t plus = text.find('+');
    parts.push_back(parse_split(text.substr(0, plus)));
    if (plus == std::string_view::npos)
      return parts;
    text.remove_prefix(plus + 1);
  }
}

void detail::failSplit(std::string_view name,
                       const std::vector<std::string> &splits) {
  Error(fmt::format("[split] there is no split '{}', but {}", name,
                    fmt::join(splits, ", ")),
        ErrorCode::NOT_FOUND)
      .raise();
}

} // namespace meshloom::data
