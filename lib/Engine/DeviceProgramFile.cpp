// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of several sets of devices as bytes, and back. A file has the
// magic word, the length of a head and its hash, the head, and the programs
// that it counts, each as Compiled writes it. The head is JSON: the devices,
// operands and results of every part, and what moves between them. The reader
// trusts nothing: every number is checked before it is used.
#include "meshloom/Engine/DeviceProgram.h"

#include "meshloom/Engine/Execution.h"
#include "meshloom/Engine/Processes.h"

#include "meshloom/Core/Hash.h"
#include "meshloom/Support/Json.h"

#include <cstring>
#include <fmt/format.h>

namespace meshloom::detail {

using Json = nlohmann::json;

namespace {

constexpr std::string_view magicWord = "MESHPARTS1";

uint64_t hashOfHead(std::string_view text) {
  StableHash hash;
  hash.add(text);
  return hash.value();
}

Json jsonOf(const ArrayType &type) {
  return {{"type", meshloom::name(type.dtype)},
          {"shape", type.shape},
          {"layout", type.layout.to_string()}};
}

Layout layoutOf(const Json &json) {
  return Layout::from_string(json.at("layout").get<std::string>())
      .value_or_throw();
}

ArrayType arrayTypeOf(const Json &json) {
  const auto &name = json.at("type").get_ref<const std::string &>();
  const std::optional<DType> type = parseDType(name);
  if (!type)
    Error(fmt::format("'{}' is not a type", name), ErrorCode::DATA_LOSS)
        .raise();
  ArrayType parsed{*type, json.at("shape").get<Shape>(), layoutOf(json)};
  if (parsed.shape.size() != parsed.layout.rank() ||
      std::ranges::any_of(parsed.shape,
                          [](int64_t extent) { return extent < 0; }))
    Error("a shape does not fit its layout", ErrorCode::DATA_LOSS).raise();
  return parsed;
}

/// Takes the next `size` bytes.
std::string_view takeBytes(std::string_view &bytes, uint64_t size) {
  if (size > bytes.size())
    Error("it ends too early", ErrorCode::DATA_LOSS).raise();
  const std::string_view taken = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return taken;
}
uint64_t takeNumber(std::string_view &bytes) {
  uint64_t number = 0;
  std::memcpy(&number, takeBytes(bytes, sizeof number).data(), sizeof number);
  return number;
}

} // namespace

bool DeviceProgram::isSerialized(std::string_view bytes) {
  return bytes.starts_with(magicWord);
}

std::string
DeviceProgram::serialize(const Settings &settings,
                         const std::vector<std::string> &names) const {
  constexpr std::string_view op = "save";
  std::map<const Executable *, size_t> numbers;
  std::string code;
  Json programs = Json::array(), parts = Json::array(), moved = Json::array();
  for (const Part &part : pieces) {
    if (part.control)
      fail(op, Error(fmt::format("expected a function whose loops and branches "
                                 "are each on one set of devices, got '{}': "
                                 "move values before and after them",
                                 name),
                     ErrorCode::UNIMPLEMENTED));
    const auto [program, isNew] =
        numbers.emplace(part.executable.get(), numbers.size());
    if (isNew) {
      Json meshes = Json::array();
      for (const Mesh &mesh : part.meshes) {
        if (spansProcesses(mesh) || ownerOf(mesh))
          fail(op, fmt::format("expected a function on devices of this "
                               "process, got '{}', which has a part on {}",
                               name, devicesText(mesh)));
        meshes.push_back(mesh.to_string());
      }
      CompileOptions options =
          optionsFor(part.executable->signature().mesh, settings);
      options.codeAsBytes = true;
      const std::string saved =
          check(meshloom::compile(*part.module, options), op).serialize();
      programs.push_back(
          {{"bytes", saved.size()}, {"meshes", std::move(meshes)}});
      code += saved;
    }
    parts.push_back({{"program", program->second},
                     {"operands", part.operands},
                     {"results", part.results}});
  }
  for (const auto &[number, move] : moves)
    moved.push_back({{"value", number},
                     {"source", move.source},
                     {"layout", move.layout.to_string()}});
  Json arguments = Json::array(), given = Json::array();
  for (size_t i = 0; i < takes.size(); ++i) {
    arguments.push_back(jsonOf(takes[i]));
    arguments.back()["name"] = names[i];
  }
  for (size_t r = 0; r < gives.size(); ++r) {
    given.push_back(jsonOf(gives[r]));
    given.back()["value"] = results[r];
    given.back()["alias"] = aliased[r];
  }
  const std::string head = Json{
      {"name", name},
      {"values", uses.size()},
      {"programs", std::move(programs)},
      {"parts", std::move(parts)},
      {"moves", std::move(moved)},
      {"arguments", std::move(arguments)},
      {"results",
       std::move(given)}}.dump();
  std::string bytes(magicWord);
  for (uint64_t number : {uint64_t(head.size()), hashOfHead(head)})
    bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
  return bytes + head + code;
}

/// Makes a DeviceProgram of a file's head and programs.
class DeviceProgram::Reader {
public:
  Reader(const Json &head, std::string_view code, const LoadOptions &options)
      : head(head), program(std::make_shared<DeviceProgram>()),
        types(head.at("values").get<size_t>()) {
    program->name = head.at("name").get<std::string>();
    program->uses.resize(types.size());
    readArguments();
    for (const Json &entry : head.at("programs"))
      loaded.push_back(loadedOf(entry, code, options));
    if (!code.empty())
      Error("there are bytes behind its programs", ErrorCode::DATA_LOSS)
          .raise();
    for (const Json &move : head.at("moves"))
      program->moves.emplace(
          numberOf(move, "value"),
          Move{numberOf(move, "source"), layoutOf(move), nullptr});
    for (const auto &[number, move] : program->moves)
      ++program->uses[move.source];
    for (const Json &part : head.at("parts"))
      addPart(part);
    if (program->pieces.empty())
      Error("it has no parts", ErrorCode::DATA_LOSS).raise();
    readResults();
  }

