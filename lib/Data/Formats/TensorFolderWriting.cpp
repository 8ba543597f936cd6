// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing folders of tensors.
//
// Two things make it atomic: data files have names that no folder had before,
// and only the index names them. A folder that is replaced gets its new files
// beside the old ones, then a rename puts the new index in the old one's place,
// then the old files go. A folder that is new is made under another name, and
// renamed when it is whole. So there is one instant at which the new one
// stands, and all before and after it is tidying, which a later write does
// where a crash kept it from being done.
//
// Where a tensor lies on devices of several processes all of them write: each
// the shards that it is to write, into files of its own, of which it tells the
// others. Process 0 makes the folder and its index.
#include "meshloom/Data/TensorFolder.h"

#include "meshloom/API/NameScope.h"

#include "SafetensorsFormat.h"
#include "TensorFolderFormat.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/Shards.h"
#include "meshloom/Core/SystemError.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/ForeignErrors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <regex>
#include <set>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

namespace meshloom::data {

using nlohmann::json;
namespace fs = std::filesystem;

std::string checksum(std::span<const char> bytes) {
  uLong sum = crc32_z(0, nullptr, 0);
  sum =
      crc32_z(sum, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
  return fmt::format("{:08x}", sum);
}

std::string textWithSum(json index) {
  index.erase("checksum");
  const std::string text = index.dump(1);
  index["checksum"] = checksum(text);
  return index.dump(1);
}

namespace {

/// Returns a different text for every writing, in all processes of a machine.
std::string freshId() {
  static std::atomic<uint64_t> count;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:x}-{:x}-{:x}", now.count(), getpid(), ++count);
}

/// Files of devices that have no number of their own among so many share one:
/// a process has few open files.
constexpr int64_t mostFiles = 128;

struct Shard {
  std::string tensor;
  int64_t device; ///< that has it
  Box box;
  int64_t file; ///< that it goes to
};

/// "kernel[0:2, 4:8]", or the tensor's name for all of it.
std::string shardName(const Shard &shard, const Shape &shape) {
  if (shard.box == Box::whole(shape))
    return shard.tensor;
  std::vector<std::string> ranges;
  ranges.reserve(shape.size());
  for (size_t dim = 0; dim < shape.size(); ++dim)
    ranges.push_back(
        fmt::format("{}:{}", shard.box.offset[dim],
                    shard.box.offset[dim] + shard.box.extent[dim]));
  return fmt::format("{}[{}]", shard.tensor, fmt::join(ranges, ", "));
}

/// Returns whether several processes have parts of a tensor, or all know which
/// one has it.
bool isShared(const NamedTensors &tensors) {
  return std::ranges::any_of(tensors, [](const auto &named) {
    return meshloom::detail::isOfAllProcesses(named.second.layout().mesh());
  });
}

/// One folder, as it is being written.
class FolderWriter {
public:
  FolderWriter(fs::path folder, const NamedTensors &namedTensors)
      : folder(std::move(folder)), id(freshId()) {
    for (const auto &[name, tensor] : namedTensors) {
      const Layout layout = tensor.layout();
      tensors.emplace(name, layout.is_partial()
                                ? relayout(tensor, layout.without_partial())
                                : tensor);
    }
  }

  /// Writes the data files, of several processes this one's; gives the index's
  /// "tensors", with the shards that are written here.
  json write() {
    assign();
    create();
    json index = json::object();
    for (const auto &[name, tensor] : tensors)
      index[name] = {{"dtype", meshloom::name(tensor.dtype())},
                     {"shape", tensor.shape()},
                     {"layout", layoutText(tensor)},
                     {"shards", json::array()}};
    for (const Shard &shard : shards)
      index[shard.tensor]["shards"].push_back(write(shard));
    for (auto &[number, file] : files)
      std::move(file.writer->finish()).value_or_throw();
    return index;
  }

private:
  struct File {
    std::string name;
    json header = json::object();
    uint64_t bytes = 0;  ///< of tensors
    uint64_t offset = 0; ///< where the next one goes
    std::optional<FileWriter> writer;
  };

  /// The same in all processes.
  static std::string layoutText(const Tensor &tensor) {
    if (!is_dtensor(tensor))
      return "";
    const Layout layout = tensor.layout();
    const int64_t devices = layout.mesh().size();
    return meshloom::detail::isOfAllProcesses(layout.mesh())
               ? layout.placed_on(DeviceAssignment::standard(devices))
                     .to_string()
               : layout.to_string();
  }

  static uint64_t bytesOf(const Tensor &tensor, const Box &box) {
    return uint64_t(box.count()) * byteWidth(tensor.dtype());
  }

  /// Decides which device writes what: of those that hold a block, the one that
  /// has least to write so far.
  void assign() {
    for (const auto &[name, tensor] : tensors) {
      const Layout layout = tensor.layout();
      const int64_t devices = layout.mesh().size();
      std::vector<std::pair<Box, int64_t>> blocks;
      for (int64_t device = 0; device < devices; ++device) {
        const Box box = layout.shard(tensor.shape(), device);
        // One without elements is a shard, so that files have the tensor.
        if (box.empty() && (tensor.size() > 0 || !blocks.empty()))
          continue;
        auto existing =
            std::ranges::find(blocks, box, &std::pair<Box, int64_t>::first);
        if (existing == blocks.end())
          blocks.emplace_back(box, device);
        else if (files[device % mostFiles].bytes <
                 files[existing->second % mostFiles].bytes)
          existing->second = device;
      }
      for (const auto &[box, device] : blocks) {
        files[device % mostFiles].bytes += bytesOf(tensor, box);
        shards.push_back({name, device, box, device % mostFiles});
      }
    }
    if (isShared(tensors))
      std::erase_if(shards, [&](const Shard &shard) {
        const Mesh &mesh = tensors.at(shard.tensor).layout().mesh();
        const int64_t process =
            meshloom::detail::isOfAllProcesses(mesh)
                ? meshloom::detail::processOf(mesh, shard.device)
                : 0;
        return process != client_id();
      });
  }

  /// Writes the heads.
  void create() {
    // Asking for a device's load made it an entry.
    std::map<int64_t, File> used;
    for (const Shard &shard : shards) {
      const Tensor &tensor = tensors.at(shard.tensor);
      File &file = used[shard.file];
      Shape shape = shard.box.extent;
      if (isComplex(tensor.dtype()))
        shape.push_back(2);
      const uint64_t end = file.bytes + bytesOf(tensor, shard.box);
      const std::string name = shardName(shard, tensor.shape());
      if (file.header.contains(name))
        Error(fmt::format("[write_tensor_folder] a shard of '{}' would "
                          "be called '{}', as another tensor is: rename "
                          "that one",
                          shard.tensor, name))
            .raise();
      file.header[name] = {{"dtype", safetensorsType(partOf(tensor.dtype()))},
                           {"shape", shape},
                           {"data_offsets", {file.bytes, end}}};
      file.bytes = end;
    }
    files = std::move(used);
    for (auto &[number, file] : files) {
      file.name = fmt::format("device-{}.{}.safetensors", number, id);
      file.writer.emplace(
          FileWriter::create((folder / file.name).string()).value_or_throw());
      const std::string head = safetensorsHead(file.header);
      std::move(file.writer->write(head)).value_or_throw();
      file.offset = head.size();
    }
  }

  /// Appends the shard to its file; gives its entry of the index.
  json write(const Shard &shard) {
    File &file = files.at(shard.file);
    const meshloom::detail::ShardBytes part =
        meshloom::detail::shardOf(tensors.at(shard.tensor), shard.device);
    std::move(file.writer->write(part.bytes)).value_or_throw();
    const uint64_t begin = file.offset;
    file.offset += part.bytes.size();
    return {{"file", file.name},
            {"at", begin},
            {"offset", shard.box.offset},
            {"extent", shard.box.extent},
            {"crc32", checksum(part.bytes)}};
  }

  fs::path folder;
  std::string id;
  NamedTensors tensors;
  std::vector<Shard> shards;
  std::map<int64_t, File> files;
};

/// Returns whether a name is one that writing gives a file.
bool isOurs(const std::string &name) {
  return (name.starts_with("device-") && name.ends_with(".safetensors")) ||
         (name.starts_with(indexName) && name.ends_with(".part"));
}

/// Returns whether nobody would miss what is under that name: a folder of
/// tensors, or what is left of one, which has no index.
bool mayBeReplaced(const fs::path &target) {
  if (is_tensor_folder(target))
    return true;
  if (!fs::is_directory(target))
    return false;
  return std::ranges::all_of(fs::directory_iterator(target),
                             [](const fs::directory_entry &entry) {
                               return isOurs(entry.path().filename().string());
                             });
}

/// Where a folder is before it stands, and after it fell.
fs::path hiddenName(const fs::path &target) {
  return target.parent_path() /
         fmt::format(".{}.{}.part", target.filename().string(), freshId());
}

/// Removes what writers that crashed left beside a new folder.
void removeLeftovers(const fs::path &beside) {
  static const auto &pattern =
      *new std::regex(R"(\..*\.[0-9a-f]+-([0-9a-f]+)-[0-9a-f]+\.part)");
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(beside.empty() ? "." : beside, ignored)) {
    std::smatch match;
    const std::string name = entry.path().filename().string();
    if (!std::regex_match(name, match, pattern))
      continue;
    pid_t writer = 0;
    const auto [stop, failure] =
        std::from_chars(&*match[1].first, &*match[1].second, writer, 16);
    if (failure == std::errc() && writer > 0 && kill(writer, 0) != 0 &&
        errno == ESRCH)
      leftovers.push_back(entry.path());
  }
  for (const fs::path &folder : leftovers)
    fs::remove_all(folder, ignored);
}

/// Keeps other processes from a folder while it lives.
class FolderLock {
public:
  explicit FolderLock(const fs::path &folder)
      : file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file >= 0)
      flock(file, LOCK_EX);
  }
  ~FolderLock() {
    if (file >= 0)
      close(file);
  }
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

