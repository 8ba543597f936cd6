// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding and loading plug-ins, and what happens to those that are not right.
#include "PluginsForTests.h"

#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace meshloom;
using namespace meshloom::pjrt;
using namespace meshloom::test;
using testing::HasSubstr;

namespace {
/// The error that loading our plug-in with that fault ends with.
std::string loadError(const std::string &fault) {
  FaultyCopy copy;
  auto plugin = copy.load(fault);
  EXPECT_FALSE(plugin) << fault;
  return plugin ? "" : plugin.error().message();
}

// ---- Finding

// A name that looks like a path is one, even where a variable names a plug-in
// so.
TEST(FindPluginTest, PathsAreTakenAsTheyAre) {
  ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS", "a.so:/x/a.so");
  EXPECT_EQ(*findPlugin("/y/b"), "/y/b");
  EXPECT_EQ(*findPlugin("a.so"), "a.so");
}

// Names are looked up in both variables; the first of them goes first.
TEST(FindPluginTest, NamesComeFromTheEnvironment) {
  ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS",
                       "cpu:/x/cpu.so,tpu:/x/tpu.so");
  ScopedVariable tpu("TPU_LIBRARY_PATH", "/y/libtpu.so");
  EXPECT_EQ(*findPlugin("cpu"), "/x/cpu.so");
  EXPECT_EQ(*findPlugin("tpu"), "/x/tpu.so");
  ScopedVariable none("PJRT_NAMES_AND_LIBRARY_PATHS", nullptr);
  EXPECT_EQ(*findPlugin("tpu"), "/y/libtpu.so");
  // The only one needs no name.
  EXPECT_EQ(*findPlugin(""), "/y/libtpu.so");
}

// The error says what was looked for, where, and what to do.
TEST(FindPluginTest, MissingPluginErrorNamesThePlacesSearched) {
  ScopedVariable tpu("TPU_LIBRARY_PATH", nullptr);
  {
    ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS", "cpu:/x/cpu.so");
    EXPECT_EQ(findPlugin("gpu").error().message(),
              "there is no PJRT plug-in named 'gpu': "
              "PJRT_NAMES_AND_LIBRARY_PATHS names cpu (/x/cpu.so); "
              "TPU_LIBRARY_PATH is not set. Give its path, as in "
              "pjrt:/path/to/plugin.so, or set "
              "PJRT_NAMES_AND_LIBRARY_PATHS=NAME:PATH");
  }
  {
    ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS", "a:/x/a,b:/x/b");
    EXPECT_THAT(findPlugin("").error().message(),
                HasSubstr("there are several PJRT plug-ins"));
  }
  ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS", nullptr);
  EXPECT_THAT(findPlugin("").error().message(),
              HasSubstr("there is no PJRT plug-in: "));
}

// A list that cannot be read is an error, not an empty list.
TEST(FindPluginTest, MalformedListsAreErrors) {
  for (auto [list, part] :
       {std::pair{"cpu", "'cpu' in it is not name:path"},
        std::pair{"a:/x,:/y", "':/y' in it is not name:path"},
        std::pair{"a:/x,,b:/y", "'' in it is not name:path"},
        std::pair{"a:", "'a:' in it is not name:path"},
        std::pair{"a:/x,a:/y", "names the plug-in 'a' twice"}}) {
    ScopedVariable names("PJRT_NAMES_AND_LIBRARY_PATHS", list);
    auto plugins = namedPlugins();
    ASSERT_FALSE(plugins) << list;
    EXPECT_THAT(plugins.error().message(), HasSubstr(part));
  }
}

// ---- Loading

TEST(PluginTest, MissingFileIsNamed) {
  EXPECT_EQ(Plugin::load("/nowhere/plugin.so").error().message(),
            "there is no PJRT plug-in at '/nowhere/plugin.so': No such file or "
            "directory");
}

TEST(PluginTest, FileThatIsNoLibraryIsAnError) {
  EXPECT_THAT(Plugin::load(__FILE__).error().message(),
              HasSubstr("cannot load the PJRT plug-in"));
}

