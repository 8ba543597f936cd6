// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dnn.h"

#include "LibraryFunctions.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

using namespace meshloom;
using namespace meshloom::cuda;

static constexpr std::array systemDnnLibraries{"libcudnn.so.9"};
static constexpr size_t dnnMajorVersion = 9;
/// The most memory that an engine may ask for. Engines that compute in another
/// order of dims need room for a copy of each tensor.
static constexpr int64_t mostDnnWorkspaceBytes = int64_t(512) << 20;

Result<const DnnLibrary *> DnnLibrary::load(const std::string &path) {
  Result<const DnnLibrary *> library = loadLibrary<DnnLibrary>(
      path, {"cuDNN", systemDnnLibraries},
      [](LibraryFunctions &functions, DnnLibrary &library) {
        functions.find(library.cudnnGetErrorString, "cudnnGetErrorString");
        functions.find(library.cudnnGetVersion, "cudnnGetVersion");
#define MESHLOOM_DNN_FUNCTION(name, ...) functions.find(library.name, #name);
#include "DnnFunctions.def"
#undef MESHLOOM_DNN_FUNCTION
      });
  if (!library)
    return library;
  constexpr size_t perMajor = 10000;
  const size_t version = (*library)->cudnnGetVersion();
  if (version / perMajor != dnnMajorVersion)
    return Error(fmt::format("NVIDIA's cuDNN '{}' has the version {}: cuDNN {} "
                             "is needed",
                             path, version, dnnMajorVersion));
  return library;
}

Status DnnLibrary::check(DnnResult result, std::string_view function) const {
  if (result == DnnResult::Success)
    return Success();
  return failedCall(function, cudnnGetErrorString(result));
}

DnnDescriptor::DnnDescriptor(const DnnLibrary &library, DnnObject kind)
    : library(&library),
      outcome(library.cudnnBackendCreateDescriptor(kind, &descriptor)) {}

DnnDescriptor::DnnDescriptor(DnnDescriptor &&source) noexcept
    : library(source.library),
      descriptor(std::exchange(source.descriptor, nullptr)),
      outcome(source.outcome) {}

DnnDescriptor::~DnnDescriptor() {
  if (descriptor)
    (void)library->cudnnBackendDestroyDescriptor(descriptor);
}

void DnnDescriptor::setBytes(DnnAttribute attribute, DnnValue type,
                             int64_t count, const void *values) {
  if (outcome == DnnResult::Success)
    outcome = library->cudnnBackendSetAttribute(descriptor, attribute, type,
                                                count, values);
}

int64_t DnnDescriptor::readBytes(DnnAttribute attribute, DnnValue type,
                                 int64_t most, void *values) {
  int64_t count = 0;
  if (outcome == DnnResult::Success)
    outcome = library->cudnnBackendGetAttribute(descriptor, attribute, type,
                                                most, &count, values);
  return count;
}

void DnnDescriptor::finish() {
  if (outcome == DnnResult::Success)
    outcome = library->cudnnBackendFinalize(descriptor);
}

/// Returns whether the library does not take what it was asked for, as opposed
/// to a call that has failed.
static bool isRefusal(DnnResult result) {
  return result >= DnnResult::BadParam && result < DnnResult::InternalError;
}

static DnnType dnnTypeOf(DType type) {
  switch (type) {
  case DType::F64:
    return DnnType::F64;
  case DType::F16:
    return DnnType::F16;
  case DType::BF16:
    return DnnType::BF16;
  default:
    return DnnType::F32;
  }
}

namespace {
using Role = ImageConvolution::Role;

/// The descriptors of a convolution, and the plan that computes it.
class DnnConvolution : public LibraryWork {
public:
  DnnConvolution(const DnnLibrary &library, DnnHandle handle,
                 std::mutex &running, ImageConvolution convolution)
      : library(library), handle(handle), running(running),
        convolution(std::move(convolution)) {}

