// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of tests: empty at the start, gone at the end, and nobody else's,
// however many run the same test at once.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace meshloom::test {

/// A folder that is there as long as this is.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "meshloom-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("no folder " + name + " can be made");
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::filesystem::path operator/(const std::string &name) const {
    return path / name;
  }

  std::filesystem::path path;
};

/// A test that has one.
class TemporaryFolderTest : public testing::Test {
protected:
  void write(const std::string &name, const std::string &bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  std::string read(const std::string &name) {
    std::ifstream file(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

private:
  const TemporaryFolder temporary;

protected:
  const std::filesystem::path folder = temporary.path;
};

/// The message of the Error that `action` throws.
template <typename Action> std::string refusal(Action action) {
  try {
    action();
  } catch (const std::exception &error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

} // namespace meshloom::test
