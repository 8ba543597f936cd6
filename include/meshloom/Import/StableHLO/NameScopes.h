// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The name scopes of programs of JAX.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Gives each op of a program of JAX the name scope that its location names, as
/// `jax.named_scope` writes it: "jit(step)/jvp(layer_0)/mlp/dot_general" is in
/// "layer_0/mlp". The scopes of a backward pass are "transpose(layer_0)/mlp".
/// Names of functions and of the parts of loops are left out. Ops in a named
/// computation of Shardy are in the scope of its name.
void readNameScopes(ModuleOp module);

} // namespace meshloom
