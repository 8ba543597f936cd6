// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which device is where: meshes may number the devices in orders that have no
// common refinement, and then one order counts.
#include "Shardings.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Has meshes whose devices are in an order that has no common refinement with
/// those before take that of the first one: nothing in a program on global
/// values depends on where they are. Whether there are any.
bool Shardings::takeFirstOrder() {
  const SourceMesh *first = nullptr;
  std::vector<SourceMesh> some;
  bool found = false;
  for (auto [i, source] : llvm::enumerate(sources)) {
    some.push_back(source);
    if (deviceCount(source) == 1)
      continue;
    if (!first)
      first = &source;
    if (MeshUnification::of(some))
      continue;
    std::vector<int64_t> order =
        std::exchange(some.back().deviceIds, first->deviceIds);
    if (!MeshUnification::of(some))
      return false;
    if (order.empty())
      llvm::append_range(order, llvm::seq<int64_t>(0, deviceCount(source)));
    source.deviceIds = some.back().deviceIds;
    declaredOrders[i] = std::move(order);
    found = true;
  }
  return found;
}

ArrayRef<int64_t> Shardings::declaredOrder(Attribute meshOrRef) const {
  auto which = indexIfDeclared(meshOrRef);
  auto order = which ? declaredOrders.find(*which) : declaredOrders.end();
  return order == declaredOrders.end() ? ArrayRef<int64_t>()
                                       : ArrayRef<int64_t>(order->second);
}

std::vector<int64_t> Shardings::declaredDevices(Attribute sharding) const {
  std::optional<size_t> which;
  if (auto shardy = dyn_cast_or_null<sdy::TensorShardingAttr>(sharding))
    which = indexIfDeclared(shardy.getMeshOrRef());
  else if (auto text = dyn_cast_or_null<StringAttr>(sharding))
    if (auto found = gspmd.find(text.str()); found != gspmd.end())
      which = found->second;
  auto order = which ? declaredOrders.find(*which) : declaredOrders.end();
  if (order == declaredOrders.end())
    return {};
  // The mesh has been given the devices of the first one.
  const std::vector<int64_t> &firstOrder = sources[*which].deviceIds;
  std::vector<int64_t> devices(order->second.size());
  for (auto [i, device] : llvm::enumerate(order->second))
    devices[size_t(unification->positionOf(
        firstOrder.empty() ? int64_t(i) : firstOrder[i]))] = device;
  return devices;
}

std::vector<std::string> Shardings::notesOnOrders() const {
  std::vector<std::string> notes;
  for (const auto &[which, order] : declaredOrders) {
    auto first = llvm::find_if(
        sources, [](const SourceMesh &mesh) { return deviceCount(mesh) > 1; });
    std::string ids;
    llvm::raw_string_ostream stream(ids);
    llvm::interleaveComma(order, stream);
    notes.push_back("mesh " + sources[which].name +
                    " has its devices in the order [" + ids +
                    "], which has no common refinement with that of mesh " +
                    first->name +
                    "; what is laid out over it has the same blocks on the "
                    "devices in the order of mesh " +
                    first->name);
  }
  return notes;
}

std::vector<int64_t> Shardings::deviceOrder() const {
  std::vector<int64_t> order;
  bool permuted = false;
  for (int64_t i = 0; any() && i < unification->mesh().size(); ++i) {
    order.push_back(unification->deviceAt(i));
    permuted |= order.back() != i;
  }
  return permuted ? order : std::vector<int64_t>();
}
