// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of tensors with layouts, each device's shards in a safetensors file
// of its own beside an index: what checkpoints and saved models consist of.
#pragma once

#include "meshloom/Data/Safetensors.h"

namespace meshloom::data {

/// The tensors and the state that are written into a folder.
struct FolderContents {
  NamedTensors tensors; ///< with any layouts over any meshes, or host tensors
  /// Small things that are not tensors, by name: JSON texts, as numbers are.
  std::map<std::string, std::string> notes;
};

/// Writes a folder. Every device writes the shards that it alone holds, and a
/// part of those that several hold; no tensor is gathered. A folder of that
/// name is replaced: after a crash at any time `path` is the old one or the new
/// one (or, where there was none, none). Waits until the disk has all of it.
/// Where a tensor is on devices of several processes all of them call this with
/// the same path, on a file system that they share; each writes its devices'
/// files, and all wait until the folder stands.
///
///   data::write_tensor_folder("w", {{{"kernel", kernel}}, {{"step", "7"}}});
///   data::TensorFolder w("w");
///   Tensor kernel = w.read("kernel", Layout({"x", UNSHARDED}, mesh));
///
/// The files are `index.json` and one `device-K.ID.safetensors` for each device
/// that writes. A shard that is not a whole tensor is called
/// "kernel[0:2, 4:8]"; a complex tensor is one of floats with a last dim of 2.
/// Pending reductions are done before.
///
/// Throws meshloom::Error if a note is no JSON, if there is something else
/// under that name, or if a file cannot be written; the old folder stands then,
/// or the new one where the message says that it does: the disk did not say
/// that it has it.
void write_tensor_folder(
    const std::filesystem::path &path, const FolderContents &contents,
    std::source_location where = std::source_location::current());

/// Returns whether there is a folder that write_tensor_folder has finished.
bool is_tensor_folder(const std::filesystem::path &path);

/// Removes such a folder; after a crash, or where a file in it cannot be
/// removed, it is there as it was, or not at all. A later write beside it
/// tidies up. Throws meshloom::Error if it is no such folder or cannot be
/// removed.
void remove_tensor_folder(
    const std::filesystem::path &path,
    std::source_location where = std::source_location::current());

/// The entry of a tensor in a folder.
struct StoredTensor {
  DType dtype; ///< of the elements
  Shape shape; ///< global
  /// The layout that it was written with, as Layout::to_string has it; empty:
  /// none, of a host tensor.
  std::string layout;
};

/// A folder of tensors, for reading. A handle; copying is cheap. May be used
/// from any thread.
class TensorFolder {
public:
  /// Reads the index. Throws meshloom::Error if there is no such folder, or its
  /// index is damaged.
  explicit TensorFolder(
      const std::filesystem::path &path,
      std::source_location where = std::source_location::current());

  /// The folder's path.
  const std::filesystem::path &path() const;
  /// By name.
  const std::map<std::string, StoredTensor> &tensors() const;
  /// By name.
  const std::map<std::string, std::string> &notes() const;

  /// A tensor laid out as one wishes, whatever the layout that it was written
  /// with; without a layout on the host. Reads what devices need of it, shard
  /// by shard, and checks the sums of what it reads. Throws meshloom::Error,
  /// naming file and tensor, if there is none of that name, if a file is
  /// missing, cut short or changed.
  Tensor
  read(const std::string &name,
       const std::optional<Layout> &layout = std::nullopt,
       std::source_location where = std::source_location::current()) const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

} // namespace meshloom::data
