// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory on machines where it lies at several nodes (NUMA): a socket's own is
// nearer to its cores than that of another socket.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <vector>

namespace meshloom {

/// Returns the nodes, ascending, that have memory and at least one of `cores`.
/// `root` is the folder where Linux describes its nodes.
std::vector<unsigned> memoryNodesOf(const std::set<unsigned> &cores,
                                    const std::filesystem::path &root);

/// Returns the nodes over which large arrays are spread: those of the cores
/// that this process may use. There are none where these cores are at one node,
/// or where the user chose where memory lies, as `numactl` does.
const std::vector<unsigned> &spreadingNodes();

/// Lets pages that nobody has touched yet lie at `nodes` in turn, so that all
/// workers together read an array at the speed of all nodes. `memory` begins at
/// a page. Nothing happens where there is no node, or where the kernel refuses:
/// a page lies then at the node of the core that touches it first.
void spreadOverNodes(void *memory, size_t bytes,
                     std::span<const unsigned> nodes);

} // namespace meshloom
