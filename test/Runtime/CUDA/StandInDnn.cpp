// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in cuDNN: a library with the functions of NVIDIA's cuDNN that
// Meshloom calls, which asks the stand-in driver for its work. It knows graphs
// of one convolution, and those of attention.
//
// It refuses descriptors that are not complete or do not fit each other. The
// engines that it proposes first break promises, as their notes say, and write
// poison or rounded numbers; then come one that is not possible and one that
// needs too much memory. It writes poison to its workspace. A handle has memory
// of its own, so that two works of one handle must not run at one time. The
// environment variable MESHLOOM_STANDIN_CUDNN is its version (91900).
#include "../../../lib/Runtime/Backends/CUDA/DnnFacts.h"
#include "StandInDescriptors.h"
#include "StandInDriver.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace meshloom::cuda {
using standin::Descriptor, standin::Engine;

namespace {

constexpr int poison = 0xee;
/// More than anybody should give an engine.
constexpr int64_t hugeWorkspace = int64_t(1) << 40;

size_t widthOf(DnnValue type) {
  switch (type) {
  case DnnValue::Handle:
  case DnnValue::Int64:
  case DnnValue::Double:
  case DnnValue::Pointer:
  case DnnValue::Descriptor:
    return 8;
  case DnnValue::Boolean:
    return 1;
  default:
    return 4;
  }
}

bool finishHeuristics(Descriptor &descriptor) {
  const Descriptor *graph = descriptor.descriptor(DnnAttribute::HeuristicsGraph,
                                                  DnnObject::OperationGraph);
  if (!graph || !descriptor.value<DnnHeuristics>(DnnAttribute::HeuristicsMode,
                                                 DnnValue::HeuristicsMode))
    return false;
  descriptor.work = graph->work;
  return true;
}

/// Returns what the heuristics propose, the best first. There are good engines
/// for f64 in the mode Fallback alone.
std::vector<Engine> proposals(const Descriptor &heuristics) {
  const auto mode = heuristics.value<DnnHeuristics>(
      DnnAttribute::HeuristicsMode, DnnValue::HeuristicsMode);
  if (mode == DnnHeuristics::Fallback)
    return {Engine::Fallback};
  std::vector<Engine> engines{Engine::Nondeterministic, Engine::Winograd,
                              Engine::Impossible, Engine::Huge};
  if (heuristics.work->tensors()[0].type != DType::F64) {
    engines.insert(engines.begin(), Engine::TensorCore);
    engines.push_back(Engine::Good);
  }
  return engines;
}

std::vector<DnnNote> notesOf(Engine engine) {
  switch (engine) {
  case Engine::TensorCore:
    return {DnnNote::TensorCore};
  case Engine::Nondeterministic:
    return {DnnNote::Nondeterministic};
  case Engine::Winograd:
    return {DnnNote::Winograd};
  default:
    return {};
  }
}

DnnResult finishPlan(Descriptor &descriptor) {
  const Descriptor *configuration = descriptor.descriptor(
      DnnAttribute::PlanConfiguration, DnnObject::EngineConfiguration);
  const auto handle =
      descriptor.value<DnnHandle>(DnnAttribute::PlanHandle, DnnValue::Handle);
  if (!configuration || !handle || !*handle)
    return DnnResult::BadParam;
  descriptor.engine = configuration->engine;
  descriptor.work = configuration->work;
  if (descriptor.engine == Engine::Impossible || !descriptor.work->isPossible())
    return DnnResult::NotSupported;
  descriptor.workspaceBytes =
      descriptor.engine == Engine::Huge ? hugeWorkspace
      : descriptor.engine == Engine::Good
          ? int64_t(descriptor.work->tensors()[0].bytes())
          : 0;
  return DnnResult::Success;
}

} // namespace

/// Its memory has the number of the work that runs.
struct DnnHandleObject {
  StreamHandle stream = nullptr;
  std::shared_ptr<int64_t> running = std::make_shared<int64_t>(0);
};

namespace {
struct Execution {
  std::shared_ptr<const StandInOperations> work;
  Engine engine;
  std::vector<char *> arrays; ///< of each tensor
  /// The numbers that the host has, as they were.
  std::shared_ptr<std::vector<float>> scalars;
  char *workspace;
  int64_t workspaceBytes;

