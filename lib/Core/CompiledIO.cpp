// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .mlprog files: a Compiled as bytes, and back. Layout of a file: the magic
// word, a version, the length and checksum of what follows, then the fields in
// order, little endian. `fields` names the fields of each struct once, for the
// Writer and the Reader alike. The reader trusts nothing: every count is
// bounded by the bytes left, every enumerator and index is checked, and
// Program::verify has the last word.
#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/Hash.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <utility>

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

template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <typename T>
concept Enumerator = std::is_enum_v<T>;

/// The struct of type T that `fields` writes to, or reads from, a File.
template <typename File, typename T>
using Struct = std::conditional_t<File::reads, T, const T>;

class Writer {
public:
  static constexpr bool reads = false;
  std::string bytes;

  template <typename... Ts> void operator()(const Ts &...values) {
    (put(values), ...);
  }

private:
  template <Number T> void put(const T &value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
  }
  void put(const bool &value) { put(uint8_t(value)); }
  template <Enumerator T> void put(const T &value) {
    put(std::underlying_type_t<T>(value));
  }
  void put(const std::string_view &text) {
    put(uint64_t(text.size()));
    bytes.append(text);
  }
  void put(const std::string &text) { put(std::string_view(text)); }
  void put(const std::vector<char> &raw) {
    put(std::string_view(raw.data(), raw.size()));
  }
  template <typename T> void put(const std::span<const T> &items) {
    put(uint64_t(items.size()));
    for (const T &item : items)
      put(item);
  }
  template <typename T> void put(const std::vector<T> &items) {
    put(std::span<const T>(items));
  }
  template <typename T> void put(const std::optional<T> &value) {
    put(value.has_value());
    if (value)
      put(*value);
  }
  template <typename T, typename U> void put(const std::pair<T, U> &pair) {
    (*this)(pair.first, pair.second);
  }
  template <typename... Ts> void put(const std::variant<Ts...> &value) {
    put(uint8_t(value.index()));
    std::visit([&](const auto &alternative) { put(alternative); }, value);
  }
  template <typename T>
    requires std::is_class_v<T>
  void put(const T &value) {
    fields(*this, value);
  }
};

constexpr DType lastOf(DType) {
  return lastDType;
}
constexpr ReduceKind lastOf(ReduceKind) {
  return ReduceKind::Or;
}
constexpr CollectiveKind lastOf(CollectiveKind) {
  return CollectiveKind::HaloExchange;
}

/// Reads what Writer wrote. After the first failure everything reads as zero or
/// empty, and `error` says what went wrong.
class Reader {
public:
  static constexpr bool reads = true;
  explicit Reader(std::string_view bytes) : bytes(bytes) {}

  std::string error;
  /// The mesh that layouts are over.
  Mesh mesh;

  bool atEnd() const { return bytes.empty(); }
  void fail(std::string why) {
    if (error.empty())
      error = std::move(why);
    bytes = {};
  }
  void check(const Status &status) {
    if (!status)
      fail(status.error().message());
  }

