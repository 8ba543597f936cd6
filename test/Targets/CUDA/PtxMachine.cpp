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

std::span<AccessLog::Cell> AccessLog::cellsOf(size_t offset, size_t bytes) {
  while ((offset | bytes) & (cellBytes - 1)) {
    std::vector<Cell> halves;
    halves.reserve(2 * cells.size());
    for (const Cell &cell : cells)
      halves.insert(halves.end(), 2, cell);
    cells = std::move(halves);
    cellBytes /= 2;
  }
  const unsigned shift = unsigned(std::countr_zero(cellBytes));
  return std::span(cells).subspan(offset >> shift, bytes >> shift);
}

const char *AccessLog::read(size_t offset, size_t bytes, uint32_t thread,
                            Phase phase) {
  for (Cell &cell : cellsOf(offset, bytes)) {
    if (cell.writer != thread && isUnordered(cell.writePhase, phase))
      return "written";
    if (cell.readPhase < phase.launch)
      cell.reader = thread;
    else if (cell.readPhase < phase.block)
      cell.reader = severalBlocks;
    else if (cell.reader != severalBlocks && cell.reader != thread)
      cell.reader = cell.readPhase == phase.now ? severalThreads : thread;
    cell.readPhase = phase.now;
  }
  return nullptr;
}

const char *AccessLog::write(size_t offset, size_t bytes, uint32_t thread,
                             Phase phase) {
  for (Cell &cell : cellsOf(offset, bytes)) {
    if (cell.writer != thread && isUnordered(cell.writePhase, phase))
      return "written";
    const bool readBefore = cell.readPhase >= phase.launch;
    if (readBefore &&
        (cell.reader == severalBlocks ||
         (cell.reader != thread && isUnordered(cell.readPhase, phase))))
      return "read";
    cell.writer = thread;
    cell.writePhase = phase.now;
  }
  return nullptr;
}

bool AccessLog::isWritten(size_t offset, size_t bytes) {
  return std::ranges::all_of(cellsOf(offset, bytes), [](const Cell &cell) {
    return cell.writePhase != 0;
  });
}

bool AccessLog::isWrittenIn(Phase phase, size_t offset, size_t bytes) {
  return std::ranges::any_of(cellsOf(offset, bytes), [&](const Cell &cell) {
    return cell.writePhase >= phase.launch;
  });
}

void Memory::add(void *address, size_t bytes) {
  arrays.insert_or_assign(reinterpret_cast<uint64_t>(address),
                          Array{bytes, nullptr});
}

void Memory::remove(void *address) {
  arrays.erase(reinterpret_cast<uint64_t>(address));
  last = arrays.end();
}

bool Memory::findArray(uint64_t address, size_t bytes) {
  auto isInLast = [&] {
    return last != arrays.end() && address >= last->first &&
           address - last->first + bytes <= last->second.bytes;
  };
  if (isInLast())
    return true;
  const auto behind = arrays.upper_bound(address);
  last = behind == arrays.begin() ? arrays.end() : std::prev(behind);
  return isInLast();
}

