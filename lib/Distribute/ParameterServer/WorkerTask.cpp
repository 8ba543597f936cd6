// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of workers, see Task.h. The frames:
//
//   Peek   session, number, dataset -> type, key, types and shapes
//   Run    session, ended iterations, iterations, works -> values
//
// An iteration that has ended is given by its number. Another iteration is its
// number, its dataset and the type that its next element has; each is moved on
// by one. A work is the hash of a program, arguments, the number of results
// that are asked for, and updates; works are done one after the other. An
// argument of a work is a value (0), a variable (1): its server and its number,
// or a value of an element (2): which iteration's, and which. An argument of an
// update is a value (0), a variable's number (1), or a result of the program
// (2); each update has its server in front.
#include "Task.h"

#include "meshloom/API/HostTensor.h"

#include <fmt/format.h>

#include <future>

namespace meshloom::detail::ps {

uint64_t Task::parameterServers() const {
  return cluster.has_job("ps") ? uint64_t(cluster.num_tasks("ps")) : 0;
}

Peer &Task::parameterServer(uint64_t index) {
  std::lock_guard lock(mutex);
  std::unique_ptr<Peer> &peer = peers[index];
  if (!peer)
    peer = std::make_unique<Peer>(str(TaskId{"ps", int64_t(index)}),
                                  cluster.task_address("ps", int64_t(index)),
                                  access);
  if (isCancelled)
    peer->cancel();
  return *peer;
}

grpc::Status Task::failed(const grpc::Status &status, uint64_t server) const {
  const std::string message = fmt::format(
      "{} at {}: {}", str(TaskId{"ps", int64_t(server)}),
      cluster.task_address("ps", int64_t(server)), status.error_message());
  if (isLost(status) || status.error_code() == unknownSession)
    return {serverLost, shortened(message), std::to_string(server)};
  if (status.error_code() == unknownProgram)
    return status;
  return {refused, shortened(message)};
}

/// work(server) for each, at the same time; the first failure.
template <typename Map, typename F>
static std::pair<grpc::Status, uint64_t> forEachServer(Map &servers, F work) {
  std::vector<std::pair<uint64_t, std::future<grpc::Status>>> others;
  std::pair<grpc::Status, uint64_t> result;
  for (auto entry = servers.begin(); entry != servers.end(); ++entry)
    if (entry != servers.begin())
      others.emplace_back(entry->first,
                          std::async(std::launch::async, [&work, entry] {
                            return work(entry->first, entry->second);
                          }));
  if (!servers.empty())
    result = {work(servers.begin()->first, servers.begin()->second),
              servers.begin()->first};
  for (auto &[server, other] : others)
    if (grpc::Status status = other.get(); !status.ok() && result.first.ok())
      result = {status, server};
  return result;
}

//===----------------------------------------------------------------------===//
// Datasets
//===----------------------------------------------------------------------===//

std::shared_ptr<Task::Iteration> Task::iteration(uint64_t its, uint64_t number,
                                                 const std::string &dataset) {
  {
    std::lock_guard lock(mutex);
    // The iterations of a coordinator that has gone are given up.
    if (std::exchange(iterating, its) != its)
      iterations.clear();
    if (auto found = iterations.find(number); found != iterations.end())
      return found->second;
  }
  auto opened = std::make_shared<Iteration>();
  opened->stream = openDataset(dataset, id.index);
  std::lock_guard lock(mutex);
  return iterations.emplace(number, std::move(opened)).first->second;
}

void Task::endIteration(uint64_t its, uint64_t number) {
  std::shared_ptr<Iteration> ended; // without the lock
  std::lock_guard lock(mutex);
  if (auto found = iterations.find(number);
      iterating == its && found != iterations.end()) {
    ended = std::move(found->second);
    iterations.erase(found);
  }
}

/// Names the type of an element, down to its lengths, keys and numbers.
static std::string signatureOf(const data::detail::Element &element) {
  return element.typeText() + '\0' + element.key();
}

[[noreturn]] static void failEnded() {
  Error("the dataset of a worker has ended: repeat() it, or schedule "
        "fewer functions")
      .raise();
}

grpc::Status Task::peek(MessageReader &in, MessageWriter &out) {
  const uint64_t its = in.number(), number = in.number();
  const std::string dataset = in.text();
  in.end();
  const std::shared_ptr<Iteration> opened = iteration(its, number, dataset);
  std::lock_guard lock(opened->mutex);
  const std::optional<data::detail::Element> next = opened->stream->peek();
  if (!next)
    failEnded();
  out.put(signatureOf(*next));
  out.put(next->key());
  out.put(uint64_t(next->values.size()));
  for (const data::detail::HostArray &value : next->values) {
    out.put(name(value.dtype()));
    out.put(uint64_t(value.shape().size()));
    for (int64_t extent : value.shape())
      out.put(uint64_t(extent));
  }
  return grpc::Status::OK;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A work as it is asked for; its arguments are complete once variables were
/// read and elements taken.
struct Task::Work {
  /// The variables that are read of a parameter server.
  struct Reads {
    std::vector<uint64_t> numbers;
    std::vector<size_t> arguments;
  };
  /// A value of an element.
  struct Taken {
    uint64_t iteration, value;
    size_t argument;
  };
  struct Argument {
    uint64_t kind, number;
    Tensor value;
  };
  struct Update {
    std::string hash;
    std::vector<Argument> arguments;
  };
  std::string hash;
  std::shared_ptr<const SavedFunction> function; ///< null: it is not known
  std::vector<Tensor> arguments;
  std::map<uint64_t, Reads> reads;
  std::vector<Taken> taken;
  uint64_t results = 0;
  std::map<uint64_t, std::vector<Update>> updates;
};

Task::Work Task::workOf(MessageReader &in,
                        std::span<const size_t> elementSizes) const {
  Work work;
  work.hash = in.text();
  work.function = program(work.hash);
  // The results of a function that is not known are not checked: it will be
  // asked for again.
  const uint64_t allResults =
      work.function ? work.function->results().size() : UINT64_MAX;
  work.arguments.resize(in.count());
  for (size_t i = 0; i < work.arguments.size(); ++i) {
    const uint64_t kind = in.number(3, "a kind of argument");
    if (kind == 0) {
      work.arguments[i] = in.tensor();
    } else if (kind == 1) {
      Work::Reads &reads =
          work.reads[in.number(parameterServers(), "a parameter server")];
      reads.numbers.push_back(in.number());
      reads.arguments.push_back(i);
    } else {
      const uint64_t which = in.number(elementSizes.size(), "an iteration");
      work.taken.push_back(
          {which, in.number(elementSizes[which], "a value of an element"), i});
    }
  }
  work.results = in.number();
  if (work.results > allResults)
    Error("[Server] expected fewer results of a function").raise();
  for (size_t remaining = in.count(); remaining > 0; --remaining) {
    const uint64_t server = in.number(parameterServers(), "a parameter server");
    Work::Update &update = work.updates[server].emplace_back();
    update.hash = in.text();
    update.arguments.resize(in.count());
    for (Work::Argument &argument : update.arguments) {
      argument.kind = in.number(3, "a kind of argument");
      if (argument.kind == 0)
        argument.value = in.tensor();
      else if (argument.kind == 1)
        argument.number = in.number();
      else
        argument.number = in.number(allResults, "a result");
    }
  }
  return work;
}

grpc::Status Task::readVariables(uint64_t its, Work &work) {
  auto [status, server] =
      forEachServer(work.reads, [&](uint64_t from, const Work::Reads &reads) {
        MessageWriter asked;
        asked.put(its);
        asked.put(uint64_t(reads.numbers.size()));
        for (uint64_t number : reads.numbers)
          asked.put(number);
        grpc::ByteBuffer answered;
        grpc::Status status =
            parameterServer(from).call(Method::Read, asked.finish(), answered);
        if (!status.ok())
          return status;
        HostScope onHost;
        try {
          MessageReader values(answered);
          if (values.count() != reads.numbers.size())
            Error("[Server] expected one value for each variable").raise();
          for (size_t argument : reads.arguments)
            work.arguments[argument] = values.tensor();
        } catch (const std::exception &error) {
          return grpc::Status(refused, shortened(error.what()));
        }
        return status;
      });
  return status.ok() ? status : failed(status, server);
}

grpc::Status Task::sendUpdates(uint64_t its, Work &work,
                               const std::vector<Tensor> &results) {
  auto [status, server] = forEachServer(
      work.updates, [&](uint64_t to, const std::vector<Work::Update> &updates) {
        HostScope onHost;
        MessageWriter asked;
        asked.put(its);
        asked.put(uint64_t(updates.size()));
        for (const Work::Update &update : updates) {
          asked.put(update.hash);
          asked.put(uint64_t(update.arguments.size()));
          for (const Work::Argument &argument : update.arguments) {
            asked.put(uint64_t(argument.kind == 1));
            if (argument.kind == 1)
              asked.put(argument.number);
            else
              asked.put(argument.kind == 0 ? argument.value
                                           : results[argument.number]);
          }
        }
        grpc::ByteBuffer answered;
        return parameterServer(to).call(Method::Update, asked.finish(),
                                        answered);
      });
  return status.ok() ? status : failed(status, server);
}

grpc::Status Task::run(MessageReader &in, MessageWriter &out) {
  const uint64_t its = in.number();
  struct Moved {
    std::shared_ptr<Iteration> iteration;
    std::string signature;
    std::vector<Tensor> values;
  };
  for (size_t ended = in.count(); ended > 0; --ended)
    endIteration(its, in.number());
  std::vector<Moved> moved(in.count());
  std::vector<size_t> elementSizes;
  elementSizes.reserve(moved.size());
  for (Moved &step : moved) {
    const uint64_t number = in.number();
    step.iteration = iteration(its, number, in.text());
    step.signature = in.text();
    std::lock_guard lock(step.iteration->mutex);
    const auto next = step.iteration->stream->peek();
    if (!next)
      failEnded();
    if (signatureOf(*next) != step.signature)
      return {otherElement, "the next element is of another type"};
    elementSizes.push_back(next->values.size());
  }
  std::vector<Work> works(in.count());
  for (Work &work : works)
    work = workOf(in, elementSizes);
  in.end();
  for (const Work &work : works)
    if (!work.function)
      return {unknownProgram, work.hash};

  for (Moved &step : moved) {
    std::lock_guard lock(step.iteration->mutex);
    const auto next = step.iteration->stream->next();
    if (!next)
      failEnded();
    if (signatureOf(*next) != step.signature)
      Error("two calls took elements of one dataset at the same time").raise();
    for (const data::detail::HostArray &value : next->values)
      step.values.push_back(value.inMemory().tensor());
  }

  std::vector<Tensor> asked;
  for (Work &work : works) {
    if (grpc::Status status = readVariables(its, work); !status.ok())
      return status;
    for (const Work::Taken &taken : work.taken)
      work.arguments[taken.argument] =
          moved[taken.iteration].values[taken.value];
    const std::vector<Tensor> results = (*work.function)(work.arguments);
    if (grpc::Status status = sendUpdates(its, work, results); !status.ok())
      return status;
    asked.insert(asked.end(), results.begin(),
                 results.begin() + int64_t(work.results));
  }
  out.put(uint64_t(asked.size()));
  for (const Tensor &result : asked)
    out.put(result);
  return grpc::Status::OK;
}

} // namespace meshloom::detail::ps