  template <typename... Ts> void operator()(Ts &...values) {
    (get(values), ...);
  }
  template <typename T> T next() {
    T value{};
    get(value);
    return value;
  }
  /// The bytes of a string, as they lie in the file.
  std::string_view raw() {
    auto size = next<uint64_t>();
    if (size > bytes.size()) {
      fail("a string is longer than the file");
      return {};
    }
    return take(size);
  }

private:
  std::string_view take(size_t size) {
    std::string_view front = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return front;
  }
  template <Number T> void get(T &value) {
    if (bytes.size() < sizeof(T))
      return fail("it ends too early");
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
  }
  void get(bool &value) {
    auto flag = next<uint8_t>();
    if (flag > 1)
      fail("a flag is neither 0 nor 1");
    value = flag == 1;
  }
  template <Enumerator T> void get(T &value) {
    using Underlying = std::underlying_type_t<T>;
    auto number = next<Underlying>();
    if (number > Underlying(lastOf(T{})))
      return fail("an enumerator is out of range");
    value = T(number);
  }
  void get(std::string &text) { text = raw(); }
  void get(std::vector<char> &blob) {
    std::string_view data = raw();
    blob.assign(data.begin(), data.end());
  }
  /// Items take at least one byte each, so a count above the bytes left is
  /// wrong, and nothing is allocated for it. Lists of steps are inside steps
  /// that are inside lists: a file cannot make the stack overflow.
  template <typename T> void get(std::vector<T> &items) {
    constexpr bool ofSteps = std::is_same_v<T, Step>;
    if (ofSteps && ++depth > 64)
      fail("its steps are nested too deeply");
    auto count = next<uint64_t>();
    if (count > bytes.size())
      fail("a list is longer than the file");
    for (uint64_t i = 0; i < count && error.empty(); ++i)
      items.push_back(next<T>());
    if (ofSteps)
      --depth;
  }
  template <typename T> void get(std::optional<T> &value) {
    if (next<bool>())
      get(value.emplace());
  }
  template <typename T, typename U> void get(std::pair<T, U> &pair) {
    (*this)(pair.first, pair.second);
  }
  template <typename... Ts> void get(std::variant<Ts...> &value) {
    auto index = next<uint8_t>();
    if (index >= sizeof...(Ts))
      return fail("an alternative is of an unknown kind");
    size_t alternative = 0;
    ((alternative++ == index ? get(value.template emplace<Ts>()) : void()),
     ...);
  }
  template <typename T>
    requires std::is_class_v<T>
  void get(T &value) {
    fields(*this, value);
  }

  std::string_view bytes;
  unsigned depth = 0;
};

template <typename File> void fields(File &file, Struct<File, MeshAxis> &axis) {
  file(axis.name, axis.size);
}
void fields(Writer &file, const Mesh &mesh) {
  file(mesh.axes());
}
void fields(Reader &file, Mesh &mesh) {
  auto axes = file.next<std::vector<MeshAxis>>();
  // Before Mesh::get, which would make up ids for any number of devices.
  __int128 devices = 1;
  for (const MeshAxis &axis : axes)
    if (axis.size < 1 || (devices *= axis.size) > (1 << 24)) {
      file.fail("the mesh has an impossible size");
      break;
    }
  if (!file.error.empty())
    return;
  auto result = Mesh::get(std::move(axes));
  if (result)
    mesh = *result;
  else
    file.fail(result.error().message());
}

template <typename File>
void fields(File &file, Struct<File, Partial> &partial) {
  file(partial.axis, partial.kind);
}
void fields(Writer &file, const Layout &layout) {
  file(layout.dim_axes(), layout.partial());
}
void fields(Reader &file, Layout &layout) {
  auto dims = file.next<Layout::DimAxes>();
  auto partial = file.next<std::vector<Partial>>();
  if (!file.error.empty())
    return;
  auto result = Layout::get(file.mesh, std::move(dims), std::move(partial));
  if (result)
    layout = *result;
  else
    file.fail(result.error().message());
}
/// A layout that may be over a mesh of its own.
void fieldsWithMesh(Writer &file, const Layout &layout) {
  file(layout.mesh(), layout);
}
void fieldsWithMesh(Reader &file, Layout &layout) {
  Mesh around = std::exchange(file.mesh, file.next<Mesh>());
  file(layout);
  file.mesh = std::move(around);
}
template <typename File>
void fieldsOfWritten(File &file, Struct<File, std::optional<Layout>> &written) {
  bool isWritten = written.has_value();
  file(isWritten);
  if constexpr (File::reads)
    if (isWritten)
      written.emplace();
  if (isWritten)
    fieldsWithMesh(file, *written);
}

