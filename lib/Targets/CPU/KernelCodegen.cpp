// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The threads that compile kernels. Optimising and code generation take nearly
// all of the time that kernels take, so all cores do it, each kernel in an LLVM
// context of its own.
#include "KernelCodegen.h"

#include "CodeGenerator.h"
#include "KernelToLLVM.h"
#include "ObjectParts.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Core/AvailableCores.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"
#include "meshloom/Targets/Kernels/KernelLowering.h"
#include "meshloom/Targets/Kernels/MathFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

using namespace meshloom;

static bool hasF16(Operation *op) {
  auto isF16 = [](Type type) { return type.isF16(); };
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperandTypes(), isF16) ||
                       llvm::any_of(inner->getResultTypes(), isF16)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Leaves out LLVM's warnings of loops of which it makes no vectors although
/// `widenVectors` asked for a width: a user can change nothing about them.
class Silent : public llvm::DiagnosticHandler {
public:
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    return info.getSeverity() != llvm::DS_Error;
  }
};
} // namespace

static LoopKind loopKindOf(spmd::KernelOp kernel) {
  const LoopOrder order = functionLoopOrder(kernel);
  if (order.tiled >= 0)
    return LoopKind::Tiled;
  if (order.crossed >= 0)
    return LoopKind::Mixed;
  // LLVM's vectoriser makes narrow vectors of the last rows.
  constexpr int64_t manyRows = 64;
  if (order.writtenOut > 0)
    return order.vectorIsReduction &&
                   kernel.getExtents()[loopAround(order)] >= manyRows
               ? LoopKind::Rows
               : LoopKind::Mixed;
  return LoopKind::Plain;
}

/// Moves the function `symbol`, and those that only it calls, whose names begin
/// with its own, to a module of their own. Null: `code` has none.
static OwningOpRef<ModuleOp> splitOff(ModuleOp code,
                                      const std::string &symbol) {
  using mlir::LLVM::LLVMFuncOp;
  if (!code.lookupSymbol<LLVMFuncOp>(symbol))
    return {};
  OwningOpRef<ModuleOp> part = code.clone();
  auto isPart = [&](LLVMFuncOp function) {
    return function.getName().starts_with(symbol);
  };
  for (auto function : llvm::make_early_inc_range(part->getOps<LLVMFuncOp>()))
    if (!function.isExternal() && !isPart(function))
      function.erase();
  for (auto function : llvm::make_early_inc_range(code.getOps<LLVMFuncOp>()))
    if (function.getName() == symbol) {
      function.getBody().dropAllReferences();
      function.getBody().getBlocks().clear();
    } else if (isPart(function)) {
      function.erase();
    }
  return part;
}

/// `item` in LLVM IR: one module, or two that threads compile side by side.
static Result<std::vector<KernelModule>>
translate(const KernelToCompile &item, const KernelLowering &lowering) {
  OwningOpRef<ModuleOp> code =
      ModuleOp::create(mlir::UnknownLoc::get(item.kernel->getContext()));
  LoopKind loops = LoopKind::Whole;
  if (auto loop = dyn_cast<spmd::LibraryCallOp>(item.kernel)) {
    emitLoopCall(loop, item.symbol, *code);
  } else {
    auto kernel = cast<spmd::KernelOp>(item.kernel);
    emitKernel(kernel, item.symbol, *code);
    loops = loopKindOf(kernel);
  }
  if (failed(lowering.lower(*code)))
    return Error("a kernel did not lower to LLVM");
  const OwningOpRef<ModuleOp> exact = splitOff(*code, exactSymbol(item.symbol));
  std::vector<KernelModule> modules;
  for (ModuleOp part : {exact.get(), code.get()}) {
    if (!part)
      continue;
    KernelModule module{!isDeterministic(item.kernel), hasF16(item.kernel),
                        loops, std::make_unique<llvm::LLVMContext>(), nullptr};
    module.context->setDiagnosticHandler(std::make_unique<Silent>());
    module.module =
        mlir::translateModuleToLLVMIR(part, *module.context, "kernels");
    if (!module.module)
      return Error("a kernel did not translate to LLVM IR");
    modules.push_back(std::move(module));
  }
  return modules;
}

