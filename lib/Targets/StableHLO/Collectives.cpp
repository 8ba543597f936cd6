// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives. Blocks are padded to the largest, so most uneven exchanges are
// the even ones of padded blocks, followed by a table that drops the padding.
// Where blocks do not even start at multiples of the largest (dims on several
// axes that do not divide them), values are gathered and cut instead: right,
// but more is sent than the plan says.
#include "Exporter.h"

#include <map>

namespace meshloom::exporting {

NamedAttribute Exporter::groups(ArrayRef<unsigned> axes) {
  SmallVector<int64_t> members;
  int64_t size = groupOf(0, axes).size();
  for (int64_t device = 0; device < devices; ++device) {
    std::vector<int64_t> group = groupOf(device, axes);
    if (group.front() == device)
      members.append(group.begin(), group.end());
  }
  auto type = RankedTensorType::get({devices / size, size}, b.getI64Type());
  return attr("replica_groups", Attribute(DenseElementsAttr::get(
                                    type, ArrayRef<int64_t>(members))));
}

static bool needsGather(ReduceKind kind, Type element) {
  return (kind == ReduceKind::And || kind == ReduceKind::Or) &&
         !element.isInteger(1);
}

Value Exporter::allReduce(Value value, ReduceKind kind,
                          ArrayRef<unsigned> axes) {
  auto type = cast<RankedTensorType>(value.getType());
  // XLA's CPU backend combines bits of flags only: integers are gathered.
  if (needsGather(kind, type.getElementType())) {
    auto shape = llvm::to_vector(type.getShape());
    shape.insert(shape.begin(), 1);
    value = reshape(value, shape);
    shape[0] = groupOf(0, axes).size();
    value =
        one("all_gather", RankedTensorType::get(shape, type.getElementType()),
            value, {attr("all_gather_dim", int64_t(0)), groups(axes)});
    return reduce(kind, value, int64_t(0));
  }
  Operation *result = op("all_reduce", type, value, groups(axes), 1);
  fillReducer(result->getRegion(0), kind, type.getElementType());
  return result->getResult(0);
}

Value Exporter::permute(
    Value value, ArrayRef<std::pair<int64_t, int64_t>> sourcesAndTargets) {
  SmallVector<int64_t> pairs;
  for (auto [source, target] : sourcesAndTargets)
    pairs.append({source, target});
  auto type = RankedTensorType::get({int64_t(sourcesAndTargets.size()), 2},
                                    b.getI64Type());
  return same(
      "collective_permute", value,
      attr("source_target_pairs",
           Attribute(DenseElementsAttr::get(type, ArrayRef<int64_t>(pairs)))));
}

/// The axes that dim `dim` has in `longer` beyond those in `shorter`.
static SmallVector<unsigned> extraAxes(const Layout &longer,
                                       const Layout &shorter, unsigned dim) {
  auto axes = longer.axes(dim);
  size_t remainingCount = shorter.axes(dim).size();
  SmallVector<unsigned> extra;
  for (size_t i = std::min(remainingCount, axes.size()); i < axes.size(); ++i)
    extra.push_back(axes[i]);
  return extra;
}

void Exporter::collect(Operand &operand, unsigned dim, ArrayRef<unsigned> axes,
                       const Held &target, unsigned targetDim) {
  std::vector<Interval> held = operand.held.ranges[dim];
  int64_t block = operand.held.buffer[dim];
  int64_t members = groupOf(0, axes).size();
  if (members > 1 && block > 0) {
    auto type = cast<RankedTensorType>(operand.value.getType());
    auto shape = llvm::to_vector(type.getShape());
    shape[dim] *= members;
    operand.value = one(
        "all_gather", RankedTensorType::get(shape, type.getElementType()),
        operand.value, {attr("all_gather_dim", int64_t(dim)), groups(axes)});
  }
  int64_t size = target.buffer[targetDim];
  Table table(devices, std::vector<int64_t>(size, anyEntry));
  for (int64_t device = 0; device < devices; ++device) {
    std::vector<int64_t> group = groupOf(device, axes);
    Interval wanted = target.ranges[targetDim][device];
    for (int64_t member = 0; member < members; ++member) {
      Interval part = held[group[member]].intersect(wanted);
      for (int64_t g = part.begin; g < part.end; ++g)
        table[device][g - wanted.begin] =
            member * block + g - held[group[member]].begin;
    }
  }
  operand.value = take(operand.value, dim, table, size);
  operand.held.setDim(dim, target, targetDim);
}

Operand Exporter::gatherWhole(Value value, Type type) {
  Operand operand{value, Held::of(type, devices)};
  Layout layout = dtensor::isShard(type) ? spmd::layoutOf(type)
                                         : Layout::replicated(mesh, 0);
  for (Partial partial : layout.partial())
    operand.value = allReduce(operand.value, partial.kind, partial.axis);
  Held whole = Held::whole(operand.held.global, operand.held.element, devices);
  for (unsigned dim = 0; dim < whole.rank(); ++dim)
    if (!operand.held.isWhole(dim)) {
      auto axes = layout.axes(dim);
      collect(operand, dim, SmallVector<unsigned>(axes.begin(), axes.end()),
              whole, dim);
    }
  return operand;
}

/// Pads `dim` to one block of `to` for each device of a group; false if the
/// blocks do not start there.
bool Exporter::padToGroup(Operand &operand, unsigned dim,
                          ArrayRef<unsigned> axes, const Held &to) {
  int64_t block = to.buffer[dim];
  for (int64_t device = 0; device < devices; ++device) {
    std::vector<int64_t> group = groupOf(device, axes);
    int64_t member = llvm::find(group, device) - group.begin();
    Interval from = operand.held.ranges[dim][device];
    Interval part = to.ranges[dim][device];
    if (!part.empty() &&
        (part.begin - from.begin != member * block || part.end > from.end))
      return false;
  }
  int64_t missing =
      int64_t(groupOf(0, axes).size()) * block - operand.held.buffer[dim];
  if (missing < 0)
    return false;
  operand.value = pad(operand.value, dim, 0, missing, {});
  return true;
}

std::optional<Value> Exporter::scatterReduced(Operand operand,
                                              const CollectiveOp &plan,
                                              ReduceKind kind, const Held &to) {
  std::optional<unsigned> scattered;
  for (unsigned dim = 0; dim < to.rank(); ++dim)
    if (!extraAxes(plan.to, plan.from, dim).empty()) {
      if (scattered)
        return std::nullopt;
      scattered = dim;
    }
  if (!scattered || needsGather(kind, to.element) ||
      llvm::is_contained(to.buffer, 0))
    return std::nullopt;
  SmallVector<unsigned> axes = extraAxes(plan.to, plan.from, *scattered);
  if (!padToGroup(operand, *scattered, axes, to))
    return std::nullopt;
  Operation *result =
      op("reduce_scatter", to.type(), operand.value,
         {attr("scatter_dimension", int64_t(*scattered)), groups(axes)}, 1);
  fillReducer(result->getRegion(0), kind, to.element);
  return result->getResult(0);
}

/// One dim's axes to another dim: stablehlo.all_to_all does just that. More
/// dims: the blocks are brought to the front, one for each device of the group
/// in the order of the axes gained, and from there to the dims that lose axes.
std::optional<Value> Exporter::exchangeDims(Operand operand,
                                            const CollectiveOp &plan,
                                            const Held &to) {
  if (llvm::is_contained(to.buffer, 0) ||
      llvm::is_contained(operand.held.buffer, 0))
    return std::nullopt;
  SmallVector<SmallVector<unsigned>> lost, gained;
  SmallVector<unsigned> losing, gaining, axes;
  for (unsigned dim = 0; dim < to.rank(); ++dim) {
    lost.push_back(extraAxes(plan.from, plan.to, dim));
    gained.push_back(extraAxes(plan.to, plan.from, dim));
    if (!lost.back().empty())
      losing.push_back(dim);
    if (gained.back().empty())
      continue;
    gaining.push_back(dim);
    axes.append(gained.back());
    if (!padToGroup(operand, dim, gained.back(), to))
      return std::nullopt;
  }
  int64_t members = groupOf(0, axes).size();
  auto exchange = [&](Value value, unsigned split, unsigned concat) {
    auto shape =
        llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
    shape[split] /= members;
    shape[concat] *= members;
    return one("all_to_all", RankedTensorType::get(shape, to.element), value,
               {attr("split_dimension", int64_t(split)),
                attr("concat_dimension", int64_t(concat)),
                attr("split_count", members), groups(axes)});
  };
  Value value = operand.value;
  if (losing.size() == 1 && gaining.size() == 1 && axes == lost[losing[0]]) {
    value = exchange(value, gaining[0], losing[0]);
  } else {
    value = blocksToFront(value, gained);
    value = exchange(value, 0, 0);
    value = blocksFromFront(value, axes, lost);
  }
  // Dims that lost axes are now all blocks, padding included.
  for (unsigned dim : losing) {
    int64_t block = operand.held.buffer[dim], size = to.buffer[dim];
    Table table(devices, std::vector<int64_t>(size, anyEntry));
    for (int64_t device = 0; device < devices; ++device) {
      std::vector<int64_t> group = groupOf(device, lost[dim]);
      Interval wanted = to.ranges[dim][device];
      for (auto [member, source] : llvm::enumerate(group)) {
        Interval held = operand.held.ranges[dim][source];
        Interval part = held.intersect(wanted);
        for (int64_t g = part.begin; g < part.end; ++g)
          table[device][g - wanted.begin] =
              int64_t(member) * block + g - held.begin;
      }
    }
    value = take(value, dim, table, size);
  }
  return value;
}

/// `value` with a dim in front, as long as all of `axes`: row-major over them,
/// the blocks that the dims are cut into for each dim's axes.
Value Exporter::blocksToFront(Value value,
                              ArrayRef<SmallVector<unsigned>> axes) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> split, blocks{1}, front, rest;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    int64_t members = groupOf(0, axes[dim]).size();
    front.push_back(int64_t(split.size()));
    rest.push_back(int64_t(split.size() + 1));
    split.append({members, extent / members});
    blocks.front() *= members;
    blocks.push_back(extent / members);
  }
  front.append(rest);
  return reshape(transpose(reshape(value, split), front), blocks);
}

