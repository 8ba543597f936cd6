// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PlanClient: what a backend that runs Programs gives to Runtime/Plan, and what
// it gets in exchange: arrays, and one order of launches.
//
// A backend has memories: one that all its devices share, or one a device. It
// says how a block of one is allocated, and, where threads of the host cannot
// read and write there, how bytes come and go. docs/AddingABackend.md tells the
// rest.
#pragma once

#include "meshloom/Runtime/Client.h"
#include "meshloom/Runtime/LaunchQueue.h"
#include "meshloom/Runtime/Plan/MeshProcesses.h"

namespace meshloom {
class Communicator;
}

namespace meshloom::plan {

/// Uninitialised memory, given back with its last reference. Where the host
/// cannot read it, the pointer is only handed on.
using Block = std::shared_ptr<char>;

class ControlGraph;

/// An array's memory: one block with the whole value (devices share memory), or
/// one for each device that this process has. Until the array's event is
/// complete, there may be none.
class BlockBuffer : public Buffer {
public:
  BlockBuffer(std::shared_ptr<Client> owner, std::vector<Block> blocks,
              int64_t bytes)
      : memory(std::move(blocks)), owner(std::move(owner)), byteCount(bytes) {}
  const std::shared_ptr<Client> &client() const override { return owner; }
  int64_t bytes() const override { return byteCount; }

  /// Sets the memory of the array; the work that computes it calls this before
  /// it is complete.
  void set(std::vector<Block> blocks) { memory = std::move(blocks); }
  /// The same where the work fails, and leaves the argument that the array
  /// replaces, whose memory this is.
  void setOldValue(std::vector<Block> blocks) {
    memory = std::move(blocks);
    isOld = true;
  }
  bool isOldValue() const override { return isOld; }
  /// Says that the memory is there, and that its content will be before
  /// anything that the client is asked for later: see isUsable.
  void setInOrder() { inOrder = true; }
  const std::vector<Block> &blocks() const { return memory; }
  /// Returns the blocks of an array of a PlanClient that is complete.
  static const std::vector<Block> &of(const Array &array) {
    return static_cast<const BlockBuffer &>(*array.buffer()).memory;
  }
  /// Returns whether work on an array of a PlanClient may be asked for now:
  /// the array is complete, or its client does work in the order of the calls.
  static bool isUsable(const Array &array) {
    return array.event().isReady() ||
           static_cast<const BlockBuffer &>(*array.buffer()).inOrder;
  }

private:
  std::vector<Block> memory;
  const std::shared_ptr<Client> owner;
  const int64_t byteCount;
  bool isOld = false, inOrder = false;
};

/// Returns whether `array` has the only reference to its memory, so that an
/// update may take place there: another buffer may have the same blocks.
bool mayOverwrite(const Array &array);

/// "3.5 GB".
std::string formatBytes(int64_t bytes);
/// The machine's memory, in bytes.
int64_t machineMemory();

class PlanClient : public Client {
public:
  /// `cores`: what launches share (see LaunchQueue). `launchFrom`: an
  /// executable whose last run took as many seconds returns from `execute`
  /// before its next one is over; 0: every one does.
  explicit PlanClient(int64_t cores, double launchFrom = 1e300)
      : launches(cores), launchFrom(launchFrom) {}

  // A backend provides these functions.

  /// Uninitialised memory of `bytes`, in the `slot`-th of `Mesh::local_indices`
  /// (the only one where memory is shared). Fails where there is not as much.
  virtual Result<Block> allocate(size_t slot, int64_t bytes) = 0;
  /// Bytes that may be in use at once, in all memories together: those of the
  /// machine.
  virtual int64_t memoryLimit() const { return machineMemory(); }
  /// Returns whether all devices of this process share one memory.
  virtual bool sharesMemory() const { return false; }
  /// Between the processes that meshes are over; null where this one is alone.
  virtual Communicator *communicator() const { return nullptr; }
  int64_t processes() const override;
  int64_t process() const override;
  /// Where the devices of a mesh with an assignment are.
  Result<MeshProcesses> processesOf(const Mesh &mesh) const;
  /// Calls `write` with memory of the host that then is the block's content.
  /// Fails where the device does.
  virtual Status fill(size_t slot, const Block &block, int64_t bytes,
                      const std::function<void(char *)> &write);
  /// The first bytes of the block for the host to read. Fails where the device
  /// does.
  virtual Result<std::shared_ptr<const char>>
  read(size_t slot, const Block &block, int64_t bytes);
  /// Copies within a memory.
  virtual void copy(size_t slot, char *to, const char *from, int64_t bytes);
  /// A graph for a loop or branch; null: the devices run none by themselves.
  virtual std::unique_ptr<ControlGraph> makeControlGraph();

  // These functions follow from the ones above.

  /// Memories that an array on `mesh` has a block in, and bytes of each.
  size_t slots(const Mesh &mesh) const {
    return sharesMemory() ? 1 : mesh.local_indices().size();
  }
  int64_t blockBytes(const ArrayType &type) const;
  /// Uninitialised memory for an array of this type.
  Result<std::shared_ptr<BlockBuffer>> allocate(const ArrayType &type);

  Result<std::shared_ptr<Buffer>> fromHost(const ArrayType &type,
                                           std::span<const char> data) override;
  Result<std::shared_ptr<Buffer>>
  fromComponents(const ArrayType &type,
                 std::span<const Component> components) override;
  Result<HostBytes> toHost(const ArrayType &type,
                           const Buffer &buffer) override;
  Result<OwnedComponent> component(const ArrayType &type, const Buffer &buffer,
                                   int64_t device) override;
  /// Where all devices share a memory, and those of this process have the same
  /// parts in both layouts.
  std::optional<Array> adopt(const ArrayType &type, Array &array) override;
  Result<Array> fromHostLater(const ArrayType &type,
                              std::shared_ptr<const HostBytes> data,
                              const Event &ready) override;

  LaunchQueue launches;
  const double launchFrom;
};

} // namespace meshloom::plan
