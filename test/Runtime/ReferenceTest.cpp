// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference backend: the conformance suite.
#include "Conformance.h"

#include "meshloom/Runtime/Backends/Reference/ReferenceClient.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::test;

namespace {
ClientMaker maker(std::string name, double launchFrom) {
  return {std::move(name), [launchFrom](int64_t devices) {
            std::vector<int64_t> numbers(static_cast<size_t>(devices));
            std::iota(numbers.begin(), numbers.end(), int64_t(0));
            return createReferenceClient(numbers, launchFrom).value_or_throw();
          }};
}

INSTANTIATE_TEST_SUITE_P(Reference, Conformance,
                         testing::Values(maker("AtOnce", 1e300),
                                         maker("Launched", 0)),
                         ClientMaker::nameOf);

TEST(ReferenceClientTest, NeedsADevice) {
  EXPECT_FALSE(createReferenceClient({}));
}

// More than there is: an error that names the op, and nothing is kept.
TEST(ReferenceClientTest, OutOfMemoryNamesTheOp) {
  auto client = *createReferenceClient({0});
  Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  const int64_t n = 1 << 22; // 64 TiB
  unsigned out = b.buffer({n, n}, Layout({UNSHARDED, UNSHARDED}, mesh));
  b.kernel("index", {{n}, {n}}, {}, {{out, byLoops({0, 1})}});
  b.result(out);
  auto executable = client->load(Compiled(b.program, testKernels()));
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().message().find(
                "test.mlir:1:3: in 'dtensor.index': out of memory"),
            0u)
      << executable.error().message();
  EXPECT_EQ(client->bytesInUse(), 0);
}
} // namespace
