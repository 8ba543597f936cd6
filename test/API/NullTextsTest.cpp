// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A text that is a null pointer is an Error that says what was expected, and
// not the standard library's logic_error. (nullptr itself does not compile:
// check_diagnostics.py.)
#include "Testing.h"

#include "meshloom/Data/Files.h"

#include <filesystem>

namespace meshloom {
namespace {

const char *none = nullptr;

TEST(NullTextsTest, NamesOfAxesAndDevices) {
  const Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  EXPECT_ERROR(Layout({"x", none}, mesh), HAS("UNSHARDED"));
  EXPECT_ERROR(AxisNames({"x", none}), HAS("axis"));
  EXPECT_ERROR(DeviceSpec{none}, HAS("CPU:0"));
}

TEST(NullTextsTest, NamesOfWays) {
  EXPECT_ERROR(Padding{none}, HAS("VALID"));
  EXPECT_ERROR(ReduceOp{none}, HAS("SUM"));
  EXPECT_ERROR(losses::Reduction{none}, HAS("none"));
  EXPECT_ERROR(losses::Loss{none}, HAS("null pointer"));
  EXPECT_ERROR(mixed_precision::Policy{none}, HAS("policy"));
}

TEST(NullTextsTest, TextsAndFiles) {
  EXPECT_ERROR(nn::Config{none}, HAS("Config()"));
  EXPECT_ERROR(data::FileNames(none), HAS("file"));
}

// Errors of the file system are this library's, too.
TEST(NullTextsTest, AFolderThatCannotBeMade) {
  DVariable v(ones({2}));
  const CheckpointManager manager(Checkpoint({{"v", v}}), "/dev/null/folder");
  EXPECT_ERROR(manager.save(), HAS("/dev/null/folder"));
}

} // namespace
} // namespace meshloom
