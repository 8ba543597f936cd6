// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in NCCL: a library with the functions of NCCL that Meshloom calls,
// over the streams of the stand-in driver. Ranks are threads or processes.
//
// The ranks of a communicator share a folder in memory, whose path is its id. A
// rank's part of an operation is two pieces of work in its stream: the first
// leaves what it sends as files there, and the second, which is ready when the
// files of the others are there, takes them. Each file says what operation it
// belongs to, so that ranks that do different things are a fault.
#include "../../../lib/Runtime/Backends/CUDA/NCCLFacts.h"
#include "StandInDriver.h"

#include "meshloom/Runtime/Combine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace meshloom::cuda {
extern "C" {
#define MESHLOOM_NCCL_FUNCTION(name, ...) NCCLResult name(__VA_ARGS__);
#include "../../../lib/Runtime/Backends/CUDA/NCCLFunctions.def"
#undef MESHLOOM_NCCL_FUNCTION
}

struct NCCLObject {
  std::filesystem::path folder;
  int rank = 0, size = 0;
  std::atomic<bool> isAborted = false;
  bool isDuplicate = false;
  std::vector<std::filesystem::path> files; ///< that this rank has made
  int64_t collectives = 0;
  std::map<std::string, int64_t> messages; ///< so far, by sender and receiver
};

namespace {
using Path = std::filesystem::path;
using Rank = std::shared_ptr<NCCLObject>;

/// Never destroyed: the work of others may outlive main.
std::mutex &mutex = *new std::mutex;
auto &ranks = *new std::map<NCCLHandle, Rank>;

/// A message between ncclGroupStart and ncclGroupEnd.
struct Operation {
  Rank rank;
  StreamHandle stream;
  bool sends;
  int peer;
  char *data;
  size_t bytes;
  std::string form; ///< "12 ui8"
};
size_t widthOf(NCCLType type);

/// A sum, alone or between them.
struct Sum {
  Rank rank;
  StreamHandle stream;
  const char *from;
  char *to;
  size_t count;
  NCCLType type;
  NCCLReduction reduction;

