// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The process-wide cache of compiled kernels. A unit is what one call compiled;
// a library holds the units its symbols come from, so code is freed with the
// last program that uses any of its unit.
#include "Jit.h"

#include "KernelCache.h"
#include "KernelScript.h"
#include "ObjectParts.h"

#include "meshloom/Core/Timing.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>

using namespace meshloom;

namespace orc = llvm::orc;

namespace {
/// A loader loads machine code, and knows the functions of this process. No
/// exception passes through kernels, so nobody is told of their frames.
struct Loader {
  explicit Loader(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), objects(session),
        process(session.createBareJITDylib("process")) {}

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer objects;
  orc::JITDylib &process;
  std::atomic<uint64_t> numUnits = 0;
};

Error asError(llvm::Error error) {
  return Error("loading compiled kernels: " + llvm::toString(std::move(error)));
}

/// Returns the loader of this process.
Result<Loader *> loader() {
  static const auto &loader = *new Result<Loader *>([]() -> Result<Loader *> {
    auto control = orc::SelfExecutorProcessControl::Create();
    if (!control)
      return asError(control.takeError());
    auto loader = std::make_unique<Loader>(std::move(*control));
    // Where a library that was loaded locally uses Meshloom, the process does
    // not show what that library needs.
    (void)dlopen("libm.so.6", RTLD_LAZY | RTLD_GLOBAL);
    auto functions = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        /*GlobalPrefix=*/'\0');
    if (!functions)
      return asError(functions.takeError());
    loader->process.addGenerator(std::move(*functions));
    return loader.release(); // outlives all programs
  }());
  return loader;
}

/// The functions of kernels that were loaded together.
struct Unit {
  virtual ~Unit() = default;
  virtual Result<const void *> lookup(const std::string &symbol) const = 0;
};

/// Machine code in memory.
struct CodeUnit final : Unit {
  explicit CodeUnit(Loader &loader)
      : loader(loader), code(loader.session.createBareJITDylib(
                            std::to_string(loader.numUnits++))) {
    code.addToLinkOrder(loader.process);
  }
  CodeUnit(const CodeUnit &) = delete;
  CodeUnit &operator=(const CodeUnit &) = delete;
  ~CodeUnit() override {
    llvm::consumeError(loader.session.removeJITDylib(code));
  }
  Result<const void *> lookup(const std::string &symbol) const override {
    auto found = loader.session.lookup({&code}, symbol);
    if (!found)
      return asError(found.takeError());
    return found->getAddress().toPtr<const void *>();
  }

  Loader &loader;
  orc::JITDylib &code;
};

/// A kernel that is interpreted.
struct ScriptUnit final : Unit {
  explicit ScriptUnit(std::unique_ptr<LoadedScript> script)
      : script(std::move(script)) {}
  Result<const void *> lookup(const std::string &) const override {
    return script->address();
  }

  std::unique_ptr<LoadedScript> script;
};

struct Entry {
  std::weak_ptr<const Unit> unit;
  const void *address = nullptr;
};

/// By symbol, one map for each optimisation level.
struct Cache {
  std::mutex mutex;
  std::map<std::string, Entry> kernels[2];
};
Cache &cache() {
  static Cache *instance = new Cache; // outlives all programs
  return *instance;
}

class JitLibrary : public CodeSymbols {
public:
  Result<const void *> lookup(const std::string &symbol) const override {
    auto entry = addresses.find(symbol);
    if (entry == addresses.end())
      return Error("the compiled program has no kernel '" + symbol + "'");
    return entry->second;
  }
  std::map<std::string, const void *> addresses;
  std::vector<std::shared_ptr<const Unit>> units;
};

Result<std::shared_ptr<const Unit>> loadCode(ArrayRef<KernelObject> objects) {
  TimedScope timed("load kernels");
  auto processLoader = loader();
  if (!processLoader)
    return processLoader.error();
  auto unit = std::make_shared<CodeUnit>(**processLoader);
  for (const KernelObject &object : objects) {
    auto files = objectFilesOf(*object);
    if (!files)
      return files.error();
    for (StringRef file : *files) {
      auto bytes = llvm::MemoryBuffer::getMemBuffer(
          file, "kernel.o", /*RequiresNullTerminator=*/false);
      if (llvm::Error error =
              unit->loader.objects.add(unit->code, std::move(bytes)))
        return asError(std::move(error));
    }
  }
  return std::shared_ptr<const Unit>(std::move(unit));
}

Result<std::shared_ptr<const Unit>> loadScriptUnit(StringRef text) {
  auto script = loadScript(text);
  if (!script)
    return script.error();
  return std::shared_ptr<const Unit>(
      std::make_shared<ScriptUnit>(std::move(*script)));
}

