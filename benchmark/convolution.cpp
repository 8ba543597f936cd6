// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The heavy operations of the conv net of the TPU guide (3x3 VALID
// convolutions, 28x28 1 -> 256 and 26x26 256 -> 256), forward, data gradient
// and weight gradient: through the user API on virtual devices, and in oneDNN
// alone with all cores, the floor. One line each, milliseconds, best of several
// runs that take turns.
//
//   convolution-benchmark --batch=200 --devices=8 --runs=3
#include "CommandLine.h"

#include "meshloom/Meshloom.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

using namespace meshloom;

namespace {

double milliseconds(const std::function<void()> &body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

struct Shape3x3 {
  int64_t batch, size, in, out;
};

/// oneDNN's primitives for one convolution, channels last.
class Floor {
public:
  explicit Floor(const Shape3x3 &s)
      : cpu(dnnl::engine::kind::cpu, 0), queue(cpu) {
    using dnnl::memory;
    auto f32 = memory::data_type::f32;
    memory::desc x({s.batch, s.in, s.size, s.size}, f32,
                   memory::format_tag::nhwc),
        y({s.batch, s.out, s.size - 2, s.size - 2}, f32,
          memory::format_tag::nhwc),
        w({s.out, s.in, 3, 3}, f32, memory::format_tag::any);
    memory::dims one{1, 1}, none{0, 0};
    auto direct = dnnl::algorithm::convolution_direct;
    dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, direct, x, w, y, one, none, none},
        cpu);
    dnnl::convolution_backward_data::primitive_desc data(
        {direct, x, w, y, one, none, none}, cpu, forward);
    dnnl::convolution_backward_weights::primitive_desc weights(
        {direct, x, w, y, one, none, none}, cpu, forward);
    add(dnnl::convolution_forward(forward),
        {{DNNL_ARG_SRC, forward.src_desc()},
         {DNNL_ARG_WEIGHTS, forward.weights_desc()},
         {DNNL_ARG_DST, forward.dst_desc()}});
    add(dnnl::convolution_backward_data(data),
        {{DNNL_ARG_DIFF_SRC, data.diff_src_desc()},
         {DNNL_ARG_WEIGHTS, data.weights_desc()},
         {DNNL_ARG_DIFF_DST, data.diff_dst_desc()}});
    add(dnnl::convolution_backward_weights(weights),
        {{DNNL_ARG_SRC, weights.src_desc()},
         {DNNL_ARG_DIFF_WEIGHTS, weights.diff_weights_desc()},
         {DNNL_ARG_DIFF_DST, weights.diff_dst_desc()}});
  }

  /// 0: forward, 1: data gradient, 2: weight gradient.
  void run(unsigned which) {
    calls[which].primitive.execute(queue, calls[which].arguments);
    queue.wait();
  }

private:
  struct Call {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  void add(const dnnl::primitive &primitive,
           const std::vector<std::pair<int, dnnl::memory::desc>> &descs) {
    Call call{primitive, {}};
    for (auto &[slot, desc] : descs) {
      dnnl::memory memory(desc, cpu);
      auto *data = static_cast<float *>(memory.get_data_handle());
      for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i)
        data[i] = float(i % 13) * 0.01f;
      call.arguments.insert({slot, memory});
    }
    calls.push_back(std::move(call));
  }

  dnnl::engine cpu;
  dnnl::stream queue;
  std::vector<Call> calls;
};

/// The same three as compiled functions; rows of the batch over the devices.
class Ours {
public:
  Ours(const Shape3x3 &s, int64_t devices)
      : mesh(create_mesh({{"batch", devices}}, virtual_cpus(devices))) {
    auto random = [&](Shape shape, const Layout &layout) {
      return distribute(
          random::stateless_uniform(std::move(shape), Seed{1, 2}, -1, 1),
          layout);
    };
    Layout rows({"batch", UNSHARDED, UNSHARDED, UNSHARDED}, mesh);
    Layout whole = Layout::replicated(mesh, 4);
    x = random({s.batch, s.size, s.size, s.in}, rows);
    dy = random({s.batch, s.size - 2, s.size - 2, s.out}, rows);
    w = random({3, 3, s.in, s.out}, whole);
  }

  void run(unsigned which) {
    switch (which) {
    case 0:
      result = forward(x, w);
      return;
    case 1:
      result = dataGradient(x, w, dy);
      return;
    default:
      result = weightGradient(x, w, dy);
    }
  }

private:
  static Tensor gradient(const Tensor &x, const Tensor &w, const Tensor &dy,
                         bool data) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(w);
    Tensor loss = reduce_sum(conv2d(x, w) * dy);
    return tape.gradient(loss, data ? x : w);
  }

  Mesh mesh;
  Tensor x, w, dy, result;
  Function<Tensor (*)(const Tensor &, const Tensor &)> forward =
      function(+[](const Tensor &x, const Tensor &w) { return conv2d(x, w); });
  Function<Tensor (*)(const Tensor &, const Tensor &, const Tensor &)>
      dataGradient =
          function(+[](const Tensor &x, const Tensor &w, const Tensor &dy) {
            return gradient(x, w, dy, true);
          }),
      weightGradient =
          function(+[](const Tensor &x, const Tensor &w, const Tensor &dy) {
            return gradient(x, w, dy, false);
          });
};

} // namespace

int main(int argc, char **argv) try {
  int64_t batch = 200, devices = 8, runs = 3;
  peers::CommandLine line(argc, argv);
  line.read("--batch", batch);
  line.read("--devices", devices);
  line.read("--runs", runs);
  line.end();
  const Shape3x3 shapes[] = {{batch, 28, 1, 256}, {batch, 26, 256, 256}};
  const char *names[] = {"forward", "data gradient", "weight gradient"};
  double total = 0, least = 0;
  for (const Shape3x3 &s : shapes) {
    Floor floor(s);
    Ours ours(s, devices);
    for (unsigned which = 0; which < 3; ++which) {
      if (which == 1 && s.in == 1)
        continue; // nobody needs it
      double best = 1e30, bestFloor = 1e30;
      ours.run(which); // compiles
      for (int64_t i = 0; i < runs; ++i) {
        best = std::min(best, milliseconds([&] { ours.run(which); }));
        bestFloor =
            std::min(bestFloor, milliseconds([&] { floor.run(which); }));
      }
      std::printf("%lld x %lldx%lld, %lld -> %lld, %s: %.1f ms on %lld "
                  "devices, floor %.1f\n",
                  static_cast<long long>(s.batch),
                  static_cast<long long>(s.size),
                  static_cast<long long>(s.size), static_cast<long long>(s.in),
                  static_cast<long long>(s.out), names[which], best,
                  static_cast<long long>(devices), bestFloor);
      total += best;
      least += bestFloor;
    }
  }
  std::printf(
      "{\"case\": \"convolutions\", \"batch\": %lld, \"devices\": %lld, "
      "\"ms\": %.1f, \"floor_ms\": %.1f, \"ratio\": %.2f}\n",
      static_cast<long long>(batch), static_cast<long long>(devices), total,
      least, total / least);
} catch (const Error &error) {
  std::fprintf(stderr, "convolution-benchmark: %s\n", error.what());
  return 1;
}
