// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects that handles of executables stand for.
#pragma once

#include "PluginObjects.h"
#include "ProgramCompiler.h"

#include "meshloom/Runtime/Backends/PJRT/Plugin.h"

#include <atomic>

namespace meshloom::plugin {

/// A layout of a buffer in memory, as its text: "{1,0}".
struct MemoryLayoutObject : HandleObject<MemoryLayoutObject> {
  static constexpr std::string_view kindName = "a layout";
  explicit MemoryLayoutObject(std::string text) : text(std::move(text)) {}
  const std::string text;
};

/// A program's facts in the form in which callers read them. They live as long
/// as the handle.
class ExecutableObject : public HandleObject<ExecutableObject> {
public:
  static constexpr std::string_view kindName = "an executable";
  explicit ExecutableObject(std::shared_ptr<const LoadedProgram> program);

  const LoadedProgram &program() const { return *loaded; }
  /// Per-device shapes of results, one after the other, and their ranks.
  std::vector<int64_t> resultDims;
  std::vector<size_t> resultRanks;
  std::vector<int32_t> resultTypes;
  std::vector<const char *> resultMemoryKinds;
  std::vector<size_t> resultMemoryKindSizes;
  std::string fingerprint;

  /// Texts with their lengths.
  struct TextList {
    std::vector<std::string> texts;
    std::vector<const char *> data;
    std::vector<size_t> sizes;
    void add(std::string text) { texts.push_back(std::move(text)); }
    void finish();
  };
  TextList argumentShardings, resultShardings;
  struct LayoutList {
    std::vector<std::unique_ptr<MemoryLayoutObject>> layouts;
    std::vector<capi::Handle> handles;
    void add(const DimOrder &order);
  };
  LayoutList argumentLayouts, resultLayouts;

  /// "flops" and the like, computed when somebody asks.
  pjrt::NamedValues &costs();

private:
  const std::shared_ptr<const LoadedProgram> loaded;
  std::mutex mutex;
  pjrt::Attributes costValues;
  std::unique_ptr<pjrt::NamedValues> costList;
};

struct LoadedExecutableObject : HandleObject<LoadedExecutableObject> {
  static constexpr std::string_view kindName = "a loaded executable";
  std::shared_ptr<const LoadedProgram> program;
  /// The devices of the partitions in this process.
  std::vector<DeviceObject *> devices;
  std::atomic<bool> deleted = false;
  /// Per result, the type of the buffer that each of these partitions gets.
  std::vector<std::vector<std::shared_ptr<const BufferType>>> resultTypes;

  LoadedExecutableObject(std::shared_ptr<const LoadedProgram> program,
                         std::vector<DeviceObject *> devices);
};

/// Gives the caller bytes that he reads until he calls the deleter with the
/// holder. Throws meshloom::Error where his structure has no place for them.
void giveText(const Arguments &args, Arguments::Pointer holder,
              Arguments::Pointer deleter, Arguments::Pointer bytes,
              Arguments::Count size, std::string text);

} // namespace meshloom::plugin
