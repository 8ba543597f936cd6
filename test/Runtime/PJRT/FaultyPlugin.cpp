// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small PJRT plug-in for tests: it moves data, runs programs that give their
// arguments back, on a thread of its own, and fails on demand.
//
// The environment variable MESHLOOM_FAULTY_PLUGIN, read when the plug-in is
// loaded, says which part fails (version, major, no-table, small-table,
// odd-table, old-version-struct, null-slot, initialize, attribute-size). When a
// client is created, its create option "fault" says the same:
//   client      no client can be made
//   compile     no program is accepted
//   replicas    programs come out for another number of devices
//   execute     no execution starts
//   takes:N     the Nth execution does not start, but takes what it may reuse
//   step:N      the Nth execution starts, and its results fail
//   lost:N      from the Nth execution on, everything fails
//   memory:N    the Nth and later buffers do not fit
//   read        nothing can be read
//   ready       nobody can be told that something is ready
//   silent:N    process N of several tells the others nothing
//   pod:N       it is process N of two, which needs no options to know it
// Its clients are of several processes where the options num_nodes and node_id
// say so.
// A program is the text "identity N", which takes and gives N arrays, or
// "subtract 2", which takes two of f32 and gives their difference; "donate I J"
// after it means that the memory of arguments I and J is reused.
#include "FaultyPlugin.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace faulty;

std::atomic<int64_t> faulty::liveObjects{0};

namespace {
/// Something that completes once.
struct Completion {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::string error;
  std::vector<std::function<void()>> callbacks;

  Handle result() { return error.empty() ? nullptr : fail(Internal, error); }
  void finish(std::string failure) {
    std::vector<std::function<void()>> waiting;
    {
      std::lock_guard lock(mutex);
      error = std::move(failure);
      done = true;
      waiting.swap(callbacks);
      changed.notify_all();
    }
    for (auto &callback : waiting)
      callback();
  }
};
using CompletionPtr = std::shared_ptr<Completion>;

struct Event : Counted {
  explicit Event(CompletionPtr completion)
      : completion(std::move(completion)) {}
  CompletionPtr completion;
};
Handle readyEvent() {
  auto completion = std::make_shared<Completion>();
  completion->done = true;
  return new Event(completion);
}

/// "step:2" is {"step", 2}; "read" is {"read", 1}.
struct Fault {
  std::string name;
  int64_t count = 1;
  explicit Fault(const std::string &text)
      : name(text.substr(0, text.find(':'))) {
    if (name.size() < text.size())
      count = std::stoll(text.substr(name.size() + 1));
  }
};
std::string faultOfEnvironment() {
  const char *value = std::getenv("MESHLOOM_FAULTY_PLUGIN");
  return value ? value : "";
}

/// It can be four TPUs, in a square.
bool isTPU() {
  return faultOfEnvironment() == "tpu";
}

struct Client;
struct Device {
  Client *client;
  int32_t id, process;
  std::string text;
};

struct Client : Counted {
  Fault fault{""};
  Node node;
  std::vector<Device> devices; ///< of all processes
  std::vector<Handle> allHandles, deviceHandles;
  std::atomic<int64_t> buffers{0}, executions{0};
  std::atomic<bool> lost{false};

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool closing = false;
  std::thread worker;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return closing || !work.empty(); });
      if (work.empty())
        return;
      auto next = std::move(work.front());
      work.pop_front();
      lock.unlock();
      next();
      lock.lock();
    }
  }
  void later(std::function<void()> task) {
    std::lock_guard lock(mutex);
    work.push_back(std::move(task));
    changed.notify_all();
  }
  /// Joining fails, loudly, on the worker itself.
  ~Client() {
    {
      std::lock_guard lock(mutex);
      closing = true;
      changed.notify_all();
    }
    worker.join();
  }
};

struct Value {
  CompletionPtr ready = std::make_shared<Completion>();
  std::vector<char> bytes;
};
struct Buffer : Counted {
  Client *client;
  std::shared_ptr<Value> value; ///< null: donated
};

struct Task {
  size_t arity = 0, outputs = 0;
  std::set<size_t> donated;
  std::vector<Handle> devices;
};
struct Executable : Counted {
  Client *client;
  std::shared_ptr<Task> program;
};

