// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between our types and those that go over the wire.
#pragma once

#include "Coordination.pb.h"
#include "meshloom/Cluster/Coordination/Failure.h"

#include <chrono>
#include <string_view>

namespace meshloom::detail {

/// Where calls carry the run's token.
inline constexpr const char *tokenKey = "meshloom-token";
/// The limits of a message, in bytes: the longest value, and some more.
inline constexpr int longestMessage = 65 << 20;
inline constexpr size_t longestValue = size_t(64) << 20;

coordination::FailureMessage messageOf(const Failure &failure);
Failure failureOf(const coordination::FailureMessage &message);

/// Short enough for the status of a call, which travels in a header of 8 KiB.
std::string cut(std::string_view text);

/// Returns a time that another process asked for, within what a clock can
/// count: at most a year.
std::chrono::milliseconds clampTimeout(int64_t milliseconds);

} // namespace meshloom::detail
