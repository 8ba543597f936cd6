// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading and running scripts.
#include "KernelScript.h"
#include "ScriptLanes.h"
#include "ScriptReductions.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <sys/mman.h>
#include <variant>
#include <vector>

using namespace meshloom;

namespace {
/// Bytes of the registers together, and the most elements of a block. A call
/// fills the registers of constants, so that blocks are small where it has few
/// elements.
constexpr int64_t registersSize = mostScriptRegisters * 1024,
                  mostElements = 512, manyElements = int64_t(1) << 16,
                  mostOfMany = 2048;

struct Script {
  /// An array that elements are loaded from or stored to.
  struct Array {
    unsigned reg, bytes, operand;
    bool isLogic; ///< elements are i1, and registers have 0 or 1
  };
  struct Constant {
    unsigned reg, bytes;
    uint64_t bits;
  };
  struct Index {
    unsigned reg, loop;
  };
  /// Elements that are read where a condition holds; the others are 0.
  struct Read {
    Array array;
    unsigned condition;
  };
  /// A result that is reduced. `narrow` makes its elements of the terms' type,
  /// where they have another.
  struct Reduce {
    unsigned reg;
    const ScriptReduction *reduction;
    Array result; ///< its register is not used
    unsigned termBytes;
    ScriptLanes narrow;
  };
  struct Apply {
    ScriptLanes lanes;
    unsigned result;
    std::array<unsigned, 3> operands; ///< 0 for those that there are none of
    int store = -1; ///< which of the stores stores the result, or -1
  };
  SmallVector<bool> isReduction; ///< of each loop
  SmallVector<Array> loads, stores;
  /// For each store: whether nothing is loaded from its array.
  SmallVector<bool> storesApart;
  SmallVector<Reduce> reductions;
  SmallVector<Constant> constants;
  SmallVector<std::variant<Index, Read, Apply>>
      instructions;       ///< in their order
  unsigned registers = 0; ///< how many there are
};

/// Returns the register that an instruction writes.
unsigned resultOf(const std::variant<Script::Index, Script::Read, Script::Apply>
                      &instruction) {
  if (auto *index = std::get_if<Script::Index>(&instruction))
    return index->reg;
  if (auto *read = std::get_if<Script::Read>(&instruction))
    return read->array.reg;
  return std::get<Script::Apply>(instruction).result;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1),
                         std::multiplies<>());
}

/// The iterations of a block: `count` of them from number `first` on, the last
/// loop innermost.
struct BlockRange {
  ArrayRef<int64_t> extents;
  int64_t first, count;

  /// Calls body(position in the block, iterations, offset) for runs of
  /// iterations whose elements are equally far apart, by the last stride. The
  /// offset is the one of the run's first iteration.
  template <typename Body>
  void forRuns(ArrayRef<int64_t> strides, const Body &body) const {
    if (isOneRun(strides))
      return body(0, count, strides.empty() ? 0 : first * strides.back());
    forInnerRuns(strides, firstLoopOfRun(strides), body);
  }

  /// Returns whether elements are side by side.
  bool isDense(ArrayRef<int64_t> strides) const {
    return isOneRun(strides) && (strides.empty() || strides.back() == 1);
  }

private:
  /// Returns the outermost loop whose stride, as those of the loops inside but
  /// the last, is the way that the loops inside go. Loops of one turn go
  /// nowhere.
  size_t firstLoopOfRun(ArrayRef<int64_t> strides) const {
    size_t loop = extents.size() - 1;
    int64_t way = strides.back() * extents.back();
    while (loop > 0 && (extents[loop - 1] == 1 || strides[loop - 1] == way))
      way *= extents[--loop];
    return loop;
  }
  bool isOneRun(ArrayRef<int64_t> strides) const {
    return extents.empty() || firstLoopOfRun(strides) == 0;
  }
  /// Runs of the loops from number `inner` on.
  template <typename Body>
  void forInnerRuns(ArrayRef<int64_t> strides, size_t inner,
                    const Body &body) const {
    const int64_t length = product(extents.drop_front(inner));
    SmallVector<int64_t, 6> indices(inner);
    int64_t within = first % length, number = first / length;
    for (size_t loop = inner; loop-- > 0; number /= extents[loop])
      indices[loop] = number % extents[loop];
    for (int64_t done = 0; done < count;) {
      const int64_t run = std::min(count - done, length - within);
      const int64_t offset =
          std::inner_product(indices.begin(), indices.end(), strides.begin(),
                             within * strides.back());
      body(done, run, offset);
      done += run;
      within = 0;
      for (size_t loop = inner; loop-- > 0;) {
        if (++indices[loop] < extents[loop])
          break;
        indices[loop] = 0;
      }
    }
  }
};

