// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The machine finds the faults that are put into a kernel, and runs it where
// there are none. The kernel sums 64 numbers: a thread each, in a tree.
#include "PtxMachine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace meshloom;
using testing::HasSubstr;

namespace {

constexpr const char *sumText = R"(
.version 7.8
.target sm_80
.address_size 64

	// .globl	sum
.visible .entry sum(
	.param .u64 sum_param_0,
	.param .u64 sum_param_1
)
.maxntid 64, 1, 1
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<5>;
	.reg .f32 	%f<5>;
	.reg .b64 	%rd<9>;
	// demoted variable
	.shared .align 16 .b8 sum_shared0[256];
	ld.param.u64 	%rd1, [sum_param_0];
	ld.param.u64 	%rd2, [sum_param_1];
	cvta.to.global.u64 	%rd3, %rd1;
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd4, %r1, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.nc.f32 	%f1, [%rd5];
	mov.u64 	%rd6, sum_shared0;
	add.s64 	%rd7, %rd6, %rd4;
	st.shared.f32 	[%rd7], %f1;
	mov.u32 	%r2, 32;
$L__BB0_1:
	bar.sync 	0;
	setp.ge.u32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB0_3;
	mul.wide.u32 	%rd8, %r2, 4;
	add.s64 	%rd8, %rd7, %rd8;
	ld.shared.f32 	%f2, [%rd8];
	ld.shared.f32 	%f3, [%rd7];
	add.rn.f32 	%f4, %f2, %f3;
	st.shared.f32 	[%rd7], %f4;
$L__BB0_3:
	shr.u32 	%r2, %r2, 1;
	setp.ne.s32 	%p1, %r2, 0;
	@%p1 bra 	$L__BB0_1;
	setp.ne.s32 	%p2, %r1, 0;
	@%p2 bra 	$L__BB0_5;
	ld.shared.f32 	%f4, [sum_shared0];
	st.global.f32 	[%rd2], %f4;
$L__BB0_5:
	ret;
}
)";

/// The kernel, with the text `from` replaced by `to`.
std::string changed(const std::string &from, const std::string &to) {
  std::string text = sumText;
  const size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

class PtxMachineTest : public testing::Test {
protected:
  /// Runs the kernel of `text`; its sum is in `sum`.
  Status run(const std::string &text, unsigned seed = 0, unsigned blocks = 1) {
    auto program = ptx::parse(text);
    if (!program)
      return program.error();
    std::iota(numbers.begin(), numbers.end(), 1.f);
    ptx::Memory memory;
    memory.add(numbers.data(), numbers.size() * sizeof(float));
    memory.add(&sum, sizeof(sum));
    ptx::Launch launch{blocks,
                       64,
                       {reinterpret_cast<uint64_t>(numbers.data()),
                        reinterpret_cast<uint64_t>(&sum)},
                       seed};
    return ptx::run(*program, *program->find("sum"), launch, memory);
  }
  void expectFault(const std::string &text, const std::string &message) {
    Status done = run(text);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message(), HasSubstr(message));
  }

  std::vector<float> numbers = std::vector<float>(64);
  float sum = -1;
};

TEST_F(PtxMachineTest, RunsInAnyOrder) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    sum = -1;
    Status done = run(sumText, seed);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(sum, 64 * 65 / 2);
  }
}

/// Each thread adds what a table of two numbers, 2 and 1.5, has at 4 bytes.
std::string withTable(const std::string &address) {
  std::string text =
      changed("ld.global.nc.f32 \t%f1, [%rd5];\n",
              "ld.global.nc.f32 \t%f1, [%rd5];\n\tmov.u64 \t%rd8, table;\n"
              "\tld.const.f32 \t%f2, " +
                  address +
                  ";\n"
                  "\tadd.rn.f32 \t%f1, %f1, %f2;\n");
  const std::string head = ".address_size 64\n";
  return text.replace(text.find(head), head.size(),
                      head + ".const .align 4 .b8 table[8] = {0, 0, 0, 64, 0, "
                             "0, 192, 63};\n");
}

TEST_F(PtxMachineTest, ReadsConstants) {
  Status done = run(withTable("[%rd8+4]"));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(sum, 64 * 65 / 2 + 64 * 1.5f);
  expectFault(withTable("[%rd8+8]"), "outside of all constants");
}

TEST_F(PtxMachineTest, FindsAMissingBarrier) {
  expectFault(changed("bar.sync 	0;\n", "\n"),
              "reads memory of its block that nobody has written");
}