/// Large bodies first, so that no thread is left with one in the end.
static std::vector<KernelToCompile>
largestFirst(ArrayRef<KernelToCompile> kernels) {
  std::vector<std::pair<size_t, size_t>> bySize;
  for (auto [index, item] : llvm::enumerate(kernels)) {
    size_t size = 0;
    item.kernel->walk([&](Operation *op) {
      auto kernel = dyn_cast<spmd::KernelOp>(op);
      size += kernel ? 4 * kernel.getNumLoops() : 1;
    });
    bySize.emplace_back(size, index);
  }
  llvm::sort(bySize, [](auto &a, auto &b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  std::vector<KernelToCompile> sorted;
  for (auto [size, index] : bySize)
    sorted.push_back(kernels[index]);
  return sorted;
}

/// The state that threads share. The thread that brings a kernel lowers it; the
/// kernel then waits until any thread compiles it. `finish` lets the threads go
/// when no kernel waits and no thread lowers.
struct KernelCompiler::Work {
  struct Kernel {
    std::vector<KernelModule> modules;
    std::vector<std::string> objects; ///< of the modules
    size_t remaining = 0;             ///< modules without an object
  };
  struct Part {
    Kernel *kernel;
    size_t index;
  };

  const CodegenMode mode;
  const std::string stage = TimedScope::current();
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<std::string, Kernel> kernels; ///< by symbol
  std::set<const Kernel *> wanted;                 ///< where `finishing`
  std::deque<Part> waiting;
  unsigned lowering = 0; ///< threads that bring kernels
  unsigned busy = 0;     ///< helpers that compile a kernel
  bool finishing = false;
  /// True: an idle helper has made a generator for the caller of `finish`.
  bool createdAnother = false;
  std::string problem; ///< the first one
  std::vector<std::thread> helpers;

  explicit Work(CodegenMode mode) : mode(mode) {}

  void failedWith(const Error &error) {
    std::lock_guard lock(mutex);
    if (problem.empty())
      problem = error.message();
    changed.notify_all();
  }
  /// Whether more kernels wait than helpers will soon begin with. Under the
  /// lock.
  bool needsHelp() const { return waiting.size() > helpers.size() - busy; }
  /// Under the lock.
  void startHelper() {
    if (int64_t(helpers.size()) + 1 < availableCores())
      helpers.emplace_back([this] { run("helpers"); });
  }
  /// Lowers those that nobody has, but stops where `finish` asks for others.
  void lower(ArrayRef<KernelToCompile> brought, bool last);
  /// lower(), of a thread that has counted itself as one that does, and does
  /// not any more behind it.
  void lowerCounted(ArrayRef<KernelToCompile> brought, bool last) {
    auto done = llvm::make_scope_exit([&] {
      std::lock_guard lock(mutex);
      --lowering;
      changed.notify_all();
    });
    lower(brought, last);
  }
  /// Compiles what is waiting; its time is that of `name`, if any.
  void run(const char *name);
};

void KernelCompiler::Work::lower(ArrayRef<KernelToCompile> brought, bool last) {
  if (brought.empty())
    return;
  TimedScope timed("lower to LLVM", stage);
  KernelLowering lowering(
      brought.front().kernel->getContext(), MathLibrary::Libm,
      /*multiplyAdds=*/StringRef(targetCpuFeatures()).contains("fma"));
  for (const KernelToCompile &item : largestFirst(brought)) {
    Kernel *kernel = nullptr;
    {
      std::lock_guard lock(mutex);
      if (finishing && !last)
        return;
      auto [entry, isNew] = kernels.try_emplace(item.symbol);
      if (!isNew)
        continue;
      kernel = &entry->second;
    }
    auto modules = [&]() -> Result<std::vector<KernelModule>> {
      // `finish` waits for who has begun with a kernel.
      try {
        return translate(item, lowering);
      } catch (const std::bad_alloc &) {
        return Error("there is not enough memory to compile a kernel",
                     ErrorCode::RESOURCE_EXHAUSTED);
      }
    }();
    std::lock_guard lock(mutex);
    const bool isWanted = last || wanted.contains(kernel);
    if (!modules && isWanted && problem.empty())
      problem = modules.error().message();
    if (!modules || (finishing && !isWanted)) {
      kernels.erase(item.symbol);
      return changed.notify_all();
    }
    kernel->modules = std::move(*modules);
    kernel->remaining = kernel->modules.size();
    kernel->objects.resize(kernel->remaining);
    for (size_t part = 0; part < kernel->remaining; ++part) {
      waiting.push_back({kernel, part});
      if (needsHelp())
        startHelper();
    }
    changed.notify_all();
  }
}

void KernelCompiler::Work::run(const char *name) {
  const bool isHelper = name != nullptr;
  std::optional<TimedScope> timed;
  auto beginTime = [&] {
    if (isHelper && !timed)
      timed.emplace(name, stage);
  };
  std::optional<CodeGenerator> generator;
  auto takeGenerator = [&] {
    auto taken = CodeGenerator::take(mode);
    if (!taken)
      failedWith(taken.error());
    else
      generator.emplace(std::move(*taken));
  };
  beginTime();
  if (isHelper)
    takeGenerator();
  std::unique_lock lock(mutex);
  while (problem.empty()) {
    if (isHelper ? waiting.empty() : !needsHelp()) {
      if (finishing && lowering == 0)
        return;
      if (!finishing && !std::exchange(createdAnother, true)) {
        lock.unlock();
        (void)CodeGenerator::take(mode);
        lock.lock();
        continue;
      }
      timed.reset();
      changed.wait(lock);
      continue;
    }
    if (!generator) {
      lock.unlock();
      takeGenerator();
      lock.lock();
      continue;
    }
    const auto [kernel, part] = waiting.front();
    waiting.pop_front();
    busy += isHelper;
    lock.unlock();
    beginTime();
    {
      const KernelModule module = std::move(kernel->modules[part]);
      kernel->objects[part] = generator->run(module);
    }
    lock.lock();
    busy -= isHelper;
    --kernel->remaining;
    changed.notify_all();
  }
}

KernelCompiler::KernelCompiler(CodegenMode mode)
    : work(std::make_unique<Work>(mode)) {}

KernelCompiler::~KernelCompiler() {
  stop();
  for (std::thread &helper : work->helpers)
    helper.join();
}

void KernelCompiler::stop() {
  {
    std::lock_guard lock(work->mutex);
    work->finishing = true;
    work->waiting.clear();
  }
  work->changed.notify_all();
}

void KernelCompiler::prepare(CodegenMode mode) {
  CodeGenerator::prepare(mode);
}

void KernelCompiler::begin(ArrayRef<KernelToCompile> kernels) {
  {
    std::lock_guard lock(work->mutex);
    ++work->lowering;
  }
  work->lowerCounted(kernels, /*last=*/false);
}

Result<std::vector<std::string>>
KernelCompiler::finish(ArrayRef<KernelToCompile> kernels) {
  std::vector<std::string> objects;
  if (kernels.empty())
    return objects;
  TimedScope timed("compile kernels");
  {
    std::lock_guard lock(work->mutex);
    work->finishing = true;
    ++work->lowering;
    for (const KernelToCompile &item : kernels)
      if (auto entry = work->kernels.find(item.symbol);
          entry != work->kernels.end())
        work->wanted.insert(&entry->second);
    std::erase_if(work->waiting, [&](const Work::Part &part) {
      return !work->wanted.contains(part.kernel);
    });
    if (work->helpers.empty())
      work->startHelper();
  }
  work->lowerCounted(kernels, /*last=*/true);
  work->run(nullptr);
  std::unique_lock lock(work->mutex);
  for (const KernelToCompile &item : kernels) {
    Work::Kernel *kernel = nullptr;
    work->changed.wait(lock, [&] {
      if (!work->problem.empty())
        return true;
      kernel = &work->kernels.at(item.symbol);
      return !kernel->modules.empty() && kernel->remaining == 0;
    });
    if (!work->problem.empty())
      return Error(work->problem);
    auto joined = joinObjects(kernel->objects);
    if (!joined)
      return joined.error();
    objects.push_back(std::move(*joined));
  }
  return objects;
}
