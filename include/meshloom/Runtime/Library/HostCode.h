// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostCode: the machine code of a compiled program, made ready to be called.
#pragma once

#include "meshloom/Core/Compiled.h"

#include <span>

namespace meshloom::library {

/// The kind of the code of the target cpu: ELF shared objects.
inline constexpr std::string_view elfCode = "x86-64-elf";

/// The functions of a program, null where it needs none. Fails on what is no
/// program of the target cpu, and on code that this machine cannot run.
/// `platform`: who asks, for messages.
Result<std::shared_ptr<const CodeSymbols>> loadCode(const Compiled &compiled,
                                                    std::string_view platform);

/// Fails, naming it, where this CPU lacks one of `features`: a comma-separated
/// list as Code::requirements has it ("avx2,fma").
Status checkCPUFeatures(std::string_view features);

/// The kernels of a saved program: loads an ELF shared object from memory.
Result<std::shared_ptr<const CodeSymbols>>
loadSharedObject(std::span<const char> bytes);

} // namespace meshloom::library