/// Copies `count` elements whose places are `fromStep` and `toStep` apart.
template <typename T>
void copyRun(const char *from, int64_t fromStep, char *to, int64_t toStep,
             int64_t count) {
  auto *source = reinterpret_cast<const T *>(from);
  auto *destination = reinterpret_cast<T *>(to);
  if (fromStep == 1 && toStep == 1) {
    std::memcpy(destination, source, size_t(count) * sizeof(T));
    return;
  }
  if (fromStep == 0 && toStep == 1) {
    std::fill_n(destination, count, *source);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    destination[i * toStep] = source[i * fromStep];
}

void copyElements(unsigned bytes, const char *from, int64_t fromStep, char *to,
                  int64_t toStep, int64_t count) {
  switch (bytes) {
  case 1:
    return copyRun<uint8_t>(from, fromStep, to, toStep, count);
  case 2:
    return copyRun<uint16_t>(from, fromStep, to, toStep, count);
  case 4:
    return copyRun<uint32_t>(from, fromStep, to, toStep, count);
  default:
    return copyRun<uint64_t>(from, fromStep, to, toStep, count);
  }
}

/// A call of a script's function. Arrays whose elements are side by side are
/// read where they are, and written there where nothing is loaded from them.
class Run {
public:
  Run(const Script &script, void *const *operands, const int64_t *strides,
      const int64_t *origin, ArrayRef<int64_t> extents, char *memory)
      : script(script), operands(operands), strides(strides), origin(origin),
        extents(extents), memory(memory) {
    const BlockRange whole{extents, 0, 0};
    for (const Script::Array &array : script.loads)
      readInPlace.push_back(!array.isLogic && !isTermWrittenOver(array) &&
                            whole.isDense(stridesOf(array.operand)));
    for (auto [array, isApart] :
         llvm::zip_equal(script.stores, script.storesApart))
      writtenInPlace.push_back(isApart &&
                               whole.isDense(stridesOf(array.operand)));
    blockSize = chooseBlockSize();
  }

  /// Returns how many elements a block has, at most.
  int64_t getBlockSize() const { return blockSize; }

  /// Fills the registers of constants, for blocks of up to `count` elements.
  void fillConstants(int64_t count) {
    for (const Script::Constant &constant : script.constants)
      copyElements(constant.bytes,
                   reinterpret_cast<const char *>(&constant.bits),
                   /*fromStep=*/0, write(constant.reg), /*toStep=*/1, count);
  }
  void block(const BlockRange &range) {
    for (auto [array, isInPlace] : llvm::zip_equal(script.loads, readInPlace))
      if (isInPlace)
        places[array.reg] = elements(array, range.first);
      else
        load(array, range);
    for (const auto &instruction : script.instructions)
      if (auto *apply = std::get_if<Script::Apply>(&instruction))
        this->apply(*apply, range);
      else if (auto *number = std::get_if<Script::Index>(&instruction))
        index(*number, range);
      else
        read(std::get<Script::Read>(instruction), range);
    for (auto [array, isInPlace] :
         llvm::zip_equal(script.stores, writtenInPlace))
      if (!isInPlace)
        store(array, places[array.reg], range);
  }
  /// Combines the terms of a block with the states of the results that they are
  /// terms of, which are numbered along `steps`.
  void reduce(const Script::Reduce &reduce, const BlockRange &range,
              ArrayRef<int64_t> steps, char *states) const {
    const char *terms = places[reduce.reg];
    range.forRuns(steps, [&](int64_t place, int64_t count, int64_t offset) {
      reduce.reduction->combine(
          states + offset * int64_t(reduce.reduction->stateBytes),
          steps.empty() ? 0 : steps.back(),
          terms + place * int64_t(reduce.termBytes), count);
    });
  }
  /// Stores the results of a reduction, a block after the other.
  void finish(const Script::Reduce &reduce, const BlockRange &results,
              const char *states) {
    for (int64_t first = 0; first < results.count; first += blockSize) {
      const BlockRange block{results.extents, first,
                             std::min(blockSize, results.count - first)};
      char *terms = write(0), *narrowed = write(1);
      reduce.reduction->finish(
          states + first * int64_t(reduce.reduction->stateBytes), terms,
          block.count);
      if (reduce.narrow) {
        const void *sources[] = {terms};
        reduce.narrow(narrowed, sources, block.count);
      }
      store(reduce.result, reduce.narrow ? narrowed : terms, block);
    }
  }

private:
  /// Returns whether a reduction combines elements of the array, which it does
  /// after a block's results have been stored, and a result is stored there.
  bool isTermWrittenOver(const Script::Array &array) const {
    return llvm::any_of(script.reductions,
                        [&](const Script::Reduce &reduce) {
                          return reduce.reg == array.reg;
                        }) &&
           llvm::any_of(script.stores, [&](const Script::Array &stored) {
             return stored.operand == array.operand;
           });
  }
  /// One op whose operands and result are in place needs no registers.
  int64_t chooseBlockSize() const {
    const int64_t total = product(extents);
    auto isTrue = [](bool value) { return value; };
    if (script.instructions.size() == 1 && script.constants.empty() &&
        script.stores.size() == 1 && llvm::all_of(readInPlace, isTrue) &&
        llvm::all_of(writtenInPlace, isTrue))
      return total;
    return std::min(total < manyElements ? mostElements : mostOfMany,
                    registersSize / (8 * int64_t(script.registers)) / 64 * 64);
  }
  ArrayRef<int64_t> stridesOf(unsigned operand) const {
    return {strides + operand * extents.size(), extents.size()};
  }
  int64_t innerStride(unsigned operand) const {
    return extents.empty() ? 0 : stridesOf(operand).back();
  }
  /// Returns where a dense array has its elements from number `first` on.
  char *elements(const Script::Array &array, int64_t first) const {
    return static_cast<char *>(operands[array.operand]) +
           first * int64_t(array.bytes);
  }
  /// Returns the memory of a register, which has its elements from then on.
  char *write(unsigned reg) {
    return places[reg] = memory + int64_t(reg) * blockSize * 8;
  }
  void load(const Script::Array &array, const BlockRange &range) {
    auto *from = static_cast<const char *>(operands[array.operand]);
    char *to = write(array.reg);
    const int64_t step = innerStride(array.operand);
    range.forRuns(stridesOf(array.operand), [&](int64_t place, int64_t count,
                                                int64_t offset) {
      copyElements(array.bytes, from + offset * int64_t(array.bytes), step,
                   to + place * int64_t(array.bytes), /*toStep=*/1, count);
    });
    if (array.isLogic)
      for (int64_t i = 0; i < range.count; ++i)
        to[i] = to[i] != 0;
  }
  void store(const Script::Array &array, const char *from,
             const BlockRange &range) const {
    auto *to = static_cast<char *>(operands[array.operand]);
    const int64_t step = innerStride(array.operand);
    range.forRuns(stridesOf(array.operand), [&](int64_t place, int64_t count,
                                                int64_t offset) {
      copyElements(array.bytes, from + place * int64_t(array.bytes),
                   /*fromStep=*/1, to + offset * int64_t(array.bytes), step,
                   count);
    });
  }
  void index(const Script::Index &index, const BlockRange &range) {
    auto *to = reinterpret_cast<int64_t *>(write(index.reg));
    const int64_t extent = extents[index.loop];
    const int64_t repeats = product(extents.drop_front(index.loop + 1));
    int64_t number = range.first / repeats % extent,
            turn = range.first % repeats;
    for (int64_t i = 0; i < range.count; ++i) {
      to[i] = origin[index.loop] + number;
      if (++turn < repeats)
        continue;
      turn = 0;
      number = number + 1 < extent ? number + 1 : 0;
    }
  }
  void read(const Script::Read &read, const BlockRange &range) {
    const Script::Array &array = read.array;
    auto *from = static_cast<const char *>(operands[array.operand]);
    const char *condition = places[read.condition];
    char *to = write(array.reg);
    const int64_t bytes = array.bytes, step = innerStride(array.operand);
    std::memset(to, 0, size_t(range.count * bytes));
    range.forRuns(stridesOf(array.operand), [&](int64_t place, int64_t count,
                                                int64_t offset) {
      for (int64_t i = 0; i < count; ++i)
        if (condition[place + i])
          std::memcpy(to + (place + i) * bytes,
                      from + (offset + i * step) * bytes, size_t(bytes));
    });
    if (array.isLogic)
      for (int64_t i = 0; i < range.count; ++i)
        to[i] = to[i] != 0;
  }
  void apply(const Script::Apply &apply, const BlockRange &range) {
    const void *const sources[] = {places[apply.operands[0]],
                                   places[apply.operands[1]],
                                   places[apply.operands[2]]};
    char *result = write(apply.result);
    if (apply.store >= 0 && writtenInPlace[size_t(apply.store)])
      result = places[apply.result] =
          elements(script.stores[size_t(apply.store)], range.first);
    apply.lanes(result, sources, range.count);
  }

  const Script &script;
  void *const *operands;
  const int64_t *strides, *origin;
  ArrayRef<int64_t> extents;
  char *memory; ///< of all registers
  int64_t blockSize = 0;
  SmallVector<bool, 8> readInPlace, writtenInPlace; ///< of loads and stores
  std::array<char *, mostScriptRegisters> places;   ///< of registers' elements
};

/// The results of a script's reductions, and their states.
class Results {
public:
  Results(const Script &script, ArrayRef<int64_t> loops)
      : script(script), extents(loops), steps(loops.size()) {
    int64_t step = 1;
    for (size_t loop = loops.size(); loop-- > 0;) {
      if (script.isReduction[loop]) {
        extents[loop] = 1;
        continue;
      }
      steps[loop] = step;
      step *= loops[loop];
    }
    count = step;
    for (const Script::Reduce &reduce : script.reductions) {
      states.emplace_back(size_t(count) * reduce.reduction->stateBytes);
      reduce.reduction->start(states.back().data(), count);
    }
  }
  void add(const Run &run, const BlockRange &range) {
    for (auto [reduce, memory] : llvm::zip_equal(script.reductions, states))
      run.reduce(reduce, range, steps, memory.data());
  }
  void finish(Run &run) const {
    for (auto [reduce, memory] : llvm::zip_equal(script.reductions, states))
      run.finish(reduce, {extents, 0, count}, memory.data());
  }

private:
  const Script &script;
  SmallVector<int64_t, 6> extents, steps; ///< of the loops
  int64_t count = 0;
  SmallVector<std::vector<char>, 2> states;
};

void runScript(void *const *operands, const int64_t *strides,
               const int64_t *origin, const int64_t *extents,
               const Script &script) {
  alignas(64) char registers[registersSize];
  const ArrayRef<int64_t> loops(extents, script.isReduction.size());
  const int64_t total = product(loops);
  Run run(script, operands, strides, origin, loops, registers);
  std::optional<Results> results;
  if (!script.reductions.empty())
    results.emplace(script, loops);
  const int64_t blockSize = run.getBlockSize();
  run.fillConstants(std::min(total, blockSize));
  for (int64_t first = 0; first < total; first += blockSize) {
    const BlockRange range{loops, first, std::min(blockSize, total - first)};
    run.block(range);
    if (results)
      results->add(run, range);
  }
  if (results)
    results->finish(run);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Reads the words of a line.
class LineReader {
public:
  explicit LineReader(StringRef line) : unread(line) {}

  StringRef word() {
    auto [first, others] = unread.split(' ');
    unread = others;
    return first;
  }
  uint64_t number() {
    uint64_t value = 0;
    isValid &= !word().getAsInteger(10, value);
    return value;
  }
  /// Reads a number that is less than `limit`.
  unsigned numberBelow(size_t limit) {
    const uint64_t value = number();
    isValid &= value < limit;
    return unsigned(value);
  }
  unsigned reg() { return numberBelow(mostScriptRegisters); }
  unsigned bytes(StringRef type) {
    const unsigned result = scriptBytes(type);
    isValid &= result > 0;
    return result;
  }

  StringRef unread;
  bool isValid = true;
};

Script::Array readArray(LineReader &line) {
  const unsigned reg = line.reg();
  const StringRef type = line.word();
  const unsigned bytes = line.bytes(type);
  return {reg, bytes, unsigned(line.number()), type == "i1"};
}

Script::Apply readApply(LineReader &line) {
  Script::Apply apply{nullptr, line.reg(), {}};
  auto [operands, name] = line.unread.split(" : ");
  LineReader list(operands);
  for (unsigned &operand : apply.operands)
    if (!list.unread.empty())
      operand = list.reg();
  apply.lanes = findScriptLanes(name);
  line.isValid &= list.isValid && list.unread.empty() && apply.lanes;
  return apply;
}

Script::Reduce readReduce(LineReader &line) {
  const unsigned reg = line.reg();
  auto [name, array] = line.unread.split(" : ");
  const StringRef term = name.split(' ').second;
  LineReader elements(array);
  const StringRef type = elements.word();
  Script::Reduce reduce{
      reg, findScriptReduction(name), {}, line.bytes(term), nullptr};
  reduce.result = {0, elements.bytes(type), unsigned(elements.number()), false};
  if (type != term)
    reduce.narrow =
        findScriptLanes(("arith.truncf " + term + " " + type).str());
  line.isValid &=
      elements.isValid && reduce.reduction && (type == term || reduce.narrow);
  return reduce;
}

/// Adds what a line says to the script. Returns whether it says something.
bool readLine(StringRef text, Script &script) {
  LineReader line(text);
  const StringRef kind = line.word();
  if (kind == "loops") {
    while (!line.unread.empty())
      script.isReduction.push_back(line.word() == "reduce");
  } else if (kind == "load") {
    script.loads.push_back(readArray(line));
  } else if (kind == "store") {
    script.stores.push_back(readArray(line));
  } else if (kind == "reduce") {
    script.reductions.push_back(readReduce(line));
  } else if (kind == "constant") {
    const unsigned reg = line.reg();
    const unsigned bytes = line.bytes(line.word());
    script.constants.push_back({reg, bytes, line.number()});
  } else if (kind == "index") {
    const unsigned reg = line.reg();
    script.instructions.emplace_back(
        Script::Index{reg, line.numberBelow(script.isReduction.size())});
  } else if (kind == "read") {
    const Script::Array array = readArray(line);
    script.instructions.emplace_back(Script::Read{array, line.reg()});
  } else if (kind == "apply") {
    script.instructions.emplace_back(readApply(line));
  } else {
    return false;
  }
  return line.isValid;
}

/// Says which instructions write what is stored, and counts registers.
void prepare(Script &script) {
  unsigned &registers = script.registers;
  registers = 2; // reductions are finished in two
  for (const Script::Array &array : script.loads)
    registers = std::max(registers, array.reg + 1);
  for (const Script::Constant &constant : script.constants)
    registers = std::max(registers, constant.reg + 1);
  for (const auto &instruction : script.instructions)
    registers = std::max(registers, resultOf(instruction) + 1);
  for (auto [number, array] : llvm::enumerate(script.stores)) {
    script.storesApart.push_back(false);
    const auto isSame = [&](const Script::Array &loaded) {
      return loaded.operand == array.operand;
    };
    const bool isRead = llvm::any_of(script.instructions, [&](auto &other) {
      auto *read = std::get_if<Script::Read>(&other);
      return read && isSame(read->array);
    });
    if (isRead || llvm::any_of(script.loads, isSame))
      continue;
    for (auto &instruction : llvm::reverse(script.instructions)) {
      if (resultOf(instruction) != array.reg)
        continue;
      auto *apply = std::get_if<Script::Apply>(&instruction);
      if (!apply || apply->store >= 0)
        break;
      apply->store = int(number);
      script.storesApart.back() = true;
      break;
    }
  }
}

/// A function that calls runScript with its own arguments and one more:
///   movabs r8, script; movabs rax, runScript; jmp rax
class Trampoline {
public:
  Status make(const Script &script) {
#if defined(__x86_64__)
    void *page = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
      return Error("there is no memory for code",
                   ErrorCode::RESOURCE_EXHAUSTED);
    memory = page;
    auto *code = static_cast<unsigned char *>(page);
    const void *argument = &script;
    auto *callee = &runScript;
    const unsigned char moveToR8[] = {0x49, 0xb8}, moveToRax[] = {0x48, 0xb8},
                        jump[] = {0xff, 0xe0};
    std::memcpy(code, moveToR8, 2);
    std::memcpy(code + 2, &argument, 8);
    std::memcpy(code + 10, moveToRax, 2);
    std::memcpy(code + 12, &callee, 8);
    std::memcpy(code + 20, jump, 2);
    if (mprotect(page, size, PROT_READ | PROT_EXEC) != 0)
      return Error("the system lets no code be made");
    return Success();
#else
    return Error("this processor has no trampolines");
#endif
  }
  Trampoline() = default;
  Trampoline(const Trampoline &) = delete;
  Trampoline &operator=(const Trampoline &) = delete;
  ~Trampoline() {
    if (memory)
      munmap(memory, size);
  }
  const void *address() const { return memory; }

private:
  static constexpr size_t size = 4096;
  void *memory = nullptr;
};

class LoadedScriptImpl final : public LoadedScript {
public:
  const void *address() const override { return trampoline.address(); }
  Script script;
  Trampoline trampoline;
};
} // namespace

Result<std::unique_ptr<LoadedScript>> meshloom::loadScript(StringRef text) {
  auto loaded = std::make_unique<LoadedScriptImpl>();
  SmallVector<StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : ArrayRef(lines).drop_front())
    if (!readLine(line, loaded->script))
      return Error("the script of a kernel has the line '" + line.str() +
                   "', which says nothing");
  prepare(loaded->script);
  if (Status ok = loaded->trampoline.make(loaded->script); !ok)
    return ok.error();
  return std::unique_ptr<LoadedScript>(std::move(loaded));
}
