// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shard_map bodies as StableHLO text, with their inputs and results.
#include "ShardMap.h"

#include "ManualDevices.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::fuzz {
namespace {

using Kind = ManualOp::Kind;

std::string axisName(size_t axis) {
  return std::string(1, char('x' + axis));
}

/// A name in StableHLO for each kind, and in statistics.
std::string mnemonicOf(const ManualOp &op) {
  switch (op.kind) {
  case Kind::Argument:
    return "argument";
  case Kind::Constant:
    return "constant";
  case Kind::AxisIndex:
    return "partition_id";
  case Kind::Arithmetic:
    return op.function;
  case Kind::AddDim:
  case Kind::Expand:
    return "broadcast_in_dim";
  case Kind::Reshape:
    return "reshape";
  case Kind::Transpose:
    return "transpose";
  case Kind::Slice:
    return "slice";
  case Kind::Concatenate:
    return "concatenate";
  case Kind::Reverse:
    return "reverse";
  case Kind::Reduce:
    return "reduce";
  case Kind::DynamicSlice:
    return "dynamic_slice";
  case Kind::AllGather:
    return "all_gather";
  case Kind::AllToAll:
    return "all_to_all";
  case Kind::AllReduce:
    return "all_reduce";
  case Kind::ReduceScatter:
    return "reduce_scatter";
  case Kind::Permute:
    return "collective_permute";
  case Kind::Broadcast:
    return "collective_broadcast";
  }
  return "";
}

class Writer {
public:
  Writer(const ShardMapProgram &program, const std::vector<OnDevices> &values)
      : program(program), values(values), devices(program.mesh) {}

  std::string run() {
    std::string mesh, manual;
    for (size_t axis = 0; axis < program.mesh.size(); ++axis) {
      mesh += fmt::format("{}\"{}\"={}", axis ? ", " : "", axisName(axis),
                          program.mesh[axis]);
      if (program.manual[axis])
        manual +=
            fmt::format("{}\"{}\"", manual.empty() ? "" : ", ", axisName(axis));
    }
    std::string in, out, outer, inner, arguments, names, results;
    auto more = [](std::string &list, const std::string &text) {
      list += (list.empty() ? "" : ", ") + text;
    };
    for (size_t v = 0; v < program.in.size(); ++v) {
      std::string type = typeText(globalOf(shapeOf(v), program.in[v]));
      more(in, sharding(program.in[v]));
      more(outer, type);
      more(arguments, fmt::format("%a{}: {}", v, type));
      more(names, fmt::format("%a{}", v));
      more(inner, fmt::format("%v{}: {}", v, typeOf(unsigned(v))));
    }
    for (const ShardMapProgram::Result &result : program.results) {
      more(out, sharding(result.axes));
      more(results, typeText(globalOf(shapeOf(result.value), result.axes)));
    }
    std::string text =
        fmt::format("sdy.mesh @mesh = <[{}]>\nfunc.func @main({}) -> ({}) {{\n"
                    "  %r:{} = sdy.manual_computation({}) in_shardings=[{}] "
                    "out_shardings=[{}] manual_axes={{{}}} ({}) {{\n",
                    mesh, arguments, results, program.results.size(), names, in,
                    out, manual, inner);
    for (size_t i = program.in.size(); i < program.ops.size(); ++i)
      text += "    " + line(unsigned(i)) + "\n";
    std::string operands, operandTypes, returned;
    for (size_t r = 0; r < program.results.size(); ++r) {
      more(operands, fmt::format("%v{}", program.results[r].value));
      more(operandTypes, typeOf(program.results[r].value));
      more(returned, fmt::format("%r#{}", r));
    }
    return text + fmt::format("    sdy.return {} : {}\n  }} : ({}) -> ({})\n"
                              "  return {} : {}\n}}\n",
                              operands, operandTypes, outer, results, returned,
                              results);
  }

private:
  const Shape &shapeOf(size_t value) const { return values[value][0].shape; }
  std::string typeText(const Shape &shape) const {
    return tensorText(program.type(), shape);
  }
  std::string typeOf(unsigned value) const { return typeText(shapeOf(value)); }
  Shape globalOf(Shape shape, const DimAxes &axes) const {
    for (size_t d = 0; d < shape.size(); ++d)
      shape[d] *= devices.partsOf(axes[d]);
    return shape;
  }
  /// Where axes are free, dims stay open for them, as JAX writes it.
  std::string sharding(const DimAxes &axes) const {
    bool open = std::ranges::count(program.manual, false) > 0;
    std::string text = "<@mesh, [";
    for (size_t d = 0; d < axes.size(); ++d) {
      std::vector<std::string> entries;
      for (unsigned axis : axes[d])
        entries.push_back("\"" + axisName(axis) + "\"");
      if (open)
        entries.push_back("?");
      text += fmt::format("{}{{{}}}", d ? ", " : "", fmt::join(entries, ", "));
    }
    return text + "]>";
  }

