// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The costs of a profile's steps, summed over workers and runs.
#include "meshloom/Core/Profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace meshloom {
namespace {

/// Where a location's " in part" begins: behind its column, which ends in a
/// digit. (A file's or a part's name may hold " in " too.)
size_t partBegin(const std::string &location) {
  size_t begin = 0;
  while ((begin = location.find(" in ", begin)) != std::string::npos) {
    size_t digits = begin;
    while (digits > 0 && location[digits - 1] >= '0' &&
           location[digits - 1] <= '9')
      --digits;
    if (digits < begin && digits > 0 && location[digits - 1] == ':')
      return begin;
    begin += 4;
  }
  return std::string::npos;
}

StepCost describedStep(const ProfiledProgram &program, unsigned step) {
  StepCost cost;
  cost.program = program.name;
  if (step == ProfileEvent::NONE) {
    cost.kind = program.steps.empty() ? "whole call" : "copy";
    cost.op = program.steps.empty() ? program.name : "copy of kept arguments";
    return cost;
  }
  const ProfiledStep &profiled = program.steps[step];
  cost.step = step;
  cost.kind = profiled.kind;
  cost.op = profiled.note.op.empty() ? profiled.kind : profiled.note.op;
  cost.scope = scopeOf(profiled.note);
  cost.source = sourceOf(profiled.note);
  return cost;
}

std::string shortened(const std::string &text, size_t length) {
  return text.size() <= length ? text : text.substr(0, length - 3) + "...";
}

/// Returns the last part of a path, which tells files apart in most programs.
std::string fileName(const std::string &source) {
  return source.substr(source.rfind('/') + 1);
}

} // namespace

std::string sourceOf(const SourceNote &note) {
  return note.location.substr(0, partBegin(note.location));
}

std::string scopeOf(const SourceNote &note) {
  const size_t begin = partBegin(note.location);
  return begin == std::string::npos ? "" : note.location.substr(begin + 4);
}

std::string deviceText(std::span<const int64_t> devices) {
  std::string text;
  for (size_t i = 0; i < devices.size();) {
    size_t end = i + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1)
      ++end;
    text += fmt::format("{}{}", i == 0 ? "" : ", ", devices[i]);
    if (end - i > 1)
      text += fmt::format("-{}", devices[end - 1]);
    i = end;
  }
  return text;
}

std::vector<StepCost> stepCosts(const Profile &profile) {
  // A cost for each step of each program, and one for what is of no step.
  std::vector<std::vector<StepCost>> costs;
  costs.reserve(profile.programs.size());
  for (const ProfiledProgram &program : profile.programs) {
    std::vector<StepCost> &stepCosts = costs.emplace_back();
    for (unsigned step = 0; step < program.steps.size(); ++step)
      stepCosts.push_back(describedStep(program, step));
    stepCosts.push_back(describedStep(program, ProfileEvent::NONE));
  }
  double total = 0;
  for (const ProfileEvent &event : profile.events) {
    if (event.program == ProfileEvent::NONE)
      continue;
    std::vector<StepCost> &stepCosts = costs[event.program];
    const bool whole =
        event.kind == ProfileEvent::Kind::Run && stepCosts.size() == 1;
    if (!whole && event.kind != ProfileEvent::Kind::Step &&
        event.kind != ProfileEvent::Kind::Copy)
      continue;
    StepCost &cost = event.step == ProfileEvent::NONE ? stepCosts.back()
                                                      : stepCosts[event.step];
    const double seconds = double(event.end - event.begin) * 1e-9;
    cost.seconds += seconds;
    total += seconds;
    ++cost.parts;
    cost.flops += event.flops;
    cost.bytes += event.bytes;
  }
  std::vector<StepCost> result;
  for (size_t p = 0; p < costs.size(); ++p) {
    std::vector<StepCost> &stepCosts = costs[p];
    // The peak is that of a core.
    const bool hasPeak =
        profile.peak.workers > 0 && profile.programs[p].platform == "cpu";
    if (stepCosts.back().parts == 0)
      stepCosts.pop_back();
    for (StepCost &cost : stepCosts) {
      if (cost.kind == "loop" || cost.kind == "branch")
        continue; // their steps are there themselves
      if (cost.seconds > 0) {
        cost.share = cost.seconds / total;
        cost.gflops = double(cost.flops) * 1e-9 / cost.seconds;
        cost.gigabytes = double(cost.bytes) * 1e-9 / cost.seconds;
        if (hasPeak && cost.kind != "whole call")
          cost.of_peak = std::max(cost.gflops / profile.peak.gflops,
                                  cost.gigabytes / profile.peak.gigabytes);
      }
      result.push_back(std::move(cost));
    }
  }
  std::ranges::sort(result, [](const StepCost &a, const StepCost &b) {
    return std::tie(b.seconds, a.program, a.step) <
           std::tie(a.seconds, b.program, b.step);
  });
  return result;
}

std::string costTable(const Profile &profile, size_t count) {
  const std::vector<StepCost> costs = stepCosts(profile);
  int64_t runs = 0;
  std::set<unsigned> programs;
  std::set<int64_t> workers;
  for (const ProfileEvent &event : profile.events) {
    if (event.kind == ProfileEvent::Kind::Run) {
      ++runs;
      programs.insert(event.program);
    } else if (event.kind == ProfileEvent::Kind::Step) {
      workers.insert(event.worker);
    }
  }
  double total = 0;
  for (const StepCost &cost : costs)
    total += cost.seconds;
  std::string text = fmt::format(
      "{} run{} of {} program{} in {:.3f} ms; steps took {:.3f} ms", runs,
      runs == 1 ? "" : "s", programs.size(), programs.size() == 1 ? "" : "s",
      double(profile.nanoseconds) * 1e-6, total * 1e3);
  if (!workers.empty())
    text += fmt::format(" of {} worker{}", workers.size(),
                        workers.size() == 1 ? "" : "s");
  if (profile.peak.workers > 0)
    text += fmt::format("\npeak of a worker, measured: {:.1f} GFLOP/s (f32), "
                        "{:.1f} GB/s",
                        profile.peak.gflops, profile.peak.gigabytes);
  text += fmt::format("\n{:>10} {:>6} {:>8} {:>7} {:>7}  {:<28} {:<20} {}\n",
                      "ms", "share", "GFLOP/s", "GB/s", "of peak", "op",
                      "scope", "source");
  for (size_t i = 0; i < std::min(count, costs.size()); ++i) {
    const StepCost &cost = costs[i];
    if (cost.parts == 0)
      break;
    const bool isMeasured = cost.kind != "whole call";
    auto number = [&](double value, int digits) {
      return isMeasured ? fmt::format("{:.{}f}", value, digits)
                        : std::string("-");
    };
    text += fmt::format(
        "{:>10.3f} {:>5.1f}% {:>8} {:>7} {:>7}  {:<28} {:<20} {}\n",
        cost.seconds * 1e3, cost.share * 100, number(cost.gflops, 1),
        number(cost.gigabytes, 1),
        cost.of_peak > 0 ? fmt::format("{:.0f}%", cost.of_peak * 100) : "-",
        shortened(cost.op, 28), cost.scope.empty() ? "-" : cost.scope,
        cost.source.empty()
            ? (isMeasured ? "-" : "(a whole call: the platform tells no more)")
            : fileName(cost.source));
  }
  return text;
}

} // namespace meshloom
