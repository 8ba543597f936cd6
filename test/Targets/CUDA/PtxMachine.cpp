// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of a block run one after the other, each to its next barrier, or to
// its next exchange with its warp; blocks run one after the other.
#include "PtxMachine.h"

#include "PtxScalars.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <tuple>

namespace meshloom::ptx {

/// Instead of a reader: several threads of the block, or threads of several
/// blocks, read the byte.
static constexpr uint32_t severalThreads = ~uint32_t(0),
                          severalBlocks = severalThreads - 1;

/// Says whether nothing orders an access of this launch in the phase `earlier`,
/// by another thread, before those in `phase`.
static bool isUnordered(uint32_t earlier, Phase phase) {
  return earlier >= phase.launch &&
         (earlier < phase.block || earlier == phase.now);
}

Status AccessLog::read(size_t offset, size_t bytes, uint32_t thread,
                       Phase phase) {
  for (Byte &byte : std::span(log).subspan(offset, bytes)) {
    if (byte.writer != thread && isUnordered(byte.writePhase, phase))
      return Error("written");
    if (byte.readPhase < phase.launch)
      byte.reader = thread;
    else if (byte.readPhase < phase.block)
      byte.reader = severalBlocks;
    else if (byte.reader != severalBlocks && byte.reader != thread)
      byte.reader = byte.readPhase == phase.now ? severalThreads : thread;
    byte.readPhase = phase.now;
  }
  return Success();
}

Status AccessLog::write(size_t offset, size_t bytes, uint32_t thread,
                        Phase phase) {
  for (Byte &byte : std::span(log).subspan(offset, bytes)) {
    if (byte.writer != thread && isUnordered(byte.writePhase, phase))
      return Error("written");
    const bool readBefore = byte.readPhase >= phase.launch;
    if (readBefore &&
        (byte.reader == severalBlocks ||
         (byte.reader != thread && isUnordered(byte.readPhase, phase))))
      return Error("read");
    byte.writer = thread;
    byte.writePhase = phase.now;
  }
  return Success();
}

bool AccessLog::isWritten(size_t offset, size_t bytes) const {
  return std::ranges::all_of(
      std::span(log).subspan(offset, bytes),
      [](const Byte &byte) { return byte.writePhase != 0; });
}

bool AccessLog::isWrittenIn(Phase phase, size_t offset, size_t bytes) const {
  return std::ranges::any_of(
      std::span(log).subspan(offset, bytes),
      [&](const Byte &byte) { return byte.writePhase >= phase.launch; });
}

void Memory::add(void *address, size_t bytes) {
  arrays.insert_or_assign(reinterpret_cast<uint64_t>(address),
                          Array{bytes, nullptr});
}

void Memory::remove(void *address) {
  arrays.erase(reinterpret_cast<uint64_t>(address));
}

std::map<uint64_t, Memory::Array>::iterator Memory::arrayAt(uint64_t address) {
  auto behind = arrays.upper_bound(address);
  return behind == arrays.begin() ? arrays.end() : std::prev(behind);
}

char *Memory::find(uint64_t address, size_t bytes) {
  auto array = arrayAt(address);
  if (array == arrays.end() ||
      address - array->first + bytes > array->second.bytes)
    return nullptr;
  return reinterpret_cast<char *>(address);
}

std::pair<AccessLog *, size_t> Memory::logOf(uint64_t address) {
  auto &[begin, array] = *arrayAt(address);
  if (!array.log)
    array.log = std::make_unique<AccessLog>(array.bytes);
  return {array.log.get(), address - begin};
}

namespace {

constexpr unsigned warp = 32;

/// Counts the sectors that a block's warps access.
class SectorCounter {
public:
  explicit SectorCounter(Traffic &traffic) : traffic(traffic) {}
  ~SectorCounter() {
    for (const auto &[access, sectors] : sectorsOf)
      traffic.sectors += sectors.size();
  }
  /// A thread runs the instruction, which accesses bytes.
  void add(unsigned thread, const Instruction &instruction, uint64_t address,
           size_t bytes) {
    const unsigned line = instruction.line;
    const unsigned before = runs[{thread, line}]++ / instruction.vectorSize;
    auto &sectors = sectorsOf[{thread / warp, line, before}];
    for (uint64_t sector = address / sectorBytes;
         sector <= (address + bytes - 1) / sectorBytes; ++sector)
      sectors.insert(sector);
    traffic.bytes += bytes;
  }

private:
  static constexpr uint64_t sectorBytes = 32;
  Traffic &traffic;
  std::map<std::pair<unsigned, unsigned>, unsigned> runs;
  /// By warp, line, and how often the line was run before.
  std::map<std::tuple<unsigned, unsigned, unsigned>, std::set<uint64_t>>
      sectorsOf;
};

/// No kernel of the tests takes so many.
constexpr uint64_t mostSteps = uint64_t(1) << 32;

class Block {
public:
  Block(const Program &program, const Kernel &kernel, const Launch &launch,
        Memory &memory, unsigned number, uint32_t firstPhase, uint64_t &steps)
      : program(program), kernel(kernel), launch(launch), memory(memory),
        number(number), steps(steps), shared(kernel.sharedBytes, char(0xcb)),
        sharedLog(kernel.sharedBytes), threads(launch.threads) {
    phase.launch = firstPhase;
    phase.block = phase.now = memory.beginPhase();
    if (launch.traffic)
      counter.emplace(*launch.traffic);
    for (Thread &thread : threads)
      thread.registers.assign(kernel.registerBits.size(),
                              0xcbcbcbcbcbcbcbcbull);
  }

