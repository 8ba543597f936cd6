// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform "cuda": clients of logical GPUs, which are on one card or on
// several. After the name come options:
// "cuda:card=1,memory-limit=1000000,driver=/path/libcuda.so.1".
#include "CUDAClient.h"
#include "CardLibraries.h"
#include "NCCL.h"

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Plan/ThreadedProcesses.h"
#include "meshloom/Runtime/PlatformProcesses.h"
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
constexpr const char *ncclVariable = "MESHLOOM_NCCL";
constexpr const char *blasVariable = "MESHLOOM_CUBLASLT";
constexpr const char *dnnVariable = "MESHLOOM_CUDNN";
constexpr const char *fourierVariable = "MESHLOOM_CUFFT";
constexpr const char *solverVariable = "MESHLOOM_CUSOLVER";
constexpr const char *triangularVariable = "MESHLOOM_CUBLAS";
constexpr std::string_view systemDriver = "libcuda.so.1";
/// Instead of a library's path: kernels or the host do its work.
constexpr std::string_view noLibrary = "none";

struct PlatformOptions {
  int64_t card = -1; ///< the only one that is used; -1: all of them are
  int64_t memoryLimit = 0;
  int64_t graphsFrom = 3; ///< fewer launches take no longer by themselves
  /// The logical GPUs that each card is; 0: nobody has said it.
  int64_t logicalGPUs = 0;
  /// Logical GPUs exchange data as cards do.
  bool privateMemories = false;
  /// How cards exchange data: "host", "peer" or "nccl"; empty: by NCCL where it
  /// is there, else as directly as they can.
  std::string exchange;
  std::string driver;
  std::string nccl; ///< empty: there is none for this driver
  LibraryPaths libraries;
};

/// The path of a library that nobody may have named: what the environment
/// says, else the system's, if the driver is the system's too.
void completePath(std::optional<std::string> &path, const char *variable,
                  const PlatformOptions &options) {
  if (!path) {
    const char *value = std::getenv(variable);
    if (value && *value)
      path = value;
    else if (options.driver == systemDriver)
      path = "";
  }
  if (path == noLibrary)
    path = std::nullopt;
}

