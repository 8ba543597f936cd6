// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches whose bodies move values between sets of devices, which
// the host runs: they give what the same program gives on one mesh.
#include "TwoDeviceSets.h"

namespace meshloom {
namespace {

/// The same program is run with both meshes apart, and with both the same.
struct Meshes {
  Mesh first, second;
};
Meshes apart() {
  return {lowerFour(), upperFour()};
}
Meshes together() {
  return {mesh8(), mesh8()};
}
Layout whole(const Mesh &mesh, unsigned rank = 1) {
  return Layout::replicated(mesh, rank);
}

/// Runs `program(meshes)`, a list of results, in both ways.
template <typename F> void expectAsOnOneMesh(F program) {
  const std::vector<Tensor> actual = program(apart()),
                            expected = program(together());
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    expectSame(actual[i], expected[i]);
  }
}

// The count is an argument: no loop is written out.
TEST(HostControlTest, LoopsOfUnknownLength) {
  expectAsOnOneMesh([](const Meshes &meshes) {
    auto turns = function([&](const Tensor &x, const Tensor &count) {
      return fori_loop(
          0, count,
          [&](const Tensor &i, const Tensor &y) {
            const Tensor there = relayout(y * 2.F, whole(meshes.second));
            return relayout(there + cast(i, DType::F32), whole(meshes.first));
          },
          x);
    });
    const Tensor x = distribute(tensor({1.F, -2.F}), whole(meshes.first));
    std::vector<Tensor> results;
    for (int32_t count : {0, 1, 3, 70})
      results.push_back(turns(x, tensor(count)));
    EXPECT_EQ(results[2].device(), x.device());
    return results;
  });
}

// A condition that depends on what both sets compute.
TEST(HostControlTest, LoopsUntilAConditionHolds) {
  expectAsOnOneMesh([](const Meshes &meshes) {
    auto halve = function([&](const Tensor &x) {
      return while_loop(
          [&](const std::array<Tensor, 2> &s) {
            return greater(reduce_max(relayout(s[0], rowsOf(meshes.second))),
                           0.1F);
          },
          [&](const std::array<Tensor, 2> &s) {
            const Tensor there = relayout(s[0], rowsOf(meshes.second)) / 2.F;
            return std::array<Tensor, 2>{relayout(there, rowsOf(meshes.first)),
                                         s[1] + 1};
          },
          std::array<Tensor, 2>{x, zeros({}, DType::I32)});
    });
    const auto last =
        halve(distribute(abs(sample({5, 3})), rowsOf(meshes.first)));
    return std::vector<Tensor>{last[0], last[1]};
  });
}

// Values that the body only uses, on either set, from the host, and constants.
TEST(HostControlTest, BodiesUseValuesFromOutside) {
  expectAsOnOneMesh([](const Meshes &meshes) {
    const Tensor w = distribute(sample({4, 4}, 3), rowsOf(meshes.second));
    const Tensor onHost = tensor({1.F, 2.F, 3.F, 4.F});
    auto turns = function([&](const Tensor &x, const Tensor &count) {
      const Tensor bias = onHost * 0.25F; // on no devices
      const Tensor scale = reduce_mean(x) + 1.F;
      return fori_loop(
          0, count,
          [&](const Tensor &, const Tensor &y) {
            const Tensor there = relayout(y * scale, rowsOf(meshes.second));
            return relayout(tanh(matmul(there, w)) + bias,
                            rowsOf(meshes.first));
          },
          x);
    });
    return std::vector<Tensor>{
        turns(distribute(sample({8, 4}), rowsOf(meshes.first)), tensor(3))};
  });
}

TEST(HostControlTest, Branches) {
  expectAsOnOneMesh([](const Meshes &meshes) {
    auto choose = function([&](const Tensor &x, const Tensor &index) {
      const auto onSecond = [&](const Tensor &y) {
        return relayout(y, whole(meshes.second));
      };
      return switch_case(
          index, [&] { return onSecond(x + 1.F); },
          [&] { return onSecond(x) * onSecond(x * 2.F); },
          [&] { return broadcast_to(tensor(7.F), {2}); });
    });
    const Tensor x = distribute(tensor({1.F, -2.F}), whole(meshes.first));
    std::vector<Tensor> results;
    for (int32_t index : {0, 1, 2, 5, -1})
      results.push_back(choose(x, tensor(index)));
    EXPECT_EQ(results[0].device(),
              distribute(zeros({2}), whole(meshes.second)).device());
    auto either = function([&](const Tensor &x) {
      return cond(
          greater(reduce_sum(x), 0.F),
          [&] { return relayout(exp(x), whole(meshes.second)); },
          [&] { return relayout(x, whole(meshes.second)) - 1.F; });
    });
    results.push_back(either(x));
    results.push_back(either(x * -1.F));
    return results;
  });
}

// A loop in a branch in a loop.
TEST(HostControlTest, Nested) {
  expectAsOnOneMesh([](const Meshes &meshes) {
    auto nested = function([&](const Tensor &x, const Tensor &count) {
      return fori_loop(
          0, count,
          [&](const Tensor &i, const Tensor &y) {
            return cond(
                equal(i % 2, 0),
                [&] {
                  return fori_loop(
                      0, i + 1,
                      [&](const Tensor &, const Tensor &z) {
                        return relayout(
                            relayout(z, whole(meshes.second)) * 0.5F + 1.F,
                            whole(meshes.first));
                      },
                      y);
                },
                [&] { return y + 2.F; });
          },
          x);
    });
    const Tensor x = distribute(tensor({1.F, -2.F}), whole(meshes.first));
    return std::vector<Tensor>{nested(x, tensor(5))};
  });
}

// Gradients go through them: of what is carried and of what is used.
TEST(HostControlTest, Gradients) {
  expectAsOnOneMesh([](const Meshes &meshes) {
    const Tensor w = distribute(sample({4, 4}, 3), rowsOf(meshes.second));
    auto gradients = function([&](const Tensor &x, const Tensor &w,
                                  const Tensor &flag) {
      GradientTape tape;
      tape.watch(x);
      tape.watch(w);
      const Tensor y = cond(
          flag,
          [&] { return tanh(matmul(relayout(x, rowsOf(meshes.second)), w)); },
          [&] { return relayout(x * x, rowsOf(meshes.second)); });
      const Tensor z = fori_loop(
          0, 70, // more than are written out
          [&](const Tensor &, const Tensor &z) {
            const Tensor back = relayout(z, rowsOf(meshes.first)) * 0.9F;
            return relayout(back + 0.1F * x, rowsOf(meshes.second));
          },
          y);
      return tape.gradient(reduce_sum(square(z)), std::vector<Tensor>{x, w});
    });
    const Tensor x = distribute(sample({8, 4}), rowsOf(meshes.first));
    std::vector<Tensor> results;
    for (bool flag : {true, false})
      for (const Tensor &gradient : gradients(x, w, tensor(flag)))
        results.push_back(gradient);
    EXPECT_EQ(results[0].device(), x.device());
    EXPECT_EQ(results[1].device(), w.device());
    return results;
  });
}

// Carried values may change places and be scalars; there are second
// derivatives; a tape outside knows the function.
TEST(HostControlTest, ScansSwapsAndTapesOutside) {
  expectAsOnOneMesh([](const Meshes &meshes) {
    const Tensor x = distribute(tensor({1.F, 2.F}), whole(meshes.first));
    auto sums = function([&](const Tensor &x, const Tensor &factors) {
      const auto [last, ys] = scan(
          [&](const Tensor &c, const Tensor &factor) {
            const Tensor there = relayout(c * factor, whole(meshes.second));
            const Tensor next = relayout(there + 1.F, whole(meshes.first));
            return std::pair(next, reduce_sum(next));
          },
          x, factors);
      return std::vector<Tensor>{last, ys};
    });
    std::vector<Tensor> results = sums(x, 0.01F * range(70, DType::F32));
    auto swap = function([&](const Tensor &x, const Tensor &count) {
      const auto last = fori_loop(
          0, count,
          [&](const Tensor &, const std::array<Tensor, 2> &s) {
            return std::array<Tensor, 2>{relayout(s[1], whole(meshes.first)),
                                         relayout(s[0], whole(meshes.second)) +
                                             1.F};
          },
          std::array<Tensor, 2>{x, relayout(x * 10.F, whole(meshes.second))});
      return std::vector<Tensor>{last[0], last[1]};
    });
    for (const Tensor &value : swap(x, tensor(3)))
      results.push_back(value);
    auto second = function([&](const Tensor &x, const Tensor &flag) {
      GradientTape outer;
      outer.watch(x);
      GradientTape inner;
      inner.watch(x);
      const Tensor y = cond(
          flag, [&] { return relayout(x * x * x, whole(meshes.second)); },
          [&] { return relayout(x, whole(meshes.second)); });
      const Tensor slope = inner.gradient(reduce_sum(y * y), x);
      return outer.gradient(reduce_sum(slope), x);
    });
    results.push_back(second(x, tensor(true)));
    results.push_back(second(x, tensor(false)));
    auto doubled = function([&](const Tensor &x, const Tensor &count) {
      return fori_loop(
          0, count,
          [&](const Tensor &, const Tensor &y) {
            return relayout(relayout(y * 2.F, whole(meshes.second)),
                            whole(meshes.first));
          },
          x);
    });
    GradientTape tape;
    tape.watch(x);
    results.push_back(
        tape.gradient(reduce_sum(square(doubled(x, tensor(3)))), x));
    return results;
  });
}

// Variables on both sets are assigned in loops and branches.
TEST(HostControlTest, Variables) {
  expectAsOnOneMesh([](const Meshes &meshes) {
    DVariable low(distribute(zeros({2}), whole(meshes.first))),
        high(distribute(ones({2}), whole(meshes.second)));
    auto train = function([&](const Tensor &x, const Tensor &count) {
      fori_loop(0, count, [&](const Tensor &i) {
        low.assign_add(x);
        high.assign_add(relayout(low.read_value(), whole(meshes.second)));
        cond(
            equal(i, 1),
            [&] {
              high.assign(high * 2.F);
              return relayout(x, whole(meshes.second));
            },
            [&] { return relayout(x, whole(meshes.second)) + 1.F; });
      });
    });
    train(distribute(tensor({1.F, -2.F}), whole(meshes.first)), tensor(4));
    return std::vector<Tensor>{low.read_value(), high.read_value()};
  });
}

// A branch that is not taken does nothing.
TEST(HostControlTest, OneBranchRuns) {
  const Meshes meshes = apart();
  auto choose = function([&](const Tensor &x, const Tensor &flag) {
    return cond(
        flag,
        [&] {
          debugging::assert_less(reduce_max(x), 0.F, "it is taken");
          return relayout(x, whole(meshes.second));
        },
        [&] { return relayout(x, whole(meshes.second)) * 2.F; });
  });
  const Tensor x = distribute(ones({2}), whole(meshes.first));
  expectSame(choose(x, tensor(false)), tensor({2.F, 2.F}));
  EXPECT_ERROR(choose(x, tensor(true)), HAS("it is taken"));
}

TEST(HostControlTest, SaysWhereValuesHaveToBe) {
  const Meshes meshes = apart();
  const Tensor x = distribute(ones({2}), whole(meshes.first));
  auto leaves = function([&](const Tensor &x, const Tensor &count) {
    return fori_loop(
        0, count,
        [&](const Tensor &, const Tensor &y) {
          return relayout(y, whole(meshes.second)) + 1.F;
        },
        x);
  });
  EXPECT_ERROR(leaves(x, tensor(3)), HAS("of the loop on mesh[low=4]"),
               HAS("got it on mesh[high=4]"), HAS("at the end of the body"),
               HAS("HostControlTest.cpp"));
  auto disagrees = function([&](const Tensor &x, const Tensor &flag) {
    return cond(
        flag, [&] { return relayout(x, whole(meshes.second)); },
        [&] { return x + 1.F; });
  });
  EXPECT_ERROR(disagrees(x, tensor(true)), HAS("result 0 of the branch"),
               HAS("mesh[low=4]"), HAS("mesh[high=4]"));
}

} // namespace
} // namespace meshloom
