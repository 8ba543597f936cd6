// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See StrategyOptions.h.
#include "StrategyOptions.h"

#include <charconv>
#include <iostream>
#include <sstream>

using namespace meshloom;

namespace example {
namespace {

const char *const Usage = R"(
    --strategy S    mirrored, central, one_device, default, tpu (on virtual
                    CPUs), multi_worker (on those of all processes) or dtensor,
                    with layouts written out (mirrored)
    --replicas N    virtual CPUs, each with a replica (2)
    --deterministic the same bits for every number of replicas
)";

int64_t parsed(const std::string &option, const std::string &text,
               int64_t least) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < least)
    throw Error(option + ": expected a number of at least " +
                std::to_string(least) + ", got \"" + text + "\"");
  return value;
}

/// The options of a usage text, and whether each takes a value.
std::map<std::string, bool> optionsOf(const std::string &usage) {
  std::map<std::string, bool> options;
  std::istringstream lines(usage);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, value;
    words >> name >> value;
    if (name.starts_with("--"))
      options[name] = !value.empty() &&
                      value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
                          std::string::npos;
  }
  return options;
}

} // namespace

Strategy StrategyOptions::makeStrategy() const {
  std::vector<DeviceSpec> devices;
  for (const DeviceSpec &device : virtual_cpus(replicas))
    devices.push_back(device);
  if (strategy == "mirrored")
    return MirroredStrategy(devices);
  if (strategy == "central")
    return CentralStorageStrategy(devices);
  if (strategy == "one_device")
    return OneDeviceStrategy("CPU:0");
  if (strategy == "tpu")
    return TPUStrategy(devices);
  if (strategy == "multi_worker")
    return MultiWorkerMirroredStrategy();
  if (strategy == "default" || strategy == "dtensor")
    return get_strategy();
  throw Error("--strategy: expected mirrored, central, one_device, default, "
              "tpu, multi_worker or dtensor, got \"" +
              strategy + "\"");
}

Mesh StrategyOptions::mesh() const {
  return create_mesh({{"batch", replicas}}, virtual_cpus(replicas));
}

std::optional<Layout> StrategyOptions::batchLayout(const Strategy &strategy,
                                                   int64_t rank) const {
  if (isDTensor())
    return Layout::batch_sharded(mesh(), "batch", unsigned(rank));
  return strategy.batch_layout(rank);
}

StrategyOptions::Scope::Scope(const StrategyOptions &options,
                              const Strategy &of) {
  if (options.isDTensor())
    mesh.emplace(options.mesh());
  else
    strategy.emplace(of);
}

std::string StrategyOptions::text(const std::string &option,
                                  const std::string &otherwise) const {
  auto found = values.find(option);
  return found == values.end() ? otherwise : found->second;
}

int64_t StrategyOptions::number(const std::string &option,
                                int64_t otherwise) const {
  return has(option) ? parsed(option, text(option, ""), 0) : otherwise;
}

StrategyOptions parseStrategyOptions(int argc, char **argv,
                                     const std::string &usage) {
  StrategyOptions options;
  std::map<std::string, bool> accepted = optionsOf(usage);
  accepted["--strategy"] = accepted["--replicas"] = true;
  accepted["--deterministic"] = false;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i], value;
    if (option == "--help" || option == "-h") {
      std::cout << usage << std::string_view(Usage).substr(1);
      std::exit(0);
    }
    const size_t equals = option.find('=');
    if (equals != std::string::npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    }
    auto found = accepted.find(option);
    if (found == accepted.end())
      throw Error("unknown option " + option + "; see --help");
    if (found->second && equals == std::string::npos) {
      if (i + 1 == argc)
        throw Error(option + " needs a value; see --help");
      value = argv[++i];
    } else if (!found->second && equals != std::string::npos) {
      throw Error(option + " takes no value; see --help");
    }
    if (option == "--strategy")
      options.strategy = value;
    else if (option == "--replicas")
      options.replicas = parsed(option, value, 1);
    else if (option == "--deterministic")
      enable_op_determinism();
    else
      options.values[option] = value;
  }
  (void)options.makeStrategy(); // says what is wrong with --strategy
  return options;
}

} // namespace example
