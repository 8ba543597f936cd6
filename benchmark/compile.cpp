// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The costs of tracing and compiling, by the number of ops: no step is run. One
// JSON line for each CASE; MESHLOOM_TIMING=1 prints the passes beside it.
//
//   compile-benchmark CASE N [CASE N ...] [--no-refine] [--machine=ring]
//
// matmuls   N x tanh(matmul) with the gradients of all weights, mesh 2x4
// blocks    N transformer blocks with the gradients of all weights, mesh 2x4
// chain     N elementwise ops, one after the other
// reads     one variable that N ops read, and then its update
// variables N variables, all updated
// prints    N calls of the host, one after the other
#include "CommandLine.h"

#include "meshloom/Meshloom.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

using namespace meshloom;

namespace {

/// A function to trace, and the values to trace it with.
struct Traced {
  std::function<Tensor(const Tensor &)> body;
  Tensor input;
  std::vector<DVariable> variables; ///< that it reads
};

Traced matmuls(int64_t n) {
  const Mesh mesh = create_mesh({{"batch", 2}, {"model", 4}}, virtual_cpus(8));
  const Layout columns({UNSHARDED, "model"}, mesh);
  std::vector<DVariable> weights;
  for (int64_t i = 0; i < n; ++i)
    weights.emplace_back(distribute(ones({64, 64}), columns));
  auto body = [weights](const Tensor &x) {
    GradientTape tape;
    Tensor h = x;
    for (const DVariable &w : weights)
      h = tanh(matmul(h, w));
    const Tensor loss = reduce_mean(h);
    for (const auto &[gradient, variable] : tape.gradient(loss, weights)) {
      DVariable w = variable;
      w.assign_sub(gradient * 0.01f);
    }
    return loss;
  };
  return {body, distribute(ones({32, 64}), Layout({"batch", UNSHARDED}, mesh)),
          weights};
}

Traced blocks(int64_t n) {
  const Mesh mesh = create_mesh({{"batch", 2}, {"model", 4}}, virtual_cpus(8));
  const int64_t width = 64, heads = 4, tokens = 16, batch = 8;
  const Layout columns({UNSHARDED, "model"}, mesh),
      rows({"model", UNSHARDED}, mesh);
  std::vector<DVariable> weights; // six a block
  for (int64_t i = 0; i < n; ++i) {
    for (int projection = 0; projection < 3; ++projection)
      weights.emplace_back(distribute(ones({width, width}), columns));
    weights.emplace_back(distribute(ones({width, width}), rows));
    weights.emplace_back(distribute(ones({width, 4 * width}), columns));
    weights.emplace_back(distribute(ones({4 * width, width}), rows));
  }
  auto body = [weights](const Tensor &x) {
    GradientTape tape;
    Tensor h = x;
    for (size_t i = 0; i < weights.size(); i += 6) {
      const Tensor normed = nn::layer_norm(h);
      auto project = [&](size_t which) {
        return reshape(matmul(normed, weights[i + which]),
                       {batch, tokens, heads, width / heads});
      };
      const Tensor mixed =
          nn::attention(project(0), project(1), project(2), {.causal = true});
      h = h + matmul(reshape(mixed, {batch, tokens, width}), weights[i + 3]);
      h = h + matmul(nn::gelu(matmul(nn::layer_norm(h), weights[i + 4])),
                     weights[i + 5]);
    }
    const Tensor loss = reduce_mean(h);
    for (const auto &[gradient, variable] : tape.gradient(loss, weights)) {
      DVariable w = variable;
      w.assign_sub(gradient * 0.01f);
    }
    return loss;
  };
  return {body,
          distribute(ones({batch, tokens, width}),
                     Layout({"batch", UNSHARDED, UNSHARDED}, mesh)),
          weights};
}

Layout rows() {
  return {{"batch", UNSHARDED}, create_mesh({{"batch", 8}}, virtual_cpus(8))};
}

Traced chain(int64_t n) {
  auto body = [n](const Tensor &x) {
    Tensor h = x;
    for (int64_t i = 0; i < n; ++i)
      h = i % 2 ? tanh(h) : -h;
    return h;
  };
  return {body, distribute(ones({32, 64}), rows()), {}};
}

Traced reads(int64_t n) {
  DVariable w(distribute(ones({32, 64}), rows()));
  auto body = [n, w](const Tensor &x) mutable {
    Tensor h = x;
    for (int64_t i = 0; i < n; ++i)
      h = tanh(h * w);
    w.assign(h);
    return reduce_sum(h);
  };
  return {body, distribute(ones({32, 64}), rows()), {w}};
}

Traced variables(int64_t n) {
  std::vector<DVariable> weights;
  for (int64_t i = 0; i < n; ++i)
    weights.emplace_back(distribute(ones({32, 64}), rows()));
  auto body = [weights](const Tensor &x) mutable {
    for (DVariable &w : weights)
      w.assign_add(x);
    return reduce_sum(x);
  };
  return {body, distribute(ones({32, 64}), rows()), weights};
}

Traced prints(int64_t n) {
  auto body = [n](const Tensor &x) {
    Tensor h = x;
    for (int64_t i = 0; i < n; ++i) {
      h = tanh(h);
      debug_print("{}", {reduce_sum(h)});
    }
    return h;
  };
  return {body, distribute(ones({32, 64}), rows()), {}};
}

} // namespace

// Named without mangling, for callgrind, which counts what it calls.
extern "C" [[gnu::noinline]] void compile_case(const char *name,
                                               const Traced &work, int64_t n) {
  auto step = function(work.body);
  const ConcreteFunction compiled = step.get_concrete_function(work.input);
  const CacheStatistics cache = cache_statistics();
  std::printf("{\"peer\": \"meshloom\", \"case\": \"compile_%s\", \"n\": "
              "%ld, \"trace_ms\": %.1f, \"compile_ms\": %.1f, "
              "\"cache_misses\": %ld}\n",
              name, long(n), compiled.trace_time() * 1e3,
              compiled.compile_time() * 1e3, long(cache.misses));
}

int main(int argc, char **argv) try {
  const std::map<std::string, Traced (*)(int64_t)> cases = {
      {"matmuls", matmuls}, {"blocks", blocks},       {"chain", chain},
      {"reads", reads},     {"variables", variables}, {"prints", prints}};
  peers::CommandLine line(argc, argv);
  bool withoutRefinement = false;
  std::string machine = "shared-memory";
  line.read("--no-refine", withoutRefinement);
  line.read("--machine", machine);
  set_machine_model(machine, !withoutRefinement);
  std::string name = line.positional();
  do {
    const auto found = cases.find(name);
    const int64_t n = std::atoll(line.positional().c_str());
    if (found == cases.end() || n < 1) {
      std::fprintf(stderr, "usage: compile-benchmark "
                           "matmuls|blocks|chain|reads|variables|prints N ... "
                           "[--no-refine] [--machine=MODEL]\n");
      return 1;
    }
    compile_case(name.c_str(), found->second(n), n);
    name = line.positional();
  } while (!name.empty());
  line.end();
} catch (const Error &error) {
  std::fprintf(stderr, "compile-benchmark: %s\n", error.what());
  return 1;
}
