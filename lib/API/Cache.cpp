// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Cache.h.
#include "meshloom/API/Cache.h"

#include "meshloom/Support/ContentCache.h"

meshloom::CacheStatistics meshloom::cache_statistics() {
  return ContentCache::process().statistics();
}