/// The inverse, for a front that is row-major over `front`, in which each dim
/// finds its own axes.
Value Exporter::blocksFromFront(Value value, ArrayRef<unsigned> front,
                                ArrayRef<SmallVector<unsigned>> axes) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> split, order, merged;
  for (unsigned axis : front)
    split.push_back(mesh.axis_size(axis));
  for (auto [dim, extent] : llvm::enumerate(type.getShape().drop_front())) {
    for (unsigned axis : axes[dim])
      order.push_back(llvm::find(front, axis) - front.begin());
    order.push_back(int64_t(split.size()));
    merged.push_back(extent * int64_t(groupOf(0, axes[dim]).size()));
    split.push_back(extent);
  }
  return reshape(transpose(reshape(value, split), order), merged);
}

/// Every device gets its box from one that has exactly that box. Devices that
/// differ on other axes than the plan's keep to themselves, and each sends to
/// one device: those with the same box are paired in order.
Value Exporter::permuteShards(Operand operand, const CollectiveOp &plan,
                              const Held &to) {
  using Key = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
  auto keyOf = [&](const Held &held, int64_t device) {
    Key key{mesh.coords(device), {}};
    for (unsigned axis : plan.axes)
      key.first[axis] = 0;
    for (unsigned dim = 0; dim < held.rank(); ++dim) {
      key.second.push_back(held.ranges[dim][device].begin);
      key.second.push_back(held.ranges[dim][device].end);
    }
    return key;
  };
  std::map<Key, std::vector<int64_t>> sources;
  for (int64_t device = 0; device < devices; ++device)
    sources[keyOf(operand.held, device)].push_back(device);
  std::map<Key, size_t> used;
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t device = 0; device < devices; ++device) {
    Key key = keyOf(to, device);
    size_t &next = used[key];
    if (next >= sources[key].size())
      return {};
    pairs.emplace_back(sources[key][next++], device);
  }
  if (operand.held.buffer != to.buffer)
    return {};
  return permute(operand.value, pairs);
}

