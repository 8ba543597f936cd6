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
  std::vector<Array> arrays;
  arrays.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto array = Array::fromHost(client, compiled.signature().arguments[i].type,
                                 inputs[i]);
    if (!array)
      return array.error();
    arrays.push_back(std::move(*array));
  }
  return arrays;
}
