// A test of mesh-fuzz itself: a bug of each kind is planted in compiled
// programs, and has to be found, and shrunk to a few lines.
#include "Check.h"
#include "Generator.h"
#include "Shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshloom::fuzz {
namespace {

/// Changes a program; false where there is nothing to change.
using Fault = std::function<bool(Compiled &)>;

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

/// A sum over devices becomes a maximum.
bool wrongReducer(Compiled &compiled) {
  return changeFirst<CollectiveStep>(
      compiled.program.steps, [](CollectiveStep &step) {
        bool reduces = step.kind == CollectiveKind::AllReduce ||
                       step.kind == CollectiveKind::ReduceScatter;
        if (!reduces || step.reduce != ReduceKind::Sum)
          return false;
        step.reduce = ReduceKind::Max;
        return true;
      });
}

/// Kernels read where an all_reduce got its addends from, not what it made.
bool droppedCollective(Compiled &compiled) {
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

/// A kernel reads one element before the one it should.
bool wrongOffset(Compiled &compiled) {
  return changeFirst<KernelStep>(compiled.program.steps, [](KernelStep &step) {
    if (!step.library.empty())
      return false;
    for (Operand &input : step.inputs)
      for (DimAccess &dim : input.dims)
        if (dim.offset > 0 && dim.terms.size() == 1 &&
            dim.terms[0].second > 0) {
          --dim.offset;
          return true;
        }
    return false;
  });
}

/// A reduction runs over the padding of the last device's shard too.
bool paddingLeak(Compiled &compiled) {
  const Mesh &mesh = compiled.program.mesh;
  return changeFirst<KernelStep>(compiled.program.steps, [&](KernelStep &step) {
    if (!step.library.empty())
      return false;
    for (Loop &loop : step.loops) {
      if (!loop.reduction || loop.axes.size() != 1)
        continue;
      int64_t shards = mesh.axis_size(loop.axes[0]);
      int64_t padded = (loop.extent + shards - 1) / shards * shards;
      if (padded == loop.extent)
        continue;
      loop.extent = padded;
      return true;
    }
    return false;
  });
}

//===----------------------------------------------------------------------===//
// Wrong init: a reduction that starts from 1 too much
//===----------------------------------------------------------------------===//

KernelFunction rightKernel;
unsigned outputOfKernel;

void startsTooHigh(void *const *operands, const int64_t *strides,
                   const int64_t *origin, const int64_t *extents) {
  rightKernel(operands, strides, origin, extents);
  *static_cast<float *>(operands[outputOfKernel]) += 1;
}

class WrongKernels : public KernelLibrary {
public:
  WrongKernels(std::shared_ptr<KernelLibrary> right, std::string symbol)
      : right(std::move(right)), symbol(std::move(symbol)) {}
  Result<KernelFunction> lookup(const std::string &name) const override {
    auto found = right->lookup(name);
    if (name != symbol || !found)
      return found;
    rightKernel = *found;
    return KernelFunction(startsTooHigh);
  }

private:
  std::shared_ptr<KernelLibrary> right;
  std::string symbol;
};

bool wrongInit(Compiled &compiled) {
  std::string symbol;
  bool found =
      changeFirst<KernelStep>(compiled.program.steps, [&](KernelStep &step) {
        bool reduces = std::ranges::any_of(
            step.loops, [](const Loop &loop) { return loop.reduction; });
        if (!step.library.empty() || !reduces || step.outputs.size() != 1 ||
            step.inPlace[0] >= 0)
          return false;
        const BufferDecl &output =
            compiled.program.buffers[step.outputs[0].buffer];
        if (output.type != DType::F32 || elementCount(output.shape) == 0)
          return false;
        symbol = step.symbol;
        outputOfKernel = unsigned(step.inputs.size());
        return true;
      });
  if (found)
    compiled.kernels = std::make_shared<WrongKernels>(compiled.kernels, symbol);
  return found;
}

//===----------------------------------------------------------------------===//

size_t countNodes(const std::vector<Node> &nodes) {
  size_t count = nodes.size();
  for (const Node &node : nodes)
    for (const Block &block : node.blocks)
      count += countNodes(block.nodes);
  return count;
}

/// Plants the fault in one program after the other until it is found.
void expectFound(const Fault &fault, uint64_t most = 600) {
  Checker checker;
  CheckOptions planted;
  planted.ways = {{"ring", true}};
  planted.damage = [&](Compiled &compiled) { fault(compiled); };
  CheckOptions healthy;
  healthy.ways = planted.ways;
  for (uint64_t seed = 1; seed <= most; ++seed) {
    Recipe recipe = generate(seed);
    std::string failure = checker.check(recipe, planted);
    if (failure.empty())
      continue;
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
  expectFound(droppedCollective);
}
TEST(FaultTest, WrongOffset) {
  expectFound(wrongOffset);
}
TEST(FaultTest, PaddingLeak) {
  expectFound(paddingLeak);
}
TEST(FaultTest, WrongInit) {
  expectFound(wrongInit);
}

} // namespace
} // namespace meshloom::fuzz
