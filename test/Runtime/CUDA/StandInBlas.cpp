// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in cuBLASLt: a library with the functions of NVIDIA's cuBLASLt that
// Meshloom calls, which asks the stand-in driver for its work.
//
// It refuses what the real library refuses: matrices that do not fit each
// other, algorithms for another product, too little workspace, addresses that
// are less aligned than the algorithm was promised. It writes poison to its
// workspace, so that others who use that memory meanwhile have wrong results.
// Epilogues are those of one matrix, whose matrix of gelu's operands has a
// pitch of a multiple of 8. The gradient of a bias is alone or with gelu's, and
// has no algorithm for some shapes.
#include "../../../lib/Runtime/Backends/CUDA/BlasFacts.h"
#include "StandInDriver.h"
#include "StandInNumbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <span>

namespace meshloom::cuda {

struct BlasObject {};
struct BlasLayoutObject {
  BlasType type;
  int64_t rows, columns, pitch;
  int32_t batches = 1;
  int64_t batchStride = 0;
};
struct BlasEpilogueOperands {
  uint32_t bits = uint32_t(BlasEpilogue::None);
  char *bias = nullptr, *auxiliary = nullptr;
  int64_t auxiliaryPitch = 0;

  bool has(BlasEpilogue bit) const {
    return (bits & uint32_t(bit)) == uint32_t(bit);
  }
  bool is(BlasEpilogue epilogue) const { return bits == uint32_t(epilogue); }
  bool isBiasGradient() const {
    return is(BlasEpilogue::BiasGradientOfA) ||
           is(BlasEpilogue::BiasGradientOfB);
  }
  bool hasVector() const {
    return has(BlasEpilogue::Bias) || has(BlasEpilogue::BiasGradient) ||
           isBiasGradient();
  }
  /// Returns whether the bits are one of the library's epilogues.
  bool isKnown() const {
    const bool isForward = (bits & ~uint32_t(BlasEpilogue::Bias) &
                            ~uint32_t(BlasEpilogue::Auxiliary) &
                            ~uint32_t(BlasEpilogue::Gelu)) == 0;
    return is(BlasEpilogue::None) || isBiasGradient() ||
           (isForward &&
            (!has(BlasEpilogue::Auxiliary) || has(BlasEpilogue::Gelu))) ||
           (bits & ~uint32_t(BlasEpilogue::BiasGradient)) ==
               uint32_t(BlasEpilogue::GeluGradient);
  }
};
struct BlasProductObject {
  std::array<BlasTranspose, 2> transposes{};
  BlasEpilogueOperands epilogue;
};
struct BlasPreferenceObject {
  uint64_t workspaceBytes = 0;
  std::map<BlasPreferenceAttribute, uint32_t> alignments;
};

namespace {

/// A workspace is asked for where sums have at least so many terms.
constexpr int64_t fewTerms = 32;
constexpr uintptr_t workspaceAlignment = 16;
constexpr int poison = 0xee;

/// An operand of a product, as the product reads it.
struct Matrix {
  int64_t rows, columns;
  bool isTransposed;
  BlasLayoutObject layout;

  Matrix(const BlasLayoutObject &layout, BlasTranspose transpose)
      : rows(layout.rows), columns(layout.columns),
        isTransposed(transpose == BlasTranspose::Yes), layout(layout) {
    if (isTransposed)
      std::swap(rows, columns);
  }
  int64_t width() const { return layout.type == BlasType::F32 ? 4 : 2; }
  int64_t elements() const {
    return (layout.batches - 1) * layout.batchStride +
           (layout.columns - 1) * layout.pitch + layout.rows;
  }
  int64_t indexOf(int64_t batch, int64_t row, int64_t column) const {
    if (isTransposed)
      std::swap(row, column);
    return batch * layout.batchStride + column * layout.pitch + row;
  }
  bool isValid() const {
    return layout.rows > 0 && layout.columns > 0 &&
           layout.pitch >= layout.rows && layout.batches > 0;
  }
};

struct Product {
  Matrix a, b, out;
  BlasEpilogueOperands epilogue;

