// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dnn: NVIDIA's cuDNN, which computes convolutions and attention on a card. The
// library is found when a program first needs it.
//
// All that the library does is described by descriptors, whose attributes are
// set before they are finished: tensors, operations on them, a graph of these,
// and a plan by which an engine of the library computes it (DnnGraph).
#pragma once

#include "AttentionShape.h"
#include "DnnFacts.h"
#include "ImageConvolution.h"
#include "LibraryWork.h"

#include <map>
#include <mutex>
#include <string>

namespace meshloom::cuda {

/// The library's functions, as members of their names.
class DnnLibrary {
public:
  /// The library `path`, or that of the system where the path is empty; once in
  /// a process, where it stays loaded. Fails where there is none, and where it
  /// is not one of the major version 9.
  static Result<const DnnLibrary *> load(const std::string &path);

  /// Fails with the library's name for a result that is no success.
  Status check(DnnResult result, std::string_view function) const;

  const char *(*cudnnGetErrorString)(DnnResult) = nullptr;
  size_t (*cudnnGetVersion)() = nullptr;
#define MESHLOOM_DNN_FUNCTION(name, ...)                                       \
  DnnResult (*name)(__VA_ARGS__) = nullptr;
#include "DnnFunctions.def"
#undef MESHLOOM_DNN_FUNCTION
};

/// An object of the library's. The first call that fails is remembered, and the
/// later ones do nothing.
class DnnDescriptor {
public:
  DnnDescriptor(const DnnLibrary &library, DnnObject kind);
  ~DnnDescriptor();
  DnnDescriptor(const DnnDescriptor &) = delete;
  DnnDescriptor &operator=(const DnnDescriptor &) = delete;
  DnnDescriptor(DnnDescriptor &&) noexcept;

  DnnDescriptorHandle get() const { return descriptor; }
  template <typename List>
  void setList(DnnAttribute attribute, DnnValue type, const List &values) {
    setBytes(attribute, type, int64_t(values.size()), values.data());
  }
  template <typename Value>
  void set(DnnAttribute attribute, DnnValue type, const Value &value) {
    setBytes(attribute, type, 1, &value);
  }
  void set(DnnAttribute attribute, const DnnDescriptor &value) {
    set(attribute, DnnValue::Descriptor, value.descriptor);
  }
  /// Returns how many values an attribute has, and stores as many of them as
  /// `values` has room for.
  template <typename List>
  int64_t read(DnnAttribute attribute, DnnValue type, List &values) {
    return readBytes(attribute, type, int64_t(values.size()), values.data());
  }
  void finish();
  /// Returns the first result that was no success.
  DnnResult result() const { return outcome; }

private:
  void setBytes(DnnAttribute attribute, DnnValue type, int64_t count,
                const void *values);
  int64_t readBytes(DnnAttribute attribute, DnnValue type, int64_t most,
                    void *values);

  const DnnLibrary *library;
  DnnDescriptorHandle descriptor = nullptr;
  DnnResult outcome = DnnResult::Success;
};

/// The library on one card. The card is the one that the calling thread speaks
/// of. Safe to use from any thread.
class Dnn {
public:
  static Result<std::unique_ptr<Dnn>> create(const DnnLibrary &library);
  ~Dnn();
  Dnn(const Dnn &) = delete;
  Dnn &operator=(const Dnn &) = delete;

  /// Work of this shape, which is asked for once. Null: the library has no
  /// engine for it that keeps our promises about numbers.
  LibraryWorkOrError plan(const ImageConvolution &convolution);
  LibraryWorkOrError plan(const AttentionShape &attention);

private:
  template <typename Work>
  using Plans = std::map<Work, std::shared_ptr<const LibraryWork>>;

  Dnn(const DnnLibrary &library, DnnHandle handle)
      : library(library), handle(handle) {}

  template <typename Graph, typename Work>
  LibraryWorkOrError planOnce(Plans<Work> &plans, const Work &work);

  const DnnLibrary &library;
  const DnnHandle handle;
  std::mutex running; ///< the handle has one stream at a time
  std::mutex mutex;   ///< of the plans
  Plans<ImageConvolution> convolutions;
  Plans<AttentionShape> attentions;
};

} // namespace meshloom::cuda
