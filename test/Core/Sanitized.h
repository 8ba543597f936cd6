// Sanitized: whether this program is built with a sanitizer. Those look at the
// code, not at its answers, so sweeps then try fewer cases.
#pragma once

namespace meshloom::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
    __has_feature(undefined_behavior_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

} // namespace meshloom::test
