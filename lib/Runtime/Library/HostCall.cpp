// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kind of function a step calls.
#include "meshloom/Runtime/Library/HostCall.h"

#include "Denormals.h"
#include "Dot.h"
#include "LibraryCall.h"

#include <utility>

using namespace meshloom;
using namespace meshloom::library;

namespace {
thread_local uint64_t scope = 0;
} // namespace

CallScope::CallScope(uint64_t number) : before(std::exchange(scope, number)) {}
CallScope::~CallScope() {
  scope = before;
}
uint64_t CallScope::current() {
  return scope;
}

Result<HostCall> HostCall::make(const Program &program, const Step &step,
                                const CodeSymbols *code) {
  HostCall hostCall;
  if (auto *product = std::get_if<DotStep>(&step)) {
    auto typeOf = [&](const Operand &operand) {
      return program.buffers[operand.buffer].type;
    };
    const DotTypes types{typeOf(product->lhs), typeOf(product->rhs),
                         typeOf(product->out)};
    hostCall.dot =
        std::make_shared<const Dot>(*product, types, program.deterministic);
    hostCall.loops = product->loops.size();
    return hostCall;
  }
  const KernelStep &kernel = std::get<KernelStep>(step);
  KernelFunction function = nullptr;
  if (!kernel.symbol.empty()) {
    if (!code)
      return Error("the program was saved without its kernels");
    Result<const void *> found = code->lookup(kernel.symbol);
    if (!found)
      return found.error();
    function = asKernel(*found);
  }
  if (kernel.library.empty()) {
    hostCall.function = function;
    return hostCall;
  }
  auto call = LibraryCall::make(program, kernel, function);
  if (!call)
    return call.error();
  hostCall.call = std::move(*call);
  return hostCall;
}

Status HostCall::runOther(void *const *operands, const int64_t *strides,
                          const int64_t *origin, const int64_t *extents) const {
  if (call)
    return call->run(operands, strides, origin, extents);
  const DenormalsAreZeros mode;
  return dot->run(operands[0], operands[1], operands[2], extents,
                  {strides, strides + loops, strides + 2 * loops}, origin);
}