template <typename T> T *as(const void *arguments, Field<Pointer> field) {
  return read<T *>(arguments, field);
}
Handle lostDevice() {
  return fail(Internal, "the device is lost");
}

/// Gives a text to who called, which must outlive its use there.
void writeText(void *a, Field<Pointer> field, Field<size_t> size,
               std::string_view text) {
  write(a, field, text.data());
  write(a, size, text.size());
}

// ---- Errors, plug-in, events

Handle errorDestroy(void *a) {
  delete as<Failure>(a, Error_Destroy_Args::error);
  return nullptr;
}
Handle errorMessage(void *a) {
  using Args = Error_Message_Args;
  writeText(a, Args::message, Args::message_size,
            as<Failure>(a, Args::error)->message);
  return nullptr;
}
Handle errorGetCode(void *a) {
  write(a, Error_GetCode_Args::code,
        as<Failure>(a, Error_GetCode_Args::error)->code);
  return nullptr;
}

Handle pluginInitialize(void *) {
  return faultOfEnvironment() == "initialize"
             ? fail(Internal, "no cooling water")
             : nullptr;
}
Handle pluginAttributes(void *a) {
  static const int64_t version[] = {1, 13, 3};
  static char values[2 * NamedValue::stride];
  static const char *const names[] = {"xla_version",
                                      "stablehlo_current_version"};
  const size_t size = faultOfEnvironment() == "attribute-size"
                          ? NamedValue::structSize + 8
                          : NamedValue::structSize;
  for (int i = 0; i < 2; ++i) {
    char *entry = values + i * NamedValue::stride;
    write(entry, NamedValue::struct_size, size);
    writeText(entry, NamedValue::name, NamedValue::name_size, names[i]);
  }
  write(values, NamedValue::type, ValueKind::Int64);
  write(values, NamedValue::int64_value, 2);
  write(values, NamedValue::value_size, 1);
  char *second = values + NamedValue::stride;
  write(second, NamedValue::type, ValueKind::Int64List);
  write(second, NamedValue::int64_array_value, version);
  write(second, NamedValue::value_size, 3);
  write(a, Plugin_Attributes_Args::attributes, values);
  write(a, Plugin_Attributes_Args::num_attributes, 2);
  return nullptr;
}

Handle eventDestroy(void *a) {
  delete as<Event>(a, Event_Destroy_Args::event);
  return nullptr;
}
Handle eventIsReady(void *a) {
  Completion &completion = *as<Event>(a, Event_IsReady_Args::event)->completion;
  std::lock_guard lock(completion.mutex);
  write(a, Event_IsReady_Args::is_ready, completion.done);
  return nullptr;
}
Handle eventAwait(void *a) {
  CompletionPtr completion = as<Event>(a, Event_Await_Args::event)->completion;
  std::unique_lock lock(completion->mutex);
  completion->changed.wait(lock, [&] { return completion->done; });
  return completion->result();
}
std::atomic<bool> readyFails{false};
Handle eventOnReady(void *a) {
  if (readyFails)
    return fail(Internal, "no bell");
  CompletionPtr completion =
      as<Event>(a, Event_OnReady_Args::event)->completion;
  auto call = [completion,
               callback = read<void (*)(Handle, void *)>(
                   a, Event_OnReady_Args::callback),
               argument = read<void *>(a, Event_OnReady_Args::user_arg)] {
    callback(completion->result(), argument);
  };
  {
    std::lock_guard lock(completion->mutex);
    if (!completion->done) {
      completion->callbacks.push_back(call);
      return nullptr;
    }
  }
  call();
  return nullptr;
}

// ---- Clients and devices