void Exporter::exchangeHalo(Operand &operand, unsigned dim,
                            ArrayRef<unsigned> axes, const Held &to) {
  const std::vector<Interval> held = operand.held.ranges[dim];
  const std::vector<Interval> &wanted = to.ranges[dim];
  int64_t members = groupOf(0, axes).size();
  int64_t block = operand.held.buffer[dim], size = to.buffer[dim];
  // By how many shards a piece moves, and how long the longest one is.
  std::map<int64_t, int64_t> lengths;
  auto forEach =
      [&](llvm::function_ref<void(int64_t, int64_t, int64_t)> visit) {
        for (int64_t device = 0; device < devices; ++device) {
          std::vector<int64_t> group = groupOf(device, axes);
          int64_t me = llvm::find(group, device) - group.begin();
          for (int64_t member = 0; member < members; ++member)
            if (member != me)
              visit(device, group[member], member - me);
        }
      };
  forEach([&](int64_t device, int64_t source, int64_t shift) {
    int64_t length = wanted[device].intersect(held[source]).size();
    if (length > 0)
      lengths[shift] = std::max(lengths[shift], length);
  });
  int64_t total = 0;
  for (auto [shift, length] : lengths)
    total += length;
  if (total > (members - 1) * block)
    return collect(operand, dim, axes, to, dim);

  Table table(devices, std::vector<int64_t>(size, anyEntry));
  auto place = [&](int64_t device, Interval part, int64_t position) {
    for (int64_t g = part.begin; g < part.end; ++g)
      table[device][g - wanted[device].begin] = position + g - part.begin;
  };
  Values parts{operand.value};
  for (int64_t device = 0; device < devices; ++device) {
    Interval localPart = wanted[device].intersect(held[device]);
    place(device, localPart, localPart.begin - held[device].begin);
  }
  int64_t offset = block;
  for (auto [shift, length] : lengths) {
    Table pieces(devices, std::vector<int64_t>(length, anyEntry));
    SmallVector<std::pair<int64_t, int64_t>> pairs;
    forEach([&, shift = shift](int64_t device, int64_t source, int64_t other) {
      Interval part = wanted[device].intersect(held[source]);
      if (other != shift || part.empty())
        return;
      pairs.emplace_back(source, device);
      for (int64_t g = part.begin; g < part.end; ++g)
        pieces[source][g - part.begin] = g - held[source].begin;
      place(device, part, offset);
    });
    parts.push_back(permute(take(operand.value, dim, pieces, length), pairs));
    offset += length;
  }
  if (parts.size() > 1) {
    auto type = cast<RankedTensorType>(operand.value.getType());
    auto shape = llvm::to_vector(type.getShape());
    shape[dim] = offset;
    operand.value =
        one("concatenate", RankedTensorType::get(shape, type.getElementType()),
            parts, attr("dimension", int64_t(dim)));
  }
  operand.value = take(operand.value, dim, table, size);
  operand.held.setDim(dim, to, dim);
}

