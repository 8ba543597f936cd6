// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the handlers of custom calls.
#pragma once

#include "Importer.h"

namespace meshloom::importer {

using Call = stablehlo::CustomCallOp;
using CustomCallHandler = Imported (*)(Importer &, Call);

/// An integer in the call's backend config, or nothing.
std::optional<int64_t> configured(Call op, StringRef name);
/// Reports other numbers of operands and results.
LogicalResult checkCounts(Importer &im, Call op, size_t operands,
                          size_t results);

/// Who imports a factorization: LAPACK's, or one of XLA's own. Null: `target`
/// is none.
CustomCallHandler matrixCallHandler(StringRef target);

/// A sparse matrix in rows times a dense one.
Imported importSparseProduct(Importer &im, Call op);

} // namespace meshloom::importer