  SavedProgram take() && {
    return {std::move(program), std::move(argumentNames)};
  }

private:
  /// A program, and the meshes that its values are on.
  struct Loaded {
    std::shared_ptr<Executable> executable;
    std::vector<Mesh> meshes;
  };

  size_t numberOf(const Json &json, const char *key) const {
    const auto number = json.at(key).get<size_t>();
    if (number >= types.size())
      Error(fmt::format("value {} is not one of {}", number, types.size()),
            ErrorCode::DATA_LOSS)
          .raise();
    return number;
  }
  std::vector<size_t> numbersOf(const Json &json, const char *key) const {
    auto numbers = json.at(key).get<std::vector<size_t>>();
    for (size_t number : numbers)
      if (number >= types.size())
        Error(fmt::format("value {} is not one of {}", number, types.size()),
              ErrorCode::DATA_LOSS)
            .raise();
    return numbers;
  }

  void define(size_t number, ArrayType type) {
    if (types[number] || program->moves.contains(number))
      Error(fmt::format("value {} is there twice", number),
            ErrorCode::DATA_LOSS)
          .raise();
    types[number] = std::move(type);
  }
  /// The type of a value that is there by now, or is moved from one that is.
  const ArrayType &typeOf(size_t number, size_t depth = 0) {
    if (auto move = program->moves.find(number);
        !types[number] && move != program->moves.end()) {
      if (depth > program->moves.size())
        Error("values are moved in a circle", ErrorCode::DATA_LOSS).raise();
      ArrayType type = typeOf(move->second.source, depth + 1);
      type.layout = move->second.layout;
      if (type.shape.size() != type.layout.rank())
        Error("a value is moved to a layout of another rank",
              ErrorCode::DATA_LOSS)
            .raise();
      types[number] = std::move(type);
    }
    if (!types[number])
      Error(fmt::format("value {} is used before it is there", number),
            ErrorCode::DATA_LOSS)
          .raise();
    return *types[number];
  }