  std::string number(int64_t value) const {
    return program.isFloat ? fmt::format("{}.0", value) : std::to_string(value);
  }
  std::string table() const {
    const std::vector<std::vector<int64_t>> &groups = currentOp().groups;
    std::string text = "dense<[";
    for (size_t i = 0; i < groups.size(); ++i)
      text += fmt::format("{}[{}]", i ? ", " : "", fmt::join(groups[i], ", "));
    return text + fmt::format("]> : tensor<{}x{}xi64>", groups.size(),
                              groups[0].size());
  }
  const ManualOp &currentOp() const { return program.ops[current]; }
  std::string reducer() const {
    std::string type = typeText({});
    return fmt::format("({{\n    ^bb0(%p: {0}, %q: {0}):\n"
                       "      %s = stablehlo.{1} %p, %q : {0}\n"
                       "      stablehlo.return %s : {0}\n    }})",
                       type, currentOp().function);
  }

  std::string operandOf(unsigned value, size_t i) const {
    return fmt::format("%v{}", program.ops[value].operands[i]);
  }

  std::string line(unsigned value);
  std::string axisIndex(unsigned value, const std::string &type) const;
  std::string slice(unsigned value, const std::string &arrow) const;
  std::string dynamicSlice(unsigned value) const;
  std::string reduction(unsigned value) const;
  std::string collective(unsigned value, const std::string &arrow) const;

  const ShardMapProgram &program;
  const std::vector<OnDevices> &values;
  Devices devices;
  unsigned current = 0;
};

std::string Writer::line(unsigned value) {
  current = value;
  const ManualOp &op = program.ops[value];
  std::string name = mnemonicOf(op), type = typeOf(value);
  auto operand = [&](size_t i) { return operandOf(value, i); };
  std::string from = op.operands.empty() ? "" : typeOf(op.operands[0]);
  std::string arrow = fmt::format("({}) -> {}", from, type);
  switch (op.kind) {
  case Kind::Argument:
    return "";
  case Kind::Constant:
    return fmt::format("%v{} = stablehlo.constant dense<{}> : {}", value,
                       number(op.numbers[0]), type);
  case Kind::AxisIndex:
    return axisIndex(value, type);
  case Kind::Arithmetic:
    return fmt::format("%v{} = stablehlo.{} {}, {} : {}", value, name,
                       operand(0), operand(1), type);
  case Kind::AddDim:
  case Kind::Expand: {
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < int64_t(shapeOf(op.operands[0]).size()); ++d)
      dims.push_back(d + (op.kind == Kind::AddDim && d >= op.numbers[0]));
    return fmt::format("%v{} = stablehlo.broadcast_in_dim {}, dims = [{}] : {}",
                       value, operand(0), fmt::join(dims, ", "), arrow);
  }
  case Kind::Reshape:
    return fmt::format("%v{} = stablehlo.reshape {} : {}", value, operand(0),
                       arrow);
  case Kind::Transpose:
    return fmt::format("%v{} = stablehlo.transpose {}, dims = [{}] : {}", value,
                       operand(0), fmt::join(op.numbers, ", "), arrow);
  case Kind::Slice:
    return slice(value, arrow);
  case Kind::DynamicSlice:
    return dynamicSlice(value);
  case Kind::Concatenate:
    return fmt::format(
        "%v{} = stablehlo.concatenate {}, {}, dim = {} : ({}, {}) -> {}", value,
        operand(0), operand(1), op.numbers[0], from, from, type);
  case Kind::Reverse:
    return fmt::format("%v{} = stablehlo.reverse {}, dims = [{}] : {}", value,
                       operand(0), op.numbers[0], type);
  case Kind::Reduce:
    return reduction(value);
  default:
    return collective(value, arrow);
  }
}

