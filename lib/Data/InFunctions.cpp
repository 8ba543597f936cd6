// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements inside of compiled functions: the program calls the host, which
// takes the next one from a stream and writes its values.
//
// If the values lie on devices of several processes, each process has only its
// own parts. The program then calls the host twice: once in each process to
// take an element, on which all processes agree, so that the stream ends or
// fails in all of them at the same step; and once for each part of each value,
// on the devices that have it, to write it.
#include "InFunctions.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/CustomOps.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/API/Shards.h"
#include "meshloom/Core/Hash.h"
#include "meshloom/Data/Iterator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <unordered_map>

namespace meshloom::data::detail {

namespace {

/// An element whose parts are still to be written.
struct Taken {
  int64_t ticket;
  Element element;
};

/// The streams that are arguments of functions.
struct Registry {
  struct Entry {
    std::weak_ptr<Stream> stream;
    /// The last ones, at most takenAtMost.
    std::vector<Taken> taken;
    int64_t tickets = 0;
  };
  std::mutex mutex;
  std::unordered_map<int64_t, Entry> entries;
};
Registry &registry() {
  // Never destroyed: threads may use it while the process ends.
  static Registry &registry = *new Registry;
  return registry;
}

/// Runs that follow each other may overlap, so several elements are stored.
constexpr size_t takenAtMost = 4;

Error iteratorError(const std::string &why,
                    ErrorCode code = ErrorCode::INVALID_ARGUMENT) {
  return Error("[Iterator] " + why, code);
}

int64_t numberIn(const CustomOperand &input) {
  int64_t number = 0;
  std::memcpy(&number, input.data, sizeof number);
  return number;
}

std::shared_ptr<Stream> streamOf(int64_t id) {
  std::lock_guard lock(registry().mutex);
  auto entry = registry().entries.find(id);
  std::shared_ptr<Stream> stream =
      entry == registry().entries.end() ? nullptr : entry->second.stream.lock();
  if (!stream)
    iteratorError("a function takes elements from an iterator that was "
                  "destroyed: keep the iterator while the function runs")
        .raise();
  return stream;
}

/// The properties of elements that a program is compiled for: types, layouts,
/// numbers of rows. They are equal in all processes.
std::string keyOf(const Element &element) {
  std::string text = element.typeText() + element.key();
  for (const HostArray &value : element.values)
    if (std::optional<Layout> layout = value.layout())
      text += layout->spec_string() + layout->mesh().spec_string();
  return text;
}

/// Returns them as a text to compare and to show: "HASH (f32 [2, 3], i32 [2])".
std::string typeOf(const Element &element) {
  StableHash hash;
  hash.add(std::string_view(keyOf(element)));
  return fmt::format("{:016x} {}", hash.value(), element.typeText());
}

Error otherType(const Element &element, std::string_view wanted) {
  const std::string_view first = wanted.substr(wanted.find(' ') + 1);
  const std::string actual = element.typeText();
  return iteratorError(
      first == actual
          ? fmt::format(
                "an element {} has different numbers of rows in its parts than "
                "the first element that this call of the function took: one "
                "call takes elements of one type; batch with drop_remainder",
                actual)
          : fmt::format("an element is {}, but the first one that this call of "
                        "the function took was {}: one call takes elements of "
                        "one type; batch with drop_remainder",
                        actual, first));
}

/// Writes `from`, which is row-major, to the elements of a result from dim
/// `dim` on.
const char *write(const char *from, const CustomOperand &result, size_t dim,
                  char *to) {
  const int64_t width = byteWidth(result.type);
  if (dim == result.shape.size()) {
    std::memcpy(to, from, size_t(width));
    return from + width;
  }
  for (int64_t i = 0; i < result.shape[dim]; ++i)
    from = write(from, result, dim + 1, to + i * result.strides[dim] * width);
  return from;
}
void write(const HostArray &value, const CustomOperand &result) {
  bool isDense = true;
  int64_t stride = 1;
  for (size_t d = result.shape.size(); d-- > 0; stride *= result.shape[d])
    isDense &= result.shape[d] == 1 || result.strides[d] == stride;
  char *to = static_cast<char *>(result.data);
  if (isDense)
    value.copyTo(to);
  else
    write(value.inMemory().data(), result, 0, to);
}

/// Runs `body`, which throws if it fails.
template <typename Body> Status statusOf(const Body &body) {
  try {
    body();
  } catch (const std::exception &error) {
    return Error::of(error);
  }
  return Success();
}

/// Takes the next element. Input 0 names the stream, the configuration says
/// what its elements must be, and the results are the values of the element.
Status giveNext(const CustomCall &call) {
  return statusOf([&] {
    std::shared_ptr<Stream> stream = streamOf(numberIn(call.inputs[0]));
    std::optional<Element> element = stream->next();
    if (!element)
      failExhausted(*stream);
    if (typeOf(*element) != call.config)
      otherType(*element, call.config).raise();
    for (size_t i = 0; i < element->values.size(); ++i)
      write(element->values[i], call.results[i]);
  });
}

//===----------------------------------------------------------------------===//
// Over processes
//===----------------------------------------------------------------------===//

/// Whether a process has a next element, or why it has not.
enum class Outcome : int64_t { Ready, Exhausted, OtherType, Failed };

/// Throws if any process has a problem; the error says which.
void agree(Outcome outcome, const std::string &failure) {
  const auto words =
      meshloom::detail::gatherNumbers({int64_t(outcome)}, "Iterator");
  auto isReady = [](const std::vector<int64_t> &word) {
    return word.front() == int64_t(Outcome::Ready);
  };
  if (std::ranges::all_of(words, isReady))
    return;
  // All processes are here and none goes on, so each one says why.
  const std::vector<std::string> texts =
      meshloom::detail::gatherTexts("Iterator", failure);
  if (outcome != Outcome::Ready)
    Error(failure).raise();
  const auto first = std::ranges::find_if_not(words, isReady) - words.begin();
  iteratorError(fmt::format("process {} has no next element, which this one "
                            "has: {}",
                            first, texts[size_t(first)]))
      .raise();
}

/// Takes the next element as giveNext does, but stores it; the result is its
/// ticket. All processes call it together.
Status takeNext(const CustomCall &call) {
  return statusOf([&] {
    const int64_t id = numberIn(call.inputs[0]);
    std::optional<Element> element;
    Outcome outcome = Outcome::Ready;
    std::string failure;
    try {
      const std::shared_ptr<Stream> stream = streamOf(id);
      element = stream->next();
      if (!element) {
        outcome = Outcome::Exhausted;
        failExhausted(*stream);
      }
      if (typeOf(*element) != call.config) {
        outcome = Outcome::OtherType;
        otherType(*element, call.config).raise();
      }
    } catch (const std::exception &error) {
      if (outcome == Outcome::Ready)
        outcome = Outcome::Failed;
      failure = error.what();
    }
    agree(outcome, failure);
    std::lock_guard lock(registry().mutex);
    Registry::Entry &entry = registry().entries[id];
    const int64_t ticket = entry.tickets++;
    if (entry.taken.size() == takenAtMost)
      entry.taken.erase(entry.taken.begin());
    entry.taken.push_back({ticket, std::move(*element)});
    std::memcpy(call.results[0].data, &ticket, sizeof ticket);
  });
}

/// Returns the number of a device's part among the parts that `layout` cuts,
/// counted over the axes that it uses, dim by dim.
int64_t partOf(const Layout &layout, int64_t device) {
  const std::vector<int64_t> coords = layout.mesh().coords(device);
  int64_t part = 0;
  for (const std::vector<unsigned> &axes : layout.dim_axes())
    for (const unsigned axis : axes)
      part = part * layout.mesh().axis_size(axis) + coords[axis];
  return part;
}

HostArray partOf(const HostArray &value, int64_t part) {
  const Layout layout = *value.layout();
  const int64_t first = layout.mesh().min_global_device_id();
  for (const int64_t id : layout.mesh().local_device_ids())
    if (partOf(layout, id - first) == part) {
      meshloom::detail::ShardBytes bytes =
          meshloom::detail::shardOf(value.tensor(), id - first);
      return {value.dtype(), std::move(bytes.shape), std::move(bytes.bytes)};
    }
  iteratorError(fmt::format("a program asks this process for part {} of an "
                            "element {} in layout {}, which another process "
                            "has: relayout it after next()",
                            part, value.typeText(), layout.spec_string()))
      .raise();
}

/// Writes parts of a stored element. Inputs are the stream, a ticket, and for
/// each result the number of its part, or -1 for the whole value. The
/// configuration lists the value that each result belongs to: "0,2".
Status giveParts(const CustomCall &call) {
  return statusOf([&] {
    const int64_t id = numberIn(call.inputs[0]),
                  ticket = numberIn(call.inputs[1]);
    std::optional<Element> element;
    {
      std::lock_guard lock(registry().mutex);
      for (const Taken &taken : registry().entries[id].taken)
        if (taken.ticket == ticket)
          element = taken.element;
    }
    if (!element)
      iteratorError("a program asks for an element that it took long ago")
          .raise();
    std::istringstream numbers{std::string(call.config)};
    std::string number;
    for (size_t i = 0; std::getline(numbers, number, ','); ++i) {
      const HostArray &value = element->values[std::stoul(number)];
      const int64_t part = numberIn(call.inputs[2 + i]);
      write(part < 0 ? value : partOf(value, part), call.results[i]);
    }
  });
}

/// Returns the shape of the part that `layout` leaves on a device.
Shape partShape(const Element &element, const HostArray &value,
                const Layout &layout) {
  Shape shape = value.shape();
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const int64_t parts = layout.num_shards(unsigned(dim));
    if (shape[dim] % parts)
      iteratorError(
          fmt::format("expected elements whose dims are multiples of the sizes "
                      "of their axes, where a function takes them over several "
                      "processes, got {} in layout {}, in an element {}: "
                      "choose such a batch size, with drop_remainder",
                      value.typeText(), layout.spec_string(),
                      element.typeText()))
          .raise();
    shape[dim] /= parts;
  }
  return shape;
}

constexpr char nextTarget[] = "meshloom.data.next";
constexpr char takeTarget[] = "meshloom.data.take";
constexpr char partsTarget[] = "meshloom.data.parts";

/// The values of an element that are cut over the same axes, or that do not lie
/// on a mesh over processes.
struct Group {
  std::set<unsigned> axes;
  std::optional<Mesh> mesh; ///< where it spans processes
  std::vector<size_t> values;
};

std::vector<Group> groupsOf(const Element &like) {
  std::vector<Group> groups;
  for (size_t i = 0; i < like.values.size(); ++i) {
    Group candidate;
    if (const std::optional<Layout> layout = like.values[i].layout();
        layout && meshloom::detail::spansProcesses(layout->mesh())) {
      candidate.mesh = layout->mesh();
      for (const std::vector<unsigned> &axes : layout->dim_axes())
        candidate.axes.insert(axes.begin(), axes.end());
    }
    auto found = std::ranges::find_if(groups, [&](const Group &group) {
      return group.axes == candidate.axes && group.mesh == candidate.mesh;
    });
    if (found == groups.end())
      found = groups.insert(found, std::move(candidate));
    found->values.push_back(i);
  }
  return groups;
}

/// Returns the number of this place's part in a shard_map.
Tensor localPartIndex(const Layout &layout) {
  Tensor part = tensor(int64_t(0));
  for (const std::vector<unsigned> &axes : layout.dim_axes())
    for (const unsigned axis : axes) {
      const MeshAxis &meshAxis = layout.mesh().axes()[axis];
      part = part * meshAxis.size + cast(axis_index(meshAxis.name), DType::I64);
    }
  return part;
}

/// Returns the values of a group by one call of the host, or, on a mesh over
/// processes, by one call for each of their parts.
std::vector<Tensor> partsInTrace(const Tensor &handle, const Tensor &ticket,
                                 const Element &like, const Group &group) {
  const std::string numbers = fmt::format("{}", fmt::join(group.values, ","));
  std::vector<TensorType> types;
  std::vector<Layout> layouts;
  types.reserve(group.values.size());
  for (const size_t i : group.values) {
    const HostArray &value = like.values[i];
    types.push_back({value.dtype(), value.shape()});
    if (group.mesh) {
      layouts.push_back(*value.layout());
      types.back().shape = partShape(like, value, layouts.back());
    }
  }
  if (!group.mesh) {
    std::vector<Tensor> inputs{handle, ticket};
    inputs.resize(2 + types.size(), tensor(int64_t(-1)));
    return host_call(partsTarget, inputs, types, numbers);
  }
  const Layout replicated = Layout::replicated(*group.mesh, 0);
  return shard_map(
      [&](const Tensor &stream, const Tensor &element) {
        std::vector<Tensor> inputs{stream, element};
        for (const Layout &layout : layouts)
          inputs.push_back(localPartIndex(layout));
        return host_call(partsTarget, inputs, types, numbers);
      },
      *group.mesh, {replicated, replicated}, layouts)(handle, ticket);
}

} // namespace

