// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Global values on the host: a program's inputs, from files or random, and its
// results, to files or the terminal.
#pragma once

#include "Options.h"

#include "meshloom/Core/Compiled.h"
#include "meshloom/Runtime/Array.h"

namespace meshloom::run {

/// The bytes of every argument of `signature`, from the files of
/// options.inputs, or random where there are none. Fails on a file that is not
/// what the argument wants, naming the argument, what it wants and what the
/// file has.
Result<std::vector<HostBytes>> makeInputs(const Signature &signature,
                                          const Options &options);

/// The values of all arguments as arrays of a client.
Result<std::vector<Array>> placeInputs(const std::shared_ptr<Client> &client,
                                       const Signature &signature,
                                       const std::vector<HostBytes> &inputs);

/// A random value that depends on the type, the seed and the global index
/// alone: floats in [-1, 1), integers in [0, 8), or all that their bits allow,
/// booleans; where `notes` has a range, numbers in that. The numbers are those
/// of benchmark/peers/common.py.
HostBytes randomValue(DType type, const Shape &shape, uint32_t seed,
                      const InputNotes &notes = {});

/// Fails where results from number `first` on cannot be the first arguments of
/// the next run.
Status checkCarried(const Signature &signature, int64_t first);

/// "f32[128, 10]".
std::string describe(DType type, const Shape &shape);
/// "argument 0 ('x')".
std::string describe(std::string_view kind, size_t index,
                     const std::string &name);

/// "[0.1, 0.2, ... 24 more]".
std::string preview(DType type, const HostBytes &bytes);

/// With those above it; one that is there already is none to make.
Status makeDirectory(const std::string &directory);

/// result_0.npy, result_1.npy, ... in `directory`, which is there.
Status saveResults(const std::string &directory, const Signature &signature,
                   const std::vector<HostBytes> &results);

} // namespace meshloom::run
