// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports on a compiled step, from ConcreteFunction's introspection.
#include "Report.h"

#include <meshloom/Core/MachineModel.h>

#include <iostream>
#include <map>
#include <sstream>

using namespace meshloom;

namespace mnist {
namespace {

std::string text(const Shape &shape) {
  std::string result;
  for (int64_t extent : shape)
    result += (result.empty() ? "" : "x") + std::to_string(extent);
  return result.empty() ? "scalar" : result;
}

std::string join(const std::vector<std::string> &parts) {
  std::string result;
  for (const std::string &part : parts)
    result += (result.empty() ? "" : ", ") + part;
  return result;
}

/// A combined collective has a reason for each of its tensors: the first one,
/// and how many more.
std::string firstReason(const CollectiveInfo &collective) {
  size_t end = collective.reason.find(" | ");
  if (end == std::string::npos)
    return collective.reason;
  return collective.reason.substr(0, end) + " (and " +
         std::to_string(collective.tensors - 1) + " more)";
}

int64_t bytesSent(const std::vector<CollectiveInfo> &collectives) {
  int64_t sent = 0;
  for (const CollectiveInfo &c : collectives)
    sent += c.bytes_sent;
  return sent;
}

struct Total {
  int64_t count = 0, bytes = 0;
  std::string reason;
};
/// Per kind and axes: how many, how many bytes each device sends, and the
/// reason of the largest.
std::map<std::string, Total> totals(const ConcreteFunction &step) {
  std::map<std::string, Total> result;
  std::map<std::string, int64_t> largest;
  for (const CollectiveInfo &c : step.collectives()) {
    std::string key =
        std::string(name(c.kind)) + " over [" + join(c.axes) + "]";
    Total &total = result[key];
    ++total.count;
    total.bytes += c.bytes_sent;
    if (auto [entry, isNew] = largest.try_emplace(key, -1);
        c.bytes_sent > entry->second) {
      entry->second = c.bytes_sent;
      total.reason = firstReason(c);
    }
  }
  return result;
}

} // namespace

void printLayouts(const ConcreteFunction &step) {
  std::cout << "Layouts of the training step:\n";
  for (const ValueInfo &value : step.arguments())
    std::cout << "  " << value.name << ": " << name(value.dtype) << ' '
              << text(value.shape) << "  " << value.layout.spec_string()
              << '\n';
}

void printCollectives(const ConcreteFunction &step) {
  const Mesh mesh = step.arguments().front().layout.mesh();
  std::vector<CollectiveInfo> plain = step.collectives("ring", false),
                              refined = step.collectives("ring"),
                              here = step.collectives();
  std::cout << "The training step on " << mesh.size()
            << " separate devices: " << plain.size()
            << (plain.size() == 1 ? " collective, " : " collectives, ")
            << bytesSent(plain) << " bytes sent by each\n";
  for (const CollectiveInfo &c : plain)
    std::cout << "  " << name(c.kind) << " over [" << join(c.axes) << "], "
              << c.bytes << " bytes: " << firstReason(c) << '\n';
  std::cout << "The compiler refines that, for such devices to "
            << refined.size() << " collectives and " << bytesSent(refined)
            << " bytes,\nfor these ";
  if (mesh.device_type() == "CPU" && get_machine_model().sharedMemory)
    std::cout << "virtual CPUs to " << here.size()
              << ", most of them views of the memory that they share.\n";
  else
    std::cout << "to " << here.size() << " and " << bytesSent(here)
              << " bytes.\n";
  std::cout << "Traced in " << int64_t(step.trace_time() * 1e3)
            << " ms, compiled in " << int64_t(step.compile_time() * 1e3)
            << " ms.\n";
}

void printDifference(const ConcreteFunction &step,
                     const ConcreteFunction &dataParallel,
                     const std::string &mesh) {
  auto ours = totals(step), plain = totals(dataParallel);
  std::cout << "Against pure data parallelism on as many devices, mesh " << mesh
            << " changes:\n";
  bool same = true;
  for (const auto &[key, total] : ours) {
    Total before = plain.contains(key) ? plain[key] : Total{};
    if (before.count == total.count && before.bytes == total.bytes)
      continue;
    same = false;
    std::cout << "  " << key << ": " << before.count << " -> " << total.count
              << ", bytes sent per device " << before.bytes << " -> "
              << total.bytes << ": " << total.reason << '\n';
  }
  for (const auto &[key, total] : plain)
    if (!ours.contains(key)) {
      same = false;
      std::cout << "  " << key << ": " << total.count
                << " -> 0, no longer needed: " << total.reason << '\n';
    }
  if (same)
    std::cout << "  nothing\n";
}

} // namespace mnist
