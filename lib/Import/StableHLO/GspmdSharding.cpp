// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GspmdSharding: a small recursive descent over the text.
#include "GspmdSharding.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <numeric>

namespace meshloom::importer {

namespace {
constexpr int64_t maxDevices = 65'536; // as Mesh

/// The remaining text, read from the front.
struct Reader {
  std::string_view whole, rest;

  void skipSpace() {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  }
  bool take(std::string_view prefix) {
    skipSpace();
    if (!rest.starts_with(prefix))
      return false;
    rest.remove_prefix(prefix.size());
    return true;
  }
  Error error(std::string_view why) const {
    return Error(fmt::format("cannot read the sharding '{}': {}", whole, why));
  }
  bool number(int64_t &value) {
    skipSpace();
    auto [end, problem] =
        std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (problem != std::errc())
      return false;
    rest.remove_prefix(size_t(end - rest.data()));
    return true;
  }
  /// Numbers separated by commas.
  bool numbers(std::vector<int64_t> &list) {
    do {
      int64_t value = 0;
      if (!number(value))
        return false;
      list.push_back(value);
    } while (take(","));
    return true;
  }
  std::string_view word() {
    skipSpace();
    size_t size = 0;
    while (size < rest.size() &&
           (std::isalnum(static_cast<unsigned char>(rest[size])) ||
            rest[size] == '_'))
      ++size;
    std::string_view result = rest.substr(0, size);
    rest.remove_prefix(size);
    return result;
  }
};

/// The product of positive sizes that is not too large, else 0.
int64_t product(const std::vector<int64_t> &sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) {
    if (size < 1 || size > maxDevices || result * size > maxDevices)
      return 0;
    result *= size;
  }
  return result;
}

/// 0, 1, ... as an array of shape `sizes`, transposed by `order`, row-major.
std::vector<int64_t> transposedIota(const std::vector<int64_t> &sizes,
                                    const std::vector<int64_t> &order) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  std::vector<int64_t> result{0};
  for (int64_t dim : order) {
    std::vector<int64_t> next;
    for (int64_t base : result)
      for (int64_t i = 0; i < sizes[size_t(dim)]; ++i)
        next.push_back(base + i * strides[size_t(dim)]);
    result = std::move(next);
  }
  return result;
}
/// Returns whether `numbers` are 0, 1, ... in any order.
bool isPermutation(std::vector<int64_t> numbers) {
  std::ranges::sort(numbers);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != int64_t(i))
      return false;
  return true;
}

std::string countsDiffer(int64_t devices, int64_t tiles) {
  return fmt::format("it has {} devices for {} tiles", devices, tiles);
}
} // namespace

SourceMesh GspmdSharding::mesh(const std::string &text) const {
  SourceMesh result{"'" + text + "'", {}, devices};
  for (size_t i = 0; i < tiles.size(); ++i)
    result.axes.push_back({fmt::format("dim{}", i), tiles[i]});
  return result;
}

Result<GspmdSharding> GspmdSharding::parse(std::string_view text) {
  Reader in{text, text};
  GspmdSharding result;
  if (!in.take("{"))
    return in.error("it does not begin with '{'");
  if (in.take("replicated")) {
    result.kind = Kind::Replicated;
  } else if (in.take("unknown")) {
    result.kind = Kind::Unknown;
  } else if (in.take("manual")) {
    result.kind = Kind::Manual;
  } else if (in.take("maximal")) {
    if (!in.take("device=") || !in.number(result.device) || result.device < 0)
      return in.error("expected 'device=' and a number after 'maximal'");
    result.kind = Kind::Maximal;
  } else {
    result.kind = Kind::Tiled;
    if (!in.take("devices=[") || !in.numbers(result.tiles) || !in.take("]"))
      return in.error("expected 'replicated', 'unknown', 'manual', "
                      "'maximal' or 'devices=[...]'");
    int64_t count = product(result.tiles);
    if (count == 0)
      return in.error(fmt::format("the numbers of tiles must be positive and "
                                  "multiply to at most {}",
                                  maxDevices));
    if (in.take("<=[")) {
      std::vector<int64_t> sizes, order;
      if (!in.numbers(sizes) || !in.take("]"))
        return in.error("expected sizes and ']' after '<=['");
      if (in.take("T(")) {
        if (!in.numbers(order) || !in.take(")"))
          return in.error("expected dims and ')' after 'T('");
      } else {
        order.resize(sizes.size());
        std::iota(order.begin(), order.end(), 0);
      }
      if (order.size() != sizes.size() || !isPermutation(order))
        return in.error("'T(...)' is not a permutation of the sizes");
      if (int64_t devices = product(sizes); devices != count)
        return in.error(countsDiffer(devices, count));
      result.devices = transposedIota(sizes, order);
    } else {
      if (!in.numbers(result.devices))
        return in.error("the devices of the tiles are missing");
      if (int64_t(result.devices.size()) != count)
        return in.error(countsDiffer(int64_t(result.devices.size()), count));
      if (!isPermutation(result.devices) && count > 1)
        return in.error(fmt::format(
            "the devices of {} tiles are the numbers 0 to {}, each once", count,
            count - 1));
    }
    if (in.take("last_tile_dim_replicate")) {
      result.lastDims = {LastDim::Replicated};
    } else if (in.take("last_tile_dims={")) {
      do {
        std::string_view kind = in.word();
        if (kind != "replicated" && kind != "manual")
          return in.error(fmt::format(
              "last_tile_dims has '{}'; expected replicated or manual", kind));
        result.lastDims.push_back(kind == "manual" ? LastDim::Manual
                                                   : LastDim::Replicated);
      } while (in.take(","));
      if (!in.take("}"))
        return in.error("'}' is missing after last_tile_dims");
    }
    if (result.lastDims.size() > result.tiles.size())
      return in.error("it has more last_tile_dims than dims");
  }
  if (in.take("shard_as") || in.take("shard_like"))
    if (!in.number(result.group.emplace()) || *result.group < 0)
      return in.error("the number of the group of 'shard_as' or 'shard_like' "
                      "is missing");
  if (in.take("metadata=")) // where XLA took it from
    in.rest.remove_prefix(
        in.rest.empty() ? 0 : std::min(in.rest.rfind('}'), in.rest.size()));
  if (!in.take("}") || (in.skipSpace(), !in.rest.empty()))
    return in.error(fmt::format("'{}' is not expected", in.rest));
  return result;
}

Result<std::vector<std::string>> splitGspmdTuple(std::string_view text) {
  Reader in{text, text};
  if (!in.take("{") || (in.skipSpace(), !in.rest.starts_with("{")))
    return std::vector<std::string>{std::string(text)};
  std::vector<std::string> parts;
  do {
    in.skipSpace();
    size_t depth = 0, end = 0;
    for (; end < in.rest.size(); ++end) {
      depth += in.rest[end] == '{';
      if (in.rest[end] == '}' && --depth == 0)
        break;
    }
    if (!in.rest.starts_with("{") || end == in.rest.size())
      return in.error("the braces do not match");
    parts.emplace_back(in.rest.substr(0, end + 1));
    in.rest.remove_prefix(end + 1);
  } while (in.take(","));
  if (!in.take("}"))
    return in.error("'}' is missing at the end");
  return parts;
}

} // namespace meshloom::importer