private:
  int file;
};

/// The result of a part of the work, or the error that it failed with.
struct Attempt {
  json result;
  std::optional<Error> error;
};
template <typename Work> Attempt attempted(Work &&work) {
  try {
    return {work(), std::nullopt};
  } catch (const std::exception &error) {
    return {json(), Error::of(error)};
  }
}

/// Returns the results of all processes' attempts, where they work together,
/// else this one's alone. Throws if one failed, in all of them.
std::vector<json> told(std::string_view step, bool isTogether,
                       const Attempt &attempt) {
  if (!isTogether) {
    if (attempt.error)
      attempt.error->raise();
    return {attempt.result};
  }
  json message = {{"result", attempt.result}};
  if (attempt.error)
    message["error"] = {{"text", attempt.error->message()},
                        {"code", int64_t(attempt.error->code())}};
  std::vector<json> results;
  for (const std::string &text : meshloom::detail::gatherTexts(
           fmt::format("write_tensor_folder/{}", step), message.dump(),
           /*timeoutSeconds=*/600)) {
    json theirs = json::parse(text);
    if (theirs.contains("error"))
      Error(fmt::format("process {}: {}", results.size(),
                        theirs["error"]["text"].get<std::string>()),
            errorCodeOf(theirs["error"]["code"].get<int64_t>()))
          .raise();
    results.push_back(std::move(theirs["result"]));
  }
  return results;
}

