// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in cuDNN: a library with the functions of NVIDIA's cuDNN that
// Meshloom calls, which asks the stand-in driver for its work. It knows graphs
// of one convolution, and those of attention.
//
// It refuses descriptors that are not complete or do not fit each other. The
// engines that it proposes first break promises, as their notes say, and write
// poison or rounded numbers; then come one that is not possible and one that
// needs too much memory. It writes poison to its workspace. A handle has memory
// of its own, so that two works of one handle must not run at one time.
#include "../../../lib/Runtime/Backends/CUDA/DnnFacts.h"
#include "StandInDriver.h"
#include "StandInOperations.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace meshloom::cuda {
namespace {

constexpr int poison = 0xee;
/// More than anybody should give an engine.
constexpr int64_t hugeWorkspace = int64_t(1) << 40;

enum class Engine : uint8_t {
  TensorCore,
  Nondeterministic,
  Winograd,
  Impossible,
  Huge,
  Good,
  Fallback
};

/// An attribute's values.
struct Values {
  DnnValue type;
  int64_t count;
  std::vector<char> bytes;
};

struct Descriptor {
  explicit Descriptor(DnnObject kind) : kind(kind) {}

  const DnnObject kind;
  bool isFinished = false;
  std::map<DnnAttribute, Values> values;
  // A finished descriptor has:
  StandInOperation::Tensor tensor;
  ConvolutionWindows windows;
  StandInOperation operation;
  std::shared_ptr<const StandInOperations> work; ///< that it is about
  Engine engine{};
  int64_t workspaceBytes = 0;