Result<PlatformOptions> parseOptions(std::string_view text) {
  PlatformOptions options;
  Status read = readPlatformOptions(
      text,
      "the platform cuda takes card=N, logical-gpus=N, private-memories, "
      "memory-limit=BYTES, graphs=N, exchange=host|peer|nccl, driver=PATH, "
      "nccl=PATH, cublaslt=PATH, cublas=PATH, cudnn=PATH, cufft=PATH and "
      "cusolver=PATH",
      [&](std::string_view name, std::optional<std::string_view> value) {
        if (name == "private-memories" && !value)
          return options.privateMemories = true;
        if (name == "driver" && value && !value->empty()) {
          options.driver = *value;
          return true;
        }
        if (name == "nccl" && value && !value->empty()) {
          options.nccl = *value;
          return true;
        }
        if (name == "exchange" &&
            (value == "host" || value == "peer" || value == "nccl")) {
          options.exchange = *value;
          return true;
        }
        std::optional<std::string> *library =
            name == "cublaslt"   ? &options.libraries.blas
            : name == "cudnn"    ? &options.libraries.dnn
            : name == "cufft"    ? &options.libraries.fourier
            : name == "cusolver" ? &options.libraries.solver
            : name == "cublas"   ? &options.libraries.triangular
                                 : nullptr;
        if (library && value && !value->empty()) {
          *library = *value;
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
  if (options.privateMemories && options.exchange == "nccl")
    return Error("NCCL takes one member of a group on each card, and with "
                 "private-memories each logical GPU is one: use the option "
                 "exchange=peer or exchange=host of the platform cuda");
  if (options.driver.empty()) {
    const char *path = std::getenv(driverVariable);
    options.driver = path && *path ? path : systemDriver;
  }
  if (options.nccl.empty()) {
    const char *path = std::getenv(ncclVariable);
    // NCCL itself works with the system's driver.
    options.nccl = path && *path                    ? path
                   : options.driver == systemDriver ? "libnccl.so.2"
                                                    : "";
  }
  completePath(options.libraries.blas, blasVariable, options);
  completePath(options.libraries.dnn, dnnVariable, options);
  completePath(options.libraries.fourier, fourierVariable, options);
  completePath(options.libraries.solver, solverVariable, options);
  completePath(options.libraries.triangular, triangularVariable, options);
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
  /// `processes` may be null.
  Result<std::shared_ptr<Client>>
  client(const std::vector<int64_t> &numbers,
         const std::shared_ptr<PlatformProcesses> &processes);

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
  Result<std::shared_ptr<Client>> join(std::span<const int> used,
                                       int64_t perCard,
                                       std::shared_ptr<Client> alone);
  Result<std::shared_ptr<Client>>
  clientOfProcess(std::shared_ptr<Card> card,
                  const std::vector<int64_t> &logical,
                  PlatformProcesses &processes);
  /// NCCL; null where it is not to be used, or need not be and is not there.
  Result<const NCCL *> nccl() const;
  /// The links of cards to each other; null where data goes by way of the host.
  Result<std::vector<std::shared_ptr<CardLink>>>
  links(std::span<const std::shared_ptr<Card>> used,
        std::span<const std::shared_ptr<Communicator>> messages) const;

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
      Card::open(**driver, card, limit, options.libraries);
  if (opened)
    cards[card] = *opened;
  return opened;
}

Result<std::shared_ptr<Client>>
Cards::client(const std::vector<int64_t> &logical,
              const std::shared_ptr<PlatformProcesses> &processes) {
  if (logical.empty())
    return Error("a client of the platform cuda needs at least one GPU");
  std::lock_guard lock(mutex);
  Result<std::vector<int>> owners = cardsOf(logical);
  if (!owners)
    return owners.error();
  if (processes && options.privateMemories)
    return Error("logical GPUs with private memories are those of one process, "
                 "and this program has several: leave the option "
                 "private-memories of the platform cuda out");
  // With private memories each of them is a member, like a card.
  std::vector<int> used = *owners;
  if (!options.privateMemories)
    used.erase(std::unique(used.begin(), used.end()), used.end());
  const size_t perCard = logical.size() / used.size();
  for (size_t i = 0; i < logical.size() && !options.privateMemories; ++i)
    if (perCard * used.size() != logical.size() ||
        (*owners)[i] != used[i / perCard] ||
        std::ranges::count(used, used[i / perCard]) > 1)
      return Error(fmt::format(
          "a program on several GPUs has as many logical GPUs on each, one "
          "card "
          "after the other; of its {} devices, number {} is GPU:{} on GPU {}",
          logical.size(), i, logical[i], (*owners)[i]));
  Result<std::shared_ptr<Card>> first = open(used.front());
  if (!first)
    return first.error();
  if (processes)
    return clientOfProcess(std::move(*first), logical, *processes);
  const auto alone = std::make_shared<CUDAClient>(std::move(*first), logical,
                                                  options.graphsFrom);
  if (used.size() == 1)
    return std::shared_ptr<Client>(alone);
  return join(used, int64_t(perCard), alone);
}

Result<const NCCL *> Cards::nccl() const {
  if (options.exchange == "host" || options.exchange == "peer" ||
      options.privateMemories)
    return nullptr;
  const bool isWanted = options.exchange == "nccl";
  if (options.nccl.empty())
    return isWanted ? Result<const NCCL *>(Error(fmt::format(
                          "exchange=nccl needs NCCL for the driver '{}': name "
                          "it with the option nccl=PATH",
                          options.driver)))
                    : nullptr;
  Result<const NCCL *> library = NCCL::load(options.nccl);
  return library || isWanted ? library : nullptr;
}

/// All processes use NCCL, or none does.
Result<std::shared_ptr<Client>>
Cards::clientOfProcess(std::shared_ptr<Card> card,
                       const std::vector<int64_t> &logical,
                       PlatformProcesses &processes) {
  if (options.exchange == "peer")
    return Error("cards of several processes are no peers: the option exchange "
                 "takes host or nccl there");
  Result<const NCCL *> library = nccl();
  if (!library)
    return library.error();
  constexpr std::chrono::seconds patience(60);
  const std::string statement = *library ? "NCCL" : "the host";
  auto statements = processes.part("cuda")->gather(
      "exchange", int(processes.rank()), int(processes.size()), statement,
      patience);
  if (!statements)
    return statements.error();
  const bool isCommon =
      std::ranges::count(*statements, statement) == std::ssize(*statements);
  if (!isCommon && !options.exchange.empty())
    return Error(fmt::format("all processes exchange data in one way, and rank "
                             "{} does by {}, rank 0 by {}: give them the same "
                             "option exchange",
                             processes.rank(), statement, statements->front()));
  std::shared_ptr<CardLink> link;
  if (*library && isCommon)
    link = makeNCCLLink(**library, card, processes.communicator(),
                        /*order=*/nullptr);
  return std::shared_ptr<Client>(
      std::make_shared<CUDAClient>(std::move(card), logical, options.graphsFrom,
                                   processes.communicator(), std::move(link)));
}

Result<std::vector<std::shared_ptr<CardLink>>>
Cards::links(std::span<const std::shared_ptr<Card>> used,
             std::span<const std::shared_ptr<Communicator>> messages) const {
  std::vector<std::shared_ptr<CardLink>> links(used.size());
  if (options.exchange == "host")
    return links;
  Result<const NCCL *> library = nccl();
  if (!library)
    return library.error();
  if (*library) {
    const auto order = std::make_shared<TransferOrder>(int(used.size()));
    for (size_t i = 0; i < used.size(); ++i)
      links[i] = makeNCCLLink(**library, used[i], messages[i], order);
    return links;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    auto link = makePeerLink(used[i], used, messages[i]);
    if (!link && options.exchange.empty())
      return std::vector<std::shared_ptr<CardLink>>(used.size());
    if (!link)
      return link.error();
    links[i] = std::move(*link);
  }
  return links;
}

/// Each member counts its own devices from 0.
Result<std::shared_ptr<Client>> Cards::join(std::span<const int> used,
                                            int64_t perCard,
                                            std::shared_ptr<Client> alone) {
  std::vector<int64_t> inCard(static_cast<size_t>(perCard));
  std::iota(inCard.begin(), inCard.end(), 0);
  const auto transports = makeInProcessTransports(int(used.size()));
  std::vector<std::shared_ptr<Card>> opened;
  std::vector<std::shared_ptr<Communicator>> messages;
  for (size_t i = 0; i < used.size(); ++i) {
    Result<std::shared_ptr<Card>> card = open(used[i]);
    if (!card)
      return card.error();
    opened.push_back(std::move(*card));
    messages.push_back(std::make_shared<Communicator>(transports[i]));
  }
  auto linked = links(opened, messages);
  if (!linked)
    return linked.error();
  std::vector<std::shared_ptr<Client>> clients;
  clients.reserve(used.size());
  for (size_t i = 0; i < used.size(); ++i) {
    auto client =
        std::make_shared<CUDAClient>(opened[i], inCard, options.graphsFrom,
                                     messages[i], std::move((*linked)[i]));
    // `alone` is on the first card.
    client->countsCard =
        std::ranges::count(used.begin(), used.begin() + i + 1, used[i]) == 1 &&
        used[i] != used.front();
    clients.push_back(std::move(client));
  }
  return plan::joinProcesses(std::move(clients), std::move(alone));
}

} // namespace

Result<std::shared_ptr<Platform>> cudaPlatform(const std::string &name,
                                               const std::string &argument) {
  Result<PlatformOptions> options = parseOptions(argument);
  if (!options)
    return options.error();
  // Processes that run programs together have a card each, which they name.
  const bool spansProcesses = options->card >= 0;
  auto cards = std::make_shared<Cards>(std::move(*options));
  return virtualPlatform(
      name, "",
      {.type = "GPU",
       .target = "cuda",
       .spansProcesses = spansProcesses,
       .makeClient =
           [cards](const std::vector<int64_t> &numbers,
                   const std::shared_ptr<PlatformProcesses> &processes) {
             return cards->client(numbers, processes);
           },
       .listed = [cards] { return cards->list(); },
       .configure =
           [cards](int64_t physical, const std::vector<int64_t> &limits) {
             return cards->configure(physical, limits);
           }});
}

} // namespace meshloom
