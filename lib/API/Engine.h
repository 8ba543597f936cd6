// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One op of the API: in a trace it adds dtensor ops, else it runs at once, as a
// compiled one-op Program found by (builder, options, types, layouts).
#pragma once

#include "DeviceProgram.h"
#include "OpCache.h"
#include "OpOptions.h"
#include "Trace.h"

#include "meshloom/Autodiff/GradientBuilder.h"
#include "meshloom/Compiler/Compiler.h"

#include <functional>
#include <tuple>

namespace meshloom::detail {

/// What the bodies of API ops are written with.
class Emitter : public GradientBuilder {
public:
  using GradientBuilder::GradientBuilder;

  /// `number` in any element type.
  Value number(Type elementType, double real, int64_t integer,
               ArrayRef<int64_t> shape = {});
  Value number(Type elementType, int64_t integer,
               ArrayRef<int64_t> shape = {}) {
    return number(elementType, double(integer), integer, shape);
  }
  /// `value` in any element type: of integers the nearest towards zero, which
  /// for an infinity is the least or largest there is.
  Value real(Type elementType, double value, ArrayRef<int64_t> shape = {});
  /// NumPy broadcasting: dims aligned at the end.
  Value broadcastTo(Value value, ArrayRef<int64_t> shape);
  /// Both in the shape that they broadcast to.
  std::pair<Value, Value> broadcastTogether(Value a, Value b);
  /// Marks the op that made `value` as one that no gradient flows through.
  Value stopped(Value value);
  /// The maximum along `dims`, for subtracting before exp: a constant to
  /// gradients, where it cancels.
  Value shiftFor(Value value, ArrayRef<int64_t> dims);
  /// indices [...] -> i1 [..., depth]: whether the last index is the one given.
  Value isHot(Value indices, ArrayRef<int64_t> shape);
  Value iota(ArrayRef<int64_t> shape, int64_t dim, Type elementType);
  Value logicalNot(Value value) { return make<dtensor::NotOp>(value); }
  Type elementType(Value value) { return typeOf(value).getElementType(); }
  ArrayRef<int64_t> shape(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
};

/// Builds an op's results from its operands. A null result: there is none, for
/// these types and options.
using OpBody =
    std::function<SmallVector<Value>(Emitter &, ArrayRef<Value> operands)>;

class OpCall {
public:
  /// What messages call the op.
  std::string_view name;
  std::vector<Tensor> operands;
  std::source_location where;
  std::optional<Layout> layout;
  /// Operands may be on several sets of devices, as in a function.
  bool mixesDevices = false;
  /// What `body` must be called in: that of the function whose ops it copies.
  /// Null: any.
  std::shared_ptr<MLIRContext> context;

  /// Says how the op is built: Builder{}(emitter, operands, options...). The
  /// builder is a lambda without captures, so its results depend on nothing but
  /// the operands and the options, and these are the key by which the compiled
  /// op is found.
  template <typename Builder, typename... Options>
  void setBody(Builder, const Options &...options) {
    static_assert(
        std::is_empty_v<Builder>,
        "a builder captures nothing: pass what it needs as an option, "
        "which makes it a part of the key");
    opKey = CacheKey();
    opKey.add(intptr_t(&builderIdentity<Builder>));
    (addOption(opKey, options), ...);
    opBody = [values = std::tuple<StoredOption<Options>...>(options...)](
                 Emitter &emitter, ArrayRef<Value> operands) {
      return std::apply(
          [&](const auto &...stored) -> SmallVector<Value> {
            return Builder{}(emitter, operands, stored...);
          },
          values);
    };
  }
  /// The same for a body that copies recorded ops, which `key` identifies.
  void setRecorded(const std::string &key, OpBody body) {
    opKey = CacheKey();
    opKey.add(intptr_t(&builderIdentity<void>));
    addOption(opKey, key);
    opBody = std::move(body);
  }
  const CacheKey &key() const { return opKey; }
  const OpBody &body() const { return opBody; }

private:
  CacheKey opKey;
  OpBody opBody;
};

/// `value` with a layout that propagation has to give it, in the trace of this
/// thread.
Value constrained(Emitter &emitter, Value value, const Layout &layout);

/// The results, null tensors for those that there are none of.
std::vector<Tensor> runOps(OpCall call);
/// Of an op with one result.
Tensor runOp(OpCall call);

/// A compiled program on its client.
struct Loaded {
  std::shared_ptr<Executable> executable;
  double compileSeconds = 0;
};
/// `layout` of a loaded program on the mesh that the user made, one of
/// `meshes`, where it has its axes; else as it is, on the meshes' refinement.
Layout onMeshOf(std::span<const Mesh> meshes, const Layout &layout);
/// Runs a program whose values are on `meshes` of the user's, over the same
/// devices: takes arrays, which may be on other devices, and gives arrays on
/// them. Where other processes run it
/// too, they agree on it before its first run. An Error where memory does not
/// suffice. `accepted`: see Executable::execute.
Result<std::vector<Array>> execute(const std::shared_ptr<Executable> &program,
                                   std::span<const Mesh> meshes,
                                   std::vector<Array> arguments,
                                   const std::function<void()> &accepted = {});
/// Fails where `execute` would refuse the arguments.
Status mayExecute(const std::shared_ptr<Executable> &program,
                  std::span<const Mesh> meshes,
                  std::span<const Array> arguments);
/// For the devices of `mesh`.
CompileOptions optionsFor(const Mesh &mesh, const Settings &settings);
/// Compiles `module` for the devices of `mesh` and loads it. `explain`: see
/// CompileOptions.
Loaded compileAndLoad(ModuleOp module, const Mesh &mesh,
                      const Settings &settings, std::string_view op,
                      raw_ostream *explain = nullptr);

} // namespace meshloom::detail
