// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Data/Idx.h"

#include "IdxFormat.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/Support/File.h"

using namespace meshloom;
using namespace meshloom::data;

IdxArray data::parse_idx(std::string_view bytes, std::string_view name,
                         std::source_location where) {
  return meshloom::detail::atLine(where, [&] { return parseIdx(bytes, name); });
}

IdxArray data::read_idx(const std::filesystem::path &path,
                        std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    Result<std::string> bytes = readFile(path.string());
    if (!bytes)
      bytes.error()
          .withMessage("[read_idx] " + bytes.error().message())
          .raise();
    return parseIdx(*bytes, path.string());
  });
}

void data::write_idx(const std::filesystem::path &path, const IdxArray &array,
                     std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    const std::string file = bytesOfIdx(array, path.string());
    if (Status ok = writeFile(path.string(), file); !ok)
      ok.error().withMessage("[write_idx] " + ok.error().message()).raise();
  });
}
