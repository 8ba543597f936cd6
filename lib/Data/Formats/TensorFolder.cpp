// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading folders of tensors. Nothing that an index says is trusted: its sum
// tells damage, not who wrote it.
#include "meshloom/Data/TensorFolder.h"

#include "meshloom/API/NameScope.h"

#include "TensorFolderFormat.h"

#include "meshloom/API/Shards.h"
#include "meshloom/Core/TensorSize.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/FileKind.h"
#include "meshloom/Support/Json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace meshloom::data {

using nlohmann::json;
namespace fs = std::filesystem;

json indexOf(const std::string &text, const std::string &path) {
  auto damaged = [&](const std::string &why) {
    return Error(fmt::format("[TensorFolder] '{}' is damaged: {}", path, why),
                 ErrorCode::DATA_LOSS);
  };
  Result<json> parsed = parseJson(text);
  if (!parsed)
    damaged(parsed.error().message() + kindHint(text)).raise();
  json &index = *parsed;
  if (!index.is_object() || index.value("format", json()) != folderFormat)
    damaged("it is not an index of a folder of tensors").raise();
  if (index.value("version", json()) != folderVersion)
    Error(fmt::format("[TensorFolder] '{}' is of version {}, this "
                      "Meshloom reads {}",
                      path, index.value("version", json()).dump(),
                      folderVersion))
        .raise();
  const json sum = index.value("checksum", json());
  index.erase("checksum");
  if (sum != checksum(index.dump(1)))
    damaged("its contents do not have its checksum").raise();
  return std::move(index);
}

namespace {

struct Entry {
  StoredTensor stored;
  std::vector<StoredShard> shards;
};

/// Copies what `from` and `to` have in common between their elements.
void copyCommon(const Box &from, const char *source, const Box &to,
                char *destination, size_t width) {
  const Box common = from.intersect(to);
  if (common.empty())
    return;
  const size_t rank = common.extent.size();
  if (rank == 0) {
    std::memcpy(destination, source, width);
    return;
  }
  auto place = [&](const Box &box, const std::vector<int64_t> &index) {
    int64_t element = 0;
    for (size_t dim = 0; dim < rank; ++dim)
      element = element * box.extent[dim] + (index[dim] - box.offset[dim]);
    return size_t(element) * width;
  };
  const size_t row = size_t(common.extent[rank - 1]) * width;
  std::vector<int64_t> index = common.offset;
  for (;;) {
    std::memcpy(destination + place(to, index), source + place(from, index),
                row);
    size_t dim = rank - 1;
    while (dim-- > 0) {
      if (++index[dim] < common.offset[dim] + common.extent[dim])
        break;
      index[dim] = common.offset[dim];
    }
    if (dim == size_t(-1))
      return;
  }
}

/// Returns whether two boxes have an element in common. Takes n log n steps
/// where boxes follow each other along the first dim.
bool haveCommon(std::vector<const Box *> boxes) {
  std::erase_if(boxes, [](const Box *box) { return box->empty(); });
  if (boxes.size() < 2 || boxes.front()->offset.empty())
    return boxes.size() > 1;
  std::ranges::sort(boxes, {}, [](const Box *box) { return box->offset; });
  for (size_t i = 0; i < boxes.size(); ++i) {
    const int64_t end = boxes[i]->offset[0] + boxes[i]->extent[0];
    for (size_t j = i + 1; j < boxes.size() && boxes[j]->offset[0] < end; ++j)
      if (!boxes[i]->intersect(*boxes[j]).empty())
        return true;
  }
  return false;
}

/// Throws where numbers do not fit; json::exception where they are none.
Entry entryOf(const json &entry) {
  Entry parsed;
  const auto type = parseDType(entry.at("dtype").get<std::string>());
  if (!type)
    Error("its type is unknown", ErrorCode::DATA_LOSS).raise();
  parsed.stored = {*type, entry.at("shape").get<Shape>(),
                   entry.at("layout").get<std::string>()};
  const Shape &shape = parsed.stored.shape;
  if (std::ranges::any_of(shape, [](int64_t n) { return n < 0; }) ||
      !tensorBytes(shape, *type))
    Error(fmt::format("its shape is [{}]", fmt::join(shape, ", ")),
          ErrorCode::DATA_LOSS)
        .raise();
  const Box whole = Box::whole(shape);
  int64_t covered = 0;
  for (const json &shard : entry.at("shards")) {
    StoredShard part{
        {shard.at("offset").get<Shape>(), shard.at("extent").get<Shape>()},
        shard.at("file").get<std::string>(),
        shard.at("at").get<uint64_t>(),
        shard.at("crc32").get<std::string>()};
    const Box &box = part.box;
    bool fits =
        box.offset.size() == shape.size() && box.extent.size() == shape.size();
    for (size_t dim = 0; fits && dim < shape.size(); ++dim)
      fits = box.offset[dim] >= 0 && box.extent[dim] >= 0 &&
             box.offset[dim] <= shape[dim] &&
             box.extent[dim] <= shape[dim] - box.offset[dim];
    if (!fits)
      Error("a shard is outside of the tensor", ErrorCode::DATA_LOSS).raise();
    if (fs::path(part.file).filename() != part.file)
      Error(fmt::format("a shard is in '{}', which is not the name of a "
                        "file in the folder",
                        part.file))
          .raise();
    covered += whole.intersect(box).count();
    parsed.shards.push_back(std::move(part));
  }
  if (covered != elementCount(shape))
    Error("its shards do not cover it", ErrorCode::DATA_LOSS).raise();
  std::vector<const Box *> boxes;
  boxes.reserve(parsed.shards.size());
  for (const StoredShard &shard : parsed.shards)
    boxes.push_back(&shard.box);
  if (haveCommon(std::move(boxes)))
    Error("two of its shards have elements in common", ErrorCode::DATA_LOSS)
        .raise();
  return parsed;
}

} // namespace