  Status run(std::mt19937 &random) {
    std::vector<unsigned> order(threads.size());
    std::iota(order.begin(), order.end(), 0);
    while (true) {
      std::ranges::shuffle(order, random);
      for (unsigned index : order)
        if (Status done = runThread(index); !done)
          return done;
      bool haveExchanged = false;
      for (size_t first = 0; first < threads.size(); first += warp)
        if (Status done = exchange(first, haveExchanged); !done)
          return done;
      if (haveExchanged)
        continue;
      if (std::ranges::all_of(
              threads, [](const Thread &thread) { return thread.ended; }))
        return Success();
      if (Status meet = checkBarrier(); !meet)
        return meet;
      phase.now = memory.beginPhase();
      for (Thread &thread : threads)
        thread.waits = false;
    }
  }

private:
  struct Thread {
    std::vector<uint64_t> registers;
    size_t next = 0;
    bool ended = false;
    bool waits = false; ///< behind a barrier or an exchange, in front of `next`
  };

  Error fault(unsigned thread, const Instruction &instruction,
              std::string_view text) const {
    return Error(fmt::format(
        "{}: thread {} of block {} {}, in line {}: {}", kernel.name, thread,
        number, text, instruction.line, program.lines[instruction.line - 1]));
  }

  /// Fails unless all threads are at the same barrier.
  Status checkBarrier() const {
    auto waiting = std::ranges::find_if(
        threads, [](auto &thread) { return !thread.ended; });
    const Instruction &barrier = kernel.code[waiting->next - 1];
    for (const Thread &thread : threads)
      if (thread.ended || thread.next != waiting->next)
        return fault(unsigned(waiting - threads.begin()), barrier,
                     fmt::format("waits at a barrier that thread {} {}",
                                 &thread - threads.data(),
                                 thread.ended ? "never reaches"
                                              : "passes by: it waits at "
                                                "a different one"));
    return Success();
  }

  /// Exchanges values between the threads of the warp that begins with thread
  /// `first`, where one of them waits for that. Fails where others do not.
  Status exchange(size_t first, bool &haveExchanged) {
    const std::span lanes = std::span(threads).subspan(
        first, std::min<size_t>(warp, threads.size() - first));
    auto isAtExchange = [&](const Thread &thread) {
      return thread.waits && kernel.code[thread.next - 1].op != Op::BarSync;
    };
    const auto waiting = std::ranges::find_if(lanes, isAtExchange);
    if (waiting == lanes.end())
      return Success();
    const Instruction &instruction = kernel.code[waiting->next - 1];
    for (const Thread &thread : lanes)
      if (!isAtExchange(thread) || thread.next != waiting->next)
        return fault(unsigned(&*waiting - threads.data()), instruction,
                     fmt::format("waits for an exchange that thread {} does "
                                 "not take part in",
                                 &thread - threads.data()));
    if (instruction.op == Op::Mma && lanes.size() != warp)
      return fault(unsigned(first), instruction, "is in no whole warp");
    instruction.op == Op::Mma ? addProduct(lanes, instruction)
                              : shiftValues(first, lanes, instruction);
    for (Thread &thread : lanes)
      thread.waits = false;
    haveExchanged = true;
    return Success();
  }

  void shiftValues(size_t first, std::span<Thread> lanes,
                   const Instruction &instruction) {
    std::vector<uint64_t> values;
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      values.push_back(valueOf(lanes[lane], unsigned(first + lane),
                               instruction.operands[0]));
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      const uint64_t source =
          lane +
          valueOf(lanes[lane], unsigned(first + lane), instruction.operands[1]);
      assign(lanes[lane], instruction.result,
             values[source < values.size() ? source : lane]);
    }
  }

