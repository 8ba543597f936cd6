// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CUDAClient.h"

#include "meshloom/Runtime/Library/HostCode.h"

#include <charconv>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;

/// The format of the target cuda's code: DeviceCode::text.
static constexpr std::string_view ptxCode = "ptx";

CUDAClient::CUDAClient(std::shared_ptr<Card> card,
                       const std::vector<int64_t> &numbers, int64_t graphsFrom,
                       std::shared_ptr<Communicator> messages,
                       std::shared_ptr<CardLink> link)
    : PlanClient(/*cores=*/1), card(std::move(card)), link(std::move(link)),
      graphsFrom(graphsFrom), messages(std::move(messages)) {
  for (int64_t number : numbers)
    deviceList.push_back({number, fmt::format("GPU:{}", number)});
}

Status CUDAClient::fill(size_t, const plan::Block &block, int64_t bytes,
                        const std::function<void(char *)> &write) {
  Result<std::shared_ptr<char>> staging = card->allocateHost(bytes);
  if (!staging)
    return staging.error();
  write(staging->get());
  return card->copyFromHost(block.get(), staging->get(), bytes);
}

Result<std::shared_ptr<const char>>
CUDAClient::read(size_t, const plan::Block &block, int64_t bytes) {
  Result<std::shared_ptr<char>> staging = card->allocateHost(bytes);
  if (!staging)
    return staging.error();
  if (Status ok = card->copyToHost(staging->get(), block.get(), bytes); !ok)
    return ok.error();
  if (Status ok = card->synchronize(); !ok)
    return ok.error();
  return std::shared_ptr<const char>(std::move(*staging));
}

Result<Event>
CUDAClient::whenDone(std::function<Status(const Status &)> outcome,
                     std::optional<CardLink::Messages> messages) {
  Result<EventHandle> mark = card->mark();
  if (!mark)
    return mark.error();
  LaunchQueue::Launch wait;
  wait.run = [card = card, link = link, mark = *mark, messages,
              outcome = std::move(outcome)] {
    const Status transferred =
        messages ? link->endRun(mark, *messages) : Success();
    const Status done = card->wait(mark);
    const Status ended = outcome(transferred ? done : transferred);
    return ended ? Event() : Event::failed(ended.error());
  };
  return waiting.launch(std::move(wait));
}

std::optional<Array> CUDAClient::adopt(const ArrayType &type, Array &array) {
  const auto *owner = dynamic_cast<const CUDAClient *>(array.client().get());
  if (!owner || owner->card != card)
    return std::nullopt;
  return PlanClient::adopt(type, array);
}

/// Loads the host's functions of a program that was saved.
static Status loadHostCode(LoadedCode &loaded) {
  const DeviceCode &code = loaded.code;
  if (loaded.host || code.hostObject.empty())
    return Success();
  if (Status ok = library::checkCPUFeatures(code.hostFeatures); !ok)
    return ok;
  auto host = library::loadSharedObject(code.hostObject);
  if (!host)
    return host.error();
  loaded.host = std::move(*host);
  return Success();
}

/// Fails on code that the card does not run.
static Result<std::shared_ptr<const LoadedCode>>
loadCode(const Compiled &compiled, Card &card) {
  const std::string &name = compiled.signature().name;
  if (!compiled.coded())
    return Error(fmt::format("program '{}' is StableHLO, which the platform "
                             "cuda does not run: compile it for the target "
                             "cuda",
                             name));
  const Code &code = compiled.code();
  auto loaded = std::make_shared<LoadedCode>();
  loaded->host = code.symbols;
  if (code.format.empty())
    return std::shared_ptr<const LoadedCode>(loaded);
  if (code.format != ptxCode)
    return Error(fmt::format("the code of program '{}' is {}, but the platform "
                             "cuda runs {}: compile it for the target cuda",
                             name, code.format, ptxCode));
  Result<DeviceCode> parsed =
      DeviceCode::parse({code.bytes.data(), code.bytes.size()});
  if (!parsed)
    return parsed.error().withMessage(
        fmt::format("program '{}': {}", name, parsed.error().message()));
  loaded->code = std::move(*parsed);
  if (Status ok = loadHostCode(*loaded); !ok)
    return ok.error().withMessage(
        fmt::format("program '{}': {}", name, ok.error().message()));
  if (loaded->code.kernels.empty())
    return std::shared_ptr<const LoadedCode>(loaded);
  constexpr std::string_view architecture = "sm_";
  int needed = 0;
  if (code.requirements.starts_with(architecture))
    std::from_chars(code.requirements.data() + architecture.size(),
                    code.requirements.data() + code.requirements.size(),
                    needed);
  if (needed > card.capability())
    return Error(fmt::format(
        "program '{}' needs a GPU of compute capability {}.{} or more, and {} "
        "has {}.{}",
        name, needed / 10, needed % 10, card.description(),
        card.capability() / 10, card.capability() % 10));
  auto kernels = card.compile(loaded->code.ptx);
  if (!kernels)
    return kernels.error().withMessage(
        fmt::format("program '{}': {}", name, kernels.error().message()));
  loaded->kernels = std::move(*kernels);
  return std::shared_ptr<const LoadedCode>(std::move(loaded));
}

/// The most pieces of work that a loop adds to a graph.
static constexpr int64_t mostUnrolledSteps = 2048;

Result<std::shared_ptr<Executable>>
CUDAClient::loadOn(Compiled compiled, const DeviceAssignment &assignment,
                   const LoadOptions &options) {
  auto code = loadCode(compiled, *card);
  if (!code)
    return code.error();
  auto self = std::static_pointer_cast<CUDAClient>(shared_from_this());
  return plan::loadProgram(
      self, {std::move(compiled), assignment}, options,
      [&](plan::BoundProgram straight) {
        return loadStraight(self, *code, options, std::move(straight));
      },
      graphsFrom > 0 ? mostUnrolledSteps : 0);
}
