// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Event files, see TensorBoard.h: TFRecords, each an Event of TensorBoard's.
#include "../Models/Graph.h"

#include "meshloom/API/HostTensor.h"
#include "meshloom/API/MovedFrom.h"
#include "meshloom/Core/HostName.h"
#include "meshloom/Core/SystemError.h"
#include "meshloom/Data/TFRecord.h"
#include "meshloom/NN/Models/Model.h"
#include "meshloom/NN/Training/TensorBoard.h"

#include "Events.pb.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include <unistd.h>

namespace meshloom {
namespace {

double now() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

std::filesystem::path newFile(const std::filesystem::path &folder) {
  static std::atomic<int> count;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    Error(fmt::format("[SummaryWriter] cannot make the folder '{}': {}",
                      folder.string(), failed.message()),
          errorCodeOfSystem(failed.value()))
        .raise();
  return folder / fmt::format("events.out.tfevents.{:010}.{}.{}.{}.v2",
                              int64_t(now()), hostName(), getpid(), count++);
}

/// Thirty buckets of one width, as TensorBoard's own writer has.
void fill(events::Histogram &histogram, const std::vector<double> &numbers) {
  constexpr size_t count = 30;
  std::vector<double> values;
  std::ranges::copy_if(numbers, std::back_inserter(values),
                       [](double value) { return std::isfinite(value); });
  if (values.empty())
    return;
  const auto [least, most] = std::ranges::minmax(values);
  const size_t buckets = least == most ? 1 : count;
  const double width = (most - least) / double(buckets);
  std::vector<double> counts(buckets);
  double sum = 0, squares = 0;
  for (double value : values) {
    const auto bucket =
        width > 0 ? std::min(size_t((value - least) / width), buckets - 1) : 0;
    ++counts[bucket];
    sum += value;
    squares += value * value;
  }
  histogram.set_min(least);
  histogram.set_max(most);
  histogram.set_num(double(values.size()));
  histogram.set_sum(sum);
  histogram.set_sum_squares(squares);
  for (size_t i = 0; i < buckets; ++i) {
    histogram.add_bucket_limit(
        i + 1 == buckets ? most : least + width * double(i + 1));
    histogram.add_bucket(counts[i]);
  }
}

/// The nodes of a layer and of its parts; `inputs`: names of nodes.
void addLayer(events::Graph &graph, const Layer &layer, const std::string &path,
              const std::vector<std::string> &inputs) {
  events::Node &node = *graph.add_node();
  node.set_name(path);
  node.set_op(layer.class_name());
  for (const std::string &input : inputs)
    node.add_input(input);
  if (layer.built())
    (*node.mutable_attr())["parameters"].set_i(layer.count_params());
  for (const Layer &part : layer.layers())
    addLayer(graph, part, path + "/" + part.name(), {});
}

events::Graph graphOf(const Model &model) {
  events::Graph graph;
  graph.mutable_versions()->set_producer(1);
  const std::string root = model.name() + "/";
  const std::vector<SymbolicTensor> outputs = model.outputs();
  if (outputs.empty()) {
    // The layers of a model of code are known, but not how it calls them.
    for (const Layer &layer : model.layers())
      addLayer(graph, layer, root + layer.name(), {});
    return graph;
  }
  std::map<const detail::GraphNode *, std::string> names;
  std::set<std::string> used;
  // A layer that is called twice is two nodes.
  auto unused = [&](const std::string &name) {
    std::string free = root + name;
    for (int again = 1; !used.insert(free).second; ++again)
      free = fmt::format("{}{}_call_{}", root, name, again);
    return free;
  };
  for (const SymbolicTensor &input : model.inputs()) {
    const std::string name = unused(input.name());
    names[input.node().get()] = name;
    events::Node &node = *graph.add_node();
    node.set_name(name);
    node.set_op("Input");
  }
  for (auto &node : detail::sortedNodes(model.inputs(), outputs)) {
    if (names.contains(node.get()))
      continue;
    const std::string name = unused(node->layer.name());
    names[node.get()] = name;
    std::vector<std::string> inputs;
    for (const SymbolicTensor &input : node->inputs)
      inputs.push_back(names[input.node().get()]);
    addLayer(graph, node->layer, name, inputs);
  }
  return graph;
}

} // namespace

struct SummaryWriter::State {
  explicit State(const std::filesystem::path &folder)
      : path(newFile(folder)), records(path) {
    events::Event event;
    event.set_file_version("brain.Event:2");
    write(event);
  }
  void write(events::Event &event) {
    event.set_wall_time(now());
    records.write(event.SerializeAsString());
  }

  std::filesystem::path path;
  data::TFRecordWriter records;
};

SummaryWriter::SummaryWriter(const std::filesystem::path &folder)
    : state(std::make_unique<State>(folder)) {}
SummaryWriter::SummaryWriter(SummaryWriter &&) noexcept = default;
SummaryWriter &SummaryWriter::operator=(SummaryWriter &&) noexcept = default;
SummaryWriter::~SummaryWriter() = default;

void SummaryWriter::scalar(std::string_view tag, double value, int64_t step) {
  detail::expectNotMovedFrom(state, "SummaryWriter");
  events::Event event;
  event.set_step(step);
  events::Summary::Value &entry = *event.mutable_summary()->add_value();
  entry.set_tag(std::string(tag));
  entry.set_simple_value(float(value));
  state->write(event);
}

void SummaryWriter::histogram(std::string_view tag, const Tensor &values,
                              int64_t step) {
  detail::expectNotMovedFrom(state, "SummaryWriter");
  events::Event event;
  event.set_step(step);
  events::Summary::Value &entry = *event.mutable_summary()->add_value();
  entry.set_tag(std::string(tag));
  // Not on a mesh: that may be one of processes which write nothing.
  const detail::HostScope onHost;
  const Tensor here = detail::hostTensor(values.dtype(), values.shape(),
                                         detail::bytesOf(values, "histogram"));
  fill(*entry.mutable_histo(), cast(here, DType::F64).to_vector<double>());
  state->write(event);
}

void SummaryWriter::graph(const Model &model) {
  detail::expectNotMovedFrom(state, "SummaryWriter");
  events::Event event;
  event.set_graph_def(graphOf(model).SerializeAsString());
  state->write(event);
}

void SummaryWriter::flush() {
  detail::expectNotMovedFrom(state, "SummaryWriter");
  state->records.flush();
}

const std::filesystem::path &SummaryWriter::path() const {
  detail::expectNotMovedFrom(state, "SummaryWriter");
  return state->path;
}

} // namespace meshloom
