// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A test of mesh-fuzz itself: a bug of each kind is planted in compiled
// programs, and has to be found, and shrunk to a few lines.
#include "Check.h"
#include "Generator.h"
#include "Shrink.h"

#include "meshloom/Runtime/KernelFunction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshloom::fuzz {
namespace {

/// Changes a program; false where there is nothing to change.
using Fault = std::function<bool(CodedProgram &)>;

/// Calls `change` on each step of a kind, inner ones too, until it says true.
template <typename StepKind, typename Change>
bool changeFirst(std::vector<Step> &steps, const Change &change) {
  for (Step &step : steps) {
    if (auto *found = std::get_if<StepKind>(&step))
      if (change(*found))
        return true;
    if (auto *loop = std::get_if<LoopStep>(&step))
      if (changeFirst<StepKind>(loop->condition, change) ||
          changeFirst<StepKind>(loop->body, change))
        return true;
    if (auto *branch = std::get_if<BranchStep>(&step))
      for (std::vector<Step> &list : branch->branches)
        if (changeFirst<StepKind>(list, change))
          return true;
  }
  return false;
}

/// A sum over devices becomes a maximum, in the addends' layouts too: the
/// check of programs would see it else.
bool wrongReducer(CodedProgram &compiled) {
  return changeFirst<CollectiveStep>(
      compiled.program.steps, [&](CollectiveStep &step) {
        if (step.kind != CollectiveKind::AllReduce ||
            step.reduce != ReduceKind::Sum)
          return false;
        step.reduce = ReduceKind::Max;
        for (const CollectiveStep::Move &move : step.moves)
          for (unsigned buffer : {move.from, move.to}) {
            Layout &layout = compiled.program.buffers[buffer].layout;
            std::vector<Partial> partial(layout.partial().begin(),
                                         layout.partial().end());
            for (Partial &pending : partial)
              pending.kind = ReduceKind::Max;
            layout = layout.with_partial(partial);
          }
        return true;
      });
}

/// Kernels read where an all_reduce got its addends from, not what it made.
bool droppedCollective(CodedProgram &compiled) {
  unsigned from = 0, to = 0;
  std::vector<Step> &steps = compiled.program.steps;
  return changeFirst<CollectiveStep>(steps,
                                     [&](CollectiveStep &step) {
                                       if (step.kind !=
                                           CollectiveKind::AllReduce)
                                         return false;
                                       from = step.moves[0].from;
                                       to = step.moves[0].to;
                                       return true;
                                     }) &&
         changeFirst<KernelStep>(steps, [&](KernelStep &step) {
           for (size_t i = 0; i < step.inputs.size(); ++i)
             if (step.inputs[i].buffer == to &&
                 !std::ranges::count(step.inPlace, int(i))) {
               step.inputs[i].buffer = from;
               return true;
             }
           return false;
         });
}

/// A kernel reads one element before the one it should, of a dim that is whole
/// on every device.
bool wrongOffset(CodedProgram &compiled) {
  return changeFirst<KernelStep>(compiled.program.steps, [&](KernelStep &step) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      Operand &input = step.inputs[i];
      if (!step.library.empty() || std::ranges::count(step.inPlace, int(i)))
        continue;
      const Layout &layout = compiled.program.buffers[input.buffer].layout;
      for (size_t d = 0; d < input.dims.size(); ++d) {
        DimAccess &dim = input.dims[d];
        if (dim.offset > 0 && dim.terms.size() == 1 &&
            dim.terms[0].second > 0 && layout.axes(unsigned(d)).empty()) {
          --dim.offset;
          return true;
        }
      }
    }
    return false;
  });
}

//===----------------------------------------------------------------------===//
// Kernels that do something else
//===----------------------------------------------------------------------===//

/// The kernel that is damaged, and what its replacement needs to know.
struct Damaged {
  KernelFunction right = nullptr;
  unsigned output = 0, loop = 0;
  int64_t padded = 0;
} damaged;

/// A reduction that starts from 1 too much.
void startsTooHigh(void *const *operands, const int64_t *strides,
                   const int64_t *origin, const int64_t *extents) {
  damaged.right(operands, strides, origin, extents);
  *static_cast<float *>(operands[damaged.output]) += 1;
}

/// A reduction over a short shard's padding too.
void readsPadding(void *const *operands, const int64_t *strides,
                  const int64_t *origin, const int64_t *extents) {
  std::vector<int64_t> longer(extents, extents + damaged.loop + 1);
  longer.back() = damaged.padded;
  damaged.right(operands, strides, origin, longer.data());
}

class DamagedKernels : public CodeSymbols {
public:
  DamagedKernels(std::shared_ptr<const CodeSymbols> right, std::string symbol,
                 KernelFunction wrong)
      : right(std::move(right)), symbol(std::move(symbol)), wrong(wrong) {}
  Result<const void *> lookup(const std::string &name) const override {
    auto found = right->lookup(name);
    if (name != symbol || !found)
      return found;
    damaged.right = asKernel(*found);
    return addressOf(wrong);
  }

private:
  std::shared_ptr<const CodeSymbols> right;
  std::string symbol;
  KernelFunction wrong;
};

