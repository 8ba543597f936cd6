// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sharding rules: text, sizes, and the generic algorithm, by example and by
// property over every way to run many rules on small meshes.
#include "meshloom/Core/ShardingRule.h"
#include "LayoutEnumeration.h"

#include <gmock/gmock.h>
#include <map>
#include <random>

using namespace meshloom;
using namespace meshloom::test;
using testing::HasSubstr;

namespace {
ShardingRule parse(std::string_view text) {
  return ShardingRule::parse(text).value_or_throw();
}

/// A rule with factor sizes given by name.
ShardingRule sized(std::string_view text,
                   const std::map<std::string, int64_t> &sizes,
                   PartialFlow flow = PartialFlow::None) {
  ShardingRule rule = parse(text);
  for (Factor &factor : rule.factors)
    factor.size = sizes.at(factor.name);
  rule.partialFlow = flow;
  return rule;
}

std::vector<Layout> operandLayouts(const ShardingRule &rule,
                                   const OpSharding &sharding,
                                   const Mesh &mesh) {
  std::vector<Layout> layouts;
  for (unsigned i = 0; i < rule.operands.size(); ++i)
    layouts.push_back(operandLayout(rule, i, sharding, mesh));
  return layouts;
}

std::vector<Layout> resultLayouts(const ShardingRule &rule,
                                  const OpSharding &sharding,
                                  const Mesh &mesh) {
  std::vector<Layout> layouts;
  for (unsigned i = 0; i < rule.results.size(); ++i)
    layouts.push_back(resultLayout(rule, i, sharding, mesh));
  return layouts;
}

/// Rules of all shapes: dots, elementwise with broadcasts, compounds, whole
/// dims, scalars, no operands, several results, each flow.
std::vector<ShardingRule> manyRules() {
  std::map<std::string, int64_t> sizes{{"m", 8}, {"k", 5}, {"n", 4}, {"b", 2},
                                       {"h", 4}, {"d", 3}, {"l", 8}, {"o", 1}};
  std::vector<ShardingRule> rules;
  auto add = [&](std::string_view text, PartialFlow flow) -> ShardingRule & {
    rules.push_back(sized(text, sizes, flow));
    return rules.back();
  };
  add("m k, k n -> m n", PartialFlow::LinearEach);
  add("b m k, b k n -> b m n", PartialFlow::LinearEach);
  add("m k l, k l n -> m n", PartialFlow::LinearEach);
  add("m n -> m n", PartialFlow::LinearEach);
  add("m n, m n -> m n", PartialFlow::LinearJoint);
  add("1 n, m n -> m n", PartialFlow::LinearJoint);
  add(", m -> m", PartialFlow::LinearEach);
  add("[] -> m n", PartialFlow::Movement);
  add("-> m n", PartialFlow::None);
  add("m n -> n m", PartialFlow::Movement);
  add("m (h d) -> m h d", PartialFlow::Movement);
  add("h d m -> (h d) m", PartialFlow::Movement);
  add("(o h d) -> o (h d)", PartialFlow::Movement);
  add("(b h d) n -> b h (d n)", PartialFlow::Movement);
  add("(h m) d -> h (m d)", PartialFlow::Movement);
  add("d h -> (h d)", PartialFlow::Movement);
  add("m n! -> m n!", PartialFlow::None);
  add("m n -> m", PartialFlow::LinearEach);
  add("m n, m n -> m, m", PartialFlow::LinearJoint).reduceKind =
      ReduceKind::Max;
  add("(h d) k -> h d", PartialFlow::LinearJoint).reduceKind = ReduceKind::Min;
  add("m k -> ", PartialFlow::LinearEach);
  add("m n, m n, m n -> m n", PartialFlow::LinearJoint).carriers = {1, 2};
  add("m n, m n -> m n", PartialFlow::LinearEach).carriers = {0};
  return rules;
}

/// Calls `visit` with every legal way to run `rule` on `mesh`.
void forEachOpSharding(const ShardingRule &rule, const Mesh &mesh,
                       const std::function<void(const OpSharding &)> &visit) {
  size_t factors = rule.factors.size();
  forEachPlacement(mesh, factors + 1, [&](const Layout::DimAxes &lists) {
    OpSharding sharding{
        {Layout::DimAxes(lists.begin(), lists.begin() + factors)}, {}, 0};
    if (!canRun(rule, sharding.factors, mesh))
      return;
    bool reduces = false;
    for (unsigned f = 0; f < factors; ++f)
      reduces |=
          rule.factors[f].kind == FactorKind::Reduced && !lists[f].empty();
    if (lists[factors].empty())
      return visit(sharding);
    if (rule.partialFlow == PartialFlow::None || rule.operands.empty() ||
        !std::is_sorted(lists[factors].begin(), lists[factors].end()))
      return;
    bool movement = rule.partialFlow == PartialFlow::Movement && !reduces;
    for (ReduceKind kind : {rule.reduceKind, ReduceKind::Prod}) {
      if (kind != rule.reduceKind && !movement)
        continue;
      sharding.passed.clear();
      for (unsigned axis : lists[factors])
        sharding.passed.push_back({axis, kind});
      if (rule.partialFlow != PartialFlow::LinearEach)
        visit(sharding);
      else
        for (unsigned i = 0; i < rule.operands.size(); ++i)
          if (rule.isCarrier(i)) {
            sharding.carrier = i;
            visit(sharding);
          }
    }
  });
}

std::vector<Mesh> ruleMeshes() {
  return {makeMesh({2}), makeMesh({3}), makeMesh({2, 2}), makeMesh({2, 4}),
          makeMesh({2, 2, 2})};
}

/// How an op runs, for failure messages.
std::string describe(const ShardingRule &rule, const OpSharding &sharding,
                     const Mesh &mesh) {
  std::string text = rule.to_string() + " as";
  for (const Layout &layout : operandLayouts(rule, sharding, mesh))
    text += " " + layout.spec_string();
  text += " ->";
  for (const Layout &layout : resultLayouts(rule, sharding, mesh))
    text += " " + layout.spec_string();
  return text;
}

// opSharding is the inverse of operandLayout and resultLayout.
TEST(ShardingRulePropertyTest, OpShardingInvertsItsLayouts) {
  size_t count = 0;
  for (const ShardingRule &rule : manyRules())
    for (const Mesh &mesh : ruleMeshes())
      forEachOpSharding(rule, mesh, [&](const OpSharding &sharding) {
        auto operands = operandLayouts(rule, sharding, mesh);
        auto results = resultLayouts(rule, sharding, mesh);
        ASSERT_EQ(opSharding(rule, operands, results), sharding)
            << describe(rule, sharding, mesh);
        ++count;
      });
  EXPECT_GT(count, 3000u);
}

// Forward: the operands' layouts alone give back the factors and what passes.
TEST(ShardingRulePropertyTest, OperandsDetermineHowAnOpRuns) {
  for (const ShardingRule &rule : manyRules())
    for (const Mesh &mesh : ruleMeshes())
      forEachOpSharding(rule, mesh, [&](const OpSharding &sharding) {
        auto operands = operandLayouts(rule, sharding, mesh);
        FactorSharding factors = FactorSharding::none(rule);
        for (unsigned i = 0; i < operands.size(); ++i)
          merge(rule, factors, project(rule, rule.operands[i], operands[i]),
                mesh);
        for (unsigned f = 0; f < rule.factors.size(); ++f) {
          auto has = [&](const ShardingRule::Tensor &dims) {
            return std::any_of(dims.begin(), dims.end(), [&](const auto &dim) {
              return std::find(dim.begin(), dim.end(), f) != dim.end();
            });
          };
          bool inOperand =
              std::any_of(rule.operands.begin(), rule.operands.end(), has);
          ASSERT_EQ(factors.axes[f], inOperand ? sharding.factors.axes[f]
                                               : std::vector<unsigned>())
              << describe(rule, sharding, mesh);
        }
        OpSharding passed = passPartial(rule, operands, sharding.factors);
        ASSERT_EQ(passed, sharding) << describe(rule, sharding, mesh);
      });
}

// On every device each dim of each tensor is one run of elements, and exactly
// those of the device's blocks of the dim's factors.
TEST(ShardingRulePropertyTest, DimsAreTheBlocksOfTheirFactors) {
  for (const ShardingRule &rule : manyRules())
    for (const Mesh &mesh : ruleMeshes())
      forEachOpSharding(rule, mesh, [&](const OpSharding &sharding) {
        auto look = [&](const ShardingRule::Tensor &dims, const Layout &layout,
                        int64_t device) {
          std::vector<int64_t> coords = mesh.coords(device);
          Shape global;
          std::vector<Interval> expected;
          for (const auto &dim : dims) {
            global.push_back(1);
            Interval run{0, 1};
            for (unsigned f : dim) {
              int64_t size = rule.factors[f].size;
              const auto &axes = sharding.factors.axes[f];
              Interval block =
                  blockOf(size, axes, mesh, shardIndex(axes, mesh, coords));
              global.back() *= size;
              if (block.empty() || run.empty()) {
                run = {};
                continue;
              }
              ASSERT_TRUE(run.size() == 1 || block.size() == size)
                  << "not a run: " << describe(rule, sharding, mesh);
              run = {run.begin * size + block.begin,
                     (run.end - 1) * size + block.end};
            }
            expected.push_back(run);
          }
          Box box = layout.shard(global, device);
          for (size_t d = 0; d < dims.size(); ++d) {
            ASSERT_EQ(box.extent[d], expected[d].size())
                << describe(rule, sharding, mesh);
            if (!expected[d].empty())
              ASSERT_EQ(box.offset[d], expected[d].begin)
                  << describe(rule, sharding, mesh);
          }
        };
        for (int64_t device = 0; device < mesh.size(); ++device) {
          for (unsigned i = 0; i < rule.operands.size(); ++i)
            look(rule.operands[i], operandLayout(rule, i, sharding, mesh),
                 device);
          for (unsigned i = 0; i < rule.results.size(); ++i)
            look(rule.results[i], resultLayout(rule, i, sharding, mesh),
                 device);
        }
      });
}

// Results decide: whatever the operands are, the op runs so that it gives the
// result layouts, as long as nothing is passed; and the way it runs is legal.
TEST(ShardingRulePropertyTest, ResultsDecideOverAnyOperands) {
  std::mt19937 random(7);
  for (const ShardingRule &rule : manyRules())
    for (const Mesh &mesh : ruleMeshes())
      forEachOpSharding(rule, mesh, [&](const OpSharding &sharding) {
        if (!sharding.passed.empty())
          return;
        auto results = resultLayouts(rule, sharding, mesh);
        std::vector<Layout> operands;
        for (const auto &dims : rule.operands) {
          Layout::DimAxes axes(dims.size());
          std::vector<Partial> partial;
          for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
            size_t place = random() % (dims.size() + 2);
            if (place < dims.size())
              axes[place].push_back(axis);
            else if (place == dims.size())
              partial.push_back({axis, rule.reduceKind});
          }
          operands.push_back(Layout::get(mesh, axes, partial).value_or_throw());
        }
        OpSharding found = opSharding(rule, operands, results);
        ASSERT_EQ(resultLayouts(rule, found, mesh), results)
            << describe(rule, sharding, mesh);
        ASSERT_TRUE(canRun(rule, found.factors, mesh));
        for (unsigned i = 0; i < rule.operands.size(); ++i)
          (void)operandLayout(rule, i, found, mesh);
      });
}

