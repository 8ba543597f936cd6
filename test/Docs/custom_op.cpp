// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// docs/CustomOps.md: an op of one's own with rule, function and gradient; a
// gradient of one's own; computing again; a loop over a dim.
#include <meshloom/Meshloom.h>

#include <cmath>
#include <iostream>

using namespace meshloom;

/// Each element times the factor of its row, for the part that a device has.
Status scaleRows(const CustomCall &call) {
  const CustomOperand &x = call.inputs[0], &factor = call.inputs[1],
                      &y = call.results[0];
  for (int64_t i = 0; i < x.shape[0]; ++i)
    for (int64_t j = 0; j < x.shape[1]; ++j)
      static_cast<float *>(y.data)[i * y.strides[0] + j * y.strides[1]] =
          static_cast<const float *>(
              x.data)[i * x.strides[0] + j * x.strides[1]] *
          static_cast<const float *>(factor.data)[i * factor.strides[0]];
  return Success();
}

int main() {
  // Rows and columns may be cut; a factor is where its row is.
  if (!register_custom_call("scale_rows", {"r c, r -> r c", scaleRows}))
    return 1;
  auto scale_rows = custom_gradient(
      [](const Tensor &x, const Tensor &factor) {
        return custom_call("scale_rows", {x, factor}, like(x));
      },
      [](const Tensor &x, const Tensor &factor, const Tensor &,
         const Tensor &dy) {
        return std::pair{custom_call("scale_rows", {dy, factor}, like(x)),
                         reduce_sum(dy * x, 1)};
      });

  Mesh mesh = create_mesh({{"x", 2}, {"y", 4}}, virtual_cpus(8));
  Tensor x = distribute(reshape(arange(32), {8, 4}), Layout({"x", "y"}, mesh));
  Tensor factor = distribute(linspace(0, 1, 8), Layout({"x"}, mesh));
  auto slope = function([&](const Tensor &x, const Tensor &factor) {
    GradientTape tape;
    return tape.gradient(reduce_sum(scale_rows(x, factor)), {x, factor});
  });
  std::vector<Tensor> slopes = slope(x, factor);

  auto clipped =
      custom_gradient([](const Tensor &x) { return x; },
                      [](const Tensor &, const Tensor &, const Tensor &dy) {
                        return clip_by_value(dy, -1, 1);
                      });

  Tensor w = eye(4) * 0.5f;
  auto deep = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor y = clipped(x);
    for (int i = 0; i < 3; ++i)
      y = checkpoint([&] { return tanh(matmul(y, w)) + y; });
    return tape.gradient(reduce_sum(y), x);
  });
  Tensor last = deep(x);

  auto running = function([](const Tensor &xs) {
    return scan(
        [](const Tensor &mean, const Tensor &x) {
          Tensor next = 0.9f * mean + 0.1f * x;
          return std::pair{next, next};
        },
        zeros({4}), xs);
  });
  auto [mean, means] = running(x);

  std::cout << slopes[1] << '\n' << mean << '\n';
  bool right = slopes[0](1, 0).item<float>() == factor[1].item<float>() &&
               slopes[1][0].item<float>() == 6 && last.shape() == x.shape() &&
               reduce_max(last).item<float>() <= 1 &&
               means.shape() == (Shape{8, 4});
  return right ? 0 : 1;
}
