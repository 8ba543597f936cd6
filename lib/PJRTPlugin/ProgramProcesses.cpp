// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProgramProcesses.h"

#include "meshloom/Runtime/Client.h"

using namespace meshloom;
using namespace meshloom::plugin;

uint64_t ProgramProcesses::tag(Message message, size_t index) const {
  // The tags of runs and of the API do not have this bit.
  constexpr uint64_t kind = uint64_t(1) << 62;
  constexpr unsigned indexBits = 20;
  const uint64_t number = (program << indexBits) + index;
  return kind | ((number << 1 | uint64_t(message)) & (kind - 1));
}

Result<Array> ProgramProcesses::move(const Array &array,
                                     const DeviceAssignment &assignment,
                                     size_t index) const {
  ArrayType type = array.type();
  const DeviceAssignment &from = type.layout.mesh().assignment();
  const int self = communicator->rank();
  std::vector<OwnedComponent> here; // of the indices that this process has now
  std::vector<Communicator::Outgoing> outgoing;
  std::vector<Communicator::Incoming> incoming;
  std::vector<HostBytes> arrivals(assignment.processes.size());
  std::vector<Component> components;
  here.reserve(from.localIds.size());
  for (size_t i = 0; i < arrivals.size(); ++i) {
    const auto source = int(from.processes[i]);
    const auto target = int(assignment.processes[i]);
    const Shape extent = type.layout.shard(type.shape, int64_t(i)).extent;
    if (source == self) {
      auto component = array.component(int64_t(i));
      if (!component)
        return component.error();
      here.push_back(std::move(*component));
      if (target == self)
        components.push_back({extent, here.back().bytes});
      else
        outgoing.push_back({target, here.back().bytes});
    } else if (target == self) {
      arrivals[i].resize(size_t(elementCount(extent) * byteWidth(type.dtype)));
      incoming.push_back({source, arrivals[i]});
      components.push_back({extent, arrivals[i]});
    }
  }
  const Event moved =
      communicator->exchange(tag(Message::Parts, index), outgoing, incoming);
  if (Status arrived = communicator->wait(moved); !arrived)
    return arrived.error();
  type.layout = type.layout.placed_on(assignment);
  return Array::fromComponents(array.client(), type, components);
}