// merge never takes an axis twice, and never loses what was there.
TEST(ShardingRulePropertyTest, MergeKeepsWhatIsThere) {
  for (const ShardingRule &rule : manyRules())
    for (const Mesh &mesh : {makeMesh({2, 2}), makeMesh({2, 4})})
      for (const auto &tensor : rule.operands)
        forEachLayout(
            mesh, unsigned(tensor.size()), ReduceKind::Sum,
            [&](const Layout &layout) {
              FactorSharding wish = project(rule, tensor, layout);
              forEachOpSharding(rule, mesh, [&](const OpSharding &before) {
                FactorSharding after = before.factors;
                bool changed = merge(rule, after, wish, mesh);
                ASSERT_EQ(changed, after != before.factors);
                ASSERT_TRUE(canRun(rule, after, mesh));
                std::vector<int> uses(mesh.rank());
                for (unsigned f = 0; f < rule.factors.size(); ++f) {
                  const auto &had = before.factors.axes[f];
                  ASSERT_GE(after.axes[f].size(), had.size());
                  ASSERT_TRUE(std::equal(had.begin(), had.end(),
                                         after.axes[f].begin()));
                  for (unsigned axis : after.axes[f])
                    ASSERT_EQ(++uses[axis], 1);
                }
              });
            });
}

