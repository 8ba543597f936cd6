// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FunctionTable: the functions of the PJRT C API that this plug-in has, by
// their slots. A slot without a function answers UNIMPLEMENTED with its name.
#pragma once

#include "Arguments.h"

#include <vector>

namespace meshloom::plugin {

/// A function of the plug-in. It may throw: callers get errors.
using Entry = Status (*)(const Arguments &);

/// Calls `entry` and returns a handle of its error, or null.
capi::Handle answer(Entry entry, void *structure) noexcept;

template <Entry entry> capi::Handle entryPoint(void *structure) noexcept {
  return answer(entry, structure);
}

class FunctionTable {
public:
  FunctionTable();
  template <Entry entry> void set(capi::Slot slot) {
    capi::write(bytes.data(), capi::fieldOf(slot),
                capi::Function(&entryPoint<entry>));
  }
  void setExtensions(const void *first);
  const void *data() const { return bytes.data(); }

private:
  std::vector<char> bytes;
};

// Each room of functions puts those that it has into the table.
void addErrorsAndEvents(FunctionTable &table);
void addClients(FunctionTable &table);
void addDevices(FunctionTable &table);
void addBuffers(FunctionTable &table);
void addExecutables(FunctionTable &table);
void addExecution(FunctionTable &table);
void addTransfers(FunctionTable &table);
// Functions about errors.
Status destroyError(const Arguments &args);
Status errorMessage(const Arguments &args);
Status errorCode(const Arguments &args);
/// Returns the table of the functions of the profiler.
const void *profilerFunctions();
/// Returns the first structure of the chain of extensions.
const void *extensions();

} // namespace meshloom::plugin
