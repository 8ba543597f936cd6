// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reader of PTX. LLVM writes one instruction, label or directive a line.
#include "PtxNames.h"
#include "PtxScalars.h"
#include "PtxText.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace meshloom::ptx {
namespace {

class Reader {
public:
  Result<Program> read(std::string_view text) {
    for (std::string_view line : split(text, '\n'))
      program.lines.emplace_back(line);
    for (const std::string &line : program.lines) {
      ++number;
      std::string_view remaining = line;
      remaining = trim(remaining.substr(0, remaining.find("//")));
      if (!remaining.empty() && !readLine(remaining))
        return Error(fmt::format("line {} of the PTX is not understood: '{}'",
                                 number, trim(line)));
    }
    if (kernel || !branches.empty())
      return Error("the PTX ends inside of a kernel");
    return std::move(program);
  }

private:
  bool readLine(std::string_view line) {
    if (kernel)
      return inHead ? readHead(line) : readBody(line);
    if (line.starts_with(".version ") || line.starts_with(".target ") ||
        line == ".address_size 64")
      return true;
    if (declared < conditionFunction.size() &&
        line == conditionFunction[declared]) {
      program.setsConditions = true;
      ++declared;
      return true;
    }
    if (take(line, ".const .align "))
      return readConstant(line);
    if (!take(line, ".visible .entry "))
      return false;
    kernel = &program.kernels.emplace_back();
    for (Slot slot = 0; slot < firstFreeSlot; ++slot)
      addSlot(64, 0);
    inHead = true;
    const bool hasParameters = line.ends_with("(");
    kernel->name = line.substr(0, line.size() - (hasParameters ? 1 : 2));
    return hasParameters || line.ends_with("()");
  }

  /// Adds a register, which is full of poison, or a constant.
  Slot addSlot(unsigned bits, uint64_t value = 0xcbcbcbcbcbcbcbcbull) {
    kernel->masks.push_back(~uint64_t(0) >> (64 - bits));
    kernel->slots.push_back(value);
    return Slot(kernel->slots.size() - 1);
  }

  /// An array of bytes: `16 .b8 NAME[1024]`.
  struct Declared {
    std::string name;
    unsigned align, size;
  };
  static std::optional<Declared> parseArray(std::string_view line) {
    const size_t name = line.find(" .b8 "), open = line.find('[');
    if (name == std::string_view::npos || open == std::string_view::npos ||
        !line.ends_with("]"))
      return std::nullopt;
    auto align = parseNumber<unsigned>(line.substr(0, name));
    auto size =
        parseNumber<unsigned>(line.substr(open + 1, line.size() - open - 2));
    if (!align || !size || *align == 0)
      return std::nullopt;
    return Declared{std::string(line.substr(name + 5, open - name - 5)), *align,
                    *size};
  }

  /// `16 .b8 NAME[1024];`
  bool readShared(std::string_view line) {
    if (!line.ends_with(";"))
      return false;
    line.remove_suffix(1);
    auto array = parseArray(line);
    if (!array)
      return false;
    unsigned &bytes = kernel->sharedBytes;
    bytes = (bytes + array->align - 1) / array->align * array->align;
    shared[array->name] = bytes;
    bytes += array->size;
    return true;
  }

  /// `8 .b8 NAME[2] = {0, 255};`
  bool readConstant(std::string_view line) {
    constexpr std::string_view begin = " = {", end = "};";
    const size_t values = line.find(begin);
    if (values == std::string_view::npos || !line.ends_with(end))
      return false;
    auto array = parseArray(line.substr(0, values));
    if (!array)
      return false;
    line.remove_suffix(end.size());
    std::vector<char> &bytes = program.constants;
    bytes.resize((bytes.size() + array->align - 1) / array->align *
                 array->align);
    constants[array->name] = bytes.size();
    unsigned count = 0;
    for (std::string_view text :
         split(line.substr(values + begin.size()), ',')) {
      auto value = parseNumber<uint8_t>(text);
      if (!value)
        return false;
      bytes.push_back(char(*value));
      ++count;
    }
    return count == array->size;
  }

  bool readHead(std::string_view line) {
    if (line == "{") {
      inHead = false;
      return true;
    }
    if (line == ")")
      return true;
    if (take(line, ".maxntid ")) {
      auto extents = split(line, ',');
      auto threads = parseNumber<unsigned>(extents[0]);
      kernel->mostThreads = threads.value_or(0);
      return threads && extents.size() == 3 && extents[1] == "1" &&
             extents[2] == "1";
    }
    if (!take(line, ".param .u64 "))
      return false;
    if (line.ends_with(","))
      line.remove_suffix(1);
    return line ==
           fmt::format("{}_param_{}", kernel->name, kernel->parameters++);
  }