  bool isValidEpilogue() const {
    constexpr int64_t pitchUnit = 8;
    return epilogue.isKnown() &&
           (epilogue.is(BlasEpilogue::None) || out.layout.batches == 1) &&
           (!epilogue.hasVector() || epilogue.bias) &&
           (!epilogue.has(BlasEpilogue::Auxiliary) ||
            (epilogue.auxiliary && epilogue.auxiliaryPitch >= out.rows &&
             epilogue.auxiliaryPitch % pitchUnit == 0));
  }
  bool isValid() const {
    const bool areTypesValid =
        a.layout.type == b.layout.type &&
        (a.layout.type == out.layout.type || out.layout.type == BlasType::F32);
    return a.isValid() && b.isValid() && out.isValid() && areTypesValid &&
           isValidEpilogue() && a.rows == out.rows &&
           b.columns == out.columns && a.columns == b.rows &&
           a.layout.batches == out.layout.batches &&
           b.layout.batches == out.layout.batches;
  }
  /// Returns whether no algorithm adds up a bias's gradient: of narrow results.
  bool hasNoAlgorithm() const {
    constexpr int64_t unit = 4;
    return epilogue.isBiasGradient() && out.columns % unit != 0;
  }
  size_t workspaceBytes() const {
    return a.columns < fewTerms ? 0 : size_t(out.rows * out.columns) * 4;
  }
  /// An algorithm remembers this of the product that it is for.
  std::array<uint64_t, 4> key() const {
    return {uint64_t(out.rows), uint64_t(out.columns), uint64_t(a.columns),
            epilogue.bits * 8 + uint64_t(a.layout.type != out.layout.type) * 4 +
                uint64_t(a.isTransposed) * 2 + uint64_t(b.isTransposed)};
  }
};

/// Returns the type of numbers that one of the library's is.
DType numbersOf(BlasType type) {
  return type == BlasType::F32   ? DType::F32
         : type == BlasType::F16 ? DType::F16
                                 : DType::BF16;
}

float load(const char *array, int64_t index, BlasType type) {
  return float(loadNumber(array, index, numbersOf(type)));
}

void store(char *array, int64_t index, BlasType type, float value) {
  storeNumber(array, index, numbersOf(type), value);
}

/// gelu(u) = u / 2 (1 + tanh(slope (u + cubic u^3))), and its gradient.
constexpr float slope = 0.7978845608F, cubic = 0.044715F;
float gelu(float u) {
  return u / 2 * (1 + std::tanh(slope * (u + cubic * u * u * u)));
}
float geluGradient(float u) {
  const float inner = std::tanh(slope * (u + cubic * u * u * u));
  return (1 + inner) / 2 +
         u / 2 * (1 - inner * inner) * slope * (1 + 3 * cubic * u * u);
}

/// Returns the result that a sum becomes.
float finish(const Product &product, int64_t row, int64_t column, float sum) {
  const BlasEpilogueOperands &epilogue = product.epilogue;
  const BlasType type = product.out.layout.type;
  const int64_t place = column * epilogue.auxiliaryPitch + row;
  if (epilogue.has(BlasEpilogue::GeluGradient))
    return sum * geluGradient(load(epilogue.auxiliary, place, type));
  if (epilogue.has(BlasEpilogue::Bias))
    sum += load(epilogue.bias, row, type);
  if (epilogue.has(BlasEpilogue::Auxiliary))
    store(epilogue.auxiliary, place, type, sum);
  return epilogue.has(BlasEpilogue::Gelu) ? gelu(sum) : sum;
}

/// Adds up an operand over the terms, for each row of the result or column.
void sumOperand(const Product &product, const char *a, const char *b) {
  const bool isOfA = product.epilogue.is(BlasEpilogue::BiasGradientOfA);
  const BlasType type = product.a.layout.type;
  const int64_t count = isOfA ? product.out.rows : product.out.columns;
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int64_t term = 0; term < product.a.columns; ++term)
      sum += isOfA ? load(a, product.a.indexOf(0, i, term), type)
                   : load(b, product.b.indexOf(0, term, i), type);
    store(product.epilogue.bias, i, product.out.layout.type, sum);
  }
}

void compute(const Product &product, const char *a, const char *b, char *out) {
  const BlasType type = product.a.layout.type;
  const BlasEpilogueOperands &epilogue = product.epilogue;
  if (epilogue.isBiasGradient())
    sumOperand(product, a, b);
  std::vector<float> sums(size_t(product.out.rows));
  for (int64_t batch = 0; batch < product.out.layout.batches; ++batch)
    for (int64_t column = 0; column < product.out.columns; ++column)
      for (int64_t row = 0; row < product.out.rows; ++row) {
        float sum = 0;
        for (int64_t term = 0; term < product.a.columns; ++term)
          sum += load(a, product.a.indexOf(batch, row, term), type) *
                 load(b, product.b.indexOf(batch, term, column), type);
        const float result = finish(product, row, column, sum);
        sums[size_t(row)] += result;
        store(out, product.out.indexOf(batch, row, column),
              product.out.layout.type, result);
      }
  if (epilogue.has(BlasEpilogue::BiasGradient))
    for (int64_t row = 0; row < product.out.rows; ++row)
      store(epilogue.bias, row, product.out.layout.type, sums[size_t(row)]);
}