// Text forms come back as they were, and kinds follow from where factors are.
TEST(ShardingRuleTest, TextRoundTrip) {
  for (const char *text :
       {"m k, k n -> m n", "b (h d) -> b h d", "b n! -> b n!",
        "1 n, m n -> m n", ", m -> m", "m, -> m", "m -> m", "[] -> m n",
        "-> m n", "->", "m ->", ", ->", "m n, m n -> m, m",
        "rows cols2 -> cols2 rows", "m -> , m", "m ->,", "(a! b) -> a! b",
        "1 1 -> 1"}) {
    auto rule = ShardingRule::parse(text);
    ASSERT_TRUE(rule) << rule.error().what();
    EXPECT_EQ(*ShardingRule::parse(rule->to_string()), *rule) << text;
  }
  EXPECT_EQ(parse("m k ,k n->m n").to_string(), "m k, k n -> m n");
  EXPECT_EQ(parse(" b ( h d )->b h d").to_string(), "b (h d) -> b h d");
  EXPECT_EQ(parse("b n! -> b n").to_string(), "b n! -> b n!");
  EXPECT_EQ(parse("-> m").operands.size(), 0u);
  EXPECT_EQ(parse("[] -> m").operands.size(), 1u);
  EXPECT_EQ(parse(", m -> m").operands.size(), 2u);
  EXPECT_EQ(parse("m ->").results.size(), 1u);
}

