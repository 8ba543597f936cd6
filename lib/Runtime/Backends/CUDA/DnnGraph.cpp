// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DnnGraph.h"

#include "meshloom/Runtime/BoxCopy.h"

#include <algorithm>
#include <array>

using namespace meshloom;
using namespace meshloom::cuda;

/// The most memory that an engine may ask for. Engines that compute in another
/// order of dims need room for a copy of each tensor.
static constexpr int64_t mostDnnWorkspaceBytes = int64_t(512) << 20;

/// Returns whether the library does not take what it was asked for, as opposed
/// to a call that has failed.
static bool isRefusal(DnnResult result) {
  return result >= DnnResult::BadParam && result < DnnResult::InternalError;
}

DnnType cuda::dnnTypeOf(DType type) {
  switch (type) {
  case DType::F64:
    return DnnType::F64;
  case DType::F16:
    return DnnType::F16;
  case DType::BF16:
    return DnnType::BF16;
  case DType::I32:
    return DnnType::I32;
  default:
    return DnnType::F32;
  }
}

DnnDescriptor &DnnGraph::add(DnnObject kind) {
  return descriptors.emplace_back(library, kind);
}

DnnDescriptor &DnnGraph::describeTensor(const Shape &shape) {
  DnnDescriptor &described = add(DnnObject::Tensor);
  described.set(DnnAttribute::TensorType, DnnValue::DataType, shape.type);
  described.setList(DnnAttribute::TensorExtents, DnnValue::Int64,
                    shape.extents);
  described.setList(DnnAttribute::TensorStrides, DnnValue::Int64,
                    shape.strides);
  described.set(DnnAttribute::TensorId, DnnValue::Int64, ++numTensors);
  described.set(DnnAttribute::TensorAlignment, DnnValue::Int64,
                shape.alignment);
  return described;
}

const DnnDescriptor &DnnGraph::addTensor(const Shape &shape, size_t operand,
                                         int64_t offset) {
  DnnDescriptor &described = describeTensor(shape);
  described.finish();
  places.push_back({numTensors, operand, offset});
  return described;
}

const DnnDescriptor &DnnGraph::addScalar(float value, size_t rank) {
  const std::vector<int64_t> ones(rank, 1);
  DnnDescriptor &described = describeTensor({DnnType::F32, ones, ones});
  described.set(DnnAttribute::TensorIsByValue, DnnValue::Boolean, true);
  described.finish();
  scalars.emplace_back(numTensors, value);
  return described;
}

const DnnDescriptor &DnnGraph::addIntermediate(const Shape &shape) {
  DnnDescriptor &described = describeTensor(shape);
  described.set(DnnAttribute::TensorIsVirtual, DnnValue::Boolean, true);
  described.finish();
  return described;
}

const DnnDescriptor &
DnnGraph::addIntermediate(DnnType type, const std::vector<int64_t> &extents) {
  return addIntermediate({type, extents, rowMajorStrides(extents)});
}

const DnnDescriptor &DnnGraph::addScratch(const std::vector<int64_t> &extents) {
  DnnDescriptor &described =
      describeTensor({DnnType::F32, extents, rowMajorStrides(extents)});
  described.finish();
  places.push_back({numTensors, std::nullopt, scratchBytes});
  scratchBytes += paddedBytes(elementCount(extents) * int64_t(sizeof(float)));
  return described;
}

void DnnGraph::addOperation(DnnDescriptor &operation) {
  operation.finish();
  operations.push_back(operation.get());
}

std::vector<DnnDescriptor> DnnGraph::propose(const DnnDescriptor &graph,
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
bool DnnGraph::keepsPromises(DnnDescriptor &configuration) const {
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
                          return type == DType::F32;
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

bool DnnGraph::chooseOf(std::vector<DnnDescriptor> configurations) {
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
    engineBytes = paddedBytes(bytes[0]);
    configuration.emplace(std::move(candidate));
    chosen.emplace(std::move(plan));
    return true;
  }
  return false;
}

Result<bool> DnnGraph::plan() {
  DnnDescriptor &graph = add(DnnObject::OperationGraph);
  graph.set(DnnAttribute::GraphHandle, DnnValue::Handle, handle);
  graph.setList(DnnAttribute::GraphOperations, DnnValue::Descriptor,
                operations);
  graph.finish();
  // The first one that failed: later ones are made of it.
  for (const DnnDescriptor &descriptor : descriptors)
    if (isRefusal(descriptor.result()))
      return false;
    else if (Status ok =
                 library.check(descriptor.result(), "cudnnBackendFinalize");
             !ok)
      return ok.error();
  return chooseOf(propose(graph, DnnHeuristics::A)) ||
         chooseOf(propose(graph, DnnHeuristics::Fallback));
}

Status DnnGraph::enqueue(Commands &commands, std::span<char *const> operands,
                         char *workspace) const {
  std::vector<int64_t> ids;
  std::vector<const char *> pointers;
  std::vector<uint64_t> addresses{reinterpret_cast<uint64_t>(workspace)};
  for (const Place &place : places) {
    ids.push_back(place.tensor);
    pointers.push_back(
        (place.operand ? operands[*place.operand] : workspace + engineBytes) +
        place.offset);
    addresses.push_back(reinterpret_cast<uint64_t>(pointers.back()));
  }
  for (const auto &[tensor, value] : scalars) {
    ids.push_back(tensor);
    pointers.push_back(reinterpret_cast<const char *>(&value));
  }
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