template <typename T>
BlasResult setValue(T &target, const void *value, size_t bytes) {
  if (!value || bytes != sizeof(T))
    return BlasResult::InvalidValue;
  std::memcpy(&target, value, bytes);
  return BlasResult::Success;
}

template <typename T> BlasResult destroy(T *object) {
  if (!object)
    return BlasResult::InvalidValue;
  delete object;
  return BlasResult::Success;
}

size_t bytesOf(const Matrix &matrix) {
  return size_t(matrix.elements() * matrix.width());
}

/// Returns whether the operands of the epilogue are memory of the GPU.
bool areOperandsMemory(const Product &product, const DeviceBytes &isMemory) {
  const BlasEpilogueOperands &epilogue = product.epilogue;
  const int64_t rows = product.out.rows, columns = product.out.columns;
  const int64_t auxiliary = (columns - 1) * epilogue.auxiliaryPitch + rows;
  auto isVector = [&](const char *address, int64_t elements) {
    return isMemory(address, size_t(elements * product.out.width()));
  };
  const int64_t vector =
      epilogue.is(BlasEpilogue::BiasGradientOfB) ? columns : rows;
  return (!epilogue.hasVector() || isVector(epilogue.bias, vector)) &&
         (!epilogue.has(BlasEpilogue::Auxiliary) ||
          isVector(epilogue.auxiliary, auxiliary));
}

/// The power of two, at most 16, that divides the address of the epilogue's
/// operands.
uint64_t alignmentOf(const BlasEpilogueOperands &epilogue) {
  constexpr uintptr_t largest = 16;
  return std::gcd(reinterpret_cast<uintptr_t>(epilogue.bias) |
                      reinterpret_cast<uintptr_t>(epilogue.auxiliary),
                  largest);
}

} // namespace

