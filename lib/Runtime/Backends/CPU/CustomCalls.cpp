// custom_call: users' functions, found by name when a program is loaded.
#include "LibraryArrays.h"
#include "LibraryFunctions.h"

#include "meshloom/Core/CustomCall.h"

#include <exception>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cpu;

namespace {
std::vector<CustomOperand>
operandsOf(const std::vector<LibraryOperand> &boxes) {
  std::vector<CustomOperand> operands;
  operands.reserve(boxes.size());
  for (const LibraryOperand &box : boxes)
    operands.push_back(
        {box.type, box.data, box.extent, box.strides, box.offset, *box.global});
  return operands;
}

class UserFunction : public LibraryRoutine {
public:
  UserFunction(std::string name, std::string config,
               std::shared_ptr<const CustomTarget> target)
      : name(std::move(name)), config(std::move(config)),
        target(std::move(target)) {}

  Status run(const LibraryArguments &arguments) const override {
    const auto inputs = operandsOf(arguments.inputs),
               results = operandsOf(arguments.outputs);
    try {
      Status done = target->run({inputs, results, config});
      return done ? done : Status(failed(done.error().message()));
    } catch (const std::exception &error) {
      return failed(error.what());
    }
  }

private:
  Error failed(std::string_view why) const {
    return Error(fmt::format("custom call '{}' failed: {}", name, why));
  }

  const std::string name, config;
  const std::shared_ptr<const CustomTarget> target;
};
} // namespace

MadeRoutine cpu::makeCustomCall(const LibraryStep &step) {
  const std::string &text = step.step.config;
  const size_t end = text.find('\n');
  std::string name = text.substr(0, end);
  std::string config = end == std::string::npos ? "" : text.substr(end + 1);
  auto target = findCustomCall(name);
  if (!target)
    return Error(fmt::format("no function is registered as custom call target "
                             "'{}': see registerCustomCall in "
                             "meshloom/Core/CustomCall.h",
                             name));
  return made(std::make_unique<UserFunction>(std::move(name), std::move(config),
                                             std::move(target)));
}