struct TensorFolder::State {
  fs::path path;
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::vector<StoredShard>> shards;
  std::map<std::string, std::string> notes;

  std::vector<char> bytesOf(const std::string &name,
                            const StoredShard &shard) const {
    const fs::path file = path / shard.file;
    auto damaged = [&](const std::string &why) {
      return Error(fmt::format("[TensorFolder] '{}' is damaged: tensor '{}': "
                               "{}",
                               file.string(), name, why),
                   ErrorCode::DATA_LOSS);
    };
    std::error_code error;
    const uint64_t size = fs::file_size(file, error);
    if (error)
      damaged(error.message()).raise();
    const uint64_t needed =
        uint64_t(shard.box.count()) * byteWidth(tensors.at(name).dtype);
    if (shard.offset > size || needed > size - shard.offset)
      damaged(fmt::format("its {} bytes from byte {} on do not fit into "
                          "the file's {}",
                          needed, shard.offset, size))
          .raise();
    std::vector<char> bytes(needed);
    if (Status read = readFileAt(file.string(), shard.offset, bytes); !read)
      damaged(read.error().message()).raise();
    if (std::string sum = checksum(bytes); sum != shard.sum)
      damaged(fmt::format("its checksum is {}, not {}", sum, shard.sum))
          .raise();
    return bytes;
  }
};

bool is_tensor_folder(const fs::path &path) {
  std::error_code ignored;
  return fs::is_regular_file(path / indexName, ignored);
}

/// Why a path is none. A file that somebody takes for one is named by its kind.
static std::string noFolder(const fs::path &path) {
  const std::string text = fmt::format(
      "[TensorFolder] '{}' is not a folder of tensors: ", path.string());
  if (std::error_code ignored; !fs::is_regular_file(path, ignored))
    return text + fmt::format("there is no '{}'", (path / indexName).string());
  std::string hint;
  if (const Result<RegularFile> file = RegularFile::open(path.string())) {
    std::array<char, 512> first{};
    if (const Result<size_t> count = file->readAt(0, first))
      hint = kindHint({first.data(), *count});
  }
  return text + "it is a file" + hint;
}