/// Puts the `symbols` that were loaded for other programs into `library`, and
/// returns the positions of the missing ones.
std::vector<size_t> takeLoaded(ArrayRef<std::string> symbols, bool optimize,
                               JitLibrary &library) {
  std::vector<size_t> missing;
  auto &kernels = cache().kernels[optimize];
  std::lock_guard lock(cache().mutex);
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    auto entry = kernels.find(symbol);
    std::shared_ptr<const Unit> unit =
        entry == kernels.end() ? nullptr : entry->second.unit.lock();
    if (!unit) {
      missing.push_back(i);
      continue;
    }
    library.addresses[symbol] = entry->second.address;
    if (!llvm::is_contained(library.units, unit))
      library.units.push_back(unit);
  }
  return missing;
}

/// Lets `library`, and programs after this one, use the kernels of a unit.
Status addUnit(const std::shared_ptr<const Unit> &unit,
               ArrayRef<std::string> symbols, bool optimize,
               JitLibrary &library) {
  {
    TimedScope timed("link kernels");
    for (const std::string &symbol : symbols) {
      auto address = unit->lookup(symbol);
      if (!address)
        return address.error();
      library.addresses[symbol] = *address;
    }
  }
  library.units.push_back(unit);
  auto &kernels = cache().kernels[optimize];
  std::lock_guard lock(cache().mutex);
  std::erase_if(kernels, [](auto &item) { return item.second.unit.expired(); });
  for (const std::string &symbol : symbols)
    kernels[symbol] = {unit, library.addresses[symbol]};
  return Success();
}

/// Loads the scripts and object files of `symbols` into `library`.
Status loadObjects(ArrayRef<std::string> symbols,
                   ArrayRef<KernelObject> objects, bool optimize,
                   JitLibrary &library) {
  std::vector<std::string> compiled;
  std::vector<KernelObject> code;
  for (auto [symbol, object] : llvm::zip_equal(symbols, objects)) {
    if (!isScript(*object)) {
      compiled.push_back(symbol);
      code.push_back(object);
      continue;
    }
    auto unit = loadScriptUnit(*object);
    if (!unit)
      return unit.error();
    if (Status ok = addUnit(*unit, symbol, optimize, library); !ok)
      return ok;
  }
  if (code.empty())
    return Success();
  auto unit = loadCode(code);
  if (!unit)
    return unit.error();
  return addUnit(*unit, compiled, optimize, library);
}

} // namespace

CodegenMode meshloom::modeFor(bool optimize) {
  static const bool mayOptimize = [] {
    const char *value = std::getenv("MESHLOOM_OPTIMIZE_KERNELS");
    return !value || StringRef(value) != "0";
  }();
  return optimize && mayOptimize ? CodegenMode::Full : CodegenMode::Quick;
}

// Nothing is compiled or loaded under the lock: two threads may do so with one
// kernel at once; both results are right, and the later one is kept for others.

Result<std::shared_ptr<const CodeSymbols>>
meshloom::loadKernels(ArrayRef<KernelToCompile> kernels, bool optimize,
                      KernelCompiler &compiler) {
  auto library = std::make_shared<JitLibrary>();
  std::vector<std::string> symbols;
  symbols.reserve(kernels.size());
  for (const KernelToCompile &item : kernels)
    symbols.push_back(item.symbol);
  std::vector<KernelToCompile> missing;
  std::vector<std::string> missingSymbols;
  for (size_t place : takeLoaded(symbols, optimize, *library)) {
    missing.push_back(kernels[place]);
    missingSymbols.push_back(symbols[place]);
  }
  if (missing.empty())
    return std::shared_ptr<const CodeSymbols>(library);
  auto objects = kernelObjects(missing, modeFor(optimize), compiler);
  if (!objects)
    return objects.error();
  if (Status ok = loadObjects(missingSymbols, *objects, optimize, *library);
      !ok)
    return ok.error();
  return std::shared_ptr<const CodeSymbols>(library);
}

Result<std::shared_ptr<const CodeSymbols>>
meshloom::loadCachedKernels(ArrayRef<std::string> symbols, bool optimize) {
  auto library = std::make_shared<JitLibrary>();
  std::vector<std::string> missing;
  std::vector<KernelObject> objects;
  for (size_t place : takeLoaded(symbols, optimize, *library)) {
    KernelObject object = cachedKernel(symbols[place], modeFor(optimize));
    if (!object)
      return std::shared_ptr<const CodeSymbols>();
    missing.push_back(symbols[place]);
    objects.push_back(std::move(object));
  }
  if (!missing.empty())
    if (Status ok = loadObjects(missing, objects, optimize, *library); !ok)
      return ok.error();
  return std::shared_ptr<const CodeSymbols>(library);
}
