// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NCCL: NVIDIA's library for transfers between GPUs, found when it is needed.
#pragma once

#include "CardLink.h"
#include "NCCLFacts.h"
#include "TransferOrder.h"

namespace meshloom::cuda {

/// The library's functions, as members of their names.
class NCCL {
public:
  /// The oldest version whose functions need not wait: 2.14.
  static constexpr int OLDEST = 21400;

  /// The library `path`, once in a process; it stays loaded. Fails where there
  /// is none, and where it is too old.
  static Result<const NCCL *> load(const std::string &path);

#define MESHLOOM_NCCL_FUNCTION(name, ...)                                      \
  NCCLResult (*name)(__VA_ARGS__) = nullptr;
#include "NCCLFunctions.def"
#undef MESHLOOM_NCCL_FUNCTION

private:
  static Result<const NCCL *> open(const std::string &path);
};

/// A link of cards by NCCL. `order`: of a client that has all the cards; null:
/// the other cards are those of other processes.
std::unique_ptr<CardLink>
makeNCCLLink(const NCCL &library, std::shared_ptr<Card> card,
             std::shared_ptr<Communicator> communicator,
             std::shared_ptr<TransferOrder> order);

} // namespace meshloom::cuda
