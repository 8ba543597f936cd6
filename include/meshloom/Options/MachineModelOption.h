// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A MachineModel as an option of a pass: made from C++ it is the model itself,
// on a command line a preset's name or the path of a JSON file.
#pragma once

#include "meshloom/Core/MachineModel.h"

#include "llvm/Support/CommandLine.h"

/// Reads machine models from LLVM's command line: `machine=ring` and
/// `machine=racks.json`. Printed, a model is a preset's name or JSON, which can
/// be read again.
template <>
class llvm::cl::parser<meshloom::MachineModel>
    : public llvm::cl::basic_parser<meshloom::MachineModel> {
public:
  using basic_parser::basic_parser;

  /// Returns whether `text` is not a machine model; then it has been reported.
  bool parse(Option &option, StringRef name, StringRef text,
             meshloom::MachineModel &value);
  static void print(raw_ostream &os, const meshloom::MachineModel &value);

  StringRef getValueName() const override { return "preset or JSON file"; }
  void printOptionDiff(const Option &option, const meshloom::MachineModel &,
                       const OptVal &, size_t width) const {
    printOptionNoValue(option, width);
  }
  void anchor() override;
};