  /// A product of 16 x 16 and 16 x 8 numbers, added to 16 x 8 sums. Lane l has
  /// those of row, or of column, l / 4, and of the pair l % 4 in it.
  void addProduct(std::span<Thread> lanes, const Instruction &instruction) {
    constexpr unsigned rows = 16, columns = 8, depth = 16, results = 4,
                       lhsWords = 4, rhsWords = 2;
    auto valueIn = [&](unsigned lane, unsigned word, unsigned beside) {
      const uint64_t pair =
          lanes[lane].registers[instruction.fragments[results + word]];
      const auto bits = uint16_t(pair >> (16 * beside));
      return instruction.ofBrainFloats
                 ? std::bit_cast<float>(uint32_t(bits) << 16)
                 : float(std::bit_cast<_Float16>(bits));
    };
    std::array<std::array<float, depth>, rows> lhs{};
    std::array<std::array<float, columns>, depth> rhs{};
    for (unsigned lane = 0; lane < warp; ++lane)
      for (unsigned beside : {0u, 1u}) {
        const unsigned group = lane / 4, place = lane % 4 * 2 + beside;
        for (unsigned word = 0; word < lhsWords; ++word)
          lhs[group + word % 2 * 8][place + word / 2 * 8] =
              valueIn(lane, word, beside);
        for (unsigned word = 0; word < rhsWords; ++word)
          rhs[place + word * 8][group] = valueIn(lane, lhsWords + word, beside);
      }
    for (unsigned lane = 0; lane < warp; ++lane)
      for (unsigned i = 0; i < results; ++i) {
        const unsigned row = lane / 4 + i / 2 * 8,
                       column = lane % 4 * 2 + i % 2;
        const int source =
            instruction.fragments[results + lhsWords + rhsWords + i];
        double sum =
            std::bit_cast<float>(uint32_t(lanes[lane].registers[source]));
        for (unsigned k = 0; k < depth; ++k)
          sum += double(lhs[row][k]) * double(rhs[k][column]);
        productSums[lane * results + i] = float(sum);
      }
    for (unsigned lane = 0; lane < warp; ++lane)
      for (unsigned i = 0; i < results; ++i)
        assign(lanes[lane], instruction.fragments[i],
               std::bit_cast<uint32_t>(productSums[lane * results + i]));
  }

  /// Runs a thread until it ends or waits.
  Status runThread(unsigned index) {
    Thread &thread = threads[index];
    while (!thread.ended && !thread.waits) {
      const Instruction &instruction = kernel.code[thread.next++];
      if (++steps > mostSteps)
        return fault(index, instruction, "runs for too long");
      if (instruction.guard >= 0 && (thread.registers[instruction.guard] !=
                                     0) == instruction.guardNegated)
        continue;
      switch (instruction.op) {
      case Op::Ret:
        thread.ended = true;
        break;
      case Op::Bra:
        thread.next = instruction.target;
        break;
      case Op::BarSync:
      case Op::Mma:
      case Op::ShflDown:
        thread.waits = true;
        break;
      case Op::SetCondition:
        if (!launch.setCondition ||
            !launch.setCondition(
                valueOf(thread, index, instruction.operands[0]),
                uint32_t(valueOf(thread, index, instruction.operands[1]))))
          return fault(index, instruction, "sets a condition of no graph");
        break;
      case Op::Ld:
      case Op::St:
        if (Status done = access(index, instruction); !done)
          return done;
        break;
      default: {
        OperandBits operands{};
        for (unsigned i = 0; i < instruction.operandCount; ++i)
          operands[i] = valueOf(thread, index, instruction.operands[i]);
        auto value = evaluate(instruction, operands);
        if (!value)
          return fault(index, instruction, "divides by zero");
        assign(thread, instruction.result, *value);
        if (instruction.highResult >= 0)
          assign(thread, instruction.highResult,
                 *value >> (instruction.type.bits / 2));
      }
      }
    }
    return Success();
  }

  uint64_t valueOf(const Thread &thread, unsigned index,
                   const Operand &operand) const {
    switch (operand.kind) {
    case Operand::Kind::Constant:
      return operand.value;
    case Operand::Kind::Register:
      return thread.registers[operand.value];
    case Operand::Kind::Special:
      break;
    }
    switch (Special(operand.value)) {
    case Special::Thread:
      return index;
    case Special::Threads:
      return launch.threads;
    case Special::Block:
      return number;
    case Special::Blocks:
      return launch.blocks;
    }
    return 0;
  }

  void assign(Thread &thread, int result, uint64_t value) const {
    if (result < 0)
      return;
    const unsigned bits = kernel.registerBits[result];
    thread.registers[result] =
        bits == 64 ? value : value & ((uint64_t(1) << bits) - 1);
  }

