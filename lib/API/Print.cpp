// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as text: like NumPy prints arrays, and which device holds what.
#include "meshloom/Engine/Nodes.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/Tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

namespace meshloom {
using namespace detail;

namespace {

constexpr int64_t mostElements = 1000; ///< NumPy's threshold
constexpr int64_t edgeElements = 3;

std::vector<double> asDoubles(const Tensor &tensor) {
  std::vector<double> values;
  switch (tensor.dtype()) {
  case DType::I1:
    for (bool value : tensor.to_vector<bool>())
      values.push_back(value);
    return values;
  case DType::I64: // printed exactly elsewhere
    for (int64_t value : tensor.to_vector<int64_t>())
      values.push_back(double(value));
    return values;
  default:
    return tensor.to_vector<double>();
  }
}

/// The texts of the elements, all equally wide.
class Elements {
public:
  Elements(const Tensor &tensor, const std::vector<int64_t> &shown) {
    if (tensor.dtype() == DType::I64) {
      std::vector<int64_t> values = tensor.to_vector<int64_t>();
      for (int64_t i : shown)
        texts[i] = fmt::format("{}", values[size_t(i)]);
    } else if (tensor.dtype() == DType::UI64) {
      std::vector<uint64_t> values = tensor.to_vector<uint64_t>();
      for (int64_t i : shown)
        texts[i] = fmt::format("{}", values[size_t(i)]);
    } else if (isComplex(tensor.dtype())) {
      formatComplex(tensor, shown);
    } else {
      std::vector<double> values = asDoubles(tensor);
      if (isFloat(tensor.dtype()))
        formatFloats(values, shown, tensor.dtype());
      else
        for (int64_t i : shown)
          texts[i] = tensor.dtype() == DType::I1
                         ? (values[size_t(i)] != 0 ? "True" : "False")
                         : fmt::format("{:.0f}", values[size_t(i)]);
    }
    size_t width = 0;
    for (auto &[i, text] : texts)
      width = std::max(width, text.size());
    if (tensor.rank() > 0)
      for (auto &[i, text] : texts)
        text.insert(0, width - text.size(), ' ');
  }
  const std::string &operator[](int64_t i) const { return texts.at(i); }

private:
  /// Both parts as floats, all real parts alike and all imaginary ones.
  void formatComplex(const Tensor &tensor, const std::vector<int64_t> &shown) {
    std::vector<double> reals, imaginaries;
    for (std::complex<double> value :
         tensor.to_vector<std::complex<double>>()) {
      reals.push_back(value.real());
      imaginaries.push_back(value.imag());
    }
    DType part = partOf(tensor.dtype());
    formatFloats(imaginaries, shown, part);
    std::map<int64_t, std::string> others = std::exchange(texts, {});
    formatFloats(reals, shown, part);
    for (int64_t i : shown) {
      std::string &imaginary = others[i];
      size_t end = imaginary.find_last_not_of(' ') + 1;
      imaginary.insert(end, "j");
      texts[i] += (imaginary.front() == '-' ? "" : "+") + imaginary;
    }
  }

  /// Shortest digits that read back the same; aligned at the point.
  void formatFloats(const std::vector<double> &values,
                    const std::vector<int64_t> &shown, DType type) {
    double largest = 0, smallest = INFINITY;
    for (int64_t i : shown)
      if (double size = std::abs(values[size_t(i)]);
          std::isfinite(size) && size > 0) {
        largest = std::max(largest, size);
        smallest = std::min(smallest, size);
      }
    bool scientific =
        largest >= 1e8 || smallest < 1e-4 ||
        (largest > 0 && largest / smallest > 1000 && largest >= 1e5);
    size_t fraction = 0;
    int digits = 0;
    for (int64_t i : shown) {
      double value = values[size_t(i)];
      std::string &text = texts[i];
      if (std::isnan(value))
        text = "nan";
      else if (std::isinf(value))
        text = value < 0 ? "-inf" : "inf";
      else if (scientific)
        digits = std::max(digits, shortestMantissa(value, type));
      else
        text = shortest(value, type);
      if (size_t point = text.find('.');
          point != std::string::npos && !scientific)
        fraction = std::max(fraction, text.size() - point - 1);
    }
    if (scientific) {
      for (int64_t i : shown)
        if (double value = values[size_t(i)]; std::isfinite(value))
          // "#": the point stays where no digit follows it.
          texts[i] = fmt::format("{:#.{}e}", value, digits);
    } else {
      for (int64_t i : shown)
        if (size_t point = texts[i].find('.'); point != std::string::npos)
          texts[i].append(fraction - (texts[i].size() - point - 1), ' ');
    }
  }