  /// Describes the convolution and chooses an engine. Returns false where the
  /// library has none.
  Result<bool> plan();
  std::string_view function() const override { return "cudnnBackendExecute"; }
  int64_t workspaceBytes() const override { return workspace; }
  bool isInOrder() const override { return true; }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  DnnDescriptor describeTensor(Role role) const;
  DnnDescriptor describeWindows() const;
  DnnDescriptor describeOperation(std::span<const DnnDescriptor> tensors,
                                  const DnnDescriptor &windows) const;
  DnnDescriptor describeGraph(const DnnDescriptor &operation) const;
  /// Returns the configurations that the library proposes, the best first.
  std::vector<DnnDescriptor> propose(const DnnDescriptor &graph,
                                     DnnHeuristics mode) const;
  bool keepsPromises(DnnDescriptor &configuration) const;
  /// Takes the first configuration that is possible.
  bool chooseOf(std::vector<DnnDescriptor> configurations);

  const DnnLibrary &library;
  const DnnHandle handle;
  std::mutex &running;
  const ImageConvolution convolution;
  std::optional<DnnDescriptor> chosen;        ///< the plan
  std::optional<DnnDescriptor> configuration; ///< the plan's
  int64_t workspace = 0;
};
} // namespace

DnnDescriptor DnnConvolution::describeTensor(Role role) const {
  const ImageConvolution::Tensor &tensor = convolution.tensors[role];
  DnnDescriptor described(library, DnnObject::Tensor);
  described.set(DnnAttribute::TensorType, DnnValue::DataType,
                dnnTypeOf(convolution.type));
  described.setList(DnnAttribute::TensorExtents, DnnValue::Int64,
                    tensor.extents);
  described.setList(DnnAttribute::TensorStrides, DnnValue::Int64,
                    tensor.strides);
  described.set(DnnAttribute::TensorId, DnnValue::Int64, int64_t(role));
  described.set(DnnAttribute::TensorAlignment, DnnValue::Int64,
                tensor.alignment);
  described.finish();
  return described;
}

/// bf16 and f16 are summed in f32.
DnnDescriptor DnnConvolution::describeWindows() const {
  DnnDescriptor described(library, DnnObject::Convolution);
  described.set(DnnAttribute::ConvolutionCompute, DnnValue::DataType,
                convolution.type == DType::F64 ? DnnType::F64 : DnnType::F32);
  described.set(DnnAttribute::ConvolutionMode, DnnValue::ConvolutionMode,
                convolution.isFlipped ? DnnMode::Convolution
                                      : DnnMode::CrossCorrelation);
  described.set(DnnAttribute::ConvolutionRank, DnnValue::Int64,
                int64_t(convolution.dims.size()));
  for (auto [attribute, member] :
       {std::pair(DnnAttribute::ConvolutionStrides,
                  &ImageConvolution::Dim::stride),
        std::pair(DnnAttribute::ConvolutionDilations,
                  &ImageConvolution::Dim::dilation),
        std::pair(DnnAttribute::ConvolutionPadBefore,
                  &ImageConvolution::Dim::padBefore),
        std::pair(DnnAttribute::ConvolutionPadAfter,
                  &ImageConvolution::Dim::padAfter)}) {
    std::vector<int64_t> values;
    values.reserve(convolution.dims.size());
    for (const ImageConvolution::Dim &dim : convolution.dims)
      values.push_back(dim.*member);
    described.setList(attribute, DnnValue::Int64, values);
  }
  described.finish();
  return described;
}