/// The memory was written before, so that only the order is wrong.
TEST_F(PtxMachineTest, FindsARace) {
  expectFault(changed("mov.u32 	%r2, 32;\n", "mov.u32 	%r2, 32;\n"
                                             "	bar.sync 	0;\n"
                                             "	st.shared.f32 	"
                                             "[%rd7], %f1;\n"
                                             "	ld.shared.f32 	"
                                             "%f2, [sum_shared0];\n"),
              "since the last barrier");
}

TEST_F(PtxMachineTest, FindsConstantReadsOfWhatIsWritten) {
  const std::string store = "st.global.f32 	[%rd2], %f4;\n";
  expectFault(
      changed(store, store + "	ld.global.nc.f32 	%f1, [%rd2];\n"),
      "reads as constant what the launch has written");
}

TEST_F(PtxMachineTest, FindsARaceOfBlocks) {
  Status done = run(sumText, 0, /*blocks=*/2);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(),
              HasSubstr("writes what another thread has written"));
}

/// A number that thread 1 has read before the barriers of its block.
/// An array is watched in large pieces, until a thread accesses a small one.
TEST(AccessLogTest, BytesOfAWordHaveTheirOwnRaces) {
  constexpr ptx::Phase phase{.launch = 2, .block = 2, .now = 2};
  ptx::AccessLog log(16);
  EXPECT_EQ(log.write(0, 8, 1, phase), nullptr);
  EXPECT_EQ(log.write(8, 1, 2, phase), nullptr);
  EXPECT_EQ(log.write(9, 1, 3, phase), nullptr);
  EXPECT_STREQ(log.read(7, 1, 2, phase), "written");
  EXPECT_STREQ(log.read(8, 4, 2, phase), "written");
  EXPECT_TRUE(log.isWritten(0, 8));
  EXPECT_FALSE(log.isWritten(8, 4));
}

TEST_F(PtxMachineTest, BarriersOrderAccessesOfArrays) {
  const std::string text = changed("st.global.f32 	[%rd2], %f4;",
                                   "st.global.f32 	[%rd3+4], %f4;");
  Status done = run(text);
  EXPECT_TRUE(done) << done.error().message();
  EXPECT_EQ(numbers[1], 64 * 65 / 2);
  done = run(text, 0, /*blocks=*/2);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("what another thread has"));
}

TEST_F(PtxMachineTest, FindsIndicesOutOfBounds) {
  expectFault(changed("[%rd5];", "[%rd5+4];"),
              "thread 63 of block 0 reads 4 bytes outside of all arrays, in "
              "line 25: ld.global.nc.f32");
  expectFault(changed("[sum_shared0];", "[sum_shared0+256];"),
              "reads 4 bytes outside of all memory of its block");
}

TEST_F(PtxMachineTest, FindsOddAddresses) {
  expectFault(changed("ld.global.nc.f32 	%f1, [%rd5];",
                      "ld.global.nc.f32 	%f1, [%rd3+2];"),
              "accesses 4 bytes at an address that is no multiple of that");
}

TEST_F(PtxMachineTest, RunsAccessesOfSeveralElements) {
  const std::string store = "st.global.f32 	[%rd2], %f4;";
  const std::string sums = "ld.global.v2.f32 	{%f1, %f2}, [%rd3];\n"
                           "	st.global.v2.f32 	[%rd3+8], {%f2, %f4};";
  Status done = run(changed(store, sums));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(numbers[2], 2);
  EXPECT_EQ(numbers[3], 64 * 65 / 2);
  expectFault(changed(store, "st.global.v2.f32 	[%rd3+4], {%f2, %f4};"),
              "accesses 8 bytes at an address that is no multiple of that");
}

TEST_F(PtxMachineTest, FindsBarriersThatSomeThreadsMiss) {
  expectFault(changed("@%p1 bra 	$L__BB0_3;", "@%p1 bra 	$L__BB0_5;"),
              "waits at a barrier that thread");
}

// Each thread has the number of the thread two behind it, in its warp.
TEST_F(PtxMachineTest, ThreadsOfAWarpExchangeValues) {
  const std::string load = "ld.global.nc.f32 	%f1, [%rd5];\n",
                    exchange = "shfl.sync.down.b32 	%f1, %f1, 2, 31, -1;\n";
  Status done = run(changed(load, load + exchange));
  ASSERT_TRUE(done) << done.error().message();
  // The last two of a warp have their own.
  EXPECT_EQ(sum, 64 * 65 / 2 + 2 * 60);
  expectFault(changed(load, load +
                                "setp.ge.u32 	%p1, %r1, 40;\n"
                                "@%p1 bra 	$L__BB0_5;\n" +
                                exchange),
              "waits for an exchange that thread 4");
  expectFault(
      changed(load, load + "shfl.sync.up.b32 	%f1, %f1, 2, 31, -1;\n"),
      "PTX");
}