template <typename File>
void fields(File &file, Struct<File, Interval> &interval) {
  file(interval.begin, interval.end);
}
template <typename File>
void fields(File &file, Struct<File, SourceNote> &note) {
  file(note.location, note.op);
}
template <typename File>
void fields(File &file, Struct<File, BufferDecl> &buffer) {
  file(buffer.name, buffer.type, buffer.shape, buffer.layout, buffer.windows);
}
template <typename File>
void fields(File &file, Struct<File, ConstantData> &constant) {
  file(constant.buffer, constant.bytes, constant.splat);
}
template <typename File>
void fields(File &file, Struct<File, InputNotes> &notes) {
  file(notes.bits, notes.range);
}
template <typename File>
void fields(File &file, Struct<File, Argument> &argument) {
  file(argument.buffer, argument.name);
  fieldsOfWritten(file, argument.written);
  file(argument.notes);
}
template <typename File>
void fields(File &file, Struct<File, ProgramResult> &result) {
  file(result.buffer, result.aliasedArgument, result.name);
  fieldsOfWritten(file, result.written);
}
template <typename File> void fields(File &file, Struct<File, Loop> &loop) {
  file(loop.extent, loop.reduction, loop.axes, loop.ranges, loop.held);
}
template <typename File>
void fields(File &file, Struct<File, DimAccess> &access) {
  file(access.offset, access.terms);
}
template <typename File>
void fields(File &file, Struct<File, Operand> &operand) {
  file(operand.buffer, operand.dims, operand.guarded);
}
void fields(Writer &file, const LibraryOptions &options) {
  file(uint64_t(options.size()));
  for (const auto &[name, option] : options)
    file(name, option);
}
void fields(Reader &file, LibraryOptions &options) {
  using Entry = std::pair<std::string, LibraryOption>;
  for (auto &[name, option] : file.next<std::vector<Entry>>())
    if (!options.emplace(name, std::move(option)).second)
      file.fail(fmt::format("there are two options '{}'", name));
}
template <typename File>
void fields(File &file, Struct<File, KernelStep> &step) {
  file(step.symbol, step.loops, step.inputs, step.outputs, step.inPlace,
       step.note, step.flops, step.library, step.options, step.combine);
}
template <typename File> void fields(File &file, Struct<File, DotStep> &step) {
  file(step.loops, step.lhs, step.rhs, step.out, step.note, step.readWhere);
}
template <typename File>
void fields(File &file, Struct<File, CollectiveStep::Move> &move) {
  file(move.from, move.to);
}
template <typename File>
void fields(File &file, Struct<File, CollectiveStep> &step) {
  file(step.kind, step.axes, step.reduce, step.moves, step.reason, step.note);
}
template <typename File>
void fields(File &file, Struct<File, LoopStep::Carry> &carry) {
  file(carry.init, carry.argument, carry.next, carry.result);
}
template <typename File> void fields(File &file, Struct<File, LoopStep> &step) {
  file(step.carried, step.condition, step.body, step.predicate, step.tripCount,
       step.note);
}
template <typename File>
void fields(File &file, Struct<File, BranchStep::Output> &output) {
  file(output.result, output.values);
}
template <typename File>
void fields(File &file, Struct<File, BranchStep> &step) {
  file(step.index, step.branches, step.outputs, step.note);
}
/// Layouts after a program's mesh are over that mesh.
template <typename File>
void fieldsOfMesh(File &file, Struct<File, Mesh> &mesh) {
  file(mesh);
  if constexpr (File::reads)
    file.mesh = mesh;
}
template <typename File>
void fields(File &file, Struct<File, Program> &program) {
  file(program.name);
  fieldsOfMesh(file, program.mesh);
  file(program.buffers, program.constants, program.arguments, program.results,
       program.steps, program.deviceOrder, program.deterministic);
}