std::optional<Memory::Found> Memory::find(uint64_t address, size_t bytes) {
  if (!findArray(address, bytes))
    return std::nullopt;
  Array &array = last->second;
  if (!array.log)
    array.log = std::make_unique<AccessLog>(array.bytes);
  return Found{array.log.get(), address - last->first};
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
constexpr uint64_t mostBranches = uint64_t(1) << 28;

class Block {
public:
  Block(const Program &program, const Kernel &kernel, const Launch &launch,
        Memory &memory, unsigned number, uint32_t firstPhase,
        uint64_t &branches)
      : program(program), kernel(kernel), launch(launch), memory(memory),
        number(number), branches(branches),
        shared(kernel.sharedBytes, char(0xcb)), sharedLog(kernel.sharedBytes),
        threads(launch.threads), slots(kernel.slots.size() * launch.threads) {
    phase.launch = firstPhase;
    phase.block = phase.now = memory.beginPhase();
    if (launch.traffic)
      counter.emplace(*launch.traffic);
    uint64_t *place = slots.data();
    for (unsigned index = 0; index < launch.threads; ++index) {
      threads[index].slots = place;
      std::ranges::copy(kernel.slots, place);
      place[size_t(Special::Thread)] = index;
      place[size_t(Special::Threads)] = launch.threads;
      place[size_t(Special::Block)] = number;
      place[size_t(Special::Blocks)] = launch.blocks;
      place += kernel.slots.size();
    }
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
    uint64_t *slots = nullptr;
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
                              : shiftValues(lanes, instruction);
    for (Thread &thread : lanes)
      thread.waits = false;
    haveExchanged = true;
    return Success();
  }

  void shiftValues(std::span<Thread> lanes, const Instruction &instruction) {
    const Slot value = instruction.operands[0],
               distance = instruction.operands[1];
    std::vector<uint64_t> values;
    for (const Thread &thread : lanes)
      values.push_back(thread.slots[value]);
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      const uint64_t source = lane + lanes[lane].slots[distance];
      assign(lanes[lane], instruction.result,
             values[source < values.size() ? source : lane]);
    }
  }

  /// A product of 16 x 16 and 16 x 8 numbers, added to 16 x 8 sums. Lane l has
  /// those of row, or of column, l / 4, and of the pair l % 4 in it.
  void addProduct(std::span<Thread> lanes, const Instruction &instruction) {
    constexpr unsigned rows = 16, columns = 8, depth = 16, results = 4,
                       lhsWords = 4, rhsWords = 2;
    const Fragments &fragments = kernel.fragments[instruction.fragments];
    auto valueIn = [&](unsigned lane, unsigned word, unsigned beside) {
      const uint64_t pair = lanes[lane].slots[fragments[results + word]];
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
        const Slot source = fragments[results + lhsWords + rhsWords + i];
        double sum = std::bit_cast<float>(uint32_t(lanes[lane].slots[source]));
        for (unsigned k = 0; k < depth; ++k)
          sum += double(lhs[row][k]) * double(rhs[k][column]);
        productSums[lane * results + i] = float(sum);
      }
    for (unsigned lane = 0; lane < warp; ++lane)
      for (unsigned i = 0; i < results; ++i)
        assign(lanes[lane], fragments[i],
               std::bit_cast<uint32_t>(productSums[lane * results + i]));
  }

  /// Runs a thread until it ends or waits.
  Status runThread(unsigned index) {
    Thread &thread = threads[index];
    if (thread.ended || thread.waits)
      return Success();
    uint64_t *const slots = thread.slots;
    size_t next = thread.next;
    while (true) {
      const Instruction &instruction = kernel.code[next++];
      if (instruction.guard >= 0 &&
          (slots[instruction.guard] != 0) == instruction.guardNegated)
        continue;
      if (instruction.compute) {
        if (instruction.dividesIntegers && dividesByZero(instruction, slots))
          return fault(index, instruction, "divides by zero");
        slots[instruction.result] =
            instruction.compute(instruction, slots) & instruction.resultMask;
        continue;
      }
      switch (instruction.op) {
      case Op::Bra:
        if (++branches > mostBranches)
          return fault(index, instruction, "runs for too long");
        next = instruction.target;
        break;
      case Op::Ld:
      case Op::St:
        if (Status done = access(index, instruction); !done)
          return done;
        break;
      case Op::Unpack: {
        const uint64_t value = slots[instruction.operands[0]];
        assign(thread, instruction.result, value);
        assign(thread, instruction.highResult,
               value >> (instruction.type.bits / 2));
        break;
      }
      case Op::SetCondition:
        if (!launch.setCondition ||
            !launch.setCondition(slots[instruction.operands[0]],
                                 uint32_t(slots[instruction.operands[1]])))
          return fault(index, instruction, "sets a condition of no graph");
        break;
      default: // the thread ends, or waits for others
        thread.ended = instruction.op == Op::Ret;
        thread.waits = !thread.ended;
        thread.next = next;
        return Success();
      }
    }
  }

  void assign(Thread &thread, Slot result, uint64_t value) const {
    thread.slots[result] = value & kernel.masks[result];
  }

  Status access(unsigned index, const Instruction &instruction) {
    Thread &thread = threads[index];
    const bool isLoad = instruction.op == Op::Ld;
    if (instruction.space == Space::Parameter) {
      assign(thread, instruction.result, launch.parameters[instruction.offset]);
      return Success();
    }
    const size_t bytes = instruction.type.bits / 8;
    const uint64_t address =
        thread.slots[instruction.operands[0]] + instruction.offset;
    if (instruction.space == Space::Constant)
      return loadConstant(index, instruction, address);
    const bool isShared = instruction.space == Space::Shared;
    char *place = nullptr;
    AccessLog *log = &sharedLog;
    size_t offset = address;
    if (!isShared) {
      if (const auto found = memory.find(address, bytes)) {
        place = reinterpret_cast<char *>(address);
        log = found->log;
        offset = found->offset;
      }
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
    if (((address - instruction.vectorPlace) & (accessBytes - 1)) != 0)
      return fault(index, instruction,
                   fmt::format("accesses {} bytes at an address that is no "
                               "multiple of that",
                               accessBytes));
    if (isLoad && isShared && !log->isWritten(offset, bytes))
      return fault(index, instruction,
                   "reads memory of its block that nobody has written");
    const uint32_t name = number * launch.threads + index + 1;
    if (const char *other = isLoad ? log->read(offset, bytes, name, phase)
                                   : log->write(offset, bytes, name, phase))
      return fault(index, instruction,
                   fmt::format("{} what another thread has {} since the last "
                               "barrier",
                               isLoad ? "reads" : "writes", other));
    if (instruction.constantRead && log->isWrittenIn(phase, offset, bytes))
      return fault(index, instruction,
                   "reads as constant what the launch has written");
    if (!isLoad) {
      const uint64_t value = thread.slots[instruction.operands[1]];
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
  uint64_t &branches; ///< that the launch has taken
  std::vector<char> shared;
  AccessLog sharedLog;
  std::vector<Thread> threads;
  std::vector<uint64_t> slots; ///< of each thread, one behind the other
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
  uint64_t branches = 0;
  for (unsigned block : order)
    if (Status done =
            Block(program, kernel, launch, memory, block, firstPhase, branches)
                .run(random);
        !done)
      return done;
  return Success();
}

} // namespace meshloom::ptx
