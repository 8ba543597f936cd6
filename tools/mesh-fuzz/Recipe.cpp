// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Printing recipes, in MLIR's generic form: one way to print for every op.
#include "Recipe.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace meshloom::fuzz {

double Range::magnitude() const {
  return std::max(std::abs(low), std::abs(high));
}

std::string tensorText(DType type, const Shape &shape) {
  std::string dims;
  for (int64_t size : shape)
    dims += std::to_string(size) + "x";
  return "tensor<" + dims + std::string(name(type)) + ">";
}

std::string listText(const std::vector<int64_t> &list) {
  if (list.empty())
    return "array<i64>";
  return fmt::format("array<i64: {}>", fmt::join(list, ", "));
}

std::string Recipe::typeOf(unsigned value) const {
  const Value &v = values[value];
  std::string text = tensorText(v.type, v.shape);
  if (v.layout.empty())
    return text;
  text.pop_back();
  return text + ", #dtensor.layout<#mesh, " + v.layout + ">>";
}

namespace {
class Printer {
public:
  explicit Printer(const Recipe &recipe) : recipe(recipe) {}

  std::string run() {
    text = fmt::format("#mesh = #dtensor.mesh<{}>\nmodule attributes "
                       "{{dtensor.mesh = #mesh}} {{\n",
                       recipe.mesh.text);
    text += "func.func @main(";
    for (size_t i = 0; i < recipe.arguments.size(); ++i)
      text += (i ? ", " : "") + define(recipe.arguments[i]);
    text += ") -> (" + types(recipe.results) + ") {\n";
    for (const Node &node : recipe.nodes)
      print(node, "  ");
    text += "  return";
    if (!recipe.results.empty())
      text += " " + names(recipe.results) + " : " + types(recipe.results);
    return text + "\n}\n}\n";
  }

private:
  std::string define(unsigned value) const {
    return fmt::format("%v{}: {}", value, recipe.typeOf(value));
  }
  std::string names(const std::vector<unsigned> &list) const {
    std::string text;
    for (unsigned value : list)
      text += fmt::format("{}%v{}", text.empty() ? "" : ", ", value);
    return text;
  }
  std::string types(const std::vector<unsigned> &list) const {
    std::string text;
    for (unsigned value : list)
      text += (text.empty() ? "" : ", ") + recipe.typeOf(value);
    return text;
  }

  void print(const Node &node, const std::string &indent) {
    text += fmt::format("{}{}{}\"{}\"({})", indent, names(node.results),
                        node.results.empty() ? "" : " = ", node.op,
                        names(node.operands));
    if (!node.attributes.empty())
      text += " <{" + node.attributes + "}>";
    if (!node.regions.empty())
      text += " (" + node.regions + ")";
    if (!node.blocks.empty()) {
      text += " (";
      for (size_t i = 0; i < node.blocks.size(); ++i)
        print(node.blocks[i], indent, i > 0);
      text += ")";
    }
    text += fmt::format(" : ({}) -> ({})\n", types(node.operands),
                        types(node.results));
  }

  void print(const Block &block, const std::string &indent, bool more) {
    text += more ? ", {\n" : "{\n";
    if (!block.arguments.empty()) {
      text += indent + "^bb0(";
      for (size_t i = 0; i < block.arguments.size(); ++i)
        text += (i ? ", " : "") + define(block.arguments[i]);
      text += "):\n";
    }
    for (const Node &node : block.nodes)
      print(node, indent + "  ");
    text += fmt::format("{}  \"dtensor.yield\"({}) : ({}) -> ()\n{}}}", indent,
                        names(block.yields), types(block.yields), indent);
  }

  const Recipe &recipe;
  std::string text;
};
} // namespace

namespace {
/// Follows values back to what they are made from.
class Dependences {
public:
  explicit Dependences(const Recipe &recipe)
      : recipe(recipe), reached(recipe.values.size()) {
    collect(recipe.nodes);
  }

  void follow(unsigned value) {
    if (reached[value] || !recipe.values[value].differentiable)
      return;
    reached[value] = true;
    if (auto init = inits.find(value); init != inits.end())
      follow(init->second);
    auto maker = makers.find(value);
    if (maker == makers.end())
      return;
    const auto &[node, result] = maker->second;
    // A loop gives what its body yields, or its init; a branch what it yields.
    if (!node->blocks.empty()) {
      for (const Block &block : node->blocks)
        if (block.yields.size() == node->results.size())
          follow(block.yields[result]);
      if (node->op == "dtensor.while")
        follow(node->operands[result]);
      return;
    }
    for (unsigned operand : node->operands)
      follow(operand);
  }

  bool isReached(unsigned value) const { return reached[value]; }

private:
  void collect(const std::vector<Node> &nodes) {
    for (const Node &node : nodes) {
      for (size_t r = 0; r < node.results.size(); ++r)
        makers[node.results[r]] = {&node, r};
      for (const Block &block : node.blocks) {
        for (size_t a = 0; a < block.arguments.size(); ++a)
          inits[block.arguments[a]] = node.operands[a];
        collect(block.nodes);
      }
    }
  }

  const Recipe &recipe;
  std::vector<bool> reached;
  std::map<unsigned, std::pair<const Node *, size_t>> makers;
  std::map<unsigned, unsigned> inits;
};
} // namespace

std::vector<unsigned> Recipe::differentiableArguments() const {
  Dependences dependences(*this);
  dependences.follow(results.front());
  std::vector<unsigned> list;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (dependences.isReached(arguments[i]))
      list.push_back(unsigned(i));
  return list;
}

std::string Recipe::text() const {
  return Printer(*this).run();
}

} // namespace meshloom::fuzz
