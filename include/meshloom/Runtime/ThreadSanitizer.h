// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether this is compiled for ThreadSanitizer.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define MESHLOOM_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MESHLOOM_THREAD_SANITIZER 1
#endif
#endif
