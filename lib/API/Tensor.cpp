// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor's accessors, and reading values.
#include "meshloom/API/Tensor.h"
#include "meshloom/Engine/Trace.h"

#include "meshloom/API/NameScope.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace meshloom {
using namespace detail;

bfloat16::bfloat16(float value) {
  uint32_t wide = std::bit_cast<uint32_t>(value);
  if (value != value) {
    bits = uint16_t(wide >> 16) | 0x40;
    return;
  }
  bits = uint16_t((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16);
}
bfloat16::operator float() const {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

Tensor Tensor::internalFrom(std::shared_ptr<TensorNode> node) {
  Tensor tensor;
  tensor.node = std::move(node);
  return tensor;
}

static const TensorNode &notEmpty(const std::shared_ptr<TensorNode> &node,
                                  std::string_view op,
                                  const std::source_location &where) {
  if (!node)
    atLine(where, [&] {
      fail(op, "expected a tensor, got an empty Tensor: give it a value first");
    });
  return *node;
}

const Shape &Tensor::shape(std::source_location where) const {
  return notEmpty(node, "shape", where).shape;
}
DType Tensor::dtype(std::source_location where) const {
  return notEmpty(node, "dtype", where).dtype;
}
bool Tensor::is_traced() const {
  return node && node->trace;
}

Layout Tensor::layout(std::source_location where) const {
  if (notEmpty(node, "layout", where).trace)
    atLine(where, [&] {
      fail("layout",
           fmt::format("{} is a value of the trace of '{}': the compiler "
                       "decides its layout. See get_concrete_function, or pin "
                       "one with relayout",
                       typeText(node->dtype, node->shape),
                       node->trace->name()));
    });
  return node->array.layout();
}

/// An operator takes no line, so the error names the line of the op that the
/// condition comes from.
[[noreturn]] static void failTracedCondition(const TensorNode &node) {
  const std::string message = fmt::format(
      "{} is a value of the trace of '{}', which has no value yet that "
      "a condition of C++ could test: choose elements with where, run "
      "one of two branches with cond, repeat with while_loop, combine "
      "conditions with logical_and and logical_or",
      typeText(node.dtype, node.shape), node.trace->name());
  if (std::optional<std::string> place = Trace::sourceOf(node))
    Error("[bool] " + message).atPlace(*place).raise();
  fail("bool", message);
}

Tensor::operator bool() const {
  constexpr std::string_view op = "bool";
  const TensorNode &node = notEmpty(this->node, op, std::source_location());
  if (node.trace)
    failTracedCondition(node);
  if (size() != 1)
    fail(op,
         fmt::format(
             "expected one element, got {}: a condition of C++ is one bool. "
             "Use reduce_all or reduce_any of the elements, where to "
             "choose between two for each, and defined() to ask whether "
             "there is a tensor",
             typeText(node.dtype, node.shape)));
  if (isComplex(node.dtype))
    return item<std::complex<double>>() != 0.0;
  if (isFloat(node.dtype))
    return item<double>() != 0;
  return node.dtype == DType::UI64 ? item<uint64_t>() != 0
                                   : item<int64_t>() != 0;
}

std::string Tensor::device() const {
  const detail::CallName name("device");
  Mesh mesh = layout().mesh();
  if (const auto devices = mesh.global_devices(); devices.size() == 1)
    return devices.front();
  else if (!devices.empty())
    return fmt::format("{} ... {}", devices.front(), devices.back());
  const std::vector<int64_t> ids = mesh.assignment().localDeviceNumbers();
  std::string first = fmt::format("{}:{}", mesh.device_type(), ids.front());
  return ids.size() == 1 ? first
                         : fmt::format("{} ... {}:{}", first,
                                       mesh.device_type(), ids.back());
}

namespace detail {
namespace {

template <typename To, typename From>
void copyAs(const HostBytes &bytes, void *out, int64_t count) {
  auto *to = static_cast<To *>(out);
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, bytes.data() + size_t(i) * sizeof(From), sizeof(From));
    if constexpr (std::is_same_v<From, bfloat16>)
      to[i] = To(float(value));
    else
      to[i] = To(value);
  }
}

/// Exact conversions only.
template <typename To>
bool copyTo(DType from, const HostBytes &bytes, void *out, int64_t count) {
  constexpr bool isReal = std::is_floating_point_v<To>;
  // Whether every value of integers of `width` bytes is one of To.
  constexpr auto holds = [](size_t width, bool isSigned) {
    if constexpr (isReal)
      return std::numeric_limits<To>::digits >= int(8 * width);
    else
      return isSigned ? std::is_signed_v<To> && sizeof(To) >= width
                      : sizeof(To) > width ||
                            (std::is_unsigned_v<To> && sizeof(To) == width);
  };
  switch (from) {
  case DType::F16:
    if constexpr (isReal)
      return copyAs<To, _Float16>(bytes, out, count), true;
    return false;
  case DType::BF16:
    if constexpr (isReal)
      return copyAs<To, bfloat16>(bytes, out, count), true;
    return false;
  case DType::F32:
    if constexpr (isReal)
      return copyAs<To, float>(bytes, out, count), true;
    return false;
  case DType::F64:
    if constexpr (std::is_same_v<To, double>)
      return copyAs<To, double>(bytes, out, count), true;
    return false;
  case DType::I8:
    if constexpr (holds(sizeof(int8_t), true))
      return copyAs<To, int8_t>(bytes, out, count), true;
    return false;
  case DType::UI8:
    if constexpr (holds(sizeof(uint8_t), false))
      return copyAs<To, uint8_t>(bytes, out, count), true;
    return false;
  case DType::I16:
    if constexpr (holds(sizeof(int16_t), true))
      return copyAs<To, int16_t>(bytes, out, count), true;
    return false;
  case DType::UI16:
    if constexpr (holds(sizeof(uint16_t), false))
      return copyAs<To, uint16_t>(bytes, out, count), true;
    return false;
  case DType::I32:
    if constexpr (holds(sizeof(int32_t), true))
      return copyAs<To, int32_t>(bytes, out, count), true;
    return false;
  case DType::UI32:
    if constexpr (holds(sizeof(uint32_t), false))
      return copyAs<To, uint32_t>(bytes, out, count), true;
    return false;
  case DType::I64:
    if constexpr (holds(sizeof(int64_t), true))
      return copyAs<To, int64_t>(bytes, out, count), true;
    return false;
  case DType::UI64:
    if constexpr (holds(sizeof(uint64_t), false))
      return copyAs<To, uint64_t>(bytes, out, count), true;
    return false;
  case DType::I1:
    return copyAs<To, int8_t>(bytes, out, count), true;
  case DType::C64:
  case DType::C128:
    return false;
  }
  return false;
}

/// Real numbers as complex ones, where the parts hold them.
bool copyParts(DType to, DType from, const HostBytes &bytes, void *out,
               int64_t count) {
  auto copy = [&]<typename T>(T) {
    std::vector<T> reals(static_cast<size_t>(count));
    if (isComplex(from) || !copyTo<T>(from, bytes, reals.data(), count))
      return false;
    std::copy(reals.begin(), reals.end(), static_cast<std::complex<T> *>(out));
    return true;
  };
  return to == DType::C64 ? copy(float()) : copy(double());
}

bool copyTo(DType to, DType from, const HostBytes &bytes, void *out,
            int64_t count) {
  switch (to) {
  case DType::F32:
    return copyTo<float>(from, bytes, out, count);
  case DType::F64:
    return copyTo<double>(from, bytes, out, count);
  case DType::I8:
    return copyTo<int8_t>(from, bytes, out, count);
  case DType::I32:
    return copyTo<int32_t>(from, bytes, out, count);
  case DType::I64:
    return copyTo<int64_t>(from, bytes, out, count);
  case DType::UI8:
    return copyTo<uint8_t>(from, bytes, out, count);
  case DType::UI32:
    return copyTo<uint32_t>(from, bytes, out, count);
  case DType::I16:
    return copyTo<int16_t>(from, bytes, out, count);
  case DType::UI16:
    return copyTo<uint16_t>(from, bytes, out, count);
  case DType::UI64:
    return copyTo<uint64_t>(from, bytes, out, count);
  case DType::C128:
    if (from == DType::C64)
      return copyAs<std::complex<double>, std::complex<float>>(bytes, out,
                                                               count),
             true;
    [[fallthrough]];
  case DType::C64:
    if (copyParts(to, from, bytes, out, count))
      return true;
    [[fallthrough]];
  case DType::I1:
  case DType::F16:
  case DType::BF16:
    if (from != to)
      return false;
    std::ranges::copy(bytes, static_cast<char *>(out));
    return true;
  }
  return false;
}

} // namespace

void readValue(const Tensor &tensor, DType as, void *out, int64_t count,
               const char *caller, const std::source_location &where) {
  const UserLine line(where);
  const Array &array = arrayOf(tensor, caller);
  if (tensor.size() != count)
    fail(caller,
         fmt::format("expected a tensor of one element, got {}: use to_vector",
                     typeText(tensor)),
         &where);
  HostBytes bytes = check(array.toHost(), caller);
  if (!copyTo(as, array.dtype(), bytes, out, count))
    fail(caller,
         fmt::format("{} does not hold every value of {}: ask for {}, or cast "
                     "the tensor first",
                     name(as), typeText(tensor), name(array.dtype())),
         &where);
}

} // namespace detail
} // namespace meshloom
