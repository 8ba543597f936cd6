// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions for any size of batch, see FreeBatch.h.
#include "meshloom/API/FreeBatch.h"

#include "BatchTemplate.h"
#include "meshloom/Engine/Contexts.h"
#include "meshloom/Engine/OpCall.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/Trace.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/Compiler/Compiler.h"

#include "mlir/Parser/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>

namespace meshloom {
using namespace detail;

struct FreeBatchFunction::State {
  using Sized = std::pair<int64_t, Function<Body>>;

  Body body;
  std::vector<TensorSpec> arguments;
  FreeBatchOptions options;
  std::source_location where;

  std::mutex mutex;       ///< guards what follows
  std::list<Sized> sized; ///< the one that was used last comes first

  /// The function for a size, which has one trace for each layout.
  Function<Body> forSize(int64_t size) {
    std::lock_guard lock(mutex);
    auto found = std::ranges::find(sized, size, &Sized::first);
    if (found == sized.end()) {
      sized.emplace_front(size,
                          Function<Body>(body, {.name = options.name}, where));
      if (int64_t(sized.size()) > options.max_sizes)
        sized.pop_back();
    } else {
      sized.splice(sized.begin(), sized, found);
    }
    return sized.front().second;
  }
  /// Arguments of zeros.
  std::vector<Tensor> argumentsFor(int64_t size) const {
    if (size < 0)
      fail(options.name,
           fmt::format("expected a size of batch of 0 or more, got {}", size));
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < arguments.size(); ++i) {
      Shape shape = arguments[i].shape;
      std::ranges::replace(shape, -1, size);
      const Tensor argument = zeros(shape, arguments[i].dtype);
      tensors.push_back(
          options.layouts.empty()
              ? argument
              : relayoutOrDistribute(argument, options.layouts[i]));
    }
    return tensors;
  }

private:
  static Tensor relayoutOrDistribute(const Tensor &tensor,
                                     const Layout &layout) {
    return is_dtensor(tensor) ? relayout(tensor, layout)
                              : distribute(tensor, layout);
  }
};

FreeBatchFunction::FreeBatchFunction(Body body,
                                     std::vector<TensorSpec> arguments,
                                     FreeBatchOptions options, Where where)
    : state(std::make_shared<State>()) {
  if (!body)
    fail(options.name, "expected a body to trace, got none", &where);
  bool hasFree = false;
  for (const TensorSpec &spec : arguments)
    for (int64_t extent : spec.shape) {
      hasFree |= extent == -1;
      if (extent < -1)
        fail(options.name,
             fmt::format("expected sizes of 0 or more, or -1 for that of the "
                         "batch, got {}",
                         typeText(spec.dtype, spec.shape)),
             &where);
    }
  if (!hasFree)
    fail(options.name,
         "expected a size -1, that of the batch, in an argument's shape: a "
         "function of fixed shapes needs no FreeBatchFunction",
         &where);
  if (!options.layouts.empty() && options.layouts.size() != arguments.size())
    fail(options.name,
         fmt::format("expected a layout for each of {} arguments, got {}",
                     arguments.size(), options.layouts.size()),
         &where);
  if (options.max_sizes < 1)
    fail(options.name,
         fmt::format("expected max_sizes to be 1 or more, got {}",
                     options.max_sizes),
         &where);
  state->body = std::move(body);
  state->arguments = std::move(arguments);
  state->options = std::move(options);
  state->where = where;
}

std::vector<Tensor>
FreeBatchFunction::operator()(const std::vector<Tensor> &arguments,
                              Where where) const {
  return atLine(where, [&] {
    const int64_t size =
        batchSizeOf(state->options.name, state->arguments, arguments);
    return state->forSize(size)(arguments);
  });
}

ConcreteFunction FreeBatchFunction::get_concrete_function(int64_t size) const {
  const std::vector<Tensor> arguments = state->argumentsFor(size);
  return state->forSize(size).get_concrete_function(arguments);
}

std::vector<int64_t> FreeBatchFunction::sizes() const {
  std::lock_guard lock(state->mutex);
  std::vector<int64_t> sizes;
  for (const State::Sized &sized : state->sized)
    sizes.push_back(sized.first);
  std::ranges::sort(sizes);
  return sizes;
}

