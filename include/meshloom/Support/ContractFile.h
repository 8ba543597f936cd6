// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contracts of a program's functions in a JSON file, and how two contracts
// differ.
#pragma once

#include "meshloom/Core/Contract.h"

#include <map>
#include <string>
#include <string_view>

namespace meshloom {

/// Contracts by the names of functions.
using Contracts = std::map<std::string, Contract>;

/// Reads a JSON object such as
///
///   {"main": [{"collective": "all_reduce", "axes": ["batch"],
///              "count": 1, "bytes": 4263}]}
///
/// See Allowance for the fields, of which "count" and "bytes" may be left out.
/// `path` is for messages. Fails where it is no such object, and where a
/// contract cannot be meant.
Result<Contracts> parseContracts(std::string_view json, std::string_view path);

/// The text that parseContracts reads, one allowance a line.
std::string contractsText(const Contracts &contracts);

/// The lines of allowances in which `before` and `after` differ, "- all_reduce
/// over [batch]: 1 in a step, 64 bytes" and "+ ..."; empty where they are
/// equal.
std::string differences(const Contract &before, const Contract &after);

} // namespace meshloom
