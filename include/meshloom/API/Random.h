// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random tensors, from a seed that the caller keeps: the same seed gives the
// same numbers, whatever the layout, the mesh and the number of devices.
//
// In a loop or a training step the seed changes: a tensor of two words, which a
// function takes like any argument, without being traced again.
//
//   auto step = function([&](const Tensor &x, const Tensor &seed) {
//     return nn::dropout(x, 0.1, random::fold_in(seed, 7)); // 7: this layer
//   });
//   for (int i = 0; i < 10; ++i)
//     step(x, random::fold_in(Seed{1, 2}, i));
#pragma once

#include "meshloom/API/Tensor.h"

namespace meshloom {

/// Two numbers that seed a random op.
struct Seed {
  uint32_t first = 0;  ///< one half of the key
  uint32_t second = 0; ///< the other half
};

/// The seed of a random op: numbers, which are part of the program, or a tensor
/// ui32 [2] or i32 [2], which may differ from run to run.
class SeedLike {
public:
  /// The line of a call, for messages and reports.
  using Where = std::source_location;
  /// The seed 0, 0.
  SeedLike() = default;
  /// Numbers that are part of the program.
  SeedLike(Seed numbers) : numbers(numbers) {}
  /// Numbers that are part of the program.
  SeedLike(uint32_t first, uint32_t second) : numbers{first, second} {}
  /// Words that may differ from run to run.
  SeedLike(const Tensor &tensor) : tensor(tensor), isTensor(true) {}
  /// The variable's value, which may differ from run to run.
  SeedLike(const DVariable &variable);

  Seed numbers;          ///< unless `isTensor`
  Tensor tensor;         ///< ui32 [2] or i32 [2], if `isTensor`
  bool isTensor = false; ///< which of the two it is
};

/// Random numbers.
namespace random {
/// The line of a call, for messages and reports.
using Where = std::source_location;

/// Uniform in [minval, maxval): floats, or integers. Numbers are Philox4x32-10
/// (Salmon et al., SC'11) of the seed and the element's global index. Throws
/// meshloom::Error if the bounds do not fit the type, or if a seed is not a
/// tensor of two words.
[[nodiscard]] Tensor stateless_uniform(Shape shape, const SeedLike &seed,
                                       double minval = 0, double maxval = 1,
                                       DType type = DType::F32,
                                       Where where = Where::current());
/// Normal, by the Box-Muller transform of two such numbers an element. Throws
/// meshloom::Error if `stddev` is negative or a number is not finite.
[[nodiscard]] Tensor stateless_normal(Shape shape, const SeedLike &seed,
                                      double mean = 0, double stddev = 1,
                                      DType type = DType::F32,
                                      Where where = Where::current());
/// Uniformly distributed bits, ui32.
[[nodiscard]] Tensor stateless_bits(Shape shape, const SeedLike &seed,
                                    Where where = Where::current());

/// ui32 [2]: a seed for the part of a computation that `data` names, a number
/// or an integer scalar: a step, a layer, an index. Different data give seeds
/// that have nothing in common.
[[nodiscard]] Tensor fold_in(const SeedLike &seed, const TensorLike &data);
/// ui32 [count, 2]: so many new seeds, one a row.
[[nodiscard]] Tensor split(const SeedLike &seed, int64_t count = 2,
                           Where where = Where::current());

} // namespace random
} // namespace meshloom
