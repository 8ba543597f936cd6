// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extensions of the C API that JAX asks for: layouts in memory, shardings
// of arguments and results, user data of executions, and the profiler.
#include "ExecutableObjects.h"
#include "Execution.h"
#include "FunctionTable.h"

#include <array>
#include <atomic>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::ExtensionKind;

namespace {
// Layouts

Status destroyLayout(const Arguments &args) {
  args.owned<MemoryLayoutObject>(
      capi::Layouts_MemoryLayout_Destroy_Args::layout);
  return Success();
}

Status serializeLayout(const Arguments &args) {
  using Args = capi::Layouts_MemoryLayout_Serialize_Args;
  giveText(args, Args::serialized_layout, Args::serialized_layout_deleter,
           Args::serialized_bytes, Args::serialized_bytes_size,
           args.object<MemoryLayoutObject>(Args::layout).text);
  return Success();
}

void giveRowMajor(const Arguments &args, Arguments::Pointer field,
                  size_t rank) {
  args.give(field, std::make_unique<MemoryLayoutObject>(
                       DimOrder::rowMajor(rank).text()));
}

Status clientLayout(const Arguments &args) {
  using Args = capi::Layouts_PJRT_Client_GetDefaultLayout_Args;
  giveRowMajor(args, Args::layout,
               args.list<int64_t>(Args::dims, Args::num_dims).size());
  return Success();
}

Status topologyLayout(const Arguments &args) {
  using Args = capi::Layouts_PJRT_Topology_GetDefaultLayout_Args;
  giveRowMajor(args, Args::layout,
               args.list<int64_t>(Args::dims, Args::num_dims).size());
  return Success();
}

Status bufferLayout(const Arguments &args) {
  using Args = capi::Layouts_PJRT_Buffer_MemoryLayout_Args;
  args.give(Args::layout,
            std::make_unique<MemoryLayoutObject>(
                args.object<BufferObject>(Args::buffer).order().text()));
  return Success();
}

Status setLayouts(const Arguments &args, ExecutableObject::LayoutList &list) {
  using Args = capi::Layouts_PJRT_Executable_GetOutputLayouts_Args;
  args.set(Args::num_outputs, list.handles.size());
  args.set(Args::layouts, list.handles.data());
  return Success();
}

Status outputLayouts(const Arguments &args) {
  using Args = capi::Layouts_PJRT_Executable_GetOutputLayouts_Args;
  return setLayouts(
      args, args.object<ExecutableObject>(Args::executable).resultLayouts);
}

Status parameterLayouts(const Arguments &args) {
  using Args = capi::Layouts_PJRT_Executable_GetOutputLayouts_Args;
  return setLayouts(
      args, args.object<ExecutableObject>(Args::executable).argumentLayouts);
}

// Shardings

Status setShardings(const Arguments &args,
                    const ExecutableObject::TextList &list) {
  using Args = capi::Shardings_Executable_Shardings_Args;
  args.set(Args::num_shardings, list.data.size());
  // A program without results must give no list.
  args.set(Args::shardings, list.data.empty() ? nullptr : list.data.data());
  args.set(Args::sharding_sizes, list.sizes.data());
  return Success();
}

Status parameterShardings(const Arguments &args) {
  using Args = capi::Shardings_Executable_Shardings_Args;
  return setShardings(
      args, args.object<ExecutableObject>(Args::executable).argumentShardings);
}

Status outputShardings(const Arguments &args) {
  using Args = capi::Shardings_Executable_Shardings_Args;
  return setShardings(
      args, args.object<ExecutableObject>(Args::executable).resultShardings);
}

// User data

Status registerType(const Arguments &args) {
  using Args = capi::FFI_Type_Register_Args;
  /// Numbers that the plug-in gives are far from those that XLA's own types
  /// have.
  static std::atomic<int64_t> next{1 << 20};
  if (args.get<int64_t>(Args::type_id) == 0)
    args.set(Args::type_id, next++);
  return Success();
}

Status addUserData(const Arguments &args) {
  using Args = capi::FFI_UserData_Add_Args;
  using Data = capi::FFI_UserData;
  auto &context = args.object<ExecuteContextObject>(Args::context);
  std::lock_guard lock(context.mutex);
  context.data[args.get<int64_t>(Args::user_data + Data::type_id)] =
      args.get<void *>(Args::user_data + Data::data);
  return Success();
}

Status registerHandler(const Arguments &args) {
  using Args = capi::FFI_Register_Handler_Args;
  return Error(
      fmt::format("the handler of custom calls to '{}' is not used: "
                  "Meshloom calls those that are registered for the platform "
                  "'cpu'",
                  args.text(Args::target_name, Args::target_name_size)),
      ErrorCode::UNIMPLEMENTED);
}

/// A structure of an extension: its head, and functions that follow.
template <size_t size> class Extension {
public:
  Extension(ExtensionKind kind, const void *next) {
    using Head = capi::Extension_Base;
    capi::write(bytes.data(), Head::struct_size, size);
    capi::write(bytes.data(), Head::type, kind);
    capi::write(bytes.data(), Head::next, next);
  }
  template <Entry entry> void set(capi::Field<capi::Pointer> field) {
    capi::write(bytes.data(), field, capi::Function(&entryPoint<entry>));
  }
  void set(capi::Field<capi::Pointer> field, const void *pointer) {
    capi::write(bytes.data(), field, pointer);
  }
  const void *data() const { return bytes.data(); }

private:
  alignas(sizeof(void *)) std::array<char, size> bytes{};
};
} // namespace

const void *plugin::extensions() {
  using Layouts = capi::Layouts_Extension;
  using Shardings = capi::Shardings_Extension;
  using FFI = capi::FFI_Extension;
  using Profiling = capi::Profiler_Extension;
  // They are not destroyed at exit: callers still use them there.
  auto &profiling =
      *new Extension<Profiling::structSize>(ExtensionKind::Profiler, nullptr);
  profiling.set(Profiling::profiler_api, profilerFunctions());
  auto &ffi =
      *new Extension<FFI::structSize>(ExtensionKind::FFI, profiling.data());
  ffi.set<registerType>(FFI::type_register);
  ffi.set<addUserData>(FFI::user_data_add);
  ffi.set<registerHandler>(FFI::register_handler);
  auto &shardings = *new Extension<Shardings::structSize>(
      ExtensionKind::Shardings, ffi.data());
  shardings.set<parameterShardings>(Shardings::executable_parameter_shardings);
  shardings.set<outputShardings>(Shardings::executable_output_shardings);
  auto &layouts = *new Extension<Layouts::structSize>(ExtensionKind::Layouts,
                                                      shardings.data());
  layouts.set<destroyLayout>(Layouts::memory_layout_destroy);
  layouts.set<serializeLayout>(Layouts::memory_layout_serialize);
  layouts.set<clientLayout>(Layouts::client_default_layout);
  layouts.set<bufferLayout>(Layouts::buffer_memory_layout);
  layouts.set<topologyLayout>(Layouts::topology_default_layout);
  layouts.set<outputLayouts>(Layouts::executable_output_layouts);
  layouts.set<parameterLayouts>(Layouts::executable_parameter_layouts);
  return layouts.data();
}
