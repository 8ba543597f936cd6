// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dnn.h"

#include "DnnGraph.h"
#include "LibraryFunctions.h"

#include <array>
#include <fmt/format.h>
#include <utility>

using namespace meshloom;
using namespace meshloom::cuda;

static constexpr std::array systemDnnLibraries{"libcudnn.so.9"};
static constexpr size_t dnnMajorVersion = 9;

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

Result<std::unique_ptr<Dnn>> Dnn::create(const DnnLibrary &library) {
  DnnHandle handle = nullptr;
  if (Status ok = library.check(library.cudnnCreate(&handle), "cudnnCreate");
      !ok)
    return ok.error();
  return std::unique_ptr<Dnn>(new Dnn(library, handle));
}

Dnn::~Dnn() {
  convolutions.clear();
  attentions.clear();
  (void)library.cudnnDestroy(handle);
}

/// Plans work once. `plans`: of its kind.
template <typename Graph, typename Work>
LibraryWorkOrError Dnn::planOnce(Plans<Work> &plans, const Work &work) {
  std::lock_guard lock(mutex);
  if (auto found = plans.find(work); found != plans.end())
    return found->second;
  auto planned = std::make_shared<Graph>(library, handle, running, work);
  Result<bool> exists = planned->plan();
  if (!exists)
    return exists.error();
  return plans
      .emplace(work, *exists ? std::move(planned)
                             : std::shared_ptr<const LibraryWork>())
      .first->second;
}

LibraryWorkOrError Dnn::plan(const ImageConvolution &convolution) {
  return planOnce<DnnConvolution>(convolutions, convolution);
}

LibraryWorkOrError Dnn::plan(const AttentionShape &attention) {
  return planOnce<DnnAttention>(attentions, attention);
}