DnnDescriptor
DnnConvolution::describeOperation(std::span<const DnnDescriptor> tensors,
                                  const DnnDescriptor &windows) const {
  struct Names {
    DnnObject kind;
    DnnAttribute alpha, beta, convolution;
    std::array<DnnAttribute, 3> tensors;
  };
  const Names names =
      convolution.form == ConvolutionForm::Forward
          ? Names{DnnObject::Forward,
                  DnnAttribute::ForwardAlpha,
                  DnnAttribute::ForwardBeta,
                  DnnAttribute::ForwardConvolution,
                  {DnnAttribute::ForwardImage, DnnAttribute::ForwardFilter,
                   DnnAttribute::ForwardResponse}}
      : convolution.form == ConvolutionForm::DataGradient
          ? Names{DnnObject::DataGradient,
                  DnnAttribute::DataGradientAlpha,
                  DnnAttribute::DataGradientBeta,
                  DnnAttribute::DataGradientConvolution,
                  {DnnAttribute::DataGradientImage,
                   DnnAttribute::DataGradientFilter,
                   DnnAttribute::DataGradientResponse}}
          : Names{DnnObject::FilterGradient,
                  DnnAttribute::FilterGradientAlpha,
                  DnnAttribute::FilterGradientBeta,
                  DnnAttribute::FilterGradientConvolution,
                  {DnnAttribute::FilterGradientImage,
                   DnnAttribute::FilterGradientFilter,
                   DnnAttribute::FilterGradientResponse}};
  DnnDescriptor operation(library, names.kind);
  operation.set(names.convolution, windows);
  for (size_t role = 0; role < tensors.size(); ++role)
    operation.set(names.tensors[role], tensors[role]);
  if (convolution.type == DType::F64) {
    operation.set(names.alpha, DnnValue::Double, 1.0);
    operation.set(names.beta, DnnValue::Double, 0.0);
  } else {
    operation.set(names.alpha, DnnValue::Float, 1.0F);
    operation.set(names.beta, DnnValue::Float, 0.0F);
  }
  operation.finish();
  return operation;
}

DnnDescriptor
DnnConvolution::describeGraph(const DnnDescriptor &operation) const {
  DnnDescriptor graph(library, DnnObject::OperationGraph);
  graph.set(DnnAttribute::GraphHandle, DnnValue::Handle, handle);
  graph.set(DnnAttribute::GraphOperations, operation);
  graph.finish();
  return graph;
}

std::vector<DnnDescriptor> DnnConvolution::propose(const DnnDescriptor &graph,
                                                   DnnHeuristics mode) const {
  DnnDescriptor heuristics(library, DnnObject::Heuristics);
  heuristics.set(DnnAttribute::HeuristicsGraph, graph);
  heuristics.set(DnnAttribute::HeuristicsMode, DnnValue::HeuristicsMode, mode);
  heuristics.finish();
  std::vector<DnnDescriptorHandle> handles;
  const int64_t count = heuristics.read(DnnAttribute::HeuristicsResults,
                                        DnnValue::Descriptor, handles);
  std::vector<DnnDescriptor> configurations;
  for (int64_t i = 0; i < count; ++i) {
    configurations.emplace_back(library, DnnObject::EngineConfiguration);
    handles.push_back(configurations.back().get());
  }
  const int64_t stored = heuristics.read(DnnAttribute::HeuristicsResults,
                                         DnnValue::Descriptor, handles);
  while (std::ssize(configurations) > stored)
    configurations.pop_back();
  return configurations;
}

/// f32 is f32, sums of bf16 and f16 are f32, and a run gives the bits of the
/// run before it. A number that is not finite is seen in those results alone
/// that depend on it, which transforms of whole tiles do not promise.
bool DnnConvolution::keepsPromises(DnnDescriptor &configuration) const {
  DnnDescriptor engine(library, DnnObject::Engine);
  std::array handles{engine.get()};
  configuration.read(DnnAttribute::ConfigurationEngine, DnnValue::Descriptor,
                     handles);
  constexpr size_t mostNotes = 64;
  std::array<DnnNote, mostNotes> notes{};
  const int64_t count = engine.read(DnnAttribute::EngineNumericalNotes,
                                    DnnValue::NumericalNote, notes);
  if (configuration.result() != DnnResult::Success ||
      engine.result() != DnnResult::Success)
    return false;
  return std::none_of(notes.begin(),
                      notes.begin() + std::min<int64_t>(count, mostNotes),
                      [&](DnnNote note) {
                        switch (note) {
                        case DnnNote::TensorCore: // rounds f32 to TF32
                          return convolution.type == DType::F32;
                        case DnnNote::DownConvertInputs:
                        case DnnNote::ReducedPrecisionReduction:
                        case DnnNote::FourierTransform:
                        case DnnNote::Nondeterministic:
                        case DnnNote::Winograd:
                          return true;
                        }
                        return false;
                      });
}

