// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps between DVariable's constructor and the variable: creators, which
// a thread installs for a while, and the policy by which a strategy's variable
// is read and assigned.
#pragma once

#include "meshloom/API/Variable.h"

#include <functional>

namespace meshloom {

/// Makes the variable that the next creator, at last DVariable itself, makes of
/// these.
using NextVariable =
    std::function<DVariable(const Tensor &initial, VariableOptions options)>;
/// Is called for each variable that is made while it is installed; gives what
/// `next` makes, of what it was given or of something else.
using VariableCreator = std::function<DVariable(
    const NextVariable &next, const Tensor &initial, VariableOptions options)>;

/// While it lives, variables of this thread are made by a creator. Nests: the
/// innermost one is asked first, and its `next` are those around it.
///
///   auto scope = variable_creator_scope(
///       [](const NextVariable &next, const Tensor &initial,
///          VariableOptions options) {
///         options.name = "frozen/" + options.name;
///         options.trainable = false;
///         return next(initial, options);
///       });
class [[nodiscard]] VariableCreatorScope {
public:
  /// See variable_creator_scope.
  explicit VariableCreatorScope(VariableCreator creator);
  ~VariableCreatorScope();
  VariableCreatorScope(const VariableCreatorScope &) = delete;
  VariableCreatorScope &operator=(const VariableCreatorScope &) = delete;

private:
  std::shared_ptr<const VariableCreator> creator;
};
/// See VariableCreatorScope. Throws meshloom::Error if there is no creator.
inline VariableCreatorScope variable_creator_scope(VariableCreator creator) {
  return VariableCreatorScope(std::move(creator));
}

namespace detail {

/// The ways in which an assign changes a variable.
enum class VariableUpdate : uint8_t { Assign, Add, Subtract };
/// The ways in which a scatter changes rows of a variable.
enum class RowUpdate : uint8_t { Update, Add, Subtract, Max, Min };
/// "assign", "assign_add", "assign_sub".
std::string_view name(VariableUpdate update);
/// "scatter_update", ...
std::string_view name(RowUpdate update);

/// How a variable is read and assigned that is not just its stored value. Calls
/// the functions below for the stored one.
class VariablePolicy {
public:
  virtual ~VariablePolicy() = default;
  /// The shape that the user sees; null: the stored value's.
  virtual const Shape *shape() const { return nullptr; }
  virtual const Layout *layout() const { return nullptr; }
  virtual Tensor read(const DVariable &variable,
                      std::source_location where) const = 0;
  virtual void assign(const DVariable &variable, VariableUpdate update,
                      const TensorLike &value) const = 0;
  virtual void scatter(const DVariable &variable, RowUpdate update,
                       const Tensor &indices, const Tensor &updates,
                       std::source_location where) const = 0;
  virtual void print(std::ostream &out, const DVariable &variable) const = 0;
};

/// The same variable, from now on read and assigned by `policy`.
void setPolicy(const DVariable &variable,
               std::shared_ptr<const VariablePolicy> policy);
/// The policy of the variable, or null.
const VariablePolicy *policyOf(const DVariable &variable);
/// From now on the value is on `mesh`, a single device, while nothing uses it;
/// what uses it finds it in the variable's layout, and brings it back.
void keepBetweenUses(const DVariable &variable, const Mesh &mesh);
/// Past the policy.
Tensor readStored(const DVariable &variable, std::source_location where);
void assignStored(const DVariable &variable, VariableUpdate update,
                  const TensorLike &value);
void scatterStored(const DVariable &variable, RowUpdate update,
                   const Tensor &indices, const Tensor &updates,
                   std::source_location where);
/// The rows of `value` after the update.
Tensor scattered(const Tensor &value, RowUpdate update, const Tensor &indices,
                 const Tensor &updates, std::source_location where);

} // namespace detail
} // namespace meshloom
