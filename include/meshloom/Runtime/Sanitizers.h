// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which sanitizers this is compiled for.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define MESHLOOM_THREAD_SANITIZER 1
#endif
#if defined(__SANITIZE_ADDRESS__)
#define MESHLOOM_ADDRESS_SANITIZER 1
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MESHLOOM_THREAD_SANITIZER 1
#endif
#if __has_feature(address_sanitizer)
#define MESHLOOM_ADDRESS_SANITIZER 1
#endif
#endif
