// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exported functions: a folder of tensors that has programs as tensors of
// bytes.
#include "meshloom/NN/State/ExportedFunctions.h"

#include "../Models/Graph.h"
#include "FolderErrors.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/MovedFrom.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/Shards.h"
#include "meshloom/NN/Config.h"
#include "meshloom/Support/ContentSignature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <set>

namespace meshloom {

namespace {
constexpr char programPrefix[] = "programs/";
/// The texts of signatures whose size of batch is free.
constexpr char templatePrefix[] = "templates/";
/// How many sizes of batch a loaded function keeps that it has compiled.
constexpr size_t compiledSizes = 16;
/// "variables/kernel", and "constants/0" of tensors.
constexpr char variablePrefix[] = "variables/";
constexpr char constantPrefix[] = "constants/";
/// The signature of a folder is that of a file of this name in it.
constexpr char signedName[] = "contents";

/// The bytes of a tensor's values.
std::string bytesOf(const Tensor &tensor) {
  std::string bytes(size_t(tensor.size()) * byteWidth(tensor.dtype()), '\0');
  // Elements need not lie where their type may be written.
  std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
  detail::readValue(tensor, tensor.dtype(), aligned.data(), tensor.size(),
                    "export_functions", std::source_location::current());
  std::memcpy(bytes.data(), aligned.data(), bytes.size());
  return bytes;
}

/// The tensors of a folder as its files have them, whatever their layouts.
std::map<std::string, Tensor> wholeTensors(const data::TensorFolder &folder) {
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, stored] : folder.tensors())
    tensors.emplace(name, folder.read(name));
  return tensors;
}

/// All that decides what loading a folder gives, as text.
std::string contentsOf(const data::TensorFolder &folder,
                       const std::map<std::string, Tensor> &tensors) {
  // With lengths, so that no name can look like what follows it.
  auto counted = [](const std::string &text) {
    return fmt::format("{}:{}", text.size(), text);
  };
  std::string text;
  for (const auto &[name, note] : folder.notes())
    text += fmt::format("note {} {}\n", counted(name), counted(note));
  for (const auto &[name, tensor] : tensors)
    text += fmt::format(
        "tensor {} {} [{}] {} {}\n", counted(name),
        meshloom::name(tensor.dtype()), fmt::join(tensor.shape(), ", "),
        counted(folder.tensors().at(name).layout), sha256(bytesOf(tensor)));
  return text;
}

Error keyError(std::string_view function, const Status &failed) {
  return failed.error().withMessage(
      fmt::format("[{}] {}", function, failed.error().message()));
}
} // namespace

namespace {

/// Collects what a folder of functions has.
class Exporter {
public:
  void add(const std::string &signature, const ConcreteFunction &function) {
    addBytes(programPrefix + signature, function.serialize());
    signatures[signature] = namesOfCaptured(function);
  }
  void add(const std::string &signature, const FreeBatchFunction &function,
           const FreeBatchExportOptions &options) {
    std::vector<int64_t> sizes =
        options.sizes.empty() ? function.sizes() : options.sizes;
    if (sizes.empty())
      sizes = {1};
    nn::Config &entry = signatures[signature];
    nn::Config::List written;
    for (int64_t size : sizes) {
      const ConcreteFunction program = function.get_concrete_function(size);
      addBytes(fmt::format("{}{}/{}", programPrefix, signature, size),
               program.serialize());
      written.emplace_back(size);
      if (written.size() == 1)
        entry["captured"] = namesOfCaptured(program);
    }
    entry["sizes"] = std::move(written);
    entry["arguments"] = configOf(function.arguments());
    entry["results"] = configOf(detail::inferSpecs(
        [&](const std::vector<Tensor> &arguments) {
          return function(arguments);
        },
        function.arguments()));
    if (options.compile_new_sizes)
      addBytes(templatePrefix + signature, detail::batchTemplateOf(function));
  }
  void write(const std::filesystem::path &path,
             const std::filesystem::path &sign_key) {
    if (signatures.as_map().empty())
      Error("[export_functions] expected functions by the names of "
            "their signatures, got none")
          .raise();
    detail::expectReplaceable("export_functions", path,
                              /*writesFunctions=*/true);
    contents.notes[detail::signaturesNote] = signatures.to_json();
    data::write_tensor_folder(path, contents);
    // The first of several processes that write one folder signs it.
    if (sign_key.empty() || client_id() != 0)
      return;
    const data::TensorFolder folder(path);
    if (Status done = signContent((path / signedName).string(),
                                  contentsOf(folder, wholeTensors(folder)),
                                  sign_key.string());
        !done)
      keyError("export_functions", done).raise();
  }

private:
  void addBytes(const std::string &name, const std::string &bytes) {
    contents.tensors.emplace(
        name, detail::hostTensorOf(DType::UI8, {int64_t(bytes.size())}, bytes));
  }
  static nn::Config configOf(const std::vector<TensorSpec> &specs) {
    nn::Config::List list;
    for (const TensorSpec &spec : specs) {
      nn::Config entry;
      entry["dtype"] = std::string(name(spec.dtype));
      entry["shape"] = spec.shape;
      list.push_back(std::move(entry));
    }
    return list;
  }
  nn::Config::List namesOfCaptured(const ConcreteFunction &function) {
    const std::vector<detail::CapturedValue> captured =
        detail::capturedValues(function);
    const std::vector<ValueInfo> arguments = function.arguments();
    nn::Config::List names;
    for (size_t i = 0; i < captured.size(); ++i) {
      std::string name;
      if (auto named = variables.find(captured[i].variable);
          captured[i].variable && named != variables.end()) {
        name = named->second;
      } else if (captured[i].variable) {
        const size_t place = arguments.size() - captured.size() + i;
        name = freeName(variablePrefix + arguments[place].name);
        variables.emplace(captured[i].variable, name);
        contents.tensors.emplace(name, captured[i].value);
      } else {
        name = freeName(fmt::format("{}{}", constantPrefix, i));
        contents.tensors.emplace(name, captured[i].value);
      }
      names.emplace_back(name);
    }
    return names;
  }
  std::string freeName(const std::string &wish) const {
    std::string name = wish;
    for (int64_t i = 1; contents.tensors.contains(name); ++i)
      name = fmt::format("{}_{}", wish, i);
    return name;
  }

