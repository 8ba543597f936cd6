// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the builder of an op gets beside its operands, as a part of the key by
// which the compiled op is found: so a builder can depend on nothing that the
// key does not say.
#pragma once

#include "OpCache.h"

#include "meshloom/API/CustomOps.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/LinalgOps.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/WindowOps.h"
#include "meshloom/Dialect/DTensor/Windows.h"

#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

namespace meshloom::detail {

/// Calls `visit` with each field of a struct of options. A structured binding
/// names all fields or does not compile, so none is forgotten.
template <typename F>
void visitFields(const dtensor::ConvolutionSpec &spec, F visit) {
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
template <typename F>
void visitFields(const dtensor::WindowSpec &spec, F visit) {
  const auto &[dimensions, strides, baseDilations, windowDilations, padding] =
      spec;
  for (const auto *list :
       {&dimensions, &strides, &baseDilations, &windowDilations, &padding})
    visit(*list);
}
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

template <typename T> constexpr bool isOptional = false;
template <typename T> constexpr bool isOptional<std::optional<T>> = true;

/// Adds the value of an option to a key. What is added begins with the number
/// of elements wherever that varies, so that different options of one type
/// never give the same bytes.
template <typename T> void addOption(CacheKey &key, const T &value) {
  if constexpr (std::is_same_v<T, Layout>) {
    key.layouts.push_back(value);
  } else if constexpr (isOptional<T>) {
    addOption(key, value.has_value());
    if (value)
      addOption(key, *value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    key.text.append(reinterpret_cast<const char *>(&value), sizeof(value));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    const std::string_view text = value;
    key.add(int64_t(text.size()));
    key.text += text;
  } else if constexpr (std::ranges::sized_range<T>) {
    key.add(int64_t(std::ranges::size(value)));
    for (const auto &element : value)
      addOption(key, element);
  } else {
    visitFields(value, [&](const auto &field) { addOption(key, field); });
  }
}

/// How a builder's options are stored until it runs: texts by value.
template <typename T>
using StoredOption =
    std::conditional_t<std::is_convertible_v<T, std::string_view>, std::string,
                       T>;

/// The address of this variable is different for each builder.
template <typename Builder> inline constexpr char builderIdentity = 0;

} // namespace meshloom::detail
