// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The profiler that jax.profiler starts: what the runtime records of programs,
// as an XSpace, the message that JAX writes for TensorBoard and Perfetto. Its
// planes have lines, and these have events. Events have statistics, whose names
// and texts are in a table of the plane, as those of events are.
#include "FunctionTable.h"
#include "PluginObjects.h"

#include "meshloom/Runtime/Backends/PJRT/WireFormat.h"
#include "meshloom/Runtime/Profiler.h"

#include <array>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <map>

using namespace meshloom;
using namespace meshloom::plugin;
using pjrt::Message;

namespace {
/// A recording, from its start to the collection of its data.
struct ProfilerObject : HandleObject<ProfilerObject> {
  static constexpr std::string_view kindName = "a profiler";
  ~ProfilerObject() {
    if (profiler)
      (void)profiler->stop();
  }
  std::shared_ptr<Profiler> profiler; ///< while it records
  int64_t started = 0;                ///< nanoseconds since 1970
  std::string space;                  ///< the XSpace, once it has stopped
};

/// The plane of what Meshloom's devices did.
class PlaneWriter {
public:
  PlaneWriter(const Profile &profile, int64_t started)
      : profile(profile), started(started) {
    for (const ProfileEvent &event : profile.events)
      add(event);
  }

  std::string text() const {
    Message plane;
    // JAX shows planes with that prefix beside those of the host.
    plane.bytes(2, "/device:CUSTOM:Meshloom");
    for (const auto &[number, events] : lines)
      plane.bytes(3,
                  Message()
                          .number(1, uint64_t(number))
                          .bytes(2, number == programLine
                                        ? "Programs"
                                        : fmt::format("Worker {}", number - 1))
                          .number(3, uint64_t(started))
                          .text +
                      events.text);
    for (const auto &[name, number] : names)
      plane.bytes(4,
                  Message()
                      .number(1, number)
                      .bytes(2, Message().number(1, number).bytes(2, name).text)
                      .text);
    for (const auto &[text, number] : texts)
      plane.bytes(5,
                  Message()
                      .number(1, number)
                      .bytes(2, Message().number(1, number).bytes(2, text).text)
                      .text);
    return plane.text;
  }

private:
  static constexpr int64_t programLine = 0;

  void add(const ProfileEvent &event) {
    using Kind = ProfileEvent::Kind;
    if (event.kind == Kind::Host || event.program == ProfileEvent::NONE)
      return;
    constexpr uint64_t picoseconds = 1000; // in a nanosecond
    const bool isOfWorker =
        event.kind == Kind::Step || event.kind == Kind::Copy;
    const int64_t line = isOfWorker ? event.worker + 1 : programLine;
    const uint64_t name =
        names.try_emplace(nameOf(event), names.size() + 1).first->second;
    lines[line].bytes(
        4, Message()
                   .number(1, name)
                   .number(2, uint64_t(event.begin) * picoseconds)
                   .number(3, uint64_t(event.end - event.begin) * picoseconds)
                   .text +
               statisticsOf(event));
  }

  /// The statistics of an event by the names that XLA gives them, which
  /// TensorBoard knows.
  std::string statisticsOf(const ProfileEvent &event) {
    Message list;
    auto addNumber = [&](std::string_view name, int64_t value) {
      list.bytes(4, Message()
                        .number(1, textNumber(name))
                        .number(3, uint64_t(value))
                        .text);
    };
    auto addText = [&](std::string_view name, std::string_view value) {
      if (!value.empty())
        list.bytes(4, Message()
                          .number(1, textNumber(name))
                          .number(7, textNumber(value))
                          .text);
    };
    addNumber("run_id", event.run);
    if (event.flops > 0)
      addNumber("flops", event.flops);
    if (event.bytes > 0)
      addNumber("bytes_accessed", event.bytes);
    const ProfiledProgram &program = profile.programs[event.program];
    if (event.step < program.steps.size()) {
      const ProfiledStep &step = program.steps[event.step];
      addText("tf_op", scopeOf(step.note));
      addText("source", sourceOf(step.note));
      addText("hlo_module", program.name);
    }
    return list.text;
  }

