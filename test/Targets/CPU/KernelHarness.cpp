// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing, compiling and calling for KernelHarness.h.
#include "KernelHarness.h"

#include "meshloom/Core/DType.h"
#include "meshloom/Runtime/Library/HostCall.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

using namespace meshloom;

/// Compiles, or ends the test program: nothing after it could run.
static Compiled compileText(const std::string &text, bool optimize) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "does not parse: " << text;
    abort();
  }
  CompileOptions options;
  options.machine = *MachineModel::preset("shared-memory");
  options.optimizeKernels = optimize;
  auto result = compile(*module, options);
  if (!result) {
    ADD_FAILURE() << result.error().message();
    abort();
  }
  return std::move(*result);
}

KernelHarness::KernelHarness(const std::string &text, bool optimize)
    : compiled(compileText(text, optimize)) {}

std::vector<const KernelStep *> KernelHarness::kernels() const {
  std::vector<const KernelStep *> result;
  for (const Step &step : compiled.program().steps)
    if (auto *kernel = std::get_if<KernelStep>(&step))
      result.push_back(kernel);
  return result;
}

void KernelHarness::call(const KernelStep &kernel,
                         const std::vector<Array> &arrays,
                         const Part *part) const {
  size_t loops = kernel.loops.size();
  std::vector<int64_t> origin(loops), extents;
  for (const Loop &loop : kernel.loops)
    extents.push_back(loop.extent);
  if (part) {
    origin = part->origin;
    extents = part->extents;
  }
  std::vector<const Operand *> operands;
  for (const Operand &input : kernel.inputs)
    operands.push_back(&input);
  for (size_t i = 0; i < kernel.outputs.size(); ++i)
    if (kernel.inPlace[i] < 0)
      operands.push_back(&kernel.outputs[i]);
  ASSERT_EQ(operands.size(), arrays.size());
  std::vector<void *> addresses;
  std::vector<int64_t> strides;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Operand &operand = *operands[k];
    ASSERT_EQ(operand.dims.size(), arrays[k].strides.size());
    int64_t offset = 0;
    std::vector<int64_t> stride(loops);
    for (size_t dim = 0; dim < operand.dims.size(); ++dim) {
      offset += operand.dims[dim].offset * arrays[k].strides[dim];
      for (auto [loop, coefficient] : operand.dims[dim].terms) {
        stride[loop] += coefficient * arrays[k].strides[dim];
        offset += coefficient * origin[loop] * arrays[k].strides[dim];
      }
    }
    unsigned width = byteWidth(compiled.program().buffers[operand.buffer].type);
    addresses.push_back(static_cast<char *>(arrays[k].data) + offset * width);
    strides.insert(strides.end(), stride.begin(), stride.end());
  }
  const Step step(kernel);
  auto function = library::HostCall::make(compiled.program(), step,
                                          compiled.code().symbols.get());
  ASSERT_TRUE(bool(function)) << function.error().message();
  const Status done = function->run(addresses.data(), strides.data(),
                                    origin.data(), extents.data());
  ASSERT_TRUE(bool(done)) << done.error().message();
}

void KernelHarness::call(const std::vector<Array> &arrays,
                         const Part *part) const {
  ASSERT_EQ(kernels().size(), 1u);
  call(*kernels().front(), arrays, part);
}
