// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON from files, which may be damaged, or written to do harm.
#pragma once

#include "meshloom/Core/Result.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom {

/// How deep arrays and objects may be nested: what reads or prints them calls
/// itself for each level.
constexpr int maxJsonDepth = 256;

/// Parses JSON, into nlohmann::json or nlohmann::ordered_json. Fails where the
/// text is no JSON, where an object has the same key twice, of which a reader
/// would drop one, or where values are nested deeper than maxJsonDepth. The
/// message is a clause about the text: "it has the key 'a' twice".
template <typename Json = nlohmann::json>
Result<Json> parseJson(std::string_view text) {
  using Event = typename Json::parse_event_t;
  std::vector<std::set<std::string>> keys; // of the objects that are open
  auto check = [&](int depth, Event event, Json &parsed) {
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= maxJsonDepth)
        Error("it is nested deeper than " + std::to_string(maxJsonDepth) +
              " levels")
            .raise();
      if (event == Event::object_start)
        keys.emplace_back();
    } else if (event == Event::object_end) {
      keys.pop_back();
    } else if (event == Event::key) {
      const auto &key = parsed.template get_ref<const std::string &>();
      if (!keys.back().insert(key).second)
        Error("it has the key '" + key + "' twice").raise();
    }
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Error &error) {
    return error;
  } catch (const nlohmann::json::exception &error) {
    // Without the parser's own tag.
    const std::string_view why = error.what();
    const size_t tag = why.find("] ");
    return Error(
        "it is not JSON (" +
        std::string(why.substr(tag == std::string_view::npos ? 0 : tag + 2)) +
        ")");
  }
}

} // namespace meshloom
