// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's factorizations, Fourier transforms and users' functions: the
// plainest algorithms, in f64, real numbers as complex ones.
#include "Matrices.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Dialect/DTensor/DTensor.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace meshloom::interpreter {
namespace {

Values cholesky(const Call &call) {
  bool lower = cast<dtensor::CholeskyOp>(call.op).getLower();
  HostValue from = call[0], out = call.result();
  for (int64_t m = 0; m < matricesOf(out); ++m) {
    MatrixView a(from, m), l(out, m);
    // The upper triangle is the lower one of the adjoint.
    auto input = [&](int64_t r, int64_t c) {
      return lower ? a(r, c) : std::conj(a(c, r));
    };
    auto factor = [&](int64_t r, int64_t c) {
      return lower ? l(r, c) : std::conj(l(c, r));
    };
    auto put = [&](int64_t r, int64_t c, Number number) {
      lower ? l.put(r, c, number) : l.put(c, r, std::conj(number));
    };
    bool definite = true;
    for (int64_t c = 0; c < a.rows; ++c)
      for (int64_t r = c; r < a.rows; ++r) {
        Number remainder = r == c ? input(r, c).real() : input(r, c);
        definite &= std::isfinite(std::abs(remainder));
        for (int64_t k = 0; k < c; ++k)
          remainder -= factor(r, k) * std::conj(factor(c, k));
        if (r == c) {
          definite &= remainder.real() > 0;
          put(c, c, std::sqrt(remainder.real()));
        } else {
          put(r, c, remainder / factor(c, c));
        }
      }
    double nan = std::numeric_limits<double>::quiet_NaN();
    for (int64_t c = 0; !definite && c < a.rows; ++c)
      for (int64_t r = c; r < a.rows; ++r)
        put(r, c, Number(nan, 0));
  }
  return {std::move(out)};
}

Values triangularSolve(const Call &call) {
  auto op = cast<dtensor::TriangularSolveOp>(call.op);
  HostValue from = call[0], out = call[1];
  bool turned = op.getTransposeA() != "NO_TRANSPOSE";
  bool isLeft = op.getLeftSide(), lower = op.getLower();
  for (int64_t m = 0; m < matricesOf(out); ++m) {
    MatrixView a(from, m), x(out, m);
    // The matrix that stands on the left in the end.
    bool swaps = turned == isLeft;
    auto coefficient = [&](int64_t r, int64_t c) {
      Number number = swaps ? a(c, r) : a(r, c);
      return op.getTransposeA() == "ADJOINT" ? std::conj(number) : number;
    };
    bool down = lower != swaps;
    int64_t n = a.rows, others = isLeft ? x.columns : x.rows;
    for (int64_t other = 0; other < others; ++other)
      for (int64_t step = 0; step < n; ++step) {
        int64_t r = down ? step : n - 1 - step;
        auto unknown = [&](int64_t i) {
          return isLeft ? x(i, other) : x(other, i);
        };
        Number remainder = unknown(r);
        for (int64_t k = 0; k < step; ++k) {
          int64_t solved = down ? k : n - 1 - k;
          remainder -= coefficient(r, solved) * unknown(solved);
        }
        if (!op.getUnitDiagonal())
          remainder /= coefficient(r, r);
        isLeft ? x.put(r, other, remainder) : x.put(other, r, remainder);
      }
  }
  return {std::move(out)};
}

/// The discrete Fourier transform along `dim`, by its definition.
void transform(std::vector<Number> &values, const Shape &shape, size_t dim,
               bool inverse) {
  int64_t length = shape[dim], stride = stridesOf(shape)[dim];
  std::vector<Number> result(values.size());
  for (int64_t position = 0; position < int64_t(values.size()); ++position) {
    int64_t k = position / stride % length, first = position - k * stride;
    Number sum = 0;
    for (int64_t j = 0; j < length; ++j) {
      double turn = double(j * k % length) / double(length);
      double angle = (inverse ? 2 : -2) * std::numbers::pi * turn;
      sum +=
          values[first + j * stride] * Number(std::cos(angle), std::sin(angle));
    }
    result[position] = inverse ? sum / double(length) : sum;
  }
  values = std::move(result);
}

Values fft(const Call &call) {
  auto op = cast<dtensor::FftOp>(call.op);
  StringRef type = op.getFftType();
  std::vector<int64_t> lengths = call.integers("fft_length");
  HostValue out = call.result();
  bool inverse = type == "IFFT" || type == "IRFFT";
  Shape shape = call[0].shape;
  std::vector<Number> values;
  for (int64_t position = 0; position < call[0].count(); ++position)
    values.push_back(get(call[0], position));
  size_t first = shape.size() - lengths.size(), last = shape.size() - 1;
  for (size_t d = first; d < last; ++d)
    transform(values, shape, d, inverse);
  if (type == "IRFFT") {
    // The spectrum of real numbers: its second half mirrors the first.
    int64_t half = shape.back(), length = lengths.back();
    std::vector<Number> whole;
    shape.back() = length;
    for (int64_t position = 0; position < elementCount(shape); ++position) {
      int64_t k = position % length, line = position / length;
      Number value = k < half ? values[line * half + k]
                              : std::conj(values[line * half + length - k]);
      bool real = k == 0 || 2 * k == length;
      whole.push_back(real ? Number(value.real()) : value);
    }
    values = std::move(whole);
  }
  transform(values, shape, last, inverse);
  int64_t outLength = out.shape.back(), length = shape.back();
  for (int64_t position = 0; position < out.count(); ++position)
    set(out, position,
        values[position / outLength * length + position % outLength]);
  return {std::move(out)};
}
} // namespace

