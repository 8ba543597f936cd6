// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers the facts of a program, each of them once: steps name tensors by
// number, and tensors name the cuts of their dims.
#include "Facts.h"
#include "Folds.h"

#include "meshloom/Runtime/Plan/Steps.h"
#include "meshloom/Support/AdviceFile.h"
#include "meshloom/Support/PredictionFile.h"

#include <algorithm>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plan;
using Json = nlohmann::ordered_json;

namespace {
/// More events of a run than a picture can show are left out.
constexpr size_t MOST_EVENTS = 20'000;

class FactWriter {
public:
  FactWriter(const Program &program, const Explanation &explanation)
      : program(program), explanation(explanation) {}

  Json axes() const;
  Json tensors();
  Json steps();
  Json collectives() const;
  /// The intervals that `tensors` named; call it last.
  Json cuts() const;

private:
  /// Returns the number of a list of intervals, or -1 where every device holds
  /// the whole dim.
  int cutOf(const BufferDecl &decl, unsigned dim);
  int collectiveOf(const Step &step);
  void addSteps(const std::vector<Step> &steps, Json &list);

  const Program &program;
  const Explanation &explanation;
  std::vector<std::vector<Interval>> intervals;
  /// Which collectives of the explanation have their step.
  std::vector<bool> isTaken = std::vector<bool>(explanation.collectives.size());
};

Json FactWriter::axes() const {
  Json list = Json::array();
  for (const MeshAxis &axis : program.mesh.axes())
    list.push_back({{"name", axis.name}, {"size", axis.size}});
  return list;
}

int FactWriter::cutOf(const BufferDecl &decl, unsigned dim) {
  const std::span<const unsigned> axes = decl.layout.axes(dim);
  std::vector<Interval> cut;
  if (!decl.windows.empty())
    cut = decl.windows[dim];
  if (cut.empty() && axes.empty())
    return -1;
  for (int64_t shard = 0, n = decl.layout.num_shards(dim);
       cut.size() < size_t(n); ++shard)
    cut.push_back(blockOf(decl.shape[dim], axes, program.mesh, shard));
  const auto number =
      int(std::ranges::find(intervals, cut) - intervals.begin());
  if (number == int(intervals.size()))
    intervals.push_back(std::move(cut));
  return number;
}

Json FactWriter::tensors() {
  Json list = Json::array();
  for (const BufferDecl &decl : program.buffers) {
    Json cuts = Json::array();
    for (unsigned dim = 0; dim < decl.layout.rank(); ++dim)
      cuts.push_back(cutOf(decl, dim));
    Json partial = Json::array();
    for (const Partial &addend : decl.layout.partial())
      partial.push_back({{"axis", addend.axis}, {"kind", name(addend.kind)}});
    list.push_back({{"name", decl.name},
                    {"type", name(decl.type)},
                    {"shape", decl.shape},
                    {"axes", decl.layout.dim_axes()},
                    {"partial", std::move(partial)},
                    {"cuts", std::move(cuts)},
                    {"local_shape", decl.localShape()},
                    {"bytes", decl.localBytes()}});
  }
  return list;
}

Json FactWriter::cuts() const {
  Json list = Json::array();
  for (const std::vector<Interval> &cut : intervals) {
    Json ranges = Json::array();
    for (const Interval &interval : cut)
      ranges.push_back({interval.begin, interval.end});
    list.push_back(std::move(ranges));
  }
  return list;
}

/// Collectives are in the same order in both, but a program may have lost some
/// whose values nothing used. The reason of a combined one is those of all its
/// values.
int FactWriter::collectiveOf(const Step &step) {
  auto *collective = std::get_if<CollectiveStep>(&step);
  if (!collective)
    return -1;
  for (size_t i = 0; i < isTaken.size(); ++i) {
    const ExplainedCollective &candidate = explanation.collectives[i];
    if (isTaken[i] || candidate.first().kind != collective->kind ||
        candidate.values.size() != collective->moves.size() ||
        !collective->reason.starts_with(candidate.values.front().reason))
      continue;
    isTaken[i] = true;
    return int(i);
  }
  return -1;
}

void FactWriter::addSteps(const std::vector<Step> &steps, Json &list) {
  for (const Step &step : steps) {
    const StepUses uses = usesOf(step);
    const SourceNote &note = noteOf(step);
    Json json = {{"reads", uses.reads}, {"writes", uses.writes}};
    if (std::string scope = scopeOf(note); !scope.empty())
      json["scope"] = std::move(scope);
    json["source"] = sourceOf(note);
    json["op"] = note.op;
    if (const int number = collectiveOf(step); number >= 0)
      json["collective"] = number;
    list.push_back(std::move(json));
    for (const std::vector<Step> *inner : nestedLists(step))
      addSteps(*inner, list);
  }
}

Json FactWriter::steps() {
  Json list = Json::array();
  addSteps(program.steps, list);
  return list;
}

Json FactWriter::collectives() const {
  Json list = Json::array();
  for (const ExplainedCollective &collective : explanation.collectives) {
    Json values = Json::array();
    for (const MovedValue &value : collective.values)
      values.push_back({{"type", value.type},
                        {"from", value.collective.from.spec_string()},
                        {"to", value.collective.to.spec_string()},
                        {"bytes", value.countedBytes},
                        {"location", value.location},
                        {"consumer", value.consumer},
                        {"reason", value.reason},
                        {"rejected", value.rejected}});
    Json json = {{"kind", name(collective.first().kind)},
                 {"axes", collective.axisNames()},
                 {"bytes", collective.countedBytes()},
                 {"bytes_sent", collective.sentBytes},
                 {"time_ps", collective.cost}};
    if (collective.reduce)
      json["reduce"] = name(*collective.reduce);
    if (collective.executions)
      json["executions"] = *collective.executions;
    json["place"] = collective.place;
    json["values"] = std::move(values);
    list.push_back(std::move(json));
  }
  return list;
}

/// A step is its id, and a fold an object.
Json foldsJson(const std::vector<FoldItem> &items) {
  Json list = Json::array();
  for (const FoldItem &item : items) {
    if (item.fold.empty()) {
      list.push_back(item.step);
      continue;
    }
    Json json = {{"fold", item.fold}, {"name", item.name}};
    if (item.step != FoldItem::NONE)
      json["step"] = item.step;
    json["items"] = foldsJson(item.items);
    list.push_back(std::move(json));
  }
  return list;
}

/// Arguments or results, with the layouts that their user wrote where those are
/// over a different mesh.
template <typename Value> Json valuesJson(const std::vector<Value> &values) {
  Json list = Json::array();
  for (const Value &value : values) {
    Json json = {{"name", value.name}, {"tensor", value.buffer}};
    if (value.written)
      json["written"] = value.written->to_string();
    list.push_back(std::move(json));
  }
  return list;
}

/// The parts of steps in the last run of the program, in nanoseconds after it
/// began; nothing where the profile has no run of it.
Json measuredJson(const Profile &profile, const Program &program) {
  int64_t run = 0, begin = 0, end = 0;
  for (const ProfileEvent &event : profile.events)
    if (event.kind == ProfileEvent::Kind::Run && event.run > run &&
        profile.programs[event.program].name == program.name) {
      run = event.run;
      begin = event.begin;
      end = event.end;
    }
  if (run == 0)
    return nullptr;
  Json events = Json::array();
  for (const ProfileEvent &event : profile.events) {
    if (event.kind != ProfileEvent::Kind::Step || event.run != run ||
        events.size() == MOST_EVENTS)
      continue;
    Json json = {{"step", event.step},
                 {"worker", event.worker},
                 {"begin_ns", event.begin - begin},
                 {"time_ns", event.end - event.begin}};
    if (event.devices != ProfileEvent::NONE)
      json["devices"] = deviceText(profile.deviceSets[event.devices]);
    events.push_back(std::move(json));
  }
  return {{"time_ns", end - begin}, {"events", std::move(events)}};
}
} // namespace

