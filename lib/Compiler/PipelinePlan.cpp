// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The predicted time and memory of a pipeline.
#include "meshloom/Compiler/PipelineProgram.h"

#include "meshloom/Predict/Predict.h"
#include "meshloom/Support/PredictionFile.h"

#include "meshloom/Support/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace meshloom {

namespace {

/// Returns the bytes of a value on one device.
int64_t bytesOf(const PipelineValue &value) {
  return localBytes(value.type->layout, value.type->shape, value.type->dtype);
}

/// Follows which values are on which set of devices during a step.
class PipelineMemory {
public:
  PipelineMemory(const PipelineProgram &program,
                 ArrayRef<int64_t> peaksOfParts);

  void run(const PipelineLaunch &launch);
  const std::vector<int64_t> &peaks() const { return most; }

private:
  /// A value of a microbatch, or -1, on a set.
  struct Place {
    size_t value;
    int64_t microbatch;
    size_t set;
    auto operator<=>(const Place &) const = default;
  };
  size_t setOf(size_t part) const {
    return size_t(program.shape.setOf(program.parts[part].stage));
  }
  Place placeOf(size_t value, int64_t microbatch, size_t set) const {
    return {value, program.values[value].isOfMicrobatch() ? microbatch : -1,
            set};
  }
  void add(const Place &place);
  void remove(const Place &place);
  int64_t usesOf(size_t value, size_t set) const;

  const PipelineProgram &program;
  ArrayRef<int64_t> peaksOfParts;
  std::map<Place, int64_t> uses; ///< that are to come of values that are there
  std::vector<int64_t> bytes, most; ///< by set
};

PipelineMemory::PipelineMemory(const PipelineProgram &program,
                               ArrayRef<int64_t> peaksOfParts)
    : program(program), peaksOfParts(peaksOfParts),
      bytes(size_t(program.shape.sets()), 0) {
  for (size_t part = 0; part < program.parts.size(); ++part)
    for (size_t value : program.parts[part].operands)
      if (program.values[value].kind == PipelineValue::Kind::Argument)
        add(placeOf(value, -1, setOf(part)));
  most = bytes;
}

int64_t PipelineMemory::usesOf(size_t value, size_t set) const {
  int64_t count = 0;
  for (size_t part = 0; part < program.parts.size(); ++part)
    count += setOf(part) == set &&
             llvm::is_contained(program.parts[part].operands, value);
  return count;
}

void PipelineMemory::add(const Place &place) {
  if (uses.try_emplace(place, usesOf(place.value, place.set)).second)
    bytes[place.set] += bytesOf(program.values[place.value]);
}

void PipelineMemory::remove(const Place &place) {
  if (uses.erase(place))
    bytes[place.set] -= bytesOf(program.values[place.value]);
}

void PipelineMemory::run(const PipelineLaunch &launch) {
  const auto [part, microbatch] = launch;
  const PipelinePart &running = program.parts[part];
  const size_t set = setOf(part);
  int64_t operandBytes = 0;
  for (size_t value : running.operands) {
    add(placeOf(value, microbatch, set));
    operandBytes += bytesOf(program.values[value]);
    // A value that no part of its set uses has been sent.
    for (size_t source = 0; source < bytes.size(); ++source)
      if (source != set && program.values[value].isOfMicrobatch() &&
          usesOf(value, source) == 0)
        remove(placeOf(value, microbatch, source));
  }
  most[set] =
      std::max(most[set], bytes[set] - operandBytes + peaksOfParts[part]);
  for (size_t value : running.results)
    add(placeOf(value, microbatch, set));
  for (size_t value : running.operands)
    if (program.values[value].isOfMicrobatch()) {
      const Place place = placeOf(value, microbatch, set);
      if (auto found = uses.find(place);
          found != uses.end() && --found->second == 0)
        remove(place);
    }
}

/// Returns the time in which the results of a stage go forward to other ones.
int64_t transferTime(const PipelineProgram &program, int64_t stage,
                     const MachineModel &machine) {
  if (machine.sharedMemory)
    return 0;
  const auto forward = program.partOf({stage, 0, PipelineWork::FORWARD});
  if (!forward)
    return 0;
  int64_t bytes = 0;
  for (size_t value : program.parts[*forward].results)
    if (llvm::any_of(program.parts, [&](const PipelinePart &part) {
          return part.stage != stage &&
                 llvm::is_contained(part.operands, value);
        }))
      bytes += bytesOf(program.values[value]);
  return machine.defaultLink.latency +
         timeFor(bytes, machine.defaultLink.bytesPerSecond);
}

/// Returns the time from the last microbatch to the end of the last update.
int64_t updateTime(const PipelineProgram &program, ArrayRef<int64_t> times) {
  std::map<size_t, int64_t> ends; // of values
  std::map<int64_t, int64_t> freeAt;
  int64_t last = 0;
  for (const auto &[part, time] : llvm::zip_equal(program.parts, times)) {
    if (part.work)
      continue;
    int64_t &end = freeAt[program.shape.setOf(part.stage)];
    for (size_t operand : part.operands)
      end = std::max(end, ends[operand]);
    end += time;
    for (size_t result : part.results)
      ends[result] = end;
    last = std::max(last, end);
  }
  return last;
}

} // namespace