/// Writes the index of the shards that `parts` name, puts the folder in its
/// place and removes what is not of it.
void finish(const fs::path &folder, const fs::path &target, json index,
            const std::vector<json> &parts) {
  json &tensors = index["tensors"] = parts.front();
  std::set<std::string> files;
  for (const json &part : parts)
    for (const auto &[name, entry] : part.items())
      for (const json &shard : entry["shards"]) {
        files.insert(shard["file"].get<std::string>());
        if (&part != &parts.front())
          tensors[name]["shards"].push_back(shard);
      }
  const fs::path part = folder / (indexName + ("." + freshId()) + ".part");
  FileWriter file = FileWriter::create(part.string()).value_or_throw();
  std::move(file.write(textWithSum(index))).value_or_throw();
  std::move(file.finish()).value_or_throw();
  // The disk knows the names of data files before that of the index.
  std::move(syncFolder(folder.string())).value_or_throw();
  std::move(renameDurably(part.string(), (folder / indexName).string()))
      .value_or_throw();
  if (folder != target && fs::absolute(target) != folder)
    std::move(renameDurably(folder.string(), target.string())).value_or_throw();
  // It stands: what cannot be tidied now is tidied by a later write.
  std::error_code ignored;
  std::vector<fs::path> old;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(target, ignored)) {
    const std::string name = entry.path().filename().string();
    if (isOurs(name) && !files.contains(name))
      old.push_back(entry.path());
  }
  for (const fs::path &file : old)
    fs::remove(file, ignored);
  removeLeftovers(target.parent_path());
}

} // namespace