  data::FolderContents contents;
  std::map<int64_t, std::string> variables; ///< their tensors
  nn::Config signatures{nn::Config::Map()};
};

std::vector<TensorSpec> specsOf(const nn::Config &config) {
  std::vector<TensorSpec> specs;
  for (const nn::Config &entry : config.as_list()) {
    const std::optional<DType> type = parseDType(entry.at("dtype").as_string());
    if (!type)
      Error("[load_functions] expected the name of an element type, "
            "got '" +
            entry.at("dtype").as_string() + "'")
          .raise();
    specs.push_back({entry.at("shape").as_ints(), *type});
  }
  return specs;
}

} // namespace

void export_functions(const std::filesystem::path &path,
                      const std::map<std::string, ConcreteFunction> &functions,
                      const std::filesystem::path &sign_key, Where where) {
  detail::atLine(where, [&] {
    Exporter exporter;
    for (const auto &[signature, function] : functions)
      exporter.add(signature, function);
    exporter.write(path, sign_key);
  });
}

void detail::exportFreeBatch(
    const std::filesystem::path &path,
    const std::map<std::string, FreeBatchFunction> &functions,
    const FreeBatchExportOptions &options, const Where &where) {
  atLine(where, [&] {
    Exporter exporter;
    for (const auto &[signature, function] : functions)
      exporter.add(signature, function, options);
    exporter.write(path, options.sign_key);
  });
}

struct ExportedFunctions::State {
  /// A signature whose size of batch is free.
  struct FreeBatch {
    std::vector<TensorSpec> arguments, results;
    std::map<int64_t, SavedFunction> stored;
    /// Empty: there is none.
    std::string programText;
    std::string name; ///< for messages
    std::optional<Mesh> mesh;
    /// Programs that were compiled here; the one used last comes first.
    std::list<std::pair<int64_t, SavedFunction>> compiled;

    std::vector<int64_t> sizes() const {
      std::vector<int64_t> stacked;
      for (const auto &[size, program] : stored)
        stacked.push_back(size);
      for (const auto &[size, program] : compiled)
        stacked.push_back(size);
      std::ranges::sort(stacked);
      return stacked;
    }
    const SavedFunction &forSize(int64_t size) {
      if (const auto found = stored.find(size); found != stored.end())
        return found->second;
      const auto found = std::ranges::find_if(
          compiled, [&](const auto &entry) { return entry.first == size; });
      if (found != compiled.end()) {
        compiled.splice(compiled.begin(), compiled, found);
        return compiled.front().second;
      }
      if (programText.empty())
        Error(fmt::format(
                  "[ExportedFunctions] expected a batch of {} examples, got "
                  "{}: '{}' "
                  "has programs for these sizes, and was exported without "
                  "compile_new_sizes",
                  fmt::join(sizes(), " or "), size, name))
            .raise();
      compiled.emplace_front(
          size, detail::compileBatchTemplate(programText, size, name, mesh));
      if (compiled.size() > compiledSizes)
        compiled.pop_back();
      return compiled.front().second;
    }
  };
  struct Signature {
    /// The program, or one of those for a size of batch.
    SavedFunction function;
    std::optional<FreeBatch> free;
    /// For each argument after the explicit ones the index of a variable, or a
    /// constant.
    std::vector<std::variant<size_t, Tensor>> captured;
    size_t explicitArguments() const {
      return function.arguments().size() - captured.size();
    }
  };
  Signature &find(const std::string &name, const Where &where) const {
    if (auto found = signatures.find(name); found != signatures.end())
      return found->second;
    std::vector<std::string> names;
    for (const auto &[existing, signature] : signatures)
      names.push_back(existing);
    detail::fail("ExportedFunctions",
                 Error(fmt::format("expected the name of a signature, got "
                                   "'{}'; there are '{}'",
                                   name, fmt::join(names, "', '")),
                       ErrorCode::NOT_FOUND),
                 &where);
  }

