// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One op of the API: in a trace it adds dtensor ops; outside, it runs at once,
// as a compiled program of one op that is found by builder, options, types and
// layouts.
#pragma once

#include "meshloom/Engine/Emitter.h"
#include "meshloom/Engine/OpOptions.h"
#include "meshloom/Engine/Trace.h"

#include <functional>
#include <tuple>

namespace meshloom::detail {

/// Builds an op's results from its operands. A null result: there is none, for
/// these types and options.
using OpBody =
    std::function<SmallVector<Value>(Emitter &, ArrayRef<Value> operands)>;

class OpCall {
public:
  /// The op's name in messages.
  std::string_view name;
  std::vector<Tensor> operands;
  std::source_location where;
  std::optional<Layout> layout;
  /// Operands may be on several sets of devices, as in a function.
  bool mixesDevices = false;
  /// Its gradient is, in part, what a user's rule computes (custom_gradient).
  bool hasUserGradients = false;
  /// The context that `body` must be called in: the one of the function whose
  /// ops it copies. Null: any.
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
/// Runs an op that has one result.
Tensor runOp(OpCall call);

} // namespace meshloom::detail
