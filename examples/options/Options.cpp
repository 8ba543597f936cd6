// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the command line with the standard library alone, as examples see no
// more than a user does.
#include "Options.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>

using namespace meshloom;

namespace example {
namespace {

const char *const Usage = R"(
    --mesh AXIS=N,...   devices by axis (batch=1): "batch" cuts the data,
                        "model" cuts the weights; others hold copies
    --batch N           sequences or images a step
    --steps N           steps of training; 0: none (10)
    --rate X            of learning (0.001)
    --weights FILE      .safetensors to start from, by name
    --save FILE         .safetensors to write after training
    --deterministic     the same bits for every mesh
    --platform P        other devices: pjrt:PLUGIN.so is those of a PJRT plug-in
)";

int64_t number(const std::string &option, std::string_view text,
               int64_t least = 1) {
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least)
    throw Error(option + ": expected a number of at least " +
                std::to_string(least) + ", got \"" + std::string(text) + "\"");
  return value;
}

std::vector<MeshAxis> meshOf(const std::string &text) {
  std::vector<MeshAxis> mesh;
  std::istringstream stream(text);
  for (std::string axis; std::getline(stream, axis, ',');) {
    size_t equals = axis.find('=');
    if (equals == std::string::npos)
      throw Error("--mesh: expected AXIS=N, got \"" + axis +
                  "\"; for example --mesh batch=2,model=4");
    mesh.push_back(
        {axis.substr(0, equals),
         number("--mesh " + axis, std::string_view(axis).substr(equals + 1))});
  }
  if (mesh.empty())
    throw Error("--mesh: no axis given; for example --mesh batch=8");
  return mesh;
}

} // namespace

int64_t Options::devices() const {
  int64_t count = 1;
  for (const MeshAxis &axis : mesh)
    count *= axis.size;
  return count;
}

Mesh Options::makeMesh() const {
  if (platform.empty())
    return create_mesh(mesh, virtual_cpus(devices()));
  const std::string type = connect_platform(platform).front().type;
  std::vector<DeviceSpec> chosen;
  for (int64_t i = 0; i < devices(); ++i)
    chosen.push_back({type, i});
  return create_mesh(mesh, chosen);
}

DimSpec axisOrNone(const Mesh &mesh, const std::string &axis) {
  for (const MeshAxis &meshAxis : mesh.axes())
    if (meshAxis.name == axis)
      return axis;
  return UNSHARDED;
}

Options parseOptions(int argc, char **argv, const std::string &usage) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i], value;
    if (option == "--help" || option == "-h") {
      std::cout << usage << std::string_view(Usage).substr(1);
      std::exit(0);
    }
    if (option == "--deterministic") {
      enable_op_determinism();
      continue;
    }
    if (size_t equals = option.find('='); equals != std::string::npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    } else {
      throw Error(option + " needs a value; see --help");
    }
    // An option that the example's usage does not name is not one of its
    // options.
    const bool isAccepted = usage.find(option + " ") != std::string::npos;
    if (option == "--mesh") {
      options.mesh = meshOf(value);
    } else if (option == "--batch") {
      options.batch = number(option, value);
    } else if (option == "--steps") {
      options.steps = number(option, value, 0);
    } else if (option == "--rate") {
      char *end = nullptr;
      options.rate = std::strtod(value.c_str(), &end);
      if (value.empty() || *end || !(options.rate > 0))
        throw Error("--rate: expected a number above 0, got \"" + value + "\"");
    } else if (option == "--weights") {
      options.weights = value;
    } else if (option == "--save") {
      options.save = value;
    } else if (option == "--platform") {
      options.platform = value;
    } else if (option == "--size" && isAccepted) {
      options.size = value;
    } else if (option == "--data" && isAccepted) {
      options.data = value;
    } else if (option == "--length" && isAccepted) {
      options.length = number(option, value);
    } else if (option == "--generate" && isAccepted) {
      options.generate = number(option, value, 0);
    } else {
      throw Error("unknown option " + option + "; see --help");
    }
  }
  return options;
}

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void printStep(int64_t step, float loss, double milliseconds) {
  std::cout << "step " << step << ": loss " << std::fixed
            << std::setprecision(5) << loss << ", " << std::setprecision(1)
            << milliseconds << " ms" << std::endl;
}

} // namespace example
