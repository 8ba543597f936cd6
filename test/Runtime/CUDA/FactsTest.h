// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the backend's facts about a library of NVIDIA's are compared with the
// library's header, as the test is compiled.
#pragma once

#include <cstddef>
#include <gtest/gtest.h>
#include <type_traits>

namespace meshloom::cuda {

/// Arguments are passed alike: both are pointers, or numbers of one size.
template <typename A, typename B>
constexpr bool isAlike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
/// Functions that return `Result`, and `RealResult` in the header, are called
/// alike: all arguments are passed so.
template <typename Result, typename RealResult, typename Fact, typename Real>
constexpr bool isSame = false;
template <typename Result, typename RealResult, typename... A, typename... B>
constexpr bool isSame<Result, RealResult, Result(A...), RealResult(B...)> =
    sizeof...(A) == sizeof...(B) && (isAlike<A, B> && ...);

} // namespace meshloom::cuda

#define SAME(fact, real) static_assert(int(fact) == int(real), #real)
#define SAME_FIELD(fact, field, real, realField)                               \
  static_assert(offsetof(fact, field) == offsetof(real, realField), #realField)
