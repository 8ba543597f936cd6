// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of virtual CPUs hold for the process: a program of its own.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(ClientOptionsTest, ComeBeforeDevicesAreUsed) {
  EXPECT_ERROR(set_client_options({.workers = -1}), HAS("-1 workers"));
  EXPECT_ERROR(connect_platform("cpu:threads=2"), HAS("workers=N"),
               HAS("'threads=2'"));
  set_client_options(
      {.workers = 1, .memory_limit = 1 << 20, .private_memories = true});
  Mesh mesh = mesh8();
  Tensor x =
      distribute(sample({8, 8}), Layout::batch_sharded(mesh, "batch", 2));
  auto sum = function([](const Tensor &x) { return reduce_sum(x, 0); });
  expectSame(sum(x), reduce_sum(sample({8, 8}), 0));
  // Every device has its own copy of the result.
  EXPECT_GE(sum.get_concrete_function(x).statistics().peak_bytes,
            8 * 8 * 4 + 8 * 8 * 4);
  auto large = function([](const Tensor &x) {
    return reduce_sum(exp(matmul(broadcast_to(x(newaxis), {600, 8, 8}),
                                 ones({600, 8, 64}))),
                      {0, 1}) +
           reduce_sum(range(1 << 20, DType::F32));
  });
  EXPECT_ERROR(large(x), HAS("memory"));
  // Such a call takes no variable's value.
  DVariable v(ones({8}));
  auto update = function([&](const Tensor &x) {
    v.assign_add(ones({8}));
    return large(x) + reduce_sum(v.read_value());
  });
  EXPECT_THROW(update(x), ResourceExhaustedError);
  expectNear(v.read_value(), std::vector<double>(8, 1));
  EXPECT_ERROR(set_client_options({}), HAS("[set_client_options]"),
               HAS("must come before"), HAS("is in use"));
}

} // namespace
} // namespace meshloom