  /// Returns whether the text reads back as the value.
  static bool isSame(const std::string &text, double value, DType type) {
    double back = std::stod(text);
    return type == DType::F64 ? back == value
           : type == DType::BF16
               ? bfloat16(float(back)) == bfloat16(float(value))
           : type == DType::F16 ? _Float16(back) == _Float16(value)
                                : float(back) == float(value);
  }

  /// How many digits after the point it takes, at most 8.
  static int shortestMantissa(double value, DType type) {
    int digits = 0;
    while (digits < 8 &&
           !isSame(fmt::format("{:.{}e}", value, digits), value, type))
      ++digits;
    return digits;
  }

  static std::string shortest(double value, DType type) {
    std::string text;
    for (int digits = 0; digits <= 8; ++digits) {
      text = fmt::format("{:.{}f}", value, digits);
      if (isSame(text, value, type))
        break;
    }
    if (text.find('.') == std::string::npos)
      text += '.';
    while (text.back() == '0')
      text.pop_back();
    return text;
  }

  std::map<int64_t, std::string> texts;
};

/// Indices along a dim that are shown; -1 stands for "...".
std::vector<int64_t> shownAlong(int64_t extent, bool shorten) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < extent; ++i) {
    bool skip = shorten && extent > 2 * edgeElements && i >= edgeElements &&
                i < extent - edgeElements;
    if (!skip)
      indices.push_back(i);
    else if (indices.back() != -1)
      indices.push_back(-1);
  }
  return indices;
}

void visit(const Shape &shape, size_t dim, int64_t base, bool shorten,
           std::vector<int64_t> &shown) {
  if (dim == shape.size()) {
    shown.push_back(base);
    return;
  }
  for (int64_t i : shownAlong(shape[dim], shorten))
    if (i >= 0)
      visit(shape, dim + 1, base * shape[dim] + i, shorten, shown);
}

void print(std::string &out, const Elements &elements, const Shape &shape,
           size_t dim, int64_t base, bool shorten) {
  if (dim == shape.size()) {
    out += elements[base];
    return;
  }
  out += '[';
  bool isFirst = true;
  for (int64_t i : shownAlong(shape[dim], shorten)) {
    if (!isFirst) {
      bool isLast = dim + 1 == shape.size();
      if (isLast)
        out += ' ';
      else
        out += std::string(shape.size() - dim - 1, '\n') +
               std::string(dim + 1, ' ');
    }
    isFirst = false;
    if (i < 0)
      out += "...";
    else
      print(out, elements, shape, dim + 1, base * shape[dim] + i, shorten);
  }
  out += ']';
}

/// "0-3,6".
std::string rangesText(const std::vector<int64_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
      ++end;
    text += text.empty() ? "" : ",";
    text += end - i > 1 ? fmt::format("{}-{}", numbers[i], numbers[end - 1])
                        : fmt::format("{}", numbers[i]);
    i = end;
  }
  return text;
}

std::string rangeText(int64_t offset, int64_t extent) {
  return fmt::format("{}:{}", offset, offset + extent);
}

struct Shard {
  Box box;
  std::vector<int64_t> devices;
};

std::string drawGrid(const std::vector<Shard> &shards, bool isMatrix,
                     const std::string &deviceType) {
  // Rows and columns of the grid, by offset.
  std::map<int64_t, int64_t> rows, columns;
  std::map<std::pair<int64_t, int64_t>, std::string> cells;
  size_t width = 0;
  for (const Shard &shard : shards) {
    const Box &box = shard.box;
    int64_t row = isMatrix ? box.offset[0] : 0;
    int64_t column = box.offset[isMatrix ? 1 : 0];
    rows[row] = isMatrix ? box.extent[0] : 1;
    columns[column] = box.extent[isMatrix ? 1 : 0];
    std::string text = deviceType + " " + rangesText(shard.devices);
    width = std::max(width, text.size());
    cells[{row, column}] = std::move(text);
  }
  size_t margin = 0;
  for (auto [offset, extent] : columns)
    width = std::max(width, rangeText(offset, extent).size());
  if (isMatrix)
    for (auto [offset, extent] : rows)
      margin = std::max(margin, rangeText(offset, extent).size() + 1);
  std::string rule(margin, ' '), out(margin, ' ');
  for (auto [offset, extent] : columns) {
    rule += "+" + std::string(width + 2, '-');
    out += fmt::format(" {:<{}}", rangeText(offset, extent), width + 2);
  }
  rule += "+\n";
  while (out.back() == ' ')
    out.pop_back();
  out += '\n';
  for (auto [row, height] : rows) {
    out += rule + fmt::format("{:<{}}", isMatrix ? rangeText(row, height) : "",
                              margin);
    for (auto [column, extent] : columns)
      out += fmt::format("| {:<{}} ", cells[{row, column}], width);
    out += "|\n";
  }
  return out + rule;
}

} // namespace

