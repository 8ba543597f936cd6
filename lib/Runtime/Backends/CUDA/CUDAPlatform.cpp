// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform "cuda": clients of logical GPUs, which are on one card or on
// several. After the name come options:
// "cuda:card=1,memory-limit=1000000,driver=/path/libcuda.so.1".
#include "CUDAClient.h"

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Plan/ThreadedProcesses.h"
#include "meshloom/Runtime/PlatformRegistry.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <numeric>

namespace meshloom {
namespace {

using namespace cuda;

constexpr const char *driverVariable = "MESHLOOM_CUDA_DRIVER";
constexpr const char *blasVariable = "MESHLOOM_CUBLASLT";
constexpr std::string_view systemDriver = "libcuda.so.1";
/// Instead of a library's path: kernels do its work.
constexpr std::string_view noLibrary = "none";

struct PlatformOptions {
  int64_t card = -1; ///< the only one that is used; -1: all of them are
  int64_t memoryLimit = 0;
  int64_t graphsFrom = 3; ///< fewer launches take no longer by themselves
  /// The logical GPUs that each card is; 0: nobody has said it.
  int64_t logicalGPUs = 0;
  std::string driver;
  /// cuBLASLt: see Card::open.
  std::optional<std::string> blas;
};

Result<PlatformOptions> parseOptions(std::string_view text) {
  PlatformOptions options;
  Status read = readPlatformOptions(
      text,
      "the platform cuda takes card=N, logical-gpus=N, memory-limit=BYTES, "
      "graphs=N, driver=PATH and cublaslt=PATH",
      [&](std::string_view name, std::optional<std::string_view> value) {
        if (name == "driver" && value && !value->empty()) {
          options.driver = *value;
          return true;
        }
        if (name == "cublaslt" && value && !value->empty()) {
          options.blas = *value;
          return true;
        }
        int64_t *number = name == "card"           ? &options.card
                          : name == "logical-gpus" ? &options.logicalGPUs
                          : name == "memory-limit" ? &options.memoryLimit
                          : name == "graphs"       ? &options.graphsFrom
                                                   : nullptr;
        return number && readPlatformNumber(value, *number);
      });
  if (!read)
    return read.error();
  if (options.driver.empty()) {
    const char *path = std::getenv(driverVariable);
    options.driver = path && *path ? path : systemDriver;
  }
  if (!options.blas) {
    const char *path = std::getenv(blasVariable);
    if (path && *path)
      options.blas = path;
    else if (options.driver == systemDriver)
      options.blas = "";
  }
  if (options.blas == noLibrary)
    options.blas = std::nullopt;
  return options;
}

/// The cards of a platform and the logical GPUs that they are, which are
/// numbered card by card. One card alone is as many as programs ask for, until
/// somebody says how many.
class Cards {
public:
  explicit Cards(PlatformOptions options) : options(std::move(options)) {}
  Result<std::vector<PlatformDevice>> list();
  Status configure(int64_t physical, const std::vector<int64_t> &limits);
  Result<std::shared_ptr<Client>> client(const std::vector<int64_t> &numbers);

private:
  /// The cards, as the driver numbers them.
  Result<std::vector<int>> numbers();
  int64_t logicalGPUs(int card) const;
  bool isConfigured(int card) const {
    return options.logicalGPUs > 0 || limitsOf.contains(card);
  }
  /// The card of each logical GPU.
  Result<std::vector<int>> cardsOf(const std::vector<int64_t> &logical);
  Result<std::shared_ptr<Card>> open(int card);