  template <typename T>
  std::optional<std::vector<T>> list(DnnAttribute attribute,
                                     DnnValue type) const {
    const auto found = values.find(attribute);
    if (found == values.end() || found->second.type != type)
      return std::nullopt;
    std::vector<T> result(size_t(found->second.count));
    std::memcpy(static_cast<void *>(result.data()), found->second.bytes.data(),
                found->second.bytes.size());
    return result;
  }
  template <typename T>
  std::optional<T> value(DnnAttribute attribute, DnnValue type) const {
    const auto values = list<T>(attribute, type);
    return values && values->size() == 1 ? std::optional(values->front())
                                         : std::nullopt;
  }
  /// Returns a finished descriptor of this kind.
  const Descriptor *descriptor(DnnAttribute attribute, DnnObject kind) const {
    const auto found =
        value<DnnDescriptorHandle>(attribute, DnnValue::Descriptor);
    if (!found || !*found)
      return nullptr;
    const auto *result = static_cast<const Descriptor *>(*found);
    return result->kind == kind && result->isFinished ? result : nullptr;
  }
};

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

DType numbersOf(DnnType type) {
  switch (type) {
  case DnnType::F64:
    return DType::F64;
  case DnnType::F16:
    return DType::F16;
  case DnnType::BF16:
    return DType::BF16;
  case DnnType::Boolean:
    return DType::I1;
  default:
    return DType::F32;
  }
}

bool arePositive(std::span<const int64_t> values) {
  return std::ranges::all_of(values, [](int64_t value) { return value > 0; });
}

bool finishTensor(Descriptor &descriptor) {
  using Attribute = DnnAttribute;
  const auto type =
      descriptor.value<DnnType>(Attribute::TensorType, DnnValue::DataType);
  const auto extents = descriptor.list<int64_t>(Attribute::TensorExtents,
                                                DnnValue::Int64),
             strides = descriptor.list<int64_t>(Attribute::TensorStrides,
                                                DnnValue::Int64);
  const auto id = descriptor.value<int64_t>(Attribute::TensorId,
                                            DnnValue::Int64),
             alignment = descriptor.value<int64_t>(Attribute::TensorAlignment,
                                                   DnnValue::Int64);
  if (!type || !extents || !strides || !id || !alignment ||
      extents->size() != strides->size() || !arePositive(*extents) ||
      !arePositive(*strides))
    return false;
  auto flag = [&](Attribute attribute) {
    return descriptor.value<char>(attribute, DnnValue::Boolean).value_or(0) !=
           0;
  };
  descriptor.tensor = {{numbersOf(*type), *extents, *strides, *id, *alignment},
                       *type,
                       flag(Attribute::TensorIsVirtual),
                       flag(Attribute::TensorIsByValue)};
  return *alignment > 0 &&
         (*type == DnnType::Boolean ||
          *alignment % numberWidth(descriptor.tensor.type) == 0);
}

bool finishWindows(Descriptor &descriptor) {
  using Attribute = DnnAttribute;
  const auto rank =
      descriptor.value<int64_t>(Attribute::ConvolutionRank, DnnValue::Int64);
  const auto compute = descriptor.value<DnnType>(Attribute::ConvolutionCompute,
                                                 DnnValue::DataType);
  const auto mode = descriptor.value<DnnMode>(Attribute::ConvolutionMode,
                                              DnnValue::ConvolutionMode);
  auto list = [&](Attribute attribute) {
    return descriptor.list<int64_t>(attribute, DnnValue::Int64)
        .value_or(std::vector<int64_t>());
  };
  if (!rank || !compute || !mode)
    return false;
  ConvolutionWindows &windows = descriptor.windows;
  windows = {numbersOf(*compute),
             *mode == DnnMode::Convolution,
             list(Attribute::ConvolutionStrides),
             list(Attribute::ConvolutionDilations),
             list(Attribute::ConvolutionPadBefore),
             list(Attribute::ConvolutionPadAfter)};
  auto areNotNegative = [](std::span<const int64_t> values) {
    return std::ranges::all_of(values,
                               [](int64_t value) { return value >= 0; });
  };
  const auto lists = {&windows.strides, &windows.dilations, &windows.before,
                      &windows.after};
  return std::ranges::all_of(lists,
                             [&](const std::vector<int64_t> *values) {
                               return std::ssize(*values) == *rank;
                             }) &&
         arePositive(windows.strides) && arePositive(windows.dilations) &&
         areNotNegative(windows.before) && areNotNegative(windows.after);
}

/// Returns whether the tensors have the extents that the windows give them.
bool fits(const ConvolutionOperation &operation) {
  const ConvolutionWindows &windows = operation.windows;
  const auto &[image, filter, response] = operation.tensors;
  const size_t rank = windows.strides.size() + 2;
  for (const ConvolutionTensor &tensor : operation.tensors)
    if (tensor.extents.size() != rank || tensor.type != image.type)
      return false;
  const int64_t channels = filter.extents[1];
  if (image.extents[0] != response.extents[0] ||
      filter.extents[0] != response.extents[1] ||
      image.extents[1] % channels != 0 ||
      filter.extents[0] % (image.extents[1] / channels) != 0)
    return false;
  for (size_t d = 0; d + 2 < rank; ++d) {
    const int64_t room = image.extents[d + 2] + windows.before[d] +
                         windows.after[d] -
                         (filter.extents[d + 2] - 1) * windows.dilations[d] - 1;
    if (room < 0 || response.extents[d + 2] != room / windows.strides[d] + 1)
      return false;
  }
  return windows.compute ==
         (image.type == DType::F64 ? DType::F64 : DType::F32);
}

/// The attributes of a form of the operation.
struct FormNames {
  ConvolutionRole result;
  DnnAttribute alpha, beta, windows;
  std::array<DnnAttribute, 3> tensors;
};

FormNames namesOf(DnnObject kind) {
  using A = DnnAttribute;
  switch (kind) {
  case DnnObject::Forward:
    return {Response,
            A::ForwardAlpha,
            A::ForwardBeta,
            A::ForwardConvolution,
            {A::ForwardImage, A::ForwardFilter, A::ForwardResponse}};
  case DnnObject::DataGradient:
    return {
        Image,
        A::DataGradientAlpha,
        A::DataGradientBeta,
        A::DataGradientConvolution,
        {A::DataGradientImage, A::DataGradientFilter, A::DataGradientResponse}};
  default:
    return {Filter,
            A::FilterGradientAlpha,
            A::FilterGradientBeta,
            A::FilterGradientConvolution,
            {A::FilterGradientImage, A::FilterGradientFilter,
             A::FilterGradientResponse}};
  }
}

/// The work of one convolution.
class Convolution : public StandInOperations {
public:
  explicit Convolution(ConvolutionOperation operation)
      : operation(std::move(operation)) {
    for (size_t role = 0; role < 3; ++role)
      if (role != operation.result)
        order.push_back(role);
    order.push_back(operation.result);
  }
  std::vector<ConvolutionTensor> tensors() const override {
    std::vector<ConvolutionTensor> tensors;
    for (size_t role : order)
      tensors.push_back(operation.tensors[role]);
    return tensors;
  }
  void run(std::span<char *const> arrays, bool isRounded) const override {
    std::array<char *, 3> byRole{};
    for (size_t i = 0; i < order.size(); ++i)
      byRole[order[i]] = arrays[i];
    convolve(operation, byRole, isRounded);
  }

private:
  const ConvolutionOperation operation;
  std::vector<size_t> order; ///< roles, of which the last is the result
};

bool finishConvolution(Descriptor &descriptor) {
  const FormNames names = namesOf(descriptor.kind);
  ConvolutionOperation operation;
  operation.result = names.result;
  const Descriptor *windows =
      descriptor.descriptor(names.windows, DnnObject::Convolution);
  if (!windows)
    return false;
  operation.windows = windows->windows;
  for (size_t role = 0; role < 3; ++role) {
    const Descriptor *tensor =
        descriptor.descriptor(names.tensors[role], DnnObject::Tensor);
    if (!tensor)
      return false;
    operation.tensors[role] = tensor->tensor;
  }
  auto scale = [&](DnnAttribute attribute) -> std::optional<double> {
    if (operation.windows.compute == DType::F64)
      return descriptor.value<double>(attribute, DnnValue::Double);
    return descriptor.value<float>(attribute, DnnValue::Float);
  };
  // We have no use for other scales.
  if (scale(names.alpha) != 1 || scale(names.beta) != 0 || !fits(operation))
    return false;
  descriptor.work = std::make_shared<Convolution>(std::move(operation));
  return true;
}

/// Reads the tensors of an operation on two operands or elements.
bool finishOperation(Descriptor &descriptor,
                     std::initializer_list<DnnAttribute> operands,
                     DnnAttribute result) {
  StandInOperation &operation = descriptor.operation;
  operation.kind = descriptor.kind;
  for (DnnAttribute attribute : operands)
    if (const Descriptor *tensor =
            descriptor.descriptor(attribute, DnnObject::Tensor)) {
      operation.operands.push_back(tensor->tensor);
      operation.hasCondition = attribute == DnnAttribute::PointwiseCondition;
    }
  const Descriptor *tensor = descriptor.descriptor(result, DnnObject::Tensor);
  if (!tensor || operation.operands.empty())
    return false;
  operation.result = tensor->tensor;
  return fits(operation);
}

bool finishProduct(Descriptor &descriptor) {
  return descriptor.descriptor(DnnAttribute::MatmulMatmul, DnnObject::Matmul) &&
         descriptor.descriptor(DnnAttribute::MatmulB, DnnObject::Tensor) &&
         finishOperation(descriptor,
                         {DnnAttribute::MatmulA, DnnAttribute::MatmulB},
                         DnnAttribute::MatmulC);
}

bool finishReduction(Descriptor &descriptor) {
  const Descriptor *reduction = descriptor.descriptor(
      DnnAttribute::ReductionReduction, DnnObject::Reduction);
  if (!reduction)
    return false;
  descriptor.operation.reduction = *reduction->value<DnnReduction>(
      DnnAttribute::ReductionOperator, DnnValue::ReductionOperator);
  return finishOperation(descriptor, {DnnAttribute::ReductionX},
                         DnnAttribute::ReductionY);
}

bool finishPointwise(Descriptor &descriptor) {
  const Descriptor *pointwise = descriptor.descriptor(
      DnnAttribute::PointwisePointwise, DnnObject::Pointwise);
  if (!pointwise)
    return false;
  descriptor.operation.pointwise = *pointwise->value<DnnPointwise>(
      DnnAttribute::PointwiseMode, DnnValue::PointwiseMode);
  descriptor.operation.axis = size_t(
      pointwise->value<int64_t>(DnnAttribute::PointwiseAxis, DnnValue::Int64)
          .value_or(0));
  return finishOperation(descriptor,
                         {DnnAttribute::PointwiseX, DnnAttribute::PointwiseB,
                          DnnAttribute::PointwiseCondition},
                         DnnAttribute::PointwiseY);
}

/// Returns whether sums are f32, and the mode is there.
bool finishMode(const Descriptor &descriptor, DnnAttribute compute,
                DnnAttribute mode, DnnValue type) {
  return descriptor.value<DnnType>(compute, DnnValue::DataType) ==
             DnnType::F32 &&
         (descriptor.kind == DnnObject::Matmul ||
          descriptor.value<int>(mode, type));
}

bool finishGraph(Descriptor &descriptor) {
  const auto handle =
      descriptor.value<DnnHandle>(DnnAttribute::GraphHandle, DnnValue::Handle);
  const auto handles = descriptor.list<DnnDescriptorHandle>(
      DnnAttribute::GraphOperations, DnnValue::Descriptor);
  if (!handle || !*handle || !handles || handles->empty())
    return false;
  std::vector<StandInOperation> operations;
  for (DnnDescriptorHandle operation : *handles) {
    const auto *part = static_cast<const Descriptor *>(operation);
    if (!part || !part->isFinished)
      return false;
    descriptor.work = part->work;
    operations.push_back(part->operation);
  }
  if (!descriptor.work)
    descriptor.work = standInGraph(std::move(operations));
  return descriptor.work != nullptr;
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
      if (!work->isByValue(i) && !isMemory(arrays[i], bytesOf(tensors[i])))
        return "a work of cuDNN is on no memory of the GPU";
    if (workspaceBytes > 0 && !isMemory(workspace, size_t(workspaceBytes)))
      return "a workspace of cuDNN is no memory of the GPU";
    if (workspaceBytes > 0)
      std::memset(workspace, poison, size_t(workspaceBytes));
    const bool isF32 = tensors[0].type == DType::F32;
    work->run(arrays, isF32 && engine == Engine::TensorCore);
    if (engine == Engine::Nondeterministic || engine == Engine::Winograd)
      std::memset(arrays.back(), poison, bytesOf(tensors.back()));
    return "";
  }

private:
  static size_t bytesOf(const ConvolutionTensor &tensor) {
    return tensor.type == DType::I1 ? tensor.span() : tensor.bytes();
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
  constexpr size_t version = 91900;
  return version;
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
    case DnnObject::Tensor:
      return finishTensor(descriptor);
    case DnnObject::Convolution:
      return finishWindows(descriptor);
    case DnnObject::Forward:
    case DnnObject::DataGradient:
    case DnnObject::FilterGradient:
      return finishConvolution(descriptor);
    case DnnObject::MatmulOperation:
      return finishProduct(descriptor);
    case DnnObject::ReductionOperation:
      return finishReduction(descriptor);
    case DnnObject::PointwiseOperation:
      return finishPointwise(descriptor);
    case DnnObject::Matmul:
      return finishMode(descriptor, DnnAttribute::MatmulCompute, {}, {});
    case DnnObject::Reduction:
      return finishMode(descriptor, DnnAttribute::ReductionCompute,
                        DnnAttribute::ReductionOperator,
                        DnnValue::ReductionOperator);
    case DnnObject::Pointwise:
      return finishMode(descriptor, DnnAttribute::PointwiseCompute,
                        DnnAttribute::PointwiseMode, DnnValue::PointwiseMode);
    case DnnObject::OperationGraph:
      return finishGraph(descriptor);
    case DnnObject::Heuristics:
      return finishHeuristics(descriptor);
    case DnnObject::VariantPack:
      return true;
    default:
      return false;
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
