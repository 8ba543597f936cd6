// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of the conformance suite that does not ask what programs consist of:
// every platform passes it, those that compile StableHLO too. A backend's test
// program instantiates it with the ways to make its client:
//
//   INSTANTIATE_TEST_SUITE_P(Name, ClientConformance,
//                            testing::Values(ClientMaker{...}),
//                            ClientMaker::nameOf);
#pragma once

#include "TestPrograms.h"

#include <functional>

namespace meshloom::test {

/// The program "test", of one kernel: its arguments "b0" and "b1" and its
/// result are f32[5, 3] of that layout; the result is b0 - b1, and may take
/// b0's memory.
Compiled updateByKernel(const Mesh &mesh, const Layout &layout);

struct ClientMaker {
  std::string name;
  std::function<std::shared_ptr<Client>(int64_t devices)> make;
  /// The same program in the form that the client loads.
  std::function<Compiled(const Mesh &, const Layout &)> update = updateByKernel;
  /// Why it cannot be made here; empty: it can.
  std::string missing = {};

  static std::string nameOf(const testing::TestParamInfo<ClientMaker> &info) {
    return info.param.name;
  }
  friend void PrintTo(const ClientMaker &maker, std::ostream *out) {
    *out << maker.name;
  }
};

class ClientConformance : public testing::TestWithParam<ClientMaker> {
protected:
  void SetUp() override {
    if (!GetParam().missing.empty())
      GTEST_SKIP() << GetParam().missing;
  }
  std::shared_ptr<Client> client(int64_t devices) {
    return GetParam().make(devices);
  }
  Compiled update(const Mesh &mesh, const Layout &layout) {
    return GetParam().update(mesh, layout);
  }
};

} // namespace meshloom::test
