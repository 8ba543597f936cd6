// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of functions, and the one symbol of the library.
#include "FunctionTable.h"

#include "PluginObjects.h"

#include <fmt/format.h>
#include <utility>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Slot;

namespace {
/// The version of the interface that callers are told. It decides what they
/// ask for: JAX asks a newer plug-in for more.
constexpr int32_t minorVersion = 95;
/// The number of functions in the table of that version.
constexpr unsigned slots = unsigned(Slot::Client_Load) + 1;

template <unsigned slot> capi::Handle missing(void *) noexcept {
  return handleOf(Error(
      fmt::format("{} is not implemented by Meshloom", capi::slotNames[slot]),
      ErrorCode::UNIMPLEMENTED));
}

template <unsigned... slot>
void setMissing(char *table, std::integer_sequence<unsigned, slot...>) {
  (capi::write(table, capi::fieldOf(Slot(slot)),
               capi::Function(&missing<slot>)),
   ...);
}
} // namespace

capi::Handle plugin::answer(Entry entry, void *structure) noexcept {
  try {
    Status status = entry(Arguments(structure));
    return status ? nullptr : handleOf(status.error());
  } catch (const std::exception &exception) {
    return handleOf(Error::of(exception));
  } catch (...) {
    return handleOf(Error("an unknown exception", ErrorCode::INTERNAL));
  }
}

FunctionTable::FunctionTable()
    : bytes(capi::Api::functions + slots * sizeof(void *)) {
  using Version = capi::Api_Version;
  capi::write(bytes.data(), capi::Api::struct_size, bytes.size());
  char *version = bytes.data() + capi::Api::version.offset;
  capi::write(version, Version::struct_size, Version::structSize);
  capi::write(version, Version::major_version, 0);
  capi::write(version, Version::minor_version, minorVersion);
  setMissing(bytes.data(), std::make_integer_sequence<unsigned, slots>());
}

void FunctionTable::setExtensions(const void *first) {
  capi::write(bytes.data(), capi::Api::extension_start, first);
}

/// The table; the same one for all callers in the process.
extern "C" __attribute__((visibility("default"))) const void *GetPjrtApi() {
  // It is not destroyed at exit: callers still use it there.
  static const FunctionTable &table = []() -> FunctionTable & {
    auto &filled = *new FunctionTable;
    addErrorsAndEvents(filled);
    addClients(filled);
    addDevices(filled);
    addBuffers(filled);
    addExecutables(filled);
    addExecution(filled);
    addTransfers(filled);
    filled.setExtensions(extensions());
    return filled;
  }();
  return table.data();
}
