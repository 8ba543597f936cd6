// The makers of all library functions, for the table in LibraryTable.cpp.
#pragma once

#include "Library.h"

namespace meshloom::library {

// Gather.cpp, Scatter.cpp
MadeRoutine makeGather(const LibraryStep &step);
MadeRoutine makeDynamicSlice(const LibraryStep &step);
MadeRoutine makeScatter(const LibraryStep &step);
MadeRoutine makeDynamicUpdateSlice(const LibraryStep &step);
// Sort.cpp
MadeRoutine makeSort(const LibraryStep &step);
MadeRoutine makeTopK(const LibraryStep &step);
MadeRoutine makeGenericReduce(const LibraryStep &step);
// Factorizations.cpp, Fourier.cpp, CustomCalls.cpp
MadeRoutine makeCholesky(const LibraryStep &step);
MadeRoutine makeTriangularSolve(const LibraryStep &step);
MadeRoutine makeGeqrf(const LibraryStep &step);
MadeRoutine makeHouseholderProduct(const LibraryStep &step);
MadeRoutine makeFft(const LibraryStep &step);
MadeRoutine makeCustomCall(const LibraryStep &step);
// ConvolutionCall.cpp, WindowReduce.cpp, SelectAndScatter.cpp, Cumulative.cpp
MadeRoutine makeConvolution(const LibraryStep &step);
MadeRoutine makeReduceWindow(const LibraryStep &step);
MadeRoutine makeSelectAndScatter(const LibraryStep &step);
MadeRoutine makeCumulative(const LibraryStep &step);

} // namespace meshloom::library
