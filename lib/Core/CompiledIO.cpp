// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .mlprog files: a Compiled as bytes, and back. Layout of a file: the magic
// word, a version, the length and checksum of what follows, then the fields in
// order, little endian. The reader trusts nothing: every count is bounded by
// the bytes left, every enumerator and index is checked, and Program::verify
// has the last word.
#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/Hash.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace meshloom {

static constexpr std::string_view magic = "MESHLOOM";
static constexpr uint32_t version = 9;
static_assert(std::endian::native == std::endian::little,
              "files are little endian; add byte swaps for this machine");

static uint64_t checksum(std::string_view bytes) {
  StableHash hash;
  hash.add(bytes);
  return hash.value();
}

namespace {

class Writer {
public:
  std::string bytes;

  template <typename T>
    requires std::is_arithmetic_v<T>
  void put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
  }
  template <typename T>
    requires std::is_enum_v<T>
  void put(T value) {
    put(std::underlying_type_t<T>(value));
  }
  void put(std::string_view text) {
    put(uint64_t(text.size()));
    bytes.append(text);
  }
  void put(const std::string &text) { put(std::string_view(text)); }
  void put(const std::vector<char> &raw) {
    put(std::string_view(raw.data(), raw.size()));
  }
  template <typename T> void put(const std::vector<T> &list) {
    put(uint64_t(list.size()));
    for (const T &item : list)
      put(item);
  }
  template <typename T> void list(std::span<const T> items) {
    put(uint64_t(items.size()));
    for (const T &item : items)
      put(item);
  }
  void put(const MeshAxis &axis) {
    put(axis.name);
    put(axis.size);
  }
  void put(const Mesh &mesh) { list(mesh.axes()); }
  void put(Partial partial) {
    put(uint32_t(partial.axis));
    put(partial.kind);
  }
  void put(const Layout &layout) {
    put(layout.dim_axes());
    list(layout.partial());
  }
  /// One that may be over a mesh of its own.
  void putWithMesh(const Layout &layout) {
    put(layout.mesh());
    put(layout);
  }
  void put(const std::optional<Layout> &written) {
    put(bool(written));
    if (written)
      putWithMesh(*written);
  }
  void put(const Interval &interval) {
    put(interval.begin);
    put(interval.end);
  }
  void put(const SourceNote &note) {
    put(note.location);
    put(note.op);
  }
  void put(const BufferDecl &buffer) {
    put(buffer.name);
    put(buffer.type);
    put(buffer.shape);
    put(buffer.layout);
    put(buffer.windows);
  }
  void put(const ConstantData &constant) {
    put(uint32_t(constant.buffer));
    put(constant.bytes);
    put(constant.splat);
  }
  void put(const InputNotes &notes) {
    put(notes.bits);
    put(bool(notes.range));
    if (notes.range) {
      put(notes.range->first);
      put(notes.range->second);
    }
  }
  void put(const Argument &argument) {
    put(uint32_t(argument.buffer));
    put(argument.name);
    put(argument.written);
    put(argument.notes);
  }
  void put(const ProgramResult &result) {
    put(uint32_t(result.buffer));
    put(int32_t(result.aliasedArgument));
    put(result.name);
    put(result.written);
  }
  void put(const Loop &loop) {
    put(loop.extent);
    put(loop.reduction);
    put(loop.axes);
    put(loop.ranges);
    put(loop.held);
  }
  void put(const std::pair<unsigned, int64_t> &term) {
    put(uint32_t(term.first));
    put(term.second);
  }
  void put(const DimAccess &access) {
    put(access.offset);
    put(access.terms);
  }
  void put(const Operand &operand) {
    put(uint32_t(operand.buffer));
    put(operand.dims);
    put(operand.guarded);
  }
  void put(const CollectiveStep::Move &move) {
    put(uint32_t(move.from));
    put(uint32_t(move.to));
  }
  void put(const KernelStep &step) {
    put(step.symbol);
    put(step.loops);
    put(step.inputs);
    put(step.outputs);
    put(step.inPlace);
    put(step.note);
    put(step.flops);
    put(step.library);
    put(uint64_t(step.options.size()));
    for (const auto &[name, option] : step.options) {
      put(name);
      put(uint8_t(option.index()));
      std::visit([&](const auto &value) { put(value); }, option);
    }
    put(step.combine);
  }
  void put(const DotStep &step) {
    put(step.loops);
    put(step.lhs);
    put(step.rhs);
    put(step.out);
    put(step.note);
    put(bool(step.readWhere));
    if (step.readWhere)
      put(*step.readWhere);
  }
  void put(const CollectiveStep &step) {
    put(step.kind);
    put(step.axes);
    put(step.reduce);
    put(step.moves);
    put(step.reason);
    put(step.note);
  }
  void put(const LoopStep::Carry &carry) {
    for (unsigned buffer :
         {carry.init, carry.argument, carry.next, carry.result})
      put(uint32_t(buffer));
  }
  void put(const LoopStep &step) {
    put(step.carried);
    put(step.condition);
    put(step.body);
    put(uint32_t(step.predicate));
    put(step.tripCount);
    put(step.note);
  }
  void put(const BranchStep::Output &output) {
    put(uint32_t(output.result));
    put(output.values);
  }
  void put(const BranchStep &step) {
    put(uint32_t(step.index));
    put(step.branches);
    put(step.outputs);
    put(step.note);
  }
  void put(const Step &step) {
    put(uint8_t(step.index()));
    std::visit([&](const auto &alternative) { put(alternative); }, step);
  }
  void put(const Program &program) {
    put(program.name);
    put(program.mesh);
    put(program.buffers);
    put(program.constants);
    put(program.arguments);
    put(program.results);
    put(program.steps);
    put(program.deviceOrder);
    put(uint8_t(program.deterministic));
  }
  void put(const ArrayType &type) {
    put(type.dtype);
    put(type.shape);
    putWithMesh(type.layout);
  }
  void put(const Signature::Argument &argument) {
    put(argument.name);
    put(argument.type);
    put(argument.notes);
  }
  void put(const Signature::Result &result) {
    put(result.name);
    put(result.type);
    put(int32_t(result.aliasedArgument));
  }
  void put(const Signature &signature) {
    put(signature.name);
    put(signature.mesh);
    put(signature.arguments);
    put(signature.results);
    put(signature.deviceOrder);
  }
  void put(const CompiledCollective &collective) {
    put(collective.kind);
    put(collective.axes);
    put(collective.bytes);
    put(collective.values);
    put(collective.reason);
    put(collective.note);
  }
  /// All of `compiled` but the bytes of its code.
  void putContent(const Compiled &compiled) {
    put(compiled.machine());
    put(bool(compiled.coded()));
    if (const CodedProgram *coded = compiled.coded()) {
      put(coded->program);
    } else {
      put(compiled.signature());
      put(compiled.collectives());
      put(compiled.stableHLO()->text);
    }
  }
};