void addLinearAlgebraOps(OpTable &table) {
  table["dtensor.cholesky"] = cholesky;
  table["dtensor.triangular_solve"] = triangularSolve;
  table["dtensor.fft"] = fft;
}

Result<Values> runCustomCall(const Call &call) {
  auto op = cast<dtensor::CustomCallOp>(call.op);
  std::string name = op.getCallTargetName().str(),
              config = op.getBackendConfig().str();
  auto target = find_custom_call(name);
  if (!target)
    return Error("no function is registered as custom call target '" + name +
                 "'");
  // One call for each index of the batch dims, about the others.
  auto batch = ptrdiff_t(op.getBatchDims());
  std::vector<std::vector<char>> bytes;
  auto operandOf = [&](const HostValue &value) {
    bytes.push_back(value.toBytes());
    Shape shape(value.shape.begin() + batch, value.shape.end());
    return CustomOperand{value.type,          nullptr, shape, stridesOf(shape),
                         Shape(shape.size()), shape};
  };
  std::vector<CustomOperand> inputs, outputs;
  for (const HostValue *value : call.operands)
    inputs.push_back(operandOf(*value));
  int64_t calls = 1;
  std::vector<Shape> shapes;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    HostValue result = call.result(i);
    shapes.push_back(result.shape);
    outputs.push_back(operandOf(result));
  }
  for (ptrdiff_t dim = 0; dim < batch; ++dim)
    calls *= shapes[0][size_t(dim)];
  for (int64_t k = 0; k < calls; ++k) {
    size_t next = 0;
    for (std::vector<CustomOperand> *list : {&inputs, &outputs})
      for (CustomOperand &operand : *list) {
        std::vector<char> &data = bytes[next++];
        operand.data = data.data() + k * (int64_t(data.size()) / calls);
      }
    if (Status done = target->run({inputs, outputs, config}); !done)
      return done.error().withMessage("custom call '" + name +
                                      "' failed: " + done.error().message());
  }
  Values results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto value = HostValue::fromBytes(outputs[i].type, shapes[i],
                                      bytes[inputs.size() + i]);
    if (!value)
      return value.error();
    results.push_back(std::move(*value));
  }
  return results;
}

} // namespace meshloom::interpreter
