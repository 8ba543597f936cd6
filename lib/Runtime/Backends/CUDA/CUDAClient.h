// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client of logical GPUs, which are all on one card and share its memory,
// and how its straight programs are loaded.
#pragma once

#include "CardLink.h"

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Runtime/Plan/Load.h"

namespace meshloom::cuda {

class Conditions;

class CUDAClient : public plan::PlanClient {
public:
  /// `graphsFrom`: programs of as many pieces of work are graphs; 0: none is.
  /// `messages`: to the other cards of a mesh; null: there are none. `link`:
  /// to them likewise; null: data goes by way of the host.
  CUDAClient(std::shared_ptr<Card> card, const std::vector<int64_t> &numbers,
             int64_t graphsFrom,
             std::shared_ptr<Communicator> messages = nullptr,
             std::shared_ptr<CardLink> link = nullptr);
  std::string_view platform() const override { return "cuda"; }
  std::span<const Device> devices() const override { return deviceList; }
  int64_t bytesInUse() const override {
    return countsCard ? card->bytesInUse() : 0;
  }

  using PlanClient::allocate;
  Result<plan::Block> allocate(size_t, int64_t bytes) override {
    return card->allocate(bytes);
  }
  int64_t memoryLimit() const override { return card->memoryLimit(); }
  bool sharesMemory() const override { return true; }
  Communicator *communicator() const override { return messages.get(); }
  Status fill(size_t slot, const plan::Block &block, int64_t bytes,
              const std::function<void(char *)> &write) override;
  Result<std::shared_ptr<const char>>
  read(size_t slot, const plan::Block &block, int64_t bytes) override;
  /// Only memory of the same card.
  std::optional<Array> adopt(const ArrayType &type, Array &array) override;
  std::unique_ptr<plan::ControlGraph> makeControlGraph() override;

  /// The event of the work that the card has been asked for so far. `outcome`
  /// says what it ends with: it gets whether the card has done the work, in a
  /// thread that waits for the card. `messages`: of a run of the link.
  Result<Event> whenDone(std::function<Status(const Status &)> outcome,
                         std::optional<CardLink::Messages> messages);

  const std::shared_ptr<Card> card;
  const std::shared_ptr<CardLink> link;
  const int64_t graphsFrom;
  bool countsCard = true; ///< else a client beside it counts the card's memory

protected:
  Result<std::shared_ptr<Executable>>
  loadOn(Compiled compiled, const DeviceAssignment &assignment,
         const LoadOptions &options) override;

private:
  std::vector<Device> deviceList;
  const std::shared_ptr<Communicator> messages;
  LaunchQueue waiting{/*cores=*/1}; ///< for the card
  std::once_flag lookedForConditions;
  std::shared_ptr<const Conditions> conditions; ///< null: the driver has none
};

/// A program's kernels on a card, and how they are launched.
struct LoadedCode {
  DeviceCode code;
  std::shared_ptr<const Kernels> kernels; ///< null: there are none
  /// The functions that the host runs: those of library calls, and kernels of
  /// this process; may be null.
  std::shared_ptr<const CodeSymbols> host;
};

/// `code` is that of the program that `program` is, or is a piece of.
Result<std::shared_ptr<plan::StraightExecutable>>
loadStraight(std::shared_ptr<CUDAClient> client,
             std::shared_ptr<const LoadedCode> code, const LoadOptions &options,
             plan::BoundProgram program);

} // namespace meshloom::cuda