/// Reads what Writer wrote. After the first failure everything reads as zero or
/// empty, and `error` says what went wrong.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}

  std::string error;
  bool atEnd() const { return bytes.empty(); }
  void fail(std::string why) {
    if (error.empty())
      error = std::move(why);
    bytes = {};
  }

  template <typename T>
    requires std::is_arithmetic_v<T>
  T get() {
    T value{};
    if (bytes.size() < sizeof(T)) {
      fail("it ends too early");
      return T{};
    }
    std::memcpy(&value, bytes.data(), sizeof(T));
    bytes.remove_prefix(sizeof(T));
    return value;
  }
  bool flag() {
    uint8_t value = get<uint8_t>();
    if (value > 1)
      fail("a flag is neither 0 nor 1");
    return value == 1;
  }
  /// An enumerator up to `last`.
  template <typename T> T enumerator(T last) {
    auto value = get<std::underlying_type_t<T>>();
    if (value > std::underlying_type_t<T>(last)) {
      fail("an enumerator is out of range");
      return T{};
    }
    return T(value);
  }
  std::string_view raw() {
    uint64_t size = get<uint64_t>();
    if (size > bytes.size()) {
      fail("a string is longer than the file");
      return {};
    }
    std::string_view text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return text;
  }
  std::string text() { return std::string(raw()); }
  std::vector<char> blob() {
    std::string_view data = raw();
    return {data.begin(), data.end()};
  }
  /// Items take at least one byte each, so a count above the bytes left is
  /// wrong, and nothing is allocated for it.
  template <typename F> auto list(F item) {
    std::vector<decltype(item())> items;
    uint64_t count = get<uint64_t>();
    if (count > bytes.size())
      fail("a list is longer than the file");
    for (uint64_t i = 0; i < count && error.empty(); ++i)
      items.push_back(item());
    return items;
  }
  std::vector<unsigned> axisList() {
    return list([&] { return unsigned(get<uint32_t>()); });
  }
  std::vector<int64_t> integers() {
    return list([&] { return get<int64_t>(); });
  }

  std::vector<Interval> intervals() {
    return list([&] {
      Interval interval;
      interval.begin = get<int64_t>();
      interval.end = get<int64_t>();
      return interval;
    });
  }

  std::optional<Mesh> mesh() {
    auto axes = list([&] {
      MeshAxis axis;
      axis.name = text();
      axis.size = get<int64_t>();
      return axis;
    });
    // Before Mesh::get, which would make up ids for any number of devices.
    __int128 devices = 1;
    for (const MeshAxis &axis : axes)
      if (axis.size < 1 || (devices *= axis.size) > (1 << 24)) {
        fail("the mesh has an impossible size");
        break;
      }
    if (!error.empty())
      return std::nullopt;
    auto result = Mesh::get(std::move(axes));
    if (!result) {
      fail(result.error().message());
      return std::nullopt;
    }
    return *result;
  }
  Layout layout(const Mesh &mesh) {
    auto dims = list([&] { return axisList(); });
    auto partial = list([&] {
      unsigned axis = get<uint32_t>();
      return Partial{axis, enumerator(ReduceKind::Or)};
    });
    if (error.empty()) {
      auto result = Layout::get(mesh, std::move(dims), std::move(partial));
      if (result)
        return *result;
      fail(result.error().message());
    }
    return Layout::replicated(mesh, 0);
  }
  /// `like`: what there is where the file does not say.
  Layout layoutWithMesh(const Mesh &like) {
    std::optional<Mesh> read = mesh();
    return read ? layout(*read) : Layout::replicated(like, 0);
  }
  std::optional<Layout> written(const Mesh &like) {
    if (!flag())
      return std::nullopt;
    return layoutWithMesh(like);
  }
  InputNotes inputNotes() {
    InputNotes notes;
    notes.bits = get<int64_t>();
    if (flag()) {
      const double first = get<double>();
      notes.range = {first, get<double>()};
    }
    return notes;
  }
  SourceNote note() {
    SourceNote note;
    note.location = text();
    note.op = text();
    return note;
  }
  std::vector<Loop> loops() {
    return list([&] {
      Loop loop;
      loop.extent = get<int64_t>();
      loop.reduction = flag();
      loop.axes = axisList();
      loop.ranges = intervals();
      loop.held = flag();
      return loop;
    });
  }
  LibraryOptions options() {
    LibraryOptions options;
    auto entries = list([&] {
      std::string name = text();
      switch (get<uint8_t>()) {
      case 0:
        return std::pair(std::move(name), LibraryOption(get<int64_t>()));
      case 1:
        return std::pair(std::move(name), LibraryOption(integers()));
      case 2:
        return std::pair(std::move(name), LibraryOption(text()));
      default:
        fail("an option is of an unknown kind");
        return std::pair(std::move(name), LibraryOption());
      }
    });
    for (auto &[name, option] : entries)
      if (!options.emplace(name, std::move(option)).second)
        fail(fmt::format("there are two options '{}'", name));
    return options;
  }
  DimAccess access() {
    DimAccess access{get<int64_t>(), {}};
    access.terms = list([&] {
      unsigned loop = get<uint32_t>();
      return std::pair(loop, get<int64_t>());
    });
    return access;
  }
  Operand operand() {
    Operand operand{get<uint32_t>(), {}};
    operand.dims = list([&] { return access(); });
    operand.guarded = flag();
    return operand;
  }
  std::vector<Operand> operands() {
    return list([&] { return operand(); });
  }
  /// Lists inside steps inside lists: a file cannot make the stack overflow.
  std::vector<Step> steps() {
    if (++depth > 64)
      fail("its steps are nested too deeply");
    auto steps = list([&] { return step(); });
    --depth;
    return steps;
  }
  Step step() {
    switch (get<uint8_t>()) {
    case 0: {
      KernelStep step;
      step.symbol = text();
      step.loops = loops();
      step.inputs = operands();
      step.outputs = operands();
      step.inPlace = list([&] { return int(get<int32_t>()); });
      step.note = note();
      step.flops = get<int64_t>();
      step.library = text();
      step.options = options();
      step.combine = list([&] { return enumerator(ReduceKind::Or); });
      return step;
    }
    case 1: {
      DotStep step;
      step.loops = loops();
      step.lhs = operand();
      step.rhs = operand();
      step.out = operand();
      step.note = note();
      if (flag())
        step.readWhere = access();
      return step;
    }
    case 2: {
      CollectiveStep step;
      step.kind = enumerator(CollectiveKind::HaloExchange);
      step.axes = axisList();
      step.reduce = enumerator(ReduceKind::Or);
      step.moves = list([&] {
        unsigned from = get<uint32_t>();
        return CollectiveStep::Move{from, get<uint32_t>()};
      });
      step.reason = text();
      step.note = note();
      return step;
    }
    case 3: {
      LoopStep step;
      step.carried = list([&] {
        LoopStep::Carry carry;
        for (unsigned *buffer :
             {&carry.init, &carry.argument, &carry.next, &carry.result})
          *buffer = get<uint32_t>();
        return carry;
      });
      step.condition = steps();
      step.body = steps();
      step.predicate = get<uint32_t>();
      step.tripCount = get<int64_t>();
      step.note = note();
      return step;
    }
    case 4: {
      BranchStep step;
      step.index = get<uint32_t>();
      step.branches = list([&] { return steps(); });
      step.outputs = list([&] {
        BranchStep::Output output{get<uint32_t>(), {}};
        output.values = axisList();
        return output;
      });
      step.note = note();
      return step;
    }
    default:
      fail("a step is of an unknown kind");
      return KernelStep();
    }
  }

  std::optional<Program> program() {
    std::string name = text();
    std::optional<Mesh> on = mesh();
    if (!on)
      return std::nullopt;
    Program program{std::move(name), *on, {}, {}, {}, {}, {}};
    program.buffers = list([&] {
      std::string name = text();
      DType type = enumerator(lastDType);
      Shape shape = integers();
      Layout laidOut = layout(*on);
      Windows windows = list([&] { return intervals(); });
      return BufferDecl{std::move(name), type, std::move(shape),
                        std::move(laidOut), std::move(windows)};
    });
    program.constants = list([&] {
      ConstantData constant{get<uint32_t>(), blob()};
      constant.splat = flag();
      return constant;
    });
    program.arguments = list([&] {
      Argument argument{get<uint32_t>(), {}};
      argument.name = text();
      argument.written = written(*on);
      argument.notes = inputNotes();
      return argument;
    });
    program.results = list([&] {
      ProgramResult result;
      result.buffer = get<uint32_t>();
      result.aliasedArgument = get<int32_t>();
      result.name = text();
      result.written = written(*on);
      return result;
    });
    program.steps = steps();
    program.deviceOrder = integers();
    program.deterministic = flag();
    return program;
  }

  ArrayType type(const Mesh &mesh) {
    DType dtype = enumerator(lastDType);
    Shape shape = integers();
    Layout layout = layoutWithMesh(mesh);
    if (error.empty() && layout.mesh().size() != mesh.size())
      fail("a layout is over another number of devices than the program");
    if (error.empty() && layout.rank() != shape.size())
      fail("a layout has another rank than its shape");
    for (int64_t extent : shape)
      if (extent < 0)
        fail("a shape has a negative extent");
    return {dtype, std::move(shape), std::move(layout)};
  }
  std::optional<Signature> signature() {
    std::string name = text();
    std::optional<Mesh> on = mesh();
    if (!on)
      return std::nullopt;
    Signature signature{std::move(name), *on, {}, {}};
    signature.arguments = list([&] {
      std::string name = text();
      ArrayType argumentType = type(*on);
      InputNotes notes = inputNotes();
      if (Status ok = verifyInputNotes(notes, argumentType.dtype); !ok)
        fail(ok.error().message());
      return Signature::Argument{std::move(name), std::move(argumentType),
                                 notes};
    });
    signature.results = list([&] {
      std::string name = text();
      ArrayType resultType = type(*on);
      return Signature::Result{std::move(name), std::move(resultType),
                               get<int32_t>()};
    });
    for (const Signature::Result &result : signature.results)
      if (result.aliasedArgument < -1 ||
          result.aliasedArgument >= int(signature.arguments.size()))
        fail("a result aliases an argument that does not exist");
    signature.deviceOrder = integers();
    if (Status ok = verifyDeviceOrder(signature.deviceOrder, *on); !ok)
      fail(ok.error().message());
    return signature;
  }
  CompiledCollective collective(const Mesh &mesh) {
    CompiledCollective collective;
    collective.kind = enumerator(CollectiveKind::HaloExchange);
    collective.axes = axisList();
    collective.bytes = get<int64_t>();
    collective.values = get<int64_t>();
    collective.reason = text();
    collective.note = note();
    for (unsigned axis : collective.axes)
      if (axis >= mesh.rank())
        fail("a collective is over an axis that does not exist");
    return collective;
  }

