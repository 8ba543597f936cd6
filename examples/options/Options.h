// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of the model examples: which size, on which devices, from
// which weights.
#pragma once

#include <meshloom/Meshloom.h>

#include <optional>
#include <string>
#include <vector>

namespace example {

struct Options {
  std::string size = "tiny"; ///< a name that the example knows
  std::vector<meshloom::MeshAxis> mesh = {{"batch", 1}};
  int64_t batch = 0;    ///< 0: as the size has it
  int64_t length = 0;   ///< tokens a sequence; 0: as the size has it
  int64_t steps = 10;   ///< of training
  int64_t generate = 0; ///< tokens to generate after training
  double rate = 1e-3;   ///< of learning
  std::string data;     ///< the example says of what; empty: it makes some
  std::string weights;  ///< .safetensors to start from
  std::string save;     ///< .safetensors to write after training
  std::string platform; ///< of the devices; empty: virtual CPUs

  int64_t devices() const;
  /// The mesh of --mesh on the devices of --platform.
  meshloom::Mesh makeMesh() const;
};

/// `usage`: the lines that only this example has. Throws meshloom::Error naming
/// the argument that is wrong; prints the usage and exits for --help.
Options parseOptions(int argc, char **argv, const std::string &usage);

/// The axis of that name where the mesh has it, else no axis.
meshloom::DimSpec axisOrNone(const meshloom::Mesh &mesh,
                             const std::string &axis);

/// Calls step(), which gives the loss, `steps` times, and prints loss and
/// milliseconds of each.
template <typename F> void train(int64_t steps, F &&step);

/// "step 3: loss 4.25, 12.1 ms".
void printStep(int64_t step, float loss, double milliseconds);
double now(); ///< milliseconds

template <typename F> void train(int64_t steps, F &&step) {
  for (int64_t i = 1; i <= steps; ++i) {
    const double begin = now();
    const float loss = step();
    printStep(i, loss, now() - begin);
  }
}

} // namespace example