Result<PipelinePlan> planPipeline(const PipelineProgram &program,
                                  const std::vector<Compiled> &parts,
                                  const MachineModel &machine) {
  PipelinePlan plan;
  plan.devices = parts.front().signature().mesh.size();
  plan.times.resize(size_t(program.shape.stages));
  std::vector<int64_t> peaks, times; // of parts
  for (size_t i = 0; i < parts.size(); ++i) {
    Result<Prediction> prediction = predict(parts[i], machine);
    if (!prediction)
      return prediction.error();
    peaks.push_back(prediction->memory.peakBytes);
    times.push_back(prediction->time);
    const PipelinePart &part = program.parts[i];
    PipelineStageTime &ofStage = plan.times[size_t(part.stage)];
    if (part.work == PipelineWork::FORWARD)
      ofStage.forward = prediction->time;
    else if (part.work == PipelineWork::BACKWARD)
      ofStage.backward = prediction->time;
    else if (part.work == PipelineWork::WEIGHT_GRADIENT)
      ofStage.weightGradient = prediction->time;
  }
  for (int64_t stage = 0; stage < program.shape.stages; ++stage)
    plan.times[size_t(stage)].transfer = transferTime(program, stage, machine);
  Result<PipelinePrediction> step = predictPipeline(program.shape, plan.times);
  if (!step)
    return step.error();
  plan.step = std::move(*step);
  plan.updateTime = updateTime(program, times);

  PipelineMemory memory(program, peaks);
  for (const PipelineLaunch &launch : program.launches())
    memory.run(launch);
  plan.peakBytes = memory.peaks();
  return plan;
}

std::string planText(const PipelineProgram &program, const PipelinePlan &plan,
                     const MachineModel &machine) {
  std::string text = fmt::format(
      "a pipeline of {} stages on {} sets of {} device{} of {}, schedule {}, "
      "{}\n",
      program.shape.stages, program.shape.sets(), plan.devices,
      plan.devices == 1 ? "" : "s", machine.name, name(program.shape.schedule),
      program.batch);
  text += fmt::format(
      "{:>5}  {:<20} {:>10} {:>10} {:>10} {:>10} {:>5} {:>10}\n", "stage",
      "scopes", "forward", "backward", "weights", "transfer", "held", "memory");
  for (size_t stage = 0; stage < plan.times.size(); ++stage) {
    const PipelineStageTime &time = plan.times[stage];
    text += fmt::format(
        "{:>5}  {:<20} {:>10} {:>10} {:>10} {:>10} {:>5} {:>10}\n", stage,
        program.stageNames[stage], formatTime(time.forward),
        formatTime(time.backward), formatTime(time.weightGradient),
        formatTime(time.transfer), plan.step.held[stage],
        bytesText(plan.peakBytes[size_t(program.shape.setOf(int64_t(stage)))]));
  }
  return text + fmt::format("time of a step: {}, of which {} are for the "
                            "updates; devices wait "
                            "in {:.1f} % of the time before\n",
                            formatTime(plan.step.time + plan.updateTime),
                            formatTime(plan.updateTime),
                            100 * plan.step.bubble);
}

std::string planJson(const PipelineProgram &program, const PipelinePlan &plan,
                     const MachineModel &machine) {
  nlohmann::ordered_json json;
  json["machine"] = machine.name;
  json["schedule"] = name(program.shape.schedule);
  json["microbatches"] = program.shape.microbatches;
  json["devices_per_set"] = plan.devices;
  json["time_ps"] = plan.step.time + plan.updateTime;
  json["update_time_ps"] = plan.updateTime;
  json["bubble"] = plan.step.bubble;
  json["stages"] = nlohmann::ordered_json::array();
  for (size_t stage = 0; stage < plan.times.size(); ++stage) {
    const PipelineStageTime &time = plan.times[stage];
    const auto set = size_t(program.shape.setOf(int64_t(stage)));
    json["stages"].push_back({{"scopes", program.stageNames[stage]},
                              {"forward_ps", time.forward},
                              {"backward_ps", time.backward},
                              {"weight_gradient_ps", time.weightGradient},
                              {"transfer_ps", time.transfer},
                              {"held", plan.step.held[stage]},
                              {"set", set},
                              {"peak_bytes", plan.peakBytes[set]}});
  }
  return json.dump(2) + "\n";
}

} // namespace meshloom
