// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform "cuda": clients of logical GPUs, as many as they ask for, on one
// card. After the name come options:
// "cuda:card=1,memory-limit=1000000,driver=/path/libcuda.so.1".
#include "CUDAClient.h"

#include "meshloom/Runtime/PlatformRegistry.h"

#include <charconv>
#include <fmt/format.h>

namespace meshloom {
namespace {

using namespace cuda;

struct PlatformOptions {
  int64_t card = 0, memoryLimit = 0;
  std::string driver = "libcuda.so.1";
};

Result<PlatformOptions> parseOptions(std::string_view text) {
  PlatformOptions options;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view option = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = std::min(option.find('='), option.size());
    const std::string_view name = option.substr(0, equals);
    const std::string_view value =
        option.substr(std::min(equals + 1, option.size()));
    if (name == "driver" && !value.empty()) {
      options.driver = value;
      continue;
    }
    int64_t *number = name == "card"           ? &options.card
                      : name == "memory-limit" ? &options.memoryLimit
                                               : nullptr;
    if (number) {
      auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), *number);
      if (error == std::errc() && end == value.data() + value.size() &&
          *number >= 0)
        continue;
    }
    return Error(fmt::format("the platform cuda takes card=N, "
                             "memory-limit=BYTES and driver=PATH after its "
                             "name, separated by commas, got '{}'",
                             option));
  }
  return options;
}

} // namespace

Result<std::shared_ptr<Platform>> cudaPlatform(const std::string &name,
                                               const std::string &argument) {
  Result<PlatformOptions> options = parseOptions(argument);
  if (!options)
    return options.error();
  /// The card, as long as a client has it.
  struct Shared {
    std::mutex mutex;
    std::weak_ptr<Card> card;
  };
  auto makeClient = [options = *options, shared = std::make_shared<Shared>()](
                        const std::vector<int64_t> &numbers,
                        const std::shared_ptr<PlatformProcesses> &)
      -> Result<std::shared_ptr<Client>> {
    if (numbers.empty())
      return Error("a client of the platform cuda needs at least one GPU");
    std::lock_guard lock(shared->mutex);
    std::shared_ptr<Card> card = shared->card.lock();
    if (!card) {
      Result<const Driver *> driver = Driver::load(options.driver);
      if (!driver)
        return driver.error();
      Result<std::shared_ptr<Card>> opened =
          Card::open(**driver, int(options.card), options.memoryLimit);
      if (!opened)
        return opened.error();
      shared->card = card = std::move(*opened);
    }
    return std::shared_ptr<Client>(
        std::make_shared<CUDAClient>(std::move(card), numbers));
  };
  return virtualPlatform(
      name, "",
      {.type = "GPU", .target = "cuda", .makeClient = std::move(makeClient)});
}

} // namespace meshloom
