// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables, drawings and layouts of models; see Inspect.h.
#include "meshloom/NN/Models/Inspect.h"
#include "../Layers/LayerState.h"

#include "meshloom/API/NameScope.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace meshloom {
using namespace detail;

namespace {

/// Returns whether `text` is `pattern`, whose '*' stand for any letters. Goes
/// back to the last star only, which is enough.
bool fits(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

using Choices = std::vector<std::pair<DVariable, Layout>>;

void choose(Choices &choices, const NamedVariable &weight,
            const Layout &layout) {
  if (!layout.defined() || int64_t(layout.rank()) != weight.variable.rank())
    Error(fmt::format("[set_layouts] expected a layout of rank {} for "
                      "'{}' {}, got {}",
                      weight.variable.rank(), weight.path,
                      sizesText(weight.variable.shape()),
                      layout.defined() ? layout.spec_string() : "an empty one"))
        .raise();
  choices.emplace_back(weight.variable, layout);
}

void apply(const Choices &choices) {
  for (auto &[variable, layout] : choices)
    variable.set_layout(layout);
}

struct Row {
  std::string layer, output, params, from, layouts;
};

std::string shapesOf(const std::vector<TensorSpec> &specs) {
  std::string text;
  for (const TensorSpec &spec : specs) {
    std::string shape = sizesText(spec.shape);
    shape.front() = '(';
    shape.back() = ')';
    text += (text.empty() ? "" : ", ") + shape;
  }
  return text.empty() ? "?" : text;
}

std::string layoutsOf(const Layer &layer) {
  std::string text;
  if (layer.built())
    for (const NamedVariable &weight : layer.named_variables())
      if (!weight.variable.layout().is_fully_replicated())
        text += (text.empty() ? "" : ", ") + weight.path + " " +
                weight.variable.layout().spec_string();
  return text;
}

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t place = digits.size(); place > 3;)
    digits.insert(place -= 3, ",");
  return digits;
}

/// "25,450 (99.41 KB)".
std::string paramsText(const std::vector<DVariable> &weights) {
  int64_t count = 0;
  double bytes = 0;
  for (const DVariable &weight : weights) {
    count += elementCount(weight.shape());
    bytes += double(elementCount(weight.shape())) *
             double(byteWidth(weight.dtype()));
  }
  const char *units[] = {"B", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit)
    bytes /= 1024;
  return fmt::format("{} ({:.2f} {})", grouped(count), bytes, units[unit]);
}

/// The calls of a graph; none where there is no graph.
std::vector<std::shared_ptr<GraphNode>> callsOf(const Layer &model) {
  if (!LayerImpl::State::of(model).isModel)
    return {};
  auto &impl = static_cast<ModelImpl &>(model.implementation());
  return impl.outputs().empty() ? std::vector<std::shared_ptr<GraphNode>>()
                                : sortedNodes(impl.inputs(), impl.outputs());
}

std::string sourcesOf(const GraphNode &node) {
  std::string text;
  for (const SymbolicTensor &input : node.inputs)
    text += (text.empty() ? "" : ", ") + input.name();
  return text;
}