Handle clientCreate(void *a) {
  using Args = Client_Create_Args;
  if (read<size_t>(a, Args::struct_size) < Args::structSize)
    return fail(Invalid, "the arguments are too short");
  std::string fault = faultOfEnvironment();
  int64_t devices = 4;
  Node node;
  const auto *entry = as<const char>(a, Args::create_options);
  for (size_t i = 0; i < read<size_t>(a, Args::num_options); ++i) {
    const std::string name(read<const char *>(entry, NamedValue::name),
                           read<size_t>(entry, NamedValue::name_size));
    if (name == "fault")
      fault.assign(read<const char *>(entry, NamedValue::string_value),
                   read<size_t>(entry, NamedValue::value_size));
    else if (name == "cpu_device_count")
      devices = read<int64_t>(entry, NamedValue::int64_value);
    else if (name == "node_id")
      node.id = read<int64_t>(entry, NamedValue::int64_value);
    else if (name == "num_nodes")
      node.count = read<int64_t>(entry, NamedValue::int64_value);
    else
      return fail(Invalid, "there is no option '" + name + "'");
    entry += NamedValue::stride;
  }
  if (fault == "client")
    return fail(Internal, "nobody is at home");
  const Fault kind(fault);
  std::vector<int64_t> counts{devices};
  if (kind.name == "pod") {
    node = {kind.count, 2};
    counts.push_back(devices);
  } else if (node.count > 1) {
    counts.clear();
    const int64_t silent = kind.name == "silent" ? kind.count : -1;
    if (Handle error = exchangeDevices(a, node, devices, silent, counts))
      return error;
  }
  auto *client = new Client;
  client->fault = kind;
  client->node = node;
  readyFails = fault == "ready";
  for (int64_t process = 0; process < node.count; ++process)
    for (int64_t i = 0; i < counts[size_t(process)]; ++i) {
      const std::string id = std::to_string(i + 16 * process);
      client->devices.push_back(
          {client, int32_t(i + 16 * process), int32_t(process),
           isTPU() ? "TPU_" + id + "(process=" + std::to_string(process) +
                         ",(" + std::to_string(i % 2) + "," +
                         std::to_string(i / 2) + ",0,0))"
                   : "Faulty(id=" + id + ")"});
    }
  // In no particular order, which nobody has promised.
  for (Device &device : client->devices)
    client->allHandles.insert(client->allHandles.begin(), &device);
  for (Device &device : client->devices)
    if (device.process == node.id)
      client->deviceHandles.push_back(&device);
  client->worker = std::thread([client] { client->run(); });
  write(a, Args::client, client);
  return nullptr;
}
Handle clientDestroy(void *a) {
  delete as<Client>(a, Client_Destroy_Args::client);
  return nullptr;
}
Handle platformName(void *a) {
  using Args = Client_PlatformName_Args;
  writeText(a, Args::platform_name, Args::platform_name_size,
            isTPU() ? "tpu" : "cpu");
  return nullptr;
}
Handle platformVersion(void *a) {
  using Args = Client_PlatformVersion_Args;
  writeText(a, Args::platform_version, Args::platform_version_size, "1.0");
  return nullptr;
}
Handle processIndex(void *a) {
  write(a, Client_ProcessIndex_Args::process_index,
        int32_t(as<Client>(a, Client_ProcessIndex_Args::client)->node.id));
  return nullptr;
}
Handle allDevices(void *a) {
  using Args = Client_Devices_Args;
  auto *client = as<Client>(a, Args::client);
  write(a, Args::devices, client->allHandles.data());
  write(a, Args::num_devices, client->allHandles.size());
  return nullptr;
}
Handle addressableDevices(void *a) {
  using Args = Client_AddressableDevices_Args;
  auto *client = as<Client>(a, Args::client);
  write(a, Args::addressable_devices, client->deviceHandles.data());
  write(a, Args::num_addressable_devices, client->deviceHandles.size());
  return nullptr;
}
/// A device is its own description.
Handle getDescription(void *a) {
  using Args = Device_GetDescription_Args;
  write(a, Args::device_description, read<Handle>(a, Args::device));
  return nullptr;
}
Handle localHardwareId(void *a) {
  write(a, Device_LocalHardwareId_Args::local_hardware_id,
        as<Device>(a, Device_LocalHardwareId_Args::device)->id);
  return nullptr;
}
Handle descriptionId(void *a) {
  write(a, DeviceDescription_Id_Args::id,
        as<Device>(a, DeviceDescription_Id_Args::device_description)->id);
  return nullptr;
}
Handle descriptionProcess(void *a) {
  using Args = DeviceDescription_ProcessIndex_Args;
  write(a, Args::process_index,
        as<Device>(a, Args::device_description)->process);
  return nullptr;
}
Handle descriptionKind(void *a) {
  using Args = DeviceDescription_Kind_Args;
  writeText(a, Args::device_kind, Args::device_kind_size,
            isTPU() ? "TPU v5 lite" : "faulty");
  return nullptr;
}
Handle descriptionText(void *a) {
  using Args = DeviceDescription_ToString_Args;
  writeText(a, Args::to_string, Args::to_string_size,
            as<Device>(a, Args::device_description)->text);
  return nullptr;
}
Handle descriptionAttributes(void *a) {
  write(a, DeviceDescription_Attributes_Args::num_attributes, 0);
  return nullptr;
}

