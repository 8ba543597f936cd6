// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The keys of kernels in the cache: the digest of the kernel that its name is,
// and of all else that its code depends on.
#include "KernelCache.h"

#include "meshloom/Support/BuildId.h"
#include "meshloom/Support/ContentCache.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace meshloom;

static std::string keyOf(StringRef symbol, CodegenMode mode) {
  static const auto &options = *new std::array<std::string, 3>([] {
    std::array<std::string, 3> texts;
    unsigned major = 0, minor = 0, patch = 0;
    LLVMGetVersion(&major, &minor, &patch); // of the library that is loaded
    for (CodegenMode mode :
         {CodegenMode::Quick, CodegenMode::Full, CodegenMode::Portable})
      texts[size_t(mode)] =
          (Twine(StringRef(buildId())) + " LLVM " + Twine(major) + "." +
           Twine(minor) + "." + Twine(patch) + " " + codegenOptions(mode))
              .str();
    return texts;
  }());
  llvm::BLAKE3 hasher;
  hasher.update(options[size_t(mode)]);
  hasher.update(StringRef("\0", 1));
  hasher.update(symbol);
  return "kernel" + llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
}

KernelObject meshloom::cachedKernel(StringRef symbol, CodegenMode mode) {
  return ContentCache::process().find(keyOf(symbol, mode));
}

bool meshloom::isKernelCached(StringRef symbol, CodegenMode mode) {
  return ContentCache::process().has(keyOf(symbol, mode));
}

Result<std::vector<KernelObject>>
meshloom::kernelObjects(ArrayRef<KernelToCompile> kernels, CodegenMode mode,
                        KernelCompiler &compiler) {
  std::vector<KernelObject> objects;
  std::vector<KernelToCompile> missing;
  std::vector<size_t> places;
  objects.reserve(kernels.size());
  for (const KernelToCompile &item : kernels) {
    objects.push_back(cachedKernel(item.symbol, mode));
    if (objects.back())
      continue;
    if (!item.script.empty()) {
      objects.back() = std::make_shared<const std::string>(item.script);
      ContentCache::process().store(keyOf(item.symbol, mode), objects.back());
    } else {
      places.push_back(objects.size() - 1);
      missing.push_back(item);
    }
  }
  auto compiled = compiler.finish(missing);
  if (!compiled)
    return compiled.error();
  for (auto [place, item, object] :
       llvm::zip_equal(places, missing, *compiled)) {
    objects[place] = std::make_shared<const std::string>(std::move(object));
    ContentCache::process().store(keyOf(item.symbol, mode), objects[place]);
  }
  return objects;
}
