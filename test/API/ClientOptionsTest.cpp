// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of virtual CPUs hold for the process: a program of its own.
#include "Testing.h"

#include <array>

namespace meshloom {
namespace {

/// The options of this program, which the first test that runs sets.
void limitMemory() {
  static const bool isSet = [] {
    set_client_options(
        {.workers = 1, .memory_limit = 1 << 20, .private_memories = true});
    return true;
  }();
  (void)isSet;
}

TEST(ClientOptionsTest, ComeBeforeDevicesAreUsed) {
  EXPECT_ERROR(set_client_options({.workers = -1}), HAS("-1 workers"));
  EXPECT_ERROR(connect_platform("cpu:threads=2"), HAS("workers=N"),
               HAS("'threads=2'"));
  limitMemory();
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

/// All memory that is left for the devices of a mesh, in pieces down to 64
/// bytes.
std::vector<Tensor> fillMemory(const Mesh &mesh) {
  std::vector<Tensor> held;
  for (int64_t count = 1 << 16; count >= 16; count /= 2)
    try {
      while (true)
        held.push_back(distribute(ones({count}), Layout::replicated(mesh, 1)));
    } catch (const ResourceExhaustedError &) {
    }
  return held;
}

/// Calls `f` while there is no memory, until the call itself fails: one whose
/// last run was long returns before it has begun. `reset` comes before calls.
template <typename F, typename R>
void expectRefusal(const Mesh &mesh, F f, R reset) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    reset();
    const std::vector<Tensor> held = fillMemory(mesh);
    try {
      f();
    } catch (const ResourceExhaustedError &) {
      return;
    }
  }
  FAIL() << "no call was refused";
}

// A run for which there is no memory leaves variables their values.
TEST(ClientOptionsTest, VariablesOutliveRunsWithoutMemory) {
  limitMemory();
  const Mesh one = create_mesh({{"x", 1}}, {"CPU:0"});
  DVariable v(distribute(ones({8}), Layout::replicated(one, 1)));
  auto update = function([&](const Tensor &x) {
    v.assign_add(x);
    return broadcast_to(v * 2.F, {256, 8});
  });
  const Tensor x = distribute(ones({8}), Layout::replicated(one, 1));
  update(x);
  expectRefusal(one, [&] { (void)update(x); }, [&] { v.assign(3 * x); });
  expectNear(v.read_value(), std::vector<double>(8, 3));
  update(x);
  expectNear(v.read_value(), std::vector<double>(8, 4));
}

/// Makes launches of a function that is to fail in the background: its runs
/// are long, and there is no memory. False: the call itself was refused.
template <typename F> bool failsLater(const Mesh &mesh, F f) {
  const std::vector<Tensor> held = fillMemory(mesh);
  try {
    f();
    return true;
  } catch (const ResourceExhaustedError &) {
    return false;
  }
}

/// Takes long enough that the next run of its function is launched; zero.
Tensor longZero(const Tensor &x) {
  return 0.F *
         reduce_sum(fori_loop(
             0, 100000,
             [](const Tensor &, const Tensor &a) { return tanh(matmul(a, a)); },
             broadcast_to(x, {8, 8})));
}

// A run in the background that finds no memory reports its error once, and
// leaves variables their old values.
TEST(ClientOptionsTest, VariablesOutliveLaunchedRunsWithoutMemory) {
  limitMemory();
  const Mesh one = create_mesh({{"x", 1}}, {"CPU:0"});
  const Layout whole = Layout::replicated(one, 1);
  DVariable v(distribute(ones({8}), whole)), w(distribute(ones({8}), whole));
  auto step = function([&](const Tensor &x) {
    v.assign_add(x + longZero(x));
    w.assign_sub(x);
    return broadcast_to(v * 2.F, {256, 8});
  });
  const Tensor x = distribute(ones({8}), whole);
  float steps = 0;
  auto expectValues = [&] {
    EXPECT_EQ(v.read_value()(0).item<float>(), 1 + steps);
    EXPECT_EQ(w.read_value()(0).item<float>(), 1 - steps);
  };
  int launched = 0;
  for (int attempt = 0; attempt < 12; ++attempt) {
    SCOPED_TRACE(attempt);
    step(x);
    ++steps;
    expectValues();
    Tensor result;
    const bool isLater = failsLater(one, [&] {
      result = step(x);
      if (attempt % 3 == 2) // which takes what the first one gives
        (void)step(x);
      // The memory is free again only after the runs have failed.
      (void)step.get_concrete_function(x).statistics();
    });
    if (isLater) {
      ++launched;
      if (attempt % 3 == 0) // the next call reports it
        EXPECT_THROW(step(x), ResourceExhaustedError);
      else if (attempt % 3 == 1) // a result does
        EXPECT_THROW((void)result.to_vector<float>(), ResourceExhaustedError);
      else
        EXPECT_THROW((void)v.read_value(), ResourceExhaustedError);
    }
    expectValues();
  }
  EXPECT_GT(launched, 0);
}

// An assignment outside of functions of a value that cannot be computed: the
// call, the assignment or the first read reports it, as they come to know it.
TEST(ClientOptionsTest, VariablesOutliveFailedValues) {
  limitMemory();
  const Mesh one = create_mesh({{"x", 1}}, {"CPU:0"});
  const Layout whole = Layout::replicated(one, 1);
  DVariable v(distribute(ones({8}), whole));
  auto compute = function([&](const Tensor &x) {
    return std::pair(x * 3.F + longZero(x), broadcast_to(x, {256, 8}));
  });
  const Tensor x = distribute(ones({8}), whole);
  for (int attempt = 0; attempt < 6; ++attempt) {
    (void)compute(x).first.to_vector<float>();
    if (failsLater(one, [&] {
          v.assign(compute(x).first);
          (void)compute.get_concrete_function(x).statistics();
        }))
      EXPECT_THROW((void)v.read_value(), ResourceExhaustedError);
    EXPECT_EQ(v.read_value()(0).item<float>(), 1);
  }
  v.assign(compute(x).first);
  EXPECT_EQ(v.read_value()(0).item<float>(), 3);
}

// The same where the run is a loop whose turns exchange values.
TEST(ClientOptionsTest, VariablesOutliveLoopsWithoutMemory) {
  limitMemory();
  const Mesh mesh = mesh8();
  const Layout rows = Layout::batch_sharded(mesh, "batch", 2);
  const Tensor start = distribute(ones({16, 16}), rows);
  DVariable v(start), w(start);
  auto loop = function([&] {
    const auto last = fori_loop(
        0, 2,
        [](const auto &, const std::array<Tensor, 2> &s) {
          return std::array<Tensor, 2>{s[1], matmul(s[0], s[1]) / 16.F};
        },
        std::array<Tensor, 2>{v, w});
    v.assign(relayout(last[0], rows));
    w.assign(relayout(last[1], rows));
    return broadcast_to(v * 2.F, {256, 16, 16});
  });
  loop();
  EXPECT_FALSE(loop.get_concrete_function().collectives().empty());
  expectRefusal(
      mesh, [&] { (void)loop(); },
      [&] {
        v.assign(start * 2);
        w.assign(start * 3);
      });
  expectNear(v.read_value(), std::vector<double>(256, 2));
  expectNear(w.read_value(), std::vector<double>(256, 3));
  v.assign(start * 2);
  w.assign(start * 3);
  (void)loop();
  expectNear(v.read_value(), std::vector<double>(256, 6));
  expectNear(w.read_value(), std::vector<double>(256, 18));
}

// A value that does not fit on the devices that it moves to: the variable that
// was updated before the move has its new value, the other one its old value.
TEST(ClientOptionsTest, VariablesOutliveMovesWithoutMemory) {
  limitMemory();
  const Mesh low = create_mesh({{"low", 4}},
                               {"CPU:0", "CPU:1", "CPU:2", "CPU:3"}),
             high = create_mesh({{"high", 4}},
                                {"CPU:4", "CPU:5", "CPU:6", "CPU:7"});
  auto on = [](const Mesh &mesh, const Tensor &value) {
    return copy_to_mesh(value, mesh);
  };
  DVariable first(on(low, ones({8}))), second(on(high, ones({8})));
  auto step = function([&](const Tensor &x) {
    first.assign_add(broadcast_to(reduce_mean(x), {8}));
    const Tensor moved = relayout(x * 2.F, Layout::replicated(high, 1));
    second.assign_add(broadcast_to(reduce_mean(moved), {8}));
  });
  const Tensor x =
      distribute(ones({4096}), Layout::batch_sharded(low, "low", 1));
  step(x);
  expectRefusal(
      high, [&] { step(x); },
      [&] {
        first.assign(on(low, ones({8})));
        second.assign(on(high, ones({8})));
      });
  expectNear(first.read_value(), std::vector<double>(8, 2));
  expectNear(second.read_value(), std::vector<double>(8, 1));
  step(x);
  expectNear(first.read_value(), std::vector<double>(8, 3));
  expectNear(second.read_value(), std::vector<double>(8, 3));
}

} // namespace
} // namespace meshloom
