// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite on logical GPUs of the stand-in driver.
#include "../Conformance.h"

#include "meshloom/Runtime/Platform.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::test;

namespace {
/// A platform of its own for each client, by a limit of its own.
template <int graphsFrom> std::shared_ptr<Client> makeGPUs(int64_t devices) {
  static int64_t limit = 1 << 29;
  return platform(fmt::format("cuda:driver={},memory-limit={},graphs={}",
                              MESHLOOM_STANDIN_PATH, ++limit, graphsFrom))
      .value_or_throw()
      ->client(devices)
      .value_or_throw();
}

const auto clients = testing::Values(ClientMaker{"Graphs", makeGPUs<1>},
                                     ClientMaker{"Stream", makeGPUs<0>});
INSTANTIATE_TEST_SUITE_P(CUDA, Conformance, clients, ClientMaker::nameOf);
INSTANTIATE_TEST_SUITE_P(CUDA, ClientConformance, clients, ClientMaker::nameOf);
} // namespace
