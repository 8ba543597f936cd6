// Malformed IR, by libFuzzer: programs of the test suite with tokens left out,
// repeated, exchanged and changed. Each is parsed and, if that works, imported,
// partitioned and compiled: it ends in a program or in a diagnostic.
#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace meshloom;

namespace {

/// Words, numbers, single signs and runs of blanks.
std::vector<std::string> tokens(const std::string &text) {
  std::vector<std::string> list;
  auto kind = [](char c) {
    if (std::isalnum(uint8_t(c)) || c == '_' || c == '.')
      return 0;
    return std::isspace(uint8_t(c)) ? 1 : 2;
  };
  for (char c : text)
    if (!list.empty() && kind(c) < 2 && kind(list.back().back()) == kind(c))
      list.back() += c;
    else
      list.emplace_back(1, c);
  return list;
}

const char *const words[] = {
    "0",       "1",         "-1",    "7",   "9223372036854775807",
    "x",       "y",         "batch", "*",   "sum",
    "partial", "dtensor.",  "#mesh", "f32", "i1",
    "bf16",    "?",         "{",     "}",   "[",
    "]",       "<",         ">",     "(",   ")",
    ":",       "->",        "dims",  "i32", "8",
    "true",    "array<i64>"};

/// Runs the whole compiler on `text`; what it says goes nowhere.
void compileText(MLIRContext &context, const std::string &text) {
  bool diagnosed = false;
  mlir::ScopedDiagnosticHandler quiet(&context, [&](mlir::Diagnostic &) {
    diagnosed = true;
    return success();
  });
  auto module = mlir::parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    if (!diagnosed)
      std::abort();
    return;
  }
  CompileOptions options;
  options.machine =
      *MachineModel::preset(text.size() % 2 ? "ring" : "shared-memory");
  options.optimizeKernels = false;
  Result<Compiled> compiled = compile(*module, options);
  if (!compiled && compiled.error().message().empty())
    std::abort();
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  auto list = tokens({reinterpret_cast<char *>(data), size});
  if (list.empty())
    list.push_back("module {}");
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
    size_t at = random() % list.size(), other = random() % list.size();
    switch (random() % 6) {
    case 0:
      if (list.size() > 1)
        list.erase(list.begin() + ptrdiff_t(at));
      break;
    case 1:
      list.insert(list.begin() + ptrdiff_t(at), list[other]);
      break;
    case 2:
      std::swap(list[at], list[other]);
      break;
    case 3:
      list[at] = words[random() % std::size(words)];
      break;
    case 4:
      list[at] = list[other];
      break;
    default:
      if (std::isdigit(uint8_t(list[at][0])))
        list[at] = std::to_string(random() % 20);
    }
  }
  std::string text;
  for (const std::string &token : list)
    text += token;
  size = std::min(text.size(), maxSize);
  std::memcpy(data, text.data(), size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A new context now and then: attributes are never freed.
  static std::unique_ptr<MLIRContext> context;
  static int uses = 0;
  if (!context || ++uses % 200 == 0) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    registerGradients(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }
  compileText(*context, {reinterpret_cast<const char *>(data), size});
  return 0;
}