namespace {

std::string elementsText(const Tensor &tensor) {
  const Shape &shape = tensor.shape();
  bool shorten = tensor.size() > mostElements;
  std::vector<int64_t> shown;
  visit(shape, 0, 0, shorten, shown);
  std::string out;
  print(out, Elements(tensor, shown), shape, 0, 0, shorten);
  return out;
}

/// Returns the text of the part that this process's devices hold, where others
/// hold the rest.
std::string componentsText(const Tensor &tensor) {
  const std::span<const std::string> devices =
      tensor.layout().mesh().local_devices();
  if (devices.empty())
    return fmt::format("{{on {}}}", tensor.device());
  const std::vector<Tensor> components = unpack(tensor);
  std::string out = "{";
  for (size_t i = 0; i < components.size(); ++i)
    out += fmt::format("{}{}: {}", i ? ",\n " : "", devices[i],
                       elementsText(components[i]));
  return out + "}";
}

} // namespace

std::string to_string(const Tensor &tensor) {
  if (!tensor.defined())
    return "Tensor()";
  if (tensor.is_traced())
    return fmt::format("Tensor({}, traced)", typeText(tensor));
  std::string out =
      isWhollyHere(tensor) ? elementsText(tensor) : componentsText(tensor);
  Layout layout = tensor.layout();
  out += fmt::format(" {}", typeText(tensor));
  if (!tensor.internal()->host)
    out += fmt::format(", layout {} on {}", layout.spec_string(),
                       meshText(layout.mesh()));
  return out;
}

std::ostream &operator<<(std::ostream &out, const Tensor &tensor) {
  return out << to_string(tensor);
}

std::string visualize(const Tensor &tensor, std::source_location where) {
  const CallName name("visualize");
  return visualize(tensor.layout(where), tensor.shape(where), where);
}

std::string visualize(const Layout &layout, const Shape &global,
                      std::source_location where) {
  const UserLine line(where);
  if (layout.rank() != global.size())
    fail("visualize",
         fmt::format("expected a shape of rank {} for layout {}, "
                     "got {}",
                     layout.rank(), layout.spec_string(), shapeText(global)));
  std::vector<Shard> shards;
  std::vector<int64_t> without;
  for (int64_t device = 0; device < layout.mesh().size(); ++device) {
    Box box = layout.shard(global, device);
    if (box.empty()) {
      without.push_back(device);
      continue;
    }
    auto found =
        std::find_if(shards.begin(), shards.end(),
                     [&](const Shard &shard) { return shard.box == box; });
    if (found == shards.end())
      found = shards.insert(shards.end(), {box, {}});
    found->devices.push_back(device);
  }
  const std::string &type = layout.mesh().device_type();
  std::string out = fmt::format("{} laid out as {} on {}\n", shapeText(global),
                                layout.spec_string(), meshText(layout.mesh()));
  bool isMatrix = global.size() == 2;
  if (!shards.empty() && (global.size() == 1 || isMatrix)) {
    out += drawGrid(shards, isMatrix, type);
  } else {
    for (const Shard &shard : shards) {
      std::vector<std::string> ranges;
      for (size_t d = 0; d < global.size(); ++d)
        ranges.push_back(rangeText(shard.box.offset[d], shard.box.extent[d]));
      out += fmt::format("[{}]  {} {}\n", fmt::join(ranges, ", "), type,
                         rangesText(shard.devices));
    }
  }
  if (!without.empty())
    out += fmt::format("empty: {} {}\n", type, rangesText(without));
  return out;
}

} // namespace meshloom