// ---- Buffers

Handle bufferFromHost(void *a) {
  using Args = Client_BufferFromHostBuffer_Args;
  auto *client = as<Client>(a, Args::client);
  if (client->lost)
    return lostDevice();
  if (client->fault.name == "memory" &&
      ++client->buffers >= client->fault.count)
    return fail(Exhausted, "out of memory: 0 bytes are left");
  constexpr size_t widths[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16};
  size_t bytes = widths[read<int32_t>(a, Args::type)];
  const auto *dims = as<const int64_t>(a, Args::dims);
  for (size_t i = 0; i < read<size_t>(a, Args::num_dims); ++i)
    bytes *= size_t(dims[i]);
  auto value = std::make_shared<Value>();
  const auto *data = as<const char>(a, Args::data);
  value->bytes.assign(data, data + bytes);
  value->ready->done = true;
  write(a, Args::buffer, new Buffer{{}, client, value});
  write(a, Args::done_with_host_buffer, readyEvent());
  return nullptr;
}
Handle bufferDestroy(void *a) {
  delete as<Buffer>(a, Buffer_Destroy_Args::buffer);
  return nullptr;
}
Handle bufferReady(void *a) {
  auto *buffer = as<Buffer>(a, Buffer_ReadyEvent_Args::buffer);
  if (!buffer->value)
    return fail(Invalid, "the buffer was donated");
  write(a, Buffer_ReadyEvent_Args::event, new Event(buffer->value->ready));
  return nullptr;
}
Handle bufferIsDeleted(void *a) {
  using Args = Buffer_IsDeleted_Args;
  write(a, Args::is_deleted, !as<Buffer>(a, Args::buffer)->value);
  return nullptr;
}
Handle bufferToHost(void *a) {
  using Args = Buffer_ToHostBuffer_Args;
  auto *buffer = as<Buffer>(a, Args::src);
  if (!buffer->value)
    return fail(Invalid, "the buffer was donated");
  if (buffer->client->lost)
    return lostDevice();
  if (buffer->client->fault.name == "read")
    return fail(Internal, "the cable is cut");
  if (read<size_t>(a, Args::dst_size) < buffer->value->bytes.size())
    return fail(Invalid, "the destination is too small");
  auto copied = std::make_shared<Completion>();
  buffer->client->later(
      [value = buffer->value, copied, target = read<char *>(a, Args::dst)] {
        if (value->ready->error.empty())
          std::copy(value->bytes.begin(), value->bytes.end(), target);
        copied->finish(value->ready->error);
      });
  write(a, Args::event, new Event(copied));
  return nullptr;
}

// ---- Programs

