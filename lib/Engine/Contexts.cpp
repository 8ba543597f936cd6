// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making and sharing contexts, see Contexts.h.
#include "meshloom/Engine/Contexts.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/StaticObjects.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include "llvm/PassRegistry.h"
#include "llvm/Support/ThreadPool.h"

#include <mutex>

namespace meshloom::detail {
namespace {

/// Programs are compiled to the very end of the process, see Running.h.
void keepCompiler() {
  keepStaticObjects(reinterpret_cast<const void *>(&mlir::verify));
  keepStaticObjects(
      reinterpret_cast<const void *>(&llvm::PassRegistry::getPassRegistry));
}

} // namespace

std::shared_ptr<MLIRContext> makeContext() {
  [[maybe_unused]] static const bool isRegistered = [] {
    keepCompiler();
    return true;
  }();
  beginToPrepare(CompileOptions());
  // Passes run on the thread that compiles: there is one function in a module.
  // The pool is there because a context with one has locks.
  static auto &pool =
      *new llvm::DefaultThreadPool(llvm::hardware_concurrency(1));
  auto context =
      std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->setThreadPool(pool);
  loadDialects(context.get());
  return context;
}

std::shared_ptr<MLIRContext> functionContext() {
  static std::mutex &mutex = *new std::mutex;
  static auto &shared = *new std::weak_ptr<MLIRContext>;
  std::lock_guard lock(mutex);
  std::shared_ptr<MLIRContext> context = shared.lock();
  if (!context)
    shared = context = makeContext();
  return context;
}

std::shared_ptr<MLIRContext> opContext() {
  static std::mutex &mutex = *new std::mutex;
  static auto &shared = *new std::shared_ptr<MLIRContext>;
  static int64_t used = 0;
  std::lock_guard lock(mutex);
  if (!shared || used == opsPerContext) {
    shared = makeContext();
    used = 0;
  }
  ++used;
  return shared;
}

} // namespace meshloom::detail
