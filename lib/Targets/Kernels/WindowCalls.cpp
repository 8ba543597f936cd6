// What the library functions of windows are told: see ConvolutionCall.cpp,
// WindowReduce.cpp, SelectAndScatter.cpp and Cumulative.cpp of the CPU backend.
#include "WindowCalls.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::dtensor;

/// The loops of a call are the factors of the op's rule, in order: the groups,
/// where there are any, the batch, the input and the output features.
static LibraryDescription describe(ConvolutionOp op) {
  LibraryDescription call{"convolution"};
  ConvolutionSpec spec = op.getSpec();
  bool grouped = spec.featureGroups * spec.batchGroups > 1;
  int64_t first = grouped ? 1 : 0;
  call.values.add(grouped ? 0 : -1).add(first).add(first + 1).add(first + 2);
  call.values.add(spec.inputBatch)
      .add(spec.inputFeature)
      .add(spec.kernelInput)
      .add(spec.kernelOutput)
      .add(spec.outputBatch)
      .add(spec.outputFeature)
      .add(spec.featureGroups)
      .add(spec.batchGroups);
  for (size_t i = 0; i < spec.strides.size(); ++i)
    call.values.add(spec.inputSpatial[i])
        .add(spec.kernelSpatial[i])
        .add(spec.outputSpatial[i])
        .add(spec.strides[i])
        .add(spec.padding[2 * i])
        .add(spec.lhsDilation[i])
        .add(spec.rhsDilation[i])
        .add(spec.reversal[i]);
  return call;
}

static void addWindow(LibraryDescription &call, const WindowSpec &window) {
  for (size_t d = 0; d < window.dimensions.size(); ++d)
    call.values.add(window.dimensions[d])
        .add(window.strides[d])
        .add(window.baseDilations[d])
        .add(window.windowDilations[d])
        .add(window.padding[2 * d]);
}

static LibraryDescription describe(ReduceWindowOp op) {
  LibraryDescription call{"reduce_window"};
  std::optional<ReduceKind> kind = op.getPlainKind();
  call.values.add(kind ? int64_t(*kind) : -1);
  addWindow(call, op.getWindow());
  if (!kind)
    call.setScalar(op.getBody());
  return call;
}

/// A region for what a kind stands for, where the other part of the op has one.
static void writeOut(SelectAndScatterOp op, Region &region, ReduceKind kind,
                     bool isSelect) {
  OpBuilder b(op.getContext());
  Location loc = op.getLoc();
  Type scalar = RankedTensorType::get({}, op.getType().getElementType());
  Block *block = b.createBlock(&region, {}, {scalar, scalar}, {loc, loc});
  Value first = block->getArgument(0), second = block->getArgument(1);
  auto value = [&]() -> Value {
    if (isSelect)
      return b.create<CompareOp>(loc,
                                 kind == ReduceKind::Max
                                     ? ComparisonDirection::GE
                                     : ComparisonDirection::LE,
                                 first, second);
    switch (kind) {
    case ReduceKind::Sum:
      return b.create<AddOp>(loc, first, second);
    case ReduceKind::Prod:
      return b.create<MultiplyOp>(loc, first, second);
    case ReduceKind::Min:
      return b.create<MinimumOp>(loc, first, second);
    case ReduceKind::Max:
      return b.create<MaximumOp>(loc, first, second);
    case ReduceKind::And:
      return b.create<AndOp>(loc, first, second);
    case ReduceKind::Or:
      return b.create<OrOp>(loc, first, second);
    }
    llvm_unreachable("covered");
  }();
  b.create<YieldOp>(loc, value);
}

static LibraryDescription describe(SelectAndScatterOp op) {
  LibraryDescription call{"select_and_scatter"};
  std::optional<ReduceKind> select = op.getPlainSelect(),
                            scatter = op.getPlainScatter();
  bool byKinds = select && scatter;
  call.values.add(byKinds ? int64_t(*select) : -1)
      .add(byKinds ? int64_t(*scatter) : -1);
  addWindow(call, op.getWindow());
  if (byKinds)
    return call;
  if (op.getSelect().empty())
    writeOut(op, op.getSelect(), *select, /*isSelect=*/true);
  if (op.getScatter().empty())
    writeOut(op, op.getScatter(), *scatter, /*isSelect=*/false);
  for (Region *region : {&op.getSelect(), &op.getScatter()}) {
    Block &block = region->front();
    llvm::append_range(call.scalarArguments, block.getArguments());
    llvm::append_range(call.scalarResults,
                       block.getTerminator()->getOperands());
  }
  return call;
}

static LibraryDescription describe(CumulativeOp op) {
  LibraryDescription call{"cumulative"};
  call.values.add(int64_t(op.getDimension()))
      .add(int64_t(op.getKind()))
      .add(op.getReverse());
  return call;
}

std::optional<LibraryDescription> meshloom::describeWindowCall(Operation *op) {
  using Description = std::optional<LibraryDescription>;
  return llvm::TypeSwitch<Operation *, Description>(op)
      .Case<ConvolutionOp, ReduceWindowOp, SelectAndScatterOp, CumulativeOp>(
          [](auto each) -> Description { return describe(each); })
      .Default([](Operation *) -> Description { return std::nullopt; });
}
