// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that users make thousands of times a second, whose instructions
// hot_paths_test.py counts, in this order. Everything is compiled and in caches
// before. One worker: idle ones would count their waiting.
//
// Each is called several times, for a few rounds: where a run seems to take
// long, as it may under valgrind on a busy machine, the runtime does the next
// one in another thread, which is not what is meant.
//
//   hot_paths ROUNDS BATCHES
#include <meshloom/Meshloom.h>

#include <cstdlib>
#include <functional>

using namespace meshloom;

namespace {
/// Keeps the compiler from moving work out of what is counted.
void use(const Tensor &tensor) {
  asm volatile("" : : "r"(&tensor) : "memory");
}
} // namespace

// The functions that are counted, named without mangling for callgrind.
extern "C" [[gnu::noinline]] void counted(int rounds,
                                          const std::function<void()> &body) {
  for (int i = 0; i < rounds; ++i)
    body();
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2;
  const int batches = argc > 2 ? std::atoi(argv[2]) : 12;
  set_client_options({.workers = 1});
  Mesh mesh = create_mesh({{"x", 8}}, virtual_cpus(8));
  Tensor host = ones({8});
  Tensor lhs = distribute(host, Layout({"x"}, mesh)), rhs = lhs;
  DVariable total(lhs, {.name = "total"});
  auto add = function([](const Tensor &a, const Tensor &b) { return a + b; });
  auto update = function([&](const Tensor &a) { total.assign_add(a); });
  Tensor scalar = reduce_sum(host);

  auto measure = [&](const std::function<void()> &body) {
    for (int batch = 0; batch < batches; ++batch) {
      body();
      (void)total.read_value().to_vector<float>(); // waits for it
      body();
      counted(rounds, body);
    }
  };
  measure([&] { use(host + host); });
  measure([&] { use(lhs + rhs); });
  measure([&] { use(add(lhs, rhs)); });
  measure([&] { update(lhs); });
  measure([&] {
    volatile float value = scalar.item<float>();
    (void)value;
  });
}
