// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contracts as JSON.
#include "meshloom/Support/ContractFile.h"

#include "meshloom/Support/Json.h"

#include <algorithm>
#include <fmt/format.h>

namespace meshloom {

using nlohmann::ordered_json;

namespace {

/// Reads one entry. Throws Error with a clause about the entry.
Allowance readAllowance(const ordered_json &entry) {
  Allowance allowance;
  bool hasKind = false;
  if (!entry.is_object())
    Error("is no object").raise();
  for (const auto &[key, value] : entry.items()) {
    if (key == "collective") {
      const auto kind = value.is_string()
                            ? parseCollectiveKind(value.get<std::string>())
                            : std::nullopt;
      if (!kind)
        Error("names no kind of collective, such as \"all_reduce\"").raise();
      allowance.kind = *kind;
      hasKind = true;
    } else if (key == "axes") {
      if (!value.is_array() ||
          !std::ranges::all_of(value, &ordered_json::is_string))
        Error("has axes that are no list of names").raise();
      allowance.axes = value.get<std::vector<std::string>>();
    } else if (key == "count" || key == "bytes") {
      if (!value.is_number_integer() ||
          (value.is_number_unsigned() &&
           value.get<uint64_t>() > uint64_t(INT64_MAX)))
        Error(fmt::format("has a {} that is no integer", key)).raise();
      (key == "count" ? allowance.count : allowance.bytes) =
          value.get<int64_t>();
    } else {
      Error(fmt::format("has the unknown field '{}': expected one of "
                        "collective, axes, count, bytes",
                        key))
          .raise();
    }
  }
  if (!hasKind)
    Error("names no kind of collective: add \"collective\"").raise();
  return allowance;
}

Contract readContract(const ordered_json &entries) {
  if (!entries.is_array())
    Error("expected a list of what it may send").raise();
  Contract contract;
  for (const ordered_json &entry : entries)
    try {
      contract.push_back(readAllowance(entry));
    } catch (const Error &error) {
      Error(fmt::format("the entry {} {}", entry.dump(), error.message()))
          .raise();
    }
  Result<Contract> result = normalized(std::move(contract));
  if (!result)
    result.error().raise();
  return std::move(*result);
}

} // namespace

Result<Contracts> parseContracts(std::string_view text, std::string_view path) {
  auto wrong = [&](const std::string &why) {
    return Error(fmt::format("contract '{}': {}", path, why));
  };
  const Result<ordered_json> parsed = parseJson<ordered_json>(text);
  if (!parsed)
    return wrong(parsed.error().message());
  if (!parsed->is_object())
    return wrong("expected an object from the names of functions to lists of "
                 "what they may send");
  Contracts contracts;
  for (const auto &[function, entries] : parsed->items())
    try {
      contracts.emplace(function, readContract(entries));
    } catch (const Error &error) {
      return wrong(fmt::format("@{}: {}", function, error.message()));
    }
  return contracts;
}

std::string contractsText(const Contracts &contracts) {
  std::string text = "{";
  const char *comma = "";
  for (const auto &[function, contract] : contracts) {
    text += fmt::format("{}\n  {}: [", comma, ordered_json(function).dump());
    comma = ",";
    const char *inner = "";
    for (const Allowance &allowance : contract) {
      ordered_json entry{{"collective", name(allowance.kind)},
                         {"axes", allowance.axes}};
      if (allowance.count)
        entry["count"] = *allowance.count;
      if (allowance.bytes)
        entry["bytes"] = *allowance.bytes;
      text += fmt::format("{}\n    {}", inner, entry.dump());
      inner = ",";
    }
    text += contract.empty() ? "]" : "\n  ]";
  }
  return text + "\n}\n";
}

std::string differences(const Contract &before, const Contract &after) {
  std::string text;
  for (const Allowance &allowance : before)
    if (std::ranges::find(after, allowance) == after.end())
      text += "- " + str(allowance) + "\n";
  for (const Allowance &allowance : after)
    if (std::ranges::find(before, allowance) == before.end())
      text += "+ " + str(allowance) + "\n";
  return text;
}

} // namespace meshloom