  const PlatformOptions options;
  std::mutex mutex; ///< of what is below
  std::map<int, std::weak_ptr<Card>> cards;
  /// The limits of the logical GPUs of cards that were configured.
  std::map<int, std::vector<int64_t>> limitsOf;
};

Result<std::vector<int>> Cards::numbers() {
  Result<const Driver *> driver = Driver::load(options.driver);
  if (!driver)
    return driver.error();
  if (options.card >= 0) {
    if (auto found = Card::describe(**driver, int(options.card)); !found)
      return found.error();
    return std::vector<int>{int(options.card)};
  }
  Result<int> count = Card::count(**driver);
  if (!count)
    return count.error();
  std::vector<int> numbers(size_t(*count), 0);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

int64_t Cards::logicalGPUs(int card) const {
  const auto limits = limitsOf.find(card);
  return limits != limitsOf.end() ? std::ssize(limits->second)
                                  : std::max<int64_t>(options.logicalGPUs, 1);
}

Result<std::vector<PlatformDevice>> Cards::list() {
  std::lock_guard lock(mutex);
  Result<std::vector<int>> found = numbers();
  if (!found)
    return found.error();
  const Driver &driver = *Driver::load(options.driver).value_or_throw();
  std::vector<PlatformDevice> devices;
  for (size_t physical = 0; physical < found->size(); ++physical) {
    const int card = (*found)[physical];
    Result<std::string> description = Card::describe(driver, card);
    if (!description)
      return description.error();
    for (int64_t i = 0; i < logicalGPUs(card); ++i)
      devices.push_back({.number = std::ssize(devices),
                         .kind = *description,
                         .coords = {},
                         .physical = int64_t(physical)});
  }
  return devices;
}

Status Cards::configure(int64_t physical, const std::vector<int64_t> &limits) {
  std::lock_guard lock(mutex);
  Result<std::vector<int>> found = numbers();
  if (!found)
    return found.error();
  if (physical < 0 || physical >= std::ssize(*found))
    return Error(fmt::format("there is no GPU:{} in this machine, which has {}",
                             physical, found->size()),
                 ErrorCode::NOT_FOUND);
  if (limits.empty())
    return Error("expected the configuration of at least one logical GPU");
  const auto limited =
      std::ranges::count_if(limits, [](int64_t limit) { return limit > 0; });
  if (limited != 0 && limited != std::ssize(limits))
    return Error(fmt::format("the logical GPUs of a card share its memory: "
                             "give all of them a memory "
                             "limit or none, got a limit for {} of {}",
                             limited, limits.size()));
  const int card = (*found)[size_t(physical)];
  if (!cards[card].expired())
    return Error(fmt::format("GPU:{} is in use: call it at the start of the "
                             "program",
                             physical),
                 ErrorCode::FAILED_PRECONDITION);
  limitsOf[card] = limits;
  return Success();
}

Result<std::vector<int>> Cards::cardsOf(const std::vector<int64_t> &logical) {
  Result<std::vector<int>> found = numbers();
  if (!found)
    return found.error();
  if (found->size() == 1 && !isConfigured(found->front()))
    return std::vector<int>(logical.size(), found->front());
  std::vector<int> cardOf; // per logical GPU that there is
  for (int card : *found)
    cardOf.insert(cardOf.end(), size_t(logicalGPUs(card)), card);
  std::vector<int> result;
  for (int64_t number : logical) {
    if (number < 0 || number >= std::ssize(cardOf))
      return Error(
          fmt::format("there is no GPU:{}: this machine has {} GPUs, which are "
                      "{} logical ones, GPU:0 to GPU:{}; "
                      "set_logical_device_configuration says how many each is, "
                      "and so does the option logical-gpus=N of the platform",
                      number, found->size(), cardOf.size(), cardOf.size() - 1),
          ErrorCode::NOT_FOUND);
    result.push_back(cardOf[size_t(number)]);
  }
  return result;
}

Result<std::shared_ptr<Card>> Cards::open(int card) {
  if (std::shared_ptr<Card> present = cards[card].lock())
    return present;
  int64_t limit = options.memoryLimit;
  if (const auto limits = limitsOf.find(card); limits != limitsOf.end())
    if (const int64_t sum = std::accumulate(limits->second.begin(),
                                            limits->second.end(), int64_t(0));
        sum > 0)
      limit = limit ? std::min(limit, sum) : sum;
  Result<const Driver *> driver = Driver::load(options.driver);
  if (!driver)
    return driver.error();
  Result<std::shared_ptr<Card>> opened =
      Card::open(**driver, card, limit, options.blas);
  if (opened)
    cards[card] = *opened;
  return opened;
}

Result<std::shared_ptr<Client>>
Cards::client(const std::vector<int64_t> &logical) {
  if (logical.empty())
    return Error("a client of the platform cuda needs at least one GPU");
  std::lock_guard lock(mutex);
  Result<std::vector<int>> owners = cardsOf(logical);
  if (!owners)
    return owners.error();
  std::vector<int> used = *owners;
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const size_t perCard = logical.size() / used.size();
  for (size_t i = 0; i < logical.size(); ++i)
    if (perCard * used.size() != logical.size() ||
        (*owners)[i] != used[i / perCard] ||
        std::ranges::count(used, used[i / perCard]) > 1)
      return Error(fmt::format(
          "a program on several GPUs has as many logical GPUs on each, one "
          "card "
          "after the other; of its {} devices, number {} is GPU:{} on GPU {}",
          logical.size(), i, logical[i], (*owners)[i]));
  auto make = [&](int number, const std::vector<int64_t> &devices,
                  std::shared_ptr<Communicator> messages)
      -> Result<std::shared_ptr<Client>> {
    Result<std::shared_ptr<Card>> card = open(number);
    if (!card)
      return card.error();
    return std::shared_ptr<Client>(std::make_shared<CUDAClient>(
        std::move(*card), devices, options.graphsFrom, std::move(messages)));
  };
  Result<std::shared_ptr<Client>> alone = make(used.front(), logical, nullptr);
  if (!alone || used.size() == 1)
    return alone;
  // Each card counts its own devices from 0.
  std::vector<int64_t> inCard(perCard);
  std::iota(inCard.begin(), inCard.end(), 0);
  const auto transports = makeInProcessTransports(int(used.size()));
  std::vector<std::shared_ptr<Client>> clients;
  for (size_t i = 0; i < used.size(); ++i) {
    auto client =
        make(used[i], inCard, std::make_shared<Communicator>(transports[i]));
    if (!client)
      return client;
    clients.push_back(std::move(*client));
  }
  return plan::joinProcesses(std::move(clients), std::move(*alone));
}

} // namespace

Result<std::shared_ptr<Platform>> cudaPlatform(const std::string &name,
                                               const std::string &argument) {
  Result<PlatformOptions> options = parseOptions(argument);
  if (!options)
    return options.error();
  auto cards = std::make_shared<Cards>(std::move(*options));
  return virtualPlatform(
      name, "",
      {.type = "GPU",
       .target = "cuda",
       .makeClient =
           [cards](const std::vector<int64_t> &numbers,
                   const std::shared_ptr<PlatformProcesses> &) {
             return cards->client(numbers);
           },
       .listed = [cards] { return cards->list(); },
       .configure =
           [cards](int64_t physical, const std::vector<int64_t> &limits) {
             return cards->configure(physical, limits);
           }});
}

} // namespace meshloom