Handle clientCompile(void *a) {
  using Args = Client_Compile_Args;
  auto *client = as<Client>(a, Args::client);
  if (client->lost)
    return lostDevice();
  const char *source = as<char>(a, Args::program);
  std::istringstream text(
      std::string(read<const char *>(source, Program::code),
                  read<size_t>(source, Program::code_size)));
  std::string word;
  auto program = std::make_shared<Task>();
  if (isTPU()) {
    // Its programs are looked at, not run.
    word = "identity";
    program->arity = 1;
  } else if (client->fault.name == "compile" ||
             !(text >> word >> program->arity) ||
             (word != "identity" && word != "subtract"))
    return fail(Unknown, "<unknown>:3:7: error: 'stablehlo.frobnicate' is not "
                         "to this plug-in's taste");
  program->outputs = word == "subtract" ? 1 : program->arity;
  size_t donated = 0;
  for (text >> word; text >> donated;)
    program->donated.insert(donated);
  // The options' first field begins with how many replicas there are, and ends
  // with their devices, all small numbers.
  const auto *options = as<const char>(a, Args::compile_options);
  const size_t size = 2 + size_t(options[1]);
  size_t replicas = size_t(options[3]);
  const bool assigned = size > 6;
  if (client->fault.name == "replicas")
    replicas = 1;
  for (size_t i = 0; i < replicas; ++i) {
    const size_t id = assigned ? size_t(options[size - replicas + i]) : i;
    const auto device =
        std::ranges::find_if(client->deviceHandles, [&](Handle handle) {
          return size_t(static_cast<Device *>(handle)->id) == id;
        });
    if (device == client->deviceHandles.end())
      return fail(Invalid, "there are too few devices");
    program->devices.push_back(*device);
  }
  write(a, Args::executable, new Executable{{}, client, program});
  return nullptr;
}
Handle executableDestroy(void *a) {
  delete as<Executable>(a, LoadedExecutable_Destroy_Args::executable);
  return nullptr;
}
Handle getExecutable(void *a) {
  using Args = LoadedExecutable_GetExecutable_Args;
  auto *loaded = as<Executable>(a, Args::loaded_executable);
  write(a, Args::executable,
        new Executable{{}, loaded->client, loaded->program});
  return nullptr;
}
Handle numOutputs(void *a) {
  write(a, Executable_NumOutputs_Args::num_outputs,
        as<Executable>(a, Executable_NumOutputs_Args::executable)
            ->program->outputs);
  return nullptr;
}
Handle executableDevices(void *a) {
  using Args = LoadedExecutable_AddressableDevices_Args;
  auto &devices = as<Executable>(a, Args::executable)->program->devices;
  write(a, Args::addressable_devices, devices.data());
  write(a, Args::num_addressable_devices, devices.size());
  return nullptr;
}

void subtract(std::vector<char> &from, const std::vector<char> &subtrahend) {
  for (size_t i = 0; i + sizeof(float) <= from.size(); i += sizeof(float)) {
    const Field<float> element{i};
    write(from.data(), element,
          read<float>(from.data(), element) -
              read<float>(subtrahend.data(), element));
  }
}

/// One device's part of an execution: outputs are copies of inputs, made a
/// little later, or the inputs' own memory where that is donated.
void startOn(Client *client, const Task &program,
             const std::set<size_t> &preserved, Buffer *const *inputs,
             Handle *outputs, Handle *done, const std::string &error) {
  auto completion = std::make_shared<Completion>();
  std::vector<std::shared_ptr<Value>> from, to;
  for (size_t i = 0; i < program.arity; ++i)
    from.push_back(inputs[i]->value);
  for (size_t i : program.donated)
    if (!preserved.contains(i))
      inputs[i]->value = nullptr;
  for (size_t i = 0; i < program.outputs; ++i) {
    to.push_back(std::make_shared<Value>());
    outputs[i] = new Buffer{{}, client, to.back()};
  }
  if (done)
    *done = new Event(completion);
  client->later([from, to, completion, error] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::string failure = error;
    for (auto &value : from)
      if (failure.empty())
        failure = value->ready->error;
    for (size_t i = 0; i < to.size(); ++i)
      to[i]->bytes = from[i]->bytes;
    if (to.size() < from.size())
      subtract(to[0]->bytes, from[1]->bytes);
    for (const auto &value : to)
      value->ready->finish(failure);
    completion->finish(failure);
  });
}

Handle execute(void *a) {
  using Args = LoadedExecutable_Execute_Args;
  auto *executable = as<Executable>(a, Args::executable);
  Client *client = executable->client;
  const Task &program = *executable->program;
  const auto *options = as<const char>(a, Args::options);
  if (read<size_t>(options, ExecuteOptions::struct_size) <
      ExecuteOptions::structSize)
    return fail(Invalid, "the options are too short");
  const int64_t number = ++client->executions;
  const Fault &fault = client->fault;
  if (client->lost || fault.name == "execute")
    return client->lost ? lostDevice() : fail(Internal, "not today");
  if (fault.name == "lost" && number >= fault.count)
    client->lost = true;
  const bool fails =
      client->lost || (fault.name == "step" && number == fault.count);
  const size_t devices = read<size_t>(a, Args::num_devices);
  if (devices != program.devices.size() ||
      read<size_t>(a, Args::num_args) != program.arity)
    return fail(Invalid, "these are not the program's arguments");
  const auto *lists = as<Buffer *const *const>(a, Args::argument_lists);
  for (size_t device = 0; device < devices; ++device)
    for (size_t i = 0; i < program.arity; ++i)
      if (!lists[device][i]->value)
        return fail(Invalid, "argument " + std::to_string(i) + " was donated");
  const auto *indices =
      as<const int64_t>(options, ExecuteOptions::non_donatable_input_indices);
  const std::set<size_t> preserved(
      indices,
      indices + read<size_t>(options,
                             ExecuteOptions::num_non_donatable_input_indices));
  if (fault.name == "takes" && number == fault.count) {
    for (size_t i : program.donated)
      if (!preserved.contains(i))
        lists[0][i]->value = nullptr;
    return fail(Internal, "the second device did not start");
  }
  auto *const *outputs = as<Handle *const>(a, Args::output_lists);
  auto *events = as<Handle>(a, Args::device_complete_events);
  for (size_t device = 0; device < devices; ++device)
    startOn(client, program, preserved, lists[device], outputs[device],
            events ? &events[device] : nullptr,
            fails ? "device " + std::to_string(device) +
                        " stopped in the "
                        "middle of a step"
                  : "");
  return nullptr;
}
} // namespace

