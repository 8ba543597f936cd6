// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the command line with the standard library alone, as examples see no
// more than a user does.
#include "Options.h"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <sstream>

using namespace meshloom;

namespace mnist {
namespace {

const char *const Usage =
    R"(Trains the MLP of TensorFlow's "DTensor with Core APIs" on virtual CPUs.

  mnist_mlp [options]
    --mesh AXIS=N,...   devices by axis (batch=8). The axis "batch" (else the
                        first) cuts the images, "model" (else the second) cuts
                        the weights; others hold copies
    --hidden N,...      widths of the hidden layers (700,10)
    --epochs N          (3)
    --batch N           images a step (128)
    --train N, --test N how many images (5000, 5000)
    --data DIR          folder with MNIST's IDX files, plain or .gz; without it
                        handwritten-like digits are generated
    --output DIR        where data, plots and losses go (mnist_mlp)
    --platform P        other devices: pjrt:PLUGIN.so is those of a PJRT plug-in
    --deterministic     the same bits for every mesh
    --explain           print why each collective is there, and what it costs
)";

int64_t number(const std::string &option, std::string_view text) {
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw Error(option + ": expected a number above 0, got \"" +
                std::string(text) + "\"");
  return value;
}

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

} // namespace

std::string Options::batchAxis() const {
  for (const MeshAxis &axis : mesh)
    if (axis.name == "batch")
      return axis.name;
  return mesh[0].name == "model" ? "" : mesh[0].name;
}

std::string Options::modelAxis() const {
  for (const MeshAxis &axis : mesh)
    if (axis.name == "model")
      return axis.name;
  for (const MeshAxis &axis : mesh)
    if (axis.name != batchAxis())
      return axis.name;
  return "";
}

int64_t Options::devices() const {
  int64_t count = 1;
  for (const MeshAxis &axis : mesh)
    count *= axis.size;
  return count;
}

std::string meshText(const std::vector<MeshAxis> &mesh) {
  std::string text;
  for (const MeshAxis &axis : mesh)
    text +=
        (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i], value;
    if (option == "--help" || option == "-h") {
      std::cout << Usage;
      std::exit(0);
    }
    if (option == "--explain") {
      options.explain = true;
      continue;
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
    if (option == "--mesh") {
      options.mesh.clear();
      for (const std::string &axis : split(value)) {
        size_t equals = axis.find('=');
        if (equals == std::string::npos)
          throw Error("--mesh: expected AXIS=N, got \"" + axis +
                      "\"; for example --mesh batch=2,model=4");
        options.mesh.push_back(
            {axis.substr(0, equals),
             number("--mesh " + axis,
                    std::string_view(axis).substr(equals + 1))});
      }
      if (options.mesh.empty())
        throw Error("--mesh: no axis given; for example --mesh batch=8");
    } else if (option == "--hidden") {
      options.hidden.clear();
      for (const std::string &width : split(value))
        options.hidden.push_back(number(option, width));
    } else if (option == "--epochs") {
      options.epochs = number(option, value);
    } else if (option == "--batch") {
      options.batchSize = number(option, value);
    } else if (option == "--train") {
      options.trainImages = number(option, value);
    } else if (option == "--test") {
      options.testImages = number(option, value);
    } else if (option == "--data") {
      options.data = value;
    } else if (option == "--output") {
      options.output = value;
    } else if (option == "--platform") {
      options.platform = value;
    } else {
      throw Error("unknown option " + option + "; see --help");
    }
  }
  return options;
}

} // namespace mnist
