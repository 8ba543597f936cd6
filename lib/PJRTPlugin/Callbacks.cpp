// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Callbacks.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"
#include "meshloom/Runtime/StridedRuns.h"

#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace meshloom;
using namespace meshloom::plugin;

namespace {
/// Callbacks that a program may have: numbers of sets follow after them.
constexpr int64_t functionsOfSet = 1 << 16;

std::atomic<CallbackCaller> pythonCaller{nullptr};

/// Sets that live, by number, with the functions that they have now. Custom
/// functions stay registered, so numbers are used again.
struct Sets {
  std::mutex mutex;
  std::map<int64_t, std::vector<void *>> functions;
  std::map<int64_t, ProgramProcesses> processes; ///< of sets that have several
  /// By set and callback.
  std::map<std::pair<int64_t, int64_t>, CallbackForm> forms;
  std::set<int64_t> free;
  int64_t next = 0;
};
Sets &sets() {
  static Sets &living = *new Sets;
  return living;
}

/// The values of one call in the form of the Python package.
struct CallValues {
  std::vector<CallbackValue> values;
  std::vector<Shape> strides;

  CallValues(std::span<const CustomOperand> operands,
             std::span<const int32_t> types,
             std::span<const int64_t> aliases = {}) {
    strides.reserve(operands.size());
    for (const CustomOperand &operand : operands) {
      Shape &bytes = strides.emplace_back(operand.strides);
      for (int64_t &stride : bytes)
        stride *= byteWidth(operand.type);
      const size_t i = values.size();
      values.push_back(
          {operand.data,
           i < types.size() ? types[i] : pjrt::elementTypeCode(operand.type),
           int64_t(operand.shape.size()), operand.shape.data(), bytes.data(),
           i < aliases.size() ? aliases[i] : -1});
    }
  }
};

/// Calls `body(element, begin, bytes)` for the runs of the results, which a
/// message has one after the other from byte `begin` on. Returns its size.
template <typename Body>
size_t forEachPart(const CustomCall &call, const Body &body) {
  size_t size = 0;
  for (const CustomOperand &result : call.results) {
    const auto width = byteWidth(result.type);
    forEachRun(result.shape, result.strides, result.strides,
               [&](int64_t element, int64_t, int64_t count) {
                 const size_t bytes = size_t(count) * width;
                 body(static_cast<char *>(result.data) + element * width, size,
                      bytes);
                 size += bytes;
               });
  }
  return size;
}

/// The messages of a function's results.
class ResultMessages {
public:
  ResultMessages(const ProgramProcesses &processes, int64_t function)
      : transport(processes.communicator->transport()),
        tag(processes.tag(ProgramProcesses::Message::Results,
                          size_t(function))) {}

  /// Does not wait for the others.
  void send(const CustomCall &call) const {
    auto message = std::make_shared<std::vector<char>>(sizeOf(call));
    forEachPart(call, [&](const char *part, size_t begin, size_t bytes) {
      std::memcpy(message->data() + begin, part, bytes);
    });
    for (int rank = 0; rank < transport.size(); ++rank)
      if (rank != transport.rank())
        transport.send(rank, tag, *message).then([message](const Status &) {});
  }

  /// A function may take as long as it likes.
  Status receive(const CustomCall &call, int from) const {
    std::vector<char> message(sizeOf(call));
    const Event arrival = transport.receive(from, tag, std::span(message),
                                            std::chrono::milliseconds(0));
    if (Status arrived = transport.wait(arrival); !arrived)
      return arrived;
    forEachPart(call, [&](char *part, size_t begin, size_t bytes) {
      std::memcpy(part, message.data() + begin, bytes);
    });
    return Success();
  }

private:
  static size_t sizeOf(const CustomCall &call) {
    return forEachPart(call, [](const char *, size_t, size_t) {});
  }

  Transport &transport;
  const uint64_t tag;
};

Status callFunction(void *function, int64_t number, const CallbackForm &form,
                    const CustomCall &call) {
  const CallbackCaller caller = pythonCaller;
  if (!caller || !function)
    return Error(fmt::format("the program's callback {} is a function of "
                             "Python, which this execution did not bring: "
                             "programs with callbacks run from JAX, with the "
                             "package jax_plugins.meshloom",
                             number),
                 ErrorCode::FAILED_PRECONDITION);
  const CallValues operands(call.inputs, form.operands),
      results(call.results, form.results, form.aliases);
  if (const char *failure =
          caller(function, form.kind, int64_t(operands.values.size()),
                 operands.values.data(), int64_t(results.values.size()),
                 results.values.data()))
    return Error(failure, ErrorCode::INTERNAL);
  return Success();
}

Status callPython(int64_t set, int64_t number, const CustomCall &call) {
  void *function = nullptr;
  CallbackForm form;
  std::optional<ProgramProcesses> processes;
  {
    std::lock_guard lock(sets().mutex);
    const std::vector<void *> &functions = sets().functions[set];
    if (number < int64_t(functions.size()))
      function = functions[size_t(number)];
    form = sets().forms[{set, number}];
    const auto found = sets().processes.find(set);
    if (form.partition && !call.results.empty() &&
        found != sets().processes.end())
      processes = found->second;
  }
  if (!processes)
    return callFunction(function, number, form, call);
  const ResultMessages messages(*processes, number);
  const auto caller = int(processes->rankOf[size_t(*form.partition)]);
  if (processes->communicator->rank() != caller)
    return messages.receive(call, caller);
  // A failure ends the run in all processes.
  Status done = callFunction(function, number, form, call);
  if (done)
    messages.send(call);
  return done;
}
} // namespace

void plugin::setCallbackCaller(CallbackCaller caller) {
  pythonCaller = caller;
}

Result<std::shared_ptr<CallbackSet>> CallbackSet::create() {
  std::lock_guard lock(sets().mutex);
  int64_t number = sets().next;
  if (sets().free.empty())
    ++sets().next;
  else
    number = sets().free.extract(sets().free.begin()).value();
  return std::shared_ptr<CallbackSet>(new CallbackSet(number));
}

CallbackSet::~CallbackSet() {
  std::lock_guard lock(sets().mutex);
  sets().functions.erase(number);
  sets().processes.erase(number);
  std::erase_if(sets().forms,
                [&](const auto &entry) { return entry.first.first == number; });
  sets().free.insert(number);
}

Result<int64_t> CallbackSet::index(const std::string &target, int64_t function,
                                   CallbackForm form) {
  if (function < 0 || function >= functionsOfSet)
    return Error(fmt::format("custom call '{}' is callback {}; a program may "
                             "have {}",
                             target, function, functionsOfSet));
  const int64_t index = number * functionsOfSet + function;
  {
    std::lock_guard lock(sets().mutex);
    sets().forms[{number, function}] = std::move(form);
  }
  const std::string name = fmt::format("{}:{}", target, index);
  if (find_custom_call(name))
    return index;
  CustomTarget custom;
  custom.run = [set = number, function](const CustomCall &call) {
    return callPython(set, function, call);
  };
  if (Status registered = register_custom_call(name, std::move(custom));
      !registered)
    return registered.error();
  return index;
}

void CallbackSet::setProcesses(const ProgramProcesses &processes) {
  std::lock_guard lock(sets().mutex);
  sets().processes[number] = processes;
}

void CallbackSet::setFunctions(std::vector<void *> functions) {
  std::lock_guard lock(sets().mutex);
  sets().functions[number] = std::move(functions);
}