static void writeFolder(const fs::path &path, const FolderContents &contents,
                        const std::string &context) {
  auto refuse = [&](const std::string &why) {
    return Error(fmt::format("{}: {}", context, why));
  };
  if (meshloom::detail::isTracing())
    refuse("expected to be outside of a function, whose variables have "
           "no values while it is traced")
        .raise();
  if (path.empty())
    refuse("expected the path of a folder, got an empty one").raise();
  const fs::path target = path.has_filename() ? path : path.parent_path();
  if (fs::exists(target) && !mayBeReplaced(target))
    refuse("there is something else under that name: choose another one, "
           "or remove it")
        .raise();
  json index = {{"format", folderFormat},
                {"version", folderVersion},
                {"notes", json::object()}};
  for (const auto &[name, text] : contents.notes) {
    json note = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (note.is_discarded())
      refuse(fmt::format("note '{}' is not JSON: {}", name, text)).raise();
    index["notes"][name] = std::move(note);
  }

  const bool isTogether = isShared(contents.tensors);
  // Processes that write values of their own may do so to one folder.
  std::optional<FolderLock> lock;
  if (!isTogether && num_clients() > 1) {
    fs::create_directories(fs::absolute(target).parent_path());
    lock.emplace(fs::absolute(target).parent_path());
  }
  const bool isThere = fs::exists(target);
  const bool isFirst = !isTogether || client_id() == 0;
  fs::path folder = isThere ? target : hiddenName(target);
  try {
    const Attempt attempt = attempted([&] {
      if (isFirst) {
        std::move(
            createFolderDurably(fs::absolute(folder).parent_path().string()))
            .value_or_throw();
        std::error_code failure;
        if (fs::create_directory(folder, failure); failure)
          Error(fmt::format("cannot make the folder '{}': {}", target.string(),
                            failure.message()),
                errorCodeOfSystem(failure.value()))
              .raise();
      }
      return json{{"target", fs::absolute(target)},
                  {"folder", fs::absolute(folder)}};
    });
    const std::vector<json> places = told("place", isTogether, attempt);
    if (isTogether) {
      for (const json &place : places)
        if (place["target"] != places.front()["target"])
          Error(fmt::format("expected all processes to write the same "
                            "folder together, got '{}' and '{}'",
                            places.front()["target"].get<std::string>(),
                            place["target"].get<std::string>()))
              .raise();
      folder = places.front()["folder"].get<std::string>();
    }
    const Attempt wrote = attempted([&] {
      if (!fs::is_directory(folder))
        Error(fmt::format("this process does not see '{}', which process "
                          "0 made: processes write to a file system that "
                          "they share",
                          folder.string()),
              ErrorCode::FAILED_PRECONDITION)
            .raise();
      return FolderWriter(folder, contents.tensors).write();
    });
    const std::vector<json> parts = told("shards", isTogether, wrote);
    const Attempt stands = attempted([&] {
      if (isFirst)
        finish(folder, target, std::move(index), parts);
      return json();
    });
    told("index", isTogether, stands);
  } catch (const std::exception &error) {
    std::error_code ignored;
    if (!isThere && isFirst)
      fs::remove_all(folder, ignored);
    Error::of(error).withMessage(refuse(error.what()).message()).raise();
  }
}

void write_tensor_folder(const fs::path &path, const FolderContents &contents,
                         std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    const std::string context =
        fmt::format("[write_tensor_folder] '{}'", path.string());
    meshloom::detail::withDTensorErrors(
        context, [&] { writeFolder(path, contents, context); });
  });
}

void remove_tensor_folder(const fs::path &path, std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    const fs::path target = path.has_filename() ? path : path.parent_path();
    auto refuse = [&](const std::string &why) {
      return Error(
          fmt::format("[remove_tensor_folder] '{}': {}", path.string(), why));
    };
    if (!is_tensor_folder(target))
      refuse("it is not a folder of tensors").raise();
    const fs::path hidden = hiddenName(target);
    if (Status gone = renameDurably(target.string(), hidden.string()); !gone)
      gone.error()
          .withMessage(refuse(gone.error().message()).message())
          .raise();
    std::error_code error;
    fs::remove_all(hidden, error);
    if (error)
      Error(refuse(error.message()).message(), errorCodeOfSystem(error.value()))
          .raise();
  });
}

} // namespace meshloom::data