void forgetStream(int64_t number) {
  std::lock_guard lock(registry().mutex);
  registry().entries.erase(number);
}
int64_t Stream::id() {
  std::lock_guard lock(registry().mutex);
  registry().entries[number].stream = weak_from_this();
  return number;
}

void failMoved() {
  iteratorError("expected an iterator, got one that was moved from",
                ErrorCode::FAILED_PRECONDITION)
      .raise();
}
void failExhausted(const Stream &stream) {
  iteratorError(
      fmt::format("the dataset is exhausted at position {}: repeat() it, "
                  "or begin another iteration",
                  stream.save()))
      .raise();
}

std::string nextType(Stream &stream) {
  std::optional<Element> element = stream.peek();
  if (!element)
    failExhausted(stream);
  std::string text = keyOf(*element);
  // The key has the devices of this process, too.
  for (const HostArray &value : element->values)
    if (std::optional<Layout> layout = value.layout())
      text += layout->to_string();
  return text;
}

std::vector<Tensor> nextInTrace(const Tensor &handle, const Element &like) {
  static const bool isRegistered = [] {
    register_custom_call(nextTarget, {"", giveNext}).value_or_throw();
    register_custom_call(takeTarget,
                         {.rule = "", .run = takeNext, .fails_together = true})
        .value_or_throw();
    register_custom_call(partsTarget, {"", giveParts}).value_or_throw();
    return true;
  }();
  (void)isRegistered;
  const std::string type = typeOf(like);
  std::vector<Tensor> values;
  if (std::ranges::any_of(like.values, [](const HostArray &value) {
        const std::optional<Layout> layout = value.layout();
        return layout && meshloom::detail::spansProcesses(layout->mesh());
      })) {
    const Tensor ticket =
        host_call(takeTarget, {handle}, {{DType::I64, {}}}, type).front();
    values.resize(like.values.size());
    for (const Group &group : groupsOf(like)) {
      const std::vector<Tensor> parts =
          partsInTrace(handle, ticket, like, group);
      for (size_t i = 0; i < parts.size(); ++i) {
        const std::optional<Layout> layout =
            like.values[group.values[i]].layout();
        values[group.values[i]] =
            layout && !group.mesh ? relayout(parts[i], *layout) : parts[i];
      }
    }
    return values;
  }
  std::vector<TensorType> types;
  types.reserve(like.values.size());
  for (const HostArray &value : like.values)
    types.push_back({value.dtype(), value.shape()});
  values = host_call(nextTarget, {handle}, types, type);
  for (size_t i = 0; i < values.size(); ++i)
    if (std::optional<Layout> layout = like.values[i].layout())
      values[i] = relayout(values[i], *layout);
  return values;
}

} // namespace meshloom::data::detail