  /// `.param .b64 param0;`, `st.param.b64 [param0], %rd1;` and
  /// `call.uni cudaGraphSetConditional, (param0, param1);`, of which only the
  /// last is an instruction.
  bool readCall(std::string_view line) {
    if (!inBraces || !program.setsConditions || !line.ends_with(";"))
      return false;
    line.remove_suffix(1);
    if (take(line, ".param .b"))
      return line == "64 param0" || line == "32 param1";
    for (unsigned i : {0u, 1u})
      if (take(line, i == 0 ? "st.param.b64" : "st.param.b32")) {
        const auto operands = split(line, ',');
        return operands.size() == 2 &&
               operands[0] == fmt::format("[param{}]", i) &&
               readOperand(operands[1], callArguments[i]);
      }
    if (!take(line, "call.uni") ||
        trim(line) != "cudaGraphSetConditional, (param0, param1)")
      return false;
    Instruction instruction;
    instruction.line = number;
    instruction.op = Op::SetCondition;
    std::ranges::copy(callArguments, instruction.operands.begin());
    return add(instruction);
  }

  /// `mma...` and four lines of registers: `{%f1, %f2, %f3, %f4},`
  bool readProduct(std::string_view line) {
    if (productLines == 0) {
      constexpr std::string_view begin =
          "mma.sync.aligned.m16n8k16.row.col.f32.";
      Instruction instruction;
      instruction.line = number;
      instruction.op = Op::Mma;
      if (!take(line, begin) ||
          (line != "bf16.bf16.f32" && line != "f16.f16.f32"))
        return false;
      instruction.ofBrainFloats = line.starts_with("b");
      instruction.fragments = unsigned(kernel->fragments.size());
      kernel->fragments.emplace_back();
      productLines = 4;
      productRegisters = 0;
      return add(instruction);
    }
    line.remove_suffix(1);
    if (!take(line, "{") || !line.ends_with("}"))
      return false;
    line.remove_suffix(1);
    auto &registers = kernel->fragments.back();
    for (std::string_view name : split(line, ','))
      if (productRegisters == registers.size() ||
          !readRegister(name, registers[productRegisters++]))
        return false;
    return --productLines > 0 || productRegisters == registers.size();
  }

  bool readBody(std::string_view line) {
    if (productLines > 0 || line.starts_with("mma."))
      return readProduct(line);
    if (line == "{") {
      inBraces = true;
      return true;
    }
    for (std::string_view part : {".param ", "st.param", "call"})
      if (line.starts_with(part))
        return readCall(line);
    if (line == "}")
      return std::exchange(inBraces, false) || endKernel();
    if (line.ends_with(":"))
      return labels
          .try_emplace(std::string(line.substr(0, line.size() - 1)),
                       kernel->code.size())
          .second;
    if (line == ".pragma \"nounroll\";")
      return true;
    if (take(line, ".shared .align "))
      return readShared(line);
    if (take(line, ".reg "))
      return readRegisters(line);
    if (take(line, "{ .reg .b")) { // half of a register, as LLVM writes it
      const size_t begin = line.find("mov.b");
      if (!line.ends_with("; }") || begin == std::string_view::npos)
        return false;
      line = line.substr(begin, line.size() - begin - 2);
    }
    if (!line.ends_with(";"))
      return false;
    line.remove_suffix(1);
    Instruction instruction;
    instruction.line = number;
    if (take(line, "@")) {
      instruction.guardNegated = take(line, "!");
      const size_t end = line.find(' ');
      Slot guard = 0;
      if (end == std::string_view::npos ||
          !readRegister(line.substr(0, end), guard))
        return false;
      instruction.guard = int(guard);
      line = trim(line.substr(end));
    }
    if (const size_t elements = line.find(".v"); elements != line.npos)
      return readVector(std::string(line), elements, instruction);
    if (!readInstruction(line, instruction))
      return false;
    return add(instruction);
  }

  /// Returns false where no instruction has this op and type.
  bool add(Instruction instruction) {
    instruction.compute = computationOf(instruction);
    instruction.resultMask = kernel->masks[instruction.result];
    instruction.dividesIntegers =
        (instruction.op == Op::Div || instruction.op == Op::Rem) &&
        instruction.type.kind != TypeKind::Float;
    kernel->code.push_back(instruction);
    return instruction.compute || isOfThreads(instruction.op);
  }

