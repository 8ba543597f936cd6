// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kinds of files by their first bytes; see FileKind.h.
#include "meshloom/Support/FileKind.h"

#include <algorithm>
#include <cctype>

namespace meshloom {
namespace {

struct FileKind {
  std::string_view mark; ///< the file begins with it
  std::string_view hint;
};

constexpr std::string_view lfsHint =
    "it is a Git LFS pointer and not the file itself: 'git lfs pull' brings "
    "the file";
constexpr std::string_view pageHint =
    "it is a web page and not the file itself: download it from an address "
    "that leads to its bytes";
constexpr std::string_view torchHint =
    "it is a PyTorch file of torch.save: write it with "
    "safetensors.torch.save_file instead";

constexpr std::string_view kerasHint =
    "it is a .keras file of Keras: its model comes as model.to_json(), which "
    "model_from_json reads, and its weights as safetensors or .npz, which "
    "load_keras_weights reads";

constexpr FileKind kinds[] = {
    {"version https://git-lfs.github.com/spec/", lfsHint},
    {"\x80\x02", torchHint},
    {"\x80\x03", torchHint},
    {"\x80\x04", torchHint},
    {"\x80\x05", torchHint},
    {"\x89HDF\r\n", "it is an HDF5 file, as Keras's .h5 are: write weights as "
                    "safetensors or .npz, which load_keras_weights reads"},
    {"\x93NUMPY", "it is a .npy file, which load_npy reads"},
    {"PK\3\4", "it is a zip archive, as .npz files are"},
    {"\x1f\x8b", "it is packed by gzip: unpack it first"},
    {"BZh", "it is packed by bzip2: unpack it first"},
    {"\xfd"
     "7zXZ",
     "it is packed by xz: unpack it first"},
    {"\x28\xb5\x2f\xfd", "it is packed by zstd: unpack it first"},
    {"GGUF", "it is a GGUF file"},
    {"%PDF", "it is a PDF document"},
    {"\x89PNG", "it is a PNG image"},
    {"\xff\xd8\xff", "it is a JPEG image"},
    {"MLCACHE", "it is an entry of Meshloom's cache of compiled programs"},
};

/// A web page, whose tags may be of either case, behind blanks and a mark of
/// UTF-8.
bool isWebPage(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF"))
    bytes.remove_prefix(3);
  const auto blank = [](char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
  };
  const auto *begin = std::ranges::find_if_not(bytes, blank);
  std::string head(begin, std::min(begin + 16, bytes.end()));
  std::ranges::transform(head, head.begin(),
                         [](unsigned char c) { return char(std::tolower(c)); });
  return head.starts_with("<!doctype html") || head.starts_with("<html") ||
         head.starts_with("<head") || head.starts_with("<?xml");
}

/// The first member's name of a zip archive, and some bytes behind it; empty:
/// the bytes begin no zip archive.
std::string_view firstMember(std::string_view bytes) {
  constexpr size_t nameBegin = 30, longestName = 256;
  return bytes.starts_with("PK\3\4") && bytes.size() > nameBegin
             ? bytes.substr(nameBegin, longestName)
             : std::string_view();
}

/// torch.save writes a zip archive whose first member is "NAME/data.pkl".
bool isTorchArchive(std::string_view bytes) {
  return firstMember(bytes).find("/data.pkl") != std::string_view::npos;
}

/// Keras writes a zip archive that begins with its version.
bool isKerasArchive(std::string_view bytes) {
  return firstMember(bytes).starts_with("metadata.json");
}

} // namespace

std::string kindHint(std::string_view bytes) {
  std::string_view hint;
  if (bytes.empty())
    hint = "it is empty";
  else if (isWebPage(bytes))
    hint = pageHint;
  else if (isTorchArchive(bytes))
    hint = torchHint;
  else if (isKerasArchive(bytes))
    hint = kerasHint;
  else
    for (const FileKind &kind : kinds)
      if (bytes.starts_with(kind.mark)) {
        hint = kind.hint;
        break;
      }
  return hint.empty() ? std::string() : "; " + std::string(hint);
}

} // namespace meshloom