  void readArguments() {
    for (const Json &argument : head.at("arguments")) {
      program->takes.push_back(arrayTypeOf(argument));
      argumentNames.push_back(argument.at("name").get<std::string>());
    }
    if (program->takes.size() > types.size())
      Error("it has more arguments than values", ErrorCode::DATA_LOSS).raise();
    for (size_t i = 0; i < program->takes.size(); ++i)
      types[i] = program->takes[i];
  }

  static Loaded loadedOf(const Json &json, std::string_view &code,
                         const LoadOptions &options) {
    Loaded result;
    for (const Json &mesh : json.at("meshes")) {
      result.meshes.push_back(
          Mesh::from_string(mesh.get<std::string>()).value_or_throw());
      if (spansProcesses(result.meshes.back()))
        Error("a part has devices of other processes", ErrorCode::DATA_LOSS)
            .raise();
    }
    if (result.meshes.empty())
      Error("a part has no mesh", ErrorCode::DATA_LOSS).raise();
    Compiled compiled =
        Compiled::deserialize(takeBytes(code, json.at("bytes").get<uint64_t>()))
            .value_or_throw();
    const Mesh &mesh = result.meshes.front();
    result.executable =
        clientFor(mesh)
            ->load(std::move(compiled), mesh.assignment(), options)
            .value_or_throw();
    return result;
  }

  void addPart(const Json &json) {
    const auto index = json.at("program").get<size_t>();
    if (index >= loaded.size())
      Error(fmt::format("program {} is not one of {}", index, loaded.size()),
            ErrorCode::DATA_LOSS)
          .raise();
    const Loaded &source = loaded[index];
    const Signature &signature = source.executable->signature();
    Part part{source.executable,
              source.meshes,
              {},
              numbersOf(json, "operands"),
              numbersOf(json, "results")};
    if (part.operands.size() != signature.arguments.size() ||
        part.results.size() != signature.results.size())
      Error("a part has not the operands or results of its program",
            ErrorCode::DATA_LOSS)
          .raise();
    for (size_t number : part.operands) {
      (void)typeOf(number);
      ++program->uses[number];
    }
    for (size_t r = 0; r < part.results.size(); ++r) {
      ArrayType type = signature.results[r].type;
      type.layout = onMeshOf(source.meshes, type.layout);
      define(part.results[r], std::move(type));
    }
    program->pieces.push_back(std::move(part));
  }

  void readResults() {
    for (const Json &result : head.at("results")) {
      const size_t number = numberOf(result, "value");
      const auto alias = result.at("alias").get<int64_t>();
      ArrayType type = arrayTypeOf(result);
      if (typeOf(number).shape != type.shape ||
          typeOf(number).dtype != type.dtype || alias < -1 ||
          alias >= std::ssize(program->takes))
        Error("the type of a result is not the type of its value",
              ErrorCode::DATA_LOSS)
            .raise();
      program->results.push_back(number);
      program->gives.push_back(std::move(type));
      program->aliased.push_back(alias);
      ++program->uses[number];
    }
  }

  const Json &head;
  const std::shared_ptr<DeviceProgram> program;
  std::vector<std::string> argumentNames;
  std::vector<std::optional<ArrayType>> types; ///< of values
  std::vector<Loaded> loaded;
};

SavedProgram DeviceProgram::parse(std::string_view bytes,
                                  const LoadOptions &options) {
  bytes.remove_prefix(magicWord.size());
  const uint64_t size = takeNumber(bytes), hash = takeNumber(bytes);
  const std::string_view text = takeBytes(bytes, size);
  if (hashOfHead(text) != hash)
    Error("its head is damaged: the checksum is another one",
          ErrorCode::DATA_LOSS)
        .raise();
  const Json head = parseJson(text).value_or_throw();
  try {
    // No value is without a number in the head.
    if (head.at("values").get<size_t>() > text.size())
      Error("it counts more values than it names", ErrorCode::DATA_LOSS)
          .raise();
    return Reader(head, bytes, options).take();
  } catch (const Json::exception &error) {
    Error(fmt::format("its head is damaged: {}", error.what()),
          ErrorCode::DATA_LOSS)
        .raise();
  }
}

} // namespace meshloom::detail