TEST(ShardingRuleTest, KindsFollowFromPlaces) {
  ShardingRule rule = parse("m k n!, k -> m n");
  EXPECT_EQ(rule.factors[0].kind, FactorKind::Parallel);
  EXPECT_EQ(rule.factors[1].kind, FactorKind::Reduced);
  EXPECT_EQ(rule.factors[2].kind, FactorKind::Whole);
}

TEST(ShardingRuleTest, RefusesBadText) {
  for (const char *text : {"", "m", "m k, k n", "m -> n -> k", "m+n -> m",
                           "(m n -> m", "(m) -> m", "() -> ", "m m -> m",
                           "m 2 -> m", "m -> m n)", "! -> m", "m (m n) -> m"}) {
    auto rule = ShardingRule::parse(text);
    ASSERT_FALSE(rule) << text;
    EXPECT_THAT(rule.error().message(), HasSubstr("cannot read"));
  }
}

TEST(ShardingRuleTest, BindTakesSizesFromShapes) {
  ShardingRule rule = parse("m k, k n -> m n");
  ASSERT_TRUE(rule.bind({{2, 3}, {3, 4}}, {{2, 4}}));
  EXPECT_EQ(rule.factors[0].size, 2);
  EXPECT_EQ(rule.factors[1].size, 3);
  EXPECT_EQ(rule.factors[2].size, 4);
  rule = parse("b (h d), d -> b h d");
  ASSERT_TRUE(rule.bind({{2, 12}, {3}}, {{2, 4, 3}}));
  rule = parse("(h d), h -> (h d)");
  ASSERT_TRUE(rule.bind({{12}, {4}}, {{12}}));
  EXPECT_EQ(rule.factors[1].size, 3);
  rule = parse("1 n, m n -> m n");
  ASSERT_TRUE(rule.bind({{1, 0}, {5, 0}}, {{5, 0}}));
  EXPECT_EQ(rule.factors[0].size, 0);
}

