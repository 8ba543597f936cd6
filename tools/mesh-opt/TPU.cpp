// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --target=tpu:TOPOLOGY: ahead of time, by libtpu, without a TPU.
#include "Targets.h"

#include "meshloom/Runtime/Backends/PJRT/AheadOfTime.h"
#include "meshloom/Support/File.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace meshloom::opt {
namespace {
using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// "all_reduce" for XLA's "all-reduce", as Meshloom calls them.
std::string kindOf(const pjrt::HloCollective &collective) {
  if (collective.kind == "collective-permute")
    return std::string(name(CollectiveKind::Permute));
  std::string kind = collective.kind;
  std::ranges::replace(kind, '-', '_');
  return kind;
}
/// A halo exchange is made of permutes.
std::string kindOf(const CompiledCollective &collective) {
  return std::string(name(collective.kind == CollectiveKind::HaloExchange
                              ? CollectiveKind::Permute
                              : collective.kind));
}

/// Returns the text that follows the bytes of a collective.
std::string detailsText(int64_t values, const std::string &source) {
  return (values == 1 ? "" : fmt::format(", {} values", values)) +
         (source.empty() ? "" : " at " + source);
}
std::string groupText(int64_t size) {
  return size ? fmt::format(", groups of {}", size) : "";
}

/// How often, and bytes of results on one device.
struct Total {
  int64_t count = 0, bytes = 0;
  std::string text() const {
    return count ? fmt::format("{}, {} bytes", count, bytes) : "-";
  }
};

std::string collectivesText(const Compiled &compiled,
                            const pjrt::HloProgram &optimized) {
  const std::vector<pjrt::HloCollective> theirs = optimized.collectives();
  std::map<std::string, std::pair<Total, Total>> totals;
  auto add = [](Total &total, int64_t bytes) {
    ++total.count;
    total.bytes += bytes;
  };
  for (const CompiledCollective &collective : compiled.collectives())
    add(totals[kindOf(collective)].first, collective.bytes);
  for (const pjrt::HloCollective &collective : theirs)
    add(totals[kindOf(collective)].second, collective.bytes);

  std::string text = fmt::format("collectives, with the bytes of their results "
                                 "on each device{}\n",
                                 totals.empty() ? ": none" : "");
  if (totals.empty())
    return text;
  text += fmt::format("  {:<20} {:<24} {}\n", "", "ours", "optimised");
  for (const auto &[kind, both] : totals)
    text += fmt::format("  {:<20} {:<24} {}\n", kind, both.first.text(),
                        both.second.text());
  text += "ours\n";
  const Mesh &mesh = compiled.signature().mesh;
  for (const CompiledCollective &collective : compiled.collectives()) {
    std::vector<std::string> axes;
    for (unsigned axis : collective.axes)
      axes.push_back(mesh.axes()[axis].name);
    text += fmt::format(
        "  {} over [{}]{}: {} bytes{}\n", name(collective.kind),
        fmt::join(axes, ", "), groupText(groupSize(mesh, collective.axes)),
        collective.bytes,
        detailsText(collective.values, collective.note.location));
  }
  text += "optimised\n";
  for (const pjrt::HloCollective &collective : theirs)
    text += fmt::format("  {}{}{}: {} bytes{}\n", collective.name,
                        collective.asynchronous ? " (asynchronous)" : "",
                        groupText(collective.groupSize), collective.bytes,
                        detailsText(collective.values, collective.source));
  return text;
}

std::string memoryText(const pjrt::CompiledMemory &memory) {
  std::string text = "bytes on each device\n";
  for (auto [kind, bytes] :
       {std::pair{"code", memory.code}, std::pair{"argument", memory.argument},
        std::pair{"output", memory.output}, std::pair{"alias", memory.alias},
        std::pair{"temp", memory.temp}, std::pair{"peak", memory.peak}})
    text += fmt::format("  {:<20} {:>14}\n", kind, bytes);
  return text;
}

std::string costText(const std::map<std::string, double> &costs) {
  std::string text = "cost on each device\n";
  // Others are of single operands, or, like optimal_seconds, sums of numbers
  // some of which only say that they are not known.
  for (const char *name : {"flops", "transcendentals", "bytes accessed"})
    if (auto found = costs.find(name); found != costs.end())
      text += fmt::format("  {:<20} {:>14.0f}\n", name, found->second);
  return text;
}

Result<MachineModel> machineOf(const pjrt::Topology &topology) {
  std::vector<std::vector<int64_t>> chips;
  for (const pjrt::TopologyDevice &device : topology.devices())
    if (!device.place.coords.empty())
      chips.push_back(device.place.coords);
  return tpuMachine(topology.name(), std::move(chips));
}
} // namespace

Status compileForTPU(const TargetOptions &options, const std::string &text) {
  const std::string name = options.target.substr(std::string("tpu:").size());
  auto path = pjrt::findTPULibrary(options.tpuLibrary);
  if (!path)
    return path.error();
  Clock::time_point start = Clock::now();
  auto library = pjrt::loadForCompilation(*path);
  if (!library)
    return library.error();
  auto topology = pjrt::Topology::create(**library, name);
  if (!topology)
    return topology.error();
  const double loading = millisecondsSince(start);

  start = Clock::now();
  auto compiled = compileText(options, text, "stablehlo", machineOf(*topology));
  if (!compiled)
    return compiled.error();
  const double partitioning = millisecondsSince(start);
  const Mesh &mesh = compiled->signature().mesh;
  const auto devices = topology->devices();
  if (mesh.size() != int64_t(devices.size()))
    return Error(fmt::format("the program's mesh {} has {} devices, but the "
                             "topology {} has {}",
                             mesh.spec_string(), mesh.size(), name,
                             devices.size()));

  start = Clock::now();
  pjrt::CompileOptions compileOptions;
  compileOptions.replicas = mesh.size();
  std::set<int64_t> processes;
  for (const pjrt::TopologyDevice &device : devices) {
    compileOptions.devices.push_back(device.id);
    processes.insert(device.process);
  }
  auto executable =
      topology->compile(compiled->stableHLO()->text, compileOptions);
  if (!executable)
    return executable.error();
  const double compiling = millisecondsSince(start);
  auto memory = executable->memory();
  if (!memory)
    return memory.error();
  auto costs = executable->costs();
  if (!costs)
    return costs.error();
  auto optimized = executable->optimized();
  if (!optimized)
    return optimized.error();

  std::string report = fmt::format(
      "@{} on the mesh {} for {}: {} devices of kind {}, {} process{}\n",
      compiled->signature().name, mesh.spec_string(), name, devices.size(),
      devices.front().kind, processes.size(),
      processes.size() == 1 ? "" : "es");
  report += memoryText(*memory) + costText(*costs) +
            collectivesText(*compiled, *optimized);
  report += fmt::format("milliseconds\n  {:<20} {:>14.0f}\n  {:<20} "
                        "{:>14.0f}\n  {:<20} {:>14.0f}\n",
                        "loading libtpu", loading, "partitioning", partitioning,
                        "compiling", compiling);
  llvm::outs() << report;
  if (options.output != "-") {
    auto bytes = executable->serialize();
    if (!bytes)
      return bytes.error();
    return writeFile(options.output, *bytes);
  }
  return Success();
}

} // namespace meshloom::opt
