// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors and events of the C API, and what the plug-in says of itself.
#include "FunctionTable.h"
#include "PluginObjects.h"

#include "meshloom/Runtime/Backends/PJRT/Plugin.h"

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Slot;

capi::Handle plugin::handleOf(Error error) {
  return new ErrorObject(std::move(error));
}

Status plugin::destroyError(const Arguments &args) {
  args.owned<ErrorObject>(capi::Error_Destroy_Args::error);
  return Success();
}

Status plugin::errorMessage(const Arguments &args) {
  using Args = capi::Error_Message_Args;
  args.setText(Args::message, Args::message_size,
               args.object<ErrorObject>(Args::error).error.message());
  return Success();
}

Status plugin::errorCode(const Arguments &args) {
  using Args = capi::Error_GetCode_Args;
  args.set(Args::code,
           int32_t(args.object<ErrorObject>(Args::error).error.code()));
  return Success();
}

namespace {
Status initialize(const Arguments &) {
  return Success();
}

/// The version of StableHLO in which callers send programs. One version for all
/// callers: newer ones write it for years to come.
const std::vector<int64_t> stablehloVersion = {1, 17, 0};

Status attributes(const Arguments &args) {
  using Args = capi::Plugin_Attributes_Args;
  static const pjrt::Attributes &list =
      *new pjrt::Attributes{{"stablehlo_current_version", stablehloVersion},
                            {"stablehlo_minimum_version", stablehloVersion},
                            {"xla_version", int64_t(2)}};
  static pjrt::NamedValues &values = *new pjrt::NamedValues(list);
  args.set(Args::attributes, values.data());
  args.set(Args::num_attributes, values.size());
  return Success();
}

Status destroyEvent(const Arguments &args) {
  args.owned<EventObject>(capi::Event_Destroy_Args::event);
  return Success();
}

Status isReady(const Arguments &args) {
  using Args = capi::Event_IsReady_Args;
  args.set(Args::is_ready,
           args.object<EventObject>(Args::event).event.isReady());
  return Success();
}

Status eventError(const Arguments &args) {
  using Args = capi::Event_Error_Args;
  const Event &event = args.object<EventObject>(Args::event).event;
  if (!event.isReady())
    return Error("PJRT_Event_Error needs an event that is complete; "
                 "PJRT_Event_Await waits for one",
                 ErrorCode::FAILED_PRECONDITION);
  return event.wait();
}

Status await(const Arguments &args) {
  return args.object<EventObject>(capi::Event_Await_Args::event).event.wait();
}

Status onReady(const Arguments &args) {
  using Args = capi::Event_OnReady_Args;
  using Callback = void (*)(capi::Handle error, void *user);
  const auto callback = args.get<Callback>(Args::callback);
  auto *user = args.get<void *>(Args::user_arg);
  if (!callback)
    return Error("PJRT_Event_OnReady needs a function to call, got a null "
                 "pointer");
  // The callback may destroy the event.
  const Event event = args.object<EventObject>(Args::event).event;
  event.then([callback, user](const Status &outcome) {
    callback(outcome ? nullptr : handleOf(outcome.error()), user);
  });
  return Success();
}
} // namespace

void plugin::addErrorsAndEvents(FunctionTable &table) {
  table.set<destroyError>(Slot::Error_Destroy);
  table.set<errorMessage>(Slot::Error_Message);
  table.set<errorCode>(Slot::Error_GetCode);
  table.set<initialize>(Slot::Plugin_Initialize);
  table.set<attributes>(Slot::Plugin_Attributes);
  table.set<destroyEvent>(Slot::Event_Destroy);
  table.set<isReady>(Slot::Event_IsReady);
  table.set<eventError>(Slot::Event_Error);
  table.set<await>(Slot::Event_Await);
  table.set<onReady>(Slot::Event_OnReady);
}
