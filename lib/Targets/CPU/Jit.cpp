// The process-wide cache of compiled kernels. A unit is what one call compiled;
// a library holds the units its symbols come from, so code is freed with the
// last program that uses any of its unit.
#include "meshloom/Targets/CPU/Jit.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <map>
#include <mutex>

using namespace meshloom;

namespace {
/// Machine code in memory.
struct Unit {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

struct Entry {
  std::weak_ptr<Unit> unit;
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
    auto it = addresses.find(symbol);
    if (it == addresses.end())
      return Error("the compiled program has no kernel '" + symbol + "'");
    return it->second;
  }
  std::map<std::string, const void *> addresses;
  std::vector<std::shared_ptr<Unit>> units;
};

Error asError(llvm::Error error) {
  return Error("loading compiled kernels: " + llvm::toString(std::move(error)));
}

Result<std::shared_ptr<Unit>>
load(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return asError(jit.takeError());
  auto libm = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!libm)
    return asError(libm.takeError());
  (*jit)->getMainJITDylib().addGenerator(std::move(*libm));
  for (auto &object : objects)
    if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
      return asError(std::move(error));
  auto unit = std::make_shared<Unit>();
  unit->jit = std::move(*jit);
  return unit;
}
} // namespace

Result<std::shared_ptr<const CodeSymbols>>
meshloom::loadKernels(ArrayRef<KernelToCompile> kernels, bool optimize) {
  auto library = std::make_shared<JitLibrary>();
  std::vector<KernelToCompile> missing;
  auto &known = cache().kernels[optimize];
  {
    std::lock_guard lock(cache().mutex);
    for (const KernelToCompile &item : kernels) {
      auto it = known.find(item.symbol);
      std::shared_ptr<Unit> unit =
          it == known.end() ? nullptr : it->second.unit.lock();
      if (!unit) {
        missing.push_back(item);
        continue;
      }
      library->addresses[item.symbol] = it->second.address;
      if (!llvm::is_contained(library->units, unit))
        library->units.push_back(unit);
    }
  }
  if (missing.empty())
    return std::shared_ptr<const CodeSymbols>(library);

  // Not under the lock: two threads may compile the same kernel at once; both
  // results are right, and the later one is kept for others.
  auto objects = compileKernels(missing, optimize ? CodegenMode::Full
                                                  : CodegenMode::Quick);
  if (!objects)
    return objects.error();
  auto unit = load(std::move(*objects));
  if (!unit)
    return unit.error();
  for (const KernelToCompile &item : missing) {
    auto address = (*unit)->jit->lookup(item.symbol);
    if (!address)
      return asError(address.takeError());
    library->addresses[item.symbol] = address->toPtr<const void *>();
  }
  library->units.push_back(*unit);
  std::lock_guard lock(cache().mutex);
  std::erase_if(known, [](auto &item) { return item.second.unit.expired(); });
  for (const KernelToCompile &item : missing)
    known[item.symbol] = {*unit, library->addresses[item.symbol]};
  return std::shared_ptr<const CodeSymbols>(library);
}
