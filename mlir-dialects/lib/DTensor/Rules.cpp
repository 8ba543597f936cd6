// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules from text and from parts, and the checks that hold for every op.

#include "RuleBuilder.h"
#include "States.h"

#include "meshloom/Core/TensorSize.h"

#include "llvm/ADT/StringExtras.h"

namespace meshloom::dtensor {

/// The `index`-th factor name: a, b, ..., z, a1, b1, ...
static std::string factorName(unsigned index) {
  std::string name(1, char('a' + index % 26));
  return index < 26 ? name : name + std::to_string(index / 26);
}

static Shape shapeOf(Type type) {
  SmallVector<int64_t> shape = globalShape(type);
  return Shape(shape.begin(), shape.end());
}

static ShardingRule withFlow(ShardingRule rule, PartialFlow flow,
                             ArrayRef<unsigned> carriers, ReduceKind kind) {
  rule.partialFlow = flow;
  rule.carriers.assign(carriers.begin(), carriers.end());
  rule.reduceKind = kind;
  return rule;
}

static ShardingRule bound(Operation *op, ShardingRule rule, PartialFlow flow,
                          ArrayRef<unsigned> carriers, ReduceKind kind) {
  rule = withFlow(std::move(rule), flow, carriers, kind);
  std::vector<Shape> operands, results;
  for (Type type : op->getOperandTypes())
    operands.push_back(shapeOf(type));
  for (Type type : op->getResultTypes())
    results.push_back(shapeOf(type));
  [[maybe_unused]] Status ok = rule.bind(operands, results);
  assert(ok && "an op that passed its verifier fits its rule");
  return rule;
}

unsigned RuleBuilder::factor(FactorKind kind) {
  unsigned index = rule.factors.size();
  rule.factors.push_back({factorName(index), 1, kind});
  return index;
}

unsigned RuleBuilder::factorOfSize(int64_t size, FactorKind kind) {
  unsigned index = factor(kind);
  rule.factors[index].size = size;
  sized = true;
  return index;
}

ShardingRule::Tensor RuleBuilder::dims(unsigned rank) {
  ShardingRule::Tensor dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back({factor()});
  return dims;
}

ShardingRule RuleBuilder::finish(PartialFlow flow, ArrayRef<unsigned> carriers,
                                 ReduceKind kind) {
  rule.deriveKinds();
  if (!sized)
    return bound(op, std::move(rule), flow, carriers, kind);
  return withFlow(std::move(rule), flow, carriers, kind);
}

//===----------------------------------------------------------------------===//
// Rules from text
//===----------------------------------------------------------------------===//

/// Appends `text`'s tensors, commas between them, with `...` spelled out for
/// tensors of the given ranks. Scalars become `[]`, which Core's grammar takes
/// everywhere.
static void expandTensors(StringRef text, TypeRange types, std::string &out) {
  if (types.empty())
    return;
  SmallVector<StringRef> tensors;
  text.split(tensors, ',');
  assert(tensors.size() == types.size() && "a rule names every tensor");
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    SmallVector<StringRef> dims;
    tensor.split(dims, ' ', -1, /*KeepEmpty=*/false);
    size_t rank = globalShape(types[index]).size();
    size_t named = dims.size() - llvm::is_contained(dims, "...");
    out += index ? ", " : "";
    if (rank == 0) {
      out += "[]";
      continue;
    }
    for (StringRef dim : dims)
      if (dim != "...")
        out += (dim + " ").str();
      else
        for (size_t i = named; i < rank; ++i)
          out += "d" + std::to_string(i - named) + " ";
  }
}

ShardingRule ruleFromText(Operation *op, StringRef text, PartialFlow flow,
                          ArrayRef<unsigned> carriers, ReduceKind kind) {
  // Passes ask for an op's rule again and again, and few ops differ in what
  // their rules depend on.
  llvm::SmallString<128> key(text);
  auto add = [&key](int64_t number) {
    key.append(
        StringRef(reinterpret_cast<const char *>(&number), sizeof number));
  };
  add(int64_t(text.size()));
  add(int64_t(flow));
  add(int64_t(kind));
  add(int64_t(carriers.size()));
  for (unsigned carrier : carriers)
    add(carrier);
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      SmallVector<int64_t> shape = globalShape(type);
      add(int64_t(shape.size()));
      for (int64_t extent : shape)
        add(extent);
    }
  auto make = [&] {
    auto [operands, results] = text.split("->");
    std::string expanded;
    expandTensors(operands, op->getOperandTypes(), expanded);
    expanded += " -> ";
    expandTensors(results, op->getResultTypes(), expanded);
    Result<ShardingRule> rule = ShardingRule::parse(expanded);
    assert(rule && "rules in the .td files can be read");
    return bound(op, std::move(*rule), flow, carriers, kind);
  };
  return cast<DTensorDialect>(op->getDialect())->ruleOf(key, make);
}

//===----------------------------------------------------------------------===//
// Rules from index maps
//===----------------------------------------------------------------------===//

