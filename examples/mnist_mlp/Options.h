// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The example's command line.
#pragma once

#include <meshloom/Meshloom.h>

#include <string>
#include <vector>

namespace mnist {

struct Options {
  std::vector<meshloom::MeshAxis> mesh = {{"batch", 8}};
  std::vector<int64_t> hidden = {700, 10};
  int64_t epochs = 3, batchSize = 128;
  int64_t trainImages = 5000, testImages = 5000;
  std::string data;                 ///< folder of IDX files; empty: make them
  std::string output = "mnist_mlp"; ///< folder for data, plots and losses
  std::string platform;             ///< of the devices; empty: virtual CPUs
  bool explain = false;

  /// The axis that cuts the batch, and the one that cuts the weights, or "".
  std::string batchAxis() const;
  std::string modelAxis() const;
  int64_t devices() const;
};

/// Throws meshloom::Error naming the argument that is wrong. Prints the usage
/// and exits for --help.
Options parseOptions(int argc, char **argv);

/// "batch=2,model=4".
std::string meshText(const std::vector<meshloom::MeshAxis> &mesh);

} // namespace mnist
