// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of the training examples: --strategy and --replicas, and the
// example's own options.
#pragma once

#include <meshloom/Meshloom.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace example {

/// The options that the user gave. One example reads it like this:
///
///   const StrategyOptions options = parseStrategyOptions(argc, argv,
///       "usage: keras_line [options]\n"
///       "    --epochs N  how often the data is seen (2)\n");
///   const Strategy strategy = options.makeStrategy();
///   auto scope = options.scope(strategy);
///   const int64_t epochs = options.number("--epochs", 2);
struct StrategyOptions {
  /// mirrored, central, one_device, default, tpu, multi_worker or dtensor.
  std::string strategy = "mirrored";
  /// Where several processes run the example, one in each at least.
  int64_t replicas = std::max<int64_t>(2, meshloom::num_clients());
  /// The options of the example's usage, by name; an option without a value has
  /// "".
  std::map<std::string, std::string> values = {};

  /// The strategy of --strategy on --replicas virtual CPUs. For "dtensor" it is
  /// the default strategy: layouts are then the example's, see mesh(). For
  /// "default" and "one_device" there is one replica, whatever --replicas says.
  meshloom::Strategy makeStrategy() const;
  /// Returns whether layouts are written out, over mesh().
  bool isDTensor() const { return strategy == "dtensor"; }
  /// The mesh of "dtensor": one axis "batch" of --replicas virtual CPUs.
  meshloom::Mesh mesh() const;
  /// How a batch of that rank is cut: by the strategy, or over the mesh; none
  /// where there is one device.
  std::optional<meshloom::Layout>
  batchLayout(const meshloom::Strategy &strategy, int64_t rank) const;

  /// While it lives, variables are made as the strategy says, or on mesh().
  class Scope {
  public:
    Scope(const StrategyOptions &options, const meshloom::Strategy &strategy);
    Scope(const Scope &) = delete;

  private:
    std::optional<meshloom::StrategyScope> strategy;
    std::optional<meshloom::DefaultMeshScope> mesh;
  };
  /// auto scope = options.scope(strategy);
  Scope scope(const meshloom::Strategy &strategy) const {
    return {*this, strategy};
  }

  /// Returns whether the example's own option was given.
  bool has(const std::string &option) const { return values.count(option) > 0; }
  /// The value of an own option, or `otherwise`.
  std::string text(const std::string &option,
                   const std::string &otherwise) const;
  int64_t number(const std::string &option, int64_t otherwise) const;
};

/// `usage`: what --help prints before the options that all examples have. A
/// line that begins with "    --name" is an option of the example's own, which
/// takes a value if a word in capitals follows its name. Throws meshloom::Error
/// naming the argument that is wrong; prints the usage and exits for --help.
StrategyOptions parseStrategyOptions(int argc, char **argv,
                                     const std::string &usage);

} // namespace example