  std::string run(const DeviceBytes &isMemory) const {
    const std::vector<ConvolutionTensor> tensors = work->tensors();
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!work->isByValue(i) && !isMemory(arrays[i], tensors[i].bytes()))
        return "a work of cuDNN is on no memory of the GPU";
    if (workspaceBytes > 0 && !isMemory(workspace, size_t(workspaceBytes)))
      return "a workspace of cuDNN is no memory of the GPU";
    if (workspaceBytes > 0)
      std::memset(workspace, poison, size_t(workspaceBytes));
    const bool isF32 = tensors[0].type == DType::F32;
    work->run(arrays, isF32 && engine == Engine::TensorCore);
    if (engine == Engine::Nondeterministic || engine == Engine::Winograd)
      for (size_t i = tensors.size() - work->numResults(); i < tensors.size();
           ++i)
        std::memset(arrays[i], poison, tensors[i].bytes());
    return "";
  }
};

/// Reads a pack. Nothing: it does not fit the plan.
std::optional<Execution> executionOf(const Descriptor &plan,
                                     const Descriptor &pack) {
  const auto ids = pack.list<int64_t>(DnnAttribute::PackIds, DnnValue::Int64);
  const auto pointers =
      pack.list<char *>(DnnAttribute::PackPointers, DnnValue::Pointer);
  const auto workspace =
      pack.value<char *>(DnnAttribute::PackWorkspace, DnnValue::Pointer);
  if (!ids || !pointers || !workspace || ids->size() != pointers->size() ||
      (plan.workspaceBytes > 0 && !*workspace))
    return std::nullopt;
  const std::vector<ConvolutionTensor> tensors = plan.work->tensors();
  Execution execution{plan.work, plan.engine, {},
                      {},        *workspace,  plan.workspaceBytes};
  execution.scalars = std::make_shared<std::vector<float>>(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto found = std::ranges::find(*ids, tensors[i].id);
    if (found == ids->end())
      return std::nullopt;
    char *array = (*pointers)[size_t(found - ids->begin())];
    if (reinterpret_cast<uintptr_t>(array) %
            uintptr_t(plan.work->isByValue(i) ? sizeof(float)
                                              : tensors[i].alignment) !=
        0)
      return std::nullopt;
    if (plan.work->isByValue(i)) {
      float &scalar = (*execution.scalars)[i];
      std::memcpy(&scalar, array, sizeof(scalar));
      array = reinterpret_cast<char *>(&scalar);
    }
    execution.arrays.push_back(array);
  }
  return execution;
}
} // namespace