TEST(PluginTest, LibraryWithoutTheFunctionIsAnError) {
  EXPECT_THAT(
      Plugin::load(MESHLOOM_NO_PLUGIN_PATH).error().message(),
      HasSubstr("is not a PJRT plug-in: it has no function GetPjrtApi"));
}

// Also by another name of the file, and from several threads.
TEST(PluginTest, FileIsLoadedOnce) {
  FaultyCopy copy;
  const std::filesystem::path path = copy.path();
  const std::string other =
      (path.parent_path() / "." / path.filename()).string();
  std::vector<const Plugin *> plugins(6);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < plugins.size(); ++i)
    threads.emplace_back([&, i] {
      plugins[i] = Plugin::load(i % 2 ? other : copy.path()).value_or_throw();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Plugin *plugin : plugins)
    EXPECT_EQ(plugin, plugins[0]);
  EXPECT_NE(plugins[0], &faultyPlugin());
}

// Before a TPU's plug-in is loaded, whatever was set.
TEST(PluginTest, TpusNeverAskTheMetadataService) {
  ScopedVariable variable("TPU_SKIP_MDS_QUERY", "0");
  FaultyCopy copy;
  const std::string path = copy.path() + ".libtpu.so";
  std::filesystem::copy_file(copy.path(), path);
  EXPECT_TRUE(copy.load(""));
  EXPECT_STREQ(std::getenv("TPU_SKIP_MDS_QUERY"), "0");
  EXPECT_TRUE(Plugin::load(path));
  EXPECT_STREQ(std::getenv("TPU_SKIP_MDS_QUERY"), "1");
  std::filesystem::remove(path);
}

TEST(PluginTest, VersionAndAttributesAreRead) {
  EXPECT_EQ(faultyPlugin().version().to_string(), "0.114");
  Attributes attributes = faultyPlugin().attributes().value_or_throw();
  EXPECT_EQ(std::get<int64_t>(attributes.at("xla_version")), 2);
  EXPECT_THAT(std::get<std::vector<int64_t>>(
                  attributes.at("stablehlo_current_version")),
              testing::ElementsAre(1, 13, 3));
}

TEST(PluginTest, OldVersionIsRefused) {
  EXPECT_THAT(loadError("version"),
              HasSubstr("has version 0.57 of the C API; Meshloom knows 0.68 "
                        "and newer ones that begin with 0: take a newer "
                        "plug-in"));
  EXPECT_THAT(loadError("major"), HasSubstr("has version 1.114 of the C API"));
}

// Tables that are not what they say are not read further.
TEST(PluginTest, WrongTableIsRefused) {
  EXPECT_THAT(loadError("no-table"),
              HasSubstr("returns no table of functions"));
  EXPECT_THAT(loadError("odd-table"),
              HasSubstr("its table of functions has 1147 bytes"));
  EXPECT_THAT(loadError("old-version-struct"), HasSubstr("its version is 8"));
  EXPECT_THAT(loadError("small-table"),
              HasSubstr("has version 0.114 of the C API, but has 80 "
                        "functions"));
  EXPECT_THAT(loadError("null-slot"),
              HasSubstr("has no function PJRT_LoadedExecutable_Execute, which "
                        "Meshloom needs"));
}

TEST(PluginTest, FailingStartIsReported) {
  EXPECT_THAT(loadError("initialize"),
              testing::AllOf(HasSubstr("cannot start working with the PJRT "
                                       "plug-in '"),
                             HasSubstr("': INTERNAL: no cooling water")));
}

TEST(PluginTest, AttributesOfAnotherSizeAreRefused) {
  FaultyCopy copy;
  const Plugin *plugin = copy.load("").value_or_throw();
  ScopedVariable variable("MESHLOOM_FAULTY_PLUGIN", "attribute-size");
  EXPECT_THAT(plugin->attributes().error().message(),
              HasSubstr("has attributes of 64 bytes; Meshloom knows those of "
                        "56"));
}

