// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory that a program takes against what is alive at any one time: the
// arguments, the constants, and of all other values those that some step still
// reads. Where devices share memory, the runtime takes at most a tenth more.
#include "Testing.h"

#include "meshloom/Core/Compiled.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <numeric>

namespace meshloom {
namespace {

/// Most bytes alive at once. Values that updates in place or views put into one
/// memory count once.
class LiveRange {
public:
  explicit LiveRange(const Program &program) : program(program) {
    same.resize(program.buffers.size());
    std::iota(same.begin(), same.end(), 0U);
  }
  int64_t bytes() {
    std::set<unsigned> live;
    for (const Argument &argument : program.arguments)
      live.insert(argument.buffer);
    for (const ConstantData &constant : program.constants)
      if (!constant.splat)
        live.insert(constant.buffer);
    std::set<unsigned> after = live;
    for (const ProgramResult &result : program.results)
      after.insert(result.buffer);
    return mostOf(program.steps, after);
  }

private:
  unsigned memoryOf(unsigned buffer) const {
    while (same[buffer] != buffer)
      buffer = same[buffer];
    return buffer;
  }
  int64_t sizeOf(const std::set<unsigned> &buffers) const {
    std::set<unsigned> memories;
    for (unsigned buffer : buffers)
      memories.insert(memoryOf(buffer));
    int64_t bytes = 0;
    for (unsigned memory : memories)
      bytes += elementCount(program.buffers[memory].shape) *
               int64_t(byteWidth(program.buffers[memory].type));
    return bytes;
  }
  /// Joins the value of a step that is done with the memory that it is in.
  void join(const Step &step, const std::set<unsigned> &after) {
    if (auto *kernel = std::get_if<KernelStep>(&step)) {
      for (size_t o = 0; o < kernel->outputs.size(); ++o)
        if (kernel->inPlace[o] >= 0)
          if (unsigned from = kernel->inputs[size_t(kernel->inPlace[o])].buffer;
              isUpdate(from, after))
            same[kernel->outputs[o].buffer] = from;
    } else if (auto *collective = std::get_if<CollectiveStep>(&step)) {
      if (!isReduction(collective->kind))
        for (const CollectiveStep::Move &move : collective->moves)
          same[move.to] = move.from;
    } else if (auto *loop = std::get_if<LoopStep>(&step)) {
      for (const LoopStep::Carry &carry : loop->carried)
        same[carry.result] = carry.argument;
    }
  }
  /// An argument's update counts as one: who keeps the old value has it twice.
  bool isUpdate(unsigned from, const std::set<unsigned> &after) const {
    for (const Argument &argument : program.arguments)
      if (memoryOf(argument.buffer) == memoryOf(from))
        return true;
    return !after.contains(from);
  }
  static bool isReduction(CollectiveKind kind) {
    return kind == CollectiveKind::AllReduce ||
           kind == CollectiveKind::ReduceScatter;
  }
  int64_t mostOf(const std::vector<Step> &steps, std::set<unsigned> after) {
    std::vector<std::set<unsigned>> alive(steps.size() + 1);
    alive.back() = std::move(after);
    for (size_t s = steps.size(); s-- > 0;) {
      const plan::StepUses uses = plan::usesOf(steps[s]);
      alive[s] = alive[s + 1];
      for (unsigned buffer : uses.writes)
        alive[s].erase(buffer);
      alive[s].insert(uses.reads.begin(), uses.reads.end());
    }
    int64_t most = sizeOf(alive.front());
    for (size_t s = 0; s < steps.size(); ++s) {
      join(steps[s], alive[s + 1]);
      std::set<unsigned> during = alive[s];
      if (auto *loop = std::get_if<LoopStep>(&steps[s])) {
        // Inits that nothing else needs are the first arguments.
        std::set<unsigned> inside = alive[s], next;
        for (const LoopStep::Carry &carry : loop->carried) {
          if (!alive[s + 1].contains(carry.init))
            inside.erase(carry.init);
          inside.insert(carry.argument);
          next.insert(carry.next);
        }
        std::set<unsigned> condition = inside;
        condition.insert(loop->predicate);
        most = std::max(most, mostOf(loop->condition, condition));
        // While the body runs, what is alive outside stays; the arguments only
        // as long as it reads them.
        for (const LoopStep::Carry &carry : loop->carried)
          inside.erase(carry.argument);
        for (unsigned buffer : plan::usesOf(steps[s]).reads)
          if (std::ranges::none_of(loop->carried, [&](const auto &carry) {
                return carry.init == buffer;
              }))
            inside.insert(buffer);
        inside.insert(next.begin(), next.end());
        most = std::max(most, mostOf(loop->body, inside));
      } else if (auto *branch = std::get_if<BranchStep>(&steps[s])) {
        for (size_t b = 0; b < branch->branches.size(); ++b) {
          std::set<unsigned> inside = alive[s];
          for (const BranchStep::Output &output : branch->outputs)
            inside.insert(output.values[b]);
          most = std::max(most, mostOf(branch->branches[b], inside));
        }
      } else {
        during.insert(alive[s + 1].begin(), alive[s + 1].end());
        const plan::StepUses uses = plan::usesOf(steps[s]);
        during.insert(uses.writes.begin(), uses.writes.end());
      }
      most = std::max(most, sizeOf(during));
    }
    return most;
  }

