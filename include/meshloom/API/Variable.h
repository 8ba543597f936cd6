// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DVariable: a value with a name and a fixed layout that a program may update.
#pragma once

#include "meshloom/API/Tensor.h"

#include <functional>

namespace meshloom {

namespace detail {
class VariableState;
}

/// When the replicas of a strategy agree on what a variable is.
enum class VariableSynchronization : uint8_t {
  AUTO,     ///< as ON_WRITE
  NONE,     ///< never: strategies refuse it
  ON_WRITE, ///< at each assign: all replicas have one value
  ON_READ   ///< when it is read outside of replicas: each has its own
};
/// How what replicas assign becomes one value.
enum class VariableAggregation : uint8_t {
  NONE,              ///< not at all: replicas must assign the same
  SUM,               ///< their sum
  MEAN,              ///< their mean
  ONLY_FIRST_REPLICA ///< replica 0's
};

/// The options of DVariable.
struct VariableOptions {
  /// For messages, reports and checkpoints.
  std::string name = "";
  /// Given by Module::trainable_variables, and so to the optimizer.
  bool trainable = true;
  /// Default: the initial value's.
  std::optional<Layout> layout = std::nullopt;
  /// When replicas of a strategy agree on the value (see
  /// Distribute/Strategy.h).
  VariableSynchronization synchronization = VariableSynchronization::AUTO;
  /// How values that replicas of a strategy assign are combined.
  VariableAggregation aggregation = VariableAggregation::NONE;
  /// Maps a new value that an optimizer computes to an allowed one, such as the
  /// nearest one that is not negative; empty: it stays.
  std::function<Tensor(const Tensor &value)> constraint = {};
};

/// A variable: shape, type and layout are fixed by the initial value (but see
/// set_layout). A copy is the same variable. Use it where a Tensor is expected
/// to read it; in a `function` reads and assigns happen in program order, and a
/// read after an assign sees the new value.
///
///   DVariable w(call_with_layout([] { return zeros({4, 4}); }, layout));
///   w.assign_add(ones({4, 4}));
///   Tensor y = matmul(x, w);
///
/// Assigning updates in place where nothing else holds the old value; a tensor
/// read before keeps what it read. May be used from any thread.
///
/// A call that runs in the background and finds no memory reports its error
/// once: a read of one of its results or variables throws it, or the next call
/// that takes one of these variables. After that they have their old values.
///
/// One made without arguments, or moved from, is empty; every use of it but
/// `defined`, `is` and printing throws.
class DVariable {
public:
  /// The line of a call, for messages and reports.
  using Where = std::source_location;
  /// An empty one.
  DVariable() = default;
  /// Throws meshloom::Error if `initial` is empty or a value of a trace (make
  /// variables outside of a `function`, or in `init_scope`), or if
  /// options.layout conflicts with the layout of `initial`.
  explicit DVariable(const Tensor &initial, VariableOptions options = {},
                     Where where = Where::current());
  /// With a layout; see above.
  DVariable(const Tensor &initial, const Layout &layout,
            Where where = Where::current())
      : DVariable(initial, VariableOptions{"", true, layout}, where) {}

  /// The same variable.
  DVariable(const DVariable &) = default;
  /// The same variable; `other` is empty then.
  DVariable(DVariable &&other) noexcept = default;
  /// Makes this handle one of the other variable; no value changes.
  DVariable &operator=(const DVariable &) & = default;
  /// Moves, too.
  DVariable &operator=(DVariable &&) & noexcept = default;
  /// Values are assigned by name. The compiler shows these lines.
  // clang-format off
  template <typename T> requires std::is_arithmetic_v<T> || std::is_same_v<T, Tensor>
  void operator=(const T &) & = delete; // write w.assign(y)
  template <typename T> void operator=(const T &) && = delete; // write w.assign(y)
  // clang-format on

  /// Returns whether it is not empty.
  bool defined() const { return state != nullptr; }