Json meshloom::programFacts(const ExplainedProgram &explained,
                            const Prediction &prediction,
                            const Profile *measured) {
  const Program &program = explained.compiled.program();
  const Explanation &explanation = explained.explanation;
  FactWriter writer(program, explanation);
  Json json;
  json["axes"] = writer.axes();
  json["meshes"] = explanation.meshes;
  json["not_as_asked"] = explanation.notAsAsked;
  json["automatic_layouts"] = explanation.automaticLayouts;
  json["memory_choices"] = explanation.memoryChoices;
  json["refined"] = explanation.isRefined;
  json["refinements"] = explanation.refinements;
  json["suggestions"] = Json::array();
  if (explained.advice)
    for (const SuggestionText &suggestion : suggestionTexts(*explained.advice))
      json["suggestions"].push_back(
          {{"title", suggestion.title}, {"lines", suggestion.lines}});
  json["arguments"] = valuesJson(program.arguments);
  json["results"] = valuesJson(program.results);
  json["tensors"] = writer.tensors();
  json["cuts"] = writer.cuts();
  json["steps"] = writer.steps();
  json["folds"] = foldsJson(foldSteps(program));
  json["collectives"] = writer.collectives();
  json["prediction"] = Json::parse(predictionJson(prediction));
  if (measured)
    if (Json run = measuredJson(*measured, program); !run.is_null())
      json["measured"] = std::move(run);
  return json;
}