  mutable std::map<std::string, Signature> signatures;
  std::vector<DVariable> variables;
  mutable std::mutex mutex;
};

namespace {
/// Reads the functions of a folder that export_functions wrote.
class FunctionsReader {
public:
  using State = ExportedFunctions::State;

  FunctionsReader(const std::filesystem::path &path,
                  const std::optional<Mesh> &mesh)
      : path(path), mesh(mesh),
        folder(detail::openFolder("load_functions", path)) {}

  /// Throws meshloom::Error unless the folder has the signature of this key.
  void verify(const std::filesystem::path &key) {
    checked = wholeTensors(folder);
    if (Status done = verifyContent((path / signedName).string(),
                                    contentsOf(folder, checked), key.string());
        !done)
      keyError("load_functions", done).raise();
  }

  std::shared_ptr<const State> read() {
    auto note = folder.notes().find(detail::signaturesNote);
    if (note == folder.notes().end())
      Error(fmt::format("[load_functions] '{}' has no functions: it was not "
                        "written by export_functions",
                        path.string()),
            ErrorCode::NOT_FOUND)
          .raise();
    const nn::Config signatures = nn::Config::parse(note->second);
    for (const auto &[name, entry] : signatures.as_map())
      state->signatures.emplace(name, signature(name, entry));
    return state;
  }

private:
  State::Signature signature(const std::string &name, const nn::Config &entry) {
    const bool isFree = entry.is_map();
    std::optional<State::FreeBatch> free;
    if (isFree)
      free = freeBatch(name, entry);
    SavedFunction function = isFree ? free->stored.begin()->second
                                    : program(name, programPrefix + name);
    State::Signature result{std::move(function), std::move(free), {}};
    const std::vector<ValueInfo> arguments = result.function.arguments();
    const nn::Config::List &captured =
        (isFree ? entry.at("captured") : entry).as_list();
    if (captured.size() > arguments.size())
      refuseDamaged(name, "captures more than it takes");
    const size_t explicitCount = arguments.size() - captured.size();
    for (size_t i = 0; i < captured.size(); ++i)
      result.captured.push_back(capturedValue(name, captured[i].as_string(),
                                              arguments[explicitCount + i]));
    return result;
  }

  State::FreeBatch freeBatch(const std::string &name, const nn::Config &entry) {
    State::FreeBatch free;
    free.arguments = specsOf(entry.at("arguments"));
    free.results = specsOf(entry.at("results"));
    free.name = name;
    free.mesh = mesh;
    for (const nn::Config &size : entry.at("sizes").as_list())
      free.stored.emplace(size.as_int(),
                          program(name, fmt::format("{}{}/{}", programPrefix,
                                                    name, size.as_int())));
    if (folder.tensors().contains(templatePrefix + name))
      free.programText = text(templatePrefix + name);
    if (free.stored.empty())
      refuseDamaged(name, "has no program");
    return free;
  }

  /// Returns a constant, or the index of a variable, which all signatures that
  /// capture it share.
  std::variant<size_t, Tensor> capturedValue(const std::string &signature,
                                             const std::string &name,
                                             const ValueInfo &argument) {
    if (auto found = variables.find(name); found != variables.end())
      return found->second;
    const auto stored = folder.tensors().find(name);
    if (stored == folder.tensors().end())
      refuseDamaged(
          signature,
          fmt::format("captures '{}', which the folder does not have", name));
    // A value of the host stays there, where there is one device.
    const bool isOnHost = stored->second.layout.empty() &&
                          argument.layout.mesh().is_single_device();
    Tensor value =
        tensor(name, isOnHost ? std::nullopt : std::optional(argument.layout));
    if (!name.starts_with(variablePrefix))
      return value;
    const size_t index = state->variables.size();
    variables.emplace(name, index);
    state->variables.emplace_back(
        value,
        VariableOptions{.name = name.substr(sizeof(variablePrefix) - 1)});
    return index;
  }

  SavedFunction program(const std::string &signature,
                        const std::string &name) const {
    return parse_function(
        text(name), fmt::format("{}' of '{}", signature, path.string()), mesh);
  }