TEST(ShardingRuleTest, BindNamesWhatDisagrees) {
  auto refusal = [](const char *text, std::vector<Shape> operands,
                    std::vector<Shape> results) {
    auto bound = parse(text).bind(operands, results);
    EXPECT_FALSE(bound) << text;
    return bound ? "" : bound.error().message();
  };
  EXPECT_EQ(refusal("m k, k n -> m n", {{2, 3}, {5, 4}}, {{2, 4}}),
            "[ShardingRule] 'm k, k n -> m n': factor 'k' has size 3 "
            "elsewhere, but 5 in operand 1, dim 0");
  EXPECT_THAT(refusal("m -> m", {{2}}, {{2}, {2}}), HasSubstr("1 results"));
  EXPECT_THAT(refusal("m -> m", {{2, 2}}, {{2}}), HasSubstr("rank 2"));
  EXPECT_THAT(refusal("1 -> ", {{2}}, {{}}), HasSubstr("must have size 1"));
  EXPECT_THAT(refusal("(a b) -> (a b)", {{4}}, {{4}}),
              HasSubstr("no dim fixes the size of factor 'a'"));
  EXPECT_THAT(refusal("(a b) -> a b", {{5}}, {{2, 2}}),
              HasSubstr("product 4 elsewhere, but 5 in operand 0, dim 0"));
}

TEST(ShardingRuleTest, WholeFactorsAreNeverSharded) {
  Mesh mesh = makeMesh({2});
  ShardingRule rule = sized("b n! -> b n!", {{"b", 4}, {"n", 4}});
  unsigned x[] = {0};
  FactorSharding none = FactorSharding::none(rule);
  EXPECT_TRUE(canShard(rule, none, 0, x, mesh));
  EXPECT_FALSE(canShard(rule, none, 1, x, mesh));
  EXPECT_TRUE(canShard(rule, none, 1, {}, mesh));
  EXPECT_EQ(project(rule, rule.operands[0], Layout({UNSHARDED, "x"}, mesh)),
            none);
}

// The major factor of a compound dim, over what divides it.
TEST(ShardingRuleTest, CompoundDims) {
  Mesh mesh = makeMesh({2, 4});
  ShardingRule rule = sized("(h d) -> h d", {{"h", 6}, {"d", 4}});
  unsigned x[] = {0}, y[] = {1};
  FactorSharding none = FactorSharding::none(rule);
  EXPECT_TRUE(canShard(rule, none, 0, x, mesh));
  EXPECT_FALSE(canShard(rule, none, 0, y, mesh)); // 4 does not divide 6
  EXPECT_FALSE(canShard(rule, none, 1, x, mesh)); // minor
  // {x, y} keeps its prefix.
  FactorSharding wish =
      project(rule, rule.operands[0], Layout({Axes{"x", "y"}}, mesh));
  EXPECT_EQ(wish.axes[0], std::vector<unsigned>{0});
  EXPECT_TRUE(wish.axes[1].empty());
  // A major factor of size one gives way to the next.
  rule = sized("(h d) -> h d", {{"h", 1}, {"d", 5}});
  EXPECT_TRUE(canShard(rule, none, 1, y, mesh));
  EXPECT_EQ(project(rule, rule.operands[0], Layout({"y"}, mesh)).axes[1],
            std::vector<unsigned>{1});
}

