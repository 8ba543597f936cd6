// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform "cuda": clients of logical GPUs, as many as they ask for, on one
// card. After the name come options:
// "cuda:card=1,memory-limit=1000000,driver=/path/libcuda.so.1".
#include "CUDAClient.h"

#include "meshloom/Runtime/PlatformRegistry.h"

#include <mutex>

namespace meshloom {
namespace {

using namespace cuda;

struct PlatformOptions {
  int64_t card = 0, memoryLimit = 0;
  int64_t graphsFrom = 3; ///< fewer launches take no longer by themselves
  std::string driver = "libcuda.so.1";
};

Result<PlatformOptions> parseOptions(std::string_view text) {
  PlatformOptions options;
  Status read = readPlatformOptions(
      text,
      "the platform cuda takes card=N, memory-limit=BYTES, graphs=N and "
      "driver=PATH",
      [&](std::string_view name, std::optional<std::string_view> value) {
        if (name == "driver" && value && !value->empty()) {
          options.driver = *value;
          return true;
        }
        int64_t *number = name == "card"           ? &options.card
                          : name == "memory-limit" ? &options.memoryLimit
                          : name == "graphs"       ? &options.graphsFrom
                                                   : nullptr;
        return number && readPlatformNumber(value, *number);
      });
  if (!read)
    return read.error();
  return options;
}

/// The card of a platform, as long as a client has it.
class SharedCard {
public:
  explicit SharedCard(PlatformOptions options) : options(std::move(options)) {}
  Result<std::shared_ptr<Card>> get() {
    std::lock_guard lock(mutex);
    if (std::shared_ptr<Card> open = card.lock())
      return open;
    Result<const Driver *> driver = Driver::load(options.driver);
    if (!driver)
      return driver.error();
    Result<std::shared_ptr<Card>> opened =
        Card::open(**driver, int(options.card), options.memoryLimit);
    if (opened)
      card = *opened;
    return opened;
  }

private:
  const PlatformOptions options;
  std::mutex mutex;
  std::weak_ptr<Card> card;
};

} // namespace

Result<std::shared_ptr<Platform>> cudaPlatform(const std::string &name,
                                               const std::string &argument) {
  Result<PlatformOptions> options = parseOptions(argument);
  if (!options)
    return options.error();
  auto card = std::make_shared<SharedCard>(*options);
  auto makeClient = [card, graphsFrom = options->graphsFrom](
                        const std::vector<int64_t> &numbers,
                        const std::shared_ptr<PlatformProcesses> &)
      -> Result<std::shared_ptr<Client>> {
    if (numbers.empty())
      return Error("a client of the platform cuda needs at least one GPU");
    Result<std::shared_ptr<Card>> opened = card->get();
    if (!opened)
      return opened.error();
    return std::shared_ptr<Client>(
        std::make_shared<CUDAClient>(std::move(*opened), numbers, graphsFrom));
  };
  auto listed = [card]() -> Result<std::vector<PlatformDevice>> {
    Result<std::shared_ptr<Card>> opened = card->get();
    if (!opened)
      return opened.error();
    return std::vector<PlatformDevice>{
        {.number = 0, .kind = (*opened)->description()}};
  };
  return virtualPlatform(name, "",
                         {.type = "GPU",
                          .target = "cuda",
                          .makeClient = std::move(makeClient),
                          .listed = std::move(listed)});
}

} // namespace meshloom
