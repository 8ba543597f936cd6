// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types that the op interfaces speak in, and questions that several of them
// answer.

#include "RuleBuilder.h"

#include "llvm/Support/MathExtras.h"

namespace meshloom::dtensor {

int64_t OpCost::total(const ShardingRule &rule) const {
  // Sizes of tensors fit in 64 bits, products of several tensors' need not.
  double flops = double(flopsPerPoint);
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (!llvm::is_contained(flat, f))
      flops *= double(factor.size);
  return int64_t(std::min(flops, 1e18));
}

std::vector<unsigned> onlyIn(const ShardingRule::Tensor &tensor,
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

std::vector<unsigned> joined(std::vector<unsigned> a,
                             const std::vector<unsigned> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

int64_t logOf(int64_t n) {
  return std::max<int64_t>(1, llvm::Log2_64_Ceil(std::max<int64_t>(n, 2)));
}

int64_t SourceDim::source(int64_t index, int64_t extent) const {
  if (resultDim < 0)
    return 0;
  if (indices)
    return (*indices)[index];
  int64_t position = scale * index + offset;
  if (position < 0 || position % divisor != 0 || position / divisor >= extent)
    return -1;
  return position / divisor;
}

bool SourceDim::isIdentity(int64_t extent, int64_t resultExtent) const {
  return resultDim >= 0 && isLinear() && offset == 0 &&
         extent == resultExtent && (scale == 1 || extent <= 1);
}

void addLeadingDims(Builder &builder, mlir::NamedAttrList &attributes,
                    ArrayRef<int64_t> extents, const DimAttributes &which) {
  auto front = llvm::to_vector(llvm::seq<int64_t>(extents.size()));
  if (front.empty())
    return;
  auto change = [&](ArrayRef<StringRef> names, int64_t move,
                    ArrayRef<int64_t> leading) {
    for (StringRef name : names) {
      Attribute old = attributes.get(name);
      if (auto dim = mlir::dyn_cast_or_null<IntegerAttr>(old)) {
        attributes.set(name, builder.getI64IntegerAttr(dim.getInt() + move));
        continue;
      }
      SmallVector<int64_t> list(leading);
      if (old) // a list may be left out where it is empty
        for (int64_t entry : cast<DenseI64ArrayAttr>(old).asArrayRef())
          list.push_back(entry + move);
      attributes.set(name, builder.getDenseI64ArrayAttr(list));
    }
  };
  int64_t count = int64_t(extents.size());
  change(which.dims, count, {});
  change(which.batching, count, front);
  change(which.zeros, 0, SmallVector<int64_t>(count, 0));
  change(which.ones, 0, SmallVector<int64_t>(count, 1));
  change(which.extents, 0, extents);
}

LibraryCall &LibraryCall::scalar(Region &region) {
  Block &block = region.front();
  llvm::append_range(scalarArguments, block.getArguments());
  llvm::append_range(scalarResults, block.getTerminator()->getOperands());
  return *this;
}

bool isFreeToMake(Operation *op) {
  auto sharded = mlir::dyn_cast_or_null<ShardedOpInterface>(op);
  return sharded && sharded.isFreeToMake();
}

bool isPerElement(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  return elementwise && elementwise.isPerElement();
}

int64_t elementFlops(Operation *op, int64_t flops) {
  auto isComplex = [](Type type) {
    return isa<mlir::ComplexType>(elementTypeOf(type));
  };
  bool complex = llvm::any_of(op->getOperandTypes(), isComplex) ||
                 isComplex(op->getResult(0).getType());
  return complex ? 3 * flops : flops;
}

} // namespace meshloom::dtensor

#include "meshloom/Dialect/DTensor/OpInterfaces.cpp.inc"
