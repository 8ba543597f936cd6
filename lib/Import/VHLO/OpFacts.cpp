// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OpFacts.h"

#include "llvm/ADT/StringMap.h"

namespace meshloom::vhlo {

const OpFacts *factsOf(StringRef name) {
  // Never destroyed: programs may be read while the process ends.
  static const auto &facts = *[] {
    auto *map = new llvm::StringMap<OpFacts>;
    auto add = [&](StringRef op, unsigned release, StringRef attributes) {
      OpFacts &added = (*map)[op];
      added.release = release;
      attributes.split(added.attributes, ' ', /*MaxSplit=*/-1,
                       /*KeepEmpty=*/false);
    };
#define OP(name, release, attributes) add(name, release, attributes);
#include "OpFacts.def"
    return map;
  }();
  auto found = facts.find(name);
  return found == facts.end() ? nullptr : &found->second;
}

} // namespace meshloom::vhlo