// A function that only newer plug-ins have is missed when it is needed.
TEST(PluginTest, MissingFunctionIsAnErrorOfItsUse) {
  capi::Block arguments;
  Status called = faultyPlugin().call(capi::Slot::TopologyDescription_Create,
                                      arguments, "describe machines");
  ASSERT_FALSE(called);
  EXPECT_THAT(called.error().message(),
              HasSubstr("it has no function PJRT_TopologyDescription_Create "
                        "(version 0.114 of the C API)"));
}

// ---- Small parts

TEST(NamedValuesTest, EveryKindComesBack) {
  const Attributes attributes = {{"bool", true},
                                 {"float", 0.25f},
                                 {"int", int64_t(-7)},
                                 {"list", std::vector<int64_t>{1, 2, 3}},
                                 {"text", std::string("v5e:2x4")}};
  NamedValues values(attributes);
  EXPECT_EQ(*readNamedValues(faultyPlugin(), values.data(), values.size()),
            attributes);
}

TEST(ClientOptionsTest, OptionsComeFromTheEnvironmentVariable) {
  ScopedVariable variable(
      "MESHLOOM_PJRT_OPTIONS",
      "preallocate=false,memory_fraction=0.5,count=12,"
      "visible_devices=[0,2],none=[],name=a=b,odd=[1;2],x=1.0");
  const Result<Attributes> options = clientOptions();
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(*options,
            (Attributes{{"preallocate", false},
                        {"memory_fraction", 0.5F},
                        {"count", int64_t(12)},
                        {"visible_devices", std::vector<int64_t>{0, 2}},
                        {"none", std::vector<int64_t>{}},
                        {"name", std::string("a=b")},
                        {"odd", std::string("[1;2]")},
                        {"x", 1.0F}}));
}

TEST(ClientOptionsTest, SayWhichEntryIsWrong) {
  auto message = [](const char *text) {
    ScopedVariable variable("MESHLOOM_PJRT_OPTIONS", text);
    const Result<Attributes> options = clientOptions();
    return options ? "" : options.error().message();
  };
  EXPECT_EQ(message(""), "");
  for (const char *entry : {"preallocate", "=1", "a="})
    EXPECT_EQ(message((std::string("b=1,") + entry).c_str()),
              fmt::format("MESHLOOM_PJRT_OPTIONS must be a list as in "
                          "'preallocate=false,memory_fraction=0.5'; '{}' in it "
                          "is not name=value",
                          entry));
  EXPECT_EQ(message("a=1,a=2"), "MESHLOOM_PJRT_OPTIONS gives 'a' twice");
}

// The bytes that the measured plug-ins accepted.
TEST(CompileOptionsTest, EncodingIsProtocolBuffers) {
  auto hex = [](const std::string &bytes) {
    std::string text;
    for (unsigned char byte : bytes) {
      constexpr char digits[] = "0123456789abcdef";
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
    return text;
  };
  EXPECT_EQ(hex(CompileOptions{1, {}}.encode()), "1a0420012801");
  EXPECT_EQ(hex(CompileOptions{8, {0, 1, 2, 3, 4, 5, 6, 7}}.encode()),
            "1a16200828014a10080810011a0a0a080001020304050607");
  EXPECT_EQ(hex(CompileOptions{1, {}, {"a"}}.encode()),
            "1a04200128013a070a016112021000");
  // 300 takes two bytes, and so does the length of 300 ids.
  std::vector<int64_t> ids(300);
  const std::string many = CompileOptions{300, ids}.encode();
  EXPECT_EQ(hex(many).substr(0, 16), "1abf0220ac022801");
}

TEST(ErrorCodeTest, CodesHaveNames) {
  EXPECT_EQ(errorCodeName(3), "INVALID_ARGUMENT");
  EXPECT_EQ(errorCodeName(8), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(errorCodeName(99), "an unknown error");
}
} // namespace
