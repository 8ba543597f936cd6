// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formatters for {fmt}: fmt::format("{} on {}", x.shape(), x.mesh()). Not part
// of Meshloom.h, which needs the standard library only; lists such as Shape are
// printed by fmt/ranges.h.
#pragma once

#include "meshloom/API/Mesh.h"
#include "meshloom/API/Variable.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

template <> struct fmt::formatter<meshloom::DType> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<meshloom::DeviceSpec> : fmt::ostream_formatter {};
template <> struct fmt::formatter<meshloom::Mesh> : fmt::ostream_formatter {};
template <> struct fmt::formatter<meshloom::Layout> : fmt::ostream_formatter {};
template <> struct fmt::formatter<meshloom::Tensor> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<meshloom::DVariable> : fmt::ostream_formatter {};
