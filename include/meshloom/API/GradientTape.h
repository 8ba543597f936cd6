// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GradientTape: gradients of what was computed while it lives.
#pragma once

#include "meshloom/API/Variable.h"

namespace meshloom {

namespace detail {
class TapeState;
}

/// A variable and its gradient.
struct VariableGradient {
  Tensor gradient;    ///< of the variable's type, shape and layout
  DVariable variable; ///< what it is the gradient of
};
/// Gradients that optimizers apply, in the order of the variables asked for.
using Gradients = std::vector<VariableGradient>;

/// The gradient to a source that the target does not depend on: an error, or
/// zeros.
enum class UnconnectedGradients : uint8_t { Error, Zero };

/// The source of a gradient: a tensor, or a variable.
class GradientSource {
public:
  /// A tensor.
  GradientSource(const Tensor &source) : tensor(source) {}
  /// A variable: its value now.
  GradientSource(const DVariable &source) : variable(source) {}
  Tensor tensor;      ///< empty: it is `variable`
  DVariable variable; ///< empty: it is `tensor`
};

/// Records the ops that this thread runs while it lives, in a `function` and
/// outside; `gradient` differentiates them backwards. May be asked several
/// times, and inside another tape (second derivatives).
///
///   GradientTape tape;
///   Tensor y = reduce_sum(w * w);
///   Tensor dw = tape.gradient(y, w); // 2 w, with w's layout
///
/// `gradient` returns d sum(target) / d source, of the source's shape and type.
/// Throws meshloom::Error if target does not depend on source through ops that
/// have a gradient (with UnconnectedGradients::Zero that gives zeros), or if
/// either is not a float.
class [[nodiscard]] GradientTape {
public:
  /// The line of a call, for messages and reports.
  using Where = std::source_location;
  /// Begins to record.
  GradientTape();
  /// Ends recording.
  ~GradientTape();
  GradientTape(const GradientTape &) = delete;
  GradientTape &operator=(const GradientTape &) = delete;

  /// With respect to a tensor.
  [[nodiscard]] Tensor gradient(const Tensor &target, const Tensor &source,
                                UnconnectedGradients unconnected = {},
                                Where where = Where::current()) const;
  /// With respect to tensors, in their order.
  [[nodiscard]] std::vector<Tensor>
  gradient(const Tensor &target, const std::vector<Tensor> &sources,
           UnconnectedGradients unconnected = {},
           Where where = Where::current()) const;
  /// With respect to a variable.
  [[nodiscard]] Tensor gradient(const Tensor &target, const DVariable &source,
                                UnconnectedGradients unconnected = {},
                                Where where = Where::current()) const;
  /// With respect to variables, as optimizers take it.
  [[nodiscard]] Gradients gradient(const Tensor &target,
                                   const std::vector<DVariable> &sources,
                                   UnconnectedGradients unconnected = {},
                                   Where where = Where::current()) const;
  /// With respect to tensors and variables in one call.
  [[nodiscard]] std::vector<Tensor>
  gradient(const Tensor &target, const std::vector<GradientSource> &sources,
           UnconnectedGradients unconnected = {},
           Where where = Where::current()) const;
  /// The same of a list: gradient(y, {x, w}).
  [[nodiscard]] std::vector<Tensor>
  gradient(const Tensor &target, std::initializer_list<GradientSource> sources,
           UnconnectedGradients unconnected = {},
           Where where = Where::current()) const {
    return gradient(target, std::vector<GradientSource>(sources), unconnected,
                    where);
  }
  /// A list of tensors alone, or of variables alone.
  template <detail::TensorOrVariable T>
  [[nodiscard]] auto gradient(const Tensor &target,
                              std::initializer_list<T> sources,
                              UnconnectedGradients unconnected = {},
                              Where where = Where::current()) const {
    return gradient(target, std::vector<T>(sources), unconnected, where);
  }

  /// The gradients of the sum of targets[i] times output_gradients[i], of its
  /// shape and type: the product of those with the Jacobian. Zeros where a
  /// source is not connected and `unconnected` says so.
  [[nodiscard]] std::vector<Tensor>
  gradient(const std::vector<Tensor> &targets,
           const std::vector<GradientSource> &sources,
           const std::vector<Tensor> &output_gradients,
           UnconnectedGradients unconnected = {},
           Where where = Where::current()) const;
  /// The same of one target and one source.
  [[nodiscard]] Tensor gradient(const Tensor &target,
                                const GradientSource &source,
                                const Tensor &output_gradient,
                                UnconnectedGradients unconnected = {},
                                Where where = Where::current()) const {
    return gradient(std::vector{target}, std::vector{source},
                    std::vector{output_gradient}, unconnected, where)
        .front();
  }
  /// [target's shape..., source's shape...]: the derivative of each element of
  /// the target by each of the source; zeros where they are not connected.
  /// It computes no value again that led to the target: one reverse pass runs
  /// for all elements of the target side by side.
  [[nodiscard]] Tensor jacobian(const Tensor &target,
                                const GradientSource &source,
                                Where where = Where::current()) const;

  /// Ends recording; gradients of what was recorded may still be asked for.
  void stop_recording();
  /// For TensorFlow's spelling: all tensors are watched.
  void watch(const Tensor &) const {}

private:
  std::shared_ptr<detail::TapeState> state;
};

/// `x`, through which no gradient flows.
[[nodiscard]] Tensor
stop_gradient(const Tensor &x,
              std::source_location where = std::source_location::current());

} // namespace meshloom
