// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SavedProgram.h"

#include "meshloom/Support/File.h"

using namespace meshloom;
using namespace meshloom::sim;

Result<SavedProgram> SavedProgram::load(const run::Options &options) {
  Result<std::string> bytes = readFile(options.program);
  if (!bytes)
    return bytes.error();
  Result<Compiled> compiled = Compiled::deserialize(*bytes);
  if (!compiled)
    return compiled.error().withMessage(options.program + ": " +
                                        compiled.error().message());
  auto inputs = run::makeInputs(compiled->signature(), options);
  if (!inputs)
    return inputs.error();
  return SavedProgram{std::move(*compiled), std::move(*inputs)};
}

Result<std::vector<Array>>
SavedProgram::place(const std::shared_ptr<Client> &client) const {
  return run::placeInputs(client, compiled.signature(), inputs);
}