std::vector<Row> rowsOf(const Layer &model) {
  std::vector<Row> rows;
  auto row = [&](const Layer &layer, std::string name, std::string shapes,
                 std::string from) {
    rows.push_back({fmt::format("{} ({})", name, layer.class_name()),
                    std::move(shapes),
                    layer.built() ? grouped(layer.count_params()) : "?",
                    std::move(from), layoutsOf(layer)});
  };
  std::map<const LayerImpl *, std::string> names;
  for (const LayerImpl::State::Part &part : LayerImpl::State::of(model).parts)
    if (auto *layer = std::get_if<Layer>(&part.part))
      names[layer->internal().get()] = part.name;
  const std::vector<std::shared_ptr<GraphNode>> calls = callsOf(model);
  if (calls.empty()) {
    for (const Layer &layer : model.layers())
      row(layer, names[layer.internal().get()],
          shapesOf(LayerImpl::State::of(layer).results), "");
    return rows;
  }
  for (const SymbolicTensor &input :
       static_cast<ModelImpl &>(model.implementation()).inputs())
    rows.push_back({input.name() + " (Input)",
                    shapesOf({{input.shape(), input.dtype()}}), "0", "", ""});
  // A layer that is called several times has one row, and counts once.
  std::map<const LayerImpl *, size_t> rowOf;
  for (const std::shared_ptr<GraphNode> &node : calls) {
    const LayerImpl *const layer = node->layer.internal().get();
    if (auto [entry, isNew] = rowOf.try_emplace(layer, rows.size()); isNew)
      row(node->layer, names[layer], shapesOf(node->results), sourcesOf(*node));
    else
      rows[entry->second].from += ", " + sourcesOf(*node);
  }
  return rows;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char letter : text)
    result += letter == '<'   ? "&lt;"
              : letter == '>' ? "&gt;"
              : letter == '&' ? "&amp;"
                              : std::string(1, letter);
  return result;
}

} // namespace

void set_layouts(const Layer &model, const LayoutPatterns &patterns,
                 std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    const std::vector<NamedVariable> weights = model.named_variables();
    std::map<const void *, const Layout *> chosen;
    for (auto &[pattern, layout] : patterns) {
      bool fitsAny = false;
      for (const NamedVariable &weight : weights)
        if (fits(pattern, weight.path)) {
          fitsAny = true;
          chosen[weight.variable.internal().get()] = &layout;
        }
      if (fitsAny)
        continue;
      std::string paths;
      for (const NamedVariable &weight : weights)
        paths += (paths.empty() ? "" : ", ") + weight.path;
      Error(fmt::format("[set_layouts] the pattern '{}' fits no weight of "
                        "'{}'; they are {}",
                        pattern, model.name(), paths.empty() ? "none" : paths),
            ErrorCode::NOT_FOUND)
          .raise();
    }
    Choices choices;
    for (const NamedVariable &weight : weights)
      if (auto choice = chosen.find(weight.variable.internal().get());
          choice != chosen.end())
        choose(choices, weight, *choice->second);
    apply(choices);
  });
}

void set_layouts(const Layer &model,
                 const std::function<std::optional<Layout>(
                     const std::string &, const DVariable &)> &function,
                 std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    Choices choices;
    for (const NamedVariable &weight : model.named_variables())
      if (std::optional<Layout> layout = function(weight.path, weight.variable))
        choose(choices, weight, *layout);
    apply(choices);
  });
}