  /// The number of a text in the table of names and texts of statistics.
  uint64_t textNumber(std::string_view text) {
    return texts.try_emplace(std::string(text), texts.size() + 1).first->second;
  }

  std::string nameOf(const ProfileEvent &event) const {
    const ProfiledProgram &program = profile.programs[event.program];
    if (event.kind == ProfileEvent::Kind::Copy)
      return "copy";
    if (event.step >= program.steps.size())
      return program.name;
    const ProfiledStep &step = program.steps[event.step];
    const std::string scope = scopeOf(step.note);
    return scope.empty() ? step.kind : fmt::format("{} {}", step.kind, scope);
  }

  const Profile &profile;
  const int64_t started;
  std::map<int64_t, Message> lines;
  std::map<std::string, uint64_t> names, texts;
};

Status create(const Arguments &args) {
  args.give(capi::PLUGIN_Profiler_Create_Args::profiler,
            std::make_unique<ProfilerObject>());
  return Success();
}

Status destroy(const Arguments &args) {
  args.owned<ProfilerObject>(capi::PLUGIN_Profiler_Session_Args::profiler);
  return Success();
}

Status start(const Arguments &args) {
  auto &object =
      args.object<ProfilerObject>(capi::PLUGIN_Profiler_Session_Args::profiler);
  auto profiler = Profiler::start();
  if (!profiler)
    return profiler.error();
  object.profiler = std::move(*profiler);
  object.started = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  return Success();
}

Status stop(const Arguments &args) {
  auto &object =
      args.object<ProfilerObject>(capi::PLUGIN_Profiler_Session_Args::profiler);
  if (!object.profiler)
    return Success();
  const Profile profile = std::exchange(object.profiler, nullptr)->stop();
  object.space =
      Message().bytes(1, PlaneWriter(profile, object.started).text()).text;
  return Success();
}

/// Gives the data to a caller without a buffer, and copies it into the buffer
/// of one that has.
Status collectData(const Arguments &args) {
  using Args = capi::PLUGIN_Profiler_CollectData_Args;
  auto &object = args.object<ProfilerObject>(Args::profiler);
  if (args.has(Args::buffer))
    std::memcpy(args.get<void *>(Args::buffer), object.space.data(),
                object.space.size());
  else
    args.set(Args::buffer, object.space.data());
  args.set(Args::buffer_size_in_bytes, object.space.size());
  return Success();
}

/// A function of the profiler. JAX does not set the sizes of its structures,
/// which have the same fields in all versions.
template <Entry entry> capi::Handle unsizedEntry(void *structure) noexcept {
  if (structure)
    capi::write(structure, capi::Block::OWN_SIZE, size_t(0)); // not known
  return answer(entry, structure);
}
} // namespace

const void *plugin::profilerFunctions() {
  using Api = capi::PLUGIN_Profiler_Api;
  static std::array<char, Api::structSize> &table =
      *new std::array<char, Api::structSize>{};
  auto set = [](capi::Field<capi::Pointer> field, capi::Function function) {
    capi::write(table.data(), field, function);
  };
  capi::write(table.data(), Api::struct_size, table.size());
  // Their structures have the fields of those about errors of the whole API.
  set(Api::error_destroy, &unsizedEntry<destroyError>);
  set(Api::error_message, &unsizedEntry<errorMessage>);
  set(Api::error_get_code, &unsizedEntry<errorCode>);
  set(Api::create, &unsizedEntry<create>);
  set(Api::destroy, &unsizedEntry<destroy>);
  set(Api::start, &unsizedEntry<start>);
  set(Api::stop, &unsizedEntry<stop>);
  set(Api::collect_data, &unsizedEntry<collectData>);
  return table.data();
}
