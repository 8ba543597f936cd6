// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JAX names an op by the path of its scopes, in which transformations are
// written as functions of a scope, and ends it with the name of the primitive.
#include "meshloom/Import/StableHLO/NameScopes.h"

#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

namespace meshloom {

/// Removes `function` and its parentheses from `part` if it is a call of it.
static bool consumeCall(StringRef &part, StringRef function) {
  StringRef argument = part;
  if (!argument.consume_front(function) || !argument.consume_front("(") ||
      !argument.consume_back(")"))
    return false;
  part = argument;
  return true;
}

/// Returns the scope that one part of a path names; empty where it names none.
static std::string scopeOfPart(StringRef part) {
  constexpr std::array<StringRef, 4> loopParts{"while", "body", "cond",
                                               "closed_call"};
  if (llvm::is_contained(loopParts, part) || part.starts_with("jit("))
    return "";
  const bool isTransposed = consumeCall(part, "transpose");
  consumeCall(part, "jvp");
  if (part.empty() || !isTransposed)
    return part.str();
  return "transpose(" + part.str() + ")";
}

static std::string scopeOfPath(StringRef path) {
  // Options of a primitive may hold anything.
  path = path.take_until([](char letter) { return letter == '['; });
  StringRef scopes = path.rsplit('/').first;
  if (scopes == path) // a name alone is that of an argument or a primitive
    return "";
  std::string joined;
  while (!scopes.empty()) {
    StringRef part;
    std::tie(part, scopes) = scopes.split('/');
    const std::string scope = scopeOfPart(part);
    if (!scope.empty())
      joined += (joined.empty() ? "" : "/") + scope;
  }
  return joined;
}

/// Gives the ops of each named computation its name as a scope.
static void readNamedComputations(ModuleOp module) {
  module.walk<mlir::WalkOrder::PreOrder>(
      [](sdy::NamedComputationOp computation) {
        computation.getBody().walk([&](Operation *op) {
          op->setLoc(inPart(op->getLoc(), computation.getName()));
        });
      });
}

void readNameScopes(ModuleOp module) {
  module.walk([](Operation *op) {
    auto name = dyn_cast<mlir::NameLoc>(op->getLoc());
    if (!name)
      return;
    const std::string scope = scopeOfPath(name.getName().strref());
    if (!scope.empty())
      op->setLoc(inPart(name, scope));
  });
  readNamedComputations(module);
}

} // namespace meshloom
