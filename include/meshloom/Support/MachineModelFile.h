// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine models from JSON files.
#pragma once

#include "meshloom/Core/MachineModel.h"

namespace meshloom {

/// The machine model that `presetOrFile` names: a preset ("ring",
/// "ring-latency", "shared-memory", "tpu:v5e:2x4"), a JSON object, or else the
/// path of a file with one. Fails where it is none of them, or the file is not
/// right.
Result<MachineModel> loadMachineModel(const std::string &presetOrFile);

/// A text that loadMachineModel reads as `model`: a preset's name, or JSON. For
/// IR and printed pipelines, which are text.
std::string machineModelText(const MachineModel &model);

/// Reads a JSON object such as
///
///   {"preset": "ring", "name": "two racks", "flops_per_second": 3e11,
///    "default_link": {"bytes_per_second": 1e11},
///    "links": {"rack": {"bytes_per_second": 1e9, "latency_ps": 20000000}}}
///
/// A field that is left out has the preset's value ("shared-memory" unless
/// named). The fields are those of MachineModel and Torus in snake case; times
/// are in picoseconds. `path` is for messages. Unknown fields are errors.
Result<MachineModel> parseMachineModel(std::string_view json,
                                       std::string_view path);

} // namespace meshloom
