// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite of backends that run Programs, besides what every
// client does (ClientConformance.h). A backend's test program instantiates
// both:
//
//   INSTANTIATE_TEST_SUITE_P(Name, Conformance,
//                            testing::Values(ClientMaker{...}),
//                            ClientMaker::nameOf);
#pragma once

#include "ClientConformance.h"

namespace meshloom::test {

/// Results once they are there: the first error of those that failed, whether
/// the call found out or the work.
inline Result<std::vector<Array>> finished(Result<std::vector<Array>> results) {
  if (results)
    for (const Array &array : *results)
      if (Status done = array.wait(); !done)
        return done.error();
  return results;
}

class Conformance : public ClientConformance {};

} // namespace meshloom::test