bool DnnConvolution::chooseOf(std::vector<DnnDescriptor> configurations) {
  for (DnnDescriptor &candidate : configurations) {
    if (!keepsPromises(candidate))
      continue;
    DnnDescriptor plan(library, DnnObject::Plan);
    plan.set(DnnAttribute::PlanHandle, DnnValue::Handle, handle);
    plan.set(DnnAttribute::PlanConfiguration, candidate);
    plan.finish();
    std::array<int64_t, 1> bytes{};
    plan.read(DnnAttribute::PlanWorkspaceBytes, DnnValue::Int64, bytes);
    if (plan.result() != DnnResult::Success || bytes[0] > mostDnnWorkspaceBytes)
      continue;
    workspace = bytes[0];
    configuration.emplace(std::move(candidate));
    chosen.emplace(std::move(plan));
    return true;
  }
  return false;
}

Result<bool> DnnConvolution::plan() {
  std::vector<DnnDescriptor> tensors;
  for (Role role : {Role::Image, Role::Filter, Role::Response})
    tensors.push_back(describeTensor(role));
  const DnnDescriptor windows = describeWindows(),
                      operation = describeOperation(tensors, windows),
                      graph = describeGraph(operation);
  std::vector<const DnnDescriptor *> described{&windows, &operation, &graph};
  for (const DnnDescriptor &tensor : tensors)
    described.push_back(&tensor);
  for (const DnnDescriptor *descriptor : described)
    if (isRefusal(descriptor->result()))
      return false;
  for (const DnnDescriptor *descriptor : described)
    if (Status ok = library.check(descriptor->result(), "cudnnBackendFinalize");
        !ok)
      return ok.error();
  return chooseOf(propose(graph, DnnHeuristics::A)) ||
         chooseOf(propose(graph, DnnHeuristics::Fallback));
}

Status DnnConvolution::enqueue(Commands &commands,
                               std::span<char *const> operands,
                               char *workspace) const {
  std::array<int64_t, 3> ids{};
  std::array<char *, 3> pointers{};
  for (size_t role = 0; role < pointers.size(); ++role) {
    const ImageConvolution::Tensor &tensor = convolution.tensors[role];
    ids[role] = int64_t(role);
    pointers[role] = operands[tensor.operand] +
                     tensor.offset * int64_t(byteWidth(convolution.type));
  }
  std::vector<uint64_t> addresses{reinterpret_cast<uint64_t>(workspace)};
  for (char *pointer : pointers)
    addresses.push_back(reinterpret_cast<uint64_t>(pointer));
  return commands.callLibrary(addresses, [&](StreamHandle stream) -> Status {
    DnnDescriptor pack(library, DnnObject::VariantPack);
    pack.setList(DnnAttribute::PackIds, DnnValue::Int64, ids);
    pack.setList(DnnAttribute::PackPointers, DnnValue::Pointer, pointers);
    pack.set(DnnAttribute::PackWorkspace, DnnValue::Pointer, workspace);
    pack.finish();
    if (Status ok = library.check(pack.result(), "cudnnBackendFinalize"); !ok)
      return ok;
    std::lock_guard lock(running);
    if (Status ok = library.check(library.cudnnSetStream(handle, stream),
                                  "cudnnSetStream");
        !ok)
      return ok;
    return library.check(
        library.cudnnBackendExecute(handle, chosen->get(), pack.get()),
        "cudnnBackendExecute");
  });
}

Result<std::unique_ptr<Dnn>> Dnn::create(const DnnLibrary &library) {
  DnnHandle handle = nullptr;
  if (Status ok = library.check(library.cudnnCreate(&handle), "cudnnCreate");
      !ok)
    return ok.error();
  return std::unique_ptr<Dnn>(new Dnn(library, handle));
}

Dnn::~Dnn() {
  plans.clear();
  (void)library.cudnnDestroy(handle);
}

LibraryWorkOrError Dnn::plan(const ImageConvolution &convolution) {
  std::lock_guard lock(mutex);
  if (auto found = plans.find(convolution); found != plans.end())
    return found->second;
  auto planned =
      std::make_shared<DnnConvolution>(library, handle, running, convolution);
  Result<bool> exists = planned->plan();
  if (!exists)
    return exists.error();
  return plans
      .emplace(convolution, *exists ? std::move(planned)
                                    : std::shared_ptr<const LibraryWork>())
      .first->second;
}