  std::string text(const std::string &name) const {
    const std::vector<uint8_t> bytes = tensor(name).to_vector<uint8_t>();
    return {bytes.begin(), bytes.end()};
  }

  Tensor tensor(const std::string &name,
                const std::optional<Layout> &layout = std::nullopt) const {
    if (checked.empty())
      return folder.read(name, layout);
    auto found = checked.find(name);
    if (found == checked.end())
      return folder.read(name, layout); // which says that there is none
    return layout ? distribute(found->second, *layout) : found->second;
  }

  [[noreturn]] void refuseDamaged(const std::string &signature,
                                  std::string_view problem) const {
    Error(fmt::format("[load_functions] '{}' is damaged: signature '{}' {}",
                      path.string(), signature, problem),
          ErrorCode::DATA_LOSS)
        .raise();
  }

  const std::filesystem::path &path;
  const std::optional<Mesh> &mesh;
  const data::TensorFolder folder;
  /// The bytes that are checked are the bytes that are used: a file that is
  /// replaced meanwhile is not read again. Empty where nothing is checked.
  std::map<std::string, Tensor> checked;
  std::shared_ptr<State> state = std::make_shared<State>();
  std::map<std::string, size_t> variables; ///< by the names of their tensors
};
} // namespace

ExportedFunctions load_functions(const std::filesystem::path &path,
                                 const std::optional<Mesh> &mesh,
                                 const std::filesystem::path &verify_key,
                                 std::source_location where) {
  return detail::atLine(where, [&]() -> ExportedFunctions {
    FunctionsReader reader(path, mesh);
    if (!verify_key.empty())
      reader.verify(verify_key);
    return ExportedFunctions(reader.read());
  });
}

std::vector<std::string> ExportedFunctions::signatures() const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  std::vector<std::string> names;
  names.reserve(state->signatures.size());
  for (const auto &[name, signature] : state->signatures)
    names.push_back(name);
  return names;
}

std::vector<ValueInfo>
ExportedFunctions::arguments(const std::string &signature, Where where) const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  const State::Signature &found = state->find(signature, where);
  std::vector<ValueInfo> infos = found.function.arguments();
  infos.erase(infos.begin() + int64_t(found.explicitArguments()), infos.end());
  for (size_t i = 0; found.free && i < infos.size(); ++i)
    infos[i].shape = found.free->arguments.at(i).shape;
  return infos;
}

std::vector<ValueInfo> ExportedFunctions::results(const std::string &signature,
                                                  Where where) const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  const State::Signature &found = state->find(signature, where);
  const SavedFunction &function = found.function;
  std::vector<ValueInfo> infos = function.results();
  infos.erase(infos.end() - int64_t(function.assigned_arguments().size()),
              infos.end());
  for (size_t i = 0; found.free && i < infos.size(); ++i)
    infos[i].shape = found.free->results.at(i).shape;
  return infos;
}

const std::vector<DVariable> &ExportedFunctions::variables() const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  return state->variables;
}

std::vector<Tensor>
ExportedFunctions::operator()(const std::string &signature,
                              const std::vector<Tensor> &arguments,
                              Where where) const {
  return detail::atLine(where, [&] {
    detail::expectNotMovedFrom(state, "ExportedFunctions");
    State::Signature &found = state->find(signature, where);
    const size_t explicitCount = found.explicitArguments();
    if (arguments.size() != explicitCount)
      Error(fmt::format("[ExportedFunctions] signature '{}' takes {} "
                        "arguments, got {}",
                        signature, explicitCount, arguments.size()))
          .raise();
    std::lock_guard lock(state->mutex);
    const SavedFunction &function =
        found.free ? found.free->forSize(detail::batchSizeOf(
                         signature, found.free->arguments, arguments))
                   : found.function;
    std::vector<Tensor> operands = arguments;
    for (const auto &captured : found.captured)
      operands.push_back(
          std::holds_alternative<Tensor>(captured)
              ? std::get<Tensor>(captured)
              : state->variables[std::get<size_t>(captured)].read_value());
    std::vector<Tensor> results = function(operands);
    const std::vector<int64_t> assigned = function.assigned_arguments();
    const size_t explicitResults = results.size() - assigned.size();
    for (size_t i = 0; i < assigned.size(); ++i) {
      const auto &captured =
          found.captured.at(size_t(assigned[i]) - explicitCount);
      state->variables[std::get<size_t>(captured)].assign(
          results[explicitResults + i]);
    }
    results.resize(explicitResults);
    return results;
  });
}

std::vector<int64_t>
ExportedFunctions::batch_sizes(const std::string &signature,
                               Where where) const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  const State::Signature &found = state->find(signature, where);
  std::lock_guard lock(state->mutex);
  return found.free ? found.free->sizes() : std::vector<int64_t>();
}

} // namespace meshloom