std::string Writer::axisIndex(unsigned value, const std::string &type) const {
  const ManualOp &op = program.ops[value];
  return fmt::format(
      "%v{0}_s = stablehlo.constant dense<{1}> : tensor<ui32>\n"
      "    %v{0}_n = stablehlo.constant dense<{2}> : tensor<ui32>\n"
      "    %v{0}_p = stablehlo.partition_id : tensor<ui32>\n"
      "    %v{0}_d = stablehlo.divide %v{0}_p, %v{0}_s : tensor<ui32>\n"
      "    %v{0}_r = stablehlo.remainder %v{0}_d, %v{0}_n : tensor<ui32>\n"
      "    %v{0} = stablehlo.convert %v{0}_r : (tensor<ui32>) -> {3}",
      value, devices.strides[size_t(op.numbers[0])],
      devices.sizes[size_t(op.numbers[0])], type);
}

std::string Writer::slice(unsigned value, const std::string &arrow) const {
  const ManualOp &op = program.ops[value];
  std::string ranges;
  const Shape &shape = shapeOf(op.operands[0]);
  for (size_t d = 0; d < shape.size(); ++d) {
    bool here = int64_t(d) == op.numbers[0];
    ranges += fmt::format("{}{}:{}", d ? ", " : "", here ? op.numbers[1] : 0,
                          here ? op.numbers[1] + op.numbers[2] : shape[d]);
  }
  return fmt::format("%v{} = stablehlo.slice {} [{}] : {}", value,
                     operandOf(value, 0), ranges, arrow);
}

std::string Writer::dynamicSlice(unsigned value) const {
  const ManualOp &op = program.ops[value];
  // Starts are i32, and 0 but along one dim.
  const Shape &shape = shapeOf(value);
  std::string starts, types;
  for (size_t d = 0; d < shape.size(); ++d) {
    starts += fmt::format(", %v{}_{}", value,
                          int64_t(d) == op.numbers[0] ? "i" : "z");
    types += ", tensor<i32>";
  }
  return fmt::format("%v{0}_z = stablehlo.constant dense<0> : tensor<i32>\n"
                     "    %v{0}_i = stablehlo.convert {1} : ({2}) -> "
                     "tensor<i32>\n"
                     "    %v{0} = stablehlo.dynamic_slice {3}{4}, sizes = "
                     "[{5}] : ({6}{7}) -> {8}",
                     value, operandOf(value, 1), typeOf(op.operands[1]),
                     operandOf(value, 0), starts, fmt::join(shape, ", "),
                     typeOf(op.operands[0]), types, typeOf(value));
}

std::string Writer::reduction(unsigned value) const {
  const ManualOp &op = program.ops[value];
  std::string identity =
      op.function == "add" ? number(0)
      : program.isFloat
          ? (op.function == "maximum" ? "0xFF800000" : "0x7F800000")
          : (op.function == "maximum" ? "-2147483648" : "2147483647");
  return fmt::format(
      "%v{0}_0 = stablehlo.constant dense<{1}> : {2}\n"
      "    %v{0} = stablehlo.reduce({3} init: %v{0}_0) applies stablehlo.{4} "
      "across dimensions = [{5}] : ({6}, {2}) -> {7}",
      value, identity, typeText({}), operandOf(value, 0), op.function,
      op.numbers[0], typeOf(op.operands[0]), typeOf(value));
}