// A minor factor follows a major one that has as many shards as elements, and
// may be cut unevenly.
TEST(ShardingRuleTest, MinorFactorsOfCompoundDims) {
  Mesh mesh = makeMesh({2, 4});
  ShardingRule rule = sized("(h d) m -> d h m", {{"h", 2}, {"d", 5}, {"m", 8}});
  FactorSharding both = FactorSharding::none(rule);
  both.axes[0] = {0};
  both.axes[1] = {1};
  EXPECT_TRUE(canRun(rule, both, mesh));
  EXPECT_EQ(project(rule, rule.operands[0],
                    Layout({Axes{"x", "y"}, UNSHARDED}, mesh)),
            both);
  EXPECT_EQ(project(rule, rule.results[0], Layout({"y", "x", UNSHARDED}, mesh)),
            both);
  OpSharding op{both, {}, 0};
  EXPECT_EQ(operandLayout(rule, 0, op, mesh),
            Layout({Axes{"x", "y"}, UNSHARDED}, mesh));
  // Not alone, and not behind half of the major one.
  EXPECT_EQ(project(rule, rule.results[0], Layout({"y", UNSHARDED, "x"}, mesh)),
            project(rule, rule.results[0],
                    Layout({UNSHARDED, UNSHARDED, "x"}, mesh)));
  both.axes[0] = {};
  EXPECT_FALSE(canRun(rule, both, mesh));
  // A minor factor of one operand follows the major factor that another operand
  // shards.
  rule = sized("h, (h d) -> h d", {{"h", 2}, {"d", 4}});
  FactorSharding sharding = FactorSharding::none(rule);
  EXPECT_TRUE(merge(rule, sharding,
                    project(rule, rule.operands[0], Layout({"x"}, mesh)),
                    mesh));
  EXPECT_TRUE(merge(
      rule, sharding,
      project(rule, rule.operands[1], Layout({Axes{"x", "y"}}, mesh)), mesh));
  EXPECT_EQ(sharding.axes[1], std::vector<unsigned>{1});
  // A reduced factor is followed by none: results could not tell.
  rule = sized("(k m) -> m", {{"k", 2}, {"m", 4}});
  EXPECT_TRUE(project(rule, rule.operands[0], Layout({Axes{"x", "y"}}, mesh))
                  .axes[1]
                  .empty());
}

// Operands that want different things: the first wins the axis.
TEST(ShardingRuleTest, MergeOfConflictingOperands) {
  Mesh mesh = makeMesh({2, 4});
  ShardingRule rule = sized("m k, k n -> m n", {{"m", 8}, {"k", 8}, {"n", 8}});
  FactorSharding sharding = FactorSharding::none(rule);
  EXPECT_TRUE(merge(
      rule, sharding,
      project(rule, rule.operands[0], Layout({"x", UNSHARDED}, mesh)), mesh));
  // n cannot have x too, but k may have y.
  EXPECT_TRUE(merge(rule, sharding,
                    project(rule, rule.operands[1], Layout({"y", "x"}, mesh)),
                    mesh));
  OpSharding op{sharding, {}, 0};
  EXPECT_EQ(operandLayout(rule, 0, op, mesh), Layout({"x", "y"}, mesh));
  EXPECT_EQ(operandLayout(rule, 1, op, mesh), Layout({"y", UNSHARDED}, mesh));
  EXPECT_EQ(resultLayout(rule, 0, op, mesh),
            Layout({"x", UNSHARDED}, mesh, {{"y", ReduceKind::Sum}}));
  // The order of a dim's axes is kept: [x] grows to [x, y], not to [y, x].
  sharding = FactorSharding::none(rule);
  merge(rule, sharding,
        project(rule, rule.operands[0], Layout({"x", UNSHARDED}, mesh)), mesh);
  EXPECT_FALSE(merge(
      rule, sharding,
      project(rule, rule.results[0], Layout({Axes{"y", "x"}, UNSHARDED}, mesh)),
      mesh));
  EXPECT_TRUE(merge(
      rule, sharding,
      project(rule, rule.results[0], Layout({Axes{"x", "y"}, UNSHARDED}, mesh)),
      mesh));
}

