// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and printing a machine model as an option, see MachineModelOption.h.
#include "meshloom/Options/MachineModelOption.h"

#include "meshloom/Support/MachineModelFile.h"

#include "llvm/Support/raw_ostream.h"

using namespace meshloom;
using ModelParser = llvm::cl::parser<MachineModel>;

void ModelParser::anchor() {}

bool ModelParser::parse(Option &option, StringRef, StringRef text,
                        MachineModel &value) {
  Result<MachineModel> model = loadMachineModel(text.str());
  if (!model)
    return option.error(model.error().message());
  value = std::move(*model);
  return false;
}

void ModelParser::print(raw_ostream &os, const MachineModel &value) {
  // Braces keep what is between them together, spaces included.
  std::string text = machineModelText(value);
  bool isName = text.find_first_of(" {") == std::string::npos;
  os << (isName ? "" : "{") << text << (isName ? "" : "}");
}
