// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of values: a dtensor.callback whose function every runtime knows.
#include "meshloom/API/Debugging.h"

#include "Ops/Operands.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/NameScope.h"

#include "meshloom/Core/DebugPrint.h"
#include "meshloom/Dialect/DTensor/Callback.h"

#include <fmt/format.h>

namespace meshloom::debugging {
using namespace detail;

namespace {

/// Returns a format that stands for the text itself.
std::string escaped(std::string_view text) {
  std::string format;
  for (char c : text) {
    format += c;
    if (c == '{' || c == '}')
      format += c;
  }
  return format;
}

/// Ends the run with `expectation`, the user's message, the line, and `data`,
/// named by `names`, where an element of `condition` does not hold.
void check(std::string_view op, const Tensor &condition,
           std::string_view expectation, std::string_view message,
           const std::vector<std::pair<std::string_view, Tensor>> &data,
           const std::source_location &where) {
  if (nodeOf(condition, op, &where).dtype != DType::I1)
    fail(
        op,
        fmt::format("expected a condition of type i1, got {}: compare it first",
                    typeText(condition)),
        &where);
  const std::source_location line = callSiteOr(where);
  std::string text = fmt::format("[{}] {}", callNameOr(op), expectation);
  if (!message.empty())
    text += fmt::format(": {}", message);
  text += fmt::format(" (at {}:{})", line.file_name(), line.line());
  std::string format = escaped(text);
  OpCall call =
      callOf(op, {reduce_all(condition, Axis(), false, where)}, where);
  for (const auto &[name, tensor] : data) {
    nodeOf(tensor, op, &where);
    format += fmt::format("\n  {}: {{}}", name);
    call.operands.push_back(tensor);
  }
  call.setBody(
      [](Emitter &e, ArrayRef<Value> values, const auto &format) {
        auto callback = dtensor::createCallback(e, e.getLoc(), {}, values,
                                                assertTarget, format);
        return SmallVector<Value>{callback.getResults().back()};
      },
      format);
  const Tensor done = runOp(std::move(call));
  if (!isTracing())
    (void)done.item<int32_t>(where);
}

using Comparison = Tensor (*)(const TensorLike &, const TensorLike &);

Tensor tensorOf(const TensorLike &like, const TensorLike &beside,
                std::string_view op) {
  return operandLike(like,
                     beside.kind == TensorLike::Kind::Tensor
                         ? nodeOf(beside.tensor, op, &beside.where).dtype
                         : like.dtype,
                     op);
}

void compared(std::string_view op, std::string_view relation,
              Comparison comparison, const TensorLike &x, const TensorLike &y,
              std::string_view message) {
  const Tensor lhs = tensorOf(x, y, op), rhs = tensorOf(y, x, op);
  const CallName name(op);
  check(op, comparison({lhs, x.where}, {rhs, x.where}),
        fmt::format("expected x {} y for all elements", relation), message,
        {{"x", lhs}, {"y", rhs}}, x.where);
}

} // namespace

void Assert(const Tensor &condition, std::string_view message,
            const std::vector<Tensor> &data, Where where) {
  std::vector<std::pair<std::string_view, Tensor>> named;
  for (const Tensor &tensor : data)
    named.emplace_back("value", tensor);
  check("Assert", condition, "expected the condition to hold", message, named,
        where);
}

void assert_equal(const TensorLike &x, const TensorLike &y,
                  std::string_view message) {
  compared("assert_equal", "==", equal, x, y, message);
}
void assert_none_equal(const TensorLike &x, const TensorLike &y,
                       std::string_view message) {
  compared("assert_none_equal", "!=", not_equal, x, y, message);
}
void assert_less(const TensorLike &x, const TensorLike &y,
                 std::string_view message) {
  compared("assert_less", "<", less, x, y, message);
}
void assert_less_equal(const TensorLike &x, const TensorLike &y,
                       std::string_view message) {
  compared("assert_less_equal", "<=", less_equal, x, y, message);
}
void assert_greater(const TensorLike &x, const TensorLike &y,
                    std::string_view message) {
  compared("assert_greater", ">", greater, x, y, message);
}
void assert_greater_equal(const TensorLike &x, const TensorLike &y,
                          std::string_view message) {
  compared("assert_greater_equal", ">=", greater_equal, x, y, message);
}

void assert_near(const TensorLike &x, const TensorLike &y, double relative,
                 double absolute, std::string_view message) {
  constexpr std::string_view op = "assert_near";
  const Tensor lhs = tensorOf(x, y, op), rhs = tensorOf(y, x, op);
  const CallName name(op);
  const std::source_location &where = x.where;
  const Tensor distance = abs(subtract({lhs, where}, {rhs, where}), where);
  const Tensor most =
      add({multiply({abs(rhs, where), where}, {relative, where}), where},
          {absolute, where});
  check(op, less_equal({distance, where}, {most, where}),
        fmt::format("expected |x - y| <= {} + {} |y| for all elements",
                    absolute, relative),
        message, {{"x", lhs}, {"y", rhs}}, where);
}

void assert_positive(const TensorLike &x, std::string_view message) {
  constexpr std::string_view op = "assert_positive";
  const Tensor value = tensorOf(x, x, op);
  check(op, greater({value, x.where}, {0, x.where}),
        "expected x > 0 for all elements", message, {{"x", value}}, x.where);
}
void assert_non_negative(const TensorLike &x, std::string_view message) {
  constexpr std::string_view op = "assert_non_negative";
  const Tensor value = tensorOf(x, x, op);
  check(op, greater_equal({value, x.where}, {0, x.where}),
        "expected x >= 0 for all elements", message, {{"x", value}}, x.where);
}
void assert_all_finite(const TensorLike &x, std::string_view message) {
  constexpr std::string_view op = "assert_all_finite";
  const Tensor value = tensorOf(x, x, op);
  expectFloat(value, op, x.where);
  check(op, is_finite(value, x.where), "expected no nan and no infinity",
        message, {{"x", value}}, x.where);
}

Tensor check_numerics(const Tensor &x, std::string_view message, Where where) {
  const CallName name("check_numerics");
  assert_all_finite({x, where}, message);
  return x;
}

void assert_rank(const Tensor &x, int64_t rank, std::string_view message,
                 Where where) {
  if (nodeOf(x, "assert_rank", &where).shape.size() != size_t(rank))
    fail("assert_rank",
         fmt::format("expected a tensor of rank {}, got {}{}{}", rank,
                     typeText(x), message.empty() ? "" : ": ", message),
         &where);
}

} // namespace meshloom::debugging