  /// `ld.global.v2.f32 {%f1, %f2}, [%rd1]`, or a store: an instruction for each
  /// element.
  bool readVector(std::string line, size_t place, Instruction instruction) {
    const auto size = parseNumber<unsigned>(line.substr(place + 2, 1));
    const size_t open = line.find('{'), close = line.find('}');
    if ((size != 2u && size != 4u) || open == line.npos || close < open)
      return false;
    const std::string registers = line.substr(open + 1, close - open - 1);
    const std::vector<std::string_view> names = split(registers, ',');
    if (names.size() != *size)
      return false;
    instruction.vectorSize = uint8_t(*size);
    for (unsigned i = 0; i < *size; ++i) {
      const std::string text = line.substr(0, place) +
                               line.substr(place + 3, open - place - 3) +
                               std::string(names[i]) + line.substr(close + 1);
      Instruction element = instruction;
      if (!readInstruction(text, element))
        return false;
      element.vectorPlace = uint8_t(i * element.type.bits / 8);
      element.offset += element.vectorPlace;
      if (!add(element))
        return false;
    }
    return true;
  }

  /// `.b32 %r<4>;`, or `.b64 %lhs;` for a part of the code in braces
  bool readRegisters(std::string_view line) {
    const size_t name = line.find('%');
    if (!line.starts_with(".") || name == std::string_view::npos ||
        !line.ends_with(";"))
      return false;
    auto type = parseType(trim(line.substr(1, name - 1)));
    if (!type)
      return false;
    line = line.substr(name, line.size() - name - 1);
    const size_t open = line.find('<');
    if (open == std::string_view::npos) {
      singleRegisters.insert_or_assign(std::string(line), addSlot(type->bits));
      return inBraces;
    }
    auto count =
        parseNumber<unsigned>(line.substr(open + 1, line.size() - open - 2));
    if (!count || !line.ends_with(">"))
      return false;
    registers[std::string(line.substr(0, open))] = {Slot(kernel->slots.size()),
                                                    *count};
    for (unsigned i = 0; i < *count; ++i)
      addSlot(type->bits);
    return true;
  }

  bool readRegister(std::string_view name, Slot &result) {
    if (auto single = singleRegisters.find(std::string(name));
        inBraces && single != singleRegisters.end()) {
      result = single->second;
      return true;
    }
    const size_t digits = name.find_first_of("0123456789");
    if (digits == std::string_view::npos)
      return false;
    auto range = registers.find(std::string(name.substr(0, digits)));
    auto index = parseNumber<unsigned>(name.substr(digits));
    if (range == registers.end() || !index || *index >= range->second.second)
      return false;
    result = range->second.first + *index;
    return true;
  }

  bool readOperand(std::string_view text, Slot &operand) {
    if (auto special = specialNames.find(text); special != specialNames.end()) {
      operand = Slot(special->second);
      return true;
    }
    if (text.starts_with("%") && readRegister(text, operand))
      return true;
    std::optional<uint64_t> value;
    std::string_view digits = text;
    if (take(digits, "0f") && digits.size() == 8)
      value = parseNumber<uint32_t>(digits, 16);
    else if (digits = text; take(digits, "0d") && digits.size() == 16)
      value = parseNumber<uint64_t>(digits, 16);
    else if (digits = text; take(digits, "0x")) // bits of an f16 or bf16
      value = parseNumber<uint64_t>(digits, 16);
    else if (auto place = shared.find(std::string(text)); place != shared.end())
      value = place->second;
    else if (auto array = constants.find(std::string(text));
             array != constants.end())
      value = array->second;
    else if (auto number = parseNumber<int64_t>(text))
      value = uint64_t(*number);
    else
      value = parseNumber<uint64_t>(text);
    if (!value)
      return false;
    auto [constant, isNew] = constantSlots.try_emplace(*value);
    if (isNew)
      constant->second = addSlot(64, *value);
    operand = constant->second;
    return true;
  }

  /// `[%rd1+-8]`, `[NAME+4]`
  bool readAddress(std::string_view text, Instruction &instruction) {
    if (!text.starts_with("[") || !text.ends_with("]"))
      return false;
    text = text.substr(1, text.size() - 2);
    const size_t plus = text.find('+');
    if (plus != std::string_view::npos) {
      auto offset = parseNumber<int64_t>(text.substr(plus + 1));
      if (!offset)
        return false;
      instruction.offset = *offset;
      text = text.substr(0, plus);
    }
    if (instruction.space != Space::Parameter)
      return readOperand(text, instruction.operands[0]);
    if (!take(text, kernel->name + "_param_"))
      return false;
    auto index = parseNumber<unsigned>(text);
    instruction.offset = index.value_or(0);
    return index && *index < kernel->parameters && plus == text.npos;
  }

