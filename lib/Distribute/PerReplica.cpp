// Taking values of replicas apart.
#include "meshloom/Distribute/PerReplica.h"
#include "StrategyState.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/SliceOps.h"

#include <fmt/format.h>

#include <ostream>

namespace meshloom::detail {

Shape localShape(const Tensor &stacked, std::span<const ReplicaRows> rows,
                 size_t leaf, int64_t replica) {
  Shape local(stacked.shape().begin() + 1, stacked.shape().end());
  if (leaf < rows.size() && !rows[leaf].empty())
    local.front() = rows[leaf][static_cast<size_t>(replica)];
  return local;
}

std::vector<Tensor> ofReplica(std::span<const Tensor> stacked,
                              std::span<const ReplicaRows> rows,
                              int64_t replicas, int64_t replica) {
  std::vector<Tensor> values;
  values.reserve(stacked.size());
  for (size_t leaf = 0; leaf < stacked.size(); ++leaf) {
    if (replicas == 1) {
      values.push_back(stacked[leaf]);
      continue;
    }
    const Shape local = localShape(stacked[leaf], rows, leaf, replica);
    Shape begin(local.size() + 1, 0), size = local;
    begin.front() = replica;
    size.insert(size.begin(), 1);
    values.push_back(reshape(slice(stacked[leaf], begin, size), local));
  }
  return values;
}

void failNotPlain(int64_t replicas) {
  refuse("PerReplica",
         fmt::format("expected the value of one replica, got those of {}: "
                     "combine them with strategy.reduce, or take them apart "
                     "with strategy.experimental_local_results",
                     replicas));
}

void print(std::ostream &out, std::span<const Tensor> stacked,
           std::span<const ReplicaRows> rows, int64_t replicas) {
  auto printAll = [&](const std::vector<Tensor> &values) {
    for (size_t leaf = 0; leaf < values.size(); ++leaf)
      out << (leaf ? ", " : "") << values[leaf];
  };
  if (replicas == 1)
    return printAll({stacked.begin(), stacked.end()});
  out << "PerReplica:{";
  for (int64_t replica = 0; replica < replicas; ++replica) {
    out << (replica ? "," : "") << "\n  " << replica << ": ";
    printAll(ofReplica(stacked, rows, replicas, replica));
  }
  out << "\n}";
}

} // namespace meshloom::detail