/// Finds a generated reduction with one f32 output whose loops are `good`.
bool damageReduction(
    CodedProgram &compiled, KernelFunction wrong,
    const std::function<bool(const std::vector<Loop> &)> &good) {
  std::string symbol;
  bool found =
      changeFirst<KernelStep>(compiled.program.steps, [&](KernelStep &step) {
        if (!step.library.empty() || step.outputs.size() != 1 ||
            step.inPlace[0] >= 0 || !good(step.loops))
          return false;
        const BufferDecl &output =
            compiled.program.buffers[step.outputs[0].buffer];
        if (output.type != DType::F32 || elementCount(output.shape) == 0)
          return false;
        symbol = step.symbol;
        damaged.output = unsigned(step.inputs.size());
        return true;
      });
  if (found)
    compiled.code.symbols =
        std::make_shared<DamagedKernels>(compiled.code.symbols, symbol, wrong);
  return found;
}

bool wrongInit(CodedProgram &compiled) {
  return damageReduction(compiled, startsTooHigh,
                         [](const std::vector<Loop> &loops) {
                           return std::ranges::any_of(loops, &Loop::reduction);
                         });
}

/// The last loop, which is uneven over devices.
bool paddingLeak(CodedProgram &compiled) {
  const Mesh &mesh = compiled.program.mesh;
  return damageReduction(
      compiled, readsPadding, [&](const std::vector<Loop> &loops) {
        if (loops.empty() || !loops.back().reduction ||
            loops.back().axes.size() != 1)
          return false;
        int64_t shards = mesh.axis_size(loops.back().axes[0]);
        damaged.loop = unsigned(loops.size() - 1);
        damaged.padded = (loops.back().extent + shards - 1) / shards;
        return damaged.padded * shards != loops.back().extent;
      });
}

//===----------------------------------------------------------------------===//

size_t countNodes(const std::vector<Node> &nodes) {
  size_t count = nodes.size();
  for (const Node &node : nodes)
    for (const Block &block : node.blocks)
      count += countNodes(block.nodes);
  return count;
}

/// Plants the fault in one program after the other until it is found, from seed
/// `first` on.
void expectFound(const Fault &fault, uint64_t first = 1) {
  constexpr uint64_t most = 1000;
  Checker checker;
  CheckOptions planted;
  planted.ways = {{"ring", true}};
  planted.damage = [&](CodedProgram &compiled) { fault(compiled); };
  CheckOptions healthy;
  healthy.ways = planted.ways;
  for (uint64_t seed = first; seed < first + most; ++seed) {
    Recipe recipe = generate(seed);
    std::string failure = checker.check(recipe, planted);
    if (failure.empty())
      continue;
    testing::Test::RecordProperty("seed", std::to_string(seed));
    EXPECT_THAT(failure, testing::HasSubstr("WRONG"));
    Recipe small = shrink(
        recipe,
        [&](const Recipe &candidate) {
          return checker.check(candidate, planted).find("WRONG") !=
                 std::string::npos;
        },
        150);
    EXPECT_LE(countNodes(small.nodes), 8u) << small.text();
    // It is the fault that fails, not the program.
    EXPECT_EQ(checker.check(small, healthy), "") << small.text();
    return;
  }
  FAIL() << "not found in " << most << " programs";
}

TEST(FaultTest, WrongReducer) {
  expectFound(wrongReducer);
}
TEST(FaultTest, DroppedCollective) {
  expectFound(droppedCollective, 40);
}
TEST(FaultTest, WrongOffset) {
  expectFound(wrongOffset, 100);
}
TEST(FaultTest, PaddingLeak) {
  expectFound(paddingLeak, 370);
}
TEST(FaultTest, WrongInit) {
  expectFound(wrongInit);
}

// 1 - tanh(x)^2 is next to 0, and then multiplied by 5,578: the rounding of its
// own ops is all that moves it, and no fault.
TEST(FaultTest, TheRoundingOfEachOpIsNoFault) {
  Generator g(1);
  const Shape shape{64};
  auto emit = [&](const char *op, unsigned a, std::vector<unsigned> more,
                  double low, double high) {
    more.insert(more.begin(), a);
    return g.emitOne(op, more, {DType::F32, shape, {low, high, -1, 0}});
  };
  const unsigned x = g.argument(DType::F32, shape, {6, 9, 2, 0});
  const unsigned y = emit("dtensor.tanh", x, {}, -1, 1);
  const unsigned square = emit("dtensor.multiply", y, {y}, 0, 1);
  const unsigned one = g.splat(DType::F32, shape, 1);
  const unsigned difference = emit("dtensor.subtract", one, {square}, 0, 1);
  const unsigned factor = g.splat(DType::F32, shape, 5578);
  const unsigned result =
      emit("dtensor.multiply", difference, {factor}, 0, 5578);
  Recipe recipe = g.take();
  recipe.results = {result};
  recipe.gradient = false;
  EXPECT_EQ(Checker().check(recipe, {}), "") << recipe.text();
}

} // namespace
} // namespace meshloom::fuzz
