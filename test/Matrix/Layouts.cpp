// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cells as text.
#include "Layouts.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::matrix {
namespace {

using Where = LayoutSpec::Where;

/// Sums and products of numbers, M and N, with parentheses; integer division.
class Arithmetic {
public:
  Arithmetic(const std::string &text, const LayoutSpec &layout)
      : position(text.c_str()), layout(layout) {}
  int64_t sum() {
    int64_t value = product();
    while (*position == '+' || *position == '-')
      value = *position++ == '+' ? value + product() : value - product();
    return value;
  }

private:
  int64_t product() {
    int64_t value = atom();
    while (*position == '*' || *position == '/')
      value = *position++ == '*' ? value * atom() : value / atom();
    return value;
  }
  int64_t atom() {
    if (*position == '(') {
      ++position;
      int64_t value = sum();
      ++position; // the closing one
      return value;
    }
    if (*position == 'M' || *position == 'N')
      return *position++ == 'M' ? layout.rows : layout.columns;
    int64_t value = 0;
    while (*position >= '0' && *position <= '9')
      value = 10 * value + (*position++ - '0');
    return value;
  }
  const char *position;
  const LayoutSpec &layout;
};

struct TypeText {
  std::vector<int64_t> shape;
  std::string element;
  std::string with(const std::string &encoding) const {
    return fmt::format("tensor<{}{}{}{}>", fmt::join(shape, "x"),
                       shape.empty() ? "" : "x", element, encoding);
  }
};

TypeText typeOf(const std::string &text, const LayoutSpec &layout) {
  size_t colon = text.find(':');
  TypeText type{{}, text.substr(colon + 1)};
  std::string shape = text.substr(0, colon);
  for (size_t from = 0; from < shape.size();) {
    size_t to = std::min(shape.find('x', from), shape.size());
    type.shape.push_back(
        Arithmetic(shape.substr(from, to - from), layout).sum());
    from = to + 1;
  }
  return type;
}

std::string encoding(const std::vector<std::string> &dims,
                     const std::string &partial = "") {
  return fmt::format(", #dtensor.layout<#mesh, [{}]{}>", fmt::join(dims, ", "),
                     partial);
}

std::string operandLayout(size_t index, const TypeText &type,
                          const LayoutSpec &layout, const MeshSpec &mesh) {
  size_t rank = type.shape.size();
  std::vector<std::string> dims(rank, "*");
  auto shard = [&](size_t dim, const std::string &axes) {
    if (rank)
      dims[std::min(dim, rank - 1)] = axes;
  };
  std::string both = fmt::format("{{{}}}", fmt::join(mesh.axes, ", "));
  std::string partial;
  bool boolean = type.element == "i1";
  bool complex = type.element.starts_with("complex"); // no order
  switch (layout.where) {
  case Where::Nowhere:
  case Where::Result:
    break;
  case Where::Dim0:
    shard(0, mesh.axes[0]);
    break;
  case Where::Dim1:
    shard(1, mesh.axes.back());
    break;
  case Where::Dim2:
    if (rank > 2)
      shard(2, mesh.axes[0]);
    break;
  case Where::OneDim:
    shard(0, both);
    break;
  case Where::TwoDims:
    shard(0, mesh.axes[0]);
    if (rank > 1)
      shard(1, mesh.axes[1]);
    break;
  case Where::Alternating:
    shard(index % 2, mesh.axes[0]);
    break;
  case Where::PartialSum:
    partial =
        fmt::format(" partial<{}: {}>", mesh.axes[0], boolean ? "or" : "sum");
    break;
  case Where::PartialMax:
    partial = fmt::format(" partial<{}: {}>", mesh.axes.back(),
                          boolean   ? "and"
                          : complex ? "prod"
                                    : "max");
    break;
  }
  return encoding(dims, partial);
}

void replaceAll(std::string &text, const std::string &from,
                const std::string &to) {
  for (size_t position = text.find(from); position != std::string::npos;
       position = text.find(from, position + to.size()))
    text.replace(position, from.size(), to);
}

} // namespace

std::vector<MeshSpec> allMeshes() {
  return {{"1", "x = 1", {"x"}, 1},
          {"2", "x = 2", {"x"}, 2},
          {"8", "x = 8", {"x"}, 8},
          {"2x4", "x = 2, y = 4", {"x", "y"}, 8}};
}

std::vector<LayoutSpec> allLayouts() {
  return {{"unsharded", 4, 6, Where::Nowhere},
          {"dim 0", 8, 16, Where::Dim0},
          {"dim 1", 8, 16, Where::Dim1},
          {"dim 2", 6, 4, Where::Dim2},
          {"two axes", 16, 3, Where::OneDim},
          {"two dims", 8, 16, Where::TwoDims},
          {"mixed", 8, 8, Where::Alternating},
          {"result", 8, 6, Where::Result},
          {"partial sum", 4, 6, Where::PartialSum},
          {"partial max", 4, 6, Where::PartialMax},
          {"uneven 0", 11, 5, Where::Dim0},
          {"uneven 1", 5, 13, Where::Dim1},
          {"uneven 2", 5, 9, Where::TwoDims},
          {"empty", 3, 2, Where::Dim0},
          {"empty 2", 3, 5, Where::OneDim},
          {"nothing", 0, 5, Where::Dim0}};
}

