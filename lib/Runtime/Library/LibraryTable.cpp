// Every library function of the CPU backend: one row each.
#include "LibraryTable.h"

#include "LibraryFunctions.h"

#include <algorithm>
#include <iterator>

using namespace meshloom;
using namespace meshloom::library;

static constexpr LibraryRow rows[] = {
    {"cholesky", makeCholesky},
    {"convolution", makeConvolution},
    {"cumulative", makeCumulative},
    {"custom_call", makeCustomCall},
    {"dynamic_slice", makeDynamicSlice},
    {"dynamic_update_slice", makeDynamicUpdateSlice},
    {"fft", makeFft},
    {"gather", makeGather},
    {"generic_reduce", makeGenericReduce},
    {"geqrf", makeGeqrf},
    {"householder_product", makeHouseholderProduct},
    {"reduce_window", makeReduceWindow},
    {"scatter", makeScatter},
    {"select_and_scatter", makeSelectAndScatter},
    {"sort", makeSort},
    {"top_k", makeTopK},
    {"triangular_solve", makeTriangularSolve},
};

const LibraryRow *library::findLibraryFunction(std::string_view name) {
  auto row = std::find_if(std::begin(rows), std::end(rows),
                          [&](const LibraryRow &r) { return r.name == name; });
  return row == std::end(rows) ? nullptr : row;
}
