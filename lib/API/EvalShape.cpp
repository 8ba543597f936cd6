// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eval_shape: a trace that is thrown away, see EvalShape.h.
#include "meshloom/API/EvalShape.h"
#include "meshloom/Engine/Contexts.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/Trace.h"

#include "meshloom/API/Create.h"

namespace meshloom {
using namespace detail;

std::vector<TensorSpec> eval_shape(
    const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
    const std::vector<TensorSpec> &inputs) {
  constexpr std::string_view op = "eval_shape";
  if (!body)
    fail(op, "expected a body to trace, got none");
  Running running;
  auto trace = std::make_shared<Trace>("eval_shape", opContext());
  TraceScope scope(trace);
  std::vector<TensorSpec> specs;
  try {
    std::vector<Tensor> arguments;
    {
      const CallName name(op);
      for (const TensorSpec &input : inputs)
        arguments.push_back(zeros(input.shape, input.dtype));
    }
    for (const Tensor &result : body(arguments)) {
      const TensorNode &node = nodeOf(result, op);
      specs.push_back({node.shape, node.dtype});
    }
  } catch (...) {
    trace->abandon();
    throw;
  }
  trace->abandon();
  return specs;
}

} // namespace meshloom
