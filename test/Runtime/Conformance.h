// The conformance suite: what every backend does. A backend's test program
// instantiates it with the ways to make its client:
//
//   INSTANTIATE_TEST_SUITE_P(Name, Conformance,
//   testing::Values(ClientMaker{...}),
//                            ClientMaker::nameOf);
#pragma once

#include "TestPrograms.h"

#include <functional>

namespace meshloom::test {

struct ClientMaker {
  std::string name;
  std::function<std::shared_ptr<Client>(int64_t devices)> make;
  static std::string nameOf(const testing::TestParamInfo<ClientMaker> &info) {
    return info.param.name;
  }
};

class Conformance : public testing::TestWithParam<ClientMaker> {
protected:
  std::shared_ptr<Client> client(int64_t devices) {
    return GetParam().make(devices);
  }
};

} // namespace meshloom::test