  size_t bytes() const { return count * widthOf(type); }
};
thread_local int depth = 0;
thread_local std::vector<Sum> sumGroup;
thread_local std::vector<Operation> group;

Rank find(NCCLHandle handle) {
  std::lock_guard lock(mutex);
  const auto found = ranks.find(handle);
  return found == ranks.end() ? nullptr : found->second;
}

/// Writes a message for other ranks, who see the whole file or none.
void leave(NCCLObject &rank, const Path &name, const std::string &text) {
  const Path path = rank.folder / name;
  Path unfinished = path;
  unfinished += fmt::format(".{}", rank.rank);
  std::ofstream(unfinished, std::ios::binary) << text;
  std::filesystem::rename(unfinished, path);
  rank.files.push_back(path);
}

std::string read(const Path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The form of an operation is a line in front of the data.
std::pair<std::string, std::string> readMessage(const Path &path) {
  const std::string text = read(path);
  const size_t end = text.find('\n');
  return {text.substr(0, end), text.substr(end + 1)};
}

size_t widthOf(NCCLType type) {
  switch (type) {
  case NCCLType::I8:
  case NCCLType::UI8:
    return 1;
  case NCCLType::F16:
  case NCCLType::BF16:
    return 2;
  case NCCLType::I32:
  case NCCLType::UI32:
  case NCCLType::F32:
    return 4;
  default:
    return 8;
  }
}

DType typeOf(NCCLType type) {
  static const std::map<NCCLType, DType> types = {
      {NCCLType::I8, DType::I8},   {NCCLType::UI8, DType::UI8},
      {NCCLType::I32, DType::I32}, {NCCLType::UI32, DType::UI32},
      {NCCLType::I64, DType::I64}, {NCCLType::UI64, DType::UI64},
      {NCCLType::F16, DType::F16}, {NCCLType::F32, DType::F32},
      {NCCLType::F64, DType::F64}, {NCCLType::BF16, DType::BF16}};
  return types.at(type);
}

ReduceKind kindOf(NCCLReduction reduction) {
  static const std::map<NCCLReduction, ReduceKind> kinds = {
      {NCCLReduction::Sum, ReduceKind::Sum},
      {NCCLReduction::Prod, ReduceKind::Prod},
      {NCCLReduction::Max, ReduceKind::Max},
      {NCCLReduction::Min, ReduceKind::Min}};
  return kinds.at(reduction);
}

std::string formOf(size_t count, NCCLType type) {
  return fmt::format("{} of type {}", count, int(type));
}

/// The form of the sums of a group, in one line.
std::string formOf(const std::vector<Sum> &sums) {
  std::string form;
  for (const Sum &sum : sums)
    form += fmt::format("{}a sum {} of {}", form.empty() ? "" : " and ",
                        int(sum.reduction), formOf(sum.count, sum.type));
  return form;
}

NCCLResult taken(DriverResult result) {
  return result == DriverResult::Success ? NCCLResult::Success
                                         : NCCLResult::UnhandledDeviceError;
}

/// The files of `names` that are not there, as a fault says it.
std::string missingOf(const Rank &rank, const std::vector<std::string> &names) {
  std::string text;
  if (!rank->isAborted)
    for (const std::string &name : names)
      if (!std::filesystem::exists(rank->folder / name))
        text += (text.empty() ? "" : ", ") + name;
  return text.empty()
             ? text
             : fmt::format("rank {} of NCCL waits for {}", rank->rank, text);
}

std::string nextMessage(const Rank &rank, int from, int to) {
  const std::string pair = fmt::format("from {} to {}", from, to);
  return fmt::format("message {} {}", rank->messages[pair]++, pair);
}

/// Sends first, so that no rank waits for itself.
NCCLResult enqueueMessages(const Rank &rank, StreamHandle stream,
                           const std::vector<Operation> &operations) {
  std::vector<std::pair<Operation, std::string>> sends, receives;
  std::vector<std::string> awaited;
  for (const Operation &operation : operations) {
    const int from = operation.sends ? rank->rank : operation.peer,
              to = operation.sends ? operation.peer : rank->rank;
    (operation.sends ? sends : receives)
        .emplace_back(operation, nextMessage(rank, from, to));
    if (!operation.sends)
      awaited.push_back(receives.back().second);
  }
  const DriverResult sent = standInEnqueue(
      stream, "NCCL", {},
      [rank, sends](const DeviceBytes &isMemory) -> std::string {
        for (const auto &[operation, name] : sends) {
          if (rank->isAborted)
            return "";
          if (!isMemory(operation.data, operation.bytes))
            return "a send of NCCL reads no memory of the GPU";
          leave(*rank, name,
                operation.form + '\n' +
                    std::string(operation.data, operation.bytes));
        }
        return "";
      });
  if (sent != DriverResult::Success)
    return taken(sent);
  return taken(standInEnqueue(
      stream, "NCCL", [rank, awaited] { return missingOf(rank, awaited); },
      [rank, receives](const DeviceBytes &isMemory) -> std::string {
        for (const auto &[operation, name] : receives) {
          if (rank->isAborted)
            return "";
          const auto [form, data] = readMessage(rank->folder / name);
          if (form != operation.form)
            return fmt::format("rank {} of NCCL receives {}, and rank {} sends "
                               "{}",
                               rank->rank, operation.form, operation.peer,
                               form);
          if (!isMemory(operation.data, operation.bytes))
            return "a receive of NCCL writes no memory of the GPU";
          std::memcpy(operation.data, data.data(), data.size());
        }
        return "";
      }));
}
/// Adds up what all ranks have left. Returns the fault, or nothing.
std::string addUp(NCCLObject &rank, const std::vector<std::string> &names,
                  const std::vector<Sum> &sums, const DeviceBytes &isMemory) {
  std::vector<std::string> addends;
  for (size_t other = 0; other < names.size(); ++other) {
    auto [form, data] = readMessage(rank.folder / names[other]);
    if (form != formOf(sums))
      return fmt::format("rank {} of NCCL makes {}, and rank {} makes {}",
                         rank.rank, formOf(sums), other, form);
    addends.push_back(std::move(data));
  }
  size_t offset = 0;
  for (const Sum &sum : sums) {
    if (!isMemory(sum.to, sum.bytes()))
      return "a sum of NCCL writes no memory of the GPU";
    std::vector<const void *> pointers;
    pointers.reserve(addends.size());
    for (const std::string &addend : addends)
      pointers.push_back(addend.data() + offset);
    std::vector<char> result(sum.bytes());
    combine(kindOf(sum.reduction), typeOf(sum.type), result.data(), pointers,
            int64_t(sum.count));
    std::memcpy(sum.to, result.data(), result.size());
    offset += sum.bytes();
  }
  return "";
}

/// The ranks ask for the same sums together, which a line says of each.
NCCLResult enqueueSums(const Rank &rank, StreamHandle stream,
                       const std::vector<Sum> &sums) {
  const int64_t number = rank->collectives++;
  std::vector<std::string> names;
  names.reserve(size_t(rank->size));
  for (int other = 0; other < rank->size; ++other)
    names.push_back(fmt::format("collective {} of rank {}", number, other));
  const DriverResult sent = standInEnqueue(
      stream, "NCCL", {},
      [rank, sums,
       name = names[size_t(rank->rank)]](const DeviceBytes &isMemory) {
        if (rank->isAborted)
          return std::string();
        std::string data;
        for (const Sum &sum : sums) {
          if (!isMemory(sum.from, sum.bytes()))
            return std::string("a sum of NCCL reads no memory of the GPU");
          data.append(sum.from, sum.bytes());
        }
        leave(*rank, name, formOf(sums) + '\n' + data);
        return std::string();
      });
  if (sent != DriverResult::Success)
    return taken(sent);
  return taken(standInEnqueue(
      stream, "NCCL", [rank, names] { return missingOf(rank, names); },
      [rank, names, sums](const DeviceBytes &isMemory) {
        return rank->isAborted ? "" : addUp(*rank, names, sums, isMemory);
      }));
}

/// Asks for what was collected in a group.
NCCLResult enqueueGroup() {
  const std::vector<Operation> operations = std::exchange(group, {});
  const std::vector<Sum> sums = std::exchange(sumGroup, {});
  auto isOfOneStream = [](const auto &works) {
    return std::ranges::all_of(works, [&](const auto &work) {
      return work.rank == works.front().rank &&
             work.stream == works.front().stream;
    });
  };
  // We have no use for others.
  if (!isOfOneStream(operations) || !isOfOneStream(sums) ||
      (!operations.empty() && !sums.empty()))
    return NCCLResult::InvalidUsage;
  if (!sums.empty())
    return enqueueSums(sums.front().rank, sums.front().stream, sums);
  return operations.empty()
             ? NCCLResult::Success
             : enqueueMessages(operations.front().rank,
                               operations.front().stream, operations);
}
} // namespace

extern "C" {
NCCLResult ncclGetVersion(int *version) {
  *version = 22809;
  return NCCLResult::Success;
}

NCCLResult ncclGetUniqueId(NCCLId *id) {
  // A test of the transports looks for files of ours that were left behind.
  std::string path = "/dev/shm/stand-in-nccl-XXXXXX";
  if (!mkdtemp(path.data()))
    return NCCLResult::SystemError;
  std::memset(id->bytes, 0, sizeof(id->bytes));
  std::memcpy(id->bytes, path.data(), path.size());
  return NCCLResult::Success;
}

NCCLResult ncclCommInitRankConfig(NCCLHandle *handle, int size, NCCLId id,
                                  int rank, NCCLConfig *config) {
  const NCCLConfig oldest;
  if (rank < 0 || rank >= size || standInGPU() < 0 || !config ||
      config->magic != oldest.magic || config->bytes < oldest.bytes)
    return NCCLResult::InvalidArgument;
  if (config->blocking != 0) // we have no use for them
    return NCCLResult::InvalidUsage;
  auto object = std::make_shared<NCCLObject>();
  object->folder = id.bytes;
  object->rank = rank;
  object->size = size;
  leave(*object, fmt::format("rank {}", rank),
        fmt::format("{} {} {}", size, getpid(), standInGPU()));
  *handle = object.get();
  std::lock_guard lock(mutex);
  ranks.emplace(*handle, std::move(object));
  return NCCLResult::InProgress;
}

/// A communicator begins when all ranks are there, each with a GPU of its own.
NCCLResult ncclCommGetAsyncError(NCCLHandle handle, NCCLResult *state) {
  const Rank rank = find(handle);
  if (!rank)
    return NCCLResult::InvalidArgument;
  std::vector<std::string> lines;
  for (int other = 0; other < rank->size; ++other) {
    const std::string line = read(rank->folder / fmt::format("rank {}", other));
    if (line.empty()) {
      *state = NCCLResult::InProgress;
      return NCCLResult::Success;
    }
    rank->isDuplicate |= std::ranges::find(lines, line) != lines.end();
    lines.push_back(line);
  }
  *state = rank->isDuplicate ? NCCLResult::InvalidUsage : NCCLResult::Success;
  return NCCLResult::Success;
}

NCCLResult ncclCommAbort(NCCLHandle handle) {
  const Rank rank = find(handle);
  if (!rank)
    return NCCLResult::InvalidArgument;
  rank->isAborted = true;
  std::error_code ignored;
  // Other ranks may still read files: the last rank removes those of all.
  leave(*rank, fmt::format("end {}", rank->rank), "");
  bool isLast = true;
  for (int other = 0; other < rank->size; ++other)
    isLast &=
        std::filesystem::exists(rank->folder / fmt::format("end {}", other));
  if (isLast)
    std::filesystem::remove_all(rank->folder, ignored);
  std::lock_guard lock(mutex);
  ranks.erase(handle);
  return NCCLResult::Success;
}

NCCLResult ncclGroupStart() {
  ++depth;
  return NCCLResult::Success;
}

NCCLResult ncclGroupEnd() {
  if (depth == 0)
    return NCCLResult::InvalidUsage;
  return --depth > 0 ? NCCLResult::Success : enqueueGroup();
}

static NCCLResult addMessage(bool sends, char *data, size_t count,
                             NCCLType type, int peer, NCCLHandle handle,
                             StreamHandle stream) {
  const Rank rank = find(handle);
  if (!rank || !data || peer < 0 || peer >= rank->size || peer == rank->rank)
    return NCCLResult::InvalidArgument;
  if (depth == 0) // we have no use for them
    return NCCLResult::InvalidUsage;
  group.push_back({rank, stream, sends, peer, data, count * widthOf(type),
                   formOf(count, type)});
  return NCCLResult::Success;
}

NCCLResult ncclSend(const void *data, size_t count, NCCLType type, int peer,
                    NCCLHandle handle, StreamHandle stream) {
  return addMessage(true, static_cast<char *>(const_cast<void *>(data)), count,
                    type, peer, handle, stream);
}
NCCLResult ncclRecv(void *data, size_t count, NCCLType type, int peer,
                    NCCLHandle handle, StreamHandle stream) {
  return addMessage(false, static_cast<char *>(data), count, type, peer, handle,
                    stream);
}

NCCLResult ncclAllReduce(const void *from, void *to, size_t count,
                         NCCLType type, NCCLReduction reduction,
                         NCCLHandle handle, StreamHandle stream) {
  const Rank rank = find(handle);
  if (!rank || !from || !to)
    return NCCLResult::InvalidArgument;
  sumGroup.push_back({rank, stream, static_cast<const char *>(from),
                      static_cast<char *>(to), count, type, reduction});
  return depth > 0 ? NCCLResult::Success : enqueueGroup();
}
} // extern "C"
} // namespace meshloom::cuda