  Status access(unsigned index, const Instruction &instruction) {
    Thread &thread = threads[index];
    const bool isLoad = instruction.op == Op::Ld;
    if (instruction.space == Space::Parameter) {
      assign(thread, instruction.result,
             launch.parameters[instruction.operands[0].value]);
      return Success();
    }
    const size_t bytes = instruction.type.bits / 8;
    const uint64_t address =
        valueOf(thread, index, instruction.operands[0]) + instruction.offset;
    if (instruction.space == Space::Constant)
      return loadConstant(index, instruction, address);
    const bool isShared = instruction.space == Space::Shared;
    char *place = nullptr;
    AccessLog *log = &sharedLog;
    size_t offset = address;
    if (!isShared) {
      place = memory.find(address, bytes);
      if (place)
        std::tie(log, offset) = memory.logOf(address);
    } else if (address <= shared.size() && bytes <= shared.size() - address) {
      place = shared.data() + address;
    }
    if (counter && !isShared)
      counter->add(index, instruction, address, bytes);
    if (!place)
      return fault(index, instruction,
                   fmt::format("{} {} bytes outside of all {}",
                               isLoad ? "reads" : "writes", bytes,
                               isShared ? "memory of its block" : "arrays"));
    const size_t accessBytes = bytes * instruction.vectorSize;
    if ((address - instruction.vectorPlace) % accessBytes != 0)
      return fault(index, instruction,
                   fmt::format("accesses {} bytes at an address that is no "
                               "multiple of that",
                               accessBytes));
    if (isLoad && isShared && !log->isWritten(offset, bytes))
      return fault(index, instruction,
                   "reads memory of its block that nobody has written");
    const uint32_t name = number * launch.threads + index + 1;
    Status free = isLoad ? log->read(offset, bytes, name, phase)
                         : log->write(offset, bytes, name, phase);
    if (!free)
      return fault(index, instruction,
                   fmt::format("{} what another thread has {} since the last "
                               "barrier",
                               isLoad ? "reads" : "writes",
                               free.error().message()));
    if (instruction.constantRead && log->isWrittenIn(phase, offset, bytes))
      return fault(index, instruction,
                   "reads as constant what the launch has written");
    if (!isLoad) {
      const uint64_t value = valueOf(thread, index, instruction.operands[1]);
      std::memcpy(place, &value, bytes);
      return Success();
    }
    load(thread, instruction, place);
    return Success();
  }

  void load(Thread &thread, const Instruction &instruction,
            const char *place) const {
    const size_t bytes = instruction.type.bits / 8;
    uint64_t value = 0;
    std::memcpy(&value, place, bytes);
    if (instruction.type.kind == TypeKind::Signed && bytes < 8) {
      const unsigned shift = 64 - instruction.type.bits;
      value = uint64_t(int64_t(value << shift) >> shift);
    }
    assign(thread, instruction.result, value);
  }

  Status loadConstant(unsigned index, const Instruction &instruction,
                      uint64_t address) {
    const size_t bytes = instruction.type.bits / 8;
    const std::vector<char> &constants = program.constants;
    if (address % bytes != 0 || address > constants.size() ||
        bytes > constants.size() - address)
      return fault(index, instruction,
                   fmt::format("reads {} bytes outside of all constants, or at "
                               "an odd address",
                               bytes));
    load(threads[index], instruction, constants.data() + address);
    return Success();
  }

  const Program &program;
  const Kernel &kernel;
  const Launch &launch;
  Memory &memory;
  const unsigned number;
  uint64_t &steps;
  std::vector<char> shared;
  AccessLog sharedLog;
  std::vector<Thread> threads;
  std::array<float, size_t(warp) * 4> productSums{}; ///< of a warp
  Phase phase;
  std::optional<SectorCounter> counter;
};

} // namespace

Status run(const Program &program, const Kernel &kernel, const Launch &launch,
           Memory &memory) {
  if (launch.blocks == 0 || launch.threads == 0)
    return Error(fmt::format("{}: a launch of {} blocks of {} threads",
                             kernel.name, launch.blocks, launch.threads));
  if (launch.threads > kernel.mostThreads)
    return Error(fmt::format("{}: a block of {} threads, where the kernel is "
                             "for {} at most",
                             kernel.name, launch.threads, kernel.mostThreads));
  if (launch.parameters.size() != kernel.parameters)
    return Error(fmt::format("{}: {} parameters, where the kernel has {}",
                             kernel.name, launch.parameters.size(),
                             kernel.parameters));
  std::mt19937 random(launch.seed);
  std::vector<unsigned> order(launch.blocks);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  const uint32_t firstPhase = memory.beginPhase();
  uint64_t steps = 0;
  for (unsigned block : order)
    if (Status done =
            Block(program, kernel, launch, memory, block, firstPhase, steps)
                .run(random);
        !done)
      return done;
  return Success();
}

} // namespace meshloom::ptx