extern "C" int64_t FaultyPluginLiveObjects() {
  return liveObjects;
}

extern "C" const void *GetPjrtApi() {
  static char table[fieldOf(Slot(knownSlots)).offset];
  const std::string fault = faultOfEnvironment();
  if (fault == "no-table")
    return nullptr;
  write(table, Api::struct_size,
        fault == "small-table" ? fieldOf(Slot(80)).offset
        : fault == "odd-table" ? sizeof(table) + 3
                               : sizeof(table));
  write(table, Api::version + Api_Version::struct_size,
        fault == "old-version-struct" ? 8 : Api_Version::structSize);
  write(table, Api::version + Api_Version::major_version,
        fault == "major" ? 1 : 0);
  write(table, Api::version + Api_Version::minor_version,
        fault == "version" ? 57 : 114);
  auto set = [](Slot slot, Function function) {
    write(table, fieldOf(slot), function);
  };
  set(Slot::Error_Destroy, errorDestroy);
  set(Slot::Error_Message, errorMessage);
  set(Slot::Error_GetCode, errorGetCode);
  set(Slot::Plugin_Initialize, pluginInitialize);
  set(Slot::Plugin_Attributes, pluginAttributes);
  set(Slot::Event_Destroy, eventDestroy);
  set(Slot::Event_IsReady, eventIsReady);
  set(Slot::Event_Await, eventAwait);
  set(Slot::Event_OnReady, eventOnReady);
  set(Slot::Client_Create, clientCreate);
  set(Slot::Client_Destroy, clientDestroy);
  set(Slot::Client_PlatformName, platformName);
  set(Slot::Client_PlatformVersion, platformVersion);
  set(Slot::Client_ProcessIndex, processIndex);
  set(Slot::Client_Devices, allDevices);
  set(Slot::Client_AddressableDevices, addressableDevices);
  set(Slot::Client_Compile, clientCompile);
  set(Slot::Client_BufferFromHostBuffer, bufferFromHost);
  set(Slot::DeviceDescription_Id, descriptionId);
  set(Slot::DeviceDescription_ProcessIndex, descriptionProcess);
  set(Slot::DeviceDescription_Attributes, descriptionAttributes);
  set(Slot::DeviceDescription_Kind, descriptionKind);
  set(Slot::DeviceDescription_ToString, descriptionText);
  set(Slot::Device_GetDescription, getDescription);
  set(Slot::Device_LocalHardwareId, localHardwareId);
  set(Slot::Executable_Destroy, executableDestroy);
  set(Slot::Executable_NumOutputs, numOutputs);
  set(Slot::LoadedExecutable_Destroy, executableDestroy);
  set(Slot::LoadedExecutable_GetExecutable, getExecutable);
  set(Slot::LoadedExecutable_AddressableDevices, executableDevices);
  set(Slot::LoadedExecutable_Execute, fault == "null-slot" ? nullptr : execute);
  set(Slot::Buffer_Destroy, bufferDestroy);
  set(Slot::Buffer_IsDeleted, bufferIsDeleted);
  set(Slot::Buffer_ToHostBuffer, bufferToHost);
  set(Slot::Buffer_ReadyEvent, bufferReady);
  return table;
}