// Pending sums pass: add needs all, multiply one, divide only the dividend,
// relu nothing, transpose anything.
TEST(ShardingRuleTest, PassPartialFollowsTheFlow) {
  Mesh mesh = makeMesh({2, 4});
  Layout sum({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}}),
      both({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}, {"y", ReduceKind::Sum}}),
      max({UNSHARDED}, mesh, {{"x", ReduceKind::Max}}), none({UNSHARDED}, mesh);
  std::map<std::string, int64_t> sizes{{"m", 8}};
  auto passed = [&](PartialFlow flow, std::vector<Layout> operands,
                    std::vector<unsigned> carriers = {},
                    ReduceKind kind = ReduceKind::Sum) {
    ShardingRule rule =
        sized(operands.size() == 1 ? "m -> m" : "m, m -> m", sizes, flow);
    rule.carriers = carriers;
    rule.reduceKind = kind;
    OpSharding op = passPartial(rule, operands, FactorSharding::none(rule));
    return std::pair(op.passed.size(), op.carrier);
  };
  using P = std::pair<size_t, unsigned>;
  EXPECT_EQ(passed(PartialFlow::None, {sum}), P(0, 0));
  EXPECT_EQ(passed(PartialFlow::LinearJoint, {sum, sum}), P(1, 0));
  EXPECT_EQ(passed(PartialFlow::LinearJoint, {sum, none}), P(0, 0));
  EXPECT_EQ(passed(PartialFlow::LinearJoint, {both, sum}), P(1, 0));
  EXPECT_EQ(passed(PartialFlow::LinearJoint, {max, max}), P(0, 0));
  EXPECT_EQ(passed(PartialFlow::LinearJoint, {max, max}, {}, ReduceKind::Max),
            P(1, 0));
  EXPECT_EQ(passed(PartialFlow::LinearJoint, {none, sum}, {1}), P(1, 0));
  EXPECT_EQ(passed(PartialFlow::LinearEach, {none, sum}), P(1, 1));
  EXPECT_EQ(passed(PartialFlow::LinearEach, {sum, sum}), P(1, 0));
  EXPECT_EQ(passed(PartialFlow::LinearEach, {sum, both}), P(2, 1));
  EXPECT_EQ(passed(PartialFlow::LinearEach, {none, sum}, {0}), P(0, 0));
  EXPECT_EQ(passed(PartialFlow::Movement, {max}), P(1, 0));
  EXPECT_EQ(passed(PartialFlow::Movement, {max, sum}), P(0, 0));
  // An axis that a factor uses cannot pass.
  ShardingRule rule = sized("m -> m", sizes, PartialFlow::Movement);
  EXPECT_TRUE(passPartial(rule, std::vector{sum}, {{{0}}}).passed.empty());
}

// The data-parallel weight gradient: k on batch; and as refinement moves it.
TEST(ShardingRuleTest, WeightGradient) {
  Mesh mesh = Mesh::get({{"batch", 8}}).value_or_throw();
  ShardingRule rule =
      sized("k m, k n -> m n", {{"k", 128}, {"m", 784}, {"n", 700}},
            PartialFlow::LinearEach);
  Layout rows({"batch", UNSHARDED}, mesh), full({UNSHARDED, UNSHARDED}, mesh),
      partial({UNSHARDED, UNSHARDED}, mesh, {{"batch", ReduceKind::Sum}});
  std::vector<Layout> operands{rows, rows};
  OpSharding reduced = opSharding(rule, operands, std::vector{partial});
  EXPECT_EQ(operandLayout(rule, 0, reduced, mesh), rows);
  EXPECT_EQ(resultLayout(rule, 0, reduced, mesh), partial);
  // The result on rows: X goes to columns by all_to_all, dH is gathered.
  OpSharding moved = opSharding(rule, operands, std::vector{rows});
  EXPECT_EQ(operandLayout(rule, 0, moved, mesh),
            Layout({UNSHARDED, "batch"}, mesh));
  EXPECT_EQ(operandLayout(rule, 1, moved, mesh), full);
}

// A result that is partial where no operand tells why is so by a reduction.
TEST(ShardingRuleTest, UnexplainedPartialGoesOnAReducedFactor) {
  Mesh mesh = makeMesh({2, 4});
  ShardingRule rule = sized("m k, k n -> m n", {{"m", 8}, {"k", 8}, {"n", 8}},
                            PartialFlow::LinearEach);
  Layout full({UNSHARDED, UNSHARDED}, mesh),
      partial({UNSHARDED, UNSHARDED}, mesh, {{"y", ReduceKind::Sum}});
  OpSharding op =
      opSharding(rule, std::vector{full, full}, std::vector{partial});
  EXPECT_EQ(operandLayout(rule, 0, op, mesh), Layout({UNSHARDED, "y"}, mesh));
  EXPECT_EQ(operandLayout(rule, 1, op, mesh), Layout({"y", UNSHARDED}, mesh));
  // But where an operand is partial there, it is passed.
  op = opSharding(rule, std::vector{full, partial}, std::vector{partial});
  EXPECT_EQ(op.carrier, 1u);
  EXPECT_EQ(operandLayout(rule, 0, op, mesh), full);
  EXPECT_EQ(operandLayout(rule, 1, op, mesh), partial);
}

} // namespace
