// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Malformed files, and variables of launchers, by libFuzzer: FORMAT is npy,
// idx, program or group, GOOD makes some that are right. Whatever the bytes
// are, the reader gives a value that can be written and read again, or an error
// that says something. The readers' sources are compiled into this program, so
// that libFuzzer sees which of their branches an input takes.
#include "../../lib/Data/Formats/IdxFormat.h"
#include "meshloom/Cluster/ProcessGroup.h"
#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/Hash.h"
#include "meshloom/Support/Npy.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

using namespace meshloom;

namespace {

[[noreturn]] void fail(const char *why) {
  std::fprintf(stderr, "%s\n", why);
  std::abort();
}

void expectMessage(const Error &error) {
  if (error.message().empty())
    fail("an error without a message");
}

[[maybe_unused]] void npy(std::string_view bytes) {
  Result<NpyArray> array = parseNpy(bytes, "fuzzed.npy");
  if (!array)
    return expectMessage(array.error());
  // A type without a name is written as the bytes that it is read as.
  array->isUnnamed = false;
  Result<NpyArray> again =
      parseNpy(formatNpy(array->type, array->shape, array->bytes), "written");
  if (!again || !(*again == *array))
    fail("an array that is not what was written");
}

[[maybe_unused]] void idx(std::string_view bytes) {
  try {
    data::IdxArray array = data::parseIdx(bytes, "fuzzed.idx");
    if (int64_t(array.bytes.size()) !=
        elementCount(array.shape) * byteWidth(array.type))
      fail("an array whose size is not that of its shape");
  } catch (const Error &error) {
    expectMessage(error);
  }
}

/// The checksum would stop nearly every input, so it is made right.
[[maybe_unused]] void program(std::string_view bytes) {
  StableHash hash;
  hash.add(bytes);
  std::string file = Compiled(Program{.name = "",
                                      .mesh = *Mesh::get({{"d", 1}}),
                                      .buffers = {},
                                      .constants = {},
                                      .arguments = {},
                                      .results = {},
                                      .steps = {}})
                         .serialize()
                         .substr(0, 12);
  uint64_t words[] = {hash.value(), bytes.size()};
  file.append(reinterpret_cast<const char *>(words), sizeof words);
  file += bytes;
  Result<Compiled> read = Compiled::deserialize(file);
  if (!read)
    return expectMessage(read.error());
  const std::string written = read->serialize();
  Result<Compiled> again = Compiled::deserialize(written);
  if (!again || again->serialize() != written)
    fail("a program that is not what was written");
}

/// Lines "NAME=value": what a launcher leaves in the environment.
[[maybe_unused]] void group(std::string_view bytes) {
  const Environment environment =
      [&](const char *name) -> std::optional<std::string> {
    const std::string begin = std::string(name) + "=";
    for (size_t position = 0; position < bytes.size();) {
      const size_t end = std::min(bytes.find('\n', position), bytes.size());
      const std::string_view line = bytes.substr(position, end - position);
      if (line.starts_with(begin))
        return std::string(line.substr(begin.size()));
      position = end + 1;
    }
    return std::nullopt;
  };
  const Result<ProcessGroup> read = processGroup(environment);
  if (!read)
    return expectMessage(read.error());
  if (read->rank < 0 || read->rank >= read->size)
    fail("a rank that is not one");
}

/// Files that are right: what mutations begin with.
[[maybe_unused]] std::vector<std::string> goodNpys() {
  std::vector<char> bytes(24);
  return {formatNpy(DType::F32, {2, 3}, bytes),
          formatNpy(DType::I64, {3}, bytes),
          formatNpy(DType::I8, {2, 3, 4}, bytes),
          formatNpy(DType::F64, {}, {bytes.data(), 8})};
}
[[maybe_unused]] std::vector<std::string> goodIdxs() {
  using namespace std::string_literals;
  return {"\0\0\x08\x01\0\0\0\x03"
          "abc"s,
          "\0\0\x0d\x02\0\0\0\x01\0\0\0\x02"
          "abcdefgh"s};
}
[[maybe_unused]] std::vector<std::string> goodGroups() {
  return {
      R"(TF_CONFIG={"cluster": {"chief": ["a:1"], "worker": {"0": "b:1"}}, )"
      R"("task": {"type": "worker", "index": 0}, "rpc_layer": "grpc"})",
      "DTENSOR_NUM_CLIENTS=2\nDTENSOR_CLIENT_ID=1\nDTENSOR_JOBS=a:1,b:2\n"
      "DTENSOR_JOB_NAME=w\nMESHLOOM_COORDINATOR=c:3\n"
      "MESHLOOM_GENERATION=ff",
      "SLURM_PROCID=3\nSLURM_STEP_NUM_TASKS=8\n"
      "SLURM_STEP_NODELIST=n[1-2],m5\nSLURM_STEP_TASKS_PER_NODE=3(x2),2",
      "TPU_WORKER_HOSTNAMES=a,b:1\nTPU_WORKER_ID=1"};
}
[[maybe_unused]] std::vector<std::string> goodPrograms() {
  Mesh mesh = *Mesh::get({{"x", 2}, {"y", 2}});
  Layout rows({"x", UNSHARDED}, mesh),
      sums({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}}),
      whole({UNSHARDED}, mesh);
  KernelStep kernel{.symbol = "f",
                    .loops = {{6, true, {0}}, {4, false, {}}},
                    .inputs = {{0, {{0, {{0, 1}}}, {0, {{1, 1}}}}}},
                    .outputs = {{1, {{0, {{1, 1}}}}}},
                    .inPlace = {-1},
                    .note = {"a.mlir:1:1", "reduce"}};
  CollectiveStep reduce{
      CollectiveKind::AllReduce, {0}, ReduceKind::Sum, {{1, 2}}, "why",
      {"a.mlir:2:1", "reduce"}};
  Program program{.name = "f",
                  .mesh = mesh,
                  .buffers = {{"x", DType::F32, {6, 4}, rows},
                              {"s", DType::F32, {4}, sums},
                              {"r", DType::F32, {4}, whole},
                              {"c", DType::F32, {4}, whole}},
                  .constants = {{3, {0, 0, 0, 0}, true}},
                  .arguments = {{0, "x"}},
                  .results = {{2, -1, "r"}, {3, -1, "c"}},
                  .steps = {kernel, reduce}};
  if (!program.verify())
    fail(program.verify().error().message().c_str());
  Signature signature = signatureOf(program);
  return {Compiled(program, Code{"x86-64-elf", "avx2", {'x'}, nullptr})
              .serialize()
              .substr(28),
          Compiled(signature, collectivesOf(program), {"module {}"}, "ring")
              .serialize()
              .substr(28)};
}

} // namespace

/// Writes the files that are right into the corpus, the last argument.
extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  std::filesystem::path folder = (*arguments)[*count - 1];
  int number = 0;
  if (std::filesystem::is_directory(folder))
    for (const std::string &file : GOOD())
      std::ofstream(folder / std::to_string(number++), std::ios::binary)
          << file;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FORMAT({reinterpret_cast<const char *>(data), size});
  return 0;
}