extern "C" {

const char *cudnnGetErrorString(DnnResult result) {
  switch (result) {
  case DnnResult::Success:
    return "CUDNN_STATUS_SUCCESS";
  case DnnResult::BadParam:
    return "CUDNN_STATUS_BAD_PARAM";
  case DnnResult::NotSupported:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  default:
    return "CUDNN_STATUS_EXECUTION_FAILED";
  }
}

size_t cudnnGetVersion() {
  const char *version = getenv("MESHLOOM_STANDIN_CUDNN");
  return version ? strtoul(version, nullptr, 10) : 91900;
}

DnnResult cudnnCreate(DnnHandle *handle) {
  *handle = new DnnHandleObject;
  return DnnResult::Success;
}

DnnResult cudnnDestroy(DnnHandle handle) {
  delete handle;
  return DnnResult::Success;
}

DnnResult cudnnSetStream(DnnHandle handle, StreamHandle stream) {
  handle->stream = stream;
  return DnnResult::Success;
}

DnnResult cudnnBackendCreateDescriptor(DnnObject kind,
                                       DnnDescriptorHandle *descriptor) {
  *descriptor = new Descriptor(kind);
  return DnnResult::Success;
}

DnnResult cudnnBackendDestroyDescriptor(DnnDescriptorHandle descriptor) {
  delete static_cast<Descriptor *>(descriptor);
  return DnnResult::Success;
}

DnnResult cudnnBackendSetAttribute(DnnDescriptorHandle handle,
                                   DnnAttribute attribute, DnnValue type,
                                   int64_t count, const void *values) {
  auto &descriptor = *static_cast<Descriptor *>(handle);
  if (descriptor.isFinished || count < 0 || !values)
    return DnnResult::BadParam;
  const auto *bytes = static_cast<const char *>(values);
  descriptor.values[attribute] = {
      type, count, {bytes, bytes + size_t(count) * widthOf(type)}};
  return DnnResult::Success;
}

DnnResult cudnnBackendFinalize(DnnDescriptorHandle handle) {
  auto &descriptor = *static_cast<Descriptor *>(handle);
  auto finish = [&] {
    switch (descriptor.kind) {
    case DnnObject::Heuristics:
      return finishHeuristics(descriptor);
    case DnnObject::VariantPack:
      return true;
    default:
      return finishGraph(descriptor);
    }
  };
  const DnnResult result = descriptor.isFinished ? DnnResult::BadParam
                           : descriptor.kind == DnnObject::Plan
                               ? finishPlan(descriptor)
                           : finish() ? DnnResult::Success
                                      : DnnResult::BadParam;
  descriptor.isFinished = result == DnnResult::Success;
  return result;
}

DnnResult cudnnBackendGetAttribute(DnnDescriptorHandle handle,
                                   DnnAttribute attribute, DnnValue type,
                                   int64_t requested, int64_t *count,
                                   void *values) {
  const auto &descriptor = *static_cast<Descriptor *>(handle);
  if (!descriptor.isFinished)
    return DnnResult::BadParam;
  auto *results = static_cast<DnnDescriptorHandle *>(values);
  auto give = [](DnnDescriptorHandle target, DnnObject kind, Engine engine,
                 const std::shared_ptr<const StandInOperations> &work) {
    auto &result = *static_cast<Descriptor *>(target);
    const bool isPossible = result.kind == kind && !result.isFinished;
    result.isFinished = true;
    result.engine = engine;
    result.work = work;
    return isPossible;
  };
  if (attribute == DnnAttribute::HeuristicsResults &&
      type == DnnValue::Descriptor) {
    const std::vector<Engine> engines = proposals(descriptor);
    *count = std::ssize(engines);
    for (int64_t i = 0; i < std::min(requested, *count); ++i)
      if (!give(results[i], DnnObject::EngineConfiguration, engines[size_t(i)],
                descriptor.work))
        return DnnResult::BadParam;
    return DnnResult::Success;
  }
  if (attribute == DnnAttribute::ConfigurationEngine &&
      type == DnnValue::Descriptor && requested == 1) {
    *count = 1;
    return give(results[0], DnnObject::Engine, descriptor.engine,
                descriptor.work)
               ? DnnResult::Success
               : DnnResult::BadParam;
  }
  if (attribute == DnnAttribute::EngineNumericalNotes &&
      type == DnnValue::NumericalNote) {
    const std::vector<DnnNote> notes = notesOf(descriptor.engine);
    *count = std::ssize(notes);
    std::copy_n(notes.begin(), std::min(requested, *count),
                static_cast<DnnNote *>(values));
    return DnnResult::Success;
  }
  if (attribute == DnnAttribute::PlanWorkspaceBytes &&
      type == DnnValue::Int64 && requested == 1) {
    *count = 1;
    *static_cast<int64_t *>(values) = descriptor.workspaceBytes;
    return DnnResult::Success;
  }
  return DnnResult::BadParam;
}

DnnResult cudnnBackendExecute(DnnHandle handle, DnnDescriptorHandle plan,
                              DnnDescriptorHandle pack) {
  static std::atomic<int64_t> executions = 0;
  const auto *planned = static_cast<const Descriptor *>(plan),
             *packed = static_cast<const Descriptor *>(pack);
  if (planned->kind != DnnObject::Plan || !planned->isFinished ||
      packed->kind != DnnObject::VariantPack || !packed->isFinished)
    return DnnResult::BadParam;
  const auto execution = executionOf(*planned, *packed);
  if (!execution)
    return DnnResult::BadParam;
  const int64_t number = ++executions;
  const DriverResult begun =
      standInEnqueue(handle->stream, "cudnnBackendExecute", {},
                     [running = handle->running, number](const DeviceBytes &) {
                       *running = number;
                       return std::string();
                     });
  const DriverResult ended = standInEnqueue(
      handle->stream, "cudnnBackendExecute's second kernel", {},
      [running = handle->running, number,
       execution = *execution](const DeviceBytes &isMemory) {
        if (*running != number)
          return std::string(
              "two works of one handle of cuDNN run at one time");
        return execution.run(isMemory);
      });
  return begun == DriverResult::Success && ended == DriverResult::Success
             ? DnnResult::Success
             : DnnResult::ExecutionFailed;
}

} // extern "C"
} // namespace meshloom::cuda