std::string Writer::collective(unsigned value, const std::string &arrow) const {
  const ManualOp &op = program.ops[value];
  const std::string channel =
      "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
  auto line = [&](const std::string &attributes, const std::string &region) {
    return fmt::format("%v{} = \"stablehlo.{}\"(%v{}) <{{{}}}>{} : {}", value,
                       mnemonicOf(op), op.operands[0], attributes, region,
                       arrow);
  };
  switch (op.kind) {
  case Kind::AllGather:
    return line(fmt::format("all_gather_dim = {} : i64, {}, replica_groups = "
                            "{}, use_global_device_ids",
                            op.numbers[0], channel, table()),
                "");
  case Kind::AllToAll:
    return line(
        fmt::format("{}, concat_dimension = {} : i64, replica_groups = {}, "
                    "split_count = {} : i64, split_dimension = {} : i64",
                    channel, op.numbers[1], table(), op.groups[0].size(),
                    op.numbers[0]),
        "");
  case Kind::AllReduce:
    return line(fmt::format("{}, replica_groups = {}, use_global_device_ids",
                            channel, table()),
                " " + reducer());
  case Kind::ReduceScatter:
    return line(fmt::format("{}, replica_groups = {}, scatter_dimension = {} : "
                            "i64, use_global_device_ids",
                            channel, table(), op.numbers[0]),
                " " + reducer());
  case Kind::Permute:
    return line(fmt::format("{}, source_target_pairs = {}", channel, table()),
                "");
  case Kind::Broadcast:
    return line(fmt::format("{}, replica_groups = {}", channel, table()), "");
  default:
    return "";
  }
}

HostValue hostOf(DType type, const Numbers &numbers) {
  HostValue host(type, numbers.shape);
  for (size_t i = 0; i < numbers.elements.size(); ++i)
    if (host.isFloating())
      host.floats[i] = double(numbers.elements[i]);
    else
      host.ints[i] = numbers.elements[i];
  return host;
}
} // namespace

std::string nameOf(const ManualOp &op) {
  return "stablehlo." + mnemonicOf(op);
}

std::optional<TextProgram> describe(const ShardMapProgram &program) {
  Devices devices(program.mesh);
  std::vector<OnDevices> values;
  TextProgram result;
  for (const ManualOp &op : program.ops) {
    if (op.kind == Kind::Argument) {
      Numbers whole =
          argumentOf(program, devices, size_t(op.numbers[0]),
                     Shape(op.numbers.begin() + 1, op.numbers.end()));
      result.inputs.push_back(hostOf(program.type(), whole));
      values.push_back(
          cutUp(devices, whole, program.in[size_t(op.numbers[0])]));
      continue;
    }
    auto result = simulate(program, devices, op, values);
    if (!result)
      return std::nullopt;
    values.push_back(std::move(*result));
  }
  for (const ShardMapProgram::Result &programResult : program.results) {
    if (values[programResult.value][0].shape.size() !=
        programResult.axes.size())
      return std::nullopt;
    for (unsigned axis = 0; axis < program.mesh.size(); ++axis) {
      bool cut = std::ranges::any_of(programResult.axes, [&](const auto &list) {
        return std::ranges::count(list, axis) > 0;
      });
      if (!cut && !sameAlong(devices, values[programResult.value], axis))
        return std::nullopt;
    }
    result.expected.push_back(
        hostOf(program.type(), putTogether(devices, values[programResult.value],
                                           programResult.axes)));
  }
  result.text = Writer(program, values).run();
  return result;
}

} // namespace meshloom::fuzz
