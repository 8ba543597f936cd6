// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LibraryArrays: what library functions share. Reading their options, indices
// of any integer type, 16-bit floats, and copies of strided boxes.
#pragma once

#include "Elements.h"
#include "Library.h"
#include "StridedCopy.h"

#include "meshloom/Runtime/StridedRuns.h"

#include <bit>
#include <complex>
#include <optional>
#include <span>

namespace meshloom::library {

/// Reads KernelStep::options by name. An option that is missing, or has a
/// different type, reads as zero or empty.
class OptionReader {
public:
  explicit OptionReader(const KernelStep &step) : options(step.options) {}
  bool has(std::string_view name) const { return options.contains(name); }
  int64_t number(std::string_view name) { return get<int64_t>(name); }
  bool flag(std::string_view name) { return number(name) != 0; }
  std::vector<int64_t> list(std::string_view name) {
    return get<std::vector<int64_t>>(name);
  }
  std::string text(std::string_view name) { return get<std::string>(name); }
  /// Returns the value that `parse` knows by this name.
  template <typename T, typename Parse>
  T named(std::string_view name, const Parse &parse) {
    std::optional<T> value = parse(text(name));
    good &= value.has_value();
    return value.value_or(T());
  }
  ReduceKind kind(std::string_view name) {
    return named<ReduceKind>(name, parseReduceKind);
  }
  /// Reads a kind that combines elements of `type`.
  ReduceKind kind(std::string_view name, DType type) {
    const ReduceKind value = kind(name);
    good &= isCombinedBy(type, value);
    return value;
  }
  /// Whether everything was there, and nothing more.
  bool ok() const { return good && read == options.size(); }

private:
  template <typename T> T get(std::string_view name) {
    ++read;
    auto option = options.find(name);
    const T *value =
        option == options.end() ? nullptr : std::get_if<T>(&option->second);
    good &= value != nullptr;
    return value ? *value : T();
  }

  const LibraryOptions &options;
  size_t read = 0;
  bool good = true;
};

/// Whether `dims` are dims of a tensor of rank `rank`, each at most once.
bool areDims(std::span<const int64_t> dims, size_t rank);
/// The dims of `rank` that are in neither list.
std::vector<unsigned> otherDims(size_t rank, std::span<const int64_t> a,
                                std::span<const int64_t> b = {});

/// An element of integer type; what is too large is the largest int64_t.
int64_t readIndex(DType type, const char *data);

/// 16-bit floats (F16 or BF16) as f32, and back to nearest even.
float widenHalf(DType type, uint16_t bits);
uint16_t narrowHalf(DType type, float value);

/// to[i...] = 0, which is the identity of sums and of or.
void zeroElements(unsigned width, std::span<const int64_t> extent, char *to,
                  std::span<const int64_t> toStrides);
template <typename Routine>
RoutineOrError routineOf(std::unique_ptr<Routine> routine) {
  return std::unique_ptr<LibraryRoutine>(std::move(routine));
}

/// Calls a scalar function on elements. Outputs must not be inputs.
inline void callScalar(KernelFunction function, void *const *operands) {
  const int64_t none = 0;
  function(operands, &none, &none, &none);
}

} // namespace meshloom::library