/// Fails where the type of an argument or result is none.
void check(Reader &file, const ArrayType &type) {
  if (!file.error.empty())
    return;
  if (type.layout.mesh().size() != file.mesh.size())
    file.fail("a layout is over another number of devices than the program");
  if (type.layout.rank() != type.shape.size())
    file.fail("a layout has another rank than its shape");
  for (int64_t extent : type.shape)
    if (extent < 0)
      file.fail("a shape has a negative extent");
}
template <typename File>
void fields(File &file, Struct<File, ArrayType> &type) {
  file(type.dtype, type.shape);
  fieldsWithMesh(file, type.layout);
  if constexpr (File::reads)
    check(file, type);
}
template <typename File>
void fields(File &file, Struct<File, Signature::Argument> &argument) {
  file(argument.name, argument.type, argument.notes);
  if constexpr (File::reads)
    file.check(verifyInputNotes(argument.notes, argument.type.dtype));
}
template <typename File>
void fields(File &file, Struct<File, Signature::Result> &result) {
  file(result.name, result.type, result.aliasedArgument);
}
void check(Reader &file, const Signature &signature) {
  if (!file.error.empty())
    return;
  for (const Signature::Result &result : signature.results)
    if (result.aliasedArgument < -1 ||
        result.aliasedArgument >= int(signature.arguments.size()))
      file.fail("a result aliases an argument that does not exist");
  file.check(verifyDeviceOrder(signature.deviceOrder, signature.mesh));
}
template <typename File>
void fields(File &file, Struct<File, Signature> &signature) {
  file(signature.name);
  fieldsOfMesh(file, signature.mesh);
  file(signature.arguments, signature.results, signature.deviceOrder);
  if constexpr (File::reads)
    check(file, signature);
}
template <typename File>
void fields(File &file, Struct<File, CompiledCollective> &collective) {
  file(collective.kind, collective.axes, collective.bytes, collective.values,
       collective.reason, collective.note);
  if constexpr (File::reads)
    for (unsigned axis : collective.axes)
      if (axis >= file.mesh.rank())
        file.fail("a collective is over an axis that does not exist");
}
/// A program's code, of which a hash of the program has nothing.
template <typename File> void fields(File &file, Struct<File, Code> &code) {
  file(code.format, code.requirements, code.bytes);
}

/// All of `compiled` but the bytes of its code.
void writeContent(Writer &file, const Compiled &compiled) {
  file(compiled.machine(), bool(compiled.coded()));
  if (const CodedProgram *coded = compiled.coded())
    file(coded->program);
  else
    file(compiled.signature(), compiled.collectives(),
         compiled.stableHLO()->text);
}

} // namespace

uint64_t Compiled::contentHash() const {
  Writer content;
  writeContent(content, *this);
  return checksum(content.bytes);
}

std::string Compiled::serialize() const {
  Writer body;
  writeContent(body, *this);
  if (coded())
    body(code());
  Writer file;
  file.bytes = magic;
  file(version, checksum(body.bytes), body.bytes);
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
  auto found = header.next<uint32_t>();
  if (header.error.empty() && found != version)
    return wrong(fmt::format("it is of version {}, this build reads version "
                             "{}; write it again with mesh-run --emit-program",
                             found, version),
                 ErrorCode::FAILED_PRECONDITION);
  auto expected = header.next<uint64_t>();
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
  auto machine = reader.next<std::string>();
  if (reader.next<bool>()) {
    CodedProgram coded;
    reader(coded.program, coded.code);
    if (Status ok = finished(); !ok)
      return ok.error();
    if (Status ok = coded.program.verify(); !ok)
      return wrong(ok.error().message());
    return Compiled(std::move(coded), std::move(machine));
  }
  Signature signature;
  std::vector<CompiledCollective> collectives;
  StableHLOProgram program;
  reader(signature, collectives, program.text);
  if (Status ok = finished(); !ok)
    return ok.error();
  return Compiled(std::move(signature), std::move(collectives),
                  std::move(program), std::move(machine));
}

} // namespace meshloom