extern "C" {

const char *cublasLtGetStatusName(BlasResult result) {
  switch (result) {
  case BlasResult::InvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case BlasResult::NotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  case BlasResult::ExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  default:
    return "CUBLAS_STATUS_UNKNOWN";
  }
}

BlasResult cublasLtCreate(BlasHandle *handle) {
  *handle = new BlasObject;
  return BlasResult::Success;
}
BlasResult cublasLtDestroy(BlasHandle handle) {
  return destroy(handle);
}

BlasResult cublasLtMatmulDescCreate(BlasProductHandle *product,
                                    BlasCompute compute, BlasType scale) {
  if (compute != BlasCompute::F32 || scale != BlasType::F32)
    return BlasResult::InvalidValue;
  *product = new BlasProductObject;
  return BlasResult::Success;
}
BlasResult cublasLtMatmulDescDestroy(BlasProductHandle product) {
  return destroy(product);
}
BlasResult cublasLtMatmulDescSetAttribute(BlasProductHandle product,
                                          BlasProductAttribute attribute,
                                          const void *value, size_t bytes) {
  BlasEpilogueOperands &epilogue = product->epilogue;
  switch (attribute) {
  case BlasProductAttribute::TransposeA:
  case BlasProductAttribute::TransposeB:
    return setValue(
        product->transposes[attribute == BlasProductAttribute::TransposeB],
        value, bytes);
  case BlasProductAttribute::Epilogue:
    return setValue(epilogue.bits, value, bytes);
  case BlasProductAttribute::Bias:
    return setValue(epilogue.bias, value, bytes);
  case BlasProductAttribute::Auxiliary:
    return setValue(epilogue.auxiliary, value, bytes);
  case BlasProductAttribute::AuxiliaryPitch:
    return setValue(epilogue.auxiliaryPitch, value, bytes);
  }
  return BlasResult::InvalidValue;
}

BlasResult cublasLtMatrixLayoutCreate(BlasLayoutHandle *layout, BlasType type,
                                      uint64_t rows, uint64_t columns,
                                      int64_t pitch) {
  *layout = new BlasLayoutObject{type, int64_t(rows), int64_t(columns), pitch};
  return BlasResult::Success;
}
BlasResult cublasLtMatrixLayoutDestroy(BlasLayoutHandle layout) {
  return destroy(layout);
}
BlasResult cublasLtMatrixLayoutSetAttribute(BlasLayoutHandle layout,
                                            BlasLayoutAttribute attribute,
                                            const void *value, size_t bytes) {
  return attribute == BlasLayoutAttribute::BatchCount
             ? setValue(layout->batches, value, bytes)
             : setValue(layout->batchStride, value, bytes);
}

BlasResult cublasLtMatmulPreferenceCreate(BlasPreferenceHandle *preference) {
  *preference = new BlasPreferenceObject;
  return BlasResult::Success;
}
BlasResult cublasLtMatmulPreferenceDestroy(BlasPreferenceHandle preference) {
  return destroy(preference);
}
BlasResult
cublasLtMatmulPreferenceSetAttribute(BlasPreferenceHandle preference,
                                     BlasPreferenceAttribute attribute,
                                     const void *value, size_t bytes) {
  return attribute == BlasPreferenceAttribute::MostWorkspaceBytes
             ? setValue(preference->workspaceBytes, value, bytes)
             : setValue(preference->alignments[attribute], value, bytes);
}

BlasResult
cublasLtMatmulAlgoGetHeuristic(BlasHandle, BlasProductHandle description,
                               BlasLayoutHandle a, BlasLayoutHandle b,
                               BlasLayoutHandle c, BlasLayoutHandle out,
                               BlasPreferenceHandle preference, int requested,
                               BlasHeuristic *results, int *count) {
  const Product product{{*a, description->transposes[0]},
                        {*b, description->transposes[1]},
                        {*out, BlasTranspose::No},
                        description->epilogue};
  if (!product.isValid() || c != out || requested < 1)
    return BlasResult::InvalidValue;
  *count = 0;
  if (product.workspaceBytes() > preference->workspaceBytes ||
      product.hasNoAlgorithm())
    return BlasResult::NotSupported;
  *count = 1;
  results[0] = {.algorithm = {},
                .workspaceBytes = product.workspaceBytes(),
                .state = BlasResult::Success,
                .waves = 1,
                .reserved = {}};
  std::ranges::copy(product.key(), results[0].algorithm.data);
  using Attribute = BlasPreferenceAttribute;
  for (auto [place, attribute] : {std::pair(4, Attribute::AlignmentOfA),
                                  std::pair(5, Attribute::AlignmentOfB),
                                  std::pair(6, Attribute::AlignmentOfD)}) {
    const auto found = preference->alignments.find(attribute);
    constexpr uint64_t usual = 256;
    results[0].algorithm.data[place] =
        found == preference->alignments.end() ? usual : found->second;
  }
  results[0].algorithm.data[7] = alignmentOf(product.epilogue);
  return BlasResult::Success;
}

BlasResult cublasLtMatmul(BlasHandle handle, BlasProductHandle description,
                          const void *alpha, const void *a,
                          BlasLayoutHandle layoutOfA, const void *b,
                          BlasLayoutHandle layoutOfB, const void *beta,
                          const void *c, BlasLayoutHandle layoutOfC, void *out,
                          BlasLayoutHandle layoutOfOut,
                          const BlasAlgorithm *algorithm, void *workspace,
                          size_t workspaceBytes, StreamHandle stream) {
  if (!handle || !description || !layoutOfA || !layoutOfB || !layoutOfOut ||
      !algorithm || !a || !b || !out)
    return BlasResult::InvalidValue;
  const Product product{{*layoutOfA, description->transposes[0]},
                        {*layoutOfB, description->transposes[1]},
                        {*layoutOfOut, BlasTranspose::No},
                        description->epilogue};
  // Scales and results in place: we have no use for others.
  if (*static_cast<const float *>(alpha) != 1 ||
      *static_cast<const float *>(beta) != 0 || c != out ||
      layoutOfC != layoutOfOut)
    return BlasResult::NotSupported;
  const auto &data = algorithm->data;
  if (!product.isValid() ||
      !std::ranges::equal(product.key(), std::span(data, 4)) ||
      workspaceBytes < product.workspaceBytes() ||
      reinterpret_cast<uintptr_t>(workspace) % workspaceAlignment != 0)
    return BlasResult::InvalidValue;
  for (auto [place, address] : {std::pair(4, a), std::pair(5, b),
                                std::pair(6, static_cast<const void *>(out))})
    if (reinterpret_cast<uintptr_t>(address) % data[place] != 0)
      return BlasResult::NotSupported;
  if (alignmentOf(product.epilogue) < data[7])
    return BlasResult::NotSupported;
  const DriverResult asked = standInEnqueue(
      stream, "cublasLtMatmul", {},
      [product, a, b, out, workspace,
       workspaceBytes](const DeviceBytes &isMemory) -> std::string {
        if (!isMemory(a, bytesOf(product.a)) ||
            !isMemory(b, bytesOf(product.b)) ||
            !isMemory(out, bytesOf(product.out)) ||
            !areOperandsMemory(product, isMemory) ||
            (workspaceBytes > 0 && !isMemory(workspace, workspaceBytes)))
          return "a product of cuBLASLt is of no memory of the GPU";
        if (workspaceBytes > 0)
          std::memset(workspace, poison, workspaceBytes);
        compute(product, static_cast<const char *>(a),
                static_cast<const char *>(b), static_cast<char *>(out));
        return "";
      });
  return asked == DriverResult::Success ? BlasResult::Success
                                        : BlasResult::ExecutionFailed;
}

} // extern "C"
} // namespace meshloom::cuda
