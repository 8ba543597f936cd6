// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of tensors: any layout is read as any other, others can read the
// files, and damage is named. FileFaultsTest.cpp has crashes and errors.
#include "meshloom/Data/TensorFolder.h"

#include "../TemporaryFolder.h"
#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;
using TensorFolderTest = meshloom::test::TemporaryFolderTest;

namespace {
Mesh mesh24() {
  return create_mesh({{"x", 2}, {"y", 4}}, virtual_cpus(8));
}

// Whatever it was written as, it is read as anything, and type by type.
TEST_F(TensorFolderTest, AnyLayoutIsReadAsAnyOther) {
  Mesh mesh = mesh24(), line = create_mesh({{"i", 3}}, virtual_cpus(3));
  const std::vector<std::optional<Layout>> layouts = {
      std::nullopt,
      Layout({"x", "y"}, mesh),
      Layout({UNSHARDED, Axes{"y", "x"}}, mesh),
      Layout({"y", UNSHARDED}, mesh),
      Layout::replicated(mesh, 2),
      Layout({"i", UNSHARDED}, line),
  };
  for (DType type :
       {DType::F32, DType::F64, DType::BF16, DType::F16, DType::I1, DType::I8,
        DType::I64, DType::UI16, DType::C64, DType::C128}) {
    const Tensor host = cast(
        iota({5, 7}, 0, DType::I32) * 7 + iota({5, 7}, 1, DType::I32), type);
    data::FolderContents contents;
    for (size_t i = 0; i < layouts.size(); ++i)
      contents.tensors.emplace(
          std::to_string(i), layouts[i] ? distribute(host, *layouts[i]) : host);
    data::write_tensor_folder(folder / "w", contents);
    data::TensorFolder read(folder / "w");
    for (size_t i = 0; i < layouts.size(); ++i)
      for (const std::optional<Layout> &layout : layouts) {
        Tensor back = read.read(std::to_string(i), layout);
        EXPECT_EQ(is_dtensor(back), layout.has_value());
        if (layout)
          EXPECT_EQ(back.layout(), *layout);
        EXPECT_TRUE(bool(
            reduce_all(equal(layout ? distribute(host, *layout) : host, back))))
            << name(type) << " " << i;
      }
    EXPECT_EQ(read.tensors().at("1").layout, layouts[1]->to_string());
    EXPECT_EQ(read.tensors().at("0").layout, "");
  }
}

// Scalars and tensors without elements; a pending sum is done.
TEST_F(TensorFolderTest, ScalarsEmptyOnesAndSums) {
  Mesh mesh = mesh24();
  Tensor sum = distribute(full({2}, 3),
                          Layout({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}}));
  data::write_tensor_folder(
      folder / "w", {{{"scalar", distribute(tensor(2.5f), Layout({}, mesh))},
                      {"empty", zeros({0, 3})},
                      {"sum", sum}},
                     {{"list", "[1, 2]"}}});
  data::TensorFolder read(folder / "w");
  EXPECT_EQ(read.read("scalar").item<float>(), 2.5f);
  EXPECT_EQ(read.read("empty").shape(), (Shape{0, 3}));
  EXPECT_EQ(read.read("sum").to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(read.notes().at("list"), "[1,2]");
}

// Devices share the work: a block that several hold is written once.
TEST_F(TensorFolderTest, ReplicasAreWrittenOnce) {
  Mesh mesh = mesh24();
  const Tensor value = ones({256, 4});
  data::write_tensor_folder(
      folder / "w",
      {{{"cut", distribute(value, Layout({"x", UNSHARDED}, mesh))},
        {"whole", distribute(value, Layout::replicated(mesh, 2))}},
       {}});
  uintmax_t bytes = 0;
  data::NamedTensors tensors;
  for (const auto &entry : std::filesystem::directory_iterator(folder / "w"))
    if (entry.path().extension() == ".safetensors") {
      bytes += entry.file_size();
      tensors.merge(data::load_safetensors(entry.path()));
    }
  EXPECT_LT(bytes, 2u * 4096 + 1024);
  EXPECT_THAT(tensors,
              testing::UnorderedElementsAre(testing::Key("cut[0:128, 0:4]"),
                                            testing::Key("cut[128:256, 0:4]"),
                                            testing::Key("whole")));
}

// The safetensors package of Python reads what we write.
TEST_F(TensorFolderTest, PythonReadsIt) {
  const std::string python = MESHLOOM_PYTHON;
  if (std::system(
          (python + " -c 'import safetensors, numpy' 2>/dev/null").c_str()) !=
      0)
    GTEST_SKIP() << python << " has no package safetensors";
  Mesh mesh = mesh24();
  data::write_tensor_folder(folder / "w",
                            {{{"a", distribute(iota({4, 3}, 0, DType::F32),
                                               Layout({"x", UNSHARDED}, mesh))},
                              {"flags", tensor({true, false, true})},
                              {"z", tensor({std::complex<float>(1, 2)})}},
                             {}});
  write("read.py", R"(
import glob, sys
import numpy as np
from safetensors.numpy import load_file
found = {}
for path in glob.glob(sys.argv[1] + "/*.safetensors"):
    found.update(load_file(path))
assert sorted(found) == ["a[0:2, 0:3]", "a[2:4, 0:3]", "flags", "z"], found
assert found["a[2:4, 0:3]"].tolist() == [[2] * 3, [3] * 3]
assert found["flags"].tolist() == [True, False, True]
assert found["z"].tolist() == [[1, 2]]
)");
  EXPECT_EQ(std::system((python + " " + (folder / "read.py").string() + " " +
                         (folder / "w").string())
                            .c_str()),
            0);
}

// A changed, cut or missing file is an error with its name and the tensor's.
TEST_F(TensorFolderTest, DamageIsNamed) {
  auto fresh = [&] {
    std::filesystem::remove_all(folder / "w");
    data::write_tensor_folder(folder / "w", {{{"a", ones({8})}}, {}});
    for (const auto &entry : std::filesystem::directory_iterator(folder / "w"))
      if (entry.path().extension() == ".safetensors")
        return "w/" + entry.path().filename().string();
    return std::string();
  };
  auto readAll = [&] { data::TensorFolder(folder / "w").read("a"); };
  std::string file = fresh();
  std::string bytes = read(file);
  bytes.back() ^= 1;
  write(file, bytes);
  EXPECT_THAT(refusal(readAll), AllOf(HasSubstr(file), HasSubstr("tensor 'a'"),
                                      HasSubstr("checksum")));
  write(file, bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(refusal(readAll), AllOf(HasSubstr(file), HasSubstr("tensor 'a'"),
                                      HasSubstr("do not fit")));
  std::filesystem::remove(folder / file);
  EXPECT_THAT(refusal(readAll), AllOf(HasSubstr(file), HasSubstr("No such")));
  file = fresh();
  std::string index = read("w/index.json");
  write("w/index.json", index.substr(0, index.size() / 2));
  EXPECT_THAT(refusal(readAll), HasSubstr("index.json' is damaged"));
  index[index.find("ones") == std::string::npos ? index.size() / 2 : 0] ^= 1;
  write("w/index.json", index);
  EXPECT_THAT(refusal(readAll), HasSubstr("index.json' is damaged"));
  EXPECT_THAT(refusal([&] { data::TensorFolder(folder / "none"); }),
              HasSubstr("not a folder of tensors"));
  write("pointer", "version https://git-lfs.github.com/spec/v1\noid 0\n");
  EXPECT_THAT(
      refusal([&] { data::TensorFolder(folder / "pointer"); }),
      HasSubstr("not a folder of tensors: it is a file; it is a Git LFS "
                "pointer"));
  write("w/index.json", read("pointer"));
  EXPECT_THAT(refusal(readAll), HasSubstr("it is a Git LFS pointer"));
  fresh();
  EXPECT_THAT(refusal([&] { data::TensorFolder(folder / "w").read("b"); }),
              HasSubstr("no tensor 'b'"));
}

// An index with a right checksum may say anything: shards that overlap leave
// elements that none has.
TEST_F(TensorFolderTest, IndexesThatContradictThemselvesAreRefused) {
  data::write_tensor_folder(folder / "w", {{{"a", ones({4})}}, {}});
  const nlohmann::json whole = nlohmann::json::parse(read("w/index.json"));
  auto errorOf = [&](auto change) {
    nlohmann::json index = whole;
    change(index["tensors"]["a"]["shards"]);
    index.erase("checksum");
    const std::string text = index.dump(1);
    index["checksum"] = fmt::format(
        "{:08x}",
        crc32_z(0, reinterpret_cast<const Bytef *>(text.data()), text.size()));
    write("w/index.json", index.dump(1));
    return refusal([&] { data::TensorFolder(folder / "w"); });
  };
  EXPECT_THAT(errorOf([](nlohmann::json &shards) {
                shards.push_back(shards[0]);
                for (nlohmann::json &shard : shards)
                  shard["extent"] = {2};
              }),
              HasSubstr("tensor 'a': two of its shards have elements"));
  EXPECT_THAT(
      errorOf([](nlohmann::json &shards) { shards[0]["extent"] = {3}; }),
      HasSubstr("do not cover it"));
  EXPECT_THAT(
      errorOf([](nlohmann::json &shards) { shards[0]["offset"] = {1}; }),
      HasSubstr("a shard is outside"));
  EXPECT_THAT(
      errorOf([](nlohmann::json &shards) { shards[0]["file"] = "../x"; }),
      HasSubstr("'../x', which is not the name of a file in the folder"));
  write("w/index.json", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(refusal([&] { data::TensorFolder(folder / "w"); }),
              HasSubstr("Git LFS pointer"));
}

// A file that cannot be written is refused, and the one that was there stays.
TEST_F(TensorFolderTest, RefusesWhatItCannotWrite) {
  write("file", "text");
  EXPECT_THAT(refusal([&] { data::write_tensor_folder(folder / "file", {}); }),
              HasSubstr("something else"));
  EXPECT_EQ(read("file"), "text");
  EXPECT_THAT(refusal([&] { data::write_tensor_folder("", {}); }),
              HasSubstr("got an empty one"));
  EXPECT_THAT(refusal([&] {
                data::write_tensor_folder(folder / "w", {{}, {{"n", "{"}}});
              }),
              HasSubstr("not JSON"));
  EXPECT_FALSE(std::filesystem::exists(folder / "w"));
  EXPECT_THAT(
      refusal([&] {
        data::write_tensor_folder(
            folder / "w", {{{"a", ones({2})}, {"a[0:1]", ones({1})}}, {}});
        Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
        data::write_tensor_folder(
            folder / "w", {{{"a", distribute(ones({2}), Layout({"x"}, mesh))},
                            {"a[0:1]", ones({1})}},
                           {}});
      }),
      HasSubstr("would be called 'a[0:1]'"));
  EXPECT_EQ(data::TensorFolder(folder / "w").read("a").size(), 2);
}

} // namespace