std::string whyNot(const OpSpec &op, const LayoutSpec &layout,
                   const MeshSpec &mesh) {
  bool wantsTwo =
      layout.where == Where::OneDim || layout.where == Where::TwoDims;
  if (wantsTwo && mesh.axes.size() < 2)
    return "the layout is for a mesh of two axes";
  if (layout.where == Where::Dim2 &&
      std::none_of(op.operands.begin(), op.operands.end(),
                   [](const std::string &type) {
                     return std::count(type.begin(), type.end(), 'x') > 1;
                   }))
    return "no operand has three dims";
  if (op.operands.empty() && layout.where != Where::Nowhere &&
      layout.where != Where::Result)
    return "there is no operand to lay out";
  if (layout.where == Where::Result && op.result.front() == ':')
    return "the result is a scalar, which has one layout";
  bool argument = op.name.starts_with("arg") && op.name.ends_with(".rows");
  if (!layout.rows && argument)
    return "the largest of no elements has no index";
  return "";
}

bool applies(const OpSpec &op, const LayoutSpec &layout, const MeshSpec &mesh) {
  return whyNot(op, layout, mesh).empty();
}

std::string describe(LayoutSpec::Where where) {
  switch (where) {
  case Where::Nowhere:
    return "all operands whole on every device";
  case Where::Dim0:
    return "dim 0 of every operand on `x`";
  case Where::Dim1:
    return "dim 1 (of a vector dim 0) of every operand on `y`";
  case Where::Dim2:
    return "dim 2 on `x`, of the operands that have three";
  case Where::OneDim:
    return "dim 0 of every operand on `x` and `y`";
  case Where::TwoDims:
    return "dims 0 and 1 of every operand on `x` and `y`";
  case Where::Alternating:
    return "dim 0 of the first operand, dim 1 of the second, ... on `x`";
  case Where::Result:
    return "operands whole; dim 0 of the result on `x`";
  case Where::PartialSum:
    return "every operand a pending sum (booleans: or) over `x`";
  case Where::PartialMax:
    return "every operand a pending maximum (booleans: and; complex numbers: "
           "product) over `y`";
  }
  return "";
}

CellText cellText(const OpSpec &op, const LayoutSpec &layout,
                  const MeshSpec &mesh, const std::string &prefix) {
  CellText cell;
  std::string body = op.body, before = op.before;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    TypeText type = typeOf(op.operands[i], layout);
    cell.arguments.push_back(fmt::format("%{}_{}", prefix, i));
    cell.argumentTypes.push_back(
        type.with(operandLayout(i, type, layout, mesh)));
    for (std::string *text : {&body, &before}) {
      replaceAll(*text, fmt::format("$T{}", i), cell.argumentTypes.back());
      replaceAll(*text, fmt::format("${}", i), cell.arguments.back());
    }
  }
  TypeText result = typeOf(op.result, layout);
  size_t results = 0;
  for (size_t position = body.find("$R"); position != std::string::npos;
       position = body.find("$R", position + 1))
    ++results;
  replaceAll(body, "$R", result.with(""));
  for (std::string *text : {&body, &before}) {
    replaceAll(*text, "$P", prefix);
    replaceAll(*text, "$M", std::to_string(layout.rows));
    replaceAll(*text, "$N", std::to_string(layout.columns));
    for (size_t open = text->find('{'); open != std::string::npos;
         open = text->find('{', open)) {
      // Other braces, of layouts and attributes, hold no arithmetic.
      size_t close = text->find('}', open);
      std::string inside = text->substr(open + 1, close - open - 1);
      if (inside.find_first_of("MN") == std::string::npos) {
        open = close;
        continue;
      }
      text->replace(open, close - open + 1,
                    std::to_string(Arithmetic(inside, layout).sum()));
    }
  }
  bool several = results + op.others > 1;
  cell.body =
      before +
      fmt::format("  %{}_r{} = {}\n", prefix,
                  several ? fmt::format(":{}", results + op.others) : "", body);
  for (size_t i = 0; i < results; ++i) {
    std::string name =
        fmt::format("%{}_r{}", prefix, several ? fmt::format("#{}", i) : "");
    std::string type = result.with("");
    if (layout.where == Where::Result) {
      std::vector<std::string> dims(result.shape.size(), "*");
      dims[0] = mesh.axes[0];
      type = result.with(encoding(dims));
      std::string pinned = fmt::format("%{}_p{}", prefix, i);
      cell.body += fmt::format("  {} = dtensor.constraint {} : ({}) -> {}\n",
                               pinned, name, result.with(""), type);
      name = pinned;
    }
    cell.results.push_back(name);
    cell.resultTypes.push_back(type);
  }
  return cell;
}

} // namespace meshloom::matrix