std::string summary(const Layer &model) {
  std::vector<Row> rows = rowsOf(model);
  const Row titles{"Layer (type)", "Output Shape", "Param #", "Connected to",
                   "Layouts"};
  using Column = std::string Row::*;
  std::vector<Column> columns{&Row::layer, &Row::output, &Row::params};
  for (Column column : {&Row::from, &Row::layouts})
    if (std::ranges::any_of(rows,
                            [&](Row &row) { return !(row.*column).empty(); }))
      columns.push_back(column);
  std::string lines;
  size_t width = 0;
  std::vector<size_t> widths;
  for (Column column : columns) {
    size_t widest = (titles.*column).size();
    for (const Row &row : rows)
      widest = std::max(widest, (row.*column).size());
    widths.push_back(widest);
    width += widest + 3;
  }
  auto print = [&](const Row &row) {
    std::string line;
    for (size_t c = 0; c < columns.size(); ++c)
      line += fmt::format(" {:<{}}  ", row.*columns[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    lines += line + "\n";
  };
  const std::string text = fmt::format("Model: \"{}\"\n", model.name());
  lines += std::string(width, '_') + "\n";
  print(titles);
  lines += std::string(width, '=') + "\n";
  for (const Row &row : rows)
    print(row);
  lines += std::string(width, '=') + "\n";
  if (!model.built())
    return text + lines + "Not built: weights are made when it is called.\n";
  const std::vector<DVariable> trainable = model.trainable_variables();
  std::vector<DVariable> others;
  for (const DVariable &weight : model.weights())
    if (std::ranges::none_of(trainable, [&](const DVariable &other) {
          return other.is(weight);
        }))
      others.push_back(weight);
  return text + lines +
         fmt::format("Total params: {}\nTrainable params: {}\n"
                     "Non-trainable params: {}\n",
                     paramsText(model.weights()), paramsText(trainable),
                     paramsText(others));
}

std::string plot_model(const Model &model) {
  const std::vector<std::shared_ptr<GraphNode>> calls = callsOf(model);
  if (calls.empty())
    Error(fmt::format("[plot_model] '{}' has no graph: it is a model of "
                      "code, or not built yet",
                      model.name()),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  constexpr int64_t width = 230, height = 46, gapX = 24, gapY = 40;
  struct Box {
    int64_t x, y;
  };
  std::map<const GraphNode *, int64_t> depths;
  std::vector<std::shared_ptr<GraphNode>> nodes;
  for (const SymbolicTensor &input : model.inputs())
    nodes.push_back(input.node());
  nodes.insert(nodes.end(), calls.begin(), calls.end());
  std::map<int64_t, int64_t> counts;
  std::map<const GraphNode *, Box> boxes;
  int64_t widest = 0, deepest = 0;
  for (const std::shared_ptr<GraphNode> &node : nodes) {
    int64_t depth = 0;
    for (const SymbolicTensor &input : node->inputs)
      if (auto source = depths.find(input.node().get()); source != depths.end())
        depth = std::max(depth, source->second + 1);
    depths[node.get()] = depth;
    const int64_t column = counts[depth]++;
    boxes[node.get()] = {gapX + column * (width + gapX),
                         gapX + depth * (height + gapY)};
    widest = std::max(widest, column + 1);
    deepest = std::max(deepest, depth + 1);
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" "
      "height=\"{}\" font-family=\"sans-serif\" font-size=\"12\">\n",
      gapX + widest * (width + gapX), 2 * gapX + deepest * (height + gapY));
  for (const std::shared_ptr<GraphNode> &node : nodes)
    for (const SymbolicTensor &input : node->inputs)
      if (auto from = boxes.find(input.node().get()); from != boxes.end()) {
        const Box to = boxes[node.get()];
        svg += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" "
                           "y2=\"{}\" stroke=\"gray\"/>\n",
                           from->second.x + width / 2, from->second.y + height,
                           to.x + width / 2, to.y);
      }
  for (const std::shared_ptr<GraphNode> &node : nodes) {
    const Box box = boxes[node.get()];
    const std::string title = node->isInput()
                                  ? node->name + " (Input)"
                                  : fmt::format("{} ({})", node->layer.name(),
                                                node->layer.class_name());
    svg += fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
        "rx=\"6\" fill=\"{4}\" stroke=\"black\"/>\n"
        "<text x=\"{5}\" y=\"{6}\" text-anchor=\"middle\">{7}</text>\n"
        "<text x=\"{5}\" y=\"{8}\" text-anchor=\"middle\" "
        "fill=\"dimgray\">{9}</text>\n",
        box.x, box.y, width, height, node->isInput() ? "#e0ecff" : "#ffffff",
        box.x + width / 2, box.y + 19, escaped(title), box.y + 36,
        escaped(shapesOf(node->results)));
  }
  return svg + "</svg>\n";
}

void plot_model(const Model &model, const std::filesystem::path &path,
                std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    const std::string svg = plot_model(model);
    std::ofstream file(path);
    if (!(file << svg) || !file.flush())
      Error(fmt::format("[plot_model] cannot write {}", path.string())).raise();
  });
}

} // namespace meshloom