TensorFolder::TensorFolder(const fs::path &path, std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    auto contents = std::make_shared<State>();
    contents->path = path;
    const std::string file = (path / indexName).string();
    if (!is_tensor_folder(path))
      Error(noFolder(path), ErrorCode::NOT_FOUND).raise();
    const json index = indexOf(readFile(file).value_or_throw(), file);
    std::string name;
    try {
      for (const auto &[note, value] : index.at("notes").items())
        contents->notes.emplace(note, value.dump());
      for (const auto &[tensor, entry] : index.at("tensors").items()) {
        name = tensor;
        Entry parsed = entryOf(entry);
        contents->tensors.emplace(tensor, std::move(parsed.stored));
        contents->shards.emplace(tensor, std::move(parsed.shards));
      }
    } catch (const std::exception &error) {
      Error(fmt::format("[TensorFolder] '{}' is damaged: tensor '{}': {}", file,
                        name, error.what()),
            ErrorCode::DATA_LOSS)
          .raise();
    }
    state = std::move(contents);
  });
}

const fs::path &TensorFolder::path() const {
  return state->path;
}
const std::map<std::string, StoredTensor> &TensorFolder::tensors() const {
  return state->tensors;
}
const std::map<std::string, std::string> &TensorFolder::notes() const {
  return state->notes;
}

Tensor TensorFolder::read(const std::string &name,
                          const std::optional<Layout> &layout,
                          std::source_location where) const {
  return meshloom::detail::atLine(where, [&] {
    auto found = state->tensors.find(name);
    if (found == state->tensors.end())
      Error(fmt::format("[TensorFolder] '{}' has no tensor '{}'",
                        state->path.string(), name),
            ErrorCode::NOT_FOUND)
          .raise();
    const auto &[type, shape, written] = found->second;
    if (layout && layout->rank() != shape.size())
      Error(fmt::format("[TensorFolder] tensor '{}' of '{}' is [{}], the "
                        "layout {} is of rank {}",
                        name, state->path.string(), fmt::join(shape, ", "),
                        layout->spec_string(), layout->rank()))
          .raise();

    // Devices that hold the same share its bytes.
    const Layout cut = layout ? layout->without_partial()
                              : Layout::replicated(*Mesh::get({{"d", 1}}),
                                                   unsigned(shape.size()));
    std::vector<std::pair<Box, std::vector<char>>> blocks;
    std::vector<size_t> blockOf;
    const size_t width = byteWidth(type);
    for (int64_t id : cut.mesh().local_device_ids()) {
      const Box box = cut.shard(shape, id - cut.mesh().min_global_device_id());
      size_t block = 0;
      while (block < blocks.size() && !(blocks[block].first == box))
        ++block;
      if (block == blocks.size())
        blocks.emplace_back(box, size_t(box.count()) * width);
      blockOf.push_back(block);
    }
    for (const StoredShard &shard : state->shards.at(name)) {
      const bool isWanted = std::ranges::any_of(blocks, [&](const auto &block) {
        return !block.first.intersect(shard.box).empty();
      });
      if (!isWanted)
        continue;
      const std::vector<char> bytes = state->bytesOf(name, shard);
      for (auto &[box, destination] : blocks)
        copyCommon(shard.box, bytes.data(), box, destination.data(), width);
    }
    if (!layout)
      return meshloom::detail::hostTensorOf(type, shape, blocks.front().second);
    std::vector<meshloom::detail::ShardView> parts;
    parts.reserve(blockOf.size());
    for (size_t block : blockOf)
      parts.push_back({blocks[block].first.extent, blocks[block].second});
    return meshloom::detail::tensorOfShards(type, shape, cut, parts);
  });
}

} // namespace meshloom::data