  const Program &program;
  std::vector<unsigned> same; ///< the buffer whose memory each one is in
};

void expectTight(const ConcreteFunction &compiled) {
  const int64_t bound = LiveRange(compiled.compiled().program()).bytes();
  const int64_t taken = compiled.statistics().peak_bytes;
  ::testing::Test::RecordProperty(
      "times_the_bound", std::to_string(double(taken) / double(bound)));
  EXPECT_LE(double(taken), 1.1 * double(bound))
      << "bytes taken; " << bound
      << " are alive at once: " << double(taken) / double(bound)
      << " times as many";
  EXPECT_GE(double(taken), 0.4 * double(bound)) << bound << " are alive";
}

Layout rows(const Mesh &mesh, int64_t rank) {
  std::vector<DimSpec> dims(size_t(rank), UNSHARDED);
  dims[0] = DimSpec("batch");
  return Layout(dims, mesh);
}

TEST(MemoryTest, TutorialStep) {
  Mesh mesh = mesh8();
  auto weight = [&](Shape shape, const char *name) {
    return DVariable(
        relayout(sample(shape) * 0.05, Layout::replicated(mesh, shape.size())),
        {.name = name});
  };
  DVariable w1 = weight({784, 700}, "w1"), b1 = weight({700}, "b1"),
            w2 = weight({700, 500}, "w2"), b2 = weight({500}, "b2"),
            w3 = weight({500, 10}, "w3"), b3 = weight({10}, "b3");
  optimizers::Adam adam(1e-3);
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor hidden = nn::relu(matmul(x, w1) + b1);
    hidden = nn::relu(matmul(hidden, w2) + b2);
    Tensor loss = reduce_mean(square(matmul(hidden, w3) + b3 - y));
    adam.apply_gradients(tape.gradient(loss, {w1, b1, w2, b2, w3, b3}));
    return loss;
  });
  for (int64_t batch : {128, 1024}) {
    Tensor x = distribute(sample({batch, 784}), rows(mesh, 2));
    Tensor y = distribute(sample({batch, 10}), rows(mesh, 2));
    expectTight(step.get_concrete_function(x, y));
  }
}

TEST(MemoryTest, TransformerBlock) {
  Mesh mesh = mesh8();
  constexpr int64_t width = 256, heads = 4, length = 128, batch = 8;
  auto weight = [&](Shape shape) {
    return DVariable(
        relayout(sample(shape) * 0.05, Layout::replicated(mesh, shape.size())));
  };
  DVariable qkv = weight({width, 3 * width}), out = weight({width, width}),
            up = weight({width, 4 * width}), down = weight({4 * width, width});
  optimizers::Adam adam(1e-3);
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor projected =
        reshape(matmul(x, qkv), {batch, length, 3, heads, width / heads});
    auto part = [&](int64_t i) {
      return transpose(projected(all, all, i), {0, 2, 1, 3});
    };
    Tensor scores =
        nn::softmax(matmul(part(0), transpose(part(1), {0, 1, 3, 2})));
    Tensor mixed = reshape(transpose(matmul(scores, part(2)), {0, 2, 1, 3}),
                           {batch, length, width});
    Tensor y = x + matmul(mixed, out);
    y = y + matmul(nn::gelu(matmul(y, up)), down);
    Tensor loss = reduce_mean(square(y));
    adam.apply_gradients(tape.gradient(loss, {qkv, out, up, down}));
    return loss;
  });
  Tensor x = distribute(sample({batch, length, width}), rows(mesh, 3));
  expectTight(step.get_concrete_function(x));
}

TEST(MemoryTest, Chain) {
  Mesh mesh = mesh8();
  auto chain = function([](const Tensor &x, const Tensor &w) {
    Tensor y = x;
    for (int i = 0; i < 6; ++i)
      y = tanh(matmul(y, w));
    return y;
  });
  Tensor x = distribute(sample({512, 512}), rows(mesh, 2));
  Tensor w = distribute(sample({512, 512}), Layout::replicated(mesh, 2));
  expectTight(chain.get_concrete_function(x, w));
}

TEST(MemoryTest, Loop) {
  Mesh mesh = mesh8();
  auto loop = function([](const Tensor &x, const Tensor &w) {
    using State = std::vector<Tensor>;
    return while_loop([](const State &s) { return s[0] < 5; },
                      [&](const State &s) {
                        return State{s[0] + 1, tanh(matmul(s[1], w)) + s[1]};
                      },
                      State{tensor(0), x})[1];
  });
  Tensor x = distribute(sample({512, 512}), rows(mesh, 2));
  Tensor w = distribute(sample({512, 512}), Layout::replicated(mesh, 2));
  expectTight(loop.get_concrete_function(x, w));
}

} // namespace
} // namespace meshloom