  bool readInstruction(std::string_view line, Instruction &instruction) {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    std::vector<std::string_view> words = split(line.substr(0, end), '.');
    std::vector<std::string_view> operands;
    if (std::string_view remaining = trim(line.substr(end)); !remaining.empty())
      operands = split(remaining, ',');
    const std::string_view name = words.front();
    words.erase(words.begin());
    if (name == "ret") {
      instruction.op = Op::Ret;
      return words.empty() && operands.empty();
    }
    if (name == "bar") {
      instruction.op = Op::BarSync;
      return words.size() == 1 && words[0] == "sync" && operands.size() == 1 &&
             operands[0] == "0" && instruction.guard < 0;
    }
    if (name == "shfl") {
      instruction.op = Op::ShflDown;
      // The whole warp takes part, and no part of it stays among itself.
      if (words != std::vector<std::string_view>{"sync", "down", "b32"} ||
          operands.size() != 5 || operands[3] != "31" || operands[4] != "-1")
        return false;
      operands.resize(3);
      return instruction.guard < 0 &&
             readRegister(operands[0], instruction.result) &&
             readOperands(operands, instruction);
    }
    if (name == "bra") {
      instruction.op = Op::Bra;
      if (operands.size() != 1 ||
          !(words.empty() || (words.size() == 1 && words[0] == "uni")))
        return false;
      branches.emplace_back(kernel->code.size(), operands[0]);
      return true;
    }
    if (name == "ld" || name == "st")
      return readMove(name == "ld", words, operands, instruction);
    auto op = opNames.find(name);
    if (op == opNames.end() || words.empty())
      return false;
    instruction.op = op->second;
    if (!readModifiers(words, instruction))
      return false;
    if (name == "mov" && operands.size() == 3)
      return readHalves(operands, instruction);
    return operands.size() == 1 + countOperands(instruction.op) &&
           readRegister(operands[0], instruction.result) &&
           readOperands(operands, instruction);
  }

  /// `{%r1, %r2}, %rd1`, where one of both may be `tmp`, which nobody reads;
  /// or `%rd1, {%r1, %r2}`
  bool readHalves(std::vector<std::string_view> operands,
                  Instruction &instruction) {
    const size_t first = operands[0].starts_with("{") ? 0 : 1;
    if (!take(operands[first], "{") || !operands[first + 1].ends_with("}"))
      return false;
    operands[first + 1].remove_suffix(1);
    if (first == 1) {
      instruction.op = Op::Pack;
      return readRegister(operands[0], instruction.result) &&
             readOperands(operands, instruction);
    }
    instruction.op = Op::Unpack;
    auto readHalf = [&](std::string_view name, Slot &result) {
      return name == "tmp" || (readRegister(name, result) &&
                               std::bit_width(kernel->masks[result]) * 2 ==
                                   instruction.type.bits);
    };
    return readHalf(operands[0], instruction.result) &&
           readHalf(operands[1], instruction.highResult) &&
           readOperand(operands[2], instruction.operands[0]);
  }

  bool readOperands(const std::vector<std::string_view> &texts,
                    Instruction &instruction) {
    for (size_t i = 1; i < texts.size(); ++i)
      if (!readOperand(texts[i], instruction.operands[i - 1]))
        return false;
    return true;
  }

  bool readMove(bool isLoad, std::vector<std::string_view> words,
                const std::vector<std::string_view> &operands,
                Instruction &instruction) {
    instruction.op = isLoad ? Op::Ld : Op::St;
    if (words.size() == 3 && isLoad && words[0] == "global" &&
        words[1] == "nc") {
      instruction.constantRead = true;
      words.erase(words.begin() + 1);
    }
    if (words.size() != 2 || operands.size() != 2)
      return false;
    auto type = parseType(words[1]);
    if (words[0] == "global")
      instruction.space = Space::Global;
    else if (words[0] == "shared")
      instruction.space = Space::Shared;
    else if (words[0] == "const" && isLoad)
      instruction.space = Space::Constant;
    else if (words[0] == "param" && isLoad && type && type->bits == 64)
      instruction.space = Space::Parameter;
    else
      return false;
    if (!type || type->kind == TypeKind::Predicate)
      return false;
    instruction.type = *type;
    return isLoad ? readRegister(operands[0], instruction.result) &&
                        readAddress(operands[1], instruction)
                  : readAddress(operands[0], instruction) &&
                        readOperand(operands[1], instruction.operands[1]);
  }

