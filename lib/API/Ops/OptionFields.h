// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields of the structs that builders of ops take as options; see
// addOption.
#pragma once

#include "meshloom/Engine/OpOptions.h"

#include "meshloom/API/CustomOps.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/LinalgOps.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/WindowOps.h"
#include "meshloom/Dialect/DTensor/Windows.h"

namespace meshloom::dtensor {

/// Calls `visit` with each field of a struct of options. A structured binding
/// names all fields or does not compile, so none is forgotten.
template <typename F> void visitFields(const ConvolutionSpec &spec, F visit) {
  const auto &[strides, padding, lhsDilation, rhsDilation, reversal, inputBatch,
               inputFeature, inputSpatial, kernelInput, kernelOutput,
               kernelSpatial, outputBatch, outputFeature, outputSpatial,
               featureGroups, batchGroups] = spec;
  for (const auto *list : {&strides, &padding, &lhsDilation, &rhsDilation,
                           &inputSpatial, &kernelSpatial, &outputSpatial})
    visit(*list);
  visit(reversal);
  for (int64_t number :
       {inputBatch, inputFeature, kernelInput, kernelOutput, outputBatch,
        outputFeature, featureGroups, batchGroups})
    visit(number);
}
template <typename F> void visitFields(const WindowSpec &spec, F visit) {
  const auto &[dimensions, strides, baseDilations, windowDilations, padding] =
      spec;
  for (const auto *list :
       {&dimensions, &strides, &baseDilations, &windowDilations, &padding})
    visit(*list);
}

} // namespace meshloom::dtensor

namespace meshloom {

template <typename F> void visitFields(const DotDims &dims, F visit) {
  const auto &[lhsBatch, rhsBatch, lhsContracting, rhsContracting] = dims;
  for (const auto *list :
       {&lhsBatch, &rhsBatch, &lhsContracting, &rhsContracting})
    visit(*list);
}
template <typename F> void visitFields(const MatMulOptions &options, F visit) {
  const auto &[transposeA, transposeB] = options;
  visit(transposeA);
  visit(transposeB);
}
template <typename F>
void visitFields(const CumulativeOptions &options, F visit) {
  const auto &[exclusive, reverse] = options;
  visit(exclusive);
  visit(reverse);
}
template <typename F>
void visitFields(const TriangularSolveOptions &options, F visit) {
  const auto &[lower, leftSide, adjoint, transpose, unitDiagonal] = options;
  for (bool flag : {lower, leftSide, adjoint, transpose, unitDiagonal})
    visit(flag);
}
template <typename F> void visitFields(const TensorType &type, F visit) {
  const auto &[dtype, shape] = type;
  visit(dtype);
  visit(shape);
}
template <typename F> void visitFields(const PadDim &dim, F visit) {
  const auto &[low, high, interior] = dim;
  for (int64_t count : {low, high, interior})
    visit(count);
}

} // namespace meshloom