const std::vector<TensorSpec> &FreeBatchFunction::arguments() const {
  return state->arguments;
}

namespace detail {

/// "f32 [None, 784]".
static std::string specText(const TensorSpec &spec) {
  std::string text = typeText(spec.dtype, spec.shape);
  for (size_t place = 0; (place = text.find("-1", place)) != std::string::npos;)
    text.replace(place, 2, "None");
  return text;
}

int64_t batchSizeOf(std::string_view name, const std::vector<TensorSpec> &specs,
                    const std::vector<Tensor> &arguments) {
  if (arguments.size() != specs.size())
    fail(name, fmt::format("expected {} arguments, got {}", specs.size(),
                           arguments.size()));
  std::optional<int64_t> size;
  for (size_t i = 0; i < specs.size(); ++i) {
    const TensorNode &node = nodeOf(arguments[i], name);
    const Shape &expected = specs[i].shape;
    bool fits =
        node.dtype == specs[i].dtype && node.shape.size() == expected.size();
    for (size_t d = 0; fits && d < expected.size(); ++d) {
      if (expected[d] != -1) {
        fits = node.shape[d] == expected[d];
        continue;
      }
      if (size && *size != node.shape[d])
        fail(name, fmt::format("expected one size of batch in all arguments, "
                               "got {}, and {} in argument {}",
                               *size, node.shape[d], i));
      size = node.shape[d];
    }
    if (!fits)
      fail(name, fmt::format("expected {} as argument {}, got {}",
                             specText(specs[i]), i, typeText(arguments[i])));
  }
  return *size;
}

/// The function as traced for a size, with the lines of its ops.
static std::string tracedText(const FreeBatchFunction &function, int64_t size) {
  FreeBatchFunction::State &state = *function.internal();
  const std::vector<Tensor> inputs = state.argumentsFor(size);
  const Running running;
  InitScope outside;
  auto trace = std::make_shared<Trace>(state.options.name, functionContext());
  if (settings().deterministic)
    trace->beDeterministic();
  TraceScope scope(trace);
  std::string text;
  try {
    std::vector<Tensor> arguments;
    for (const Tensor &input : inputs)
      arguments.push_back(trace->addArgument(input));
    trace->finish(state.body(arguments), {});
    if (trace->isSpread())
      fail(state.options.name,
           "expected a function on one set of devices, got one on several");
    llvm::raw_string_ostream stream(text);
    trace->moduleOp()->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  } catch (...) {
    trace->abandon();
    throw;
  }
  trace->abandon();
  return text;
}

std::string batchTemplateOf(const FreeBatchFunction &function) {
  const auto [first, second, prime] = BatchTemplate::sizes;
  const std::string a = tracedText(function, first),
                    b = tracedText(function, second);
  // A program that takes multiples alone may refuse others when it is traced.
  std::optional<std::string> third;
  try {
    third = tracedText(function, prime);
  } catch (const Error &) {
  }
  if (third)
    if (Result<BatchTemplate> found = BatchTemplate::of(a, b, *third, prime))
      return found->text();
  return check(BatchTemplate::of(a, b,
                                 tracedText(function, BatchTemplate::multiple),
                                 BatchTemplate::multiple),
               function.internal()->options.name)
      .text();
}

SavedFunction compileBatchTemplate(std::string_view text, int64_t size,
                                   std::string_view name,
                                   const std::optional<Mesh> &mesh) {
  const Running running;
  const std::string program =
      check(BatchTemplate(std::string(text)).forSize(size), name);
  const std::shared_ptr<MLIRContext> context = functionContext();
  std::string diagnostics;
  std::string bytes;
  {
    const mlir::ScopedDiagnosticHandler handler(
        context.get(), [&](mlir::Diagnostic &diagnostic) {
          diagnostics += diagnostic.str();
          return mlir::success();
        });
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(program, context.get());
    if (!module)
      fail(name, fmt::format("the template of the program is damaged: {}",
                             diagnostics));
    CompileOptions options = optionsFor(mesh ? *mesh : hostMesh(), settings());
    options.codeAsBytes = true;
    bytes = check(compile(*module, options), name).serialize();
  }
  return parse_function(bytes, name, mesh);
}

} // namespace detail
} // namespace meshloom