  /// The words behind the op's name, of which the last is its type. Where a
  /// rounding is none of those here, or a flag is one of precision (approx,
  /// full, ftz, sat), the instruction is not in the subset.
  bool readModifiers(std::vector<std::string_view> words,
                     Instruction &instruction) {
    const Op op = instruction.op;
    auto type = parseType(words.back());
    if (!type)
      return false;
    words.pop_back();
    instruction.type = *type;
    if (op == Op::Cvt) {
      auto to = words.empty() ? std::nullopt : parseType(words.back());
      if (!to)
        return false;
      words.pop_back();
      instruction.from = std::exchange(instruction.type, *to);
    }
    if (op == Op::Cvta)
      return words == std::vector<std::string_view>{"to", "global"};
    if (op == Op::Setp) {
      auto compare =
          words.size() == 1 ? compareNames.find(words[0]) : compareNames.end();
      if (compare == compareNames.end())
        return false;
      instruction.compare = compare->second;
      return true;
    }
    if (op == Op::Shf) {
      instruction.toLeft = words.size() == 2 && words[0] == "l";
      return words.size() == 2 && (words[0] == "l" || words[0] == "r") &&
             words[1] == "wrap";
    }
    if (op == Op::Testp) {
      instruction.finite = words.size() == 1 && words[0] == "finite";
      return instruction.finite ||
             (words.size() == 1 && words[0] == "infinite");
    }
    if (words.empty()) {
      const bool isFloat = type->kind == TypeKind::Float;
      return op == Op::Cvt ? true
                           : op != Op::Fma && op != Op::Mad &&
                                 (isFloat || op != Op::Mul) &&
                                 !(isFloat && (op == Op::Div || op == Op::Rcp ||
                                               op == Op::Sqrt));
    }
    if (words.size() > 1)
      return false;
    return readModifier(words[0], instruction);
  }

  static bool readModifier(std::string_view word, Instruction &instruction) {
    const Op op = instruction.op;
    if (op == Op::Mul || op == Op::Mad) {
      instruction.part = word == "lo"     ? Part::Low
                         : word == "hi"   ? Part::High
                         : word == "wide" ? Part::Wide
                                          : Part::None;
      if (instruction.part != Part::None)
        return true;
    }
    if (op == Op::Min || op == Op::Max) {
      instruction.nanWins = true;
      return word == "NaN";
    }
    if (op == Op::Cvt && word != "rn") {
      instruction.rounding = word == "rni"   ? Rounding::Nearest
                             : word == "rzi" ? Rounding::Zero
                             : word == "rmi" ? Rounding::Down
                             : word == "rpi" ? Rounding::Up
                                             : Rounding::None;
      return instruction.rounding != Rounding::None;
    }
    return word == "rn";
  }

  bool endKernel() {
    for (auto &[from, label] : branches) {
      auto place = labels.find(std::string(label));
      if (place == labels.end() || place->second >= kernel->code.size())
        return false;
      kernel->code[from].target = unsigned(place->second);
    }
    if (kernel->code.empty() || kernel->code.back().guard >= 0 ||
        (kernel->code.back().op != Op::Ret &&
         kernel->code.back().op != Op::Bra))
      return false;
    branches.clear();
    labels.clear();
    shared.clear();
    registers.clear();
    singleRegisters.clear();
    constantSlots.clear();
    kernel = nullptr;
    return true;
  }

  Program program;
  unsigned number = 0;
  Kernel *kernel = nullptr; ///< the one that is read
  bool inHead = false;
  bool inBraces = false; ///< in a part of a kernel with registers for itself
  /// The declaration of the only function that is called.
  static constexpr std::array<std::string_view, 6> conditionFunction = {
      ".extern .func cudaGraphSetConditional",
      "(",
      ".param .b64 cudaGraphSetConditional_param_0,",
      ".param .b32 cudaGraphSetConditional_param_1",
      ")",
      ";"};
  unsigned productLines = 0;           ///< that an mma still has
  size_t productRegisters = 0;         ///< that it has so far
  size_t declared = 0;                 ///< lines of it
  std::array<Slot, 2> callArguments{}; ///< of the call that is read
  /// Where the arrays begin, in a kernel's shared memory and in the constants.
  std::map<std::string, size_t> shared, constants;
  /// By prefix: the first one, and how many there are.
  std::map<std::string, std::pair<Slot, unsigned>> registers;
  std::map<std::string, Slot> singleRegisters; ///< those of a part in braces
  std::map<uint64_t, Slot> constantSlots;
  std::map<std::string, size_t> labels;
  std::vector<std::pair<size_t, std::string_view>> branches;
};

} // namespace

const Kernel *Program::find(std::string_view name) const {
  for (const Kernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

Result<Program> parse(std::string_view text) {
  return Reader().read(text);
}

} // namespace meshloom::ptx
