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

class Conformance : public ClientConformance {};

} // namespace meshloom::test
