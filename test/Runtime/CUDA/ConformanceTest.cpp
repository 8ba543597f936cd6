// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite on logical GPUs of the stand-in driver.
#include "../Conformance.h"

#include "meshloom/Runtime/Platform.h"

#include <cstdlib>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::test;

namespace {
/// The stand-in driver reads it when a first client is made.
const int twoGPUs = setenv("MESHLOOM_STANDIN", "gpus=2", /*replace=*/0);

/// A platform of its own for each client, by a limit of its own.
template <int graphsFrom> std::shared_ptr<Client> makeGPUs(int64_t devices) {
  static int64_t limit = 1 << 29;
  return platform(fmt::format("cuda:driver={},card=0,memory-limit={},graphs={}",
                              MESHLOOM_STANDIN_PATH, ++limit, graphsFrom))
      .value_or_throw()
      ->client(devices)
      .value_or_throw();
}

/// Logical GPUs on two cards, where these can have as many each.
std::shared_ptr<Client> makeCards(int64_t devices, const char *exchange) {
  static int64_t limit = 1 << 28;
  return platform(fmt::format("cuda:driver={},memory-limit={},logical-gpus={},"
                              "exchange={},nccl={}",
                              MESHLOOM_STANDIN_PATH, ++limit,
                              devices % 2 ? devices : devices / 2, exchange,
                              MESHLOOM_STANDIN_NCCL_PATH))
      .value_or_throw()
      ->client(devices)
      .value_or_throw();
}
std::shared_ptr<Client> makeCardsByHost(int64_t devices) {
  return makeCards(devices, "host");
}
std::shared_ptr<Client> makeCardsByPeer(int64_t devices) {
  return makeCards(devices, "peer");
}
std::shared_ptr<Client> makeCardsByNCCL(int64_t devices) {
  return makeCards(devices, "nccl");
}

const auto clients = testing::Values(
    ClientMaker{"Graphs", makeGPUs<1>}, ClientMaker{"Stream", makeGPUs<0>},
    ClientMaker{"CardsByHost", makeCardsByHost},
    ClientMaker{"CardsByPeer", makeCardsByPeer},
    ClientMaker{"CardsByNCCL", makeCardsByNCCL});
INSTANTIATE_TEST_SUITE_P(CUDA, Conformance, clients, ClientMaker::nameOf);
INSTANTIATE_TEST_SUITE_P(CUDA, ClientConformance, clients, ClientMaker::nameOf);
} // namespace
