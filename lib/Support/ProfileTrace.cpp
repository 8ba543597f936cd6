// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events as JSON objects, one a line.
#include "meshloom/Support/ProfileTrace.h"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace meshloom {
namespace {
using Json = nlohmann::ordered_json;

constexpr int64_t HOST = 1, FIRST_PLATFORM = 2; ///< process ids
constexpr int64_t RUNS = 0, FIRST_WORKER = 1;   ///< rows of a platform

class Writer {
public:
  explicit Writer(const Profile &profile) : profile(profile) {}

  std::string write() {
    for (const ProfiledProgram &program : profile.programs)
      processes.try_emplace(program.platform,
                            FIRST_PLATFORM + int64_t(processes.size()));
    for (const ProfileEvent &event : profile.events)
      add(event);
    nameRows();
    Json other;
    other["workers"] = profile.peak.workers;
    other["peak GFLOP/s of a worker"] = profile.peak.gflops;
    other["peak GB/s of a worker"] = profile.peak.gigabytes;
    std::string text =
        "{\"displayTimeUnit\": \"ms\", \"otherData\": " + dumped(other) +
        ", \"traceEvents\": [\n";
    for (size_t i = 0; i < lines.size(); ++i)
      text += lines[i] + (i + 1 < lines.size() ? ",\n" : "\n");
    return text + "]}\n";
  }

private:
  /// Names may hold any bytes.
  static std::string dumped(const Json &json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  static double microseconds(int64_t nanoseconds) {
    return double(nanoseconds) / 1000;
  }
  Json event(const char *phase, const std::string &name, const char *category,
             int64_t process, int64_t row, int64_t begin) {
    Json json;
    json["ph"] = phase;
    json["name"] = name;
    json["cat"] = category;
    json["pid"] = process;
    json["tid"] = row;
    json["ts"] = microseconds(begin);
    rows.insert({process, row});
    return json;
  }
  void add(const ProfileEvent &measured) {
    using Kind = ProfileEvent::Kind;
    if (measured.kind == Kind::Host) {
      Json json = event("X", measured.name, "host", HOST, measured.worker,
                        measured.begin);
      json["dur"] = microseconds(measured.end - measured.begin);
      lines.push_back(dumped(json));
    } else if (measured.kind == Kind::Step || measured.kind == Kind::Copy) {
      addPart(measured);
    } else {
      addSpan(measured);
    }
  }
  void addPart(const ProfileEvent &measured);
  void addSpan(const ProfileEvent &measured);
  void addViews(const ProfileEvent &run, int64_t process);
  void describe(Json &arguments, unsigned program, unsigned step) const;
  void nameRows();
  /// Returns the steps of a program that did anything in any run.
  const std::set<unsigned> &stepsThatRan(unsigned program);

  const Profile &profile;
  std::map<std::string, int64_t> processes; ///< by platform
  std::set<std::pair<int64_t, int64_t>> rows;
  std::map<unsigned, std::set<unsigned>> ran;
  std::vector<std::string> lines;
};

std::string shortName(const ProfiledStep &step) {
  const std::string &name = step.note.op.empty() ? step.kind : step.note.op;
  return name.size() <= 60 ? name : name.substr(0, 57) + "...";
}

void Writer::describe(Json &arguments, unsigned program, unsigned step) const {
  const ProfiledProgram &profiled = profile.programs[program];
  arguments["program"] = profiled.name;
  if (step == ProfileEvent::NONE)
    return;
  const ProfiledStep &described = profiled.steps[step];
  arguments["step"] = step;
  arguments["kind"] = described.kind;
  arguments["op"] = described.note.op;
  if (std::string scope = scopeOf(described.note); !scope.empty())
    arguments["scope"] = scope;
  arguments["source"] = sourceOf(described.note);
  if (!described.reason.empty())
    arguments["reason"] = described.reason;
}

void Writer::addPart(const ProfileEvent &measured) {
  const ProfiledProgram &program = profile.programs[measured.program];
  const bool copy = measured.kind == ProfileEvent::Kind::Copy;
  std::string name = measured.step == ProfileEvent::NONE
                         ? "copy of kept arguments"
                         : shortName(program.steps[measured.step]);
  if (copy && measured.step != ProfileEvent::NONE)
    name = "copy for " + name;
  Json json =
      event("X", name, copy ? "copy" : "step", processes.at(program.platform),
            FIRST_WORKER + measured.worker, measured.begin);
  json["dur"] = microseconds(measured.end - measured.begin);
  Json &arguments = json["args"];
  describe(arguments, measured.program, measured.step);
  arguments["run"] = measured.run;
  if (!measured.name.empty())
    arguments["code"] = measured.name;
  if (measured.devices != ProfileEvent::NONE)
    arguments["devices"] = deviceText(profile.deviceSets[measured.devices]);
  arguments["bytes"] = measured.bytes;
  arguments["flops"] = measured.flops;
  // Nanoseconds: 10^9 a second are one a nanosecond.
  const double duration =
      double(std::max<int64_t>(1, measured.end - measured.begin));
  const double gflops = double(measured.flops) / duration,
               gigabytes = double(measured.bytes) / duration;
  arguments["GFLOP/s"] = gflops;
  arguments["GB/s"] = gigabytes;
  if (profile.peak.workers > 0 && program.platform == "cpu") {
    arguments["of peak GFLOP/s"] = gflops / profile.peak.gflops;
    arguments["of peak GB/s"] = gigabytes / profile.peak.gigabytes;
  }
  lines.push_back(dumped(json));
}

/// Runs may overlap where a platform runs several at a time: spans with a
/// number each, that loops and branches are inside of.
void Writer::addSpan(const ProfileEvent &measured) {
  const ProfiledProgram &program = profile.programs[measured.program];
  const int64_t process = processes.at(program.platform);
  const bool isRun = measured.kind == ProfileEvent::Kind::Run;
  const std::string name =
      isRun ? program.name : shortName(program.steps[measured.step]);
  Json begin = event("b", name, "run", process, RUNS, measured.begin);
  begin["id"] = measured.run;
  Json &arguments = begin["args"];
  describe(arguments, measured.program, measured.step);
  arguments["run"] = measured.run;
  if (measured.iterations >= 0)
    arguments["iterations"] = measured.iterations;
  if (isRun && program.steps.empty())
    arguments["note"] = "a whole call: the platform tells no more";
  Json end = event("e", name, "run", process, RUNS, measured.end);
  end["id"] = measured.run;
  lines.push_back(dumped(begin));
  if (isRun)
    addViews(measured, process);
  lines.push_back(dumped(end));
}

const std::set<unsigned> &Writer::stepsThatRan(unsigned program) {
  if (ran.empty())
    for (const ProfileEvent &event : profile.events)
      if (event.program != ProfileEvent::NONE &&
          event.step != ProfileEvent::NONE)
        ran[event.program].insert(event.step);
  return ran[program];
}

/// Steps that no worker did anything for: where memory is shared, most
/// collectives are views of what is there.
void Writer::addViews(const ProfileEvent &run, int64_t process) {
  const ProfiledProgram &program = profile.programs[run.program];
  const std::set<unsigned> &worked = stepsThatRan(run.program);
  for (unsigned step = 0; step < program.steps.size(); ++step) {
    if (worked.contains(step))
      continue;
    Json json = event("n", shortName(program.steps[step]), "run", process, RUNS,
                      run.begin);
    json["id"] = run.run;
    Json &arguments = json["args"];
    describe(arguments, run.program, step);
    arguments["run"] = run.run;
    arguments["note"] = "no work: a view of memory, or a branch not taken";
    lines.push_back(dumped(json));
  }
}

void Writer::nameRows() {
  auto name = [&](const char *kind, int64_t process, int64_t row,
                  const std::string &text) {
    Json json;
    json["ph"] = "M";
    json["name"] = kind;
    json["pid"] = process;
    json["tid"] = row;
    json["args"]["name"] = text;
    lines.push_back(dumped(json));
  };
  int64_t cards = HOST; // the process whose workers are cards, if there is one
  for (const auto &[platform, process] : processes) {
    name("process_name", process, RUNS, platform);
    if (platform == "cuda")
      cards = process;
  }
  for (auto [process, row] : rows)
    if (process == HOST) {
      name("process_name", HOST, row, "host");
      name("thread_name", HOST, row, fmt::format("thread {}", row));
    } else {
      name("thread_name", process, row,
           row == RUNS
               ? "programs"
               : fmt::format("{} {}", process == cards ? "GPU" : "worker",
                             row - FIRST_WORKER));
    }
}

} // namespace

std::string profileTrace(const Profile &profile) {
  return Writer(profile).write();
}

} // namespace meshloom
