// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recorded profile as an XSpace of TensorBoard's profile plugin, see
// ProfileFile.h: a plane for each process of the trace, a line for each of its
// rows.
#include "ProfileFile.h"

#include "meshloom/Core/HostName.h"
#include "meshloom/Core/SystemError.h"

#include "XPlane.pb.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <ctime>
#include <fstream>

namespace meshloom {
namespace {

class SpaceBuilder {
public:
  void add(const nlohmann::json &event) {
    const std::string kind = event.at("ph");
    const auto process = event.at("pid").get<int64_t>();
    const auto row = event.at("tid").get<int64_t>();
    if (kind == "M") {
      const std::string text = event.at("args").at("name");
      if (event.at("name") == "process_name")
        plane(process).set_name("/host:" + text);
      else
        line(process, row).set_name(text);
      return;
    }
    if (kind != "X")
      return;
    constexpr double picoseconds = 1e6; // of a microsecond
    xplane::Event &added = *line(process, row).add_events();
    added.set_metadata_id(nameOf(process, event.at("name")));
    added.set_offset_ps(int64_t(event.at("ts").get<double>() * picoseconds));
    added.set_duration_ps(int64_t(event.at("dur").get<double>() * picoseconds));
  }
  xplane::Space space;

private:
  xplane::Plane &plane(int64_t process) {
    auto [entry, isNew] = planes.try_emplace(process, space.planes_size());
    if (!isNew)
      return *space.mutable_planes(entry->second);
    xplane::Plane &added = *space.add_planes();
    added.set_id(process);
    added.set_name("/host:" + std::to_string(process));
    return added;
  }
  xplane::Line &line(int64_t process, int64_t row) {
    xplane::Plane &of = plane(process);
    auto [entry, isNew] =
        lines.try_emplace(std::pair(process, row), of.lines_size());
    if (!isNew)
      return *of.mutable_lines(entry->second);
    xplane::Line &added = *of.add_lines();
    added.set_id(row);
    return added;
  }
  int64_t nameOf(int64_t process, const std::string &name) {
    xplane::Plane &of = plane(process);
    auto [entry, isNew] = names.try_emplace(
        std::pair(process, name), int64_t(of.event_metadata().size()) + 1);
    if (isNew) {
      xplane::EventMetadata &added =
          (*of.mutable_event_metadata())[entry->second];
      added.set_id(entry->second);
      added.set_name(name);
    }
    return entry->second;
  }

  std::map<int64_t, int> planes;
  std::map<std::pair<int64_t, int64_t>, int> lines;
  std::map<std::pair<int64_t, std::string>, int64_t> names;
};

std::string timeNow() {
  const std::time_t now =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&now, &local);
  char text[64] = "";
  return {text, std::strftime(text, sizeof text, "%Y_%m_%d_%H_%M_%S", &local)};
}

} // namespace

void writeProfile(ProfileScope &profile, const std::filesystem::path &folder) {
  const std::string host = hostName();
  const std::filesystem::path run = folder / "plugins" / "profile" / timeNow();
  std::error_code failed;
  std::filesystem::create_directories(run, failed);
  if (failed)
    Error("[TensorBoard] cannot make the folder '" + run.string() +
              "': " + failed.message(),
          errorCodeOfSystem(failed.value()))
        .raise();
  const std::filesystem::path trace = run / (host + ".trace.json");
  profile.write(trace);
  std::ifstream in(trace);
  const nlohmann::json contents = nlohmann::json::parse(in);
  SpaceBuilder builder;
  for (const auto &event : contents.at("traceEvents"))
    builder.add(event);
  builder.space.add_hostnames(host);
  const std::filesystem::path planes = run / (host + ".xplane.pb");
  std::ofstream out(planes, std::ios::binary);
  if (!builder.space.SerializeToOstream(&out) || !out.flush())
    Error("[TensorBoard] cannot write '" + planes.string() + "'").raise();
}

} // namespace meshloom