  /// The value; see read_value.
  operator Tensor() const { return read_value(); }
  /// See Tensor.
  explicit operator bool() const { return bool(read_value()); }
  /// The value that it has now; later assigns do not change it.
  [[nodiscard]] Tensor read_value(Where where = Where::current()) const;
  /// Part of the value; see SliceOps.h.
  [[nodiscard]] Tensor operator[](const Index &index) const {
    return read_value(index.where)[index];
  }

  /// Takes the value, relayouted to the variable's layout. Throws
  /// meshloom::Error if shape or type differ, or if the value is on another
  /// mesh.
  const DVariable &assign(const TensorLike &value) const;
  /// Takes its value plus `value`; see assign.
  const DVariable &assign_add(const TensorLike &value) const;
  /// Takes its value minus `value`; see assign.
  const DVariable &assign_sub(const TensorLike &value) const;

  /// Changes rows: element or row indices[i], along dim 0, becomes (gains,
  /// loses, becomes the larger or smaller of itself and) updates[i]. indices
  /// [n], updates [n, ...]; see tensor_scatter_nd_update. Throws
  /// meshloom::Error as it and `assign` do.
  const DVariable &scatter_update(const Tensor &indices, const Tensor &updates,
                                  Where where = Where::current()) const;
  /// See scatter_update.
  const DVariable &scatter_add(const Tensor &indices, const Tensor &updates,
                               Where where = Where::current()) const;
  /// See scatter_update.
  const DVariable &scatter_sub(const Tensor &indices, const Tensor &updates,
                               Where where = Where::current()) const;
  /// See scatter_update.
  const DVariable &scatter_max(const Tensor &indices, const Tensor &updates,
                               Where where = Where::current()) const;
  /// See scatter_update.
  const DVariable &scatter_min(const Tensor &indices, const Tensor &updates,
                               Where where = Where::current()) const;

  /// Keeps the value and lays it out otherwise, on another mesh too. All
  /// functions are traced again at their next call. Throws meshloom::Error if
  /// ranks differ, or in a `function`.
  const DVariable &set_layout(const Layout &layout,
                              Where where = Where::current()) const;

  /// Global extents.
  const Shape &shape(Where where = Where::current()) const;
  /// Number of dims.
  int64_t rank(Where where = Where::current()) const {
    return int64_t(shape(where).size());
  }
  /// Type of the elements.
  DType dtype(Where where = Where::current()) const;
  /// How values are cut over the mesh.
  const Layout &layout(Where where = Where::current()) const;
  /// The given name, or one of its own.
  const std::string &name(Where where = Where::current()) const;
  /// Returns whether optimizers train it.
  bool trainable() const;
  /// The synchronization, with AUTO resolved.
  VariableSynchronization synchronization() const;
  /// The aggregation.
  VariableAggregation aggregation() const;
  /// The constraint; may be empty.
  const std::function<Tensor(const Tensor &value)> &constraint() const;

  /// The only element; see Tensor.
  template <typename T> T item(Where where = Where::current()) const {
    return read_value(where).item<T>(where);
  }
  /// All elements; see Tensor.
  template <typename T>
  std::vector<T> to_vector(Where where = Where::current()) const {
    return read_value(where).to_vector<T>(where);
  }

  /// Returns whether both are the same variable.
  bool is(const DVariable &other) const { return state == other.state; }
  /// For Meshloom's own layers.
  const std::shared_ptr<detail::VariableState> &internal() const {
    return state;
  }
  /// For Meshloom's own layers.
  static DVariable internalFrom(std::shared_ptr<detail::VariableState> state) {
    DVariable variable;
    variable.state = std::move(state);
    return variable;
  }

private:
  std::shared_ptr<detail::VariableState> state;
};

/// Name and value, as of a tensor.
std::ostream &operator<<(std::ostream &, const DVariable &);

namespace detail {
/// Before it is used: as its layer becomes a part of a model.
void renameVariable(const DVariable &variable, std::string name);
/// Returns how often layouts of variables have changed.
int64_t layoutGeneration();
} // namespace detail

} // namespace meshloom
