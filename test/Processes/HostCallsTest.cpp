// Functions of the host that every process calls: what they give is the same in
// all, or an error in all.
#include "../Distribute/Testing.h"
#include "meshloom/API/Processes.h"
#include "meshloom/Meshloom.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace meshloom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Makes a function known that gives element(i) at the i-th place of each of
/// its results.
void known(const std::string &name, std::function<double(int64_t)> element) {
  register_custom_call(
      name, {"",
             [element = std::move(element)](const CustomCall &call) {
               for (const CustomOperand &result : call.results) {
                 const int64_t count = elementCount(result.shape);
                 for (int64_t i = 0; i < count; ++i)
                   if (result.type == DType::F32)
                     static_cast<float *>(result.data)[i] = float(element(i));
                   else if (result.type == DType::F64)
                     static_cast<double *>(result.data)[i] = element(i);
                   else
                     static_cast<int8_t *>(result.data)[i] = int8_t(element(i));
               }
               return Status(Success());
             }})
      .value_or_throw();
}
bool isLast() {
  return client_id() == num_clients() - 1;
}
/// A value of all processes.
Tensor whole() {
  const Mesh mesh = create_distributed_mesh({{"batch", 2 * num_clients()}});
  return distribute(ones({4}), Layout::replicated(mesh, 1));
}
/// What is said where the last process has got something else.
testing::Matcher<std::string> saysThatTheLastDiffers(const std::string &name) {
  return AllOf(
      HasSubstr("HostCallsTest.cpp:"),
      HasSubstr(fmt::format("'{}' gave other results in rank {} (host ", name,
                            num_clients() - 1)),
      HasSubstr("than in rank 0 (host "),
      HasSubstr("it must give the same in all"));
}

TEST(HostCallsTest, WhatDiffersIsAnErrorInAll) {
  known("which_rank", [](int64_t) { return isLast() ? 1 : 0; });
  known("seven", [](int64_t) { return 7; });
  const Tensor x = whole();
  const TensorType scalar{DType::F32, {}};
  EXPECT_THAT(
      errorOf([&] {
        (void)host_call("which_rank", {x}, {scalar}).front().item<float>();
      }),
      saysThatTheLastDiffers("which_rank"));
  for (const char *name : {"which_rank", "seven"}) {
    auto add = function([&](const Tensor &value) {
      return value + host_call(name, {value}, {scalar}).front();
    });
    // What is called afterwards is well.
    for (int i = 0; i < 2; ++i)
      if (std::string_view(name) == "seven")
        EXPECT_EQ(reduce_sum(add(x)).item<float>(), 32);
      else
        EXPECT_THAT(errorOf([&] { (void)reduce_sum(add(x)).item<float>(); }),
                    saysThatTheLastDiffers(name));
  }
}

// One element of many, and two that have changed places.
TEST(HostCallsTest, EveryElementCounts) {
  known("counted", [](int64_t i) { return double(i % 100); });
  known("one_more", [](int64_t i) {
    return double(i % 100 + (isLast() && i == 77 ? 1 : 0));
  });
  known("swapped", [](int64_t i) {
    return double((isLast() && (i == 20 || i == 21) ? 41 - i : i) % 100);
  });
  const Tensor x = whole();
  for (DType type : {DType::F32, DType::F64, DType::I8}) {
    auto sum = [&](const std::string &name) {
      return errorOf([&] {
        const auto results =
            host_call(name, {x}, {{type, {3, 31}}, {DType::F32, {2}}});
        (void)cast(reduce_sum(results.front()), DType::F32).item<float>();
      });
    };
    EXPECT_EQ(sum("counted"), "");
    EXPECT_THAT(sum("one_more"), saysThatTheLastDiffers("one_more"));
    EXPECT_THAT(sum("swapped"), saysThatTheLastDiffers("swapped"));
  }
}

// All processes leave the loop at the same iteration, by the error.
TEST(HostCallsTest, WhatALoopGoesByIsComparedBeforeItGoesOn) {
  static int64_t calls = 0;
  known("how_many", [](int64_t) { return isLast() && ++calls > 2 ? 0 : 1; });
  auto count = function([](const Tensor &value) {
    return while_loop(
        [](const Tensor &sum) {
          return host_call("how_many", {sum}, {{DType::F32, {}}}).front() > 0.5;
        },
        [](const Tensor &sum) { return sum + 1.0; }, reduce_sum(value));
  });
  EXPECT_THAT(errorOf([&] { (void)count(whole()).item<float>(); }),
              saysThatTheLastDiffers("how_many"));
  EXPECT_EQ(calls, isLast() ? 3 : 0);
}

// Without a rule a function may be anything; with one it is an op.
TEST(HostCallsTest, CustomCallsWithoutARuleAreCompared) {
  known("anything", [](int64_t) { return isLast() ? 1 : 0; });
  const auto anything = find_custom_call("anything");
  register_custom_call("rows", {"a -> a", anything->run}).value_or_throw();
  const Tensor x = whole();
  EXPECT_THAT(
      errorOf([&] {
        (void)reduce_sum(custom_call("anything", {x}, like(x))).item<float>();
      }),
      saysThatTheLastDiffers("anything"));
  // Each process calls it about its own rows.
  const Tensor rows =
      distribute(ones({4 * num_clients()}),
                 Layout::batch_sharded(x.layout().mesh(), "batch", 1));
  EXPECT_EQ(reduce_sum(custom_call("rows", {rows}, like(rows))).item<float>(),
            4);
}

TEST(HostCallsTest, DevicesHaveTheirOwnInAShardMap) {
  known("own", [](int64_t) { return double(client_id()); });
  const Mesh mesh = whole().layout().mesh();
  const Layout rows = Layout::batch_sharded(mesh, "batch", 1);
  const Tensor all =
      shard_map(
          [](const Tensor &x) { return host_call("own", {x}, {like(x)}); },
          mesh, {rows}, {rows})(distribute(ones({mesh.size()}), rows))
          .front();
  const int64_t ranks = num_clients();
  EXPECT_EQ(reduce_sum(all).item<float>(), float(ranks * (ranks - 1)));
}

} // namespace
} // namespace meshloom