private:
  std::string_view bytes;
  unsigned depth = 0;
};

} // namespace

uint64_t Compiled::contentHash() const {
  Writer content;
  content.putContent(*this);
  return checksum(content.bytes);
}

std::string Compiled::serialize() const {
  Writer body;
  body.putContent(*this);
  if (coded()) {
    body.put(code().format);
    body.put(code().requirements);
    body.put(code().bytes);
  }
  Writer file;
  file.bytes = magic;
  file.put(version);
  file.put(checksum(body.bytes));
  file.put(std::string_view(body.bytes));
  return std::move(file.bytes);
}

Result<Compiled> Compiled::deserialize(std::string_view bytes) {
  auto wrong = [](const std::string &why,
                  ErrorCode code = ErrorCode::DATA_LOSS) {
    return Error(fmt::format("not a usable .mlprog file: {}", why), code);
  };
  if (!bytes.starts_with(magic))
    return wrong("it does not begin with 'MESHLOOM'",
                 ErrorCode::INVALID_ARGUMENT);
  Reader header(bytes.substr(magic.size()));
  auto found = header.get<uint32_t>();
  if (header.error.empty() && found != version)
    return wrong(fmt::format("it is of version {}, this build reads version "
                             "{}; write it again with mesh-run --emit-program",
                             found, version),
                 ErrorCode::FAILED_PRECONDITION);
  auto expected = header.get<uint64_t>();
  std::string_view body = header.raw();
  if (!header.error.empty())
    return wrong(header.error);
  if (!header.atEnd())
    return wrong("there are bytes after its end");
  if (checksum(body) != expected)
    return wrong("its checksum is wrong: it was damaged");

  Reader reader(body);
  auto finished = [&]() -> Status {
    if (!reader.error.empty())
      return wrong(reader.error);
    if (!reader.atEnd())
      return wrong("there are bytes after its last field");
    return Success();
  };
  std::string machine = reader.text();
  if (reader.flag()) {
    std::optional<Program> program = reader.program();
    Code code{reader.text(), reader.text(), reader.blob(), nullptr};
    if (Status ok = finished(); !ok)
      return ok.error();
    if (Status ok = program->verify(); !ok)
      return wrong(ok.error().message());
    return Compiled(CodedProgram{std::move(*program), std::move(code)},
                    std::move(machine));
  }
  std::optional<Signature> signature = reader.signature();
  if (!signature)
    return wrong(reader.error);
  auto collectives =
      reader.list([&] { return reader.collective(signature->mesh); });
  StableHLOProgram program{reader.text()};
  if (Status ok = finished(); !ok)
    return ok.error();
  return Compiled(std::move(*signature), std::move(collectives),
                  std::move(program), std::move(machine));
}

} // namespace meshloom