TEST_F(PtxMachineTest, FindsDivisionsByZero) {
  expectFault(changed("shr.u32 	%r2, %r2, 1;", "div.u32 	%r2, %r2, 0;"),
              "divides by zero");
}

TEST_F(PtxMachineTest, RefusesLaunchesThatAGpuRefuses) {
  Status done = run(sumText, 0, /*blocks=*/0);
  ASSERT_FALSE(done);
  expectFault(changed(".maxntid 64", ".maxntid 32"),
              "a block of 64 threads, where the kernel is for 32 at most");
}

/// The number that `code` leaves in %rd1, where %r1 is 0x80f0, %r2 is
/// 0xfffffff0 and %rd2 is 0x80f0fffffff0.
uint64_t resultOf(const std::string &code) {
  auto program = ptx::parse(".visible .entry bits(\n.param .u64 bits_param_0\n)"
                            "\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
                            "ld.param.u64 %rd3, [bits_param_0];\n"
                            "mov.u32 %r1, 33008;\nmov.u32 %r2, -16;\n"
                            "mov.b64 %rd2, {%r2, %r1};\n" +
                            code + "\nst.global.u64 [%rd3], %rd1;\nret;\n}\n");
  EXPECT_TRUE(program) << program.error().message();
  if (!program)
    return 0;
  program->kernels[0].mostThreads = 1;
  uint64_t result = 0;
  ptx::Memory memory;
  memory.add(&result, sizeof(result));
  Status status =
      ptx::run(*program, program->kernels[0],
               {1, 1, {reinterpret_cast<uint64_t>(&result)}}, memory);
  EXPECT_TRUE(status) << status.error().message();
  return result;
}

TEST(PtxBitsTest, InstructionsWorkOnBits) {
  const std::pair<const char *, uint64_t> instructions[] = {
      {"clz.b32 %r3, %r1;\nmov.b64 %rd1, {%r3, %r1};", 0x80f000000010},
      {"clz.b64 %r3, %rd2;\nmov.b64 %rd1, {%r3, %r1};", 0x80f000000010},
      {"popc.b64 %r3, %rd2;\nmov.b64 %rd1, {%r3, %r1};", 0x80f000000021},
      {"brev.b64 %rd1, %rd2;", 0x0fffffff0f010000},
      {"bfe.s32 %r3, %r1, 4, 12;\ncvt.s64.s32 %rd1, %r3;", ~uint64_t(0x7f0)},
      {"bfe.u64 %rd1, %rd2, 4, 36;", 0xf0fffffff},
      {"bfi.b64 %rd1, -1, %rd2, 0, 4;", 0x80f0ffffffff},
      {"prmt.b32 %r3, %r1, %r2, 37137;\nmov.b64 %rd1, {%r3, %r1};",
       0x80f0ff808080},
      {"shf.l.wrap.b32 %r3, %r1, %r2, 40;\nmov.b64 %rd1, {%r3, %r1};",
       0x80f0fffff000},
      {"shf.r.wrap.b32 %r3, %r1, %r2, 4;\nmov.b64 %rd1, {%r3, %r1};",
       0x80f00000080f},
      {"{ .reg .b32 tmp; mov.b64 {tmp, %r3}, %rd2; }\ncvt.u64.u32 %rd1, %r3;",
       0x80f0},
      {"{\n.reg .b64 %lhs;\nadd.s64 %lhs, %rd2, 1;\nmov.u64 %rd1, %lhs;\n}",
       0x80f0fffffff1}};
  for (auto &[code, expected] : instructions)
    EXPECT_EQ(resultOf(code), expected) << code;
}

/// Nothing is run that is not understood.
TEST_F(PtxMachineTest, RefusesInstructionsOutsideOfTheSubset) {
  const char *changes[][2] = {{"add.rn.f32", "add.rn.ftz.f32"},
                              {"add.rn.f32", "ex2.approx.f32"},
                              {"ld.shared.f32", "ld.volatile.f32"},
                              {"bar.sync 	0", "bar.sync 	1"},
                              {"%f4, %f2", "%f5, %f2"},
                              {"$L__BB0_5;", "$L__BB0_6;"},
                              {"setp.ge.u32", "setp.hs.u32"},
                              {"sum_param_1]", "sum_param_2]"}};
  for (auto &[from, to] : changes)
    expectFault(changed(from, to), "PTX");
}

} // namespace