LogicalResult Exporter::emitCollective(spmd::CollectiveOpInterface op) {
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    Value input = op.getInputs()[i], output = op.getOutputs()[i];
    CollectiveOp plan = op.getCollective(i);
    Operand operand{get(input), Held::of(input.getType(), devices)};
    Held to = Held::of(output.getType(), devices);
    SmallVector<unsigned> axes(plan.axes.begin(), plan.axes.end());
    // Dims that lose axes become whole, all of them before any is cut: until
    // then devices of a group hold the same part of the other dims.
    auto gatherAndCut = [&] {
      Held whole = Held::whole(to.global, to.element, devices);
      for (unsigned dim = 0; dim < to.rank(); ++dim) {
        auto had = plan.from.axes(dim), has = plan.to.axes(dim);
        bool keeps = had.size() <= has.size() &&
                     std::equal(had.begin(), had.end(), has.begin());
        if (!keeps && !operand.held.agrees(dim, to, dim))
          collect(operand, dim, SmallVector<unsigned>(had.begin(), had.end()),
                  whole, dim);
      }
      fitAll(operand, to);
    };
    std::optional<Value> result;
    switch (plan.kind) {
    case CollectiveKind::AllReduce:
      operand.value = allReduce(operand.value, *op.getReduceKind(), axes);
      break;
    case CollectiveKind::ReduceScatter:
      result = scatterReduced(operand, plan, *op.getReduceKind(), to);
      if (!result)
        operand.value = allReduce(operand.value, *op.getReduceKind(), axes);
      break;
    case CollectiveKind::AllGather:
      for (unsigned dim = 0; dim < to.rank(); ++dim) {
        SmallVector<unsigned> lost = extraAxes(plan.from, plan.to, dim);
        if (!lost.empty())
          collect(operand, dim, lost, to, dim);
      }
      break;
    case CollectiveKind::AllToAll:
      result = exchangeDims(operand, plan, to);
      break;
    case CollectiveKind::Permute:
      if (Value permuted = permuteShards(operand, plan, to))
        result = permuted;
      break;
    case CollectiveKind::HaloExchange:
      for (unsigned dim = 0; dim < to.rank(); ++dim)
        if (!operand.held.agrees(dim, to, dim)) {
          auto has = plan.from.axes(dim);
          exchangeHalo(operand, dim,
                       SmallVector<unsigned>(has.begin(), has.end()), to);
        }
      break;
    case CollectiveKind::Slice:
      break;
    }
    if (!result)
      gatherAndCut();
    Value value = result.value_or(operand.value);
    if (value.getType() != to.type())
      return op->emitOpError("cannot be exported to StableHLO from ")
             << input.getType() << " to " << output.getType();
    set(output, value);
  }
  return success();
}

} // namespace meshloom::exporting
