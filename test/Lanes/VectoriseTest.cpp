// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every op inside of a map, and its gradient taken there: what the vectoriser
// makes of it gives, at each place, what the op gives alone.
#include "../Interpreter/HostValues.h"
#include "../Matrix/Layouts.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Lanes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace meshloom {
namespace {

using matrix::CellText, matrix::OpSpec;
using mlir::func::FuncOp;

constexpr int64_t places = 3;

/// Gradients of the float results to the float arguments of `block`, as more
/// operands of its terminator.
void addGradients(Block &block) {
  auto isReal = [](Value value) {
    return isa<FloatType>(dtensor::elementTypeOf(value.getType()));
  };
  Operation *end = block.getTerminator();
  SmallVector<Value> results(end->getOperands()), outputs, arguments;
  llvm::copy_if(results, std::back_inserter(outputs), isReal);
  llvm::copy_if(block.getArguments(), std::back_inserter(arguments), isReal);
  OpBuilder builder(end);
  auto gradients = buildGradients(builder, outputs, {}, arguments);
  ASSERT_TRUE(gradients) << gradients.error().message();
  for (Value gradient : *gradients)
    if (gradient)
      results.push_back(gradient);
  end->setOperands(results);
}

std::string joined(const std::vector<std::string> &list) {
  return fmt::format("{}", fmt::join(list, ", "));
}

/// The op as a function, on the values of one place.
std::string alone(const CellText &cell) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < cell.arguments.size(); ++i)
    arguments.push_back(cell.arguments[i] + ": " + cell.argumentTypes[i]);
  return fmt::format("#mesh = #dtensor.mesh<d = 1>\nfunc.func @main({}) -> "
                     "({}) {{\n{}  return {} : {}\n}}\n",
                     joined(arguments), joined(cell.resultTypes), cell.body,
                     joined(cell.results), joined(cell.resultTypes));
}

/// The function `local`, whose operands in `differs` are those of each place,
/// as a map.
OwningOpRef<ModuleOp> mapped(ModuleOp local, const std::vector<bool> &differs) {
  auto function = *local.getOps<FuncOp>().begin();
  Block &body = function.getBody().front();
  MLIRContext *context = local.getContext();
  auto ofAllPlaces = [](Type type) {
    SmallVector<int64_t> shape{places};
    llvm::append_range(shape, dtensor::globalShape(type));
    return dtensor::undecided(type, shape);
  };
  OwningOpRef<ModuleOp> module = ModuleOp::create(local.getLoc());
  OpBuilder atTop(module->getBodyRegion());
  auto mapped = atTop.create<FuncOp>(local.getLoc(), "main",
                                     atTop.getFunctionType({}, {}));
  Block *entry = mapped.addEntryBlock();
  for (size_t i = 0; i < differs.size(); ++i) {
    Type type = body.getArgument(unsigned(i)).getType();
    entry->addArgument(differs[i] ? ofAllPlaces(type)
                                  : dtensor::undecided(type),
                       local.getLoc());
  }
  OpBuilder b(entry, entry->begin());
  mlir::OperationState state(b.getUnknownLoc(), "dtensor.map");
  state.addOperands(entry->getArguments());
  SmallVector<Attribute> lists;
  for (bool its : differs)
    lists.push_back(b.getDenseI64ArrayAttr(its ? ArrayRef<int64_t>{0}
                                               : ArrayRef<int64_t>()));
  state.addAttribute("axes", b.getStrArrayAttr({"i"}));
  state.addAttribute("sizes", b.getDenseI64ArrayAttr({places}));
  state.addAttribute("lanes", b.getArrayAttr(lists));
  for (Type type : body.getTerminator()->getOperandTypes())
    state.addTypes(ofAllPlaces(type));
  mlir::IRMapping mapping;
  Region *region = state.addRegion();
  function.getBody().cloneInto(region, mapping);
  for (BlockArgument argument : region->getArguments())
    argument.setType(dtensor::undecided(argument.getType()));
  Operation *map = b.create(state);
  Operation *end = map->getRegion(0).front().getTerminator();
  OpBuilder atEnd(end);
  atEnd.create<dtensor::YieldOp>(end->getLoc(), end->getOperands());
  end->erase();
  b.create<mlir::func::ReturnOp>(map->getLoc(), map->getResults());
  mapped.setType(mlir::FunctionType::get(context, entry->getArgumentTypes(),
                                         map->getResultTypes()));
  return module;
}

