// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FreeBatchFunction: a function for any size of batch, compiled for each size
// when a call needs it.
#pragma once

#include "meshloom/API/EvalShape.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/SavedFunction.h"

namespace meshloom {

/// The options of a FreeBatchFunction.
struct FreeBatchOptions {
  /// The name of the function in messages and programs.
  std::string name = "function";
  /// The layouts of the arguments of programs that are exported. None: tensors
  /// of the host, or replicated on the default mesh.
  std::vector<Layout> layouts = {};
  /// How many sizes are kept compiled; of more the one that was used least
  /// recently is dropped.
  int64_t max_sizes = 16;
};

/// A function of tensors in whose shapes one size, that of the batch, is free:
/// -1 stands for it. A handle: a copy has the same programs. May be called from
/// any thread.
///
///   FreeBatchFunction predict(
///       [&](const std::vector<Tensor> &x) { return std::vector{model(x[0])};
///       },
///       {{{-1, 784}, DType::F32}});
///   predict({images}); // compiled for as many images
class FreeBatchFunction {
public:
  /// Takes and returns tensors.
  using Body =
      std::function<std::vector<Tensor>(const std::vector<Tensor> &arguments)>;

  /// Throws meshloom::Error if there is no body, if no size is -1, if a size is
  /// less, if there are layouts, but not one for each argument, or if max_sizes
  /// is not positive.
  FreeBatchFunction(Body body, std::vector<TensorSpec> arguments,
                    FreeBatchOptions options = {},
                    Where where = Where::current());

  /// Runs the program for the size of batch that the arguments have. Throws
  /// meshloom::Error if an argument has another type or shape, or if two have
  /// different sizes of batch; and as the body does.
  std::vector<Tensor> operator()(const std::vector<Tensor> &arguments,
                                 Where where = Where::current()) const;
  /// The program for batches of `size`, with the layouts of the options.
  ConcreteFunction get_concrete_function(int64_t size) const;
  /// The sizes that are compiled now, in rising order.
  std::vector<int64_t> sizes() const;
  /// The shapes and types of the arguments.
  const std::vector<TensorSpec> &arguments() const;

  struct State;
  /// For Meshloom's own layers.
  const std::shared_ptr<State> &internal() const { return state; }

private:
  std::shared_ptr<State> state;
};

namespace detail {

/// The size of batch that `arguments` have by `specs`. Throws if they do not
/// fit.
int64_t batchSizeOf(std::string_view name, const std::vector<TensorSpec> &specs,
                    const std::vector<Tensor> &arguments);
/// The IR of the function as a text in which numbers follow from the size of
/// the batch. Throws if the function does something else for different sizes.
std::string batchTemplateOf(const FreeBatchFunction &function);
/// Compiles such a text for a size; see parse_function.
SavedFunction compileBatchTemplate(std::string_view text, int64_t size,
                                   std::string_view name,
                                   const std::optional<Mesh> &mesh);

} // namespace detail
} // namespace meshloom
