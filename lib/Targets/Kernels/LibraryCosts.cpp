// Costs of library calls.
#include "meshloom/Targets/Kernels/LibraryCosts.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace meshloom;
using namespace meshloom::dtensor;

/// The factors of `tensor` that are not in `other`.
static std::vector<unsigned> onlyIn(const ShardingRule::Tensor &tensor,
                                    const ShardingRule::Tensor &other) {
  std::vector<unsigned> factors;
  for (const ShardingRule::Dim &dim : tensor)
    for (unsigned factor : dim)
      if (llvm::none_of(other, [&](const ShardingRule::Dim &d) {
            return llvm::is_contained(d, factor);
          }))
        factors.push_back(factor);
  return factors;
}

static int64_t logOf(int64_t n) {
  return std::max<int64_t>(1, llvm::Log2_64_Ceil(std::max<int64_t>(n, 2)));
}

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

int64_t LibraryCost::total(const ShardingRule &rule) const {
  // Sizes of tensors fit in 64 bits, products of several tensors' need not.
  double flops = double(flopsPerPoint);
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (!llvm::is_contained(flat, f))
      flops *= double(factor.size);
  return int64_t(std::min(flops, 1e18));
}

std::optional<LibraryCost> meshloom::libraryCost(Operation *op) {
  auto sharded = dyn_cast<ShardedOpInterface>(op);
  if (!sharded)
    return std::nullopt;
  auto rule = [&] { return sharded.getShardingRule(); };
  auto last = [](Value value) {
    auto shape = globalShape(value.getType());
    return shape.empty() ? int64_t(1) : shape.back();
  };
  using Cost = std::optional<LibraryCost>;
  return llvm::TypeSwitch<Operation *, Cost>(op)
      .Case([&](GatherOp) -> Cost {
        ShardingRule r = rule();
        std::vector<unsigned> flat = onlyIn(r.operands[0], r.results[0]);
        llvm::append_range(flat, onlyIn(r.operands[1], r.results[0]));
        return LibraryCost{2, flat};
      })
      .Case([&](DynamicSliceOp) -> Cost {
        ShardingRule r = rule();
        return LibraryCost{2, onlyIn(r.operands[0], r.results[0])};
      })
      .Case([&](DynamicUpdateSliceOp) -> Cost {
        ShardingRule r = rule();
        return LibraryCost{2, onlyIn(r.operands[0], r.operands[1])};
      })
      .Case([&](ScatterOp scatter) -> Cost {
        ShardingRule r = rule();
        int64_t count = scatter.getInputs().size();
        int64_t each = scatter.getComputation().empty() ? 4 : 20;
        std::vector<unsigned> flat = onlyIn(r.operands[0], r.operands.back());
        llvm::append_range(flat, onlyIn(r.operands[count], r.operands.back()));
        return LibraryCost{each * count, flat};
      })
      .Case([&](SortOp sort) -> Cost {
        int64_t length =
            globalShape(sort.getInputs()[0].getType())[sort.getDimension()];
        return LibraryCost{4 * logOf(length) * int64_t(sort.getInputs().size()),
                           {}};
      })
      .Case([&](TopKOp top) -> Cost {
        ShardingRule r = rule();
        return LibraryCost{2 * logOf(top.getK()),
                           onlyIn(r.results[0], r.operands[0])};
      })
      .Case([](GenericReduceOp) -> Cost { return LibraryCost{10, {}}; })
      .Case([&](CholeskyOp cholesky) -> Cost {
        return LibraryCost{std::max<int64_t>(1, last(cholesky.getA()) / 3), {}};
      })
      .Case([&](TriangularSolveOp solve) -> Cost {
        ShardingRule r = rule();
        // Of the three whole factors of one size, two count.
        std::vector<unsigned> flat = onlyIn(r.operands[1], r.operands[0]);
        llvm::erase_if(flat, [&](unsigned f) {
          return r.factors[f].kind != FactorKind::Whole;
        });
        return LibraryCost{1, flat};
      })
      .Case([&](FftOp fft) -> Cost {
        ShardingRule r = rule();
        int64_t logs = 0;
        for (int64_t length : fft.getFftLength())
          logs += logOf(length);
        return LibraryCost{5 * logs, onlyIn(r.results[0], r.operands[0])};
      })
      .Case<GeqrfOp, HouseholderProductOp>(
          [](auto) -> Cost { return LibraryCost{2, {}}; })
      .Case([](CustomCallOp) -> Cost { return LibraryCost{4, {}}; })
      .Case([](ConvolutionOp) -> Cost { return LibraryCost{2, {}}; })
      .Case([](ReduceWindowOp window) -> Cost {
        int64_t each = window.getPlainKind() ? 1 : 20;
        return LibraryCost{each * product(window.getWindowDimensions()) *
                               int64_t(window.getInputs().size()),
                           {}};
      })
      .Case([](SelectAndScatterOp scatter) -> Cost {
        bool plain = scatter.getPlainSelect() && scatter.getPlainScatter();
        int64_t each =
            (plain ? 3 : 20) * product(scatter.getWindowDimensions());
        return LibraryCost{
            std::max<int64_t>(1, each / product(scatter.getWindowStrides())),
            {}};
      })
      .Case([](CumulativeOp) -> Cost { return LibraryCost{1, {}}; })
      .Default([](Operation *) -> Cost { return std::nullopt; });
}