ShardingRule ruleFromIndexMaps(Operation *op, ArrayRef<unsigned> carriers) {
  auto moves = cast<IndexMapOpInterface>(op);
  RuleBuilder rule(op);
  auto to = globalShape(op->getResult(0).getType());
  ShardingRule::Tensor result = rule.dims(to.size());
  for (unsigned source = 0; source < op->getNumOperands(); ++source) {
    if (source >= moves.getNumSources()) { // the fill
      rule.operand({});
      continue;
    }
    auto from = globalShape(op->getOperand(source).getType());
    ShardingRule::Tensor operand;
    for (auto [dim, extent, map] :
         llvm::enumerate(from, moves.getIndexMap(source))) {
      if (map.resultDim < 0) {
        operand.emplace_back();
        continue;
      }
      operand.push_back(result[map.resultDim]);
      if (map.isIdentity(extent, to[map.resultDim]))
        continue;
      // The elements at or behind the first index, up to the last one.
      ShardingRule::Window window{source, unsigned(dim), operand.back()[0]};
      if (map.indices) {
        window.sources = *map.indices;
      } else {
        window.scale = map.scale;
        window.low = map.offset + map.divisor - 1;
        window.high = map.offset;
        window.divisor = map.divisor;
      }
      rule.window(std::move(window));
    }
    rule.operand(std::move(operand));
  }
  rule.result(std::move(result));
  return rule.finish(PartialFlow::Movement, carriers);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

InFlightDiagnostic violates(Operation *op, unsigned number) {
  return op->emitOpError("violates constraint C") << number << ": ";
}

static SmallVector<Type> tensorTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types;
}

static std::string shapeText(Type type) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(globalShape(type), os);
  os << "]";
  return text;
}

LogicalResult verifyElementwise(Operation *op) {
  SmallVector<Type> types = tensorTypes(op);
  SmallVector<int64_t> expected = globalShape(types.back());
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (globalShape(type) != expected)
      return violates(op, 1)
             << "operand #" << index << " has global shape " << shapeText(type)
             << ", but the result has " << shapeText(types.back());
  return success();
}

LogicalResult verifySameElements(Operation *op) {
  Type expected = elementTypeOf(op->getResult(0).getType());
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (elementTypeOf(type) != expected)
      return violates(op, 2)
             << "operand #" << index << " has element type "
             << elementTypeOf(type) << ", but the result has " << expected;
  return success();
}

/// Returns whether its bytes can be counted (S5); one of an element type that
/// no program has is refused elsewhere.
static bool isOfFittingSize(Type type) {
  std::optional<DType> element = dtypeOf(elementTypeOf(type));
  return !element || tensorBytes(shapeOf(type), *element).has_value();
}

LogicalResult verifyStates(Operation *op, ArrayRef<Type> types) {
  for (Type type : types)
    if (!isOfFittingSize(type))
      return op->emitOpError("violates S5: a tensor of more than 2^53 bytes, ")
             << type;
  size_t shards = llvm::count_if(types, isShard);
  if (shards == 0)
    return success();
  if (shards != types.size())
    return op->emitOpError("violates S2: shards and global tensors in one op");
  MeshAttr mesh = layoutAttrOf(types.front()).getMeshAttr();
  for (Type type : types)
    if (MeshAttr other = layoutAttrOf(type).getMeshAttr(); other != mesh)
      return op->emitOpError("violates S1: layouts of two meshes in one op, ")
             << mesh << " and " << other;
  return success();
}

LogicalResult verifyShardedOp(Operation *op) {
  SmallVector<Type> types = tensorTypes(op);
  if (failed(verifyStates(op, types)))
    return failure();
  return llvm::any_of(types, isShard) ? verifyLayouts(op) : success();
}

LogicalResult verifyLayouts(Operation *op) {
  auto sharded = dyn_cast<ShardedOpInterface>(op);
  if (!sharded || isa<RelayoutOp, ConstraintOp>(op))
    return success();
  // Zeros that start a sum are its addends.
  if (isa<ConstantOp>(op))
    if (LayoutAttr layout = layoutAttrOf(op->getResult(0).getType());
        layout && !layout.getPartial().empty())
      return success();
  std::vector<Layout> operands, results;
  for (Type type : op->getOperandTypes()) {
    LayoutAttr layout = layoutAttrOf(type);
    if (!layout)
      return success();
    operands.push_back(layout.getLayout());
  }
  for (Type type : op->getResultTypes()) {
    LayoutAttr layout = layoutAttrOf(type);
    if (!layout)
      return success();
    results.push_back(layout.getLayout());
  }
  ShardingRule rule = sharded.getShardingRule();
  OpSharding sharding = opSharding(rule, operands, results);
  auto check = [&](StringRef role, unsigned index, const Layout &has,
                   const Layout &needs) -> LogicalResult {
    if (has == needs)
      return success();
    return op->emitOpError("violates S3: ")
           << role << " #" << index << " is laid out as " << has.spec_string()
           << ", but the rule '" << rule.to_string() << "' needs "
           << needs.spec_string();
  };
  for (auto [index, layout] : llvm::enumerate(operands))
    if (failed(check("operand", index, layout,
                     operandLayout(rule, index, sharding, layout.mesh()))))
      return failure();
  for (auto [index, layout] : llvm::enumerate(results))
    if (failed(check("result", index, layout,
                     resultLayout(rule, index, sharding, layout.mesh()))))
      return failure();
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes())) {
    if (!isShard(type))
      continue;
    Shape shape = shapeOf(type);
    Windows held = windowsOf(type),
            needed = operandWindows(rule, index, sharding, shape,
                                    operands[index].mesh());
    // An op may be checked before its halo exchanges are inserted, not after.
    if (!held.empty() && !covers(operands[index], shape, held, needed))
      return op->emitOpError("violates S4: operand #")
             << index << " is held as " << to_string(held) << ", but the rule '"
             << rule.to_string() << "' needs " << to_string(needed);
  }
  return success();
}

} // namespace meshloom::dtensor