HostValue stacked(const std::vector<HostValue> &values) {
  HostValue stacked = values[0];
  stacked.shape.insert(stacked.shape.begin(), int64_t(values.size()));
  for (size_t i = 1; i < values.size(); ++i) {
    stacked.floats.insert(stacked.floats.end(), values[i].floats.begin(),
                          values[i].floats.end());
    stacked.imaginaries.insert(stacked.imaginaries.end(),
                               values[i].imaginaries.begin(),
                               values[i].imaginaries.end());
    stacked.ints.insert(stacked.ints.end(), values[i].ints.begin(),
                        values[i].ints.end());
  }
  return stacked;
}

void check(MLIRContext &context, const OpSpec &op, bool gradient) {
  matrix::LayoutSpec layout{"", 4, 3, matrix::LayoutSpec::Where::Nowhere};
  CellText cell = cellText(op, layout, {"", "d = 1", {"d"}, 1}, "c0");
  auto local = mlir::parseSourceString<ModuleOp>(alone(cell), &context);
  ASSERT_TRUE(local);
  auto function = *local->getOps<FuncOp>().begin();
  if (gradient) {
    addGradients(function.getBody().front());
    function.setType(mlir::FunctionType::get(
        &context, function.getArgumentTypes(),
        function.getBody().front().getTerminator()->getOperandTypes()));
  }
  auto signature = signatureOf(*local, "");
  ASSERT_TRUE(signature) << signature.error().message();
  const size_t count = cell.arguments.size();
  std::vector<std::vector<HostValue>> values(count);
  for (size_t i = 0; i < count; ++i)
    for (int64_t place = 0; place < places; ++place)
      values[i].push_back(test::random(
          signature->arguments[i].type, signature->arguments[i].shape,
          uint32_t(1 + i * 7 + size_t(place) * 31), op.low, op.high));

  // All operands differ; each alone does.
  std::vector<std::vector<bool>> masks{std::vector<bool>(count, true)};
  if (count > 1)
    for (size_t i = 0; i < count; ++i) {
      masks.emplace_back(count, false);
      masks.back()[i] = true;
    }
  for (const std::vector<bool> &mask : masks) {
    SCOPED_TRACE(fmt::format("operands that differ: {}", mask));
    auto module = mapped(*local, mask);
    ASSERT_TRUE(succeeded(mlir::verify(*module)));
    mlir::PassManager passes(&context);
    passes.addNestedPass<FuncOp>(createVectoriseMaps());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    ASSERT_FALSE(module
                     ->walk([](Operation *inner) {
                       return inner->getName().getStringRef() == "dtensor.map"
                                  ? mlir::WalkResult::interrupt()
                                  : mlir::WalkResult::advance();
                     })
                     .wasInterrupted());
    std::vector<HostValue> inputs;
    for (size_t i = 0; i < count; ++i)
      inputs.push_back(mask[i] ? stacked(values[i]) : values[i][0]);
    auto actual = interpret(*module, "", inputs);
    ASSERT_TRUE(actual) << actual.error().message();
    std::vector<std::vector<HostValue>> expected(actual->size());
    for (int64_t place = 0; place < places; ++place) {
      std::vector<HostValue> ofPlace;
      for (size_t i = 0; i < count; ++i)
        ofPlace.push_back(values[i][mask[i] ? size_t(place) : 0]);
      auto results = interpret(*local, "", ofPlace);
      ASSERT_TRUE(results) << results.error().message();
      ASSERT_EQ(results->size(), actual->size());
      for (size_t r = 0; r < results->size(); ++r)
        expected[r].push_back((*results)[r]);
    }
    for (size_t r = 0; r < expected.size(); ++r) {
      Comparison comparison = compare((*actual)[r], stacked(expected[r]));
      EXPECT_EQ(comparison.mismatch, "") << "result " << r;
      EXPECT_LT(comparison.error, 1e-9) << "result " << r;
    }
  }
}

TEST(VectoriseTest, EveryOpAtEachPlace) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  for (const OpSpec &op : matrix::allOps()) {
    check(context, op, false);
    if (op.gradient)
      check(context, op, true);
  }
}

} // namespace
} // namespace meshloom
